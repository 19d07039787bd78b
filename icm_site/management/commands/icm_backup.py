"""`manage.py icm_backup`: the scheduled copy of the database, for cron."""

from typing import Any

from django.core.management.base import BaseCommand

from icm_site import backup_command


class Command(BaseCommand):
    help = "Copy the database if backup.every days have passed; delete the oldest copy."

    def handle(self, *args: Any, **options: Any) -> str:
        made = backup_command.make_scheduled()
        return f"Backup: {made}" if made else "No backup is due."
