# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of profiles by pwlc, and TAP of what their consumers make of them."""
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

count = failures = 0


def check(name, problem):
    """A line of TAP, good where there is no problem."""
    global count, failures
    count += 1
    failures += bool(problem)
    print(f"{'not ok' if problem else 'ok'} {count} - {name}{': ' + problem if problem else ''}", flush=True)


def end():
    print(f"1..{count}")
    sys.exit(failures != 0)


def difference(got, expected):
    """What is wrong with an array, or with bytes; "" where nothing is."""
    if isinstance(expected, bytes):
        got, expected = np.frombuffer(got, np.uint8), np.frombuffer(expected, np.uint8)
    got, expected = np.ravel(got), np.ravel(expected)
    if got.size != expected.size:
        return f"{got.size} of them, not {expected.size}"
    wrong = np.flatnonzero(got != expected)
    return f"{wrong.size} differ; at {wrong[0]}, {got[wrong[0]]}, not {expected[wrong[0]]}" if wrong.size else ""


def run(*command, text=None):
    """Standard output of a command that must not fail."""
    done = subprocess.run([str(word) for word in command], input=text, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Pwlc:
    """pwlc, and a folder of its own for what it writes."""

    def __init__(self, path):
        self.path = path
        self.kept = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.kept.name)

    def fit(self, function, profile, *flags):
        table = self.folder / f"{profile}-{function}.json"
        run(self.path, "fit", function, "--profile", profile, *flags, "-o", table)
        return table

    def emit(self, table, profile, suffix):
        """The file of a table for a profile."""
        out = table.with_suffix(f".{profile.replace(':', '.')}{suffix}")
        run(self.path, "emit", table, "--profile", profile, "-o", out)
        return out

    def read(self, name, data, profile, types=("s16:2^-12:0", "s16:2^-15:0")):
        """The table that a profile's bytes are; which function it is for has no say in what it gives."""
        (self.folder / name).write_bytes(data)
        table = self.folder / f"{name}.json"
        run(self.path, "import", self.folder / name, "--profile", profile, "--function", "sigmoid", "--in", types[0],
            "--out", types[1], "-o", table)
        return table

    def codes(self, bits):
        """Every code of a signed type, as a file of numpy."""
        path = self.folder / f"codes{bits}.npy"
        np.save(path, np.arange(-1 << bits - 1, 1 << bits - 1).astype(np.int8 if bits <= 8 else np.int16))
        return path

    def outputs(self, table, bits):
        """What a table gives at every code."""
        out = table.with_suffix(".npy")
        run(self.path, "eval", table, self.codes(bits), "-o", out)
        return np.load(out)


def break_number(text, opening, number):
    """A text whose n-th number behind an opening is one more."""
    start = text.index(opening) + len(opening)
    found = list(re.finditer(r"-?\d+", text[start:text.index("]", start)]))[number]
    at, end_of = start + found.start(), start + found.end()
    return f"{text[:at]}{int(found[0]) + 1}{text[end_of:]}"


def squares():
    """513 points of tosa16 whose values are known: see check_vector of check_tosa.py."""
    return np.array([(i - 256) ** 2 // 2 - 16384 for i in range(513)], "<i2")
