# SPDX-License-Identifier: Apache-2.0
"""Softmax and norms in a graph, as operators of their own, and norms in any spelling: by ReduceMean, Sub, Pow, Sqrt and Div.

A spelled norm is what lies between two tensors, x and y, where y depends on x alone, by elementwise operators, means over
the last axis, and constants of one element or of one for each channel. It is computed here, of drawn rows, in double. Where
it is a norm, y is gamma_c t + beta_c in every channel, with t the normalised numbers, and eps one of the constants:
gamma and beta are solved for, from more rows than it takes.
"""
from __future__ import annotations

import dataclasses
import math
from typing import Any, Optional

import numpy as np
import onnx
from onnx import helper, numpy_helper

from ..codes import Array
from .expressions import Graph

__all__ = ["NORMS", "RowPlace", "Rows", "find_rows"]

SOFTMAX = {"Softmax": "softmax", "LogSoftmax": "logsoftmax"}
NORMS = {"LayerNormalization": "layernorm", "RMSNormalization": "rmsnorm"}
TOLERANCE = 1e-6  # of a spelled norm, times 1 + |y|: constants are rounded to float32 alone
LARGEST_EPS = 0.1
FARTHEST = 6  # from the first mean of a spelled norm to its square root


@dataclasses.dataclass(frozen=True)
class RowPlace:
    """A softmax or a norm of a graph: from the tensor `input` to the tensor `output`, by `nodes`, indices into the graph's.
    Rows lie along `axis`, which is -1 but for softmax; then the tensors have `rank` dimensions."""

    output: str
    input: str
    function: str  # as pwlc names it
    nodes: tuple[int, ...]
    axis: int = -1
    rank: int = 0
    eps: float = 0.0
    gamma: Optional[Array] = None
    beta: Optional[Array] = None

    def __str__(self) -> str:
        return self.function

    @property
    def is_norm(self) -> bool:
        return self.function not in SOFTMAX.values()

    def rows(self, x: Array) -> Array:
        """x with its rows along the last axis."""
        return np.moveaxis(x, self.axis, -1)

    def values(self, rows: Array) -> Array:
        """The function of real numbers, rows along the last axis, in double."""
        x = np.asarray(rows, np.float64)
        if self.is_norm:
            y = normalised(x, self.function == "layernorm", self.eps)
            y = y if self.gamma is None else y * self.gamma
            return y if self.beta is None else y + self.beta
        with np.errstate(invalid="ignore", divide="ignore"):  # where every place is masked
            x = x - x.max(axis=-1, keepdims=True)
            total = np.exp(x).sum(axis=-1, keepdims=True)
            y = np.exp(x) / total if self.function == "softmax" else x - np.log(total)
        return np.asarray(np.nan_to_num(y, nan=0.0, neginf=-np.inf))


def normalised(x: Array, is_layer: bool, eps: float) -> Array:
    x = x - x.mean(axis=-1, keepdims=True) if is_layer else x
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.nan_to_num(x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps)))


