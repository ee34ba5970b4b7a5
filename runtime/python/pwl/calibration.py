# SPDX-License-Identifier: Apache-2.0
"""Quantised types from data: observers take any number of batches, in bounded memory, and give a Type, the counts of its
codes, and tables that count each code as often as it occurs.

    observer = pwl.calibration.LeastSquares("gelu", bits=8)
    for batch in batches:
        observer.observe(batch)
    table = observer.fit("gelu", segments=12)
"""
from __future__ import annotations

import functools
import math
from typing import Any, Callable, Optional, Union

import numpy as np

from .codes import Array, Type, as_array, code_range
from .errors import Error, shown
from .fit import check_function, evaluate, fit, known_type, named
from .table import Table

__all__ = ["LeastSquares", "MinMax", "Observer", "Percentile", "type_of_range"]

Function = Union[str, Callable[[Any], Any]]

# A number's bin is the upper part of its float32: 8 bits of exponent and 11 of mantissa, 2048 bins for each octave, in
# two arrays, of positive and of negative numbers. What is smaller than 2^-32 is counted with it.
MANTISSA = 11
LEAST_BIN = (127 - 32) << MANTISSA
BINS_OF_SEARCH = 4096  # of the least squares' search, which takes bins together where they are more
MOST_BITS = 16  # of codes that are counted one by one


def type_of_range(low: float, high: float, bits: int = 8, signed: bool = True, *, symmetric: bool = False,
                  power_of_two: bool = False) -> Type:
    """The type whose codes reach from low to high, or a little further, and which has 0 among its codes.

        scale = (high - low) / (qmax - qmin), zero point = round(qmin - low / scale)

    with low at most and high at least 0. Symmetric types have their zero point in the middle, 0 for signed codes, and
    reach as far to both sides. power_of_two rounds the scale up to one. Else it is a float32, as most libraries have it.
    """
    if not (math.isfinite(low) and math.isfinite(high)) or low > high:
        raise Error(f"a range from {low} to {high}: it must be finite, and the first number the smaller")
    low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        high = 1.0  # all data are 0: any scale will do
    qmin, qmax = code_range(bits, signed)
    middle = 0 if signed else 1 << (bits - 1)
    scale = max(-low, high) / (qmax - middle) if symmetric else (high - low) / (qmax - qmin)
    scale = min(max(scale, 2.0 ** -64), 2.0 ** 64)
    if power_of_two:
        scale = 2.0 ** math.ceil(math.log2(scale))
    else:
        scale = float(np.float32(scale))
    zero_point = middle if symmetric else min(max(round(qmin - low / scale), qmin), qmax)
    return Type(bits, signed, scale, zero_point)


class _Bins:
    """How many numbers fell into each bin of one sign."""

    def __init__(self) -> None:
        self.first, self.counts = LEAST_BIN, np.zeros(0, np.uint64)

    def add(self, first: int, counts: Array) -> None:
        if counts.size == 0:
            return
        start, end = min(self.first, first), max(self.first + self.counts.size, first + counts.size)
        if self.counts.size == 0:
            start, end = first, first + counts.size
        grown = np.zeros(end - start, np.uint64)
        grown[self.first - start:self.first - start + self.counts.size] = self.counts
        grown[first - start:first - start + counts.size] += counts.astype(np.uint64)
        self.first, self.counts = start, grown

    def edges(self) -> Array:
        """Of each bin the lower end, and the last one's upper end; the first bin's is 0."""
        bits = np.arange(self.first, self.first + self.counts.size + 1, dtype=np.uint32) << (23 - MANTISSA)
        edges = bits.astype(np.uint32).view(np.float32).astype(np.float64)
        if self.first == LEAST_BIN:
            edges[0] = 0.0
        return edges


