#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The package pwl against `pwlc eval`, and what it refuses. PYTHONPATH says where it is.

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
import warnings

from harness import end, equal, np, refused, test

import pwl

pwlc, random_tables, source = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
os.environ["PWLC"] = str(pwlc)  # which parses types

TYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32"]
random = np.random.default_rng(1)


def pwlc_eval(path, codes):
    text = "\n".join(map(str, codes))
    done = subprocess.run([pwlc, "eval", path, "-"], input=text, capture_output=True, text=True, check=True)
    return np.array(done.stdout.split(), np.int64)


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
            equal(table(x, out=np.empty_like(y)).ravel(), y.ravel(), f"{name} to {out_name}, the table's own plan")
            assert y.dtype == out_name and y.shape == x.shape
            equal(y.ravel(), expected.ravel(), f"{name} to {out_name}")


@test("any shape, layout, alignment, byte order and integer type, in and out")
def _():
    table = pwl.load(sigmoid)
    x = random.integers(0, 65536, (12, 10, 14)).astype(np.uint16)
    y = table(x)
    views = [lambda a: a, lambda a: a.T, lambda a: a[::-2, 3:, ::3], lambda a: a[:, 4], lambda a: a[..., ::-1],
             lambda a: a.transpose(1, 2, 0)[:, ::2], lambda a: a[5:6, 2, 3:4], lambda a: a[:0], lambda a: a[3, 2, 1:2][0],
             lambda a: np.broadcast_to(a[:1, :, :2], (7, 10, 2)), lambda a: a.reshape(-1)[1::3]]
    packed = np.zeros(x.shape, np.dtype([("byte", "u1"), ("code", "u2")]))
    packed["code"] = x
    for view in views:
        equal(table(view(x)).ravel(), view(y).ravel(), "a view")
        equal(table(view(packed["code"])).ravel(), view(y).ravel(), "a view of elements at odd addresses")
        for kind in ("int64", "uint64", ">u2", "<u2", ">i4", ">i8", "int32", "uint32"):
            equal(table(view(x.astype(kind))).ravel(), view(y).ravel(), kind)
        for out in (np.zeros(x.shape, np.int32), np.asfortranarray(np.zeros(x.shape, np.uint16)),
                    np.zeros_like(packed)["code"]):
            if isinstance(view(out), np.ndarray) and view(out).flags.writeable:
                result = table(view(x), out=view(out))
                equal(result.ravel(), view(y).ravel(), "into a view")
                assert np.count_nonzero(out) <= np.count_nonzero(view(out)), "more was written"
    inside = packed.copy()["code"]
    table(inside, out=inside)
    equal(inside.ravel(), y.ravel(), "in place at odd addresses")
    part = x.copy()
    table(part[:, ::2, ::-1], out=part[:, ::2, ::-1])
    equal(part[:, ::2].ravel(), y[:, ::2].ravel(), "a view in place")
    equal(part[:, 1::2].ravel(), x[:, 1::2].ravel(), "beside a view in place")
    table(x[0, :, ::2], out=part[0, :, 1::2])
    equal(part[0, :, 1::2].ravel(), y[0, :, ::2].ravel(), "among each other, in other arrays")
    both = np.zeros((2, 9), np.uint16)
    both[0] = x[0, 0, :9]
    table(both.T[:, 0], out=both.T[:, 1])
    equal(both[1], y[0, 0, :9], "among each other, in one array")
    assert table(x.T).flags.f_contiguous, "the layout is not kept"
    beyond = np.array([-1 << 63, -1, 0, 65535, 65536, (1 << 63) - 1])
    equal(table(beyond), table(np.clip(beyond, 0, 65535).astype(np.uint16)), "int64")
    equal(table(beyond.astype(">i8")), table(beyond), "int64, the other order")
    equal(table(np.array([0, 1 << 63, (1 << 64) - 1], np.uint64)), table([0, 65535, 65535]), "uint64")


