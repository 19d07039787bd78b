"""Command lines whose faults are one sentence."""

from __future__ import annotations

import argparse
from typing import NoReturn

from icm_site.errors import UsageError


class Parser(argparse.ArgumentParser):
    """argparse that raises UsageError where it would print usage and end."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see `{self.prog} --help`)")
