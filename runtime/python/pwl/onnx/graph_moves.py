# SPDX-License-Identifier: Apache-2.0
"""The operations of graphs of ONNX that move numbers: shapes, parts, embeddings, repeated places."""
from __future__ import annotations

from typing import Mapping, Optional, Sequence

import numpy as np
import onnx

from ..network.kinds import Shape, Size, product_of_sizes, repeated_axis, sizes_of
from .graph import SAME, Handler, Pending, Reader, Result, broadcast

__all__ = ["MOVES"]

TO_THE_END = 1 << 40  # where a slice stops


def reshape(reader: Reader, node: onnx.NodeProto) -> str:
    """Reshape, Flatten, Squeeze and Unsqueeze."""
    x = reader.edge(node, node.input[0])
    return reader.add(node, "reshape", [x], node.output[0], _shape(reader, node, reader.shapes[x]))


def _shape(reader: Reader, node: onnx.NodeProto, before: Shape) -> Shape:
    rank, given = len(before), reader.attributes(node)
    if node.op_type == "Flatten":
        axis = given.get("axis", 1) % (rank + 1)
        return product_of_sizes(before[:axis]), product_of_sizes(before[axis:])
    if node.op_type == "Reshape":
        return _reshaped(reader, node, before, reader.sizes_in(node, node.input[1]), bool(given.get("allowzero")))
    axes = reader.integers(node, "axes", 1)
    if node.op_type == "Squeeze":
        left = [axis % rank for axis in axes] if axes is not None else [k for k, size in enumerate(before) if size == 1]
        return tuple(size for k, size in enumerate(before) if k not in left)
    new = sorted(axis % (rank + len(axes or [])) for axis in axes or [])
    after: list[Size] = list(before)
    for axis in new:
        after.insert(axis, 1)
    return tuple(after)


def _reshaped(reader: Reader, node: onnx.NodeProto, before: Shape, to: Sequence[Size], allow_zero: bool) -> Shape:
    found = [before[k] if size == 0 and not allow_zero else size for k, size in enumerate(to)]
    if -1 in found:
        whole, known = (product_of_sizes(of) for of in (before, [size for size in found if size != -1]))
        found[found.index(-1)] = _quotient(reader, node, whole, known)
    return tuple(found)


def _quotient(reader: Reader, node: onnx.NodeProto, whole: Size, by: Size) -> Size:
    parts = str(whole).split("*")
    number = int(parts.pop(0)) if parts[0].isdecimal() else 1
    for part in str(by).split("*"):
        if part.isdecimal() and number % int(part) == 0:
            number //= int(part)
        elif part in parts:
            parts.remove(part)
        else:
            raise reader.refuse(node, f"{whole} numbers in rows of {by}")
    return product_of_sizes([number, *parts])


def transpose(reader: Reader, node: onnx.NodeProto) -> str:
    x = reader.edge(node, node.input[0])
    shape = reader.shapes[x]
    order = list(reader.attributes(node).get("perm") or range(len(shape))[::-1])
    return reader.add(node, "transpose", [x], node.output[0], tuple(shape[axis] for axis in order), fields={"order": order})


# ---- Parts ----

def _part(reader: Reader, node: onnx.NodeProto, x: str, output: str, axis: int, start: int, stop: int, step: int = 1,
          keep: int = 1) -> str:
    """Places of an axis."""
    shape = reader.shapes[x]
    both = [len(range(*slice(start, stop, step).indices(sizes_of((shape[axis],), sizes)[0])))
            for sizes in (reader.longest, reader.fewer)]
    size = reader.size(node, (both[0], both[1]))
    return reader.add(node, "slice", [x], output, (*shape[:axis], *([size] if keep else []), *shape[axis + 1:]),
                      fields={"axis": axis, "start": start, "stop": stop, "step": step, "keep": keep})


def slices(reader: Reader, node: onnx.NodeProto) -> str:
    x = reader.edge(node, node.input[0])
    rank = len(reader.shapes[x])
    starts, axes = reader.integers(node, "starts", 1), reader.integers(node, "axes", 3)
    axes = list(range(len(starts or []))) if axes is None else axes
    steps = reader.integers(node, "steps", 4) or [1] * len(axes)
    stops = _stops(reader, node, [reader.shapes[x][axis] for axis in axes])
    for k, (axis, start, stop, step) in enumerate(zip(axes, starts or [], stops, steps)):
        if step < 1:
            raise reader.refuse(node, f"a part in steps of {step}")
        name = node.output[0] if k == len(axes) - 1 else f"{node.output[0]}/{k}"
        x = _part(reader, node, x, name, axis % rank, start, stop, step)
    return x


def _stops(reader: Reader, node: onnx.NodeProto, sizes: Sequence[Size]) -> list[int]:
    if len(node.input) < 3:
        return [min(stop, TO_THE_END) for stop in reader.integers(node, "ends", 2) or []]
    found = []
    for stop, size in zip(reader.sizes_in(node, node.input[2]), sizes):
        if isinstance(stop, str) and stop != size:
            raise reader.refuse(node, f"a part up to {stop} of {size}")
        found.append(TO_THE_END if isinstance(stop, str) else min(stop, TO_THE_END))
    return found


