# SPDX-License-Identifier: Apache-2.0
"""Modules that stand where activations stood: while data are observed, and when tables compute."""
from __future__ import annotations

from typing import Any, Optional, Union

import numpy as np
import torch
from torch import Tensor, nn

from ..calibration import Observer
from ..errors import Error, shown
from ..table import Table
from . import functions
from .functions import Function
from .ops import hint_at_translations, map_codes, map_codes_plain, map_real, map_real_plain, plain, state_of, text_of

__all__ = ["Activation", "Observed"]

GRADIENTS = ("slope", "straight")
COMPUTES = ("table", "quantisers", "function")


class Activation(nn.Module):
    """An activation by a table. Real tensors are quantised, mapped and dequantised, with the bits that the integers give,
    and keep their type; tensors of integers are codes, and give codes.

    gradient    "slope": of the segment, 0 beyond the input range. "straight": of the function that the table stands for,
                which is then computed beside it wherever gradients are on
    function    that function, by default the one that the table names; None where torch has none such
    inplace     whether the result is written into the input, as some activations of torch do
    compute     "table"; or, to compare, "quantisers": the function between the two quantisers, rounded correctly; or
                "function": the function of the numbers as they are
    """

    def __init__(self, table: Table, *, gradient: str = "slope", function: Optional[Function] = None,
                 inplace: bool = False) -> None:
        super().__init__()
        if not isinstance(table, Table):
            raise Error(f"{shown(table)}: not a pwl.Table, as pwl.fit() and pwl.load() give")
        if gradient not in GRADIENTS:
            raise Error(f"gradient={shown(gradient)}: must be {' or '.join(GRADIENTS)}")
        self.function = function or functions.of_table(table)
        if gradient == "straight" and self.function is None:
            raise Error(f"gradient=\"straight\": torch has no function {table.function}; \"slope\" needs none")
        self.gradient, self.inplace, self.compute = gradient, inplace, "table"
        self._set(table)

    def _set(self, table: Table) -> None:
        self.table, self._json = table, table.to_json()

    def forward(self, x: Tensor) -> Tensor:
        if torch.jit.is_tracing():  # type: ignore[attr-defined, no-untyped-call, unused-ignore]
            hint_at_translations(True)
        if self.compute != "table":
            y = self._compared(x)
        elif not x.is_floating_point():
            y = (map_codes_plain if plain(x) else map_codes)(x, self._json)
        elif plain(x):
            y = map_real_plain(x, self._json)
        else:
            of = x.clone() if self.inplace and torch.is_grad_enabled() else x
            exact = None
            if self.gradient == "straight" and torch.is_grad_enabled():
                assert self.function is not None
                exact = self.function(of)
            y = map_real(of, self._json, exact)
        return x.copy_(y) if self.inplace else y

    def _compared(self, x: Tensor) -> Tensor:
        if self.compute not in COMPUTES:
            raise Error(f"compute={shown(self.compute)}: must be {', '.join(COMPUTES)}")
        if self.function is None:
            raise Error(f"torch has no function {self.table.function} to compare with")
        if self.compute == "function":
            return self.function(x)
        return torch.from_numpy(self.quantised(reals(x))).to(x)

    def quantised(self, x: Any) -> Any:
        """Real numbers for the codes that are nearest to the function at the codes of x."""
        assert self.function is not None
        of, to = self.table.input, self.table.output
        codes = of.quantize(x).astype(np.float64)
        exact = self.function.of_numbers(of.scale * (codes - of.zero_point))
        return to.dequantize(to.quantize(exact.astype(np.float32)))

    def get_extra_state(self) -> Tensor:
        return state_of(self._json)

    def set_extra_state(self, state: Union[Tensor, str]) -> None:
        self._set(Table(text_of(state)))

    def extra_repr(self) -> str:
        count = len(self.table.segments)
        return f"{self.function or self.table.function}, {self.table.input} to {self.table.output}, {count} segments"


class Observed(nn.Module):
    """An activation whose inputs an observer counts. `path` says in messages where it stands."""

    def __init__(self, function: Function, observer: Observer, *, inplace: bool = False, path: str = "") -> None:
        super().__init__()
        self.function, self.observer, self.inplace, self.path = function, observer, inplace, path

    @torch.compiler.disable  # type: ignore[untyped-decorator, unused-ignore]
    def observe(self, x: Tensor) -> None:
        """Counts the numbers, in compiled models too."""
        try:
            self.observer.observe(reals(x))
        except Error as error:
            raise Error(f"{self.path}: {error}") from None

    def forward(self, x: Tensor) -> Tensor:
        self.observe(x)
        y = self.function(x)
        return x.copy_(y) if self.inplace else y

    def extra_repr(self) -> str:
        return f"{self.function}, {self.observer.count} numbers"


def reals(x: Tensor) -> Any:
    """The numbers of a tensor of any device as an array of float32."""
    return x.detach().to(torch.float32).numpy(force=True)
