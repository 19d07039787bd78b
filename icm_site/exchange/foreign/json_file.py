"""JSON of other programs read piece by piece: an array's entries, or an object."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from icm_site.errors import InvalidInput

# One conversation with all that was pasted into it.
ENTRY_CHARS = 64 * 1024 * 1024
PIECE = 1 << 20
_BLANK = " \t\r\n"


def entries(path: Path) -> Iterator[Any]:
    """The entries of the array that a file is; of an object the object itself.

    No more than one entry is held. Raises InvalidInput.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            yield from _Entries(file, path)
    except UnicodeDecodeError:
        raise InvalidInput(f"not UTF-8: {path}") from None
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}") from error


class _Entries:
    """An iterator over the entries; `_text` is what was read and not yet used."""

    def __init__(self, file: Any, path: Path) -> None:
        self._file, self._path = file, path
        self._text, self._number = "", 0
        self._decoder = json.JSONDecoder()

    def __iter__(self) -> Iterator[Any]:
        if self._next_char() != "[":
            yield self._entry()
            self._end()
            return
        self._text = self._text[1:]
        if self._next_char() == "]":
            self._text = self._text[1:]
        else:
            yield self._entry()
            while (char := self._next_char()) == ",":
                self._text = self._text[1:]
                yield self._entry()
            if char != "]":
                raise self._wrong()
            self._text = self._text[1:]
        self._end()

    def _next_char(self) -> str:
        """The next character that is no blank, "" at the end; it stays."""
        while not (text := self._text.lstrip(_BLANK)):
            if not (piece := self._file.read(PIECE)):
                return ""
            self._text = piece
        self._text = text
        return text[0]

    def _entry(self) -> Any:
        self._number += 1
        self._next_char()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text)
            except RecursionError:
                raise self._wrong() from None
            except ValueError:
                self._more()
                continue
            # A number may go on in the next piece.
            if end == len(self._text) and (piece := self._file.read(PIECE)):
                self._text += piece
                continue
            self._text = self._text[end:]
            return value

    def _more(self) -> None:
        """Read as much again, so that a long entry is parsed only a few times."""
        if len(self._text) > ENTRY_CHARS:
            raise InvalidInput(
                f"entry {self._number} of {self._path} is broken, or larger than "
                f"{ENTRY_CHARS >> 20} MiB"
            )
        piece = self._file.read(max(len(self._text), PIECE))
        if not piece:
            raise self._wrong()
        self._text += piece

    def _end(self) -> None:
        if self._next_char():
            raise self._wrong()

    def _wrong(self) -> InvalidInput:
        return InvalidInput(
            f"{self._path} is not JSON, or cut off, at entry {self._number}"
        )
