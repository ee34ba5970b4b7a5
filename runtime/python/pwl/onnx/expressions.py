# SPDX-License-Identifier: Apache-2.0
"""Activations in a graph, however they are spelled: GELU is one node in one model and eight in another.

An expression is what lies between two tensors, x and y, where y depends on x alone, by elementwise operators and constants
of one element. It is computed here, at POINTS, in double, and compared with the functions of the list: what agrees
is that function. Constants are rounded to float32 in models, some to six digits: TOLERANCE is far above what that
changes, and far below what tells functions apart (GELU's two kinds: 4.7e-4).
"""
from __future__ import annotations

import dataclasses
import math
from typing import Any, Callable, Iterator, Mapping, Optional, Union

import numpy as np
import onnx
from onnx import numpy_helper

from .. import functions
from ..codes import Array
from ..functions import Values, elu, erf, gelu, gelu_tanh, hard_sigmoid, sigmoid, softplus

__all__ = ["FUNCTIONS", "OPERATORS", "POINTS", "Graph", "Place", "find_activations", "name_of"]

POINTS = np.linspace(-12.1, 11.9, 241)  # no point at a corner of the hard functions
TOLERANCE = 1e-5                        # times 1 + |x|
FARTHEST = 10                           # nodes from the first operator that makes an activation of x to y

# By pwlc's names.
FUNCTIONS: Mapping[str, Values] = {name: function.values for name, function in functions.FUNCTIONS.items() if function.values}


def _gelu_node(x: Array, approximate: bytes = b"none") -> Array:
    return gelu_tanh(x) if approximate == b"tanh" else gelu(x)


def _clip(x: Array, *limits: Optional[Array], **old: float) -> Array:
    low, high = (*limits, None, None)[:2]
    x = x if low is None else np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


# Elementwise operators, with their attributes as keywords.
OPERATORS: Mapping[str, Callable[..., Array]] = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Pow": np.power, "Neg": np.negative,
    "Abs": np.abs, "Sqrt": np.sqrt, "Reciprocal": np.reciprocal, "Log": np.log, "Exp": np.exp, "Erf": erf, "Tanh": np.tanh,
    "Identity": lambda x: x, "Relu": lambda x: np.maximum(x, 0), "Clip": _clip, "Sigmoid": sigmoid,
    "Min": lambda *x: np.minimum.reduce(np.broadcast_arrays(*x)), "Max": lambda *x: np.maximum.reduce(np.broadcast_arrays(*x)),
    "Softplus": softplus, "Softsign": FUNCTIONS["softsign"], "Mish": FUNCTIONS["mish"], "Elu": elu, "Gelu": _gelu_node,
    "Celu": lambda x, alpha=1.0: np.where(x < 0, alpha * np.expm1(np.minimum(x, 0) / alpha), x),
    "Selu": lambda x, alpha=1.67326319217681884765625, gamma=1.05070102214813232421875: gamma * elu(x, alpha),
    "HardSigmoid": lambda x, alpha=0.2, beta=0.5: hard_sigmoid(x, alpha, beta), "HardSwish": FUNCTIONS["hard_swish"],
    "Swish": lambda x, alpha=1.0: x * sigmoid(alpha * x),
}
# Those that an activation has at least one of.
SEEDS = {"Exp", "Erf", "Tanh", "Sigmoid", "Softplus", "Softsign", "Mish", "Elu", "Gelu", "Celu", "Selu", "HardSigmoid",
         "HardSwish", "Swish", "Clip", "Min", "Max", "Relu", "Abs"}
# Activations by themselves, whatever their attributes are: fitted as functions of Python where pwlc has none such.
WHOLE = {"Elu", "Celu", "Selu", "HardSigmoid", "Swish"}


@dataclasses.dataclass(frozen=True)
class Place:
    """An activation of a graph: from the tensor `input` to the tensor `output`, by `nodes`, indices into the graph's."""

    output: str
    input: str
    function: Union[str, Values]  # as pwl.fit() takes it
    param: Mapping[str, float]
    nodes: tuple[int, ...]

    def __str__(self) -> str:
        name = self.function if isinstance(self.function, str) else "a function"
        return name + "".join(f", {key}={value:g}" for key, value in self.param.items())

    def values(self, x: Array) -> Array:
        """The function of real numbers, in double."""
        of = FUNCTIONS[self.function] if isinstance(self.function, str) else self.function
        return of(np.asarray(x, np.float64), **self.param)


