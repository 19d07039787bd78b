"""docs/comparison.md: what it says of ICM is checked against the code, cell by cell."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.urls import resolve
from django.utils import timezone

from icm_site import cli, command_modules, mcp_http
from icm_site.conf_keys import KEYS
from icm_site.hooks import capture, contracts
from icm_site.hooks.verbs import VERBS
from icm_site.hosts.catalog import TOOLS as HOSTS
from icm_site.registry import COMMANDS, OPERATIONS, TOOLS
from memoirs import export
from memoirs.relations import Relation
from memories import decay, embedder, history, periods, rank, recall, redact, store
from memories.models import Importance, Memory, Suggestion
from memories.schemas import StoreParams
from memories.token_schemas import TokenCreateParams
from tests.factories import CALLER, make_memory

PROJECT = Path(__file__).resolve().parent.parent
PAGE = (PROJECT / "docs/comparison.md").read_text("utf-8")
METADATA = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
MODELS_OF_OTHERS = (
    "openai",
    "anthropic",
    "litellm",
    "ollama",
    "langchain",
    "google-gen",
)
MARKS = ("yes", "partly", "no")


def rows(heading: str) -> Iterator[list[str]]:
    """The rows of the first table below a heading, without its head."""
    body = PAGE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in body.splitlines() if line.startswith("| ")]
    for line in lines[2:]:
        yield [cell.strip() for cell in line.strip("|").split("|")]


def packages() -> set[str]:
    return {re.split(r"[^\w.-]", d, maxsplit=1)[0] for d in METADATA["dependencies"]}


def commands() -> set[str]:
    return {*command_modules.COMMANDS, *(" ".join(words) for words in COMMANDS)}


def mark(holds: bool, otherwise: str = "no") -> str:
    return "yes" if holds else otherwise


def no_language_model(_text: str) -> str:
    needs = {name for name in packages() if name.startswith(MODELS_OF_OTHERS)}
    settings_of_one = {
        key for key in KEYS if re.search(r"llm|api_key|prompt_model", key)
    }
    return mark(not needs and not settings_of_one)


def no_model(text: str) -> str:
    memory = make_memory("Orders live in Postgres.")
    found = recall.recall(query="orders postgres", limit=1)
    assert "--no-embeddings" in text
    assert "--no-embeddings" in cli.GLOBALS
    return mark([hit.memory for hit in found.hits] == [memory])


def fusions(text: str) -> str:
    assert tuple(re.findall(r"`(\w+)`", text)) == rank.ENGINES
    return "yes"


def languages(text: str) -> str:
    make_memory("注文はPostgresに保存される。")
    assert f"`{embedder.PACKAGED}`" in text
    return mark(bool(recall.recall(query="注文の保存", limit=1).hits))


def re_ranker(_text: str) -> str:
    return mark(any("rerank" in name for name in {*KEYS, *packages()}))


def period(text: str) -> str:
    named = re.findall(r'"([^"]+)"', text)
    now = datetime(2026, 5, 5)
    return mark(len(named) == 3 and all(periods.named(words, now) for words in named))


def validity(text: str) -> str:
    fields = {field.name for field in Memory._meta.get_fields()}
    assert {"occurred_at", "created_at"} <= fields
    assert "no valid-until, no reading as of a date" in text
    return mark(any("valid" in name for name in fields), "partly")


def fading(_text: str) -> str:
    def after(importance: Importance, times: int) -> float:
        return decay.decayed(1, importance=importance, access_count=times, days=30)

    slower = after(Importance.MEDIUM, 0) < after(Importance.MEDIUM, 5) < 1
    return mark(slower and after(Importance.CRITICAL, 0) == 1)


def consolidation(text: str) -> str:
    summary = OPERATIONS["memory_consolidate"].params.model_fields["summary"]
    assert ("without a summary the texts are joined" in text) != summary.is_required()
    return mark("consolidate" in commands())


def graph(text: str) -> str:
    counts = [int(number) for number in re.findall(r"\d+", text)]
    assert counts == [len(Relation), len(export.EXPORTERS)]
    return "yes"


def feedback(text: str) -> str:
    named = re.findall(r"`(?:icm feedback )?(\w+)`", text)
    return mark(all(f"feedback {name}" in commands() for name in named))


def conflicts(text: str) -> str:
    old = make_memory("Orders live in MySQL.")
    new = make_memory("Orders live in Postgres.", supersedes=old.ulid)
    found = recall.recall(query="where do orders live", limit=5)
    assert "supersedes" in StoreParams.model_fields
    assert set(re.findall(r"`([a-z]\w+)`", text)) == set(Suggestion.Kind.values)
    return mark(found.hits[0].memory == new)


def undo(_text: str) -> str:
    memory = make_memory()
    store.forget(memory.ulid, caller=CALLER)
    history.undo(memory.ulid, caller=CALLER, now=timezone.now())
    memory.refresh_from_db()
    return mark(memory.state == "live" and "purge" in commands())


def secrets(_text: str) -> str:
    memory = make_memory("The key is ghp_" + "A1b2C3d4E5" * 3 + "F6a7b8")
    return mark("ghp_" not in memory.summary and bool(redact.redact("x")))


def hooks(text: str) -> str:
    with_hooks = [tool for tool in HOSTS if not tool.instead_of_hooks()]
    count, names = text.split(" tools: ")
    assert int(count) == len(with_hooks)
    assert set(names.split(", ")) == {tool.title for tool in with_hooks}
    return mark(len(with_hooks) == len(HOSTS), "partly")


def setting_up(text: str) -> str:
    assert text == f"`icm init`: {len(HOSTS)} tools"
    return mark("init" in commands())


def capturing(_text: str) -> str:
    afterwards = [VERBS[verb].after for verb in ("post", "compact", "end")]
    ours = [capture.after_tool, capture.before_compaction, capture.at_end]
    return mark(afterwards == ours)


def mcp_tools(text: str) -> str:
    lean = sum(tool.lean for _, tool in TOOLS.values())
    assert [int(n) for n in re.findall(r"\d+", text)] == [len(TOOLS), lean]
    return "yes"


def http(text: str) -> str:
    named = re.findall(r"`(/\w+)/?`", text)
    assert named == ["/api", "/ops", mcp_http.PATH]
    assert resolve("/ops/memory_recall")
    assert resolve("/api/openapi.json")
    return mark(bool(resolve("/api/")))


def browser(_text: str) -> str:
    return mark("web" in commands() and resolve("/").url_name == "dashboard")


def terminal(_text: str) -> str:
    return mark("dashboard" in commands())


def tokens(_text: str) -> str:
    assert "read_only" in TokenCreateParams.model_fields
    return mark("token create" in commands() and bool(resolve("/admin/login/")))


def users(_text: str) -> str:
    owners = [
        f for f in Memory._meta.get_fields() if f.related_model is get_user_model()
    ]
    return mark(bool(owners))


def sync(_text: str) -> str:
    return mark(any("sync" in name for name in {*commands(), *KEYS}))


def backup(_text: str) -> str:
    assert {"backup", "doctor"} <= commands()
    return mark("repair" in commands(), "partly")


def exchange(_text: str) -> str:
    assert {"memoir export", "list"} <= commands()
    return mark({"import", "export"} <= commands(), "partly")


def runtime(text: str) -> str:
    version = METADATA["requires-python"].removeprefix(">=")
    assert f"Python {version} or newer" in text
    return mark(settings.DATABASES["default"]["ENGINE"] == "icm_site.sqlite")


CHECKS: dict[str, Callable[[str], str]] = {
    "works without a language model": no_language_model,
    "works without any model": no_model,
    "words and meaning in one search": fusions,
    "other languages": languages,
    "re-ranker": re_ranker,
    "periods in a question": period,
    "validity in time": validity,
    "fading": fading,
    "consolidation": consolidation,
    "graph": graph,
    "feedback": feedback,
    "conflicts": conflicts,
    "undo": undo,
    "secrets masked": secrets,
    "memories put before the agent by hooks": hooks,
    "one command sets up the tools": setting_up,
    "capture without a language model": capturing,
    "MCP tools": mcp_tools,
    "HTTP": http,
    "in a browser": browser,
    "in a terminal": terminal,
    "login and tokens": tokens,
    "several users": users,
    "sync": sync,
    "backup and repair": backup,
    "import and export": exchange,
    "runtime and storage": runtime,
}


def test_each_line_about_icm_has_a_check() -> None:
    assert [feature for feature, *_ in rows("ICM, line by line")] == list(CHECKS)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "line", list(rows("ICM, line by line")), ids=lambda line: line[0]
)
def test_what_is_said_of_icm_is_so(line: list[str]) -> None:
    feature, said, text = line
    assert said in MARKS
    assert CHECKS[feature](text) == said


def test_what_is_said_of_capture_is_so() -> None:
    line = next(row for row in rows("Capture, and what it costs") if row[0] == "ICM")
    names = {contracts.ALIASES.get(tool.name, tool.name): tool for tool in HOSTS}
    before = [
        name
        for name, tool in names.items()
        if not tool.instead_of_hooks()
        and any(c.verb == "compact" for c in contracts.HOSTS[name].values())
    ]
    assert line[2:] == ["0", "after the hook's answer", f"yes, {len(before)} tools"]


def test_each_line_about_others_is_whole() -> None:
    lines = list(rows("The others"))
    assert len(lines) == 19
    for name, *cells in lines:
        assert len(cells) == 19, name
        assert set(cells) <= {"Y", "p", "n", "?", "cl"}, name
