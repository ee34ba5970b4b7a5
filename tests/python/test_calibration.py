#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Observers: ranges against those of the whole data, counts of codes, and the errors of the tables that come of them.
PYTHONPATH says where the package is.

usage: test_calibration.py PWLC
"""
import copy
import math
import os
import pickle
import sys
from unittest import mock

from harness import end, equal, np, refused, test

import pwl
from pwl.calibration import LeastSquares, MinMax, Observer, Percentile, type_of_range

os.environ["PWLC"] = os.path.realpath(sys.argv[1])
random = np.random.default_rng(1)
DATA = {
    "normal": random.normal(0.3, 1.5, 200000),
    "positive": random.exponential(2, 100000),
    "negative": -random.exponential(0.01, 100000),
    "with zeros and an outlier": np.concatenate([np.zeros(50000), random.normal(0, 1, 50000), [3e4]]),
    "far apart": np.concatenate([random.normal(-50, 1, 1000), random.normal(80, 1, 1000)]),
    "tiny": random.normal(0, 1e-20, 1000),
    "one number": np.array([2.5]),
    "zeros": np.zeros(100),
}


def observed(observer, data, batches=7):
    for batch in np.array_split(data, batches):
        observer.observe(batch.reshape(1, -1))
    return observer


@test("types of ranges: zero is a code, the ends are codes but for half a scale")
def _():
    for bits, signed in ((8, True), (8, False), (16, True), (4, False), (2, True)):
        for low, high in ((-3.7, 5.1), (0, 6), (-2, 0), (-1e-9, 1e9), (1, 2), (-5, -4), (0, 0), (-1, 1)):
            for symmetric in (False, True):
                for power in (False, True):
                    of = type_of_range(low, high, bits, signed, symmetric=symmetric, power_of_two=power)
                    ends = of.range
                    slack = of.scale * (0.5 + 1e-6 * 2 ** bits)
                    assert of.qmin <= of.zero_point <= of.qmax and of.bits == bits and of.signed == signed
                    assert ends[0] - slack <= min(low, 0) or low > 0, (of, low)
                    assert ends[0] <= low + slack and ends[1] >= high - slack, (of, low, high)
                    assert not symmetric or of.zero_point == (0 if signed else 1 << bits - 1)
                    assert not power or math.frexp(of.scale)[0] == 0.5
                    assert power or of.scale == np.float32(of.scale)
    assert str(type_of_range(-4, 4 - 2 ** -5, power_of_two=True)) == "s8:2^-5:0"
    for low, high in ((2, 1), (0, math.inf), (math.nan, 1)):
        refused("a range from", lambda: type_of_range(low, high))
    refused("bits: 1", lambda: type_of_range(0, 1, 1))


@test("minimum and maximum, whatever the batches")
def _():
    for name, data in DATA.items():
        observer = observed(MinMax(), data)
        assert observer.range() == (np.float32(data.min()), np.float32(data.max())), name
        assert observer.count == data.size and observer.type() == type_of_range(*observer.range())


@test("percentiles are those of the sorted data, but for a bin")
def _():
    for name, data in DATA.items():
        for percent in (50, 99, 99.9, 100):
            low, high = observed(Percentile(percent), data).range()
            cut = (100 - percent) / 200 * data.size
            order = np.sort(data.astype(np.float32))
            exact = order[int(cut)], order[min(math.ceil(data.size - cut), data.size) - 1]
            for got, wanted in zip((low, high), exact):
                assert abs(got - wanted) <= abs(wanted) * 2 ** -11 + 2 ** -32, (name, percent, got, wanted)


@test("counts of codes are those of all data, but for what falls into bins on the border of two")
def _():
    for name, data in DATA.items():
        for of in (None, pwl.Type.parse("s8:2^-4:3"), pwl.Type.parse("u4:0.5:7"), pwl.Type.parse("s16:0.01:0")):
            observer = observed(MinMax(), data)
            kind = of or observer.type()
            weights = observer.weights(of)
            exact = np.bincount(kind.quantize(data).astype(int) - kind.qmin, minlength=kind.qmax - kind.qmin + 1)
            assert weights.shape == exact.shape and abs(weights.sum() - data.size) < 1e-6 * data.size, name
            assert weights.min() >= 0
            # A number is counted at most a bin away from where it is: sums up to a code differ by what lies in one bin.
            limits = kind.scale * (np.arange(kind.qmin, kind.qmax) + 0.5 - kind.zero_point)
            width = np.abs(limits) * 2 ** -11 + 2 ** -32
            order = np.sort(data.astype(np.float32).astype(float))
            near = np.searchsorted(order, limits + width, "right") - np.searchsorted(order, limits - width)
            off = np.abs(np.cumsum(weights)[:-1] - np.cumsum(exact)[:-1])
            assert np.all(off <= near + 1e-6 * data.size), (name, kind, np.max(off - near))


@test("memory is bounded, and observers are merged and pickled")
def _():
    observer = MinMax()
    for exponent in range(-149, 128, 7):
        observer.observe(np.float32([2.0 ** exponent, -(2.0 ** exponent)]))
    assert observer._positive.counts.nbytes + observer._negative.counts.nbytes < 2 * 160 * 2048 * 8 + 1000
    data = DATA["normal"]
    whole = observed(Percentile(99), data)
    parts = [observed(Percentile(99), part) for part in np.array_split(data, 3)]
    merged = Percentile(99)
    for part in parts:
        merged.update(pickle.loads(pickle.dumps(part)))
    assert merged.range() == whole.range() and merged.count == whole.count
    equal(merged.weights(), whole.weights(), "merged")


@test("least squares: no other range that is tried has a lesser error, quantiser and table together")
def _():
    data = np.concatenate([DATA["normal"][:4000], [12.0]])
    for function, f, bits in ((None, lambda x: x, 6), ("tanh", np.tanh, 6), ("silu", lambda x: x / (1 + np.exp(-x)), 6),
                              (lambda x: np.sign(x) * abs(x) ** 0.25, lambda x: np.sign(x) * abs(x) ** 0.25, 4),
                              (lambda x: x ** 3, lambda x: x ** 3, 6)):
        observer = observed(LeastSquares(function, bits=bits), data)

        def error(of):
            y = f(of.dequantize(of.quantize(data)).astype(float))
            if function:
                out = type_of_range(y.min(), y.max(), bits)
                y = out.dequantize(out.quantize(y))
            return np.mean((y - f(data)) ** 2)
        chosen, whole = error(observer.type()), error(observed(MinMax(bits), data).type())
        assert chosen < 0.9 * whole, (function, chosen, whole)
        for low in np.linspace(-6, -0.5, 9):
            for high in np.linspace(0.5, 12, 16):
                assert chosen <= 1.05 * error(type_of_range(low, high, bits)), (function, observer.range(), low, high)
    for options in ({"symmetric": True}, {"power_of_two": True}, {"symmetric": True, "power_of_two": True}):
        of = observed(LeastSquares("tanh", **options), data).type()
        assert (of.zero_point == 0) == ("symmetric" in options) or "power_of_two" in options


@test("least squares with fewer bits at the output: the range is the one that suits these")
def _():
    data, cube = DATA["normal"][:4000], lambda x: x ** 3

    def error(table):
        return np.mean((table.real(data) - cube(data)) ** 2)

    few, even = (observed(LeastSquares(cube, **options), data) for options in ({"output_bits": 4}, {}))
    table = few.fit(segments=16)
    assert (table.input.bits, table.output.bits, few.output_type(cube).bits) == (8, 4, 4)
    taken = even.fit(output=table.output, segments=16)
    assert few.type() != even.type() and few.range()[1] < even.range()[1]
    of_even = pwl.fit(cube, input=even.type(), output=type_of_range(*np.array(even.type().range) ** 3, 4), segments=16)
    assert error(table) < 0.9 * error(of_even), (error(table), error(of_even))
    # With a type that is given, the range goes as far as that, and need not go farther.
    assert taken.output == table.output and taken.input != even.type() and error(taken) <= error(table) * 1.02
    assert observed(MinMax(output_bits=5), data).fit("tanh").output.bits == 5
    refused("bits: 1", lambda: LeastSquares(output_bits=1))


@test("tables from observers weigh what the data use")
def _():
    data = DATA["normal"]
    exact = np.tanh(data)
    errors = {}
    for name, observer in (("all", MinMax(8)), ("percentile", Percentile(99.9)), ("least", LeastSquares("tanh"))):
        table = observed(observer, data).fit("tanh", segments=6)
        assert len(table.segments) <= 6 and table.input == observer.type() or name == "least"
        errors[name] = np.sqrt(np.mean((table.real(data) - exact) ** 2))
    assert errors["least"] <= 1.02 * min(errors.values()), errors
    observer = observed(MinMax(8), data)
    plain = observer.fit("tanh", segments=4, weights=None)
    weighed = observer.fit("tanh", segments=4)
    mean = [np.mean((table.real(data) - exact) ** 2) for table in (plain, weighed)]
    assert mean[1] < mean[0], mean
    ours = observer.fit(np.tanh, segments=4)
    assert abs(np.mean((ours.real(data) - exact) ** 2) / mean[1] - 1) < 0.05
    elu = observed(LeastSquares("elu", param={"alpha": 0.3}), data).fit(segments=8)
    assert elu.parameters == {"alpha": 0.3}
    return ", ".join(f"{name} {error:.4f}" for name, error in errors.items())


@test("data that are 0 alone have a type and a table")
def _():
    for kind in (MinMax, Percentile, LeastSquares):
        observer = kind("gelu") if kind is LeastSquares else kind()
        table = observed(observer, np.zeros(100, np.float32)).fit("gelu", segments=4)
        assert str(table.input) == "s8:0.003921568859368563:-128" and table.real(0.0) == 0, f"{kind.__name__}: {table}"


@test("bad data and bad questions are refused, and change nothing")
def _():
    observer = observed(MinMax(), DATA["normal"])
    before = copy.deepcopy(observer)
    for bad, what in ((np.nan, "nan"), (np.inf, "inf"), (1e300, "inf")):
        refused(f"1 of 3 numbers are NaN or infinite, the first is {what}", lambda: observer.observe([1e9, bad, 2]))
    refused("real numbers are wanted", lambda: observer.observe(["a"]))
    refused("real numbers are wanted", lambda: observer.observe(np.zeros(3, complex)))
    observer.observe([])
    assert observer.range() == before.range() and observer.count == before.count
    equal(observer.weights(), before.weights(), "weights")
    for kind in (MinMax, Percentile, LeastSquares):
        refused("call observe() with batches first", lambda: kind().type())
        refused("call observe() with batches first", lambda: kind().weights(pwl.Type.parse("s8:1")))
        refused("call observe() with batches first", lambda: kind().fit("tanh"))
        refused("bits: 40", lambda: kind(bits=40))
    refused("at most 16", lambda: observed(MinMax(32), DATA["normal"]).weights())
    for kind in (MinMax, LeastSquares):
        refused(f"bits: of the observer and not of fit(), as {kind.__name__}(bits=16)",
                lambda: observed(kind(), DATA["normal"]).fit("tanh", bits=16))
    refused("percent: 0", lambda: Percentile(0))
    refused("", lambda: Observer().range(), NotImplementedError)
    refused("unknown function 'tnah'; did you mean tanh?", lambda: LeastSquares("tnah"), pwl.ToolError)
    refused("5: must be a name", lambda: LeastSquares(5))
    assert LeastSquares("logistic").function == "logistic", "a function's other name"
    with mock.patch.dict(os.environ, PWLC="/nowhere/pwlc"):
        pwl.pwlc.cache_clear()
        LeastSquares("tnah").observe([1.0])  # counts where there is no pwlc
    pwl.pwlc.cache_clear()


end()
