"""Modules that are loaded when something of them is first used.

For a process that answers one question: `dataclasses`, `logging` and others import what
they need in rare cases only, and that takes longer than the answer.
"""

from __future__ import annotations

import sys

# Whole modules of the standard library that are used, if at all, inside functions.
SELDOM_USED = ("inspect", "traceback", "hashlib", "copy")


class _Later(type(sys)):  # type: ignore[misc]
    __name__: str

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):  # the import system itself looks for these
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        self.__dict__.update(__import__(self.__name__).__dict__)
        return self.__dict__[name]


def put_off() -> None:
    """Let the next `import` of these modules cost nothing until they are used."""
    for name in SELDOM_USED:
        if name not in sys.modules:
            sys.modules[name] = _Later(name)
