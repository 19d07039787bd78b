"""Figures of what the packaged model costs."""

import mmap
import os
import sys

import pytest

from icm_site.benchmarks import latency_model
from icm_site.benchmarks.latency_model import Figure


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
def test_memory_is_that_of_a_process_that_lives() -> None:
    before = latency_model.pss(os.getpid())
    # Pages of its own: an allocator may have some left that are counted already.
    with mmap.mmap(-1, 50_000_000) as ballast:
        for start in range(0, len(ballast), mmap.PAGESIZE):
            ballast[start] = 1
        after = latency_model.pss(os.getpid())
    assert before and after and 40 < after - before < 60
    assert latency_model.pss(2**22 + 1) is None


def test_figures_are_shown_with_their_units() -> None:
    table = latency_model.table([Figure("loading the model", 312.04, "ms")])
    cells = [list(column.cells) for column in table.columns]
    assert cells == [["loading the model"], ["312.0"], ["ms"]]


def test_percentiles_are_those_of_the_times() -> None:
    found = list(latency_model._percentiles("call", [3.0, 1.0, 2.0]))
    assert found == [Figure("call", 2.0, "ms"), Figure("call, p95", 2.0, "ms")]
