"""`icm bench-scale` and `icm bench-format`: what they make, measure, write and draw."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from icm_site.benchmarks import formats, plots, scale
from icm_site.benchmarks.synthetic import GROUPS, SIZE, WORDS, Synthetic
from icm_site.errors import InvalidInput, Unavailable
from tests.conftest import Icm

SIGNATURES = {".png": b"\x89PNG", ".svg": b"<?xml"}


def test_invented_vectors_lie_as_those_of_a_model() -> None:
    made = Synthetic(1)
    vectors = made.vectors(2000)
    assert vectors.shape == (2000, SIZE)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    cosines = vectors[:200] @ vectors.T
    assert 0.8 < cosines.mean() < 0.9
    asked = made.near(vectors[:50])
    own = np.sum(asked * vectors[:50], axis=1)
    assert 0.88 < own.mean() < 0.94
    assert np.array_equal(Synthetic(1).vectors(2000), vectors)
    assert GROUPS > 100


def test_invented_texts_have_common_and_rare_words() -> None:
    made = Synthetic(1)
    texts = made.texts(3000)
    numbers = np.concatenate(texts)
    assert {len(text) for text in texts} == set(range(10, 36))
    counts = np.bincount(numbers, minlength=WORDS)
    assert counts[0] > 0.02 * len(numbers)
    assert np.count_nonzero(counts) > 5000
    assert len(set(made.vocabulary)) == WORDS
    words = [made.vocabulary[n] for n in texts[0]]
    assert len(made.query(words).split()) == 8


@pytest.mark.parametrize("sizes", ["99", "1000001", "1000,x", "", "1e6"])
def test_sizes_out_of_range_are_refused(sizes: str) -> None:
    with pytest.raises(InvalidInput, match="sizes"):
        scale.wanted(sizes)


def test_sizes_are_taken_in_order() -> None:
    assert scale.wanted("10000, 500,1_000") == [500, 1000, 10000]


def test_a_plot_that_cannot_be_made_is_refused_beforehand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidInput, match="png"):
        plots.checked("plot.pdf")
    with pytest.raises(Unavailable, match="folder"):
        plots.checked(str(tmp_path / "nowhere" / "plot.png"))
    with pytest.raises(Unavailable, match="folder"):
        plots.checked_folder(str(tmp_path / "nowhere" / "figures.json"))
    plots.checked(str(tmp_path / "plot.svg"))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(Unavailable, match=r"icm-memory\[bench\]"):
        plots.checked(str(tmp_path / "plot.png"))


@pytest.mark.slow
@pytest.mark.parametrize("suffix", SIGNATURES)
def test_charts_become_pictures(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"plot{suffix}"
    values = {"one": 1.0, "two": 20.0}
    marked = plots.Bars(
        title="t", unit="ms", values=values, marks=values, mark="m", logarithmic=True
    )
    over = plots.Lines(title="t", unit="ms", over="n", values={"a": {10: 1, 100: 2}})
    plots.save(str(file), [marked, plots.Bars(title="t", unit="", values=values), over])
    assert file.read_bytes().startswith(SIGNATURES[suffix])
    plots.save(None, [marked])


@pytest.mark.slow
def test_bench_scale_grows_a_database_and_measures_it(icm: Icm, tmp_path: Path) -> None:
    file, plot = tmp_path / "scale.json", tmp_path / "scale.png"
    done = icm(
        *("bench-scale", "-s", "300,600", "--json", str(file), "--plot", str(plot))
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(file.read_text())
    assert [size["memories"] for size in figures["sizes"]] == [300, 600]
    for size in figures["sizes"]:
        names = {one["name"] for one in size["times"]}
        assert {"text", "vectors, exact", "recall (both)", "decay"} <= names
        assert all(one["lowest"] > 0 for one in size["times"])
        assert size["sizes"]["file"] > 500_000
        assert size["memory"]["vectors"] >= 4 * SIZE * size["memories"]
    assert "invented" in done.stdout
    assert plot.read_bytes().startswith(SIGNATURES[".png"])
    assert not (tmp_path / "icm.sqlite3").exists()


@pytest.mark.slow
def test_bench_format_measures_each_form(icm: Icm, tmp_path: Path) -> None:
    file, plot = tmp_path / "format.json", tmp_path / "format.svg"
    done = icm("bench-format", "--json", str(file), "--plot", str(plot))
    assert done.returncode == 0, done.stderr
    figures = json.loads(file.read_text())
    sizes = {(one["name"], one["where"]): one["bytes"] for one in figures["answers"]}
    assert sizes["compact", "MCP"] < sizes["normal", "MCP"] < sizes["json", "MCP"]
    assert figures["memories"] == len(formats.MEMORIES)
    lean, full = figures["tools"]
    assert lean["bytes"] < 6_000 < full["bytes"] < 20_000
    assert "bytes / 4" in done.stdout
    assert plot.read_bytes().startswith(SIGNATURES[".svg"])


def test_tokens_are_a_quarter_of_the_bytes_rounded_up() -> None:
    short, long = formats.forms({("a", "x"): "äbcd", ("b", "x"): "a" * 12})
    assert (short.bytes, short.tokens, short.ratio) == (5, 2, 1.0)
    assert (long.bytes, long.tokens, long.ratio) == (12, 3, 2.4)
