# SPDX-License-Identifier: Apache-2.0
"""Modules of TorchScript, traced or scripted, as modules of torch.fx, in which calls can be replaced.

TorchScript keeps a program: constants, attributes, calls of operators, and branches and loops. Here it runs once, with
nodes of a graph in the place of tensors. What depends on constants alone is computed: branches on them are taken, loops
over them unrolled. Of a branch on anything else that only raises an error on one side, the other side is taken.
"""
from __future__ import annotations

import operator
from typing import Any, Callable, Mapping, Optional, Sequence

import torch
from torch import fx, nn

from ..errors import Error

__all__ = ["graph_module"]

MOST_ROUNDS = 10000  # of loops, which are unrolled


def _format(text: str, *values: Any) -> str:
    return text.format(*values)


def _append(values: list[Any], value: Any) -> list[Any]:
    values.append(value)
    return values


def _raise(text: str) -> None:
    raise RuntimeError(text)


def _number(x: torch.Tensor) -> Any:
    return x.item()


# Operators of TorchScript's own numbers and lists.
PLAIN: Mapping[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "floordiv": operator.floordiv, "neg": operator.neg,
    "div": operator.truediv, "remainder": operator.mod, "pow": operator.pow, "eq": operator.eq, "ne": operator.ne,
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge, "__not__": operator.not_,
    "__is__": operator.is_, "__isnot__": operator.is_not, "__and__": operator.and_, "__or__": operator.or_, "len": len,
    "__getitem__": operator.getitem, "__contains__": operator.contains, "Int": int, "Float": float, "Bool": bool,
    "list": list, "format": _format, "append": _append, "min": min, "max": max,
}
LISTS = ("__getitem__", "len", "list", "append", "__contains__")
# Of a tensor as numbers.
OF_TENSOR: Mapping[str, Callable[..., Any]] = {"Int": int, "Float": float, "Bool": bool, "IntImplicit": int,
                                               "FloatImplicit": float, "ScalarImplicit": _number}
ATTRIBUTES = {"prim::dtype": "dtype", "prim::device": "device", "prim::is_cuda": "is_cuda", "prim::layout": "layout",
              "prim::requires_grad": "requires_grad", "prim::shape": "shape", "prim::type": "type",
              **{f"prim::is_{name}": f"is_{name}" for name in ("cpu", "xpu", "mkldnn", "quantized", "sparse", "nested", "meta")}}
SAME = ("prim::unchecked_cast", "prim::data", "aten::__unchecked_cast", "prim::unchecked_unwrap_optional",
        "aten::_unwrap_optional")


class _Path(str):
    """A module within the program, by its name."""


def _holds(value: Any, kind: Any) -> bool:
    """Whether a value, or one within it, is of this kind."""
    if isinstance(value, (list, tuple)):
        return any(_holds(one, kind) for one in value)
    if isinstance(value, dict):
        return any(_holds(one, kind) for one in value.values())
    return isinstance(value, kind)


class Branch(nn.Module):
    """Two graphs of the same arguments, of which a condition chooses one."""

    def __init__(self, if_true: nn.Module, if_false: nn.Module) -> None:
        super().__init__()
        self.if_true, self.if_false = if_true, if_false

    def forward(self, condition: Any, *values: Any) -> Any:
        return (self.if_true if condition else self.if_false)(*values)


class _Scope:
    """A graph that is being made. Nodes of the scope around it that it takes are its placeholders."""

    def __init__(self, around: Optional[_Scope] = None) -> None:
        self.graph, self.root, self.around = fx.Graph(), nn.Module(), around
        self.taken: dict[fx.Node, fx.Node] = {}  # by the node of the scope around

    def here(self, node: fx.Node) -> fx.Node:
        if node.graph is self.graph:
            return node
        assert self.around is not None
        outer = self.around.here(node)
        if outer not in self.taken:
            with self.graph.inserting_before(next(iter(self.graph.nodes), None)):
                self.taken[outer] = self.graph.placeholder(f"given_{len(self.taken)}")
        return self.taken[outer]

    def emit(self, kind: str, target: Any, values: Sequence[Any], named: Optional[Mapping[str, Any]] = None) -> fx.Node:
        return self.graph.create_node(kind, target, fx.map_arg(tuple(values), self.here),
                                      fx.map_arg(dict(named or {}), self.here))


