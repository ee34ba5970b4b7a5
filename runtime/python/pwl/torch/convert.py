# SPDX-License-Identifier: Apache-2.0
"""From a model with activations to one with tables: prepare(), some batches, convert()."""
from __future__ import annotations

import copy
import functools
import itertools
import os
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Optional, Union

import torch
from torch import fx, nn

from ..calibration import LeastSquares, MinMax, Observer
from ..errors import Error, ToolError, shown
from ..table import Table
from . import functions, row_functions
from .activation import Activation, Observed
from .attention import CALLS, Attention, MultiheadAttention
from .functions import Function
from .row_functions import FoundRows, RowFunction
from .row_module import ObservedRows, Rows
from .script import graph_module

__all__ = ["convert", "prepare"]

SEGMENTS = {8: 16, 16: 64}  # where neither segments nor max_err is given, of tables of up to so many bits
NAMES = {name for kind in functions.KINDS for name in (kind, kind + "_")}
CHECKS = (torch.ops.aten._assert_tensor_metadata.default,) if hasattr(torch.ops.aten, "_assert_tensor_metadata") else ()
ONE_KERNEL = (nn.RNNBase, nn.RNNCellBase)  # compute their sigmoid and tanh within one kernel


def _least_squares(function: Union[Function, RowFunction]) -> Observer:
    if isinstance(function, RowFunction):  # the largest numbers of softmax are those that count
        return LeastSquares() if function.is_norm else MinMax()
    name, param = function.for_pwlc()
    return LeastSquares(name, param=param or None)


HOOKS = ("_forward_hooks", "_forward_hooks_with_kwargs", "_forward_hooks_always_called", "_forward_pre_hooks",
         "_forward_pre_hooks_with_kwargs", "_backward_hooks", "_backward_pre_hooks", "_is_full_backward_hook")


def _keep_hooks(old: nn.Module, new: nn.Module) -> nn.Module:
    """The new module with the hooks of the one whose place it takes."""
    for name in HOOKS:
        if name in vars(old):
            setattr(new, name, copy.copy(getattr(old, name)))
    return new


def copied(model: nn.Module, memo: Optional[dict[int, Any]] = None) -> nn.Module:
    """A deep copy, in which graphs of torch.fx keep their hooks, and what else they have beside their graph."""
    memo = {} if memo is None else memo
    replaced = set(memo)
    new = copy.deepcopy(model, memo)
    for name, part in model.named_modules():
        if isinstance(part, fx.GraphModule) and id(part) not in replaced:
            made = _keep_hooks(part, new.get_submodule(name))
            for key, value in vars(part).items():
                if key not in vars(made):
                    vars(made)[key] = copy.deepcopy(value, memo)
    return new


def refuse_compiled(model: nn.Module) -> None:
    for name, part in model.named_modules():
        if isinstance(part, torch._dynamo.OptimizedModule):
            raise Error(f"{name or 'the model'}: a compiled module: give what torch.compile() was given (its _orig_mod), and "
                        "compile what convert() gives")


class _Own(fx.Tracer):
    """Traces what a module does itself, and no module within it."""

    def is_leaf_module(self, module: nn.Module, path: str) -> bool:
        return True