def split(reader: Reader, node: onnx.NodeProto) -> str:
    x = reader.edge(node, node.input[0])
    shape = reader.shapes[x]
    axis, start, edges = reader.attributes(node).get("axis", 0) % len(shape), 0, []
    lengths, whole = reader.integers(node, "split", 1), shape[axis]
    if lengths is None:
        if not isinstance(whole, int):
            raise reader.refuse(node, f"parts of {whole} places, whose number inputs choose")
        most = -(-whole // len(node.output))
        lengths = [min(most, whole - k * most) for k in range(len(node.output))]
    for name, length in zip(node.output, lengths):
        edges.append(_part(reader, node, x, name or f"{node.output[0]}/{start}", axis, start, start + length))
        reader.results[name] = edges[-1]
        start += length
    return edges[0]


def gather(reader: Reader, node: onnx.NodeProto) -> str:
    """Rows of a constant table by an input's indices, or places of a result."""
    axis = reader.attributes(node).get("axis", 0)
    if node.input[0] not in reader.real:
        return _embedding(reader, node, axis)
    x, places = reader.edge(node, node.input[0]), reader.constant(node, node.input[1])
    axis %= len(reader.shapes[x])
    if places.ndim == 0:
        k = int(places)
        return _part(reader, node, x, node.output[0], axis, k, k + 1 if k != -1 else TO_THE_END, keep=0)
    steps = set(np.diff(places.reshape(-1)).tolist()) or {1}
    if places.ndim != 1 or len(steps) != 1 or min(steps) < 1 or places[0] < 0:
        raise reader.refuse(node, f"places {places.reshape(-1)[:8].tolist()} of an axis, which are not evenly apart")
    return _part(reader, node, x, node.output[0], axis, int(places[0]), int(places[-1]) + 1, steps.pop())


def _embedding(reader: Reader, node: onnx.NodeProto, axis: int) -> str:
    source = node.input[1]
    while source in reader.maker and reader.maker[source].op_type in SAME:
        source = reader.maker[source].input[0]
    if source not in reader.roles or axis != 0 or reader.roles[source] == "mask":
        raise reader.refuse(node, "an embedding whose index is no input")
    reader.roles[source] = "index"
    table = reader.reals(node, 0)
    return reader.add(node, "gather", [source], node.output[0], (*reader.shapes[source], table.shape[1]), arrays={"table": table})


# ---- Repeated and joined ----

def concat(reader: Reader, node: onnx.NodeProto) -> str:
    edges = [reader.edge(node, name) for name in node.input]
    return reader.join(edges, reader.attributes(node)["axis"] % len(reader.shapes[edges[0]]), node.output[0], reader.where(node))


def expand(reader: Reader, node: onnx.NodeProto) -> Result:
    part = reader.results[node.input[0]]
    if isinstance(part, Pending) and part.kind == "length":
        return part
    x = reader.edge(node, node.input[0])
    to = tuple(reader.sizes_in(node, node.input[1]))
    before, after = reader.shapes[x], broadcast(reader.shapes[x], to)
    if after == before:
        return x
    repeated = None if after is None else repeated_axis(before, after)
    if after is None or repeated is None:
        raise reader.refuse(node, f"from {before} to {to}, which repeats other than one axis, a number of times")
    return reader.add(node, "expand", [x], node.output[0], after, fields={"axis": repeated[0], "times": repeated[1]})


def resize(reader: Reader, node: onnx.NodeProto) -> str:
    """The nearest place, where each is repeated a number of times."""
    given, x, name = reader.attributes(node), reader.edge(node, node.input[0]), node.output[0]
    shape, factors = reader.shapes[x], _factors(reader, node, reader.shapes[x])
    how = (given.get("coordinate_transformation_mode", b"half_pixel"), given.get("nearest_mode", b"round_prefer_floor"))
    if given.get("mode", b"nearest") != b"nearest" or factors is None or node.op_type == "Resize" and how not in (
            (b"asymmetric", b"floor"), (b"half_pixel", b"round_prefer_floor"), (b"half_pixel_symmetric", b"round_prefer_floor")):
        raise reader.refuse(node, "a size that is no multiple, or numbers between those that there are")
    for axis, factor in enumerate(factors):
        if factor > 1:
            apart = (*shape[:axis + 1], 1, *shape[axis + 1:])
            single = reader.add(node, "reshape", [x], f"{name}/{axis}/single", apart)
            whole = reader.join([single] * factor, axis + 1, f"{name}/{axis}/all", reader.where(node))
            shape = (*shape[:axis], product_of_sizes([shape[axis], factor]), *shape[axis + 1:])
            x = reader.add(node, "reshape", [whole], f"{name}/{axis}", shape)
    return x


def _factors(reader: Reader, node: onnx.NodeProto, shape: Shape) -> Optional[list[int]]:
    """How often each axis' places are repeated."""
    inputs = [*node.input, *[""] * (4 - len(node.input))]
    scales = inputs[1] if node.op_type == "Upsample" else inputs[2]
    if scales and reader.constant(node, scales).size:
        found = reader.constant(node, scales).astype(np.float64)
    elif inputs[3]:
        to = sizes_of(tuple(reader.sizes_in(node, inputs[3])), reader.longest)
        found = np.array(to) / np.array(sizes_of(shape, reader.longest))
    else:
        return None
    whole = len(found) == len(shape) and found.min() >= 1 and bool((found == np.rint(found)).all())
    return [int(one) for one in found] if whole else None


MOVES: Mapping[str, Handler] = {
    **dict.fromkeys(("Reshape", "Flatten", "Squeeze", "Unsqueeze"), reshape), "Transpose": transpose, "Slice": slices,
    "Split": split, "Gather": gather, "Concat": concat, "Expand": expand, **dict.fromkeys(("Resize", "Upsample"), resize),
}
