# SPDX-License-Identifier: Apache-2.0
"""What tables cost a model: at each activation, and at the model's output, apart from what the quantisers cost."""
from __future__ import annotations

import copy
import dataclasses
import math
from typing import Any, Iterable, Optional

import numpy as np
import torch
from torch import Tensor, nn

from ..errors import Error
from .activation import COMPUTES, Activation, reals

__all__ = ["Loss", "Report", "Use", "report"]


@dataclasses.dataclass
class Use:
    """What one activation was given, and how far off it was. Errors are RMS over these data, in units of an output code
    (LSB): `error` of all, against the function of the numbers as they were; `quantisers` of the function between two
    quantisers, against the same; `table` of the table against the function between the quantisers."""

    name: str
    function: str
    low: float
    high: float
    codes_used: int
    codes: int
    error: float
    quantisers: float
    table: float
    segments: int
    bytes: int


@dataclasses.dataclass
class Loss:
    """How the model's outputs compare with those of the float model: the cosine between them; the share of rows with the
    same greatest entry, of outputs with rows; and accuracy, where there were labels."""

    cosine: float
    agreement: Optional[float] = None
    accuracy: Optional[float] = None


@dataclasses.dataclass
class Report:
    """activations, a Use each; and the Loss of the float model (`function`), of the model with quantisers alone and of that
    with tables. Printed, two tables of Markdown."""

    activations: list[Use]
    function: Loss
    quantisers: Loss
    table: Loss

    def __str__(self) -> str:
        rows = [["activation", "function", "data", "codes used", "RMS error, LSB", "of quantisers", "of the table",
                 "segments", "bytes"]]
        for use in self.activations:
            rows.append([use.name, use.function, f"{use.low:.4g} to {use.high:.4g}", f"{use.codes_used} of {use.codes}",
                         f"{use.error:.3f}", f"{use.quantisers:.3f}", f"{use.table:.3f}", f"{use.segments}", f"{use.bytes}"])
        names = [field.name for field in dataclasses.fields(Loss) if getattr(self.table, field.name) is not None]
        losses = [["model", *names], *([f"{word}", *(f"{getattr(loss, name):.6f}" for name in names)] for word, loss in
                                       (("float", self.function), ("quantisers alone", self.quantisers),
                                        ("tables", self.table)))]
        for word, one, other in (("cost of quantisers", self.function, self.quantisers),
                                 ("cost of tables", self.quantisers, self.table)):
            losses.append([word, *(f"{getattr(one, name) - getattr(other, name):.6f}" for name in names)])
        return f"{_markdown(rows, 3)}\n\n{_markdown(losses, 1)}"


def _markdown(rows: list[list[str]], left: int) -> str:
    """A table whose first columns, `left` of them, are aligned to the left."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    rule = ["-" * width if k < left else "-" * (width - 1) + ":" for k, width in enumerate(widths)]
    return "\n".join("| " + " | ".join(cell.ljust(width) if k < left else cell.rjust(width)
                                       for k, (cell, width) in enumerate(zip(row, widths))) + " |"
                     for row in [rows[0], rule, *rows[1:]])


class _Counter:
    """Counts what an activation is given, before it computes."""

    def __init__(self, activation: Activation) -> None:
        self.activation, self.count = activation, 0
        self.low, self.high = math.inf, -math.inf
        self.codes = np.zeros(1 << activation.table.input.bits, bool)
        self.squares = np.zeros(3)  # of the errors error, quantisers and table of Use

    def __call__(self, module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        if self.activation.compute != "table" or inputs[0].numel() == 0:
            return
        x, table = reals(inputs[0]).ravel(), self.activation.table
        self.count += x.size
        self.low, self.high = min(self.low, float(x.min())), max(self.high, float(x.max()))
        self.codes[table.quantize(x).astype(np.int64) - table.input.qmin] = True
        assert self.activation.function is not None
        exact, between = self.activation.function.of_numbers(x), self.activation.quantised(x).astype(np.float64)
        got = table.real(x).astype(np.float64)
        self.squares += [np.sum(error ** 2) for error in (got - exact, between - exact, got - between)]

    def use(self, name: str) -> Use:
        table = self.activation.table
        error, quantisers, of_table = map(float, np.sqrt(self.squares / max(self.count, 1)) / table.output.scale)
        return Use(name, str(self.activation.function), self.low, self.high, int(self.codes.sum()),
                   table.input.qmax - table.input.qmin + 1, error, quantisers, of_table, len(table.segments),
                   table.segments.nbytes)


class _Sums:
    """What a Loss is computed from, over all batches."""

    def __init__(self) -> None:
        self.products = np.zeros(3)  # float by float, other by other, float by other
        self.rows = self.same = self.right = 0

    def add(self, exact: Tensor, other: Tensor, labels: Optional[Tensor]) -> None:
        a, b = (y.detach().to(torch.float64).cpu() for y in (exact, other))
        self.products += [float((x * y).sum()) for x, y in ((a, a), (b, b), (a, b))]
        if a.dim() >= 2 and a.shape[-1] > 1:
            chosen = b.argmax(-1)
            self.rows += chosen.numel()
            self.same += int((chosen == a.argmax(-1)).sum())
            if labels is not None:
                if labels.shape != chosen.shape:
                    raise Error(f"labels of shape {tuple(labels.shape)} for outputs of {tuple(b.shape)}: wanted is "
                                f"{tuple(chosen.shape)}")
                self.right += int((chosen == labels.cpu()).sum())
        elif labels is not None:
            raise Error(f"labels beside outputs of shape {tuple(a.shape)}, which have no rows of classes")

    def loss(self, labels: bool) -> Loss:
        norms = math.sqrt(self.products[0] * self.products[1])
        cosine = float(self.products[2]) / norms if norms else float(self.products[0] == self.products[1])
        return Loss(cosine, self.same / self.rows if self.rows else None,
                    self.right / self.rows if labels and self.rows else None)


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
    model = copy.deepcopy(model).eval()
    activations = {name: module for name, module in model.named_modules() if isinstance(module, Activation)}
    if not activations:
        raise Error("the model has no Activation: report() takes what convert() gives")
    foreign = [name for name, module in activations.items() if module.function is None]
    if foreign:
        raise Error(f"torch does not have the functions of {', '.join(foreign)}: there is nothing to compare with")
    counters = {name: _Counter(module) for name, module in activations.items()}
    for name, module in activations.items():
        module.register_forward_pre_hook(counters[name])
    sums = {compute: _Sums() for compute in COMPUTES}
    count = 0
    with torch.no_grad():
        for batch in batches:
            inputs, right = batch if labels else (batch, None)
            outputs: dict[str, Tensor] = {}
            for compute in COMPUTES:
                for module in activations.values():
                    module.compute = compute
                outputs[compute] = _output(model, copy.deepcopy(inputs))
            for compute in COMPUTES:
                sums[compute].add(outputs["function"], outputs[compute], None if right is None else torch.as_tensor(right))
            count += 1
    if count == 0:
        raise Error("there were no batches")
    return Report([counters[name].use(name) for name in activations],
                  **{compute: sums[compute].loss(labels) for compute in COMPUTES})
