"""`manage.py icm …`: the whole command line, its arguments untouched."""

import subprocess
import sys

from django.core.management.base import BaseCommand


class Command(BaseCommand):
    help = "Run an icm command, e.g. `manage.py icm recall 'which database'`."

    def run_from_argv(self, argv: list[str]) -> None:
        # A process of its own: options such as --db must be known before settings.
        arguments = [sys.executable, "-m", "icm_site.cli", *argv[2:]]
        sys.exit(subprocess.call(arguments))
