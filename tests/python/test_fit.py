#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""pwl.fit() and emit() against what pwlc writes for the same flags, and what they refuse. PYTHONPATH says where the
package is.

usage: test_fit.py PWLC
"""
import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import warnings
from unittest import mock

from harness import end, equal, np, page_program, refused, test

import pwl
from pwl.functions import FUNCTIONS

pwlc = pathlib.Path(sys.argv[1]).resolve()
os.environ["PWLC"] = str(pwlc)
warnings.simplefilter("error")


def written(*words, text=None):
    return subprocess.run([pwlc, *words], capture_output=True, text=True, check=True, input=text).stdout


@test("keywords are the flags of pwlc")
def _():
    for keywords, words in [
            (dict(max_err=1.0), "--max-err 1"),
            (dict(segments=np.int64(6), method="minimax", form="biased"), "--segments 6 --method minimax --form biased"),
            (dict(monotone=True, zero="free", shift=None, no_saturate=False), "--monotone --zero free"),
            (dict(fix=[(0, 0), "1:0.75"], segments=9), "--fix 0:0 --fix 1:0.75 --segments 9"),
            (dict(symmetry=False), "--symmetry off"), (dict(reduce=False), "--reduce off"),
            (dict(knots=("pow2", 4)), "--knots pow2:4")]:
        table = pwl.fit("gelu", input="s8:0.0472:-3", output="s8:0.0238:-121", **keywords)
        assert table.to_json() == written("fit", "gelu", "--in", "s8:0.0472:-3", "--out", "s8:0.0238:-121", *words.split())
    table = pwl.fit("elu", input="s8:2^-4", output=pwl.Type(8, True, 0.05), param={"alpha": 0.5})
    assert table.parameters == {"alpha": 0.5} and str(table.output) == "s8:0.05:0"
    assert pwl.fit("sqrt", input="u16:2^-12", output="u16:2^-12", segments=4, reduce=True).reduced
    assert pwl.fit(expr="x*x/4", input="s8:2^-5", output="s8:2^-4").function == "expr"


@test("the functions of torch and ONNX are those that pwlc calls so, with its values")
def _():
    listed = json.loads(written("list", "functions", "--format", "json"))["functions"]
    names = {name: one["name"] for one in listed for name in (one["name"], *one["aliases"])}
    for function in FUNCTIONS.values():
        for name in filter(None, (function.name, function.torch, function.onnx.lower())):
            assert names[name] == function.name, name
        if function.values:
            table = pwl.fit(function.name, input="s8:2^-4", output="s24:2^-18", method="lut")
            codes = np.arange(-128, 128)
            off = table(codes.astype(np.int8)) - function.values(codes / 16) * 2**18
            assert np.abs(off).max() <= 0.5 + 2**-12, function.name  # the nearest code, of doubles within 2^-50


@test("arrays are the files that flags name")
def _():
    data = np.random.default_rng(1).normal(0, 1, (40, 50)).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        samples = np.c_[np.linspace(-4, 4, 9), np.arange(9) / 3]
        for name, array in (("x", data), ("w", np.arange(256)), ("s", samples)):
            np.save(f"{folder}/{name}.npy", array)
        types = ["--in", "s8:2^-5:0", "--out", "s8:2^-5:0"]
        plain = dict(input="s8:2^-5", output="s8:2^-5")
        table = pwl.fit("silu", input="s8", output="s8", calibrate=data.T, calibrate_by="percentile=99.9")
        words = ["fit", "silu", "--in", "s8", "--out", "s8", "--calibrate", f"{folder}/x.npy", "--calibrate-by"]
        assert table.to_json() == written(*words, "percentile=99.9")
        assert pwl.fit("gelu", weights=list(range(256)), segments=4, **plain).to_json() == \
            written("fit", "gelu", *types, "--segments", "4", "--weights", f"{folder}/w.npy")
        assert pwl.fit(samples=samples, **plain).to_json() == written("fit", *types, "--samples", f"{folder}/s.npy")


@test("a function of Python, by its values at every code")
def _():
    import math
    types = dict(input="s8:2^-5:3", output="s8:2^-5", max_err=0.6)
    of_array, of_number = (pwl.fit(f, **types) for f in (lambda x: x * np.tanh(x), lambda x: x * math.tanh(x)))
    table = pwl.fit(expr="x*tanh(x)", **types)
    assert of_array == of_number and of_array.function == "samples"
    codes = np.arange(-128, 128)
    equal(of_array(codes), table(codes), "as the expression")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        wide = pwl.fit(np.tanh, input="s17:2^-15", output="s8:2^-6", segments=16, method="uniform")
    assert "65536 of 131072 codes" in str(said[0].message) and said[0].filename == __file__, said
    assert abs(wide.real(0.5) - math.tanh(0.5)) < 2 ** -6


@test("notes are kept")
def _():
    table = pwl.fit("tanh", input="s8:2^-5", output="s8:2^-7")
    assert table.notes == ("tanh leaves the output range at 39 of 256 codes, which saturate",), table.notes
    assert pwl.fit("tanh", input="s8:2^-5", output="s8:2^-6").notes == ()


@test("emit gives what pwlc emit writes")
def _():
    table = pwl.fit("gelu", input="s8:2^-5", output="s8:2^-5", max_err=1)
    for words, text in [("--format c --name g", table.emit(name="g")), ("--format csv", table.emit("csv")),
                        ("--format sv --stages 2", pwl.emit(table, "sv", stages=2))]:
        assert text == written("emit", "-", *words.split(), text=table.to_json()), words


@test("files of chips and libraries, out and in again")
def _():
    table = pwl.fit("gelu", profile="tosa16")
    codes = np.arange(-32768, 32768, dtype=np.int16)
    for profile in ("tosa16", "tosa16:mlir", "tosa16:npy"):
        data = table.export(profile)
        done = subprocess.run([pwlc, "emit", "-", "--profile", profile], capture_output=True, check=True,
                              input=table.to_json().encode())
        assert data == done.stdout, profile
        again = pwl.import_table(data, profile, "gelu", input=table.input, output=table.output)
        equal(again(codes), table(codes), profile)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "gelu.bin"
        path.write_bytes(table.export("tosa16"))
        assert pwl.import_table(path, "tosa16", "gelu", input=table.input, output=table.output).certificate.exhaustive
    for code, message, call in [(3, "quant-gru holds 16 segments", lambda: table.export("quant-gru")),
                                (2, "--profile tosa17", lambda: table.export("tosa17")),
                                (2, "--in: missing", lambda: pwl.import_table(table.export("tosa16"), "tosa16", "gelu")),
                                (2, "has 1 bytes", lambda: pwl.import_table(b"1", "tosa16", "gelu", input="s16:1",
                                                                            output="s16:1"))]:
        try:
            call()
        except pwl.ToolError as error:
            assert error.code == code and message in str(error), (error.code, str(error))
        else:
            raise AssertionError(f"accepted: {message}")
    refused("o: no keyword of import_table()", lambda: pwl.import_table(b"1", "tosa16", o="x"))


@test("what pwlc refuses, with its words and exit code")
def _():
    types = dict(input="s8:2^-5", output="s8:2^-5")
    for code, message, call in [
            (2, "gleu", lambda: pwl.fit("gleu", **types)),
            (2, "--form", lambda: pwl.fit("gelu", form="loose", **types)),
            (2, "--in", lambda: pwl.fit("gelu", input="s8:x", output="s8:1")),
            (3, "--max-err 0.3: the table of 2 segments", lambda: pwl.fit("gelu", segments=2, max_err=0.3, **types)),
            (2, "--format", lambda: pwl.fit("gelu", **types).emit("pdf"))]:
        try:
            call()
        except pwl.ToolError as error:
            assert error.code == code and message in str(error), (error.code, str(error))
        else:
            raise AssertionError(f"accepted: {message}")


@test("what is refused before pwlc is asked")
def _():
    types = dict(input="s8:2^-5", output="s8:2^-5")
    refused("max_er: no flag of pwlc fit; did you mean max_err? it has profile, input, output", lambda: pwl.fit("gelu", max_er=1, **types))
    refused("monotone=5: a switch", lambda: pwl.fit("gelu", monotone=5, **types))
    refused("symmetry=True: wanted is fold|off", lambda: pwl.fit("tanh", symmetry=True, **types))
    refused("segments={'a': 1}: wanted is N", lambda: pwl.fit("gelu", segments={"a": 1}, **types))
    refused("weights: an array of", lambda: pwl.fit("gelu", weights=["a", "b"], **types))
    refused("o: no keyword of fit(); save() writes", lambda: pwl.fit("gelu", o="x.json", **types))
    refused("spec: no keyword", lambda: pwl.fit(spec="jobs.json", **types))
    refused("check: no keyword of emit()", lambda: pwl.fit("gelu", **types).emit(check=True))
    refused("xyz: no flag of pwlc fit; it has", lambda: pwl.fit("gelu", xyz=1, **types))
    refused("profile: no keyword of emit(); export()", lambda: pwl.fit("gelu", **types).emit(profile="tosa8"))
    refused("table.segments", lambda: pwl.fit("gelu", **types).emit("npy"))
    refused("pwlc fit: weights.npy: element 0: the weight is -1", lambda: pwl.fit("gelu", weights=[-1] * 256, **types),
            pwl.ToolError)
    refused("must be a name", lambda: pwl.fit(5, **types))
    refused("no function's name", lambda: pwl.fit("--help", **types))
    refused("a type with a scale", lambda: pwl.fit(np.tanh, input="s8", output="s8"))
    refused("or expr=", lambda: pwl.fit(np.tanh, expr="x", **types))
    with np.errstate(all="ignore"):
        refused("the function is nan at x = -4, code -128", lambda: pwl.fit(np.sqrt, **types))
    refused("division", lambda: pwl.fit(lambda x: 1 / 0, **types), ZeroDivisionError)


@test("pwlc is found, or said to be missing")
def _():
    code = "import pwl; pwl.pwlc.cache_clear(); print(pwl.pwlc())"
    clean = {key: value for key, value in os.environ.items() if key != "PWLC"}

    def run(**environment):
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**clean, **environment})
    assert run(PWLC="/somewhere/pwlc").stdout.strip() == "/somewhere/pwlc"
    alone = run(PATH="/nowhere")
    if alone.returncode == 0:  # the package is installed, and pwlc with it
        assert alone.stdout.startswith(sys.prefix) and run(PATH=str(pwlc.parent)).stdout == alone.stdout, alone.stdout
    else:
        assert "MissingError: pwlc is not here" in alone.stderr and "PWLC" in alone.stderr, alone.stderr
        assert run(PATH=str(pwlc.parent)).stdout.strip() == str(pwlc)
    code = "import pwl; pwl.fit('gelu', input='s8:1', output='s8:1')"
    assert "MissingError: pwlc cannot be run" in run(PWLC="/somewhere/pwlc").stderr


@test("ten lines of the documentation fit, evaluate and plot")
def _():
    code, shown = page_program("python.md", "plot.py")
    assert len(code.split("\n")) <= 11 and shown
    drawn, printed = types.ModuleType("matplotlib.pyplot"), io.StringIO()  # not every machine has it
    drawn.plot = lambda *curves, **options: drawn.__dict__.update(curves=curves)
    drawn.savefig = lambda path: drawn.__dict__.update(path=path)
    modules = {"matplotlib": types.ModuleType("matplotlib"), "matplotlib.pyplot": drawn}
    modules["matplotlib"].pyplot = drawn
    with mock.patch.dict(sys.modules, modules), contextlib.redirect_stdout(printed):
        exec(code, {})
    assert printed.getvalue() == shown, printed.getvalue()
    x, exact, again, y = drawn.curves
    assert x is again and x.shape == y.shape == (256,) and np.abs(y - exact).max() < 1.5 / 16 and drawn.path == "silu.png"


@test("python -m pwl says what is here")
def _():
    def lines(**environment):
        done = subprocess.run([sys.executable, "-m", "pwl"], capture_output=True, text=True, check=True,
                              env={**os.environ, **environment})
        return done.stdout.splitlines()
    said = lines()
    assert said[0].startswith(f"pwl {pwl.__version__}, Python {sys.version.split()[0]}, numpy {np.__version__}"), said
    assert said[1].startswith("levels: ") and said[2] == f"pwlc {pwl.__version__}, {pwlc}" and said[3][:5] == "CUDA:", said
    assert lines(PWLC="/nowhere/pwlc")[2].startswith("pwlc: "), "a missing pwlc is no error here"


end()