class _Preparation:
    """One run of prepare()."""

    def __init__(self, observer: Callable[[Any], Observer], operators: bool) -> None:
        self.observer, self.operators = observer, operators
        self.done: dict[int, nn.Module] = {}  # by the id of what it replaces: modules may stand in several places
        self.kept: list[nn.Module] = []       # so that no id comes twice
        self.count = 0
        self.unused: set[fx.Node] = set()  # what only served calls that are gone, where nothing else does
        self.left: list[str] = []  # what was not looked into, and why

    def observed(self, function: Function, inplace: bool, path: str, training: bool) -> Observed:
        self.count += 1
        return Observed(function, self.observer(function), inplace=inplace, path=path).train(training)

    def observed_rows(self, found: FoundRows, path: str, training: bool) -> ObservedRows:
        self.count += 1
        observers = self.observer(found.function), self.observer(found.function)
        return ObservedRows(found, *observers, path=path).train(training)

    def of_rows(self, found: row_functions.Found, path: str, name: str) -> Optional[FoundRows]:
        """What is to be replaced; why not, where it stays, is noted."""
        if isinstance(found, str):
            self.left.append(f"{path or 'the model'}: {name} stays: {found}")
        return found if isinstance(found, FoundRows) else None

    def module(self, module: nn.Module, path: str) -> nn.Module:
        """What is to stand for a module: itself, changed or not, or another."""
        if id(module) not in self.done:
            self.kept.append(module)
            new: nn.Module = module
            if not isinstance(module, (Activation, Observed, Rows, ObservedRows)):
                if isinstance(module, torch.jit.ScriptModule):
                    new = graph_module(module, path)
                found = functions.of_module(new) or functions.by_values(new)
                rows = None
                if self.operators and type(new) is nn.MultiheadAttention:
                    within = f"{path}.attention.softmax" if path else "attention.softmax"
                    MultiheadAttention.of(new, self.observed_rows(FoundRows(RowFunction("softmax")), within, new.training))
                elif self.operators and not found:
                    rows = self.of_rows(row_functions.of_module(new), path, type(new).__name__)
                if found:
                    new = self.observed(*found, path or "the model", module.training)
                elif rows:
                    new = self.observed_rows(rows, path or "the model", module.training)
                else:
                    new = self.inside(new, path)
                if new is not module:
                    _keep_hooks(module, new)
            self.done[id(module)] = self.done[id(new)] = new
            self.kept.append(new)
        return self.done[id(module)]

    def inside(self, module: nn.Module, path: str) -> nn.Module:
        within = path + "." if path else ""
        for name, child in module._modules.items():
            if child is not None:
                module._modules[name] = self.module(child, within + name)
        for name, value in list(vars(module).items()):  # functions that the module keeps, as TransformerEncoderLayer does
            found = functions.of_function(value)
            if found:
                setattr(module, name, self.observed(*found, within + name, module.training))
        if hasattr(module, "activation_relu_or_gelu"):  # else TransformerEncoderLayer takes a kernel of its own GELU
            setattr(module, "activation_relu_or_gelu", 0)
        if hasattr(module, "use_nested_tensor"):  # which only that kernel takes
            setattr(module, "use_nested_tensor", False)
        if isinstance(module, ONE_KERNEL):
            self.left.append(f"{path or 'the model'}: the activations of {type(module).__name__} are parts of one kernel")
        if isinstance(module, nn.PReLU):
            self.left.append(f"{path or 'the model'}: PReLU has {module.num_parameters} slopes, and a table one")
        if type(module).__module__.startswith("torch.nn."):
            return module
        return self.calls(module, path, within)

    def calls(self, module: nn.Module, path: str, within: str) -> nn.Module:
        """The module with modules for the functions that it calls: a GraphModule, where there are any."""
        try:
            graph = module.graph if isinstance(module, fx.GraphModule) else _Own().trace(module)
        except Exception as error:  # whatever the module's code does with what is no tensor
            names = sorted(_named(module) & {*NAMES, *(row_functions.NAMES if self.operators else ())})
            if names:
                reason = str(error).strip().partition("\n")[0]
                self.left.append(f"{path or 'the model'}: {type(module).__name__} names {', '.join(names)}, and torch.fx "
                                 f"cannot trace it: {reason}")
            return module
        added = 0
        parameter = functools.partial(_attribute, module)
        for node in list(graph.nodes) if self.operators else ():
            added += self.row_call(module, graph, node, parameter, path)
        for node in list(graph.nodes):
            found = None
            if node.op in ("call_function", "call_method"):
                found = functions.called(node.target, node.args, node.kwargs, parameter)
                found = found or functions.of_softsign(node)
            if found is None:
                if node.target is torch.ops.aten._transformer_encoder_layer_fwd.default:
                    self.left.append(f"{path or 'the model'}: the activation of a TransformerEncoderLayer is part of one kernel; "
                                     "trace the model after torch.backends.mha.set_fastpath_enabled(False)")
                if node.target in functions.PRELU:
                    self.left.append(f"{path or 'the model'}: prelu has more than one slope, or a computed one")
                continue
            function, inplace, x = found
            if any(isinstance(value, fx.Node) for _, value in function.arguments):
                self.left.append(f"{path or 'the model'}: the arguments of {function.name} are computed")
                continue
            name = _free_name(module, function.name)
            _put(module, graph, node, name, self.observed(function, inplace, within + name, module.training), x)
            added += 1
        if added == 0:
            return module
        for node in reversed(graph.nodes):  # parameters of norms that are their modules' now, and parts of spelled norms
            if not node.users and (node.op == "get_attr" or node in self.unused or
                                   (node.target in CHECKS and node.args[0] in self.unused)):
                graph.erase_node(node)
        if isinstance(module, fx.GraphModule):
            module.recompile()
            return module
        made = fx.GraphModule(module, graph, type(module).__name__)
        for part in ("_modules", "_parameters", "_buffers"):  # those too that forward() does not use
            for name, value in getattr(module, part).items():
                getattr(made, part).setdefault(name, value)
        return made

    def row_call(self, module: nn.Module, graph: fx.Graph, node: fx.Node, parameter: Callable[[Any], Any], path: str) -> int:
        """Puts a module where the graph calls softmax, attention or a norm; the number of them, 0 or 1."""
        if node.op not in ("call_function", "call_method"):
            return 0
        within = path + "." if path else ""
        if node.target in CALLS:
            name = _free_name(module, "attention")
            softmax = self.observed_rows(FoundRows(RowFunction("softmax")), f"{within}{name}.softmax", module.training)
            _put(module, graph, node, name, Attention(softmax).train(module.training), *node.args, **node.kwargs)
            return 1
        called = row_functions.called(node.target, node.args, node.kwargs, parameter) or row_functions.spelled(node, parameter)
        found = self.of_rows(called, path, str(getattr(node.target, "__name__", node.target)))
        if found is None:
            return 0
        name = _free_name(module, found.function.name)
        self.unused.update(_above(node, found.x))
        _put(module, graph, node, name, self.observed_rows(found, within + name, module.training), found.x)
        return 1


