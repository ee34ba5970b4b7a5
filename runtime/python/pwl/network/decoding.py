# SPDX-License-Identifier: Apache-2.0
"""Decoders: a network of causal attention as one that takes a few tokens and what it keeps of those before, with the same
bits; and a sequence that grows by it."""
from __future__ import annotations

import dataclasses
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from .. import cuda
from ..codes import Array, Type
from ..errors import Error
from .kinds import Edge, Node, Shape, sizes_of

__all__ = ["NUMBERS", "PLACES", "Decoding", "Parts", "decoder_parts"]

NUMBERS, PLACES = "positions", "places"  # the input with places of tokens; how many places caches have
FIRST_PLACES = 64  # of a sequence's caches, which then double


@dataclasses.dataclass
class Parts:
    """What a network is made of."""

    sizes: dict[str, int]
    edges: list[Edge]
    inputs: list[str]
    outputs: list[str]
    nodes: list[Node]


class _Maker:
    """Makes the nodes of a decoder from those of a network over whole sequences."""

    def __init__(self, network: Any) -> None:
        self.network = network
        self.made_of: dict[str, Node] = {node.output: node for node in network.nodes}
        self.readers: dict[str, list[Node]] = {}
        for node in network.nodes:
            for name in node.inputs:
                self.readers.setdefault(name, []).append(node)
        self.softmaxes = [node for node in network.nodes if node.kind == "operator" and node.fields["causal"]]
        self.length = self._length()
        self.seen: set[str] = set()  # edges whose last axis counts places that are seen
        self.kept: dict[str, tuple[str, int]] = {}  # by a product's output: what it reads of all places, and their axis
        self.caches: dict[tuple[str, int], str] = {}
        self.edges: list[Edge] = []
        self.nodes: list[Node] = []

    def _length(self) -> str:
        if any(node.kind == "append" for node in self.network.nodes):
            raise Error("this network keeps what it needs of tokens already")
        if not self.softmaxes:
            raise Error("no attention is causal: only what sees no token behind its own can be decoded one by one")
        sizes = {size for node in self.softmaxes for size in self.network.edges[node.output].shape[-2:]}
        size = sizes.pop()
        if sizes or not isinstance(size, str) or size not in self.network.sizes:
            raise Error(f"causal rows of {size} places, which no input chooses: batches of more than one length are wanted, or "
                        "sizes")
        if PLACES in self.network.sizes or any(name in self.network.edges for name in (NUMBERS, "cache.0")):
            raise Error(f"the names {PLACES}, {NUMBERS} and cache.0 are a decoder's, and taken")
        return size

    def refuse(self, node: Node, why: str) -> Error:
        return Error(f"{node.name or node.output}, {node.kind}: {why}")

    def _is_single(self, node: Node) -> bool:
        """Whether it computes with single codes, or moves none, so that its last axis stays what it is."""
        operator = node.operator
        single = operator is not None and not node.fields["causal"] and len(node.inputs) == 1 and not hasattr(operator, "is_norm")
        ends = [self.network.edges[name].shape[-1:] for name in (node.inputs[0], node.output)]
        return single or (node.kind == "reshape" and ends[0] == ends[1])

    def _mark(self, softmax: Node) -> None:
        """Which edges count places that are seen, between the product of scores and that with values."""
        if len(softmax.inputs) != 1:
            raise self.refuse(softmax, "a mask beside the causal one; a decoder's tokens have places of their own")
        name = softmax.inputs[0]
        while name in self.made_of and self._is_single(self.made_of[name]):
            self.seen.add(name)
            name = self.made_of[name].inputs[0]
        scores = self.made_of.get(name)
        if scores is None or scores.kind != "matmul":
            raise self.refuse(softmax, "scores that no product of queries and keys gives")
        self.seen.update((name, softmax.output))
        self._keep(scores, bool(scores.fields["transposed"]))
        name = softmax.output
        while True:
            readers = self.readers.get(name, [])
            if len(readers) != 1 or name in self.network.outputs:
                raise self.refuse(softmax, "shares that are read elsewhere than by a product with values")
            if not self._is_single(readers[0]):
                break
            name = readers[0].output
            self.seen.add(name)
        if readers[0].kind != "matmul" or readers[0].inputs[0] != name or readers[0].inputs[1] == name:
            raise self.refuse(readers[0], "reads the shares of a softmax, and is no product with values")
        self._keep(readers[0], not readers[0].fields["transposed"])

    def _keep(self, product: Node, rows: bool) -> None:
        name = product.inputs[1]
        shape = self.network.edges[name].shape
        axis = len(shape) - (2 if rows else 1)
        if shape[axis] != self.length:
            raise self.refuse(product, f"keys or values of {shape}, whose places are not {self.length}")
        self.kept[product.output] = name, axis

    def edge(self, name: str, type: Type, shape: Shape) -> str:
        self.edges.append(Edge(name, type, shape))
        return name

    def _cache(self, product: Node) -> str:
        """The cache with a product's keys or values in it, made once for all that read them."""
        key = self.kept[product.output]
        if key not in self.caches:
            name, axis = key
            edge, cache = self.network.edges[name], f"cache.{len(self.caches)}"
            shape = (*edge.shape[:axis], PLACES, *edge.shape[axis + 1:])
            self.caches[key] = self.edge(f"{cache}.next", edge.type, shape)
            self.edge(cache, edge.type, shape)
            self.nodes.append(Node("append", (name, cache, NUMBERS), f"{cache}.next", product.name, {"axis": axis}))
        return self.caches[key]

    def _constant(self, node: Node, edge: Edge) -> None:
        """A constant whose rows belong to places, by the places' numbers."""
        shape, codes = edge.shape, node.arrays["codes"]
        axis = shape.index(self.length) if self.length in shape else -1
        if axis < 0 or any(size != 1 for size in shape[:axis]) or not all(isinstance(size, int) for size in shape[axis + 1:]):
            raise self.refuse(node, f"a constant of {shape}, whose rows are not those of {self.length}")
        table = codes.reshape(codes.shape[axis], -1)
        rows = self.edge(f"{edge.name}.rows", edge.type, (self.length, table.shape[1]))
        self.nodes += [Node("gather", (NUMBERS,), rows, node.name, arrays={"table": table}),
                       Node("reshape", (rows,), edge.name, node.name)]

    def _has(self, shape: Sequence[Union[int, str]]) -> bool:
        return any(self.length in str(size).split("*") for size in shape)

    def _check_apart(self, node: Node) -> None:
        """Refuses what mixes places of tokens."""
        edges = self.network.edges
        x = edges[node.inputs[0]].shape if node.inputs else ()
        along = {"mean": x[node.fields["axis"]:][:1] if node.kind == "mean" else (), "loop": x[node.fields.get("axis", 0):][:1],
                 "convolution": x[2:], "max_pool": x[2:], "matmul": x[-1:]}.get(node.kind, ())
        if node.kind == "operator" and hasattr(node.operator, "is_norm"):
            along = x[-1:]
        if self._has(along):
            raise self.refuse(node, f"is over {self.length}, whose tokens a decoder has one after another")

    def made(self) -> Parts:
        for softmax in self.softmaxes:
            self._mark(softmax)
        network, capacity = self.network, self.network.sizes[self.length]
        self.edge(NUMBERS, Type(32, True, 1.0, 0, 0, capacity - 1), (self.length,))
        for name in network.inputs:
            self.edges.append(network.edges[name])
        for node in network.nodes:
            edge = network.edges[node.output]
            inputs, fields = node.inputs, node.fields
            if node.output in self.kept:
                inputs = (inputs[0], self._cache(node))
            elif node in self.softmaxes:
                inputs, fields = (*inputs, NUMBERS), {**fields, "causal": 2}
            elif node.output not in self.seen:
                self._check_apart(node)
            if edge.name in self.seen:
                edge = dataclasses.replace(edge, shape=(*edge.shape[:-1], PLACES))
            self.edges.append(edge)
            if node.kind == "constant" and self._has(edge.shape):
                self._constant(node, edge)
            else:
                self.nodes.append(dataclasses.replace(node, inputs=inputs, fields=fields))
        made = list(self.caches.values())
        return Parts({**network.sizes, PLACES: capacity}, self.edges,
                     [*network.inputs, NUMBERS, *(name[:-len(".next")] for name in made)], [*network.outputs, *made], self.nodes)


