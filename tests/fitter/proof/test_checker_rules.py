#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each rule of the checker of proofs is needed: without it a false proof is accepted. TAP.

    test_checker_rules.py PWLC CHECK_PROOF.py CHECK_PROOF

A mutant is the Python checker with one fault: a condition of a require() is taken as true (one of those that are joined
by `and`), or what a rule computes is weakened (COMPUTED). It has to accept a proof that the whole checker refuses, or
to break down: one with a fault of test_check_proof, or with another value somewhere; one of FALSE, each made for a rule
that drawn faults do not meet; or an exclusion, a band or a cost of tiny formats which lines or values contradict. Both
checkers refuse all of FALSE, and say of claims without a proof that these have none; PWL_TEST_LONG=1 tries the mutants.
"""
import ast
import copy
import json
import os
import random
import re
import signal
import sys
import tempfile
import types
from fractions import Fraction
from math import inf

from test_check_proof import FAULTS, Checkers, Tap, check_exclusion, prove

TANH = "tanh --in s5:2^-2 --out s5:2^-4"
SPECS = {
    "max": f"{TANH} --segments 3 --method minimax", "segments": f"{TANH} --max-err 1",
    "anchored": f"{TANH} --max-err 0.8 --form anchored --rounding half_even",
    "biased": f"{TANH} --segments 2 --method minimax --symmetry fold --form biased --rounding half_up",
    "one shift": "exp --in s5:2^-2:1 --out u5:2^-3 --segments 2 --method minimax --shift one --rounding half_away",
    "uniform": f"{TANH} --segments 4 --method minimax --knots uniform",
    "uniform segments": f"{TANH} --max-err 0.7 --knots uniform",
    "pow2": f"{TANH} --segments 3 --method minimax --knots pow2:4",
    "multiple": f"{TANH} --segments 2 --method minimax --shift-multiple 5 --slope-bits 6 --slope-terms 2",
    "fixed": f"{TANH} --segments 3 --method minimax --fix 0:0 --fix 1:0.75 --offset-type s5",
    "clamp": "log --in u5:2^-2 --out s5:2^-3 --segments 2 --method minimax --outside clamp",
    **{f"rms {name}": f"tanh --in s3:2^-1 --out s8:2^-7 --segments 3 --slope-bits 5 {flags}" for name, flags in (
        ("absolute", ""), ("anchored", "--form anchored"), ("uniform", "--knots uniform"),
        ("fold", "--symmetry fold"))},
    "rms phase": "sigmoid --in s3:2^-2 --out s5:2^-3 --segments 2 --slope-bits 3 --form anchored --zero free",
    "rms rest": "tanh --in s3:2^-2 --out s4:2^-1 --segments 2 --slope-bits 2 --zero free",
    "exact": "relu --in s4:2^-2 --out s4:2^-2 --max-err 0.5", "lut": "relu --in u4:2^-2 --out u4:2^-2 --segments 3",
    "wide": "exp --in s21:2^-19 --out u16:2^-13 --segments 2",
    "wide clamp": "log --in s21:2^-17 --out s16:2^-12 --segments 3 --outside clamp",  # its witness has a clipped target
}


# ---- False proofs, each made for a rule: of a spec, what is changed ----

def at(proof, *path):
    for key in path:
        proof = proof[key]
    return proof


def put(*path, value):
    """Another value, or one that is made of what was there."""
    def change(proof):
        at(proof, *path[:-1])[path[-1]] = value(at(proof, *path)) if callable(value) else value
    return change


def without(*path):
    return lambda proof: at(proof, *path[:-1]).pop(path[-1])


def said(**figures):
    def change(proof):
        for name, value in figures.items():
            put("table", "certificate", name, value=value)(proof)
    return change


def row(k, **numbers):
    return lambda proof: proof["table"]["segments"][k].update(numbers)


def spec(old, new):
    return put("table", "spec", value=lambda text: text.replace(old, new) if old else text + new)


def bare(proof):
    """Nothing is claimed of other tables."""
    for name in ("impossible", "rules", "chains"):
        proof.pop(name, None)
    said(optimal=None, lower_bound_lsb=None)(proof)


def void(proof):
    """What the rules allow is then all that there is to check: no table is within -1."""
    said(optimal=False, lower_bound_lsb=0.0)(proof)
    proof["impossible"].update(error="-1")
    start = proof["table"]["segments"][0]["start"]
    for chain in proof["chains"]:
        chain["groups"] = [[{"from": start, "upto": start + 1, "none": 0}]]


def claimed(_):
    """All that is claimed of other tables stays."""


def flat(proof):
    """All slopes are 0, so that codes may be anywhere."""
    for one in proof["table"]["segments"]:
        one.update(q_b=0, n_BX_total=0)


def single(proof):
    """Its first segment has all codes."""
    del proof["table"]["segments"][1:]


def split(proof):
    """The last segment's line is that of two."""
    rows = proof["table"]["segments"]
    rows.append({**rows[-1], "start": rows[-1]["start"] + 1})


