"""What a failure of SQLite means to the one who asked."""

import sqlite3

from icm_site.errors import IcmError, InvalidInput, ReadOnly, Unavailable

DAMAGED = (
    "The database is damaged: `icm repair` saves what can be read, `icm restore "
    "latest` puts the newest copy in its place."
)
# What reading a file may raise: the driver, or a value in it that no program wrote.
READING = (sqlite3.Error, ValueError, TypeError, AttributeError, LookupError)
_MEANINGS: dict[int, tuple[type[IcmError], str]] = {
    sqlite3.SQLITE_READONLY: (ReadOnly, "The database is open for reading alone."),
    sqlite3.SQLITE_BUSY: (
        Unavailable,
        "Another process is writing to the database; nothing was changed, try again.",
    ),
    sqlite3.SQLITE_LOCKED: (
        Unavailable,
        "The database is in use; nothing was changed, try again.",
    ),
    sqlite3.SQLITE_FULL: (Unavailable, "The disk is full; nothing was changed."),
    sqlite3.SQLITE_IOERR: (
        Unavailable,
        "The disk is full or failed; nothing was changed.",
    ),
    sqlite3.SQLITE_CANTOPEN: (Unavailable, "The database cannot be opened."),
    sqlite3.SQLITE_PERM: (Unavailable, "The database may not be opened."),
    sqlite3.SQLITE_CORRUPT: (Unavailable, DAMAGED),
    sqlite3.SQLITE_NOTADB: (
        InvalidInput,
        "The file is not a database. If it was one, `icm repair` saves what is found "
        "in it, `icm restore latest` puts the newest copy in its place.",
    ),
}
# What the driver raises for a damaged file. Where the name in a broken definition is no
# UTF-8, it fails to write the sentence of SQLite, and raises that instead.
DAMAGE = (sqlite3.DatabaseError, UnicodeDecodeError)
_BROKEN = b"malformed database schema"
# The driver gives this one no code: bytes that are no text, in a page that is whole.
NO_TEXT = "Could not decode to UTF-8"


def explain(error: BaseException) -> IcmError | None:
    """Return one sentence for an error of the driver or of Django around it.

    None means that it is no condition of the file or the disk, but a fault of ours.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, sqlite3.Error):
            if str(cause).startswith(NO_TEXT):
                return Unavailable(DAMAGED)
            code = getattr(cause, "sqlite_errorcode", 0)
            kind, sentence = _MEANINGS.get(code & 0xFF, (None, ""))
            return kind(sentence) if kind else None
        if isinstance(cause, UnicodeDecodeError) and cause.object.startswith(_BROKEN):
            return Unavailable(DAMAGED)
        cause = cause.__cause__
    return None


def words(error: BaseException) -> str:
    """What SQLite says of a failure, also where it is no UTF-8."""
    if not isinstance(error, UnicodeDecodeError):
        return str(error)
    text = error.object.decode("utf-8", "replace")
    return "".join(each if each.isprintable() else "\ufffd" for each in text)
