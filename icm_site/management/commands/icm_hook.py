"""`manage.py icm_hook EVENT --tool HOST`: the hook command, for trying it out."""

import sys

from django.core.management.base import BaseCommand

from icm_site import hook_client


class Command(BaseCommand):
    help = "Answer one hook event: its payload on stdin, the answer on stdout."

    def run_from_argv(self, argv: list[str]) -> None:
        sys.exit(hook_client.main(argv[2:]))
