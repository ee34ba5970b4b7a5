#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounds of wide inputs: both checkers accept the least true bound, and refuse every false one. TAP.

    test_wide_bounds.py PWLC CHECK_PROOF.py CHECK_PROOF

Tables of 2^21 codes, of every form, fold and rounding, are measured at every code in long double. A bound a little
above the largest error is accepted; one a little below it is refused, even where one code alone is beyond it. Then one
code gets another output, just within the bound or just beyond it, at the places where a checker could leave a piece
out: the ends of the input, of segments and of regions. Last come chords of every function, one over each region where
it bends: their error in the middle is told by the curvature alone, and a checker that is told the other one accepts too
low a bound. PWL_TEST_LONG=1 takes all tables, bounds, places and regions; else regions that bend alike are one.
"""
import copy
import json
import os
import random
import sys
import tempfile
from fractions import Fraction

import numpy as np

from test_check_proof import OFFSET, Checkers, Tap, prove

TANH = "tanh --in s21:2^-18 --out s16:2^-15 --segments"
SPECS = [
    f"{TANH} 4", f"{TANH} 4 --symmetry fold --rounding half_up", f"{TANH} 4 --form anchored --rounding half_even",
    "exp --in s21:2^-19:1000 --out u16:2^-13 --segments 3 --form biased --rounding half_away",
    "sin --in s21:2^-17 --out s16:2^-15 --segments 9",
    "sigmoid --in s21:2^-17 --out s12:2^-11:-1024 --segments 4 --symmetry fold",
    "log --in s21:2^-17 --out s16:2^-12 --segments 6 --outside clamp",
    "reciprocal --in u21:2^-18:-20000 --out u16:2^-11 --segments 5 --form biased",
    "hard_swish --in s21:2^-17 --out s16:2^-12 --segments 4 --rounding half_up",
]
FUNCTIONS = {
    "tanh": np.tanh, "exp": np.exp, "sin": np.sin, "log": np.log, "reciprocal": lambda x: 1 / x,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "hard_swish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
}
WHOLE = os.environ.get("PWL_TEST_LONG") == "1"
LITTLE = 1e-9  # of the largest error: more than long double, or double, loses
ZERO_POINTS = {  # where f has values
    "log": [-2**21], "sqrt": [-2**21], "rsqrt": [-2**21], "reciprocal": [-2**21, 2**21]}


def measure(table, q):
    """The values of codes, and their targets, before both are clipped."""
    x, y = table["in"], table["out"]
    scale = {name: np.ldexp(np.longdouble(1), int(table[name]["scale"][2:])) for name in ("in", "out")}
    inside = np.maximum(q, x["zero_point"] + 1) if table["function"] == "log" else q
    targets = FUNCTIONS[table["function"]](scale["in"] * (inside - x["zero_point"])) / scale["out"] + y["zero_point"]
    stored = np.where(q < x["zero_point"], 2 * x["zero_point"] - q, q) if "fold" in table else q
    rows = table["segments"]
    of_code = np.searchsorted([row["start"] for row in rows], stored, side="right") - 1
    start, q_b, n, c = (np.array([row[name] for row in rows])[of_code]
                        for name in ("start", "q_b", "n_BX_total", OFFSET[table["form"]]))
    assert (n > 0).all()
    p = q_b * (stored - (start if table["form"] == "anchored" else x["zero_point"]))
    p += c if table["form"] == "biased" else 0
    half, rest, v = 1 << (n - 1), p & ((1 << n) - 1), p >> n
    up = {"floor": False, "half_up": True, "half_away": p >= 0, "half_even": v & 1 == 1}[table["rounding"]]
    v += (table["rounding"] != "floor") & ((rest > half) | ((rest == half) & up))
    v += 0 if table["form"] == "biased" else c
    return np.where(stored != q, table["fold"]["sum"] - v, v) if "fold" in table else v, targets


def errors_of(table, q):
    values, targets = (np.clip(found, table["out"]["qmin"], table["out"]["qmax"]) for found in measure(table, q))
    return abs(values - targets)


class Bound:
    """A table of which every code is measured: proofs of it, with other bounds and other segments."""

    def __init__(self, checkers, proof):
        self.checkers, self.proof, self.low = checkers, proof, proof["table"]["in"]["qmin"]
        self.errors = errors_of(proof["table"], np.arange(self.low, proof["table"]["in"]["qmax"] + 1))
        self.middling = int(np.argsort(self.errors)[self.errors.size // 2])  # Its error is below every bound here.

    def answered(self, bound, status, proof=None, at=None):
        """What is wrong with the checkers' answers to a bound; they refuse it because of a code's error alone."""
        proof, at = copy.deepcopy(proof or self.proof), self.middling if at is None else at
        proof["table"]["certificate"].update(bound_lsb=float(bound), max_err_at=self.low + at,
                                             max_err_lsb=float(self.errors[at]))
        return answered(self.checkers, proof, status)

    def check_bounds(self):
        largest, at = self.errors.max(), int(self.errors.argmax())
        wrong = self.answered(largest * (1 + LITTLE), 0, at=at)
        return wrong + [one for part in ((1 - LITTLE, 1 - 1e-6, 0.99, 0.5) if WHOLE else (1 - LITTLE, 0.99)) for one in self.answered(largest * part, 1)]

    def places(self):
        """Stored codes at which a checker could leave out a piece."""
        module = self.checkers.module
        table = module.Table(self.proof["table"])
        if table.form == "anchored":  # Behind any other code the line would be another one.
            return [end - 1 for _, end, *_ in table.segments]
        ends = [end for start, last, _ in module.regions(table) for end in (start, last)]
        near = {place + k for place in [*ends, *table.starts, table.d1] for k in (-2, -1, 0, 1, 2)}
        return sorted(place for place in near  # Of these each is a start, and, but for the last code, the next one.
                      if table.d0 <= place < table.x.qmax or place == table.x.qmax == table.d1 - 1)

    def with_spike(self, place, away):
        """The proof of a table whose value at one stored code is off by so much."""
        proof, module = copy.deepcopy(self.proof), self.checkers.module
        table, rows, code = proof["table"], proof["table"]["segments"], OFFSET[proof["table"]["form"]]
        end = module.Table(table).d1
        k = max(k for k, row in enumerate(rows) if row["start"] <= place)
        last = place + 1 == (rows[k + 1]["start"] if k + 1 < len(rows) else end)
        row = rows[k]
        spike = {**row, "start": place, code: row[code] + (away << row["n_BX_total"] if code == "bias" else away)}
        if code == "y":
            spike.update(q_b=0, y=int(measure(table, np.array([place]))[0][0]) + away)
        rows[k:k + 1] = [row] * (place > row["start"]) + [spike] + [{**row, "start": place + 1}] * (not last)
        table["certificate"]["acc_bits"] = module.Table(table).acc_bits()
        return proof

    def check_spike(self, place):
        """At a stored code, or its image, errors that are just within the bound and just beyond it."""
        table, most = self.proof["table"], self.errors.max() * (1 + LITTLE)
        image = [2 * table["in"]["zero_point"] - place] if "fold" in table else []
        codes = np.array(sorted({q for q in [place] + image if 0 <= q - self.low < self.errors.size}))
        y, own = table["out"], place == codes[-1]  # An image's value falls as that of its stored code grows.
        value, target = (found[-1 if own else 0] for found in measure(table, codes))
        target = np.clip(target, y["qmin"], y["qmax"])
        just = np.floor(target + most - value) if 2 * value < y["qmin"] + y["qmax"] else np.ceil(target - most - value)
        wrong, seen = [], set()
        for away in (int(just if own else -just) + k for k in range(-2, 3)):
            proof = self.with_spike(place, away)
            status = int((errors_of(proof["table"], codes) > most).any())
            wrong += [f"{away} away at {place}: {one}" for one in self.answered(most, status, proof)]
            seen.add(status)
        return wrong + ([] if len(seen) == 2 else [f"at {place} there is no limit"])


def answered(checkers, proof, status):
    statuses, words = checkers.statuses(json.dumps(proof))
    good = not status or "has an error of" in words[0] and "a larger error" in words[1]
    bound = proof["table"]["certificate"]["bound_lsb"]
    return [] if good and statuses == (status, status) else [f"{bound}: {statuses} and not {status}: {words}"]


def lines(f, first, last, pieces, zero_point):
    """Segments of chords of f from code to code."""
    step = max((last - first) // pieces, 1)
    for a in range(first, last, step):
        low, high = (int(f(q)[0] * 2**32) for q in (a, min(a + step, last)))
        q_b = round(Fraction(high - low, (min(a + step, last) - a) * 2**14))
        yield {"start": a, "q_b": q_b, "n_BX_total": 18, "term_c": (low >> 32) - (q_b * (a - zero_point) >> 18)}


def check_curvature(checkers, proof, name, zero_point):
    """What is answered wrongly of a chord over each region where f bends, the others being cut to short ones; and
    where a checker of the other curvature refuses all the same. Returns the number of regions, too."""
    module, proof, wrong, looked_at = checkers.module, copy.deepcopy(proof), [], []
    table, whole = proof["table"], checkers.module.regions
    table.update(function=name, parameters={"alpha": 0.75} if name in ("elu", "leaky_relu") else {})
    table["in"]["zero_point"] = zero_point
    f, regions = module.function_of(module.Table(table)), whole(module.Table(table))
    for k, (first, last, sign) in enumerate(regions):
        if not sign or last - first < 1000 or not WHOLE and sign in looked_at:
            continue
        rows = {row["start"]: row for number, (a, b, _) in enumerate(regions)
                for row in lines(f, a, b, 1 if number == k else 100, zero_point)}
        table["segments"] = [rows[start] for start in sorted(rows)]
        off = {q: abs((rows[first]["q_b"] * (q - zero_point) >> 18) + rows[first]["term_c"] - f(q)[0])
               for q in range(first, last, (last - first) // 16)}
        most = float(max(off.values()))
        table["certificate"].update(acc_bits=module.Table(table).acc_bits(), max_err_at=first,
                                    max_err_lsb=float(off[first]))
        for bound, status in ((most * 1.1, 0), (most * 0.9, 1)):
            table["certificate"]["bound_lsb"] = bound
            wrong += answered(checkers, proof, status)
        module.regions = lambda _, k=k: [(a, b, -sign if m == k else sign) for m, (a, b, sign) in enumerate(regions)]
        try:
            module.check_proof(json.dumps(proof).encode())
        except module.Bad as reason:
            wrong.append(f"{first} to {last}: refused with the other curvature: {reason}")
        module.regions = whole
        looked_at.append(sign)
    return wrong, len(looked_at)


def main():
    tap, draw, (pwlc, *checkers_of) = Tap(), random.Random(7), sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        checkers = Checkers(*checkers_of, folder)
        for spec in SPECS if WHOLE else SPECS[1:]:  # The form and rounding of the first are those of sin, too.
            proof = prove(pwlc, spec, folder)
            statuses, words = checkers.statuses(json.dumps(proof))
            tap(f"{spec}: accepted by both", [] if statuses == (0, 0) else [f"{statuses} {words}"])
            bound = Bound(checkers, proof)
            tap(f"{spec}: the least bound and no other", bound.check_bounds())
            places = bound.places()
            places = places if WHOLE else draw.sample(places, min(len(places), 2))
            wrong = [one for place in places for one in bound.check_spike(place)]
            tap(f"{spec}: a code off at {len(places)} places", wrong)
        proof = prove(pwlc, "tanh --in s21:2^-17 --out s32:2^-18 --segments 1", folder)
        for name in checkers.module.FUNCTIONS:
            wrong, regions = [], 0
            for zero_point in ZERO_POINTS.get(name, [0]):
                more, number = check_curvature(checkers, proof, name, zero_point)
                wrong, regions = wrong + more, regions + number
            tap(f"{name}: {regions} regions where it bends", wrong)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
