"""`manage.py icm_bench_format …`: the same as `icm bench-format …`."""

import sys

from django.core.management.base import BaseCommand, CommandError

from icm_site.benchmarks.formats import main
from icm_site.errors import IcmError


class Command(BaseCommand):
    help = "Measure bytes and tokens of the forms of an answer."

    def run_from_argv(self, argv: list[str]) -> None:
        try:
            sys.exit(main(argv[2:]))
        except IcmError as error:
            self.stderr.write(f"Error: {error.message}")
            sys.exit(CommandError("").returncode)
