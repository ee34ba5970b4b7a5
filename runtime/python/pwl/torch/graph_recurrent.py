# SPDX-License-Identifier: Apache-2.0
"""GRU and LSTM of torch as loops."""
from __future__ import annotations

from typing import Any, Sequence

import numpy as np
import torch
from torch import fx

from ..codes import Array
from ..network.floats import FloatNetwork, Input, Op
from ..network.kinds import Shape
from .graph import Pending, Reader, Result

__all__ = ["last_states", "recurrent"]

aten = torch.ops.aten


def recurrent(reader: Reader, node: fx.Node, args: list[Any]) -> Result:
    """gru and lstm: for each layer and direction one product for all places, and a loop."""
    x, states, weights, has_bias, layers, _, _, both = (*args[:6], args[6], args[7])
    batch_first = bool(node.args[8])
    for state in states if isinstance(states, (list, tuple)) else [states]:
        if not reader.is_constant(state) or reader.constant(state).any():
            raise reader.refuse(node, "a first state that is not 0")
    axis, shape, edge = int(batch_first), reader.shape(x), reader.edge(x, node)
    size, directions = 4 if has_bias else 2, 2 if both else 1
    finals = []
    for layer in range(layers):
        outputs = []
        for direction in range(directions):
            own = [reader.constant(one) for one in weights[(layer * directions + direction) * size:][:size]]
            output = node.name if (layer == layers - 1 and not both) else f"{node.name}.{layer}.{direction}"
            cell = _Cell(reader, node, output, axis, bool(direction))
            outputs.append(cell.add(edge, shape, own))
            finals.append((outputs[-1], direction))
        shape = (*shape[:2], own[1].shape[1] * directions)
        edge = outputs[0]
        if both:
            edge = reader.add(node, "concat", outputs, fields={"axis": 2}, shape=shape,
                            output=node.name if layer == layers - 1 else f"{node.name}.{layer}")
    return Pending("recurrent", edge, axis=axis, finals=tuple(finals))


def last_states(reader: Reader, node: fx.Node, part: Pending) -> str:
    """What gru and lstm give beside their output: its last place, of each layer and direction."""
    edges, shape = [], reader.shape(node)
    for k, (edge, reverse) in enumerate(part.finals):
        last = reader.add(node, "slice", [edge], output=f"{node.name}.{k}.last", shape=shape[1:], fields={
            "axis": part.axis, "start": 0 if reverse else -1, "stop": 1 if reverse else 1 << 40, "step": 1, "keep": 0})
        edges.append(reader.add(node, "reshape", [last], output=f"{node.name}.{k}" if len(part.finals) > 1 else node.name,
                              shape=(1, *shape[1:])))
    for k in range(1, len(edges)):
        edges[0] = reader.add(node, "concat", [edges[0], edges[k]], fields={"axis": 0}, shape=(k + 1, *shape[1:]),
                            output=node.name if k == len(edges) - 1 else f"{node.name}.to{k}")
    return edges[0]


class _Cell:
    """The loop of one layer and direction of a recurrent network.

        gru   z, r = sigmoid of sums;  n = tanh(x_n + r h_n);  h' = z h + (1 - z) n
        lstm  i, f, o = sigmoid, g = tanh of sums;  c' = f c + i g;  h' = o tanh(c')
    """

    def __init__(self, reader: Reader, node: fx.Node, output: str, axis: int, reverse: bool) -> None:
        self.reader, self.node, self.output, self.axis, self.reverse = reader, node, output, axis, reverse
        self.ops: list[Op] = []
        self.where = reader.where(node)

    def op(self, kind: str, inputs: Sequence[str], name: str, width: int, **rest: Any) -> str:
        self.ops.append(Op(kind, tuple(inputs), f"{self.output}/{name}", (self.batch, width), self.where, **rest))
        return self.ops[-1].output

    def part(self, source: str, k: int, count: int, name: str) -> str:
        fields = {"axis": 1, "start": k * self.width, "stop": (k + count) * self.width, "step": 1, "keep": 1}
        return self.op("slice", [source], name, count * self.width, fields=fields)

    def function(self, function: Any, source: str, name: str, width: int) -> str:
        values = {"sigmoid": _sigmoid, "tanh": np.tanh}.get(function, function)
        return self.op("function", [source], name, width, function=function, values=values)

    def add(self, edge: str, shape: Shape, arrays: Sequence[Array]) -> str:
        inner, outer = arrays[1], arrays[0]  # of the state, of the input
        self.width, rows = inner.shape[1], len(inner)
        self.batch = shape[1 - self.axis]
        bias = arrays[2:] if len(arrays) > 2 else (np.zeros(rows), np.zeros(rows))
        given = self.reader.add(self.node, "linear", [edge], output=f"{self.output}/given", shape=(*shape[:2], rows),
                                arrays={"weights": outer, "bias": bias[0]})
        inputs = [Input(f"{self.output}/x", (self.batch, rows), "real"), Input(f"{self.output}/h", (self.batch, self.width), "real")]
        own = self.op("linear", [inputs[1].name], "own", rows, arrays={"weights": inner, "bias": bias[1]})
        if self.node.target is aten.gru.input:
            outputs = [self._gru(inputs[0].name, inputs[1].name, own)] * 2
        else:
            inputs.append(Input(f"{self.output}/c", (self.batch, self.width), "real"))
            outputs = self._lstm(inputs[0].name, inputs[2].name, own)
        body = FloatNetwork(inputs, outputs, self.ops)
        return self.reader.add(self.node, "loop", [given], output=self.output, shape=(*shape[:2], self.width), body=body,
                               fields={"axis": self.axis, "reverse": int(self.reverse)})

    def _gru(self, x: str, h: str, own: str) -> str:
        width = self.width
        gates = self.op("add", [self.part(x, 0, 2, "x.rz"), self.part(own, 0, 2, "h.rz")], "rz", 2 * width)
        r = self.function("sigmoid", self.part(gates, 0, 1, "r.sum"), "r", width)
        z_sum = self.part(gates, 1, 1, "z.sum")
        z, rest = self.function("sigmoid", z_sum, "z", width), self.function(_one_less_sigmoid, z_sum, "rest", width)
        reset = self.op("multiply", [r, self.part(own, 2, 1, "h.n")], "reset", width)
        n = self.function("tanh", self.op("add", [self.part(x, 2, 1, "x.n"), reset], "n.sum", width), "n", width)
        return self.op("multiply", [z, h, rest, n], "y", width)

    def _lstm(self, x: str, c: str, own: str) -> list[str]:
        width = self.width
        gates = self.op("add", [x, own], "ifgo", 4 * width)
        i, f, g, o = (self.function(function, self.part(gates, k, 1, f"{name}.sum"), name, width) for k, (name, function) in
                      enumerate((("i", "sigmoid"), ("f", "sigmoid"), ("g", "tanh"), ("o", "sigmoid"))))
        cell = self.op("multiply", [f, c, i, g], "c'", width)
        y = self.op("multiply", [o, self.function("tanh", cell, "tanh", width)], "y", width)
        return [y, y, cell]


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-np.asarray(x, np.float64)))


def _one_less_sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(np.asarray(x, np.float64)))
