"""Wake-up, snapshot and block as commands and tools give them."""

from __future__ import annotations

import dataclasses
import json

import pytest

from icm_site import mcp_tools
from icm_site.errors import InvalidInput
from memories import fence, injection
from memories.injection import Bullet, block
from memories.models import Memory
from tests.conftest import Run
from tests.factories import AGENT, CALLER, make_memory, perform

pytestmark = pytest.mark.django_db


def tool(name: str, **arguments: object) -> str:
    answer = mcp_tools.call(name, arguments, caller=AGENT, compact=False)
    assert not answer.failed, answer.text
    return answer.text


def filled() -> None:
    make_memory("We chose Postgres 16.", importance="critical")
    make_memory("Answers in short sentences.", topic="preferences")
    make_memory("Deploys go out on Tuesdays.", topic="context-shop")
    make_memory("Flour comes on Mondays.", topic="context-bakery", importance="high")


def test_a_pack_is_the_same_on_command_line_and_mcp(run: Run) -> None:
    filled()
    shown = run("wake-up").out.strip()
    assert shown == tool("icm_wake_up")
    assert shown == (
        "# ICM Wake-up (project: shop)\n\n"
        "## Identity & preferences\n- Answers in short sentences.\n\n"
        "## Critical decisions\n- We chose Postgres 16."
    )
    plain = run("wake-up", "-f", "plain", "--no-preferences").out.strip()
    assert plain == tool("icm_wake_up", format="plain", include_preferences=False)
    assert plain == (
        "ICM Wake-up (project: shop)\n\n[Critical decisions]\n- We chose Postgres 16."
    )


@pytest.mark.parametrize("none", ["-", "", " - "])
def test_a_pack_of_no_project_is_of_all(run: Run, none: str) -> None:
    filled()
    text = run("wake-up", "-p", none).out
    assert text.startswith("# ICM Wake-up\n")
    assert "Flour" in text
    assert "Postgres" in text


def test_a_pack_outside_any_project_names_none(run: Run) -> None:
    filled()
    result = perform("wake_up_pack", caller=AGENT.__class__(surface="mcp"))
    assert [line for section in result.sections for line in section.lines] == [
        "Answers in short sentences."
    ]


def test_an_empty_pack_says_so_and_names_what_was_perhaps_meant(run: Run) -> None:
    make_memory("Deploys go out on Tuesdays.", topic="context-shop")
    done = run("wake-up", "-p", "shpo")
    assert done.out.startswith("# ICM Wake-up (empty)\n\nNothing")
    sentence = "No memories of the project 'shpo'; did you mean 'shop'?"
    assert done.err.strip() == sentence
    for name in ("icm_wake_up", "icm_context"):
        assert sentence in tool(name, project="shpo")
    for name in ("icm_memory_recall", "icm_recall_context", "icm_search"):
        assert sentence in tool(name, project="shpo", query="deploys")
    for words in (
        ("recall", "deploys"),
        ("recall-context", "deploys"),
        ("context",),
        ("recall-project",),
        ("search", "deploys"),
    ):
        assert sentence in run(*words, "-p", "shpo").err, words


def test_a_snapshot_in_each_form(run: Run) -> None:
    filled()
    markdown = run("context").out.strip()
    assert markdown == tool("icm_context")
    assert markdown.startswith("# ICM Context Snapshot\n\n## Identity & preferences\n")
    assert "Flour" not in markdown
    assert "Deploys" in markdown
    assert "[Project context]" in run("context", "-f", "plain").out
    found = json.loads(run("context", "-f", "json").out)
    assert found["sections"][0] == {
        "title": "Identity & preferences",
        "lines": ["Answers in short sentences."],
    }
    assert found["total_chars"] == len(markdown)
    assert (found["max_chars"], found["over_budget"], found["dropped"]) == (
        4800,
        False,
        0,
    )


