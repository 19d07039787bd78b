"""Memoirs through the command, with the published examples and their wording."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.conftest import Icm
from tests.factories import make_memory
from tests.memoirs.memoir_factories import NAME, make_graph, make_project, run_command

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


@pytest.mark.django_db
def test_memories_become_concepts_by_command() -> None:
    for number in range(3):
        make_memory(f"Fact {number}", topic="ops", keywords=["docker", "network"])
    run_command("memoir", "create", "-n", "m")
    found = run_command("extract-patterns", "-t", "ops", "-m", "m")
    assert found == (
        "Found 1 pattern in topic 'ops':\n"
        "  [3 memories] docker, network: Fact 2\n"
        "    concept: docker-network\nKept in memoir 'm'.\n"
    )
    done = run_command("memoir", "distill", "--from-topic", "ops", "--into", "m")
    assert done == (
        "Distilled 3 memories from 'ops' into 'm': 1 concepts added, 2 refined, "
        "0 there before.\n"
    )
    history = run_command("memoir", "history", "-m", "m", "docker")
    assert history.startswith("docker [r3 c0.70] since ")
    assert len(re.findall("distill by cli", history)) == 2


@pytest.mark.django_db
def test_a_project_is_learned_and_followed_by_command(tmp_path: Path) -> None:
    make_project(tmp_path)
    done = run_command("learn", cwd=str(tmp_path))
    assert done.startswith("Learned shop: 13 concepts, ")
    near = run_command(
        "memoir", "neighbors", "-m", "shop", "shop.orders", "-r", "dependson"
    )
    assert (
        "shop.orders --depends-on--> shop.stock\n--- shop.stock [r1 c1.00] ---" in near
    )
    assert run_command("learn", "-d", str(tmp_path), "-n", "x").startswith(
        "Learned x: "
    )


@pytest.mark.django_db
def test_relations_are_spelt_with_hyphens_by_commands_alone() -> None:
    make_graph("a depends_on b")
    edge = ["-m", NAME, "--from", "a", "--to", "b", "-r", "depends-on"]
    assert run_command("memoir", "update-link", *edge, "-w", "0.5") == (
        "Updated link: a --depends-on--> b (weight 0.5)\n"
    )
    assert "a --depends-on--> b" in run_command("memoir", "inspect", "-m", NAME, "a")
    shown = run_command("memoir", "inspect", "-m", NAME, "a", "-f", "json")
    assert json.loads(shown)["links"][0]["relation"] == "depends_on"
    assert "depends_on" in run_command("memoir", "export", "-m", NAME, "-f", "ai")
    assert run_command("memoir", "delete-link", *edge) == (
        "Deleted link: a --depends-on--> b\n"
    )
    assert run_command("memoir", "delete-concept", "-m", NAME, "-n", "a") == (
        f"Deleted concept: a from memoir '{NAME}' (with 0 links)\n"
    )