@test("scalars, lists and empty arrays")
def _():
    table = pwl.load(sigmoid)
    x = np.zeros((3, 0), np.uint16)
    assert table(x).shape == (3, 0) and table(x, out=np.zeros((3, 0), np.int32)).dtype == np.int32
    assert table([]).dtype == np.uint16 and table(np.uint16(24986)) == table.eval(np.uint16(24986)) == table(24986)
    assert isinstance(table(5), np.uint16) and table(np.array(5)).shape == ()
    assert table(10 ** 30) == table(65535) and table([-(10 ** 30), 10 ** 30]).tolist() == table([0, 65535]).tolist()
    assert table([[1, 2], [3, 4]]).tolist() == [[table(1), table(2)], [table(3), table(4)]]
    assert table(range(9)).tolist() == [table(code) for code in range(9)]


@test("tables are one another's equals by what they say, and are copied and saved")
def _():
    table, other = pwl.load(sigmoid), pwl.load(source / "luts/tables/tanh_s16.json")
    again = pwl.Table(json.loads(table.to_json()))
    assert table == again and hash(table) == hash(again) and table != other and table != 5
    assert table != pwl.Table(changed(["segments", 3, "term_c"], document["segments"][3]["term_c"] + 1))
    assert table != pwl.Table(changed(["in", "scale"], "2^-11"))
    assert copy.copy(table) == copy.deepcopy(table) == pickle.loads(pickle.dumps(table)) == table
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "saved.json"
        table.save(path)
        assert path.read_bytes() == sigmoid.read_bytes() and [path] == list(path.parent.iterdir())
        refused("", lambda: table.save(path / "under.json"), OSError)
        folder = path.with_name("folder")
        folder.mkdir()
        refused("", lambda: table.save(folder), OSError)
        assert {path, folder} == set(path.parent.iterdir()), "a part of a file is left"


@test("what a table says of itself")
def _():
    table = pwl.load(source / "luts/tables/gelu_s8.json")
    says = json.loads(table.to_json())
    assert repr(table) == "<pwl.Table gelu, s8:2^-5:0 to s8:2^-5:0, 12 segments, error at most 0.496773 LSB>"
    assert table.input == pwl.Type.parse("s8:2^-5") == pwl.Type(8, True, 2 ** -5) and table.input.range[0] == -4
    for name, value in says["certificate"].items():
        assert getattr(table.certificate, name) == value
    for name, column in zip(table.segments.dtype.names, zip(*(row.values() for row in says["segments"]))):
        assert table.segments[name].tolist() == list(column)
    refused("read-only", lambda: table.segments["start"].fill(0), ValueError)


@test("a certificate counts with its hash alone; an edited one is left out, with a warning")
def _():
    path = source / "luts/tables/gelu_s8.json"
    document = json.loads(path.read_text())
    edits = [{**document, "rounding": "half_up"}, {**document, "spec": "gelu"}, {**document, "hash": "0" * 64},
             {name: value for name, value in document.items() if name != "hash"}]
    for name, value in (("optimal", None), ("lower_bound_lsb", 0.0), ("acc_bits", 9), ("max_err_lsb", 0.25),
                        ("exhaustive", False), ("bound_lsb", 1.0)):
        assert document["certificate"].get(name, -1) != value
        edits.append({**document, "certificate": {**document["certificate"], name: value}})
    for edited in edits:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            table = pwl.Table(edited)
        assert len(said) == 1 and "hash: not that of what stands here and of its certificate" in str(said[0].message)
        assert said[0].filename == __file__, said[0].filename
        assert table.certificate == pwl.Certificate() and json.loads(table.to_json()) == edited
        assert repr(table) == "<pwl.Table gelu, s8:2^-5:0 to s8:2^-5:0, 12 segments>"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        of = {**document["certificate"], "correctly_rounded": int(document["certificate"]["correctly_rounded"])}
        for same in (document, {**document, "certificate": of}, dict(reversed(document.items()))):
            assert pwl.Table(same).certificate.max_err_lsb == document["certificate"]["max_err_lsb"]
        bare = {name: value for name, value in document.items() if name not in ("hash", "certificate")}
        assert pwl.Table(bare).certificate == pwl.Certificate()
        for path in sorted((source / "luts/tables").glob("*.json")):
            assert pwl.load(path).certificate.checked
    with tempfile.TemporaryDirectory() as directory, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        path = pathlib.Path(directory) / "edited.json"
        path.write_text(json.dumps(edits[0]))
        pwl.load(path)
        assert [str(warning.message)[:len(str(path))] for warning in said] == [str(path)]
        assert said[0].filename == __file__


