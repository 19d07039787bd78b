"""Leases: long work that one process at a time does, whoever starts it."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.db import transaction

from icm_site.errors import Conflict
from memories.models import Metadata

# A holder of another machine that dies keeps others out no longer than this.
SECONDS = 60.0


@contextmanager
def held(name: str) -> Iterator[None]:
    """Hold the lease for the block. Raises Conflict while another process does."""
    _take(name)
    try:
        yield
    finally:
        _give_back(name)


def renew(name: str) -> None:
    """Say that the holder is alive; called between batches."""
    _write(name, time.time() + SECONDS)


def _take(name: str) -> None:
    with transaction.atomic():
        text = Metadata.objects.read(f"lease:{name}")
        if text and _stands(json.loads(text)):
            raise Conflict(
                f"another process is at it already ({name}); nothing is lost"
            )
        _write(name, time.time() + SECONDS)


def _stands(known: Mapping[str, Any]) -> bool:
    """Whether another process holds it: one that lives, and did so a moment ago.

    A time far ahead is of a clock that was wrong.
    """
    holder, ahead = str(known.get("holder", "")), known["until"] - time.time()
    return holder != _holder() and 0 < ahead < 2 * SECONDS and not _ended(holder)


def _ended(holder: str) -> bool:
    """Whether the holder is known to be gone, as after a kill."""
    node, _, process = holder.rpartition(":")
    # Elsewhere than on POSIX, signal 0 is no question but an order.
    if os.name != "posix" or node != platform.node() or not process.isdigit():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _give_back(name: str) -> None:
    Metadata.objects.filter(key=f"lease:{name}").delete()


def _write(name: str, until: float) -> None:
    value = json.dumps({"until": until, "holder": _holder()})
    Metadata.objects.write(f"lease:{name}", value)


def _holder() -> str:
    return f"{platform.node()}:{os.getpid()}"