def later(proof):
    """A folded table that begins before its codes."""
    low = proof["table"]["in"]["qmin"] - 1
    proof["table"]["in"].update(zero_point=low)
    proof["table"]["segments"][0].update(start=low)


def without_chains(counts):
    """Equal segments of some numbers are left out of the claim."""
    def change(proof):
        left = [count for count in proof["rules"]["places"]["equal"] if count not in counts]
        proof["rules"]["places"]["equal"] = left
        proof["chains"] = [chain for chain in proof["chains"] if chain["equal"] in left]
    return change


def higher(m, part):
    """More segments are said to cost more, in a proof of squares."""
    def change(proof):
        rows = proof["chains"][0]["least"]
        rows[m:] = [[cost + int(part * 2**proof["impossible"]["unit"]) for cost in row] for row in rows[m:]]
    return change


def dearer(m, j):
    """A cost is a little higher, so that a line which goes on where another cost is looked at no more is left out."""
    def change(proof):
        proof["chains"][0]["least"][m][j] += 3 * proof["impossible"]["squares"] // 1000
    return change


def raised(proof):
    """Each number of least in turn is higher by some units."""
    for path, value in places(proof.get("chains", [])):
        if "least" in path and type(value) is int:
            for k in (30, 36, 40):
                yield false_proof(None, proof, [put("chains", *path, value=value + 2**k)])


def lacking(proof):
    """Of three starts of a group one between is left out."""
    for group in proof["chains"][0]["groups"]:
        del group[1:len(group) - 1]


def earlier(proof):
    """The second exclusion begins a code too early, and holds all the same."""
    one = proof["chains"][0]["groups"][1][0]
    one.update({"from": one["from"] - 1, "window": [[i + 1, j + 1] for i, j in one["window"]],
                "runs": [number + (k % 3 > 0 and number >= 0) for k, number in enumerate(one["runs"])]})


def merged(which):
    """A run takes the slopes of the next one, or of the one before."""
    def change(proof):
        for chain in proof["chains"]:
            for group in chain["groups"]:
                for one in group:
                    runs = one.get("runs", [])
                    if len(runs) >= 6:
                        one["runs"] = [runs[0] + runs[3], *runs[1 + 3 * which:3 + 3 * which], *runs[6:]]
    return change


