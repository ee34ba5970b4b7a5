#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""pwlc gemm: what it writes, against the formulas of pwl/qgemm.h in exact fractions, with the bound there for sums in
fp32; and by libpwlc-cuda the same bytes, of numbers whose sums are exact in any order. And pwlc bench gemm. TAP.

usage: gemm.py PWLC LIBRARY    the library may be one without a device
"""
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
from fractions import Fraction

PWLC = os.path.realpath(sys.argv[1])
os.environ["PWL_CUDA_LIBRARY"] = os.path.realpath(sys.argv[2])
F32, F16, Q4_0, Q8_0, BF16, MXFP4 = 0, 1, 2, 8, 30, 39
E2M1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6]
draw = random.Random(1)
count = failures = 0


def tap(good, name):
    global count, failures
    count += 1
    failures += not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}", flush=True)


# -- Numbers ------------------------------------------------------------------------------------------------------------

def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def f16(value):
    return struct.unpack("<e", struct.pack("<e", value))[0]


def away(value):
    """The nearest integer, ties away from zero."""
    return int(math.copysign(math.floor(abs(value) + Fraction(1, 2)), value))


def rounded(value, code):
    """A fraction rounded once, to the format of a code of struct: the neighbours of a first guess are tried."""
    size = struct.calcsize(code)
    guess = int.from_bytes(struct.pack(code, abs(float(value))), "little")
    near = [(struct.unpack(code, (guess + step).to_bytes(size, "little"))[0], guess + step) for step in (-1, 0, 1)
            if guess + step >= 0]
    best = min(near, key=lambda each: (abs(Fraction(each[0]) - abs(value)), each[1] & 1))[0]
    return -best if value < 0 else best


# -- Files --------------------------------------------------------------------------------------------------------------

def write_gguf(path, tensors, alignment=32):
    """tensors: name, (N, K), type, bytes. Returns where the data begin."""
    key = b"general.alignment"
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), 1)
    head += struct.pack("<Q", len(key)) + key + struct.pack("<II", 4, alignment)
    data = b""
    for name, shape, kind, payload in tensors:
        head += struct.pack("<Q", len(name)) + name.encode()
        head += struct.pack(f"<I{len(shape)}QIQ", len(shape), *reversed(shape), kind, len(data))
        data += payload + bytes(-len(payload) % alignment)
    head += bytes(-len(head) % alignment)
    path.write_bytes(head + data)
    return len(head)


def write_model(path, tensor, n, k, alignment):
    """One tensor; where the alignment is below 4, at no address that is a multiple of more."""
    if alignment >= 4:
        write_gguf(path, [("w", (n, k), *tensor)], alignment)
        return
    pad = alignment
    while (write_gguf(path, [("pad", (pad,), 99, bytes(pad)), ("w", (n, k), *tensor)], alignment) + pad) % 4 != alignment:
        pad += alignment


def write_npy(path, code, shape, values):
    text = "(" + "".join(f"{size}, " for size in shape) + ")"
    header = f"{{'descr': '{code}', 'fortran_order': False, 'shape': {text}, }}".encode()
    header += b" " * (-(10 + len(header) + 1) % 64) + b"\n"
    kind = {"<f2": "e", "<f4": "f", "<f8": "d"}[code]
    path.write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header +
                     struct.pack(f"<{len(values)}{kind}", *values))


def read_npy(path):
    data = path.read_bytes()
    size = struct.unpack("<H", data[8:10])[0]
    header = eval(data[10:10 + size])
    return header["descr"], header["shape"], data[10 + size:]


# -- Weights: what is in the file, and rows of what is multiplied -------------------------------------------------------

def blocks(kind, n, k):
    """Random blocks: bytes, and for each row (d, codes)."""
    data, rows = b"", []
    for _ in range(n):
        row = []
        for _ in range(k // 32):
            if kind == MXFP4:
                d, codes = 2.0 ** draw.randint(-9, 1), [draw.randrange(16) for _ in range(32)]
                data += bytes([int(math.log2(d)) + 127])
                values = [E2M1[code] for code in codes]
            else:
                d = f16(draw.choice((-1, 1)) * draw.uniform(0.001, 0.1))
                codes = [draw.randrange(16) if kind == Q4_0 else draw.randrange(256) for _ in range(32)]
                data += struct.pack("<e", d)
                values = [code - 8 if kind == Q4_0 else code - (code & 128) * 2 for code in codes]
            data += bytes(codes if kind == Q8_0 else [codes[j] | codes[j + 16] << 4 for j in range(16)])
            row.append((d, values))
        rows.append(row)
    return data, rows


def quantise_q8(values):
    """Blocks of Q8_0 or Q8_1, by the default rule."""
    row = []
    for b in range(0, len(values), 32):
        d = f16(f32(max(map(abs, values[b:b + 32])) / 127))
        inverse = f32(1 / d) if d else 0
        row.append((d, [away(Fraction(f32(v * inverse))) for v in values[b:b + 32]]))
    return row


def quantise_row(values):
    """int8 with a power of two: the codes and its exponent."""
    most = max(map(abs, values))
    n = 7 - math.frexp(most)[1] if most else 0 # most * 2^n is from 64 to below 128
    n -= Fraction(most) * Fraction(2) ** n > 127
    return [away(Fraction(v) * Fraction(2) ** n) for v in values], n


def quantise_row4(values):
    """w4int8: 16 times -8 to 7, by the power of two that errs least in units of 2^-(n + 6)."""
    n = quantise_row(values)[1]
    if not any(values):
        return [0] * len(values), 0
    units = [math.floor(Fraction(v) * Fraction(2) ** (n + 6) + Fraction(1, 2)) for v in values]

    def error(more):
        step = 2 ** (10 - more)
        return sum((u - step * min(max((u + step // 2) // step, -8), 7)) ** 2 for u in units)

    n += min(range(-1, 4), key=error)
    return [16 * min(max(away(Fraction(v) * Fraction(2) ** (n - 4)), -8), 7) for v in values], n


INTEGERS = {"int8": quantise_row, "w4int8": quantise_row4} # and how weights become such


def floats_of(row):
    """Of floats, or of blocks."""
    return row if isinstance(row[0], (int, float)) else [f32(d * v) for d, values in row for v in values]


# -- The schemes, in fractions ------------------------------------------------------------------------------------------

def half_row(row):
    """A16: w; blocks this small need no exponent."""
    return [Fraction(f16(d * value)) for d, values in row for value in values]


def input_row(x, halves):
    """A16: x, in halves of the row's own exponent where it is in floats."""
    if halves:
        return [Fraction(v) for v in x]
    most = max(map(abs, x))
    f = max(math.frexp(most)[1] - 1 - 14, -126) if most else 0
    return [Fraction(f16(v * 2.0 ** -f)) * Fraction(2) ** f for v in x]


