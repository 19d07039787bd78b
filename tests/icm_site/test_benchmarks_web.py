"""`icm bench-web`, and that no page costs more queries the more there is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import load_command_class

from icm_site.benchmarks import web_work
from icm_site.command_modules import COMMANDS
from memories.models import Memory
from tests.conftest import Icm

# A row of the table of the admin stands for these: the list asks for its filters too.
MOST = 16
# One query for each of its panels.
MOST_OF_PANELS = 24


@pytest.mark.slow
@pytest.mark.django_db
def test_no_page_makes_more_queries_over_more_memories() -> None:
    counts = []
    for more in (1_000, 2_000):
        web_work.fill(more)
        visitor = web_work.Visitor(f"owner-{more}")
        counts.append(
            {
                name: visitor.queries(visitor.resolved(address), body)
                for name, address, body in web_work.ADDRESSES
            }
        )
    assert Memory.objects.count() == 3_000
    few, many = counts
    # A list that fits on one page has no second one to look for.
    assert {n: (few[n], many[n]) for n in few if many[n] > few[n] + 1} == {}
    most = dict.fromkeys(many, MOST) | {"Dashboard": MOST_OF_PANELS}
    assert {name: n for name, n in many.items() if n > most[name]} == {}


@pytest.mark.slow
def test_bench_web_prints_and_writes_each_row(icm: Icm, tmp_path: Path) -> None:
    file, plot = tmp_path / "web.json", tmp_path / "web.svg"
    files = ("--json", str(file), "--plot", str(plot))
    done = icm("bench-web", "-c", "120", "-r", "1", *files)
    assert done.returncode == 0, done.stderr
    figures = json.loads(file.read_text())
    names = [page["name"] for page in figures["pages"]]
    assert names == [name for name, _, _ in web_work.ADDRESSES]
    assert all(name in done.stdout for name in names)
    assert "<svg" in plot.read_text()
    assert not (tmp_path / "icm.sqlite3").exists()


@pytest.mark.parametrize("name", [n for n in COMMANDS if n.startswith("bench")])
def test_each_benchmark_starts_through_django_too(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = f"icm_{name.replace('-', '_')}"
    with pytest.raises(SystemExit) as stop:
        load_command_class("icm_site", command).run_from_argv(["", command, "--help"])
    assert stop.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: icm {name} ")
