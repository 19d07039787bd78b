"""Leases: long work that one process at a time does, whoever starts it."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction

from icm_site.errors import Conflict
from memories.models import Metadata

# A holder that dies keeps others out no longer than this.
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
        known: dict[str, Any] = json.loads(text) if text else {"until": 0.0}
        if known["until"] > time.time() and known.get("holder") != _holder():
            raise Conflict(
                f"another process is at it already ({name}); nothing is lost"
            )
        _write(name, time.time() + SECONDS)


def _give_back(name: str) -> None:
    Metadata.objects.filter(key=f"lease:{name}").delete()


def _write(name: str, until: float) -> None:
    value = json.dumps({"until": until, "holder": _holder()})
    Metadata.objects.write(f"lease:{name}", value)


def _holder() -> str:
    return f"{platform.node()}:{os.getpid()}"
