#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""pwlc's requantise and add against elements_by_page.py: constants by exact fractions, codes bit for bit, every error within
the bound: TAP. usage: test_elements_reference.py PWLC"""
import itertools
import json
import pathlib
from fractions import Fraction

import numpy as np

import elements_by_page
from reference_cases import LONG, TYPES, pwlc, run_cases

INPUTS = ["s8:0.0472:3", "u8:2^-4:128", "s16:2^-10:-5", "u16:0.00031:32768"]
SUMS = ["s32:0.0003", "s32:2^-20:77", "s32:1.7e-9:-12345"]
OUTPUTS = ["s8:0.05:-3", "u8:0.031:128", "s16:0.0006", "u16:2^-11:30000"]
# Operator, inputs, output.
CASES = [("requantise", [x], y) for x, y in itertools.product(INPUTS + SUMS, OUTPUTS)]
CASES += [("add", [a, b], OUTPUTS[k % 4]) for k, (a, b) in enumerate(itertools.product(INPUTS, INPUTS))]
CASES += [
    ("requantise", ["s8:2^-31"], "s8:1"),  # next to nothing is left
    ("requantise", ["s8:2^-1:-128"], "s16:2^-29"),  # next to everything is clipped
    ("requantise", ["s32:2^-10:-2147483648"], "s8:2^-9"),  # as far from the zero point as codes are
    ("requantise", ["s16:0.99999999999"], "s16:1"),  # a multiplier that rounds up to a power of two
    ("requantise", ["u8:0.1"], "u8:0.2"),  # ties
    ("add", ["s8:0.1", "s8:0.1"], "s8:0.2"),
    ("add", ["s8:1", "s8:2^-40"], "s8:1:5"),  # one of them is nothing
    ("add", ["u8:0.02:255", "u8:0.02"], "u8:0.03:1"),
    ("add", ["s8:0.5", "u8:300"], "s8:0.01"),  # sums of 32 bits would cost too much
    ("add", ["s8:2^-50", "s8:2^-50"], "u8:1:128"),
]


def edge_codes(op, side, rng, count):
    """Every code of up to 16 bits; of 32 those next to a tie of every output code, and some of every width."""
    low, high, zero = side["qmin"], side["qmax"], side["zero_point"]
    if side["bits"] <= 16:
        return np.arange(low, high + 1)
    ratio = elements_by_page.scale_of(op["out"]) / elements_by_page.scale_of(side)
    outputs = rng.integers(op["out"]["qmin"] - 1, op["out"]["qmax"] + 2, count)
    ties = [int((int(y) - op["out"]["zero_point"] + Fraction(1, 2)) * ratio) + zero + k for y in outputs for k in (0, 1)]
    drawn = [zero + (int(rng.integers(low, high + 1)) >> int(rng.integers(0, 32))) for _ in range(count)]
    return np.clip(np.array(ties + drawn + [low, high, zero], object), low, high).astype(np.int64)


def inputs_of(op, rng):
    """Arrays of codes for the inputs, of one shape."""
    count = 20000 if LONG else 4000
    a = edge_codes(op, op["in"], rng, count)
    if op["operator"] == "requantise":
        return [a]
    b = edge_codes(op, op["in_b"], rng, count)
    if len(a) * len(b) <= 65536:
        return list(np.array(list(itertools.product(a, b))).T)
    places = 65536 if LONG else 16384
    return [rng.choice(a, places), rng.choice(b, places)]


def check(case, rng):
    name, inputs, output = case
    flags = ["--in", inputs[0], *(["--in-b", inputs[1]] if name == "add" else []), "--out", output]
    pwlc("fit", name, *flags, "-o", "op.json")
    op = json.loads(pathlib.Path("op.json").read_text())
    constants = elements_by_page.constants_of(op)
    assert {field: op[field] for field in constants} == constants, (op, constants)
    codes = inputs_of(op, rng)
    for k, (array, text) in enumerate(zip(codes, inputs)):
        np.save(f"{k}.npy", array.astype(TYPES[text.split(":")[0]]))
    pwlc("eval", "op.json", *(f"{k}.npy" for k in range(len(codes))), "-o", "y.npy")
    got = np.load("y.npy")
    assert got.dtype == TYPES[output.split(":")[0]] and got.shape == codes[0].shape
    want = elements_by_page.run(op, *codes)
    assert (got == want).all(), f"place {np.argwhere(got != want)[0]} differs"
    few = slice(None, None, 1 if LONG else max(1, len(got) // 6000))
    target = np.clip(elements_by_page.real(op, *(array[few] for array in codes)), op["out"]["qmin"], op["out"]["qmax"])
    error, bound = max(abs(got[few].astype(object) - target)), elements_by_page.bound(op)
    assert error <= bound, (float(error), float(bound))
    # Rounded up to six digits, of differences of ratios in long double.
    says, part = (Fraction(op["certificate"][field]) for field in ("bound_lsb", "factor_lsb"))
    off, least = bound - Fraction(1, 2), elements_by_page.span(op) / 2**62
    assert off * (1 - Fraction(1, 10**6)) - least <= part <= off * (1 + Fraction(1, 10**5)) + least, (float(off), float(part))
    assert bound - least <= says <= bound + Fraction(1, 10**5), (float(bound), float(says))


run_cases(CASES, check)
