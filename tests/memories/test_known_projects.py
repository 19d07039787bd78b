"""Projects as the database knows them: seen, listed, given other names, joined."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from icm_site.errors import Conflict, InvalidInput, NotFound
from memories import known_projects, project_records, projects, recall, store
from memories.driver import raw_connection
from memories.models import Memory, Project
from tests.conftest import Icm, Run
from tests.factories import CALLER, make_memory, perform

pytestmark = pytest.mark.django_db


def topics() -> set[str]:
    return set(Memory.objects.live().values_list("topic", flat=True))


@pytest.mark.parametrize(
    ("topic", "project"),
    [
        ("decisions-shop", "shop"),
        ("errors-resolved-Shop.Web", "shop-web"),
        ("context:shop", "shop"),
        ("contexte-shop", "shop"),
        ("decisions", None),
        ("preferences-shop", None),
        ("shop", None),
        ("", None),
    ],
)
def test_a_topic_of_the_form_kind_project_names_one(
    topic: str, project: str | None
) -> None:
    assert projects.named_in(topic) == project


def test_storing_notes_the_project_and_where_it_lies(tmp_path: Path) -> None:
    for words in (
        ("init", "-q"),
        ("remote", "add", "origin", "https://me:secret@host/acme/shop.git"),
    ):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    (tmp_path / "src").mkdir()
    caller = replace(CALLER, cwd=str(tmp_path / "src"))
    make_memory(caller=caller)
    row = Project.objects.get()
    assert (row.name, row.paths) == ("shop", [str(tmp_path)])
    assert row.remote == "https://host/acme/shop.git"
    seen = row.last_seen
    make_memory("Another fact.", caller=caller)
    row.refresh_from_db()
    assert row.last_seen == seen
    later = timezone.now() + timedelta(days=1)
    store.store(topic="t", content="x", caller=replace(caller, cwd=""), now=later)
    row.refresh_from_db()
    assert (row.last_seen, row.paths) == (later, [str(tmp_path)])


def test_projects_are_listed_with_counts(run: Run) -> None:
    assert run("projects").out == "No projects yet.\n"
    for topic in ("decisions-shop", "context-shop-web", "shop", "errors-bakery"):
        make_memory(f"A fact of {topic}.", topic=topic)
    found = json.loads(run("projects", "-f", "json").out)
    assert [(row["name"], row["memories"]) for row in found] == [
        ("shop", 3),
        ("bakery", 1),
    ]
    shown = run("projects").out
    assert shown.splitlines()[0].split() == [
        *("Project", "Memories", "Last", "seen", "Other", "names", "Folder")
    ]


def test_a_merge_renames_topics_by_segment_and_keeps_the_name(run: Run) -> None:
    for topic in (
        "decisions-old.shop",
        "Errors-Resolved-Old-Shop",
        "old-shop",
        "context-bold-shop",
        "old-notes-shop",
    ):
        make_memory(f"A fact of {topic}.", topic=topic)
    done = run("projects", "merge", "old-shop", "store")
    assert done.code == 0, done.err
    assert topics() == {
        *("decisions-store", "Errors-Resolved-store", "store"),
        *("context-bold-shop", "old-notes-shop"),
    }
    assert "3 memories of 3 topics moved" in done.out
    hits = recall.recall(query="fact", project="Old-Shop").hits
    assert len(hits) == 3
    found = json.loads(run("projects", "-f", "json").out)
    assert [(r["name"], r["aliases"]) for r in found if r["aliases"]] == [
        ("store", ["old-shop"])
    ]
    assert "old-shop" not in {row["name"] for row in found}


def test_a_merge_can_be_undone_and_done_again() -> None:
    make_memory("A fact.", topic="decisions-old")
    done = perform("project_merge", old="old", new="new")
    raw = raw_connection()
    assert known_projects.aliases(raw) == {"old": "new"}
    undone = perform("memory_undo", id=done.change)
    assert (topics(), known_projects.aliases(raw)) == ({"decisions-old"}, {})
    perform("memory_undo", id=undone.change)
    assert (topics(), known_projects.aliases(raw)) == (
        {"decisions-new"},
        {"old": "new"},
    )


def test_a_merge_leaves_what_belongs_to_a_larger_project() -> None:
    make_memory("One.", topic="decisions-icm")
    make_memory(
        "Two.", topic="decisions-icm-core", caller=replace(CALLER, project="icm-core")
    )
    done = perform("project_merge", old="icm", new="memory")
    assert topics() == {"decisions-memory", "decisions-icm-core"}
    assert (done.topics, done.left) == (1, 1)


def test_a_project_can_be_merged_into_one_whose_name_holds_its_own() -> None:
    make_memory("One.", topic="decisions-icm")
    make_memory("One.", topic="decisions-icm-core")
    done = perform("project_merge", old="icm", new="icm-core")
    assert topics() == {"decisions-icm-core"}
    assert (done.moved, done.merged) == (1, 1)
    assert known_projects.named(raw_connection(), "icm", {}) == "icm-core"


@pytest.mark.parametrize(
    ("old", "new", "error", "sentence"),
    [
        ("shpo", "x", NotFound, "project not found: shpo; did you mean 'shop'?"),
        ("zebra", "x", NotFound, "project not found: zebra$"),
        ("shop", "Shop ", InvalidInput, "give two different projects"),
        (" ", "x", InvalidInput, "a project's name has 1 to 255 characters"),
        ("shop", "x" * 256, InvalidInput, "a project's name has 1 to 255"),
    ],
)
def test_a_merge_of_nothing_is_refused(
    old: str, new: str, error: type[Exception], sentence: str
) -> None:
    make_memory()
    with pytest.raises(error, match=sentence):
        perform("project_merge", old=old, new=new)


def test_an_alias_is_given_and_taken_back(run: Run) -> None:
    make_memory("Postgres 16 holds the orders.", topic="decisions-store")
    assert run("projects", "alias", "shop", "store").code == 0
    # The folder is called shop: all that is done there belongs to the store now.
    run("save-project", "Deploys go out on Tuesdays.")
    assert "context-store" in topics()
    assert "Postgres" in run("recall-project").out
    assert run("projects", "alias", "shop", "store", "--remove").code == 0
    assert known_projects.aliases(raw_connection()) == {}
    wrong = run("projects", "alias", "shop", "store", "--remove")
    assert (wrong.code, wrong.err) == (
        1,
        "Error: 'shop' is no other name of 'store'\n",
    )


def test_aliases_lead_on_and_never_round() -> None:
    now = timezone.now()
    project_records.alias("a", "b", now=now)
    project_records.alias("b", "c", now=now)
    assert known_projects.named(raw_connection(), "A", {}) == "c"
    assert known_projects.named(raw_connection(), "c", {"c": "d"}) == "d"
    with pytest.raises(Conflict, match="'c' is another name"):
        project_records.alias("c", "c", now=now)
    with pytest.raises(Conflict, match="'a' is another name of 'c' already"):
        project_records.alias("c", "a", now=now)
    assert projects.current("x", {"x": "y", "y": "x"}) in ("x", "y")


def test_a_fresh_process_follows_an_alias(icm: Icm) -> None:
    assert icm("save-project", "Deploys go out on Tuesdays.").returncode == 0
    assert icm("projects", "merge", "shop", "store").returncode == 0
    assert icm("save-project", "Tests need Docker.").returncode == 0
    done = icm("topics", "-f", "json")
    assert json.loads(done.stdout) == [{"topic": "context-store", "count": 2}]
    assert icm("projects", "alias", "x").returncode == 2


def test_a_name_that_is_no_json_in_the_table_is_no_fault() -> None:
    Project.objects.create(name="shop", aliases=[{"other": 1}, 5, "old"])
    assert known_projects.aliases(raw_connection())["old"] == "shop"
    assert known_projects.named(raw_connection(), "old", {}) == "shop"
