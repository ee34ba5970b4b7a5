# SPDX-License-Identifier: Apache-2.0
"""From a network of real numbers to one of integers: ranges from data, widths by a policy, operators and tables from pwlc."""
from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, Iterable, Mapping, Optional, Sequence

import numpy as np

from .. import elements, rows
from ..calibration import type_of_range
from ..codes import Array, Type
from ..errors import Error, shown
from ..fit import fit
from .arithmetic import largest_offset, multipliers
from .floats import MOVES, FloatNetwork, Op
from .graph import Network
from .kinds import Edge, Node, Product, sizes_of
from .report import relative_loss

__all__ = ["Ranges", "Widths", "cheapest", "quantise"]


@dataclasses.dataclass(frozen=True)
class Widths:
    """Bits of the codes at each place of a network, 8 or 16.

    residual        sums, norms' outputs, embeddings: what is added to and normalised
    product_input   what products with weights read; where it is wider, it is brought to another scale first
    operand         inputs of products of two activations: queries, keys, values
    scores          inputs of softmax
    probabilities   outputs of softmax, unsigned
    context         outputs of products of two activations
    table_input     inputs of activations
    table_output    outputs of activations
    segments        of the tables of 8 and of 16 bits of input
    """

    residual: int = 16
    product_input: int = 16
    operand: int = 8
    scores: int = 8
    probabilities: int = 8
    context: int = 8
    table_input: int = 16
    table_output: int = 16
    segments: tuple[int, int] = (16, 64)

    def __post_init__(self) -> None:
        for place in PLACES:
            if getattr(self, place) not in (8, 16):
                raise Error(f"{place}: {shown(getattr(self, place))}, must be 8 or 16")

    def narrowed(self, place: str) -> Widths:
        """These widths but 8 bits at one place."""
        change: dict[str, Any] = {place: 8}
        return dataclasses.replace(self, **change)

    @classmethod
    def all(cls, bits: int) -> Widths:
        """One width everywhere."""
        return cls(bits, bits, bits, bits, bits, bits, bits, bits)


PLACES = [field.name for field in dataclasses.fields(Widths) if field.name != "segments"]


