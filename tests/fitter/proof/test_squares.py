#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rows of proofs of least squares, of tiny tables of every form, rounding and constraint, against all lines that are
allowed: none costs less over its codes than docs/proofs.md asks of it. A line is judged by its outputs alone, at every
code; boxes of lines, and bounds, are not used. TAP.

    test_squares.py PWLC
"""
import itertools
import math
import os
import random
import sys

from drawn_proofs import held, shr, slopes_of

PWLC = sys.argv[1]
LONG = os.environ.get("PWL_TEST_LONG") == "1"
DRAWS = 1000 if LONG else 200
# Outputs are what some shift within these gives, too: products have 8 bits, and outputs 4.
SHIFTS = -6, 10
FUNCTIONS = {
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)), "tanh": math.tanh, "exp": math.exp, "sin": math.sin,
    "silu": lambda x: x / (1 + math.exp(-x)), "softsign": lambda x: x / (1 + abs(x)),
}
ODD = ("tanh", "sin", "softsign")


def draw(rng):
    """Flags of a tiny table."""
    name, bits, out_bits = rng.choice(list(FUNCTIONS)), rng.choice([3, 4] if LONG else [3]), rng.choice([3, 4] if LONG else [3])
    flags = [name, "--in", f"{rng.choice('us')}{bits}:2^-{rng.randint(0, bits)}:{rng.choice([0, 0, 1, -1, 8])}",
             "--out", f"{rng.choice('us')}{out_bits}:2^-{rng.randint(0, out_bits)}:{rng.choice([0, 3, -5])}",
             "--form", rng.choice(["absolute", "biased", "anchored"]), "--zero", "free", "--method", "lsq",
             "--rounding", rng.choice(["floor", "half_up", "half_away", "half_even"]),
             "--segments", str(rng.randint(1, 3)), "--slope-bits", str(rng.randint(2, 4 if LONG else 3))]
    for share, flag, values in ((0.3, "--slope-terms", [1, 2]), (0.3, "--shift", ["one"]),
                                (0.2, "--shift-multiple", [2, 4]), (0.3, "--knots", ["pow2", "uniform"]),
                                (0.2, "--fix", ["0:0", "0.5:0.5"]), (0.2, "--offset-type", ["s6", "s8"])):
        if rng.random() < share:
            flags += [flag, str(rng.choice(values))]
    if name in ODD + ("sigmoid",) and rng.random() < 0.4:
        flags += ["--symmetry", "fold"]
    return flags


def costs_of(proof):
    """What each output costs at each code: by code, by output."""
    table, fixed = proof["table"], dict(proof["rules"]["fixed"])
    x, y = table["in"], table["out"]
    scale = [2.0 ** int(side["scale"][2:]) for side in (x, y)]
    costs = {}
    for code in range(x["qmin"], x["qmax"] + 1):
        t = FUNCTIONS[table["function"]](scale[0] * (code - x["zero_point"])) / scale[1] + y["zero_point"]
        t = min(max(t, y["qmin"]), y["qmax"])
        costs[code] = {q: (q - t) ** 2 if q == fixed.get(code, q) else math.inf for q in range(y["qmin"], y["qmax"] + 1)}
    return costs


def fits(proof, n, c, p, x):
    """Whether each number of the evaluation fits the accumulator at a distance x, of product p."""
    table, half = proof["table"], 1 << proof["rules"]["accumulator_bits"] - 1
    steps = [x, p]
    if table["form"] == "biased":
        steps.append(p := p + c)
    if n > 0 and table["rounding"] != "floor":
        steps.append((abs(p) if table["rounding"] == "half_away" else p) + (1 << n - 1))
    steps.append(shr(p, n, table["rounding"]))
    if table["form"] != "biased":
        steps.append(steps[-1] + c)
    return all(-half <= v < half for v in steps)


def constants(proof, n, products):
    """One constant for each way that a line's outputs can be, and those at the ends of what is allowed."""
    table, rules = proof["table"], proof["rules"]
    y, biased, rounding = table["out"], table["form"] == "biased", table["rounding"]
    fold = table.get("fold", {"sum": y["qmin"] + y["qmax"]})["sum"]
    values = range(min(y["qmin"], fold - y["qmax"]) - 1, max(y["qmax"], fold - y["qmin"]) + 2)
    low, high = rules["offsets"]
    found = {low, high, 0}
    for p, v in itertools.product(products, values):
        if not biased:
            found.add(v - shr(p, n, rounding))
            continue
        # The least sum that is shifted to v: where the next one is, ties differ.
        first = v << n if n > 0 else -(-v >> -n)
        if n > 0 and rounding != "floor":
            first -= 1 << n - 1
        found.update(first - p + step for step in (-1, 0, 1, 2))
    return [c for c in found if low <= c <= high]