def _above(node: fx.Node, x: Any) -> set[fx.Node]:
    """What a node is computed from, but for x and what that is computed from."""
    found: set[fx.Node] = set()
    new = [node]
    while new:
        new = [one for of in new for one in of.all_input_nodes if one is not x and one not in found]
        new = [one for one in new if one.op == "call_function" and _is_function_of(one, x)]
        found.update(new)
    return found


def _is_function_of(node: fx.Node, x: Any) -> bool:
    seen, new = {node}, [node]
    while new:
        new = [one for of in new for one in of.all_input_nodes if one not in seen]
        seen.update(new)
    return x in seen


def _free_name(module: nn.Module, name: str) -> str:
    return next(free for free in (f"{name}_{k}" for k in itertools.count()) if not hasattr(module, free))


def _put(module: nn.Module, graph: fx.Graph, node: fx.Node, name: str, new: nn.Module, *given: Any, **named: Any) -> None:
    """A call of the new module in the place of a node."""
    module.add_module(name, new)
    with graph.inserting_after(node):
        called = graph.call_module(name, given, named)
    node.replace_all_uses_with(called)
    graph.erase_node(node)


def _attribute(module: nn.Module, value: Any) -> Any:
    """The parameter or buffer that an argument of a module's graph stands for; another argument as it is."""
    if not isinstance(value, fx.Node) or value.op != "get_attr":
        return value
    return functools.reduce(getattr, str(value.target).split("."), module)


def _named(module: nn.Module) -> set[str]:
    """The names that the code of a module's class has."""
    codes = [getattr(value, "__code__", None) for of in type(module).__mro__ if of is not nn.Module
             for value in vars(of).values()]
    return {name for code in codes if code is not None for name in code.co_names} - set(module._modules)


