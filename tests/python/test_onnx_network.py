#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Models of ONNX as networks of integers: what is read, how near its codes are, and what is named where it is not taken.
PYTHONPATH says where the package is.

usage: test_onnx_network.py PWLC
"""
import dataclasses
import os
import sys
import tempfile
import warnings

from harness import end, equal, np, page_program, printed_by, refused, test

import pwl

try:
    import onnx
    import onnxruntime
except ImportError as missing:
    print(f"1..0 # SKIP {missing.name} is missing: pip install onnx onnxruntime, or ./dev test python")
    sys.exit(0)
from onnx import numpy_helper, parser

import pwl.onnx
from pwl.network import Widths, quantise
from pwl.onnx.network import real_network

os.environ["PWLC"] = os.path.abspath(sys.argv[1])
random = np.random.default_rng(51)
onnxruntime.set_default_logger_severity(3)
FEW = dataclasses.replace(Widths.all(16), segments=(16, 16))  # tables that are fitted quickly


def graph(text, inputs="float[N, 3, 12, 12] x", opset=21, output="y", **constants):
    """A model from the text of its nodes."""
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["": {opset}]> g ({inputs}) => (float[] {output}) {{{text}}}')
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    for name, value in constants.items():
        value = np.asarray(value)
        array = value if value.dtype.kind in "iub" else value.astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    return model


def drawn(*shape, scale=1.0):
    return (random.normal(0, scale, shape)).astype(np.float32)


def outputs(model, feeds):
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, feeds)[0]


def near(model, batches, worst, widths=FEW, **flags):
    """Makes a network of a model, and holds its numbers, relative to the largest, within `worst` of the model's; that the real
    network is the model's was seen when it was read."""
    names = [value.name for value in model.graph.input]
    network, ranges = real_network(model, batches, **flags)
    made = quantise(network, ranges, widths)
    for batch in batches:
        inputs = batch if isinstance(batch, tuple) else (batch,)
        exact, found = outputs(model, dict(zip(names, inputs))), made.real(*inputs)
        error = np.abs(found - exact).max() / np.abs(exact).max()
        assert error <= worst, f"{error:.5f}"
    return network


def kinds(network):
    return [op.kind for op in network.ops]


def functions(network):
    return [op.function if isinstance(op.function, str) else "of its own" for op in network.ops if op.kind == "function"]


PICTURES = [drawn(4, 3, 12, 12), drawn(2, 3, 12, 12)]


@test("convolutions: batch norm, factors and summands of channels go into weights; groups, ends, strides, dilation")
def _():
    text = """a = Conv<kernel_shape=[3,3], pads=[1,1,1,1], strides=[2,2]>(x, w0)
              b = Add(a, shift)
              c = BatchNormalization(b, gamma, beta, mean, var)
              d = Mul(c, factor)
              e = Relu(d)
              y = Conv<group=8, pads=[2,2,2,2], dilations=[2,2]>(e, w1, bias)"""
    constants = dict(w0=drawn(8, 3, 3, 3), shift=drawn(1, 8, 1, 1), gamma=drawn(8), beta=drawn(8), mean=drawn(8), var=np.exp(drawn(8)),
                     factor=drawn(8, 1, 1), w1=drawn(8, 1, 3, 3), bias=drawn(8))
    network = near(graph(text, **constants), PICTURES, 0.03)
    assert kinds(network) == ["convolution", "function", "convolution"] and functions(network) == ["relu"]
    for flags in ("pads=[0,1,1,2]", "pads=[0,0,1,1], strides=[2,2]", 'auto_pad="SAME_UPPER", strides=[2,2]',
                  'auto_pad="SAME_LOWER", strides=[2,2]', 'auto_pad="VALID"', "pads=[0,0,2,2], dilations=[2,2]"):
        near(graph(f"y = Conv<{flags}>(x, w0)", w0=constants["w0"]), PICTURES, 0.02)
    near(graph("y = Conv<pads=[1,2]>(x, w)", "float[N, 3, 12] x", w=drawn(5, 3, 4)), [drawn(4, 3, 12)], 0.02)
    # A batch norm that follows no layer is a convolution of each channel.
    network = near(graph("a = Relu(x) y = BatchNormalization(a, gamma, beta, mean, var)",
                         **{name: constants[name][:3] for name in ("gamma", "beta", "mean", "var")}), PICTURES, 0.01)
    assert kinds(network) == ["function", "convolution"] and network.ops[1].fields["groups"] == 3


