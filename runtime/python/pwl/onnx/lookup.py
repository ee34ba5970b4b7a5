# SPDX-License-Identifier: Apache-2.0
"""A table as ONNX operators, in integers from the input's codes to the output's.

    QuantizeLinear     codes of the real numbers; before opset 21, which brings 16 bits, Div, Round, Clip and Cast
    Gather             up to 8 bits: the 256 output codes, by the input code

or, for wider codes, the segments. With B = 2^40, which makes every number positive, so that BitShift, which takes
unsigned numbers alone, is a shift to minus infinity:

    i = last segment with start[i] <= q_x                 a binary search, four operators a step
    p = slope[i] * (q_x - base[i]) + addend[i]            addend: bias + rounding + B
    y = clip((p >> n[i]) + offset[i])                     offset: term_c or y, less B >> n

    DequantizeLinear   the real numbers of the output codes

Shifts to the left are taken into the slope. All of it is int64: of a table of codes of up to 16 bits, |p - B| < 2^34.
"""
from __future__ import annotations

from typing import Any, Optional

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from ..codes import Array, DType, Type, code_range
from ..errors import Error
from ..table import Table

__all__ = ["Nodes", "add_map", "add_quantisers", "add_table", "check_type"]

MOST_BITS = 16
POSITIVE = 1 << 40  # B
FARTHEST_ZERO = 1 << 22  # from the codes: differences are then exact in float32
WIDE_QUANTIZE = 21  # the first opset whose QuantizeLinear has 16 bits


class Nodes:
    """Nodes and initializers for a graph, whose names begin with a prefix that the graph does not have."""

    def __init__(self, prefix: str, opset: int) -> None:
        self.prefix, self.opset = prefix, opset
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []

    def name(self, of: str) -> str:
        return f"{self.prefix}/{of}_{len(self.nodes) + len(self.initializers)}"

    def add(self, operator: str, *inputs: str, output: Optional[str] = None, **attributes: Any) -> str:
        """Appends a node of one output, whose name it returns."""
        output = output or self.name(operator)
        self.nodes.append(helper.make_node(operator, list(inputs), [output], name=f"{self.prefix}/node_{len(self.nodes)}",
                                           **attributes))
        return output

    def constant(self, value: object, dtype: object) -> str:
        name = self.name("constant")
        self.initializers.append(numpy_helper.from_array(np.array(value, dtype), name))  # type: ignore[call-overload]
        return name

    def cast(self, x: str, to: int) -> str:
        return self.add("Cast", x, to=to)


def check_type(of: Type, what: str) -> None:
    if of.bits > MOST_BITS:
        raise Error(f"{what} {of}: tables in ONNX have codes of at most {MOST_BITS} bits")
    if max(abs(of.qmin - of.zero_point), abs(of.qmax - of.zero_point)) > FARTHEST_ZERO:
        raise Error(f"{what} {of}: the zero point lies more than 2^22 from the codes")


def _native(nodes: Nodes, of: Type) -> bool:
    """Whether QuantizeLinear and DequantizeLinear have the type."""
    low, high = code_range(8 * of.dtype.itemsize, of.signed)
    return low <= of.zero_point <= high and (of.dtype.itemsize == 1 or nodes.opset >= WIDE_QUANTIZE)


def _scale(nodes: Nodes, of: Type) -> str:
    return nodes.constant(of.scale, np.float32)


def _quantise(nodes: Nodes, x: str, of: Type) -> str:
    """Codes of real numbers as int64: the nearest to x / scale, ties to even, clamped."""
    if _native(nodes, of):
        codes = nodes.cast(nodes.add("QuantizeLinear", x, _scale(nodes, of), nodes.constant(of.zero_point, of.dtype)),
                           TensorProto.INT64)
        full = (of.qmin, of.qmax) == code_range(8 * of.dtype.itemsize, of.signed)
        return codes if full else nodes.add("Clip", codes, *(nodes.constant(q, np.int64) for q in (of.qmin, of.qmax)))
    number = nodes.add("Where", nodes.add("IsNaN", x), nodes.constant(0, np.float32), x)
    steps = nodes.add("Round", nodes.add("Div", number, _scale(nodes, of)))
    limits = (nodes.constant(q - of.zero_point, np.float32) for q in (of.qmin, of.qmax))
    return nodes.add("Add", nodes.cast(nodes.add("Clip", steps, *limits), TensorProto.INT64),
                     nodes.constant(of.zero_point, np.int64))


def _stored(nodes: Nodes, of: Type) -> DType:
    """Of the codes that _dequantise() takes."""
    return of.dtype if _native(nodes, of) else np.dtype(np.int64)


def _store(nodes: Nodes, codes: str, of: Type) -> str:
    dtype = _stored(nodes, of)
    return codes if dtype == np.int64 else nodes.cast(codes, helper.np_dtype_to_tensor_dtype(dtype))


def _dequantise(nodes: Nodes, codes: str, of: Type, output: Optional[str] = None) -> str:
    """Real numbers of codes, named `output` where that is given."""
    zero = nodes.constant(of.zero_point, _stored(nodes, of))
    if _native(nodes, of):
        return nodes.add("DequantizeLinear", codes, _scale(nodes, of), zero, output=output)
    return nodes.add("Mul", nodes.cast(nodes.add("Sub", codes, zero), TensorProto.FLOAT), _scale(nodes, of), output=output)


def _gather(nodes: Nodes, codes: str, table: Table) -> str:
    """The output code, as _dequantise() takes it, by the input code; a negative index counts from the end."""
    low, high = code_range(8 * table.input.dtype.itemsize, table.input.signed)
    order = np.concatenate([np.arange(0, high + 1), np.arange(low, 0)])
    return nodes.add("Gather", nodes.constant(table(order), _stored(nodes, table.output)), codes)


