# SPDX-License-Identifier: Apache-2.0
"""The operations of graphs of ONNX, each as the operation of a network that it is: products, convolutions, sums, rows. A
handler takes the reader and the node; those that move numbers are in graph_moves.py."""
from __future__ import annotations

import math
from typing import Mapping, Sequence

import numpy as np
import onnx

from ..codes import Array
from ..network.floats import FloatNetwork
from ..network.kinds import Shape, Size, product_of_sizes
from ..network.masks import MASKED, Mask
from ..network.recurrent import GATES, RecurrentLayer, last_states
from .graph import Handler, Pending, Reader, Result, broadcast
from .graph_moves import MOVES

__all__ = ["read"]

# The order of gates in weights, with c as g and h as n.
ONNX_GATES = {"GRU": "zrn", "LSTM": "iofg"}
ACTIVATIONS = {"GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}
LEAST_LENGTH = 1e-6  # what a length is at least, where a model says so


# ---- Products ----

def gemm(reader: Reader, node: onnx.NodeProto) -> str:
    given = reader.attributes(node)
    if given.get("transA") or not reader.is_constant(node.input[1]):
        raise reader.refuse(node, "a product of other than an input and constant weights, or of a transposed input")
    weights = reader.reals(node, 1) * given.get("alpha", 1.0)
    weights = weights if given.get("transB") else weights.T
    bias = np.zeros(len(weights))
    if len(node.input) > 2 and node.input[2]:
        bias = np.broadcast_to(reader.reals(node, 2).reshape(-1) * given.get("beta", 1.0), bias.shape)
    return _linear(reader, node, node.input[0], weights, bias)


def _linear(reader: Reader, node: onnx.NodeProto, x: str, weights: Array, bias: Array) -> str:
    edge = reader.edge(node, x)
    return reader.add(node, "linear", [edge], node.output[0], (*reader.shapes[edge][:-1], len(weights)),
                      arrays={"weights": weights, "bias": bias})


def matmul(reader: Reader, node: onnx.NodeProto) -> str:
    if reader.is_constant(node.input[1]) and len(reader.shape(node.input[1])) == 2:
        weights = reader.reals(node, 1).T
        return _linear(reader, node, node.input[0], weights, np.zeros(len(weights)))
    a, b = (reader.edge(node, name) for name in node.input)
    one, other = reader.shapes[a], reader.shapes[b]
    if len(one) < 2 or one[:-2] != other[:-2]:
        raise reader.refuse(node, f"a product of shapes {one} and {other}, whose axes before the last two are not the same")
    return reader.add(node, "matmul", [a, b], node.output[0], (*one[:-1], other[-1]), fields={"transposed": 0, "factor": 1.0})


def _places(reader: Reader, node: onnx.NodeProto, x: Sequence[Size], kernel: Sequence[int], stride: Sequence[int],
            ends: Sequence[tuple[int, int]]) -> list[Size]:
    """How many places windows of so many have."""
    found: list[Size] = []
    for size, of, step, (low, high) in zip(x, kernel, stride, ends):
        if isinstance(size, int):
            found.append((size + low + high - of) // step + 1)
        elif step == 1 and low + high == of - 1:
            found.append(size)
        else:
            raise reader.refuse(node, f"a window over {size} places, whose number inputs choose, that leaves fewer")
        if isinstance(found[-1], int) and found[-1] < 1:
            raise reader.refuse(node, f"a window of {of} over {size} places")
    return found


def _ends(reader: Reader, node: onnx.NodeProto, x: Sequence[Size], kernel: Sequence[int],
          stride: Sequence[int]) -> list[tuple[int, int]]:
    """How far windows reach beyond both ends of each axis."""
    given, count = reader.attributes(node), len(kernel)
    pads, how = given.get("pads") or [0] * (2 * count), given.get("auto_pad", b"NOTSET").decode()
    if how in ("NOTSET", "VALID"):
        return [(pads[k], pads[k + count]) if how == "NOTSET" else (0, 0) for k in range(count)]
    found = []
    for size, of, step in zip(x, kernel, stride):
        if not isinstance(size, int):
            raise reader.refuse(node, f"{how} over {size} places, whose number inputs choose")
        whole = max((math.ceil(size / step) - 1) * step + of - size, 0)
        found.append((whole // 2, whole - whole // 2) if how == "SAME_UPPER" else (whole - whole // 2, whole // 2))
    return found


def convolution(reader: Reader, node: onnx.NodeProto) -> str:
    given, weights, x = reader.attributes(node), reader.reals(node, 1), reader.edge(node, node.input[0])
    bias = reader.reals(node, 2) if len(node.input) > 2 and node.input[2] else np.zeros(len(weights))
    places, shape = weights.ndim - 2, reader.shapes[x]
    if places not in (1, 2):
        raise reader.refuse(node, f"a convolution in {places} dimensions")
    stride, dilation = given.get("strides") or [1] * places, given.get("dilations") or [1] * places
    reach = [step * (of - 1) + 1 for step, of in zip(dilation, weights.shape[2:])]
    ends = _ends(reader, node, shape[2:], reach, stride)
    found = _places(reader, node, shape[2:], reach, stride, ends)
    # Where the ends differ, taps of 0 make them the same.
    padding = [max(pair) for pair in ends]
    missing = [[(most - end) / step for end in pair] for most, pair, step in zip(padding, ends, dilation)]
    if any(count != int(count) for pair in missing for count in pair):
        raise reader.refuse(node, f"ends of {ends}, which differ by other than the dilation")
    weights = np.pad(weights, [(0, 0), (0, 0), *((int(low), int(high)) for low, high in missing)])
    return reader.add(node, "convolution", [x], node.output[0], (shape[0], len(weights), *found),
                      arrays={"weights": weights, "bias": bias},
                      fields={"stride": list(stride), "padding": padding, "dilation": list(dilation),
                              "groups": given.get("group", 1)})


def transposed_convolution(reader: Reader, node: onnx.NodeProto) -> str:
    """One whose windows do not overlap: a product for each place, whose channels become places."""
    given, weights, x = reader.attributes(node), reader.reals(node, 1), reader.edge(node, node.input[0])
    kernel, shape, name = list(weights.shape[2:]), reader.shapes[x], node.output[0]
    ones = [1] * len(kernel)
    cut = any(given.get("pads") or []) or any(given.get("output_padding") or [])
    if cut or (given.get("strides") or ones) != kernel or (given.get("dilations") or ones) != ones or given.get("group", 1) != 1 or (
            len(kernel) not in (1, 2)):
        raise reader.refuse(node, "a transposed convolution whose windows overlap or have ends cut off")
    channels, taps = weights.shape[1], math.prod(kernel)
    bias = reader.reals(node, 2) if len(node.input) > 2 and node.input[2] else np.zeros(channels)
    flat = weights.reshape(len(weights), channels * taps).T.reshape(channels * taps, len(weights), *ones)
    y = reader.add(node, "convolution", [x], f"{name}/taps", (shape[0], channels * taps, *shape[2:]),
                   arrays={"weights": flat, "bias": np.repeat(bias, taps)},
                   fields={"stride": ones, "padding": [0] * len(ones), "dilation": ones, "groups": 1})
    split: Shape = (shape[0], channels, *kernel, *shape[2:])
    y = reader.add(node, "reshape", [y], f"{name}/split", split)
    order = [0, 1, *(axis for k in range(len(kernel)) for axis in (2 + len(kernel) + k, 2 + k))]
    y = reader.add(node, "transpose", [y], f"{name}/order", tuple(split[axis] for axis in order), fields={"order": order})
    return reader.add(node, "reshape", [y], name, (shape[0], channels, *(
        product_of_sizes([size, of]) for size, of in zip(shape[2:], kernel))))


def batch_norm(reader: Reader, node: onnx.NodeProto) -> str:
    x = reader.edge(node, node.input[0])
    gamma, beta, mean, variance = (reader.reals(node, k) for k in range(1, 5))
    factor = gamma / np.sqrt(variance + reader.attributes(node).get("epsilon", 1e-5))
    channel = (-1, *[1] * (len(reader.shapes[x]) - 2))
    return reader.affine(node, x, factor.reshape(channel), (beta - mean * factor).reshape(channel), node.output[0])


# ---- Windows without weights ----

def _window(reader: Reader, node: onnx.NodeProto) -> tuple[str, list[int], list[int], list[int], list[Size]]:
    """Of a pool: its input, kernel, stride, padding, and how many places it gives."""
    given, x = reader.attributes(node), reader.edge(node, node.input[0])
    shape, kernel = reader.shapes[x], list(given["kernel_shape"])
    stride = list(given.get("strides") or [1] * len(kernel))
    ends = _ends(reader, node, shape[2:], kernel, stride)
    if any(low != high for low, high in ends) or set(given.get("dilations") or [1]) != {1}:
        raise reader.refuse(node, f"a pool with dilation, or with ends that differ, {ends}")
    if given.get("ceil_mode") and any(isinstance(size, int) and (size + low + high - of) % step
                                      for size, (low, high), of, step in zip(shape[2:], ends, kernel, stride)):
        raise reader.refuse(node, "a pool whose last window is cut (ceil_mode)")
    return x, kernel, stride, [low for low, _ in ends], _places(reader, node, shape[2:], kernel, stride, ends)


def max_pool(reader: Reader, node: onnx.NodeProto) -> str:
    x, kernel, stride, padding, places = _window(reader, node)
    return reader.add(node, "max_pool", [x], node.output[0], (*reader.shapes[x][:2], *places),
                      fields={"kernel": kernel, "stride": stride, "padding": padding})


def average_pool(reader: Reader, node: onnx.NodeProto) -> str:
    x, kernel, stride, padding, places = _window(reader, node)
    if any(padding) and not reader.attributes(node).get("count_include_pad"):
        raise reader.refuse(node, "an average pool over fewer numbers at the ends (without count_include_pad)")
    return reader.average(x, kernel, stride, padding, node.output[0], (*reader.shapes[x][:2], *places), reader.where(node))


def mean(reader: Reader, node: onnx.NodeProto) -> Result:
    """ReduceMean and GlobalAveragePool: over one axis, or over some that lie beside each other."""
    x = reader.edge(node, node.input[0])
    shape, name = reader.shapes[x], node.output[0]
    rank, keep = len(shape), reader.attributes(node).get("keepdims", 1)
    axes = list(range(2, rank)) if node.op_type == "GlobalAveragePool" else reader.integers(node, "axes", 1)
    axes = sorted(axis % rank for axis in axes or range(rank))
    first, last = axes[0], axes[-1]
    if axes != list(range(first, last + 1)):
        raise reader.refuse(node, f"a mean over axes {axes}, which do not lie beside each other")
    if len(axes) > 1:
        x = reader.add(node, "reshape", [x], f"{name}/flat",
                       (*shape[:first], product_of_sizes(shape[first:last + 1]), *shape[last + 1:]))
    left = (*shape[:first], *shape[last + 1:])
    y = reader.add(node, "mean", [x], f"{name}/mean" if keep else name, left, fields={"axis": first})
    return reader.add(node, "reshape", [y], name, (*left[:first], *[1] * len(axes), *left[first:])) if keep else y


# ---- Sums and products of two ----

def add(reader: Reader, node: onnx.NodeProto) -> Result:
    """x + y and x - y: of two results, with constants, or with a mask of scores."""
    negative = node.op_type == "Sub"
    x, y = node.input
    for base, other in ((x, y), (y, x)):
        if base in reader.real and other not in reader.real and not (negative and base == y):
            if not reader.is_constant(other) or _adds_infinity(reader, other):
                return Pending("masked scores", reader.edge(node, base), other)
    fixed = next((name for name in (x, y) if name not in reader.real), "")
    if fixed and _fits(reader, node, x if fixed == y else y, fixed):
        base = reader.edge(node, x if fixed == y else y)
        values = reader.constant(node, fixed).astype(np.float64)
        if fixed == x:
            return reader.affine(node, base, np.array(-1.0 if negative else 1.0), values, node.output[0])
        return reader.affine(node, base, np.array(1.0), -values if negative else values, node.output[0])
    one, other = reader.edge(node, x), reader.edge(node, y)
    if negative:
        other = reader.affine(node, other, np.array(-1.0), np.array(0.0), f"{node.output[0]}/negated")
    return _two(reader, node, "add", one, other)


def _fits(reader: Reader, node: onnx.NodeProto, x: str, constant: str) -> bool:
    """Whether constants of numbers, whose shape no size tells, are of a channel or of all numbers."""
    shape = reader.shape(constant)
    return len(shape) <= len(reader.shapes[reader.edge(node, x)]) and sum(size != 1 for size in shape) <= 1 and all(
        isinstance(size, int) for size in shape)


def _adds_infinity(reader: Reader, name: str) -> bool:
    return len(reader.shape(name)) >= 2 and bool((reader.evaluate(name, reader.longest, {}) <= MASKED).any())


def _two(reader: Reader, node: onnx.NodeProto, kind: str, x: str, y: str) -> str:
    shape = broadcast(reader.shapes[x], reader.shapes[y])
    if shape is None:
        raise reader.refuse(node, f"shapes {reader.shapes[x]} and {reader.shapes[y]}")
    return reader.add(node, kind, [x, y], node.output[0], shape)


def multiply(reader: Reader, node: onnx.NodeProto) -> Result:
    x, y = node.input
    fixed = next((name for name in (x, y) if name not in reader.real), "")
    if fixed and reader.is_constant(fixed) and _fits(reader, node, x if fixed == y else y, fixed):
        base = reader.edge(node, x if fixed == y else y)
        return reader.affine(node, base, reader.constant(node, fixed).astype(np.float64), np.array(0.0), node.output[0])
    return _two(reader, node, "multiply", reader.edge(node, x), reader.edge(node, y))


def divide(reader: Reader, node: onnx.NodeProto) -> Result:
    x, y = node.input
    below = reader.results.get(y)
    if isinstance(below, Pending) and below.kind == "length" and below.base == reader.results.get(x):
        return reader.add(node, "l2norm", [below.base], node.output[0], reader.shapes[below.base])
    if y in reader.real or not reader.is_constant(y):
        raise reader.refuse(node, "a division by what is no constant and no length")
    base = reader.edge(node, x)
    return reader.affine(node, base, 1 / reader.constant(node, y).astype(np.float64), np.array(0.0), node.output[0])


# ---- Rows ----

def softmax(reader: Reader, node: onnx.NodeProto) -> str:
    part = reader.results[node.input[0]]
    mask = Mask(None, False)
    if isinstance(part, Pending) and part.kind == "masked scores":
        mask, base = reader.mask(node, part), part.base
    else:
        base = reader.edge(node, node.input[0])
    shape = reader.shapes[base]
    if reader.attributes(node).get("axis", -1 if reader.opset >= 13 else 1) % len(shape) != len(shape) - 1:
        raise reader.refuse(node, "a softmax over another axis than the last")
    return reader.add(node, "softmax", [base, *([mask.input] if mask.input else [])], node.output[0], shape,
                      fields={"causal": int(mask.causal)})


def where(reader: Reader, node: onnx.NodeProto) -> Result:
    """Scores of which some take no part; and what stands for numbers that are none."""
    condition, yes, no = node.input
    part = reader.results.get(condition)
    if isinstance(part, Pending) and part.kind == "not a number" and reader.results.get(no) == part.base:
        return part.base
    scores, other = (no, yes) if yes not in reader.real else (yes, no)
    if condition in reader.real or other in reader.real or not reader.is_constant(other) or (
            reader.constant(node, other) > MASKED).any():
        raise reader.refuse(node, "a choice between numbers; it is known for masks of scores, by -inf")
    return Pending("masked scores", reader.edge(node, scores), condition, inverted=scores == no)


def is_nan(reader: Reader, node: onnx.NodeProto) -> Pending:
    return Pending("not a number", reader.edge(node, node.input[0]))


def length(reader: Reader, node: onnx.NodeProto) -> Pending:
    x, axes = reader.edge(node, node.input[0]), reader.integers(node, "axes", 1)
    rank = len(reader.shapes[x])
    if [axis % rank for axis in axes or []] != [rank - 1] or not reader.attributes(node).get("keepdims", 1):
        raise reader.refuse(node, "a length over other than the last axis")
    return Pending("length", x)


def at_least(reader: Reader, node: onnx.NodeProto) -> Pending:
    """A length that is kept from 0, or repeated along its axis."""
    part = next((reader.results[name] for name in node.input if name in reader.results), None)
    limits = [name for name in node.input if name and name not in reader.real]
    if not isinstance(part, Pending) or part.kind != "length" or (node.op_type != "Expand" and any(
            reader.constant(node, name).max() > LEAST_LENGTH for name in limits)):
        raise reader.refuse(node, "an operation that networks do not have yet")
    return part


def l2_norm(reader: Reader, node: onnx.NodeProto) -> str:
    x, given = reader.edge(node, node.input[0]), reader.attributes(node)
    rank = len(reader.shapes[x])
    if given.get("p", 2) != 2 or given.get("axis", -1) % rank != rank - 1:
        raise reader.refuse(node, "another norm than the Euclidean over the last axis")
    return reader.add(node, "l2norm", [x], node.output[0], reader.shapes[x])


# ---- Recurrent layers ----

def recurrent(reader: Reader, node: onnx.NodeProto) -> str:
    """GRU and LSTM, of one layer in one direction or both: the states of all places, and the last ones."""
    layers = _layers(reader, node)
    for layer in layers:
        reader.append(*layer.ops())
    results = [_all_states(reader, node, layers)]
    for cells in [False, True][:len(node.output) - 1]:
        results.append(reader.append(*last_states(layers, f"{layers[0].output}/{'cell_' if cells else ''}states", cells)))
    named = {name: result for name, result in zip(node.output, results) if name}
    for name, result in named.items():
        reader.keep(name, result)
    return next(iter(named.values()))


def _layers(reader: Reader, node: onnx.NodeProto) -> list[RecurrentLayer]:
    given, kind = reader.attributes(node), node.op_type.lower()
    inputs = [*node.input, *[""] * (8 - len(node.input))]
    direction = given.get("direction", b"forward").decode()
    others = any(given.get(name) for name in ("activation_alpha", "activation_beta", "clip", "input_forget", "layout"))
    activations = [name.decode() for name in given.get("activations", [])]
    if others or inputs[4] or inputs[7] or activations != (2 * ACTIVATIONS[node.op_type])[:len(activations)]:
        raise reader.refuse(node, "a recurrent layer with other activations, a layout of its own, sequence_lens or peepholes")
    if kind == "gru" and not given.get("linear_before_reset"):
        raise reader.refuse(node, "a GRU without linear_before_reset")
    for name in inputs[5:7]:
        if name and (not reader.is_constant(name) or reader.evaluate(name, reader.longest, {}).any()):
            raise reader.refuse(node, "a first state that is not 0")
    x, width, gates = reader.edge(node, inputs[0]), int(given["hidden_size"]), len(GATES[kind])
    outer, inner = reader.reals(node, 1), reader.reals(node, 2)
    biases = reader.reals(node, 3) if inputs[3] else np.zeros((len(outer), 2 * gates * width))
    order = [ONNX_GATES[node.op_type].index(gate) for gate in GATES[kind]]

    def ordered(part: Array) -> Array:
        return part.reshape(gates, width, *part.shape[1:])[order].reshape(part.shape)

    first = next(name for name in node.output if name)
    return [RecurrentLayer(kind, f"{first}/{k}", 0, direction == "reverse" or k == 1, reader.where(node), x, reader.shapes[x],
                           (ordered(outer[k]), ordered(inner[k])), [ordered(part) for part in np.split(biases[k], 2)])
            for k in range(len(outer))]


def _all_states(reader: Reader, node: onnx.NodeProto, layers: Sequence[RecurrentLayer]) -> str:
    """As [places, directions, batch, width]."""
    length, batch = layers[0].shape[:2]
    parts = [reader.add(node, "reshape", [layer.output], f"{layer.output}/direction", (length, 1, batch, layer.width))
             for layer in layers]
    return reader.join(parts, 1, f"{layers[0].output}/both", reader.where(node))


HANDLERS: Mapping[str, Handler] = {
    **MOVES,
    "Gemm": gemm, "MatMul": matmul, "Conv": convolution, "ConvTranspose": transposed_convolution, "BatchNormalization": batch_norm,
    "MaxPool": max_pool, "AveragePool": average_pool, "GlobalAveragePool": mean, "ReduceMean": mean, "Add": add, "Sub": add,
    "Mul": multiply, "Div": divide, "Softmax": softmax, "Where": where, "IsNaN": is_nan, "ReduceL2": length, "Max": at_least,
    "Clip": at_least, "LpNormalization": l2_norm, "GRU": recurrent, "LSTM": recurrent,
}


def read(model: onnx.ModelProto, sizes: Mapping[str, Shape], longest: Mapping[str, int]) -> FloatNetwork:
    """The network of a model. sizes has the axes of each input: a number, or the name of a size; longest how long each of
    these is at most."""
    return Reader(model, sizes, longest, HANDLERS).read()