@test("pools, means, transposed convolutions, repeated places")
def _():
    network = near(graph("""a = Conv(x, w) b = MaxPool<kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]>(a)
                            c = AveragePool<kernel_shape=[2,2], strides=[2,2]>(b) d = GlobalAveragePool(c) e = Flatten(d)
                            y = Gemm<transB=1, alpha=0.5, beta=2.0>(e, v, bias)""", w=drawn(6, 3, 3, 3), v=drawn(5, 6), bias=drawn(5)),
                   PICTURES, 0.02)
    assert kinds(network) == ["convolution", "max_pool", "convolution", "reshape", "mean", "linear"]
    near(graph("a = Relu(x) y = ReduceMean<keepdims=0>(a, axes)", axes=[2, 3]), PICTURES, 0.01)
    near(graph("a = Relu(x) y = ReduceMean<axes=[1], keepdims=1>(a)", opset=13), PICTURES, 0.01)
    near(graph("y = ConvTranspose<strides=[2,3]>(x, w, bias)", w=drawn(3, 4, 2, 3), bias=drawn(4)), PICTURES, 0.02)
    near(graph("y = ConvTranspose<strides=[2]>(x, w)", "float[N, 3, 12] x", w=drawn(3, 4, 2)), [drawn(4, 3, 12)], 0.02)
    for flags in ('coordinate_transformation_mode="asymmetric", nearest_mode="floor"', 'mode="nearest"'):
        network = near(graph(f"a = Conv(x, w) y = Resize<{flags}>(a, none, by)", w=drawn(4, 3, 1, 1), none=np.zeros(0), by=[1., 1, 2, 3]),
                       PICTURES, 0.02)
        assert set(kinds(network)) == {"convolution", "reshape", "concat"}


@test("functions of single numbers: nodes of their own and spelled, by pwlc's names; lines go into what is before them")
def _():
    two, half, one, root = np.float32(2), np.float32(0.5), np.float32(1), np.float32(np.sqrt(2))
    w = random.integers(-127, 128, (8, 8))
    w[0] = 127  # so that weights of 8 bits are exact, and what is seen is the functions'
    constants = dict(w=w / 127, two=two, half=half, one=one, root=root, three=np.float32(3), six=np.float32(6), zero=np.float32(0),
                     slope=np.array([0.2]))
    for text, name in (("b = Div(a, root) c = Erf(b) d = Add(c, one) e = Mul(a, d) y = Mul(e, half)", "gelu"),
                       ("y = Gelu<approximate=\"tanh\">(a)", "gelu_tanh"), ("b = Sigmoid(a) y = Mul(a, b)", "silu"),
                       ("b = Add(a, three) c = Clip(b, zero, six) d = Mul(a, c) y = Div(d, six)", "hard_swish"), ("y = HardSwish(a)", "hard_swish"),
                       ("y = HardSigmoid(a)", "of its own"), ("y = HardSigmoid<alpha=0.16666667>(a)", "hard_sigmoid"), ("y = Relu(a)", "relu"),
                       ("y = Clip(a, zero, six)", "relu6"), ("y = LeakyRelu<alpha=0.3>(a)", "leaky_relu"), ("y = PRelu(a, slope)", "of its own"),
                       ("y = Clip(a, zero, three)", "of its own"), ("b = Sigmoid(a) c = Mul(b, two) y = Sub(c, one)", "of its own"),
                       ("y = Tanh(a)", "tanh"), ("y = Identity(a)", None), ("b = Mul(a, two) c = Sub(one, b) y = Div(c, three)", None)):
        network = near(graph("a = MatMul(x, w) " + text, "float[N, 8] x", **constants), [drawn(64, 8)], 0.01)
        assert kinds(network) == ["linear"] + ["function"] * (name is not None), (text, kinds(network))
        assert functions(network) == ([name] if name else []), (text, functions(network))
    # Without weights before it, a line is a product and a sum with constants.
    network = near(graph("a = Mul(x, three) y = Sub(a, one)", "float[N, 8] x", **constants), [drawn(64, 8)], 0.01)
    assert kinds(network) == ["constant", "multiply", "constant", "add"]


