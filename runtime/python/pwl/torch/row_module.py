# SPDX-License-Identifier: Apache-2.0
"""Modules that stand where softmax and norms stood: while data are observed, and when row operators compute."""
from __future__ import annotations

import dataclasses
from typing import Any, Optional, Union

import numpy as np
import torch
from torch import Tensor, nn

from .. import rows as pwl_rows
from ..calibration import Observer
from ..codes import Array, Type
from ..errors import Error, ToolError, shown
from ..rows import LONGEST, RowOperator
from .activation import COMPUTES, reals
from .ops import hint_at_translations, map_row_codes, map_rows, state_of, text_of
from .row_functions import NAMES, FoundRows, RowFunction, of_operator

__all__ = ["ObservedRows", "Rows"]

ROWS = 4096  # the longest row of softmax, where neither the data nor the caller say more


class Rows(nn.Module):
    """A softmax or a norm by a row operator. Real tensors are quantised, mapped along their rows and dequantised, with the
    bits that the integers give, and keep their type; tensors of integers are codes, and give codes. Of softmax, a place
    that is masked by -inf, or by a number more than 104 below the largest of its row, takes no part.

    function    where the rows lie, and what they stand for; by default along the last dimension, as the operator says
    compute     "table", the operator; or, to compare, "quantisers": the function between the two quantisers, rounded
                correctly; or "function": the function of the numbers as they are

    Gradients are those of the function itself, which is then computed beside the operator; its weights are constants.
    """

    weight: Optional[Tensor]
    bias: Optional[Tensor]

    def __init__(self, operator: RowOperator, function: Optional[RowFunction] = None) -> None:
        super().__init__()
        if not isinstance(operator, RowOperator):
            raise Error(f"{shown(operator)}: not a pwl.RowOperator, as pwl.softmax() and pwl.layernorm() give")
        self.function, self.compute = function or of_operator(operator), "table"
        self._set(operator)

    def _set(self, operator: RowOperator) -> None:
        kind = NAMES.get(self.function.name, "l2norm")
        length = int(np.prod(self.function.shape))
        if kind != operator.operator or (self.function.is_norm and length != operator.rows):
            raise Error(f"{operator!r} stands for no {self.function}{f' of {length}' if self.function.is_norm else ''}")
        self.operator, self._json = operator, operator.to_json()
        for name, values in (("weight", operator.gamma), ("bias", operator.beta)):
            old = getattr(self, name, None)
            made = None if values is None else torch.from_numpy(values).to(torch.float32).reshape(self.function.shape)
            self.register_buffer(name, made if made is None or old is None else made.to(old), persistent=False)

    def exact(self, x: Tensor) -> Tensor:
        """The function that the operator stands for."""
        weight, bias = (None if of is None else of.to(x.dtype) for of in (self.weight, self.bias))
        return self.function(x, weight, bias)

    def forward(self, x: Tensor) -> Tensor:
        if torch.jit.is_tracing():  # type: ignore[attr-defined, no-untyped-call, unused-ignore]
            hint_at_translations(True)
        function = self.function
        if not x.is_floating_point():
            return function.whole(map_row_codes(function.rows(x), self._json), x)
        if function.dtype is not None:
            x = x.to(function.dtype)
        if self.compute != "table":
            return self._compared(x)
        exact = function.rows(self.exact(x)) if torch.is_grad_enabled() and x.requires_grad else None
        return function.whole(map_rows(function.rows(x), self._json, exact), x)

    def _compared(self, x: Tensor) -> Tensor:
        if self.compute not in COMPUTES:
            raise Error(f"compute={shown(self.compute)}: must be {', '.join(COMPUTES)}")
        if self.compute == "function":
            return self.exact(x)
        rows = self.function.rows(x)
        return self.function.whole(torch.from_numpy(self.quantised(reals(rows))).to(rows), x)

    def of_numbers(self, x: Array) -> Array:
        """The function of rows of numpy, in double, with 0 for the logarithm of what is masked."""
        with torch.no_grad():
            given = torch.from_numpy(np.asarray(x, np.float64))
            y = self.function.rows(self.exact(self.function.whole(given, torch.empty(*x.shape[:-1], *self.function.shape))
                                              if self.function.is_norm else self.function.whole(given, given)))
            return np.asarray(y.numpy())

    def quantised(self, x: Array) -> Array:
        """Real numbers, rows along the last axis, for the codes that are nearest to the function at the codes of x."""
        of, to = self.operator.input, self.operator.output
        between = of.scale * (of.quantize(x).astype(np.float64) - of.zero_point)
        if not self.function.is_norm:
            between = np.where(pwl_rows.kept(x), between, -np.inf)
        exact = self.of_numbers(between)
        codes = np.clip(np.rint(np.nan_to_num(exact, nan=0.0, neginf=-1e30) / to.scale) + to.zero_point, to.qmin, to.qmax)
        y: Array = to.dequantize(codes.astype(to.dtype))
        return y

    def get_extra_state(self) -> Tensor:
        return state_of(self._json)

    def set_extra_state(self, state: Union[Tensor, str]) -> None:
        self._set(RowOperator(text_of(state)))

    def extra_repr(self) -> str:
        bound = self.operator.certificate.bound_lsb
        proven = "" if bound is None else f", error at most {bound:g} LSB"
        return f"{self.function}, {self.operator.input} to {self.operator.output}, rows of {self.operator.rows}{proven}"


