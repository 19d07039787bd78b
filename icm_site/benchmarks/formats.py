"""`icm bench-format`: what the forms of one answer cost, in bytes and tokens."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from icm_site import conf, startup
from icm_site.arguments import Parser
from icm_site.benchmarks import plots
from icm_site.terminal import show

if TYPE_CHECKING:
    from memories.schemas import RecallResult

BYTES_PER_TOKEN = 4
NOTE = (
    f"Tokens are estimated as bytes / {BYTES_PER_TOKEN}, rounded up: near for English "
    "prose, too low for JSON, ids and other scripts. Bytes are exact."
)
QUERY = "which decision did we take about the database, the cache and the queue"
# Topic, importance, text, keywords, excerpt.
MEMORIES: tuple[tuple[str, str, str, str, str], ...] = (
    (
        "decisions-shop",
        "high",
        "We decided to keep PostgreSQL as the database of the shop: its JSON columns "
        "and row locks are used in the checkout, and nobody wants to run two stores.",
        "postgresql, database, checkout",
        "",
    ),
    (
        "decisions-shop",
        "medium",
        "The cache in front of the catalogue is Redis with a time to live of 15 "
        "minutes; a publish of the catalogue empties it.",
        "redis, cache, catalogue",
        "CACHE_TTL = 900\nCACHE_URL = os.environ['REDIS_URL']",
    ),
    (
        "errors-shop",
        "high",
        "The queue lost orders when a worker was killed: acknowledge after the commit, "
        "not before. Fixed in release 4.2.",
        "queue, worker, orders",
        "channel.basic_ack(delivery_tag=tag)  # after transaction.commit()",
    ),
    (
        "context-shop",
        "medium",
        "The database of the staging system is restored from production every Sunday "
        "at 03:00, with addresses and names replaced.",
        "",
        "",
    ),
    (
        "preferences",
        "critical",
        "Never write to the production database from a script without a dry run first.",
        "production, safety",
        "",
    ),
    (
        "decisions-shop",
        "medium",
        "Die Entscheidung über die Warteschlange: RabbitMQ bleibt, Kafka wäre für "
        "dreitausend Nachrichten am Tag zu viel.",
        "rabbitmq, kafka",
        "",
    ),
    (
        "context-search",
        "low",
        "The search cluster has three nodes; the queue of its indexer is drained by "
        "two workers, which read changes from the database every 5 seconds.",
        "search, indexer",
        "",
    ),
    (
        "errors-search",
        "medium",
        "After the upgrade the cache served results of other tenants, since the key "
        "lacked the tenant's id.",
        "cache, tenant",
        "key = f'{tenant.id}:{query_hash}'",
    ),
)


@dataclass(frozen=True, kw_only=True)
class Form:
    """One form of the answer, or one list of tools; `ratio` to the smallest."""

    name: str
    where: str
    bytes: int
    tokens: int
    ratio: float


def main(arguments: Sequence[str]) -> int:
    """Measure in a folder of its own, print the tables; returns 0. Raises IcmError."""
    parser = Parser(
        prog="icm bench-format",
        description="Measure what one recall costs in each form of its answer, and "
        f"the tools' descriptions over MCP. {NOTE}",
        allow_abbrev=False,
    )
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")
    parser.add_argument(
        "--plot", metavar="FILE", help="draw them there: a .png or an .svg"
    )
    try:
        given = parser.parse_args(list(arguments))
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    plots.checked(given.plot)
    plots.checked_folder(given.json)
    startup.set_up_django()
    found, count = measured()
    tools = schemas()
    show(table(found, f"A recall of {count} memories"))
    show(table(tools, "The tools over MCP"))
    show(NOTE)
    if given.json:
        rows = {"answers": found, "tools": tools}
        figures = {name: [asdict(one) for one in forms] for name, forms in rows.items()}
        text = json.dumps({"note": NOTE, "memories": count, **figures}, indent=1)
        Path(given.json).write_text(text + "\n", "utf-8")
    plots.save(
        given.plot, [chart(found, "One recall"), chart(tools, "The tools over MCP")]
    )
    return 0


def measured() -> tuple[list[Form], int]:
    """Every form of one recall's answer, and of how many memories it is."""
    from icm_site.benchmarks.quality_run import own_database

    folder = Path(tempfile.mkdtemp(prefix="icm-format-"))
    config = conf.current()
    words = replace(config, embeddings=replace(config.embeddings, enabled=False))
    try:
        with own_database(folder / "icm.sqlite3"), conf.within(words):
            result = _recalled()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return forms(answers(result)), len(result.hits)


