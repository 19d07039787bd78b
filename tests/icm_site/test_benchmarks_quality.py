import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from icm_site.benchmarks import quality, quality_figures, quality_run
from icm_site.benchmarks.data import Document, Evaluation, Query
from icm_site.benchmarks.quality_figures import Figures
from icm_site.benchmarks.quality_report import as_json
from icm_site.benchmarks.systems import Outcome, System, with_model, words
from icm_site.errors import InvalidInput, UsageError
from memories.models import Memory
from tests.conftest import Icm
from tests.factories import FakeEmbedder, make_memory

TALK = Evaluation(
    name="talk.turn",
    set="locomo",
    split="dev",
    lang="en",
    corpus=(
        Document(id="D1:1", text="The vehicle stands in the yard.", topic="talk"),
        Document(id="D1:2", text="We drink espresso at noon.", topic="talk"),
        Document(id="D2:1", text="Postgres holds the orders.", topic="talk"),
        Document(id="D2:2", text="The vehicle stands in the yard.", topic="talk"),
        Document(id="D3:1", text="Nothing else was said on Monday."),
    ),
    queries=(
        Query(id="q1", text="orders", relevant=("D2:1",), kind="word"),
        Query(id="q2", text="truck", relevant=("D2:2",), kind="meaning"),
        Query(id="q3", text="tea", relevant=("D1:2",), forbidden=("D1:1",)),
        Query(id="q4", text="zebra", relevant=()),
    ),
)
# The settings of the tests would drop the variables of a process of its own.
SETTINGS = {"DJANGO_SETTINGS_MODULE": "icm_site.settings"}
WORDS = words()
SYSTEMS = (WORDS, with_model("default"))


class CountingEmbedder(FakeEmbedder):
    """Counts the texts it was asked for."""

    asked = 0

    def embed_texts(self, texts: Sequence[str]) -> Any:
        self.asked += len(texts)
        return super().embed_texts(texts)


def answer(
    folder: Path,
    evaluation: Evaluation = TALK,
    systems: Sequence[System] = SYSTEMS,
) -> tuple[Outcome, dict[str, int]]:
    done: dict[str, int] = {}

    def tick(step: str, count: int) -> None:
        done[step] = done.get(step, 0) + count

    outcome = quality_run.run(
        evaluation,
        systems,
        path=folder / "icm.sqlite3",
        vectors=folder / "bench" / "vectors.sqlite3",
        tick=tick,
    )
    return outcome, done


@pytest.mark.django_db
def test_words_find_words_and_the_model_finds_meaning_too(
    tmp_path: Path, model: FakeEmbedder
) -> None:
    outcome, done = answer(tmp_path)
    lexical, meaning = outcome.found["words"], outcome.found["model"]
    assert lexical[0].ranking == ("D2:1",)
    assert lexical[1].ranking == ()
    assert lexical[1].score == 0.0
    assert meaning[0].ranking[0] == "D2:1"
    # Equal texts are one memory, which stands for both documents.
    assert meaning[1].ranking[:2] == ("D1:1", "D2:2")
    assert meaning[2].ranking[0] == "D1:2"
    assert 0 < meaning[1].score <= 1
    assert done == {"store": 5, "embed": 4, "ask": 8}
    assert outcome.unembedded == 0


@pytest.mark.django_db
def test_the_database_in_use_is_not_touched(
    tmp_path: Path, model: FakeEmbedder
) -> None:
    usual = settings.DATABASE_PATH
    make_memory("orders are kept by the shop")
    answer(tmp_path)
    assert usual == settings.DATABASE_PATH
    assert [memory.summary for memory in Memory.objects.all()] == [
        "orders are kept by the shop"
    ]


@pytest.mark.django_db
def test_the_database_comes_back_after_a_text_that_cannot_be_stored(
    tmp_path: Path,
) -> None:
    corpus = (Document(id="bad", text="   "),)
    broken = Evaluation(name="n", set="s", split="dev", corpus=corpus, queries=())
    with pytest.raises(InvalidInput, match=r"^dev/s/n: document 'bad': content must"):
        answer(tmp_path, broken, [WORDS])
    assert Memory.objects.count() == 0


@pytest.mark.django_db
@pytest.mark.parametrize(("sessions", "stored"), [(True, ["S1", "S2"]), (False, [""])])
def test_the_session_of_a_text_is_stored_unless_it_is_not_wanted(
    tmp_path: Path, sessions: bool, stored: list[str]
) -> None:
    talk = replace(TALK, corpus=TALK.corpus[:3], queries=TALK.queries[:1])
    seen: set[str] = set()

    def look(step: str, count: int) -> None:
        seen.update(Memory.objects.values_list("agent_session", flat=True))

    quality_run.run(
        talk,
        [WORDS],
        path=tmp_path / "icm.sqlite3",
        vectors=tmp_path / "bench" / "vectors.sqlite3",
        tick=look,
        sessions=sessions,
    )
    assert sorted(seen) == stored


