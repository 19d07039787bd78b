"""`manage.py icm_embed`: make the missing vectors, for cron."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from icm_site import database
from icm_site.errors import IcmError
from memories import tasks


class Command(BaseCommand):
    help = "Give every memory that lacks one its vector."

    def handle(self, *args: Any, **options: Any) -> str:
        database.ready()
        try:
            count = tasks.embed_missing()
        except IcmError as error:
            raise CommandError(error.message) from error
        if count is None:
            return "Another process is embedding already."
        return f"Embedded {count} memories."