def _recalled() -> RecallResult:
    from icm_site.caller import Caller
    from memories import operations, store
    from memories.schemas import RecallParams

    caller = Caller(surface="cli", project="shop")
    for topic, importance, content, keywords, excerpt in MEMORIES:
        store.store(
            topic=topic,
            content=content,
            importance=importance,
            keywords=[word.strip() for word in keywords.split(",") if word.strip()],
            raw_excerpt=excerpt or None,
            caller=caller,
        )
    params = RecallParams.model_validate({"query": QUERY, "limit": 10})
    return operations.memory_recall(params, caller)


def answers(result: RecallResult) -> dict[tuple[str, str], str]:
    """The answer in each form, by name and the surface that has it."""
    from icm_site.registry import COMMANDS
    from memories import formats
    from memories.entries import OPERATIONS

    operation, command = COMMANDS["recall",]
    tool = next(o.tool for o in OPERATIONS if o.run is operation.run)
    assert tool is not None
    assert tool.compact is not None
    rows = [formats.json_record(hit) for hit in result.hits]
    whole = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    lines = "\n".join(formats.dumps(row, indent=None) for row in rows)
    shown: dict[tuple[str, str], str] = {}
    for name, render in tool.formats.items():
        label = "normal" if name == next(iter(tool.formats)) else name
        shown[label, "MCP"] = str(render(result))
    shown["compact", "MCP"] = str(tool.compact(result))
    for name, render in command.formats.items():
        label = "json, pretty" if name == "json" else name
        shown[label, "icm recall"] = str(render(result))
    return shown | {
        ("json, compact", "for comparison"): whole,
        ("jsonl", "for comparison"): lines,
    }


def schemas() -> list[Form]:
    """The list of tools as clients get it, all and the lean ones."""
    from icm_site import mcp_tools

    shown = {}
    for name, lean in (("full", False), ("lean", True)):
        tools = mcp_tools.listed(lean=lean)
        text = json.dumps(tools, ensure_ascii=False, separators=(",", ":"))
        shown[f"{name}, {len(tools)} tools", "MCP"] = text
    return forms(shown)


def forms(shown: Mapping[tuple[str, str], str]) -> list[Form]:
    """Bytes and tokens of texts, the smallest first."""
    sizes = {key: len(text.encode("utf-8")) for key, text in shown.items()}
    least = min(sizes.values())
    return [
        Form(
            name=name,
            where=where,
            bytes=size,
            tokens=-(-size // BYTES_PER_TOKEN),
            ratio=round(size / least, 2),
        )
        for (name, where), size in sorted(sizes.items(), key=lambda pair: pair[1])
    ]


def table(found: Sequence[Form], title: str) -> Table:
    """The figures for people."""
    drawn = Table("Form", "Where", title=title)
    for name in ("Bytes", "Tokens", "x smallest"):
        drawn.add_column(name, justify="right")
    for form in found:
        figures = (f"{form.bytes:,}", f"{form.tokens:,}", f"{form.ratio:.2f}")
        drawn.add_row(form.name, form.where, *figures)
    return drawn


def chart(found: Sequence[Form], title: str) -> plots.Bars:
    """The tokens of each form."""
    values = {f"{form.name} ({form.where})": float(form.tokens) for form in found}
    return plots.Bars(title=title, unit="tokens (bytes / 4)", values=values)
