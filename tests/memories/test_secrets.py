"""Keys of many makers: none is in the bytes of any file of ours.

`ICM_TEST_SECRETS=2000 pytest tests/memories/test_secrets.py` is a longer run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memories.redact import looks_random, redact
from tests.conftest import PROJECT, Icm
from tests.memories.secrets import FORMATS, Secret, generated

COUNT = int(os.environ.get("ICM_TEST_SECRETS", str(len(FORMATS))))

# Stores each text by another verb, and leaves without closing: the log stays full.
WRITER = """
import json, os, sys, django
django.setup()
from icm_site import database
from icm_site.errors import IcmError
from tests.factories import perform
database.ready()
perform("memoir_create", name="keys", description="d")
first = perform("memory_store", topic="t", content="the first").id
for number, text in enumerate(json.load(sys.stdin)):
    said = f"Text {number}: we use {text} for the deploy."
    way = number % 5
    if way == 0:
        perform("memory_store", topic="t", content=said)
    elif way == 1:
        perform("memory_store", topic="t", content=f"no {number}", raw_excerpt=said)
    elif way == 2:
        perform("memory_update", id=first, content=said)
    elif way == 3:
        perform(
            "feedback_record", topic="t", context=said, predicted=text, corrected="c"
        )
    else:
        perform("memoir_add_concept", memoir="keys", name=f"c{number}", definition=said)
os._exit(0)
"""


def test_a_key_of_every_format_is_masked_within_a_sentence() -> None:
    kept = []
    for secret in generated(COUNT, seed=7):
        text = redact(f"Since May: {secret.text}, for CI.").text
        kept += [secret.kind for part in secret.parts if part in text]
    assert kept == []


def test_no_key_is_in_the_bytes_of_any_file(
    environment: dict[str, str], icm: Icm, tmp_path: Path
) -> None:
    secrets = list(generated(COUNT, seed=11))
    done = subprocess.run(
        [sys.executable, "-c", WRITER],
        input=json.dumps([secret.text for secret in secrets]),
        env=environment,
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    database = Path(environment["ICM_DB"])
    assert Path(f"{database}-wal").stat().st_size > 0
    check(tmp_path, secrets)
    assert icm("backup").returncode == 0
    for words in (["all.jsonl"], ["--format", "markdown", "all.md"]):
        assert icm("export", *words[:-1], str(tmp_path / words[-1])).returncode == 0
    outputs = [
        icm(*words, ICM_LOG="debug")
        for words in (["list", "-a"], ["recall", "deploy"], ["feedback", "list"])
    ]
    prompt = json.dumps(
        {"hook_event_name": "UserPromptSubmit", "prompt": "How do we deploy?"}
    )
    outputs.append(icm("hook", "prompt", stdin=prompt))
    shown = "".join(output.stdout + output.stderr for output in outputs)
    assert "[redacted:" in shown
    assert [s.kind for s in secrets for part in s.parts if part in shown] == []
    check(tmp_path, secrets)


def check(folder: Path, secrets: list[Secret]) -> None:
    """Look for every part of every key in every file below a folder."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    for path in files:
        data = path.read_bytes()
        found = [
            secret.kind
            for secret in secrets
            for part in secret.parts
            if part.encode() in data
        ]
        assert found == [], path


@pytest.mark.parametrize(
    "text",
    [
        "src/components/UserProfile2/AvatarImage3x4/index5",
        "test_that_2_plus_2_is_4_and_3_plus_3_is_6_in_Python3",
        "d41d8cd98f00b204e9800998ecf8427ed41d8cd98f00b204",
        "AbstractSingletonProxyFactoryBean2Impl3Test4Case5",
        "01M8MQAGC3QB2PXP0F5Z6QJZG001M8MQAGC3QB2PXP0F5Z6QJZG0",
        "2026-11-30T04-51-55Z_build_1234_x86_64-unknown-linux",
    ],
)
def test_names_paths_and_digests_are_not_random(text: str) -> None:
    assert not looks_random(text)
    assert redact(f"See {text} there.").found == ()


def test_a_word_that_a_program_drew_is_random() -> None:
    assert redact("use kT9xQ2mZ7vB4nL8pR3wY6cF1hJ5gD0sA now").found == ("random",)
    assert len(FORMATS) >= 160
