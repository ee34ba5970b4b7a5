# SPDX-License-Identifier: Apache-2.0
"""TAP for the tests of the package: each function that @test decorates is a line; end() is the last."""
import functools
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing: install python3-numpy")
    sys.exit(0)

import pwl
from pwl import program

count = failures = 0


def test(name):
    """Runs what it decorates, as one line of TAP, with what it returns as a note."""
    def run(function):
        global count, failures
        count += 1
        try:
            note = function()
            print(f"ok {count} - {name}{': ' + note if note else ''}")
        except Exception as error:
            failures += 1
            at = error.__traceback__
            while at.tb_next and at.tb_next.tb_frame.f_code.co_filename == function.__code__.co_filename:
                at = at.tb_next
            print(f"not ok {count} - {name}: line {at.tb_lineno}: {type(error).__name__}: {error}")
    return run


def remember_runs():
    """Has pwlc run once for the same words, without a file or folder: networks ask for the same fits again and again."""
    run, once = program.run, functools.lru_cache(maxsize=None)(program.run)
    program.run = lambda words, text=None, folder=None: run(words, text, folder) if text or folder else once(tuple(words))


def page_program(page, name):
    """The program NAME that docs/PAGE shows, and what the page says that it prints."""
    text = (pathlib.Path(__file__).parents[2] / "docs" / page).read_text()
    program, _, rest = text.partition(f"<!-- docs: file {name} -->\n```python\n")[2].partition("```")
    assert program, f"docs/{page} has no {name}"
    return program, rest.partition(f"$ python3 {name}\n")[2].partition("```")[0]


def printed_by(program):
    """What a program prints that runs in an empty directory."""
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run([sys.executable, "-c", program], cwd=directory, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def end():
    print(f"1..{count}")
    sys.exit(failures != 0)


def equal(got, expected, what):
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.shape == expected.shape, f"{what}: shape {got.shape}, not {expected.shape}"
    if not np.array_equal(got, expected):
        first = np.flatnonzero(got.ravel() != expected.ravel())[0]
        raise AssertionError(f"{what}: at {first}, {got.ravel()[first]}, not {expected.ravel()[first]}")


def refused(message, function, kind=pwl.Error):
    try:
        function()
    except kind as error:
        assert message in str(error), f"the message is: {error}"
        return
    raise AssertionError(f"accepted what should say: {message}")