class Ranges:
    """The least and the largest number at every place, and the mean of each channel that products with weights read, over any
    number of batches. `first` is a size and how many of its first places no integers will compute, as {"length": 1}: a decoder's first
    tokens, of which keys and values alone count."""

    def __init__(self, network: FloatNetwork, first: Optional[Mapping[str, int]] = None) -> None:
        self.network, self.first = network, dict(first or {})
        self.kept = _kept(network)
        self.now: dict[str, int] = {}  # sizes of the batch
        self.ends: dict[str, tuple[float, float]] = {}
        self.sums: dict[str, tuple[Array, int]] = {}  # by what the product gives: of each channel of its input, over so many
        self.sizes: dict[str, int] = {}

    def observe(self, *inputs: Any) -> tuple[Array, ...]:
        """Counts a batch, and gives the network's outputs."""
        for one, x in zip(self.network.inputs, inputs):
            if one.role == "real":
                self._widen(one.name, np.asarray(x))
        for name, size in self.network.sizes([np.asarray(x) for x in inputs]).items():
            self.sizes[name] = max(self.sizes.get(name, 0), size)
            self.now[name] = size
            if size <= self.first.get(name, 0):
                raise Error(f"a batch whose {name} is {size}, of which the first {self.first[name]} do not count")
        return self.network(*inputs, replaced=self._see)

    def _see(self, op: Op, x: Sequence[Array], y: Array) -> Array:
        self._widen(op.output, y if op.output in self.kept else self._later(op, y), op.name)
        if op.kind in ("linear", "convolution"):
            taken = self._later(op, x[0])
            rows = np.moveaxis(taken, -1 if op.kind == "linear" else 1, -1).reshape(-1, taken.shape[-1 if op.kind == "linear" else 1])
            before, count = self.sums.get(op.output, (np.zeros(rows.shape[1]), 0))
            self.sums[op.output] = before + rows.sum(0), count + len(rows)
        return y

    def _later(self, op: Op, x: Array) -> Array:
        """Without the first places of a size: along the axis of the operation's shape that has it, which perhaps has it more than
        once, one after another."""
        for name, count in self.first.items():
            for axis, size in enumerate(op.shape[:x.ndim]):
                if name in str(size).split("*") and x.shape[axis] % self.now[name] == 0:
                    apart = x.reshape(*x.shape[:axis], -1, self.now[name], *x.shape[axis + 1:])
                    x = apart[(*[slice(None)] * (axis + 1), slice(count, None))].reshape(*x.shape[:axis], -1, *x.shape[axis + 1:])
                    break
        return x

    def _widen(self, name: str, x: Array, where: str = "") -> None:
        if x.size == 0:
            raise Error(f"{where or name}: a batch of no numbers")
        low, high = float(x.min()), float(x.max())
        if not np.isfinite([low, high]).all():
            raise Error(f"{where or name}: from {low} to {high} over these batches, must be finite")
        before = self.ends.get(name, (low, high))
        self.ends[name] = min(low, before[0]), max(high, before[1])

    def mean_of(self, op: Op, weights: Array) -> Array:
        """The mean of what weights give for the input of a product, a number an output channel; the ends of a convolution's
        windows count as its middle."""
        if op.output not in self.sums:
            return np.zeros(len(weights))
        (sums, count), groups = self.sums[op.output], op.fields.get("groups", 1)
        taps = weights.reshape(groups, len(weights) // groups, len(sums) // groups, -1).sum(-1)
        return np.asarray((taps @ (sums / count).reshape(groups, -1, 1)).reshape(-1))

    def symmetric(self, name: str, bits: int) -> Type:
        """A type that reaches as far to both sides as the data."""
        low, high = self.ends[name]
        return type_of_range(low, high, bits, symmetric=True)


def _kept(network: FloatNetwork) -> set[str]:
    """What gives keys and values: the second inputs of products, before moves."""
    made_of, found = _producers(network), set()
    for op in network.ops:
        name = op.inputs[1] if op.kind == "matmul" else ""
        while name in made_of and made_of[name].kind in MOVES:
            name = made_of[name].inputs[0]
        found.add(name)
    return found


def _producers(network: FloatNetwork) -> dict[str, Op]:
    return {op.output: op for op in network.ops}


class _Readers:
    """Which operations read an edge, through those that only move its codes."""

    def __init__(self, network: FloatNetwork) -> None:
        self.by_name: dict[str, list[Op]] = {}
        for op in network.ops:
            for name in op.inputs:
                self.by_name.setdefault(name, []).append(op)

    def of(self, name: str) -> set[str]:
        """Their kinds."""
        kinds: set[str] = set()
        for op in self.by_name.get(name, []):
            kinds |= self.of(op.output) if op.kind in MOVES else {op.kind}
        return kinds


def _bits(op: Op, readers: set[str], widths: Widths) -> int:
    """The width of what an operation gives, by what it is and who reads it."""
    if op.kind == "function":
        return widths.table_output
    if "function" in readers:
        return widths.table_input
    if "softmax" in readers:
        return widths.scores
    if op.kind == "matmul":
        return widths.context
    if "matmul" in readers:
        return widths.operand
    return widths.residual


def _type(op: Op, ranges: Ranges, readers: set[str], widths: Widths) -> Type:
    if op.kind == "softmax":
        return Type(widths.probabilities, False, 2.0 ** -widths.probabilities)
    if "fraction" in op.fields:
        return Type(16, True, 2.0 ** -op.fields["fraction"])
    bits = _bits(op, readers, widths)
    if op.kind == "l2norm":
        return Type(bits, True, 2.0 ** -(bits - 1))
    if op.kind == "function":
        return type_of_range(*ranges.ends[op.output], bits)
    return ranges.symmetric(op.output, bits)


@functools.lru_cache(maxsize=256)
def _table(function: Any, parameters: tuple[tuple[str, float], ...], input: Type, output: Type, segments: int) -> Any:
    return fit(function, input=input, output=output, segments=segments, **({"param": dict(parameters)} if parameters else {}))


class _Maker:
    """Makes nodes of operations, one after another."""

    def __init__(self, network: FloatNetwork, ranges: Ranges, widths: Widths, sizes: Mapping[str, int]) -> None:
        self.network, self.ranges, self.widths, self.sizes = network, ranges, widths, sizes
        self.edges: dict[str, Edge] = {}
        self.nodes: list[Node] = []
        self.readers = _Readers(network)
        self.narrowed: dict[tuple[str, int], Edge] = {}

    def edge(self, name: str, type: Type, shape: Any) -> Edge:
        self.edges[name] = Edge(name, type, tuple(shape))
        return self.edges[name]

    def node(self, kind: str, op: Op, inputs: Iterable[Edge], output: Edge, **rest: Any) -> None:
        self.nodes.append(Node(kind, tuple(edge.name for edge in inputs), output.name, op.name, **rest))

    def narrow(self, op: Op, edge: Edge) -> Edge:
        """The edge, or one of the width that products read, which all of them share."""
        bits = self.widths.product_input
        if edge.type.bits <= bits:
            return edge
        if (edge.name, bits) not in self.narrowed:
            self.narrowed[edge.name, bits] = self.brought(op, edge, self.ranges.symmetric(edge.name, bits))
        return self.narrowed[edge.name, bits]

    def make_all(self, ops: Iterable[Op]) -> None:
        """Nodes of operations, in their order."""
        for op in ops:
            try:
                self.make(op)
            except Error as error:
                raise Error(f"{op.name or op.output}: {error}") from None

    def make(self, op: Op) -> None:
        if op.kind in MOVES:
            x = self.edges[op.inputs[0]]
            self.node(op.kind, op, [x], self.edge(op.output, x.type, op.shape), fields=dict(op.fields))
            return
        output = self.edge(op.output, _type(op, self.ranges, self.readers.of(op.output), self.widths), op.shape)
        inputs = [self.edges[name] for name in op.inputs]
        getattr(self, "_" + ("norm" if op.kind in ("layernorm", "rmsnorm", "l2norm") else op.kind))(op, inputs, output)

    def _gather(self, op: Op, x: list[Edge], y: Edge) -> None:
        self.node("gather", op, x, y, arrays={"table": y.type.quantize(op.arrays["table"]).astype(np.int16)})

    def _constant(self, op: Op, x: list[Edge], y: Edge) -> None:
        self.node("constant", op, x, y, arrays={"codes": y.type.quantize(op.arrays["values"]).astype(np.int16)})

    def _linear(self, op: Op, x: list[Edge], y: Edge) -> None:
        self._weighted("product", op, self.narrow(op, x[0]), y)

    def _convolution(self, op: Op, x: list[Edge], y: Edge) -> None:
        self._weighted("convolution", op, self.narrow(op, x[0]), y, fields=dict(op.fields))

    def _weighted(self, kind: str, op: Op, source: Edge, y: Edge, **rest: Any) -> None:
        """A node of sums with weights of 8 bits, one scale an output channel. The bias takes up what their rounding changes on
        average."""
        weights = op.arrays["weights"].astype(np.float64)
        flat = weights.reshape(len(weights), -1)
        steps = np.abs(flat).max(1) / 127
        steps[steps == 0] = 1
        codes = np.rint(flat / steps[:, None]).astype(np.int8)
        lost = self.ranges.mean_of(op, (flat - codes * steps[:, None]).reshape(weights.shape))
        bias = np.rint((op.arrays["bias"] + lost) / (source.type.scale * steps))
        bias = bias.astype(np.int64) - source.type.zero_point * codes.astype(np.int64).sum(1)
        node = Node(kind, (source.name,), y.name, op.name,
                    arrays={"weights": codes.reshape(weights.shape), "bias": bias}, **rest)
        by = multipliers(source.type.scale * steps / y.type.scale, Product.largest(node, source.type).bit_length())
        node.arrays.update(factor=by.factor.astype(np.int32), shift=by.shift.astype(np.uint8))
        self.nodes.append(node)

    def _rescaling(self, factor: float, largest: int) -> dict[str, Array]:
        by = multipliers(factor, largest.bit_length())
        return {"factor": by.factor.astype(np.int32), "shift": by.shift.astype(np.uint8)}

    def _matmul(self, op: Op, x: list[Edge], y: Edge) -> None:
        a, b = x
        count = sizes_of(a.shape[-1:], self.sizes)[0]
        largest = largest_offset(a.type) * largest_offset(b.type) * count
        self.node("matmul", op, x, y, fields={"transposed": op.fields["transposed"]},
                  arrays=self._rescaling(op.fields["factor"] * a.type.scale * b.type.scale / y.type.scale, largest))

    def _multiply(self, op: Op, x: list[Edge], y: Edge) -> None:
        pairs = [(x[k].type, x[k + 1].type) for k in range(0, len(x), 2)]
        values = np.array([a.scale * b.scale / y.type.scale for a, b in pairs])
        largest = [largest_offset(a) * largest_offset(b) for a, b in pairs]
        # The largest shift with which factors have 31 bits and the sum 62.
        shift = min(62, *(int(math.floor(limit)) for limit in (
            np.log2((2.0 ** 31 - 1) / values.max()), np.log2(2.0 ** 61 / (values * largest).sum()))))
        if shift < 1:
            raise Error("the output's scale is far below its inputs'")
        self.node("multiply", op, x, y, arrays={"factor": np.rint(values * 2.0 ** shift).astype(np.int32),
                                                "shift": np.array(shift, np.uint8)})

    def _concat(self, op: Op, x: list[Edge], y: Edge) -> None:
        self.node("concat", op, [self.brought(op, edge, y.type) for edge in x], y, fields=dict(op.fields))

    def brought(self, op: Op, edge: Edge, to: Type) -> Edge:
        """The edge, or one of another type with the same numbers."""
        if edge.type == to:
            return edge
        made = self.edge(f"{edge.name}.{len(self.edges)}", to, edge.shape)
        self.node("operator", op, [edge], made, fields={"causal": 0}, operator=elements.requantise(edge.type, to))
        return made

    def _mean(self, op: Op, x: list[Edge], y: Edge) -> None:
        count = sizes_of(x[0].shape[op.fields["axis"]:][:1], self.sizes)[0]
        by = multipliers(x[0].type.scale / y.type.scale / np.arange(1, count + 1),
                         (largest_offset(x[0].type) * count).bit_length())
        self.node("mean", op, x, y, fields=dict(op.fields), arrays={"factor": by.factor.astype(np.int32),
                                                                    "shift": by.shift.astype(np.uint8)})

    def _operator(self, op: Op, x: list[Edge], y: Edge, operator: Any, causal: int = 0) -> None:
        self.node("operator", op, x, y, fields={"causal": causal}, operator=operator)

    def _add(self, op: Op, x: list[Edge], y: Edge) -> None:
        self._operator(op, x, y, elements.add(x[0].type, x[1].type, y.type))

    def _loop(self, op: Op, x: list[Edge], y: Edge) -> None:
        assert op.body is not None
        maker, axis = _Maker(op.body, self.ranges, self.widths, self.sizes), op.fields["axis"]
        for one, name in zip(op.body.inputs, (*op.inputs, *op.body.outputs[1:])):  # ranges of a place, and of states
            self.ranges.ends[one.name] = self.ranges.ends[name]
        for one, edge in zip(op.body.inputs, x):
            maker.edge(one.name, edge.type, (*edge.shape[:axis], *edge.shape[axis + 1:]))
        made_of = {inner.output: inner for inner in op.body.ops}
        for one, name in zip(op.body.inputs[len(x):], op.body.outputs[1:]):
            maker.edge(one.name, _type(made_of[name], self.ranges, maker.readers.of(name), self.widths), one.shape)
        maker.make_all(op.body.ops)
        y = self.edge(y.name, maker.edges[op.body.outputs[0]].type, y.shape)
        body = Network(self.sizes, maker.edges.values(), [one.name for one in op.body.inputs], op.body.outputs, maker.nodes,
                       is_body=True)
        self.node("loop", op, x, y, fields=dict(op.fields), body=body)

    def _function(self, op: Op, x: list[Edge], y: Edge) -> None:
        segments = self.widths.segments[x[0].type.bits > 8]
        self._operator(op, x, y, _table(op.function, tuple(op.parameters.items()), x[0].type, y.type, segments))

    def _softmax(self, op: Op, x: list[Edge], y: Edge) -> None:
        longest = sizes_of(op.shape[-1:], self.sizes)[0]
        self._operator(op, x, y, rows.softmax(x[0].type, y.type, rows=longest), int(op.fields["causal"]))

    def _norm(self, op: Op, x: list[Edge], y: Edge) -> None:
        length = sizes_of(op.shape[-1:], self.sizes)[0]
        keywords = {name: op.arrays[name] for name in ("gamma", "beta") if name in op.arrays}
        if op.kind == "l2norm":
            self._operator(op, x, y, rows.l2norm(x[0].type, y.type, rows=length))
        else:
            make = rows.layernorm if op.kind == "layernorm" else rows.rmsnorm
            self._operator(op, x, y, make(x[0].type, y.type, eps=op.fields["eps"], rows=length, **keywords))


def quantise(network: FloatNetwork, ranges: Ranges, widths: Optional[Widths] = None,
             sizes: Optional[Mapping[str, int]] = None) -> Network:
    """The network by integers. sizes are the longest of each size, by default those that were observed."""
    longest = {**ranges.sizes, **(sizes or {})}
    maker = _Maker(network, ranges, widths or Widths(), longest)
    for one in network.inputs:
        if one.role == "mask":
            side = Type(8, False, 1.0, 0, 0, 1)
        elif one.role == "index":
            rows_of = min(len(op.arrays["table"]) for op in network.ops if op.kind == "gather" and one.name in op.inputs)
            side = Type(32, True, 1.0, 0, 0, rows_of - 1)
        else:
            side = ranges.symmetric(one.name, maker.widths.product_input)
        maker.edge(one.name, side, one.shape)
    maker.make_all(network.ops)
    return Network(longest, maker.edges.values(), [one.name for one in network.inputs], network.outputs, maker.nodes, real=network)


def cheapest(network: FloatNetwork, ranges: Ranges, batches: Sequence[Sequence[Any]], loss: float,
             sizes: Optional[Mapping[str, int]] = None) -> Network:
    """The network of as many places of 8 bits as lose no more than `loss` over the batches: from 16 bits
    everywhere, the place that loses least alone is narrowed first. Error where 16 bits everywhere lose more."""
    exact = [y for inputs in batches for y in network(*inputs)]

    def judged(widths: Widths) -> tuple[float, Network]:
        made = quantise(network, ranges, widths, sizes)
        found = [made.real(*inputs) for inputs in batches]
        return relative_loss([y for one in found for y in (one if isinstance(one, tuple) else (one,))], exact), made

    widths = Widths.all(16)
    lost, best = judged(widths)
    if lost > loss:
        raise Error(f"loss: {loss:g} is less than 16 bits everywhere lose, {lost:.4g}; more of it is weights'")
    alone = sorted((judged(widths.narrowed(place))[0], place) for place in PLACES)
    for _, place in alone:
        narrower = widths.narrowed(place)
        lost, made = judged(narrower)
        if lost <= loss:
            widths, best = narrower, made
    return best
