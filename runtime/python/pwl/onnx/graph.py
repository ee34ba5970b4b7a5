# SPDX-License-Identifier: Apache-2.0
"""A model of ONNX as a network of real numbers; graph_calls.py has its operations.

Each tensor is one of three things: a real result, which becomes an operation; what depends on sizes and weights alone, which
becomes a constant; and what depends on inputs of integers or booleans, of which embeddings read rows and softmax a mask.
"""
from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from ..codes import Array
from ..errors import Error
from ..functions import Values
from ..network.floats import MOVES, SCALED, FloatNetwork, Function, Op
from ..network.kinds import Shape, Size, product_of_sizes, sizes_of
from ..network.masks import Mask, drawn, recognised
from ..network.reading import Operations
from .expressions import OPERATORS, POINTS, name_of
from .row_places import NORMS, RowPlace, Rows

__all__ = ["ELEMENTWISE", "Handler", "Pending", "Reader", "Result", "broadcast"]

SAME = {"Identity", "Dropout", "Cast"}
ELEMENTWISE: Mapping[str, Callable[..., Array]] = {
    **OPERATORS, "Sin": np.sin, "Cos": np.cos, "LeakyRelu": lambda x, alpha=0.01: np.where(x < 0, alpha * x, x),
    "PRelu": lambda x, slope: np.where(x < 0, slope * x, x)}
AFFINE = {"Add", "Sub", "Mul", "Div", "Neg", *SAME}
CORNERED: Mapping[str, Values] = {"relu": lambda x: np.maximum(x, 0), "relu6": lambda x: np.clip(x, 0, 6)}
FLOATS = {onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16}


@dataclasses.dataclass(frozen=True)
class Pending:
    """A result that has no operation of its own, but is a part of one that follows.

    kind   "elementwise" (a function of base's single numbers), "masked scores" (base, and what masks it), "length" (the root
           of the sum of base's squares), "not a number" (where base is none)
    """

    kind: str
    base: str
    mask: str = ""
    inverted: bool = False  # whether a place takes no part where the mask is True


Result = Union[str, Pending]
Handler = Callable[["Reader", onnx.NodeProto], Result]


def broadcast(*shapes: Shape) -> Optional[Shape]:
    """The shape that arrays of these shapes have together; None where they have none."""
    rank, found = max(map(len, shapes)), []
    for k in range(rank):
        axes = {shape[k - rank] for shape in shapes if len(shape) >= rank - k} - {1}
        if len(axes) > 1:
            return None
        found.append(axes.pop() if axes else 1)
    return tuple(found)


