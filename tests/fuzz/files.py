"""Files to be imported: whole ones, and the same with something wrong in them."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random
from typing import Any

from icm_site.errors import IcmError
from icm_site.exchange import exporting, import_command
from tests.fuzz.chance import Made
from tests.fuzz.inputs import VALUES
from tests.fuzz.place import Place
from tests.icm_site.exchange import samples


def inputs(place: Place) -> Made[tuple[str, bytes]]:
    """The name and the bytes of a file."""
    whole = [("all.jsonl", _export()), *samples.files()]

    def draw(r: Random) -> tuple[str, bytes]:
        name, data = r.choice(whole)
        return (name if r.random() < 0.9 else r.choice(whole)[0]), _changed(data, r)

    return Made(draw)


def _export() -> bytes:
    with exporting.one_state():
        return b"".join(exporting.lines(exporting.Choice(), str))


def _changed(data: bytes, r: Random) -> bytes:
    """Another value somewhere in the JSON, other lines, other bytes, or a cut."""
    kind = r.random()
    if kind < 0.1:
        return data
    if kind < 0.6 and data[:1] in (b"{", b"["):
        return _other_value(data, r)
    if kind < 0.75:
        lines = data.split(b"\n")
        lines[r.randrange(len(lines))] = r.choice(lines)
        return b"\n".join(lines)
    if kind < 0.9:
        torn = bytearray(data)
        for _ in range(r.randint(1, 4)):
            torn[r.randrange(len(torn))] = r.randrange(256)
        return bytes(torn)
    return data[: r.randrange(len(data))]


def _other_value(data: bytes, r: Random) -> bytes:
    lines = data.split(b"\n") if data[:1] == b"{" and b"\n{" in data else [data]
    place = r.randrange(len(lines))
    try:
        value = json.loads(lines[place])
    except ValueError:
        return data
    _replace(value, r)
    lines[place] = json.dumps(value).encode()
    return b"\n".join(lines)


def _replace(value: Any, r: Random) -> None:
    """Put some other value at one place of a JSON value, however deep."""
    while isinstance(value, dict | list) and value:
        key = r.choice(list(value) if isinstance(value, dict) else range(len(value)))
        inner = value[key]
        if not isinstance(inner, dict | list) or not inner or r.random() < 0.3:
            value[key] = VALUES.draw(r)
            return
        value = inner


def imported(name: str, data: bytes) -> str:
    """What `icm import` says against a file, "" if nothing."""
    path = Path(name).absolute()
    path.write_bytes(data)
    quiet = io.StringIO()
    try:
        with redirect_stdout(quiet), redirect_stderr(quiet):
            import_command.main([str(path), "--no-backup"])
    except IcmError as error:
        return error.message
    return ""
