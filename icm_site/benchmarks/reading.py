"""A document read once into a database of its own, and asked about afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from icm_site import conf
from icm_site.benchmarks import questions
from icm_site.caller import Caller
from icm_site.errors import InvalidInput
from memories import embedding, recall, store

LIMIT = 5
# A model that lists facts may go astray.
MOST_FACTS = 200

READ = """\
Read this document. Afterwards you will not see it again, and will be asked about it.
Write down every fact of it that may matter, one a line, each a full sentence that can
be understood alone. Write nothing else.

"""
ASKED = "Answer in one or two sentences. Say so if you do not know.\n\nQuestion: "
KNOWN = "What the memory says:\n"


def facts(answer: str) -> list[str]:
    """The lines of a model's answer, without marks of a list."""
    lines = (line.strip().lstrip("-*•0123456789.) ") for line in answer.splitlines())
    return [line for line in lines if line][:MOST_FACTS]


def keep(texts: Iterable[str], *, topic: str, caller: Caller) -> int:
    """Store texts, with their vectors where there is a model; returns how many."""
    stored = 0
    for text in texts:
        try:
            store.store(topic=topic, content=text, caller=caller)
        except InvalidInput:  # an empty or endless line of a language model
            continue
        stored += 1
    if stored and conf.current().embeddings.enabled:
        embedding.backfill()
    return stored


def recalled(question: str) -> str:
    """The texts that a recall brings, as an agent reads them, best first."""
    answer = recall.recall(query=question, limit=LIMIT, count=False)
    return "\n".join(f"- {hit.memory.summary}" for hit in answer.hits)


def prompt(question: str, notes: str) -> str:
    """What a model is asked: with what the memory says, if it says anything."""
    known = f"{KNOWN}{notes}\n\n" if notes else ""
    return f"{known}{ASKED}{question}"


def scores(answers: Sequence[str], asked: Sequence[questions.Question]) -> list[float]:
    """The score of each answer, 0-100."""
    pairs = zip(answers, asked, strict=True)
    return [questions.score(answer, question) for answer, question in pairs]