FALSE = [
    ("biased", [bare, later]), ("max", [bare, row(0, q_b=200)]), ("max", [bare, row(0, term_c=2**20)]),
    *(("max", [put("table", name, value=value)]) for name, value in (
        ("reduction", {}), ("samples_sha256", ""), ("expression", ""))),
    ("max", [said(proof="0" * 64)]), ("max", [bare, said(bound_lsb=20.0)]),
    ("wide", [said(exhaustive=True, checked=2**21)]), ("wide", [said(acc_bits=20)]), ("wide", [said(checked=2**21)]),
    ("wide", [said(max_err_lsb=1e5)]), ("wide", [said(max_err_at=2**21)]), ("wide", [said(max_err_at=0)]),
    ("wide", [said(bound_lsb=4295.109, max_err_lsb=4295.11)]),  # The error is 4295.1085.
    ("wide", [said(bound_lsb=4295.0, max_err_at=0, max_err_lsb=1343.0)]),
    *(("wide", [put(name, value=value)]) for name, value in (("impossible", {}), ("rules", {}), ("chains", []))),
    ("wide clamp", [without("table", "outside")]),
    ("wide clamp", [bare, put("table", "in", "zero_point", value=2**20), said(bound_lsb=1e6)]),
    ("uniform", [void, put("rules", "places", value={"equal": []}), without("chains", 0, "equal")]),
    ("uniform", [spec("--segments 4", "--segments 3")]), ("fixed", [spec("--offset-type s5", "--offset-type q5")]),
    ("multiple", [void, row(0, q_b=33, n_BX_total=4)]), ("multiple", [void, flat, row(-1, n_BX_total=31)]),
    ("fixed", [void, row(0, q_b=0, n_BX_total=0, term_c=-17)]), ("one shift", [void, flat, row(-1, n_BX_total=1)]),
    ("pow2", [void, put("table", "segments", -1, "start", value=lambda start: start + 1)]), ("fixed", [void, flat]),
    *(("max", [void, flat, single, put("table", "in", "zero_point", value=zero)]) for zero in (2**31 + 2, -2**31)),
    ("max", [void, put("impossible", "error", value="1"), put("chains", 0, "groups", value=[
        [{"from": start, "upto": 1, "none": -start}] for start in (-16, 0)])]), ("max", [spec("", " --segments 1")]),
    ("max", [void, put("impossible", "segments", value=5000)]),
    *(("max", [without("impossible"), without(name)]) for name in ("rules", "chains")), ("segments", [claimed, split]),
    ("max", [void, put("chains", 0, "groups", 0, value=lambda a: a + [{**a[0], "upto": a[0]["from"] + 2}])]),
    ("anchored", [lacking]), ("max", [earlier]),
    ("one shift", [void, put("chains", -1, "shifts", 1, value=lambda high: high - 1)]),
    ("rms absolute", [said(optimal=False, lower_bound_lsb=lambda figure: figure * 1.01)]),
    ("rms absolute", [said(optimal=False, lower_bound_lsb=0.1), put("table", "weights_sha256", value="x")]),
    ("segments", [spec("--max-err 1", "--max-err 3")]), ("segments", [claimed, row(-1, term_c=0)]),
    *(("uniform segments", [without_chains(counts)]) for counts in ([1], [2], [4], [1, 2])),
    *(("uniform segments", [put("chains", value=lambda chains, k=k: chains[:k] + chains[k + 1:])]) for k in range(3)),
    *((name, [merged(which)]) for name in ("max", "one shift") for which in (0, 1)),
    ("rms phase", [dearer(1, 4)]), ("rms rest", [dearer(0, 1)]),
    *((name, [higher(m, part)])
      for name in ("rms absolute", "rms anchored") for m in (1, 2) for part in (0.01, 0.3, 1)),
]


def false_proof(module, proof, changes):
    """With the figures that the table then has, unless some of these are what is false."""
    proof = copy.deepcopy(proof)
    for change in changes:
        change(proof)
    return measured(module, proof) if changes[0] in (bare, void, claimed) else proof


# ---- Other values everywhere ----

def places(value, path=()):
    """Every value of a proof, by the way to it."""
    yield path, value
    items = value.items() if type(value) is dict else enumerate(value) if type(value) is list else ()
    for key, part in items:
        yield from places(part, path + (key,))


OTHERS = {
    bool: lambda v: [not v], int: lambda v: [v - 1, v + 1, v + 40, -v, 2**40, 2**70, True],
    float: lambda v: [v * 0.999, v * 1.001, -v, 0.0],
    str: lambda v: [v + "1", v[:-1], "none", "-0.1"], list: lambda v: [v + v[-1:], v[:-1], [], v + [0, 0, 0]],
    dict: lambda v: [{**v, "unknown": 1}], type(None): lambda v: [0.5],
}


def everywhere(proof):
    for path, value in places(proof):
        if path and "hash" not in path:
            for other in [*OTHERS[type(value)](value), {"x": 1}, None]:
                faulty = copy.deepcopy(proof)
                at(faulty, *path[:-1])[path[-1]] = other
                yield faulty
            faulty = copy.deepcopy(proof)
            del at(faulty, *path[:-1])[path[-1]]
            yield faulty


def texts(proof):
    """What is no JSON, or has a field twice."""
    text = json.dumps(proof)
    yield from (text[:-1].encode(), text.encode() + b"\xff", b"[" * 100000,
                text.replace('"pwl_proof": 1', '"pwl_proof": 1, "pwl_proof": 1').encode(),
                text.replace('"max_err_lsb": ', '"max_err_lsb": NaN, "more": ').encode())