BLOCK = """
    word = Gather(words, ids) length = Shape<start=1, end=2>(ids) zero_to = ConstantOfShape<value = int64[1] {0}>(one_int)
    place = Slice(positions, zero_to, length, axis) h = Add(word, place)
    m = ReduceMean<axes=[-1]>(h) dd = Sub(h, m) sq = Pow(dd, two) v = ReduceMean<axes=[-1]>(sq) ve = Add(v, eps) s = Sqrt(ve) t = Div(dd, s)
    tg = Mul(t, gamma) n = Add(tg, beta)
    qkv0 = MatMul(n, wqkv) qkv = Add(bqkv, qkv0)
    whole = Shape(n) batch = Gather<axis=0>(whole, zero) batch1 = Unsqueeze(batch, axis0) split_shape = Concat<axis=0>(batch1, length, heads)
    q, k, u = Split<axis=2>(qkv, thirds)
    q1 = Reshape(q, split_shape) q2 = Transpose<perm=[0,2,1,3]>(q1) k1 = Reshape(k, split_shape) k2 = Transpose<perm=[0,2,3,1]>(k1)
    u1 = Reshape(u, split_shape) u2 = Transpose<perm=[0,2,1,3]>(u1)
    scores = MatMul(q2, k2) scaled = Div(scores, root) """
AFTER = """
    shares = Softmax<axis=-1>(masked) o = MatMul(shares, u2) o1 = Transpose<perm=[0,2,1,3]>(o) o2 = Reshape(o1, joined)
    p0 = MatMul(o2, wo) p = Add(p0, bo) r = Add(p, h) first = Gather<axis=1>(r, zero) y = LpNormalization<axis=-1>(first)"""
MASKS = {
    "none": "masked = Identity(scaled)",
    "padding, added": """keep1 = Unsqueeze(keep, axes12) keepf = Cast<to=1>(keep1) less = Sub(one, keepf) add = Mul(less, least)
                         masked = Add(scaled, add)""",
    "padding, chosen": """keep1 = Unsqueeze(keep, axes12) gone = Equal(keep1, zero) masked = Where(gone, least, scaled)""",
    "causal": """l0 = Squeeze(length) range = Range(zero, l0, one_int0) row = Unsqueeze(range, axis) gone = Greater(range, row)
                 goner = Cast<to=1>(gone) add = Mul(goner, least) masked = Add(scaled, add)""",
    "both": """l0 = Squeeze(length) range = Range(zero, l0, one_int0) row = Unsqueeze(range, axis) seen = LessOrEqual(range, row)
               keep1 = Unsqueeze(keep, axes12) keepb = Cast<to=9>(keep1) sees = And(seen, keepb) masked = Where(sees, scaled, least)""",
}


