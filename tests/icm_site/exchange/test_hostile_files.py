"""Every value of every program's file replaced by one of each kind: never a fault."""

from __future__ import annotations

import copy
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from icm_site.errors import IcmError
from icm_site.exchange import reading
from icm_site.exchange.foreign import programs, staging
from memories import transcripts
from tests.icm_site.exchange import samples

pytestmark = pytest.mark.django_db
DEEP: Any = []
for _ in range(900):
    DEEP = [DEEP]
ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 10**30, 1e300, "", "x", "2026-13-45", "a\nb", "\ud800", "\0"),
    *([], {}, [[1]], [None, 5], {"a": []}, DEEP),
)
CELLS: tuple[Any, ...] = (None, -1, 2**62, 1.5, "", "x\ny", "[", b"\xff\x00", "\0")
FILES = dict(samples.files())
TEXTS = [
    name
    for name in FILES
    if not FILES[name].startswith(b"SQLite") and ".md" not in name
]
DATABASES = [name for name in FILES if FILES[name].startswith(b"SQLite")]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to each value within a JSON value."""
    if path:
        yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def replaced(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    changed = copy.deepcopy(value)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = odd
    return changed


def variants(text: str) -> Iterator[str]:
    """A JSON text, or one of lines, with one other value in it."""
    lines = text.splitlines() if "\n{" in text.strip() else [text]
    for number, line in enumerate(lines):
        value = json.loads(line)
        for path in places(value):
            for odd in ODD:
                other = json.dumps(replaced(value, path, odd))
                yield "\n".join([*lines[:number], other, *lines[number + 1 :]]) + "\n"


def read(path: Path, program: str) -> str:
    """What is said against a file that is read whole; "" for nothing."""
    found = programs.rows(program, path, staging.Notes(), project="shop")
    try:
        with staging.staged(found) as made:
            reading.check(made)
    except IcmError as error:
        return error.message
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
def test_a_file_with_any_other_value_is_read_or_refused(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name])
    program = programs.detect(path)
    for text in variants(FILES[name].decode()):
        path.write_text(text, "utf-8")
        said = read(path, program)
        assert "\n" not in said and len(said) < 600, text


@pytest.mark.slow
@pytest.mark.parametrize("name", DATABASES)
def test_a_database_with_any_other_cell_is_read_or_refused(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name])
    program = programs.detect(path)
    for table, column in columns(path):
        for cell in CELLS:
            path.write_bytes(FILES[name])
            with closing(sqlite3.connect(path)) as raw, raw:
                try:
                    raw.execute(f'UPDATE "{table}" SET "{column}" = ?', (cell,))
                except sqlite3.Error:
                    continue
            assert "\n" not in read(path, program), (table, column, cell)


def columns(path: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as raw:
        tables = raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return [
            (table, row[1])
            for (table,) in tables.fetchall()
            for row in raw.execute(f'PRAGMA table_info("{table}")').fetchall()
        ]


@pytest.mark.parametrize(
    "record",
    [
        {"role": "tool", "content": DEEP},
        {"role": "user", "content": [{"type": ["text"], "text": "x"}]},
        {"type": "gemini", "content": "x", "toolCalls": [{"name": "a", "result": 5}]},
    ],
    ids=["deep", "type", "result"],
)
def test_a_transcript_of_odd_values_is_read(record: dict[str, Any]) -> None:
    transcripts.turns(json.dumps(record) + "\n")
