"""Front-end files of others are as published, with version and licence beside them."""

from __future__ import annotations

import hashlib
from pathlib import Path

VENDOR = Path(__file__).resolve().parent.parent / "icm_site" / "static" / "vendor"
PUBLISHED = {
    "cytoscape-3.35.0.min.js": (
        "71fa9ebec21a7ca2c40cff6aacc30d1f6464e363662ad4b2c197e1adc770cd94"
    ),
}


def test_the_files_of_others_are_unchanged_and_have_their_licence() -> None:
    table = (VENDOR / "README.md").read_text("utf-8")
    scripts = [path for path in VENDOR.iterdir() if path.suffix in (".js", ".css")]
    assert {path.name for path in scripts} == PUBLISHED.keys()
    for path in scripts:
        package, version = path.name.removesuffix(".min.js").rsplit("-", 1)
        assert hashlib.sha256(path.read_bytes()).hexdigest() == PUBLISHED[path.name]
        assert f"| {package} | {version} | MIT (`{package}-LICENSE.txt`)" in table
        assert "Permission is hereby granted" in (
            VENDOR / f"{package}-LICENSE.txt"
        ).read_text("utf-8")
