"""Memoirs through the command, with the published examples and their wording."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.conftest import Icm
from tests.memoirs.memoir_factories import make_project

ID = r"[0-9A-HJKMNP-TV-Z]{26}"

PUBLISHED = [
    (
        'memoir create -n "system-architecture" -d "System design decisions"',
        rf"Created memoir: {ID}\n",
    ),
    (
        'memoir add-concept -m "system-architecture" -n "auth-service" '
        '-d "Handles JWT tokens and OAuth2 flows" -l "domain:auth,type:service"',
        rf"Added concept: {ID}\n",
    ),
    (
        'memoir add-concept -m "system-architecture" -n "api-gateway" -d "Routes"',
        rf"Added concept: {ID}\n",
    ),
    (
        'memoir link -m "system-architecture" --from "api-gateway" '
        '--to "auth-service" -r depends-on',
        rf"Linked: api-gateway --depends-on--> auth-service \({ID}\)\n",
    ),
    (
        'memoir search -m "system-architecture" "authentication"',
        r"--- auth-service \[r1 c0\.50\] ---\n(?s:.*)",
    ),
    (
        'memoir search -m "system-architecture" "service" --label "domain:auth"',
        r"--- auth-service \[r1 c0\.50\] ---\n(?s:.*)",
    ),
    (
        'memoir search-all "JWT" -l 3',
        r"--- auth-service \(system-architecture\) ---\n(?s:.*)",
    ),
    (
        'memoir inspect -m "system-architecture" "auth-service" -D 2',
        r"(?s:.*)Graph \(depth=2\):\n  api-gateway --depends-on--> auth-service\n",
    ),
    (
        'memoir export -m "system-architecture" -f ascii',
        r"╔═(?s:.*)┌─ auth-service(?s:.*)",
    ),
    ('memoir export -m "system-architecture" -f dot', r'digraph "system-(?s:.*)'),
    ('memoir export -m "system-architecture" -f ai', r"# Memoir: system-(?s:.*)"),
    ('memoir export -m "system-architecture" -f json', r'\{\n  "memoir": (?s:.*)'),
    (
        'memoir refine -m "system-architecture" -n "auth-service" -d "Signs JWT"',
        r"Refined: auth-service \(r2, confidence=0\.60\)\n",
    ),
    ("memoir list", r"(?s:.*)system-architecture(?s:.*)System design decisions(?s:.*)"),
    (
        "memoir show system-architecture",
        r"Name: system-architecture\nDescription: System design decisions\n"
        r"Created: .*\nUpdated: .*\nConcepts: 2\nLinks: 1\n"
        r"Average confidence: 0\.55\nLabels: domain:auth \(1\), type:service \(1\)\n\n"
        r"auth-service \[r2 c0\.60\] \(domain:auth, type:service\)\n"
        r"api-gateway \[r1 c0\.50\]\n",
    ),
    ('search "who signs tokens"', r"--- concept auth-service \(system-(?s:.*)"),
    ("memoir delete system-architecture", r"Deleted memoir: system-architecture\n.*\n"),
    ("memoir list", r"No memoirs yet\.\n"),
]


@pytest.mark.slow
def test_the_published_examples_run_and_say_what_is_promised(icm: Icm) -> None:
    for line, expected in PUBLISHED:
        done = icm(*shlex.split(line))
        assert done.returncode == 0, (line, done.stderr)
        assert re.fullmatch(expected, done.stdout), (line, done.stdout)
        assert done.stderr == ""


@pytest.mark.slow
def test_the_command_fails_in_one_sentence(icm: Icm, tmp_path: Path) -> None:
    icm("memoir", "create", "-n", "m")
    for arguments, message in [
        (("memoir", "show", "x"), "memoir not found: x"),
        (("memoir", "inspect", "-m", "m", "x"), "concept not found: x"),
        (("learn", "-d", "missing"), "not a folder: "),
        (("extract-patterns", "-t", "t", "-m", "x"), "memoir not found: x"),
        (("memoir", "distill", "--from-topic", "t", "--into", "m"), "no memories in"),
    ]:
        done = icm(*arguments)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"Error: {message}")
        assert done.stderr.count("\n") == 1
    wrong = icm("memoir", "add-concept", "-m", "m")
    assert wrong.returncode == 2


@pytest.mark.slow
def test_memories_become_concepts_by_command(icm: Icm, tmp_path: Path) -> None:
    for number in range(3):
        icm("store", "-t", "ops", "-c", f"Fact {number}", "-k", "docker,network,dns")
    icm("memoir", "create", "-n", "m")
    done = icm("extract-patterns", "-t", "ops", "-m", "m")
    assert done.stdout.startswith("Found 1 pattern in topic 'ops':\n  [3 memories] ")
    done = icm("memoir", "distill", "--from-topic", "ops", "--into", "m")
    assert done.stdout == (
        "Distilled 3 memories from 'ops' into 'm': 1 concepts added, 2 refined, "
        "0 there before.\n"
    )
    history = icm("memoir", "history", "-m", "m", "docker").stdout
    assert history.startswith("docker [r3 c0.70] since ")
    assert len(re.findall("distill by cli", history)) == 2
    make_project(tmp_path / "shop")
    done = icm("learn")
    assert done.stdout.startswith("Learned shop: 13 concepts, ")
    assert "shop.orders depends-on" in icm(
        "memoir", "neighbors", "-m", "shop", "shop.orders", "-r", "dependson"
    ).stdout.replace(" --depends-on-->", " depends-on")