class Observer:
    """What all observers do: they count, and give a Type for a range that range() chooses.

    bits and signed are those of the codes, output_bits those of the table's output, by default as many; symmetric and
    power_of_two as in type_of_range().
    """

    def __init__(self, bits: int = 8, signed: bool = True, *, output_bits: Optional[int] = None, symmetric: bool = False,
                 power_of_two: bool = False) -> None:
        for count in (bits, bits if output_bits is None else output_bits):
            type_of_range(0, 1, count, signed)  # refuses what is no type
        self.bits, self.signed, self.output_bits = bits, signed, output_bits
        self.symmetric, self.power_of_two = symmetric, power_of_two
        self.count = 0
        self.low, self.high = math.inf, -math.inf
        self._positive, self._negative = _Bins(), _Bins()

    def observe(self, x: Any) -> None:
        """Counts a batch of real numbers, an array of any shape; one with NaN or infinities is refused as a whole."""
        array = as_array(x)
        if array.dtype.kind not in "fiu":
            raise Error(f"an array of {array.dtype}: real numbers are wanted")
        if array.size == 0:
            return
        with np.errstate(over="ignore"):
            reals = np.ascontiguousarray(array, np.float32).ravel()
        low, high = float(reals.min()), float(reals.max())
        if not (math.isfinite(low) and math.isfinite(high)):
            bad = reals[~np.isfinite(reals)]
            raise Error(f"{bad.size} of {reals.size} numbers are NaN or infinite, the first is {bad[0]}; leave them out, or "
                        "look for where they come from")
        self._count(reals)
        self.count += reals.size
        self.low, self.high = min(self.low, low), max(self.high, high)

    def _count(self, reals: Array) -> None:
        bins = (reals.view(np.uint32) & np.uint32(0x7FFFFFFF)) >> np.uint32(23 - MANTISSA)
        bins = np.maximum(bins, np.uint32(LEAST_BIN))
        negative = np.signbit(reals)
        for chosen, of in ((bins[~negative], self._positive), (bins[negative], self._negative)):
            if chosen.size:
                first = int(chosen.min())
                of.add(first, np.bincount(chosen - np.uint32(first)))

    def update(self, other: Observer) -> None:
        """Counts what another observer has counted, as one of another process."""
        self._positive.add(other._positive.first, other._positive.counts)
        self._negative.add(other._negative.first, other._negative.counts)
        self.count += other.count
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)

    def _bins(self) -> tuple[Array, Array]:
        """The edges of all bins, ascending, and the counts between them, of which those outside the data are 0."""
        if self.count == 0:
            raise Error("no data were observed: call observe() with batches first")
        down, up = self._negative.edges()[::-1], self._positive.edges()
        parts = [-down] if self._negative.counts.size else []
        counts = [self._negative.counts[::-1]] if self._negative.counts.size else []
        if self._positive.counts.size:
            if parts:
                gap = up[0] > parts[0][-1]
                if gap:
                    counts.append(np.zeros(1, np.uint64))
                parts.append(up if gap else up[1:])
            else:
                parts.append(up)
            counts.append(self._positive.counts)
        edges = np.clip(np.concatenate(parts), self.low, self.high)
        return edges, np.concatenate(counts).astype(np.float64)

    def range(self) -> tuple[float, float]:
        """The real numbers that the type is to reach from and to."""
        raise NotImplementedError

    def type(self) -> Type:
        """The quantised type for the data so far."""
        return self._type(*self.range())

    def _type(self, low: float, high: float, bits: Optional[int] = None) -> Type:
        return type_of_range(low, high, bits or self.bits, self.signed, symmetric=self.symmetric,
                             power_of_two=self.power_of_two)

    def _output(self, values: Array) -> Type:
        """The type of the table's output that reaches over the function's values."""
        return self._type(float(values.min()), float(values.max()), self.output_bits)

    def weights(self, of: Optional[Type] = None) -> Array:
        """How often each code of a type occurs, by default of type(): what fit(weights=) takes. A bin that reaches over
        codes is shared out among them."""
        of = of or self.type()
        if of.bits > MOST_BITS:
            raise Error(f"codes of {of.bits} bits are not counted one by one: at most {MOST_BITS}")
        edges, counts = self._bins()
        sums = np.concatenate([[0.0], np.cumsum(counts)])
        limits = of.scale * (np.arange(of.qmin, of.qmax, dtype=np.float64) + 0.5 - of.zero_point)
        # Where edges are equal, as after clipping to the data, the count is all at one place: the last sum is its end.
        below = np.interp(limits, edges, sums)
        return np.diff(np.concatenate([[0.0], below, [sums[-1]]]))

    def fit(self, function: Optional[Function] = None, *, output: Union[str, Type, None] = None, **flags: Any) -> Table:
        """A table of type() by fit(), which counts each code as often as it occurs. Without an output type, it is of
        output_bits, and reaches over the function's values in the range. Codes that do not occur count a thousandth of
        what they would, if all occurred alike, so that they do not come out as just anything."""
        _refuse_options(self, flags)
        return self._fit(self.type(), function, output, flags)

    def _fit(self, of: Type, function: Optional[Function], output: Union[str, Type, None],
             flags: dict[str, Any]) -> Table:
        if output is None:
            output = self.output_type(function, of, **flags)
        if "weights" not in flags and of.bits <= MOST_BITS:
            weights = self.weights(of)
            flags = {**flags, "weights": weights + 1e-3 * weights.sum() / weights.size}
        return fit(function, input=of, output=output, **flags)

    def output_type(self, function: Optional[Function], of: Optional[Type] = None, **flags: Any) -> Type:
        """A type like that of the input, but of output_bits, for the function's values over the codes of a type, by default of type()."""
        of = of or self.type()
        return self._output(values_of(function, *of.range, **flags)(np.linspace(*of.range, 4097)))


