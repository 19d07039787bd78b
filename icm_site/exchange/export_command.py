"""`icm export`: everything that is stored, as JSON lines or to be read."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from icm_site import partial
from icm_site.arguments import Parser
from icm_site.errors import Conflict, InvalidInput, Unavailable
from icm_site.exchange.opening import database_open

GROUPS = ("memories", "memoirs", "feedback")


def main(arguments: Sequence[str]) -> int:
    """Write an export; returns the exit code."""
    try:
        given = _parser().parse_args(list(arguments))
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    if given.topic and given.project:
        raise InvalidInput("give --topic or --project, not both")
    since = _moment(given.since) if given.since else None
    with database_open():
        from icm_site.exchange import exporting, markdown
        from memories.cleaner import Cleaner

        choice = exporting.Choice(
            topic=given.topic or "",
            project=given.project or "",
            since=since,
            groups=tuple(given.kind or GROUPS),
            vectors=given.vectors,
        )
        clean = Cleaner(allow_secret=given.allow_secrets, reading=True)
        write = markdown.lines if given.format == "markdown" else exporting.lines
        with exporting.one_state():
            _write(write(choice, clean), given.file)
    if clean.found:
        print(f"Secrets were masked: {', '.join(clean.found)}.", file=sys.stderr)
    return 0


def _parser() -> Parser:
    parser = Parser(
        prog="icm export",
        description="Write everything that is stored: memories with their history, "
        "links, vectors and suggestions, projects, memoirs, feedback. `icm import` "
        "brings it back, the same to the byte. Secrets are masked.",
        allow_abbrev=False,
    )
    add: Any = parser.add_argument
    add("file", nargs="?", metavar="FILE", help="where to; default: standard output")
    add(
        "--format",
        choices=("jsonl", "markdown"),
        default="jsonl",
        help="markdown is for reading, and cannot be imported (default: jsonl)",
    )
    add("--topic", help="memories and feedback of this topic alone")
    add("--project", help="memories of this project alone, and feedback on them")
    add(
        "--since", metavar="DATE", help="what was changed at or after this date or time"
    )
    add(
        "--kind",
        action="append",
        choices=GROUPS,
        help="this part alone; may be given more than once",
    )
    add(
        "--no-vectors",
        dest="vectors",
        action="store_false",
        help="leave out the vectors, which `icm embed` makes again",
    )
    add(
        "--allow-secrets",
        action="store_true",
        help="write secrets that were stored on purpose as they are",
    )
    return parser


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        # A day without a zone is the user's own.
        return (moment if moment.tzinfo else moment.astimezone()).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        raise InvalidInput(
            f"--since is no date: {text[:40]!r} (use YYYY-MM-DD)"
        ) from None


def _write(lines: Iterable[bytes], file: str | None) -> None:
    if file is None or file == "-":
        sys.stdout.flush()
        for line in lines:
            sys.stdout.buffer.write(line)
        return
    target = Path(file).absolute()
    if target.exists() or target.is_symlink():
        raise Conflict(f"{target} exists already; nothing was overwritten")
    try:
        with partial.made(target) as unfinished:
            with unfinished.open("wb") as stream:
                stream.writelines(lines)
            if not partial.placed(unfinished, target):
                raise Conflict(f"{target} exists already; nothing was overwritten")
    except OSError as error:
        why = error.strerror or "no reason given"
        raise Unavailable(f"{target} could not be written: {why}") from error
    print(f"Exported: {target}")