def measured(module, proof):
    """The proof with the figures that its table has, as far as a checker says them: then other rules decide."""
    proof, tried = copy.deepcopy(proof), 0
    figures = proof["table"]["certificate"]
    for _ in range(60):
        try:
            module.check_proof(json.dumps(proof).encode())
            break
        except module.Bad as reason:
            match = re.match(r"(\w+): it is (\S+)$", reason.args[1])
            if match and match[1] in figures:
                kind = type(figures[match[1]])
                figures[match[1]] = match[2] == "True" if kind is bool else kind(float(match[2]))
            elif reason.args[1].startswith("max_err_at"):
                figures["max_err_at"], tried = proof["table"]["in"]["qmin"] + tried, tried + 1
            else:
                break
    return proof


# ---- Mutants ----

COMPUTED = [  # what stands in the checker, and what a mutant has there; what tells them
    ("self.end(i, 0) - self.end(j, 1) - 1", "self.end(i, 0) - self.end(j, 1)", "lines"),
    ("default=-inf)\n            high", "default=-inf) + 1\n            high", "lines"),
    ("halved = n > shifts[0] and", "halved =", "lines"),
    (" and self.slope_range(n - 1)[1] >= 0", "", "lines absolute floor"),
    ("n > 0 and self.table.rounding in", "self.table.rounding in", "lines biased floor"),
    ('rounding in ("floor", "half_up"))', "rounding)", "lines biased half_even"),
    ("(q % 2 or not halved)", "q % 2", "lines"), ("least = max(map(min,", "least = max(map(max,", "lines"),
    ("most = min(map(max,", "most = min(map(min,", "lines"), ("if least <= most:", "if least < most:", "lines"),
    ("self.exclude(part[:len(part) // 2], i, j)", "pass", "lines"),
    ("self.exclude(part[len(part) // 2:], i, j)", "pass", "lines"),
    ("value + side) - side - p", "value) - p", "lines biased floor"),
    ('"floor": 0', '"floor": -1', "lines biased floor"),
    ('"half_up": half', '"half_up": half - 1', "lines biased half_up"),
    ("half - (value <= 0)", "half - (value < 0)", "lines biased half_away"),
    ("half - value % 2", "half - 1", "lines biased half_even"),
    ("return ceil_div(value, 1 << -n)", "return value // (1 << -n) + 1", "lines biased floor"),
    ("(1 << n - 1) + 1 if rounding", "(1 << n - 1) + 2 if rounding", "lines biased half_away"),
    ("high - (1 << n - 1)\n", "high - (1 << n - 1) - 1\n", "lines biased half_even"),
    ("least_sum(n, top + 1) - 1", "least_sum(n, top) - 1", "lines absolute floor"),
    ("least_sum(n, bottom)", "least_sum(n, bottom) + 1", "lines absolute floor"),
    ("[self.offsets[0]]", "[self.offsets[0] + 1]", "lines"), ("[self.offsets[1]]", "[self.offsets[1] - 1]", "lines"),
    ("bottom - v)", "bottom - v + 1)", "lines absolute floor"), ("top - v)", "top - v - 1)", "lines absolute floor"),
    ("low - p if biased", "low - p + 1 if biased", "lines biased floor"),
    ("high - p if biased", "high - p - 1 if biased", "lines biased floor"),
    ("not bottom <= x <= top", "not bottom < x < top", "lines"),
    ("p < (bottom if biased", "p <= (bottom if biased", "lines"),
    ("p > (top if biased", "p >= (top if biased", "lines"),
    ("(bottom if biased else low)", "low", "lines biased half_away"),
    ("(top if biased else high)", "high", "lines biased half_up"),
    ('or\n                          self.table.form != "anchored")', "or True)", "lines anchored floor"),
    ("ceil_div(target - reach, ONE), (target", "ceil_div(target - reach, ONE) + 1, (target", "bands"),
    ("(target + reach) >> POINT", "((target + reach) >> POINT) - 1", "bands"),
    ("-inf if low <= y.qmin else low", "low", "bands"), ("inf if high >= y.qmax else high", "high", "bands"),
    ("fold - high, fold - low", "fold - 1 - high, fold - 1 - low", "bands"),
    ("max((one.a for one in group if one.any_start), default=-inf)", "max(one.a for one in group)", "proofs anchored"),
    ("range(before + 1 if anchored else place, place + 1)", "range(place, place + 1)", "proofs anchored"),
    ("rules.last_place(group[0].b)", "rules.last_place(group[0].b - 1)", "proofs max"),
    ("for equal in rules.equal or [None]:", "for equal in (rules.equal or [None])[:1]:", "proofs uniform segments"),
    ("range(rules.shifts[0], rules.shifts[1] + 1):\n            require",
     "range(rules.shifts[0], rules.shifts[1]):\n            require", "proofs one shift"),
    ("any(of == equal and", "any(", "proofs uniform segments"),
    ("(output << POINT) - target) - self.wide, 0)", "(output << POINT) - target) + ONE // 64, 0)", "costs"),
    ("table.fold - high), table", "table.fold - high + 1), table", "costs"),
    ("shr(min(p, w) + before1", "shr(p + before1", "costs"), ("shr(max(p, w) + before2", "shr(p + before2", "costs"),
    ("if cost < needs.get(b, -inf):", "if cost < needs.get(b, -inf) - 3:", "costs"),
    ("(n, part[half:], c1, c2)]", "]", "costs"), ("(n, part, middle + 1, c2)]", "]", "costs"),
    ("if cost >= rests.get(b, inf):", "if cost >= min(needs.get(b, inf), rests.get(b, inf)):", "proofs rms absolute"),
    ("rest = max(rest, needs.get(b + 1, -inf)) - (self",
     "rest = max(rest, needs.get(b + 1, -inf)) - 2 * (self", "proofs rms rest"),
    (' and self.table.form != "anchored":', ":", "proofs rms phase"),
    ("for m in numbers) for b in ends", "for m in list(numbers)[:1]) for b in ends", "proofs rms absolute"),
]
# No false proof tells these: why.
UNTOLD = {
    "len(self.known) < 2 ** 20": "a limit of time: what takes more is refused, true or not",
    "table.count <= 2 ** 12": "a limit of time, too",
}