class MinMax(Observer):
    """From the smallest to the largest number."""

    def range(self) -> tuple[float, float]:
        if self.count == 0:
            raise Error("no data were observed: call observe() with batches first")
        return self.low, self.high


class Percentile(Observer):
    """The range of the middle `percent` percent of the numbers: (100 - percent) / 2 percent are cut off at each side."""

    def __init__(self, percent: float = 99.9, bits: int = 8, signed: bool = True, **options: Any) -> None:
        super().__init__(bits, signed, **options)
        if not 0 < percent <= 100:
            raise Error(f"percent: {shown(percent)}, must be above 0 and at most 100")
        self.percent = percent

    def range(self) -> tuple[float, float]:
        edges, counts = self._bins()
        sums = np.concatenate([[0.0], np.cumsum(counts)])
        cut = (100 - self.percent) / 200 * sums[-1]
        low = edges[np.searchsorted(sums, cut, side="right") - 1]
        high = edges[np.searchsorted(sums, sums[-1] - cut, side="left")]
        return float(low), float(high)


class LeastSquares(Observer):
    """The range with the least mean squared error of quantiser and table together: of what the table's output codes stand
    for, against the function of the numbers as they were; of the quantiser alone where no function is given.

    The search takes a table that rounds correctly; fit() then fits tables for the best ranges and takes the one that is
    best in truth. function is as fit() takes it, with param= where it has parameters.
    """

    def __init__(self, function: Optional[Function] = None, bits: int = 8, signed: bool = True, *,
                 param: Optional[dict[str, float]] = None, **options: Any) -> None:
        super().__init__(bits, signed, **options)
        self.function, parameters = named(function)
        check_function(self.function)
        self.param = {**parameters, **param} if param and parameters else param or parameters or None

    def _points(self) -> tuple[Array, Array]:
        """Numbers and how often they occur, at most about BINS_OF_SEARCH of them."""
        edges, counts = self._bins()
        centres = (edges[1:] + edges[:-1]) / 2
        used = counts > 0
        centres, counts = centres[used], counts[used]
        if centres.size > BINS_OF_SEARCH:  # as even in numbers as the data's range allows
            groups = np.unique(np.searchsorted(np.linspace(centres[0], centres[-1], BINS_OF_SEARCH), centres),
                               return_inverse=True)[1]
            sums = np.bincount(groups, counts)
            centres, counts = np.bincount(groups, counts * centres) / sums, sums
        return centres, counts

    def _ranked(self, output: Optional[Type] = None) -> list[tuple[float, float, float]]:
        """(error, low, high) of the ranges tried, the best first; of tables to `output`, or to what fits each range."""
        points, counts = self._points()
        low, high = min(self.low, 0.0), max(self.high, 0.0)
        values = (lambda x: x) if self.function is None else values_of(self.function, low, high, param=self.param)
        exact = values(points)
        tried: dict[tuple[float, float], float] = {}

        def error(a: float, b: float) -> float:
            if (a, b) not in tried:
                of = self._type(low * a, high * b)
                steps = np.clip(np.rint(points / of.scale) + of.zero_point, of.qmin, of.qmax)
                got = values(np.clip(of.scale * (steps - of.zero_point), low, high))
                if self.function is not None:
                    out = output or self._output(got)
                    steps = np.clip(np.rint(got / out.scale) + out.zero_point, out.qmin, out.qmax)
                    got = out.scale * (steps - out.zero_point)
                tried[a, b] = float(counts @ (got - exact) ** 2)
            return tried[a, b]

        shares = [0.85 ** k for k in range(24)]
        if self.symmetric:
            for share in shares:
                error(share, share)
        else:
            for a in shares if low < 0 else [1.0]:
                for b in shares if high > 0 else [1.0]:
                    error(a, b)
        step = 0.85 ** 0.5
        for _ in range(6):
            a, b = min(tried, key=lambda pair: (tried[pair], -sum(pair)))
            for near in ((a * step, b), (a / step, b), (a, b * step), (a, b / step), (a * step, b * step),
                         (a / step, b / step)):
                if max(near) <= 1 and (not self.symmetric or near[0] == near[1]):
                    error(*near)
            step **= 0.5
        return sorted((value, low * a, high * b) for (a, b), value in tried.items())

    def range(self) -> tuple[float, float]:
        return self._ranked()[0][1:]

    def fit(self, function: Optional[Function] = None, *, output: Union[str, Type, None] = None, **flags: Any) -> Table:
        _refuse_options(self, flags)
        function = self.function if function is None and not {"expr", "samples"} & set(flags) else function
        if self.param is not None:
            flags.setdefault("param", self.param)
        points, counts = self._points()
        low, high = min(self.low, 0.0), max(self.high, 0.0)
        exact = values_of(function, low, high, **flags)(points)
        best: Optional[tuple[float, Table]] = None
        types: list[Type] = []
        for _, a, b in self._ranked(known_type(output)):
            of = self._type(a, b)
            if of not in types:
                types.append(of)
                table = self._fit(of, function, output, flags)
                error = float(counts @ (table.real(points) - exact) ** 2)
                if best is None or error < best[0]:
                    best = error, table
            if len(types) == 3:
                break
        assert best is not None
        return best[1]


def _refuse_options(observer: Observer, flags: dict[str, Any]) -> None:
    for option in ("bits", "signed", "output_bits", "symmetric", "power_of_two"):
        if option in flags:
            raise Error(f"{option}: of the observer and not of fit(), as {type(observer).__name__}("
                        f"{option}={shown(flags[option])})")


def values_of(function: Optional[Function], low: float, high: float, **flags: Any) -> Callable[[Array], Array]:
    """The function's values between two numbers, of pwlc's functions joined by lines between 4096 points."""
    if callable(function):
        return functools.partial(evaluate, function)
    asked = {name: flags[name] for name in ("param", "expr", "samples", "outside") if flags.get(name) is not None}
    low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        high = 1.0  # as in type_of_range()
    table = fit(function, input="s12", output="s32", range=(low, high), method="lut", **asked)
    codes = np.arange(table.input.qmin, table.input.qmax + 1)
    x = table.input.scale * (codes - table.input.zero_point)
    y = table.output.scale * (table(codes).astype(np.int64) - table.output.zero_point).astype(np.float64)
    return lambda at: np.interp(at, x, y)
