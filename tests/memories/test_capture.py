"""Facts are stored once, capped where nobody looks, with the end kept if asked."""

from __future__ import annotations

import dataclasses

import pytest

from icm_site import conf
from icm_site.caller import Caller
from memories import capture
from memories.models import Memory
from memories.transcripts import Turn
from tests.conftest import Icm, Run
from tests.factories import AGENT, CALLER, FakeEmbedder

pytestmark = pytest.mark.django_db

DECISION = "We decided to use NATS JetStream because replays must survive a restart."
RULE = "Always run the formatter before committing anything."
HOOK = Caller(surface="hook", origin="hook", host="claude-code", project="shop")
PLAIN = "Nothing of interest was said here at all. " * 80


def captured(text: str, **options: object) -> capture.Captured:
    fields: dict[str, object] = {"caller": HOOK} | options
    return capture.capture(capture.read(text), **fields)  # type: ignore[arg-type]


def rows() -> list[tuple[str, str, str]]:
    found = Memory.objects.live().order_by("id")
    return [(row.topic, row.importance, row.summary) for row in found]


@pytest.mark.parametrize(
    ("caller", "importance"), [(CALLER, "high"), (AGENT, "medium"), (HOOK, "medium")]
)
def test_only_what_a_person_asks_for_is_above_medium(
    caller: Caller, importance: str
) -> None:
    captured(f"{DECISION} This is critical.", caller=caller)
    assert rows() == [("decisions-shop", importance, DECISION)]


def test_kinds_go_to_their_topics_with_a_tag_and_the_origin() -> None:
    captured(f"{DECISION}\n{RULE}")
    assert [row[0] for row in rows()] == ["decisions-shop", "preferences"]
    memory = Memory.objects.get(topic="preferences")
    assert memory.keywords == ["kind:preference"]
    assert (memory.origin, memory.host) == ("hook", "claude-code")


def test_without_a_project_the_topic_is_the_kind_alone() -> None:
    captured(DECISION, caller=dataclasses.replace(HOOK, project=""))
    assert rows()[0][0] == "decisions"


def test_the_same_text_again_adds_nothing() -> None:
    assert captured(DECISION).stored[0].created
    assert not captured(f"Some words before. {DECISION}").stored[0].created
    assert len(rows()) == 1


def test_a_dry_run_stores_nothing() -> None:
    assert captured(DECISION, dry_run=True).facts
    assert rows() == []


def test_secrets_are_masked_also_those_of_many_lines() -> None:
    key = "ghp_" + "a1B2c3D4" * 5
    captured(f"We decided to use the token {key} for the deployment server.")
    assert key not in rows()[0][2]
    body = "\n".join(["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj"] * 5)
    block = f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----"
    shown = captured(f"{DECISION}\n{block}", dry_run=True)
    assert [fact.text for fact in shown.facts] == [DECISION]


def test_the_end_of_a_text_without_facts_is_kept_if_asked() -> None:
    assert captured(PLAIN).raw is None
    assert captured("Too little.", store_raw=True).raw is None
    assert captured(PLAIN, store_raw=True).raw is not None
    ((topic, importance, summary),) = rows()
    assert (topic, importance) == ("context-shop", "low")
    assert len(summary.encode()) <= capture.RAW_BYTES


def test_the_kept_end_has_whole_characters_and_nothing_private() -> None:
    text = "今日は良い天気です" * 300 + "<private>secret plans of the team</private>"
    captured(text, store_raw=True)
    ((_, _, summary),) = rows()
    assert "�" not in summary and "secret" not in summary


def test_hooks_capture_as_the_configuration_says() -> None:
    said = [Turn("user", PLAIN)]
    assert capture.capture_unattended(said, caller=HOOK).raw is not None
    off = dataclasses.replace(conf.current().extraction, enabled=False)
    conf.use(dataclasses.replace(conf.current(), extraction=off))
    decided = [Turn("user", DECISION)]
    assert capture.capture_unattended(decided, caller=HOOK).facts == ()


def test_the_threshold_and_the_number_are_settings() -> None:
    few = dataclasses.replace(conf.current().extraction, max_facts=1)
    conf.use(dataclasses.replace(conf.current(), extraction=few))
    assert len(captured(f"{DECISION}\n{RULE}").facts) == 1
    strict = dataclasses.replace(few, min_score=90.0)
    conf.use(dataclasses.replace(conf.current(), extraction=strict))
    assert captured(DECISION).facts == ()


def test_facts_get_their_vectors(model: FakeEmbedder) -> None:
    captured(DECISION)
    assert Memory.objects.get().vectors.count() == 1


def test_the_command_shows_what_it_would_store_and_why(run: Run) -> None:
    done = run("extract", "-p", "Shop", "--dry-run", "-t", DECISION)
    first, second, third = done.out.splitlines()
    assert first == "Would extract 1 facts:"
    assert second == f"  [high decision] (decisions-shop) {DECISION}"
    assert "decision +4" in third
    assert rows() == []


def test_the_command_stores_and_says_how_many(run: Run) -> None:
    stored = run("extract", "-p", "shop", "-t", f"{DECISION} {RULE}")
    assert stored.out == "Extracted and stored 2 facts.\n"
    assert run("extract", "-t", "Hello there.").out == "No facts extracted.\n"
    kept = run("extract", "-p", "shop", "--store-raw", "-t", PLAIN)
    assert kept.out.startswith("No facts extracted. The end of the text")


def test_the_command_reads_standard_input_and_transcripts(icm: Icm) -> None:
    piped = icm("extract", "--dry-run", "-p", "shop", stdin=DECISION)
    assert DECISION in piped.stdout
    assert icm("extract", stdin="").stdout == "No facts extracted.\n"
    missing = icm("extract", "--transcript", "nowhere.jsonl")
    assert (missing.returncode, missing.stdout) == (1, "")


def test_what_a_type_checker_says_of_the_edited_text_is_not_captured_unattended(
    db: None,
) -> None:
    passing = (
        "src/a.ts(3,5): error TS2322: Type 'string' is not assignable to 'number'."
    )
    lasting = "src/a.ts(1,1): error TS2307: Cannot find module 'undici' or its types."
    for origin, count in (("hook", 1), ("user", 2)):
        caller = dataclasses.replace(CALLER, origin=origin)
        found = capture.capture(
            [Turn("tool", f"{passing}\n{lasting}")], caller=caller, dry_run=True
        )
        assert len(found.facts) == count
