"""What people and models said to each other: the facts in it, found as hooks do."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from icm_site.exchange.columns import Mask
from icm_site.exchange.foreign import staging
from icm_site.exchange.foreign.moments import moment
from icm_site.exchange.foreign.staging import Notes, Row
from icm_site.text import cut
from memories import capture, extraction
from memories.transcripts import Turn

NAME_BYTES = 255
Speak = Callable[[Any], Sequence[Turn]]


def facts(
    said: Sequence[Turn],
    *,
    program: str,
    thread: str,
    title: str,
    at: Any,
    project: str,
    notes: Notes,
    mask: Mask,
) -> Iterator[Row]:
    """A memory for each fact of a conversation, at the time of the turn it is from.

    `thread` names the conversation in its program, `at` is its time where a turn has
    none. Nobody looks at what is found, so nothing is above medium.
    """
    clean, found = capture.unattended(said, mask=mask)
    if not found:
        notes.add(f"a conversation of {program} held no facts")
    for fact in found:
        when = next((turn.at for turn in clean if fact.text in turn.text), "")
        digest = hashlib.sha256(fact.text.encode("utf-8", "replace")).hexdigest()
        made = staging.memory(
            program=program,
            key=f"{thread}\0{digest}",
            topic=staging.topic(extraction.topic_of(fact, project)),
            text=fact.text,
            notes=notes,
            at=moment(when or at),
            keywords=fact.keywords,
            importance=fact.importance,
            source={"thread_id": thread, "title": cut(title, NAME_BYTES)},
        )
        if made:
            yield made | {"agent_session": cut(thread, NAME_BYTES)}
