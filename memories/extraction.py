"""Facts of a text by rules: sentences scored by signals; no database, no model.

A text goes through readers of tool output first; what they leave is cut into
sentences. Each sentence gets the points of the signals found in it, and is kept from
a threshold on. The tables are in `extraction_rules.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from icm_site.text import word_set
from memories import extraction_rules as rules
from memories import narration, tool_output
from memories.extraction_signal import Signal
from memories.sentences import Sentence, prose, sentences
from memories.transcripts import Role, Turn

MIN_SCORE = 2.0
MAX_FACTS = 20
COMPARED = 40
# A model is asked only where its points can decide.
NEAR = 1.0
# Points from which a model may name the kind as well.
SURE = 1.0
JACCARD = 0.6
LEAD_POINTS = 0.5
# Characters of a fact with the sentence that explains it.
LONGEST = 500
# Points that an agent's sentence needs more than a person's.
AGENT_MARGIN = 1.5
# And more where it has no end, as headings and notes have none.
UNENDED_MARGIN = 4.0
_COMMIT_LINE = re.compile(r"^commit [0-9a-f]{7,40}$", re.MULTILINE)
_OF_USER = re.compile(
    r"\b(?:the |our )?(?:user|customer|client|team)s?\b", re.IGNORECASE
)


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One thing worth storing, and why.

    `topic` is the kind of topic (decisions, errors-resolved, preferences, context);
    `reasons` are signals with their points. `importance` is high or medium.
    """

    topic: str
    text: str
    importance: str
    kind: str
    score: float
    reasons: tuple[str, ...]
    keywords: tuple[str, ...]


@dataclass(frozen=True)
class Judged:
    """The points of one sentence: signals that were found, and the kind they say.

    `explains` if it needs the sentence before it and adds something to that; `core` if
    more was found than what goes with facts; `personal` if somebody tells of himself,
    which a model takes for small talk (docs/extraction.md).
    """

    score: float
    kind: str
    reasons: tuple[str, ...]
    explains: bool = False
    core: bool = True
    personal: bool = False


# Gives each sentence the kind it is nearest to in meaning, and points for or against.
Meaning = Callable[[Sequence[str]], Sequence[tuple[str, float]]]


def extract(
    text: str,
    *,
    min_score: float = MIN_SCORE,
    max_facts: int = MAX_FACTS,
    meaning: Meaning | None = None,
    role: Role | None = None,
) -> list[Fact]:
    """The facts of a text: the best `max_facts`, in the order of the text.

    `meaning` adds points by a model. `role` tells who speaks, else the text does: what
    an agent says of itself counts for nothing, and of a tool's output only what a
    reader knows.
    """
    return extract_turns(
        [Turn(role or speaker(text), text)],
        min_score=min_score,
        max_facts=max_facts,
        meaning=meaning,
    )


def speaker(text: str) -> Role:
    """Who wrote a text: an agent or a log where it is full of code, else a person."""
    spans = text.count("`") // 2
    technical = "```" in text or spans > 3 or _COMMIT_LINE.search(text) is not None
    return "assistant" if technical else "user"


def extract_turns(
    turns: Iterable[Turn],
    *,
    min_score: float = MIN_SCORE,
    max_facts: int = MAX_FACTS,
    meaning: Meaning | None = None,
) -> list[Fact]:
    """The facts of a transcript, as `extract` finds them in each turn."""
    found: list[Fact] = []
    for turn in turns:
        read, rest = tool_output.read(prose(turn.text))
        found += [
            made(text, Judged(score, kind, (name,))) for text, kind, score, name in read
        ]
        if turn.role != "tool":
            found += from_sentences(
                list(sentences(rest)),
                min_score=min_score,
                meaning=meaning,
                personal=turn.role == "user",
            )
    return best(found, max_facts)


def from_sentences(
    given: Sequence[Sentence],
    *,
    min_score: float = MIN_SCORE,
    meaning: Meaning | None = None,
    personal: bool = True,
) -> list[Fact]:
    """The facts among sentences, in their order."""
    asked = [
        sentence
        for sentence in given
        if not narration.is_narration(sentence.text)
        and (personal or not _is_report(sentence.text))
    ]
    judged = [judge(sentence, personal=personal) for sentence in asked]
    least = min_score if personal else min_score + AGENT_MARGIN
    if meaning is not None:
        judged = _with_meaning(asked, judged, meaning, least)
    found: list[Fact] = []
    held = False
    for sentence, one in zip(asked, judged, strict=True):
        if held and sentence.follows and one.explains:
            found[-1] = _continued(found[-1], sentence.text)
            continue
        held = one.score >= least and (personal or _is_firm(sentence.text, one, least))
        if held:
            found.append(made(narration.without_preamble(sentence.text), one))
    return found


