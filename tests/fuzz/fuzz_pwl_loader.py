#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The package pwl reading damaged tables: it takes all that pwlc takes, with the codes of pwlc eval, and refuses others
by pwl.Error alone, those among them whose JSON or scales pwlc refuses. PYTHONPATH says where it is.

usage: fuzz_pwl_loader.py PWLC CRASHES CORPUS... [--seconds N]

Each file of the corpora, in TAP; with --seconds as many mutations of them as fit in, and the first that fails is kept in
the folder CRASHES."""
import hashlib
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing: install python3-numpy")
    sys.exit(0)

sys.dont_write_bytecode = True
import pwl  # noqa: E402

MOST_CODES = 64
# What is preloaded is for this interpreter alone.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
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


def check(pwlc, path, data):
    path.write_bytes(data)
    try:
        table = pwl.load(str(path))
        codes = codes_of(table)
    except pwl.Error as error:
        table, codes, refusal = None, [0], error
    done = subprocess.run([pwlc, "eval", path, "-"], input="\n".join(map(str, codes)), capture_output=True, text=True,
                          env=ENVIRONMENT)
    assert done.returncode in (0, 2, 3), f"pwlc eval: {done.stderr}"
    if done.returncode == 0:
        assert table, f"the package refuses what pwlc takes: {refusal}"
        assert [table.eval(code) for code in codes] == [int(word) for word in done.stdout.split()], "other codes"
    elif any(words in done.stderr for words in REFUSED) and "must be written" not in done.stderr:
        assert not table, f"the package takes what pwlc refuses: {done.stderr}"
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


def main(pwlc, crashes, *rest):
    seconds = float(rest[-1]) if len(rest) > 2 and rest[-2] == "--seconds" else 0
    corpora = rest[:-2] if seconds else rest
    files = sorted(path for corpus in corpora for path in pathlib.Path(corpus).iterdir())
    seeds = [path.read_bytes() for path in files]
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "table.json"
        for number, (file, data) in enumerate(zip(files, seeds), 1):
            try:
                check(pwlc, path, data)
                print(f"ok {number} - {file.name}")
            except Exception as error:
                failed += 1
                print(f"not ok {number} - {file.name}: {type(error).__name__}: {error}")
        print(f"1..{len(files)}")
        end, draw, runs = time.monotonic() + seconds, random.Random(time.time_ns()), 0
        while time.monotonic() < end and not failed:
            data = mutate(draw, draw.choice(seeds), seeds)
            runs += 1
            try:
                check(pwlc, path, data)
            except Exception as error:
                kept = pathlib.Path(crashes) / f"pwl_loader-{hashlib.sha1(data).hexdigest()}"
                kept.write_bytes(data)
                sys.exit(f"{kept}: {type(error).__name__}: {error}")
        if seconds:
            print(f"# {runs} mutations")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
