"""How sure it is that a memory has to do with a query: 0-1, the same for every query.

A score orders the memories of one query. Whether the best of them says anything on the
matter shows elsewhere too: in the part of the query that the memories know at all, in
its names and numbers, and in how much it asks. Pure; docs/how-search-works.md tells how
the constants were fitted, and with which command.
"""

import math
from typing import NamedTuple

from icm_site import text
from memories.words import Words

# Names and numbers say more than other words whether memories are about the same
# thing; what one says to an agent whatever it works on says less.
NAME_WEIGHT, ERRAND_WEIGHT = 3.0, 0.3
# A query of less weight than this is too short to be sure of anything: a rare word
# weighs 4 among a hundred memories and 7 among a thousand.
FULL_WEIGHT = 12.0

# Relevance = 1 / (1 + exp(-(a + b x score + c x known))) without a model and with one:
# at 0.5 about 3 in 100 questions about other things are answered, 9 in 10 of the own.
BY_WORDS = (-6.0, 10.1, 4.0)
WITH_MODEL = (-7.6, 10.4, 4.1)
# Or, if that is more, by the nearness alone, as for a question in another language:
# 2 in 100 dialogues are so near to a question about others.
NEAR_MIDDLE, NEAR_SLOPE = 0.33, 30.0

# Words in the form of the index (icm_site/stem.py): English, and some of German, French
# and Spanish.
ERRANDS = frozenset(
    """
again ahora alread alrigh anyth bitt chang check clean code comman commit contin
correc creat dank debug delet diff done encor error explai favor file finish first fix
forget functi go good gracia great gut hei hello help hi implem issu ja jetzt keep
know last let like line look mach make mal merci more move need nein new next nice no
noch non not noth now okai one open other oui perfec pleas por proble proce push put
questi read readi realli redo refact remov renam replac rerun revert review right run
sai same see set shorte show si sigu simpl someth sorri start step still stop suit
sure task tell test thank thing think todai try two unders undo updat use wai want
weiter well work write wrong yeah yep
""".split()
)

_SENTENCE_ENDS = (".", "!", "?", ":", ";", "…")


class Question(NamedTuple):
    """What is known of a query before any memory is looked at.

    `known`: the part of its weight, 0-1, that some memory holds. `weight`: of all that
    it asks for, names more and errands less.
    """

    known: float
    weight: float

    def relevance(self, score: float, nearness: float | None = None) -> float:
        """That of a memory with this score of the default fusion, 0-1.

        `nearness`: that of the query's vector; None where there is no vector arm.
        """
        a, b, c = BY_WORDS if nearness is None else WITH_MODEL
        sure = _logistic(a + b * score + c * self.known)
        if nearness is not None:
            near = _logistic(NEAR_SLOPE * (nearness - NEAR_MIDDLE))
            sure = max(sure, near)
        return sure * min(1.0, self.weight / FULL_WEIGHT)


# Where no words were looked up.
UNKNOWN = Question(known=0.0, weight=FULL_WEIGHT)


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-max(-50.0, min(value, 50.0))))


def question(query: str, words: Words) -> Question:
    """What a query asks for; `words` are those of the query."""
    names = frozenset(text.search_words(" ".join(names_in(query))))
    known = whole = 0.0
    for term, holders, weight in words.written:
        if not holders and term in words.spare:
            continue
        counted = weight * _worth(term, names)
        whole += counted
        known += counted if holders else 0.0
    return Question(known / whole if whole else 0.0, whole)


def _worth(term: str, names: frozenset[str]) -> float:
    if term in names:
        return NAME_WEIGHT
    return ERRAND_WEIGHT if term in ERRANDS else 1.0


def names_in(query: str) -> list[str]:
    """Names, numbers and identifiers of a query, as far as their spelling shows.

    That is a word with a digit or with a capital beyond its first letter, and one with
    a capital that starts no sentence.
    """
    found = []
    for line in query[: text.QUERY_BYTES].splitlines():
        starts = True
        for written in line.split():
            word = _bare(written)
            if word and _is_name(word, starts=starts):
                found.append(word)
            if word:
                starts = written.rstrip("\"')]").endswith(_SENTENCE_ENDS)
    return found


def _bare(written: str) -> str:
    """A word without what stands around it, and without a possessive."""
    if written.isalnum():
        return written
    word = written.strip("\"'`’‘“”.,;:!?…()[]{}<>*#-")
    for ending in ("'s", "’s"):
        word = word.removesuffix(ending)
    return word


def _is_name(word: str, *, starts: bool) -> bool:
    if any(map(str.isdigit, word)) or any(map(str.isupper, word[1:])):
        return True
    return word[0].isupper() and not starts
