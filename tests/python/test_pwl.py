#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""runtime/python/pwl.py against `pwlc eval`, and what it refuses. PWL_LIBRARY names libpwl.

usage: test_pwl.py PWLC RANDOM_TABLES SOURCE
"""
import copy
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import threading

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing: install python3-numpy")
    sys.exit(0)

pwlc, random_tables, source = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
sys.dont_write_bytecode = True
sys.path.insert(0, str(source / "runtime/python"))
import pwl  # noqa: E402

TYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32"]
random = np.random.default_rng(1)
count = failures = 0


def test(name):
    """Runs what it decorates, as one line of TAP."""
    def run(function):
        global count, failures
        count += 1
        try:
            note = function()
            print(f"ok {count} - {name}{': ' + note if note else ''}")
        except Exception as error:
            failures += 1
            print(f"not ok {count} - {name}: {type(error).__name__}: {error}")
    return run


def pwlc_eval(path, codes):
    text = "\n".join(map(str, codes))
    done = subprocess.run([pwlc, "eval", path, "-"], input=text, capture_output=True, text=True, check=True)
    return np.array(done.stdout.split(), np.int64)


def equal(got, expected, what):
    if not np.array_equal(got, expected):
        first = np.flatnonzero(np.asarray(got) != expected)[0]
        raise AssertionError(f"{what}: at {first}, {got[first]}, not {expected[first]}")


def codes_of(path, table, limit):
    """All codes up to so many; else knots and their neighbours, ends, and random ones."""
    low, high = table.input.qmin, table.input.qmax
    if high - low < limit:
        return np.arange(low, high + 1)
    starts = np.array([segment["start"] for segment in json.loads(path.read_text())["segments"]])
    near = np.concatenate([starts - 1, starts, starts + 1, [low, low + 1, high - 1, high]])
    return np.concatenate([near[(near >= low) & (near <= high)], random.integers(low, high + 1, 500)])


def check_table(path, limit):
    table = pwl.load(path)
    codes = codes_of(path, table, limit)
    expected = pwlc_eval(path, codes)
    x = codes.astype(table.input.dtype)
    equal(table(x), expected, f"{path.name}, {table.plan().way}")
    equal(table.plan(levels=0)(x), expected, f"{path.name} without levels")
    if x.itemsize == table.output.dtype.itemsize:
        y = x.view(table.output.dtype)
        table(x, out=y)
        equal(y, expected, f"{path.name} in place")
    return len(codes)


@test("standard tables: every code of 8 and 16 bits, knots and others of 32, as pwlc eval has them")
def _():
    paths = sorted((source / "luts/tables").glob("*.json"))
    codes = sum(check_table(path, 65536) for path in paths)
    assert len(paths) >= 20
    return f"{len(paths)} tables, {codes} codes"


@test("tables of every case, form, rounding, fold and reduction")
def _():
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([random_tables, directory], check=True, stdout=subprocess.DEVNULL)
        paths = sorted(pathlib.Path(directory).glob("*.json"))
        codes = sum(check_table(path, 300) for path in paths)
    assert len(paths) > 100
    return f"{len(paths)} tables, {codes} codes"


sigmoid = source / "luts/tables/sigmoid_u16.json"
document = json.loads(sigmoid.read_text())


@test("every pair of types: codes beyond the input range are clamped")
def _():
    table = pwl.load(source / "luts/tables/gelu_s8.json")
    for name in TYPES:
        limits = np.iinfo(name)
        x = random.integers(limits.min, limits.max + 1, (7, 11)).astype(name)
        expected = np.array([[table.eval(code) for code in row] for row in x])
        assert table.eval(10**30) == table.eval(127) and table.eval(-(10**30)) == table.eval(-128)
        for out_name in ("int8", "int16", "int32"):
            y = table.plan(name, out_name)(x)
            assert y.dtype == out_name and y.shape == x.shape
            equal(y.ravel(), expected.ravel(), f"{name} to {out_name}")


@test("slices, empty arrays and scalars")
def _():
    table = pwl.load(sigmoid)
    x = np.arange(65536, dtype=np.uint16).reshape(256, 256)
    equal(table(x.T[::3, 5:]).ravel(), table(x).T[::3, 5:].ravel(), "a slice")
    assert table(x[:0]).shape == (0, 256) and table(np.uint16(24986)) == table.eval(np.uint16(24986))


@test("a plan from several threads")
def _():
    table = pwl.load(source / "luts/tables/gelu_s16.json")
    plan, x = table.plan(), random.integers(-32768, 32768, 100000).astype(np.int16)
    results = [None] * 8

    def run(k):
        results[k] = plan(x)
    threads = [threading.Thread(target=run, args=[k]) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        equal(result, table(x), "a thread")


def refused(message, function, kind=pwl.Error):
    try:
        function()
    except kind as error:
        assert message in str(error), f"the message is: {error}"
        return
    raise AssertionError(f"accepted what should say: {message}")


@test("arrays that do not fit are refused")
def _():
    table = pwl.load(sigmoid)
    x = np.zeros(8, np.uint16)
    refused("convert with astype()", lambda: table([1, 2]))
    refused("convert with astype()", lambda: table(np.zeros(3)))
    refused("convert with astype()", lambda: table(x.astype(x.dtype.newbyteorder())))
    refused("does not hold output codes 0 to 65535", lambda: table.plan(out_dtype=np.int16))
    refused("x is of int16", lambda: table.plan()(x.astype(np.int16)))
    refused("shape (8,)", lambda: table(x, out=np.zeros(7, np.uint16)))
    refused("must be an array of uint16", lambda: table.plan()(x, out=np.zeros(8, np.int32)))
    refused("C-contiguous", lambda: table(x, out=np.zeros(16, np.uint16)[::2]))
    refused("overlap", lambda: table(x[:-1], out=x[1:]))
    frozen = np.zeros(8, np.uint16)
    frozen.flags.writeable = False
    refused("writeable", lambda: table(x, out=frozen))
    refused("", lambda: table.eval(0.5), TypeError)


def changed(path, value):
    """The document with one field set, or dropped where value is None."""
    other = copy.deepcopy(document)
    inner = other
    for name in path[:-1]:
        inner = inner[name]
    if value is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return other


@test("real numbers through a table")
def _():
    for name in ("gelu_s8", "sigmoid_u16", "tanh_s32"):
        table = pwl.load(source / f"luts/tables/{name}.json")
        x = random.normal(0, 3, (33, 65)).astype(np.float32)
        x[0, :4] = np.nan, np.inf, -np.inf, 0
        scale, zero = table.input.affine().scale, table.input.zero_point
        steps = np.rint(np.nan_to_num(x * np.float32(1 / np.float32(scale)), nan=0, posinf=1e30, neginf=-1e30))
        codes = np.clip(steps.astype(float) + zero, table.input.qmin, table.input.qmax).astype(table.input.dtype)
        steps = (table(codes).astype(np.int64) - table.output.zero_point).astype(np.float32)
        expected = np.float32(table.output.affine().scale) * steps
        equal(table.plan().real(x).ravel(), expected.ravel(), name)
        y = x.copy()
        table.plan(levels=0).real(y, out=y)
        equal(y.ravel(), expected.ravel(), f"{name} in place")
    refused("x is of float64", lambda: table.plan().real(np.zeros(3)))
    refused("out must be an array of float32", lambda: table.plan().real(x, out=np.zeros(3, np.float32)))
    far = pwl.Table(changed(["out", "zero_point"], 1 << 40))
    refused("a zero point lies too far", lambda: far.plan().real(x))


@test("tables and plans are pickled")
def _():
    for name in ("gelu_s8", "sigmoid_u16"):
        table = pwl.load(source / f"luts/tables/{name}.json")
        x = random.integers(table.input.qmin, table.input.qmax + 1, 1000).astype(table.input.dtype)
        plan = table.plan(out_dtype=np.int32, levels=0)
        equal(pickle.loads(pickle.dumps(table))(x), table(x), name)
        again = pickle.loads(pickle.dumps(plan))
        assert again.way == plan.way and again(x).dtype == np.int32
        equal(again(x), plan(x), f"{name}, a plan")


@test("documents that are no tables are refused")
def _():
    for message, path, value in [
            ("pwl_table: 2", ["pwl_table"], 2), ("more: unknown field", ["more"], 1),
            ("form: 'other'", ["form"], "other"),
            ("in.bits: 33", ["in", "bits"], 33), ("out.qmax: is missing", ["out", "qmax"], None),
            ("segments: must be", ["segments"], []), ("segments: must be", ["segments"], 5),
            ("segments[1]: must be an object", ["segments", 1], 7),
            ("segments[2].q_b: 32768", ["segments", 2, "q_b"], 32768),
            ("segments[2].q_b: 1.5", ["segments", 2, "q_b"], 1.5),
            ("segments[2].slope: unknown field", ["segments", 2, "slope"], 1),
            ("fold.sum: 'x'", ["fold"], {"sum": "x"}), ("case: ['int16']", ["case"], ["int16"]),
            ("in.scale: '0'", ["in", "scale"], "0"), ("in.scale: '-1'", ["in", "scale"], "-1"),
            ("in.scale: 0.5, must be a text", ["in", "scale"], 0.5), ("out.scale: 'nan'", ["out", "scale"], "nan"),
            ("out.scale: '1e999'", ["out", "scale"], "1e999"), ("out.scale: '2^65'", ["out", "scale"], "2^65"),
            ("out.scale: '2^'", ["out", "scale"], "2^"), ("out.scale: '0x1'", ["out", "scale"], "0x1"),
            ("out.scale: ''", ["out", "scale"], ""), ("out.scale: '1e-30'", ["out", "scale"], "1e-30"),
            ("out.zero_point: a number of thousands of digits", ["out", "zero_point"], 10 ** 5000),
            ("segments[3]: not safe to run: starts", ["segments", 3, "start"], 0),
            ("segments[8]: not safe to run: left shift", ["segments", 8, "n_BX_total"], -31)]:
        refused(message, lambda: pwl.Table(changed(path, value)))
    refused("must be an object", lambda: pwl.Table([]))
    for scale in ("2^-64", "2^64", "0.0472", "1e-9", "3.", "+.5"):
        assert pwl.Table(changed(["in", "scale"], scale)).input.scale == scale


@test("files that are no tables are refused by name")
def _():
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "broken.json"
        for data in (b"", b"{", b"\xff\xfe", b"[" * 100000, b"[]", b"{}"):
            path.write_bytes(data)
            refused("broken.json: ", lambda: pwl.load(path))
        good = json.dumps(document)
        digits = "9" * 5000
        for message, data in [
                ("broken.json: 'in': appears twice", good[:-1] + ', "in": 1}'),
                ("broken.json: 'start': appears twice", good.replace('"start":', '"start": 0, "start":', 1)),
                (f"broken.json: {digits[:37]}...: an integer beyond 64 bits", good[:-1] + f', "more": {digits}}}'),
                ("broken.json: -9223372036854775809: an integer beyond 64 bits", "[-9223372036854775809]"),
                ("broken.json: 1e999: a number beyond double", "[1e999]"),
                ("broken.json: NaN: is no number of JSON", "[NaN]"),
                ("broken.json: larger than the limit of 4194304 bytes", good + " " * (4 << 20))]:
            path.write_text(data)
            refused(message, lambda: pwl.load(path))
        path.write_text(good)
        pwl.load(path)
    refused("missing.json", lambda: pwl.load("missing.json"), FileNotFoundError)


@test("a library that is not there, or is another one, is refused")
def _():
    for path in ("/nowhere/libpwl.so", "libc.so.6"):
        done = subprocess.run([sys.executable, "-c", "import pwl; pwl.levels()"], capture_output=True, text=True,
                              cwd=source / "runtime/python",
                              env={**os.environ, "PWL_LIBRARY": path, "PYTHONDONTWRITEBYTECODE": "1"})
        assert done.returncode == 1 and "OSError: no usable libpwl" in done.stderr, done.stderr


print(f"1..{count}")
sys.exit(failures != 0)