@test("real numbers to codes and back, as pwl/real.h defines them")
def _():
    types = ["s8:0.0472:-3", "u8:2^-4:200", "s16:2^-12:0", "u16:2^-12:24576", "s4:0.3:1", "s32:2^-20:5", "u32:1e-7:77",
             "u16:2^-3:-70000", "s16:0.01:5000000"]
    x = random.normal(0, 100, 5000).astype(np.float32)
    x[:8] = np.nan, np.inf, -np.inf, 0, 1e-42, 3.4e38, -3.4e38, 2.5
    np.seterr(over="ignore")
    for text in types:
        of = pwl.Type.parse(text)
        codes = of.quantize(x)
        steps = np.rint(np.nan_to_num(x * np.float32(1 / np.float32(of.scale)), nan=0, posinf=1e30, neginf=-1e30))
        equal(codes, np.clip(steps.astype(float) + of.zero_point, of.qmin, of.qmax), text)
        assert codes.dtype == of.dtype
        reals = np.float32(of.scale) * (codes.astype(np.int64) - of.zero_point).astype(np.float32)
        equal(of.dequantize(codes), reals, f"{text}, back")
        equal(of.dequantize(codes.astype(np.int64)), reals, f"{text}, back from int64")
        equal(of.quantize(x.astype(float)[:2000:3]), codes[:2000:3], f"{text}, a view of float64")
        assert of.quantize(1.5) == of.quantize([1.5])[0] and of.dequantize(3) == of.dequantize([3])[0]
        assert pwl.Type.parse(str(of)) == of
    assert str(pwl.Type.parse("q3.12")) == "s16:2^-12:0" and str(pwl.Type.parse("uq0.16")) == "u16:2^-16:0"
    assert pwl.Type.parse("int8:2^-5") == pwl.Type(8, True, 2 ** -5) and str(pwl.Type.parse("i16:0.5:3")) == "s16:2^-1:3"
    assert pwl.Type.parse("s4:0.3:1").qmin == -8 and str(pwl.Type.parse("s8:0.0472")) == "s8:0.0472:0"
    refused("a zero point", lambda: pwl.Type(8, True, 1, 9999999999).quantize(x))
    for text in ("s8", "s8:0", "s8:-1:0", "s1:1:0", "t8:1:0", "s8:nan", "q3", "s33:1:0", "q8.8", "s8:1:9223372036854775808"):
        refused("--type", lambda: pwl.Type.parse(text), pwl.ToolError)
    refused("real numbers are wanted", lambda: of.quantize(["a"]))
    refused("codes are integers", lambda: of.dequantize(x))


