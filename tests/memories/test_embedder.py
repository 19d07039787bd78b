"""Models: the packaged one for real, failures that are remembered, names."""

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from icm_site import conf
from icm_site.errors import InvalidInput, Unavailable
from memories import embedder, embedding, recall, store
from memories.embedder import Embedder, Models
from memories.models import Memory, MemoryVector, Metadata
from tests.factories import CALLER, FakeEmbedder, make_memory, perform

Vectors = NDArray[np.float32]

needs_packaged = pytest.mark.skipif(
    bool(embedder.packaged_reason()), reason="the packaged model does not run here"
)


@needs_packaged
def test_the_engine_reports_to_nobody(
    environment: dict[str, str], tmp_path: Path
) -> None:
    code = "from memories import embedder; import onnxruntime"
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert left == []


@pytest.fixture(scope="module")
def packaged() -> Embedder:
    return embedder.load("auto")


@needs_packaged
class TestPackagedModel:
    @pytest.mark.parametrize(
        "text",
        [
            "\ufdfa" * 3,
            "a\0b",
            "\0",
            "lone \ud800 surrogate \udfff",
            "",
            "   \n\t",
            "e\u0301" * 50,
            "\U0001f468\u200d\U0001f469\u200d\U0001f467" * 5,
            "\u202eabc\u202c",
            "日本語のテキスト" * 5,
            "".join(map(chr, range(0x20, 0xA0))),
        ],
    )
    def test_no_text_is_too_strange(self, packaged: Embedder, text: str) -> None:
        for vector in (packaged.embed_query(text), packaged.embed_texts([text])[0]):
            assert vector.shape == (384,)
            assert vector.dtype == np.float32
            assert abs(float(np.linalg.norm(vector)) - 1) < 1e-3

    @pytest.mark.slow
    def test_a_text_far_beyond_its_window_is_taken(self, packaged: Embedder) -> None:
        vectors = packaged.embed_texts(["lorem ipsum dolor " * 600])
        assert vectors.shape == (1, 384)
        assert np.isfinite(vectors).all()

    def test_a_query_of_50_kb_costs_no_more_than_the_window(
        self, packaged: Embedder
    ) -> None:
        vector = embedding.embed_query("lorem ipsum dolor " * 2_800, packaged)
        assert vector is not None
        begin = embedding.embed_query("lorem ipsum dolor " * 100, packaged)
        assert begin is not None and float(vector @ begin) > 0.999

    def test_equal_texts_have_equal_vectors_alone_and_in_a_batch(
        self, packaged: Embedder
    ) -> None:
        texts = ["one fact", "another fact of another length", "one fact"]
        rows = packaged.embed_texts(texts)
        alone = packaged.embed_texts(texts[:1])[0]
        assert np.allclose(rows[0], rows[2])
        assert float(rows[0] @ alone) > 0.999

    def test_a_question_is_nearest_to_its_answer_in_another_language_too(
        self, packaged: Embedder
    ) -> None:
        facts = packaged.embed_texts(
            [
                "The shop stores its orders in PostgreSQL.",
                "Lunch is served at noon in the canteen.",
                "Der Zug nach Bern fährt um acht.",
            ]
        )
        for question, answer in [
            ("Which database do we use?", 0),
            ("When can I eat?", 1),
            ("When does the train leave?", 2),
        ]:
            near = facts @ packaged.embed_query(question)
            assert int(np.argmax(near)) == answer, question

    def test_a_size_is_probed_and_named(self, packaged: Embedder) -> None:
        assert (packaged.name, packaged.dimensions) == (embedder.PACKAGED, 384)


@needs_packaged
@pytest.mark.django_db
@pytest.mark.parametrize("rows", [1, 2, 3, 5])
def test_few_rows_are_found_by_word_and_by_meaning_with_the_real_model(
    rows: int,
) -> None:
    facts = [
        "The shop stores its orders in PostgreSQL.",
        "Lunch is served at noon in the canteen.",
        "The train to Bern leaves at eight.",
        "Passwords expire every ninety days.",
        "We prefer tabs over spaces.",
    ]
    conf.use(conf.load())
    for fact in facts[:rows]:
        perform("memory_store", topic="t", content=fact)
    assert MemoryVector.objects.count() == rows
    for query in (
        "PostgreSQL",
        "which relational database system keeps purchases?",
        "Welche Datenbank speichert die Bestellungen?",
    ):
        hits = recall.recall(query=query).hits
        assert hits and hits[0].memory.summary == facts[0], query
        assert 0 < hits[0].score <= 1


def test_text_for_a_model_holds_no_mark_it_stumbles_over() -> None:
    safe = embedder.safe_text("a\0b \ufdfa \ud800")
    assert "\0" not in safe and "\ufdfa" not in safe
    assert safe.encode("utf-8")


