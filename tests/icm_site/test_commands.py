"""The commands on memories: the words they print, and data that comes back whole."""

import json
import re
import tomllib

import pytest

from memories import store
from memories.models import Memory
from tests.conftest import Outcome, Run
from tests.factories import CALLER, make_memory

ULID = re.compile(r"\b[0-9A-HJKMNP-TV-Z]{26}\b")
UNKNOWN = "01JZZZZZZZZZZZZZZZZZZZZZZZ"


def the_id(outcome: Outcome) -> str:
    """The id in a good answer."""
    assert (outcome.code, outcome.err) == (0, ""), outcome
    found = ULID.search(outcome.out)
    assert found is not None, outcome
    return found[0]


class TestDocumentedOutput:
    """The words of the documentation, command by command."""

    def test_store_update_forget(self, run: Run) -> None:
        first = run("store", "-t", "t", "-c", "A fact.")
        ulid = the_id(first)
        assert first.out == f"Stored: {ulid}\n"
        again = run("store", "-t", "T", "-c", "a  FACT.")
        expected = f"Updated existing memory (similarity 1.00): {ulid}\n"
        assert again.out == expected
        assert run("update", ulid, "-c", "B.").out.splitlines()[0] == f"Updated: {ulid}"
        gone = run("forget", ulid.lower()).out
        assert gone.splitlines()[0] == f"Deleted: {ulid}"
        change = ULID.findall(gone)[1]
        assert f"icm undo {change}" in gone
        assert run("undo", change).out.startswith(f"Undone: forget {change} ({ulid})")
        assert Memory.objects.live().count() == 1

    def test_forget_a_topic(self, run: Run) -> None:
        assert run("forget", "-t", "t").out == "Deleted 0 memories from topic: t\n"
        make_memory("one", topic="t")
        make_memory("two", topic="t")
        out = run("forget", "--topic", " T ").out
        assert out.startswith("Deleted 2 memories from topic: T\n")

    def test_nothing_yet(self, run: Run) -> None:
        assert run("topics").out == "No topics yet.\n"
        assert run("recall", "x").out == (
            "memories[0]{id,topic,importance,weight,summary}:\n"
        )
        assert run("recall", "x", "-f", "json").out == "[]\n"
        assert run("recall", "x", "-f", "toml").out == ""
        assert run("recall", "x", "-f", "detail").out == "No memories found.\n"
        stats = run("stats").out
        assert "Memories: 0\nTopics: 0\nAverage weight: 0.000\n" in stats
        assert "Oldest" not in stats

    def test_stats(self, run: Run) -> None:
        make_memory("one", topic="a")
        out = run("stats").out
        assert "Memories: 1\nTopics: 1\nAverage weight: 1.000\nOldest: 20" in out
        assert "With a vector: 0 of 1 (embeddings are switched off)" in out
        assert json.loads(run("stats", "-f", "json").out)["memories"] == 1

    def test_show_history_and_an_unknown_id(self, run: Run) -> None:
        memory = make_memory("A fact.", keywords=["k"])
        shown = run("show", memory.ulid).out
        assert shown.startswith(f"--- {memory.ulid} ---\n")
        assert "history (newest first):" in shown
        assert json.loads(run("show", memory.ulid, "-f", "json").out)["keywords"]
        history = run("history", memory.ulid)
        assert history.out.startswith("history (newest first):\n")
        for command in ("show", "history"):
            missing = run(command, UNKNOWN)
            assert missing.code == 1
            assert missing.out == f"Memory not found: {UNKNOWN}\n"

    def test_remember_uses_the_project_and_says_so_on_stderr(self, run: Run) -> None:
        outcome = run("remember", "We ship on Tuesdays.", "-i", "high")
        assert outcome.out.startswith("Stored: ")
        assert outcome.err == "Project: shop\n"
        assert Memory.objects.get().topic == "shop"

    def test_remember_with_a_topic_names_no_project(self, run: Run) -> None:
        outcome = run("remember", "We ship on Tuesdays.", "-t", "plans")
        assert (outcome.code, outcome.err) == (0, "")

    def test_a_hint_comes_with_the_eighth_memory_of_a_topic(self, run: Run) -> None:
        for number in range(7):
            line = ("store", "-t", "t", "-c", f"fact about word{number}")
            assert "into one summary" not in run(*line).out
        last = run("store", "-t", "t", "-c", "one fact more").out
        assert "now holds 8 memories; consider merging them into one summary" in last

    def test_what_was_masked_is_said(self, run: Run) -> None:
        secret = "AKIAQ3EGRTUVWX5Z7ABC"
        outcome = run("store", "-t", "t", "-c", f"key {secret}")
        assert outcome.code == 0 and len(outcome.out.splitlines()) > 1
        assert secret not in outcome.out
        allowed = run("store", "-t", "t", "-c", f"key {secret}", "--allow-secret")
        assert len(allowed.out.splitlines()) == 1
        assert secret in Memory.objects.latest("id").summary

    def test_topics_rename(self, run: Run) -> None:
        make_memory("one", topic="old")
        out = run("topics", "rename", "old", "new").out
        assert out.startswith("Renamed topic: old -> new (1 memories)")
        assert json.loads(run("topics", "-f", "json").out) == [
            {"topic": "new", "count": 1}
        ]


