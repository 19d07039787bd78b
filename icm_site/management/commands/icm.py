"""`manage.py icm …`: the whole command line, its arguments untouched."""

import os
import subprocess
import sys

from django.conf import settings
from django.core.management.base import BaseCommand


class Command(BaseCommand):
    help = "Run an icm command, e.g. `manage.py icm recall 'which database'`."

    def run_from_argv(self, argv: list[str]) -> None:
        # A process of its own: options such as --db must be known before settings.
        arguments = [sys.executable, "-m", "icm_site.cli", *argv[2:]]
        places = [str(settings.BASE_DIR), os.environ.get("PYTHONPATH", "")]
        path = os.pathsep.join(filter(None, places))
        sys.exit(subprocess.call(arguments, env={**os.environ, "PYTHONPATH": path}))