def _is_firm(sentence: str, judged: Judged, least: float) -> bool:
    """Whether an agent's sentence says something, and says it to the end."""
    ended = sentence.rstrip("\"')]”’»*")[-1:] in ".!。！।"
    return judged.core and judged.score >= least + (0 if ended else UNENDED_MARGIN)


def _is_report(sentence: str) -> bool:
    """Whether an agent's sentence tells of its work, or means nothing by itself."""
    return rules.NEEDS_BEFORE.found_in(sentence) or narration.is_agent_work(sentence)


def _continued(fact: Fact, sentence: str) -> Fact:
    """A fact with the sentence behind it, which alone nobody would understand."""
    text = f"{fact.text} {sentence}"
    if len(text) > LONGEST:
        return fact
    return replace(fact, text=text, reasons=(*fact.reasons, "with its explanation"))


def made(text: str, judged: Judged) -> Fact:
    """The fact of a text that was judged."""
    return Fact(
        topic=rules.TOPICS.get(judged.kind, "context"),
        text=text,
        importance="high" if judged.kind in rules.HIGH else "medium",
        kind=judged.kind,
        score=judged.score,
        reasons=judged.reasons,
        keywords=(f"kind:{judged.kind}",),
    )


def topic_of(fact: Fact, project: str) -> str:
    """The topic that a fact is stored under; preferences belong to no project."""
    if fact.topic == "preferences" or not project:
        return fact.topic
    return f"{fact.topic}-{project}"


def best(facts: Sequence[Fact], limit: int) -> list[Fact]:
    """The best facts in their order, none nearly the same as a better one."""
    ranked = sorted(enumerate(facts), key=lambda row: (-row[1].score, row[0]))
    kept: list[tuple[int, Fact, frozenset[str]]] = []
    for place, fact in ranked[:COMPARED]:
        words = word_set(fact.text)
        if all(jaccard(words, other) <= JACCARD for _, _, other in kept):
            kept.append((place, fact, words))
    return [fact for _, fact, _ in sorted(kept[:limit], key=lambda row: row[0])]


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of words that two texts have in common, 0..1."""
    union = len(one | other)
    return len(one & other) / union if union else 1.0


def judge(sentence: Sentence, *, personal: bool = True) -> Judged:
    """The points of a sentence by its words; `personal` if a person speaks."""
    hits = [
        signal
        for signal in rules.SIGNALS
        if (personal or not signal.personal) and signal.found_in(sentence.text)
    ]
    score = sum(signal.points for signal in hits)
    reasons = [f"{signal.name} {signal.points:+g}" for signal in hits]
    if sentence.lead:
        score += LEAD_POINTS
        reasons.append(f"first sentence {LEAD_POINTS:+g}")
    kind = _kind(hits)
    if not personal and kind in rules.OF_PERSONS and not _OF_USER.search(sentence.text):
        kind = "fact"
    return Judged(
        round(score, 2),
        kind,
        tuple(reasons),
        explains=_explains(hits),
        core=any(signal.core for signal in hits),
        personal=any(signal.personal for signal in hits),
    )


def _explains(hits: Sequence[Signal]) -> bool:
    added = sum(signal.points for signal in hits if signal.explains)
    return added >= MIN_SCORE and rules.NEEDS_BEFORE in hits


def _kind(hits: Iterable[Signal]) -> str:
    points: dict[str, float] = {}
    for signal in hits:
        if signal.kind:
            points[signal.kind] = points.get(signal.kind, 0.0) + signal.points
    order = rules.KINDS.index
    return max(points, key=lambda kind: (points[kind], -order(kind)), default="fact")


def _with_meaning(
    given: Sequence[Sentence], judged: Sequence[Judged], meaning: Meaning, least: float
) -> list[Judged]:
    """The judgements, those near the threshold completed by what a model says."""
    near = [
        at
        for at, one in enumerate(judged)
        if abs(one.score - least) <= NEAR and not one.personal
    ][:COMPARED]
    hints = meaning([given[at].text for at in near]) if near else ()
    completed = list(judged)
    for at, hint in zip(near, hints, strict=True):
        completed[at] = _joined(judged[at], hint)
    return completed


def _joined(judged: Judged, hint: tuple[str, float]) -> Judged:
    kind, points = hint
    reason = f"meaning {points:+.1f} ({kind})"
    named = kind if judged.kind == "fact" and points >= SURE else judged.kind
    return replace(
        judged,
        score=round(judged.score + points, 2),
        kind=named,
        reasons=(*judged.reasons, reason),
    )
