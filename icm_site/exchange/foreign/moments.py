"""Times as other programs write them."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Any

from icm_site.exchange.foreign.staging import NO_TIME

# Seconds of the year 5138; what is larger counts milliseconds.
_SECONDS = 1e11


def moment(value: Any) -> datetime:
    """ISO text, or seconds or milliseconds since 1970; 1970 where it is none of these.

    A time without a zone is taken for UTC.
    """
    try:
        if isinstance(value, date) and not isinstance(value, datetime):
            value = datetime.combine(value, time())
        if isinstance(value, datetime):
            return (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(
                UTC
            )
        if isinstance(value, str) and not value.replace(".", "", 1).isdigit():
            return moment(datetime.fromisoformat(value.strip()))
        number = float(value)
        number = number / 1000 if number > _SECONDS else number
        return datetime.fromtimestamp(number, UTC) if number >= 0 else NO_TIME
    except (TypeError, ValueError, OverflowError, OSError):
        return NO_TIME
