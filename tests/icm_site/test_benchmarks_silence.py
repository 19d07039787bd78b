"""Foreign questions, arms left out, and two saved runs compared."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from icm_site.benchmarks import (
    data,
    quality_figures,
    quality_report,
    quality_run,
    saved_runs,
)
from icm_site.benchmarks.abstention import abstentions
from icm_site.benchmarks.data import Document, Evaluation, Query
from icm_site.benchmarks.systems import Found, Outcome, ablation, words
from icm_site.errors import InvalidInput
from memories.arms import NAMES
from tests.conftest import Icm

# The settings of the tests would drop the variables of a process of its own.
SETTINGS = {"DJANGO_SETTINGS_MODULE": "icm_site.settings"}


def talk(name: str, *queries: Query, text: str = "Nora painted a lake.") -> Evaluation:
    corpus = (Document(id="D1:1", text=text, topic="talk"),)
    return Evaluation(
        name=f"{name}.turn", set="talks", split="dev", corpus=corpus, queries=queries
    )


def asked(name: str, kind: str = "") -> Query:
    return Query(id=name, text=name, relevant=("D1:1",), kind=kind)


def test_each_question_is_asked_of_the_next_file_of_its_group() -> None:
    one, two, three = (talk(name, asked(name)) for name in "abc")
    alone = Evaluation(name="x", set="other", corpus=(), queries=(asked("x"),))
    found = data.with_foreign([one, two, alone, three])
    names = [[query.id for query in each.foreign] for each in found]
    assert names == [["c"], ["a"], [], ["b"]]


def test_what_reaches_the_floor_counts_as_answered_and_traps_stand_apart() -> None:
    own = (asked("a"), asked("b"), asked("trap", "adversarial"))
    evaluation = data.with_foreign([talk("one", *own), talk("two", *own)])[0]
    found = tuple(Found(ranking=(), score=0, relevance=r) for r in (0.9, 0.4, 0.8))
    foreign = tuple(Found(ranking=(), score=0, relevance=r) for r in (0.1, 0.5, 1))
    outcome = Outcome(
        evaluation=evaluation, found={"words": found}, strangers={"words": foreign}
    )
    (line,) = abstentions([outcome])
    assert (line.own, line.foreign, line.traps) == (2, 2, (1, 1.0))
    assert (line.own_answered, line.foreign_answered) == (0.5, 0.5)
    assert line.auc == 0.75


def test_an_ablation_leaves_out_each_arm_and_lets_two_stand_alone() -> None:
    with_model = {each.name: each.without for each in ablation(model=True)}
    assert list(with_model) == [
        "all",
        *(f"no {arm}" for arm in NAMES),
        "text alone",
        "vector alone",
    ]
    assert with_model["vector alone"] == ("text", "period", "session")
    by_words = [each.name for each in ablation(model=False)]
    assert by_words == ["all", "no period", "no session", "text alone"]


@pytest.mark.django_db
def test_a_system_without_an_arm_does_not_use_it(tmp_path: Path) -> None:
    evaluation = Evaluation(
        name="one.turn",
        set="talks",
        corpus=(
            Document(
                id="D1:1",
                text="Nothing in common.",
                created_at=datetime(2024, 5, 3, tzinfo=UTC),
            ),
        ),
        queries=(Query(id="q", text="What was in May 2024?", relevant=("D1:1",)),),
    )
    systems = [each for each in ablation(model=False) if each.name != "text alone"]
    outcome = quality_run.run(
        evaluation,
        systems,
        path=tmp_path / "icm.sqlite3",
        vectors=tmp_path / "vectors.sqlite3",
        tick=lambda step, count: None,
    )
    found = {name: answers[0].ranking for name, answers in outcome.found.items()}
    assert found == {"all": ("D1:1",), "no period": (), "no session": ("D1:1",)}


def write_run(file: Path, rankings: dict[str, list[str]]) -> Path:
    rows: list[dict[str, Any]] = [
        {"corpus": "dev/talks/one.turn", "query": query, "ranking": ranking}
        for query, ranking in rankings.items()
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path, Path]:
    path = tmp_path / "one.json"
    queries: list[dict[str, Any]] = [
        {"id": f"q{n}", "text": "lake", "relevant": ["D1:1"]} for n in range(40)
    ]
    corpus = [{"id": "D1:1", "text": "A lake."}, {"id": "D1:2", "text": "A sea."}]
    value = {"name": "one.turn", "set": "talks", "split": "dev", "corpus": corpus}
    path.write_text(json.dumps(value | {"queries": queries}), "utf-8")
    found, missed = ["D1:1", "D1:2"], ["D1:2"]
    before = write_run(tmp_path / "before.jsonl", {q["id"]: missed for q in queries})
    after = write_run(tmp_path / "after.jsonl", {q["id"]: found for q in queries})
    return path, before, after


def test_two_saved_runs_are_compared_question_by_question(
    runs: tuple[Path, Path, Path], icm: Icm, tmp_path: Path
) -> None:
    path, before, after = runs
    report = tmp_path / "report.json"
    done = icm(
        "bench-quality", str(path), "--compare", str(before), str(after), "--json",
        str(report), **SETTINGS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Difference to before" in done.stdout
    second = json.loads(report.read_text("utf-8"))["figures"][1]
    assert second["system"] == "after"
    assert second["differences"]["R@5"]["low"] == 1.0


@pytest.mark.slow
def test_relevance_is_fitted_by_the_command(
    runs: tuple[Path, Path, Path], icm: Icm
) -> None:
    done = icm(
        "bench-quality", str(runs[0]), "--fit-relevance", "--no-model", **SETTINGS
    )
    assert done.returncode != 0
    assert "two files of one set" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_that_lacks_an_answer_is_refused(runs: tuple[Path, Path, Path]) -> None:
    path, before, after = runs
    before.write_text("".join(before.read_text("utf-8").splitlines(True)[1:]), "utf-8")
    with pytest.raises(InvalidInput, match="has no answer to 'q0'"):
        saved_runs.compared(data.read(path), [before, after])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("not JSON\n", "line 1"),
        ('{"corpus": "dev/x/y", "query": "q", "ranking": []}\n', "in common"),
        ('{"corpus": 1}\n', "line 1"),
    ],
)
def test_a_file_that_is_no_run_is_refused_in_one_sentence(
    runs: tuple[Path, Path, Path], tmp_path: Path, text: str, said: str
) -> None:
    path, before, _ = runs
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text(text, "utf-8")
    with pytest.raises(InvalidInput, match=said) as caught:
        saved_runs.compared(data.read(path), [before, wrong])
    assert "\n" not in caught.value.message


def test_a_saved_run_holds_score_and_relevance() -> None:
    answer = Found(ranking=("D1:1",), score=0.25, relevance=0.75)
    outcome = Outcome(evaluation=talk("one", asked("q")), found={"words": (answer,)})
    (line,) = saved_runs.lines([outcome], words())
    assert json.loads(line) == {
        "corpus": "dev/talks/one.turn",
        "query": "q",
        "ranking": ["D1:1"],
        "score": 0.25,
        "relevance": 0.75,
    }


def test_a_chart_of_each_group_shows_its_systems(
    runs: tuple[Path, Path, Path],
) -> None:
    path, before, after = runs
    outcomes = saved_runs.compared(data.read(path), [before, after])
    (chart,) = quality_report.charts(quality_figures.figures(outcomes))
    assert (chart.title, chart.unit) == ("dev/talks/turn", "R@10")
    assert chart.values == {"before": 0.0, "after": 1.0}


def test_a_plot_of_another_kind_is_refused_before_anything_is_measured(
    runs: tuple[Path, Path, Path], icm: Icm
) -> None:
    done = icm("bench-quality", str(runs[0]), "--plot", "figures.gif", **SETTINGS)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "a .png or an .svg file" in done.stderr
