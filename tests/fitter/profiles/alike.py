#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every function by every profile that holds it: what is emitted, imported and emitted again is the same file. TAP.

    alike.py PWLC       few functions where a fit takes long; all of them with PWL_TEST_LONG=1

Tables that a layout cannot hold, as those of falling functions, are refused with exit code 3; most must not be.
"""
import concurrent.futures
import json
import os
import sys
import tempfile

from command import Pwlc
from harness import end, tap

# What is made anew in the quick test of profiles whose fits take long.
FEW = ("sigmoid", "exp", "erf")
QUICK = {"tosa16": FEW, "ethosu16": FEW, "tflm16": FEW, "quant-gru": FEW, "aimet-pe": FEW, "mli": FEW,
         "espdl16": FEW, "espdl16-p4": FEW, "espdl16-linear": FEW, "aie": FEW, "aie-v2": FEW, "nvdla": FEW,
         "gna": FEW, "k210": FEW}
# What hls4ml has tables of; tanh ends at 4, below its codes.
LOOKED_UP = ("sigmoid", "softsign", "softplus", "elu", "exp", "reciprocal")
OF_SOFTMAX = ("exp", "reciprocal")
ONLY = {"hls4ml": LOOKED_UP, "hls4ml-oneapi": LOOKED_UP, "hls4ml-oneapi-stable": OF_SOFTMAX, "hls4ml-legacy": OF_SOFTMAX,
        "hls4ml-oneapi-legacy": OF_SOFTMAX, "tosa-softmax8": ("exp",)}
NOTATIONS = {"finn": "json", "aimet-pe": "json", "hls4ml": "tb", "hls4ml-oneapi": "tb", "hls4ml-oneapi-stable": "tb",
             "hls4ml-legacy": "tb", "hls4ml-oneapi-legacy": "tb", "mli": "c"}
MOST_REFUSED = 0.15


class Maker:
    """Tables, each made once for all the profiles that ask for the same."""

    def __init__(self, pwlc):
        self.pwlc = pwlc
        self.whole = os.environ.get("PWL_TEST_LONG") == "1"
        listed = {kind: json.loads(pwlc.must("list", kind, "--format", "json"))[kind] for kind in ("profiles", "functions")}
        self.flags = {profile["name"]: profile["flags"] for profile in listed["profiles"]}
        functions = [function["name"] for function in listed["functions"]]
        self.cases = []
        for profile in self.flags:
            self.cases += [(profile, function) for function in functions
                           if function in ONLY.get(profile, functions)
                           and (self.whole or function in QUICK.get(profile, functions))]
        self.tables = {}

    def search(self, case):
        profile, function = case
        return function, self.flags[profile]

    def fit(self):
        first = {}
        for case in self.cases:
            first.setdefault(self.search(case), case)

        def one(name):
            profile, function = first[name]
            table = f"{profile}-{function}.json"
            done = self.pwlc.run("fit", function, "--profile", profile, "--outside", "clamp", "-o", table)
            return name, table if done.returncode == 0 else done.stderr
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            self.tables.update(pool.map(one, first))

    def check(self, case):
        """None, whether the layout cannot hold it, or what is wrong."""
        profile, function = case
        table = self.tables[self.search(case)]
        if not table.endswith(".json"):
            return table
        notation = NOTATIONS.get(profile, "bytes")
        emitted = self.pwlc.run("emit", table, "--profile", f"{profile}:{notation}", "-o", "first")
        if emitted.returncode:
            return None if emitted.returncode == 3 and " holds " in emitted.stderr else emitted.stderr
        fields = json.loads((self.pwlc.folder / table).read_text())
        types = [] if profile == "aimet-pe" else self.pwlc.types(table).flags
        given = [part for name, value in fields["parameters"].items() for part in ("--param", f"{name}={value}")]
        shift = next((row["n_BX_total"] for row in fields["segments"] if row["q_b"]), 0)
        given += ["--shift", shift] if profile.startswith("aie") else []
        for step in (("import", "first", "--profile", f"{profile}:{notation}", *types, *given, "--outside", "clamp", "-o",
                      "again.json"), ("emit", "again.json", "--profile", f"{profile}:{notation}", "-o", "second")):
            done = self.pwlc.run(*step)
            if done.returncode:
                return done.stderr
        first, second = (b"\n".join(line for line in self.pwlc.read(name).splitlines()
                                     if notation not in ("tb", "c") or line[:2] not in (b"//", b"/*"))
                         for name in ("first", "second"))  # without the spec, which an imported table has not
        return "" if first == second else "the files differ"


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        maker = Maker(Pwlc(program, folder))
        maker.fit()
        held = 0
        for case in maker.cases:
            wrong = maker.check(case)
            held += wrong is not None
            if wrong is not None:
                tap(not wrong, " ".join(case), wrong)
        tap(held >= (1 - MOST_REFUSED) * len(maker.cases), f"{held} of {len(maker.cases)} tables are held")
    return end()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
