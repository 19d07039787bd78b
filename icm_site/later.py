"""What is loaded or made when it is first used.

For a process that answers one question: `dataclasses`, `pathlib` and others import what
they need in rare cases only, patterns serve texts that seldom come, and all of that
takes longer than the answer.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any

# Modules of the standard library that are used, if at all, inside functions.
SELDOM_USED = ("inspect", "traceback", "hashlib", "copy")
# Functions that are imported by their names, and seldom called.
SELDOM_CALLED = {"urllib.parse": ("quote_from_bytes",)}


class _Later(type(sys)):  # type: ignore[misc]
    __name__: str

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):  # the import system itself looks for these
            raise AttributeError(name)
        if name in SELDOM_CALLED.get(self.__name__, ()):
            return lambda *args, **options: self._real(name)(*args, **options)
        return self._real(name)

    def _real(self, name: str) -> Any:
        known, own = sys.modules, self.__name__
        if known.get(own) is self:
            del known[own]
        __import__(own)
        self.__dict__.update(known[own].__dict__)
        return self.__dict__[name]


def put_off() -> None:
    """Let the next `import` of these modules cost nothing until they are used."""
    for name in (*SELDOM_USED, *SELDOM_CALLED):
        if name not in sys.modules:
            sys.modules[name] = _Later(name)


class _Pattern:
    def __init__(self, source: str, flags: int) -> None:
        self._made_of = (source, flags)

    def __getattr__(self, name: str) -> object:
        import re

        found: object = getattr(re.compile(*self._made_of), name)
        setattr(self, name, found)
        return found


def pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """A regular expression that is compiled when a method of it is first used."""
    made: object = _Pattern(source, flags)
    return made  # type: ignore[return-value]
