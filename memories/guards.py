"""Where two texts differ in what they say, and whether they oppose; no database."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from os.path import commonprefix
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from memories import guard_words as table
from memories.reading import Reading, Token, fold

_CASED_UNITS = re.compile(r"[kmgtp]?b(?:ps)?|mw")


class Change(NamedTuple):
    """A place where two texts differ; None where one of them has nothing there."""

    old: Token | None
    new: Token | None


def changes(new: Reading, old: Reading) -> list[Change]:
    """The places where the content differs, inflection and "one" for "a" aside."""
    found: list[Change] = []
    for step in Levenshtein.opcodes(old.keys, new.keys):
        if step.tag == "equal":
            continue
        before = old.tokens[step.src_start : step.src_end]
        behind = new.tokens[step.dest_start : step.dest_end]
        size = max(len(before), len(behind))
        for i in range(size):
            change = Change(
                before[i] if i < len(before) else None,
                behind[i] if i < len(behind) else None,
            )
            follows = (
                _at(old.tokens, step.src_end),
                _at(new.tokens, step.dest_end),
            )
            if not _harmless(change, follows, new.language):
                found.append(change)
    return found


def _at(tokens: Sequence[Token], index: int) -> Token | None:
    return tokens[index] if index < len(tokens) else None


def _harmless(
    change: Change, follows: tuple[Token | None, Token | None], language: str
) -> bool:
    old, new = change
    if old and new:
        return same_word(old, new, language)
    single, following = (new, follows[0]) if new else (old, follows[1])
    is_one = single is not None and fold(single.raw) == "one"
    return is_one and following is not None and following.after in ("a", "an")


def same_word(first: Token, second: Token, language: str) -> bool:
    """Whether two tokens are one word, up to the endings of the language."""
    if first.key == second.key:
        return True
    if first.kind != "word" or second.kind != "word":
        return False
    if first.name and second.name and not _plural_acronym(first, second):
        return False
    if frozenset((first.key, second.key)) in table.DISTINCT:
        return False
    rows = table.ENDINGS.get(language, table.ENDINGS[""])
    if language == "de" and first.raw[:1].isupper():
        rows = rows[:1]
    return _inflected(first.key, second.key, rows)


def _plural_acronym(first: Token, second: Token) -> bool:
    """Whether they are like "API" and "APIs", and not like "HTTP" and "HTTPS"."""
    short, long = sorted((first.raw, second.raw), key=len)
    return long == f"{short}s" and short.isupper()


def _inflected(first: str, second: str, rows: Sequence[frozenset[str]]) -> bool:
    size = len(commonprefix((first, second)))
    for shared in range(size, max(size - 2, 2), -1):
        pair = {_ending(word, shared) for word in (first, second)}
        if any(pair <= row for row in rows):
            return True
    return False


def _ending(word: str, shared: int) -> str:
    ending = word[shared:]
    return "ing" if ending == f"{word[shared - 1]}ing" else ending


def same_text(new: Reading, old: Reading) -> bool:
    """Whether the texts differ in case, blanks, punctuation or Unicode form alone."""
    return [token.key for token in new.all] == [token.key for token in old.all]


def same_letters(new: Reading, old: Reading) -> bool:
    """Whether only the joints of compound words differ ("e-mail", "email")."""
    return _joined(new.tokens) == _joined(old.tokens)


def _joined(tokens: Sequence[Token]) -> list[str]:
    parts = [""]
    for token in tokens:
        if token.kind == "word":
            parts[-1] += token.key
        else:
            parts += [f"\0{token.key}", ""]
    return parts


def unit_case_differs(new: Reading, old: Reading) -> bool:
    """Whether the texts differ in nothing but the case of a unit (5 MB, 5 Mb).

    All in lower case is a habit of typing and no other unit.
    """
    pairs = zip(new.tokens, old.tokens, strict=False)
    places = [i for i, (one, two) in enumerate(pairs) if one.raw != two.raw]
    if new.keys != old.keys or len(places) != 1 or not places[0]:
        return False
    one, two = new.tokens[places[0]], old.tokens[places[0]]
    if not _CASED_UNITS.fullmatch(one.key) or one.raw.islower() or two.raw.islower():
        return False
    return new.tokens[places[0] - 1].kind == "number"


def overlap(new: Reading, old: Reading) -> float:
    """Dice share of common content words, small words left out."""
    first, second = (
        Counter(_bare(t) for t in text.tokens if t.key not in table.LIGHT)
        for text in (new, old)
    )
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 1.0


def _bare(token: Token) -> str:
    if token.kind != "word" or len(token.key) < 4:
        return token.key
    return token.key.removesuffix("ing").removesuffix("s")[:6]


def opposition(found: list[Change]) -> str:
    """The first value replaced by another, if half of the changes or more are such.

    Empty otherwise: where most words differ, another value is another fact.
    """
    opposed = [
        f"another {kind}: {old.raw} -> {new.raw}"
        for old, new in found
        if old and new and (kind := _opposed(old, new))
    ]
    return opposed[0] if opposed and 2 * len(opposed) >= len(found) else ""


def negations(text: Reading) -> int:
    """How often a text says no."""
    glued = "".join(t.key for t in text.tokens if t.kind == "character")
    count = sum(token.kind == "negation" for token in text.tokens)
    return count + sum(glued.count(part) for part in table.GLUED_NEGATIONS)


def _opposed(old: Token, new: Token) -> str:
    """What kind of value the one token replaces by the other; empty for none."""
    for kind in ("number", "identifier"):
        if old.kind == new.kind == kind:
            return kind
    if frozenset((old.key, new.key)) in table.ANTONYMS or _prefixed(old.key, new.key):
        return "side"
    if any(old.key in row and new.key in row for row in table.CLASSES):
        return "value"
    named = [token.name or token.kind == "identifier" for token in (old, new)]
    return "name" if all(named) else ""


def _prefixed(first: str, second: str) -> bool:
    short, long = sorted((first, second), key=len)
    return len(short) > 2 and any(
        long == prefix + short for prefix in table.NEGATIVE_PREFIXES
    )


def difference(change: Change) -> str:
    """One difference in words for the user."""
    old, new = change
    if old and new:
        return f"another word: {old.raw} -> {new.raw}"
    if new:
        return f"more is said: {new.raw}"
    return f"less is said: {old.raw}" if old else ""
