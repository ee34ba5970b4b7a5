# SPDX-License-Identifier: GPL-3.0-or-later
"""Proofs of drawn tables, as pwlc writes them, for tests that hold what they state against a search of everything; and what
every such search takes of docs/proofs.md and docs/meaning.md."""
import json
import pathlib
import subprocess
import tempfile


def shr(p, n, rounding):
    if n <= 0:
        return p << -n
    half = 1 << n - 1
    addend = {"floor": 0, "half_up": half, "half_away": half - (p < 0),
              "half_even": half - 1 + (p >> n & 1)}[rounding]
    return p + addend >> n


def slopes_of(rules, n):
    """All q_b that rules allow with a shift."""
    multiple = rules["shift_multiple"]
    for q_b in range(rules["slopes"][0], rules["slopes"][1] + 1):
        stored = q_b << (max(multiple, -(-n // multiple) * multiple) - n) if multiple else 0
        limit = 1 << rules["stored_bits"] - 1 if multiple else 1
        terms = bin(q_b ^ 3 * q_b).count("1") if q_b >= 0 else bin(-q_b ^ -3 * q_b).count("1")
        if -limit <= stored < limit and (rules["slope_terms"] == 0 or terms <= rules["slope_terms"]):
            yield q_b


def held(pwlc, flags_of_each, check, kind_of):
    """Checks each proof that claims that no table is better: check() returns how much it states, or what does not hold, a
    text. Returns the numbers of proofs and of statements, what does not hold, and the kinds that were met."""
    proofs, statements, problems, kinds = 0, 0, [], set()
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(pathlib.Path(folder) / name) for name in ("table.json", "table.proof")]
        for flags in flags_of_each:
            done = subprocess.run([pwlc, "fit", *flags, "-o", paths[0], "--proof", paths[1]], capture_output=True, text=True)
            proof = json.load(open(paths[1])) if done.returncode == 0 else {}
            if "no proof" in done.stderr or "is not so" in done.stderr:
                problems.append(f"{' '.join(flags)}: {done.stderr.strip()}")
            if "impossible" not in proof:
                continue
            stated = check(proof)
            if isinstance(stated, str):
                problems.append(f"{' '.join(flags)}: {stated}")
                continue
            proofs, statements = proofs + 1, statements + stated
            kinds.add(kind_of(proof["table"]))
    for problem in problems[:20]:
        print("#", problem)
    return proofs, statements, problems, kinds
