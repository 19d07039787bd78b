"""`manage.py icm_bench_quality …`: the same as `icm bench-quality …`."""

import sys

from django.core.management.base import BaseCommand, CommandError

from icm_site.benchmarks.quality import main
from icm_site.errors import IcmError


class Command(BaseCommand):
    help = "Measure retrieval quality on evaluation files."

    def run_from_argv(self, argv: list[str]) -> None:
        try:
            sys.exit(main(argv[2:]))
        except IcmError as error:
            self.stderr.write(f"Error: {error.message}")
            sys.exit(CommandError("").returncode)
