"""The figures as tables (Markdown, so that they can be pasted) and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich import box
from rich.table import Table

from icm_site.benchmarks.abstention import Abstention
from icm_site.benchmarks.plots import Bars
from icm_site.benchmarks.quality_figures import Figures
from icm_site.benchmarks.scoring import FORBIDDEN_CUT, METRICS, Difference, Spread
from memories.rank import HOOK_FLOOR

# What the first system is called in a sentence.
BASES = {"words": "words alone", "all": "all arms"}


def tables(
    lines: Sequence[Figures], silent: Sequence[Abstention] = (), *, by_kind: bool
) -> list[tuple[str, Table]]:
    """Title and table of each part of the report that has something to say."""
    parts = [("Retrieval quality", _metrics(lines, by_kind=by_kind))]
    if any(line.differences for line in lines):
        first = lines[0].system
        title = f"Difference to {BASES.get(first, first)}, with its 95 % interval"
        parts.append((title, _differences(lines)))
    # Judging by sessions changes no score.
    scored = [line for line in lines if line.abstentions and not line.by_session]
    if scored:
        parts.append(("Score of the first hit", _scores(scored)))
    if silent:
        title = f"Answered from relevance {HOOK_FLOOR:g} on"
        parts.append((title, _silences(silent)))
    return parts


def _table(labels: Sequence[str], numbers: Sequence[str]) -> Table:
    table = Table(box=box.MARKDOWN)
    for label in labels:
        table.add_column(label, no_wrap=True)
    for number in numbers:
        table.add_column(number, justify="right", no_wrap=True)
    return table


def _metrics(lines: Sequence[Figures], *, by_kind: bool) -> Table:
    forbids = any(line.forbidden for line in lines)
    extra = [f"forbidden@{FORBIDDEN_CUT}"] if forbids else []
    numbers = ["documents", "queries", "abstentions", *METRICS, *extra]
    table = _table(["set", "system"], numbers)
    for line in lines:
        counts = map(str, (line.documents, line.queries, line.abstentions))
        last = [_share(line.forbidden)] if forbids else []
        table.add_row(line.group, line.system, *counts, *_means(line.means), *last)
        for kind, (count, means) in line.kinds.items() if by_kind else ():
            table.add_row(f"- {kind}", line.system, "", str(count), "", *_means(means))
    return table


def _means(means: Mapping[str, float]) -> Iterable[str]:
    return (number(means[name]) for name in METRICS)


def _share(forbidden: tuple[int, float] | None) -> str:
    return f"{number(forbidden[1])} of {forbidden[0]}" if forbidden else ""


def _differences(lines: Sequence[Figures]) -> Table:
    table = _table(["set", "system", "metric"], ["difference", "interval"])
    for line in lines:
        for metric, found in line.differences.items():
            interval = f"{found.low:+.3f} to {found.high:+.3f}"
            cells = (f"{found.mean:+.3f}", interval)
            table.add_row(line.group, line.system, metric, *cells)
    return table


def _scores(lines: Sequence[Figures]) -> Table:
    numbers = [
        f"{side} {point}"
        for side in ("answer", "no answer")
        for point in ("n", "p10", "median", "p90")
    ]
    table = _table(["set", "system"], [*numbers, "AUC"])
    for line in lines:
        spreads = (*_spread(line.answerable), *_spread(line.unanswerable))
        table.add_row(line.group, line.system, *spreads, number(line.auc))
    return table


def _silences(lines: Sequence[Abstention]) -> Table:
    numbers = ["own", "answered", "foreign", "answered", "AUC", "traps", "answered"]
    table = _table(["set", "system"], numbers)
    for line in lines:
        traps, share = line.traps
        table.add_row(
            line.group,
            line.system,
            str(line.own),
            number(line.own_answered),
            str(line.foreign),
            number(line.foreign_answered),
            number(line.auc),
            str(traps),
            number(share),
        )
    return table


def charts(lines: Sequence[Figures]) -> list[Bars]:
    """R@10, by session any@10, of each system: a chart for each group."""
    groups: dict[tuple[str, str], dict[str, float]] = {}
    for line in lines:
        metric = "any@10" if line.by_session else "R@10"
        groups.setdefault((line.group, metric), {})[line.system] = line.means[metric]
    return [
        Bars(title=name, unit=metric, values=values)
        for (name, metric), values in groups.items()
    ]


def _spread(spread: Spread) -> Iterable[str]:
    yield str(spread.count)
    yield from map(number, (spread.p10, spread.median, spread.p90))


def number(value: float) -> str:
    """Three decimals; a dash where there is no figure."""
    return "-" if math.isnan(value) else f"{value:.3f}"


def as_json(
    lines: Sequence[Figures], silent: Sequence[Abstention] = (), **facts: object
) -> dict[str, Any]:
    """The whole report as JSON values; a figure that does not exist is null."""
    abstention = [_without_nan(asdict(line)) for line in silent]
    figures = [_without_nan(_figures(line)) for line in lines]
    return {**facts, "figures": figures, "abstention": abstention}


def _figures(line: Figures) -> dict[str, Any]:
    kinds = {
        kind: {"queries": count, **means} for kind, (count, means) in line.kinds.items()
    }
    forbidden = line.forbidden and dict(
        zip(("queries", "share"), line.forbidden, strict=True)
    )
    differences = {name: _difference(d) for name, d in line.differences.items()}
    return asdict(line) | {
        "kinds": kinds,
        "forbidden": forbidden,
        "differences": differences,
    }


def _difference(found: Difference) -> dict[str, Any]:
    return asdict(found) | {"significant": found.significant}


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nan(item) for name, item in value.items()}
    return None if isinstance(value, float) and math.isnan(value) else value
