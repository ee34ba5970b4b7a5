#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every exclusion of the proofs of tiny tables, of every form, rounding and constraint, against all lines that are
allowed: none serves its codes. A line is judged by its outputs alone. And the windows and runs of each, by
docs/proofs.md: the runs are of all slopes in the window, and the codes of a run leave no offset. TAP.

    test_exclusions.py PWLC
"""
import functools
import math
import os
import random
import sys
from fractions import Fraction

from drawn_proofs import held, shr, slopes_of

PWLC = sys.argv[1]
DRAWS = 2000 if os.environ.get("PWL_TEST_LONG") == "1" else 300
FUNCTIONS = {
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)), "tanh": math.tanh, "exp": math.exp, "erf": math.erf, "sin": math.sin,
    "silu": lambda x: x / (1 + math.exp(-x)), "relu": lambda x: max(x, 0.0), "softsign": lambda x: x / (1 + abs(x)),
}
ODD = ("tanh", "erf", "sin", "softsign")
FAR = 1 << 40  # beyond every value


def draw(rng):
    """Flags of a tiny table."""
    name, bits, out_bits = rng.choice(list(FUNCTIONS)), rng.choice([3, 4, 5]), rng.choice([4, 6, 8])
    flags = [name, "--in", f"{rng.choice('us')}{bits}:2^-{rng.randint(0, bits)}:{rng.choice([0, 0, 1, -1, 8, 300])}",
             "--out", f"{rng.choice('us')}{out_bits}:2^-{rng.randint(0, out_bits)}:{rng.choice([0, 3, -5])}",
             "--form", rng.choice(["absolute", "biased", "anchored"]), "--zero", "free",
             "--rounding", rng.choice(["floor", "half_up", "half_away", "half_even"])]
    if rng.random() < 0.5:
        flags += ["--max-err", str(rng.choice([0.5, 0.6, 0.7, 1, 1.25, 2]))]
    else:
        flags += ["--method", "minimax", "--segments", str(rng.randint(1, 4))]
    for share, flag, values in ((0.7, "--slope-bits", range(2, 8)), (0.3, "--slope-terms", [1, 2]),
                                (0.3, "--shift", ["one"]), (0.2, "--shift-multiple", [2, 4]),
                                (0.3, "--knots", ["pow2", "uniform"]), (0.2, "--fix", ["0:0", "0.5:0.5"]),
                                (0.2, "--offset-type", ["s6", "s8", "s10"])):
        if rng.random() < share:
            flags += [flag, str(rng.choice(values))]
    if name in ODD + ("sigmoid",) and rng.random() < 0.5:
        flags += ["--symmetry", "fold"]
    return flags


@functools.lru_cache(None)
def least_sum(u, n, rounding):
    """The least integer that is shifted to u or more, by bisection."""
    low, high = -(1 << 80), 1 << 80
    while low < high:
        middle = low + high >> 1
        low, high = (low, middle) if shr(middle, n, rounding) >= u else (middle + 1, high)
    return low


def bands_of(proof):
    """The values at each stored code that keep within the error and to the fixed outputs, each by trying all outputs."""
    table, error = proof["table"], float(proof["impossible"]["error"])
    x, y, fixed = table["in"], table["out"], dict(proof["rules"]["fixed"])
    scale = [2.0 ** int(side["scale"][2:]) for side in (x, y)]

    def band(code):
        t = FUNCTIONS[table["function"]](scale[0] * (code - x["zero_point"])) / scale[1] + y["zero_point"]
        t = min(max(t, y["qmin"]), y["qmax"])
        kept = [v for v in range(y["qmin"], y["qmax"] + 1) if abs(v - t) <= error and v == fixed.get(code, v)]
        if not kept:
            return 1, 0
        return -FAR if kept[0] == y["qmin"] else kept[0], FAR if kept[-1] == y["qmax"] else kept[-1]

    codes = range(x["qmin"], x["qmax"] + 1)
    if "fold" not in table:
        return {code: band(code) for code in codes}
    bands, total, zero = {}, table["fold"]["sum"], x["zero_point"]
    for code in range(zero, max(x["qmax"], 2 * zero - x["qmin"]) + 1):
        low, high = band(code) if code in codes else (-FAR, FAR)
        if code > zero and 2 * zero - code in codes:
            other = band(2 * zero - code)
            low, high = max(low, total - other[1]), min(high, total - other[0])
        bands[code] = low, high
    return bands


def is_provable(proof, q_b, n, c, distances):
    """Whether each number of the evaluation fits the accumulator, at each code."""
    table, half = proof["table"], 1 << proof["rules"]["accumulator_bits"] - 1
    rounding, biased = table["rounding"], table["form"] == "biased"
    for distance in distances:
        p = q_b * distance
        steps = [distance, p]
        if biased:
            p += c
            steps.append(p)
        if n > 0 and rounding != "floor":
            steps.append((abs(p) if rounding == "half_away" else p) + (1 << n - 1))
        steps.append(shr(p, n, rounding))
        if not biased:
            steps.append(steps[-1] + c)
        if not all(-half <= v < half for v in steps):
            return False
    return True


def offsets_at(proof, bands, exclusion, n, q_b, code):
    """The least and the largest offset that keep a slope within the band of a code."""
    table = proof["table"]
    origin = exclusion["from"] if table["form"] == "anchored" else table["in"]["zero_point"]
    p, (least, most) = q_b * (code - origin), bands[code]
    if table["form"] == "biased":
        return least_sum(least, n, table["rounding"]) - p, least_sum(most + 1, n, table["rounding"]) - 1 - p
    v = shr(p, n, table["rounding"])
    return least - v, most - v


def serving_line(proof, bands, exclusion, n, q_b):
    """An offset that serves the exclusion's codes with a slope, or none."""
    table, (low, high) = proof["table"], proof["rules"]["offsets"]
    first = exclusion["from"]
    origin = first if table["form"] == "anchored" else table["in"]["zero_point"]
    for code in range(first, exclusion["upto"]):
        bounds = offsets_at(proof, bands, exclusion, n, q_b, code)
        low, high = max(low, bounds[0]), min(high, bounds[1])
        if low > high:
            return None
    distances = [code - origin for code in range(first, exclusion["upto"])]
    near = min(max(0, low), high)
    return next((c for c in (low, near, high, low + high >> 1) if is_provable(proof, q_b, n, c, distances)), None)