class Mutant(ast.NodeTransformer):
    """The checker with the number-th condition of all require() taken as true."""

    def __init__(self, number):
        self.number, self.line, self.text = number, None, None

    def condition(self, node, line):
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            node.values = [self.condition(value, line) for value in node.values]
        elif (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "all" and
              isinstance(node.args[0].elt, ast.BoolOp)):
            node.args[0].elt = self.condition(node.args[0].elt, line)
        else:
            self.number -= 1
            if self.number == -1:
                self.text, self.line = ast.unparse(node), line
                return ast.copy_location(ast.Constant(True), node)
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        if getattr(node.func, "id", "") == "require":
            node.args[0] = self.condition(node.args[0], node.lineno)
        return node


def mutants(source):
    """Of each its name, its code, who tells it, and the line of the require() that it lacks, if any."""
    number = 0
    while True:
        mutant = Mutant(number)
        tree = ast.fix_missing_locations(mutant.visit(ast.parse(source)))
        if mutant.text is None:
            break
        if mutant.text not in UNTOLD:
            yield f"line {mutant.line} without {mutant.text}", tree, "proofs", mutant.line
        number += 1
    for old, new, who in COMPUTED:
        assert source.count(old) == 1, old
        yield f"{new} and not {old}", source.replace(old, new), who, None


TARGETS = {}  # What enclose() gives, which takes most of the time, by what it depends on.


def load(code):
    module = types.ModuleType("mutant")
    exec(compile(code, "mutant", "exec"), vars(module))  # pylint: disable=exec-used
    enclose = module.enclose

    def remembered(table):
        key = str([table.function, table.parameters, table.outside] + [
            (side.qmin, side.qmax, side.zero_point, side.scale) for side in (table.x, table.y)])
        if key not in TARGETS:
            TARGETS[key] = enclose(table)
        return TARGETS[key]
    module.enclose = remembered
    return module


