#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where functions bend, as docs/proofs.md says: every function has a row, and on each region second differences have the
sign of its curvature, up to 10^-37 beside the places where it changes. TAP.

    test_regions.py SOURCE
"""
import importlib.util
import pathlib
import re
import sys

from mpmath import mp, mpf, pi, sqrt

SOURCE = pathlib.Path(sys.argv[1])
mp.prec = 700
STEP, BESIDE, NOISE = mpf(10) ** -45, mpf(10) ** -37, mpf(10) ** -60
SIGN = {"convex": (1,), "concave": (-1,), "straight": (0,)}

spec = importlib.util.spec_from_file_location("check_proof", SOURCE / "fitter/proof/check_proof.py")
checker = importlib.util.module_from_spec(spec)
spec.loader.exec_module(checker)
mp.prec = 700
page = (SOURCE / "docs/proofs.md").read_text()
table = page[page.index("### Where f bends"):page.index("### Pieces")]
problems, seen = [], set()


def places_of(name, text):
    """The places between regions, ascending."""
    r = re.search(r"r = ([0-9.]+)", text)
    root = mpf(r[1]) if r else sqrt(mpf(2))
    if name == "quick_gelu":
        root = mpf(re.search(r"`silu` .*?r = ([0-9.]+)", table)[1]) / mpf("1.702")
    if name in ("sin", "cos"):
        return [(k + (name == "cos") / mpf(2)) * pi for k in range(-3, 4)]
    if text.startswith("-r"):
        return [-root, root]
    return [mpf(number) for number in re.findall(r"-?[0-9]+(?:\.[0-9]+)?", text.split("in no")[0])]


for row in re.findall(r"^\| (`.*) \|$", table, re.M):
    names, meet, kinds, _ = [cell.strip() for cell in row.split(" | ")][:4] if row.count(" | ") >= 3 else \
        [cell.strip() for cell in (row + " | ").replace("| |", "|  |").split("|")][:4]
    for name in re.findall(r"`(\w+)`", names):
        seen.add(name)
        places = places_of(name, meet)
        signs = [SIGN[kind] for kind in re.findall("convex|concave|straight", kinds)]
        if "each" in kinds:
            signs = [(0,)] * (len(places) + 1)
        if name in ("sin", "cos"):  # k = -3 to 3; from an even k on sin is concave, and cos convex
            signs = [(1 if (k % 2 == 0) == (name == "cos") else -1,) for k in range(-4, 4)]
        if len(signs) != len(places) + 1:
            problems.append(f"{name}: {len(signs)} regions, {len(places)} places")
            continue
        reach = 3 if name in ("sin", "cos") else 8  # beyond the outer places
        for low, high, sign in zip([None, *places], [*places, None], signs):
            low, high = low if low is not None else (high or 0) - reach, high if high is not None else (low or 0) + reach
            for x in [low + BESIDE, high - BESIDE] + [low + (high - low) * mpf(k) / 40 for k in range(1, 40)]:
                alpha = [mpf("1.3")] * (name in ("elu", "leaky_relu"))
                f = [checker.FUNCTIONS[name](x + k * STEP, *alpha) for k in (-1, 0, 1)]
                if None in f:
                    continue
                bend = (f[0] - 2 * f[1] + f[2]) / STEP ** 2
                if (bend > NOISE) - (bend < -NOISE) != sign[0]:
                    problems.append(f"{name}: not {kinds} at {mp.nstr(x, 12)}")

for problem in problems[:20]:
    print("#", problem)
print("not " * bool(problems) + f"ok 1 - {len(seen)} functions bend as the page says")
lacking = set(checker.FUNCTIONS) - seen
print("not " * bool(lacking) + f"ok 2 - every function has its row {sorted(lacking)}")
print("1..2")
