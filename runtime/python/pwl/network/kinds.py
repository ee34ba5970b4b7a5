# SPDX-License-Identifier: Apache-2.0
"""What a node of a network can be: each kind with its fields, its check and its arithmetic. docs/networks.md has the formulas.

A kind is a class with
    inputs   how many edges a node reads, and optional how many it may read beside them
    fields   its integers and lists of the JSON
    arrays   its constants, by name, with their types
    check()  refuses a node of which a sum could leave its type, and what its edges do not fit
    run()    the codes of its output
"""
from __future__ import annotations

import dataclasses
import math
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from ..codes import Array, Type
from ..elements import ElementOperator
from ..errors import Error
from ..rows import RowOperator
from ..table import Table
from .arithmetic import MOST_SUM_BITS, Multiplier, exact_matmul, for_places, for_rows, largest_offset, rescaled, windows

__all__ = ["KINDS", "Edge", "Kind", "Node", "Operator", "Shape", "Size", "product_of_sizes", "repeated_axis", "sizes_of"]

Size = Union[int, str]  # a number, or sizes that the inputs tell, by name, with a number before them: "4*batch*length"
Shape = tuple[Size, ...]
Operator = Union[Table, RowOperator, ElementOperator]


@dataclasses.dataclass(frozen=True)
class Edge:
    """What flows between nodes: codes of a type, in an array of a shape."""

    name: str
    type: Type
    shape: Shape


@dataclasses.dataclass
class Node:
    """One step. `name` is where it comes from in the model, as encoder.layer.0.output."""

    kind: str
    inputs: tuple[str, ...]
    output: str
    name: str = ""
    fields: dict[str, Any] = dataclasses.field(default_factory=dict)
    arrays: dict[str, Array] = dataclasses.field(default_factory=dict)
    operator: Optional[Operator] = None
    body: Any = None  # of a loop, a Network
    largest: int = 0  # magnitude of a sum, for any codes; as the check of a network finds it


@dataclasses.dataclass(frozen=True)
class Sides:
    """A node's edges."""

    inputs: tuple[Edge, ...]
    output: Edge


