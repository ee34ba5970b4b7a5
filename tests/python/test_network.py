#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Networks of integers: every kind of node against sums of Python's own integers, networks of real numbers made into them,
files, and what is refused. PYTHONPATH says where the package is.

usage: test_network.py PWLC
"""
import copy
import dataclasses
import functools
import itertools
import json
import os
import pathlib
import struct
import sys
import tempfile
import xml.etree.ElementTree

import gguf_models
from harness import end, equal, np, refused, remember_runs, test

import pwl
from pwl.network import Decoding, Edge, FloatNetwork, Input, Network, Node, Op, Ranges, Widths, cheapest, llama, load, quantise, relative_loss, without_scales
from pwl.network.arithmetic import multipliers
from pwl.network.arrays import pack, unpack
from pwl.network.attention import simplified
from pwl.network.floats import narrowed

os.environ["PWLC"] = str(pathlib.Path(sys.argv[1]).resolve())
remember_runs()
rng = np.random.default_rng(51)


def side(bits=8, signed=True, scale=0.05, zero_point=0):
    return pwl.Type(bits, signed, scale, zero_point)


def drawn(of, *shape):
    """Codes of a type, its ends among them."""
    codes = rng.integers(of.qmin, of.qmax + 1, shape)
    flat = codes.ravel()
    flat[rng.integers(0, flat.size, 1 + flat.size // 4)] = of.qmin
    flat[rng.integers(0, flat.size, 1 + flat.size // 4)] = of.qmax
    return codes.astype(of.dtype)


def alone(node, inputs, output, sizes=None):
    """A network of one node."""
    edges = [*inputs, output]
    return Network(sizes or {}, edges, [edge.name for edge in inputs], [output.name], [node])


def ran(network, *codes):
    """What libpwl gives, which is what numpy gives."""
    found, reference = network(*codes), network(*codes, by="numpy")
    for y, wanted in zip(found if isinstance(found, tuple) else (found,), reference if isinstance(found, tuple) else (reference,)):
        assert y.dtype == wanted.dtype
        equal(y, wanted, "libpwl beside numpy")
    return found


def rescaled(total, factor, shift, of):
    return min(max(((total * int(factor) + (1 << (int(shift) - 1))) >> int(shift)) + of.zero_point, of.qmin), of.qmax)


def rescaling(values, bits):
    by = multipliers(values, bits)
    return {"factor": by.factor.astype(np.int32), "shift": by.shift.astype(np.uint8)}


TYPES = [side(), side(8, False, 0.02, 100), side(16, True, 0.001), side(16, False, 0.0007, 40000), side(8, True, 0.03, -128)]


@test("a factor of 31 bits is the nearest, at powers of two and beyond both ends of the shift")
def _():
    for value in (1.0, 0.5, 2.0 ** -31, 1 - 2.0 ** -32, 1 - 2.0 ** -31, 3.9, 2.0 ** -60, *rng.random(50)):
        by = multipliers(value, 20)
        assert 0 <= int(by.factor) < 1 << 31 and 1 <= int(by.shift) <= 62
        if value > 2.0 ** -31:
            assert abs(int(by.factor) * 2.0 ** -int(by.shift) / value - 1) <= 2.0 ** -31, value
    for value, message in ((0.0, "positive"), (float("nan"), "positive"), (2.0 ** 40, "scale is far below")):
        refused(message, lambda: multipliers(value, 20))
    assert int(multipliers(0.9, 47).factor) < 1 << 15


@test("product is the sum of products, in every type, with biases and zero points, at the ends of all codes")
def _():
    for x, y in itertools.product(TYPES, TYPES):
        weights, bias = drawn(side(), 5, 7), rng.integers(-100000, 100000, 5)
        bias = bias - x.zero_point * weights.astype(np.int64).sum(1)
        for one in (True, False):
            arrays = {"weights": weights, "bias": bias, **rescaling(1e-4 * (1 + rng.random(() if one else 5)), 40)}
            network = alone(Node("product", ("x",), "y", arrays=arrays), [Edge("x", x, (3, 7))], Edge("y", y, (3, 5)))
            codes = drawn(x, 3, 7)
            factor, shift = (np.broadcast_to(arrays[name], 5) for name in ("factor", "shift"))
            expected = [[rescaled(sum(int(w) * int(q) for w, q in zip(weights[c], row)) + int(bias[c]), factor[c], shift[c], y)
                         for c in range(5)] for row in codes]
            equal(ran(network, codes), np.array(expected, y.dtype), f"{x} to {y}")


@test("matmul, either way of its second input")
def _():
    for a, b in itertools.product(TYPES, TYPES):
        for transposed in (0, 1):
            y = side(16, True, 0.01, 5)
            node = Node("matmul", ("a", "b"), "y", fields={"transposed": transposed}, arrays=rescaling(3e-5, 35))
            network = alone(node, [Edge("a", a, (2, 3, 4)), Edge("b", b, (2, 5, 4) if transposed else (2, 4, 5))],
                            Edge("y", y, (2, 3, 5)))
            p, q = drawn(a, 2, 3, 4), drawn(b, *((2, 5, 4) if transposed else (2, 4, 5)))
            second = q.swapaxes(1, 2) if transposed else q
            expected = [[[rescaled(sum((int(p[n, i, k]) - a.zero_point) * (int(second[n, k, j]) - b.zero_point) for k in range(4)),
                                   node.arrays["factor"], node.arrays["shift"], y) for j in range(5)] for i in range(3)]
                        for n in range(2)]
            equal(ran(network, p, q), np.array(expected, y.dtype), f"{a} by {b}")


@test("multiply of one pair and of two, one rounding, shapes that broadcast")
def _():
    for pairs, of in itertools.product((1, 2), TYPES):
        inputs = [Edge(f"x{k}", TYPES[(k + pairs) % 5], shape) for k, shape in enumerate([(2, 3, 4), (4,), (3, 1), (1, 3, 4)][:2 * pairs])]
        factor = rng.integers(1, 1 << 20, pairs).astype(np.int32)
        node = Node("multiply", tuple(edge.name for edge in inputs), "y", arrays={"factor": factor, "shift": np.array(31, np.uint8)})
        network = alone(node, inputs, Edge("y", of, (2, 3, 4)))
        codes = [drawn(edge.type, *edge.shape) for edge in inputs]
        whole = [np.broadcast_to(q, (2, 3, 4)).astype(object) - edge.type.zero_point for q, edge in zip(codes, inputs)]
        sums = sum(int(factor[k]) * whole[2 * k] * whole[2 * k + 1] for k in range(pairs))
        equal(ran(network, *codes), np.vectorize(lambda total: rescaled(int(total), 1, 31, of), otypes=[object])(sums).astype(of.dtype),
              f"{pairs} to {of}")


@test("mean over each axis, with a mask and without, of none and of all places")
def _():
    for x, axis in itertools.product(TYPES, (0, 1, 2)):
        shape = (3, 4, 5)
        y = side(16, True, x.scale / 8, 3)
        arrays = rescaling(x.scale / y.scale / np.arange(1, shape[axis] + 1), 30)
        left = (*shape[:axis], *shape[axis + 1:])
        for masked in (False, True):
            inputs = [Edge("x", x, shape)] + [Edge("keep", pwl.Type(8, False, 1.0, 0, 0, 1), shape[:axis + 1])] * masked
            network = alone(Node("mean", tuple(edge.name for edge in inputs), "y", fields={"axis": axis}, arrays=arrays), inputs,
                            Edge("y", y, left))
            codes, keep = drawn(x, *shape), rng.integers(0, 2, shape[:axis + 1]).astype(np.uint8)
            keep.ravel()[:shape[axis]] = 0
            found = ran(network, codes, *([keep] if masked else []))
            for at in np.ndindex(*left):
                lane = codes[(*at[:axis], slice(None), *at[axis:])]
                taken = keep[at[:axis]] if masked else np.ones(shape[axis], np.uint8)
                total = sum(int(q) - x.zero_point for q, k in zip(lane, taken) if k)
                n = max(int(taken.sum()), 1) - 1
                assert found[at] == rescaled(total, arrays["factor"][n], arrays["shift"][n], y), (x, axis, at)


@test("convolution in one and two dimensions: strides, padding by the zero point, dilation, groups")
def _():
    for _ in range(40):
        places, groups = int(rng.integers(1, 3)), int(rng.integers(1, 4))
        x, y = TYPES[rng.integers(5)], TYPES[rng.integers(5)]
        kernel, size = rng.integers(1, 4, places), rng.integers(7, 10, places)
        f = {"stride": rng.integers(1, 3, places).tolist(), "padding": rng.integers(0, 3, places).tolist(),
             "dilation": rng.integers(1, 3, places).tolist(), "groups": groups}
        weights = drawn(side(), 2 * groups, 2, *kernel)
        bias = rng.integers(-1000, 1000, 2 * groups) - x.zero_point * weights.astype(np.int64).reshape(2 * groups, -1).sum(1)
        out = [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, p, d, k, s in zip(size, f["padding"], f["dilation"], kernel, f["stride"])]
        arrays = {"weights": weights, "bias": bias, **rescaling(1e-4 * (1 + rng.random(2 * groups)), 40)}
        network = alone(Node("convolution", ("x",), "y", fields=f, arrays=arrays), [Edge("x", x, (2, 2 * groups, *map(int, size)))],
                        Edge("y", y, (2, 2 * groups, *map(int, out))))
        codes = drawn(x, 2, 2 * groups, *size)
        found = ran(network, codes)
        for n, c in itertools.product(range(2), range(2 * groups)):
            for at in np.ndindex(*out):
                total = int(bias[c])
                for i, tap in itertools.product(range(2), np.ndindex(*kernel)):
                    spot = [a * s - p + t * d for a, s, p, t, d in zip(at, f["stride"], f["padding"], tap, f["dilation"])]
                    inside = all(0 <= one < n_ for one, n_ in zip(spot, size))
                    q = int(codes[(n, c // 2 * 2 + i, *spot)]) if inside else x.zero_point
                    total += int(weights[(c, i, *tap)]) * q
                assert found[(n, c, *at)] == rescaled(total, arrays["factor"][c], arrays["shift"][c], y), (f, at)


@test("a convolution of each channel alone, of rows of any length: one of any window by every runner")
def _():
    for run in range(60):
        kernel, size = rng.integers(1, (4, 10)), rng.integers(1, (5, 101))
        stride, dilation = rng.integers(1, (3, 6 if run % 4 == 0 else 3)), rng.integers(1, (3, 30 if run % 4 == 1 else 4))
        reach = dilation * (kernel - 1) + 1
        padding = np.maximum(rng.integers(0, reach + 3), (reach - size + 1) // 2)
        out = [int(n) for n in (size + 2 * padding - reach) // stride + 1]
        x, y = TYPES[rng.integers(5)], TYPES[rng.integers(5)]
        f = {"stride": stride.tolist(), "padding": padding.tolist(), "dilation": dilation.tolist(), "groups": 3}
        arrays = {"weights": drawn(side(), 3, 1, *kernel), "bias": rng.integers(-1000, 1000, 3),
                  **rescaling(1e-3 * (1 + rng.random(3)), 40)}
        network = alone(Node("convolution", ("x",), "y", fields=f, arrays=arrays), [Edge("x", x, (2, 3, *map(int, size)))],
                        Edge("y", y, (2, 3, *out)))
        ran(network, drawn(x, 2, 3, *size))


@test("a convolution of single places, of any number of channels: one of any window by every runner")
def _():
    for _ in range(20):
        groups, inputs, each, rows, columns = (int(n) for n in rng.integers(1, (3, 21, 20, 5, 30)))
        x, y = TYPES[rng.integers(5)], TYPES[rng.integers(5)]
        f = {"stride": [1, 1], "padding": [0, 0], "dilation": [1, 1], "groups": groups}
        arrays = {"weights": drawn(side(), groups * each, inputs, 1, 1), "bias": rng.integers(-1000, 1000, groups * each),
                  **rescaling(1e-3 * (1 + rng.random(groups * each)), 40)}
        network = alone(Node("convolution", ("x",), "y", fields=f, arrays=arrays), [Edge("x", x, (2, groups * inputs, rows, columns))],
                        Edge("y", y, (2, groups * each, rows, columns)))
        ran(network, drawn(x, 2, groups * inputs, rows, columns))


@test("max_pool leaves out what lies beyond the ends")
def _():
    for x in TYPES:
        node = Node("max_pool", ("x",), "y", fields={"kernel": [3, 2], "stride": [2, 1], "padding": [1, 1]})
        network = alone(node, [Edge("x", x, (2, 3, 7, 5))], Edge("y", x, (2, 3, 4, 6)))
        codes = drawn(x, 2, 3, 7, 5)
        found = ran(network, codes)
        for n, c, i, j in np.ndindex(2, 3, 4, 6):
            window = codes[n, c, max(2 * i - 1, 0):2 * i + 2, max(j - 1, 0):j + 1]
            assert found[n, c, i, j] == window.max()


@test("gather, constant, moves: the same codes in their places")
def _():
    of, sizes = side(16), {"batch": 3, "length": 6}
    table = drawn(of, 10, 4).astype(np.int16)
    index = pwl.Type(32, True, 1.0, 0, 0, 9)
    edges = [Edge("x", index, ("batch", "length")), Edge("rows", of, ("batch", "length", 4)), Edge("c", of, ("length", 4)),
             Edge("t", of, ("length", 4, "batch")), Edge("s", of, ("length", 2, "batch")), Edge("last", of, (2, "batch")),
             Edge("flat", of, ("2*batch",)), Edge("twice", of, ("4*batch",))]
    nodes = [Node("gather", ("x",), "rows", arrays={"table": table}), Node("constant", (), "c", arrays={"codes": drawn(of, 6, 4)}),
             Node("transpose", ("rows",), "t", fields={"order": [1, 2, 0]}),
             Node("slice", ("t",), "s", fields={"axis": 1, "start": 1, "stop": 1 << 40, "step": 2, "keep": 1}),
             Node("slice", ("s",), "last", fields={"axis": 0, "start": -1, "stop": 1 << 40, "step": 1, "keep": 0}),
             Node("reshape", ("last",), "flat"), Node("concat", ("flat", "flat"), "twice", fields={"axis": 0})]
    network = Network(sizes, edges, ["x"], ["twice", "c"], nodes)
    x = rng.integers(0, 10, (2, 5)).astype(np.int32)
    twice, constant = ran(network, x)
    flat = table[x].transpose(1, 2, 0)[-1, 1::2].reshape(-1)
    equal(twice, np.concatenate([flat, flat]), "moves")
    equal(constant, nodes[1].arrays["codes"][:5], "constant")


def encoder(width=16, heads=2, length="length"):
    """A block with everything in it: embedding, attention with padding, norms, a residual, GELU, a masked mean."""
    weights = lambda n, k: {"weights": rng.normal(size=(n, k)) / k ** 0.5, "bias": rng.normal(size=n) / 10}  # noqa: E731
    row, split = ("batch", length, width), ("batch", length, heads, width // heads)
    headed, scores = ("batch", heads, length, width // heads), ("batch", heads, length, length)
    ops = [Op("gather", ("ids",), "words", row, arrays={"table": rng.normal(size=(30, width))}),
           Op("constant", (), "places", (1, length, width), arrays={"values": rng.normal(size=(1, 12, width))}),
           Op("add", ("words", "places"), "sum", row),
           Op("layernorm", ("sum",), "h", row, fields={"eps": 1e-5}, arrays={"gamma": 1 + rng.random(width)})]
    for name in "qkv":
        ops += [Op("linear", ("h",), name, row, arrays=weights(width, width)), Op("reshape", (name,), f"{name}.s", split),
                Op("transpose", (f"{name}.s",), f"{name}.t", headed, fields={"order": [0, 2, 1, 3]})]
    gelu = lambda x: x / (1 + np.exp(-1.702 * x))  # noqa: E731
    ops += [Op("matmul", ("q.t", "k.t"), "scores", scores, fields={"transposed": 1, "factor": 0.35}),
            Op("softmax", ("scores", "keep"), "shares", scores, fields={"causal": 0}),
            Op("matmul", ("shares", "v.t"), "context", headed, fields={"transposed": 0, "factor": 1.0}),
            Op("transpose", ("context",), "context.t", split, fields={"order": [0, 2, 1, 3]}),
            Op("reshape", ("context.t",), "context.r", row), Op("add", ("context.r", "h"), "mid", row),
            Op("rmsnorm", ("mid",), "normed", row, fields={"eps": 1e-6}),
            Op("linear", ("normed",), "wide", (*row[:2], 32), arrays=weights(32, width)),
            Op("function", ("wide",), "act", (*row[:2], 32), function=gelu, values=gelu),
            Op("scale", ("act",), "half", (*row[:2], 32), fields={"factor": 0.5}),
            Op("linear", ("half",), "back", row, arrays=weights(width, 32)), Op("add", ("mid", "back"), "end", row),
            Op("mean", ("end", "keep"), "pooled", ("batch", width), fields={"axis": 1}),
            Op("l2norm", ("pooled",), "y", ("batch", width))]
    return FloatNetwork([Input("ids", ("batch", length), "index"), Input("keep", ("batch", length), "mask")], ["y"], ops)


def batch(count, length):
    ids, keep = rng.integers(0, 30, (count, length)), np.ones((count, length), np.int64)
    keep[0, length // 2:] = 0
    return ids, keep


@test("the bias takes up what rounding of weights changes on average")
def _():
    for kind, shape, groups in (("linear", (6, 9), 1), ("convolution", (6, 3, 1), 2)):
        own = np.random.default_rng(7)
        weights, x = own.normal(0, 1, shape), own.normal(5, 1, (40, 9) if kind == "linear" else (40, 6, 1))
        fields = {} if kind == "linear" else {"stride": [1], "padding": [0], "dilation": [1], "groups": groups}
        op = Op(kind, ("x",), "y", ("batch", 6) if kind == "linear" else ("batch", 6, 1), fields=fields,
                arrays={"weights": weights, "bias": np.zeros(6)})
        network = FloatNetwork([Input("x", ("batch", *x.shape[1:]), "real")], ["y"], [op])
        ranges = Ranges(network)
        exact = ranges.observe(x)[0].reshape(40, 6)
        made = quantise(network, ranges, Widths.all(16))
        steps = [made.edges[name].type.scale / 2 for name in ("x", "y")]
        mean = np.abs((made.real(x).reshape(40, 6) - exact).mean(0))
        assert (mean <= 1.01 * (steps[1] + steps[0] * (1 + np.abs(weights).sum(1)))).all(), mean


@test("an encoder by integers alone stays near its real numbers, at every width")
def _():
    network = without_scales(encoder())
    assert all(op.kind != "scale" for op in network.ops)
    ranges, batches = Ranges(network), [batch(4, 12), batch(3, 7)]
    for one in batches:
        ranges.observe(*one)
    notes = []
    for widths, near in ((Widths.all(16), 0.006), (Widths(), 0.011), (Widths.all(8), 0.02)):
        made = quantise(network, ranges, widths)
        for one in batches:
            found, exact = made.real(*one), network(*one)[0]
            worst = float(np.abs(found - exact).max())
            assert worst < near, (widths, worst)
        notes.append(f"{worst:.4f}")
    return ", ".join(notes)


def recurrent():
    """A GRU's cell: h' = z h + (1 - z) n."""
    sigmoid, rest = (lambda x: 1 / (1 + np.exp(-x))), (lambda x: 1 / (1 + np.exp(x)))
    row = ("batch", 6)
    body = FloatNetwork([Input("x.t", row, "real"), Input("h", row, "real")], ["h'", "h'"], [
        Op("linear", ("h",), "own", row, arrays={"weights": rng.normal(size=(6, 6)) / 2, "bias": rng.normal(size=6)}),
        Op("add", ("x.t", "own"), "sum", row), Op("function", ("sum",), "z", row, function="sigmoid", values=sigmoid),
        Op("function", ("sum",), "rest", row, function=rest, values=rest),
        Op("function", ("own",), "n", row, function="tanh", values=np.tanh), Op("multiply", ("z", "h", "rest", "n"), "h'", row)])
    loops = [Op("loop", ("x",), f"y{reverse}", ("batch", "length", 6), fields={"axis": 1, "reverse": reverse}, body=body if not reverse
                else renamed(body)) for reverse in (0, 1)]
    return FloatNetwork([Input("x", ("batch", "length", 6), "real")], ["y"],
                        [*loops, Op("concat", ("y0", "y1"), "y", ("batch", "length", 12), fields={"axis": 2})])


def renamed(body):
    new = lambda name: name + "~"  # noqa: E731
    return FloatNetwork([Input(new(one.name), one.shape, one.role) for one in body.inputs], [new(name) for name in body.outputs],
                        [dataclass_replace(op, new) for op in body.ops])


def dataclass_replace(op, new):
    made = copy.copy(op)
    made.inputs, made.output = tuple(new(name) for name in op.inputs), new(op.output)
    return made


@test("a constant that is the same for each row of a batch has one; not where rows differ, or its reader does not broadcast")
def _():
    shape, x = ("batch", "length", 4), rng.normal(size=(2, 3, 4))
    same = np.broadcast_to(rng.normal(size=(1, 5, 4)), (2, 5, 4))
    other = same + np.array([[[0.0]], [[1.0]]])
    for kind, values, found in (("add", same, (1, "length", 4)), ("multiply", same, (1, "length", 4)), ("add", other, shape),
                                ("add", np.ones((2, 5, 4)), (1, 1, 4)), ("concat", same, shape)):
        fields, whole = ({"axis": 2}, (*shape[:2], 8)) if kind == "concat" else ({}, shape)
        network = FloatNetwork([Input("x", shape, "real")], ["y"], [
            Op("constant", (), "c", shape, arrays={"values": values}), Op(kind, ("x", "c"), "y", whole, fields=fields)])
        narrow = narrowed(network)
        assert narrow.ops[0].shape == found and narrow.ops[0].arrays["values"].shape == tuple(
            {"batch": 2, "length": 5}.get(size, size) for size in found), (kind, narrow.ops[0].shape)
        equal(narrow(x)[0], network(x)[0], kind)
    alone = FloatNetwork([Input("x", (4,), "real")], ["y"], [Op("constant", (), "c", shape, arrays={"values": same}),
                                                           Op("add", ("x", "c"), "y", shape)])
    assert narrowed(alone).ops[0].shape == shape  # y has its rows from the constant alone


@test("a loop carries its state, both ways, and comes out of a file as it went in")
def _():
    network = recurrent()
    ranges, x = Ranges(network), rng.normal(size=(3, 9, 6))
    ranges.observe(x)
    made = quantise(network, ranges, Widths.all(16))
    assert np.abs(made.real(x) - network(x)[0]).max() < 0.01
    with tempfile.TemporaryDirectory() as folder:
        made.save(f"{folder}/loop.json")
        codes = made.edges["x"].type.quantize(x)
        equal(load(f"{folder}/loop.json")(codes), made(codes), "codes")


@test("a report has the loss of every kind, of weights, of bodies' nodes and of everything, and a picture")
def _():
    network = recurrent()
    ranges, x = Ranges(network), rng.normal(size=(3, 9, 6))
    ranges.observe(x)
    made = quantise(network, ranges, Widths.all(8))
    found = made.report(x)
    losses = {one.name: one.loss for one in found.kinds}
    assert list(losses) == ["linear", "add", "function", "multiply", "weights alone", "everything"], losses
    assert all(0 < loss < 0.1 for loss in losses.values()) and losses["everything"] > losses["weights alone"], losses
    assert losses["linear"] > losses["weights alone"]
    assert [one.kind for one in found.nodes].count("function") == 6  # three of each direction
    bounds = [one.bound for one in found.nodes if one.kind == "add"]
    assert all(0.5 <= bound < 0.51 for bound in bounds), bounds
    assert "| everything | " in str(found) and found.svg().count("<rect") == len(found.kinds) + len(found.nodes)
    xml.etree.ElementTree.fromstring(found.svg())
    with tempfile.TemporaryDirectory() as folder:
        made.save(f"{folder}/net.json")
        refused("a network from a file", lambda: load(f"{folder}/net.json").report(x))


def nodes_of(network):
    for node in network.nodes:
        if node.body is None:
            yield network, node
        else:
            yield from nodes_of(node.body)


def made_edge(network, node):
    return next(inner.edges[node.output] for inner, one in nodes_of(network) if one is node)


@test("the cheapest widths within a loss: none where 16 bits lose more, all where all may be lost, some between")
def _():
    network = recurrent()
    ranges, x = Ranges(network), rng.normal(size=(3, 9, 6))
    ranges.observe(x)
    def lost(widths):
        return relative_loss([quantise(network, ranges, widths).real(x)], network(x))

    least, most = lost(Widths.all(16)), lost(Widths.all(8))
    places = [field.name for field in dataclasses.fields(Widths) if field.name != "segments"]
    one = min(loss for loss in (lost(Widths.all(16).narrowed(place)) for place in places) if loss > least)
    refused("is less than 16 bits everywhere lose", lambda: cheapest(network, ranges, [[x]], least * 0.9))

    def narrow(made):
        return sum(edge.type.bits == 8 for _, node in nodes_of(made) for edge in [made_edge(made, node)])

    counts = [narrow(cheapest(network, ranges, [[x]], loss)) for loss in (least, one, most * 1.5)]
    assert 0 == counts[0] < counts[1] < counts[2], counts


@functools.lru_cache(maxsize=None)
def made_encoder():
    """An encoder by integers, and a batch for it."""
    network = without_scales(encoder())
    ranges, one = Ranges(network), batch(4, 12)
    ranges.observe(*one)
    return quantise(network, ranges), one


def saved(folder):
    made, one = made_encoder()
    made.save(f"{folder}/net.json")
    return made, one


@test("a file gives the same codes, and the same bytes when it is written again")
def _():
    with tempfile.TemporaryDirectory() as folder:
        made, (ids, keep) = saved(folder)
        again = load(f"{folder}/net.json")
        equal(again(ids.astype(np.int32), keep.astype(np.uint8)), made(ids.astype(np.int32), keep.astype(np.uint8)), "codes")
        again.save(f"{folder}/again.json")
        first, second = (pathlib.Path(f"{folder}/{name}.safetensors").read_bytes() for name in ("net", "again"))
        assert first == second
        text = pathlib.Path(f"{folder}/net.json").read_text()
        assert text.replace("net.safetensors", "again.safetensors") == pathlib.Path(f"{folder}/again.json").read_text()


@test("inputs that do not fit get a message that says what would")
def _():
    with tempfile.TemporaryDirectory() as folder:
        made, (ids, keep) = saved(folder)
    ids, keep = ids.astype(np.int32), keep.astype(np.uint8)
    for inputs, message in (((ids,), "1 inputs, must be 2: ids, keep"), ((ids[0], keep), "1 axes, must be 2: (batch, length)"),
                            ((ids, keep[:, :5]), "another input has length = 12"), ((ids + 30, keep), "must be from 0 to 29"),
                            ((ids, keep + 1), "must be from 0 to 1"), ((ids[:0], keep[:0]), "batch is 0, must be from 1 to 4"),
                            ((np.zeros((2, 13), np.int32), np.ones((2, 13), np.uint8)), "length is 13, must be from 1 to 12"),
                            ((ids.astype(float), keep), "codes are integers")):
        refused(message, lambda: made(*inputs))


# What is written into the file's JSON in the place of what is there, and a part of the message.
HOSTILE = [
    (("pwl_network",), 2, "pwl_network: 2"), (("more",), 1, "more: unknown field"), (("sizes", "batch"), 0, "sizes.batch: 0"),
    (("sizes", "batch"), 65537, "sizes.batch"), (("sizes", "other"), 3, "no input has it"), (("inputs",), ["ids", "nothing"], "nothing"),
    (("outputs",), ["nothing"], "no node writes"), (("edges", 0, "shape"), ["batch", "wide"], "a product of batch, length"),
    (("edges", 0, "shape"), ["batch", 0], "a size of 0"), (("edges", 0, "type", "bits"), 33, "bits"),
    (("edges", 0, "name"), 3, "name must be a text"), (("nodes", 0, "kind"), "float", "must be one of gather"),
    (("nodes", 0, "kind"), "constant", "the array 0.codes is missing"), (("nodes", 0, "inputs"), ["words"], "which nothing before it writes"),
    (("nodes", 0, "output"), "keep", "written already"), (("nodes", 0, "output"), "nowhere", "which is no edge"),
    (("nodes", 2, "operator", "shift"), 63, "shift: 63"), (("nodes", 2, "causal"), 1, "causal: of softmax alone"),
    (("nodes", 2, "operator", "out", "scale"), "0.5", "between edges"),
    (("edges", 4, "shape"), ["batch", "length", 8], "the output has"), (("edges", 4, "type", "qmax"), 5, "codes from"), (("nodes", 2, "extra"), 1, "unknown field"),
    (("nodes", 0, "kind"), {"a": 1}, "must be one of gather"), (("edges", 1, "shape"), [1 << 31], "codes"),
    (("nodes", 0, "kind"), [], "must be one of gather"), (("arrays", "sha256"), "0" * 64, "not that of"), (("arrays", "file"), "../other.safetensors", "beside it"),
    (("sizes", "length"), 4096, "codes of shape (1, 12, 16)"), (("nodes", 5, "order"), [0, 1, 2, 3], "unknown field"),
]


@test("what is changed in a file is refused by the name of the field")
def _():
    with tempfile.TemporaryDirectory() as folder:
        saved(folder)
        content = json.loads(pathlib.Path(f"{folder}/net.json").read_text())
        for path, value, message in HOSTILE:
            changed = copy.deepcopy(content)
            place = changed
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = value
            pathlib.Path(f"{folder}/net.json").write_text(json.dumps(changed))
            refused(message, lambda: load(f"{folder}/net.json"))


@test("sums beyond 47 bits, factors beyond 31 and shapes that do not fit are refused where they stand")
def _():
    x, y = side(16), side(8)
    weights = np.full((2, 40), 127, np.int8)
    good = {"weights": weights, "bias": np.zeros(2, np.int64), **rescaling(1e-5, 40)}

    def product(**changed):
        node = Node("product", ("x",), "y", "layer.0", arrays={**good, **changed})
        return alone(node, [Edge("x", x, (3, 40))], Edge("y", y, (3, 2)))

    product()
    for changed, message in (({"bias": np.full(2, 1 << 47)}, "node 0, layer.0, product: a sum can take 48 bits"),
                             ({"factor": np.array(-1, np.int32)}, "factor: from -1"), ({"shift": np.array(0, np.uint8)}, "shift: from 0"),
                             ({"shift": np.array(63, np.uint8)}, "shift: from 63"), ({"bias": np.zeros(3, np.int64)}, "bias of (3,)"),
                             ({"weights": weights[:, :39]}, "weights of shape (2, 39)"), ({"weights": weights.astype(np.int16)}, "int16"),
                             ({"bias": np.full(2, (1 << 46) - 1), "factor": np.array(1 << 30, np.int32)}, "below 2^15"),
                             ({"factor": np.ones(3, np.int32), "shift": np.ones(3, np.uint8)}, "must have one number or 2")):
        refused(message, lambda: product(**changed))


@test("files of arrays: what is truncated or overlaps its end is refused")
def _():
    arrays = {"a": drawn(side(), 3, 5), "b": np.arange(4, dtype=np.int64), "c": np.array(7, np.uint8), "d": np.zeros((0, 3), np.int32)}
    data = pack(arrays)
    for name, array in unpack(data).items():
        equal(array, arrays[name], name)
        assert array.dtype == arrays[name].dtype
    assert len(pack({})) == 16 and unpack(pack({})) == {}
    for k in range(len(data)):
        try:
            found = unpack(data[:k])
        except pwl.Error:
            continue
        raise AssertionError(f"{k} bytes of {len(data)} gave {list(found)}")
    header = json.loads(data[8:8 + struct.unpack("<Q", data[:8])[0]])
    for change in ({"dtype": "F32"}, {"shape": [3, 6]}, {"shape": [-3, -5]}, {"data_offsets": [8, 16]}, {"data_offsets": [0]},
                   {"data_offsets": ["0", 15]}, {"shape": "x"}, {"shape": [1 << 60, 1 << 60]}):
        text = json.dumps({**header, "a": {**header["a"], **change}}).encode()
        refused("", lambda: unpack(len(text).to_bytes(8, "little") + text + data[8 + struct.unpack("<Q", data[:8])[0]:]))


@test("widths are 8 or 16, and ranges must be finite")
def _():
    refused("residual: 12", lambda: Widths(residual=12))
    network = recurrent()
    refused("must be finite", lambda: Ranges(network).observe(np.full((1, 2, 6), np.inf)))
    refused("a batch of no numbers", lambda: Ranges(network).observe(np.zeros((0, 2, 6))))


@test("append puts codes at the numbered places of a cache and keeps the others; of two at one place the last stays")
def _():
    numbers = pwl.Type(8, False, 1.0, 0, 0, 8)
    for of, axis in itertools.product(TYPES, (0, 1, 2)):
        shape = [2, 3, 4]
        shape[axis] = 9
        whole = tuple(shape)
        shape[axis] = 3
        edges = [Edge("x", of, tuple(shape)), Edge("kept", of, whole), Edge("at", numbers, (3,))]
        network = alone(Node("append", ("x", "kept", "at"), "y", fields={"axis": axis}), edges, Edge("y", of, whole))
        x, kept, at = drawn(of, *shape), drawn(of, *whole), np.array([(7, 0, 3), (2, 8, 2)][axis % 2], np.uint8)
        expected = kept.copy()
        for k, place in enumerate(at):
            np.moveaxis(expected, axis, 0)[place] = np.moveaxis(x, axis, 0)[k]
        before = kept.copy()
        equal(network(x, kept, at), expected, f"{of} along {axis}")
        equal(kept, before, "the caller's cache")


@test("a softmax of numbered places is that of what each row sees, and gives 0 behind it")
def _():
    at = pwl.Type(32, True, 1.0, 0, 0, 99)
    operator = pwl.softmax(side(), pwl.Type(8, False, 2.0 ** -8), rows=12)
    mask = pwl.Type(8, False, 1.0, 0, 0, 1)
    for masked in (False, True):
        inputs = [Edge("x", side(), (2, 3, 5, 12)), *[Edge("keep", mask, (2, 12))] * masked, Edge("at", at, (5,))]
        node = Node("operator", tuple(edge.name for edge in inputs), "y", fields={"causal": 2}, operator=operator)
        network = alone(node, inputs, Edge("y", operator.output, (2, 3, 5, 12)))
        x, numbers, keep = drawn(side(), 2, 3, 5, 12), np.array([0, 11, 3, 3, 99], np.int32), rng.integers(0, 2, (2, 12)).astype(np.uint8)
        keep[:, 0] = 1
        found = network(x, *([keep] if masked else []), numbers)
        for n, h, r in np.ndindex(2, 3, 5):
            seen = min(int(numbers[r]) + 1, 12)
            equal(found[n, h, r, :seen], operator(x[n, h, r, :seen], mask=keep[n, :seen] if masked else None), f"row {r}")
            assert not found[n, h, r, seen:].any()


@test("what an append and numbered places cannot have is refused")
def _():
    of, at = side(), pwl.Type(32, True, 1.0, 0, 0, 5)

    def made(shape=(2, 3), cache=(2, 6), count=3, number=at, more=(), outputs=("y",), inputs=("x", "kept", "at"), axis=1):
        edges = [Edge("x", of, shape), Edge("kept", of, cache), Edge("at", number, (count,)), Edge("y", of, cache)]
        edges += [Edge(node.output, of, cache) for node in more]
        return Network({}, edges, list(inputs), list(outputs), [Node("append", ("x", "kept", "at"), "y", fields={"axis": axis}), *more])

    made()
    for of_what, message in ((dict(axis=2), "axis: 2"), (dict(count=2), "numbers of places: (2,)"), (dict(cache=(3, 6)), "for a cache of (3, 6)"),
                             (dict(number=side()), "codes from -128"), (dict(outputs=("y", "kept")), "is read elsewhere too"),
                             (dict(more=[Node("reshape", ("kept",), "z")]), "is read elsewhere too"),
                             (dict(more=[Node("append", ("x", "kept", "at"), "z", fields={"axis": 1})]), "is read elsewhere too"),
                             (dict(inputs=("x", "kept")), "which nothing before it writes")):
        refused(message, lambda: made(**of_what))
    refused("at: place 3, must be below 3, the places of kept", lambda: made((2, 2), (2, 3), 2)(
        np.zeros((2, 2), np.int8), np.zeros((2, 3), np.int8), np.array([1, 3], np.int32)))
    refused("at: codes from 6 to 6, must be from 0 to 5", lambda: made()(
        np.zeros((2, 3), np.int8), np.zeros((2, 6), np.int8), np.full(3, 6, np.int32)))


def turned(length=9, size=6):
    """x cos + (-x2, x1) sin, as decoders spell it, of the drawn input (batch, length, size)."""
    angles = np.outer(np.arange(20), 50.0 ** -(np.arange(size) % (size // 2) / (size // 2)))
    row, half = ("batch", "length", size), size // 2
    part = lambda k: {"axis": 2, "start": k * half, "stop": (k + 1) * half, "step": 1, "keep": 1}  # noqa: E731
    ops = [Op("linear", ("x",), "q", row, arrays={"weights": np.eye(size), "bias": np.zeros(size)}),
           Op("constant", (), "cos", ("length", size), arrays={"values": np.cos(angles)}),
           Op("constant", (), "sin", ("length", size), arrays={"values": np.sin(angles)}),
           *(Op("slice", ("q",), f"q{k}", (*row[:2], half), fields=part(k)) for k in (0, 1)),
           Op("scale", ("q1",), "minus", (*row[:2], half), fields={"factor": -1.0}),
           Op("concat", ("minus", "q0"), "half", row, fields={"axis": 2}), Op("multiply", ("q", "cos"), "a", row),
           Op("multiply", ("half", "sin"), "b", row), Op("add", ("a", "b"), "y", row)]
    return FloatNetwork([Input("x", row, "real")], ["y"], ops)


@test("a rotation is one multiply, within its bound of the rotation of its input's codes")
def _():
    network, x = simplified(turned()), rng.normal(0, 1, (3, 20, 6))
    kinds = [op.kind for op in network.ops]
    assert sorted(kinds) == ["concat", "constant", "constant", "linear", "multiply", "slice", "slice"], kinds
    ranges = Ranges(network)
    assert np.abs(ranges.observe(x)[0] - turned()(x)[0]).max() < 1e-12
    worst = 0
    for widths in (Widths.all(16), Widths(), Widths.all(8)):
        made = quantise(network, ranges, widths, {"length": 20})
        edges, seen = made.edges, {}
        made(edges["x"].type.quantize(x), seen=lambda edge, codes: seen.__setitem__(edge.name, codes.astype(np.float64)))
        assert all(edges[name].type.scale == 2.0 ** -14 for name in made.nodes[-1].inputs[1::2])
        angles = np.outer(np.arange(20), 50.0 ** -(np.arange(6) % 3 / 3))
        q, ratio = seen["q"], edges["q"].type.scale / edges["y"].type.scale
        other = np.concatenate([-q[..., 3:], q[..., :3]], -1)
        exact = np.clip(ratio * (q * np.cos(angles) + other * np.sin(angles)), edges["y"].type.qmin, edges["y"].type.qmax)
        bound = 0.5 + ratio * (np.abs(q) + np.abs(other)) * (2.0 ** -15 + 2.0 ** -30)
        assert (np.abs(seen["y"] - exact) <= bound).all(), widths
        worst = max(worst, float((np.abs(seen["y"] - exact) / bound).max()))
    return f"{worst:.3f} of the bound"


@test("keys that heads share are not repeated; what is repeated otherwise is joined")
def _():
    x, row = rng.normal(0, 1, (2, 5, 12)), ("batch", "length", 12)
    heads = [Op("reshape", ("x",), "k4", ("batch", "length", 3, 4)), Op("transpose", ("k4",), "k", ("batch", 3, "length", 4), fields={"order": [0, 2, 1, 3]}),
             Op("reshape", ("k",), "one", ("batch", 3, 1, "length", 4)),
             Op("expand", ("one",), "wide", ("batch", 3, 2, "length", 4), fields={"axis": 2, "times": 2}),
             Op("reshape", ("wide",), "keys", ("batch", 6, "length", 4))]
    query = [Op("linear", ("x",), "q0", ("batch", "length", 24), arrays={"weights": rng.normal(0, 1, (24, 12)), "bias": np.zeros(24)}),
             Op("reshape", ("q0",), "q4", ("batch", "length", 6, 4)), Op("transpose", ("q4",), "q", ("batch", 6, "length", 4), fields={"order": [0, 2, 1, 3]})]
    turned_keys = Op("transpose", ("keys",), "t", ("batch", 6, 4, "length"), fields={"order": [0, 1, 3, 2]})
    product = Op("matmul", ("q", "t"), "y", ("batch", 6, "length", "length"), fields={"transposed": 0, "factor": 0.5})
    for ops, output, wanted in (([*query, *heads, turned_keys, product], "y", {"concat": 0, "matmul": 1}), (heads, "keys", {"concat": 1})):
        network = FloatNetwork([Input("x", row, "real")], [output], ops)
        made = simplified(network)
        kinds = [op.kind for op in made.ops]
        assert "expand" not in kinds and all(kinds.count(kind) == count for kind, count in wanted.items()), kinds
        assert np.abs(made(x)[0] - network(x)[0]).max() < 1e-12
    assert next(op for op in simplified(FloatNetwork([Input("x", row, "real")], ["y"], [*query, *heads, turned_keys, product])).ops
                if op.kind == "matmul").shape == ("batch", 3, "2*length", "length")


def causal(mask=False, mean=False):
    """Attention to what stands before, of one head whose places have angles."""
    ops = [*turned().ops[:-1], Op("add", ("a", "b"), "k", ("batch", "length", 6)),
           Op("matmul", ("q", "k"), "scores", ("batch", "length", "length"), fields={"transposed": 1, "factor": 0.4}),
           Op("softmax", ("scores", *["keep"] * mask), "shares", ("batch", "length", "length"), fields={"causal": 1}),
           Op("matmul", ("shares", "q"), "context", ("batch", "length", 6), fields={"transposed": 0, "factor": 1.0}),
           *[Op("mean", ("context",), "mean", ("batch", 6), fields={"axis": 1})] * mean]
    inputs = [Input("x", ("batch", "length", 6), "real"), *[Input("keep", ("batch", "length"), "mask")] * mask]
    return simplified(FloatNetwork(inputs, ["mean" if mean else "context"], ops))


def made_causal(**of):
    network, x = causal(**of), rng.normal(0, 1, (3, 20, 6))
    ranges = Ranges(network)
    ranges.observe(x, *[np.ones((3, 20), np.int64)] * of.get("mask", False))
    return quantise(network, ranges), x


@test("a decoder gives token by token, and a few at a time, the bits of whole sequences; caches of any number of places")
def _():
    made, x = made_causal()
    decoder, codes = made.decoder(), made.edges["x"].type.quantize(x)
    whole = made(codes)
    for steps in ([1] * 20, [7, 1, 12], [20]):
        growing, found, at = Decoding(decoder, 3), [], 0
        for step in steps:
            found.append(growing(codes[:, at:at + step]))
            at += step
        equal(np.concatenate(found, 1), whole, f"{steps}")
        assert growing.position == 20
    growing = Decoding(decoder, 3)
    growing._sizes["places"] = 3  # which grow
    growing._caches = {name: growing._empty(name) for name in growing._axes}
    equal(np.concatenate([growing(codes[:, k:k + 2]) for k in range(0, 20, 2)], 1), whole, "caches that grow")
    growing.position = 4  # set back
    equal(growing(codes[:, 4:9]), whole[:, 4:9], "once more")
    assert np.abs(Decoding(decoder, 3).real(x) - made.real(x)).max() == 0


@test("what cannot be decoded, and tokens beyond the capacity, get their message")
def _():
    made, x = made_causal()
    growing = Decoding(made.decoder(), 3)
    growing.real(x[:, :18])
    refused("21 tokens, 18 of them before: the capacity of this network is 20", lambda: growing.real(x[:, :3]))
    refused("2 inputs, must be 1: x", lambda: growing.real(x, x))
    assert growing.position == 18
    refused("keeps nothing of tokens", lambda: Decoding(made))
    refused("a mask beside the causal one", lambda: made_causal(mask=True)[0].decoder())
    refused("is over length", lambda: made_causal(mean=True)[0].decoder())
    refused("no attention is causal", lambda: alone(Node("reshape", ("x",), "y"), [Edge("x", side(), (2, 3))], Edge("y", side(), (6,))).decoder())
    refused("keeps what it needs of tokens already", lambda: made.decoder().decoder())


@test("a decoder of a GGUF file: its block and its whole come near their numbers, and are decoded to the same bits")
def _():
    own = np.random.default_rng(7)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.gguf"
        tensors = gguf_models.tensors_of(own, "q8_0")
        gguf_models.write(path, gguf_models.values_of(), tensors)
        batches = [own.integers(0, 40, (2, 10))]
        made = llama.quantize(path, batches, longest=14)
        exact = llama.real_network(path, longest=14)(batches[0])[0]
        loss = relative_loss([made.real(batches[0])], [exact])
        tokens = own.integers(0, 40, (2, 14))
        growing = Decoding(made.decoder(), 2)
        equal(np.concatenate([growing.real(tokens[:, k:k + 1]) for k in range(14)], 1), made.real(tokens), "token by token")
        hidden = own.normal(0, 1, (2, 10, 32))
        block = llama.quantize(path, [hidden], longest=14, blocks=[1])
        found = relative_loss([block.real(hidden)], [llama.real_network(path, longest=14, blocks=[1])(hidden)[0]])
        assert loss < 0.03 and found < 0.02, (loss, found)
        equal(Decoding(block.decoder(), 2).real(hidden), block.real(hidden), "a block")
    return f"{loss:.4f}, a block {found:.4f}"


@test("a decoder of a file whose tensors have blocks of each type is that of their numbers")
def _():
    own = np.random.default_rng(9)
    with tempfile.TemporaryDirectory() as folder:
        path, plain = pathlib.Path(folder) / "model.gguf", pathlib.Path(folder) / "plain.gguf"
        types, shape = ["q4_0", "q4_1", "q8_0", "mxfp4", "q4_k", "q5_k", "q6_k"], dict(blocks=1, width=256, heads=4, kept=2)
        tensors = gguf_models.tensors_of(own, inner=256, words=20, **shape)
        weights = [name for name, (_, x) in tensors.items() if x.ndim == 2]
        for k, name in enumerate(weights):
            tensors[name] = types[k % len(types)], tensors[name][1]
        gguf_models.write(path, gguf_models.values_of(**shape), tensors)
        found = pwl.gguf.Numbers(path)
        assert len(weights) >= len(types) and all(0 < np.abs(found[name]).max() < 10 for name in weights)
        gguf_models.write(plain, gguf_models.values_of(**shape), {name: ("f32", found[name]) for name in tensors})
        tokens = own.integers(0, 20, (2, 5))
        wanted, y = (llama.real_network(one, longest=5)(tokens)[0] for one in (plain, path))
        equal(y, wanted, "scores")
        made = llama.quantize(path, [tokens], longest=5)
        equal(made(tokens.astype(np.int32)), made(tokens.astype(np.int32), by="numpy"), "codes")


@test("first tokens far beyond the others: their keys and values are kept in real numbers, and no range counts the rest of them")
def _():
    own, losses = np.random.default_rng(9), []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.gguf"
        tensors = gguf_models.tensors_of(own)
        tensors["token_embd.weight"][1][0] *= 3000  # which the norms take back
        gguf_models.write(path, gguf_models.values_of(), tensors)
        tokens = own.integers(1, 40, (2, 12))
        tokens[:, 0] = 0
        exact = llama.real_network(path, longest=12)(tokens)[0]
        for first in (0, 1):
            decoder = llama.quantize(path, [tokens], Widths.all(16), longest=12, first=first).decoder()
            kept = decoder.kept(tokens[:1, :1]) if first else None
            growing = Decoding(decoder, 2, kept)
            assert growing.position == first
            losses.append(relative_loss([growing.real(tokens[:, first:])[:, 1 - first:]], [exact[:, 1:]]))
        refused("must be codes of as many tokens", lambda: Decoding(decoder, 2, {"cache.0": kept["cache.0"]}))
        refused("of which the first 1 do not count", lambda: llama.quantize(path, [tokens[:, :1]], longest=12, first=1))
        decoder.save(f"{folder}/decoder.json")
        refused("a decoder from a file", lambda: load(f"{folder}/decoder.json").kept(tokens[:1, :1]))
    assert losses[1] < losses[0] / 4 and losses[1] < 0.03, losses
    return f"{losses[1]:.4f}, else {losses[0]:.4f}"


@test("numbers of GGUF files, and what no decoder can be made of")
def _():
    own = np.random.default_rng(8)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.gguf"
        x = own.normal(0, 1, (4, 64)).astype(np.float32)
        span = x.reshape(-1, 32).max(1) - x.reshape(-1, 32).min(1)
        worst = {"f32": 0, "f16": 2.0 ** -9, "bf16": 2.0 ** -5, "q8_0": np.abs(x).max() / 254 + 2.0 ** -8, "q4_1": span.max() / 30 + 2.0 ** -8}
        gguf_models.write(path, {"a": 3, "b": 0.5, "c": "text"}, {kind: (kind, x) for kind in worst})
        assert pwl.gguf.values(path) == {"a": 3, "b": 0.5, "c": "text"} and list(pwl.gguf.Numbers(path)) == list(worst)
        for kind, bound in worst.items():
            found = pwl.gguf.numbers(path, kind)
            assert found.dtype == np.float32 and np.abs(found - x).max() <= bound, kind
        refused("tensor 'q4_1' is of type Q4_1", lambda: pwl.gguf.read(path, "q4_1"))
        refused("no tensor 'none'", lambda: pwl.gguf.numbers(path, "none"))
        for change, message in ((dict(architecture="mamba"), "must be one of"), (dict(width=28), "must be all, and an even number"),
                                (dict(kept=3), "do not share evenly"), ({"rope.dimension_count": 4}, "angles turn 4 places of heads of 8"),
                                ({"attention.layer_norm_rms_epsilon": "x"}, "must be a number")):
            gguf_models.write(path, gguf_models.values_of(**change), {})
            refused(message, lambda: llama.described(path))
        gguf_models.write(path, gguf_models.values_of(), gguf_models.tensors_of(own))
        for of, message in ((dict(blocks=[2]), "must be some of 0 to 1"), (dict(blocks=[]), "must be some of 0 to 1")):
            refused(message, lambda: llama.real_network(path, longest=8, **of))
        refused("a batch of 9 tokens: longest is 8", lambda: llama.quantize(path, [np.zeros((1, 9), np.int64)], longest=8))
        refused("no batches", lambda: llama.quantize(path, [], longest=8))


end()
