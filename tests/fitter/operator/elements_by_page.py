# SPDX-License-Identifier: GPL-3.0-or-later
"""Requantisation and addition in numpy with Python's integers, written from docs/operators.md alone. Constants come from
exact fractions of the scales' doubles.

constants_of(json) says what the fields of an operator's file must be; run(json, q, q_b) maps arrays of codes; real(json, q,
q_b) are the outputs in LSB as real numbers, neither rounded nor clipped."""
from fractions import Fraction

import numpy as np


def scale_of(side):
    text = side["scale"]
    return Fraction(2)**int(text[2:]) if text.startswith("2^") else Fraction(float(text))


def rounded(fraction):
    """The nearest integer, halves away from zero, of what is not negative."""
    return int(fraction + Fraction(1, 2))


def shr(p, n):
    """p 2^-n to the nearest integer, halves up; every sum is held to 64 bits."""
    p = p + 2**(n - 1)
    assert all(-2**63 <= v < 2**63 for v in (p.min(), p.max())), "a sum beyond signed 64 bits"
    return p >> n


def ends_of(side):
    return side["qmin"] - side["zero_point"], side["qmax"] - side["zero_point"]


def farthest(side):
    return max(abs(end) for end in ends_of(side))


def add_constants(op):
    """F, G and n: of 32-bit sums, or wide ones."""
    ratios = [scale_of(op[side]) / scale_of(op["out"]) for side in ("in", "in_b")]

    def at(n):
        return [rounded(ratio * 2**n) for ratio in ratios]

    if op["in"]["bits"] == op["in_b"]["bits"] == 8:
        for n in range(30, 0, -1):
            factors = at(n)
            ends = [ends_of(op["in"]), ends_of(op["in_b"])]
            least, most = (sum(factor * end[k] for factor, end in zip(factors, ends)) for k in (0, 1))
            if max(ratios) * 2**n >= 2**31 or least < -2**31 or most + 2**(n - 1) >= 2**31:
                continue
            off = sum(abs(Fraction(factor, 2**n) - ratio) * farthest(op[side])
                      for factor, ratio, side in zip(factors, ratios, ("in", "in_b")))
            if off <= Fraction(1, 2**10):
                return {"factor_a": factors[0], "factor_b": factors[1], "shift": n}
            break
    n = max(n for n in range(1, 63) if max(at(n)) < 2**31)
    return {"factor_a": at(n)[0], "factor_b": at(n)[1], "shift": n}


def constants_of(op):
    if op["operator"] == "add":
        return add_constants(op)
    ratio = scale_of(op["in"]) / scale_of(op["out"])
    n, = (n for n in range(1, 63) if 2**30 <= rounded(ratio * 2**n) < 2**31)
    return {"multiplier": rounded(ratio * 2**n), "shift": n}


def run(op, q, q_b=None):
    x = q.astype(object)
    if op["operator"] == "add":
        constant = -(op["factor_a"] * op["in"]["zero_point"] + op["factor_b"] * op["in_b"]["zero_point"])
        v = op["factor_a"] * x + op["factor_b"] * q_b.astype(object) + constant
    else:
        v = op["multiplier"] * (x - op["in"]["zero_point"])
    return np.clip(op["out"]["zero_point"] + shr(v, op["shift"]), op["out"]["qmin"], op["out"]["qmax"])


def real(op, q, q_b=None):
    """In fractions: exact."""
    y = scale_of(op["in"]) / scale_of(op["out"]) * (q.astype(object) - op["in"]["zero_point"])
    if q_b is not None:
        y = y + scale_of(op["in_b"]) / scale_of(op["out"]) * (q_b.astype(object) - op["in_b"]["zero_point"])
    return y + op["out"]["zero_point"]


def span(op):
    """How far inputs reach, in output LSB."""
    return sum(scale_of(op[side]) * farthest(op[side]) for side in ("in", "in_b") if side in op) / scale_of(op["out"])


def bound(op):
    """As a fraction."""
    n, scale = op["shift"], scale_of(op["out"])
    if op["operator"] == "add":
        return Fraction(1, 2) + sum(abs(Fraction(op[factor], 2**n) - scale_of(op[side]) / scale) * farthest(op[side])
                                    for factor, side in (("factor_a", "in"), ("factor_b", "in_b")))
    ratio = scale_of(op["in"]) / scale
    off, d = abs(Fraction(op["multiplier"], 2**n) - ratio), farthest(op["in"])
    some = min(Fraction(d), (farthest(op["out"]) + 1) / ratio)
    return Fraction(1, 2) + (off * some if off * some < Fraction(1, 2) else off * d)
