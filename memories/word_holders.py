"""The rows that hold each word that was asked for, and how they follow changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from memories.words import is_prefix

Small = npt.NDArray[np.int32]

# As many places are kept in memory, 8 bytes each; then all are read anew.
MOST_PLACES = 8_000_000
# A word that was not asked for during so many changes is read anew.
MOST_BEHIND = 64


@dataclass(frozen=True)
class Holders:
    """The rows that hold a word, ascending, and how often each does."""

    ids: Small
    counts: Small

    def of(self, memory_ids: Small) -> Small:
        """How often each of these memories holds the word."""
        if not len(self.ids):
            return np.zeros(len(memory_ids), np.int32)
        places = self.ids.searchsorted(memory_ids)
        there = self.ids.take(places, mode="clip") == memory_ids
        found: Small = self.counts.take(places, mode="clip") * there
        return found

    def with_change(
        self, gone: Sequence[int], new: Sequence[tuple[int, int]]
    ) -> "Holders":
        """Without the rows `gone`, with new ones and their counts; both few."""
        ids, counts = self.ids, self.counts
        for memory_id in gone:
            place = int(ids.searchsorted(memory_id))
            if place < len(ids) and ids[place] == memory_id:
                ids, counts = np.delete(ids, place), np.delete(counts, place)
        if new:
            more, often = np.array(new, np.int32).T
            places = ids.searchsorted(more)
            ids, counts = np.insert(ids, places, more), np.insert(counts, places, often)
        return self if ids is self.ids else Holders(ids, counts)


@dataclass(frozen=True)
class Change:
    """Rows that changed: their ids, and by word the rows and counts they have now."""

    gone: tuple[int, ...]
    new: Mapping[str, Sequence[tuple[int, int]]]


@dataclass
class Known:
    """The holders of words that were asked for, each as of a number of changes.

    They are brought up to date when they are asked for again.
    """

    changes: tuple[Change, ...] = ()
    # Changes that are kept no more.
    before: int = 0
    words: dict[str, tuple[int, Holders]] = field(default_factory=dict)
    places: int = 0

    def get(self, word: str) -> Holders | None:
        """The holders of a word, None where they are to be read."""
        version, found = self.words.get(word, (-1, None))
        if found is None or version < self.before:
            return None
        behind = self.changes[version - self.before :]
        # A changed row may have gained a word that begins like this.
        if behind and is_prefix(word):
            return None
        for change in behind:
            found = found.with_change(change.gone, change.new.get(word, ()))
        if behind:
            self.words[word] = (self.before + len(self.changes), found)
        return found

    def put(self, word: str, holders: Holders) -> None:
        """Know the holders of a word as of now; of too many none are known."""
        if self.places > MOST_PLACES:
            self.words.clear()
            self.places = 0
        self.words[word] = (self.before + len(self.changes), holders)
        self.places += len(holders.ids)

    def after(self, change: Change) -> "Known":
        """The same for readers of the next state of the index."""
        changes = (*self.changes, change)[-MOST_BEHIND:]
        before = self.before + len(self.changes) + 1 - len(changes)
        return Known(changes, before, dict(self.words), self.places)
