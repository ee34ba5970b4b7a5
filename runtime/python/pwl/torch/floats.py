# SPDX-License-Identifier: Apache-2.0
"""What a model still computes in float that a table could: seen at torch's dispatcher, by whatever name it was called."""
from __future__ import annotations

import math
from typing import Any, Callable, Mapping

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from ..functions import FUNCTIONS
from ..losses import Stay
from .activation import Activation

__all__ = ["Floats"]

Count = Callable[[tuple[Any, ...], Any], dict[str, int]]


def _each(function: str) -> Count:
    """One for each number of the result."""
    return lambda arguments, result: {function: (result[0] if isinstance(result, (tuple, list)) else result).numel()}


def _rows(which: int) -> Count:
    """One for each row that is normalised; its factor is among the results."""
    return lambda arguments, result: {"rsqrt": result[which].numel()}


def _attention(arguments: tuple[Any, ...], result: Any) -> dict[str, int]:
    query, key = arguments[:2]
    return {"exp": math.prod(query.shape[:-1]) * key.shape[-2]}


def _heads(arguments: tuple[Any, ...], result: Any) -> dict[str, int]:
    """Attention in one kernel with the products around it, of (batch, rows, width)."""
    query, key, heads = arguments[0], arguments[1], arguments[4]
    return {"exp": query.shape[0] * heads * query.shape[1] * key.shape[1]}


def _gates(sigmoid: int, tanh: int) -> Count:
    """So many for each number of a recurrent layer's result."""
    def count(arguments: tuple[Any, ...], result: Any) -> dict[str, int]:
        numbers = (result[0] if isinstance(result, (tuple, list)) else result).numel()
        return {name: of * numbers for name, of in (("sigmoid", sigmoid), ("tanh", tanh)) if of}
    return count


def _recurrent(mode: int) -> Count:
    """Of a layer of any kind, by the argument that names it: 0 and 1 plain, 2 LSTM, 3 GRU."""
    def count(arguments: tuple[Any, ...], result: Any) -> dict[str, int]:
        return {2: _gates(3, 2), 3: _gates(2, 1)}.get(arguments[mode], _gates(0, 1))(arguments, result)
    return count


# By the names of operators of torch, which what the model calls has become.
OPERATORS: Mapping[str, Count] = {
    **{function.torch: _each(function.name) for function in FUNCTIONS.values() if function.torch},
    "log_sigmoid_forward": _each("logsigmoid"), "_prelu_kernel": _each("leaky_relu"),
    "_softmax": _each("exp"), "_safe_softmax": _each("exp"), "_log_softmax": _each("exp"),
    "native_layer_norm": _rows(2), "native_group_norm": _rows(2), "_fused_rms_norm": _rows(1),
    "_scaled_dot_product_flash_attention_for_cpu": _attention, "_scaled_dot_product_flash_attention": _attention,
    "_scaled_dot_product_efficient_attention": _attention, "_scaled_dot_product_cudnn_attention": _attention,
    "_native_multi_head_attention": _heads,
    "mkldnn_rnn_layer": _recurrent(9), "_cudnn_rnn": _recurrent(6), "_thnn_fused_lstm_cell": _gates(3, 2),
    "_thnn_fused_gru_cell": _gates(2, 1),
}


class Floats(TorchDispatchMode):
    """Within it, counts what a model computes in float beside its tables, by the module that does."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()  # type: ignore[no-untyped-call, unused-ignore]
        self.within: list[str] = [""]
        self.tables = {name for name, module in model.named_modules() if isinstance(module, Activation)}
        self.found: dict[tuple[str, str, str], int] = {}
        for name, module in model.named_modules():
            module.register_forward_pre_hook(self._entering(name), prepend=True)
            module.register_forward_hook(self._leaving, always_call=True)

    def _entering(self, name: str) -> Callable[[nn.Module, Any], None]:
        return lambda module, inputs: self.within.append(name)

    def _leaving(self, module: nn.Module, inputs: Any, output: Any) -> None:
        self.within.pop()

    def __torch_dispatch__(self, function: Any, types: Any, arguments: tuple[Any, ...] = (), keywords: Any = None) -> Any:
        result = function(*arguments, **(keywords or {}))
        if self.within[-1] in self.tables:  # what looks at their errors
            return result
        name = function._schema.name.partition("::")[2]
        count = OPERATORS.get(name) or (OPERATORS.get(name[:-1]) if name.endswith("_") else None)
        first = result[0] if isinstance(result, (tuple, list)) and result else result
        if count and isinstance(first, Tensor) and first.is_floating_point():
            for of, numbers in count(arguments, result).items():
                key = self.within[-1], name.strip("_"), of
                self.found[key] = self.found.get(key, 0) + numbers
        return result

    def stays(self) -> list[Stay]:
        return [Stay(where or "the model", operator, function, count) for (where, operator, function), count in self.found.items()]