def block(how, width=16):
    constants = dict(
        words=drawn(50, width), positions=drawn(1, 12, width), one_int=[1], axis=[1], axis0=[0], two=np.float32(2), eps=np.float32(1e-5),
        gamma=1 + drawn(width, scale=0.1), beta=drawn(width), wqkv=drawn(width, 3 * width, scale=0.3), bqkv=drawn(3 * width), heads=[4, width // 4],
        thirds=[width] * 3, root=np.float32(2), joined=[0, 0, -1], wo=drawn(width, width, scale=0.3), bo=drawn(width),
        zero=np.int64(0), axes12=[1, 2], one=np.float32(1), least=np.float32(-3e38), one_int0=np.int64(1))
    inputs = "int64[N, L] ids" + (", int64[N, L] keep" if how in ("padding, added", "padding, chosen", "both") else "")
    return graph(BLOCK + MASKS[how] + AFTER, inputs, opset=17, **constants)


def tokens(count, length):
    keep = np.ones((count, length), np.int64)
    keep[0, length // 2:] = 0
    return random.integers(0, 50, (count, length)), keep


@test("a block of attention, its sizes computed in the graph, its mask in each way that models write one")
def _():
    for how, causal, masked in (("none", 0, False), ("padding, added", 0, True), ("padding, chosen", 0, True), ("causal", 1, False),
                                ("both", 1, True)):
        batches = [one if masked else one[:1] for one in (tokens(3, 12), tokens(2, 7))]
        network = near(block(how), batches, 0.03)
        softmax = next(op for op in network.ops if op.kind == "softmax")
        assert softmax.fields["causal"] == causal and softmax.inputs[1:] == (("keep",) if masked else ()), (how, softmax)
        assert [one.role for one in network.inputs] == ["index", "mask"][:1 + masked]
        for kind, count in (("layernorm", 1), ("l2norm", 1), ("gather", 1), ("linear", 2), ("matmul", 2), ("scale", 0), ("add", 2)):
            assert kinds(network).count(kind) == count, (how, kind, kinds(network))


@test("GRU and LSTM: each direction, with and without bias, the last state")
def _():
    for kind, gates in (("GRU", 3), ("LSTM", 4)):
        for direction, count in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
            flags = f'hidden_size=6, direction="{direction}"' + (", linear_before_reset=1" if kind == "GRU" else "")
            constants = dict(w=drawn(count, gates * 6, 4, scale=0.5), r=drawn(count, gates * 6, 6, scale=0.5), b=drawn(count, gates * 12, scale=0.5),
                             axis=[1], zeros=np.zeros((count, 3, 6)))
            batches, sizes = [drawn(7, 3, 4)], {"x": ("time", 3, 4)}
            texts = [f"y, s = {kind}<{flags}>(x, w, r, b)", f"t, y = {kind}<{flags}>(x, w, r)",
                     f"t, s = {kind}<{flags}>(x, w, r, b, , zeros) y = Add(t, s)"]  # [time, direction, batch, 6] and its last place
            for text in texts if count == 2 else texts[1:2]:
                network = near(graph(text, "float[T, 3, 4] x", **constants), batches, 0.02, sizes=sizes)
                assert kinds(network).count("loop") == count


@test("GRU and LSTM give their last states too, with and without the states of all places, by libpwl and numpy")
def _():
    for kind, gates, name in (("GRU", 3, ""), ("LSTM", 4, ""), ("LSTM", 4, ", c")):
        flags = 'hidden_size=6, direction="bidirectional"' + (", linear_before_reset=1" if kind == "GRU" else "")
        constants = dict(w=drawn(2, gates * 6, 4, scale=0.5), r=drawn(2, gates * 6, 6, scale=0.5), b=drawn(2, gates * 12, scale=0.5))
        for outputs in ("y, h" + name, ", h" + name, *([", , c"] if name else [])):
            asked = [one for one in outputs.split(", ") if one]
            model = graph(f"{outputs} = {kind}<{flags}>(x, w, r, b)", "float[T, 3, 4] x", output=", float[] ".join(asked), **constants)
            x = drawn(7, 3, 4)
            made = pwl.onnx.quantize(model, [x], FEW, sizes={"x": ("time", 3, 4)})
            codes, session = made.nearest("x", x), onnxruntime.InferenceSession(model.SerializeToString())
            given, wanted = (found if isinstance(found, tuple) else (found,) for found in (made(codes), made(codes, by="numpy")))
            for edge, found, other, exact in zip(made.outputs, given, wanted, session.run(asked, {"x": x})):
                equal(found, other, f"{kind}, {edge}")
                assert np.abs(made.edges[edge].type.dequantize(found) - exact).max() < 0.02 * np.abs(exact).max(), (kind, edge)
            assert len(given) == len(asked)


@test("what moves numbers: parts, splits, joins, axes")
def _():
    for text in ("y = Slice(a, starts, ends, axes, steps)", "p, y = Split<axis=1>(a, parts)", "p, q = Split<axis=2, num_outputs=2>(a) y = Concat<axis=-1>(q, p)",
                 "p = Unsqueeze(a, axes) q = Squeeze(p, axes) y = Transpose<perm=[0,2,1]>(q)", "y = Flatten<axis=2>(a)", "y = Gather<axis=1>(a, last)",
                 "y = Gather<axis=2>(a, evenly)", "p = Concat<axis=1>(a, a, a) y = Reshape(p, shape)", "y = Transpose(a)",
                 "p = Shape(a) y = Expand(a, p)"):
        model = graph("a = MatMul(x, w) " + text, "float[N, 4, 6] x", w=drawn(6, 6), starts=[1, -5], ends=[9, 2 ** 62], axes=[1, 2], steps=[1, 2],
                      parts=[1, 3], last=np.int64(-1), evenly=[1, 3, 5], shape=[0, -1, 3])
        network = near(model, [drawn(5, 4, 6), drawn(3, 4, 6)], 0.02, sizes={"x": ("batch", 4, 6)})
        assert set(kinds(network)) <= {"linear", "reshape", "transpose", "slice", "concat"}, kinds(network)


@test("QDQ: weights of codes are their numbers, pairs go, and those that cut off what is negative are a function")
def _():
    scale, zero8, zero = np.float32(0.05), np.int8(3), np.uint8(0)
    w = random.integers(-128, 128, (8, 3, 3, 3)).astype(np.int8)
    constants = dict(w=w, ws=np.exp(drawn(8)) / 300, wz=np.zeros(8, np.int8), s=scale, z8=zero8, z=zero, five=np.float32(5 / 255), half=np.float32(0.03))
    text = """xq = QuantizeLinear(x, half, z8) xd = DequantizeLinear(xq, half, z8) wd = DequantizeLinear<axis=0>(w, ws, wz)
              c = Conv(xd, wd) cq = QuantizeLinear(c, five, z) cd = DequantizeLinear(cq, five, z)
              d = Conv(cd, v) r = Relu(d) rq = QuantizeLinear(r, s, z) y = DequantizeLinear(rq, s, z)"""
    model = graph(text, v=drawn(4, 8, 1, 1), **constants)
    network, ranges = real_network(model, PICTURES)
    assert kinds(network) == ["convolution", "function"] * 2 and functions(network) == ["of its own", "relu"], functions(network)
    equal(network.ops[1].values(np.array([-1.0, 2.0, 9.0])).astype(np.float32), np.array([0, 2, 5], np.float32), "cut at both ends")
    equal(network.ops[0].arrays["weights"].astype(np.float32), (w * constants["ws"][:, None, None, None]).astype(np.float32), "weights")
    exact, found = outputs(model, {"x": PICTURES[0]}), quantise(network, ranges, FEW).real(PICTURES[0])
    assert np.abs(np.clip(found, 0, 0.05 * 255) - exact).max() < 0.12 * exact.max()  # the model's own rounding to 8 bits
    refused("q (QuantizeLinear): no DequantizeLinear reads it", lambda: pwl.onnx.quantize(
        graph("q = QuantizeLinear(x, s, z) c = Cast<to=1>(q) y = Conv(c, v)", v=drawn(4, 3, 1, 1), s=scale, z=zero), PICTURES))


@test("a file, bytes, mappings; widths by a loss; without ONNX Runtime")
def _():
    model = graph("a = MatMul(x, w) b = Relu(a) y = MatMul(b, w)", "float[N, 8] x", w=drawn(8, 8))
    x = drawn(32, 8)
    made = pwl.onnx.quantize(model, [x], FEW)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.onnx")
        onnx.save(model, path)
        for other in (pwl.onnx.quantize(path, [(x,)], FEW), pwl.onnx.quantize(model.SerializeToString(), [{"x": x}], FEW)):
            equal(other.real(x), made.real(x), "the same network")
    cheap = pwl.onnx.quantize(model, [x], "auto", loss=0.03)
    assert any(edge.type.bits == 8 for edge in cheap.edges.values())
    hidden = sys.modules["onnxruntime"]
    try:
        sys.modules["onnxruntime"] = None
        equal(pwl.onnx.quantize(model, [x], FEW).real(x), made.real(x), "by the evaluator of onnx")
    finally:
        sys.modules["onnxruntime"] = hidden
    assert "relu" in str(made.report(x)) or len(made.report(x).kinds) > 1


@test("what networks do not have is named with its node and what would be right")
def _():
    def read(text, batches=None, inputs="float[N, 4, 8] x", **constants):
        constants = {**dict(w=drawn(8, 8)), **constants}
        return lambda: pwl.onnx.quantize(graph("a = MatMul(x, w) " + text, inputs, **constants), [drawn(3, 4, 8)] if batches is None else batches)

    for text, message in (("y = CumSum(a, axis)", "y (CumSum): an operation that networks do not have"),
                          ("y = Softmax<axis=1>(a)", "y (Softmax): a softmax over another axis than the last"),
                          ("s = ReduceSum(a, axis) y = Div(a, s)", "s (ReduceSum): an operation that networks do not have"),
                          ("b = MatMul(a, w) y = Div(b, a)", "a division by what is no constant"),
                          ("y = Gather<axis=2>(a, uneven)", "which are not evenly apart"),
                          ("y = GRU<hidden_size=2>(a, gw, gr)", "without linear_before_reset"),
                          ("y = ReduceMean<keepdims=0>(a, apart)", "which do not lie beside each other"),
                          ("b = Unsqueeze(a, axis) y = MaxPool<kernel_shape=[2,2], pads=[0,0,1,1]>(b)", "y (MaxPool): a pool with dilation, or with ends"),
                          ("b = Unsqueeze(a, axis) y = ConvTranspose<strides=[1,1]>(b, t)", "whose windows overlap"),
                          ("y = Where(flags, a, one)", "a choice between numbers"), ("y = Expand(a, big)", "which repeats other than one axis"),
                          ("b = Cast<to=7>(a) y = Cast<to=1>(b)", "b (Cast): an operation that networks do not have")):
        refused(message, read(text, axis=[1], uneven=[0, 1, 3], gw=drawn(1, 6, 8), gr=drawn(1, 6, 2), apart=[0, 2], t=drawn(1, 1, 2, 2),
                              flags=random.integers(0, 2, (4, 8)).astype(bool), one=np.float32(1), big=[5, 1, 4, 8]))
    refused("no batches", read("y = Relu(a)", []))
    refused("a batch of no numbers", read("y = Relu(a)", [np.zeros((0, 4, 8), np.float32)]))
    refused("a batch of 2 arrays, and the model has 1 inputs: x", read("y = Relu(a)", [(drawn(3, 4, 8), drawn(3, 4, 8))]))
    refused("a batch of z, and the model's inputs are x", read("y = Relu(a)", [{"z": drawn(3, 4, 8)}]))
    refused("must be finite", read("y = Relu(a)", [np.full((3, 4, 8), np.nan, np.float32)]))
    refused("must be a Widths, or \"auto\" with a loss", lambda: pwl.onnx.quantize(graph("y = Relu(x)"), PICTURES, "auto"))
    refused("the oldest that will do", lambda: pwl.onnx.quantize(graph("y = Relu(x)", opset=8), PICTURES))
    refused("no model of ONNX", lambda: pwl.onnx.quantize(b"not a model", PICTURES))


@test("models of torch.onnx.export, where torch is here: the same network as of torch.export")
def _():
    try:
        import torch
        import onnxscript  # noqa: F401
    except ImportError as missing:
        return f"skipped, {missing.name} is missing"
    from torch import nn
    import io
    warnings.filterwarnings("ignore")
    torch.manual_seed(51)

    def exported(model, example):
        file = io.BytesIO()
        torch.onnx.export(model.eval(), example, file, verbose=False, dynamo=True)
        return onnx.load_model_from_string(file.getvalue())

    class All(nn.Module):
        def __init__(self, kind):
            super().__init__()
            self.layer = kind(8, 6, bidirectional=True, batch_first=True)

        def forward(self, x):
            return self.layer(x)[0]

    two = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, stride=2), nn.BatchNorm2d(8), nn.Hardswish(), nn.Conv2d(8, 8, 3, padding=1, groups=8),
                        nn.MaxPool2d(2), nn.AvgPool2d(3), nn.Flatten(), nn.Linear(8, 5))
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, activation="gelu")
    for model, shape, wanted in ((two, (4, 3, 12, 12), {"convolution": 3, "function": 1, "max_pool": 1, "linear": 1}),
                                 (nn.TransformerEncoder(layer, 1, enable_nested_tensor=False), (4, 10, 32), {"softmax": 1, "layernorm": 2}),
                                 (All(nn.GRU), (4, 10, 8), {"loop": 2}), (All(nn.LSTM), (4, 10, 8), {"loop": 2})):
        x = torch.randn(*shape)
        made = exported(model, (x,))
        network = near(made, [x.numpy()], 0.03, sizes={made.graph.input[0].name: shape})
        assert {kind: kinds(network).count(kind) for kind in wanted} == wanted and "scale" not in kinds(network), kinds(network)
    return f"torch {torch.__version__}"