def sizes_of(shape: Shape, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """A shape in numbers."""
    return tuple(math.prod(int(part) if part.isdecimal() else sizes[part] for part in size.split("*"))
                 if isinstance(size, str) else size for size in shape)


def product_of_sizes(sizes: Sequence[Size]) -> Size:
    """A product of sizes as one."""
    parts = [part for size in sizes for part in str(size).split("*")]
    number = math.prod(int(part) for part in parts if part.isdecimal())
    names = sorted(part for part in parts if not part.isdecimal())
    return "*".join(([str(number)] if number != 1 else []) + names) if names else number


def repeated_axis(before: Shape, after: Shape) -> Optional[tuple[int, int]]:
    """The one axis of a place that is repeated, and how often; None where shapes differ otherwise."""
    axes = [axis for axis, (one, other) in enumerate(zip(before, after)) if one != other]
    if len(axes) != 1 or len(before) != len(after) or before[axes[0]] != 1:
        return None
    times = after[axes[0]]
    return (axes[0], times) if isinstance(times, int) else None


def _bits_of(largest: int, what: str) -> int:
    bits = largest.bit_length()
    if bits > MOST_SUM_BITS:
        raise Error(f"{what} can take {bits} bits, at most {MOST_SUM_BITS} are taken")
    return bits


def _check_multiplier(node: Node, bits: int, count: Optional[int]) -> None:
    factor, shift = node.arrays["factor"], node.arrays["shift"]
    if factor.shape != shift.shape or factor.shape not in ((), () if count is None else (count,)):
        raise Error(f"factor, shift: of shapes {factor.shape} and {shift.shape}, must have one number"
                    + ("" if count is None else f" or {count}"))
    if factor.size and (factor.min() < 0 or int(factor.max()) >= 1 << min(31, 62 - bits)):
        raise Error(f"factor: from {factor.min()} to {factor.max()}, must be from 0 and below 2^{min(31, 62 - bits)}, as sums "
                    f"take {bits} bits")
    if shift.size and not 1 <= shift.min() <= shift.max() <= 62:
        raise Error(f"shift: from {shift.min()} to {shift.max()}, must be from 1 to 62")


def _multiplier(node: Node) -> Multiplier:
    return Multiplier(node.arrays["factor"], node.arrays["shift"])


class Kind:
    inputs = 1
    optional = 0  # edges that it may read beside them
    fields: tuple[str, ...] = ()
    arrays: Mapping[str, str] = {}
    moves = False  # whether the output's codes are the input's, in another order

    @staticmethod
    def check(node: Node, sides: Sides, longest: Mapping[str, int]) -> None:
        raise NotImplementedError

    @staticmethod
    def run(node: Node, sides: Sides, x: Sequence[Array], sizes: Mapping[str, int]) -> Array:
        raise NotImplementedError


class Gather(Kind):
    """y = table[x], a row of it for each code of x: an embedding."""

    arrays = {"table": "int16"}

    @staticmethod
    def check(node: Node, sides: Sides, longest: Mapping[str, int]) -> None:
        table, x, y = node.arrays["table"], sides.inputs[0], sides.output
        if table.ndim != 2 or y.shape != (*x.shape, table.shape[1]):
            raise Error(f"table of shape {table.shape}: its rows must be those of the output, {y.shape[-1:]}")
        if not (0 <= x.type.qmin and x.type.qmax < len(table)):
            raise Error(f"codes from {x.type.qmin} to {x.type.qmax}: must be rows of the table, 0 to {len(table) - 1}")
        _check_codes(table, y.type)

    @staticmethod
    def run(node: Node, sides: Sides, x: Sequence[Array], sizes: Mapping[str, int]) -> Array:
        return np.asarray(node.arrays["table"][x[0]].astype(sides.output.type.dtype))


class Constant(Kind):
    """y = the leading part of an array, as long as the output's shape says: positions."""

    inputs = 0
    arrays = {"codes": "int16"}

    @staticmethod
    def check(node: Node, sides: Sides, longest: Mapping[str, int]) -> None:
        codes = node.arrays["codes"]
        if codes.shape != sizes_of(sides.output.shape, longest):
            raise Error(f"codes of shape {codes.shape}: must be {sizes_of(sides.output.shape, longest)}")
        _check_codes(codes, sides.output.type)

    @staticmethod
    def run(node: Node, sides: Sides, x: Sequence[Array], sizes: Mapping[str, int]) -> Array:
        part = tuple(slice(size) for size in sizes_of(sides.output.shape, sizes))
        return np.asarray(node.arrays["codes"][part].astype(sides.output.type.dtype))


def _check_zero(side: Type) -> None:
    if not side.qmin <= side.zero_point <= side.qmax:
        raise Error(f"zero point {side.zero_point}: must be a code, {side.qmin} to {side.qmax}")


def _check_numbers(numbers: Edge, rows: Size) -> None:
    if numbers.shape != (rows,) or numbers.type.qmin < 0:
        raise Error(f"numbers of places: {numbers.shape} of codes from {numbers.type.qmin}; must be {(rows,)}, of codes from 0")


def _check_codes(codes: Array, side: Type) -> None:
    if codes.size and not side.qmin <= codes.min() <= codes.max() <= side.qmax:
        raise Error(f"codes from {codes.min()} to {codes.max()}: must be from {side.qmin} to {side.qmax}")


class Product(Kind):
    """y_c = clip(zp_y + shr(factor_c (sum_k w_ck x_k + bias_c), shift_c)); the bias has -zp_x sum_k w_ck in it."""

    arrays = {"weights": "int8", "bias": "int64", "factor": "int32", "shift": "uint8"}

    @staticmethod
    def largest(node: Node, x: Type) -> int:
        """The largest magnitude of a sum, for any codes."""
        weights = node.arrays["weights"].astype(np.int64).reshape(len(node.arrays["weights"]), -1)
        up, down = np.maximum(weights, 0).sum(1), np.minimum(weights, 0).sum(1)
        bias = [int(b) for b in node.arrays["bias"]]
        return max((max(abs(int(u) * x.qmax + int(d) * x.qmin + b), abs(int(u) * x.qmin + int(d) * x.qmax + b),
                        max(int(u), -int(d)) * max(x.qmax, -x.qmin)) for u, d, b in zip(up, down, bias)), default=0)

    @staticmethod
    def check(node: Node, sides: Sides, longest: Mapping[str, int]) -> None:
        weights, x, y = node.arrays["weights"], sides.inputs[0], sides.output
        if weights.ndim != 2 or node.arrays["bias"].shape != weights.shape[:1]:
            raise Error(f"weights of shape {weights.shape}, bias of {node.arrays['bias'].shape}: must be two axes and one number "
                        "an output channel")
        if x.shape[-1:] != weights.shape[1:] or y.shape != (*x.shape[:-1], weights.shape[0]):
            raise Error(f"weights of shape {weights.shape}: for inputs of {x.shape} and outputs of {y.shape}")
        node.largest = Product.largest(node, x.type)
        _check_multiplier(node, _bits_of(node.largest, "a sum"), weights.shape[0])

    @staticmethod
    def run(node: Node, sides: Sides, x: Sequence[Array], sizes: Mapping[str, int]) -> Array:
        sums = exact_matmul(x[0], node.arrays["weights"].T, node.largest) + node.arrays["bias"]
        return rescaled(sums, _multiplier(node), sides.output.type)


class Convolution(Kind):
    """The same sum as of a product, over the channels and the places of a window; x is [batch, channels, places] or
    [batch, channels, rows, columns], and what lies beyond its ends has the code zp_x. Of `groups` groups, each output channel
    reads the channels of its own."""

    fields = ("stride", "padding", "dilation", "groups")
    arrays = Product.arrays

    @staticmethod
    def check(node: Node, sides: Sides, longest: Mapping[str, int]) -> None:
        weights, x, y, f = node.arrays["weights"], sides.inputs[0], sides.output, node.fields
        places = weights.ndim - 2
        if places not in (1, 2) or len(x.shape) != weights.ndim or node.arrays["bias"].shape != weights.shape[:1]:
            raise Error(f"weights of shape {weights.shape}, bias of {node.arrays['bias'].shape}, for an input of {x.shape}")
        for name, least in (("stride", 1), ("padding", 0), ("dilation", 1)):
            if not isinstance(f[name], list) or len(f[name]) != places or min(f[name]) < least:
                raise Error(f"{name}: {f[name]}, must be {places} integers from {least}")
        if not (f["groups"] >= 1 and len(weights) % f["groups"] == 0 and x.shape[1] == weights.shape[1] * f["groups"]):
            raise Error(f"groups: {f['groups']}, of {x.shape[1]} channels and weights of {weights.shape}")
        if any(f["padding"]):
            _check_zero(x.type)
        found = [(size + 2 * pad - step * (kernel - 1) - 1) // stride + 1 for size, pad, step, kernel, stride in zip(
            sizes_of(x.shape[2:], longest), f["padding"], f["dilation"], weights.shape[2:], f["stride"])]
        if (x.shape[0], len(weights), *found) != (y.shape[0], *sizes_of(y.shape[1:], longest)) or min(found) < 1:
            raise Error(f"an output of {y.shape}, must be {(x.shape[0], len(weights), *found)}")
        node.largest = Product.largest(node, x.type)
        _check_multiplier(node, _bits_of(node.largest, "a sum"), len(weights))

    @staticmethod
    def run(node: Node, sides: Sides, x: Sequence[Array], sizes: Mapping[str, int]) -> Array:
        weights, f, zero = node.arrays["weights"], node.fields, sides.inputs[0].type.zero_point
        groups = f["groups"]
        taken = windows(f, x[0], weights.shape[2:], zero)
        batch, places = taken.shape[0], taken.shape[2:weights.ndim]
        # [batch, group, place, channel and tap] by [group, output channel, channel and tap]
        taps = taken.reshape(batch, groups, weights.shape[1], math.prod(places), -1).swapaxes(2, 3)
        taps = taps.reshape(batch, groups, math.prod(places), -1)
        of = weights.reshape(groups, len(weights) // groups, -1).swapaxes(1, 2)
        sums = exact_matmul(taps, of, node.largest).swapaxes(2, 3).reshape(batch, len(weights), -1)
        sums = (sums + node.arrays["bias"][:, None]).swapaxes(1, 2)
        return np.asarray(rescaled(sums, _multiplier(node), sides.output.type).swapaxes(1, 2).reshape(batch, -1, *places))


class MaxPool(Kind):
    """The largest code of a window, of x as a convolution reads it; what lies beyond its ends takes no part."""

    fields = ("kernel", "stride", "padding")
    moves = True

    @staticmethod
    def check(node: Node, sides: Sides, longest: Mapping[str, int]) -> None:
        x, y, f = sides.inputs[0], sides.output, node.fields
        places = len(x.shape) - 2
        for name, least in (("kernel", 1), ("stride", 1), ("padding", 0)):
            if not isinstance(f[name], list) or len(f[name]) != places or min(f[name]) < least:
                raise Error(f"{name}: {f[name]}, must be {places} integers from {least}")
        if any(2 * pad > kernel for pad, kernel in zip(f["padding"], f["kernel"])):
            raise Error(f"padding: {f['padding']}, must be at most half of {f['kernel']}")
        found = [(size + 2 * pad - kernel) // stride + 1 for size, pad, kernel, stride in zip(
            sizes_of(x.shape[2:], longest), f["padding"], f["kernel"], f["stride"])]
        if (*x.shape[:2], *found) != (*y.shape[:2], *sizes_of(y.shape[2:], longest)) or min(found) < 1:
            raise Error(f"an output of {y.shape}, must be {(*x.shape[:2], *found)}")

    @staticmethod
    def run(node: Node, sides: Sides, x: Sequence[Array], sizes: Mapping[str, int]) -> Array:
        taken = windows(node.fields, x[0], node.fields["kernel"], sides.inputs[0].type.qmin)
        return np.asarray(taken.max(tuple(range(2 - x[0].ndim, 0))))


