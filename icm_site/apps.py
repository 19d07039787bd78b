"""The Django app of the site: what is set once Django is up."""

import os
import time

from django.apps import AppConfig
from django.conf import settings


class IcmSiteConfig(AppConfig):
    name = "icm_site"

    def ready(self) -> None:
        restore_zone()


def restore_zone() -> None:
    """Make local times the user's again, here and in the processes we start."""
    if settings.USER_TZ is None:
        os.environ.pop("TZ", None)
    else:
        os.environ["TZ"] = settings.USER_TZ
    if hasattr(time, "tzset"):
        time.tzset()
