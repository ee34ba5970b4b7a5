# SPDX-License-Identifier: Apache-2.0
"""The activations that tables stand for: one list of what torch calls them, as modules, functions and methods."""
from __future__ import annotations

import dataclasses
from typing import Any, Callable, Iterator, Mapping, Optional, Union

import numpy as np
import torch
from torch import fx, nn
from torch.nn import functional

from ..functions import FUNCTIONS
from ..table import Table

__all__ = ["Function", "by_values", "called", "of_function", "of_module", "of_softsign", "of_table"]


@dataclasses.dataclass(frozen=True)
class Kind:
    """A function of torch.nn.functional, and the arguments beside its input, with their defaults; the module has them as
    attributes. pwlc has the function where FUNCTIONS does, with parameters for some of the arguments."""

    name: str
    module: type[nn.Module]
    arguments: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    parameters: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def pwlc(self) -> str:
        """pwlc's name for it; empty where it has none such."""
        return next((function.name for function in FUNCTIONS.values() if function.torch == self.name), "")


KINDS = {kind.name: kind for kind in [
    Kind("gelu", nn.GELU, {"approximate": "none"}),
    Kind("silu", nn.SiLU),
    Kind("sigmoid", nn.Sigmoid),
    Kind("tanh", nn.Tanh),
    Kind("softplus", nn.Softplus, {"beta": 1.0, "threshold": 20.0}),
    Kind("mish", nn.Mish),
    Kind("elu", nn.ELU, {"alpha": 1.0}, {"alpha": "alpha"}),
    Kind("selu", nn.SELU),
    Kind("hardswish", nn.Hardswish),
    Kind("hardsigmoid", nn.Hardsigmoid),
    Kind("logsigmoid", nn.LogSigmoid),
    Kind("softsign", nn.Softsign),
    Kind("relu6", nn.ReLU6),
    Kind("leaky_relu", nn.LeakyReLU, {"negative_slope": 0.01}, {"alpha": "negative_slope"}),
    Kind("hardtanh", nn.Hardtanh, {"min_val": -1.0, "max_val": 1.0}),
    Kind("celu", nn.CELU, {"alpha": 1.0}),
]}
MODULES = {kind.module: kind for kind in KINDS.values()}

# As calls name them: the functions themselves, and the names of methods of tensors. What ends in _ works in place.
CALLS: dict[Any, Kind] = {torch.special.expit: KINDS["sigmoid"]}
METHODS: dict[str, Kind] = {}
for _kind in KINDS.values():
    for _name in (_kind.name, _kind.name + "_"):
        for _place in (functional, torch, torch._C._nn):
            if hasattr(_place, _name):
                CALLS[getattr(_place, _name)] = _kind
        if hasattr(torch.Tensor, _name):
            METHODS[_name] = _kind
        _packet = getattr(torch.ops.aten, "log_sigmoid" if _name == "logsigmoid" else _name, None)
        if _packet is not None:  # graphs of torch.export and of TorchScript
            CALLS[_packet.default] = _kind

PRELU = (functional.prelu, torch.prelu, torch.ops.aten.prelu.default, "prelu")


@dataclasses.dataclass(frozen=True)
class Function:
    """An activation with its arguments. Called, it is torch's own."""

    name: str
    arguments: tuple[tuple[str, Any], ...] = ()

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = getattr(functional, self.name)(x, **dict(self.arguments))
        return y

    def __str__(self) -> str:
        defaults = KINDS[self.name].arguments
        given = [f"{name}={value}" for name, value in self.arguments if value != defaults[name]]
        return f"{self.name}({', '.join(given)})" if given else self.name

    def for_pwlc(self) -> tuple[Union[str, Callable[[Any], Any]], dict[str, float]]:
        """What pwl.fit() takes: a name and parameters, or the function itself where pwlc has none such."""
        kind, arguments = KINDS[self.name], dict(self.arguments)
        if self.name == "celu" and arguments["alpha"] == 1:
            return "elu", {"alpha": 1.0}
        if self.name == "gelu":
            return ("gelu_tanh" if arguments["approximate"] == "tanh" else "gelu"), {}
        if not kind.pwlc or (self.name == "softplus" and (arguments["beta"] != 1 or arguments["threshold"] < 20)):
            return self.of_numbers, {}
        return kind.pwlc, {name: float(arguments[argument]) for name, argument in kind.parameters.items()}

    def of_numbers(self, x: Any) -> Any:
        """The function of numbers or arrays of numpy, in double."""
        with torch.no_grad():
            return self(torch.from_numpy(np.array(x, np.float64))).numpy()


def _function(kind: Kind, given: Mapping[str, Any]) -> Function:
    """With the arguments that are given, and else with the defaults."""
    if kind.name == "hardtanh" and (given.get("min_val"), given.get("max_val")) == (0, 6):
        return Function("relu6")  # as TorchScript and torch.export spell it
    return Function(kind.name, tuple((name, given.get(name, value)) for name, value in kind.arguments.items()))


def _leaky_relu(slope: torch.Tensor) -> Function:
    """PReLU with the one slope that it has learned so far."""
    return Function("leaky_relu", (("negative_slope", float(slope.detach())),))


