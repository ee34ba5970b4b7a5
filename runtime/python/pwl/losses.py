# SPDX-License-Identifier: Apache-2.0
"""What the reports of pwl.torch and pwl.onnx share: how an activation was used, what its model lost, and their tables."""
from __future__ import annotations

import dataclasses
import math
from typing import Optional, Sequence

import numpy as np

from .codes import Array
from .errors import Error

__all__ = ["Loss", "Stay", "Sums", "Use", "losses_markdown", "stays_markdown", "uses_markdown"]


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
class Stay:
    """What stays in float though a table could compute it: `operator` at the place `name` takes `count` values of
    `function` for the batches, as a softmax takes one of exp for each number. So many a table would save."""

    name: str
    operator: str
    function: str
    count: int


class Sums:
    """What a Loss is computed from, over all batches: outputs of the float model and of another."""

    def __init__(self) -> None:
        self.products = np.zeros(3)  # float by float, other by other, float by other
        self.rows = self.same = self.right = 0
        self.labelled = False

    def add(self, exact: Array, other: Array, labels: Optional[Array] = None) -> None:
        a, b = (np.asarray(y, np.float64) for y in (exact, other))
        self.products += [float((x * y).sum()) for x, y in ((a, a), (b, b), (a, b))]
        if a.ndim >= 2 and a.shape[-1] > 1:
            chosen = b.argmax(-1)
            self.rows += chosen.size
            self.same += int((chosen == a.argmax(-1)).sum())
            if labels is not None:
                if labels.shape != chosen.shape:
                    raise Error(f"labels of shape {labels.shape} for outputs of {b.shape}: wanted is {chosen.shape}")
                self.right += int((chosen == labels).sum())
                self.labelled = True
        elif labels is not None:
            raise Error(f"labels beside outputs of shape {a.shape}, which have no rows of classes")

    def loss(self) -> Loss:
        norms = math.sqrt(self.products[0] * self.products[1])
        cosine = float(self.products[2]) / norms if norms else float(self.products[0] == self.products[1])
        return Loss(cosine, self.same / self.rows if self.rows else None,
                    self.right / self.rows if self.labelled and self.rows else None)


def uses_markdown(uses: Sequence[Use]) -> str:
    rows = [["activation", "function", "data", "codes used", "RMS error, LSB", "of quantisers", "of the table", "segments",
             "bytes"]]
    for use in uses:
        rows.append([use.name, use.function, f"{use.low:.4g} to {use.high:.4g}", f"{use.codes_used} of {use.codes}",
                     f"{use.error:.3f}", f"{use.quantisers:.3f}", f"{use.table:.3f}", f"{use.segments}", f"{use.bytes}"])
    return _markdown(rows, 3)


def stays_markdown(stays: Sequence[Stay]) -> str:
    """With an empty line before it; nothing where nothing stays."""
    rows = [["stays in float", "operator", "a table would save values of", "count"]]
    rows += [[stay.name, stay.operator, stay.function, f"{stay.count}"] for stay in stays]
    return "\n\n" + _markdown(rows, 3) if stays else ""


def losses_markdown(head: str, losses: Sequence[tuple[str, Loss]], costs: Sequence[tuple[str, Loss, Loss]] = ()) -> str:
    """Rows of losses by name, and below them of what the second of two loses against the first; the figures are those
    that the last of the losses has."""
    names = [field.name for field in dataclasses.fields(Loss) if getattr(losses[-1][1], field.name) is not None]
    rows = [[head, *names]]
    for word, loss in losses:
        rows.append([word, *(f"{getattr(loss, name):.6f}" for name in names)])
    for word, one, other in costs:
        rows.append([word, *(f"{getattr(one, name) - getattr(other, name):.6f}" for name in names)])
    return _markdown(rows, 1)


def _markdown(rows: list[list[str]], left: int) -> str:
    """A table whose first columns, `left` of them, are aligned to the left."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    rule = ["-" * width if k < left else "-" * (width - 1) + ":" for k, width in enumerate(widths)]
    return "\n".join("| " + " | ".join(cell.ljust(width) if k < left else cell.rjust(width)
                                       for k, (cell, width) in enumerate(zip(row, widths))) + " |"
                     for row in [rows[0], rule, *rows[1:]])
