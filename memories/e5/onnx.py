"""Just enough of the ONNX format to write a graph: protocol buffers by hand.

Field numbers are those of onnx.proto3. The package `onnx` does the same, and more that
nobody needs here, in 15 MB.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

FLOAT, UINT8, INT8, INT32, INT64 = 1, 2, 3, 6, 7
KINDS = {"float32": FLOAT, "uint8": UINT8, "int8": INT8, "int32": INT32, "int64": INT64}
IR_VERSION, OPSET = 10, 21
# Operators of onnxruntime itself.
CONTRIBUTED = "com.microsoft"
FLOAT_ATTRIBUTE, INT_ATTRIBUTE = 1, 2


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes | str) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(data)) + data


class Graph:
    """A graph under construction. Values are known by their names."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def constant(self, name: str, value: NDArray[Any]) -> str:
        """Add a tensor; returns its name."""
        dims = b"".join(_number(1, size) for size in value.shape)
        kind = _number(2, KINDS[value.dtype.name])
        data = _bytes(9, np.ascontiguousarray(value).tobytes())
        self._parts.append(_bytes(5, dims + kind + _bytes(8, name) + data))
        return name

    def node(
        self,
        operator: str,
        inputs: Sequence[str],
        outputs: str | Sequence[str],
        *,
        domain: str = "",
        **attributes: float,
    ) -> str:
        """Add an operator; returns the name of its first output.

        An attribute is written as the kind of number that it is, int or float.
        """
        made = [outputs] if isinstance(outputs, str) else list(outputs)
        text = b"".join(
            (
                *(_bytes(1, name) for name in inputs),
                *(_bytes(2, name) for name in made),
                _bytes(4, operator),
                *(_bytes(5, _attribute(*pair)) for pair in attributes.items()),
                _bytes(7, domain),
            )
        )
        self._parts.append(_bytes(1, text))
        return made[0]

    def model(
        self,
        inputs: Mapping[str, tuple[int, Sequence[str | int]]],
        outputs: Mapping[str, tuple[int, Sequence[str | int]]],
    ) -> bytes:
        """The file's content; inputs and outputs by name: kind, and size per axis."""
        graph = b"".join(
            (
                *self._parts,
                _bytes(2, "graph"),
                *(_bytes(11, _value(name, *how)) for name, how in inputs.items()),
                *(_bytes(12, _value(name, *how)) for name, how in outputs.items()),
            )
        )
        operators = _bytes(8, _bytes(1, "") + _number(2, OPSET))
        operators += _bytes(8, _bytes(1, CONTRIBUTED) + _number(2, 1))
        return _number(1, IR_VERSION) + operators + _bytes(7, graph)


def _attribute(name: str, value: float) -> bytes:
    if isinstance(value, int):
        return _bytes(1, name) + _number(3, value) + _number(20, INT_ATTRIBUTE)
    exact = _varint(2 << 3 | 5) + struct.pack("<f", value)
    return _bytes(1, name) + exact + _number(20, FLOAT_ATTRIBUTE)


def _value(name: str, kind: int, shape: Sequence[str | int]) -> bytes:
    axes = (
        _bytes(1, _bytes(2, size) if isinstance(size, str) else _number(1, size))
        for size in shape
    )
    tensor = _number(1, kind) + _bytes(2, b"".join(axes))
    return _bytes(1, name) + _bytes(2, _bytes(1, tensor))
