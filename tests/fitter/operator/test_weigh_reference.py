#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""pwlc's weigh against rows_by_page.py: the multiplier by exact fractions, codes bit for bit, real sums in longdouble against
the bound, and the bound against its formula: TAP. usage: test_weigh_reference.py PWLC"""
import itertools
import json
import pathlib
from fractions import Fraction

import numpy as np

import elements_by_page
import rows_by_page
import rows_drawn
from reference_cases import LONG, TYPES, pwlc, run_cases

SCORES = ["s8:0.08:3", "u8:2^-4", "s16:0.0003", "u16:2^-11:32768"]
VALUES = ["s8:0.03:-5", "u8:0.02:200", "s16:0.0004", "u16:2^-12:33000"]
OUTPUTS = ["s8:0.03:2", "u8:0.04:128", "s16:0.0005", "u16:2^-11:30000"]
# Scores, values, output, rows, further flags.
CASES = [(x, v, OUTPUTS[(k + k // 4) % 4], 64, f"--fraction {15 + k}") for k, (x, v) in enumerate(itertools.product(SCORES, VALUES))]
CASES += [
    ("s8:0.0472", "s8:0.05", "s8:0.05", 4096, ""),
    ("s16:0.00001", "u16:0.001:65535", "s16:0.002", 65536, ""),  # long flat rows, whose sums have 62 bits
    ("s16:1.5", "s8:1", "s8:1", 1, ""),
    ("u8:0.2", "u8:0.1", "u8:0.0001:7", 100, ""),  # next to everything is clipped
    ("s8:0.1", "s8:2^-9", "s16:1", 100, "--fraction 8"),  # next to nothing is left
    ("s8:2^-10", "s16:0.37", "s8:50:-9", 100, ""),
]
CHANNELS = 6


def of_values(op, length, rng):
    """Drawn values, each end alone, the ends in turn, and one place that is unlike the others."""
    low, high = op["in_b"]["qmin"], op["in_b"]["qmax"]
    values = rng.integers(low, high + 1, (length, CHANNELS))
    values[:, 1], values[:, 2] = low, high
    values[:, 3] = np.where(np.arange(length) % 2, low, high)
    values[:, 4] = np.where(np.arange(length) == length // 2, high, low)
    return values


def rows_of(op, length, count):
    low, top = op["in"]["qmin"], op["in"]["qmax"] - op["in"]["qmin"]
    parts, state = [0, 1, 3, 10, 100, 255] + ([1000, 10000, 65535] if top > 255 else []), [length]
    return np.array([rows_drawn.row(k % rows_drawn.SHAPES, parts[k // rows_drawn.SHAPES % len(parts)], length, low, top, state)
                     for k in range(count)])


def real(op, q, v):
    """Results in output codes, clipped."""
    scales = [np.longdouble(float(elements_by_page.scale_of(op[side]))) for side in ("in", "in_b", "out")]
    x = q.astype(np.longdouble) * scales[0]
    e = np.exp(x - x.max(-1, keepdims=True))
    y = e @ (v - op["in_b"]["zero_point"]).astype(np.longdouble) / e.sum(-1, keepdims=True) * scales[1] / scales[2]
    return np.clip(y + op["out"]["zero_point"], op["out"]["qmin"], op["out"]["qmax"])


def formula(op, mine):
    """The bound, its sums' part and its factor's, from delta as the certificate has it."""
    e = np.exp(-np.longdouble(float(elements_by_page.scale_of(op["in"]))) * np.arange(len(mine.exp)))
    got = np.array(mine.exp).astype(np.longdouble) / 2**op["fraction"]
    rho = ((op["rows"] - 1) * np.abs(got - e) / (1 + (op["rows"] - 1) * np.minimum(got, e))).max()
    v, delta, scale = op["in_b"], op["certificate"]["delta"], elements_by_page.scale_of
    step = Fraction(2)**(v["bits"] - 30)
    apart, far = v["qmax"] - v["qmin"], elements_by_page.farthest(v)
    sums = float(scale(v) / scale(op["out"])) * (apart * rho + far * delta + float(step) * (1 + delta))
    ratio = scale(v) * step / scale(op["out"])
    off = abs(Fraction(op["multiplier"], 2**op["shift"]) - ratio)
    some = min(Fraction(2**30), (elements_by_page.farthest(op["out"]) + 1) / ratio)
    factor = float(off * some if off * some < Fraction(1, 2) else off * 2**30)
    return {"rho": rho, "sum_lsb": sums, "factor_lsb": factor, "bound_lsb": 0.5 + sums + factor}


def check(case, rng):
    x, v, y, longest, flags = case
    pwlc("fit", "weigh", "--in", x, "--in-b", v, "--out", y, "--rows", str(longest), *flags.split(), "-o", "op.json")
    op = json.loads(pathlib.Path("op.json").read_text())
    mine, bound = rows_by_page.load(op), op["certificate"]["bound_lsb"]
    sums = {**op["in_b"], "scale": repr(float(elements_by_page.scale_of(op["in_b"]) * Fraction(2)**(op["in_b"]["bits"] - 30)))}
    constants = elements_by_page.constants_of({"operator": "requantise", "in": sums, "out": op["out"]})
    assert {field: op[field] for field in constants} == constants, (op, constants)
    for name, value in formula(op, mine).items():
        assert value * (1 - 1e-6) - 1e-9 <= op["certificate"][name] <= value * (1 + 2e-5) + 1e-9, (name, value, op["certificate"])
    for length in sorted({longest, max(1, longest // 3), min(longest, 2)}):
        q = rows_of(op, length, (48 if LONG else 18) if length <= 4096 else 3)
        values = of_values(op, length, rng)
        np.save("q.npy", q.astype(TYPES[x.split(":")[0]]))
        np.save("v.npy", values.astype(TYPES[v.split(":")[0]]))
        pwlc("eval", "op.json", "q.npy", "v.npy", "-o", "y.npy")
        got = np.load("y.npy")
        assert got.dtype == TYPES[y.split(":")[0]] and got.shape == (len(q), CHANNELS)
        want = np.array(mine.run_values(q, values.tolist()))
        assert (got == want).all(), f"rows of {length}: {np.argwhere(got != want)[0]} differs"
        error = float(np.abs(got.astype(np.longdouble) - real(op, q, values)).max())
        assert error <= bound, (error, op["certificate"])


run_cases(CASES, check)
