# SPDX-License-Identifier: Apache-2.0
"""The functions of rows that row operators stand for, softmax and norms: what torch calls them, and modules of models that
compute an RMSNorm or a LayerNorm by code of their own."""
from __future__ import annotations

import copy
import dataclasses
import math
from typing import Any, Callable, Iterator, Mapping, Optional, Union

import torch
from torch import Tensor, fx, nn
from torch.nn import functional

from ..errors import Error
from ..rows import RowOperator

__all__ = ["FoundRows", "NAMES", "RowFunction", "called", "of_module", "of_operator"]

# pwl's names by torch's.
NAMES: Mapping[str, str] = {"softmax": "softmax", "log_softmax": "logsoftmax", "layer_norm": "layernorm",
                            "rms_norm": "rmsnorm"}


@dataclasses.dataclass(frozen=True)
class RowFunction:
    """A function of rows with its arguments. Called with a tensor, it is torch's own.

    name      "softmax", "log_softmax", "layer_norm" or "rms_norm"; of operators alone "l2_norm"
    dim       of softmax: the dimension along which rows lie
    shape     of norms: the last dimensions, which together make a row
    eps       of norms
    offset    of norms: what is added to the weight, 1 where a model has it so
    dtype     what x is turned into first; None: it stays
    """

    name: str
    dim: int = -1
    shape: tuple[int, ...] = ()
    eps: float = 0.0
    offset: float = 0.0
    dtype: Optional[torch.dtype] = None

    @property
    def is_norm(self) -> bool:
        return self.name not in ("softmax", "log_softmax")

    def __call__(self, x: Tensor, weight: Optional[Tensor] = None, bias: Optional[Tensor] = None) -> Tensor:
        y: Tensor
        if self.dtype is not None:
            x = x.to(self.dtype)
        if not self.is_norm:
            y = getattr(functional, self.name)(x, self.dim)
            return y
        gamma = weight if weight is None or not self.offset else weight + self.offset
        if self.name == "layer_norm":
            y = functional.layer_norm(x, self.shape, gamma, bias, self.eps)
            return y
        if self.name == "l2_norm":
            return x * torch.rsqrt(x.square().sum(-1, keepdim=True) + self.eps)
        y = functional.rms_norm(x, self.shape, gamma, self.eps)
        return y if bias is None else y + bias

    def rows(self, x: Tensor) -> Tensor:
        """x with a row for its last dimension."""
        if not self.is_norm:
            return x.transpose(self.dim, -1)
        if tuple(x.shape[max(x.dim() - len(self.shape), 0):]) != self.shape:
            raise Error(f"a tensor of shape {tuple(x.shape)}: its last dimensions must be {self.shape}")
        return x.flatten(-len(self.shape))

    def whole(self, rows: Tensor, like: Tensor) -> Tensor:
        """What rows() was given, x or one like it, of rows."""
        return rows.reshape(like.shape) if self.is_norm else rows.transpose(self.dim, -1)

    def __str__(self) -> str:
        return self.name if self.is_norm or self.dim == -1 else f"{self.name}(dim={self.dim})"


def of_operator(operator: RowOperator, dim: int = -1) -> RowFunction:
    """The function that an operator stands for, over the last dimension or, of softmax, another."""
    name = next((name for name, of in NAMES.items() if of == operator.operator), "l2_norm")
    found = RowFunction(name, dim)
    return dataclasses.replace(found, dim=-1, shape=(operator.rows,), eps=operator.eps or 0.0) if found.is_norm else found


@dataclasses.dataclass
class FoundRows:
    """A function of rows in a model, and its parameters by the names that the module has for them."""

    function: RowFunction
    weight: str = ""  # of `parameters`; empty: none
    bias: str = ""
    parameters: dict[str, Tensor] = dataclasses.field(default_factory=dict)
    x: Any = None     # of calls: the node of the input


Found = Union[FoundRows, str, None]  # a text: why it stays as it is


# ---- Modules ----

def of_module(module: nn.Module) -> Found:
    """What a module computes of rows, or why it stays; None where it is nothing of that kind."""
    if type(module) in (nn.Softmax, nn.LogSoftmax):
        if not isinstance(module.dim, int):
            return "its dim is not given"
        return FoundRows(RowFunction("softmax" if type(module) is nn.Softmax else "log_softmax", module.dim))
    if type(module) is nn.Softmax2d:
        return FoundRows(RowFunction("softmax", -3))
    kind = {nn.LayerNorm: "layer_norm", getattr(nn, "RMSNorm", None): "rms_norm"}.get(type(module))
    if kind:
        function = RowFunction(kind, shape=tuple(module.normalized_shape),  # type: ignore[arg-type]
                               eps=_eps(module.eps, module.weight))  # type: ignore[arg-type]
        return FoundRows(function, *_names(weight=module.weight, bias=getattr(module, "bias", None)))
    return _by_values(module)


