"""Two texts with the same words in another order: when do they still say the same?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from memories.reading import Reading, Token

# Longer texts are not tried: the cost is cubic.
LONGEST = 40
ADJECTIVES, NOUNS = 3, 2

# Words that open a phrase which may stand first or last: "in tests use X" and
# "use X in tests".
LEADS = frozenset(
    """
in on at for during when if while because since until after before with inside
für mit bei wenn falls während seit bis nach vor
dans sur pour avec quand si pendant depuis après avant en
para con en cuando si durante desde después antes
per con quando se durante em com quando durante
""".split()
)

_VERBS = """
break/broke/broken build/built/built buy/bought/bought catch/caught/caught
choose/chose/chosen cut/cut/cut do/did/done draw/drew/drawn drive/drove/driven
eat/ate/eaten feed/fed/fed find/found/found fly/flew/flown forget/forgot/forgotten
get/got/got give/gave/given hide/hid/hidden hit/hit/hit hold/held/held
keep/kept/kept lead/led/led leave/left/left lose/lost/lost make/made/made
pay/paid/paid put/put/put read/read/read ride/rode/ridden run/ran/run see/saw/seen
sell/sold/sold send/sent/sent set/set/set shake/shook/shaken shoot/shot/shot
show/showed/shown sing/sang/sung speak/spoke/spoken spend/spent/spent
split/split/split spread/spread/spread sweep/swept/swept swing/swung/swung
take/took/taken teach/taught/taught tear/tore/torn tell/told/told
throw/threw/thrown wear/wore/worn win/won/won wind/wound/wound write/wrote/written
override/overrode/overridden overwrite/overwrote/overwritten
"""
# Irregular English participles: participle -> (infinitive, past).
PARTICIPLES = {
    last: (first, past)
    for first, past, last in (row.split("/") for row in _VERBS.split())
}


def reworded(new: Reading, old: Reading) -> bool:
    """Whether the texts differ in order alone and each word keeps its role.

    Known are a leading phrase moved to the end ("in tests use X"), the English
    passive ("X is used by Y", "Y uses X") and relative clauses ("a box which is
    red"). Any other order is taken for another meaning: A beats B, B beats A.
    """
    if max(len(new.tokens), len(old.tokens)) > LONGEST:
        return False
    first, second = new.keys, old.keys
    if Counter(first) == Counter(second) and (
        _rotated(first, second) or _rotated(second, first)
    ):
        return True
    if new.language != "en":
        return False
    return any(
        _is_active(one, two)
        for one, two in ((first, second), (second, first))
        if "by" in one
    ) or any(
        keys == other.keys
        for one, other in ((new, old), (old, new))
        for keys in _without_clause(one.tokens)
    )


def _rotated(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether `second` is `first` with its opening phrase moved to the end."""
    if first[0] not in LEADS:
        return False
    return any(
        [*first[i:], *first[:i]] == list(second) for i in range(2, len(first) - 1)
    )


def _is_active(passive: Sequence[str], active: Sequence[str]) -> bool:
    """Whether `active` says of its subject what `passive` says with "by"."""
    return any(list(active) == form for form in _active_forms(passive))


def _active_forms(keys: Sequence[str]) -> Iterator[list[str]]:
    for by in (i for i, key in enumerate(keys) if key == "by" and i > 1):
        for at in range(by - 1, 0, -1):
            past = keys[at - 1] == "was"
            subject = list(keys[: at - 1 if past else at])
            verbs = _verb_forms(keys[at], past=past)
            if not subject or not verbs:
                continue
            middle, rest = list(keys[at + 1 : by]), list(keys[by + 1 :])
            for end in range(1, len(rest) + 1):
                for verb in verbs:
                    agent = rest[:end]
                    yield [*agent, *verb, *subject, *middle, *rest[end:]]


def _verb_forms(participle: str, *, past: bool) -> list[list[str]]:
    """The active forms of the verb of a participle; empty if it is none."""
    if participle in PARTICIPLES:
        base, simple = PARTICIPLES[participle]
        bases = [base]
    elif participle.endswith("ed") and len(participle) > 4:
        simple = participle
        bases = [participle[:-2], participle[:-1], participle[:-3]]
        bases += [f"{participle[:-3]}y"] if participle.endswith("ied") else []
    else:
        return []
    running = [form for base in bases for form in _running(base)]
    if past:
        return [[simple], *(["was", form] for form in running)]
    present = [form for base in bases for form in (base, f"{base}s", f"{base}es")]
    present += [f"{base[:-1]}ies" for base in bases if base.endswith("y")]
    return [[form] for form in dict.fromkeys([*present, *running])]


def _running(base: str) -> list[str]:
    if base.endswith("e"):
        return [f"{base[:-1]}ing"]
    return [f"{base}ing", f"{base}{base[-1]}ing"] if base else []


def _without_clause(tokens: Sequence[Token]) -> Iterator[list[str]]:
    """The words with a clause "which is ..." put before its noun (one or two words)."""
    keys = [token.key for token in tokens]
    for at in (i for i, t in enumerate(tokens) if t.after in ("which", "who", "that")):
        for noun in range(max(at - NOUNS, 0), at):
            for end in range(at + 1, min(at + ADJECTIVES, len(keys)) + 1):
                yield keys[:noun] + keys[at:end] + keys[noun:at] + keys[end:]
