"""The owner: the account with which a person logs in to the web pages."""

from __future__ import annotations

import secrets

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db import transaction

from icm_site.errors import NotFound

NAME = "owner"
PASSWORD_BYTES = 12


def ensure() -> str | None:
    """Make the owner if nobody can log in yet.

    Returns the new password, which is kept only as a hash; None if somebody can.
    """
    users = get_user_model().objects
    with transaction.atomic():
        if users.filter(is_superuser=True, is_active=True).exists():
            return None
        password = _password()
        owner, _ = users.get_or_create(username=NAME)
        owner.is_superuser = owner.is_staff = owner.is_active = True
        owner.set_password(password)
        owner.save()
    return password


def new_password() -> str:
    """Give the owner another password and end all logins with the old one.

    Raises NotFound where there is no owner.
    """
    password = _password()
    with transaction.atomic():
        owner = get_user_model().objects.filter(username=NAME).first()
        if owner is None:
            raise NotFound(f"there is no account {NAME!r}")
        owner.set_password(password)
        owner.save()
    return password


def account() -> User | None:
    """The owner, or whoever else may do everything; None if nobody may."""
    users = get_user_model().objects.filter(is_superuser=True, is_active=True)
    named = users.filter(username=NAME).first()
    return named or users.order_by("pk").first()


def _password() -> str:
    return secrets.token_urlsafe(PASSWORD_BYTES)
