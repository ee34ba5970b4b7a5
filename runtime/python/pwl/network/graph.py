# SPDX-License-Identifier: Apache-2.0
"""A network as integers: its nodes in order, checked once, run on any number of inputs, and as a file."""
from __future__ import annotations

import hashlib
import json
import math
import os
import re
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence, Union

import numpy as np

from .. import _core, cuda, document, files
from ..codes import Array, Type, codes_of, read_type
from ..document import Fields
from ..errors import Error, shown
from ..operators import operator_class
from ..table import Table
from ..weighted import WeighOperator
from .arrays import pack, unpack
from .compiled import compiled, ran
from .decoding import decoder_parts
from .floats import FloatNetwork, Op
from .kinds import KINDS, Edge, Node, Operator, Sides, sizes_of
from .report import Report, report

__all__ = ["Network", "load"]

MOST_BYTES = 256 << 20
LARGEST_SIZE = 65536
LARGEST_EDGE = (1 << 31) - 1  # codes, for the longest sizes


class Network:
    """A network that computes with integers alone. It never changes; any number of threads may call it.

    sizes     the longest of each size that inputs tell, as {"batch": 64, "length": 256}
    edges     by name, in the order of their nodes
    inputs    names of edges, as are outputs
    nodes     in an order in which each reads what stands before it
    """

    def __init__(self, sizes: Mapping[str, int], edges: Iterable[Edge], inputs: Sequence[str], outputs: Sequence[str],
                 nodes: Sequence[Node], *, is_body: bool = False, real: Optional[FloatNetwork] = None) -> None:
        self.sizes, self.edges = dict(sizes), {edge.name: edge for edge in edges}
        self.inputs, self.outputs, self.nodes = tuple(inputs), tuple(outputs), tuple(nodes)
        self.is_body = is_body  # of a loop, whose sizes the network around it tells
        self.real_network = real  # that it was made of, which no file has
        self._check()
        self._last = {name: k for k, node in enumerate(self.nodes) for name in node.inputs}
        self._compiled: Optional[_core.Network] = None  # when it is first asked
        self._uploads: dict[int, Any] = {}  # of cuda.py, by device

    def __repr__(self) -> str:
        weights = sum(array.nbytes for node in self.nodes for array in node.arrays.values())
        return f"<pwl.Network of {len(self.nodes)} nodes, {weights} bytes of constants>"

    def sides(self, node: Node) -> Sides:
        """The edges that a node reads and writes."""
        return Sides(tuple(self.edges[name] for name in node.inputs), self.edges[node.output])

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_compiled": None, "_uploads": {}}

    @property
    def _address(self) -> int:
        """Where C finds the network, for libpwl-cuda."""
        self._compiled = self._compiled or compiled(self)
        return self._compiled._address

    def run(self, inputs: Sequence[Array], sizes: Mapping[str, int],
            seen: Optional[Callable[[Edge, Array], None]] = None) -> list[Array]:
        """The outputs of inputs that are known to fit, by numpy."""
        codes = dict(zip(self.inputs, inputs))
        for k, node in enumerate(self.nodes):
            array = KINDS[node.kind].run(node, self.sides(node), [codes[name] for name in node.inputs], sizes)
            if seen is not None:
                seen(self.edges[node.output], array)
            codes[node.output] = array
            for name in set(node.inputs):  # what nothing reads any more is let go
                if self._last[name] == k and name not in self.outputs:
                    del codes[name]
        return [codes[name] for name in self.outputs]

    def _check(self) -> None:
        for name, longest in self.sizes.items():
            if type(longest) is not int or not 1 <= longest <= LARGEST_SIZE:
                raise Error(f"sizes.{name}: {shown(longest)}, must be an integer from 1 to {LARGEST_SIZE}")
        for edge in self.edges.values():
            for size in edge.shape:
                if not (self._is_size(size) if isinstance(size, str) else type(size) is int and size >= 1):
                    raise Error(f"edge {edge.name}: a size of {shown(size)}, must be a number or a product of {', '.join(self.sizes)}")
            if math.prod(sizes_of(edge.shape, self.sizes)) > LARGEST_EDGE:
                raise Error(f"edge {edge.name}: {_shape_text(edge.shape)} has more than {LARGEST_EDGE} codes")
        told = {size for name in self.inputs for size in self._edge(name, "inputs").shape}
        for size in told:
            if isinstance(size, str) and size not in self.sizes and not self.is_body:
                raise Error(f"inputs: a size of {size}, must be a number or one of {', '.join(self.sizes)}")
        for name in self.sizes:
            if name not in told and not self.is_body:
                raise Error(f"sizes.{name}: no input has it")
        known = set(self.inputs)
        for k, node in enumerate(self.nodes):
            try:
                self._check_node(node, known)
            except Error as error:
                raise Error(f"node {k}, {node.name or node.output}, {node.kind}: {error}") from None
            known.add(node.output)
        for name in self.edges:
            if name not in known:
                raise Error(f"edge {name}: no node writes it, and it is no input")
        for name in self.outputs:
            if name not in known:
                raise Error(f"outputs: {name}, which no node writes")

    def _is_size(self, text: str) -> bool:
        parts = text.split("*")
        return all(part in self.sizes for part in parts[1 if len(parts) > 1 and re.fullmatch("[1-9][0-9]{0,8}", parts[0]) else 0:])

    def _edge(self, name: str, where: str) -> Edge:
        if name not in self.edges:
            raise Error(f"{where}: {shown(name)}, which is no edge")
        return self.edges[name]

    def _check_node(self, node: Node, known: set[str]) -> None:
        kind = KINDS.get(node.kind)
        if kind is None:
            raise Error(f"{shown(node.kind)}: is no kind; there are {', '.join(KINDS)}")
        for name in node.inputs:
            if name not in known:
                raise Error(f"reads {shown(name)}, which nothing before it writes")
        if self._edge(node.output, "output").name in known:
            raise Error(f"writes {node.output}, which is written already")
        if not kind.inputs <= len(node.inputs) <= kind.inputs + kind.optional:
            raise Error(f"reads {len(node.inputs)} edges, must be {kind.inputs}"
                        + (f" to {kind.inputs + kind.optional}" if kind.optional else ""))
        if set(node.fields) != set(kind.fields) or set(node.arrays) != set(kind.arrays):
            raise Error(f"has {', '.join([*node.fields, *node.arrays])}; must have {', '.join([*kind.fields, *kind.arrays])}")
        for name, dtype in kind.arrays.items():
            if node.arrays[name].dtype != dtype:
                raise Error(f"{name}: an array of {node.arrays[name].dtype}, must be of {dtype}")
        if (node.operator is None) == (node.kind == "operator"):
            raise Error("a node of kind operator has one, no other has")
        if (node.body is None) == (node.kind == "loop") or (node.body is not None and node.body.sizes != self.sizes):
            raise Error("a node of kind loop has a body, of the same sizes, no other has")
        sides = self.sides(node)
        if kind.moves and sides.inputs[0].type != sides.output.type:
            raise Error(f"moves codes of {sides.inputs[0].type} to an edge of {sides.output.type}")
        kind.check(node, sides, self.sizes)
        if node.kind == "append":
            self._check_cache(node)

    def _check_cache(self, node: Node) -> None:
        cache, numbers = node.inputs[1:]
        if self.is_body:
            raise Error("is in the body of a loop")
        if sum(one.inputs.count(cache) for one in self.nodes) > 1 or cache in self.outputs:
            raise Error(f"its cache {cache} is read elsewhere too")
        if numbers not in self.inputs:
            raise Error(f"{numbers}, which numbers places, must be an input")

    def shape_at(self, edge: str, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """The shape of an edge."""
        return sizes_of(self.edges[edge].shape, sizes)

    def sizes_at(self, shapes: Mapping[str, Sequence[int]]) -> dict[str, int]:
        """What the inputs' shapes say of sizes."""
        found: dict[str, int] = {}
        for name in self.inputs:
            edge, shape = self.edges[name], shapes[name]
            if len(shape) != len(edge.shape):
                raise Error(f"{name}: {len(shape)} axes, must be {len(edge.shape)}: {_shape_text(edge.shape)}")
            for size, given in zip(edge.shape, shape):
                wanted: int = size if isinstance(size, int) else found.setdefault(size, given)
                if given != wanted:
                    raise Error(f"{name}: shape {shape}, must be {_shape_text(edge.shape)}"
                                + ("" if isinstance(size, int) else f", and another input has {size} = {wanted}"))
                if isinstance(size, str) and not 1 <= given <= self.sizes[size]:
                    raise Error(f"{name}: {size} is {given}, must be from 1 to {self.sizes[size]}, for which this network was made")
        return found

    def __call__(self, *inputs: Any, by: str = "libpwl", out: Any = None, stream: Optional[int] = None,
                 seen: Optional[Callable[[Edge, Array], None]] = None) -> Any:
        """The output codes of input codes: an array, or a tuple of them. By libpwl, or by "numpy", which is slow, and the
        reference: the same codes. Arrays on a CUDA device stay there: pwl.cuda.map_network(), which has `out` and `stream`.
        With `seen` by numpy, which shows it each edge."""
        if any(cuda.is_cuda(x) for x in inputs):
            return cuda.map_network(self, inputs, out, stream)
        if by not in ("libpwl", "numpy"):
            raise Error(f"by: {shown(by)}, must be libpwl or numpy")
        if len(inputs) != len(self.inputs):
            raise Error(f"{len(inputs)} inputs, must be {len(self.inputs)}: {', '.join(self.inputs)}")
        codes = {name: codes_of(x, self.edges[name].type) for name, x in zip(self.inputs, inputs)}
        for name, array in codes.items():
            side = self.edges[name].type
            if array.size and not side.qmin <= array.min() <= array.max() <= side.qmax:
                raise Error(f"{name}: codes from {array.min()} to {array.max()}, must be from {side.qmin} to {side.qmax}")
        sizes, arrays = self.sizes_at({name: array.shape for name, array in codes.items()}), [codes[name] for name in self.inputs]
        self._check_places(codes, sizes)
        if by == "libpwl" and seen is None:
            self._compiled = self._compiled or compiled(self)
            results = tuple(ran(self, self._compiled, arrays, sizes))
        else:
            results = tuple(self.run(arrays, sizes, seen))
        return results[0] if len(results) == 1 else results

    def _check_places(self, codes: Mapping[str, Array], sizes: Mapping[str, int]) -> None:
        """That caches have the places that inputs number."""
        for node in self.nodes:
            if node.kind == "append":
                places = self.shape_at(node.inputs[1], sizes)[node.fields["axis"]]
                number = int(codes[node.inputs[2]].max())
                if number >= places:
                    raise Error(f"{node.inputs[2]}: place {number}, must be below {places}, the places of {node.inputs[1]}")

    def nearest(self, name: str, x: Any) -> Any:
        """The codes of an edge that are nearest to real numbers; indices and masks of integers as they are."""
        side = self.edges[name].type
        return x if side.scale == 1 and np.asarray(x).dtype.kind in "biu" else side.quantize(x)

    def decoder(self) -> Network:
        """The network that takes a few tokens and what is kept of those before, for causal networks over whole sequences: it has
        the same bits. It reads the places of its tokens and a cache for the keys and one for the values of each attention, and
        gives these caches with the tokens' own; pwl.network.Decoding keeps them. Its capacity is the longest sequence of this
        network."""
        parts = decoder_parts(self)
        return Network(parts.sizes, parts.edges, parts.inputs, parts.outputs, parts.nodes, real=self.real_network)

    def kept(self, *inputs: Any) -> dict[str, Array]:
        """Of a network with caches: the codes of each for tokens, as the network of real numbers has them, which the one that this
        decoder was made of was made from."""
        if self.real_network is None:
            raise Error("a decoder from a file: what it keeps of tokens in real numbers is told by the one that was made of a model")
        found: dict[str, Array] = {}
        names = {node.inputs[0]: node.inputs[1] for node in self.nodes if node.kind == "append"}

        def see(op: Op, x: Sequence[Array], y: Array) -> Array:
            if op.output in names:
                found[names[op.output]] = self.edges[op.output].type.quantize(y)
            return y

        self.real_network(*inputs, replaced=see)
        return found

    def real(self, *inputs: Any) -> Any:
        """Real numbers of real numbers, in float32, by way of the nearest codes; indices and masks are integers as they are."""
        codes = [self.nearest(name, x) for name, x in zip(self.inputs, inputs)]
        results = self(*codes, *inputs[len(codes):])
        reals = tuple(self.edges[name].type.dequantize(array)
                      for name, array in zip(self.outputs, results if isinstance(results, tuple) else (results,)))
        return reals[0] if len(reals) == 1 else reals

    def report(self, *inputs: Any) -> Report:
        """What each node loses, by the network of real numbers that it was made of, over a batch of real inputs."""
        if self.real_network is None:
            raise Error("a network from a file: what it loses is told by the one that was made of a model")
        return report(self, self.real_network, inputs)

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the network as JSON, and its arrays beside it, as NAME.safetensors; docs/networks.md has the format."""
        path = os.fspath(path)
        content, arrays = self._document()
        data = pack(arrays)
        content = {"pwl_network": 1, "sizes": self.sizes, **content}
        content["arrays"] = {"file": os.path.basename(_arrays_path(path)), "sha256": hashlib.sha256(data).hexdigest()}
        files.write(_arrays_path(path), data)
        files.write(path, document.write(content))

    def _document(self, prefix: str = "") -> tuple[dict[str, Any], dict[str, Array]]:
        """What the file says of it, and its arrays by their names there."""
        arrays: dict[str, Array] = {}
        nodes = []
        for k, node in enumerate(self.nodes):
            entry: dict[str, Any] = {"kind": node.kind, "name": node.name, "inputs": list(node.inputs), "output": node.output,
                                     **node.fields}
            for name, array in node.arrays.items():
                arrays[f"{prefix}{k}.{name}"] = array
            if node.operator is not None:
                entry["operator"] = json.loads(node.operator.to_json())
            if node.body is not None:
                entry["body"], inner = node.body._document(f"{prefix}{k}.")
                arrays.update(inner)
            nodes.append(entry)
        edges = [{"name": edge.name, "type": _type_fields(edge.type), "shape": list(edge.shape)} for edge in self.edges.values()]
        return {"inputs": list(self.inputs), "outputs": list(self.outputs), "edges": edges, "nodes": nodes}, arrays


def _type_fields(side: Type) -> dict[str, Any]:
    return {"bits": side.bits, "signed": side.signed, "scale": side.scale_text, "zero_point": side.zero_point, "qmin": side.qmin,
            "qmax": side.qmax}


def _shape_text(shape: Sequence[Union[int, str]]) -> str:
    return "(" + ", ".join(map(str, shape)) + ")"


def _arrays_path(path: str) -> str:
    return (path[:-5] if path.endswith(".json") else path) + ".safetensors"


def _names(top: Fields, field: str) -> list[str]:
    names = top.get(field)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise Error(f"{top.name(field)}: must be a list of names")
    return names


def _read_operator(value: Any) -> Operator:
    if not isinstance(value, dict):
        raise Error("operator: must be an object")
    made = Table if "pwl_table" in value else operator_class(value)
    if made is WeighOperator:
        raise Error("operator.operator: \"weigh\", must be a table, or an operator of rows or of elements")
    operator: Operator = made(value)
    return operator


def _read_node(fields: Fields, arrays: Mapping[str, Array], prefix: str, sizes: Mapping[str, int]) -> Node:
    name = fields.get("kind")
    if not isinstance(name, str) or name not in KINDS:
        raise Error(f"{fields.name('kind')}: {shown(name)}, must be one of {', '.join(KINDS)}")
    kind = KINDS[name]
    fields.only({"kind", "name", "inputs", "output", "operator", "body", *kind.fields})
    own = {}
    for field in kind.fields:
        value = fields.get(field)
        own[field] = ([Fields(fields.name(field), {"at": one}).integer("at", 0, LARGEST_SIZE) for one in value]
                      if isinstance(value, list) else fields.integer(field, -(1 << 40), 1 << 40))
    found = {array: arrays.get(f"{prefix}.{array}") for array in kind.arrays}
    for array, values in found.items():
        if values is None:
            raise Error(f"{fields.path}: the array {prefix}.{array} is missing")
    operator = _read_operator(fields.get("operator")) if "operator" in fields else None
    body = None
    if "body" in fields:
        inner = fields.object("body", {"inputs", "outputs", "edges", "nodes"})
        body = _read_network(inner, arrays, f"{prefix}.", sizes, is_body=True)
    texts = [fields.get(field) for field in ("output", "name")]
    if not all(isinstance(text, str) for text in texts):
        raise Error(f"{fields.path}: output and name must be texts")
    return Node(name, tuple(_names(fields, "inputs")), texts[0], texts[1], own,
                {array: values for array, values in found.items() if values is not None}, operator, body)


def _read_network(top: Fields, arrays: Mapping[str, Array], prefix: str, sizes: Mapping[str, int], is_body: bool) -> Network:
    edges = []
    for k, value in enumerate(_list(top, "edges")):
        entry = Fields(top.name(f"edges[{k}]"), value)
        entry.only({"name", "type", "shape"})
        shape = entry.get("shape")
        if not isinstance(entry.get("name"), str) or not isinstance(shape, list):
            raise Error(f"{entry.path}: name must be a text, shape a list")
        edges.append(Edge(entry.get("name"), read_type(entry, "type"), tuple(shape)))
    nodes = [_read_node(Fields(top.name(f"nodes[{k}]"), value), arrays, f"{prefix}{k}", sizes)
             for k, value in enumerate(_list(top, "nodes"))]
    return Network(sizes, edges, _names(top, "inputs"), _names(top, "outputs"), nodes, is_body=is_body)


def load(path: Union[str, os.PathLike[str]]) -> Network:
    """A network from a file that Network.save() wrote, and the arrays beside it. Error names the file and the field, OSError a
    file that is not there."""
    path = os.fspath(path)
    try:
        top = Fields("", document.parse(document.read(path, MOST_BYTES), MOST_BYTES))
        top.only({"pwl_network", "sizes", "inputs", "outputs", "edges", "nodes", "arrays"})
        top.integer("pwl_network", 1, 1)
        beside, sizes = top.object("arrays", {"file", "sha256"}), Fields("sizes", top.get("sizes"))
        if beside.get("file") != os.path.basename(_arrays_path(path)):
            raise Error(f"arrays.file: {shown(beside.get('file'))}, must be {os.path.basename(_arrays_path(path))}, beside it")
        with open(_arrays_path(path), "rb") as file:
            data = file.read()
        if hashlib.sha256(data).hexdigest() != beside.get("sha256"):
            raise Error(f"arrays.sha256: not that of {_arrays_path(path)}")
        longest = {name: sizes.integer(name, 1, LARGEST_SIZE) for name in sizes.value}
        return _read_network(top, unpack(data), "", longest, is_body=False)
    except Error as error:
        raise Error(f"{path}: {error}") from None


def _list(top: Fields, field: str) -> list[Any]:
    value = top.get(field)
    if not isinstance(value, list):
        raise Error(f"{top.name(field)}: must be a list")
    return value
