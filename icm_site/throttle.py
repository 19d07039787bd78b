"""How many requests one caller may make in a minute."""

import threading
import time
from collections import Counter
from dataclasses import dataclass, field

from icm_site.errors import TooMany

WINDOW = 60.0


@dataclass
class Limiter:
    """Counts requests by caller; all counts start anew with each minute."""

    _started: float = 0.0
    _counts: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, who: str, *, limit: float, now: float | None = None) -> None:
        """Count one request; `limit` 0 is none. Raises TooMany."""
        if not limit:
            return
        now = time.monotonic() if now is None else now
        with self._lock:
            if now - self._started >= WINDOW:
                self._started = now
                self._counts.clear()
            self._counts[who] += 1
            if self._counts[who] <= limit:
                return
        raise TooMany(f"more than {limit:.0f} requests in a minute; try again later")
