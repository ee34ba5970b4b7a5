#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Softmax over tiles and weighted sums of the runtime against rows_by_page.py, bit for bit: a C program for each operator
runs what is drawn here. TAP. usage: test_tiles_reference.py PWLC SOURCE"""
import glob
import json
import pathlib
import subprocess
import sys

import numpy as np

import rows_by_page
from reference_cases import LONG, TYPES, pwlc, run_cases

ROOT = pathlib.Path(sys.argv[2]).resolve()
CASES = [("softmax", "s8:0.0472", "u8:2^-8", ""), ("softmax", "u16:0.0003:7", "s16:2^-15", ""),
         ("softmax", "s16:0.0011", "u8:2^-8", "--fraction 17"), ("logsoftmax", "u8:0.05", "s16:2^-11:32767", "")]
TILES, PLACES, CHANNELS = 6, 40, 5
ROWS = 60 if LONG else 16

PROGRAM = r"""
#include <stdio.h>
#include "operator.h"
#include <pwl/rows.h>
enum { TILES = %(tiles)d, PLACES = %(places)d, CHANNELS = %(channels)d, ROWS = %(rows)d };
static %(x)s x[ROWS][TILES][PLACES];
static %(y)s y[ROWS][TILES][PLACES];
static %(v)s v[TILES * PLACES][CHANNELS + 2];
static uint8_t mask[ROWS][TILES][PLACES];
static int32_t o[ROWS][CHANNELS];
int main(void)
{
    FILE *const in = fopen("in", "rb"), *const out = fopen("out", "wb");
    const pwl_row_values values = {v, %(v_type)s, %(zero)d, CHANNELS, CHANNELS + 2};
    const pwl_rows rows = {x, 0, ROWS, TILES * PLACES, mask[0][0], TILES * PLACES, 0, 0};
    uint32_t rescalings[ROWS];
    if (fread(x, sizeof x, 1, in) + fread(mask, sizeof mask, 1, in) + fread(v, sizeof v, 1, in) != 3 ||
        pwl_softmax_check(&of) != PWL_OK || pwl_row_values_check(&values) != PWL_OK)
        return 1;
    for (int r = 0; r < ROWS; r++) {
        pwl_softmax_tiles row = {0, 0, 0};
        for (int t = 0; t < TILES; t++)
            pwl_softmax_tiles_add(&of, &row, x[r][t], mask[r][t], PLACES);
        for (int t = 0; t < TILES; t++)
            pwl_softmax_tiles_write(&of, &row, x[r][t], y[r][t], mask[r][t], PLACES);
        rescalings[r] = row.rescalings;
    }
    pwl_softmax_weigh(&of, &rows, &values, o[0]);
    fwrite(y, sizeof y, 1, out);
    fwrite(o, sizeof o, 1, out);
    fwrite(rescalings, sizeof rescalings, 1, out);
    return fclose(out) != 0;
}
"""


def compile_program(case, v_type, zero):
    c_types = {name: f"{'u' if name[0] == 'u' else ''}int{name[1:]}_t" for name in TYPES}
    x, y = (text.split(":")[0] for text in case[1:3])
    pathlib.Path("program.c").write_text(PROGRAM % {
        "tiles": TILES, "places": PLACES, "channels": CHANNELS, "rows": ROWS, "x": c_types[x], "y": c_types[y],
        "v": c_types[v_type], "v_type": f"PWL_{v_type.upper()}", "zero": zero})
    subprocess.run(["cc", "-std=c11", "-O1", f"-I{ROOT}/runtime/include", "-I.", "program.c", *glob.glob("*.o"), "-o", "program"],
                   check=True)


def draw(rng, op, v_type):
    """Rows that rise from tile to tile, or do not; masks of some of them."""
    low, top = op["in"]["qmin"], op["in"]["qmax"] - op["in"]["qmin"]
    x = rng.integers(0, top + 1, (ROWS, TILES, PLACES)) >> rng.integers(0, 6, (ROWS, 1, 1))
    rises = np.arange(TILES)[:, None] * top // TILES
    x = np.where(rng.integers(0, 2, (ROWS, 1, 1)), np.minimum(x // TILES + rises, top), np.where(x > 0, x, top)) + low
    mask = rng.integers(0, 4, (ROWS, TILES, PLACES)) * (rng.integers(0, 5, (ROWS, TILES, 1)) > 0)
    mask[0], mask[1] = 0, 1
    limits = np.iinfo(TYPES[v_type])
    return x, mask, rng.integers(limits.min, limits.max + 1, (TILES * PLACES, CHANNELS + 2))


def check(case, rng):
    v_type, zero = list(TYPES.items())[CASES.index(case)][0], (-5, 200, 0, 33000)[CASES.index(case)]
    pwlc("fit", case[0], "--in", case[1], "--out", case[2], "--rows", str(TILES * PLACES), *case[3].split(), "-o", "op.json")
    pwlc("emit", "op.json", "--name", "of", "-o", "operator.h")
    op = json.loads(pathlib.Path("op.json").read_text())
    compile_program(case, v_type, zero)
    x, mask, v = draw(rng, op, v_type)
    y_type = TYPES[case[2].split(":")[0]]
    pathlib.Path("in").write_bytes(x.astype(TYPES[case[1].split(":")[0]]).tobytes() + mask.astype(np.uint8).tobytes() +
                                   v.astype(TYPES[v_type]).tobytes())
    subprocess.run(["./program"], check=True)
    data = pathlib.Path("out").read_bytes()
    y_bytes, o_bytes = x.size * np.dtype(y_type).itemsize, 4 * ROWS * CHANNELS
    y = np.frombuffer(data[:y_bytes], y_type).reshape(x.shape)
    o = np.frombuffer(data[y_bytes:][:o_bytes], np.int32).reshape(ROWS, CHANNELS)
    rescalings = np.frombuffer(data[y_bytes + o_bytes:], np.uint32)
    mine, seen = rows_by_page.load(op), set()
    for r in range(ROWS):
        tiles, taken = x[r].tolist(), (mask[r] != 0).tolist()
        want, count = mine.tiles(tiles, taken)
        assert count == rescalings[r] and (y[r] == want).all(), f"row {r}, rescaled {count} and {rescalings[r]} times"
        means = mine.weigh(sum(tiles, []), sum(taken, []), v[:, :CHANNELS].tolist(), zero, 8 * np.dtype(TYPES[v_type]).itemsize)
        assert (o[r] == means).all(), f"row {r}: weighted sums {o[r]}, must be {means}"
        seen.add(count)
    assert 0 in seen and max(seen) >= TILES - 2, seen


def compile_runtime():
    sources = glob.glob(f"{ROOT}/runtime/*.c") + glob.glob(f"{ROOT}/runtime/rows/*.c")
    subprocess.run(["cc", "-std=c11", "-O1", f"-I{ROOT}/runtime/include", "-c", *sources], check=True)


run_cases(CASES, check, compile_runtime)
