# SPDX-License-Identifier: Apache-2.0
"""A model of torch as a network of real numbers, read from the graph of torch.export; graph_calls.py has its operations.

Each node of that graph is one of three things: a real result, which becomes an operation; what depends on sizes and weights
alone, which becomes a constant; and what depends on masks, as models write them in many ways. Such a mask is recognised by
what it computes, over drawn inputs of several sizes: padding by an input of 0 and 1, causal, or both.
"""
from __future__ import annotations

import dataclasses
from typing import Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np
import torch
from torch import fx, nn

from ..codes import Array
from ..errors import Error
from ..network.floats import FloatNetwork, Op
from ..network.kinds import Shape
from ..network.masks import Case, Mask, drawn, recognised
from ..network.reading import Operations
from ..network.recurrent import RecurrentLayer
from . import functions

__all__ = ["RESHAPES", "SAME", "SPLITS", "Handler", "Pending", "Reader", "Result"]

aten = torch.ops.aten
SAME = {aten.dropout.default, aten.contiguous.default, aten.clone.default, aten.alias.default, aten.detach.default,
        aten.to.dtype, aten.to.device, aten.to.dtype_layout, aten._to_copy.default, aten.lift_fresh_copy.default}
RESHAPES = {aten.view.default, aten.reshape.default, aten.unsqueeze.default, aten.squeeze.dim, aten.squeeze.dims,
            aten.flatten.using_ints, aten.unflatten.int, aten._unsafe_view.default, aten.squeeze.default}
SPLITS = {aten.split.Tensor, aten.split_with_sizes.default, aten.chunk.default}  # whose parts getitem takes
SIDE_EFFECTS = {aten._assert_tensor_metadata.default, aten._assert_async.msg, aten.sym_constrain_range_for_size.default}
# Functions of single numbers beside the activations that functions.py lists, where their other operand is a number.
ELEMENTWISE = {aten.add.Tensor, aten.add_.Tensor, aten.sub.Tensor, aten.sub_.Tensor, aten.mul.Tensor, aten.mul_.Tensor,
               aten.div.Tensor, aten.div_.Tensor, aten.pow.Tensor_Scalar, aten.neg.default, aten.abs.default, aten.exp.default,
               aten.erf.default, aten.relu.default, aten.relu_.default, aten.rsub.Scalar, aten.square.default,
               aten.clamp.default, aten.maximum.default, aten.minimum.default}
SCALES: dict[Any, Callable[[float], float]] = {
    **dict.fromkeys((aten.mul.Tensor, aten.mul_.Tensor), lambda factor: factor),
    **dict.fromkeys((aten.div.Tensor, aten.div_.Tensor), lambda divisor: 1 / divisor),
    aten.neg.default: lambda _: -1.0,
}


@dataclasses.dataclass(frozen=True)
class Pending:
    """A result that has no operation of its own, but is a part of one that follows.

    kind   "elementwise" (a function of base's single numbers, which `node` computes), "masked scores" (base, and what masks it),
           "masked" (base times a mask), "sum" (of base over axis, masked), "length" (the root of the sum of base's squares),
           "mean square" (of base), "rms" (its root, or 1 over it), "recurrent" (base is the output)
    """

    kind: str
    base: str
    mask: Optional[fx.Node] = None
    axis: int = 0
    eps: float = 0.0
    inverted: bool = False  # whether a place takes no part where the mask is True
    node: Optional[fx.Node] = None
    layers: tuple[RecurrentLayer, ...] = ()  # of a recurrent result, one direction after the other


Result = Union[str, Pending]