def of_module(module: nn.Module) -> Optional[tuple[Function, bool]]:
    """What a module computes, and whether in place; None where it is none of the list."""
    if type(module) is nn.PReLU and module.weight.numel() == 1:
        return _leaky_relu(module.weight), False
    kind = MODULES.get(type(module))
    if kind is None:
        return None
    given = {name: getattr(module, name) for name in kind.arguments}
    return _function(kind, given), bool(getattr(module, "inplace", False))


def _probes() -> Iterator[torch.Tensor]:
    """What by_values() gives a module: 601 numbers in a row, then 120 with a mean above 0 and 120 with one below it, in
    five dimensions, of which the first and the last have one element."""
    x = torch.linspace(-30, 30, 601)
    yield x
    for part in (x[260:380], x[221:341]):
        yield part.reshape(1, 4, 5, 6, 1)


def _values(module: nn.Module, x: torch.Tensor) -> Optional[torch.Tensor]:
    """A module's values, one for each number of x; None where it gives anything else."""
    try:
        with torch.no_grad():
            y = module(x)
    except Exception:  # it takes something else, and may raise what it likes
        return None
    return y if isinstance(y, torch.Tensor) and y.shape == x.shape and y.dtype == x.dtype else None


def by_values(module: nn.Module) -> Optional[tuple[Function, bool]]:
    """The same for a module of another name, without parts and parameters, whose values are those of one of the list, as
    where a GELU is spelled by tanh or erf: at 601 points, but for 1e-6 and for a hundred-thousandth of the value. The two
    GELUs are 5e-4 apart. Two arrays of other shapes and means tell apart what is no function of single numbers, as
    tanh(x - x.mean()) and sigmoid(x).squeeze(-1)."""
    if type(module).__module__.startswith("torch.") or any(module.children()) or module.state_dict():
        return None
    found = [Function("gelu", (("approximate", "tanh"),)), *(_function(kind, {}) for kind in KINDS.values())]
    in_place = False
    for x in _probes():
        given = x.clone()
        y = _values(module, given)
        found = [function for function in found if y is not None and torch.allclose(function(x), y, rtol=1e-5, atol=1e-6)]
        if not found:
            return None
        in_place = in_place or not torch.equal(x, given)
    return found[0], in_place


def called(target: Any, arguments: tuple[Any, ...], keywords: Mapping[str, Any],
           parameter: Callable[[Any], Any] = lambda value: value) -> Optional[tuple[Function, bool, Any]]:
    """What a call of a function, or of a method by its name, computes, whether in place, and of what; None where it is
    none of the list, or writes into out=. parameter gives the tensor that an argument of the graph stands for."""
    if target in PRELU:
        given = {**dict(zip(("input", "weight"), arguments)), **keywords}
        slope = parameter(given["weight"])
        one = isinstance(slope, torch.Tensor) and slope.numel() == 1
        return (_leaky_relu(slope), False, given["input"]) if one else None
    kind = METHODS.get(target) if isinstance(target, str) else CALLS.get(target)
    if kind is None or keywords.get("out") is not None:
        return None
    if isinstance(target, torch._ops.OpOverload):
        name = target._schema.name
        given = {**dict(zip((argument.name for argument in target._schema.arguments), arguments)), **keywords}
        given["input"] = given.pop("self")
        if kind.name == "elu" and (given.get("scale", 1), given.get("input_scale", 1)) != (1, 1):
            return None
    else:
        name = target if isinstance(target, str) else getattr(target, "__name__", "")
        given = {**dict(zip(("input", *kind.arguments, "inplace"), arguments)), **keywords}
    in_place = bool(given.get("inplace")) or name.endswith("_")
    return _function(kind, given), in_place, given["input"]


def of_softsign(node: fx.Node) -> Optional[tuple[Function, bool, Any]]:
    """The same of x / (1 + |x|) in graphs of torch.export and of TorchScript, where softsign has no operator of its own."""
    aten, (x, below, *_) = torch.ops.aten, (*node.args, None, None)
    added = isinstance(below, fx.Node) and below.target in (aten.add.Tensor, aten.add.Scalar)
    if node.target is aten.div.Tensor and isinstance(below, fx.Node) and added:
        size, *ones = below.args
        if isinstance(size, fx.Node) and size.target is aten.abs.default and size.args[0] is x and set(ones) == {1}:
            return Function("softsign"), False, x
    return None


def of_function(value: Any) -> Optional[tuple[Function, bool]]:
    """What a function of torch computes with its defaults, and whether in place; None for what is none of the list."""
    try:
        kind = CALLS.get(value)
    except TypeError:  # has no hash
        return None
    return (_function(kind, {}), value.__name__.endswith("_")) if kind else None


def of_table(table: Table) -> Optional[Function]:
    """The function that a table stands for, by its name; None where torch has none such."""
    if table.function == "gelu_tanh":
        return Function("gelu", (("approximate", "tanh"),))
    kind = next((kind for kind in KINDS.values() if kind.pwlc == table.function), None)
    if kind is None:
        return None
    return _function(kind, {argument: table.parameters[name] for name, argument in kind.parameters.items()
                            if name in table.parameters})
