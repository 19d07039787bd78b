"""Rows from another program in the form of an export: checked and loaded as one."""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import IO, Any

from icm_site.exchange import exporting
from icm_site.exchange.kinds import KINDS
from icm_site.text import cut
from icm_site.ulid import encode
from memories.validation import KEYWORDS, TEXT_BYTES, TOPIC_BYTES, is_seen

# 1970: what has no time of its own is older than all that has.
NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)
_RANDOM_BITS = 80
Row = dict[str, Any]


@dataclass
class Notes:
    """What could not be taken over as it is, each with how often it occurred."""

    counts: Counter[str] = field(default_factory=Counter)

    def add(self, text: str) -> None:
        self.counts[text] += 1

    def unknown(self, what: str, given: Iterable[str], known: Iterable[str]) -> None:
        """Name the fields of a record that have no place here."""
        for name in sorted(set(given) - set(known)):
            self.add(f"{what}: field {name[:60]!r} has no place here and was left out")

    def table(self, name: str, rows: int, why: str = "has no place here") -> None:
        """Name a table that is not taken over, if it has rows."""
        if rows:
            self.add(f"table {name[:60]!r} {why}: {rows} rows left out")

    def said(self) -> Iterator[str]:
        for text, count in self.counts.items():
            yield f"Note: {text}" + (f" ({count} times)" if count > 1 else "")


def ulid(program: str, key: str, at: datetime) -> str:
    """An id that is the same whenever the same thing is imported."""
    digest = hashlib.sha256(f"{program}\0{key}".encode("utf-8", "replace")).digest()
    moment = max(int(at.timestamp() * 1000), 0)
    return encode(moment << _RANDOM_BITS | int.from_bytes(digest[:10], "big"))


def topic(*parts: str) -> str:
    """A topic of words: `decisions-shop`; one line, cut to what fits."""
    words = [" ".join(part.split()) for part in parts if part and part.strip()]
    plain = "".join(c for c in "-".join(words) if c.isprintable())
    return cut(plain, TOPIC_BYTES).strip() or "imported"


def memory(
    *,
    program: str,
    key: str,
    topic: str,
    text: str,
    notes: Notes,
    at: datetime = NO_TIME,
    keywords: Iterable[str] = (),
    importance: str = "medium",
    excerpt: str | None = None,
    source: dict[str, Any] | None = None,
    **fields: Any,
) -> Row | None:
    """A memory's row; None where there is no text. One too long is cut, and named."""
    clean = text.replace("\0", "").strip()
    if not is_seen(clean):
        notes.add("a record without text was left out")
        return None
    if len(clean.encode("utf-8", "replace")) > TEXT_BYTES:
        notes.add(f"a text was longer than {TEXT_BYTES} bytes and was cut")
    words = dict.fromkeys(w.strip() for w in keywords if w.strip())
    return {
        "type": "memory",
        "id": ulid(program, key, at),
        "created_at": at.isoformat(),
        "updated_at": at.isoformat(),
        "topic": topic,
        "summary": cut(clean, TEXT_BYTES),
        "raw_excerpt": cut(excerpt, TEXT_BYTES) if excerpt else None,
        "keywords": list(words)[:KEYWORDS],
        "importance": importance,
        "state": "live",
        "superseded_by": None,
        "metadata": {},
        "origin": "import",
        "source_type": "conversation",
        "source_data": {"program": program, **(source or {})},
        "host": "",
        "agent_session": "",
        "occurred_at": None,
        "weight": 1.0,
        "access_count": 0,
        "last_accessed": at.isoformat(),
        "decayed_at": datetime.now(UTC).isoformat(),
        **fields,
    }


@contextmanager
def staged(rows: Iterable[Row]) -> Iterator[IO[bytes]]:
    """The rows as a file that is an export; each id once, in the order of the types."""
    with ExitStack() as stack:
        parts = {
            kind.name: stack.enter_context(tempfile.TemporaryFile()) for kind in KINDS
        }
        counts = dict.fromkeys(parts, 0)
        seen: set[str] = set()
        for row in rows:
            if row.get("id") in seen:
                continue
            seen.add(row.get("id", ""))
            parts[row["type"]].write(exporting.line(row))
            counts[row["type"]] += 1
        whole = stack.enter_context(tempfile.TemporaryFile())
        head = {"format": exporting.FORMAT, "version": exporting.VERSION}
        whole.write(exporting.line({"type": "header", **head, "counts": counts}))
        for part in parts.values():
            part.seek(0)
            while block := part.read(1 << 20):
                whole.write(block)
        whole.seek(0)
        yield whole