def decoder_parts(network: Any) -> Parts:
    """Of the decoder of a network over whole sequences."""
    return _Maker(network).made()


class Decoding:
    """Sequences that grow together, a few tokens a call: the caches of a decoder, and how many tokens they have. Where tokens
    lie on a CUDA device, so do caches from then on, and what is made of tokens.

    network    as Network.decoder() makes it
    batch      how many sequences
    first      what caches have of the first tokens, as Network.kept() gives it: all sequences begin with these
    position   of the next token; setting it back forgets what came after
    """

    def __init__(self, network: Any, batch: int = 1, first: Optional[Mapping[str, Array]] = None) -> None:
        self.network, self.position = network, 0
        appends = [node for node in network.nodes if node.kind == "append"]
        if not appends or NUMBERS not in network.inputs or PLACES not in network.sizes:
            raise Error("a network that keeps nothing of tokens; Network.decoder() makes one that does")
        self.length = network.edges[NUMBERS].shape[0]
        self.capacity: int = network.sizes[PLACES]
        self._axes = {node.inputs[1]: node.fields["axis"] for node in appends}
        self._given = [name for name in network.inputs if name != NUMBERS and name not in self._axes]
        self._sizes = {**{name: 1 for name in network.sizes}, "batch": batch, PLACES: min(self.capacity, FIRST_PLACES)}
        self._device: Any = None  # an array on the device where caches are to lie
        self._caches: dict[str, Any] = {name: self._empty(name) for name in self._axes}
        if first is not None:
            self._begin(first)

    def _begin(self, first: Mapping[str, Array]) -> None:
        counts = {codes.shape[self._axes[name]] for name, codes in first.items() if name in self._axes}
        if set(first) != set(self._axes) or len(counts) != 1:
            raise Error(f"first: {', '.join(first)}, must be codes of as many tokens for {', '.join(self._axes)}")
        count = counts.pop()
        self._grow(count)
        for name, codes in first.items():
            self._caches[name][(*[slice(None)] * self._axes[name], slice(count))] = codes
        self.position = count

    def _empty(self, name: str) -> Any:
        edge = self.network.edges[name]
        return self._placed(np.full(sizes_of(edge.shape, self._sizes), edge.type.zero_point, edge.type.dtype))

    def _placed(self, codes: Array) -> Any:
        return codes if self._device is None else cuda.beside(self._device, codes)

    def _move(self, inputs: Sequence[Any]) -> None:
        """Caches to the device of the inputs, where they lie on one and the caches do not."""
        if self._device is None and any(cuda.is_cuda(x) for x in inputs):
            self._device = next(x for x in inputs if cuda.is_cuda(x))
            self._caches = {name: self._placed(codes) for name, codes in self._caches.items()}

    def _count(self, inputs: Sequence[Any]) -> int:
        """How many tokens the inputs have."""
        if len(inputs) != len(self._given):
            raise Error(f"{len(inputs)} inputs, must be {len(self._given)}: {', '.join(self._given)}")
        for name, x in zip(self._given, inputs):
            shape = self.network.edges[name].shape
            if self.length in shape and np.ndim(x) == len(shape):
                return int(np.shape(x)[shape.index(self.length)])
        raise Error(f"no input of shape {', '.join(str(self.network.edges[name].shape) for name in self._given)}")

    def _grow(self, wanted: int) -> None:
        if not 0 <= self.position <= wanted <= self.capacity:
            raise Error(f"{wanted} tokens, {self.position} of them before: the capacity of this network is {self.capacity}")
        if wanted <= self._sizes[PLACES]:
            return
        while self._sizes[PLACES] < wanted:
            self._sizes[PLACES] = min(2 * self._sizes[PLACES], self.capacity)
        for name, axis in self._axes.items():
            before, self._caches[name] = self._caches[name], self._empty(name)
            self._caches[name][(*[slice(None)] * axis, slice(before.shape[axis]))] = before

    def __call__(self, *inputs: Any) -> Any:
        """The output codes of the next tokens' codes: an array, or a tuple of them."""
        count = self._count(inputs)
        self._move(inputs)
        self._grow(self.position + count)
        numbers = self._placed(np.arange(self.position, self.position + count, dtype=np.int32))
        given = {**dict(zip(self._given, inputs)), NUMBERS: numbers, **self._caches}
        appends = {node.output: node.inputs[1] for node in self.network.nodes if node.kind == "append"}
        # Caches on a device change in place.
        out = None if self._device is None else [self._caches.get(appends.get(name, "")) for name in self.network.outputs]
        made = dict(zip(self.network.outputs, self.network(*(given[name] for name in self.network.inputs), out=out)))
        for name, cache in appends.items():
            self._caches[cache] = made.pop(name)
        self.position += count
        return tuple(made.values()) if len(made) > 1 else next(iter(made.values()))

    def real(self, *inputs: Any) -> Any:
        """Real numbers of real numbers, as Network.real() has them."""
        self._count(inputs)
        made = self(*(self.network.nearest(name, x) for name, x in zip(self._given, inputs)))
        names = [name for name in self.network.outputs if name not in {f"{cache}.next" for cache in self._axes}]
        reals = tuple(self.network.edges[name].type.dequantize(codes)
                      for name, codes in zip(names, made if isinstance(made, tuple) else (made,)))
        return reals if len(reals) > 1 else reals[0]
