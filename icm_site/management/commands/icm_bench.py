"""`manage.py icm_bench …`: the same as `icm bench …`."""

import sys

from django.core.management.base import BaseCommand, CommandError

from icm_site.benchmarks.storage import main
from icm_site.errors import IcmError


class Command(BaseCommand):
    help = "Measure insert, search and decay in a database of its own."

    def run_from_argv(self, argv: list[str]) -> None:
        try:
            sys.exit(main(argv[2:]))
        except IcmError as error:
            self.stderr.write(f"Error: {error.message}")
            sys.exit(CommandError("").returncode)
