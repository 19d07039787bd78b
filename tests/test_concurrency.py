"""Several processes on one file: nothing is lost, doubled or out of step.

`ICM_TEST_STORES=250 pytest tests/test_concurrency.py` is the full run.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from icm_site.sqlite import opening
from tests.conftest import PROJECT

pytestmark = pytest.mark.slow

PROCESSES = 8
STORES = int(os.environ.get("ICM_TEST_STORES", "10"))

# Reads a list of [operation, arguments] and prints a line of JSON for each.
WORKER = """
import json, sys
import django
django.setup()
from icm_site import database
from icm_site.errors import IcmError
from memories import embedder
from tests.factories import FakeEmbedder, perform
embedder.MODELS = embedder.Models(loader=lambda name: FakeEmbedder())
embedder.PACKAGED = FakeEmbedder.name
work = json.load(sys.stdin)
database.ready()
for name, arguments in work:
    try:
        result = perform(name, **arguments).model_dump(mode="json")
    except IcmError as error:
        result = {"error": error.message}
    print(json.dumps(result), flush=True)
"""

Work = Sequence[tuple[str, dict[str, Any]]]
Answers = list[list[dict[str, Any]]]


@pytest.fixture
def variables(environment: dict[str, str]) -> dict[str, str]:
    del environment["ICM_NO_EMBEDDINGS"]
    environment["DJANGO_SETTINGS_MODULE"] = "icm_site.settings"
    return environment


def at_once(variables: dict[str, str], *works: Work) -> Answers:
    """Let each process do its work, all at the same time; what each answered."""
    started = []
    for work in works:
        process = subprocess.Popen(
            [sys.executable, "-c", WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=variables,
            cwd=PROJECT,
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps(work))
        process.stdin.close()
        process.stdin = None
        started.append(process)
    answers = []
    for process in started:
        out, err = process.communicate(timeout=1_800)
        assert (process.returncode, err) == (0, "")
        answers.append([json.loads(line) for line in out.splitlines()])
    return answers


def ask(variables: dict[str, str], sql: str) -> list[tuple[Any, ...]]:
    with closing(opening.connect(Path(variables["ICM_DB"]))) as opened:
        return list(opened.execute(sql).fetchall())


def check_indexes(variables: dict[str, str]) -> None:
    """The text index and the vectors hold exactly the rows there are."""
    with closing(opening.connect(Path(variables["ICM_DB"]))) as opened:
        rows = opened.execute("SELECT id FROM memories WHERE state = 'live'")
        live = {row[0] for row in rows}
        opened.execute(
            "INSERT INTO memories_fts(memories_fts, rank) VALUES ('integrity-check', 1)"
        )
        indexed = opened.execute("SELECT id FROM memories_fts_docsize")
        assert {row[0] for row in indexed} == live
        vectors = opened.execute(
            "SELECT v.id, v.memory_id, k.embedding = v.vector FROM memory_vectors v "
            "LEFT JOIN vec_memories k ON k.rowid = v.id"
        ).fetchall()
        assert {row[1] for row in vectors} == live
        assert all(row[2] for row in vectors)
        assert opened.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert opened.execute("PRAGMA foreign_key_check").fetchall() == []


def test_all_stores_of_all_processes_are_there(variables: dict[str, str]) -> None:
    answers = at_once(
        variables,
        *(
            [
                (
                    "memory_store",
                    {"topic": f"t{place % 4}", "content": f"Fact {place}.{number}."},
                )
                for number in range(STORES)
            ]
            for place in range(PROCESSES)
        ),
    )
    ids = [answer["id"] for process in answers for answer in process]
    assert len(set(ids)) == len(ids) == PROCESSES * STORES
    stored = {row[0] for row in ask(variables, "SELECT ulid FROM memories")}
    assert stored == set(ids)
    changes = "SELECT count(*), count(DISTINCT memory_id) FROM memory_revisions"
    assert ask(variables, changes) == [(len(ids), len(ids))]
    check_indexes(variables)


def test_one_text_from_all_processes_is_one_memory(variables: dict[str, str]) -> None:
    work: Work = [
        ("memory_store", {"topic": "t", "content": text, "keywords": [text[:5]]})
        for text in ("alpha fact", "bravo fact", "gamma fact")
    ]
    answers = at_once(variables, *([work] * PROCESSES))
    for place in range(3):
        assert len({process[place]["id"] for process in answers}) == 1
        assert sum(process[place]["created"] for process in answers) == 1
    assert ask(variables, "SELECT count(*) FROM memories") == [(3,)]
    check_indexes(variables)


def test_updates_of_two_processes_are_all_kept(variables: dict[str, str]) -> None:
    ((first,),) = at_once(
        variables, [("memory_store", {"topic": "t", "content": "The start."})]
    )
    ulid, rounds = first["id"], 20
    at_once(
        variables,
        [
            ("memory_update", {"id": ulid, "content": f"Text number {number}."})
            for number in range(rounds)
        ],
        [
            ("memory_update", {"id": ulid, "keywords": [f"word{number}"]})
            for number in range(rounds)
        ],
    )
    ((shown,),) = at_once(variables, [("memory_get", {"id": ulid})])
    assert shown["memory"]["summary"] == f"Text number {rounds - 1}."
    assert shown["memory"]["keywords"] == [f"word{rounds - 1}"]
    history = shown["history"]
    assert len(history) == 2 * rounds + 1
    state = history[-1]["after"]
    for entry in reversed(history[:-1]):
        assert len(entry["after"]) == 1, "an update changed what it was not given"
        assert entry["before"] == {name: state[name] for name in entry["before"]}
        state |= entry["after"]
    check_indexes(variables)


def test_one_memory_has_one_successor(variables: dict[str, str]) -> None:
    ((first,),) = at_once(
        variables, [("memory_store", {"topic": "t", "content": "The port is 1."})]
    )
    answers = at_once(
        variables,
        *(
            [
                (
                    "memory_store",
                    {
                        "topic": "t",
                        "content": f"The port is {number}.",
                        "supersedes": first["id"],
                    },
                )
            ]
            for number in range(2, 6)
        ),
    )
    errors = [a["error"] for (a,) in answers if "error" in a]
    assert len(errors) == 3
    assert all("only a live one is replaced" in error for error in errors)
    states = ask(variables, "SELECT state FROM memories ORDER BY id")
    assert states == [("superseded",), ("live",)]


def test_readers_never_see_half_a_change(variables: dict[str, str]) -> None:
    """While a topic is renamed forth and back, each look finds all of it in one."""
    at_once(
        variables,
        [
            ("memory_store", {"topic": "one", "content": f"Fact {number}."})
            for number in range(10)
        ],
    )
    names = [("one", "two"), ("two", "one")] * 5
    renames: Work = [
        ("memory_rename_topic", {"old": old, "new": new}) for old, new in names
    ]
    looks: Work = [("memory_list_topics", {})] * 100
    _, seen = at_once(variables, renames, looks)
    for look in seen:
        assert [row["count"] for row in look["topics"]] == [10]


def test_a_killed_store_leaves_row_and_indexes_in_step(
    variables: dict[str, str],
) -> None:
    at_once(variables, [("memory_store", {"topic": "t", "content": "The start."})])
    work = [
        ("memory_store", {"topic": "t", "content": f"Fact {number}."})
        for number in range(1_000)
    ]
    for lines in (1, 3, 7):
        process = subprocess.Popen(
            [sys.executable, "-c", WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=variables,
            cwd=PROJECT,
        )
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(work))
        process.stdin.close()
        for _ in range(lines):
            process.stdout.readline()
        process.kill()
        process.wait()
        process.stdout.close()
        with closing(sqlite3.connect(variables["ICM_DB"])) as opened:
            assert opened.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        # A vector may be missing, since the text is committed first.
        at_once(variables, [("memory_embed_all", {})])
        check_indexes(variables)
