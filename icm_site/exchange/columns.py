"""The columns of an exported row: how each value is written, checked and read."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from icm_site.errors import InvalidInput
from icm_site.text import cut
from icm_site.ulid import is_ulid
from memories.models import Importance, State
from memories.validation import TEXT_BYTES

Mask = Callable[[str], str]

LARGEST = 2**63 - 1
LARGEST_FLOAT = 1e300
# For texts that have no limit of their own.
ANY_BYTES = 1 << 20
SUCCESSOR = "superseded_by_id"


@dataclass(frozen=True, kw_only=True)
class Column:
    """One value of a row.

    `path` is where the ORM finds it, `refers` the type of row whose id it is; a `late`
    reference may stand before what it names. `masked` texts are searched for secrets.
    """

    name: str
    form: str
    path: str
    refers: str = ""
    null: bool = False
    late: bool = False
    masked: bool = False
    limit: int = ANY_BYTES
    choices: tuple[str, ...] = ()

    def write(self, value: Any, mask: Mask) -> Any:
        """A value of the database as JSON has it."""
        if isinstance(value, datetime):
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        if isinstance(value, bytes | memoryview):
            return base64.b64encode(value).decode("ascii")
        if isinstance(value, float) and not math.isfinite(value):
            # JSON has no word for it, and an import would refuse it.
            return math.copysign(1.0 if self.form == "share" else LARGEST_FLOAT, value)
        return masked(value, mask, self.limit) if self.masked else value

    def read(self, value: Any) -> Any:
        """A value of a file as the database takes it. Raises InvalidInput."""
        if value is None:
            if not self.null:
                raise InvalidInput(f"{self.name} is missing")
            return None
        try:
            return READERS[self.form](self, value)
        except InvalidInput as error:
            raise InvalidInput(f"{self.name} {error.message}") from None


def masked(value: Any, mask: Mask, limit: int = ANY_BYTES) -> Any:
    """Texts, however deep they are, without secrets; a longer one is cut."""
    if isinstance(value, str):
        clean = mask(value)
        return value if clean == value else cut(clean, limit)
    if isinstance(value, list):
        return [masked(each, mask, limit) for each in value]
    if isinstance(value, dict):
        return {name: masked(each, mask, limit) for name, each in value.items()}
    return value


def text(name: str, *, limit: int = ANY_BYTES, null: bool = False) -> Column:
    return Column(
        name=name, form="text", path=name, masked=True, limit=limit, null=null
    )


def plain(name: str, form: str, *, path: str = "", null: bool = False) -> Column:
    """A value that holds no text of a person."""
    return Column(name=name, form=form, path=path or name, null=null)


def choice(name: str, choices: Any) -> Column:
    return Column(name=name, form="choice", path=name, choices=tuple(choices.values))


def deep(name: str, form: str, *, null: bool = False) -> Column:
    """JSON with texts in it."""
    return Column(name=name, form=form, path=name, masked=True, null=null)


def ref(name: str, to: str, *, null: bool = False, late: bool = False) -> Column:
    """The id of another row."""
    return Column(
        name=name, form="ulid", path=f"{name}__ulid", refers=to, null=null, late=late
    )


def _text(column: Column, value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidInput("is no text")
    if "\0" in value:
        raise InvalidInput("contains a NUL character")
    try:
        size = len(value.encode("utf-8"))
    except UnicodeEncodeError:
        raise InvalidInput("is not valid Unicode text") from None
    if size > column.limit:
        raise InvalidInput(f"is too long: {size} bytes, {column.limit} allowed")
    return value


def _ulid(column: Column, value: Any) -> str:
    del column
    if not isinstance(value, str) or not is_ulid(value):
        raise InvalidInput("is no id of 26 characters")
    return value.upper()


def _time(column: Column, value: Any) -> datetime:
    del column
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            raise ValueError
        return moment.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput("is no time with a zone (RFC 3339)") from None


def _whole(column: Column, value: Any) -> int:
    del column
    # bool is an int in Python.
    if type(value) is not int or not 0 <= value <= LARGEST:
        raise InvalidInput("is no whole number from 0 up")
    return value


def _number(column: Column, value: Any) -> float:
    del column
    if (
        type(value) not in (int, float)
        or abs(value) > LARGEST_FLOAT
        or not math.isfinite(value)
    ):
        raise InvalidInput("is no number")
    return float(value)


def _share(column: Column, value: Any) -> float:
    number = _number(column, value)
    if not 0.0 <= number <= 1.0:
        raise InvalidInput("is not between 0 and 1")
    return number


def _bool(column: Column, value: Any) -> bool:
    del column
    if not isinstance(value, bool):
        raise InvalidInput("is neither true nor false")
    return value


def _choice(column: Column, value: Any) -> str:
    if value not in column.choices:
        raise InvalidInput(f"is none of {', '.join(column.choices)}")
    return str(value)


def _words(column: Column, value: Any) -> list[str]:
    if not isinstance(value, list):
        raise InvalidInput("is no list")
    return [_text(column, each) for each in value]


def _list(column: Column, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidInput("is no list")
    return value


def _object(column: Column, value: Any) -> dict[str, Any]:
    del column
    if not isinstance(value, dict):
        raise InvalidInput("is no object")
    return value


def _floats(column: Column, value: Any) -> bytes:
    del column
    try:
        raw = base64.b64decode(value, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise InvalidInput("is not base64") from None
    return raw


def _before(column: Column, value: Any) -> dict[str, Any]:
    """The fields of a memory before a change: an undo will write them."""
    fields = _object(column, value)
    for name, each in fields.items():
        check = BEFORE.get(name)
        if check is None:
            raise InvalidInput(f"has an unknown field {name[:40]!r}")
        check.read(each)
    return fields


READERS: Mapping[str, Callable[[Column, Any], Any]] = {
    "text": _text,
    "ulid": _ulid,
    "time": _time,
    "whole": _whole,
    "number": _number,
    "share": _share,
    "bool": _bool,
    "choice": _choice,
    "words": _words,
    "list": _list,
    "object": _object,
    "floats": _floats,
    "before": _before,
}

# By the names of `memories.history`; the successor stands there by its id.
BEFORE: Mapping[str, Column] = {
    "topic": text("topic"),
    "summary": text("summary", limit=TEXT_BYTES),
    "raw_excerpt": text("raw_excerpt", limit=TEXT_BYTES, null=True),
    "keywords": deep("keywords", "words"),
    "importance": choice("importance", Importance),
    "state": choice("state", State),
    "metadata": deep("metadata", "object"),
    SUCCESSOR: plain("superseded_by", "ulid", null=True),
    "hashes": deep("hashes", "words"),
}