class _Program:
    def __init__(self, script: torch.jit.ScriptModule, path: str) -> None:
        self.script, self.path = script, path
        self.scope = _Scope()
        self.graph, self.root = self.scope.graph, self.scope.root  # the outermost
        self.branches = 0
        self.lists: dict[int, _Scope] = {}  # where a list was made, by its id
        self.values: dict[str, Any] = {}
        self.nodes: dict[str, fx.Node] = {}                     # of parameters and buffers
        self.names: dict[int, tuple[str, torch.Tensor]] = {}    # by the id of what they are in the program
        copies: dict[int, Any] = {}                             # one of two names stays one
        for name, of in script.named_parameters(remove_duplicate=False):
            copies.setdefault(id(of), nn.Parameter(of.detach().clone(), requires_grad=of.requires_grad))
            folder, last = self.folder(name)
            folder.register_parameter(last, copies[id(of)])
            self.names.setdefault(id(of), (name, of))
        for name, buffer in script.named_buffers(remove_duplicate=False):
            copies.setdefault(id(buffer), buffer.detach().clone())
            folder, last = self.folder(name)
            folder.register_buffer(last, copies[id(buffer)])
            self.names.setdefault(id(buffer), (name, buffer))

    def error(self, text: str) -> Error:
        return Error(f"{self.path or 'the model'}: {text}; prepare the model of Python that the script was made of, or its "
                     "torch.export")

    def folder(self, name: str) -> tuple[nn.Module, str]:
        """The module that a name's last part is in, and that part."""
        module = self.root
        *folders, last = name.split(".")
        for folder in folders:
            if folder not in module._modules:
                module.add_module(folder, nn.Module())
            module = getattr(module, folder)
        return module, last

    def constant(self, value: Any) -> Any:
        """A constant of the program, or an attribute: tensors are the model's own, or else become buffers."""
        if isinstance(value, (list, tuple)) and _holds(value, torch.Tensor):
            return [self.constant(one) for one in value]
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) not in self.names:
            name = f"_constant_{len(self.root._buffers)}"
            self.root.register_buffer(name, value.detach().clone(), persistent=False)
            self.names[id(value)] = name, value
        name = self.names[id(value)][0]
        if name not in self.nodes:
            self.nodes[name] = self.graph.get_attr(name)
        return self.nodes[name]

    def attribute(self, of: str, name: str) -> Any:
        path = f"{of}.{name}" if of else name
        value: Any = self.script
        for part in path.split("."):
            value = getattr(value, part)
        return _Path(path) if isinstance(value, nn.Module) else self.constant(value)

    def call(self, function: Callable[..., Any], *values: Any, **named: Any) -> Any:
        """A call: computed where all that it takes is constant."""
        if _holds((values, named), fx.Node):
            return self.scope.emit("call_function", function, values, named)
        return function(*values, **named)

    def operator(self, node: Any, values: Sequence[Any]) -> Any:
        schema = torch._C.parse_schema(node.schema())
        space, _, name = schema.name.partition("::")
        types = [str(one.type) for one in (*schema.arguments, *schema.returns)]
        if name in ("__is__", "__isnot__"):
            return self.call(PLAIN[name], *values)
        if name in LISTS and isinstance(values[0], (list, tuple, dict)):
            if name == "append" and self.lists.get(id(values[0])) is not self.scope:
                raise self.error("it makes a list longer within a branch on its data")
            unknown = _holds(values if name == "__contains__" else values[1:], fx.Node) and name != "append"
            return self.call(PLAIN[name], *values) if unknown else PLAIN[name](*values)
        if name in PLAIN and not any("Tensor" in text for text in types):
            return self.call(PLAIN[name], *values)
        if name in OF_TENSOR and len(values) == 1:
            return self.call(OF_TENSOR[name], *values)
        overload = getattr(getattr(getattr(torch.ops, space), name), schema.overload_name or "default")
        if name == "size" and len(values) == 1:
            return self.call(list, self.call(getattr, values[0], "shape"))
        if name == "size":
            return self.call(torch.ops.aten.sym_size.int, *values)
        positional = [value for value, argument in zip(values, schema.arguments) if not argument.kwarg_only]
        named = {argument.name: value for value, argument in zip(values, schema.arguments) if argument.kwarg_only}
        return self.scope.emit("call_function", overload, positional, named)

    def raises(self, block: Any) -> bool:
        """Whether a block only raises an error."""
        return any(node.kind() == "prim::RaiseException" for node in block.nodes())

    def branch(self, node: Any, condition: Any) -> list[Any]:
        blocks, count = list(node.blocks()), node.outputsSize()
        if not isinstance(condition, fx.Node):
            return self.block(blocks[0 if condition else 1])
        left = [block for block in blocks if not self.raises(block)]
        if len(left) == 1:
            return self.block(left[0])
        around = self.scope
        scopes = []
        for block in blocks:
            self.scope = _Scope(around)
            scopes.append(self.scope)
            results = self.block(block)
            self.scope.emit("output", "output", (tuple(results),))
        self.scope = around
        values = list(dict.fromkeys(node for scope in scopes for node in scope.taken))
        for scope in scopes:  # both take the same, in one order
            for node in values:
                scope.here(node)
            for node in reversed(values):
                next(iter(scope.graph.nodes)).prepend(scope.taken[node])
        name = f"branch_{self.branches}"
        self.branches += 1
        self.scope.root.add_module(name, Branch(*(fx.GraphModule(scope.root, scope.graph) for scope in scopes)))
        chosen = self.scope.emit("call_module", name, (condition, *values))
        return [self.call(operator.getitem, chosen, k) for k in range(count)]

    def loop(self, node: Any, values: Sequence[Any]) -> list[Any]:
        most, going, *state = values
        body, = node.blocks()
        count = 0
        while not isinstance(most, fx.Node) and not isinstance(going, fx.Node) and count < most and going:
            if count == MOST_ROUNDS:
                break
            for given, value in zip(body.inputs(), (count, *state)):
                self.values[given.debugName()] = value
            going, *state = self.block(body)
            count += 1
        else:
            if not isinstance(most, fx.Node) and not isinstance(going, fx.Node):
                return state
        raise self.error("it loops as its data have it, or too often to be unrolled")

    def step(self, node: Any) -> Sequence[Any]:
        """What a node gives, one value for each of its outputs."""
        kind, values = node.kind(), [self.values[one.debugName()] for one in node.inputs()]
        if kind == "prim::Constant":
            return [self.constant(node.output().toIValue())]
        if kind == "prim::GetAttr":
            return [self.attribute(values[0], node.s("name"))]
        if kind in ("prim::ListConstruct", "prim::TupleConstruct"):
            if kind == "prim::TupleConstruct":
                return [tuple(values)]
            self.lists[id(values)] = self.scope
            return [values]
        if kind == "prim::DictConstruct":
            return [dict(zip(values[::2], values[1::2]))]
        if kind in ("prim::ListUnpack", "prim::TupleUnpack"):
            return [self.call(operator.getitem, values[0], k) if isinstance(values[0], fx.Node) else values[0][k]
                    for k in range(node.outputsSize())]
        if kind == "prim::TupleIndex":
            return [self.call(operator.getitem, *values) if isinstance(values[0], fx.Node) else operator.getitem(*values)]
        if kind in SAME:
            return values[:1]
        if kind in ATTRIBUTES:
            return [self.call(getattr, values[0], ATTRIBUTES[kind])]
        if kind == "prim::NumToTensor":
            dtype = torch.int64 if str(next(iter(node.inputs())).type()) == "int" else torch.float32
            return [self.scope.emit("call_function", torch.scalar_tensor, values, {"dtype": dtype})]
        if kind == "prim::If":
            return self.branch(node, values[0])
        if kind == "prim::Loop":
            return self.loop(node, values)
        if kind == "prim::Uninitialized":
            return [None]
        if kind == "prim::RaiseException":
            self.scope.emit("call_function", _raise, values[:1])
            return []
        if kind in ("aten::warn", "prim::Print"):
            return []
        if not kind.startswith(("aten::", "pwl::")) or node.schema() == "(no schema)":
            raise self.error(f"its {kind} is none of the operators that can be followed")
        result = self.operator(node, values)
        count = node.outputsSize()
        return [result] if count == 1 else [self.call(operator.getitem, result, k) for k in range(count)]

    def block(self, block: Any) -> list[Any]:
        for node in block.nodes():
            for made, value in zip(node.outputs(), self.step(node)):
                self.values[made.debugName()] = value
        return [self.values[one.debugName()] for one in block.outputs()]

    def run(self) -> fx.GraphModule:
        program = self.script.inlined_graph
        own, *given = program.inputs()
        self.values[own.debugName()] = _Path("")
        forward: Any = self.script.forward
        for value, argument in zip(given, forward.schema.arguments[1:]):
            default = (argument.default_value,) if argument.has_default_value() else ()
            self.values[value.debugName()] = self.graph.create_node("placeholder", argument.name, default)
        results = self.block(program)
        self.graph.output(results[0] if len(results) == 1 else tuple(results))
        for node in reversed(list(self.graph.nodes)):  # what only served branches that were taken
            if not node.users and (node.op == "get_attr" or (node.op == "call_function" and _is_pure(node.target))):
                self.graph.erase_node(node)
        self.graph.lint()
        made = fx.GraphModule(self.root, self.graph, self.script.original_name)
        for part in ("_parameters", "_buffers", "_modules"):  # those too that forward() does not use
            for name, value in getattr(self.root, part).items():
                getattr(made, part)[name] = value
        made.train(self.script.training)
        return made


def _is_pure(target: Any) -> bool:
    """Whether a call does nothing but give a value."""
    schema: Optional[Any] = getattr(target, "_schema", None)
    return not schema.is_mutable if schema is not None else target not in (_append, _raise)


def graph_module(script: torch.jit.ScriptModule, path: str) -> fx.GraphModule:
    """What a module of TorchScript does, with copies of its parameters and buffers by the same names; path says in
    messages where it stands."""
    try:
        return _Program(script, path).run()
    except Error:
        raise
    except Exception as error:  # what TorchScript holds that has no name here
        reason = str(error).strip().partition("\n")[0]
        raise _Program(script, path).error(f"it cannot be followed: {type(error).__name__}: {reason}") from None
