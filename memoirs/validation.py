"""What memoirs may contain (limits in UTF-8 bytes), the same on every write path."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from icm_site.errors import InvalidInput, NotFound
from icm_site.ulid import is_ulid
from memories.cleaner import Cleaner
from memories.models import Memory
from memories.validation import is_seen, one_line

NAME_BYTES = 255
TEXT_BYTES = 10_000
LABELS = 50
SOURCES = 500


def name(kind: str, value: str, clean: Cleaner) -> str:
    """A name without outer blanks, secrets masked. Raises InvalidInput."""
    value = one_line(kind, value)
    if not is_seen(value):
        raise InvalidInput(f"{kind} must not be empty")
    _limited(kind, value, NAME_BYTES)
    return _limited(kind, clean(value), NAME_BYTES)


def text(kind: str, value: str, clean: Cleaner, *, blank: bool = False) -> str:
    """A definition or description as given, secrets masked. Raises InvalidInput."""
    _encodable(kind, value)
    if not blank and not is_seen(value):
        raise InvalidInput(f"{kind} must not be empty")
    if "\0" in value:
        raise InvalidInput(f"{kind} must not contain NUL characters")
    # The size first: a text that will be refused is not worth the masking.
    _limited(kind, value, TEXT_BYTES)
    return _limited(kind, clean(value), TEXT_BYTES)


def label(value: str) -> str:
    """A label as `namespace:value`; without a colon the namespace is `tag`.

    Raises InvalidInput.
    """
    namespace, colon, rest = one_line("label", value).partition(":")
    if not colon:
        namespace, rest = "tag", namespace
    namespace, rest = namespace.strip(), rest.strip()
    if not namespace or not rest:
        shown = value.strip()[:64]
        raise InvalidInput(f"label must look like namespace:value, not {shown!r}")
    return _limited("label", f"{namespace}:{rest}", NAME_BYTES)


def labels(values: Iterable[str], clean: Cleaner) -> list[str]:
    """Labels in one form, empty and repeated ones dropped. Raises InvalidInput."""
    given = (label(clean(value)) for value in values if value.strip())
    unique = list(dict.fromkeys(given))
    if len(unique) > LABELS:
        raise InvalidInput(f"at most {LABELS} labels are kept, {len(unique)} given")
    return unique


def sources(values: Iterable[str]) -> list[str]:
    """Ids of existing memories, each once. Raises NotFound, InvalidInput."""
    wanted = list(dict.fromkeys(v.strip().upper() for v in values if v.strip()))
    if len(wanted) > SOURCES:
        raise InvalidInput(f"at most {SOURCES} sources are kept, {len(wanted)} given")
    known = _known([value for value in wanted if is_ulid(value)])
    for value in wanted:
        if value not in known:
            raise NotFound(f"memory not found: {value[:64]}")
    return wanted


def _known(ulids: Sequence[str]) -> set[str]:
    if not ulids:
        return set()
    rows = Memory.objects.filter(ulid__in=ulids)
    return set(rows.values_list("ulid", flat=True))


def _encodable(kind: str, value: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidInput(f"{kind} is not valid Unicode text") from None
    return value


def _limited(kind: str, value: str, limit: int) -> str:
    size = len(value.encode("utf-8"))
    if size > limit:
        raise InvalidInput(f"{kind} is too long: {size} bytes given, {limit} allowed")
    return value
