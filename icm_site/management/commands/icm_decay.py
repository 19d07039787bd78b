"""`manage.py icm_decay`: the daily decay, for cron."""

from typing import Any

from django.core.management.base import BaseCommand

from icm_site import database
from memories import tasks


class Command(BaseCommand):
    help = "Let weights fall for the time since the last decay, if a day has passed."

    def handle(self, *args: Any, **options: Any) -> str:
        database.ready()
        count = tasks.daily_decay()
        if count is None:
            return "Decay is not due yet."
        return f"Decay applied to {count} memories."
