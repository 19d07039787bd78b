"""The encoder of the packaged model as a graph of 8-bit products.

What attention compares is multiplied with the 4-bit weights as they are: coarser levels
of it cost half of all exactness, and a tenth of the time. For the other products the
weights get 7 bits and a sign, with one scale per output. With 8, x86 processors without
VNNI would saturate in sums of two products, and machines would differ. Activations have
8 bits between the lowest and highest value of each token, so that the vector of a text
does not depend on those beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from memories.e5.onnx import CONTRIBUTED, FLOAT, INT32, UINT8, Graph
from memories.e5.weights import BLOCK, Floats, Weights, expanded, in_pairs

LEVELS = 63
STEPS = 255
# For onnxruntime's MatMulNBits: it, too, gives states 8 bits, by blocks.
EIGHT_BIT_STATES = 4
# A token of equal values, of which there is none, must not divide by zero.
LEAST = 1e-12


@dataclass(frozen=True)
class Encoder:
    """Writes the layers of one model into one graph."""

    weights: Weights
    graph: Graph = field(default_factory=Graph)

    def model(self) -> bytes:
        """A graph from `tokens` (texts, length, size), the sum of their embeddings,
        and `lengths` (texts, length), 1 for a token and 0 for padding, to `states`
        (texts, length, size)."""
        self._constants()
        state = self._normed("states0", "emb.ln", "tokens")
        for layer in range(self.weights.layers):
            state = self._layer(layer, state)
        shape = ("texts", "length", self.weights.size)
        return self.graph.model(
            {"tokens": (FLOAT, shape), "lengths": (INT32, shape[:2])},
            {state: (FLOAT, shape)},
        )

    def _constants(self) -> None:
        self.graph.constant("last", np.array([-1], np.int64))
        self.graph.constant("steps", np.array(1 / STEPS, np.float32))
        self.graph.constant("least", np.array(LEAST, np.float32))
        self.graph.constant("half", np.array(0.5, np.float32))

    def _layer(self, number: int, state: str) -> str:
        at, node = f"l{number}", self.graph.node
        joined = self._exact(f"{at}.qkv", state, [f"{at}.{part}" for part in "qkv"])
        parts = [f"{at}.query", f"{at}.key", f"{at}.value"]
        node("Split", [joined], parts, axis=2, num_outputs=3)
        seen = node(
            "MultiHeadAttention",
            [*parts, "", "lengths"],
            f"{at}.seen",
            domain=CONTRIBUTED,
            num_heads=self.weights.heads,
        )
        added = self._product(f"{at}.added", seen, f"{at}.ao")
        middle = self._normed(f"{at}.middle", f"{at}.aln", state, added)
        inner = self._product(f"{at}.inner", middle, f"{at}.fi")
        bent = node("Gelu", [inner], f"{at}.bent", domain=CONTRIBUTED)
        outer = self._product(f"{at}.outer", bent, f"{at}.fo")
        return self._normed(f"states{number + 1}", f"{at}.oln", middle, outer)

    def _normed(self, name: str, norm: str, *states: str) -> str:
        """The sum of states, normed."""
        scale = self.graph.constant(f"{name}.scale", self.weights.floats(f"{norm}.w"))
        shift = self.graph.constant(f"{name}.shift", self.weights.floats(f"{norm}.b"))
        inputs, epsilon = [*states, scale, shift], self.weights.epsilon
        if len(states) == 1:
            return self.graph.node(
                "LayerNormalization", inputs, name, axis=2, epsilon=epsilon
            )
        return self.graph.node(
            "SkipLayerNormalization",
            inputs,
            name,
            domain=CONTRIBUTED,
            epsilon=epsilon,
        )

    def _exact(self, name: str, state: str, matrices: list[str]) -> str:
        """The product of a state with these matrices side by side, and their bias."""
        size, constant = self.weights.size, self.graph.constant
        blocks = [self.weights.blocks(f"{matrix}.w", size) for matrix in matrices]
        rows = np.concatenate(blocks)
        bias = [self.weights.floats(f"{matrix}.b") for matrix in matrices]
        inputs = [
            state,
            constant(f"{name}.weights", in_pairs(rows)),
            constant(f"{name}.scales", rows["scale"].astype(np.float32)),
            *("", "", constant(f"{name}.bias", np.concatenate(bias))),
        ]
        return self.graph.node(
            "MatMulNBits",
            inputs,
            name,
            domain=CONTRIBUTED,
            K=size,
            N=len(rows),
            bits=4,
            block_size=BLOCK,
            accuracy_level=EIGHT_BIT_STATES,
        )

    def _product(self, name: str, state: str, matrix: str) -> str:
        """The product of a state with a matrix, and its bias.

        With x = step * q + low, x @ w = step * (q @ w) + low * sum(w).
        """
        node, constant = self.graph.node, self.graph.constant
        bias = self.weights.floats(f"{matrix}.b")
        width = self.weights.inner if matrix.endswith(".fo") else self.weights.size
        levels, scale = _levels(expanded(self.weights.blocks(f"{matrix}.w", width)))
        sums = levels.sum(axis=1, dtype=np.float32)
        low, step, steps = self._quantised(name, state)
        weights = constant(f"{name}.weights", levels.T)
        whole = node("MatMulInteger", [steps, weights], f"{name}.whole")
        product = node("Cast", [whole], f"{name}.float", to=FLOAT)
        product = node("Mul", [product, step], f"{name}.stepped")
        shifted = node("Mul", [low, constant(f"{name}.sums", sums)], f"{name}.shifted")
        product = node("Add", [product, shifted], f"{name}.moved")
        scales = constant(f"{name}.scales", scale)
        product = node("Mul", [product, scales], f"{name}.scaled")
        return node("Add", [product, constant(f"{name}.bias", bias)], name)

    def _quantised(self, name: str, state: str) -> tuple[str, str, str]:
        """Per token the lowest value and the size of a step; the values as steps."""
        node = self.graph.node
        low = node("ReduceMin", [state, "last"], f"{name}.low", keepdims=1)
        high = node("ReduceMax", [state, "last"], f"{name}.high", keepdims=1)
        span = node("Sub", [high, low], f"{name}.span")
        span = node("Max", [span, "least"], f"{name}.positive")
        step = node("Mul", [span, "steps"], f"{name}.step")
        above = node("Sub", [state, low], f"{name}.above")
        exact = node("Div", [above, step], f"{name}.exact")
        nearest = node("Add", [exact, "half"], f"{name}.nearest")
        return low, step, node("Cast", [nearest], f"{name}.steps", to=UINT8)


def _levels(rows: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Weights as levels from -LEVELS to LEVELS, and the scale of each row."""
    scale = np.maximum(np.abs(rows).max(axis=1), LEAST) / np.float32(LEVELS)
    return np.rint(rows / scale[:, None]).astype(np.int8), scale.astype(np.float32)
