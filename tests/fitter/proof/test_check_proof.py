#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The checkers of proofs: what they accept, and that they refuse every fault. TAP.

    test_check_proof.py PWLC CHECK_PROOF.py CHECK_PROOF

Tables of every kind are fitted and proven; both checkers accept the proofs, and refuse them with faults from a fixed
seed. A fault is one that makes a statement false, or leaves a part of it without its reason, whatever the rest is. Then
the rule of exclusions is held against all lines there are: of tiny formats, where types overflow within few codes.
A few of the faults are made, unless PWL_TEST_LONG=1.
"""
import copy
import hashlib
import importlib.util
import itertools
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import types
from fractions import Fraction

TANH = "tanh --in s8:2^-5 --out s8:2^-7"
KINDS = {
    "max": f"{TANH} --segments 6 --method minimax",
    "segments": f"{TANH} --max-err 1",
    "biased": f"{TANH} --segments 6 --method minimax --form biased --rounding half_up",
    "anchored": f"{TANH} --segments 6 --method minimax --form anchored --rounding half_even",
    "folded": f"{TANH} --segments 4 --method minimax --symmetry fold",
    "folded biased": "sigmoid --in s10:2^-6 --out u8:2^-8 --max-err 0.75 --symmetry fold --form biased --rounding half_up",
    "one shift": f"{TANH} --segments 6 --method minimax --shift one",
    "uniform": f"{TANH} --segments 8 --method minimax --knots uniform",
    "uniform segments": f"{TANH} --max-err 2 --knots uniform",
    "pow2": f"{TANH} --max-err 2 --knots pow2",
    "pow2:6 biased": f"{TANH} --segments 6 --method minimax --form biased --knots pow2:6 --rounding half_away",
    "one term": f"{TANH} --segments 6 --method minimax --slope-terms 1",
    "two terms": "gelu_tanh --in s10:2^-7 --out s8:2^-5 --max-err 0.7 --form anchored --slope-terms 2",
    "shift multiple": "tanh --in s12:2^-9 --out s12:2^-11 --segments 16 --method minimax --shift-multiple 8 "
                      "--slope-bits 16 --shift one",
    "fixed": f"{TANH} --segments 6 --method minimax --fix 0:0 --fix 1:0.75 --offset-type s8",
    "fixed one shift": f"{TANH} --max-err 2 --form anchored --shift one --fix 0:0",
    "clamp": "log --in u8:2^-5 --out s8:2^-5 --segments 4 --method minimax --outside clamp",
    "half even": "exp --in s12:2^-8:2047 --out u12:2^-12:0 --max-err 1 --form biased --rounding half_even --shift one",
    "slope bits": "reciprocal --in u10:2^-5 --out u12:2^-6 --segments 12 --method minimax --form anchored "
                  "--rounding half_away --outside clamp --slope-bits 9",
    "not optimal": "elu --in s8:0.037 --out s8:0.031:-5 --segments 3 --method minimax --param alpha=1.3 --rounding half_up",
    "averages": f"{TANH} --segments 8",
}
QUICK = {**KINDS, "averages": "tanh --in s6:2^-3 --out s8:2^-7 --segments 4"}  # whose proof is checked sooner
OFFSET = {"absolute": "term_c", "biased": "bias", "anchored": "y"}


def hash_of(table):
    def bits(value):
        return struct.pack(">d", value).hex() if type(value) in (int, float) else value
    fields = {name: value for name, value in table.items() if name != "hash"}
    for name in ("parameters", "certificate"):
        fields[name] = {key: bits(value) for key, value in fields[name].items()}
    return hashlib.sha256(json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def shr(p, n, rounding):
    """p * 2^-n by rationals, as docs/meaning.md names the roundings."""
    exact = Fraction(p) / Fraction(2) ** n
    down = exact.numerator // exact.denominator
    rest = exact - down
    if rounding == "floor" or rest < Fraction(1, 2):
        return down
    if rest > Fraction(1, 2):
        return down + 1
    return down + {"half_up": 1, "half_away": p > 0, "half_even": down % 2}[rounding]


def outputs(table):
    """What a table gives its codes; None where its segments are none."""
    x, y, fold = table["in"], table["out"], table.get("fold")
    rows, made = table["segments"], []
    if [row["start"] for row in rows] != sorted({row["start"] for row in rows}):
        return None
    for q in range(x["qmin"], x["qmax"] + 1):
        stored = 2 * x["zero_point"] - q if fold and q < x["zero_point"] else q
        below = [row for row in rows if row["start"] <= stored]
        if not below:
            return None
        row = below[-1]
        p = row["q_b"] * (stored - (row["start"] if table["form"] == "anchored" else x["zero_point"]))
        c, n = row[OFFSET[table["form"]]], row["n_BX_total"]
        v = shr(p + c, n, table["rounding"]) if table["form"] == "biased" else shr(p, n, table["rounding"]) + c
        v = fold["sum"] - v if stored != q else v
        made.append(min(max(v, y["qmin"]), y["qmax"]))
    return made


# ---- Faults: each takes a proof, changes it, and says what; None where it has nothing to change ----

def exclusions(proof, draw, has):
    found = [one for chain in proof.get("chains", []) for group in chain.get("groups", []) for one in group
             if one.get(has)]
    return draw.choice(found) if found else None


def fault_run(proof, draw):
    one = exclusions(proof, draw, "runs")
    if not one:
        return None
    at = 3 * draw.randrange(len(one["runs"]) // 3)
    count, i, j = one["runs"][at:at + 3]
    kind = draw.randrange(6)
    if kind < 2:
        one["runs"][at] += (-1, 1)[kind]
        return f"a run has {count + (-1, 1)[kind]} slopes and not {count}"
    if kind == 2:
        del one["runs"][at:at + 3]
        return "a run is left out"
    if kind == 3 or i == -1 or j == -1:
        one["runs"][at + draw.choice((1, 2))] = one["upto"] - one["from"]
        return "a run names a code behind its range"
    one["runs"][at + 1:at + 3] = (j, i) if kind == 4 else (i, i)
    return "a run has its codes in the wrong order, or twice the same"


def fault_window(proof, draw):
    one = exclusions(proof, draw, "window")
    if not one:
        return None
    pair = draw.choice(one["window"])
    pair[draw.randrange(2)] = draw.choice((-1, one["upto"] - one["from"], 2**40))
    return "a window names a code outside its range"


def fault_range(proof, draw):
    one = exclusions(proof, draw, "upto")
    if not one:
        return None
    name, value = draw.choice((("from", -2**20), ("from", one["upto"]), ("upto", one["from"]), ("upto", 2**20)))
    one[name] = value
    return f"{name} is {value}"


def fault_group(proof, draw):
    chains = proof.get("chains", [])
    if not chains or "groups" not in chains[0]:
        return None
    groups = draw.choice(chains)["groups"]
    kind = draw.randrange(3)
    if kind == 0 and len(groups) == proof["impossible"]["segments"] and "equal" not in chains[0]:
        del groups[draw.randrange(len(groups))]
        return "a group is left out"
    group = draw.choice(groups)
    if kind == 1 or len(group) == 1:
        group.clear()
        return "a group has no exclusions"
    group.pop(max(range(len(group)), key=lambda k: group[k]["from"]))
    return "the last start of a group is left out"


def fault_chain(proof, draw):
    chains = proof.get("chains", [])
    if not chains:
        return None
    k = draw.randrange(len(chains))
    kind = draw.randrange(3)
    if kind == 0:
        del chains[k]
        return "a chain is left out"
    low, high = chains[k]["shifts"]
    if kind == 1:
        chains[k]["shifts"] = [low + 1, high] if low < high else [low, low - 1]
        return "a chain has not its first shift"
    chains[k]["equal"] = chains[k].get("equal", 0) + 1000
    return "a chain is of another number of equal segments"


def fault_rules(proof, draw):
    rules = proof.get("rules")
    if not rules:
        return None
    name = draw.choice(sorted(rules))
    value = rules[name]
    if name in ("slopes", "shifts", "offsets"):
        value[draw.randrange(2)] += draw.choice((-1, 1))
    elif name == "fixed":
        value.append([0, 0])
    elif name == "places":
        rules[name] = {"any": {"shift": 4}}.get(value if type(value) is str else "", "any")
    else:
        rules[name] = not value if type(value) is bool else value + draw.choice((-1, 1))
    return f"rules: {name} is another one"


def fault_claim(proof, draw):
    claim, certificate = proof.get("impossible"), proof["table"]["certificate"]
    if not claim or not certificate["optimal"] or "error" not in claim:
        return None
    kind, error = draw.randrange(4), Fraction(claim["error"])
    if kind == 0:
        claim["segments"] -= 1
        return "S is one less"
    if kind == 1 and all(len(chain["groups"]) == claim["segments"] for chain in proof["chains"]):
        claim["segments"] += 1
        return "S is one more"
    larger = kind == 2 and certificate["objective"] == "max"
    claim["error"] = f"{float(error) + (0.001 if larger else -0.001):.10f}"
    return f"L is {claim['error']}"


def fault_certificate(proof, draw):
    certificate = proof["table"]["certificate"]
    name = draw.choice(sorted(set(certificate) - {"second_objective", "monotone"}))
    value = certificate[name]
    if name == "max_err_at":
        certificate[name] += draw.choice((-1, 1))
    elif name in ("checked", "saturated_codes", "acc_bits"):
        certificate[name] += draw.choice((-1, 1))
    elif name == "exhaustive":
        certificate[name] = False
    elif name == "objective":
        certificate[name] = {"max": "segments", "segments": "max", "rms": "largest"}[value]
    elif name == "optimal":
        if value is not False or "impossible" not in proof:
            return None
        certificate[name] = True
    elif name == "lower_bound_lsb":
        if "impossible" not in proof:
            return None
        certificate[name] = 0.5 if value is None else value * 1.01
    else:
        certificate[name] = value * draw.choice((0.9999, 1.0001)) if value else 0.001
    return f"{name} is {certificate[name]} and not {value}"


def fault_monotone(proof, draw):
    certificate = proof["table"]["certificate"]
    certificate["monotone"] = not certificate["monotone"]
    return f"monotone is {certificate['monotone']}"


def fault_name(proof, draw):
    proof["table"]["certificate"]["proof"] = "%064x" % draw.getrandbits(256)
    return "the certificate names another proof"


def fault_segment(proof, draw):
    table = proof["table"]
    before, row = outputs(table), draw.choice(table["segments"])
    name = draw.choice(("start", "q_b", "n_BX_total", OFFSET[table["form"]]))
    row[name] += draw.choice((-1, 1))
    return f"{name} is {row[name]}" if outputs(table) != before else None


def fault_table(proof, draw):
    table = proof["table"]
    kind, before = draw.randrange(9), outputs(table)
    if kind == 0:
        table["case"] = "int32" if table["case"] == "int16" else "int16"
    elif kind == 1:
        table["function"] = "softsign" if table["function"] == "tanh" else "tanh"
        table["parameters"] = {}
    elif kind == 2:
        side = table[draw.choice(("in", "out"))]
        side["scale"] = "2^-3"
    elif kind == 3:
        table["out"]["zero_point"] += 1
    elif kind == 4:
        table["rounding"] = draw.choice(("floor", "half_up", "half_even", "half_away"))
        if outputs(table) == before:
            return None
    elif kind == 5 and "fold" in table:
        table["fold"]["sum"] += draw.choice((-1, 1))
    elif kind == 6 and "impossible" in proof:
        table["spec"] += draw.choice((" --slope-bits 4", " --slope-terms 2 --shift-multiple 5", " --fix 0:0 --fix 0.5:0.5",
                                      " --offset-type s5", " --knots pow2:2", " --shift one --knots uniform"))
        if table["spec"].count("--shift one") > 1 or table["spec"].count("uniform") > 1:
            return None
    elif kind == 7 and "impossible" in proof and table["certificate"]["objective"] == "segments":
        table["spec"] = table["spec"].replace("--max-err ", "--max-err 1")
    else:
        table["in"]["qmax"] -= 1
    return f"the table is another one ({kind})"


def fault_file(proof, draw):
    kind = draw.randrange(4)
    place = draw.choice([proof, proof["table"], proof["table"]["certificate"], proof["table"]["segments"][0],
                         proof.get("rules", proof)])
    if kind == 0:
        place["more"] = 1
    elif kind == 1:
        del place[draw.choice(sorted(set(place) - {"unfused", "second_objective", "fold", "outside"}
                                     - ({"impossible"} if place is proof else set())))]
    elif kind == 2:
        proof["pwl_proof"] = 2
    else:
        name = draw.choice(sorted(place))
        place[name] = [1.5, "x"]
    return f"a field is unknown, missing or of the wrong kind ({kind})"


FAULTS = [value for name, value in sorted(globals().items()) if name.startswith("fault_")]


class Tap:
    """Counts tests, and those that fail: with the problems that they have."""

    def __init__(self):
        self.number, self.failed = 0, 0

    def __call__(self, name, problems):
        self.number += 1
        self.failed += bool(problems)
        print(f"{'not ok' if problems else 'ok'} {self.number} {name}", flush=True)
        for problem in problems[:10]:
            print(f"# {problem}")

    def end(self):
        print(f"1..{self.number}")
        return self.failed > 0


class Checkers:
    def __init__(self, python, native, folder):
        spec = importlib.util.spec_from_file_location("check_proof", python)
        self.module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)
        self.native, self.path = native, os.path.join(folder, "fault.proof")

    def run_native(self, text):
        with open(self.path, "wb") as file:
            file.write(text)
        return subprocess.run([self.native, self.path], capture_output=True, text=True, errors="replace", timeout=120)

    def statuses(self, text):
        """Exit statuses of both, and what they say."""
        run = self.run_native(text.encode())
        try:
            return (0, run.returncode), (self.module.check_proof(text.encode()), run.stdout + run.stderr)
        except self.module.Bad as reason:
            return (reason.args[0], run.returncode), (reason.args[1], run.stdout + run.stderr)


def prove(pwlc, flags, folder):
    table, proof = os.path.join(folder, "t.json"), os.path.join(folder, "t.proof")
    subprocess.run([pwlc, "fit", *flags.split(), "-o", table], check=True, capture_output=True)
    subprocess.run([pwlc, "prove", table, "-o", proof], check=True, capture_output=True)
    with open(proof) as file:
        proven = json.load(file)
    # No fault is to be refused for the name alone.
    proven["table"]["certificate"].pop("proof", None)
    proven["table"]["hash"] = hash_of(proven["table"])
    return proven


def check_faults(checkers, proof, draw, tries):
    """What is accepted with a fault, and the number of faults."""
    bad, made = [], 0
    for fault in FAULTS:
        for _ in range(tries):
            faulty = copy.deepcopy(proof)
            what = fault(faulty, draw)
            if what is None or faulty == proof:
                continue
            made += 1
            statuses, words = checkers.statuses(json.dumps(faulty))
            if statuses[0] not in (1, 2) or statuses[1] not in (1, 2):
                bad.append(f"{fault.__name__}: {what}: {statuses} {words}")
    return bad, made


# ---- False claims, and all lines of tiny formats ----

def split_table(proof):
    """The same table with one segment more than it needs, which it says are the fewest; with a proof of that."""
    proof = copy.deepcopy(proof)
    table, rows = proof["table"], proof["table"]["segments"]
    k = max(range(len(rows) - 1), key=lambda k: rows[k + 1]["start"] - rows[k]["start"])
    rows.insert(k + 1, {**rows[k], "start": (rows[k]["start"] + rows[k + 1]["start"]) // 2})
    proof["impossible"]["segments"] += 1
    table["hash"] = hash_of(table)
    return proof


def forgeries(proof, draw):
    """Ways to go on from a true proof for one segment less."""
    for chain, way in itertools.product(range(len(proof["chains"])), range(8)):
        forged = copy.deepcopy(proof)
        groups = forged["chains"][chain]["groups"]
        last, upto = groups[-1], groups[-1][0]["upto"]
        end = proof["table"]["in"]["qmax"] + 1
        more = {
            0: last, 1: [{"from": upto - 1, "upto": end, "none": 0}],
            2: [{"from": upto - 1, "upto": end, "window": [], "runs": []}],
            3: [{**last[0], "from": upto - 1, "upto": end}], 4: [{**last[-1], "from": last[-1]["from"] + 1}],
            5: [{"from": upto - 1, "upto": end, "window": [[0, 1], [1, 0]], "runs": []}], 6: groups[0],
            7: [{"from": upto - 1, "upto": end, "window": [], "runs": [2**31, -1, -1]}]}[way]
        groups.insert(len(groups) if way != 6 else draw.randrange(len(groups)), copy.deepcopy(more))
        yield forged


def worse_table(pwlc, flags, proof, folder):
    """Another table of as many segments, with a larger error, which it says is the least one; with a proof of that."""
    table = prove(pwlc, flags.replace("--method minimax", "--method lsq"), folder)["table"]
    forged, certificate = copy.deepcopy(proof), table["certificate"]
    table["spec"] = proof["table"]["spec"]
    certificate.update(objective="max", optimal=True, lower_bound_lsb=certificate["max_err_lsb"])
    table["hash"] = hash_of(table)
    forged["table"], forged["impossible"]["error"] = table, str(certificate["max_err_lsb"])
    honest = copy.deepcopy(forged)  # The same without the claim: the table is not refused for another reason.
    for name in ("impossible", "rules", "chains"):
        del honest[name]
    return honest, forged


class TinyRules:
    """What Exclusion asks of rules, without a spec: few slopes, shifts and bits; of any form and rounding, or of one."""

    def __init__(self, module, draw, forms=("absolute", "biased", "anchored"),
                 roundings=("floor", "half_up", "half_away", "half_even")):
        self.table = type("Tiny", (), {})()
        self.table.form = self.form = draw.choice(forms)
        self.rounding = draw.choice(roundings)
        self.table.d0 = draw.randrange(-6, 3)
        self.table.d1 = self.table.d0 + draw.randrange(3, 9)
        self.table.form, self.table.rounding, self.table.biased = self.form, self.rounding, self.form == "biased"
        self.table.x = type("Side", (), {"zero_point": draw.randrange(-4, 5)})()
        self.bits = draw.randrange(4, 9)
        self.half = 2**(self.bits - 1)
        self.table.sums = [-self.half, self.half - 1]
        self.table.least_sum = types.MethodType(module.Table.least_sum, self.table)
        self.stored_slopes = types.MethodType(module.Rules.stored_slopes, self)
        self.of_types = types.MethodType(module.Rules.of_types, self)
        self.hole = draw.choice((5, 5, 0, 1))  # A shift at which nothing is stored, not even 0, and little behind it.
        self.slopes, self.shifts = [-8, 7], [draw.choice((-2, min(self.hole, 0))), 3]
        self.offsets = [-draw.randrange(1, 40), draw.randrange(40)]
        self.slope_terms, self.shift_multiple = draw.choice((0, 0, 1, 2)), 0
        powers = {0} | {sign << k for k in range(6) for sign in (1, -1)}
        self.of_terms = sorted({a + b for a in powers for b in powers} if self.slope_terms == 2 else powers)

    def slope_range(self, n):
        return (-(1 << n - self.hole >> 1), (1 << n - self.hole >> 1) - 1) if n >= self.hole else self.slopes

    def serves(self, a, b, bands, start):
        """Whether some allowed line, in the anchored form one that starts there, serves the codes a to b - 1."""
        fits = lambda v: -self.half <= v < self.half
        for n, q_b in itertools.product(range(self.shifts[0], self.shifts[1] + 1), range(self.slopes[0], self.slopes[1] + 1)):
            low, high = self.slope_range(n)
            if self.slope_terms and q_b not in self.of_terms or not low <= q_b <= high:
                continue
            for c in range(self.offsets[0], self.offsets[1] + 1):
                for q in range(a, b):
                    x = q - (start if self.form == "anchored" else self.table.x.zero_point)
                    p = q_b * x + (c if self.form == "biased" else 0)
                    v = shr(p, n, self.rounding)
                    value = v + (0 if self.form == "biased" else c)
                    half = 2**(n - 1) if n > 0 and self.rounding != "floor" else 0
                    if not (fits(x) and fits(q_b * x) and fits(p) and fits(v) and fits(value) and fits(
                            (abs(p) if self.rounding == "half_away" else p) + half)):
                        break
                    if not bands[q - self.table.d0][0] <= value <= bands[q - self.table.d0][1]:
                        break
                else:
                    return True
        return False


def cover(one, slopes, pairs):
    """Runs that exclude slopes, as long as they can be; None where there are none."""
    for i, j in pairs:
        try:
            one.exclude(slopes, i, j)
            return [len(slopes), i, j]
        except one.module.Bad:
            pass
    half = len(slopes) // 2
    halves = [cover(one, part, pairs) for part in (slopes[:half], slopes[half:])] if half else [None]
    return None if None in halves else halves[0] + halves[1]


def check_exclusion(module, draw, *kinds):
    """Makes the best exclusion of a random range: whether it is accepted, and whether a line serves all the same."""
    rules, inf = TinyRules(module, draw, *kinds), float("inf")
    q_b, n, c = draw.randrange(-8, 8) * draw.choice((0, 1, 1)), draw.randrange(-1, 4), draw.randrange(-4, 5)
    bands = []
    for q in range(rules.table.d0, rules.table.d1):
        middle = shr(q_b * q, n, "floor") + c + draw.choice((0, 0, 0, 1, -1, 2))
        low, high = middle - draw.randrange(2), middle + draw.randrange(2)
        bands.append((draw.choice((low, low, low, -inf)), draw.choice((high, high, high, inf))))
    a = draw.randrange(rules.table.d0, rules.table.d1)
    b = draw.randrange(a, rules.table.d1) + 1
    lows = [i for i in range(b - a) if bands[a + i - rules.table.d0][0] != -inf]
    highs = [j for j in range(b - a) if bands[a + j - rules.table.d0][1] != inf]
    pairs = [[i, j] for i in lows for j in highs if i != j and draw.random() < 0.7]
    one = module.Exclusion.__new__(module.Exclusion)
    one.a, one.b, one.rules, one.table, one.bands = a, b, rules, rules.table, bands[a - rules.table.d0:b - rules.table.d0]
    one.origin = a if rules.form == "anchored" else rules.table.x.zero_point
    one.module, runs = module, []
    for one.n, slopes in one.slopes(pairs, rules.shifts):
        made = cover(one, slopes, list(itertools.product(lows + [-1], highs + [-1])))
        if made is None:
            return False, None
        runs += made
    value = {"from": a, "upto": b, "window": pairs, "runs": runs}
    made = module.Exclusion(value, rules, bands, rules.shifts)
    starts = [a] if rules.form != "anchored" or not made.any_start else range(a - 3, a + 1)
    return True, any(rules.serves(a, b, bands, start) for start in starts)


def main():
    pwlc, python, native = sys.argv[1:]
    tap, whole = Tap(), os.environ.get("PWL_TEST_LONG") == "1"
    with tempfile.TemporaryDirectory() as folder:
        checkers, draw, total = Checkers(python, native, folder), random.Random(52), 0
        for kind, flags in (KINDS if whole else QUICK).items():
            proof = prove(pwlc, flags, folder)
            statuses, words = checkers.statuses(json.dumps(proof))
            tap(f"{kind}: accepted by both", [] if statuses == (0, 0) else [f"{statuses} {words}"])
            few = len(proof["table"]["segments"]) > 12 and not whole
            bad, made = check_faults(checkers, proof, draw, 40 if whole else 1 if few else 2)
            total += made
            tap(f"{kind}: faults refused", bad if made else ["no fault was made"])
            if "impossible" in proof and proof["table"]["certificate"]["objective"] == "segments" and kind != "uniform segments":
                false = split_table(proof)
                accepted = [str(checkers.statuses(json.dumps(forged))) for forged in forgeries(false, draw)
                            if 0 in checkers.statuses(json.dumps(forged))[0]]
                tap(f"{kind}: a segment more than needed is not the fewest", accepted)
        proof = prove(pwlc, KINDS["max"], folder)
        honest, forged = worse_table(pwlc, KINDS["max"], proof, folder)
        said = [checkers.statuses(json.dumps(one)) for one in (honest, forged, {**forged, "impossible": proof["impossible"]})]
        tap("a table with a larger error than needed is not the best", [] if [statuses for statuses, _ in said] ==
            [(0, 0), (1, 1), (1, 1)] else list(map(str, said)))
        tap(f"{total} faults were made", [] if total >= 200 else ["these are fewer than 200"])

        checks = [check_exclusion(checkers.module, draw) for _ in range(20000 if whole else 700)]
        taken = sum(accepted for accepted, _ in checks)
        tap(f"{taken} exclusions of tiny formats, against every line", [f"draw {k} is served" for k, (accepted, served)
            in enumerate(checks) if accepted and served] + ([] if taken > len(checks) // 10 else ["too few were accepted"]))
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
