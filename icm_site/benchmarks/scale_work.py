"""What `icm bench-scale` does at each size, on a database that grows."""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import numpy as np

from icm_site import conf
from icm_site.benchmarks import scale_fill
from icm_site.benchmarks.scale_fill import MODEL, Fill, Tick
from icm_site.benchmarks.synthetic import SIZE, Floats, Synthetic
from icm_site.caller import Caller
from memories import (
    decay,
    driver,
    embedder,
    embedding,
    history,
    matrices,
    recall,
    search,
    store,
)
from memories.models import Memory
from memories.vector_matrix import MatrixVectors
from memories.word_matrix import MatrixWords

ROUNDS, FEW = 40, 8
NEAREST = 20
DEPTH = 100


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Times of single operations in milliseconds; `cpu`: the median of this process.

    On a machine that others use too, the latter is what an operation costs.
    """

    name: str
    operations: int
    median: float
    p95: float
    lowest: float
    cpu: float


@dataclass(frozen=True, kw_only=True)
class Scale:
    """All that was measured with so many memories."""

    memories: int
    build_seconds: float
    load: float
    times: list[Measured]
    recall: dict[str, float]
    memory: dict[str, int]
    sizes: dict[str, int]


class Given:
    """A model that knows the vectors of the questions beforehand."""

    name, dimensions = MODEL, SIZE

    def __init__(self, made: Synthetic) -> None:
        self.known: dict[str, Floats] = {}
        self._made = made

    def embed_query(self, text: str) -> Floats:
        """See embedder.Embedder."""
        return self.known[text]

    def embed_texts(self, texts: Sequence[str]) -> Floats:
        """See embedder.Embedder."""
        return self._made.vectors(len(texts))


@contextmanager
def given_model(model: Given) -> Iterator[None]:
    """Use this model alone while the block runs."""
    usual, config = embedder.MODELS, conf.current()
    embedder.MODELS = embedder.Models(loader=lambda name: model)
    embeddings = replace(config.embeddings, enabled=True, model="auto")
    try:
        with conf.within(replace(config, embeddings=embeddings)):
            yield
    finally:
        embedder.MODELS = usual


@dataclass
class Bench:
    """The steps; `tick` is told of progress, `index` is whether to build one."""

    folder: Path
    tick: Tick
    index: bool = True
    made: Synthetic = field(default_factory=lambda: Synthetic(1))
    caller: Caller = field(default_factory=lambda: Caller(surface="cli"))

    def __post_init__(self) -> None:
        self.model = Given(self.made)
        self.fill = Fill(self.made)
        self.times: list[Measured] = []

    def run(self, count: int) -> Scale:
        """Grow the database to `count` memories and measure it."""
        self.times = []
        begun = time.perf_counter()
        self.fill.up_to(count, self.tick)
        built = time.perf_counter() - begun
        matrices.forget_matrices()
        gc.collect()
        before = resident_bytes()
        with given_model(self.model):
            questions = self._questions(3 * ROUNDS)
            vectors, words, found = self._searches(questions)
            grown = resident_bytes()
            self._writes(questions)
            memory = {
                "process": grown.get("rss", 0),
                "of it private": grown.get("private", 0),
                "before loading": before.get("rss", 0),
                "vectors": vectors,
                "words": words,
            }
            return Scale(
                memories=count,
                build_seconds=round(built, 1),
                load=round(_load(), 1),
                times=self.times,
                recall=found,
                memory=memory,
                sizes=scale_fill.sizes() | _kept_bytes(),
            )

    def _questions(self, count: int) -> list[str]:
        """Questions about stored memories, whose vectors lie beside theirs."""
        keys = list(Memory.objects.values_list("pk", flat=True))
        chosen = [int(n) for n in np.random.default_rng(len(keys)).choice(keys, count)]
        texts = scale_fill.texts_of(chosen)
        raw, asked = driver.raw_connection(), []
        for key in chosen:
            row = raw.execute(
                "SELECT vector FROM memory_vectors WHERE memory_id = ?", (key,)
            ).fetchone()
            if row is None or len(texts[key]) < 4:
                continue
            stored = np.frombuffer(row[0], np.float32)[np.newaxis]
            text = self.made.query(texts[key])
            self.model.known[text] = self.made.near(stored)[0]
            asked.append(text)
        return asked

    def _searches(self, questions: list[str]) -> tuple[int, int, dict[str, float]]:
        raw = driver.raw_connection()
        exact, words = MatrixVectors(MODEL, SIZE), MatrixWords()
        needles = [self.model.known[text].tolist() for text in questions]
        nearest = partial(exact.nearest, raw, depth=NEAREST)
        self._time("start: read all vectors", [partial(nearest, needles[0])])
        find = partial(search.find, raw, limit=10, words=words)
        first = [partial(find, text) for text in questions]
        self._time("start: first words", first[:1])
        self._time("text, new words", first[1:ROUNDS])
        self._time("text", first[1:ROUNDS])
        self._time("vectors, exact", [partial(nearest, n) for n in needles[:ROUNDS]])
        truth = [nearest(n).order for n in needles[:ROUNDS]]
        state = exact.state(raw)
        size = sum(part.rows.vectors.nbytes for part in state.parts)
        del exact, state, nearest
        shares = self._approximately(needles, truth)
        whole = words.nbytes
        mapped = matrices.matrix(MODEL, SIZE)
        find = partial(search.find, raw, limit=10, vectors=mapped, words=words)
        both = [
            partial(find, text, query_vector=needle)
            for text, needle in zip(questions[:ROUNDS], needles, strict=False)
        ]
        both[0]()
        self._time("search (both)", both)
        ask = partial(recall.recall, limit=10, count=False)
        for text in questions[:ROUNDS]:
            ask(query=text)
        again = [partial(ask, query=text) for text in questions[:ROUNDS]]
        self._time("recall (both)", again)
        new = [partial(ask, query=text) for text in questions[ROUNDS : 2 * ROUNDS]]
        self._time("recall (both), new words", new)
        return size, whole, shares

    def _approximately(
        self, needles: list[list[float]], truth: list[tuple[int, ...]]
    ) -> dict[str, float]:
        """Keep the vectors in files, then ask those; what is found of the truth."""
        raw, files = driver.raw_connection(), matrices.files()
        if files is None or len(needles) < ROUNDS or not self.index:
            return {}
        if not files.due(raw):
            return {}
        make = partial(files.make, raw, progress=self.tick)
        self._time("vectors kept in files", [make])
        known = files.described()
        mapped = MatrixVectors(MODEL, SIZE, kept=files)
        nearest = partial(mapped.nearest, raw, depth=NEAREST)
        self._time("start: map the files", [partial(nearest, needles[0])])
        if known is None or not known.probes:
            return {}
        asked = needles[:ROUNDS]
        for needle in asked:
            nearest(needle)
        self._time("vectors, index", [partial(nearest, needle) for needle in asked])
        shares = {}
        for depth in (NEAREST, DEPTH):
            found = [mapped.nearest(raw, n, depth=depth).order for n in asked]
            same = [
                len({*one} & {*other}) / NEAREST
                for one, other in zip(found, truth, strict=True)
            ]
            shares[f"recall@{NEAREST}, depth {depth}"] = round(statistics.mean(same), 4)
        return shares

    def _writes(self, questions: list[str]) -> None:
        ask = partial(recall.recall, limit=10, count=False)
        ids = list(Memory.objects.values_list("ulid", flat=True)[:2000])
        self._time("get by id", [partial(history.find_memory, i) for i in ids[:ROUNDS]])
        spent: dict[str, list[tuple[float, float]]] = {}
        for n in range(FEW):
            text = questions[n]
            for name, act in (
                ("insert with vector", partial(self._insert, text)),
                ("recall after an insert", partial(ask, query=text)),
                ("update with vector", partial(self._update, ids[n], text)),
                ("recall after an update", partial(ask, query=text)),
            ):
                spent.setdefault(name, []).append(timed(act))
        for name, times in spent.items():
            self._add(name, times)
        now = datetime.now(UTC) + timedelta(days=1)
        self._time("decay", [partial(decay.step, factor=0.95, now=now)])

    def _insert(self, text: str) -> None:
        done = store.store(
            topic="decisions-project0",
            content=f"New: {text} {time.time_ns()}",
            caller=self.caller,
            dedup=False,
        )
        embedding.embed_memories([done.memory], self.model)

    def _update(self, ulid: str, text: str) -> None:
        content = f"{text} {time.time_ns()}"
        done = store.update(ulid, content=content, caller=self.caller)
        embedding.embed_memories([done.memory], self.model)

    def _time(self, name: str, acts: Sequence[Callable[[], object]]) -> None:
        times = []
        for done, act in enumerate(acts):
            self.tick(name, done, len(acts))
            times.append(timed(act))
        self._add(name, times)

    def _add(self, name: str, times: Sequence[tuple[float, float]]) -> None:
        ordered = sorted(wall for wall, _ in times)
        if ordered:
            self.times.append(
                Measured(
                    name=name,
                    operations=len(ordered),
                    median=round(statistics.median(ordered), 3),
                    p95=round(ordered[int(0.95 * (len(ordered) - 1))], 3),
                    lowest=round(ordered[0], 3),
                    cpu=round(statistics.median(cpu for _, cpu in times), 3),
                )
            )


def timed(act: Callable[[], object]) -> tuple[float, float]:
    """Milliseconds that an act takes, by the clock and of this process."""
    begun, before = time.perf_counter(), time.process_time()
    act()
    spent = time.process_time() - before
    return 1e3 * (time.perf_counter() - begun), 1e3 * spent


def _kept_bytes() -> dict[str, int]:
    """What lies in the cache folder beside the database."""
    files = matrices.files()
    found = list(files.folder.glob("*")) if files else []
    whole = sum(file.stat().st_size for file in found)
    index = sum(file.stat().st_size for file in found if file.suffix == ".index")
    return {"kept vectors": whole, "of them the index": index} if found else {}


def resident_bytes() -> dict[str, int]:
    """Memory of this process: all in use, and what it shares with nobody (Linux)."""
    try:
        lines = Path("/proc/self/smaps_rollup").read_text("utf-8").splitlines()
    except OSError:
        return {}
    kib: dict[str, int] = {}
    for line in lines[1:]:
        name, amount = line.split(":")
        kib[name] = 1024 * int(amount.split()[0])
    return {"rss": kib["Rss"], "private": kib["Private_Dirty"], "pss": kib["Pss"]}


def _load() -> float:
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