class Matmul(Kind):
    """y = clip(zp_y + shr(factor sum_k (a_ik - zp_a) (b_kj - zp_b), shift)) over the last two axes; with `transposed` the
    second input is read as b_jk."""

    inputs = 2
    fields = ("transposed",)
    arrays = {"factor": "int32", "shift": "uint8"}

    @staticmethod
    def largest(node: Node, sides: Sides, longest: Mapping[str, int]) -> int:
        a, b = sides.inputs
        return largest_offset(a.type) * largest_offset(b.type) * sizes_of(a.shape[-1:], longest)[0]

    @staticmethod
    def check(node: Node, sides: Sides, longest: Mapping[str, int]) -> None:
        a, b = (edge.shape for edge in sides.inputs)
        if len(a) < 2 or len(b) < 2 or node.fields["transposed"] not in (0, 1):
            raise Error("transposed: must be 0 or 1, of arrays of two axes or more")
        inner, columns = (b[-1], b[-2]) if node.fields["transposed"] else (b[-2], b[-1])
        if a[-1] != inner or sides.output.shape[-2:] != (a[-2], columns) or a[:-2] != b[:-2]:
            raise Error(f"inputs of shapes {a} and {b}, output of {sides.output.shape}")
        node.largest = Matmul.largest(node, sides, longest)
        _check_multiplier(node, _bits_of(node.largest, "a sum"), None)

    @staticmethod
    def run(node: Node, sides: Sides, x: Sequence[Array], sizes: Mapping[str, int]) -> Array:
        a, b = (codes.astype(np.int64) - edge.type.zero_point for codes, edge in zip(x, sides.inputs))
        if node.fields["transposed"]:
            b = np.swapaxes(b, -1, -2)
        return rescaled(exact_matmul(a, b, node.largest), _multiplier(node), sides.output.type)


