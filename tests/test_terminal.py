"""No stored text acts on the terminal that shows it, whatever shows it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from rich.console import Console

from icm_site.operation import Operation
from icm_site.registry import OPERATIONS
from memories import formats, store
from tests.factories import CALLER, make_memory, perform

pytestmark = pytest.mark.django_db

# A title, a colour, a cleared screen; CSI as one character; an override; a bell.
EVIL = "Evil \x1b]0;t\x07 \x1b[31m \x1b[2J \x9b31m \u202ekcab\u2066 \x7f\b\x1c fact"
# Names take no control characters, but what turns the reading direction.
LINE = "Evil \u202ekcab\u2066 fact"
ACTIVE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

# What stores the text in every field that may hold it.
WRITING: list[tuple[str, dict[str, Any]]] = [
    (
        "memory_store",
        {"topic": LINE, "content": EVIL, "keywords": [LINE], "raw_excerpt": EVIL},
    ),
    ("memory_store", {"topic": LINE, "content": f"{EVIL} and more of it"}),
    ("memoir_create", {"name": LINE, "description": EVIL}),
    (
        "memoir_add_concept",
        {"memoir": LINE, "name": LINE, "definition": EVIL, "labels": [f"a:{LINE}"]},
    ),
    ("memoir_add_concept", {"memoir": LINE, "name": "other", "definition": EVIL}),
    (
        "memoir_link",
        {"memoir": LINE, "from": LINE, "to": "other", "relation": "related_to"},
    ),
    ("memoir_refine", {"memoir": LINE, "name": LINE, "definition": f"{EVIL} 2"}),
    (
        "feedback_record",
        {
            "topic": LINE,
            "context": EVIL,
            "predicted": EVIL,
            "corrected": EVIL,
            "reason": EVIL,
            "source": LINE,
        },
    ),
]
# What shows it, with the arguments for that.
SHOWING: list[tuple[str, dict[str, Any]]] = [
    ("memory_recall", {"query": "evil fact", "explain": True}),
    ("memory_get", {"id": "ID"}),
    ("memory_list", {"all": True}),
    ("memory_list_topics", {}),
    ("memory_related", {"id": "ID"}),
    ("memory_health", {}),
    ("memory_purge", {"query": "evil"}),
    ("memory_prune", {"threshold": 1.0, "dry_run": True}),
    ("memory_consolidate", {"topic": LINE, "summary": "x", "dry_run": True}),
    ("suggestion_list", {}),
    ("memoir_list", {}),
    ("memoir_show", {"name": LINE}),
    ("memoir_search", {"memoir": LINE, "query": "evil"}),
    ("memoir_search_all", {"query": "evil"}),
    ("memoir_neighbors", {"memoir": LINE, "name": LINE}),
    ("memoir_inspect", {"memoir": LINE, "name": LINE}),
    ("memoir_distill", {"from_topic": LINE, "into": LINE}),
    ("memoir_history", {"memoir": LINE, "name": LINE}),
    *(
        ("memoir_export", {"name": LINE, "format": form})
        for form in ("json", "dot", "ascii", "ai", "mermaid")
    ),
    ("search_all", {"query": "evil fact"}),
    ("feedback_search", {"query": "evil"}),
    ("feedback_list", {}),
    ("feedback_stats", {}),
    ("memory_rename_topic", {"old": LINE, "new": f"{LINE} 2"}),
    ("memory_forget", {"topic": f"{LINE} 2"}),
]


def renders(operation: Operation) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    if tool := operation.tool:
        yield from tool.formats.items()
        if tool.compact:
            yield "compact", tool.compact
    for command in operation.commands:
        yield from command.formats.items()


def text(output: Any) -> str:
    if isinstance(output, str):
        return output
    console = Console(width=1_000, markup=False, emoji=False, highlight=False)
    with console.capture() as captured:
        console.print(output)
    return captured.get()


def call(name: str, given: Mapping[str, Any]) -> Any:
    operation = OPERATIONS[name]
    params = operation.parse(dict(given), caller=CALLER, ranges={}, fill={})
    return operation.run(params, CALLER)


def test_every_rendering_of_every_operation_is_inert() -> None:
    bad = []
    done = [(name, call(name, given)) for name, given in WRITING]
    memory = done[0][1].id
    store.update(memory, caller=CALLER, content=f"{EVIL} again", topic=f"{LINE} x")
    store.update(memory, caller=CALLER, topic=LINE)
    for name, given in SHOWING:
        filled = {k: memory if v == "ID" else v for k, v in given.items()}
        done.append((name, call(name, filled)))
    for name, result in done:
        for form, render in renders(OPERATIONS[name]):
            if found := ACTIVE.findall(text(render(result))):
                bad.append((name, form, found))
    assert bad == []


def test_json_and_toml_keep_what_they_escape() -> None:
    make_memory(EVIL, topic=LINE)
    result = perform("memory_list", all=True)
    (row,) = json.loads(formats.as_json(result.memories))
    (table,) = tomllib.loads(formats.toml(result.memories))["memories"]
    for kept in (row, table):
        assert (kept["topic"], kept["summary"]) == (LINE, EVIL)


def test_ordinary_texts_of_all_scripts_stay_as_they_are() -> None:
    for kept in ("naïve 日本語 עברית العربية 👩\u200d💻 हिन्दी", "a — b …"):
        assert formats.plain(kept) == kept
    assert formats.plain("a\tb\r\nc") == "a b c"
    assert formats.plain("\x1b[31m") == "␛[31m"
