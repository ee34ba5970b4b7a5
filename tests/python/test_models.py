#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The examples with real networks: tables keep their answers. Needs magika, scikit-learn, onnx and onnxruntime.

Other machines have other files and another rounding of floats. Bounds are as many other answers as one time in 10,000
at most would come of the rates that docs/python.md shows, which stand here.

usage: test_models.py PWLC
"""
import contextlib
import io
import math
import os
import pathlib
import sys

from harness import end, test

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "examples"))
try:
    import gru_digits
    import onnx_magika
except ImportError as missing:
    print(f"1..0 # SKIP {missing.name} is missing: ./dev test python has it")
    sys.exit(0)

os.environ["PWLC"] = os.path.abspath(sys.argv[1])


def rows_of(main, *arguments):
    """Cells of the first table that an example prints, without its head."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        main(*arguments)
    table = printed.getvalue().partition("\n|")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()[2:]]


def share(cell):
    return float(cell.rstrip("%")) / 100


def most(count, rate):
    """Of so many draws of this rate the number that more than one time in 10,000 is exceeded, as a share."""
    left, hits = 1.0, 0
    while True:
        left -= math.comb(count, hits) * rate ** hits * (1 - rate) ** (count - hits)
        if left < 1e-4:
            return hits / count
        hits += 1


@test("a GRU learns the digits, and answers by integers as it does in float")
def _():
    rows = rows_of(gru_digits.main)
    exact, images = share(rows[0][2]), 599
    assert exact >= 1 - most(images, 15 / images) and len(rows) == 1 + len(gru_digits.GATES), rows
    for name, _, right, same in rows[1:]:
        assert share(same) >= 1 - most(images, 4 / images), f"{name}: {same}"
        assert share(right) >= exact - most(images, 4 / images), f"{name}: {right}"  # what changes may all be wrong then
    return f"float {exact:.2%}, {', '.join(row[2] for row in rows[1:])}"


@test("a network that tells the types of files: 16 bits lose less than 8, and tables little beyond the quantisers")
def _():
    onnx_magika.FILES = FILES = 120
    files = FILES - FILES // 3 - 5  # that are asked: a few are too short
    onnx_magika.WAYS = [way for way in onnx_magika.WAYS if ", 6 segments" not in way[0]]
    rows = rows_of(onnx_magika.main, [])
    assert len(rows) == len(onnx_magika.WAYS), rows
    off = {}
    for name, _, got, alone, rms in rows:
        rate, beyond = (1 / 397, 1 / 397) if name.startswith("16 bits") else (12 / 397, 5 / 397)
        assert share(got) >= 1 - most(files, rate), f"{name}: {got}"
        assert share(got) >= share(alone) - most(files, beyond), f"{name}: {got}, and {alone} with quantisers alone"
        off[name] = float(rms)
    assert off["16 bits, 64 segments, as the data weigh them"] < min(rms for name, rms in off.items() if name[0] == "8") / 2
    return ", ".join(f"{row[0]} {row[2]}" for row in rows)


end()