def _names(**parameters: Any) -> tuple[str, str, dict[str, Tensor]]:
    given = {name: of for name, of in parameters.items() if of is not None}
    return "weight" if "weight" in given else "", "bias" if "bias" in given else "", given


def _eps(given: Optional[float], weight: Optional[Tensor]) -> float:
    """That of RMSNorm, where it is not given, is of the type that computes."""
    if given is not None:
        return float(given)
    return torch.finfo(weight.dtype if weight is not None else torch.float32).eps


COMMON_EPS = (1e-5, 1e-6, 1e-8, 1e-12, 0.0)


def _plain_norms(names: list[str], eps: list[float], count: int) -> Iterator[FoundRows]:
    """What a module with one or two parameters of `count` numbers may compute."""
    for name in ("rms_norm", "layer_norm"):
        for weight in names:
            bias = next((other for other in names if other != weight), "")
            for offset in (0.0, 1.0):
                for one in eps:
                    yield FoundRows(RowFunction(name, shape=(count,), eps=one, offset=offset), weight, bias)


def _by_values(module: nn.Module) -> Found:
    """The same for modules of other classes, as models have for their RMSNorm: without parts, with one or two vectors for
    parameters, and with the values of a norm, of drawn numbers and with drawn parameters. Of x small beside sqrt(eps)
    too, so that eps is known; it is one of the module's own numbers, or a common one."""
    state = module.state_dict()
    sizes = {tuple(value.shape) for value in state.values()}
    if (type(module).__module__.startswith("torch.") or any(module.children()) or not 1 <= len(state) <= 2
            or len(sizes) != 1 or any(not value.is_floating_point() or value.is_meta for value in state.values())):
        return None
    shape, = sizes
    if len(shape) != 1 or shape[0] < 2:
        return None
    try:
        with torch.no_grad():
            found = _values(copy.deepcopy(module).cpu().float(), shape[0])
    except Exception:  # it takes something else, and may raise what it likes
        found = None
    if found is None:
        return "it is no RMSNorm by its values" if type(module).__name__.lower().endswith("rmsnorm") else None
    found.parameters = {name: _part(module, name) for name in state}
    return found


def _part(module: nn.Module, name: str) -> Tensor:
    value: Tensor = getattr(module, name)
    return value


def _values(module: nn.Module, count: int) -> Optional[FoundRows]:
    draw = torch.Generator().manual_seed(1)
    parameters = module.state_dict(keep_vars=True)
    for value in parameters.values():
        value.copy_(torch.rand(count, generator=draw) + 0.5)
    own = [float(value) for value in vars(module).values() if isinstance(value, float) and 0 <= value < 1]
    candidates = list(_plain_norms(list(parameters), [*dict.fromkeys((*own, *COMMON_EPS))], count))
    for size in (1.0, 1e-3, 3e-5):
        x = size * (torch.randn(2, 3, count, generator=draw) + 0.5)
        y = module(x)
        if not isinstance(y, Tensor) or y.shape != x.shape:
            return None
        candidates = [one for one in candidates if torch.allclose(y, _compute(one, parameters, x), rtol=1e-4, atol=1e-6)]
    return candidates[0] if candidates else None


def _compute(found: FoundRows, parameters: Mapping[str, Tensor], x: Tensor) -> Tensor:
    return found.function(x, parameters.get(found.weight), parameters.get(found.bias))


# ---- Calls ----

SOFTMAX, LAYER_NORM = ("input", "dim", "dtype"), ("input", "normalized_shape", "weight", "bias", "eps")
RMS_NORM = ("input", "normalized_shape", "weight", "eps")
INNER_SOFTMAX = ("input", "dim")  # of torch's own graphs; then comes what half types become

# As calls name them: the function, and the names of its arguments.
CALLS: dict[Any, tuple[str, tuple[str, ...]]] = {}
METHODS = {"softmax": ("softmax", SOFTMAX), "log_softmax": ("log_softmax", SOFTMAX)}
for _name in ("softmax", "log_softmax"):
    CALLS[getattr(functional, _name)] = (_name, ("input", "dim", "_stacklevel", "dtype"))
    for _place in (torch, torch.special):
        CALLS[getattr(_place, _name)] = (_name, SOFTMAX)
    CALLS[getattr(torch.ops.aten, _name).int] = (_name, SOFTMAX)
    CALLS[getattr(torch.ops.aten, f"_{_name}").default] = (_name, INNER_SOFTMAX)
