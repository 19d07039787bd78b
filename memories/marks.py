"""What feedback said of memories, and what that does to a ranking: bounded."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from icm_site.text import summary_hash
from memories.rank import Hit
from memories.search import Connection

# A score is never multiplied by less or more than this, whatever the marks.
LOWEST, HIGHEST = 0.5, 1.25
# Net marks that take half of the way there; the first one moves a score by 5 %.
HALF_LOSS, HALF_GAIN = 9, 4
# Hits asked for beyond the limit, so that one marked helpful can rise into it.
SPARE = 10
MAX_HOPS = 32

ANY = "SELECT EXISTS (SELECT 1 FROM memory_marks)"
MARKS = """
SELECT k.memory_id, m.summary, k.text_hash, sum(k.helpful), sum(NOT k.helpful),
    json_group_array(json_array(k.id, k.correction_id))
        FILTER (WHERE NOT k.helpful AND k.correction_id IS NOT NULL)
FROM memory_marks k JOIN memories m ON m.id = k.memory_id
WHERE k.memory_id IN (SELECT value FROM json_each(?))
GROUP BY k.memory_id, k.text_hash
"""
LIVE = f"""
WITH RECURSIVE chain(start, id, hops) AS (
    SELECT value, value, 0 FROM json_each(?)
    UNION ALL
    SELECT chain.start, m.superseded_by_id, hops + 1
    FROM chain JOIN memories m ON m.id = chain.id
    WHERE m.state = 'superseded' AND hops < {MAX_HOPS})