def dot(a, b):
    return sum(p * q for p, q in zip(a, b))


def summed(addends, count):
    """Their sum, and by how much it may be off beside a bias c where it is added in fp32: that, and that of |c|."""
    addends = list(addends)
    return sum(addends), count * Fraction(1, 1 << 23) * sum(map(abs, addends)), count * Fraction(1, 1 << 23)


def product(scheme, rows, x, halves):
    """Y without bias, as summed() has it; rows: of floats for integers, or of blocks."""
    if scheme in INTEGERS:
        w, x = [INTEGERS[scheme](floats_of(row)) for row in rows], [quantise_row(row) for row in x]
        return [[(Fraction(dot(p, q)) * Fraction(2) ** -(e + f), 0, 0) for q, f in w] for p, e in x]
    if scheme.endswith("a16"):
        w, x = [half_row(row) for row in rows], [input_row(row, halves) for row in x]
        return [[summed((p * q for p, q in zip(a, b)), len(a) + len(a) // 32 + 4) for b in w] for a in x]
    x = [quantise_q8(row) for row in x]
    return [[summed((Fraction(d) * Fraction(e) * dot(p, q) for (d, p), (e, q) in zip(a, w)), 5 * len(a) + 4) for w in rows]
            for a in x]


def code_of(y, scale, zero_point, low, high):
    """pwl/real.h: the code of a float."""
    return min(max(round(f32(y * f32(1 / scale))) + zero_point, low), high)


def code_of_sum(value, scale, zero_point, low, high):
    """int8: ties go up."""
    return min(max(math.floor(value / Fraction(scale) + Fraction(1, 2)) + zero_point, low), high)


def run(*arguments):
    return subprocess.run([PWLC, "gemm", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def check(folder, name, scheme, tensor, rows, k, shape, code="<f4", out="f32", bias=False, alignment=32,
          x=None):
    """One product, compared with the fractions; by default the scheme is not named."""
    n, m = len(rows), math.prod(shape)
    model, act, b, y = (folder / file for file in ("model.gguf", "x.npy", "b.npy", "y.npy"))
    write_model(model, tensor, n, k, alignment)
    convert = f16 if code == "<f2" else f32
    x = x or [[convert(draw.gauss(0, 1)) for _ in range(k)] for _ in range(m)]
    added = [f32(draw.gauss(0, 1)) for _ in range(n)] if bias else [0] * n
    write_npy(act, code, (*shape, k), [v for row in x for v in row])
    write_npy(b, "<f8", (n,), added)
    flags = ["--scheme", scheme] if scheme else []
    done = run("--weights", f"{model}:w", "--act", act, "-o", y, "--out", out, "--device", "cpu", *flags,
               *(["--bias", b] if bias else []))
    if done.returncode:
        tap(False, f"{name}: exit {done.returncode}: {done.stderr.strip()}")
        return
    scheme = scheme or {Q4_0: "w4a16", MXFP4: "mxfp4a16"}.get(tensor[0], "w8a16")
    said = f"pwlc gemm: note: {scheme}, M {m}, N {n}, K {k}, on the CPU\n"
    element = "<e" if out == "f16" else "<f"
    expected = [[rounded(v + Fraction(c) + sign * (off + of_bias * abs(Fraction(c))), element) for sign in (-1, 1)]
                for row in product(scheme, rows, x, code == "<f2") for (v, off, of_bias), c in zip(row, added)]
    descr, got_shape, data = read_npy(y)
    got = list(struct.unpack(f"<{len(expected)}{element[1]}", data))
    wrong = sum(not low <= v <= high for v, (low, high) in zip(got, expected))
    tap(wrong == 0 and got_shape == (*shape, n) and descr == ("<f2" if out == "f16" else "<f4") and done.stderr == said,
        f"{name}: {wrong} of {len(expected)} differ, {descr} {got_shape}; {done.stderr.strip()}")


def check_schemes(folder):
    for kind, name, schemes in ((Q4_0, "Q4_0", ("w4a16", "w4a8", "w4int8")), (Q8_0, "Q8_0", ("w8a16", "w8a8")),
                                (MXFP4, "MXFP4", ("mxfp4a16",))):
        data, rows = blocks(kind, 5, 96)
        for scheme in (None, *schemes):
            check(folder, f"{name} by {scheme}", scheme, (kind, data), rows, 96, (3,), bias=scheme is not None)
        check(folder, f"{name}, halves, more than one job's rows", None, (kind, data), rows, 96, (17,), code="<f2",
              out="f16", bias=True)
    # Beside the largest half, which a weight of 0 takes out, the least are kept: halves have no exponent of their row.
    ones = (Q8_0, struct.pack("<e32b", 1, 0, *[1] * 31))
    check(folder, "the least halves", "w8a16", ones, [[(1, [0] + [1] * 31)]], 32, (1,), code="<f2",
          x=[[65504] + [2.0 ** -24] * 31])
    data, rows = blocks(Q8_0, 130, 64)
    check(folder, "a row", "w8a8", (Q8_0, data), rows, 64, ())
    check(folder, "rows of several dimensions, more than one job's", "w8a8", (Q8_0, data), rows, 64, (2, 1, 9),
          code="<f8")
    check(folder, "unaligned data", "w8a8", (Q8_0, data), rows, 64, (2,), alignment=1)


def check_floats(folder):
    """Tensors of floats, which the scheme quantises."""
    kinds = ((F32, "F32", f32, "<f"), (F16, "F16", f16, "<e"),
             (BF16, "BF16", lambda v: struct.unpack("<f", bytes(2) + struct.pack("<f", v)[2:])[0], None))
    for kind, name, convert, code in kinds:
        w = [[convert(draw.gauss(0, 0.1)) for _ in range(64)] for _ in range(5)]
        data = b"".join(struct.pack(code, v) if code else struct.pack("<f", v)[2:] for row in w for v in row)
        check(folder, f"{name} by default", None, (kind, data), [quantise_q8(row) for row in w], 64, (3,))
        check(folder, f"{name} by int8", "int8", (kind, data), w, 64, (18,), bias=True,
              alignment=2 if kind == F32 else 32)
        check(folder, f"{name} by w4int8", "w4int8", (kind, data), w, 64, (18,), bias=True)
        check(folder, f"{name} by int8, halves", "int8", (kind, data), w, 64, (3,), code="<f2", out="f16")


class Table:
    """A table of pwlc fit, and what it makes of codes."""

    def __init__(self, folder, name, *flags):
        self.path = folder / f"{name}.json"
        subprocess.run([PWLC, "fit", *flags, "--method", "uniform", "-o", self.path], check=True, stderr=subprocess.DEVNULL)
        self.fields = json.loads(self.path.read_text())

    def side(self, side):
        fields = self.fields[side]
        base, _, power = fields["scale"].partition("^")
        scale = 2.0 ** int(power) if power else f32(float(base))
        return scale, fields["zero_point"], fields["qmin"], fields["qmax"]

    def values(self, codes):
        done = subprocess.run([PWLC, "eval", self.path, "-"], input="\n".join(map(str, codes)), stdout=subprocess.PIPE,
                              text=True, check=True)
        return [int(line) for line in done.stdout.split()]

    def element(self):
        out = self.fields["out"]
        return f"{'|' if out['bits'] <= 8 else '<'}{'i' if out['signed'] else 'u'}{out['bits'] // 8}"


def integer_codes(table, scheme, rows, x, added):
    """int8: the codes of Y. One exponent for all rows where there is a bias, which is rounded to it."""
    shared = quantise_row([v for row in x for v in row])[1] if any(added) else None
    w, codes = [INTEGERS[scheme](floats_of(row)) for row in rows], []
    for row in x:
        q, e = quantise_row(row)
        if shared is not None:
            q, e = [away(Fraction(v) * Fraction(2) ** shared) for v in row], shared
        for (p, f), c in zip(w, added):
            units = dot(q, p) + round(Fraction(c) * Fraction(2) ** (e + f))
            codes.append(code_of_sum(units * Fraction(2) ** -(e + f), *table.side("in")))
    return codes


def check_table(folder, table, tensor, rows, k, scheme, bias, *flags):
    """Activated by a table: the codes of Y, which is checked above, through pwlc eval; int8 in fractions."""
    model, act, b, y, plain = (folder / file for file in ("model.gguf", "x.npy", "b.npy", "y.npy", "plain.npy"))
    n, m = len(rows), 19
    write_model(model, tensor, n, k, 32)
    x = [[f32(draw.gauss(0, 1 + row)) for _ in range(k)] for row in range(m)]
    added = [f32(draw.gauss(0, 1)) if bias else 0 for _ in range(n)]
    write_npy(act, "<f4", (m, k), [v for row in x for v in row])
    write_npy(b, "<f4", (n,), added)
    arguments = ["--weights", f"{model}:w", "--act", act, "--scheme", scheme, "--device", "cpu"]
    arguments += ["--bias", b] if bias else []
    name = " ".join([f"{table.path.stem} of {scheme}{', bias' if bias else ''}", *flags])
    done = run(*arguments, "--table", table.path, "-o", y, *flags)
    if done.returncode or run(*arguments, "-o", plain).returncode:
        tap(False, f"{name}: exit {done.returncode}: {done.stderr.strip()}")
        return
    if scheme in INTEGERS:
        codes = integer_codes(table, scheme, rows, x, added)
    else:
        codes = [code_of(v, *table.side("in")) for v in struct.unpack(f"<{m * n}f", read_npy(plain)[2])]
    expected = table.values(codes)
    if flags:
        scale, zero_point, _, _ = table.side("out")
        expected = [f32(scale * f32(v - zero_point)) for v in expected]
    descr, shape, data = read_npy(y)
    kind = {"|i1": "b", "|u1": "B", "<i2": "h", "<u2": "H", "<i4": "i", "<u4": "I", "<f4": "f"}[descr]
    got = list(struct.unpack(f"<{m * n}{kind}", data))
    tap(got == expected and descr == ("<f4" if flags else table.element()) and shape == (m, n),
        f"{name}: {descr}, {len(set(expected))} values, {sum(p != q for p, q in zip(got, expected))} differ")


def check_tables(folder):
    tables = (Table(folder, "gelu", "gelu", "--in", "s8:0.0472:-3", "--out", "s8:0.0238:-121"),
              Table(folder, "sigmoid", "sigmoid", "--in", "u16:2^-12:24576", "--out", "u16:2^-16:-1"),
              Table(folder, "tanh", "tanh", "--in", "s16:2^-12:9", "--out", "s32:2^-31"),
              Table(folder, "relu", "relu", "--in", "s8:2^-4:0", "--out", "u8:2^-4"))
    q4, q4_rows = blocks(Q4_0, 6, 64)
    w = [[f32(draw.gauss(0, 0.1)) for _ in range(64)] for _ in range(6)]
    f = b"".join(struct.pack("<f", v) for row in w for v in row)
    for table in tables:
        for bias in (False, True):
            check_table(folder, table, (Q4_0, q4), q4_rows, 64, "w4a8" if bias else "w4a16", bias)
            if table.fields["in"]["scale"].startswith("2^"):
                check_table(folder, table, (F32, f), w, 64, "int8", bias)
                check_table(folder, table, (Q4_0, q4), q4_rows, 64, "w4int8", bias)
        check_table(folder, table, (Q4_0, q4), q4_rows, 64, "w4a8", True, "--out", "f32")


def check_devices(folder):
    """Integers whose sums stay below 2^24: every kernel has the same bytes. Blocks of X have d = 1."""
    k, n = 256, 136
    q4 = b"".join(struct.pack("<e", 1) + draw.randbytes(16) for _ in range(n * k // 32))
    q8 = b"".join(struct.pack("<e", 1) + draw.randbytes(32) for _ in range(n * k // 32))
    mx = b"".join(b"\x80" + draw.randbytes(16) for _ in range(n * k // 32)) # 2 * E2M1
    f = struct.pack(f"<{n * k}f", *(draw.randint(-127, 127) for _ in range(n * k)))
    table = Table(folder, "wide", "leaky_relu", "--in", "s16:2^2:-7", "--out", "s16:2^2:5", "--outside", "clamp")
    model = folder / "integers.gguf"
    write_gguf(model, [("q4", (n, k), Q4_0, q4), ("q8", (n, k), Q8_0, q8), ("mx", (n, k), MXFP4, mx), ("f", (n, k), F32, f)])
    write_npy(folder / "b.npy", "<f4", (n,), [draw.randint(-1000, 1000) for _ in range(n)])
    for m in (1, 9, 65):
        x = [127 if i % 32 == 0 else draw.randint(-127, 127) for i in range(m * k)]
        write_npy(folder / "x.npy", "<f4", (m, k), x)
        for tensor, scheme in (("q4", "w4a16"), ("q4", "w4a8"), ("q8", "w8a16"), ("q8", "w8a8"), ("mx", "mxfp4a16"),
                               ("f", "int8"), ("f", "w4int8")):
            compare_devices(folder, f"{model}:{tensor}", scheme, "--out", "f16" if (m, tensor) == (9, "q4") else "f32")
            compare_devices(folder, f"{model}:{tensor}", scheme, "--table", table.path)


def compare_devices(folder, weights, scheme, *flags):
    arguments = ("--weights", weights, "--act", folder / "x.npy", "--bias", folder / "b.npy", "--scheme", scheme, *flags)
    cpu = run(*arguments, "-o", folder / "cpu.npy", "--device", "cpu")
    cuda = run(*arguments, "-o", folder / "cuda.npy", "--device", "cuda")
    if cuda.returncode == 77:
        print(f"1..0 # SKIP {cuda.stderr.strip()}")
        sys.exit(77)
    good = cpu.returncode == 0 and cuda.returncode == 0 and cuda.stderr.startswith("pwlc gemm: note: ") and \
        " by the kernel " in cuda.stderr and (folder / "cpu.npy").read_bytes() == (folder / "cuda.npy").read_bytes()
    tap(good, f"{flags[0]}: {cuda.stderr.strip()} {'' if good else cpu.stderr.strip()}")


def check_bench():
    """pwlc bench gemm, whose times are what they are."""
    done = subprocess.run([PWLC, "bench", "gemm", "-m", "1,9,70", "-n", "136", "-k", "512", "--scheme",
                           "w4a16,w8a16,mxfp4a16,w4a8,w8a8,int8,w4int8", "--format", "json"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    rows = json.loads(done.stdout) if done.returncode == 0 else []
    times = [(row["cold_us"], row["warm_us"], row["cublaslt_cold_us"] or 1) for row in rows]
    said = " ".join(f"{row['scheme']} {row['m']} {row['kernel']}" for row in rows)
    tap(len(rows) == 21 and all(time > 0 for row in times for time in row) and all(row["kernel"] for row in rows),
        f"bench: {said} {done.stderr.strip()}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_devices(folder)
        check_schemes(folder)
        check_floats(folder)
        check_tables(folder)
    check_bench()
    print(f"1..{count}")
    return failures != 0 or count == 0


sys.exit(main())
