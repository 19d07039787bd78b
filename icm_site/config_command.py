"""`icm config`: every setting with its value and where it comes from."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from icm_site import conf
from icm_site.arguments import Parser


def main(arguments: Sequence[str]) -> int:
    """Print the configuration; makes and opens no database."""
    parser = Parser(
        prog="icm config",
        description="Show every setting with its value and where it comes from.",
        allow_abbrev=False,
    )
    parser.add_argument("-f", "--format", choices=["human", "json"], default="human")
    try:
        given = parser.parse_args(list(arguments))
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    config = conf.current()
    for unknown in config.unknown:
        hint = f", did you mean {unknown.meant!r}?" if unknown.meant else ""
        print(f"{unknown.file}: unknown key {unknown.name!r}{hint}", file=sys.stderr)
    if given.format == "json":
        print(json.dumps(_as_json(config), indent=2, ensure_ascii=False))
    else:
        print("\n".join(_lines(config)))
    return 0


def _as_json(config: conf.Config) -> dict[str, object]:
    return {
        "file": str(config.file) if config.file else None,
        "loaded": config.loaded,
        "database": str(config.database.path),
        "database_origin": config.database.origin,
        "settings": {
            value.key.name: {"value": _plain(value.value), "origin": value.origin}
            for value in config.values()
        },
    }


def _lines(config: conf.Config) -> list[str]:
    state = "loaded" if config.loaded else "not found, defaults in force"
    head = [f"Config file: {config.file or 'none'} ({state})"]
    if config.repository_file:
        head.append(f"Repository: {config.repository_file} (loaded)")
    head.append(f"Database: {config.database.path} ({config.database.origin})")
    rows = [
        (value.key.name, json.dumps(_plain(value.value), ensure_ascii=False), value)
        for value in config.values()
    ]
    wide = max(len(f"{name} = {text}") for name, text, _ in rows)
    body = [f"{f'{name} = {text}':{wide}}  ({row.origin})" for name, text, row in rows]
    return [*head, "", *body]


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return list(value)
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return dict(value)  # type: ignore[call-overload]