class Graph:
    """Which node makes a tensor, which take it, and what is constant."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        self.nodes = graph.node
        self.ranks = {value.name: len(value.type.tensor_type.shape.dim) for value in (*graph.value_info, *graph.input)
                      if value.type.tensor_type.HasField("shape")}
        self.maker: dict[str, int] = {}
        self.takers: dict[str, list[int]] = {}
        self.constants: dict[str, Array] = {}
        inputs = {value.name for value in graph.input}  # an initializer that is an input too may be given another value
        for tensor in graph.initializer:
            if math.prod(tensor.dims) == 1 and tensor.name not in inputs:
                self.constants[tensor.name] = numpy_helper.to_array(tensor)
        for k, node in enumerate(graph.node):
            if node.op_type == "Constant" and node.output:
                value = onnx.helper.get_attribute_value(node.attribute[0])
                array = numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)
                if array.size == 1 and array.dtype.kind in "fiu":
                    self.constants[node.output[0]] = array
            for name in node.output:
                self.maker[name] = k
            for name in node.input:
                self.takers.setdefault(name, []).append(k)

    def elementwise(self, k: int) -> bool:
        node = self.nodes[k]
        return node.op_type in OPERATORS and node.domain in ("", "ai.onnx") and len(node.output) == 1

    def compute(self, k: int, values: list[Optional[Array]]) -> Array:
        node = self.nodes[k]
        attributes = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
        return OPERATORS[node.op_type](*values, **attributes)

    def below(self, seed: int) -> list[int]:
        """The seed and the elementwise nodes that take what it makes, directly or not, the last first."""
        found, new = {seed}, [seed]
        for _ in range(FARTHEST):
            new = [k for at in new for k in self.takers.get(self.nodes[at].output[0], []) if self.elementwise(k)]
            new = [k for k in dict.fromkeys(new) if k not in found]
            found.update(new)
        return sorted(found, reverse=True)

    def above(self, root: int) -> Iterator[str]:
        """Tensors that root may be a function of, the nearest first."""
        found: dict[str, None] = {}
        new = [root]
        for _ in range(2 * FARTHEST):
            names = [name for k in new for name in self.nodes[k].input if name and name not in self.constants]
            names = [name for name in dict.fromkeys(names) if name not in found]
            found.update(dict.fromkeys(names))
            new = [self.maker[name] for name in names if name in self.maker and self.elementwise(self.maker[name])]
        return iter(found)

    def between(self, x: str, root: int) -> Optional[tuple[Array, tuple[int, ...]]]:
        """The root's values at POINTS of x, and the nodes that compute them; None where they depend on more than x."""
        values: dict[str, Optional[Array]] = {x: POINTS, "": None}
        used: set[int] = set()

        def value(name: str) -> Optional[Array]:
            if name not in values:
                if name in self.constants:
                    if self.constants[name].ndim > max(self.ranks.get(x, 1), 1):  # y would have more dimensions than x
                        raise KeyError(name)
                    return self.constants[name].astype(np.float64).reshape(())
                k = self.maker.get(name)
                if k is None or not self.elementwise(k) or len(used) > 4 * FARTHEST:
                    raise KeyError(name)
                used.add(k)
                values[name] = self.compute(k, [value(of) for of in self.nodes[k].input])
            return values[name]

        try:
            with np.errstate(all="ignore"):
                result = value(self.nodes[root].output[0])
        except (KeyError, TypeError, ValueError):
            return None
        return None if result is None or result.shape != POINTS.shape else (result, tuple(sorted(used)))


KNOWN: Mapping[str, Array] = {name: of(POINTS) for name, of in FUNCTIONS.items()}


def name_of(values: Array) -> Optional[tuple[str, dict[str, float]]]:
    """The function of the list, and its parameters, that has these values at POINTS."""
    def close(to: Array) -> bool:
        return bool((np.abs(values - to) <= TOLERANCE * (1 + np.abs(POINTS))).all())

    for name, known in KNOWN.items():
        if close(known):
            return name, {}
    alpha = float(np.round(values[0] / np.expm1(POINTS[0]), 6))
    if 0 < alpha <= 1000 and close(elu(POINTS, alpha)):
        return "elu", {"alpha": alpha}
    return None


def _place(graph: Graph, seed: int) -> Optional[Place]:
    """The activation with the most nodes that the seed is part of."""
    for root in graph.below(seed):
        for x in graph.above(root):
            found = graph.between(x, root)
            if found is None or seed not in found[1]:
                continue
            named = name_of(found[0])
            if named:
                return Place(graph.nodes[root].output[0], x, *named, found[1])
    node = graph.nodes[seed]
    if node.op_type in WHOLE:
        return Place(node.output[0], node.input[0], lambda x: graph.compute(seed, [x]), {}, (seed,))
    return None


def find_activations(graph: onnx.GraphProto, taken: set[int]) -> list[Place]:
    """The activations of a graph whose shapes were inferred, in its order, without the nodes that are taken."""
    of = Graph(graph)
    places: dict[str, Place] = {}
    within: set[int] = set(taken)
    for seed in range(len(of.nodes)):
        if of.elementwise(seed) and of.nodes[seed].op_type in SEEDS and seed not in within:
            place = _place(of, seed)
            if place and place.output not in places and not taken & set(place.nodes):
                places[place.output] = place
                within.update(place.nodes)
    return list(places.values())
