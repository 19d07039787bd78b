"""`icm import`: what was exported, or what another program remembers."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from icm_site import conf
from icm_site.arguments import Parser
from icm_site.errors import InvalidInput
from icm_site.exchange.opening import database_open

if TYPE_CHECKING:
    from icm_site.exchange.columns import Mask
    from icm_site.exchange.foreign.staging import Notes

# Of icm_site/exchange/foreign/programs.py, which needs Django.
PROGRAMS = (
    *("icm", "rust-icm", "server-memory", "basic-memory", "claude-mem", "mem0"),
    *("claude", "chatgpt", "claude-code", "rules"),
)


def main(arguments: Sequence[str]) -> int:
    """Import a file; returns the exit code."""
    try:
        given = _parser().parse_args(list(arguments))
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    with database_open():
        _import(given)
    return 0


def _parser() -> Parser:
    parser = Parser(
        prog="icm import",
        description="Bring in an export of icm, or what another program remembers. "
        "The whole file is checked before anything changes; what is here already stays "
        "as it is, and importing twice adds nothing.",
        allow_abbrev=False,
    )
    add: Any = parser.add_argument
    add(
        "path",
        metavar="PATH",
        help="the file, or the folder of notes or transcripts; - for standard input",
    )
    add(
        "--from",
        dest="program",
        choices=PROGRAMS,
        help="whose file it is; default: told from its content",
    )
    add(
        "--project",
        default="",
        help="the project of what names none itself; for rules by default this one",
    )
    add("--dry-run", action="store_true", help="say what would change, change nothing")
    add(
        "--no-backup",
        dest="backup",
        action="store_false",
        help="make no copy of a database that has something in it",
    )
    add(
        "--allow-secrets",
        action="store_true",
        help="store secrets as they are, instead of masking them",
    )
    return parser


def _import(given: Any) -> None:
    from icm_site.exchange import loading, outcome, reading
    from icm_site.exchange.foreign.staging import Notes
    from memories import wal
    from memories.cleaner import Cleaner
    from memories.origin import detect

    clean, notes = Cleaner(allow_secret=given.allow_secrets), Notes()
    caller = replace(detect(os.environ, surface="cli", cwd=Path.cwd()), origin="import")
    with ExitStack() as stack:
        with _readable(given.path):
            made = _stream(given, notes, caller.project, clean)
            stream, foreign = stack.enter_context(made)
            checked = reading.check(stream)
        stream.seek(0)
        copy = _backup() if given.backup and not given.dry_run else None
        done = loading.load(
            stream,
            checked,
            mask=clean,
            dry_run=given.dry_run,
            caller=caller if foreign else None,
        )
    wal.shorten()
    if copy and not done.new:
        copy.unlink()
        copy = None
    said = outcome.said(done, dry_run=given.dry_run, backup=copy)
    print("\n".join([*notes.said(), *said]))
    if clean.found:
        print(f"Secrets were masked: {', '.join(clean.found)}.", file=sys.stderr)


@contextmanager
def _readable(path: str) -> Iterator[None]:
    """A disk that fails to read, as a sentence about the file. Raises InvalidInput."""
    try:
        yield
    except OSError as error:
        # The copy of what comes by a pipe, or of another program's rows, needs room. Of
        # a name that is too long the end, with the reason, would be cut off.
        if error.errno in (errno.ENOSPC, errno.ENAMETOOLONG):
            raise
        raise InvalidInput(f"cannot read {path}: {error.strerror}") from error


@contextmanager
def _stream(
    given: Any, notes: Notes, project: str, mask: Mask
) -> Iterator[tuple[IO[bytes], bool]]:
    """An export that can be read twice, and whether another program's file is behind.

    Raises InvalidInput.
    """
    from icm_site.exchange import reading
    from icm_site.exchange.foreign import programs, staging

    if given.path == "-":
        with tempfile.TemporaryFile() as kept:
            shutil.copyfileobj(sys.stdin.buffer, kept)
            kept.seek(0)
            yield kept, False
        return
    path = Path(given.path)
    if path.is_dir():
        program = given.program or programs.detect(path)
    else:
        with reading.opened(path) as stream:
            program = given.program or programs.detect(path)
            if program == programs.OWN:
                yield stream, False
                return
    found = programs.rows(
        program,
        path,
        notes,
        project=given.project or project,
        chosen=given.project,
        mask=mask,
    )
    with staging.staged(found) as made:
        yield made, True


def _backup() -> Path | None:
    """A copy of a database with something in it: the way back from an import."""
    from icm_site.sqlite import backup
    from memoirs.models import Memoir
    from memories.models import Memory

    if not Memory.objects.exists() and not Memoir.objects.exists():
        return None
    source = conf.current().database_path
    return backup.beside(source, datetime.now())
