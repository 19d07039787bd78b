"""The commands and tool calls that the published documents of ICM show."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from icm_site import mcp_tools
from icm_site.mcp_tools import Answer
from icm_site.registry import TOOLS
from memories import embedder
from memories.models import Memory
from tests.conftest import Icm, Outcome, Run
from tests.factories import AGENT, FakeEmbedder, make_memory

ULID = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")

# Tool -> required and optional arguments, as the architecture page lists them.
DOCUMENTED_TOOLS = {
    "icm_memory_store": (
        {"topic", "content"},
        {"importance", "keywords", "raw_excerpt"},
    ),
    "icm_memory_recall": ({"query"}, {"topic", "keyword", "limit"}),
    "icm_memory_update": ({"id"}, {"content", "importance", "keywords"}),
    "icm_memory_forget": ({"id"}, set()),
    "icm_memory_consolidate": ({"topic", "summary"}, set()),
    "icm_memory_list_topics": (set(), set()),
    "icm_memory_stats": (set(), set()),
    "icm_memory_health": (set(), {"topic"}),
    "icm_memory_embed_all": (set(), {"topic"}),
}


class TestReadme:
    """The block "store, recall, manage" of the front page, in its order."""

    STORE = (
        *("store", "-t", "my-project", "-c", "Use PostgreSQL for the main DB"),
        *("-i", "high", "-k", "db,postgres"),
    )

    @pytest.mark.django_db
    def test_store(self, run: Run) -> None:
        outcome = run(*self.STORE)
        assert re.fullmatch(rf"Stored: {ULID.pattern}\n", outcome.out)
        memory = Memory.objects.get()
        assert (memory.topic, memory.importance) == ("my-project", "high")
        assert memory.summary == "Use PostgreSQL for the main DB"
        assert memory.keywords == ["db", "postgres"]
        assert memory.usage.weight == 1.0

    @pytest.mark.django_db
    def test_recall(self, run: Run, model: FakeEmbedder) -> None:
        ulid = self.stored(run)
        outcome = run("recall", "database choice")
        assert (outcome.code, outcome.err) == (0, "")
        header, row = outcome.out.splitlines()
        assert header == "memories[1]{score,id,topic,importance,weight,summary}:"
        assert re.fullmatch(
            rf"  [01]\.\d{{3}},{ulid},my-project,high,1\.000,Use PostgreSQL for the "
            "main DB",
            row,
        )
        assert Memory.objects.get(ulid=ulid).usage.access_count == 1

    @pytest.mark.django_db
    def test_recall_with_topic_and_limit(self, run: Run, model: FakeEmbedder) -> None:
        for number in range(12):
            text = f"auth setup step{number} of login{number}"
            make_memory(text, topic="my-project", dedup=False)
        make_memory("auth setup elsewhere", topic="other")
        line = ("recall", "auth setup", "--topic", "my-project", "--limit", "10")
        rows = self.rows(run(*line, "-f", "json"))
        assert len(rows) == 10
        assert {row["topic"] for row in rows} == {"my-project"}

    @pytest.mark.django_db
    def test_recall_with_a_keyword(self, run: Run) -> None:
        make_memory("The architecture uses a queue.", keywords=["queue"])
        make_memory("The architecture keeps orders.", keywords=["Postgres"])
        line = ("recall", "architecture", "--keyword", "postgres", "-f", "json")
        assert [row["summary"] for row in self.rows(run(*line))] == [
            "The architecture keeps orders."
        ]

    @pytest.mark.django_db
    def test_forget(self, run: Run) -> None:
        ulid = self.stored(run)
        outcome = run("forget", ulid)
        assert outcome.out.startswith(f"Deleted: {ulid}\n")
        assert self.rows(run("recall", "PostgreSQL", "-f", "json")) == []
        missing = run("forget", "01ARZ3NDEKTSV4RRFFQ69G5FAV")
        assert missing.code == 1 and missing.err.startswith("Error: memory not found")

    @pytest.mark.django_db
    def test_consolidate(self, run: Run) -> None:
        self.stored(run)
        run("store", "-t", "my-project", "-c", "Deploy with Docker", "-i", "critical")
        run("store", "-t", "my-project", "-c", "Cache in Redis")
        outcome = run("consolidate", "--topic", "my-project")
        assert outcome.code == 0
        assert "Consolidated 2 memories from 'my-project' into 1" in outcome.out
        texts = set(Memory.objects.live().values_list("summary", flat=True))
        assert texts == {
            "Deploy with Docker",
            "Use PostgreSQL for the main DB | Cache in Redis",
        }

    @pytest.mark.django_db
    def test_topics_and_stats(self, run: Run) -> None:
        self.stored(run)
        topics = run("topics").out
        assert re.search(r"my-project +.+ 1 ", topics)
        stats = run("stats").out
        assert stats.startswith("Memories: 1\nTopics: 1\nAverage weight: 1.000\n")
        assert re.search(r"^Oldest: \d{4}-\d\d-\d\d \d\d:\d\d$", stats, re.MULTILINE)

    def stored(self, run: Run) -> str:
        found = ULID.search(run(*self.STORE).out)
        assert found is not None
        return found[0]

    def rows(self, outcome: Outcome) -> list[dict[str, object]]:
        assert outcome.code == 0, outcome
        return list(json.loads(outcome.out))


@pytest.mark.django_db
class TestOtherCommands:
    """The commands that the architecture page lists beside those above."""

    def test_health_decay_prune(self, run: Run) -> None:
        assert run("health").out == "No topics yet.\n"
        make_memory("one", topic="my-project")
        health = run("health").out
        assert "my-project" in health and "healthy" in health
        decay = run("decay").out
        assert decay == "Decay applied (factor=0.95) to 1 memories.\n"
        assert Memory.objects.get().usage.weight == pytest.approx(0.95)
        assert run("prune", "--threshold", "0.1").code == 0
        assert Memory.objects.live().count() == 1

    def test_embed(self, run: Run, model: FakeEmbedder) -> None:
        make_memory("one")
        assert run("embed").out == "Embedded 1/1 memories (0 errors).\n"
        assert run("embed").out == "All memories already have embeddings.\n"

    def test_a_topic_of_more_than_seven_entries_gets_a_hint(self, run: Run) -> None:
        for number in range(7):
            make_memory(f"fact about word{number}", topic="my-project")
        outcome = run("store", "-t", "my-project", "-c", "An eighth entry")
        assert "now holds 8 memories; consider merging them" in outcome.out


class TestDocumentedTools:
    @pytest.mark.parametrize("name", DOCUMENTED_TOOLS)
    def test_a_tool_takes_the_documented_arguments(self, name: str) -> None:
        required, optional = DOCUMENTED_TOOLS[name]
        schema = mcp_tools.input_schema(*TOOLS[name])
        assert set(schema.get("required", [])) == required
        assert required | optional <= set(schema["properties"])

    @pytest.mark.django_db
    def test_store_recall_update_forget(self) -> None:
        stored = self.answer(
            "icm_memory_store",
            topic="decisions-shop",
            content="Use PostgreSQL for the main DB",
            importance="high",
            keywords=["db", "postgres"],
            raw_excerpt="ADR 7",
        )
        assert stored.startswith("Stored memory: ")
        found = ULID.search(stored)
        assert found is not None
        ulid = found[0]
        recalled = self.answer("icm_memory_recall", query="PostgreSQL", limit=5)
        assert re.match(rf"--- {ulid} \[score: [01]\.\d{{3}}\] ---\n", recalled)
        for line in (
            "topic: decisions-shop",
            "importance: high",
            "weight: 1.000",
            "summary: Use PostgreSQL for the main DB",
            "keywords: db, postgres",
            "raw: ADR 7",
        ):
            assert f"\n{line}\n" in recalled
        updated = self.answer(
            "icm_memory_update",
            id=ulid,
            content="Use PostgreSQL 17",
            importance="critical",
            keywords=["db"],
        )
        assert updated.startswith(f"Updated memory: {ulid}")
        deleted = self.answer("icm_memory_forget", id=ulid)
        assert deleted.startswith(f"Deleted memory: {ulid}")
        nothing = self.answer("icm_memory_recall", query="PostgreSQL")
        assert nothing == "No memories found."

    @pytest.mark.django_db
    def test_compact_answers(self) -> None:
        done = self.call("icm_memory_store", compact=True, topic="t", content="A fact.")
        assert re.fullmatch(rf"ok:{ULID.pattern}", done.text)
        found = self.call("icm_memory_recall", compact=True, query="fact", project="")
        assert found.text.startswith("[t] A fact.")

    @pytest.mark.django_db
    def test_the_same_text_updates_instead_of_adding(self) -> None:
        given = {"topic": "decisions-shop", "content": "We deploy on Tuesdays."}
        self.answer("icm_memory_store", **given)
        again = self.answer("icm_memory_store", **given)
        assert again.startswith("Updated existing memory (similarity 1.00): ")
        close = given | {"content": "We deploy on Tuesdays!"}
        again = self.answer("icm_memory_store", **close)
        assert again.startswith("Updated existing memory (similarity ")
        assert Memory.objects.live().count() == 1

    @pytest.mark.django_db
    def test_the_rest(self, model: FakeEmbedder) -> None:
        make_memory("one", topic="a")
        make_memory("two", topic="a:b")
        topics = self.answer("icm_memory_list_topics")
        assert topics.startswith("Topics:\n  a (1)")
        assert "Memories: 2" in self.answer("icm_memory_stats")
        assert "a" in self.answer("icm_memory_health", topic="a")
        done = self.answer("icm_memory_embed_all", topic="a")
        assert "1/1" in done
        merged = self.answer("icm_memory_consolidate", topic="a", summary="both")
        assert merged.startswith("Consolidated topic: a")

    @pytest.mark.django_db
    @pytest.mark.parametrize(
        ("tool", "given", "sentence"),
        [
            ("icm_memory_store", {"topic": "t"}, "missing required field: content"),
            ("icm_memory_store", {"topic": "", "content": "x"}, "topic must not be"),
            ("icm_memory_recall", {}, "missing required field: query"),
            ("icm_memory_forget", {}, "missing required field: id"),
            ("icm_memory_forget", {"id": "x"}, "memory not found: x"),
            ("icm_nothing", {}, "unknown tool: icm_nothing"),
        ],
    )
    def test_a_failure_is_a_sentence(
        self, tool: str, given: dict[str, Any], sentence: str
    ) -> None:
        answer = self.call(tool, **given)
        assert answer.failed and sentence in answer.text

    def call(self, name: str, *, compact: bool = False, **given: object) -> Answer:
        return mcp_tools.call(name, given, caller=AGENT, compact=compact)

    def answer(self, name: str, **given: Any) -> str:
        done = self.call(name, **given)
        assert not done.failed, done.text
        return done.text


@pytest.mark.slow
class TestProcesses:
    """What the documents say of models, places and variables, run for real."""

    STORE = TestReadme.STORE

    @pytest.mark.skipif(
        bool(embedder.packaged_reason()), reason="the packaged model does not run here"
    )
    def test_search_by_meaning_works_at_once_and_offline(self, icm: Icm) -> None:
        offline = {"ICM_NO_EMBEDDINGS": "", "HTTPS_PROXY": "http://192.0.2.1:9"}
        assert icm(*self.STORE, **offline).returncode == 0
        found = icm("recall", "database choice", **offline)
        assert (found.returncode, found.stderr) == (0, "")
        assert "Use PostgreSQL for the main DB" in found.stdout
        stats = icm("stats", **offline).stdout
        assert "With a vector: 1 of 1\n" in stats

    def test_three_ways_to_do_without_a_model(
        self, icm: Icm, environment: dict[str, str]
    ) -> None:
        file = Path(environment["XDG_CONFIG_HOME"]) / "icm-memory" / "config.toml"
        file.parent.mkdir(parents=True)
        on = {"ICM_NO_EMBEDDINGS": ""}
        assert icm("--no-embeddings", *self.STORE, **on).returncode == 0
        assert icm("store", "-t", "a", "-c", "Two.").returncode == 0
        file.write_text("[embeddings]\nenabled = false\n")
        assert icm("store", "-t", "a", "-c", "Three.", **on).returncode == 0
        with closing(sqlite3.connect(environment["ICM_DB"])) as opened:
            count = "SELECT count(*) FROM memory_vectors"
            assert opened.execute(count).fetchone() == (0,)
        assert "Use PostgreSQL" in icm("recall", "main DB", **on).stdout

    @pytest.mark.parametrize(
        "model",
        [
            "intfloat/multilingual-e5-base",
            "jinaai/jina-embeddings-v2-base-code",
        ],
    )
    def test_a_documented_model_that_is_not_there_leaves_the_words(
        self, icm: Icm, environment: dict[str, str], model: str
    ) -> None:
        file = Path(environment["XDG_CONFIG_HOME"]) / "icm-memory" / "config.toml"
        file.parent.mkdir(parents=True)
        file.write_text(f'[embeddings]\nmodel = "{model}"\n')
        offline = {"ICM_NO_EMBEDDINGS": "", "HTTPS_PROXY": "http://192.0.2.1:9"}
        assert icm(*self.STORE, **offline).returncode == 0
        status = icm("embeddings", "status", **offline).stdout
        assert f"fastembed/{model}" in status and "not available" in status
        assert "Use PostgreSQL" in icm("recall", "main DB", **offline).stdout

    def test_variables_name_the_configuration_and_the_database(
        self, icm: Icm, tmp_path: Path
    ) -> None:
        file = tmp_path / "my.toml"
        file.write_text('[memory]\ndefault_importance = "low"\n')
        variables = {"ICM_CONFIG": str(file), "ICM_DB": str(tmp_path / "my.sqlite3")}
        shown = icm("config", **variables).stdout
        assert shown.startswith(f"Config file: {file} (loaded)\n")
        assert f"Database: {tmp_path}/my.sqlite3 (environment)" in shown
        assert re.search(r'^memory.default_importance = "low" +\(file\)$', shown, re.M)
        icm("store", "-t", "t", "-c", "A fact.", **variables)
        (row,) = json.loads(icm("list", "-a", "-f", "json", **variables).stdout)
        assert row["importance"] == "low"