class Rows(Graph):
    """A graph with its constants of one element a channel, and the channels of its tensors."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        super().__init__(graph)
        self.vectors: dict[str, Array] = {}
        inputs = {value.name for value in graph.input}
        tensors = [(tensor.name, tensor) for tensor in graph.initializer if tensor.name not in inputs]
        tensors += [(node.output[0], one.t) for node in graph.node if node.op_type == "Constant"
                    for one in node.attribute if one.name == "value"]
        for name, tensor in tensors:
            if tensor.dims and 1 < tensor.dims[-1] == math.prod(tensor.dims):
                self.vectors[name] = numpy_helper.to_array(tensor).reshape(-1)
        self.channels = {value.name: value.type.tensor_type.shape.dim[-1].dim_value
                         for value in (*graph.value_info, *graph.input, *graph.output)
                         if value.type.tensor_type.HasField("shape") and value.type.tensor_type.shape.dim}

    def vector(self, name: str) -> Optional[Array]:
        return self.vectors.get(name, self.constants.get(name))

    def attributes(self, k: int) -> dict[str, Any]:
        return {one.name: helper.get_attribute_value(one) for one in self.nodes[k].attribute}

    # ---- Operators of their own ----

    def own(self, k: int) -> Optional[RowPlace]:
        node = self.nodes[k]
        if node.domain not in ("", "ai.onnx"):
            return None
        if node.op_type in SOFTMAX:
            axis, rank = self.attributes(k).get("axis", -1), self.ranks.get(node.input[0], 0)
            if axis != -1 and rank == 0:
                return None
            axis = axis - rank if axis >= 0 else axis
            return RowPlace(node.output[0], node.input[0], SOFTMAX[node.op_type], (k,), axis, rank)
        return self.own_norm(k) if node.op_type in NORMS else None

    def own_norm(self, k: int) -> Optional[RowPlace]:
        """One over the last axis, whose scale and bias are constant."""
        node, attributes = self.nodes[k], self.attributes(k)
        x, axis = node.input[0], attributes.get("axis", -1)
        count, parts = self.channels.get(x, 0), []
        if any(node.output[1:]) or axis not in (-1, self.ranks.get(x, 0) - 1):
            return None
        for name in node.input[1:3]:
            value = self.vector(name) if name else None
            if name and (value is None or value.size not in (1, count)):
                return None
            parts.append(None if value is None else np.broadcast_to(value.reshape(-1), count).astype(np.float64))
        gamma, beta = (*parts, None, None)[:2]
        return RowPlace(node.output[0], x, NORMS[node.op_type], (k,), eps=float(attributes.get("epsilon", 1e-5)), gamma=gamma,
                        beta=beta) if count else None

    # ---- Spelled ----

    def is_mean(self, k: int) -> bool:
        """Over the last axis, which stays."""
        node = self.nodes[k]
        if node.op_type != "ReduceMean" or node.domain not in ("", "ai.onnx"):
            return False
        attributes = self.attributes(k)
        axes = attributes.get("axes")
        if len(node.input) > 1 and node.input[1] in self.constants:
            axes = self.constants[node.input[1]].reshape(-1).tolist()
        return attributes.get("keepdims", 1) == 1 and axes is not None and len(axes) == 1 and axes[0] in (
            -1, self.ranks.get(node.input[0], 0) - 1)

    def spelled_values(self, x: str, root: int, rows: Array) -> Optional[tuple[Array, tuple[int, ...], list[float]]]:
        """The root's values of rows of x, the nodes that compute them, and the constants of one element among what they
        take; None where they depend on more than x."""
        values: dict[str, Array] = {x: rows}
        used: set[int] = set()
        single: list[float] = []

        def value(name: str) -> Array:
            if name not in values:
                constant = self.vector(name)
                if constant is not None:
                    if constant.size == 1:
                        single.append(float(constant.reshape(())))
                    elif constant.size != rows.shape[-1]:
                        raise KeyError(name)
                    values[name] = constant.astype(np.float64) if constant.size > 1 else constant.astype(np.float64).reshape(())
                    return values[name]
                k = self.maker.get(name)
                if k is None or len(used) > 20:
                    raise KeyError(name)
                used.add(k)
                if self.is_mean(k):
                    values[name] = value(self.nodes[k].input[0]).mean(axis=-1, keepdims=True)
                elif self.elementwise(k):
                    values[name] = self.compute(k, [value(of) if of else None for of in self.nodes[k].input])
                elif self.nodes[k].op_type == "Cast":
                    values[name] = value(self.nodes[k].input[0])
                else:
                    raise KeyError(name)
            return values[name]

        try:
            with np.errstate(all="ignore"):
                y = value(self.nodes[root].output[0])
        except (KeyError, TypeError, ValueError):
            return None
        return (y, tuple(sorted(used)), single) if y.shape == rows.shape and np.isfinite(y).all() else None

    def behind(self, mean: int) -> Optional[RowPlace]:
        """The norm that a mean over the last axis is the first node of, or all but that."""
        found, new = {mean}, [mean]
        for _ in range(FARTHEST):
            new = [k for at in new for k in self.takers.get(self.nodes[at].output[0], []) if k not in found and (
                self.elementwise(k) or self.is_mean(k) or self.nodes[k].op_type == "Cast")]
            found.update(new)
        for seed in sorted(found):
            place = self.spelled(seed) if self.nodes[seed].op_type in ("Sqrt", "Pow") else None
            if place is not None and mean in place.nodes:
                return place
        return None

    def spelled(self, seed: int) -> Optional[RowPlace]:
        """The norm with the most nodes that a square root is part of."""
        for root in self.below(seed):
            best: Optional[RowPlace] = None  # a LayerNorm is an RMSNorm of x - mean as well
            for x in self.above(root):
                count = self.channels.get(x, 0)
                if count < 2:
                    continue
                rows = np.random.default_rng(1).normal(0.3, 1, (6, count)) * np.array([[1], [1], [1], [0.003], [0.003], [1e-4]])
                found = self.spelled_values(x, root, rows)
                if found is None or seed not in found[1]:
                    continue
                norm = _solved(rows, found[0], found[2])
                if norm and (best is None or len(found[1]) > len(best.nodes)):
                    best = dataclasses.replace(norm, output=self.nodes[root].output[0], input=x, nodes=found[1])
            if best:
                return best
        return None


def _solved(rows: Array, y: Array, constants: list[float]) -> Optional[RowPlace]:
    """The norm that has these values of rows."""
    for function in NORMS.values():
        for eps in (*(one for one in dict.fromkeys(constants) if 0 < one <= LARGEST_EPS), 0.0):
            t = normalised(rows, function == "layernorm", eps)
            centred = t - t.mean(axis=0)
            squares = (centred * centred).sum(axis=0)
            if not (squares > 0).all():
                continue
            gamma = (centred * y).sum(axis=0) / squares
            beta = y.mean(axis=0) - gamma * t.mean(axis=0)
            if (np.abs(gamma * t + beta - y) <= TOLERANCE * (1 + np.abs(y))).all() and (gamma != 0).any():
                gamma, beta = (of.astype(np.float32).astype(np.float64) for of in (gamma, beta))
                return RowPlace("", "", function, (), eps=eps, gamma=gamma, beta=beta if np.abs(beta).max() > 1e-7 else None)
    return None


def find_rows(graph: onnx.GraphProto) -> list[RowPlace]:
    """The softmaxes and norms of a graph whose shapes were inferred, in its order."""
    of = Rows(graph)
    places: list[RowPlace] = []
    taken: set[int] = set()
    for k, node in enumerate(of.nodes):
        place: Optional[RowPlace] = of.own(k)
        if place is None and node.op_type in ("Sqrt", "Pow") and of.elementwise(k) and k not in taken:
            place = of.spelled(k)
        if place and not taken & set(place.nodes):
            places.append(place)
            taken.update(place.nodes)
    return places
