"""A filled database, made once, and hooks on copies of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import PROJECT
from tests.icm_site.hooks.hooking import Hooks

MEMORIES = [
    (
        "decisions-teapot-api",
        "We chose NATS JetStream for the brew queue; the staging port is 4223.",
        "high",
    ),
    (
        "decisions-kettle",
        "The kettle's brew queue runs on RabbitMQ, port 5672.",
        "high",
    ),
    (
        "errors-resolved-teapot-api",
        "error[E0277]: the trait bound `Leaf: Clone` is not satisfied was solved by"
        " deriving Clone for Leaf in src/leaf.rs.",
        "medium",
    ),
    ("preferences", "Mira wants short answers and British spelling.", "medium"),
    ("context-teapot-api", "The teapot API is written in Rust with axum.", "medium"),
]
FILL = """
import os, json, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "icm_site.settings"
import django
django.setup()
from icm_site import database
from icm_site.caller import Caller
from memories import store
database.ready()
for topic, content, importance in json.loads(sys.argv[1]):
    store.store(topic=topic, content=content, importance=importance,
                caller=Caller(surface="cli", project="teapot-api"))
from django.db import connection
connection.cursor().execute("PRAGMA journal_mode = DELETE")
"""

Make = Callable[..., Hooks]


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database with the memories above."""
    import json

    path = tmp_path_factory.mktemp("filled") / "icm.sqlite3"
    kept = {k: v for k, v in os.environ.items() if not k.startswith("ICM_")}
    subprocess.run(
        [sys.executable, "-c", FILL, json.dumps(MEMORIES)],
        env=kept
        | {"ICM_DB": str(path), "ICM_NO_EMBEDDINGS": "1", "ICM_RESIDENT": "0"}
        | {"PYTHONPATH": str(PROJECT)},
        check=True,
    )
    return path


@pytest.fixture
def config(hooks: Hooks, tmp_path: Path) -> Callable[[str], object]:
    """Write the user's configuration file of these hooks."""
    file = tmp_path / "config.toml"
    hooks.env["ICM_CONFIG"] = str(file)
    return lambda text: file.write_text(text, "utf-8")


@pytest.fixture
def hooks(filled: Path, tmp_path: Path) -> Hooks:
    """Hooks on a copy of the filled database."""
    return Hooks(filled, tmp_path)
