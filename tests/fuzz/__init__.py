"""Hostile input over every surface: `python -m tests.fuzz --inputs 50000`."""
