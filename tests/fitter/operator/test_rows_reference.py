#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""pwlc eval of row operators against rows_by_page.py, bit for bit, and the real functions in longdouble against the
proven bound: TAP. usage: test_rows_reference.py PWLC"""
import itertools
import json
import pathlib

import numpy as np

import rows_by_page
import rows_drawn
from reference_cases import LONG, TYPES, pwlc, run_cases

# Operator, input, output, rows, further flags.
CASES = [
    ("softmax", "s8:0.0472", "u8:2^-8", [1, 2, 63, 256, 257, 4096, 65536], ""),
    ("softmax", "u8:0.3:7", "s8:2^-8:-128", [16, 1000], ""),
    ("softmax", "s8:0.1", "u16:2^-16", [128, 4096], ""),
    ("softmax", "s8:0.1", "s16:2^-15", [300], "--fraction 20"),
    ("softmax", "s16:0.0003", "u8:2^-8", [1, 257, 4096], ""),
    ("softmax", "u16:2^-11:3", "u16:2^-16", [64, 1024], ""),
    ("softmax", "s16:0.00001", "s16:2^-15", [65536], ""),
    ("softmax", "s16:1.5", "s8:2^-7", [100], "--fraction 9"),
    ("logsoftmax", "s8:0.0472", "s8:0.0625:127", [1, 128, 4096], ""),
    ("logsoftmax", "u16:0.0004", "s16:2^-11:32767", [1000, 65536], ""),
    ("layernorm", "s8:0.05", "s8:0.03:-4", [1, 2, 64, 384, 4096], ""),
    ("layernorm", "u16:2^-11:1000", "s16:2^-12", [3, 384, 65536], ""),
    ("layernorm", "s16:2^-9", "u8:0.03:128", [768], "--eps 0"),
    ("rmsnorm", "s16:2^-11:5", "s16:2^-12", [64, 4096], "--eps 1e-6"),
    ("rmsnorm", "u8:0.02:100", "s8:0.04", [384], "--eps 0.01"),
    ("rmsnorm", "u16:2^-11:32768", "u16:2^-12:30000", [65536], ""),
    ("l2norm", "s8:0.05", "s8:2^-7", [384], ""),
    ("l2norm", "s16:2^-10", "s16:2^-15", [1, 1024], "--eps 1e-9"),
]
# Every type of input with every type of output.
INPUTS = ["s8:0.0472:3", "u8:2^-4:128", "s16:2^-10:-5", "u16:0.00031:32768"]
SHARES = ["s8:2^-8:-128", "u8:2^-8", "s16:2^-16:-32768", "u16:2^-16:1"]
LOGARITHMS = ["s8:2^-3:127", "u8:2^-4:255", "s16:0.0007:32767", "u16:2^-12:65535"]
NORMALS = ["s8:2^-4:11", "u8:2^-5:128", "s16:2^-12", "u16:2^-12:32768"]
for k, (x, output) in enumerate(itertools.product(INPUTS, range(4))):
    CASES += [("softmax", x, SHARES[output], [64], f"--fraction {8 + k}"),
              ("logsoftmax", x, LOGARITHMS[output], [64], f"--fraction {30 - k}"),
              (("layernorm", "rmsnorm", "l2norm")[(k + k // 4) % 3], x, NORMALS[output], [(1, 2, 3, 7, 64)[k % 5]],
               f"--eps {(0, 1e-12, 1e-5, 2)[k // 4]}")]


def flags_of(name, rows, rng):
    """Files of gamma and beta, for those that have them."""
    if name not in ("layernorm", "rmsnorm"):
        return []
    np.save("gamma.npy", rng.uniform(0.2, 2, rows) * np.where(rng.random(rows) < 0.05, -1, 1))
    np.save("beta.npy", rng.normal(0, 0.5, rows).astype(np.float32))
    return ["--gamma", "gamma.npy"] + (["--beta", "beta.npy"] if name == "layernorm" else [])


def real(op, q):
    """The outputs in LSB, as real numbers."""
    scales = [np.longdouble(2) ** int(t[2:]) if t.startswith("2^") else np.longdouble(t)
              for t in (op["in"]["scale"], op["out"]["scale"])]
    x = q.astype(np.longdouble)
    if op["operator"] in ("softmax", "logsoftmax"):
        x = (x - x.max(-1, keepdims=True)) * scales[0]
        S = np.exp(x).sum(-1, keepdims=True)
        y = np.exp(x) / S if op["operator"] == "softmax" else x - np.log(S)
    else:
        n, eps = op["rows"], np.longdouble(op["eps"])
        x = x - (x.mean(-1, keepdims=True) if op["operator"] == "layernorm" else op["in"]["zero_point"])
        mean = (x * x).sum(-1, keepdims=True) / (1 if op["operator"] == "l2norm" else n)
        root = np.sqrt(mean * scales[0] ** 2 + eps)
        y = np.divide(x * scales[0], root, out=np.zeros_like(x), where=(root > 0) & (x != 0))
        y = y * np.array(op.get("gamma", 1), np.longdouble) + np.array(op.get("beta", 0), np.longdouble)
    return np.clip(y / scales[1] + op["out"]["zero_point"], op["out"]["qmin"], op["out"]["qmax"])


def rows_of(op, length, count):
    low, top = op["in"]["qmin"], op["in"]["qmax"] - op["in"]["qmin"]
    state = [length]
    parts = [0, 1, 2, 3, 10, 100, 255] + ([1000, 10000, 65535] if top > 255 else [])
    k = np.arange(length)
    edges = [k * 0, k * 0 + top, k % 2 * top, np.minimum(k, top), top - np.minimum(k, top), top // 2 + k % 2]
    drawn = [rows_drawn.row(k % rows_drawn.SHAPES, parts[k // rows_drawn.SHAPES % len(parts)], length, low, top, state)
             for k in range(count)]
    return np.array([low + row for row in edges] + drawn)


def check(case, rng):
    name, x, y, lengths, flags = case
    for rows in lengths:
        pwlc("fit", name, "--in", x, "--out", y, "--rows", str(rows), *flags.split(), *flags_of(name, rows, rng), "-o",
             "op.json")
        op = json.loads(pathlib.Path("op.json").read_text())
        mine = rows_by_page.load(op)
        lengths_run = {rows} if name.endswith("norm") else {rows, max(1, rows // 3)}
        for length in lengths_run | ({2, 3, 7} if rows == 64 and not name.endswith("norm") else set()):
            q = rows_of(op, length, (60 if LONG else 24) if length <= 4096 else 6)[::1 if LONG or length <= 4096 else 3]
            np.save("q.npy", q.astype(TYPES[x.split(":")[0]]))
            pwlc("eval", "op.json", "q.npy", "-o", "y.npy")
            got = np.load("y.npy")
            assert got.dtype == TYPES[y.split(":")[0]] and got.shape == q.shape
            want = np.array(mine.run(q))
            assert (got == want).all(), f"rows of {length}: row {np.argwhere(got != want)[0]} differs"
            error = float(np.abs(got.astype(np.longdouble) - real(op, q)).max())
            assert error <= op["certificate"]["bound_lsb"], (error, op["certificate"])


run_cases(CASES, check)