SELECT chain.start, m.id FROM chain JOIN memories m ON m.id = chain.id
WHERE m.state = 'live'
"""

# Of memory ids, those that may be shown.
Inside = Callable[[Collection[int]], Collection[int]]


@dataclass(frozen=True)
class Marks:
    """Counts of the marks of one memory; `corrections`: (mark id, memory id)."""

    helpful: int = 0
    wrong: int = 0
    corrections: tuple[tuple[int, int], ...] = ()

    @property
    def factor(self) -> float:
        return factor(self.helpful, self.wrong)

    def __add__(self, other: "Marks") -> "Marks":
        return Marks(
            self.helpful + other.helpful,
            self.wrong + other.wrong,
            self.corrections + other.corrections,
        )


def factor(helpful: int, wrong: int) -> float:
    """What a score is multiplied by: within 0.5-1.25, 1 where the marks balance.

    With net marks n: 1 + 0.25 n / (n + 4) for a gain, 1 - 0.5 n / (n + 9) for a loss.
    """
    net = helpful - wrong
    if net >= 0:
        return 1 + (HIGHEST - 1) * net / (net + HALF_GAIN)
    return 1 - (1 - LOWEST) * -net / (-net + HALF_LOSS)


def text_hash(summary: str) -> str:
    """The text that a mark is about, whatever topic it is in."""
    return summary_hash("", summary)


def exist(connection: Connection) -> bool:
    """Whether any memory is marked."""
    return bool(connection.execute(ANY).fetchone()[0])


def read(connection: Connection, memory_ids: Collection[int]) -> dict[int, Marks]:
    """The marks of memories by id; those of a text that has changed since are left."""
    found: dict[int, Marks] = {}
    rows = connection.execute(MARKS, (json.dumps(sorted(memory_ids)),))
    for memory_id, summary, marked, helpful, wrong, pairs in rows:
        if marked in ("", text_hash(summary)):
            corrections = tuple((mark, to) for mark, to in json.loads(pairs))
            new = Marks(helpful, wrong, corrections)
            found[memory_id] = found.get(memory_id, Marks()) + new
    return found


def corrections(connection: Connection, memory_ids: Collection[int]) -> dict[int, int]:
    """For each memory that was marked wrong: the live memory that corrects it.

    The newest mark with a live correction decides; a superseded one stands for what
    replaced it, a corrected one for its own correction. Of two that correct each
    other the newer mark holds.
    """
    edges: dict[int, tuple[int, int]] = {}
    wanted = set(memory_ids)
    known: set[int] = set()
    for _ in range(MAX_HOPS):
        new = _edges(connection, wanted)
        edges |= new
        known |= wanted
        wanted = {to for _, to in new.values()} - known
        if not wanted:
            break
    ends = {start: _end(start, edges) for start in memory_ids if start in edges}
    return {start: end for start, end in ends.items() if end != start}


def _edges(
    connection: Connection, memory_ids: Collection[int]
) -> dict[int, tuple[int, int]]:
    """By memory: its newest mark with a live correction, and that correction."""
    marks = read(connection, memory_ids)
    targets = {to for row in marks.values() for _, to in row.corrections}
    if not targets:
        return {}
    live = dict(connection.execute(LIVE, (json.dumps(sorted(targets)),)).fetchall())
    return {
        memory_id: max(standing)
        for memory_id, row in marks.items()
        if (
            standing := [
                (mark, live[to])
                for mark, to in row.corrections
                if live.get(to, memory_id) != memory_id
            ]
        )
    }


def _end(start: int, edges: Mapping[int, tuple[int, int]]) -> int:
    """The memory at the end of the corrections; a ring is cut at its oldest mark."""
    path = [start]
    while path[-1] in edges:
        target = edges[path[-1]][1]
        if target in path:
            return min(path[path.index(target) :], key=lambda at: edges[at][0])
        path.append(target)
    return path[-1]


def applied(
    connection: Connection,
    hits: Sequence[Hit],
    inside: Inside,
    *,
    ceiling: float = 1.0,
) -> list[Hit]:
    """Hits in the order that marks give them; none is left out.

    `inside` says which corrections that are no hits may join them; no score rises
    above `ceiling`.
    """
    ids = [hit.memory_id for hit in hits]
    factors = {i: row.factor for i, row in read(connection, ids).items()}
    corrected = corrections(connection, factors)
    shown = {*ids, *inside({*corrected.values()} - {*ids})}
    corrected = {old: new for old, new in corrected.items() if new in shown}
    return adjusted(hits, factors, corrected, ceiling=ceiling)


def adjusted(
    hits: Sequence[Hit],
    factors: Mapping[int, float],
    corrected: Mapping[int, int],
    *,
    ceiling: float = 1.0,
) -> list[Hit]:
    """Hits (best first) with scores times their factors, in the new order.

    `corrected` maps a hit to the memory that corrects it, itself not corrected. That
    takes its place and score, unless it has a better one, and becomes a hit if it was
    none; the corrected hit comes after it. No score leaves 0.5-1.25 times what it was,
    but a correction's that rises to the place it takes.
    """
    numbered = list(enumerate(hits, 1))
    scored = {
        hit.memory_id: _times(hit, factors.get(hit.memory_id, 1.0), place, ceiling)
        for place, hit in numbered
    }
    keys = {h.memory_id: (-scored[h.memory_id].score, float(p)) for p, h in numbered}
    pairs = [
        (p, h, corrected[h.memory_id]) for p, h in numbered if h.memory_id in corrected
    ]
    for place, old, new in pairs:
        taken = (-old.score, place - 0.5)
        if new not in keys or taken < keys[new]:
            scored[new] = _in_place_of(old, place, new, scored.get(new))
            keys[new] = taken
    for place, old, new in pairs:
        score = min(scored[old.memory_id].score, scored[new].score)
        scored[old.memory_id] = scored[old.memory_id]._replace(score=score)
        keys[old.memory_id] = (-score, max(place, keys[new][1] + 0.25))
    return [scored[i] for i in sorted(keys, key=lambda i: keys[i])]


def _times(hit: Hit, factor: float, place: int, ceiling: float) -> Hit:
    if factor == 1.0:
        return hit
    return hit._replace(
        score=min(hit.score * factor, max(ceiling, hit.score)),
        ranks={**hit.ranks, "marks": place},
        values={**hit.values, "marks": factor},
    )


def _in_place_of(old: Hit, place: int, memory_id: int, own: Hit | None) -> Hit:
    """The hit of a correction, found by its own words or not."""
    return (own or Hit(memory_id, 0.0))._replace(
        score=old.score,
        relevance=max(old.relevance, own.relevance if own else 0.0),
        ranks={**(own.ranks if own else {}), "correction": place},
        values={**(own.values if own else {}), "correction": old.score},
        decided="correction",
    )
