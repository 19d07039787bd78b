"""Plain functions that make what tests need, and the fakes at the boundaries."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from icm_site.caller import Caller
from icm_site.operation import Command, Operation
from icm_site.registry import OPERATIONS
from memories import store
from memories.models import Memory

CALLER = Caller(surface="cli", origin="user", project="shop")
AGENT = Caller(surface="mcp", origin="agent", host="claude-code", project="shop")


def make_memory(
    content: str = "The shop runs on Postgres 16.",
    *,
    topic: str = "decisions-shop",
    caller: Caller = CALLER,
    **fields: Any,
) -> Memory:
    """A stored memory, through the product's own path."""
    return store.store(topic=topic, content=content, caller=caller, **fields).memory


def perform(name: str, /, *, caller: Caller = CALLER, **given: object) -> Any:
    """The result of an operation for arguments as they come in through a door."""
    operation = OPERATIONS[name]
    params = operation.parse(given, caller=caller, ranges={}, fill={})
    return operation.run(params, caller)


def command_words(
    operation: Operation, command: Command, given: Mapping[str, object]
) -> list[str]:
    """The options and positional arguments of a command that give these values."""
    options: list[str] = []
    positional: list[str] = []
    for name, info in operation.params.model_fields.items():
        flags = command.flags.get(name, (f"--{name.replace('_', '-')}",))
        if name not in given:
            continue
        if not flags:
            positional.append(str(given[name]))
        elif info.annotation is bool:
            options += flags[:1] if given[name] is not info.default else ()
        else:
            options.append(f"{flags[-1]}={given[name]}")
    return [*options, "--", *positional] if positional else options


class FakeEmbedder:
    """Deterministic vectors: words of one group are near each other."""

    name = "fake/groups"
    dimensions = 384
    groups: ClassVar[list[set[str]]] = [
        {"database", "postgres", "mysql", "sqlite", "storage"},
        {"car", "vehicle", "auto", "truck"},
        {"login", "auth", "password", "oauth", "signin"},
        {"coffee", "espresso", "tea"},
    ]

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self.embed_texts([text])[0]
        return vector

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.full((len(texts), self.dimensions), 0.01, np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w+", text.lower()):
                row[self._place(word)] += 1.0
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        vectors: NDArray[np.float32] = (rows / norms).astype(np.float32)
        return vectors

    def _place(self, word: str) -> int:
        for place, group in enumerate(self.groups):
            if word in group:
                return place
        return 16 + sum(word.encode()) % (self.dimensions - 16)
