#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The examples with real networks: tables keep their answers. Needs magika, scikit-learn, onnx and onnxruntime; other
machines have other files and another rounding of floats, so that figures are bounds.

usage: test_models.py PWLC
"""
import contextlib
import io
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


@test("a GRU learns the digits, and answers by integers as it does in float")
def _():
    rows = rows_of(gru_digits.main)
    exact = share(rows[0][2])
    assert exact > 0.95 and len(rows) == 1 + len(gru_digits.GATES), rows
    for name, _, right, same in rows[1:]:
        assert share(right) > exact - 0.02 and share(same) > 0.98, f"{name}: {right}, {same}"
    return f"float {exact:.2%}, {', '.join(row[2] for row in rows[1:])}"


@test("a network that tells the types of files: 16 bits lose less than 8, and tables little beyond the quantisers")
def _():
    onnx_magika.FILES = 120
    rows = rows_of(onnx_magika.main, [])
    assert len(rows) == len(onnx_magika.WAYS), rows
    eight, sixteen = ([row for row in rows if row[0].startswith(bits)] for bits in ("8 bits", "16 bits"))
    for name, _, got, alone in rows:
        assert share(got) > share(alone) - 0.05, f"{name}: {got}, and {alone} with quantisers alone"
    assert min(share(row[2]) for row in sixteen) > 0.97 and min(share(row[2]) for row in eight) > 0.85, rows
    return ", ".join(f"{row[0]} {row[2]}" for row in rows)


end()
