# SPDX-License-Identifier: Apache-2.0
"""The operations of graphs of torch.export, each as the operation of a network that it is. A handler takes the reader, the
node and its arguments, None for those that were left out."""
from __future__ import annotations

import dataclasses
import math
import operator
from typing import Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np
import torch
from torch import fx

from ..network.floats import FloatNetwork
from ..network.kinds import Size, repeated_axis
from ..network.masks import MASKED, Mask
from .attention import CALLS as ATTENTION
from .graph import RESHAPES, SAME, SPLITS, Handler, Pending, Reader, Result
from .graph_recurrent import last, recurrent

__all__ = ["read"]

aten = torch.ops.aten


def embedding(reader: Reader, node: fx.Node, args: list[Any]) -> str:
    table, source = args[:2]
    while isinstance(source, fx.Node) and source.all_input_nodes:
        before = source.all_input_nodes[0]
        if source.target not in SAME and (source.target not in RESHAPES or reader.shape(source) != reader.shape(before)):
            break
        source = before
    if not isinstance(source, fx.Node) or source.name not in reader.user_inputs:
        raise reader.refuse(node, "an embedding whose index is no input")
    reader.roles[source.name] = "index"
    return reader.add(node, "gather", [source.name], arrays={"table": reader.constant(table)})


def linear(reader: Reader, node: fx.Node, args: list[Any]) -> str:
    weights = reader.constant(args[1])
    bias = np.zeros(len(weights)) if args[2] is None else reader.constant(args[2])
    return reader.add(node, "linear", [reader.edge(args[0], node)], arrays={"weights": weights, "bias": bias})


def matmul(reader: Reader, node: fx.Node, args: list[Any]) -> str:
    if reader.is_constant(args[1]) and len(reader.shape(args[1])) == 2:
        weights = reader.constant(args[1]).T
        return reader.add(node, "linear", [reader.edge(args[0], node)], arrays={"weights": weights, "bias": np.zeros(len(weights))})
    return reader.add(node, "matmul", [reader.edge(args[0], node), reader.edge(args[1], node)],
                    fields={"transposed": 0, "factor": 1.0})


def addmm(reader: Reader, node: fx.Node, args: list[Any]) -> str:
    if not reader.is_constant(args[0]) or not reader.is_constant(args[2]) or node.kwargs:
        raise reader.refuse(node, "addmm of other than an input and constants")
    return reader.add(node, "linear", [reader.edge(args[1], node)],
                    arrays={"weights": reader.constant(args[2]).T, "bias": reader.constant(args[0])})


def sum_of(reader: Reader, node: fx.Node, args: list[Any]) -> Result:
    """x + y, x - y, with a number, a tensor, or a mask of scores."""
    alpha = float(node.kwargs.get("alpha", 1)) * (-1 if node.target in (aten.sub.Tensor, aten.sub_.Tensor) else 1)  # type: ignore[arg-type]
    x, y = args[0], args[1]
    if isinstance(x, fx.Node) and isinstance(reader.results.get(x), Pending):
        part = reader.results[x]
        if part.kind == "mean square" and not isinstance(y, fx.Node):  # type: ignore[union-attr]
            return dataclasses.replace(part, eps=float(y))  # type: ignore[type-var]
    for base, mask in ((x, y), (y, x)):
        if isinstance(mask, fx.Node) and mask not in reader.real and (reader.depends[mask] or _adds_infinity(reader, mask)):
            return Pending("masked scores", reader.edge(base, node), mask)
    second = reader.edge(y, node)
    if alpha != 1:
        second = reader.add(node, "scale", [second], fields={"factor": alpha}, output=f"{node.name}.negated",
                          shape=reader.shape(y) if isinstance(y, fx.Node) else (1,))
    return reader.add(node, "add", [reader.edge(x, node), second])


def _adds_infinity(reader: Reader, mask: fx.Node) -> bool:
    value = mask.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dim() >= 2 and bool((reader.constant(mask) <= MASKED).any())


