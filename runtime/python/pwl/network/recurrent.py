# SPDX-License-Identifier: Apache-2.0
"""A layer of a GRU or an LSTM, in one direction: one product for the inputs of all places, and a loop."""
from __future__ import annotations

import dataclasses
from typing import Any, Sequence

import numpy as np

from ..codes import Array
from .floats import FloatNetwork, Input, Op
from .kinds import Shape

__all__ = ["GATES", "RecurrentLayer"]

GATES = {"gru": "rzn", "lstm": "ifgo"}  # the order of the rows of weights and biases


@dataclasses.dataclass
class RecurrentLayer:
    """The operations of one layer and direction.

        gru   z, r = sigmoid of sums;  n = tanh(x_n + r h_n);  h' = z h + (1 - z) n
        lstm  i, f, o = sigmoid, g = tanh of sums;  c' = f c + i g;  h' = o tanh(c')
    """

    kind: str  # gru or lstm
    output: str
    axis: int  # of the places
    reverse: bool
    name: str  # for messages

    def _op(self, kind: str, inputs: Sequence[str], name: str, width: int, **rest: Any) -> str:
        self.inner.append(Op(kind, tuple(inputs), f"{self.output}/{name}", (self.batch, width), self.name, **rest))
        return self.inner[-1].output

    def _part(self, source: str, k: int, count: int, name: str) -> str:
        fields = {"axis": 1, "start": k * self.width, "stop": (k + count) * self.width, "step": 1, "keep": 1}
        return self._op("slice", [source], name, count * self.width, fields=fields)

    def _function(self, function: Any, source: str, name: str, width: int) -> str:
        values = {"sigmoid": _sigmoid, "tanh": np.tanh}.get(function, function)
        return self._op("function", [source], name, width, function=function, values=values)

    def of(self, edge: str, shape: Shape, outer: Array, inner: Array, bias: Sequence[Array]) -> list[Op]:
        """Its operations, by the weights of the input, those of the state, and a bias for each."""
        self.inner: list[Op] = []
        self.width, rows = inner.shape[1], len(inner)
        self.batch = shape[1 - self.axis]
        given = Op("linear", (edge,), f"{self.output}/given", (*shape[:2], rows), self.name,
                   arrays={"weights": outer, "bias": bias[0]})
        inputs = [Input(f"{self.output}/x", (self.batch, rows), "real"),
                  Input(f"{self.output}/h", (self.batch, self.width), "real")]
        own = self._op("linear", [inputs[1].name], "own", rows, arrays={"weights": inner, "bias": bias[1]})
        if self.kind == "gru":
            outputs = [self._gru(inputs[0].name, inputs[1].name, own)] * 2
        else:
            inputs.append(Input(f"{self.output}/c", (self.batch, self.width), "real"))
            outputs = self._lstm(inputs[0].name, inputs[2].name, own)
        return [given, Op("loop", (given.output,), self.output, (*shape[:2], self.width), self.name,
                          {"axis": self.axis, "reverse": int(self.reverse)}, body=FloatNetwork(inputs, outputs, self.inner))]

    def _gru(self, x: str, h: str, own: str) -> str:
        width = self.width
        gates = self._op("add", [self._part(x, 0, 2, "x.rz"), self._part(own, 0, 2, "h.rz")], "rz", 2 * width)
        r = self._function("sigmoid", self._part(gates, 0, 1, "r.sum"), "r", width)
        z_sum = self._part(gates, 1, 1, "z.sum")
        z, rest = self._function("sigmoid", z_sum, "z", width), self._function(_one_less_sigmoid, z_sum, "rest", width)
        reset = self._op("multiply", [r, self._part(own, 2, 1, "h.n")], "reset", width)
        n = self._function("tanh", self._op("add", [self._part(x, 2, 1, "x.n"), reset], "n.sum", width), "n", width)
        return self._op("multiply", [z, h, rest, n], "y", width)

    def _lstm(self, x: str, c: str, own: str) -> list[str]:
        width = self.width
        gates = self._op("add", [x, own], "ifgo", 4 * width)
        i, f, g, o = (self._function("tanh" if name == "g" else "sigmoid", self._part(gates, k, 1, f"{name}.sum"), name, width)
                      for k, name in enumerate(GATES["lstm"]))
        cell = self._op("multiply", [f, c, i, g], "c'", width)
        y = self._op("multiply", [o, self._function("tanh", cell, "tanh", width)], "y", width)
        return [y, y, cell]


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-np.asarray(x, np.float64)))


def _one_less_sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(np.asarray(x, np.float64)))
