"""`manage.py icm_bench`: speed of the store itself."""

import sys

from django.core.management.base import BaseCommand

from icm_site.benchmarks.storage import main


class Command(BaseCommand):
    help = "Measure insert, search and decay in a database of its own."

    def run_from_argv(self, argv: list[str]) -> None:
        sys.exit(main(argv[2:]))
