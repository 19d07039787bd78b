"""Figures of the benchmarks as pictures: matplotlib, where its extra is installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from icm_site.errors import InvalidInput, Unavailable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".png", ".svg")
WIDTH, ROW, LEAST_HEIGHT = 8.0, 0.42, 3.0


@dataclass(frozen=True, kw_only=True)
class Bars:
    """Named values; with `marks` a second value of each, shown as a line."""

    title: str
    unit: str
    values: Mapping[str, float]
    marks: Mapping[str, float] | None = None
    mark: str = ""
    logarithmic: bool = False


@dataclass(frozen=True, kw_only=True)
class Lines:
    """Values over a size, both on logarithmic axes."""

    title: str
    unit: str
    over: str
    values: Mapping[str, Mapping[int, float]]


def checked(file: str | None) -> None:
    """See that a plot can be made before anything is measured.

    Raises InvalidInput for a suffix, Unavailable without the extra or the folder.
    """
    if file is None:
        return
    if Path(file).suffix.lower() not in SUFFIXES:
        raise InvalidInput(f"a plot is a .png or an .svg file, not {file!r}")
    if importlib.util.find_spec("matplotlib") is None:
        raise Unavailable(
            "plots need matplotlib, which the extra installs: icm-memory[bench]"
        )
    checked_folder(file)


def checked_folder(file: str | None) -> None:
    """See that a file can be written there. Raises Unavailable."""
    if file is not None and not Path(file).absolute().parent.is_dir():
        raise Unavailable(f"there is no folder for {file!r}")


def save(file: str | None, charts: Sequence[Bars | Lines]) -> None:
    """Draw charts below one another into a file; None draws nothing."""
    if file is None or not charts:
        return
    from matplotlib.figure import Figure

    heights = [_height(chart) for chart in charts]
    figure = Figure(figsize=(WIDTH, sum(heights)), layout="constrained")
    axes = figure.subplots(len(charts), 1, squeeze=False, height_ratios=heights)
    for chart, (place,) in zip(charts, axes, strict=True):
        if isinstance(chart, Bars):
            _bars(place, chart)
        else:
            _lines(place, chart)
    figure.savefig(file, dpi=150)


def _height(chart: Bars | Lines) -> float:
    if isinstance(chart, Lines):
        return 5.0
    return max(LEAST_HEIGHT, 1.2 + ROW * len(chart.values))


def _bars(axes: Axes, chart: Bars) -> None:
    names, values = list(chart.values), list(chart.values.values())
    drawn = axes.barh(names, values, color="#4477aa", log=chart.logarithmic)
    axes.bar_label(drawn, fmt=lambda value: f"{value:,.4g}", padding=3)
    if chart.marks:
        known = [(n, chart.marks[name]) for n, name in enumerate(names)]
        axes.scatter(
            [value for _, value in known],
            [n for n, _ in known],
            marker="|",
            s=160,
            color="#cc3311",
            label=chart.mark,
            zorder=3,
        )
        axes.legend(loc="best")
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.set(title=chart.title, xlabel=chart.unit)


def _lines(axes: Axes, chart: Lines) -> None:
    for name, values in chart.values.items():
        axes.plot(list(values), list(values.values()), marker="o", label=name)
    axes.set(xscale="log", yscale="log")
    axes.set(title=chart.title, xlabel=chart.over, ylabel=chart.unit)
    axes.grid(alpha=0.3)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
