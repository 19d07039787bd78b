"""A link that logs the owner in once: for `icm web --open` on this machine alone."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from dataclasses import dataclass, field

from django.contrib.auth import login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.request import split_domain_port
from django.shortcuts import redirect
from django.views.decorators.http import require_GET

from icm_site import owner
from icm_site.loopback import is_loopback

SECONDS = 120.0
SECRET_BYTES = 32
BACKEND = "django.contrib.auth.backends.ModelBackend"


@dataclass
class Ticket:
    """The hash of the one secret that is good now, and until when."""

    _hash: bytes = b""
    _until: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def issue(self, *, now: float | None = None) -> str:
        """A new secret; an older one is good no more."""
        secret = secrets.token_urlsafe(SECRET_BYTES)
        with self._lock:
            self._hash = _hashed(secret)
            self._until = (time.monotonic() if now is None else now) + SECONDS
        return secret

    def spend(self, secret: str, *, now: float | None = None) -> bool:
        """Whether the secret is good now; then it is used up."""
        moment = time.monotonic() if now is None else now
        with self._lock:
            good = hmac.compare_digest(self._hash, _hashed(secret))
            if not good or moment > self._until:
                return False
            self._hash = b""
            return True


TICKET = Ticket()


def _hashed(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


@require_GET
def enter(request: HttpRequest, secret: str) -> HttpResponse:
    """Log the owner in and go to the dashboard. Raises PermissionDenied."""
    user = owner.account()
    if not _is_here(request) or user is None or not TICKET.spend(secret):
        raise PermissionDenied
    login(request, user, backend=BACKEND)
    answer = redirect("dashboard")
    answer.headers["Referrer-Policy"] = "no-referrer"
    answer.headers["Cache-Control"] = "no-store"
    return answer


def _is_here(request: HttpRequest) -> bool:
    """Whether it comes from this machine, and calls the server by a name of it."""
    host, _port = split_domain_port(request.get_host())
    return is_loopback(str(request.META.get("REMOTE_ADDR", ""))) and is_loopback(host)
