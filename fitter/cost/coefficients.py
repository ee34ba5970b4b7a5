#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fits the model of model.c to what yosys and nextpnr say, and writes coefficients.h.

Each table of SPECS becomes a module of --rtl-style tree --stages 4, which `pwlc cost` measures for every target of
hardware; `pwlc cost --estimate` says what the model sums up. Coefficients are those of least squares of relative errors
that are not negative. Measurements are kept by pwlc, so that a second run takes seconds; the first takes a quarter of an hour.

usage: coefficients.py PWLC [-o coefficients.h]     (python3 with numpy)
"""
import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy

TERMS = ("one", "words", "compared", "looked_up", "added", "folded", "multiplied", "saturated")
# name: bits of a DSP's factors, one more than it has where yosys adds that in LUTs; of a RAM and of its widest words
TARGETS = {"ice40-dsp": (17, 17, 4096, 16), "xc7": (25, 18, 18432, 36), "generic": (0, 0, 0, 0),
           "ecp5": (19, 19, 18432, 36), "xc7-nodsp": (0, 0, 18432, 36), "ecp5-nodsp": (0, 0, 18432, 36),
           "ice40": (0, 0, 4096, 16)}
# Bits of each RAM from which on yosys 0.23 takes one for words.
LEAST_BITS = {"ice40": 1024, "xc7": 8192, "ecp5": 2048}
MODULE = ["--rtl-style", "tree", "--stages", "4"]
SIGMOID16 = "sigmoid --in s16:2^-12 --out s16:2^-15 --method minimax"
SIGMOID12 = "sigmoid --in s12:2^-8 --out s12:2^-11 --method minimax"
ANCHORED = "--form anchored --rounding half_up --shift one"
SPECS = [
    f"{SIGMOID16} --segments 512 --knots uniform {ANCHORED}",
    f"{SIGMOID16} --segments 256 --knots uniform --form biased",
    f"{SIGMOID16} --segments 64 --knots uniform --form absolute",
    f"{SIGMOID16} --segments 256 --knots uniform --symmetry fold {ANCHORED}",
    f"{SIGMOID16} --segments 256 --knots uniform --symmetry fold --form biased",
    f"{SIGMOID16} --segments 32 --knots uniform --symmetry fold --form biased",
    f"{SIGMOID16} --segments 8 --form absolute",
    f"{SIGMOID16} --segments 32 --form biased --rounding half_up",
    f"{SIGMOID16} --segments 144 --form absolute",
    f"{SIGMOID12} --segments 8 --form absolute",
    f"{SIGMOID12} --segments 32 --form biased --symmetry fold",
    f"{SIGMOID12} --segments 32 --knots uniform {ANCHORED}",
    "gelu --in s16:2^-12 --out s16:2^-12 --method minimax --segments 16 --form absolute",
    "gelu --in s16:2^-12 --out s16:2^-12 --method minimax --segments 64 --knots uniform --form biased",
    "tanh --in s16:2^-12 --out s16:2^-15 --method minimax --segments 100 --symmetry fold --form absolute",
    "exp --in u12:2^-9:4095 --out u16:2^-16:0 --method minimax --segments 64 --knots uniform --form anchored",
]


def call(pwlc, *arguments):
    return subprocess.run([pwlc, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout


def measure(pwlc, spec, path, target):
    """What was measured, and what the model sums up, of one table."""
    if not path.exists():
        call(pwlc, "fit", *spec.split(), "-o", str(path))
    rows = [json.loads(call(pwlc, "cost", str(path), "--target", target, *MODULE, "--format", "jsonl",
                            *more).splitlines()[0]) for more in ([], ["--estimate"])]
    return spec, rows[0], rows[1]


def least_squares(terms, figures):
    """Coefficients that are not negative: those of the most negative ones are left out until there is none."""
    used = [k for k in range(terms.shape[1]) if terms[:, k].any()]
    while True:
        scaled = terms[:, used] / figures[:, None]
        found = numpy.linalg.lstsq(scaled, numpy.ones(len(figures)), rcond=None)[0]
        if (found >= 0).all():
            break
        del used[int(found.argmin())]
    result = numpy.zeros(terms.shape[1])
    result[used] = found
    return result


def fit_target(target, rows):
    figure = "cells" if target == "generic" else "lut"
    figures = numpy.array([max(row[figure], 1) for _, row, _ in rows], float)
    terms = numpy.array([[estimate[name] for name in TERMS] for _, _, estimate in rows], float)
    lut = least_squares(terms, figures)
    clock = numpy.zeros(2)
    if all(row["fmax_mhz"] for _, row, _ in rows):
        periods = numpy.array([1000 / row["fmax_mhz"] for _, row, _ in rows])
        clock = least_squares(numpy.array([[1, estimate["longest"]] for _, _, estimate in rows]), periods)
    off = terms @ lut / figures
    worst = max(zip(abs(numpy.log(numpy.maximum(off, 1e-3))), (spec for spec, _, _ in rows)))
    print(f"{target}: median error {numpy.median(abs(off - 1)):.0%}, worst {worst[0]:.2f} in log of {worst[1]}",
          file=sys.stderr)
    for spec, row, estimate in rows:
        if target != "generic" and (row["dsp"], row["ram"]) != (estimate["dsp"], estimate["ram"]):
            print(f"  {spec}: DSP {row['dsp']} {estimate['dsp']}, RAM {row['ram']} {estimate['ram']}", file=sys.stderr)
    return lut, clock


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pwlc")
    parser.add_argument("-o", default="-")
    options = parser.parse_args()
    text = ["/* SPDX-License-Identifier: GPL-3.0-or-later */",
            "/* DO NOT EDIT: written by coefficients.py, from modules of --rtl-style tree --stages 4. */",
            "static const struct fabric fabrics[] = {"]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        paths = [pathlib.Path(folder, f"{k}.json") for k in range(len(SPECS))]
        for target, bits in TARGETS.items():
            rows = list(pool.map(lambda k: measure(options.pwlc, SPECS[k], paths[k], target), range(len(SPECS))))
            lut, clock = fit_target(target, rows)
            sums = ", ".join(f"{value:.4g}" for value in lut)
            least = LEAST_BITS.get(target.split("-")[0], 0)
            text.append(f'    {{"{target}", {{{sums}}}, {", ".join(map(str, bits))}, {least}, '
                        f'{{{clock[0]:.4g}, {clock[1]:.4g}}}}},')
    text.append("};\n")
    if options.o == "-":
        print("\n".join(text), end="")
    else:
        pathlib.Path(options.o).write_text("\n".join(text))


if __name__ == "__main__":
    main()
