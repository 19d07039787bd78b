"""An invented document, ten questions about it, and how an answer is scored."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from icm_site.text import normalise

TOPIC = "context-tidewater"

DOCUMENT = """\
Tidewater plans the work of 38 turbines that stand in the mouth of the river Osk. It
was begun by Maren Holt in March 2019 and is written in OCaml, except for the solver.
The solver is a library in Fortran named Kelpie, which two people in Bergen maintain.
Tidewater computes a new plan every 11 minutes, since the tide tables of the harbour
office come at that rate. A plan covers the next 30 hours. Plans are kept for 400 days
in a FoundationDB cluster of five nodes; before 2021 they were in Cassandra, which
lost writes when a node came back. Each turbine has a controller that speaks Modbus
over a radio link at 868 MHz. A controller that hears nothing for 90 seconds feathers
its blades and waits. The radio link carries 1,200 bytes a second, so commands are
packed by a code table that is called the herring. The herring has 212 entries and may
only be changed at slack water. Fish are watched by sonar: if a shoal of more than 60
salmon comes near, the three eastern turbines stop for 17 minutes. The rule is part of
the permit that the county of Rossmark gave in 2020. Operators log in with a hardware
key and a word that changes at each shift; the word is drawn from a list of birds.
Alarms go to a pager and not to telephones, because the control room lies under 14
metres of granite. The worst outage took place on 9 November 2022: a leap second in
the tide tables let Kelpie run in a loop for six hours. Since then the solver is
stopped after 240 seconds and the last good plan stays in force. Metrics are written
to VictoriaMetrics, and dashboards are drawn by a program named Cormorant. Cormorant
is served on port 7443. New versions go out on Tuesdays at low tide, first to turbine
6, which is the oldest. A version that makes turbine 6 vibrate above 4.5 millimetres a
second is taken back. The team keeps its decisions in a paper notebook with a green
cover, and copies them once a month. The successor of the herring, planned for 2027,
has the working name of sprat."""


class Question(NamedTuple):
    """A question, the words that its answer holds, and how many of them suffice."""

    text: str
    keywords: tuple[str, ...]
    needed: int


QUESTIONS = (
    Question(
        "In what is Tidewater written, and who began it?",
        ("ocaml", "maren holt", "2019"),
        2,
    ),
    Question(
        "What is the solver called, what is it written in, and where are its people?",
        ("kelpie", "fortran", "bergen"),
        3,
    ),
    Question(
        "How often is a plan computed, and who sets the rate?",
        ("11 minutes", "harbour office", "tide tables"),
        2,
    ),
    Question(
        "Where are plans stored now, where were they before, and what went wrong?",
        ("foundationdb", "cassandra", "lost writes"),
        2,
    ),
    Question(
        "What does a controller do when the radio goes silent, and after how long?",
        ("90 seconds", "feathers", "blades"),
        2,
    ),
    Question(
        "How are commands made to fit the slow link, and when may that be changed?",
        ("herring", "code table", "slack water"),
        2,
    ),
    Question(
        "What happens when many salmon pass, and whose permit asks for it?",
        ("17 minutes", "eastern", "rossmark"),
        2,
    ),
    Question(
        "Why do alarms not reach the telephones in the control room?",
        ("pager", "granite", "14 metres"),
        2,
    ),
    Question(
        "What caused the worst outage, and what was changed afterwards?",
        ("leap second", "six hours", "240 seconds", "last good plan"),
        2,
    ),
    Question(
        "How is a new version rolled out, and what makes it go back?",
        ("tuesdays", "low tide", "turbine 6", "4.5 millimetres"),
        3,
    ),
)


def sentences(document: str) -> list[str]:
    """The sentences of a document that has neither abbreviations nor code."""
    return re.split(r"(?<=[.;:]) (?=[A-Z])", " ".join(document.split()))


def held(answer: str, keywords: Collection[str]) -> int:
    """How many of the keywords an answer holds, as whole words."""
    text = " ".join(normalise(answer).split())
    found = (re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) for word in keywords)
    return sum(one is not None for one in found)


def score(answer: str, question: Question) -> float:
    """100 where enough keywords are held, else the share of what is needed."""
    return 100 * min(1.0, held(answer, question.keywords) / question.needed)