@test("a table from several threads, the first of which makes the plan")
def _():
    table = pwl.load(source / "luts/tables/gelu_s16.json")
    x = random.integers(-32768, 32768, 100000).astype(np.int16)
    results = [None] * 8

    def run(k):
        results[k] = table(x)
    threads = [threading.Thread(target=run, args=[k]) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        equal(result, table(x), "a thread")


@test("arrays that do not fit are refused")
def _():
    table = pwl.load(sigmoid)
    x = np.zeros(8, np.uint16)
    refused("quantize() makes them", lambda: table(np.zeros(3)))
    refused("quantize() them", lambda: table(np.zeros(3, np.float32)))
    for wrong in (np.zeros(3, bool), np.zeros(3, complex), np.zeros(3, "S2"), [1.5], "codes", {}, np.zeros(3, "i4,i4")):
        refused("codes are integers", lambda: table(wrong))
    refused("does not hold output codes 0 to 65535", lambda: table.plan(out_dtype=np.int16))
    refused("does not hold output codes 0 to 65535", lambda: table(x, out=np.zeros(8, np.int16)))
    refused("native byte order", lambda: table.plan(">u2"))
    refused("x is not of the plan's dtype('uint16')", lambda: table.plan()(x.astype(np.int16)))
    refused("the shape of x", lambda: table(x, out=np.zeros(7, np.uint16)))
    refused("the shape of x", lambda: table(x, out=np.zeros((8, 1), np.uint16)))
    refused("the plan's dtype('uint16')", lambda: table.plan()(x, out=np.zeros(8, np.int32)))
    refused("out must be an array of numpy", lambda: table(x, out=[0] * 8))
    for wrong in (">u2", "int64", "float32"):
        refused("out must be an array of int8", lambda: table(x, out=np.zeros(8, wrong)))
    refused("overlap", lambda: table(x[:-1], out=x[1:]))
    refused("overlap", lambda: table(x[::-1], out=x))
    refused("overlap", lambda: table(x.view(np.uint8).view(np.int8)[:8], out=x))
    shared = np.lib.stride_tricks.as_strided(x, (8, 3), (2, 0))
    refused("elements that share memory", lambda: table(shared, out=shared))
    frozen = np.zeros(8, np.uint16)
    frozen.flags.writeable = False
    refused("read-only", lambda: table(x, out=frozen))
    refused("cannot be used", lambda: table(np.zeros(3, "M8[s]")))
    refused("", lambda: table.eval(0.5), TypeError)


@test("real numbers through a table")
def _():
    with tempfile.TemporaryDirectory() as directory:
        octave = pathlib.Path(directory) / "rsqrt.json"
        subprocess.run([pwlc, "fit", "rsqrt", "--in", "u16:2^-8", "--out", "u8:2^-4", "--reduce", "on", "--outside", "clamp",
                        "-o", octave], check=True, stderr=subprocess.DEVNULL)
        tables = [pwl.load(source / f"luts/tables/{name}.json") for name in ("gelu_s8", "sigmoid_u16", "tanh_s32")]
        tables.append(pwl.load(octave))
    for table in tables:
        name = table.function
        x = random.normal(0, 3, (33, 65)).astype(np.float32)
        x[0, :4] = np.nan, np.inf, -np.inf, 0
        scale, zero = table.input.scale, table.input.zero_point
        steps = np.rint(np.nan_to_num(x * np.float32(1 / np.float32(scale)), nan=0, posinf=1e30, neginf=-1e30))
        codes = np.clip(steps.astype(float) + zero, table.input.qmin, table.input.qmax).astype(table.input.dtype)
        steps = (table(codes).astype(np.int64) - table.output.zero_point).astype(np.float32)
        expected = np.float32(table.output.scale) * steps
        equal(table.real(x).ravel(), expected.ravel(), name)
        equal(table.dequantize(table(table.quantize(x))).ravel(), expected.ravel(), f"{name} in three steps")
        y = x.copy()
        table.real(y, out=y)
        equal(y.ravel(), expected.ravel(), f"{name} in place")
    equal(table.real(x.T[::3].astype(float)).ravel(), expected.T[::3].ravel(), "a view of float64")
    assert table.real(0.5) == table.real([0.5])[0]
    refused("out must have the shape", lambda: table.real(x, out=np.zeros(3, np.float32)))
    refused("out must be an array of float32", lambda: table.real(x, out=np.zeros(x.shape)))
    far = pwl.Table(changed(["out", "zero_point"], 1 << 40))
    refused("a scale or zero point lies too far", lambda: far.real(x))


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
        assert pwl.Table(changed(["in", "scale"], scale)).input.scale_text == scale


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


end()