def test_a_block_stands_between_introduction_and_line(run: Run) -> None:
    filled()
    text = run("recall-context", "when do deploys go out").out.strip()
    assert text == tool("icm_recall_context", query="when do deploys go out")
    introduction, fenced, line = text.split("\n\n")
    assert introduction.startswith(fence.INTRODUCTION)
    assert introduction.count(".") == 2
    assert fenced == "<icm-notes>\n- Deploys go out on Tuesdays.\n</icm-notes>"
    assert line == "---"
    assert fence.without_injected(text).strip() == "---"


def test_a_block_without_hits_is_a_note_alone(run: Run) -> None:
    done = run("recall-context", "zebra")
    assert (done.code, done.out, done.err) == (0, "", "No memories found.\n")
    assert tool("icm_recall_context", query="zebra") == "No memories found."


def test_a_block_has_bounds_and_tiers() -> None:
    bullets = [
        Bullet(injection.PERSONAL, "light", 0.1),
        Bullet(injection.SHARED, "shared"),
        Bullet(injection.PERSONAL, "heavy", 0.9),
        Bullet(injection.OWN, "long " * 100),
    ]
    lines = [
        line for line in block(bullets, project="").splitlines() if line[:1] == "-"
    ]
    assert lines[0].endswith("long […]")
    assert len(lines[0]) <= 410
    assert lines[1:] == ["- shared", "- heavy", "- light", "---"]
    many = block([Bullet(injection.OWN, "word " * 70)] * 30, project="shop")
    assert injection.REST in many
    assert len(many.encode()) < injection.BLOCK_BYTES + 400
    assert "notes on the project shop." in many


def test_the_project_is_recalled_and_saved_without_naming_it(run: Run) -> None:
    filled()
    assert run("save-project", "Tests need Docker.", "-k", "ci").code == 0
    saved = Memory.objects.latest("id")
    assert (saved.topic, saved.keywords) == ("context-shop", ["ci"])
    assert "Tests need Docker." in run("recall-project").out
    assert "Flour" not in run("recall-project").out
    assert "Tests need Docker." in tool("icm_recall_project", limit=3)
    assert tool("icm_save_project", content="Tests need Docker.").startswith("Updated")
    for name, given in (("recall_project", {}), ("save_project", {"content": "x"})):
        with pytest.raises(InvalidInput, match="this folder belongs to no project"):
            perform(name, caller=CALLER.__class__(surface="cli"), **given)


ORIGINS = {
    "user": "We chose Postgres 16 for orders.",
    "agent": "The orders table has 12 columns.",
    "hook": "Orders older than 90 days are archived.",
    "import": "Orders are exported as Parquet.",
}


def of_every_origin() -> None:
    for origin, text in ORIGINS.items():
        caller = dataclasses.replace(CALLER, origin=origin)
        stored = make_memory(text, caller=caller)
        # What hooks and imports bring is never high by itself: a person raised it.
        Memory.objects.filter(pk=stored.pk).update(importance="high")


@pytest.mark.parametrize(
    "words",
    [
        ("wake-up",),
        ("wake-up", "-f", "plain"),
        ("context",),
        ("recall-context", "orders", "--min-relevance", "0"),
    ],
    ids=" ".join,
)
def test_what_the_person_did_not_store_says_who_did(
    words: tuple[str, ...], run: Run
) -> None:
    of_every_origin()
    lines = run(*words).out.splitlines()
    assert f"- {ORIGINS['user']}" in lines
    for origin in ("agent", "hook", "import"):
        assert f"- {ORIGINS[origin]} ({origin})" in lines
    assert run(*words).out.splitlines() == lines


def test_a_block_leaves_out_what_hardly_has_to_do_with_the_question(run: Run) -> None:
    filled()
    asked = "plan a birthday party for Mondays or Tuesdays in Rome"
    done = run("recall-context", asked)
    assert (done.code, done.out) == (0, "")
    assert "Left out as less relevant than 0.5: 1." in done.err
    said = tool("icm_recall_context", query=asked)
    assert said == "No memories found. Left out as less relevant than 0.5: 1."
    assert not Memory.objects.filter(usage__access_count__gt=0)
    everything = run("recall-context", asked, "--min-relevance", "0")
    assert everything.out.count("\n- ") == 1