class Multiply(Kind):
    """y = clip(zp_y + shr(factor_0 (a - zp_a) (b - zp_b), shift)), of shapes that broadcast; of four inputs
    y = clip(zp_y + shr(factor_0 (a - zp_a) (b - zp_b) + factor_1 (c - zp_c) (d - zp_d), shift)): gates, rotations."""

    inputs = 2
    optional = 2
    arrays = {"factor": "int32", "shift": "uint8"}

    @staticmethod
    def check(node: Node, sides: Sides, longest: Mapping[str, int]) -> None:
        factor, shift, pairs = node.arrays["factor"], node.arrays["shift"], len(sides.inputs) // 2
        if len(sides.inputs) != 2 * pairs or factor.shape != (pairs,) or shift.shape != ():
            raise Error(f"{len(sides.inputs)} inputs, factor of shape {factor.shape}, shift of {shift.shape}: must be one factor for "
                        "each two inputs, and one shift")
        largest = [largest_offset(edge.type) for edge in sides.inputs]
        sums = sum(abs(int(f)) * largest[2 * k] * largest[2 * k + 1] for k, f in enumerate(factor))
        if not 1 <= int(shift) <= 62 or sums >= 1 << 62:
            raise Error(f"shift {shift}, sums of {sums.bit_length()} bits: must be from 1 to 62, and at most 62")
        shapes = [sizes_of(edge.shape, longest) for edge in sides.inputs]
        if np.broadcast_shapes(*shapes) != sizes_of(sides.output.shape, longest):
            raise Error(f"inputs of shapes {shapes}: the output has {sides.output.shape}")

    @staticmethod
    def run(node: Node, sides: Sides, x: Sequence[Array], sizes: Mapping[str, int]) -> Array:
        offsets = [codes.astype(np.int64) - edge.type.zero_point for codes, edge in zip(x, sides.inputs)]
        factor = [int(f) for f in node.arrays["factor"]]
        sums = sum(f * offsets[2 * k] * offsets[2 * k + 1] for k, f in enumerate(factor))
        return rescaled(np.asarray(sums), Multiplier(np.array(1), node.arrays["shift"]), sides.output.type)