def answer(module, text):
    """0 where it accepts; None where it breaks down; else the status, and the line, of the require() that refuses."""
    signal.setitimer(signal.ITIMER_VIRTUAL, 10)  # Without a limit to what is read a mutant may take for ever.
    try:
        module.check_proof(text)
        return 0, None
    except module.Bad as reason:
        trace = reason.__traceback__
        while trace.tb_next.tb_next:
            trace = trace.tb_next
        return reason.args[0], trace.tb_lineno
    except Exception:  # pylint: disable=broad-except
        return None, None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def too_long(*_):
    raise TimeoutError


# ---- Bands and costs of tiny tables, against what they are about ----

def tiny_rules(module, draw):
    """A table's codes, targets and rules, drawn; no lines."""
    d0, fold = draw.randrange(-3, 1), draw.choice((None, -1, 0, 3))
    y = types.SimpleNamespace(qmin=-4, qmax=3, clip=lambda v: min(max(v, -4), 3))
    low = d0 if fold is None else d0 - 2
    x = types.SimpleNamespace(qmin=low, qmax=d0 + 2, zero_point=0)
    table = types.SimpleNamespace(x=x, y=y, d0=d0, d1=d0 + 3, fold=fold)
    targets = [draw.randrange(-4 * module.ONE, 3 * module.ONE + 1) for _ in range(low, d0 + 3)]
    fixed = [[q, draw.randrange(-4, 4)] for q in range(low, d0 + 3) if draw.random() < 0.1]
    return types.SimpleNamespace(table=table, fixed=fixed), targets


def outputs_of(rules, q, value):
    """The codes that a stored code's value makes outputs of, and these."""
    table = rules.table
    made = [(q, table.y.clip(value))]
    image = 2 * table.d0 - q
    return made + [(image, table.y.clip(table.fold - value))] * (table.fold is not None and table.x.qmin <= image < q)


def is_band_false(module, draw):
    """Whether a value with good outputs is in no band."""
    rules, targets = tiny_rules(module, draw)
    error, low, fixed = Fraction(draw.randrange(1, 40), 16), rules.table.x.qmin, dict(rules.fixed)
    bands = module.Rules.bands(rules, targets, 0, error)

    def is_good(code, output):
        return abs(Fraction(targets[code - low], module.ONE) - output) <= error and fixed.get(code, output) == output
    return any(all(is_good(*made) for made in outputs_of(rules, q, v)) and not band[0] <= v <= band[1]
               for q, band in enumerate(bands, rules.table.d0) for v in range(-12, 12))


def is_cost_false(module, draw):
    """Whether lines are said to cost more than one of them does."""
    rules, targets = tiny_rules(module, draw)
    table, unit = rules.table, 10
    table.form, table.rounding = draw.choice(("absolute", "biased", "anchored")), draw.choice(module.ROUNDINGS)
    table.biased, table.sums = table.form == "biased", [-2**15, 2**15 - 1]
    table.least_sum = types.MethodType(module.Table.least_sum, table)
    rules.slopes, rules.offsets, rules.slope_terms, rules.shift_multiple = [-3, 2], [-4, 4], 0, 0
    for name in ("stored_slopes", "slope_range", "of_types"):
        setattr(rules, name, types.MethodType(getattr(module.Rules, name), rules))
    least, low, fixed = inf, table.x.qmin, dict(rules.fixed)
    a = draw.randrange(table.d0, table.d1)
    for n in range(3):
        for q_b in range(-3, 3):
            for c in range(-4, 5):
                cost = 0
                for q in range(a, table.d1):
                    p = q_b * (q - (a if table.form == "anchored" else 0))
                    v = module.shr(p + c, n, table.rounding) if table.biased else module.shr(p, n, table.rounding) + c
                    for k, y in outputs_of(rules, q, v):
                        off = Fraction(targets[k - low], module.ONE) - y
                        cost += off**2 * 2**unit if fixed.get(k, y) == y else inf
                least = min(least, cost)
    costs = module.Costs(rules, targets, 0, unit)
    try:
        costs.check_lines(a, {table.d1: 2**40 if least == inf else int(least) + 1}, {table.d1: -inf}, [0, 2])
    except module.Bad:
        return False
    return least < inf


def is_told(module, draw, who, tries):
    """Whether lines, bands or costs contradict a mutant."""
    kind, *more = who.split()
    for _ in range(tries):
        try:
            if kind == "lines" and check_exclusion(module, draw, *([word] for word in more)) == (True, True):
                return True
            if kind == "bands" and is_band_false(module, draw) or kind == "costs" and is_cost_false(module, draw):
                return True
        except (TypeError, ValueError, IndexError, ArithmeticError):
            return True
    return False


