"""What an agent's session was shown by hooks, and what that cost.

Takes any SQLite connection and imports no Django: a hook without it asks the same.
"""

from collections.abc import Mapping

from memories.scope import Connection

UNCHANGED = """
SELECT s.memory_id FROM hook_shown s JOIN memories m ON m.id = s.memory_id
WHERE s.agent_session = ? AND s.text_hash = m.summary_hash
"""
SPENT = "SELECT total(tokens) FROM hook_shown WHERE agent_session = ?"
FORGET = "DELETE FROM hook_shown WHERE agent_session = ?"
REMEMBER = """
INSERT INTO hook_shown(agent_session, memory_id, text_hash, tokens, at)
SELECT ?, id, summary_hash, ?, ? FROM memories WHERE id = ?
ON CONFLICT(agent_session, memory_id) DO UPDATE SET
    text_hash = excluded.text_hash, tokens = tokens + excluded.tokens, at = excluded.at
"""
PRUNE = "DELETE FROM hook_shown WHERE at < ?"


def unchanged(raw: Connection, session: str) -> set[int]:
    """The memories that a session was shown as they are now."""
    return {row[0] for row in raw.execute(UNCHANGED, (session,))}


def spent(raw: Connection, session: str) -> int:
    """The tokens that a session was given, since it was last compacted."""
    return int(raw.execute(SPENT, (session,)).fetchone()[0])


def remember(
    raw: Connection, session: str, costs: Mapping[int, int], *, at: str, anew: bool
) -> None:
    """Note what a session was shown; `anew` forgets what it was shown before."""
    if anew:
        raw.execute(FORGET, (session,))
    for key, tokens in costs.items():
        raw.execute(REMEMBER, (session, tokens, at, key))
