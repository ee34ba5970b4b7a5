#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""pwl.onnx: every code of tables in ONNX Runtime, activations in all their spellings, and what is refused.

usage: test_onnx.py PWLC RANDOM_TABLES
"""
import os
import pathlib
import subprocess
import sys
import tempfile

from harness import end, equal, np, refused, test

import pwl

try:
    import onnx
    import onnxruntime
except ImportError as missing:
    def without_onnx():
        import pwl.onnx
        return pwl.onnx
    if missing.name == "onnx":
        refused("pip install", without_onnx, pwl.MissingError)
    print(f"1..0 # SKIP {missing.name} is missing: pip install onnx onnxruntime, or ./dev test python")
    sys.exit(0)
from onnx import TensorProto, helper, numpy_helper, parser

import pwl.onnx
from pwl.onnx.convert import run as run_model

os.environ["PWLC"], random_tables = map(os.path.abspath, sys.argv[1:3])
random = np.random.default_rng(1)
onnxruntime.set_default_logger_severity(3)


def outputs(model, feeds, names=None):
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(names, feeds)


def check_codes(table, opset, what):
    """The model of a table against the table, at every code."""
    codes = np.arange(table.input.qmin, table.input.qmax + 1)
    x = table.input.dequantize(codes)
    model = pwl.onnx.to_model(table, opset)
    equal(outputs(model, {"x": x})[0].view(np.int32), table.dequantize(table(codes)).view(np.int32), f"{what}, opset {opset}")
    outside = np.array([-np.inf, np.inf, 4 * x[0] - 1, 4 * x[-1] + 1], np.float32)
    equal(outputs(model, {"x": outside})[0], table.real(outside), f"{what}, opset {opset}, beyond the range")


def graph(text, opset=21, **constants):
    """A model from the text of its nodes, from float x[N, 4] to float y."""
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["": {opset}]> g (float[N, 4] x) => (float[N, 4] y) {{{text}}}')
    model.graph.initializer.extend(numpy_helper.from_array(np.array(value, np.float32), name)
                                   for name, value in constants.items())
    return model


GELU = "e = Erf(d) o = Add(e, one)"
DIVIDED = "d = Div(x, root) " + GELU
HALF = {"half": 0.5, "one": 1, "root": np.sqrt(2)}
# (function, nodes, constants, opset)
SPELLINGS = [
    ("gelu", "y = Gelu(x)", {}, 20),
    ("gelu_tanh", 'y = Gelu<approximate = "tanh">(x)', {}, 20),
    ("gelu", DIVIDED + " m = Mul(x, o) y = Mul(m, half)", HALF, 13),
    ("gelu", DIVIDED + " h = Mul(x, half) y = Mul(h, o)", HALF, 13),
    ("gelu", DIVIDED + " h = Mul(o, half) y = Mul(h, x)", HALF, 17),
    ("gelu", "d = Mul(root, x) " + GELU + " m = Mul(x, o) y = Div(m, two)", {"root": 0.70710677, "one": 1, "two": 2}, 21),
    ("gelu_tanh", "c = Pow(x, three) k = Mul(c, a) s = Add(x, k) r = Mul(s, b) t = Tanh(r) o = Add(t, one) h = Mul(x, half) "
     "y = Mul(h, o)", {"three": 3, "a": 0.044715, "b": 0.7978846, "one": 1, "half": 0.5}, 13),
    ("gelu_tanh", "q = Mul(x, x) c = Mul(q, x) k = Mul(c, a) s = Add(x, k) r = Mul(s, b) t = Tanh(r) o = Add(one, t) "
     "h = Mul(half, o) y = Mul(x, h)", {"a": [0.044715], "b": [0.7978846], "one": [1], "half": [0.5]}, 15),
    ("quick_gelu", "s = Mul(x, c) g = Sigmoid(s) y = Mul(x, g)", {"c": 1.702}, 13),
    ("silu", "g = Sigmoid(x) y = Mul(g, x)", {}, 13),
    ("silu", "n = Neg(x) e = Exp(n) d = Add(e, one) y = Div(x, d)", {"one": 1}, 13),
    ("silu", "y = Swish(x)", {}, 24),
    ("sigmoid", "y = Sigmoid(x)", {}, 13),
    ("sigmoid", "n = Neg(x) e = Exp(n) d = Add(e, one) y = Reciprocal(d)", {"one": 1}, 13),
    ("sigmoid", "h = Mul(x, half) t = Tanh(h) o = Add(t, one) y = Mul(o, half)", {"half": 0.5, "one": 1}, 13),
    ("tanh", "y = Tanh(x)", {}, 13),
    ("softplus", "y = Softplus(x)", {}, 13),
    ("softplus", "e = Exp(x) o = Add(e, one) y = Log(o)", {"one": 1}, 13),
    ("mish", "y = Mish(x)", {}, 18),
    ("mish", "s = Softplus(x) t = Tanh(s) y = Mul(x, t)", {}, 13),
    ("elu", "y = Elu(x)", {}, 13),
    ("elu, alpha=0.5", "y = Elu<alpha = 0.5>(x)", {}, 13),
    ("selu", "y = Selu(x)", {}, 13),
    ("hard_sigmoid", "y = HardSigmoid<alpha = 0.16666667, beta = 0.5>(x)", {}, 13),
    ("a function", "y = HardSigmoid(x)", {}, 13),
    ("hard_sigmoid", "a = Add(x, three) c = Clip(a, zero, six) y = Div(c, six)", {"three": 3, "zero": 0, "six": 6}, 13),
    ("hard_swish", "y = HardSwish(x)", {}, 14),
    ("hard_swish", "h = HardSigmoid<alpha = 0.16666667>(x) y = Mul(x, h)", {}, 13),
    ("hard_swish", "a = Add(x, three) c = Clip(a, zero, six) m = Mul(x, c) y = Div(m, six)", {"three": 3, "zero": 0, "six": 6},
     13),
    ("softsign", "y = Softsign(x)", {}, 13),
]
# No activation: linear pieces alone, tensors beside x, constants of many elements, and what is near but none.
OTHERS = [
    ("y = Relu(x)", {}), ("e = Exp(x) y = Mul(e, x)", {}), ("y = Clip(x, zero, six)", {"zero": 0, "six": 6}),
    ("e = Exp(x) s = ReduceSum(e) y = Div(e, s)", {}),
    ("e = Erf(x) o = Add(e, one) m = Mul(x, o) y = Mul(m, half)", {"one": 1, "half": 0.5}),
]


@test("drawn tables of all forms, roundings and folds: every code in ONNX Runtime, opsets 13 and 21")
def _():
    kinds = set()
    count = 0
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([random_tables, directory], check=True, stdout=subprocess.DEVNULL)
        for path in sorted(pathlib.Path(directory).glob("*.json")):
            table = pwl.load(path)
            if max(table.input.bits, table.output.bits) <= 16:
                for opset in (13, 21):
                    check_codes(table, opset, path.name)
                kinds.add((table.case, table.form, table.rounding, table.fold_sum is not None))
                count += 1
    assert len(kinds) >= 48, f"only {len(kinds)} kinds"
    return f"{count} tables"


@test("fitted tables of 8 and 16 bits: every code; zero points that are no codes, narrow types, one segment, one octave")
def _():
    for function, x, y, flags in [("sigmoid", "u16:2^-12:24576", "u16:2^-16:-1", {"segments": 16}),
                                  ("gelu", "s8:0.0472:-3", "s8:0.0238:-121", {}), ("tanh", "s12:2^-8", "u8:0.01:100", {}),
                                  ("hard_swish", "u8:0.05:100", "s16:0.0003", {}), ("relu", "s16:0.001", "s16:0.001", {}),
                                  ("rsqrt", "u16:2^-12:-1", "u16:2^-10", {"reduce": "on"}),
                                  ("relu", "s16:0.001", "s16:0.0001", {"segments": 1})]:
        table = pwl.fit(function, input=x, output=y, **flags)
        for opset in (13, 21):  # the newest that ONNX Runtime for Python 3.9 has
            check_codes(table, opset, f"{function} of {x}")


@test("activations are found in every spelling, and nothing else is")
def _():
    for function, text, constants, opset in SPELLINGS:
        places = pwl.onnx.find(graph(text, opset, **constants))
        assert [(str(place), place.input, place.output) for place in places] == [(function, "x", "y")], f"{text}: {places}"
    for text, constants in OTHERS:
        refused("no activation to replace", lambda: pwl.onnx.find(graph(text, **constants)))
    # The bias has an element for each column, and more dimensions than x would change its shape.
    assert pwl.onnx.find(graph("b = Add(x, bias) y = Sigmoid(b)", bias=[1, 2, 3, 4]))[0].input == "b"
    assert pwl.onnx.find(graph("g = Sigmoid(x) h = Mul(g, x) y = Mul(h, one)", one=[[[1]]]))[0].output == "h"
    return f"{len(SPELLINGS)} spellings"


# Two layers; the middle of the first GELU is an output too.
PERCEPTRON = ("a = MatMul(x, w) s = Div(a, root) e = Erf(s) o = Add(e, one) m = Mul(a, o) b = Mul(m, half) "
              "c = MatMul(b, v) d = Sigmoid(c) y = Mul(c, d)")
WEIGHTS = {"w": random.normal(size=(4, 32)), "v": random.normal(size=(32, 4)), **HALF}


def batches(count=3):
    return [random.normal(size=(64, 4)).astype(np.float32) for _ in range(count)]


@test("convert: in a model each table has its own bits, 8 and 16, in the model's opset; the model is as it was")
def _():
    for opset in (13, 21):
        model = graph(PERCEPTRON, opset, **WEIGHTS)
        before = model.SerializeToString()
        for bits in (8, 16):
            # With scales that are powers of two, dividing by them and multiplying by reciprocals is one.
            tables = pwl.onnx.fit(model, batches(), bits, segments=8, method="minimax",
                                  observer=lambda place: pwl.calibration.MinMax(bits, power_of_two=True))
            assert list(tables) == ["b", "y"] and [table.function for table in tables.values()] == ["gelu", "silu"]
            converted = pwl.onnx.replace(model, tables)
            operators = [node.op_type for node in converted.graph.node]
            assert not {"Erf", "Sigmoid"} & set(operators), operators
            assert converted.opset_import[0].version == opset
            x = batches(1)[0]
            for name in ("a", "b", "c"):
                converted.graph.output.append(onnx.ValueInfoProto(name=name))
            a, b, c, y = outputs(converted, {"x": x}, ["a", "b", "c", "y"])
            equal(b, tables["b"].real(a), "the first activation")
            equal(y, tables["y"].real(c), "the second activation")
        assert model.SerializeToString() == before


@test("a few operators whatever the segments, the shape known to those after them, any rank")
def _():
    for opset, bits, wanted in ((13, 8, 7), (13, 16, 10), (21, 8, 7), (21, 16, 7)):
        for segments in (4, 50):
            table = pwl.fit("tanh", input=f"s{bits}:2^-{bits - 4}", output=f"u{bits}:2^-{bits - 1}:{1 << bits - 1}",
                            segments=segments, method="uniform")
            nodes = pwl.onnx.to_model(table, opset).graph.node
            assert len(nodes) == wanted, f"opset {opset}, {bits} bits, {segments} segments: {[node.op_type for node in nodes]}"
    model = graph("t = Tanh(x) y = MatMul(t, w)", w=np.eye(4))
    converted = pwl.onnx.replace(model, {"t": table})
    known = {value.name: value for value in onnx.shape_inference.infer_shapes(converted).graph.value_info}
    assert len(known["t"].type.tensor_type.shape.dim) == 2, known["t"]
    for shape in ((), (3,), (0, 4), (2, 3, 4, 5)):
        x = np.asarray(random.normal(size=shape), np.float32)
        sides = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "xy"]
        made = pwl.onnx.to_model(table)
        del made.graph.input[:], made.graph.output[:]
        made.graph.input.append(sides[0])
        made.graph.output.append(sides[1])
        equal(outputs(made, {"x": x})[0], table.real(x), f"shape {shape}")


@test("convert: near the float model, from a file and from bytes, with batches as arrays, tuples and dicts")
def _():
    model = graph(PERCEPTRON, **WEIGHTS)
    data = batches()
    exact = outputs(model, {"x": data[0]})[0]
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "model.onnx"
        onnx.save(model, path)
        made = [pwl.onnx.convert(path, data, max_err=0.75),
                pwl.onnx.convert(model.SerializeToString(), ((x,) for x in data), max_err=0.75),
                pwl.onnx.convert(model, [{"x": x} for x in data], max_err=0.75)]
    assert len({one.SerializeToString() for one in made}) == 1, "the same data gave other models"
    error = np.abs(outputs(made[0], {"x": data[0]})[0] - exact).max() / np.abs(exact).max()
    assert 0 < error < 0.05, f"8 bits are {error:.3g} of the range off"
    return f"8 bits are {error:.2g} of the range off"


@test("tensors within an activation that serve elsewhere stay, also in graphs within nodes; names do not meet")
def _():
    text = "g = Sigmoid(x) z = Mul(g, x) y = Add(z, g)"
    model = graph(text)
    model.graph.node[1].name = "pwl/0/node_0"
    converted = pwl.onnx.convert(model, batches(), segments=8)
    assert "Sigmoid" in [node.op_type for node in converted.graph.node]
    assert len({node.name for node in converted.graph.node if node.name}) >= 4
    outputs(converted, {"x": batches(1)[0]})
    branch = helper.make_graph([helper.make_node("Identity", ["g"], ["r"])], "then", [],
                               [helper.make_tensor_value_info("r", TensorProto.FLOAT, None)])
    model = graph("g = Sigmoid(x) z = Mul(g, x)", yes=0)
    del model.graph.initializer[:]
    model.graph.input.append(helper.make_tensor_value_info("yes", TensorProto.BOOL, []))
    model.graph.node.append(helper.make_node("If", ["yes"], ["i"], then_branch=branch, else_branch=branch))
    model.graph.node.append(helper.make_node("Add", ["i", "z"], ["y"]))
    data = [{"x": x, "yes": np.array(True)} for x in batches()]
    outputs(pwl.onnx.convert(model, data, segments=8), data[0])


def branch(name, text, output, **constants):
    """A graph for If, which sees the tensors around it."""
    made = parser.parse_graph(f"{name} () => (float[N, 4] {output}) {{{text}}}")
    made.initializer.extend(numpy_helper.from_array(np.array(value, np.float32), key) for key, value in constants.items())
    return made


@test("branches of a constant condition are entered, nested ones too; others stay")
def _():
    inner = helper.make_node("If", ["no"], ["r"], then_branch=branch("a", "r = Identity(t)", "r"),
                             else_branch=branch("b", "g = Sigmoid(t) r = Mul(t, g)", "r"))
    outer = branch("c", "h = MatMul(x, w) t = Tanh(h)", "r", w=np.eye(4))
    outer.node.append(inner)
    for yes, no, found in ((True, False, ["silu", "tanh"]), (True, True, ["tanh"]), (False, False, ["softplus"])):
        model = graph("t = Identity(x) a = If(z)", z=0)
        del model.graph.node[:], model.graph.initializer[:]
        model.graph.initializer.append(numpy_helper.from_array(np.array(no), "no"))
        model.graph.node.extend([
            helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(np.array([not yes]))),
            helper.make_node("Not", ["c"], ["yes"]),
            helper.make_node("If", ["yes"], ["y"], then_branch=outer, else_branch=branch("d", "r = Softplus(x)", "r"))])
        tables = pwl.onnx.fit(model, batches(), 8, segments=8)
        assert sorted(table.function for table in tables.values()) == found, tables
        converted, x = pwl.onnx.replace(model, tables), batches(1)[0]
        assert not {"If", "Tanh", "Sigmoid", "Softplus"} & {node.op_type for node in converted.graph.node}
        exact = outputs(model, {"x": x})[0]
        error = np.sqrt(np.mean((outputs(converted, {"x": x})[0] - exact) ** 2) / np.mean(exact ** 2))
        assert 0 < error < 0.1, f"8 bits are {error:.2g} off"
    # A condition that is an input stays.
    model = graph("g = Sigmoid(x)", yes=0)
    del model.graph.initializer[:]
    model.graph.initializer.append(numpy_helper.from_array(np.array(False), "yes"))
    both = parser.parse_graph("e () => (float[N, 4] k, float[N, 4] r) {k = Identity(g) r = Tanh(g)}")
    model.graph.node.extend([helper.make_node("If", ["yes"], ["p", "q"], then_branch=both, else_branch=both),
                             helper.make_node("Add", ["p", "q"], ["y"])])
    x = batches(1)[0]
    converted = pwl.onnx.convert(model, batches(), segments=16)
    assert np.sqrt(np.mean((outputs(converted, {"x": x})[0] - outputs(model, {"x": x})[0]) ** 2)) < 0.05
    model.graph.input.append(helper.make_tensor_value_info("yes", TensorProto.BOOL, []))
    converted = pwl.onnx.convert(model, batches(), segments=16)
    assert "If" in [node.op_type for node in converted.graph.node]


@test("functions of the model, float16")
def _():
    model = parser.parse_model('<ir_version: 10, opset_import: ["": 21, "own": 1]> g (float[N, 4] x) => (float[N, 4] y) '
                               '{y = own.act(x)} <domain: "own", opset_import: ["": 21]> act (x) => (y) '
                               '{s = Sigmoid(x) y = Mul(x, s)}')
    converted = pwl.onnx.convert(model, batches(), segments=8)
    assert len(converted.graph.node) == 7, converted.graph.node
    half = parser.parse_model('<ir_version: 10, opset_import: ["": 21]> g (float16[N, 4] x) => (float16[N, 4] y) '
                              '{y = Sigmoid(x)}')
    data = [x.astype(np.float16) for x in batches()]
    tables = pwl.onnx.fit(half, data, segments=8, observer=lambda place: pwl.calibration.MinMax(power_of_two=True))
    got = outputs(pwl.onnx.replace(half, tables), {"x": data[0]})[0]
    equal(got, tables["y"].real(data[0].astype(np.float32)).astype(np.float16), "float16")


@test("quantisers alone round correctly; report splits the cost")
def _():
    model = graph("y = Tanh(x)")
    tables = pwl.onnx.fit(model, batches(), 8, method="lut")
    table, x = tables["y"], batches(1)[0]
    got = outputs(pwl.onnx.replace(model, tables, quantisers_only=True), {"x": x})[0]
    codes = table.quantize(x)
    exact = np.tanh(table.input.dequantize(codes).astype(np.float64))
    assert np.abs(got - exact).max() <= (0.5 + 1e-4) * table.output.scale  # float32's tanh is off by less than 1e-4 LSB
    report = pwl.onnx.report(model, tables, batches())
    use = report.activations[0]
    assert use.table < 1e-3 and use.quantisers > 0.1 and report.table.cosine > 0.999, report
    coarse = pwl.onnx.report(model, pwl.onnx.fit(model, batches(), 8, segments=3), batches())
    assert coarse.activations[0].table > 0.5 and coarse.table.cosine < coarse.quantisers.cosine, coarse
    assert str(report).count("|") > 20 and "tables" in str(report)


@test("report names what stays in float, and how many values tables would save")
def _():
    model = graph("t = Tanh(x) n = LayerNormalization(t, scale) s = Softmax(n) u = Unsqueeze(s, axis) h = LSTM<hidden_size = 3>(u, "
                  "wx, wh) f = ReduceSum<keepdims = 0>(h) e = Exp(s) y = Add(e, f)", scale=np.ones(4),
                  wx=np.ones((1, 12, 4)), wh=np.ones((1, 12, 3)))
    model.graph.initializer.append(numpy_helper.from_array(np.array([1]), "axis"))
    tables = pwl.onnx.fit(model, batches(), 8, segments=8, operators=False)
    found = pwl.onnx.report(model, tables, batches(2))
    got = {(one.operator, one.function): (one.name, one.count) for one in found.floats}
    rows = 2 * 64
    assert got == {("LayerNormalization", "rsqrt"): ("n", rows), ("Softmax", "exp"): ("s", 4 * rows), ("Exp", "exp"): ("e", 4 * rows),
                   ("LSTM", "sigmoid"): ("h", 3 * 3 * rows), ("LSTM", "tanh"): ("h", 2 * 3 * rows)}, got
    assert "| n              | LayerNormalization | rsqrt" in str(found), found


@test("report keeps the weights between two activations in float")
def _():
    # ONNX Runtime's own rounding of them to 8 bits would move most of the sums; these are exact in any order.
    w = random.integers(-99, 100, (4, 4)) / 1024 + 1
    model = graph("a = Tanh(x) c = Gemm(a, w) y = Sigmoid(c)", opset=21, w=w)
    tables = pwl.onnx.fit(model, batches(), 8, observer=lambda place: pwl.calibration.MinMax(8, power_of_two=True))
    changed, x = pwl.onnx.replace(model, tables), batches(1)[0]
    got = next(run_model(changed, ["c"], [x]))["c"]
    equal(got, tables["a"].real(x) @ w.astype(np.float32), "the Gemm")


@test("docs/python.md shows what runs")
def _():
    page = (pathlib.Path(__file__).parents[2] / "docs/python.md").read_text()
    code = page.partition("tests/python/test_onnx.py runs it -->\n```python\n")[2].partition("```")[0]
    assert "pwl.onnx.convert(" in code
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        try:
            onnx.save(graph("y = Tanh(x)"), "model.onnx")
            np.save("batches.npy", np.stack(batches()))
            names = {"print": lambda report: None}
            exec(code, names)
            assert os.path.getsize("model8.onnx") > 0 and names["tables"]["y"].certificate.max_err_lsb <= 1
        finally:
            os.chdir(here)


@test("what cannot be used is refused, and says what would do")
def _():
    model, x = graph("y = Tanh(x)"), batches(1)[0]
    table = pwl.fit("tanh", input="s8:2^-5", output="s8:2^-7", segments=4)
    spoilt = x.copy()
    spoilt[3, 1] = np.nan
    for message, function in [
            ("no activation to replace", lambda: pwl.onnx.convert(graph("y = Relu(x)"), [x])),
            ("there were no batches", lambda: pwl.onnx.convert(model, [])),
            ("there were no batches", lambda: pwl.onnx.convert(model, iter(()))),
            ("no data were observed", lambda: pwl.onnx.convert(model, [x[:0]])),
            ("batch 1, x: 1 of 256 numbers are NaN", lambda: pwl.onnx.convert(model, [x, spoilt])),
            ("a list of batches is wanted", lambda: pwl.onnx.convert(model, x)),
            ("a list of batches is wanted", lambda: pwl.onnx.convert(model, {"x": x})),
            ("a list of batches is wanted", lambda: pwl.onnx.convert(model, 3)),
            ("batch 0 has 2 arrays, and the model 1 inputs: x", lambda: pwl.onnx.convert(model, [(x, x)])),
            ("batch 0: ONNX Runtime refuses it", lambda: pwl.onnx.convert(model, [x.astype(np.int32)])),
            ("batch 0: ONNX Runtime refuses it", lambda: pwl.onnx.convert(model, [{"z": x}])),
            ("bits=17", lambda: pwl.onnx.convert(model, [x], bits=17)),
            ("bits='8'", lambda: pwl.onnx.convert(model, [x], bits="8")),
            ("convert_version", lambda: pwl.onnx.convert(graph("y = Tanh(x)", 11), [x])),
            ("an onnx.ModelProto", lambda: pwl.onnx.convert(3, [x])),
            ("no model of ONNX", lambda: pwl.onnx.convert(b"\xff\xfe", [x])),
            ("no model of ONNX", lambda: pwl.onnx.convert(__file__, [x])),
            ("no activation of the model makes this tensor", lambda: pwl.onnx.replace(model, {"z": table})),
            ("a pwl.Table is wanted", lambda: pwl.onnx.replace(model, {"y": "table"})),
            ("a pwl.Table is wanted", lambda: pwl.onnx.to_model(3)),
            ("at most 16 bits", lambda: pwl.onnx.to_model(pwl.fit("tanh", input="s20:2^-16", output="s16:2^-15"))),
            ("2^22", lambda: pwl.onnx.to_model(pwl.fit("relu", input="s16:2^-12:9000000", output="s16:2^-5"))),
            ("opset=12", lambda: pwl.onnx.to_model(table, 12)),
            ("no tables", lambda: pwl.onnx.report(model, {}, [x]))]:
        refused(message, function)
    refused("no_such_flag", lambda: pwl.onnx.convert(model, [x], no_such_flag=1))
    shapeless = onnx.ModelProto()
    shapeless.CopyFrom(model)
    shapeless.graph.output[0].type.tensor_type.ClearField("shape")  # ONNX Runtime runs it
    refused("onnx's checker refuses the model as it is: Field 'shape'", lambda: pwl.onnx.convert(shapeless, []))
    refused("onnx's checker refuses the model as it is", lambda: pwl.onnx.replace(shapeless, {}))
    refused("y: pwlc fit", lambda: pwl.onnx.convert(model, [x], segments=2, max_err=0.5), pwl.ToolError)
    refused("nowhere.onnx", lambda: pwl.onnx.convert("nowhere.onnx", [x]), OSError)


@test("a missing onnx or onnxruntime is named, with the command that brings it; import pwl needs neither")
def _():
    for missing, code in [("onnx", "import pwl.onnx"), ("onnxruntime", "import numpy, onnx, pwl.onnx\n"
                          "from onnx import parser\nm = parser.parse_model('<ir_version: 10, opset_import: [\"\": 21]> g (float[4]"
                          " x) => (float[4] y) {y = Tanh(x)}')\npwl.onnx.convert(m, [numpy.zeros(4, 'f')])")]:
        text = (f"import sys, pwl\nassert 'onnx' not in sys.modules\nsys.modules['{missing}'] = None\ntry:\n"
                + "".join(f"    {line}\n" for line in code.splitlines()) + "except pwl.MissingError as error:\n    print(error)")
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
        assert "pip install" in done.stdout and missing in done.stdout, done.stdout


end()
