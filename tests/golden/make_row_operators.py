#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Row operators that every platform runs, and the hashes of what they give. They are kept in rows/, as pwlc once fitted
them: a better fit changes no hash. The headers are what pwlc makes of them; the hashes come from
tests/fitter/operator/rows_by_page.py, which is written from docs/operators.md alone.

    make_row_operators.py PWLC SOURCE            TAP: the headers and the hashes that are checked in are these
    make_row_operators.py PWLC SOURCE --write    writes them
    make_row_operators.py PWLC SOURCE --fit      fits the operators anew, then writes them
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

PWLC, ROOT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
sys.path.insert(0, str(ROOT / "tests/fitter/operator"))
import elements_by_page  # noqa: E402
import rows_by_page  # noqa: E402
import rows_drawn  # noqa: E402

CORES = {"core_reciprocal": "softmax_s8_u8", "core_rsqrt": "layernorm_s16_s16"}  # and whose core that is
OPERATORS = {"softmax_s8_u8": "softmax --in s8:0.0472 --out u8:2^-8 --rows 300",
             "softmax_u16_s16": "softmax --in u16:0.0003 --out s16:2^-15 --rows 300",
             "logsoftmax_s8_s16": "logsoftmax --in s8:0.05 --out s16:2^-11:32767 --rows 300",
             "layernorm_s16_s16": "layernorm --in s16:2^-10 --out s16:2^-11 --rows 96 --gamma gamma.npy --beta beta.npy",
             "rmsnorm_u8_s8": "rmsnorm --in u8:0.02:100 --out s8:0.04:-3 --rows 96"}
ROWS = 48
DRAWN = 500
PARTS = [0, 1, 2, 3, 10, 100, 255, 1000, 10000, 65535]


def pwlc(*arguments):
    return subprocess.run([PWLC, *arguments], check=True, capture_output=True, text=True).stdout


KEPT = ROOT / "tests/golden/rows"


def fit():
    """Keeps what pwlc fits."""
    channels = np.arange(96)
    np.save("gamma.npy", (channels % 7 + 1) / 4 * np.where(channels % 11 == 3, -1, 1))
    np.save("beta.npy", (channels % 5 - 2) / 8)
    KEPT.mkdir(exist_ok=True)
    for name, flags in OPERATORS.items():
        pwlc("fit", *flags.split(), "-o", str(KEPT / f"{name}.json"))


def made():
    """Headers by name, and operators."""
    operators = {name: json.loads((KEPT / f"{name}.json").read_text()) for name in OPERATORS}
    files = {}
    for name, of in CORES.items():
        pathlib.Path("core.json").write_text(json.dumps(operators[of]["core"]))
        files[name + ".h"] = pwlc("emit", "core.json", "--name", name)
    files["row_operators.h"] = "".join(pwlc("emit", str(KEPT / f"{name}.json"), "--name", "golden_" + name)
                                       for name in OPERATORS)
    return files, operators