def product_of(reader: Reader, node: fx.Node, args: list[Any]) -> Result:
    x, y = args[0], args[1]
    if x not in reader.real:
        x, y = y, x
    one, other = reader.results.get(x), reader.results.get(y) if isinstance(y, fx.Node) else None
    for part, value in ((one, y), (other, x)):
        if isinstance(part, Pending) and part.kind == "rms" and reader.results.get(value) == part.base:
            return reader.add(node, "rmsnorm", [part.base], fields={"eps": part.eps})
    if y not in reader.real and reader.depends[y]:
        return Pending("masked", reader.edge(x, node), y)
    if y not in reader.real:
        values = reader.constant(y)
        before = reader.made.get(one) if isinstance(one, str) else None
        if before is not None and before.kind == "rmsnorm" and not before.arrays and values.ndim == 1:
            return reader.add(node, "rmsnorm", before.inputs, fields=before.fields, arrays={"gamma": values})
    return reader.add(node, "multiply", [reader.edge(x, node), reader.edge(y, node)])


def quotient_of(reader: Reader, node: fx.Node, args: list[Any]) -> str:
    x, y = args[0], args[1]
    part, below = reader.results.get(x), reader.results.get(y) if isinstance(y, fx.Node) else None
    if isinstance(below, Pending) and below.kind == "length" and below.base == part:
        return reader.add(node, "l2norm", [below.base])
    if isinstance(below, Pending) and below.kind == "rms" and below.base == part:
        return reader.add(node, "rmsnorm", [below.base], fields={"eps": below.eps})
    if isinstance(part, Pending) and part.kind == "sum" and part.mask is not None:
        return masked_mean(reader, node, part, y)
    raise reader.refuse(node, "a division by what is no number, no length and no count of a mask")


def masked_mean(reader: Reader, node: fx.Node, part: Pending, count: Any) -> str:
    assert part.mask is not None
    if part.axis != 1:
        raise reader.refuse(node, "a masked mean over another axis than the second")
    rank = len(part.mask.meta["val"].shape)
    name = reader.is_mask_of(part.mask, lambda mask: mask.reshape(*mask.shape, *[1] * (rank - 2)))
    counted = reader.is_mask_of(count, lambda mask: mask.sum(-1, keepdim=True)) if isinstance(count, fx.Node) else None
    if name is None or counted != name:
        raise reader.refuse(node, "a mean whose weights are no input of 0 and 1, or which is divided by something else than their "
                                "count")
    return reader.add(node, "mean", [part.base, name], fields={"axis": part.axis})


def reduce(reader: Reader, node: fx.Node, args: list[Any]) -> Result:
    """A sum or a mean over one axis."""
    axes = [axis % len(args[0].meta["val"].shape) for axis in args[1]]
    part, is_mean, keep = reader.results[args[0]], node.target is aten.mean.dim, bool(args[2])
    if is_mean and keep and axes == [args[0].meta["val"].dim() - 1] and is_square(reader, part):
        assert isinstance(part, Pending)
        return Pending("mean square", part.base)
    if len(axes) != 1 or (keep and not is_mean):
        raise reader.refuse(node, "a sum or mean over other than one axis")
    if isinstance(part, Pending) and part.kind == "masked" and not is_mean:
        return dataclasses.replace(part, kind="sum", axis=axes[0])
    base = reader.edge(args[0], node)
    if not is_mean:
        raise reader.refuse(node, "a sum that no count divides")
    shape = reader.shape(args[0])
    shape = (*shape[:axes[0]], *shape[axes[0] + 1:])
    name = reader.add(node, "mean", [base], fields={"axis": axes[0]}, output=f"{node.name}.mean" if keep else node.name,
                    shape=shape)
    return reader.add(node, "reshape", [name]) if keep else name


def is_square(reader: Reader, part: Result) -> bool:
    """Whether it is the square of base."""
    if not isinstance(part, Pending) or part.node is None:
        return False
    x = part.node.args[0]
    of_base = isinstance(x, fx.Node) and reader.results.get(x) == part.base
    return of_base and bool((part.node.target is aten.pow.Tensor_Scalar and part.node.args[1] == 2)
                        or (part.node.target is aten.mul.Tensor and part.node.args[1] is x))


def softmax(reader: Reader, node: fx.Node, args: list[Any]) -> str:
    if args[1] % args[0].meta["val"].dim() != args[0].meta["val"].dim() - 1:
        raise reader.refuse(node, "a softmax over another axis than the last")
    part = reader.results[args[0]]
    mask = Mask(None, False)
    if isinstance(part, Pending) and part.kind == "masked scores":
        mask, base = reader.recognise(node, part.mask, part.inverted), part.base
    else:
        base = reader.edge(args[0], node)
    return reader.add(node, "softmax", [base, *([mask.input] if mask.input else [])], fields={"causal": int(mask.causal)})