def prepare(model: Union[nn.Module, torch.export.ExportedProgram], observer: Optional[Callable[[Any], Observer]] = None, *,
            operators: bool = True) -> nn.Module:
    """A copy of a model whose activations, softmax and norms observe what they are given: run some batches through it, then
    convert() it.

    Replaced are the modules, the functions and the methods of GELU (both kinds), SiLU, Sigmoid, Tanh, Softplus, Mish, ELU,
    SELU, Hardswish, Hardsigmoid, LogSigmoid and Softsign, and modules of other names with the same values; and, where
    operators is true, of softmax, log-softmax, LayerNorm and RMSNorm, those of a model's own classes too. Calls of
    functions and methods are found by torch.fx in each module's own forward(), as it runs in the mode, training or not,
    that the model is in; the module becomes a GraphModule, as does one of torch.jit.trace() or script(); of torch.export
    the program or its module() is taken. Where forward() cannot be traced, a warning names it; where nothing at all is
    found, Error says why. Hooks stay with what takes a module's place.

    observer    gives an observer of pwl.calibration for a Function, or one of the two for a RowFunction, of what it is given
                and what it gives; by default LeastSquares, for softmax MinMax; another is
                lambda function: pwl.calibration.Percentile(99.9)
    """
    if isinstance(model, torch.export.ExportedProgram):
        model = model.module()
    if not isinstance(model, nn.Module):
        raise Error(f"{shown(model)}: not a module of torch")
    refuse_compiled(model)
    run = _Preparation(observer or _least_squares, operators)
    prepared = run.module(copied(model), "")
    left = "".join(f"\n  {line}" for line in run.left)
    if run.count == 0:
        names = ", ".join([*functions.KINDS, *(row_functions.NAMES if operators else ())])
        raise Error(f"the model has no activation to replace; looked for were the modules and functions {names}"
                    f"{'. Not looked into:' if left else ''}{left}")
    if left:
        warnings.warn(f"activations that stay as they are:{left}", stacklevel=2)
    return prepared


def _fitted(observed: Observed, bits: int, flags: dict[str, Any]) -> Table:
    observer = observed.observer.with_bits(bits)
    function, param = observed.function.for_pwlc()
    if param:
        flags = {**flags, "param": param}
    try:
        if bits <= 8:
            return observer.fit(function, **flags)
        return Observer.fit(observer, function, **flags)  # for the best range alone: each fit takes seconds
    except ToolError as error:
        raise ToolError(f"{observed.path}: {error}", error.code) from None
    except Error as error:
        raise Error(f"{observed.path}: {error}") from None


def convert(model: nn.Module, bits: int = 8, *, segments: Optional[int] = None, max_err: Optional[float] = None,
            gradient: str = "slope", rows: Optional[int] = None, **flags: Any) -> nn.Module:
    """A copy of a model of prepare() that has seen data, with an Activation in the place of each observer, and Rows where
    softmax and norms stood.

    bits        of the codes at both sides of the tables, 2 to 16; of row operators 8, and 16 where more are asked
    segments    of each table: least squares over the data's codes; by default 16, and 64 beyond 8 bits
    max_err     instead, or as well: as many segments as it takes for this error in output LSB at every code
    gradient    of Activation
    rows        the longest row that softmax takes; by default 4096, or the longest observed where that is longer
    flags       more of pwl.fit(), for all tables
    """
    if not isinstance(bits, int) or not 2 <= bits <= 16:
        raise Error(f"bits={shown(bits)}: must be an integer from 2 to 16")
    refuse_compiled(model)
    observed = [module for module in model.modules() if isinstance(module, (Observed, ObservedRows))]
    if not observed:
        raise Error("the model has no observers: convert() takes what prepare() gives, after some batches")
    empty = [module.path for module in observed
             if (module.observer if isinstance(module, Observed) else module.input).count == 0]
    if empty:
        raise Error(f"no data were observed at {', '.join(empty)}: run batches through the model that prepare() gave")
    if max_err is not None:
        flags = {"weights": None, **flags, "max_err": max_err}  # the largest error is that of any code
    if segments is None and max_err is None:
        segments = next(count for most, count in SEGMENTS.items() if bits <= most)
    flags = {**flags, "segments": segments}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        tasks: list[tuple[nn.Module, Any]] = [
            (module, pool.submit(_fitted, module, bits, flags) if isinstance(module, Observed)
             else pool.submit(module.fitted, bits, rows)) for module in observed]
        new: dict[int, Any] = {}
        for module, task in tasks:
            made = task.result()
            if isinstance(module, Observed):
                made = Activation(made, gradient=gradient, function=module.function, inplace=module.inplace)
            new[id(module)] = _keep_hooks(module, made.train(module.training))
    return copied(model, new)  # with the new modules in the observers' places from the start
