"""`icm hook start`: what a session should know before it is asked anything."""

from __future__ import annotations

from icm_site.hooks import notes
from icm_site.hooks.notes import NOTHING, Block
from icm_site.hooks.run import Reply, Run

SNAPSHOT_SHARE, SNAPSHOT_LEAST, PACK_LEAST = 0.4, 80, 50
# After these the conversation no longer holds what it was shown before.
ANEW = frozenset(("compact", "clear"))


def answer(run: Run) -> Reply:
    """The wake-up pack and the project's snapshot, a memory in one of them only."""
    anew = run.fresh or run.payload.source in ANEW or run.event == "session.compacted"
    session = "" if anew else run.payload.session
    wanted = run.max_tokens or run.memory.settings.start_tokens
    left = run.memory.tokens_left(session)
    made = _made(run, wanted, session)
    if made.tokens > left:
        # What each part gets at least is more than the session has left.
        made = _made(run, left, session, least=False)
    if made.tokens > left:
        made = NOTHING
    return Reply(made, note="" if made.text else "nothing to say", anew=anew)


def _made(run: Run, max_tokens: int, session: str, *, least: bool = True) -> Block:
    from datetime import UTC, datetime

    from memories import snapshot, wake_up

    memory = run.memory
    around = len(notes.wrapped("", memory.project)) + len("\n\n")
    room = (notes.max_chars(max_tokens) - around) // notes.CHARS_PER_TOKEN
    if room <= 0:
        return NOTHING
    share = int(room * SNAPSHOT_SHARE)
    pack_share = room - share
    if least:
        share = max(SNAPSHOT_LEAST, share)
        pack_share = max(PACK_LEAST, room - share)
    known = memory.shown(session)
    pack = wake_up.pack(
        memory.raw,
        project=memory.project,
        max_tokens=pack_share,
        now=datetime.now(UTC),
        preferences=memory.settings.preferences,
        exclude=known,
    )
    rest = snapshot.snapshot(
        memory.raw,
        project=memory.project,
        max_tokens=share,
        exclude={*known, *pack.ids},
        advice=False,
        preferences=memory.settings.preferences,
    )
    text = "\n\n".join(part for part in (pack.text, rest.text) if part)
    if not text:
        return NOTHING
    return notes.costed(notes.wrapped(text, memory.project), [*pack.ids, *rest.ids])