def masked_fill(reader: Reader, node: fx.Node, args: list[Any]) -> Result:
    """Scores of which those where a mask is True take no part."""
    fill = float(reader.constant(args[2])) if isinstance(args[2], fx.Node) else float(args[2])
    if fill > MASKED or args[1] in reader.real:
        raise reader.refuse(node, f"masked_fill by {fill:g}; it is known for masks of scores, by -inf")
    return Pending("masked scores", reader.edge(args[0], node), args[1], inverted=True)


def attention(reader: Reader, node: fx.Node, args: list[Any]) -> str:
    """scaled_dot_product_attention as two products around a softmax."""
    query, key, value = args[:3]
    if args[3] is None:
        mask = Mask(None, bool(args[5] or node.kwargs.get("is_causal")))
    else:
        mask = reader.recognise(node, args[3])
    scale: Any = node.kwargs.get("scale") or 1 / math.sqrt(query.meta["val"].shape[-1])
    shape = (*reader.shape(query)[:-1], reader.shape(key)[-2])
    keys, values = (_shared(reader, node, one, shape[1]) for one in (key, value))
    scores = reader.add(node, "matmul", [reader.edge(query, node), keys], shape=shape,
                      output=f"{node.name}.scores", fields={"transposed": 1, "factor": float(scale)})
    shares = reader.add(node, "softmax", [scores, *([mask.input] if mask.input else [])], shape=shape,
                      output=f"{node.name}.shares", fields={"causal": int(mask.causal)})
    return reader.add(node, "matmul", [shares, values], fields={"transposed": 0, "factor": 1.0})


def _shared(reader: Reader, node: fx.Node, x: fx.Node, heads: Size) -> str:
    """Keys or values, each head as often as queries share it."""
    edge, shape = reader.edge(x, node), reader.shape(x)
    if len(shape) != 4 or shape[1] == heads:
        return edge
    if not (isinstance(heads, int) and isinstance(shape[1], int) and heads % shape[1] == 0):
        raise reader.refuse(node, f"{heads} heads that share {shape[1]}")
    times = heads // shape[1]
    apart = reader.add(node, "reshape", [edge], output=f"{node.name}.{x.name}.apart", shape=(*shape[:2], 1, *shape[2:]))
    wide = reader.add(node, "expand", [apart], output=f"{node.name}.{x.name}.wide", shape=(*shape[:2], times, *shape[2:]),
                      fields={"axis": 2, "times": times})
    return reader.add(node, "reshape", [wide], output=f"{node.name}.{x.name}.heads", shape=(shape[0], heads, *shape[2:]))


def norm(reader: Reader, node: fx.Node, args: list[Any]) -> str:
    layer = node.target is aten.layer_norm.default
    gamma, beta, eps = args[2], args[3] if layer else None, args[4] if layer else args[3]
    if len(args[1]) != 1:
        raise reader.refuse(node, "a norm over more than the last axis")
    arrays = {name: reader.constant(value) for name, value in (("gamma", gamma), ("beta", beta)) if value is not None}
    eps = eps if eps is not None else (1e-5 if layer else torch.finfo(args[0].meta["val"].dtype).eps)
    return reader.add(node, "layernorm" if layer else "rmsnorm", [reader.edge(args[0], node)], fields={"eps": float(eps)},
                    arrays=arrays)


def transpose(reader: Reader, node: fx.Node, args: list[Any]) -> str:
    rank = args[0].meta["val"].dim()
    if node.target is aten.permute.default:
        order = [axis % rank for axis in args[1]]
    else:
        one, other = (args[1] % rank, args[2] % rank) if node.target is aten.transpose.int else (0, rank - 1)
        order = list(range(rank))
        order[one], order[other] = order[other], order[one]
    return reader.add(node, "transpose", [reader.edge(args[0], node)], fields={"order": order})


def slice_of(reader: Reader, node: fx.Node, args: list[Any]) -> str:
    axis, x = (args[1] or 0) % args[0].meta["val"].dim(), reader.edge(args[0], node)
    if node.target is aten.select.int:
        part = {"start": args[2], "stop": args[2] + 1 if args[2] != -1 else 1 << 40, "step": 1, "keep": 0}
    else:
        part = {"start": args[2] or 0, "stop": 1 << 40 if args[3] is None else min(args[3], 1 << 40), "step": args[4] or 1,
                "keep": 1}
    if not all(isinstance(value, int) for value in part.values()):
        raise reader.refuse(node, "a part whose ends depend on sizes")
    return reader.add(node, "slice", [x], fields={"axis": axis, **part})