class Mean(Kind):
    """y = clip(zp_y + shr(factor_n sum (x - zp_x), shift_n)) over the second last axis; the second input, where there is one,
    says which n places take part, by 0 and 1."""

    optional = 1
    fields = ("axis",)
    arrays = {"factor": "int32", "shift": "uint8"}  # of n = 1 and on

    @staticmethod
    def check(node: Node, sides: Sides, longest: Mapping[str, int]) -> None:
        x, axis = sides.inputs[0], node.fields["axis"]
        if not 0 <= axis < len(x.shape) or sides.output.shape != (*x.shape[:axis], *x.shape[axis + 1:]):
            raise Error(f"axis: {axis}, of an input of {x.shape} and an output of {sides.output.shape}")
        if len(sides.inputs) > 1 and sides.inputs[1].shape != x.shape[:axis + 1]:
            raise Error(f"a mask of shape {sides.inputs[1].shape}: must be {x.shape[:axis + 1]}")
        count = sizes_of(x.shape[axis:axis + 1], longest)[0]
        _check_multiplier(node, _bits_of(largest_offset(x.type) * count, "a sum"), count)

    @staticmethod
    def run(node: Node, sides: Sides, x: Sequence[Array], sizes: Mapping[str, int]) -> Array:
        axis, offsets = node.fields["axis"], x[0].astype(np.int64) - sides.inputs[0].type.zero_point
        count = np.full(x[0].shape[:axis], x[0].shape[axis], np.int64)
        if len(x) > 1:
            keep = x[1] != 0
            offsets = offsets * for_places(keep, offsets.ndim)
            count = keep.sum(-1)
        which = for_places(np.maximum(count, 1), offsets.ndim - 1) - 1
        by = _multiplier(node)
        return rescaled(offsets.sum(axis), Multiplier(by.factor[which], by.shift[which]), sides.output.type)