def line(name, op):
    """As tests/platform/row_equivalence.c prints it: FNV-1a of the codes of all rows, bytes from the lowest on."""
    operator, low, top = rows_by_page.load(op), op["in"]["qmin"], op["in"]["qmax"] - op["in"]["qmin"]
    hashed, state = 0xCBF29CE484222325, [0]
    for k in range(ROWS):
        length = op["rows"] if op["operator"].endswith("norm") else 1 + k * 37 % op["rows"]
        part = min(PARTS[k // rows_drawn.SHAPES % len(PARTS)], top)
        codes = operator.run([rows_drawn.row(k % rows_drawn.SHAPES, part, length, low, top, state)])[0]
        width = op["out"]["bits"] // 8
        for byte in b"".join((code & (1 << 8 * width) - 1).to_bytes(width, "little") for code in codes):
            hashed = (hashed ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return f"few rows {name} {hashed:016x}"


def arithmetic(operators):
    """What a row is made of, over drawn numbers: both cores, a shift, a logarithm, an exponential; 64 bits each."""
    exp, log, norm = (rows_by_page.load(operators[name]) for name in (
        "softmax_u16_s16", "logsoftmax_s8_s16", "layernorm_s16_s16"))
    hashed, state = 0xCBF29CE484222325, [0]
    for _ in range(DRAWN):
        v = rows_drawn.splitmix(state) >> 2
        v = v >> rows_drawn.splitmix(state) % 61 | 1
        p = rows_drawn.splitmix(state)
        p = (p - (1 << 64) if p >> 63 else p) >> 40
        S = (1 << 30) + rows_drawn.splitmix(state) % ((1 << 46) - (1 << 30))
        shifted = rows_by_page.shr(p, 1 + rows_drawn.splitmix(state) % 4)
        e = exp.exp[rows_drawn.splitmix(state) % 65536]
        for value in (*exp.reciprocal(v), *norm.rsqrt(v), shifted, log.logarithm(S), e):
            for byte in (value & (1 << 64) - 1).to_bytes(8, "little"):
                hashed = (hashed ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return f"few rows arithmetic {hashed:016x}"


def hashed_bytes(hashed, values, width):
    for value in values:
        for byte in (int(value) & (1 << 8 * width) - 1).to_bytes(width, "little"):
            hashed = (hashed ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return hashed


def signed(value, bits):
    value &= (1 << bits) - 1
    return value - (value >> bits - 1 << bits)


def elements():
    """As row_equivalence.c has them: C is the negative of what the zero points make of the factors here."""
    side = lambda bits, signed, zero=0: {"zero_point": zero, "qmin": -(1 << bits - 1) * signed, "bits": bits,
                                         "qmax": (1 << bits - signed) - 1}
    drawn, state = [], [0]
    for _ in range(64):
        word = rows_drawn.splitmix(state)
        drawn.append((signed(word >> 32, 32) >> word % 24, signed(word >> 16, 16), signed(word, 16), signed(word >> 8, 8),
                      signed(word, 8)))
    sums, a, b, c, d = np.array(drawn, object).T
    requantise = {"operator": "requantise", "in": side(32, 1, 5), "out": side(8, 1, -3), "multiplier": 1649267442, "shift": 38}
    hashed = hashed_bytes(0xCBF29CE484222325, elements_by_page.run(requantise, sums), 1)
    for factors, shift, constant, out, inputs in (((6990507, 4334114), 23, -123456, side(8, 0, 100), (c, d)),
                                                  ((292838679, 2049870755), 31, 987654321, side(16, 1, -7), (a, b))):
        v = elements_by_page.shr(factors[0] * inputs[0] + factors[1] * inputs[1] + constant, shift)
        hashed = hashed_bytes(hashed, np.clip(out["zero_point"] + v, out["qmin"], out["qmax"]), out["bits"] // 8)
    return f"few rows elements {hashed:016x}"


def tiles(name, op):
    """Rows in tiles of up to 7 places, and sums of three channels that they weigh."""
    operator, low, top = rows_by_page.load(op), op["in"]["qmin"], op["in"]["qmax"] - op["in"]["qmin"]
    values = [[(k + c) * 37 % 256 - 128 for c in range(3)] for k in range(300)]
    hashed, state = 0xCBF29CE484222325, [0]
    for k in range(ROWS):
        length, part = 1 + k * 37 % op["rows"], min(PARTS[k // rows_drawn.SHAPES % len(PARTS)], top)
        row = [int(q) for q in rows_drawn.row(k % rows_drawn.SHAPES, part, length, low, top, state)]
        taken = [k % 3 != 1 or (at * 5 + k) % 4 != 0 for at in range(length)]
        parts = [slice(at, at + 7) for at in range(0, length, 7)]
        codes, rescalings = operator.tiles([row[at] for at in parts], [taken[at] for at in parts])
        hashed = hashed_bytes(hashed, sum(codes, []), op["out"]["bits"] // 8)
        hashed = hashed_bytes(hashed, [rescalings, *operator.weigh(row, taken, values[:length], -5, 8)], 8)
    return f"few rows tiles_{name} {hashed:016x}"


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        if sys.argv[3:] == ["--fit"]:
            fit()
        files, operators = made()
    lines = [arithmetic(operators), elements(), *(tiles(name, operators["softmax_" + name]) for name in ("s8_u8", "u16_s16")),
             *(line(name, op) for name, op in operators.items())]
    hashes = ROOT / "tests/platform/hashes.txt"
    held = hashes.read_text().splitlines()
    first = next(k for k, text in enumerate(held) if text.startswith("few rows "))
    last = first + sum(text.startswith("few rows ") for text in held)
    if sys.argv[3:]:
        for name, text in files.items():
            (ROOT / "tests/golden" / name).write_text(text)
        hashes.write_text("".join(text + "\n" for text in held[:first] + lines + held[last:]))
        return 0
    passed = {name: (ROOT / "tests/golden" / name).read_text() == text for name, text in files.items()}
    passed["hashes.txt"] = held[first:last] == lines
    print(f"1..{len(passed)}")
    for k, (name, good) in enumerate(passed.items(), 1):
        print(f"{'ok' if good else 'not ok'} {k} - {name} is what pwlc and the reference give")
    return not all(passed.values())


sys.exit(main())
