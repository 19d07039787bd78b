"""What memories of one agent session lend to each other; pure."""

from collections.abc import Collection, Mapping

# What the better of the two memories at distance 1 and 2 in the same session adds.
BESIDE_SHARES = (0.4, 0.2)
# What a question lends to the memory after it, which answers it; and what a question
# itself loses, since it hardly is an answer.
ANSWER_SHARE, QUESTION_LOSS = 0.6, 0.15
# What a session adds to its memories that holds, all taken together, every word.
SESSION_SHARE = 0.3


def session_parts(
    scores: Mapping[int, float],
    sessions: Mapping[int, str],
    coverage: Mapping[str, float],
    asking: Collection[int] = (),
) -> dict[int, float]:
    """What its session adds to each memory of `sessions` that is worth something, 0-1.

    An answer often stands beside the memory that has the words of the question, even
    more so after one that asks (`asking`), and in the session that has most of them
    (`coverage`, 0-1 by session).
    """
    parts = {}
    for memory_id, session in sessions.items():
        near = _lent(memory_id, scores, sessions, asking)
        if near or scores.get(memory_id, 0.0) > 0:
            share = SESSION_SHARE * coverage.get(session, 0.0)
            if part := 1 - (1 - near) * (1 - share):
                parts[memory_id] = part
    return parts


def _lent(
    memory_id: int,
    scores: Mapping[int, float],
    sessions: Mapping[int, str],
    asking: Collection[int],
) -> float:
    session, lent = sessions[memory_id], 0.0
    for distance, share in enumerate(BESIDE_SHARES, 1):
        before, after = memory_id - distance, memory_id + distance
        answers = distance == 1 and before in asking
        near = [
            (ANSWER_SHARE if answers and i == before else share) * scores.get(i, 0.0)
            for i in (before, after)
            if sessions.get(i) == session
        ]
        lent += max(near, default=0.0)
    return lent


def beside(memory_ids: Collection[int]) -> set[int]:
    """The ids themselves and those near enough to lend them something."""
    reach = range(-len(BESIDE_SHARES), len(BESIDE_SHARES) + 1)
    return {i + step for i in memory_ids for step in reach}


def with_parts(
    scores: Mapping[int, float],
    parts: Mapping[int, float],
    asking: Collection[int] = (),
) -> dict[int, float]:
    """Scores raised by what the session adds: 1 - (1 - score)(1 - part).

    Those of `asking` then lose a part.
    """
    raised = {
        i: 1 - (1 - scores.get(i, 0.0)) * (1 - parts.get(i, 0.0))
        for i in {*scores, *parts}
    }
    return raised | {i: (1 - QUESTION_LOSS) * raised[i] for i in asking if i in raised}
