"""`manage.py icm_bench_scale …`: the same as `icm bench-scale …`."""

import sys

from django.core.management.base import BaseCommand, CommandError

from icm_site.benchmarks.scale import main
from icm_site.errors import IcmError


class Command(BaseCommand):
    help = "Measure searches and writes with up to a million memories."

    def run_from_argv(self, argv: list[str]) -> None:
        try:
            sys.exit(main(argv[2:]))
        except IcmError as error:
            self.stderr.write(f"Error: {error.message}")
            sys.exit(CommandError("").returncode)
