"""Command lines whose faults are one sentence."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NoReturn

from icm_site.errors import UsageError


class Parser(argparse.ArgumentParser):
    """argparse that raises UsageError where it would print usage and end."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see `{self.prog} --help`)")


def whole(allowed: range) -> Callable[[str], int]:
    """The type of an option that takes a whole number of a range."""

    def read(text: str) -> int:
        # int() alone takes other signs, other digits, and thousands of them.
        if text.isascii() and text.isdecimal() and len(text) < 10:
            number = int(text)
            if number in allowed:
                return number
        raise argparse.ArgumentTypeError(
            f"must be a whole number from {allowed.start} to {allowed.stop - 1}"
        )

    return read