class ObservedRows(nn.Module):
    """A softmax or a norm whose inputs and outputs observers count. `path` says in messages where it stands."""

    def __init__(self, found: FoundRows, input: Observer, output: Observer, path: str = "") -> None:
        super().__init__()
        self.function, self.input, self.output, self.path = found.function, input, output, path
        self.names = found.weight, found.bias
        self.longest = 0
        for name, value in found.parameters.items():
            if isinstance(value, nn.Parameter):
                self.register_parameter(name, value)
            else:
                self.register_buffer(name, value)

    def parameters_of(self) -> tuple[Optional[Tensor], Optional[Tensor]]:
        """Weight and bias."""
        weight, bias = (getattr(self, name) if name else None for name in self.names)
        return weight, bias

    @torch.compiler.disable  # type: ignore[untyped-decorator, unused-ignore]
    def observe(self, x: Tensor, y: Tensor) -> None:
        """Counts the numbers, in compiled models too; of softmax not those that are masked."""
        given, got = reals(self.function.rows(x)), reals(self.function.rows(y))
        if given.size and not self.function.is_norm:
            keep = pwl_rows.kept(given)
            if np.isnan(given).any():
                keep |= np.isnan(given)  # for the observer to refuse
            self.longest = max(self.longest, given.shape[-1])
            given, got = given[keep], got[keep]
        try:
            self.input.observe(given)
            self.output.observe(got)
        except Error as error:
            raise Error(f"{self.path}: {error}") from None

    def forward(self, x: Tensor) -> Tensor:
        y = self.function(x, *self.parameters_of())
        self.observe(x, y)
        return y

    def fitted(self, bits: int, rows: Optional[int]) -> Rows:
        """The row operator for what was observed, with codes of 8 or 16 bits at both sides."""
        try:
            operator = self._operator(8 if bits <= 8 else 16, rows)
            return Rows(operator, dataclasses.replace(self.function, offset=0.0))  # gamma has it
        except ToolError as error:
            raise ToolError(f"{self.path}: {error}", error.code) from None
        except Error as error:
            raise Error(f"{self.path}: {error}") from None

    def _operator(self, bits: int, rows: Optional[int]) -> RowOperator:
        function = self.function
        of = self.input.with_bits(bits).type()
        if function.name == "softmax":
            return pwl_rows.softmax(of, Type(bits, False, 2.0 ** -bits), rows=self._rows(rows))
        to = self.output.with_bits(bits).type()
        if function.name == "log_softmax":
            return pwl_rows.log_softmax(of, to, rows=self._rows(rows))
        length = int(np.prod(function.shape))
        if length > LONGEST:
            raise Error(f"rows of {length} numbers: {LONGEST} at most")
        weight, bias = self.parameters_of()
        gamma = None if weight is None else reals(weight).ravel().astype(np.float64) + function.offset
        beta = None if bias is None else reals(bias).ravel().astype(np.float64)
        fit = pwl_rows.layernorm if function.name == "layer_norm" else pwl_rows.rmsnorm
        return fit(of, to, gamma=gamma, beta=beta, eps=function.eps, rows=length)

    def _rows(self, rows: Optional[int]) -> int:
        if rows is None:
            rows = max(ROWS, self.longest)
        if not isinstance(rows, int) or not max(self.longest, 1) <= rows <= LONGEST:
            raise Error(f"rows={shown(rows)}: must be an integer from {self.longest}, the longest row observed, to {LONGEST}")
        return rows

    def extra_repr(self) -> str:
        return f"{self.function}, {self.input.count} numbers"
