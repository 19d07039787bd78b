"""Masks secrets in a text: known key formats, and assignments that look secret."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from icm_site import later
from memories.secret_rules import LONG, RULES, Rule


@dataclass(frozen=True)
class Redacted:
    """A text without its secrets, and the names of what was masked, each once."""

    text: str
    found: tuple[str, ...]


_GROUPS = ("secret", "single", "bare", "random")

# By a mark that they hold, since most texts lack one or the other. The last rule has
# none: it is for long words.
_HINTS: dict[str, list[tuple[str, int]]] = {"_": [], "-": [], ".": [], "": []}
for _place, _rule in enumerate(RULES):
    for _hint in _rule.hints:
        _HINTS[next(mark for mark in _HINTS if mark in _hint)].append((_hint, _place))

_IDENTIFIER = later.pattern(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-7][0-9a-hjkmnp-tv-z]{25}",
    re.IGNORECASE,
)
# What stands for a value: a variable, a call, a path of names, a template, a marker.
_REFERENCE = later.pattern(
    r"[$<{%\[(*&@#.~]|/(?![A-Za-z0-9+=]{16,}$)|.*[(<{\[]"
    r"|[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+[.!?]?$|[A-Za-z]+://|[Xx.*_-]+$"
)
_TECHNICAL = later.pattern(
    r"(?:aes|argon|base|ed|es|hs|rs|ps|hmac-sha|rsa|sha|pbkdf|scrypt|md|http|ipv|utf"
    r"|uuid|ulid|oauth|x|v)-?\d{1,5}(?:url|id|[-.]\d{1,4})?(?:-[a-z]{2,20})*",
    re.IGNORECASE,
)
# Digests of lock files, and keys that others are meant to have (RFC 4253, 6.6).
_PUBLIC = later.pattern(r"sha(?:1|256|384|512)-|AAAA(?:[BC]3Nza|E2Vj)")
_WORDS = later.pattern(r"[A-Z]?[a-z]+(?:[_/-][A-Z]?[a-z]+)*[.:!?]*")


def redact(
    text: str,
    *,
    extra: Iterable[str] = (),
    allow: Iterable[str] = (),
    known: Callable[[str], bool] | None = None,
) -> Redacted:
    """Replace each secret by a marker such as `[redacted:github-token]`.

    `extra` are further patterns to mask; what one of the patterns of `allow` is found
    in stays, and so do secrets that are `known`. Doing it twice changes nothing more.
    ULIDs and UUIDs stay, and hashes that no name of a secret stands before.
    """
    allowed = [re.compile(pattern) for pattern in allow]
    custom = [Rule("custom", (), pattern) for pattern in extra]
    found: dict[str, None] = {}
    lower = text.lower()
    long = any(len(word) >= LONG for word in text.split())
    rules = [*_announced(lower), *(RULES[-1:] if long else ())]
    for rule in (*rules, *custom):
        mask = partial(_masked, rule=rule, allowed=allowed, known=known, found=found)
        text = re.sub(rule.pattern, mask, text)
    return Redacted(text, tuple(found))


def _announced(lower: str) -> list[Rule]:
    """The rules of which a hint stands in a lower-case text, in their order."""
    places = {
        place
        for mark, hints in _HINTS.items()
        if mark in lower
        for hint, place in hints
        if hint in lower
    }
    return [RULES[place] for place in sorted(places)]


def _masked(
    match: re.Match[str],
    *,
    rule: Rule,
    allowed: list[re.Pattern[str]],
    known: Callable[[str], bool] | None,
    found: dict[str, None],
) -> str:
    whole, at = match.group(), match.start()
    start, end = _span(match)
    secret = match.string[start:end]
    if not secret or any(pattern.search(secret) for pattern in allowed):
        return whole
    judge = looks_random if rule.name == "random" else looks_secret
    if rule.judged and not judge(secret, before=whole):
        return whole
    if _is_format(rule) and _WORDS.fullmatch(secret):
        return whole
    if known is not None and known(secret):
        return whole
    found[rule.name] = None
    return f"{whole[: start - at]}[redacted:{rule.name}]{whole[end - at :]}"


def _is_format(rule: Rule) -> bool:
    """Whether a rule tells a secret by its own letters; plain words are then a name."""
    return bool(rule.hints) and "(?P<" not in rule.pattern


def _span(match: re.Match[str]) -> tuple[int, int]:
    groups = match.groupdict()
    for name in _GROUPS:
        if groups.get(name) is not None:
            return match.span(name)
    return match.span()


def looks_secret(value: str, *, before: str = "") -> bool:
    """Judge the value of an assignment; `before` is all that matched, key included."""
    text = value.rstrip(".,;:!?")
    if _REFERENCE.match(text) or _TECHNICAL.fullmatch(text):
        return False
    if _IDENTIFIER.fullmatch(text):
        return False
    password = re.search("(?i)pass|pwd", before) is not None
    if _WORDS.fullmatch(value):
        # Plain words are prose, unless a command or a file sets a password to one.
        return password and "=" in before and len(text) >= 8
    if text.isdigit():
        return password and len(text) >= 6
    return _entropy(text) * len(text) >= (12.0 if password else 24.0)


def looks_random(value: str, *, before: str = "") -> bool:
    """Judge a long word that stands alone: whether a program drew its letters."""
    del before
    text = value.rstrip("=")
    upper, lower, digits = (
        len(re.findall(kind, text)) for kind in ("[A-Z]", "[a-z]", r"\d")
    )
    if (
        _PUBLIC.match(text)
        or min(upper, lower) < 6
        or len(re.findall(r"\d+", text)) < 4
        or digits < 4
    ):
        return False
    # Words make a name or a path; so do more than a few marks.
    if re.search("[a-z]{6}|[A-Z]{6}", text) or len(re.findall("[_/+-]", text)) > 8:
        return False
    return _entropy(text) >= 4.3


def _entropy(text: str) -> float:
    """Bits per character (Shannon)."""
    counts = Counter(text).values()
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts)
