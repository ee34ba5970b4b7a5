# SPDX-License-Identifier: Apache-2.0
"""What tables cost a model of ONNX: at each activation, and at the model's output, apart from what the quantisers cost."""
from __future__ import annotations

import dataclasses
import math
from typing import Iterable, Mapping, Union

import numpy as np

from ..codes import Array
from ..errors import Error
from ..losses import Loss, Stay, Sums, Use, losses_markdown, stays_markdown, uses_markdown
from ..rows import RowOperator, kept
from ..table import Table
from .convert import Batch, Model, load_model, replace, run
from .expressions import Place
from .floats import Floats
from .places import AnyPlace, Computed, find
from .row_places import RowPlace

__all__ = ["Loss", "Report", "Stay", "Use", "report"]


@dataclasses.dataclass
class Report:
    """activations, a Use each; the Loss of the model with quantisers alone and of that with tables; and in `floats` a Stay
    for what is not computed by tables. Printed, tables of Markdown."""

    activations: list[Use]
    quantisers: Loss
    table: Loss
    floats: list[Stay] = dataclasses.field(default_factory=list)

    def __str__(self) -> str:
        losses = losses_markdown("activations",
                                 [("float between quantisers", self.quantisers), ("tables", self.table)])
        return f"{uses_markdown(self.activations)}\n\n{losses}{stays_markdown(self.floats)}"


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


class _RowCounter:
    """The same of a softmax or a norm, without what is masked."""

    def __init__(self, place: RowPlace, operator: RowOperator) -> None:
        self.place, self.operator, self.count = place, operator, 0
        self.low, self.high = math.inf, -math.inf
        self.used = np.zeros(operator.input.qmax - operator.input.qmin + 1, bool)
        self.squares = np.zeros(3)

    def __call__(self, tensor: Array) -> None:
        of = self.operator
        x = self.place.rows(tensor).astype(np.float32)
        keep = np.ones(x.shape, bool) if self.place.is_norm or x.size == 0 else kept(x)
        if not keep.any():
            return
        codes = of.quantize(x)
        steps = np.where(keep, of.input.dequantize(codes).astype(np.float64), 0.0 if self.place.is_norm else -np.inf)
        exact = self.place.values(x)
        between = of.output.scale * (np.clip(np.rint(self.place.values(steps) / of.output.scale) + of.output.zero_point,
                                             of.output.qmin, of.output.qmax) - of.output.zero_point)
        got = of.real(x).astype(np.float64)
        seen = x[keep]
        self.count += seen.size
        self.low, self.high = min(self.low, float(seen.min())), max(self.high, float(seen.max()))
        self.used[codes[keep].astype(np.int64) - of.input.qmin] = True
        self.squares += [float(error @ error) for error in ((got - exact)[keep], (between - exact)[keep], (got - between)[keep])]

    def use(self) -> Use:
        of = self.operator
        error, quantisers, of_table = (np.sqrt(self.squares / max(self.count, 1)) / of.output.scale).tolist()
        return Use(self.place.output, str(self.place), self.low, self.high, int(self.used.sum()), self.used.size,
                   error, quantisers, of_table, len(of.core.segments), of.nbytes)


def _counter(place: AnyPlace, of: Computed) -> Union[_Counter, _RowCounter]:
    if isinstance(place, RowPlace):
        assert isinstance(of, RowOperator)
        return _RowCounter(place, of)
    assert isinstance(of, Table)
    return _Counter(place, of)


def report(model: Model, tables: Mapping[str, Computed], batches: Iterable[Batch]) -> Report:
    """Runs a model on batches with its own activations, with these between the quantisers of tables, and with the tables,
    which are those of fit()."""
    if not tables:
        raise Error("there are no tables to report on: fit() gives them")
    model = load_model(model)
    quantised, converted = replace(model, tables, quantisers_only=True), replace(model, tables)
    counters = [_counter(place, tables[place.output]) for place in find(model) if place.output in tables]
    floats = Floats(converted.graph)
    output, sums = model.graph.output[0].name, (Sums(), Sums())
    kept = list(batches)
    names = [output, *(counter.place.input for counter in counters)]
    for exact, between, got in zip(run(model, names, kept), run(quantised, [output], kept),
                                   run(converted, [output, *floats.inputs], kept)):
        floats.count(got)
        for counter in counters:
            counter(exact[counter.place.input])
        for other, of in zip((between, got), sums):
            of.add(exact[output], other[output])
    return Report([counter.use() for counter in counters], sums[0].loss(), sums[1].loss(), list(floats.stays()))
