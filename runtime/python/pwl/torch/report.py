# SPDX-License-Identifier: Apache-2.0
"""What tables cost a model: at each activation, and at the model's output, apart from what the quantisers cost."""
from __future__ import annotations

import contextlib
import copy
import dataclasses
import math
from typing import Any, Iterable, Union

import numpy as np
import torch
from torch import Tensor, nn

from ..codes import Array
from ..errors import Error
from .. import rows as pwl_rows
from ..losses import Loss, Stay, Sums, Use, losses_markdown, stays_markdown, uses_markdown
from ..rows import RowOperator
from ..table import Table
from .activation import COMPUTES, Activation, reals
from .convert import copied, refuse_compiled
from .floats import Floats
from .row_module import Rows

__all__ = ["Loss", "Report", "Stay", "Use", "report"]


@dataclasses.dataclass
class Report:
    """activations, a Use each; the Loss of the float model (`function`), of the model with quantisers alone and of that
    with tables; and in `floats` a Stay for what is not computed by tables. Printed, tables of Markdown."""

    activations: list[Use]
    function: Loss
    quantisers: Loss
    table: Loss
    floats: list[Stay] = dataclasses.field(default_factory=list)

    def __str__(self) -> str:
        losses = losses_markdown(
            "model", [("float", self.function), ("quantisers alone", self.quantisers), ("tables", self.table)],
            [("cost of quantisers", self.function, self.quantisers), ("cost of tables", self.quantisers, self.table)])
        return f"{uses_markdown(self.activations)}\n\n{losses}{stays_markdown(self.floats)}"


class _Counter:
    """Counts what an activation, a softmax or a norm is given, before it computes."""

    def __init__(self, module: Union[Activation, Rows]) -> None:
        self.module, self.count = module, 0
        self.of: Union[Table, RowOperator] = module.operator if isinstance(module, Rows) else module.table
        self.low, self.high = math.inf, -math.inf
        self.codes = np.zeros(1 << self.of.input.bits, bool)
        self.squares = np.zeros(3)  # of the errors error, quantisers and table of Use

    def values(self, given: Tensor) -> tuple[Array, Array, Array, Array]:
        """The numbers that count, the function of them, that between two quantisers, and what is computed."""
        if isinstance(self.module, Activation):
            x = reals(given).ravel()
            assert self.module.function is not None
            return x, self.module.function.of_numbers(x), self.module.quantised(x), self.of.real(x)
        rows = reals(self.module.function.rows(given))
        keep = slice(None) if self.module.function.is_norm else pwl_rows.kept(rows)
        return (rows[keep].ravel(), self.module.of_numbers(rows)[keep].ravel(), self.module.quantised(rows)[keep].ravel(),
                self.of.real(rows)[keep].ravel())

    def __call__(self, module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        if self.module.compute != "table" or inputs[0].numel() == 0:
            return
        x, exact, *computed = self.values(inputs[0])
        if x.size == 0:  # every place is masked
            return
        between, got = (y.astype(np.float64) for y in computed)
        self.count += x.size
        self.low, self.high = min(self.low, float(x.min())), max(self.high, float(x.max()))
        self.codes[self.of.quantize(x).astype(np.int64) - self.of.input.qmin] = True
        self.squares += [np.sum(error ** 2) for error in (got - exact, between - exact, got - between)]

    def use(self, name: str) -> Use:
        of = self.of
        segments = (of.core if isinstance(of, RowOperator) else of).segments
        error, quantisers, of_table = map(float, np.sqrt(self.squares / max(self.count, 1)) / of.output.scale)
        return Use(name, str(self.module.function), self.low, self.high, int(self.codes.sum()),
                   of.input.qmax - of.input.qmin + 1, error, quantisers, of_table, len(segments),
                   of.nbytes if isinstance(of, RowOperator) else segments.nbytes)


def _output(model: nn.Module, inputs: Any) -> Tensor:
    """What the model gives for a batch: the first tensor of it."""
    if isinstance(inputs, dict):
        got = model(**inputs)
    else:
        got = model(*inputs) if isinstance(inputs, (tuple, list)) else model(inputs)
    while not isinstance(got, Tensor):
        values = list(got.values()) if isinstance(got, dict) else list(got) if isinstance(got, (tuple, list)) else []
        if not values:
            raise Error(f"the model gives {type(got).__name__}: wanted are tensors, or tuples, lists or dicts of them")
        got = values[0]
    return got


def report(model: nn.Module, batches: Iterable[Any], *, labels: bool = False) -> Report:
    """Runs a converted model on batches three times: with float activations, with quantisers around float activations, and
    with tables. A batch is a tensor, a tuple of arguments, or a dict of them by name; with labels=True it is a pair of
    that and the class of each row. The model is copied, and runs in evaluation mode."""
    refuse_compiled(model)
    model = copied(model)
    with contextlib.suppress(NotImplementedError):  # graphs of torch.export stay in the mode that they are in
        model.eval()
    activations = {name: module for name, module in model.named_modules() if isinstance(module, (Activation, Rows))}
    if not activations:
        raise Error("the model has no Activation and no Rows: report() takes what convert() gives")
    foreign = [name for name, module in activations.items() if module.function is None]
    if foreign:
        raise Error(f"torch does not have the functions of {', '.join(foreign)}: there is nothing to compare with")
    counters = {name: _Counter(module) for name, module in activations.items()}
    for name, module in activations.items():
        module.register_forward_pre_hook(counters[name])
    floats = Floats(model)
    sums = {compute: Sums() for compute in COMPUTES}
    count = 0
    with torch.no_grad():
        for batch in batches:
            if labels and not (isinstance(batch, (tuple, list)) and len(batch) == 2):
                raise Error("labels=True: a batch must be a pair, of what the model takes and the class of each row")
            inputs, right = batch if labels else (batch, None)
            classes = None if right is None else torch.as_tensor(right).cpu().numpy()
            outputs: dict[str, Array] = {}
            for compute in COMPUTES:
                for module in activations.values():
                    module.compute = compute
                with floats if compute == "table" else contextlib.nullcontext():
                    y = _output(model, copy.deepcopy(inputs))
                outputs[compute] = y.to(torch.float64).cpu().numpy()
            for compute in COMPUTES:
                sums[compute].add(outputs["function"], outputs[compute], classes)
            count += 1
    if count == 0:
        raise Error("there were no batches")
    return Report([counters[name].use(name) for name in activations],
                  **{compute: sums[compute].loss() for compute in COMPUTES}, floats=floats.stays())
