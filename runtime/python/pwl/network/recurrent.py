# SPDX-License-Identifier: Apache-2.0
"""Layers of a GRU or an LSTM, each in one direction: one product for the inputs of all places, and a loop."""
from __future__ import annotations

import dataclasses
from typing import Any, Sequence

import numpy as np

from ..codes import Array
from .floats import FloatNetwork, Input, Op
from .kinds import Shape

__all__ = ["GATES", "RecurrentLayer", "last_states"]

GATES = {"gru": "rzn", "lstm": "ifgo"}  # the order of the rows of weights and biases


@dataclasses.dataclass
class RecurrentLayer:
    """One layer in one direction.

        gru   z, r = sigmoid of sums;  n = tanh(x_n + r h_n);  h' = z h + (1 - z) n
        lstm  i, f, o = sigmoid, g = tanh of sums;  c' = f c + i g;  h' = o tanh(c')
    """

    kind: str  # gru or lstm
    output: str
    axis: int  # of the places
    reverse: bool
    name: str  # for messages
    edge: str  # what it reads
    shape: Shape  # of that
    weights: tuple[Array, Array]  # of the input and of the state
    bias: Sequence[Array]  # one for each of these

    def __post_init__(self) -> None:
        self.width, self.batch = self.weights[1].shape[1], self.shape[1 - self.axis]
        self.given = Op("linear", (self.edge,), f"{self.output}/given", (*self.shape[:2], len(self.weights[0])), self.name,
                        arrays={"weights": self.weights[0], "bias": self.bias[0]})

    def _op(self, kind: str, inputs: Sequence[str], name: str, width: int, **rest: Any) -> str:
        self.inner.append(Op(kind, tuple(inputs), f"{self.prefix}/{name}", (self.batch, width), self.name, **rest))
        return self.inner[-1].output

    def _part(self, source: str, k: int, count: int, name: str) -> str:
        fields = {"axis": 1, "start": k * self.width, "stop": (k + count) * self.width, "step": 1, "keep": 1}
        return self._op("slice", [source], name, count * self.width, fields=fields)

    def _function(self, function: Any, source: str, name: str, width: int) -> str:
        values = {"sigmoid": _sigmoid, "tanh": np.tanh}.get(function, function)
        return self._op("function", [source], name, width, function=function, values=values)

    def ops(self) -> list[Op]:
        """Its operations: the last gives the states h of all places."""
        return [self.given, self._loop(self.output, 0)]

    def cells(self) -> Op:
        """Of an lstm, behind ops(): the states c of all places. A loop gives one array, so that this is another one."""
        return self._loop(f"{self.output}/cells", 2)

    def _loop(self, output: str, which: int) -> Op:
        self.inner: list[Op] = []
        self.prefix = output
        rows = len(self.weights[1])
        names = ["x", "h"] + ["c"] * (self.kind == "lstm")
        inputs = [Input(f"{output}/{name}", (self.batch, rows if name == "x" else self.width), "real") for name in names]
        own = self._op("linear", [inputs[1].name], "own", rows, arrays={"weights": self.weights[1], "bias": self.bias[1]})
        if self.kind == "gru":
            outputs = [self._gru(inputs[0].name, inputs[1].name, own)] * 2
        else:
            outputs = self._lstm(inputs[0].name, inputs[2].name, own)
        return Op("loop", (self.given.output,), output, (*self.shape[:2], self.width), self.name,
                  {"axis": self.axis, "reverse": int(self.reverse)},
                  body=FloatNetwork(inputs, [outputs[which], *outputs[1:]], self.inner))

    def last(self, source: str) -> list[Op]:
        """The states of the last place that it visits, of all places' in `source`, as [1, batch, width]."""
        fields = {"axis": self.axis, "start": 0 if self.reverse else -1, "stop": 1 if self.reverse else 1 << 40, "step": 1,
                  "keep": 0}
        one = Op("slice", (source,), f"{source}/last", (self.batch, self.width), self.name, fields)
        return [one, Op("reshape", (one.output,), f"{source}/state", (1, *one.shape), self.name)]

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


def last_states(layers: Sequence[RecurrentLayer], output: str, cells: bool = False) -> list[Op]:
    """The operations, behind those of the layers, for what recurrent layers give beside their output: the last states h or c
    of each layer and direction. The last operation gives them all, as [layers, batch, width]."""
    ops: list[Op] = []
    whole = ""
    for k, layer in enumerate(layers):
        ops += [layer.cells()] if cells else []
        ops += layer.last(ops[-1].output if cells else layer.output)
        state = ops[-1].output
        if k:
            name = output if k == len(layers) - 1 else f"{output}/to{k}"
            ops.append(Op("concat", (whole, state), name, (k + 1, layer.batch, layer.width), layer.name, {"axis": 0}))
        whole = ops[-1].output
    return ops


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-np.asarray(x, np.float64)))


def _one_less_sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(np.asarray(x, np.float64)))
