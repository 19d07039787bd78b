"""What the commands of the benchmarks share."""

import sys
from collections.abc import Sequence

from django.core.management.base import BaseCommand, CommandError

from icm_site.errors import IcmError


class Benchmark(BaseCommand):
    """Hands its arguments on untouched to `main`, which reads them itself."""

    @staticmethod
    def main(arguments: Sequence[str], /) -> int:
        """Measure; returns the exit code. Each command has its own."""
        raise NotImplementedError

    def run_from_argv(self, argv: list[str]) -> None:
        try:
            sys.exit(self.main(argv[2:]))
        except IcmError as error:
            self.stderr.write(f"Error: {error.message}")
            sys.exit(CommandError("").returncode)