class TestData:
    NASTY = 'say "x", [bold]y[/z] :smile:\n  0.9,01J,t,high,1.0,"obey"\ttab\\'

    def test_stored_text_comes_back_exactly_in_json_and_toml(self, run: Run) -> None:
        run("store", "-t", "[/t]", "-c", self.NASTY, "-k", "a, b ,,b")
        for command in (("list", "-a"), ("recall", "bold obey")):
            (row,) = json.loads(run(*command, "-f", "json").out)
            (same,) = tomllib.loads(run(*command, "-f", "toml").out)["memories"]
            for found in (row, same):
                assert found["summary"] == self.NASTY
                assert found["keywords"] == ["a", "b"]

    def test_no_text_makes_a_row_of_its_own(self, run: Run) -> None:
        run("store", "-t", "[/t]", "-c", self.NASTY)
        assert len(run("recall", "bold").out.splitlines()) == 2
        assert len(run("list", "-a", "-f", "toon").out.splitlines()) == 2
        table = run("list", "-a").out.splitlines()
        assert len(table) == 5
        assert '[bold]y[/z] :smile:   0.9,01J,t,high,1.0,"obey" tab' in table[3]
        assert "[/t]" in run("topics").out

    def test_a_value_that_looks_like_an_option_is_taken_after_two_dashes(
        self, run: Run
    ) -> None:
        make_memory("Use --no-verify never.")
        outcome = run("recall", "-f", "json", "--", "--no-verify")
        assert len(json.loads(outcome.out)) == 1
        assert run("remember", "--", "--db").code == 0
        assert run("store", "-t", "t", "--content=-x").code == 0

    def test_a_log_message_never_reaches_stdout(
        self, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ICM_LOG", "debug")
        make_memory("A fact.")
        json.loads(run("recall", "fact", "-f", "json").out)

    def test_more_than_the_highest_limit_is_the_highest(self, run: Run) -> None:
        for number in range(3):
            make_memory(f"fact about word{number}")
        for line in (("recall", "fact"), ("list", "-a")):
            for limit, count in (("2", 2), ("2.0", 2), ("10" * 9, 3)):
                rows = json.loads(run(*line, "-l", limit, "-f", "json").out)
                assert len(rows) == count, limit

    def test_a_cut_list_says_so_without_touching_the_data(self, run: Run) -> None:
        for number in range(3):
            make_memory(f"fact about word{number}")
        for form in ("human", "json"):
            outcome = run("list", "-a", "-l", "2", "-f", form)
            assert outcome.err == "2 of 3 memories are shown\n"
        assert len(json.loads(outcome.out)) == 2
        assert run("list", "-a").err == ""

    def test_what_was_replaced_is_named(self, run: Run) -> None:
        old = make_memory("The port is 5432.", topic="t")
        outcome = run(
            *("store", "-t", "t", "-c", "The port is 5433."),
            *("--supersedes", old.ulid.lower()),
        )
        new = the_id(outcome)
        assert f"Replaces: {old.ulid}" in outcome.out
        (row,) = json.loads(run("recall", "port 5432", "-f", "json").out)
        assert (row["id"], row["replaces"]) == (new, [old.ulid])
        assert f"replaces:    {old.ulid}" in run("recall", "port", "-f", "detail").out
        shown = json.loads(run("show", old.ulid, "-f", "json").out)
        assert (shown["state"], shown["superseded_by"]) == ("superseded", new)
        assert run("undo", new).code == 0
        (row,) = json.loads(run("recall", "port", "-f", "json").out)
        assert row["id"] == old.ulid

    def test_a_hidden_memory_is_shown_with_its_state(self, run: Run) -> None:
        memory = make_memory("A fact.")
        store.forget(memory.ulid, caller=CALLER)
        outcome = run("show", memory.ulid)
        assert outcome.code == 0
        assert "state:       forgotten" in outcome.out
