"""Learning a project: what is renewed, what is left alone, who may ask for what."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from icm_site.errors import InvalidInput
from memoirs import learn, links, lookup, write
from memoirs.models import Concept, ConceptLink, Memoir
from tests.factories import AGENT, CALLER
from tests.memoirs.memoir_factories import (
    make_concept,
    make_files,
    make_link,
    make_memoir,
    make_project,
)

pytestmark = pytest.mark.django_db
PROJECT = Path(__file__).resolve().parents[2]


def run(root: Path, name: str | None = None) -> learn.Learned:
    return learn.learn(root, name=name, caller=CALLER)


def names() -> set[str]:
    return set(Concept.objects.values_list("name", flat=True))


def arrows() -> set[str]:
    rows = ConceptLink.objects.select_related("source", "target")
    return {f"{r.source.name} {r.relation} {r.target.name}" for r in rows}


def test_learning_makes_a_memoir_of_the_project(tmp_path: Path) -> None:
    done = run(make_project(tmp_path))
    assert (done.memoir.name, done.memoir.description) == ("shop", "Sells things.")
    assert (done.added, done.concepts) == (13, 13)
    assert done.links == ConceptLink.objects.count()
    concept = Concept.objects.get(name="shop.__main__")
    assert concept.labels == ["kind:module", "kind:entry"]
    assert (concept.confidence, concept.origin) == (1.0, "learn")


def test_learning_again_changes_nothing(tmp_path: Path) -> None:
    run(make_project(tmp_path))
    before = list(Concept.objects.values()), list(ConceptLink.objects.values())
    done = run(tmp_path)
    assert (done.added, done.updated, done.removed, done.kept) == (0, 0, 0, 0)
    assert (
        list(Concept.objects.values()),
        list(ConceptLink.objects.values()),
    ) == before


def test_what_has_changed_is_renewed_with_its_history(tmp_path: Path) -> None:
    run(make_project(tmp_path))
    make_files(
        tmp_path, {"shop/cli.py": '"""New commands."""\nfrom shop import stock\n'}
    )
    (tmp_path / "shop" / "extra.py").unlink()
    done = run(tmp_path)
    assert (done.added, done.removed) == (0, 1)
    concept = Concept.objects.get(name="shop.cli")
    assert (concept.definition, concept.revision) == ("New commands.", 2)
    assert concept.revisions.get().operation == "learn"
    assert "shop.cli depends_on shop.stock" in arrows()
    assert "shop.cli depends_on shop.orders" not in arrows()
    assert "shop.extra" not in names()


def test_what_others_made_or_changed_is_left_alone(tmp_path: Path) -> None:
    make_concept("owner", "Kim", memoir="shop")
    run(make_project(tmp_path))
    write.refine("shop", "shop.stock", definition="Counts by hand", caller=CALLER)
    make_link("owner", "related_to", "shop.extra", memoir="shop")
    links.update_link(
        "shop",
        source="shop.cli",
        target="shop.orders",
        relation="depends_on",
        weight=0.2,
        caller=CALLER,
    )
    make_files(tmp_path, {"shop/cli.py": "x = 1", "shop/stock.py": "y = 2"})
    (tmp_path / "shop" / "extra.py").unlink()
    done = run(tmp_path)
    assert done.kept == 1
    assert Concept.objects.get(name="shop.stock").definition == "Counts by hand"
    assert {"owner", "shop.extra"} <= names()
    assert {
        "owner related_to shop.extra",
        "shop.cli depends_on shop.orders",
    } <= arrows()


def test_a_hand_made_link_is_never_closed_to_a_ring(tmp_path: Path) -> None:
    make_memoir("shop")
    for name in ("shop.orders", "shop.stock"):
        make_concept(name, memoir="shop")
    make_link("shop.stock", "depends_on", "shop.orders", memoir="shop")
    run(make_project(tmp_path))
    assert "shop.orders depends_on shop.stock" not in arrows()
    assert "shop.cli depends_on shop.orders" in arrows()


def test_the_memoir_may_be_named(tmp_path: Path) -> None:
    assert run(make_project(tmp_path), "the shop").memoir.name == "the shop"


def test_secrets_in_a_project_are_masked(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    make_files(
        tmp_path, {"package.json": f'{{"scripts": {{"push": "curl {secret}"}}}}'}
    )
    run(tmp_path, "p")
    assert not Concept.objects.filter(definition__contains=secret).exists()
    assert Concept.objects.filter(definition__contains="[redacted:").exists()


def test_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise RuntimeError("in between")

    monkeypatch.setattr(learn, "_renew_links", fail)
    with pytest.raises(RuntimeError):
        run(make_project(tmp_path))
    assert not Memoir.objects.exists()


def test_what_is_no_project_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path, message in [
        (tmp_path / "missing", "not a folder"),
        (tmp_path / "file", "not a folder"),
        (tmp_path, "no project in"),
        (Path("/"), "is no folder of one project"),
        (Path.home(), "is no folder of one project"),
    ]:
        with pytest.raises(InvalidInput, match=message):
            run(path)
    assert not Memoir.objects.exists()


def test_an_agent_may_name_only_its_own_folder(tmp_path: Path) -> None:
    work = make_project(tmp_path / "work")
    (work / "out").symlink_to(tmp_path)
    agent = replace(AGENT, cwd=str(work))
    for inside in (".", "shop", str(work), "shop/.."):
        assert learn.allowed(inside, caller=agent).is_dir()
    for outside in ("..", "/", "~", str(tmp_path), "shop/../..", "out"):
        with pytest.raises(InvalidInput, match="must lie inside the working folder"):
            learn.allowed(outside, caller=agent)
    with pytest.raises(InvalidInput):
        learn.allowed(".", caller=replace(AGENT, cwd=""))


def test_a_person_may_name_any_folder(tmp_path: Path) -> None:
    person = replace(CALLER, cwd=str(tmp_path))
    assert learn.allowed("..", caller=person) == tmp_path / ".."
    assert learn.allowed("~", caller=person) == Path.home()


def test_learning_this_project_shows_its_shape() -> None:
    run(PROJECT)
    memoir = lookup.memoir("icm-memory")
    assert memoir.concepts.count() < 50
    assert {
        "memories part_of icm-memory",
        "memoirs depends_on memories",
        "memories depends_on icm_site",
        "icm-memory depends_on django",
        "icm depends_on icm_site",
    } <= arrows()