class Reader(Operations):
    """Reads one exported program."""

    def __init__(self, program: Any, sizes: Mapping[str, Sequence[Union[str, int]]], longest: Mapping[str, int],
                 handlers: Mapping[Any, Handler]) -> None:
        self.program, self.longest, self.handlers = program, longest, handlers
        self.nodes = [node for node in program.graph.nodes if node.target not in SIDE_EFFECTS]
        self.state = self._state()
        self.user_inputs = {node.name: node for node in self.nodes if node.op == "placeholder" and node not in self.state}
        self.symbols = {str(size): name for node_name, names in sizes.items()
                        for size, name in zip(self.user_inputs[node_name].meta["val"].shape, names) if isinstance(name, str)}
        self.depends = self._dependencies()
        self.real = self._real_nodes()
        self.roles: dict[str, str] = {name: "real" for name in self.user_inputs}
        self.results: dict[fx.Node, Result] = {}
        super().__init__({name: self.shape(node) for name, node in self.user_inputs.items()})
        self.constants: dict[fx.Node, str] = {}

    def _state(self) -> dict[fx.Node, torch.Tensor]:
        """Parameters, buffers and constants by the nodes that stand for them."""
        signature, found = self.program.graph_signature, {}
        names = {**signature.inputs_to_parameters, **signature.inputs_to_buffers,
                 **signature.inputs_to_lifted_tensor_constants}
        for node in self.nodes:
            if node.op == "placeholder" and node.name in names:
                name = names[node.name]
                found[node] = (self.program.state_dict[name] if name in self.program.state_dict
                               else self.program.constants[name]).detach()
        return found

    def _dependencies(self) -> dict[fx.Node, frozenset[str]]:
        """The user's inputs whose numbers, not sizes alone, each node depends on."""
        found: dict[fx.Node, frozenset[str]] = {}
        for node in self.nodes:
            if node.op == "placeholder":
                found[node] = frozenset({node.name} if node.name in self.user_inputs else ())
            elif node.target is aten.sym_size.int:
                found[node] = frozenset()
            else:
                found[node] = frozenset().union(*(found.get(one, frozenset()) for one in node.all_input_nodes))
        return found

    def _real_nodes(self) -> set[fx.Node]:
        """Nodes that are computed from data as real numbers: from inputs of real numbers and from embeddings."""
        real: set[fx.Node] = set()
        for node in self.nodes:
            value = node.meta.get("val")
            floats = isinstance(value, torch.Tensor) and value.is_floating_point()
            if node.name in self.user_inputs:
                if floats:
                    real.add(node)
            elif node.target is not aten.sym_size.int and any(one in real for one in node.all_input_nodes) or (
                    node.target is aten.embedding.default and self.depends[node.args[1]]):
                real.add(node)
        return real

    def shape(self, node: fx.Node) -> Shape:
        found: list[Union[int, str]] = []
        for size in node.meta["val"].shape:
            parts = str(size).split("*")
            if isinstance(size, int):
                found.append(size)
            elif all(part in self.symbols or part.isdecimal() for part in parts):
                found.append("*".join(self.symbols.get(part, part) for part in parts))
            else:
                raise self.refuse(node, f"a size of {size}, where a number or a product of the inputs' sizes is wanted")
        return tuple(found)

    @staticmethod
    def where(node: fx.Node) -> str:
        """The path of the module that a node belongs to."""
        stack = list((node.meta.get("nn_module_stack") or {}).values())
        path = str(stack[-1][0]) if stack else ""
        return f"{path or 'model'} ({node.target if isinstance(node.target, str) else getattr(node.target, '__name__', node.name)})"

    def refuse(self, node: fx.Node, why: str) -> Error:
        return Error(f"{self.where(node)}: {why}")

    # Values of nodes that are no real results.

    def evaluate(self, node: fx.Node, inputs: Mapping[str, torch.Tensor], sizes: Mapping[str, int],
                 results: Mapping[str, torch.Tensor] = {}) -> Any:
        """The value of a node for inputs, of which sizes alone are needed where none is given, and for some results."""
        known: dict[fx.Node, Any] = {one: results[name] for one, name in self.results.items()
                                    if isinstance(name, str) and name in results}

        def value(one: Any) -> Any:
            if isinstance(one, fx.Node):
                if one not in known:
                    known[one] = compute(one)
                return known[one]
            if isinstance(one, (list, tuple)):
                return type(one)(value(part) for part in one)
            return one

        def compute(one: fx.Node) -> Any:
            if one in self.state:
                return self.state[one]
            if one.op == "placeholder":
                return inputs[one.name]
            if one.target is aten.sym_size.int and one.args[0].name in self.user_inputs:  # type: ignore[union-attr]
                size = self.shape(one.args[0])[one.args[1]]  # type: ignore[arg-type, index]
                return sizes[size] if isinstance(size, str) else size
            return one.target(*value(one.args), **{name: value(one.kwargs[name]) for name in one.kwargs})  # type: ignore[operator]

        with torch.no_grad():
            return value(node)

    def constant(self, node: fx.Node) -> Array:
        """The values of a node that depends on no data, for the longest sizes."""
        value = self.evaluate(node, {}, self.longest)
        return np.asarray(value.detach().to(torch.float64).numpy() if isinstance(value, torch.Tensor) else value)

    def is_constant(self, value: Any) -> bool:
        return not isinstance(value, fx.Node) or (value not in self.real and not self.depends[value])

    def drawn(self, names: frozenset[str]) -> list[tuple[Case, dict[str, torch.Tensor]]]:
        """Drawn inputs of 0 and 1, and these as the model takes them."""
        cases = drawn({name: self.shape(self.user_inputs[name]) for name in names}, self.longest)
        return [(case, {name: torch.from_numpy(x).to(self.user_inputs[name].meta["val"].dtype) for name, x in case.inputs.items()})
                for case in cases]

    def recognise(self, node: fx.Node, mask: Any, inverted: bool = False) -> Mask:
        """The mask of a softmax, as keep[..., row, place]."""
        if self.is_constant(mask) and not isinstance(mask, fx.Node):
            raise self.refuse(node, "a mask of a number")
        names = self.depends[mask]
        cases = [(case, np.asarray(self.evaluate(mask, inputs, case.sizes).numpy())) for case, inputs in self.drawn(names)]
        try:
            found = recognised({name: self.shape(self.user_inputs[name]) for name in names}, cases, inverted)
        except Error as error:
            raise self.refuse(node, str(error)) from None
        if found.input is not None:
            self.roles[found.input] = "mask"
        return found

    def is_mask_of(self, node: fx.Node, values: Callable[[torch.Tensor], torch.Tensor]) -> Optional[str]:
        """The input of 0 and 1 of which a node computes values(input), over drawn inputs; None where there is none."""
        names = self.depends[node]
        for name in sorted(names):
            try:
                if all(torch.equal(torch.broadcast_to(values(inputs[name].double()), found.shape), found.double())
                       for case, inputs in self.drawn(names) for found in [self.evaluate(node, inputs, case.sizes)]):
                    self.roles[name] = "mask"
                    return name
            except RuntimeError:
                continue
        return None

    # Real results.

    def edge(self, value: Any, node: fx.Node) -> str:
        """The name of a real operand: of a result, or of a constant."""
        if isinstance(value, fx.Node) and value in self.real:
            result = self.results[value]
            if isinstance(result, Pending) and result.kind == "elementwise":
                result = self.results[value] = self.function(value, result)
            if isinstance(result, Pending):
                raise self.refuse(node, f"reads {value.name}, a part of an operation ({result.kind}), which is no result of its own")
            return result
        if not self.is_constant(value):
            raise self.refuse(node, f"reads {value.name}, which depends on {', '.join(sorted(self.depends[value]))} and is neither "
                                    "a real number nor a mask that is known")
        if not isinstance(value, fx.Node):
            name = f"{node.name}.number"
            return self.append(Op("constant", (), name, (1,), self.where(node), arrays={"values": np.array([float(value)])}))
        if value not in self.constants:
            values = self.constant(value)
            shape = tuple(self.shape(value)) or (1,)
            self.constants[value] = self.append(Op("constant", (), f"{value.name}.constant", shape, self.where(value),
                                                   arrays={"values": values.reshape(values.shape or (1,))}))
        return self.constants[value]

    def add(self, node: fx.Node, kind: str, inputs: Sequence[str], **rest: Any) -> str:
        return self.append(Op(kind, tuple(inputs), rest.pop("output", node.name), rest.pop("shape", None) or self.shape(node),
                              self.where(node), **rest))

    def read(self) -> FloatNetwork:
        for node in self.nodes:
            if node.op == "placeholder" and node in self.real:
                self.results[node] = node.name
            elif node.op == "call_function" and node in self.real and node.users and node.target not in SPLITS:
                self.results[node] = self.call(node)
        outputs = []
        for value in next(node for node in self.nodes if node.op == "output").args[0]:
            if value is None:
                continue
            if not isinstance(value, fx.Node) or value not in self.real:
                raise Error(f"the output {value} is no real result")
            outputs.append(self.edge(value, value))
        return self.network(self.roles, outputs)

    def call(self, node: fx.Node) -> Result:
        target = node.target
        args: list[Any] = [node.args[k] if k < len(node.args) else None for k in range(8)]
        if self.is_elementwise(node):
            return self.elementwise(node)
        if target in SAME:
            return self.results[args[0]]
        handler = self.handlers.get(target)
        if handler is None and target in RESHAPES:
            return self.add(node, "reshape", [self.edge(args[0], node)])
        if handler is None:
            raise self.refuse(node, "an operation that networks do not have yet")
        return handler(self, node, args)

    # Functions of single numbers, of one operation or of several.

    def is_elementwise(self, node: fx.Node) -> bool:
        return node.target in ELEMENTWISE or functions.called(node.target, tuple(node.args), node.kwargs) is not None

    def elementwise(self, node: fx.Node) -> Result:
        """A function of the numbers of one result; operations of two results, or of one and a tensor of weights, are others."""
        bases: list[str] = []
        for one in node.all_input_nodes:
            if one in self.real:
                result = self.results[one]
                if isinstance(result, Pending) and result.kind != "elementwise":
                    bases.append("")
                else:
                    bases.append(result.base if isinstance(result, Pending) else result)
            elif self.depends[one] or one.meta["val"].numel() != 1:
                bases.append("")
        if len(set(bases)) == 1 and bases[0]:
            return Pending("elementwise", bases[0], node=node)
        handler = self.handlers.get(node.target)
        if handler is None:
            raise self.refuse(node, "an operation that networks do not have yet")
        return handler(self, node, [node.args[k] if k < len(node.args) else None for k in range(8)])

    def function(self, node: fx.Node, part: Pending) -> str:
        """The operation for a function of base's numbers."""
        args, shape = list(node.args), self.shape(node)
        sources = [one for one in node.all_input_nodes if one in self.real]
        direct = all(self.results[one] == part.base for one in sources)
        if direct and node.target in SCALES and len(sources) == 1 and sources[0] is args[0]:
            second = args[1] if len(args) > 1 else 0
            number = float(self.constant(second).ravel()[0]) if isinstance(second, fx.Node) else float(second)  # type: ignore[arg-type]
            return self.add(node, "scale", [part.base], fields={"factor": SCALES[node.target](number)})
        values = _Values(self, node, part.base)
        known = functions.called(node.target, tuple(node.args), node.kwargs) if direct else functions.by_values(values)
        fitted: Any = values.of_numbers
        parameters: Mapping[str, float] = {}
        if node.target in (aten.relu.default, aten.relu_.default) and direct:
            fitted = "relu"
        elif known is not None:
            fitted, parameters = known[0].for_pwlc()
        return self.add(node, "function", [part.base], function=fitted, parameters=dict(parameters), values=values.of_numbers,
                        shape=shape)


class _Values(nn.Module):
    """A function of single numbers that nodes of a graph compute from one result."""

    def __init__(self, reader: Reader, node: fx.Node, base: str) -> None:
        super().__init__()
        self.reader, self.node, self.base = [reader], node, base  # in a list, so that it is no part of the module

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        reader = self.reader[0]
        y: torch.Tensor = reader.evaluate(self.node, {}, reader.longest, {self.base: x})
        return y

    def of_numbers(self, x: Any) -> Any:
        """The same of arrays of numpy, in double."""
        with torch.no_grad():
            return self(torch.from_numpy(np.array(x, np.float64))).numpy()


Handler = Callable[[Reader, fx.Node, list[Any]], Result]