class Operate(Kind):
    """y = an operator of rows or of elements, or a table, as docs/operators.md and docs/meaning.md define them. A second input
    is add's, or a mask of softmax: 0 where a place takes no part; of two axes, it masks the last axis of each of its rows. With
    `causal` 1 each row of the second last axis sees no place behind its own; with 2 none behind the one that the last input
    numbers for it."""

    optional = 2
    fields = ("causal",)

    @staticmethod
    def check(node: Node, sides: Sides, longest: Mapping[str, int]) -> None:
        operator, x, y = node.operator, sides.inputs[0], sides.output
        assert operator is not None
        second = operator.input_b if isinstance(operator, ElementOperator) else None
        pairs = [(operator.input, x.type), (operator.output, y.type)]
        if second is not None:
            if len(sides.inputs) != 2:
                raise Error("add takes two inputs")
            pairs.append((second, sides.inputs[1].type))
        for own, edge in pairs:
            if (own.bits, own.signed, own.zero_point, own.scale) != (edge.bits, edge.signed, edge.zero_point, edge.scale):
                raise Error(f"an operator from {operator.input} to {operator.output} between edges of {x.type} and {y.type}")
        if not y.type.qmin <= operator.output.qmin <= operator.output.qmax <= y.type.qmax:
            raise Error(f"codes from {operator.output.qmin} to {operator.output.qmax}: the output has {y.type.qmin} to {y.type.qmax}")
        shapes = [sizes_of(edge.shape, longest) for edge in (sides.inputs if second is not None else (x,))]
        if np.broadcast_shapes(*shapes) != sizes_of(y.shape, longest):
            raise Error(f"inputs of shapes {shapes}: the output has {y.shape}")
        if isinstance(operator, RowOperator):
            masks = Operate._masks(node, sides)
            operator.check(shapes[0], bool(masks), node.fields["causal"] != 0, 0)
            for mask in masks:
                if mask.shape != (x.shape[0], x.shape[-1]):
                    raise Error(f"a mask of shape {mask.shape}: must be {(x.shape[0], x.shape[-1])}")
        elif node.fields["causal"]:
            raise Error("causal: of softmax alone")
        elif second is None and len(sides.inputs) > 1:
            raise Error(f"reads {len(sides.inputs)} edges; a table and requantise read one")

    @staticmethod
    def _masks(node: Node, sides: Sides) -> tuple[Edge, ...]:
        """The mask, if there is one. Refuses what cannot number the places that rows see."""
        causal, masks = node.fields["causal"], sides.inputs[1:]
        if causal not in (0, 1, 2):
            raise Error(f"causal: {causal}, must be 0, 1 or 2")
        if causal == 2:
            if not masks or len(sides.inputs[0].shape) < 2:
                raise Error("causal: 2, which takes an input more, with numbers of places for the rows of the second last axis")
            _check_numbers(masks[-1], sides.inputs[0].shape[-2])
            masks = masks[:-1]
        if len(masks) > 1:
            raise Error(f"reads {len(sides.inputs)} edges; a softmax has one mask")
        return masks

    @staticmethod
    def run(node: Node, sides: Sides, x: Sequence[Array], sizes: Mapping[str, int]) -> Array:
        operator = node.operator
        if isinstance(operator, RowOperator) and not operator.is_norm:
            mask, causal = None, node.fields["causal"]
            if len(x) > 1 + (causal == 2):
                mask = for_rows(x[1], x[0].ndim)
            if causal == 2:
                seen = np.arange(x[0].shape[-1]) <= x[-1][:, None]
                mask = seen if mask is None else seen & (mask != 0)
            return np.asarray(operator(x[0], mask=mask, causal=causal == 1))
        assert operator is not None
        return np.asarray(operator(*x))