class Reader(Operations):
    """Reads one model, whose inputs have `sizes` as their axes."""

    def __init__(self, model: onnx.ModelProto, sizes: Mapping[str, Shape], longest: Mapping[str, int],
                 handlers: Mapping[str, Handler]) -> None:
        self.graph, self.longest, self.handlers = model.graph, dict(longest), handlers
        self.opset = next(one.version for one in model.opset_import if one.domain in ("", "ai.onnx"))
        self.values: dict[str, Array] = {one.name: numpy_helper.to_array(one) for one in self.graph.initializer}
        inputs = [one for one in self.graph.input if one.name not in self.values]
        self.maker = {name: node for node in self.graph.node for name in node.output if name}
        super().__init__({one.name: tuple(sizes[one.name]) for one in inputs})
        self.roles = {one.name: "real" if one.type.tensor_type.elem_type in FLOATS else "" for one in inputs}
        self.depends: dict[str, frozenset[str]] = {name: frozenset({name}) for name in self.shapes}
        self.real = {name for name, role in self.roles.items() if role}
        self.results: dict[str, Result] = {name: name for name in self.real}
        self.constants: dict[str, str] = {}
        # Sizes of two kinds: what differs between the two is a size, not a number.
        self.fewer = {name: max(1, size - 1 - k) for k, (name, size) in enumerate(longest.items())}
        self._mark()
        self.rows = Rows(self.graph)
        self.rows.channels = {}
        self.skipped: set[int] = set()

    def _mark(self) -> None:
        """Which tensors are real results, and on which inputs' numbers, not sizes alone, each depends."""
        nothing: frozenset[str] = frozenset()
        for node in self.graph.node:
            of = nothing if node.op_type in ("Shape", "Size") else nothing.union(
                *(self.depends.get(name, nothing) for name in node.input))
            embedding = node.op_type == "Gather" and node.input[0] not in self.depends and of
            for name in node.output:
                if name:
                    self.depends[name] = of
                    if embedding or (of and any(one in self.real for one in node.input)):
                        self.real.add(name)
            if not of:
                for name in node.output:
                    self.depends.pop(name, None)

    @staticmethod
    def where(node: onnx.NodeProto) -> str:
        return f"{node.name or next(name for name in node.output if name)} ({node.op_type})"

    def refuse(self, node: onnx.NodeProto, why: str) -> Error:
        return Error(f"{self.where(node)}: {why}")

    @staticmethod
    def attributes(node: onnx.NodeProto) -> dict[str, Any]:
        return {one.name: helper.get_attribute_value(one) for one in node.attribute}

    # Values of tensors that are no real results.

    def evaluate(self, name: str, sizes: Mapping[str, int], inputs: Mapping[str, Array]) -> Array:
        """The value of a tensor for inputs, of which sizes alone are needed where none is given."""
        known: dict[str, Array] = dict(inputs)

        def value(of: str) -> Array:
            if of in self.values:
                return self.values[of]
            if of not in known:
                node = self.maker[of]
                if node.op_type in ("Shape", "Size") and node.input[0] in self.shapes:
                    shape, attributes = sizes_of(self.shapes[node.input[0]], sizes), self.attributes(node)
                    part = shape[attributes.get("start", 0):attributes.get("end", len(shape))]
                    known[of] = np.array(part if node.op_type == "Shape" else math.prod(shape), np.int64)
                else:
                    made = _computed(node, self.opset, {one: value(one) for one in node.input if one})
                    known.update(zip((one for one in node.output if one), made))
            return known[of]

        return value(name)

    def is_constant(self, name: str) -> bool:
        """Whether a tensor depends on sizes and weights alone."""
        return name not in self.depends

    def constant(self, node: onnx.NodeProto, name: str) -> Array:
        """The values of a tensor that depends on no input, and on sizes neither."""
        if not self.is_constant(name):
            raise self.refuse(node, f"{name} depends on {', '.join(sorted(self.depends[name]))}, where a constant is wanted")
        if name not in self.values:
            value, other = (self.evaluate(name, sizes, {}) for sizes in (self.longest, self.fewer))
            if value.shape != other.shape or not np.array_equal(value, other):
                raise self.refuse(node, f"{name} depends on the inputs' sizes, where a constant is wanted")
            self.values[name] = value
        return self.values[name]

    def reals(self, node: onnx.NodeProto, k: int) -> Array:
        """The same of the node's input k, in double."""
        return self.constant(node, node.input[k]).astype(np.float64)

    def integers(self, node: onnx.NodeProto, name: str, k: int) -> Optional[list[int]]:
        """Integers that are an attribute in one opset and input k in another; None where they are left out."""
        if len(node.input) > k and node.input[k]:
            return [int(one) for one in self.constant(node, node.input[k]).reshape(-1)]
        given = self.attributes(node).get(name)
        return None if given is None else [given] if isinstance(given, int) else list(given)

    def size(self, node: onnx.NodeProto, values: tuple[int, int]) -> Size:
        """The number or the product of sizes that has these values, for the longest sizes and for fewer."""
        if values[0] == values[1]:
            return int(values[0])
        for count in (1, 2):
            for names in itertools.combinations(self.longest, count):
                parts = [math.prod(sizes[name] for name in names) for sizes in (self.longest, self.fewer)]
                number = values[0] // parts[0]
                if number >= 1 and [number * part for part in parts] == list(values):
                    return product_of_sizes([number, *names])
        raise self.refuse(node, f"a size of {values[0]} for {self.longest} and {values[1]} for {self.fewer}, where a number or a "
                                "product of the inputs' sizes is wanted")

    def sizes_in(self, node: onnx.NodeProto, name: str) -> list[Size]:
        """A tensor of integers that sizes make, as a shape."""
        if not self.is_constant(name):
            raise self.refuse(node, f"a shape that depends on {', '.join(sorted(self.depends[name]))}")
        both = [self.evaluate(name, sizes, {}).reshape(-1) for sizes in (self.longest, self.fewer)]
        return [self.size(node, (int(one), int(other))) for one, other in zip(*both)]

    def mask(self, node: onnx.NodeProto, part: Pending) -> Mask:
        """The mask of a softmax, as keep[..., row, place]."""
        shapes = {name: self.shapes[name] for name in self.depends.get(part.mask, ())}
        dtypes = {one.name: helper.tensor_dtype_to_np_dtype(one.type.tensor_type.elem_type) for one in self.graph.input}
        cases = [(case, self.evaluate(part.mask, case.sizes, {name: x.astype(dtypes[name]) for name, x in case.inputs.items()}))
                 for case in drawn(shapes, self.longest)]
        try:
            found = recognised(shapes, cases, part.inverted)
        except Error as error:
            raise self.refuse(node, str(error)) from None
        if found.input is not None:
            self.roles[found.input] = "mask"
        return found

    # Real results.

    def shape(self, name: str) -> Shape:
        """Of a real result, or of a constant."""
        if name in self.shapes:
            return self.shapes[name]
        node = self.maker.get(name)
        if name in self.values or node is None:
            return tuple(self.values[name].shape)
        both = [self.evaluate(name, sizes, {}).shape for sizes in (self.longest, self.fewer)]
        return tuple(self.size(node, pair) for pair in zip(*both))

    def edge(self, node: onnx.NodeProto, name: str) -> str:
        """The name of a real operand: of a result, or of a constant."""
        if name in self.real:
            if name not in self.results:
                raise self.refuse(node, f"reads {name}, a part of a norm, which is no result of its own")
            result = self.results[name]
            if isinstance(result, Pending) and result.kind == "elementwise":
                result = self.results[name] = self.function(name, result.base)
            if isinstance(result, Pending):
                raise self.refuse(node, f"reads {name}, a part of an operation ({result.kind}), which is no result of its own")
            return result
        if not self.is_constant(name):
            raise self.refuse(node, f"reads {name}, which depends on {', '.join(sorted(self.depends[name]))} and is neither a "
                                    "real number nor a mask that is known")
        if name not in self.constants:
            values, other = (self.evaluate(name, sizes, {}).astype(np.float64) for sizes in (self.longest, self.fewer))
            if not np.array_equal(values[tuple(slice(size) for size in other.shape)], other):
                raise self.refuse(node, f"reads {name}, whose numbers depend on the inputs' sizes")
            self.constants[name] = self.add(node, "constant", [], name, self.shape(name) or (1,),
                                            arrays={"values": values.reshape(values.shape or (1,))})
        return self.constants[name]

    def add(self, node: onnx.NodeProto, kind: str, inputs: Sequence[str], output: str, shape: Shape, **rest: Any) -> str:
        """Appends an operation, and gives its output."""
        return self.append(Op(kind, tuple(inputs), output, tuple(shape), self.where(node), **rest))

    def read(self) -> FloatNetwork:
        for name, shape in list(self.shapes.items()):
            self._tell(name, shape)
        for k, node in enumerate(self.graph.node):
            if any(name in self.real for name in node.output) and k not in self.skipped:
                self._read(k, node)
        outputs = []
        for value in self.graph.output:
            if value.name not in self.real:
                raise Error(f"the output {value.name} is no real result")
            outputs.append(self.edge(self.maker[value.name], value.name))
        return self.network(self.roles, outputs)

    def _tell(self, name: str, shape: Shape) -> None:
        """What the search for norms knows of a tensor."""
        self.rows.ranks[name] = len(shape)
        if shape and isinstance(shape[-1], int):
            self.rows.channels[name] = shape[-1]

    def _read(self, k: int, node: onnx.NodeProto) -> None:
        if node.domain not in ("", "ai.onnx"):
            raise self.refuse(node, f"an operation of {node.domain}")
        place = self.rows.own_norm(k) if node.op_type in NORMS else self.rows.behind(k) if node.op_type == "ReduceMean" else None
        if place is not None:
            self.skipped.update(place.nodes)
            self.keep(place.output, self._norm(node, place))
            return
        result: Optional[Result] = self._elementwise(node)
        if result is None and node.op_type in SAME and self.attributes(node).get("to", onnx.TensorProto.FLOAT) in FLOATS:
            result = self.results[node.input[0]]
        if result is None:
            handler = self.handlers.get(node.op_type)
            if handler is None:
                raise self.refuse(node, "an operation that networks do not have yet")
            result = handler(self, node)
        self.keep(next(name for name in node.output if name), result)

    def keep(self, output: str, result: Result) -> None:
        """Says what a tensor is."""
        self.results[output] = result
        self.shapes.setdefault(output, self.shapes[result.base if isinstance(result, Pending) else result])
        self._tell(output, self.shapes[output])

    def _norm(self, node: onnx.NodeProto, place: RowPlace) -> str:
        arrays = {name: value for name, value in (("gamma", place.gamma), ("beta", place.beta)) if value is not None}
        return self.add(node, place.function, [self.edge(node, place.input)], place.output, self.shapes[place.input],
                        fields={"eps": place.eps}, arrays=arrays)

    # Functions of single numbers, of one node or of several.

    def _elementwise(self, node: onnx.NodeProto) -> Optional[Pending]:
        """A function of the numbers of one result."""
        if node.op_type not in ELEMENTWISE:
            return None
        bases: set[str] = set()
        for name in filter(None, node.input):
            if name in self.real:
                result = self.results.get(name, Pending("", ""))
                if isinstance(result, Pending) and result.kind != "elementwise":
                    return None
                bases.add(result.base if isinstance(result, Pending) else result)
            elif not self.is_constant(name) or math.prod(sizes_of(self.shape(name), self.longest)) != 1:
                return None
        return Pending("elementwise", bases.pop()) if len(bases) == 1 else None

    def numbers(self, name: str, base: str) -> Values:
        """The function of base's numbers that a tensor is, in double."""
        def of(x: Any) -> Array:
            given = np.asarray(x, np.float64)

            def value(one: str) -> Optional[Array]:
                if not one:
                    return None
                result = self.results.get(one)
                if one == base or result == base:
                    return given
                if one not in self.real:
                    return np.asarray(self.evaluate(one, self.longest, {}).astype(np.float64).reshape(()))
                node = self.maker[one]
                if node.op_type in SAME:
                    return value(node.input[0])
                return ELEMENTWISE[node.op_type](*(value(part) for part in node.input), **self.attributes(node))

            with np.errstate(all="ignore"):
                return np.asarray(value(name))
        return of

    def _operations(self, name: str, base: str) -> set[str]:
        """The operations that compute a tensor from base."""
        if name == base or self.results.get(name) == base or name not in self.real:
            return set()
        return {self.maker[name].op_type}.union(*(self._operations(one, base) for one in self.maker[name].input if one))

    def function(self, name: str, base: str) -> str:
        """The operation for it: one that constants before it take, or a table."""
        node, values = self.maker[name], self.numbers(name, base)
        found, (zero, one) = values(POINTS), values(np.array([0.0, 1.0]))
        if self._operations(name, base) <= AFFINE and np.allclose(found, zero + (one - zero) * POINTS, 1e-9, 1e-12):
            return self.affine(node, base, np.array(one - zero), np.array(zero), name)
        known: Optional[tuple[str, dict[str, float]]] = name_of(found)
        wide = np.concatenate([POINTS, POINTS * 1e3])
        for cornered, of in CORNERED.items():
            known = (cornered, {}) if np.allclose(values(wide), of(wide), 1e-9) else known
        if node.op_type == "LeakyRelu" and self.results.get(node.input[0]) == base:
            known = "leaky_relu", {"alpha": float(self.attributes(node).get("alpha", 0.01))}
        function: Function = known[0] if known else values
        parameters = known[1] if known else {}
        return self.add(node, "function", [base], name, self.shapes[base], function=function, parameters=parameters,
                        values=values)

    # Factors and summands of a channel.

    def affine(self, node: onnx.NodeProto, x: str, factor: Array, summand: Array, output: str) -> str:
        """factor x + summand, of constants that broadcast to x: by the weights before it where there are such."""
        shape, before = self.shapes[x], self.made.get(x)
        rank = len(shape)
        parts = [np.asarray(part, np.float64).reshape((1,) * (rank - np.ndim(part)) + np.shape(part))
                 for part in (factor, summand)]
        axis = {"linear": rank - 1, "convolution": 1}.get(before.kind if before else "", 1)
        channels = shape[axis] if rank >= 2 else 0
        if rank >= 2 and all(part.size in (1, part.shape[axis]) for part in parts) and isinstance(channels, int):
            of = [np.broadcast_to(part.reshape(-1), channels).astype(np.float64) for part in parts]
            if before is not None and before.kind in ("linear", "convolution"):
                return self.scaled(before, of[0], of[1], output, self.where(node))
            if rank in (3, 4) and any(part.size > 1 for part in parts):
                places = [1] * (rank - 2)
                return self.add(node, "convolution", [x], output, shape, arrays={
                    "weights": of[0].reshape(-1, 1, *places), "bias": of[1]},
                    fields={"stride": places, "padding": [0] * (rank - 2), "dilation": places, "groups": channels})
        return self._affine_apart(node, x, parts[0], parts[1], output)

    def _affine_apart(self, node: onnx.NodeProto, x: str, factor: Array, summand: Array, output: str) -> str:
        shape, adds = self.shapes[x], bool(summand.any())
        if factor.size == 1 and factor != 1 and self._takes_factor(x):
            x = self.add(node, "scale", [x], f"{output}/scaled" if adds else output, shape,
                         fields={"factor": float(factor.reshape(-1)[0])})
        elif (factor != 1).any():
            constant = self.add(node, "constant", [], f"{output}/factor", factor.shape, arrays={"values": factor})
            x = self.add(node, "multiply", [x, constant], f"{output}/scaled" if adds else output, shape)
        if adds:
            constant = self.add(node, "constant", [], f"{output}/summand", summand.shape, arrays={"values": summand})
            x = self.add(node, "add", [x, constant], output, shape)
        return x

    def _takes_factor(self, name: str) -> bool:
        op = self.made.get(name)
        while op is not None and op.kind in MOVES and op.kind != "max_pool":
            op = self.made.get(op.inputs[0])
        return op is not None and (op.kind in SCALED or op.kind in ("matmul", "function", "scale"))


def _computed(node: onnx.NodeProto, opset: int, inputs: Mapping[str, Array]) -> list[Array]:
    """A node's outputs, by the evaluator of onnx."""
    values = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for name, x in inputs.items()]
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
    model = helper.make_model(helper.make_graph([node], "one", values, outputs), opset_imports=[helper.make_opsetid("", opset)])
    return [np.asarray(one) for one in ReferenceEvaluator(model).run(None, dict(inputs))]