@pytest.mark.django_db
def test_a_second_run_asks_the_model_for_nothing(
    tmp_path: Path, model: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting = CountingEmbedder()
    monkeypatch.setattr("memories.embedder.MODELS._loader", lambda name: counting)
    first, _ = answer(tmp_path)
    assert counting.asked == 4 + 4
    (tmp_path / "icm.sqlite3").unlink()
    second, _ = answer(tmp_path)
    assert counting.asked == 4 + 4
    assert second == first


def figures_of(
    outcomes: Sequence[Outcome], **options: bool
) -> dict[tuple[str, str], Figures]:
    lines = quality_figures.figures(outcomes, **options)
    return {(line.group, line.system): line for line in lines}


@pytest.mark.django_db
def test_figures_hold_means_kinds_scores_and_paired_differences(
    tmp_path: Path, model: FakeEmbedder
) -> None:
    outcome, _ = answer(tmp_path)
    found = figures_of([outcome])
    assert list(found) == [
        ("dev/locomo/turn", "words"),
        ("dev/locomo/turn", "model"),
        ("dev/locomo/turn by session", "words"),
        ("dev/locomo/turn by session", "model"),
    ]
    lexical = found["dev/locomo/turn", "words"]
    meaning = found["dev/locomo/turn", "model"]
    assert (lexical.documents, lexical.queries, lexical.abstentions) == (5, 3, 1)
    assert lexical.means["R@5"] == pytest.approx(1 / 3)
    assert meaning.means["R@5"] == pytest.approx(1.0)
    assert lexical.kinds["word"][1]["R@1"] == 1.0
    assert lexical.forbidden == (1, 0.0)
    assert lexical.differences == {}
    assert meaning.differences["R@10"].mean == pytest.approx(2 / 3)
    assert (lexical.answerable.count, lexical.unanswerable.count) == (3, 1)
    by_session = found["dev/locomo/turn by session", "words"]
    assert by_session.documents == 3
    assert set(found["dev/locomo/turn by session", "model"].differences) == {
        "any@5",
        "any@10",
    }


@pytest.mark.django_db
def test_languages_are_summed_up_and_grains_are_not(tmp_path: Path) -> None:
    def one(name: str, lang: str) -> Outcome:
        (tmp_path / name).mkdir()
        other = Evaluation(
            name=name, set="quad", lang=lang, corpus=TALK.corpus, queries=TALK.queries
        )
        return answer(tmp_path / name, other, [WORDS])[0]

    found = figures_of([one("zh-zh", "zh"), one("th-th", "th")])
    assert [group for group, _ in found] == ["/quad/zh", "/quad/th", "/quad (all)"]
    assert found["/quad (all)", "words"].queries == 6
    with pytest.raises(InvalidInput, match="names its session"):
        figures_of([one("el-el", "el")], sessions_only=True)


@pytest.mark.django_db
def test_figures_that_do_not_exist_are_null_in_json(tmp_path: Path) -> None:
    certain = Evaluation(
        name="n", set="s", corpus=TALK.corpus, queries=TALK.queries[:1]
    )
    outcome, _ = answer(tmp_path, certain, [WORDS])
    report = as_json(quality_figures.figures([outcome]), version="1")
    (line,) = json.loads(json.dumps(report, allow_nan=False))["figures"]
    assert (line["auc"], line["forbidden"]) == (None, None)
    assert line["unanswerable"]["median"] is None
    assert line["means"]["MRR"] == 1.0


@pytest.fixture
def file(tmp_path: Path) -> Path:
    whole = {
        "name": TALK.name,
        "set": TALK.set,
        "split": TALK.split,
        "corpus": [{"id": d.id, "text": d.text, "topic": d.topic} for d in TALK.corpus],
        "queries": [
            {"id": q.id, "text": q.text, "relevant": q.relevant, "kind": q.kind}
            for q in TALK.queries
        ],
    }
    path = tmp_path / "talk.json"
    path.write_text(json.dumps(whole), encoding="utf-8")
    return path


@pytest.mark.slow
def test_the_command_prints_tables_and_writes_rankings(
    icm: Icm, file: Path, tmp_path: Path
) -> None:
    run, report = tmp_path / "run.jsonl", tmp_path / "report.json"
    done = icm(
        *("bench-quality", str(file), "--no-model", "--by-kind"),
        *("--run", str(run), "--json", str(report)),
        **SETTINGS,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "dev/locomo/turn by session" in done.stdout
    assert "- word" in done.stdout
    first = json.loads(run.read_text("utf-8").splitlines()[0])
    assert first == {
        "corpus": "dev/locomo/talk.turn",
        "query": "q1",
        "ranking": ["D2:1"],
        "score": first["score"],
        "relevance": first["relevance"],
    }
    assert len(json.loads(report.read_text("utf-8"))["figures"]) == 2
    assert not (tmp_path / "icm.sqlite3").exists()


@pytest.mark.slow
def test_the_command_says_what_is_wrong_in_one_line(icm: Icm, file: Path) -> None:
    gone = icm("bench-quality", "gone")
    assert (gone.returncode, gone.stderr) == (
        1,
        "Error: there is no file or folder gone\n",
    )
    with pytest.raises(UsageError, match="'0' is no whole number from 1 up"):
        quality.main([str(file), "--limit", "0"])
    off = icm("bench-quality", str(file), "--limit", "1", **SETTINGS)
    assert off.returncode == 0
    assert off.stderr == "words alone: embeddings are switched off\n"
