"""Charts as SVG, drawn here: a page with them needs no script; pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

WIDTH, HEIGHT = 600, 170
LEFT, BOTTOM, TOP = 44, 22, 8
LINES = 4
# Share of its place that a column leaves free.
GAP = 0.22


def nice_top(value: float) -> int:
    """The end of a scale from 0 that holds a value: 1, 2 or 5 times a power of ten."""
    top = LINES
    for factor in accumulate([1, *[2.5, 2, 2] * 12], lambda a, b: a * b):
        top = int(LINES * factor)
        if top >= value:
            break
    return top


def short(value: float) -> str:
    """A number as a scale shows it: 950, 1.5k, 12k, 3M."""
    for size, sign in ((1_000_000, "M"), (1_000, "k")):
        if value >= size:
            return f"{value / size:.1f}".removesuffix(".0") + sign
    return f"{value:g}"


def growth(values: Sequence[float], labels: Sequence[str], title: str) -> SafeString:
    """A line with the area below it; `labels` stand under the first and the last."""
    top = nice_top(max(values, default=0))
    step = (WIDTH - LEFT) / max(len(values) - 1, 1)
    points = [(LEFT + n * step, _y(value, top)) for n, value in enumerate(values)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    floor = HEIGHT - BOTTOM
    body = format_html(
        '<polygon class="area" points="{},{} {} {},{}"/>'
        '<polyline class="line" points="{}"/>',
        *(LEFT, floor, path, WIDTH, floor, path),
    )
    return _chart(body, labels, top, title)


def columns(
    values: Sequence[float],
    labels: Sequence[str],
    title: str,
    *,
    hints: Sequence[str] = (),
    look: str = "",
) -> SafeString:
    """Columns from left to right; `hints` are shown where the pointer rests."""
    top = nice_top(max(values, default=0))
    place = (WIDTH - LEFT) / max(len(values), 1)
    names = hints or [short(value) for value in values]
    body = format_html_join(
        "",
        '<rect class="bar {}" x="{}" y="{}" width="{}" height="{}" rx="2">'
        "<title>{}</title></rect>",
        (
            (
                look,
                f"{LEFT + n * place + place * GAP / 2:.1f}",
                f"{_y(value, top):.1f}",
                f"{place * (1 - GAP):.1f}",
                f"{HEIGHT - BOTTOM - _y(value, top):.1f}",
                name,
            )
            for n, (value, name) in enumerate(zip(values, names, strict=True))
        ),
    )
    return _chart(body, labels, top, title)


def _y(value: float, top: int) -> float:
    return TOP + (HEIGHT - BOTTOM - TOP) * (1 - value / top)


def _chart(body: SafeString, labels: Sequence[str], top: int, title: str) -> SafeString:
    grid = format_html_join(
        "",
        '<line class="grid" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>'
        '<text x="{3}" y="{4}" text-anchor="end">{5}</text>',
        (
            (LEFT, WIDTH, f"{y:.1f}", LEFT - 6, f"{y + 4:.1f}", short(value))
            for value in (top * n / LINES for n in range(LINES + 1))
            for y in (_y(value, top),)
        ),
    )
    span = WIDTH - LEFT
    last = max(len(labels) - 1, 1)
    anchors = {0: "start", last: "end"}
    below = format_html_join(
        "",
        '<text x="{}" y="{}" text-anchor="{}">{}</text>',
        (
            (
                f"{LEFT + span * n / last:.1f}",
                HEIGHT - 5,
                anchors.get(n, "middle"),
                text,
            )
            for n, text in enumerate(labels)
        ),
    )
    return format_html(
        '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">'
        "{}{}{}</svg>",
        *(WIDTH, HEIGHT, title, grid, body, below),
    )
