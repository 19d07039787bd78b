"""The login of the pages, which tells nobody how often a password may be guessed."""

from __future__ import annotations

from typing import Any

from django.contrib.admin.forms import AdminAuthenticationForm
from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from icm_site.errors import TooMany
from icm_site.throttle import Limiter

TRIES_PER_MINUTE = 10
LIMITER = Limiter()


class LimitedLogin(AdminAuthenticationForm):
    """Ten tries a minute from one address; a further one is not even looked at."""

    def clean(self) -> dict[str, Any]:
        address = self.request.META.get("REMOTE_ADDR", "") if self.request else ""
        try:
            LIMITER.count(f"login {address}", limit=TRIES_PER_MINUTE)
        except TooMany:
            text = gettext("Too many tries; wait a minute.")
            raise ValidationError(text, code="too_many") from None
        return super().clean()
