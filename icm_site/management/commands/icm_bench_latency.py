"""`manage.py icm_bench_latency …`: the same as `icm bench-latency …`."""

import sys

from django.core.management.base import BaseCommand, CommandError

from icm_site.benchmarks.latency import main
from icm_site.errors import IcmError


class Command(BaseCommand):
    help = "Measure hooks, commands and MCP clients from start to answer."

    def run_from_argv(self, argv: list[str]) -> None:
        try:
            sys.exit(main(argv[2:]))
        except IcmError as error:
            self.stderr.write(f"Error: {error.message}")
            sys.exit(CommandError("").returncode)