def split(reader: Reader, node: fx.Node, args: list[Any]) -> str:
    """One of the parts that split and chunk give."""
    parts, k = args[0], args[1]
    whole = reader.results.get(parts)
    if isinstance(whole, Pending) and whole.kind == "recurrent":
        return whole.base if k == 0 else last(reader, node, whole, cells=k == 2)
    x, sizes = parts.args[0], parts.args[1] if len(parts.args) > 1 else None
    axis = (parts.args[2] if len(parts.args) > 2 else parts.kwargs.get("dim", 0)) % x.meta["val"].dim()
    lengths = [value.shape[axis] for value in parts.meta["val"]]
    if parts.target not in SPLITS or not all(isinstance(length, int) for length in lengths):
        raise reader.refuse(node, f"a part of {parts.target}, of {sizes}")
    start = sum(lengths[:k])
    return reader.add(node, "slice", [reader.edge(x, node)],
                    fields={"axis": axis, "start": start, "stop": start + lengths[k], "step": 1, "keep": 1})


def expand(reader: Reader, node: fx.Node, args: list[Any]) -> Result:
    part = reader.results[args[0]]
    if isinstance(part, Pending) and part.kind == "length":
        return part
    before, shape = reader.shape(args[0]), reader.shape(node)
    if before == shape:
        return part
    repeated = repeated_axis(before, shape)
    if repeated is None:
        raise reader.refuse(node, f"from {before} to {shape}, which repeats other than one axis, a number of times")
    return reader.add(node, "expand", [reader.edge(args[0], node)], fields={"axis": repeated[0], "times": repeated[1]})


def part(reader: Reader, node: fx.Node, args: list[Any]) -> Pending:
    """The steps of norms that are spelled out."""
    before = reader.results[args[0]]
    if node.target is aten.linalg_vector_norm.default:
        rank = args[0].meta["val"].dim()
        if args[1] != 2 or [axis % rank for axis in args[2]] != [rank - 1]:
            raise reader.refuse(node, "another norm than the Euclidean over the last axis")
        return Pending("length", reader.edge(args[0], node))
    if node.target is aten.clamp_min.default and isinstance(before, Pending) and before.kind == "length":
        return before
    if node.target in (aten.rsqrt.default, aten.sqrt.default) and isinstance(before, Pending) and before.kind == "mean square":
        return dataclasses.replace(before, kind="rms")
    raise reader.refuse(node, "an operation that networks do not have yet")



def convolution(reader: Reader, node: fx.Node, args: list[Any]) -> str:
    """conv1d and conv2d."""
    weights = reader.constant(args[1])
    places = weights.ndim - 2
    stride, padding, dilation = (_numbers(args[k] if args[k] is not None else default, places)
                                 for k, default in ((3, 1), (4, 0), (5, 1)))
    bias = np.zeros(len(weights)) if args[2] is None else reader.constant(args[2])
    return reader.add(node, "convolution", [reader.edge(args[0], node)], arrays={"weights": weights, "bias": bias},
                    fields={"stride": stride, "padding": padding, "dilation": dilation, "groups": args[6] or 1})


def _numbers(value: Any, count: int) -> list[int]:
    given = list(value) if isinstance(value, (list, tuple)) else [value]
    return given * count if len(given) == 1 else given


def batch_norm(reader: Reader, node: fx.Node, args: list[Any]) -> str:
    """One that follows a convolution or a linear layer, whose weights take its factors."""
    x = reader.edge(args[0], node)
    before = reader.made.get(x)
    if before is None or before.kind not in ("convolution", "linear"):
        raise reader.refuse(node, "a batch norm that follows no convolution or linear layer")
    gamma, beta, mean, variance = (None if value is None else reader.constant(value) for value in args[1:5])
    eps = args[7] if node.target is aten.batch_norm.default else args[6]
    assert mean is not None and variance is not None
    factor = np.asarray((1 if gamma is None else gamma) / np.sqrt(variance + float(eps)))
    return reader.scaled(before, factor, (0 if beta is None else beta) - mean * factor, node.name, reader.where(node))


def max_pool(reader: Reader, node: fx.Node, args: list[Any]) -> str:
    places = node.meta["val"].dim() - 2
    kernel = _numbers(args[1], places)
    if _numbers(args[4] if args[4] is not None else 1, places) != [1] * places or args[5]:
        raise reader.refuse(node, "max_pool with dilation or ceil_mode")
    return reader.add(node, "max_pool", [reader.edge(args[0], node)], fields={
        "kernel": kernel, "stride": _numbers(args[2], places) if args[2] else kernel,
        "padding": _numbers(args[3] if args[3] is not None else 0, places)})


