"""ULIDs: 26 characters that sort by the time they were made (github.com/ulid/spec)."""

import os
import threading
import time
from collections.abc import Callable

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH = 26
_DIGITS = frozenset(ALPHABET)
_RANDOM_BITS = 80
_STEP_BYTES = 4
_SHIFTS = range(125, -1, -5)


def clock_milliseconds() -> int:
    """Return milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class Generator:
    """Makes ULIDs that rise strictly, also within a millisecond and over threads."""

    def __init__(self, clock: Callable[[], int] = clock_milliseconds) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._last = -1

    def __call__(self) -> str:
        """Return the next ULID."""
        fresh = self._clock() << _RANDOM_BITS | int.from_bytes(os.urandom(10), "big")
        # A random step, not 1: two forks of one process continue differently.
        step = 1 + int.from_bytes(os.urandom(_STEP_BYTES), "big")
        with self._lock:
            late = fresh >> _RANDOM_BITS <= self._last >> _RANDOM_BITS
            self._last = self._last + step if late else fresh
            return encode(self._last)


new_ulid = Generator()


def encode(number: int) -> str:
    """Return the 26 characters of a number below 2**128."""
    # A list, since a generator takes half as long again.
    return "".join([ALPHABET[number >> shift & 31] for shift in _SHIFTS])


def is_ulid(text: str) -> bool:
    """Tell whether `text` is a ULID; lower case counts, lookalikes (I L O U) do not."""
    upper = text.upper()
    return len(text) == LENGTH and upper[0] < "8" and _DIGITS.issuperset(upper)


def milliseconds(ulid: str) -> int:
    """Return when a ULID was made, in milliseconds since 1970."""
    total = 0
    for char in ulid[:10].upper():
        total = total << 5 | ALPHABET.index(char)
    return total
