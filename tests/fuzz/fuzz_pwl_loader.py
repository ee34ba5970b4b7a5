#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The package pwl reading damaged tables: it takes all that pwlc takes, with the codes of pwlc eval, and refuses others
by pwl.Error alone, those among them whose JSON or scales pwlc refuses. PYTHONPATH says where it is; JUDGE is pwlc's part,
the library of judge_table.c.

usage: fuzz_pwl_loader.py JUDGE CRASHES CORPUS... [--seconds N]

Each file of the corpora, in TAP; with --seconds as many mutations of them as fit in, and the first that fails is kept in
the folder CRASHES."""
import ctypes
import hashlib
import os
import pathlib
import random
import sys
import time

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing: install python3-numpy")
    sys.exit(0)

sys.dont_write_bytecode = True
import pwl  # noqa: E402

MOST_CODES = 64
REFUSED = ("duplicate object key", "too big integer", "too big negative integer", "real number overflow", ".scale: ")
WORDS = [b"0", b"-1", b"1e999", b"-0", b"9223372036854775808", b"9" * 5000, b"NaN", b"null", b"true", b"[]", b"{}", b'""',
         b'"2^-64"', b'"0"', b'"1e-30"', b'"int8"', b'"biased"', b"4096", b"63", b"-31", b"\xff", b"\\ud800", b"\0"]


def codes_of(table):
    """Ends, knots and their neighbours."""
    starts = table.segments["start"].astype(object)
    codes = {table.input.qmin, table.input.qmax, table.input.zero_point}
    for start in starts:
        codes |= {int(start) - 1, int(start), int(start) + 1}
    return sorted(code for code in codes if -(1 << 62) < code < 1 << 62)[:MOST_CODES]


class Judge:
    """What pwlc eval says of a table: exit status, outputs, message."""

    def __init__(self, library):
        self.call = ctypes.CDLL(str(pathlib.Path(library).resolve())).judge_table
        self.call.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p,
                              ctypes.c_char_p, ctypes.c_size_t]
        self.message = ctypes.create_string_buffer(4096)

    def __call__(self, data, codes):
        given = (ctypes.c_int64 * len(codes))(*codes)
        outputs = (ctypes.c_int64 * len(codes))()
        status = self.call(data, len(data), given, len(codes), outputs, self.message, len(self.message))
        return status, list(outputs), self.message.value.decode()


class File:
    """One file in memory, whose content is given anew each time."""

    def __init__(self):
        self.fd = os.memfd_create("table.json")
        self.path = f"/proc/self/fd/{self.fd}"

    def write(self, data):
        os.ftruncate(self.fd, 0)
        os.pwrite(self.fd, data, 0)


def check(judge, file, data):
    file.write(data)
    try:
        table = pwl.load(file.path)
        codes = codes_of(table)
    except pwl.Error as error:
        table, codes, refusal = None, [0], error
    status, outputs, message = judge(data, codes)
    assert status in (0, 2, 3), f"pwlc eval: {message}"
    if status == 0:
        assert table, f"the package refuses what pwlc takes: {refusal}"
        assert [table.eval(code) for code in codes] == outputs, "other codes"
    elif any(words in message for words in REFUSED) and "must be written" not in message:
        assert not table, f"the package takes what pwlc refuses: {message}"
    if table:  # whole arrays: what is damaged may lead vector code astray
        low, high = np.iinfo(table.input.dtype).min, np.iinfo(table.input.dtype).max
        x = np.array([code for code in codes if low <= code <= high], table.input.dtype)
        assert [int(y) for y in table(x)] == [table.eval(int(code)) for code in x], "an array has other codes"


def mutate(random, data, others):
    """A few changes of bytes, pieces or words."""
    data = bytearray(data)
    for _ in range(random.randint(1, 3)):
        at = random.randrange(len(data) + 1)
        length = min(random.choice((1, 1, 2, 8, 40)), len(data) - at)
        kind = random.randrange(4)
        if kind == 0 and length:
            data[at] = random.choice(b'0123456789-.eE"{}[],: ' + bytes([random.randrange(256)]))
        elif kind == 1:
            del data[at:at + length]
        elif kind == 2:
            other = random.choice(others)
            start = random.randrange(len(other) + 1)
            data[at:at + length] = other[start:start + random.choice((1, 10, 100))]
        else:  # a value becomes another one
            colon = data.find(b":", at)
            end = min((place for place in (data.find(b",", colon), data.find(b"}", colon)) if place > 0), default=-1)
            if 0 < colon < end:
                data[colon + 1:end] = random.choice(WORDS)
    return bytes(data)


def main(library, crashes, *rest):
    seconds = float(rest[-1]) if len(rest) > 2 and rest[-2] == "--seconds" else 0
    corpora = rest[:-2] if seconds else rest
    files = sorted(path for corpus in corpora for path in pathlib.Path(corpus).iterdir())
    seeds = [path.read_bytes() for path in files]
    judge, file = Judge(library), File()
    failed = 0
    for number, (path, data) in enumerate(zip(files, seeds), 1):
        try:
            check(judge, file, data)
            print(f"ok {number} - {path.name}")
        except Exception as error:
            failed += 1
            print(f"not ok {number} - {path.name}: {type(error).__name__}: {error}")
    print(f"1..{len(files)}")
    end, draw, runs = time.monotonic() + seconds, random.Random(time.time_ns()), 0
    while time.monotonic() < end and not failed:
        data = mutate(draw, draw.choice(seeds), seeds)
        runs += 1
        try:
            check(judge, file, data)
        except Exception as error:
            kept = pathlib.Path(crashes) / f"pwl_loader-{hashlib.sha1(data).hexdigest()}"
            kept.write_bytes(data)
            sys.exit(f"{kept}: {type(error).__name__}: {error}")
    if seconds:
        print(f"# {runs} mutations, {runs / seconds:.0f} a second")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
