# SPDX-License-Identifier: Apache-2.0
"""What tables cost a model of ONNX: at each activation, and at the model's output, apart from what the quantisers cost."""
from __future__ import annotations

import dataclasses
import math
from typing import Iterable, Mapping, Optional

import numpy as np

from ..codes import Array
from ..errors import Error
from ..table import Table
from .convert import Batch, Model, load_model, replace, run
from .expressions import Place, find

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
    """How the model's first output compares with that of the float model: the cosine between them, and of outputs with rows
    the share of rows with the same greatest entry."""

    cosine: float
    agreement: Optional[float] = None


@dataclasses.dataclass
class Report:
    """activations, a Use each; and the Loss of the model with quantisers alone and of that with tables. Printed, two
    tables of Markdown."""

    activations: list[Use]
    quantisers: Loss
    table: Loss

    def __str__(self) -> str:
        rows = [["activation", "function", "data", "codes used", "RMS error, LSB", "of quantisers", "of the table", "segments",
                 "bytes"]]
        for use in self.activations:
            rows.append([use.name, use.function, f"{use.low:.4g} to {use.high:.4g}", f"{use.codes_used} of {use.codes}",
                         f"{use.error:.3f}", f"{use.quantisers:.3f}", f"{use.table:.3f}", f"{use.segments}", f"{use.bytes}"])
        names = [field.name for field in dataclasses.fields(Loss) if getattr(self.table, field.name) is not None]
        losses = [["activations", *names]]
        for word, loss in (("float between quantisers", self.quantisers), ("tables", self.table)):
            losses.append([word, *(f"{getattr(loss, name):.6f}" for name in names)])
        return f"{_markdown(rows, 3)}\n\n{_markdown(losses, 1)}"


def _markdown(rows: list[list[str]], left: int) -> str:
    """A table whose first columns, `left` of them, are aligned to the left."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    rule = ["-" * width if k < left else "-" * (width - 1) + ":" for k, width in enumerate(widths)]
    return "\n".join("| " + " | ".join(cell.ljust(width) if k < left else cell.rjust(width)
                                       for k, (cell, width) in enumerate(zip(row, widths))) + " |"
                     for row in [rows[0], rule, *rows[1:]])


class _Counter:
    """Counts what an activation is given."""

    def __init__(self, place: Place, table: Table) -> None:
        self.place, self.table, self.count = place, table, 0
        self.low, self.high = math.inf, -math.inf
        # Quantisers and table give one number for a code: their values are known beforehand.
        codes = np.arange(table.input.qmin, table.input.qmax + 1)
        self.used = np.zeros(codes.size, bool)
        between = table.output.quantize(place.values(table.input.dequantize(codes)))
        self.between, self.got = (table.dequantize(q).astype(np.float64) for q in (between, table(codes)))
        self.squares = np.zeros(3)  # of the errors error, quantisers and table of Use

    def __call__(self, tensor: Array) -> None:
        if tensor.size == 0:
            return
        x = tensor.astype(np.float32).ravel()
        self.count += x.size
        self.low, self.high = min(self.low, float(x.min())), max(self.high, float(x.max()))
        at = self.table.quantize(x).astype(np.int64) - self.table.input.qmin
        self.used[at] = True
        exact, between, got = self.place.values(x), self.between[at], self.got[at]
        self.squares += [float(error @ error) for error in (got - exact, between - exact, got - between)]

    def use(self) -> Use:
        table = self.table
        error, quantisers, of_table = (np.sqrt(self.squares / max(self.count, 1)) / table.output.scale).tolist()
        return Use(self.place.output, str(self.place), self.low, self.high, int(self.used.sum()), self.used.size,
                   error, quantisers, of_table, len(table.segments), table.segments.nbytes)


class _Sums:
    """What a Loss is computed from, over all batches."""

    def __init__(self) -> None:
        self.products = np.zeros(3)  # float by float, other by other, float by other
        self.rows = self.same = 0

    def add(self, exact: Array, other: Array) -> None:
        a, b = (np.asarray(y, np.float64) for y in (exact, other))
        self.products += [float((x * y).sum()) for x, y in ((a, a), (b, b), (a, b))]
        if a.ndim >= 2 and a.shape[-1] > 1:
            same = a.argmax(-1) == b.argmax(-1)
            self.rows, self.same = self.rows + same.size, self.same + int(same.sum())

    def loss(self) -> Loss:
        norms = math.sqrt(self.products[0] * self.products[1])
        cosine = float(self.products[2]) / norms if norms else float(self.products[0] == self.products[1])
        return Loss(cosine, self.same / self.rows if self.rows else None)


def report(model: Model, tables: Mapping[str, Table], batches: Iterable[Batch]) -> Report:
    """Runs a model on batches with its own activations, with these between the quantisers of tables, and with the tables,
    which are those of fit()."""
    if not tables:
        raise Error("there are no tables to report on: fit() gives them")
    model = load_model(model)
    quantised, converted = replace(model, tables, quantisers_only=True), replace(model, tables)
    counters = [_Counter(place, tables[place.output]) for place in find(model) if place.output in tables]
    output, sums = model.graph.output[0].name, (_Sums(), _Sums())
    kept = list(batches)
    names = [output, *(counter.place.input for counter in counters)]
    for exact, between, got in zip(run(model, names, kept), run(quantised, [output], kept), run(converted, [output], kept)):
        for counter in counters:
            counter(exact[counter.place.input])
        for other, of in zip((between, got), sums):
            of.add(exact[output], other[output])
    return Report([counter.use() for counter in counters], *(of.loss() for of in sums))