class Reshape(Kind):
    """The codes in the order that they lie in, in the output's shape."""

    moves = True

    @staticmethod
    def check(node: Node, sides: Sides, longest: Mapping[str, int]) -> None:
        if math.prod(sizes_of(sides.inputs[0].shape, longest)) != math.prod(sizes_of(sides.output.shape, longest)):
            raise Error(f"from {sides.inputs[0].shape} to {sides.output.shape}: not of one size")

    @staticmethod
    def run(node: Node, sides: Sides, x: Sequence[Array], sizes: Mapping[str, int]) -> Array:
        return x[0].reshape(sizes_of(sides.output.shape, sizes))


class Transpose(Kind):
    """Axis k of the output is axis order[k] of the input."""

    fields = ("order",)
    moves = True

    @staticmethod
    def check(node: Node, sides: Sides, longest: Mapping[str, int]) -> None:
        order, x = node.fields["order"], sides.inputs[0].shape
        if sorted(order) != list(range(len(x))) or tuple(x[k] for k in order) != sides.output.shape:
            raise Error(f"order: {order}, from {x} to {sides.output.shape}")

    @staticmethod
    def run(node: Node, sides: Sides, x: Sequence[Array], sizes: Mapping[str, int]) -> Array:
        return x[0].transpose(node.fields["order"])


class Slice(Kind):
    """Places start, start + step, ... below stop of an axis; without that axis where `keep` is 0."""

    fields = ("axis", "start", "stop", "step", "keep")
    moves = True

    @staticmethod
    def part(node: Node, length: int) -> tuple[Union[slice, int], ...]:
        f = node.fields
        start, stop = (min(max(f[name] + (length if f[name] < 0 else 0), 0), length) for name in ("start", "stop"))
        return (*[slice(None)] * f["axis"], slice(start, stop, f["step"]) if f["keep"] else start)

    @staticmethod
    def check(node: Node, sides: Sides, longest: Mapping[str, int]) -> None:
        x, f = sides.inputs[0].shape, node.fields
        if not (0 <= f["axis"] < len(x) and f["step"] >= 1 and f["keep"] in (0, 1)):
            raise Error(f"axis, step, keep: {f['axis']}, {f['step']}, {f['keep']}, of an input of {x}")
        found = np.empty(sizes_of(x, longest), np.bool_)[Slice.part(node, sizes_of(x, longest)[f["axis"]])].shape
        if found != sizes_of(sides.output.shape, longest):
            raise Error(f"a part of shape {found}: the output has {sides.output.shape}")

    @staticmethod
    def run(node: Node, sides: Sides, x: Sequence[Array], sizes: Mapping[str, int]) -> Array:
        return np.asarray(x[0][Slice.part(node, x[0].shape[node.fields["axis"]])])


class Loop(Kind):
    """For each place of `axis` of the inputs, from the first or, where `reverse` is 1, from the last: the body's nodes, which
    read the inputs' codes of that place and then states, and give the output's codes of that place and then the next states.
    The first states are their zero points."""

    optional = 7
    fields = ("axis", "reverse")

    @staticmethod
    def check(node: Node, sides: Sides, longest: Mapping[str, int]) -> None:
        body, axis, count = node.body, node.fields["axis"], len(sides.inputs)
        if node.fields["reverse"] not in (0, 1) or not all(0 <= axis < len(edge.shape) for edge in sides.inputs):
            raise Error(f"axis, reverse: {axis}, {node.fields['reverse']}, of inputs of {[edge.shape for edge in sides.inputs]}")
        given, made = [body.edges[name] for name in body.inputs], [body.edges[name] for name in body.outputs]
        if len(given) < count or len(made) != 1 + len(given) - count:
            raise Error(f"a body of {len(given)} inputs and {len(made)} outputs, for {count} inputs: must have as many states on "
                        "both sides")
        for edge, inner in zip((*sides.inputs, sides.output), (*given[:count], made[0])):
            if edge.type != inner.type or (*edge.shape[:axis], *edge.shape[axis + 1:]) != inner.shape:
                raise Error(f"{edge.type} of {edge.shape}: the body has {inner.type} of {inner.shape} for a place of it")
            if edge.shape[axis] != sides.inputs[0].shape[axis]:
                raise Error(f"inputs and output have {sides.inputs[0].shape[axis]} and {edge.shape[axis]} places")
        for before, after in zip(given[count:], made[1:]):
            _check_zero(before.type)
            if (before.type, before.shape) != (after.type, after.shape):
                raise Error(f"a state of {before.type} and {before.shape}, which comes out as {after.type} and {after.shape}")

    @staticmethod
    def run(node: Node, sides: Sides, x: Sequence[Array], sizes: Mapping[str, int]) -> Array:
        body, axis = node.body, node.fields["axis"]
        states = [np.full(sizes_of(edge.shape, sizes), edge.type.zero_point, edge.type.dtype)
                  for edge in (body.edges[name] for name in body.inputs[len(x):])]
        y = np.empty(sizes_of(sides.output.shape, sizes), sides.output.type.dtype)
        order = range(x[0].shape[axis])
        for place in reversed(order) if node.fields["reverse"] else order:
            made = body.run([codes.take(place, axis) for codes in x] + states, sizes)
            np.moveaxis(y, axis, 0)[place] = made[0]
            states = made[1:]
        return y


