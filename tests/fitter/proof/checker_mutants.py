#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each rule of the checker of proofs is needed: a checker without it accepts a proof that the whole one refuses. TAP.

    checker_mutants.py PWLC CHECK_PROOF.py CHECK_PROOF

A mutant is the Python checker with one fault. Most are made from its text: of each require() the condition, or one of
those that are joined by `and`, is taken as true. The others weaken what the rules compute, and are listed below. Small
tables are fitted and proven, and their proofs get faults: at every place of the file, and some made by hand that only
one rule can see. A mutant is found by a fault that it accepts, or fails to read, and that the checker refuses; or, if
it is one of exclusions, by a line of a tiny format that serves what it excludes. Both checkers refuse all faults that
find a mutant. PWL_TEST_LONG=1 tries more faults.
"""
import ast
import copy
import itertools
import json
import os
import random
import re
import resource
import signal
import sys
import tempfile
import types

from test_check_proof import Checkers, check_exclusion, outputs, prove

TANH = "tanh --in s5:2^-2 --out s5:2^-4"
SPECS = [
    f"{TANH} --segments 3 --method minimax", f"{TANH} --max-err 1",
    f"{TANH} --max-err 1 --form anchored --rounding half_even", f"{TANH} --max-err 0.8 --form anchored --knots pow2:4",
    *(f"tanh --in s{bits}:2^-1 --out s4:2^-3 --segments 2 --slope-bits 4 {more}" for bits, more in (
        (3, ""), (3, "--form anchored"), (4, "--symmetry fold"), (3, "--knots uniform"))),
    f"{TANH} --segments 2 --method minimax --symmetry fold --form biased --rounding half_up",
    "exp --in s5:2^-2:1 --out u5:2^-3 --segments 2 --method minimax --shift one --rounding half_away --form biased",
    f"{TANH} --segments 4 --method minimax --knots uniform", f"{TANH} --max-err 2 --knots uniform",
    f"{TANH} --segments 3 --method minimax --knots pow2:3 --slope-terms 1",
    "tanh --in s6:2^-3 --out s6:2^-5 --segments 4 --method minimax --shift-multiple 4 --slope-bits 6 --shift one",
    f"{TANH} --segments 3 --method minimax --fix 0:0 --fix 1:0.75 --offset-type s5",
    "log --in u5:2^-2 --out s5:2^-3 --segments 2 --method minimax --outside clamp --slope-bits 4",
    "elu --in s5:0.3 --out s5:0.25:-5 --segments 2 --method minimax --param alpha=1.3", "relu --in u4:2^-2 --out u4:2^-2 --segments 3",
]
# Rules that are computed: what stands in the checker, what a mutant has there, and whether exclusions can tell.
COMPUTED = [
    ("ceil_div(target - reach, ONE), (target", "ceil_div(target - reach, ONE) + 1, (target", 0),
    ("(target + reach) >> POINT", "((target + reach) >> POINT) - 1", 0),
    ("-inf if low <= y.qmin else low", "low", 0), ("inf if high >= y.qmax else high", "high", 0),
    ("fold - high, fold - low", "fold - 1 - high, fold - 1 - low", 0),
    ("self.end(i, 0) - self.end(j, 1) - 1", "self.end(i, 0) - self.end(j, 1)", 1),
    ("Fraction(2)**n, 1) for", "Fraction(2)**n, 1) + 1 for", 1), ("[bound * Fraction(2)**n // 1", "[bound * Fraction(2)**n // 1 - 1", 1),
    ("halved = n > shifts[0] and", "halved =", 1), (" and self.slope_range(n - 1)[1] >= 0", "", 0),
    ("n > 0 and self.table.rounding in", "self.table.rounding in", 1), ('rounding in ("floor", "half_up"))', "rounding)", 1),
    ("(q % 2 or not halved)", "q % 2", 1), ("least = max(map(min,", "least = max(map(max,", 1),
    ("most = min(map(max,", "most = min(map(min,", 1), ("if least <= most:", "if least < most:", 1),
    ("self.exclude(part[:len(part) // 2], i, j)", "pass", 0), ("self.exclude(part[len(part) // 2:], i, j)", "pass", 0),
    ("value + side) - side - p", "value + side) - p", 1), ("value + side) - side - p", "value) - p", 1),
    ('"floor": 0', '"floor": -1', 1), ('"half_up": half', '"half_up": half - 1', 1),
    ("half - (value <= 0)", "half - (value < 0)", 1), ("half - value % 2", "half - 1", 1),
    ("return ceil_div(value, 1 << -n)", "return value // (1 << -n) + 1", 1),
    ("(1 << n - 1) + 1 if rounding", "(1 << n - 1) + 2 if rounding", 1),
    ("high - (1 << n - 1)\n", "high - (1 << n - 1) - 1\n", 1),
    ("least_sum(n, top + 1) - 1", "least_sum(n, top) - 1", 1), ("least_sum(n, bottom)", "least_sum(n, bottom) + 1", 1),
    ("[self.offsets[0]]", "[self.offsets[0] + 1]", 1), ("[self.offsets[1]]", "[self.offsets[1] - 1]", 1),
    ("bottom - v)", "bottom - v + 1)", 1), ("top - v)", "top - v - 1)", 1),
    ("low - p if biased", "low - p + 1 if biased", 1), ("high - p if biased", "high - p - 1 if biased", 1),
    ("not bottom <= x <= top", "not bottom < x < top", 1), ("p < (bottom if biased else low)", "p < low", 1),
    ("p > (top if biased else high)", "p > high", 1), ("p < (bottom if biased", "p <= (bottom if biased", 1),
    ("p > (top if biased", "p >= (top if biased", 1),
    ('or\n                          self.table.form != "anchored")', "or True)", 1),
    ("max((one.a for one in group if one.any_start), default=-inf)", "max(one.a for one in group)", 0),
    ("range(before + 1 if anchored else place, place + 1)", "range(place, place + 1)", 0),
    ("rules.last_place(group[0].b)", "rules.last_place(group[0].b - 1)", 0),
    ("for equal in rules.equal or [None]:", "for equal in (rules.equal or [None])[:1]:", 0),
    ("range(rules.shifts[0], rules.shifts[1] + 1):\n                require",
     "range(rules.shifts[0], rules.shifts[1]):\n                require", 0),
    ("any(of == equal and", "any(", 0),
    # Squares.
    ("abs((output << POINT) - target) - self.wide, 0)", "abs((output << POINT) - target) + self.wide + (ONE >> 9), 0)", 0),
    ("table.fold - high), table", "table.fold - high + 1), table", 0), ("shr(min(p, w) + before1", "shr(p + before1", 0),
    ("shr(max(p, w) + before2", "shr(p + before2", 0), ("if cost < needs.get(b, -inf):", "if cost < needs.get(b, -inf) - 2**36:", 0),
    ("if cost >= rests.get(b, inf):", "if cost >= min(needs.get(b, inf), rests.get(b, inf)):", 0),
    ("rest = max(rest, needs.get(b + 1, -inf)) - (self", "rest = max(rest, needs.get(b + 1, -inf)) - 2 * (self", 0),
    (' and self.table.form != "anchored":', ":", 0), ("for m in numbers) for b in ends", "for m in list(numbers)[:1]) for b in ends", 0),
    ("(n, part[half:], c1, c2)]", "]", 0), ("(n, part, middle + 1, c2)]", "]", 0),
]


def found_by_lines(module, draw, tries):
    """Whether a checker excludes what a line of a tiny format serves."""
    for _ in range(tries):
        try:
            accepted, served = check_exclusion(module, draw)
        except Exception:  # pylint: disable=broad-except
            return True
        if accepted and served:
            return True
    return False


class Dropper(ast.NodeTransformer):
    """Takes the conditions of require() as true, one at a time: the `number`-th of them all."""

    def __init__(self, number):
        self.number, self.line, self.text, self.depth = number, None, None, 0

    def condition(self, node):
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            node.values = [self.condition(value) for value in node.values]
            return node
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "all" and isinstance(
                node.args[0], ast.GeneratorExp) and isinstance(node.args[0].elt, ast.BoolOp):
            node.args[0].elt = self.condition(node.args[0].elt)
            return node
        self.number -= 1
        if self.number == -1:
            self.text = ast.unparse(node)
            return ast.copy_location(ast.Constant(True), node)
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        if getattr(node.func, "id", "") == "require":
            before = self.number
            node.args[0] = self.condition(node.args[0])
            if before >= 0 > self.number:
                self.line = node.lineno
        return node


TARGETS = {}  # What enclose() gives, which takes most of the time, by what it depends on.


def remember(module):
    whole = module.enclose

    def enclose(table):
        key = str([table.function, table.parameters, table.outside] + [
            (side.qmin, side.qmax, side.zero_point, side.scale) for side in (table.x, table.y)])
        if key not in TARGETS:
            TARGETS[key] = whole(table)
        return TARGETS[key]
    module.enclose = enclose


def load(tree_or_text, name):
    module = types.ModuleType("mutant")
    exec(compile(tree_or_text, "mutant", "exec"), vars(module))  # pylint: disable=exec-used
    if "table.outside" not in name and "values" not in name:
        remember(module)
    return module


def mutants(source):
    """The name of each mutant, its code, the line of the require() that it lacks, if any, and if exclusions can tell."""
    number = 0
    while True:
        dropper = Dropper(number)
        tree = ast.fix_missing_locations(dropper.visit(ast.parse(source)))
        if dropper.text is None:
            break
        yield f"line {dropper.line} without {dropper.text}", tree, dropper.line, False
        number += 1
    for old, new, lines in COMPUTED:
        assert source.count(old) == 1, old
        yield f"{new} and not {old}", source.replace(old, new), None, lines


# ---- Faults ----

def places(value, path=()):
    """Every value of a proof, by the way to it."""
    yield path, value
    items = value.items() if type(value) is dict else enumerate(value) if type(value) is list else ()
    for key, part in items:
        yield from places(part, path + (key,))


def at(proof, path):
    for key in path:
        proof = proof[key]
    return proof


def changed(proof, path, new):
    proof = copy.deepcopy(proof)
    at(proof, path[:-1])[path[-1]] = new
    return proof


def lacking(proof, path):
    proof = copy.deepcopy(proof)
    del at(proof, path[:-1])[path[-1]]
    return proof


def faults_everywhere(proof):
    """At each place: other values, of other kinds, none, twice; and fields that nobody knows."""
    for path, value in places(proof):
        if not path or "hash" in path:
            continue
        if type(value) is bool:
            yield changed(proof, path, not value)
        elif type(value) is int:
            for other in (value - 1, value + 1, -value, 0, 2**40, -2**40, 2**70):
                yield changed(proof, path, other)
        elif type(value) is float:
            for other in (value * 0.999, value * 1.001, -value, 0.0):
                yield changed(proof, path, other)
        elif type(value) is str:
            for other in (value + "1", value[:-1], "none", "0", "-0.1", f"{value}e-1"):
                yield changed(proof, path, other)
        elif type(value) is list:
            yield changed(proof, path, value + value[-1:])
            yield changed(proof, path, value[:-1])
            yield changed(proof, path, [])
        elif type(value) is dict:
            yield changed(proof, path + ("unknown",), 1)
        yield changed(proof, path, {"x": 1})
        if value is None:
            yield changed(proof, path, 0.5)
        yield changed(proof, path, None)
        yield lacking(proof, path)


def measured(module, proof):
    """The proof with the figures that its table really has: a fault of the table is seen by its own rule alone."""
    proof = copy.deepcopy(proof)
    said, tried = proof["table"]["certificate"], 0
    for _ in range(80):
        try:
            module.check_proof(json.dumps(proof).encode())
            return proof
        except (IndexError, TimeoutError):
            return proof
        except module.Bad as reason:
            match = re.match(r"(\w+): it is (\S+)$", reason.args[1])
            if match and match[1] in said:
                name, text = match[1], match[2]
                said[name] = (text == "True" if type(said[name]) is bool else float(text) if "." in text or "e" in text or
                              type(said[name]) is float else int(text))
            elif reason.args[1].startswith("max_err_at"):
                said["max_err_at"] = proof["table"]["in"]["qmin"] + tried
                tried += 1
            else:
                return proof
    return proof


def faults_of_tables(proof):
    """Other segments, other flags, and fields that have to be absent."""
    for path, value in places(proof["table"]["segments"]):
        if type(value) is int:
            for other in (value - 1, value + 1, value + 40, value - 40, -15):
                yield changed(proof, ("table", "segments") + path, other)
        elif type(value) is dict:  # The same line by other numbers.
            yield changed(proof, ("table", "segments") + path,
                          {**value, "q_b": 2 * value["q_b"], "n_BX_total": value["n_BX_total"] + 1})
    for flag in (" --fix 0:0", " --segments 1", " --knots free", " --offset-type q7", " --slope-bits 3"):
        yield changed(proof, ("table", "spec"), proof["table"]["spec"] + flag)
    for name, value in (("reduction", {}), ("samples_sha256", ""), ("expression", ""), ("fold", {"sum": 0})):
        yield changed(proof, ("table", name), value)
    for name in ("rules", "chains"):
        yield {key: value for key, value in proof.items() if key not in ("impossible", name)}


def faults_of_chains(proof):
    """Groups and exclusions of other groups, runs of nothing, bands that are not empty, fewer segments and chains."""
    for path, value in places(proof.get("chains", [])):
        way = ("chains",) + path
        if len(path) == 3 and path[1] == "groups":
            groups = at(proof, way[:-1])
            for other in groups:
                yield changed(proof, way, value + other)
                yield changed(proof, way, other)
            if value is groups[-1] and len(groups) > 1:
                fewer = changed(proof, way[:-1], groups[:-1])
                yield fewer
                yield changed(fewer, ("impossible", "segments"), len(groups) - 1)
        if type(value) is dict and "runs" in value:
            yield changed(proof, way + ("runs",), value["runs"] + [0, 0, 0])
            for i in range(value["upto"] - value["from"]):
                yield changed(proof, way, {"from": value["from"], "upto": value["upto"], "none": i})
        if type(value) is dict and "equal" in value:
            counts = [count for count in proof["rules"]["places"]["equal"] if count != value["equal"]]
            fewer = changed(changed(proof, ("rules", "places", "equal"), counts), ("impossible", "segments"), max(counts, default=1))
            yield changed(fewer, ("chains",), [chain for chain in proof["chains"] if chain["equal"] in counts])
            yield changed(proof, ("chains",), [chain for chain in proof["chains"] if chain["equal"] in counts])
        if type(value) is dict and "least" in value:
            for more in (1, 2**20, 2**30, 2**34, 2**36, 2**38):
                higher = changed(proof, way + ("least",), [[least + more for least in row] for row in value["least"]])
                yield changed(higher, ("impossible", "squares"), proof["impossible"]["squares"] + more)


def weaker(proof):
    """The proof of a certificate that claims nothing of other tables."""
    proof = copy.deepcopy(proof)
    proof["table"]["certificate"].update(optimal=False)
    if proof["table"]["certificate"]["lower_bound_lsb"]:
        proof["table"]["certificate"].update(lower_bound_lsb=0.0)
    return proof


def faults(proof):
    yield from faults_everywhere(proof)
    yield from faults_of_tables(proof)
    yield from faults_of_chains(proof)


def faults_of_text(text):
    """What is no JSON, or has a field twice."""
    yield text.replace('"pwl_proof": 1', '"pwl_proof": 1, "pwl_proof": 1').encode()
    yield text[:-1].encode()
    yield text.replace('"max_err_lsb": ', '"max_err_lsb": NaN, "more": ').encode()
    yield text.encode() + b"\xff"
    yield b"[" * 100000


def mended(mutant, whole, texts):
    """Faults with all else as the mutant asks for it: those that the whole checker still refuses."""
    for text in texts[:150]:
        try:
            fault = json.loads(text)
            for proof in (measured(mutant, fault), measured(mutant, weaker(fault))):
                mended_text = json.dumps(proof).encode()
                if status_of(whole, mended_text)[0]:
                    yield mended_text
        except (AttributeError, KeyError, TypeError, ValueError, MemoryError, ArithmeticError):
            pass


# ---- The run ----

def status_of(module, text):
    """0 where it accepts; else that of the refusal, and the line that has it; None where it fails to read."""
    signal.setitimer(signal.ITIMER_REAL, 2)  # Without a limit to what is read a mutant may take for ever.
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
        signal.setitimer(signal.ITIMER_REAL, 0)


def too_long(*_):
    raise TimeoutError


def main():
    pwlc, python, native = sys.argv[1:]
    number, failed, tries_of_lines = 0, 0, 20000 if os.environ.get("PWL_TEST_LONG") == "1" else 1500
    signal.signal(signal.SIGALRM, too_long)
    resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))

    def tap(name, problems):
        nonlocal number, failed
        number += 1
        failed += bool(problems)
        print(f"{'not ok' if problems else 'ok'} {number} {name}", flush=True)
        for problem in problems[:10]:
            print(f"# {problem}")

    with tempfile.TemporaryDirectory() as folder:
        checkers, draw, by_line = Checkers(python, native, folder), random.Random(52), {}
        remember(checkers.module)
        for spec in SPECS:
            proof = prove(pwlc, spec, folder)
            texts = {json.dumps(fault).encode() for fault in faults(proof)}
            texts |= set(faults_of_text(json.dumps(proof)))
            for text in sorted(texts):
                status, line = status_of(checkers.module, text)
                if status is None:
                    tap(f"{spec}: the checker fails on {text}", ["see above"])
                elif status:
                    by_line.setdefault(line, []).append(text)
        with open(python) as file:
            source = file.read()
        used, first = set(), source[:source.index("# ---- Exclusions")].count("\n")
        late = [text for line, texts in by_line.items() if line > first for text in texts]
        for name, code, line, lines in mutants(source):
            mutant, found = load(code, name), False
            tries = by_line.get(line, []) if line else [] if lines else late
            for text in itertools.chain(tries, mended(mutant, checkers.module, tries)):
                if status_of(mutant, text)[0] in (0, None):
                    found, used = True, used | {text}
                    break
            found = found or lines and found_by_lines(mutant, draw, tries_of_lines)
            tap(f"found: {name}", [] if found else [f"it refuses {len(tries)} faults as well"])
        words = [str(said) for text in sorted(used) for said in [checkers.statuses(text.decode())] if 0 in said[0]]
        tap(f"both refuse the {len(used)} faults", words)
    print(f"1..{number}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