for _name, _arguments in (("layer_norm", LAYER_NORM), ("rms_norm", RMS_NORM)):
    for _of in (functional, torch):
        if hasattr(_of, _name):
            CALLS[getattr(_of, _name)] = (_name, _arguments)
    if hasattr(torch.ops.aten, _name):
        CALLS[getattr(torch.ops.aten, _name).default] = (_name, _arguments)


def _dtype(given: Any) -> Optional[torch.dtype]:
    """TorchScript has numbers for types."""
    found: Optional[torch.dtype] = torch.ops.aten.empty.memory_format([0], dtype=given).dtype if isinstance(given, int) else given
    return found


def called(target: Any, arguments: tuple[Any, ...], keywords: Mapping[str, Any], parameter: Callable[[Any], Any]) -> Found:
    """What a call computes of rows, or why it stays. parameter gives the tensor that an argument of the graph stands for."""
    kind = METHODS.get(target) if isinstance(target, str) else CALLS.get(target)
    if kind is None or keywords.get("out") is not None:
        return None
    name, names = kind
    given = {**dict(zip(names, arguments)), **keywords}
    given.setdefault("input", given.pop("self", None))
    if name in ("softmax", "log_softmax"):
        dim = given.get("dim")
        if not isinstance(dim, int):
            return "its dim is computed" if isinstance(dim, fx.Node) else "its dim is not given"
        return FoundRows(RowFunction(name, dim, dtype=_dtype(given.get("dtype"))), x=given["input"])
    weight, bias = parameter(given.get("weight")), parameter(given.get("bias"))
    if any(isinstance(value, fx.Node) for value in (weight, bias, given.get("eps"))):
        return "its weight, bias or eps is computed"
    shape = tuple(weight.shape) if weight is not None else given.get("normalized_shape")
    if not isinstance(shape, (tuple, list)) or not all(isinstance(value, int) for value in shape):
        return "its normalized_shape is computed"
    eps = _eps(given.get("eps", 1e-5 if name == "layer_norm" else None), weight)
    return FoundRows(RowFunction(name, shape=tuple(shape), eps=eps), *_names(weight=weight, bias=bias), x=given["input"])


# ---- Spelled in graphs ----

TYPES = (torch.ops.aten.to.dtype, torch.ops.aten.to.dtype_layout, torch.ops.aten._to_copy.default)  # change it


def _is(value: Any, *operators: Any) -> bool:
    return isinstance(value, fx.Node) and value.op == "call_function" and value.target in operators


def _through_types(value: Any) -> Any:
    """What a value is before it changed its type."""
    while _is(value, *TYPES):
        value = value.args[0]
    return value


def spelled(node: fx.Node, parameter: Callable[[Any], Any]) -> Found:
    """An RMSNorm in a graph of torch.export or TorchScript, where a module of a model's own is spelled:
    weight * (x * rsqrt(mean(x^2) + eps)), in any order, with types that change in between."""
    aten = torch.ops.aten
    if not _is(node, aten.mul.Tensor):
        return None
    for one, other in (node.args[:2], node.args[1::-1]):
        weight, normalised = parameter(_through_types(one)), _through_types(other)
        if not isinstance(weight, Tensor) or weight.dim() != 1 or not _is(normalised, aten.mul.Tensor):
            continue
        for x, root in (normalised.args[:2], normalised.args[1::-1]):
            eps = _mean_square(_through_types(root), _through_types(x))
            if eps is not None:
                dtype = getattr(node.meta.get("val"), "dtype", None)
                return FoundRows(RowFunction("rms_norm", shape=tuple(weight.shape), eps=eps, dtype=dtype),
                                 *_names(weight=weight), x=_through_types(x))
    return None


def _mean_square(root: Any, x: Any) -> Optional[float]:
    """eps, where root is rsqrt(mean(x^2) + eps) over the last dimension."""
    aten = torch.ops.aten
    if not _is(root, aten.rsqrt.default):
        return None
    added = root.args[0]
    if not _is(added, aten.add.Tensor, aten.add.Scalar) or not isinstance(added.args[1], (int, float)):
        return None
    mean = added.args[0]
    if not _is(mean, aten.mean.dim) or list(mean.args[1]) != [-1] or not (mean.args[2:3] or (False,))[0]:
        return None
    square = mean.args[0]
    powers = _is(square, aten.pow.Tensor_Scalar) and square.args[1] == 2 and _through_types(square.args[0]) is x
    products = _is(square, aten.mul.Tensor) and all(_through_types(part) is x for part in square.args[:2])
    return float(added.args[1]) if (powers or products) and math.isfinite(added.args[1]) else None