class Concat(Kind):
    """The codes of two edges of one type, one behind the other along an axis."""

    inputs = 2
    fields = ("axis",)
    moves = True

    @staticmethod
    def check(node: Node, sides: Sides, longest: Mapping[str, int]) -> None:
        a, b = (edge.shape for edge in sides.inputs)
        axis = node.fields["axis"]
        if not 0 <= axis < len(a) or sides.inputs[0].type != sides.inputs[1].type:
            raise Error(f"axis: {axis}, of inputs of {a} and {b}, of {sides.inputs[0].type} and {sides.inputs[1].type}")
        joined = list(sizes_of(a, longest))
        joined[axis] += sizes_of(b, longest)[axis]
        if tuple(joined) != sizes_of(sides.output.shape, longest):
            raise Error(f"inputs of {a} and {b}: the output has {sides.output.shape}")

    @staticmethod
    def run(node: Node, sides: Sides, x: Sequence[Array], sizes: Mapping[str, int]) -> Array:
        return np.concatenate(x, node.fields["axis"])


class Append(Kind):
    """A cache of codes, with those of x at the places along `axis` that the third input numbers, which is the network's own. No
    other node reads the cache, so that C may write into it."""

    inputs = 3
    fields = ("axis",)
    moves = True

    @staticmethod
    def check(node: Node, sides: Sides, longest: Mapping[str, int]) -> None:
        x, cache, numbers = sides.inputs
        axis = node.fields["axis"]
        if not 0 <= axis < len(x.shape) or x.type != cache.type:
            raise Error(f"axis: {axis}, of inputs of {x.shape} and {cache.shape}, of {x.type} and {cache.type}")
        if cache.shape != sides.output.shape or (*cache.shape[:axis], x.shape[axis], *cache.shape[axis + 1:]) != x.shape:
            raise Error(f"codes of {x.shape} for a cache of {cache.shape}: the output has {sides.output.shape}")
        _check_numbers(numbers, x.shape[axis])

    @staticmethod
    def run(node: Node, sides: Sides, x: Sequence[Array], sizes: Mapping[str, int]) -> Array:
        y = x[1].copy()
        np.moveaxis(y, node.fields["axis"], 0)[x[2]] = np.moveaxis(x[0], node.fields["axis"], 0)
        return y


# In the order of pwl_network_kind of <pwl/network.h>.
KINDS: dict[str, type[Kind]] = {
    "gather": Gather, "constant": Constant, "product": Product, "matmul": Matmul, "multiply": Multiply, "mean": Mean,
    "operator": Operate, "reshape": Reshape, "transpose": Transpose, "slice": Slice, "concat": Concat, "convolution": Convolution,
    "max_pool": MaxPool, "loop": Loop, "append": Append,
}
