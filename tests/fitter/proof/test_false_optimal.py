#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables that say falsely that none is better, of each kind that a search has ever called so: `pwlc prove` writes no such
proof, and no checker takes one that is made of a true proof. TAP.

    test_false_optimal.py PWLC CHECK_PROOF.py CHECK_PROOF

Of each kind there is a table that is better, and, where only some lines had been overlooked, has one of these.
"""
import copy
import json
import os
import subprocess
import sys
import tempfile

from drawn_proofs import shr

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from signed_table import signed

PWLC, PYTHON, NATIVE = map(os.path.abspath, sys.argv[1:])
TANH = "tanh --in s8:2^-5 --out s8:2^-7"


class Kind:
    """What had been overlooked; the flags of the better table, and what makes them those of the false one, or its
    segments. overlooked(row, low, high, table) tells it of a segment, by the values at its ends. plain: the flags without
    what there is no proof of."""

    def __init__(self, name, flags, worse=("", ""), rows=None, overlooked=None, plain=None):
        self.name, self.flags, self.worse, self.rows, self.overlooked = name, flags, worse, rows, overlooked
        self.plain, self.has_proof = plain or flags, plain is None


def is_beyond(low, high, table):
    """Whether values saturate all along, at one limit."""
    return max(low, high) <= table["out"]["qmin"] or min(low, high) >= table["out"]["qmax"]


KINDS = [
    Kind("a flat line beyond the limit, in steps of two",
         "leaky_relu --in u3:2^2:2 --out u6:0.31873:0 --form biased --rounding half_even --segments 3 --slope-bits 4 "
         "--shift one", ("--segments 3", "--segments 2"),
         overlooked=lambda row, low, high, table: row["q_b"] == 0 and row["n_BX_total"] < 0 and low > table["out"]["qmax"]),
    Kind("a line that passes both limits",
         "tanh --in s6:2^-1 --out s4:2^-3 --segments 1 --zero free", ("--zero", "--slope-terms 1 --zero"),
         overlooked=lambda row, low, high, table: low < table["out"]["qmin"] and high > table["out"]["qmax"]),
    Kind("a steep line at a limit that no flat one has, by --offset-type",
         "mish --in u4:2^-1:17 --out s4:2^-4:-4 --outside clamp --form biased --rounding half_up --segments 3 "
         "--slope-bits 2 --shift one --slope-terms 1 --offset-type u2", rows=[(0, 0, -1, 3)],
         overlooked=lambda row, low, high, table: row["q_b"] != 0 and is_beyond(low, high, table)),
    Kind("the lowest slope, in squares",
         "sin --in s3:2^0:0 --out s4:2^-3:0 --form anchored --segments 3 --zero free --slope-bits 3",
         ("--slope-bits 3", "--slope-bits 2"), overlooked=lambda row, low, high, table: row["q_b"] == -4),
    Kind("the lowest slope, in the largest error",
         "sin --in s3:2^-1:8 --out u5:2^-3:3 --rounding half_up --segments 3 --zero free --method minimax --slope-bits 3",
         ("--slope-bits 3", "--slope-bits 2"), overlooked=lambda row, low, high, table: row["q_b"] == -4),
    Kind("the lowest slope, in the number of segments",
         "cos --in s4:2^-2:8 --out s6:2^-3:0 --rounding half_up --max-err 1.5 --zero free --slope-bits 3",
         ("--slope-bits 3", "--slope-bits 2"), overlooked=lambda row, low, high, table: row["q_b"] == -4),
    Kind("a line of a folded table that saturates",
         "tanh --in s8:2^-4 --out s8:2^-7 --segments 3 --symmetry fold --method minimax", ("--segments 3", "--segments 2"),
         overlooked=lambda row, low, high, table: max(low, high) > table["out"]["qmax"]),
    Kind("what a search that was cut had not looked at",
         "gelu --in s6:2^-3 --out s8:2^-5 --segments 4 --zero free --form anchored",
         ("--zero free", "--zero free --time-limit 1e-9")),
    Kind("the table that was exchanged for the sake of f(0)",
         "tanh --in s6:2^-2 --out s8:2^-7 --segments 3 --symmetry fold --zero free", ("--zero free", "--zero keep")),
    Kind("a segment less", f"{TANH} --max-err 2", ("--max-err 2", "--max-err 1.5")),
    Kind("fewer equal segments", f"{TANH} --max-err 2 --knots uniform", ("--max-err 2", "--max-err 1")),
    Kind("values at points beyond the outputs",
         "sin --in s4:0.13:0 --out s6:2^-5:-9 --rounding half_even --knots points:2 --method minimax --slope-bits 7",
         ("--slope-bits 7", "--slope-bits 7 --offset-type s6"),
         plain="sin --in s4:0.13:0 --out s6:2^-5:-9 --rounding half_even --segments 2 --method minimax --slope-bits 7"),
    Kind("lines against f where a folded table saturates, with --monotone",
         "sin --in u4:0.82413:2 --out s5:2^-2:-12 --form biased --method minimax --segments 4 --slope-bits 3 --symmetry fold "
         "--shift one --monotone --zero free", ("--segments 4", "--segments 3"),
         overlooked=lambda row, low, high, table: min(low, high) < table["out"]["qmin"],
         plain="sin --in u4:0.82413:2 --out s5:2^-2:-12 --form biased --method minimax --segments 4 --slope-bits 3 "
               "--symmetry fold --shift one --zero free"),
    Kind("tables of tied segments", "tanh --in s6:2^-3 --out s8:2^-7 --segments 4 --continuous 1",
         ("--segments 4", "--segments 3"), plain="tanh --in s6:2^-3 --out s8:2^-7 --segments 4"),
]


def pwlc(*words):
    return subprocess.run([PWLC, *words], capture_output=True, text=True, check=False)


def fit(flags):
    done = pwlc("fit", *flags.split(), "-o", "fitted.json")
    assert done.returncode == 0, done.stderr
    with open("fitted.json") as file:
        return json.load(file)


def certified(table, rows):
    """The table of these segments, with the figures that are measured."""
    names = [name for name in table["segments"][0] if name != "unfused"]
    bare = {name: part for name, part in table.items() if name not in ("hash", "certificate")}
    with open("bare.json", "w") as file:
        json.dump({**bare, "segments": [dict(zip(names, row)) for row in rows]}, file)
    done = pwlc("certify", "bare.json", "-o", "certified.json")
    assert done.returncode == 0, done.stderr
    with open("certified.json") as file:
        return json.load(file)


def claim(table, like, bound=None):
    """The table with the spec of another one, and its claim: to be the best, or a lower bound."""
    certificate = {**table["certificate"], "objective": like["certificate"]["objective"], "optimal": bound is None}
    if certificate["objective"] != "segments":
        certificate["lower_bound_lsb"] = error(table, like) if bound is None else bound
    certificate.pop("second_objective", None)
    return signed({**table, "spec": like["spec"], "method": like["method"], "certificate": certificate})


def digits(bound):
    """A bound as certificates have it."""
    return float(f"{bound:.6g}")


def error(table, like):
    """What the objective makes little, of a table."""
    name = {"max": "max_err_lsb", "rms": "rms_err_lsb"}.get(like["certificate"]["objective"])
    return table["certificate"][name] if name else len(table["segments"])


def has_overlooked(kind, table):
    """Whether a table has what had been overlooked."""
    rows, zero, found = table["segments"], table["in"]["zero_point"], not kind.overlooked
    for row, after in zip(rows, rows[1:] + [None]):
        ends = row["start"], (after["start"] if after else table["in"]["qmax"] + 1) - 1
        c = row["bias"] if "bias" in row else 0
        low, high = (shr(row["q_b"] * (q - zero) + c, row["n_BX_total"], table["rounding"]) + row.get("term_c", 0)
                     for q in ends)
        found = found or kind.overlooked(row, low, high, table)
    return found


def prove(table):
    """What `pwlc prove` says, and the proof or None."""
    with open("table.json", "w") as file:
        json.dump(table, file)
    done = pwlc("prove", "table.json")
    return done, json.loads(done.stdout) if done.returncode == 0 else None


def check(proof):
    """The exit statuses of both checkers, and their words."""
    with open("forged.proof", "w") as file:
        json.dump(proof, file)
    done = [subprocess.run([*program, "forged.proof"], capture_output=True, text=True, check=False)
            for program in ([sys.executable, PYTHON], [NATIVE])]
    return [one.returncode for one in done], [one.stdout + one.stderr for one in done]


def forgeries(proof, false):
    """What might be said for a false table, in place of a true proof's own claim."""
    yield {**proof, "table": false}
    forged = copy.deepcopy({**proof, "table": false})
    stated, certificate = forged["impossible"], false["certificate"]
    stated["segments"] = max(stated["segments"], len(false["segments"]) - (certificate["objective"] == "segments"))
    if "error" in stated and certificate["objective"] == "max":
        stated["error"] = f"{certificate['max_err_lsb'] * (1 - 1e-9):.10f}"
    if "squares" in stated:
        codes, before = false["in"]["qmax"] - false["in"]["qmin"] + 1, stated["squares"]
        stated["squares"] = int(certificate["rms_err_lsb"]**2 * codes * 2**stated["unit"])
        scaled = copy.deepcopy(forged)
        for chain, row in ((chain, row) for chain in scaled["chains"] for row in chain["least"]):
            row[:] = [-(-value * stated["squares"] // before) for value in row]
        yield scaled
        for chain, row in ((chain, row) for chain in forged["chains"] for row in chain["least"]):
            row[-1] = stated["squares"]
    for chain in forged["chains"]:
        if "groups" in chain and "equal" not in chain:
            chain["groups"] += [copy.deepcopy(chain["groups"][-1])] * (stated["segments"] - len(chain["groups"]))
    yield forged


def problems_of(kind):
    better = fit(kind.flags)
    worse = certified(better, kind.rows) if kind.rows else fit(kind.flags.replace(*kind.worse))
    false = claim(worse, better)
    least = error(better, better)
    if error(worse, better) <= least * 1.0001:
        yield f"{error(worse, better)} is no more than {least}"
    if not has_overlooked(kind, better):
        yield "the better table has not what had been overlooked"

    # No proof of the false claim, or of a bound above the better table's error.
    claims = [false]
    if better["certificate"]["objective"] != "segments":
        claims.append(claim(worse, better, digits((error(worse, better) + least) / 2)))
    for each in claims:
        done, proof = prove(each)
        if kind.has_proof and (done.returncode != 3 or " is not so: " not in done.stderr):
            yield f"prove: {done.returncode} {done.stderr}"
        if not kind.has_proof and (not proof or "impossible" in proof or " no proof yet" not in done.stderr):
            yield f"prove: {done.returncode} {done.stderr}"
        statuses, words = check({"pwl_proof": 1, "table": each})
        if statuses != [0, 0] or any("; not proven: " not in text for text in words):
            yield f"figures alone: {statuses} {words}"

    # Nor one made of a true claim of the same or of the better table.
    true = [fit(kind.plain)] if not kind.has_proof else [better] if better["certificate"]["optimal"] else []
    if kind.has_proof and better["certificate"]["objective"] != "segments":
        true.append(claim(worse, better, digits(least * (1 - 1e-5))))
    made = 0
    for table in true:
        done, proof = prove(table)
        if not proof or "impossible" not in proof or check(proof)[0] != [0, 0]:
            yield f"the true claim has no proof: {done.stderr} {proof and check(proof)}"
            continue
        for forged in forgeries(proof, false):
            made += 1
            statuses, words = check(forged)
            if statuses != [1, 1]:
                yield f"forged: {statuses} {words}"
    if not made:
        yield "no proof was forged"


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for number, kind in enumerate(KINDS, 1):
            problems = list(problems_of(kind))
            failed += bool(problems)
            print(f"{'not ok' if problems else 'ok'} {number} - {kind.name}", flush=True)
            for problem in problems:
                print("#", problem[:600].replace("\n", " "))
    print(f"1..{len(KINDS)}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