@test("angles of places are one multiply; heads that share keys are rows of one; other places that are repeated are joined")
def _():
    angles = np.outer(np.arange(5), [1.0, 0.3, 0.1] * 2)
    network = near(graph("""q = MatMul(x, w) a, b = Split<axis=2, num_outputs=2>(q) m = Neg(b) r = Concat<axis=2>(m, a)
                            u = Mul(q, cos) v = Mul(r, sin) y = Add(u, v)""", "float[N, 5, 6] x", w=drawn(6, 6), cos=np.cos(angles),
                         sin=np.sin(angles)), [drawn(4, 5, 6)], 0.01)
    assert sorted(kinds(network)) == ["concat", "constant", "constant", "linear", "multiply", "slice", "slice"], kinds(network)
    shared = """q = MatMul(x, w) q4 = Reshape(q, of_q) q_t = Transpose<perm=[0,2,1,3]>(q4) k = MatMul(x, u) k4 = Reshape(k, of_k)
                k_t = Transpose<perm=[0,2,1,3]>(k4) one = Unsqueeze(k_t, two) wide = Expand(one, times) keys = Reshape(wide, joined)
                turned = Transpose<perm=[0,1,3,2]>(keys) s = MatMul(q_t, turned) y = Mul(s, half)"""
    shapes = dict(of_q=[0, 0, 4, 3], of_k=[0, 0, 2, 3], two=[2], times=[1, 1, 2, 1, 1], joined=[0, 4, -1, 3])
    network = near(graph(shared, "float[N, 5, 6] x", w=drawn(6, 12), u=drawn(6, 6), half=np.float32(0.5), **shapes), [drawn(4, 5, 6)], 0.02)
    assert kinds(network).count("concat") == 0 and "multiply" not in kinds(network), kinds(network)
    assert next(op for op in network.ops if op.kind == "matmul").shape[1:] == (2, 10, 5)
    network = near(graph("a = Relu(x) y = Expand(a, p)", "float[N, 1, 6] x", p=[1, 3, 6]), [drawn(4, 1, 6)], 0.01)
    assert kinds(network) == ["function", "concat", "concat"]


@test("docs/networks.md shows what runs")
def _():
    program, _ = page_program("networks.md", "classifier.py")
    codes = printed_by(program)
    assert codes.count("[") == 3, codes


end()