class TestMissingModels:
    @pytest.fixture(autouse=True)
    def empty_cache(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        # A try to reach the network would wait for this address for ever.
        for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"):
            monkeypatch.setenv(name, "http://192.0.2.1:9")

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "name", ["BAAI/bge-small-en-v1.5", "intfloat/multilingual-e5-base"]
    )
    def test_a_model_that_is_not_there_fails_at_once_and_offline(
        self, name: str
    ) -> None:
        import fastembed  # noqa: F401 (its import is not what is measured)

        start = time.monotonic()
        with pytest.raises(Unavailable, match=f"model {name} is not to be had"):
            embedder.load(name)
        assert time.monotonic() - start < 1.0

    @pytest.mark.slow
    def test_an_unknown_model_is_said_in_one_sentence(self) -> None:
        with pytest.raises(Unavailable, match="no/such-model") as caught:
            embedder.load("no/such-model")
        assert "\n" not in caught.value.message


class TestAnotherModel:
    """A model that fastembed would run; what reaches it is kept."""

    @pytest.fixture
    def runtime(self, monkeypatch: pytest.MonkeyPatch) -> type[Any]:
        class Runtime:
            size, given = 64, list[str]()

            def __init__(self, name: str, **options: object) -> None:
                assert options["local_files_only"]

            def embed(self, texts: list[str], **_: object) -> list[list[float]]:
                self.given += texts
                return [[2.0] * self.size for _ in texts]

        monkeypatch.setattr("fastembed.TextEmbedding", Runtime)
        monkeypatch.setattr(embedder, "register_extra_models", lambda _: None)
        return Runtime

    @pytest.mark.parametrize(
        ("name", "query", "passage"),
        [
            ("intfloat/multilingual-e5-large", "query: ", "passage: "),
            ("BAAI/bge-small-en-v1.5", "", ""),
            ("e5-company/other-model", "", ""),
        ],
    )
    def test_only_an_e5_model_is_told_queries_from_texts(
        self, runtime: type[Any], name: str, query: str, passage: str
    ) -> None:
        model = embedder.load(name)
        model.embed_query("port?")
        vectors = model.embed_texts(["port 1", "port 2"])
        texts = [f"{query}port?", f"{passage}port 1", f"{passage}port 2"]
        assert runtime.given[1:] == texts  # behind the probe of its size
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1)

    @pytest.mark.parametrize("size", [32, 63, 4097, 10_000])
    def test_a_size_that_is_too_small_or_too_large_is_refused(
        self, runtime: type[Any], size: int
    ) -> None:
        runtime.size = size
        with pytest.raises(InvalidInput, match=f"{size} dimensions; 64 to 4096 are"):
            embedder.load("BAAI/bge-small-en-v1.5")

    def test_the_size_is_that_of_the_vectors(self, runtime: type[Any]) -> None:
        runtime.size = 4096
        assert embedder.load("BAAI/bge-small-en-v1.5").dimensions == 4096


class TestModels:
    class Loader:
        def __init__(self, *failures: Exception) -> None:
            self.failures = list(failures)
            self.calls = 0

        def __call__(self, name: str) -> Embedder:
            self.calls += 1
            if self.failures:
                raise self.failures.pop(0)
            return FakeEmbedder()

    def test_a_model_is_loaded_once(self) -> None:
        loader = self.Loader()
        models = Models(loader)
        assert models.get("a") is models.get("a")
        models.get("b")
        assert loader.calls == 2

    @pytest.mark.parametrize("kind", [Unavailable, InvalidInput])
    def test_a_failure_is_remembered_for_some_minutes(
        self, kind: type[Unavailable]
    ) -> None:
        now = [100.0]
        loader = self.Loader(kind("no file"))
        models = Models(loader, clock=lambda: now[0])
        for _ in range(3):
            with pytest.raises(Unavailable, match="no file"):
                models.get("a")
        assert loader.calls == 1
        now[0] += embedder.FAILURE_SECONDS + 1
        assert models.get("a").name == "fake/groups"

    def test_one_model_does_not_suffer_from_another(self) -> None:
        models = Models(self.Loader(Unavailable("no file")))
        with pytest.raises(Unavailable):
            models.get("a")
        assert models.get("b").dimensions == 384


@pytest.mark.django_db
def test_a_database_keeps_the_model_of_its_vectors_when_another_is_configured(
    model: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vectors of two models are never compared, and none is lost by a setting."""

    class Other(FakeEmbedder):
        name = "fastembed/other"
        dimensions = 128

        def embed_texts(self, texts: Sequence[str]) -> Vectors:
            return super().embed_texts(texts)[:, : self.dimensions]

    first = make_memory("Our database is Postgres.")
    embedding.embed_memories([first], model)
    known = {model.name: model, "fastembed/other": Other()}
    monkeypatch.setattr(embedder, "MODELS", Models(loader=lambda name: known[name]))
    monkeypatch.setattr(embedder, "PACKAGED", "fastembed/other")
    second = make_memory("Espresso is served at nine.")
    embedding.embed_memories([second], embedding.database_embedder())
    assert set(MemoryVector.objects.values_list("model", flat=True)) == {model.name}
    assert recall.recall(query="mysql storage").hits[0].memory == first
    store.forget(second.ulid, caller=CALLER)
    assert Memory.objects.live().count() == 1
    assert Metadata.objects.read("embedding_model") == model.name