def average_pool(reader: Reader, node: fx.Node, args: list[Any]) -> str:
    """avg_pool as a convolution of each channel; that of all places as a mean."""
    shape, x = reader.shape(args[0]), reader.edge(args[0], node)
    places = len(shape) - 2
    if node.target in (aten.adaptive_avg_pool1d.default, aten.adaptive_avg_pool2d.default):
        if _numbers(args[1], places) != [1] * places or not all(isinstance(size, int) for size in shape[2:]):
            raise reader.refuse(node, "adaptive_avg_pool to more than one place")
        count = math.prod(size for size in shape[2:] if isinstance(size, int))
        flat = reader.add(node, "reshape", [x], output=f"{node.name}.places", shape=(*shape[:2], count))
        mean = reader.add(node, "mean", [flat], fields={"axis": 2}, output=f"{node.name}.mean", shape=shape[:2])
        return reader.add(node, "reshape", [mean])
    kernel = _numbers(args[1], places)
    stride = _numbers(args[2], places) if args[2] else kernel
    padding = _numbers(args[3] if args[3] is not None else 0, places)
    if args[4] or (args[5] is False and any(padding)):
        raise reader.refuse(node, "avg_pool with ceil_mode, or without count_include_pad")
    return reader.average(x, kernel, stride, padding, node.name, reader.shape(node), reader.where(node))


def concat(reader: Reader, node: fx.Node, args: list[Any]) -> str:
    return reader.join([reader.edge(one, node) for one in args[0]], (args[1] or 0) % node.meta["val"].dim(), node.name,
                       reader.where(node))


HANDLERS: dict[Any, Handler] = {
    aten.embedding.default: embedding,
    aten.linear.default: linear,
    aten.addmm.default: addmm,
    operator.getitem: split,
    **dict.fromkeys((aten.matmul.default, aten.bmm.default, aten.mm.default), matmul),
    **dict.fromkeys((aten.add.Tensor, aten.add_.Tensor, aten.sub.Tensor, aten.sub_.Tensor), sum_of),
    **dict.fromkeys((aten.mul.Tensor, aten.mul_.Tensor), product_of),
    **dict.fromkeys((aten.div.Tensor, aten.div_.Tensor), quotient_of),
    **dict.fromkeys((aten.sum.dim_IntList, aten.mean.dim), reduce),
    **dict.fromkeys((aten.softmax.int, aten._softmax.default), softmax),
    **dict.fromkeys((aten.masked_fill.Scalar, aten.masked_fill.Tensor), masked_fill),
    **dict.fromkeys((aten.layer_norm.default, aten.rms_norm.default), norm),
    **dict.fromkeys((aten.transpose.int, aten.permute.default, aten.t.default, aten.numpy_T.default), transpose),
    **dict.fromkeys((aten.slice.Tensor, aten.select.int), slice_of),
    **dict.fromkeys((aten.expand.default, aten.expand_as.default), expand),
    **dict.fromkeys((aten.conv1d.default, aten.conv2d.default), convolution),
    **dict.fromkeys((aten.batch_norm.default, aten._native_batch_norm_legit_no_training.default), batch_norm),
    **dict.fromkeys((aten.max_pool1d.default, aten.max_pool2d.default), max_pool),
    **dict.fromkeys((aten.avg_pool1d.default, aten.avg_pool2d.default, aten.adaptive_avg_pool1d.default,
                     aten.adaptive_avg_pool2d.default), average_pool),
    **dict.fromkeys((aten.gru.input, aten.lstm.input), recurrent),
    aten.cat.default: concat,
    **dict.fromkeys((aten.linalg_vector_norm.default, aten.clamp_min.default, aten.pow.Tensor_Scalar, aten.rsqrt.default,
                     aten.sqrt.default), part),
    **{call: attention for call in ATTENTION if isinstance(call, torch._ops.OpOverload)},
}


def read(program: Any, sizes: Mapping[str, Sequence[Union[str, int]]], longest: Mapping[str, int]) -> FloatNetwork:
    """The network of an exported program. sizes has the axes of each input: a number, or the name of a size; longest how
    long each of these is at most."""
    return Reader(program, sizes, longest, HANDLERS).read()
