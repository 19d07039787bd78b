"""The form of an operation: one function from Params to Result, listed once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from icm_site.caller import Caller
from icm_site.errors import InvalidInput

# A text, or something that `rich` draws as a table.
Render = Callable[[Any], Any]
T = TypeVar("T")


class Params(BaseModel):
    """What comes in through a door; unknown arguments are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    @field_validator("*", mode="before")
    @classmethod
    def _unicode(cls, value: object) -> object:
        """No lone surrogates, as from an argument that is not UTF-8."""
        if isinstance(value, str) and not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                raise ValueError("is not valid Unicode text") from None
        return value


class Result(BaseModel):
    """What goes out: the same value on every surface."""

    model_config = ConfigDict(frozen=True, defer_build=True)


class Failure(Result):
    """What every error looks like over HTTP."""

    error: str


@dataclass(frozen=True, kw_only=True)
class Tool:
    """How MCP shows an operation. The first format is the default one."""

    name: str
    formats: Mapping[str, Render]
    compact: Render | None = None
    lean: bool = False
    reads: bool = False
    destroys: bool = False
    idempotent: bool = False
    stores: bool = False
    needs_embedder: bool = False
    ranges: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    fill: Mapping[str, Callable[[Caller], object]] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    hidden: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Command:
    """How the command line shows an operation.

    `flags` maps a field to its option strings, or to `()` for a positional argument;
    a field that is not named gets `--field-name`. `note` makes a line for stderr.
    `about` says what the command does where another one shares its operation.
    """

    words: tuple[str, ...]
    formats: Mapping[str, Render]
    flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ranges: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    fill: Mapping[str, Callable[[Caller], object]] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    note: Callable[[Any], str] | None = None
    exit_code: Callable[[Any], int] | None = None
    about: str = ""


@dataclass(frozen=True, kw_only=True)
class Operation:
    """An entry of an app's `OPERATIONS`. Everything else follows from `run`.

    `run(params, caller)` is annotated with its own Params and Result classes; its
    docstring is the description that people and models read. What is `long` takes
    minutes, and so a process of its own. What is not `masked` is to show a secret.
    """

    run: Callable[..., Result]
    tool: Tool | None = None
    commands: tuple[Command, ...] = ()
    http: bool = True
    writes: bool = True
    long: bool = False
    masked: bool = True
    example: Mapping[str, object] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.run.__name__

    @property
    def description(self) -> str:
        return inspect.getdoc(self.run) or ""

    @property
    def params(self) -> type[Params]:
        return _annotation(self.run, "params", Params)

    @property
    def result(self) -> type[Result]:
        return _annotation(self.run, "return", Result)

    def parse(
        self,
        given: Mapping[str, object],
        *,
        caller: Caller,
        ranges: Mapping[str, tuple[int, int]],
        fill: Mapping[str, Callable[[Caller], object]],
    ) -> Params:
        """Params from outside: absent fields filled, numbers clamped, all checked.

        Raises InvalidInput with one sentence.
        """
        values = {name: value for name, value in given.items() if value is not None}
        for name, default in fill.items():
            values.setdefault(name, default(caller))
        try:
            params = self.params.model_validate(values)
        except ValidationError as error:
            raise InvalidInput(sentence(error)) from None
        clamped = {
            name: min(max(number, low), high)
            for name, (low, high) in ranges.items()
            if (number := getattr(params, name)) is not None
        }
        return params.model_copy(update=clamped)


def _annotation(function: Callable[..., Any], name: str, kind: type[T]) -> type[T]:
    found = get_type_hints(function)[name]
    if not (isinstance(found, type) and issubclass(found, kind)):
        raise TypeError(f"{function.__name__}: {name} must be a {kind.__name__}")
    return found


def sentence(error: ValidationError) -> str:
    """The first fault of a pydantic error as one sentence."""
    first = error.errors(include_url=False)[0]
    name = ".".join(str(part) for part in first["loc"]) or "input"
    if first["type"] == "missing":
        return f"missing required field: {name}"
    message = first["msg"].removeprefix("Value error, ")
    message = message[0].lower() + message[1:]
    return f"{name}: {message} (got {_shown(first['input'])})"


def _shown(value: object, *, limit: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= limit else f"{text[:limit]}…"