def _column(nodes: Nodes, values: Array, index: str, dtype: object = np.int64) -> str:
    """Of each element its segment's value; one number where all segments have the same."""
    if (values == values[0]).all():
        return nodes.constant(values[0], dtype)
    return nodes.add("Gather", nodes.constant(values, dtype), index)


def _search(nodes: Nodes, codes: str, starts: Array) -> str:
    """The last segment whose start is at most the code; the first where none is."""
    steps = (len(starts) - 1).bit_length()
    padded = np.full(1 << steps, 1 << 32, np.int64)
    padded[:len(starts)] = starts
    of_segment, index = nodes.constant(padded, np.int64), nodes.constant(0, np.int64)
    for step in reversed(range(steps)):
        probe = nodes.add("Add", index, nodes.constant(1 << step, np.int64))
        reached = nodes.add("GreaterOrEqual", codes, nodes.add("Gather", of_segment, probe))
        index = nodes.add("Where", reached, probe, index)
    return index


def _shift(nodes: Nodes, p: str, by: str) -> str:
    """p >> by of numbers from 0 on, in int64: of uint64 ONNX Runtime has BitShift, and little else in all versions."""
    word = nodes.add("BitShift", nodes.cast(p, TensorProto.UINT64), by, direction="RIGHT")
    return nodes.cast(word, TensorProto.INT64)


def _segments(nodes: Nodes, codes: str, table: Table) -> str:
    """The output codes, as _dequantise() takes them, by the table's segments."""
    columns = {name: table.segments[name].astype(np.int64) for name in table.segments.dtype.names or ()}
    zero, fold = table.input.zero_point, table.fold_sum
    below = ""
    if fold is not None:
        below = nodes.add("Less", codes, nodes.constant(zero, np.int64))
        codes = nodes.add("Where", below, nodes.add("Sub", nodes.constant(2 * zero, np.int64), codes), codes)
    index = _search(nodes, codes, columns["start"])

    # A right shift by at least 1 everywhere, so that halves are whole: slope and bias times 2^(1 - n) where n < 1.
    n = columns["n_BX_total"]
    shift, factor = np.maximum(n, 1), np.left_shift(1, np.maximum(1 - n, 0))
    half = np.left_shift(1, shift - 1)
    addend = columns.get("bias", np.zeros_like(n)) * factor + POSITIVE
    addend += {"floor": 0, "half_up": half, "half_away": half, "half_even": half - 1}[table.rounding]
    offset = columns.get("term_c", columns.get("y", np.zeros_like(n))) - (POSITIVE >> shift)
    base = columns["start"] if table.form == "anchored" else np.full_like(n, zero)

    distance = nodes.add("Sub", codes, _column(nodes, base, index))
    product = nodes.add("Mul", distance, _column(nodes, columns["q_b"] * factor, index))
    p = nodes.add("Add", product, _column(nodes, addend, index))
    by = _column(nodes, shift, index, np.uint64)
    if table.rounding == "half_away":  # 1 less below 0, where B + half is what 0 has become
        negative = nodes.add("Less", p, _column(nodes, half + POSITIVE, index))
        p = nodes.add("Sub", p, nodes.cast(negative, TensorProto.INT64))
    if table.rounding == "half_even":  # 1 more where the whole part is odd: of p before half - 1 was added
        whole = _shift(nodes, nodes.add("Sub", p, _column(nodes, half - 1, index)), by)
        p = nodes.add("Add", p, nodes.add("Mod", whole, nodes.constant(2, np.int64)))
    shifted = _shift(nodes, p, by)
    y = nodes.add("Add", shifted, _column(nodes, offset, index))
    if fold is not None:
        y = nodes.add("Where", below, nodes.add("Sub", nodes.constant(fold, np.int64), y), y)
    return _store(nodes, nodes.add("Clip", y, *(nodes.constant(q, np.int64) for q in (table.output.qmin, table.output.qmax))),
                  table.output)


def _looked_up(nodes: Nodes, codes: str, table: Table) -> str:
    """The output codes, as _dequantise() takes them, of input codes in int64."""
    by_code = table.input.bits <= 8 or table.reduced or table.case == "int32"
    return (_gather if by_code else _segments)(nodes, codes, table)


def _check(table: Table) -> None:
    check_type(table.input, "the input")
    check_type(table.output, "the output")


def add_table(nodes: Nodes, x: str, table: Table, output: Optional[str] = None) -> str:
    """Nodes from x, real numbers in float32, to those of the table's output codes, whose name is returned."""
    _check(table)
    return _dequantise(nodes, _looked_up(nodes, _quantise(nodes, x, table.input), table), table.output, output)


def add_map(nodes: Nodes, codes: str, table: Table) -> str:
    """Nodes from input codes, integers of any type, to output codes in the smallest type that holds them."""
    _check(table)
    limits = (nodes.constant(q, np.int64) for q in (table.input.qmin, table.input.qmax))
    found = _looked_up(nodes, nodes.add("Clip", nodes.cast(codes, TensorProto.INT64), *limits), table)
    return nodes.cast(found, helper.np_dtype_to_tensor_dtype(table.output.dtype))


def add_quantisers(nodes: Nodes, x: str, of: Type, output: Optional[str] = None) -> str:
    """Nodes from x to the real numbers of the nearest codes, whose name is returned."""
    check_type(of, "the type")
    return _dequantise(nodes, _store(nodes, _quantise(nodes, x, of), of), of, output or nodes.name("quantised"))
