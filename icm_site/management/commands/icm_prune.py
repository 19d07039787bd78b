"""`manage.py icm_prune`: hide what has faded."""

import os
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from icm_site import database
from icm_site.errors import IcmError
from memories import prune
from memories.origin import detect


class Command(BaseCommand):
    help = "Hide medium and low memories that have faded. It can be undone."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--threshold", type=float, default=None)
        parser.add_argument("--dry-run", action="store_true")

    def handle(self, *args: Any, **options: Any) -> str:
        database.ready()
        try:
            rows, change = prune.prune(
                threshold=options["threshold"],
                caller=detect(os.environ, surface="cli", cwd=Path.cwd(), project=""),
                now=timezone.now(),
                dry_run=options["dry_run"],
            )
        except IcmError as error:
            raise CommandError(error.message) from error
        if change is None:
            return f"{len(rows)} memories are below the threshold, nothing was hidden"
        return (
            f"Pruned {len(rows)} memories; `icm undo {change.ulid}` brings them back."
        )
