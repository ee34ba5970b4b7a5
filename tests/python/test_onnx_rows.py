#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Softmax and norms of models of ONNX by row operators: the operator's bits in ONNX Runtime, what is found in which
spelling, and what is refused. PYTHONPATH says where the package is.

usage: test_onnx_rows.py PWLC
"""
import os
import sys

from harness import end, equal, np, refused, test

import pwl

try:
    import onnx
    import onnxruntime
except ImportError as missing:
    print(f"1..0 # SKIP {missing.name} is missing: pip install onnx onnxruntime, or ./dev test python")
    sys.exit(0)
from onnx import numpy_helper, parser

import pwl.onnx

os.environ["PWLC"] = os.path.abspath(sys.argv[1])
random = np.random.default_rng(47)
onnxruntime.set_default_logger_severity(3)
CHANNELS = 24


def outputs(model, feeds, names=None):
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(names, feeds)


def graph(text, opset=21, shape="N, 24", **constants):
    """A model from the text of its nodes, from float x to float y."""
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["": {opset}]> '
                               f'g (float[{shape}] x) => (float[{shape}] y) {{{text}}}')
    for name, value in constants.items():
        array = value if isinstance(value, np.ndarray) and value.dtype == np.int64 else np.array(value, np.float32)
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    return model


def gammas(count):
    return random.uniform(-2, 2, count).astype(np.float32), random.normal(0, 0.5, count).astype(np.float32)


def hard_rows(op, length):
    """Codes of rows: drawn of many widths, equal, two values, one against many, ends, outliers."""
    low, high = op.input.qmin, op.input.qmax
    rows = [np.clip(np.rint(random.normal(random.uniform(low, high), width, (6, length))), low, high)
            for width in (0.3, 1, 5, 30, 1000, 20000)]
    rows += [np.full((1, length), code) for code in (low, high, (low + high + 1) // 2, op.input.zero_point)]
    for a, b in ((low, high), (high, low), (0, 1), (high, high - 1)):
        for split in (1, length // 2, length - 1):
            rows.append(np.where(np.arange(length) < split, np.clip(a, low, high), np.clip(b, low, high))[None])
    return np.concatenate(rows).astype(op.input.dtype)


def check_bits(op, length, opset, what):
    codes = hard_rows(op, length)
    x = op.input.dequantize(codes)
    equal(op.quantize(x), codes, f"{what}: codes come back")
    model = pwl.onnx.to_model(op, opset)
    equal(outputs(model, {"x": x})[0].view(np.int32), op.dequantize(op(codes)).view(np.int32), f"{what}, opset {opset}")
    for node in model.graph.node:
        assert node.op_type in ALLOWED and node.domain == "", node.op_type


ALLOWED = {"QuantizeLinear", "DequantizeLinear", "Cast", "Where", "IsNaN", "Div", "Round", "Clip", "Add", "Sub", "Mul", "Mod",
           "ReduceMax", "ReduceSum", "Greater", "GreaterOrEqual", "Less", "Equal", "Gather", "GatherElements", "Reshape", "Shape",
           "Max", "Min", "Neg"}
G, B = gammas(48)
OPERATORS = {
    "softmax s8 u8": (pwl.softmax("s8:0.0472", "u8:2^-8", rows=4096), 77),
    "softmax s8 u8, long": (pwl.softmax("s8:0.0472", "u8:2^-8", rows=65536), 60000),
    "softmax u8 s16": (pwl.softmax("u8:0.3:7", "s16:2^-15", rows=300), 300),
    "softmax u8 s8 as TFLite": (pwl.softmax("u8:0.1:128", "s8:2^-8:-128", rows=300), 200),
    "softmax s16 u16": (pwl.softmax("s16:0.0003:5", "u16:2^-16", rows=300), 300),
    "softmax s8, few bits": (pwl.softmax("s8:0.05", "u8:2^-1", rows=300), 256),
    "softmax s16, few bits": (pwl.softmax("s16:0.0003", "u8:2^-1", rows=300, fraction=8), 300),
    "logsoftmax s8 s8": (pwl.log_softmax("s8:0.05", "s8:0.05:127", rows=300), 300),
    "logsoftmax s16 s16": (pwl.log_softmax("s16:0.0003", "s16:2^-11:32767", rows=300), 150),
    "layernorm s8 s8": (pwl.layernorm("s8:0.05:3", "s8:0.03:-4", G, B, 1e-6), 48),
    "layernorm s16 s16": (pwl.layernorm("s16:2^-10", "s16:2^-11", G, B, 1e-5), 48),
    "layernorm u16 u8, no eps": (pwl.layernorm("u16:2^-10:30000", "u8:0.03:100", eps=0, rows=48), 48),
    "layernorm of one": (pwl.layernorm("s8:2^-5", "s8:2^-5", rows=1), 1),
    "layernorm, long": (pwl.layernorm("s16:2^-10", "s16:2^-11", rows=65536), 65536),
    "rmsnorm u8 s8": (pwl.rmsnorm("u8:0.02:100", "s8:0.04", G), 48),
    "rmsnorm s16 s16": (pwl.rmsnorm("s16:2^-10:-3000", "s16:2^-11", G, 1e-6, beta=B), 48),
    "l2norm": (pwl.l2norm("s8:2^-5", "s8:2^-7", rows=48), 48),
}


@test("operators of all kinds and types have their bits in ONNX Runtime, opsets 13, 17, 18 and 21")
def _():
    for name, (op, length) in OPERATORS.items():
        for opset in (13, 21) if length < 1000 else (21,):
            check_bits(op, length, opset, name)
    for opset in (17, 18):
        check_bits(OPERATORS["softmax s16 u16"][0], 100, opset, "softmax")
        check_bits(OPERATORS["layernorm s8 s8"][0], 48, opset, "layernorm")
    check_bits(OPERATORS["softmax s8 u8"][0], 1, 21, "a row of one")


@test("masked places take no part")
def _():
    mask = random.integers(0, 2, (40, 30)).astype(bool)
    mask[0], mask[1] = False, True
    for op in (OPERATORS["softmax s8 u8"][0], OPERATORS["logsoftmax s8 s8"][0], OPERATORS["softmax s16 u16"][0],
               OPERATORS["softmax u8 s8 as TFLite"][0]):
        codes = random.integers(op.input.qmin, op.input.qmax + 1, (40, 30)).astype(op.input.dtype)
        x = np.where(mask, op.input.dequantize(codes), -np.inf).astype(np.float32)
        equal(outputs(pwl.onnx.to_model(op), {"x": x})[0], op.dequantize(op(codes, mask=mask)), repr(op))
        equal(op.real(x), op.dequantize(op(codes, mask=mask)), "real()")


MEANS = {13: "m = ReduceMean<axes = [-1]>(x) ", 18: "m = ReduceMean(x, last) ", 14: "m = ReduceMean<axes = [1], keepdims = 1>(x) "}
SQUARES = {opset: text.replace("m = ", "v = ").replace("(x", "(q") for opset, text in MEANS.items()}
gamma, beta = gammas(CHANNELS)
CONSTANTS = {"gamma": gamma, "beta": beta, "two": 2, "half": 0.5, "one": 1, "eps": 1e-5}
LAST = np.array([-1])
# (function, opset, nodes): the issue's own spelling first.
SPELLINGS = [
    ("layernorm", 13, MEANS[13] + "d = Sub(x, m) q = Pow(d, two) " + SQUARES[13] + "e = Add(v, eps) r = Sqrt(e) n = Div(d, r) "
     "s = Mul(n, gamma) y = Add(s, beta)"),
    ("layernorm", 18, MEANS[18] + "d = Sub(x, m) q = Mul(d, d) " + SQUARES[18] + "e = Add(eps, v) r = Sqrt(e) i = Reciprocal(r) "
     "n = Mul(d, i) s = Mul(gamma, n) y = Add(beta, s)"),
    ("layernorm", 14, MEANS[14] + "d = Sub(x, m) f = Cast<to = 1>(d) q = Pow(f, two) " + SQUARES[14] + "e = Add(v, eps) "
     "r = Pow(e, half) n = Div(d, r) s = Mul(n, gamma) y = Add(s, beta)"),
    ("layernorm", 13, MEANS[13] + "d = Sub(x, m) q = Pow(d, two) " + SQUARES[13] + "e = Add(v, eps) r = Sqrt(e) y = Div(d, r)"),
    ("rmsnorm", 13, "q = Pow(x, two) " + SQUARES[13] + "e = Add(v, eps) r = Sqrt(e) i = Div(one, r) n = Mul(x, i) "
     "y = Mul(gamma, n)"),
    ("rmsnorm", 18, "q = Mul(x, x) " + SQUARES[18] + "e = Add(v, eps) r = Sqrt(e) n = Div(x, r) g = Add(one, gamma) "
     "y = Mul(n, g)"),
    ("layernorm", 17, "y = LayerNormalization(x, gamma, beta)"),
    ("layernorm", 17, "y = LayerNormalization<axis = 1, epsilon = 0.00001>(x, gamma)"),
    ("rmsnorm", 23, "y = RMSNormalization(x, gamma)"),
    ("softmax", 13, "y = Softmax(x)"),
    ("softmax", 13, "y = Softmax<axis = 0>(x)"),
    ("logsoftmax", 13, "y = LogSoftmax<axis = 1>(x)"),
]
# What looks alike and is none: over another axis, of another tensor, without a mean, without the root.
OTHERS = [
    (13, "m = ReduceMean<axes = [0]>(x) d = Sub(x, m) q = Pow(d, two) v = ReduceMean<axes = [0]>(q) e = Add(v, eps) r = Sqrt(e) "
     "y = Div(d, r)"),
    (13, MEANS[13] + "d = Sub(x, m) q = Pow(d, two) " + SQUARES[13] + "e = Add(v, eps) y = Div(d, e)"),
    (13, "z = MatMul(x, w) q = Pow(z, two) " + SQUARES[13] + "e = Add(v, eps) r = Sqrt(e) y = Div(x, r)"),
    (17, "g = ReduceMax<axes = [0], keepdims = 0>(x) y = LayerNormalization(x, g)"),
]


@test("softmax and norms are found in every spelling, and nothing else is")
def _():
    for function, opset, text in SPELLINGS:
        place, = pwl.onnx.find(graph(text, opset, last=LAST, **CONSTANTS))
        assert (str(place), place.input, place.output) == (function, "x", "y"), (text, place)
        x = random.normal(0, 2, (6, CHANNELS)).astype(np.float32)
        if opset < 23:
            exact = outputs(graph(text, opset, last=LAST, **CONSTANTS), {"x": x})[0]
            assert np.abs(np.moveaxis(place.values(place.rows(x)), -1, place.axis) - exact).max() < 1e-5, text
        if place.is_norm:
            assert abs(place.eps - 1e-5) < 1e-9, place.eps
    for opset, text in OTHERS:
        refused("no activation to replace", lambda: pwl.onnx.find(graph(text, opset, last=LAST, w=np.eye(24) * 2, **CONSTANTS)))
    refused("no activation to replace", lambda: pwl.onnx.find(graph("y = Softmax(x)"), operators=False))
    return f"{len(SPELLINGS)} spellings"


def batches(*shape, count=3):
    return [random.normal(0, 2, shape).astype(np.float32) for _ in range(count)]


@test("convert: each spelling has the bits of its operator, 8 and 16 bits, in the model's opset")
def _():
    for function, opset, text in SPELLINGS:
        if opset == 23:  # beyond ONNX Runtime
            continue
        model = graph(text, opset, last=LAST, **CONSTANTS)
        data = batches(64, CHANNELS)
        for bits in (8, 16):
            tables = pwl.onnx.fit(model, data, bits, observer=lambda place: pwl.calibration.MinMax(bits, power_of_two=True))
            op = tables["y"]
            assert isinstance(op, pwl.RowOperator) and op.operator == function and op.input.bits == bits
            made = pwl.onnx.replace(model, tables)
            assert made.opset_import[0].version == opset
            left = {"Softmax", "LogSoftmax", "LayerNormalization", "ReduceMean", "Sqrt"}
            assert not left & {node.op_type for node in made.graph.node}
            x = batches(9, CHANNELS, count=1)[0]
            turned = x.T if "axis = 0" in text else x
            wanted = op.real(turned)
            equal(outputs(made, {"x": x})[0], wanted.T if "axis = 0" in text else wanted, f"{text}, {bits} bits")
            exact = outputs(model, {"x": data[0]})[0]
            assert np.abs(outputs(made, {"x": data[0]})[0] - exact).max() < (1 if bits == 8 else 0.006), text


ATTENTION = ("m = ReduceMean<axes = [-1]>(x) d = Sub(x, m) q2 = Pow(d, two) v2 = ReduceMean<axes = [-1]>(q2) e2 = Add(v2, eps) "
             "r2 = Sqrt(e2) n = Div(d, r2) s = Mul(n, gamma) h = Add(s, beta) q = MatMul(h, wq) k = MatMul(h, wk) "
             "t = Transpose<perm = [0, 2, 1]>(k) c = MatMul(q, t) masked = Add(c, mask) p = Softmax(masked) o = MatMul(p, h) "
             "ge = Div(o, root) gf = Erf(ge) gg = Add(gf, one) gh = Mul(o, gg) gi = Mul(gh, half) out = MatMul(gi, wq) "
             "sum = Add(out, x) y = LayerNormalization(sum, gamma, beta)")
WEIGHTS = {"wq": random.normal(0, 0.2, (24, 24)), "wk": random.normal(0, 0.2, (24, 24)), "root": np.sqrt(2),
           "mask": np.triu(np.full((9, 9), -np.inf), 1), **CONSTANTS}


@test("a block with attention: norms, masked softmax and an Erf-spelled GELU; the report takes them apart")
def _():
    model = graph(ATTENTION, 17, shape="N, 9, 24", **WEIGHTS)
    data = batches(4, 9, 24)
    tables = pwl.onnx.fit(model, data, 8, segments=16)
    kinds = {name: table.operator if isinstance(table, pwl.RowOperator) else table.function for name, table in tables.items()}
    assert kinds == {"h": "layernorm", "p": "softmax", "y": "layernorm", "gi": "gelu"}, kinds
    assert tables["p"].input.scale < 0.5 and tables["p"].rows == 4096, tables["p"]
    report = pwl.onnx.report(model, tables, data)
    uses = {use.name: use for use in report.activations}
    assert set(uses) == set(tables) and not report.floats, report
    for name in ("h", "p", "y"):
        use, op = uses[name], tables[name]
        assert use.table < 0.05 and 0.2 < use.quantisers <= use.error + 0.05 < 3, use
        assert use.function == op.operator and use.bytes == op.nbytes and use.segments == 16
    assert uses["p"].low > -40, "what is masked counts for no range"
    assert 0.99 < report.table.cosine and abs(report.table.cosine - report.quantisers.cosine) < 2e-3, report
    wide = pwl.onnx.report(model, pwl.onnx.fit(model, data, 16), data)
    assert 1 - wide.table.cosine < 1e-5 and 1 - wide.quantisers.cosine < 1e-5, wide
    made = pwl.onnx.replace(model, tables)
    sizes = sorted(len(tensor.raw_data) for tensor in made.graph.initializer)
    assert sizes.count(2 * 49152) == 1 and sizes.count(2 * 32768) == 1, "each core once"
    for name in ("h", "p", "masked", "sum"):
        made.graph.output.append(onnx.ValueInfoProto(name=name))
    y, h, p, masked, total = outputs(made, {"x": data[0]}, ["y", "h", "p", "masked", "sum"])
    assert (p[:, np.triu(np.ones((9, 9)), 1) > 0] == 0).all()
    for name, x, got in (("h", data[0], h), ("p", masked, p), ("y", total, y)):
        op = tables[name]
        off = np.abs(got - op.real(x)) / op.output.scale  # numbers half way between codes may go either way
        assert (off > 0).mean() < 0.01, (name, off.max())
    stay = pwl.onnx.fit(model, data, 8, operators=False)
    assert list(stay) == ["gi"] and {one.operator for one in pwl.onnx.report(model, stay, data).floats} >= {"Softmax", "Sqrt"}


@test("float16, and a rank of four over a middle axis")
def _():
    half = parser.parse_model('<ir_version: 10, opset_import: ["": 21]> g (float16[N, 24] x) => (float16[N, 24] y) '
                              '{y = Softmax(x)}')
    data = [x.astype(np.float16) for x in batches(16, 24)]
    tables = pwl.onnx.fit(half, data, observer=lambda place: pwl.calibration.MinMax(power_of_two=True))
    equal(outputs(pwl.onnx.replace(half, tables), {"x": data[0]})[0],
          tables["y"].real(data[0].astype(np.float32)).astype(np.float16), "float16")
    model = graph("y = Softmax<axis = -2>(x)", shape="N, 3, 5, 24")
    data = batches(2, 3, 5, 24)
    tables = pwl.onnx.fit(model, data, observer=lambda place: pwl.calibration.MinMax(power_of_two=True), rows=5)
    assert tables["y"].rows == 5
    wide = pwl.onnx.fit(model, data, 12, observer=lambda place: pwl.calibration.MinMax(12))["y"]
    assert (wide.input.bits, wide.output.bits) == (16, 16)
    equal(outputs(pwl.onnx.replace(model, tables), {"x": data[0]})[0],
          np.moveaxis(tables["y"].real(np.moveaxis(data[0], -2, -1)), -1, -2), "axis -2")
    quantised = outputs(pwl.onnx.replace(model, tables, quantisers_only=True), {"x": data[0]})[0]
    assert np.abs(quantised - outputs(pwl.onnx.replace(model, tables), {"x": data[0]})[0]).max() <= 2.0 ** -8


@test("what cannot be used is refused, and says what would do")
def _():
    model, data = graph("y = Softmax(x)"), batches(8, 24)
    norm = graph("y = LayerNormalization(x, gamma)", gamma=gamma)
    soft, layer = OPERATORS["softmax s8 u8"][0], OPERATORS["layernorm s8 s8"][0]
    table = pwl.fit("tanh", input="s8:2^-5", output="s8:2^-7", segments=4)
    spoilt = data[0].copy()
    spoilt[3, 1] = np.nan
    for message, function in [
            ("a pwl.RowOperator of softmax is wanted", lambda: pwl.onnx.replace(model, {"y": table})),
            ("a pwl.RowOperator of softmax is wanted", lambda: pwl.onnx.replace(model, {"y": layer})),
            ("an operator of 48 channels; 24 are wanted", lambda: pwl.onnx.replace(norm, {"y": layer})),
            ("a pwl.Table is wanted", lambda: pwl.onnx.replace(graph("y = Tanh(x)"), {"y": soft})),
            ("rows=23: must be an integer from 24", lambda: pwl.onnx.convert(model, data, rows=23)),
            ("batch 1, x: 1 of 192 numbers are NaN", lambda: pwl.onnx.convert(norm, [data[0], spoilt])),
            ("NaN", lambda: pwl.onnx.convert(model, [spoilt]))]:
        refused(message, function)


end()
