# SPDX-License-Identifier: Apache-2.0
"""What a model of ONNX still computes in float that a table could."""
from __future__ import annotations

import math
from typing import Any, Callable, Iterator, Mapping

import onnx
from onnx import helper

from ..codes import Array
from ..functions import FUNCTIONS
from ..losses import Stay

__all__ = ["Floats"]

Shape = tuple[int, ...]
# The functions of a node, and how many values of each: by its attributes, and the shape of its first input.
Count = Callable[[Mapping[str, Any], Shape], dict[str, int]]


def _each(function: str) -> Count:
    return lambda attributes, shape: {function: math.prod(shape)}


def _rows(axes: Callable[[Mapping[str, Any], Shape], Shape]) -> Count:
    """One for each row that is normalised."""
    return lambda attributes, shape: {"rsqrt": math.prod(axes(attributes, shape))}


def _gates(sigmoid: int, tanh: int) -> Count:
    """Of a recurrent layer: steps, batch and units, in one direction or both."""
    def count(attributes: Mapping[str, Any], shape: Shape) -> dict[str, int]:
        both = 2 if attributes.get("direction") == b"bidirectional" else 1
        numbers = shape[0] * shape[1] * attributes["hidden_size"] * both
        return {name: of * numbers for name, of in (("sigmoid", sigmoid), ("tanh", tanh)) if of}
    return count


OPERATORS: Mapping[str, Count] = {
    **{function.onnx: _each(function.name) for function in FUNCTIONS.values() if function.onnx},
    "Celu": _each("celu"), "Softmax": _each("exp"), "LogSoftmax": _each("exp"),
    "LayerNormalization": _rows(lambda attributes, shape: shape[:attributes.get("axis", -1)]),
    "RMSNormalization": _rows(lambda attributes, shape: shape[:attributes.get("axis", -1)]),
    "InstanceNormalization": _rows(lambda attributes, shape: shape[:2]),
    "GroupNormalization": _rows(lambda attributes, shape: (shape[0], attributes["num_groups"])),
    "LSTM": _gates(3, 2), "GRU": _gates(2, 1), "RNN": _gates(0, 1),
}


class Floats:
    """Counts what nodes of a graph's compute that tables did not take."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        self.nodes = [node for node in graph.node if node.op_type in OPERATORS and node.domain in ("", "ai.onnx")]
        constants = {tensor.name for tensor in graph.initializer}
        self.nodes = [node for node in self.nodes if node.input[0] not in constants]
        self.inputs = list(dict.fromkeys(node.input[0] for node in self.nodes))
        self.found: dict[tuple[int, str], int] = {}

    def count(self, tensors: Mapping[str, Array]) -> None:
        """A batch, by what the nodes are given."""
        for k, node in enumerate(self.nodes):
            attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
            for function, count in OPERATORS[node.op_type](attributes, tensors[node.input[0]].shape).items():
                self.found[k, function] = self.found.get((k, function), 0) + count

    def stays(self) -> Iterator[Stay]:
        for (k, function), count in self.found.items():
            node = self.nodes[k]
            yield Stay(next(name for name in node.output if name), node.op_type, function, count)
