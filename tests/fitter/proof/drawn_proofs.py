# SPDX-License-Identifier: GPL-3.0-or-later
"""Proofs of drawn tables, as pwlc writes them, for tests that hold what they state against a search of everything."""
import json
import pathlib
import subprocess
import tempfile


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
