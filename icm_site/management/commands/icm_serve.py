"""`manage.py icm_serve`: the MCP server, with the options of `icm serve`."""

import os
import subprocess
import sys

from django.conf import settings
from django.core.management.base import BaseCommand

START = (
    "import sys; sys.path.insert(0, {root!r}); from icm_site.cli import main; "
    "sys.exit(main())"
)


class Command(BaseCommand):
    help = "Serve the memory to an MCP client on standard input and output."

    def run_from_argv(self, argv: list[str]) -> None:
        # Anew, because the server takes stdout aside before Django is imported, and
        # options such as --db must be known before settings. -P keeps the client's
        # working directory off the import path.
        start = START.format(root=str(settings.BASE_DIR))
        command = [sys.executable, "-P", "-c", start, "serve", *argv[2:]]
        if sys.platform == "win32":  # there, exec would detach from the client
            sys.exit(subprocess.call(command))
        os.execv(sys.executable, command)