def least_costs(proof, costs, a, end, shifts):
    """The least cost of the lines from a, by the code behind the last one of the range."""
    table, y = proof["table"], proof["table"]["out"]
    origin = a if table["form"] == "anchored" else table["in"]["zero_point"]
    zero, fold = table["in"]["zero_point"], table.get("fold")
    least = dict.fromkeys(range(a + 1, end + 1), math.inf)
    limit = proof["impossible"]["squares"] * 2.0 ** -proof["impossible"]["unit"]  # nothing is asked of a line beyond it
    for n in range(max(shifts[0], min(shifts[1], SHIFTS[0])), min(shifts[1], max(shifts[0], SHIFTS[1])) + 1):
        for q_b in slopes_of(proof["rules"], n):
            products = [q_b * (q - origin) for q in range(a, end)]
            for c in constants(proof, n, products):
                cost = 0
                for q, p in zip(range(a, end), products):
                    if not fits(proof, n, c, p, q - origin):
                        break
                    v = shr(p + c, n, table["rounding"]) if table["form"] == "biased" else \
                        shr(p, n, table["rounding"]) + c
                    if q in costs:
                        cost += costs[q][min(max(v, y["qmin"]), y["qmax"])]
                    if fold and q > zero and 2 * zero - q in costs:
                        cost += costs[2 * zero - q][min(max(fold["sum"] - v, y["qmin"]), y["qmax"])]
                    least[q + 1] = min(least[q + 1], cost)
                    if cost > limit:
                        break
    return least


def places_of(proof, d0):
    """Where segments may start, ascending."""
    places, qmax = proof["rules"]["places"], proof["table"]["in"]["qmax"]
    if places == "any":
        return list(range(d0, qmax + 1))
    if "shift" in places:
        return [d0] + [q for q in range(d0 + 1, qmax + 1) if q % 2 ** places["shift"] == 0]
    return [d0 + (qmax + 1 - d0) * m // places["equal"][0] for m in range(places["equal"][0])]


def check(proof):
    """The first range that costs less than the rows ask for, or a row that ends too low; else the number of ranges."""
    table, claim = proof["table"], proof["impossible"]
    x, costs, count = table["in"], costs_of(proof), 0
    d0 = x["zero_point"] if "fold" in table else x["qmin"]
    d1 = max(x["qmax"], 2 * d0 - x["qmin"]) + 1 if "fold" in table else x["qmax"] + 1
    places, equal = places_of(proof, d0) + [d1], "equal" in str(proof["rules"]["places"])
    unit = 2.0 ** -claim["unit"]
    seen = set()
    for chain in proof["chains"]:
        seen.update(range(chain["shifts"][0], chain["shifts"][1] + 1))
        rows = [dict(zip(places[1:], row)) for row in chain["least"]]
        if len(rows) != (1 if equal else claim["segments"]) or any(row[d1] < claim["squares"] for row in rows):
            return "a row ends below the claim"
        before = [{d0: 0}] + rows
        for i, a in enumerate(places[:-1]):
            least = least_costs(proof, costs, a, places[i + 1] if equal else d1, chain["shifts"])
            for b in places[i + 1:i + 2] if equal else places[i + 1:]:
                steps = [rows[0][b] - {**before[0], **rows[0]}[a]] if equal else \
                    [after[b] - row[a] for row, after in zip(before, rows) if a in row]
                if least[b] < max(steps, default=0) * unit - 1e-12:
                    return f"{a} to {b}: {least[b]} is less than {max(steps) * unit}"
                count += 1
    return count if seen == set(range(proof["rules"]["shifts"][0], proof["rules"]["shifts"][1] + 1)) else "a shift lacks"


def main():
    rng = random.Random(53)
    proofs, ranges, problems, kinds = held(PWLC, (draw(rng) for _ in range(DRAWS)), check,
                                         lambda table: (table["form"], table["rounding"]))
    print("not " * bool(problems) + f"ok 1 - {ranges} ranges of {proofs} proofs cost as much as they say")
    print("not " * (len(kinds) < 8) + f"ok 2 - {len(kinds)} forms and roundings are among them")
    print("1..2")


main()