def listed_slopes(proof, bands, exclusion, shifts):
    """The slopes that the window of an exclusion leaves, without reducible ones."""
    table, first, ends = proof["table"], exclusion["from"], [Fraction(-FAR), Fraction(FAR)]
    for i, j in exclusion["window"]:
        bound = Fraction(bands[first + i][0] - bands[first + j][1] - 1, i - j)
        ends = [max(ends[0], bound), ends[1]] if i > j else [ends[0], min(ends[1], bound)]
    for n in range(shifts[0], shifts[1] + 1):
        halves = table["form"] != "biased" or (n > 0 and table["rounding"] in ("floor", "half_up"))
        for q_b in slopes_of(proof["rules"], n):
            if ends[0] <= q_b * Fraction(2) ** -n <= ends[1] and (q_b % 2 or n == shifts[0] or not halves):
                yield q_b, n


def is_witnessed(proof, bands, exclusion, shifts):
    """Whether the runs exclude each slope of the list; of offsets that types alone forbid, whether none is provable."""
    if "none" in exclusion:
        low, high = bands[exclusion["from"] + exclusion["none"]]
        return low > high
    runs, first = exclusion["runs"], exclusion["from"]
    origin = first if proof["table"]["form"] == "anchored" else proof["table"]["in"]["zero_point"]
    ends = [first - origin, exclusion["upto"] - 1 - origin]
    pairs = [pair for count, *pair in zip(*[iter(runs)] * 3) for _ in range(count)]
    slopes = list(listed_slopes(proof, bands, exclusion, shifts))
    for (q_b, n), (i, j) in zip(slopes, pairs):
        low, high = proof["rules"]["offsets"]
        low = offsets_at(proof, bands, exclusion, n, q_b, first + i)[0] if i >= 0 else low
        high = offsets_at(proof, bands, exclusion, n, q_b, first + j)[1] if j >= 0 else high
        tried = {low, high, min(max(0, low), high)} if low <= high else set()
        if (tried and i >= 0 and j >= 0) or any(is_provable(proof, q_b, n, c, ends) for c in tried):
            return False
    return len(pairs) == len(slopes)


def check(proof):
    """The first exclusion that is not so, with its line; else how many hold."""
    bands, count = bands_of(proof), 0
    for chain in proof["chains"]:
        for exclusion in (one for group in chain["groups"] for one in group):
            for n in range(chain["shifts"][0], chain["shifts"][1] + 1):
                for q_b in slopes_of(proof["rules"], n):
                    c = serving_line(proof, bands, exclusion, n, q_b)
                    if c is not None:
                        return f"{exclusion}: {(q_b, n, c)}"
            if not is_witnessed(proof, bands, exclusion, chain["shifts"]):
                return f"{exclusion}: by its window and runs"
            count += 1
    return count


def main():
    rng = random.Random(52)
    proofs, exclusions, problems, kinds = held(PWLC, (draw(rng) for _ in range(DRAWS)), check,
                                         lambda table: (table["form"], table["rounding"], "fold" in table))
    print("not " * bool(problems) + f"ok 1 - {exclusions} exclusions of {proofs} proofs hold")
    print("not " * (len(kinds) < 20) + f"ok 2 - {len(kinds)} forms, roundings and folds are among them")
    print("1..2")


main()