# ---- The run ----

def all_false(module, proofs, draw):
    """Every false proof, and the name of the one that it is made of."""
    for name, changes in FALSE:
        yield json.dumps(false_proof(module, proofs[name], changes)).encode(), name
    for name, proof in proofs.items():
        if name.startswith("wide"):
            continue
        for text in texts(proof):
            yield text, name
        for faulty in everywhere(proof):
            yield json.dumps(faulty).encode(), name
        for faulty in raised(proof):
            yield json.dumps(faulty).encode(), name
        for fault in FAULTS * 5:
            faulty = copy.deepcopy(proof)
            if fault(faulty, draw) is not None:
                yield json.dumps(faulty).encode(), name


def with_its_figures(mutant, whole, text):
    """A false proof with the figures that a mutant asks for, where these are all that it refuses; else null."""
    try:
        proof = json.dumps(measured(mutant, json.loads(text))).encode()
        return proof if not answer(mutant, proof)[0] and answer(whole, proof)[0] else None
    except (AttributeError, KeyError, TypeError, ValueError, IndexError, MemoryError, ArithmeticError, TimeoutError):
        return None


def telling(mutant, whole, tries, line):
    """A false proof that a mutant accepts, or null."""
    for text in tries:
        if not answer(mutant, text)[0]:
            return text
    short = sorted(tries, key=len)[:60] if line else []
    return next(filter(None, (with_its_figures(mutant, whole, text) for text in short)), None)


def check_mutants(proofs, source, checkers, tap):
    """Holds each mutant against the false proofs that are refused where it lacks a rule, or that are of its kind. What tells
    it, the checker in C refuses too: so that one has the rule as well."""
    whole, by_line, draw = load(source), {}, random.Random(52)
    for text, name in all_false(whole, proofs, draw):
        status, line = answer(whole, text)
        if status is None:
            tap(f"the checker breaks down at {text[:500]}", ["see above"])
        elif status:
            by_line.setdefault(line, {})[text] = name
    everything = {text: name for some in by_line.values() for text, name in some.items()}
    for title, code, who, line in mutants(source):
        kind, *more = who.split(" ", 1)
        mutant = load(code)
        if kind != "proofs":
            told = is_told(mutant, random.Random(52), who, 20000)
            tap(f"told by {who}: {title}", [] if told else ["nothing contradicts it"])
            continue
        tries = by_line.get(line, {}) if line else [text for text, name in everything.items() if [name] == more]
        text = telling(mutant, whole, tries, line)
        problems = [f"it refuses {len(tries)} false ones as well"]
        if text is not None:
            problems = ["the checker in C accepts it"] * (checkers.run_native(text).returncode == 0)
        tap(f"told by a proof: {title}", problems)


def main():
    tap, pwlc = Tap(), sys.argv[1]
    signal.signal(signal.SIGVTALRM, too_long)
    with tempfile.TemporaryDirectory() as folder:
        checkers = Checkers(*sys.argv[2:], folder)
        proofs = {name: prove(pwlc, flags, folder) for name, flags in SPECS.items()}
        for name, proof in proofs.items():
            statuses, words = checkers.statuses(json.dumps(proof))
            tap(f"{name}: accepted by both", [] if statuses == (0, 0) else [f"{statuses} {words}"])
            proof = {part: value for part, value in proof.items() if part in ("pwl_proof", "table")}
            if "impossible" in proofs[name]:
                statuses, words = checkers.statuses(json.dumps(proof))
                good = statuses == (0, 0) and all(re.search("not proven: (optimal|lower_bound)", one) for one in words)
                tap(f"{name}: without its proof a claim is said to have none", [] if good else [f"{statuses} {words}"])
        for name, changes in FALSE:
            proof = false_proof(checkers.module, proofs[name], changes)
            statuses, words = checkers.statuses(json.dumps(proof))
            tap(f"{name}, refused by both: {words[0]}", [f"{statuses} {words}"] if 0 in statuses else [])
        if os.environ.get("PWL_TEST_LONG") == "1":
            with open(sys.argv[2]) as file:
                check_mutants(proofs, file.read(), checkers, tap)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
