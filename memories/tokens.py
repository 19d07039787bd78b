"""Tokens: keys to the HTTP surfaces, shown once and kept as a hash."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from django.db import OperationalError, connection, transaction
from django.db.models import Q
from django.utils import timezone

from icm_site.errors import Conflict, InvalidInput, NotFound
from memories.decay import waiting_briefly
from memories.models import Token

PREFIX = "icm_"
SECRET_BYTES = 32
# It is recorded as the host of what is stored with it.
NAME_CHARS = 64
# How old the time of the last use may be; not each request is worth a write.
USE_NOTED_EVERY = timedelta(minutes=1)


def create(name: str, *, read_only: bool = False) -> tuple[Token, str]:
    """Make a token; returns it and its secret, which is kept nowhere.

    Raises InvalidInput for a bad name, Conflict for one in use.
    """
    wanted = _name(name)
    secret = PREFIX + secrets.token_urlsafe(SECRET_BYTES)
    with transaction.atomic():
        if Token.objects.filter(name=wanted).exists():
            raise Conflict(f"token already exists: {wanted}")
        token = Token.objects.create(
            name=wanted, hashed=_hash(secret), read_only=read_only
        )
    return token, secret


def verify(secret: str, *, now: datetime | None = None) -> Token | None:
    """The token of this secret, None if there is none; its use is noted."""
    hashed = _hash(secret)
    token = Token.objects.filter(hashed=hashed).first()
    # Looked up by its hash, so that nothing of the secret shows in the time it takes.
    if token is None:
        return None
    _note_use(token, now=now or timezone.now())
    return token


def listed() -> list[Token]:
    """All tokens by name."""
    return list(Token.objects.order_by("name"))


def exist() -> bool:
    """Whether there is any token at all."""
    return Token.objects.exists()


def revoke(name: str) -> Token:
    """Erase a token; returns it as it was. Raises NotFound."""
    with transaction.atomic():
        token = Token.objects.filter(name=name.strip()).first()
        if token is None:
            raise NotFound(f"token not found: {name.strip()[:64] or '(empty)'}")
        Token.objects.filter(pk=token.pk).delete()
    return token


def _name(value: str) -> str:
    name = value.strip()
    if not name or not name.isprintable():
        raise InvalidInput("the name of a token must be one line, and not empty")
    if len(name) > NAME_CHARS:
        raise InvalidInput(f"the name of a token has at most {NAME_CHARS} characters")
    return name


def _hash(secret: str) -> str:
    # A secret of 256 random bits needs no salt and no slow hash.
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _note_use(token: Token, *, now: datetime) -> None:
    """Best effort: a database that is busy or read-only is left alone."""
    due = token.last_used is None or now - token.last_used >= USE_NOTED_EVERY
    if not due or getattr(connection, "read_only", False):
        return
    older = Q(last_used=None) | Q(last_used__lt=now)
    try:
        with waiting_briefly():
            Token.objects.filter(older, pk=token.pk).update(last_used=now)
    except OperationalError:
        return
