# SPDX-License-Identifier: Apache-2.0
"""A table as ONNX operators: of each code of the input the output's, looked up.

    QuantizeLinear     codes of the real numbers; before opset 21, which brings 16 bits, Div, Round, Clip and Cast
    GatherElements     the 256 or 65,536 output codes by the input code, between Reshape to one dimension and back
    DequantizeLinear   the real numbers of the output codes; where it does not have these, they are looked up themselves

GatherElements takes 0.5 ns of ONNX Runtime for each number. Gather, which does the same and keeps the shape, takes 3.7: it
copies each element by itself. What looks for the segment and computes its line takes 70 ns: it reads and writes every
intermediate number.
"""
from __future__ import annotations

from typing import Any, Optional

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from ..codes import Array, Type, code_range
from ..errors import Error
from ..table import Table

__all__ = ["Nodes", "add_codes", "add_map", "add_quantisers", "add_reals", "add_table", "check_type", "look_up"]

MOST_BITS = 16
FARTHEST_ZERO = 1 << 22  # from the codes: differences are then exact in float32
LARGE = 4096                # bytes of a constant that is worth looking for another like it
WIDE_QUANTIZE = 21  # the first opset whose QuantizeLinear has 16 bits


class Nodes:
    """Nodes and initializers for a graph, whose names begin with a prefix that the graph does not have. shared has the
    names of large constants by what they hold: those that use the same dict write each once."""

    def __init__(self, prefix: str, opset: int, shared: Optional[dict[tuple[str, bytes], str]] = None) -> None:
        self.prefix, self.opset = prefix, opset
        self.shared = {} if shared is None else shared
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
        array = np.array(value, dtype)  # type: ignore[call-overload]
        name = self.name("constant")
        if array.nbytes >= LARGE:
            known = self.shared.setdefault((array.dtype.str, array.tobytes()), name)
            if known != name:
                return known
        self.initializers.append(numpy_helper.from_array(array, name))
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


def _steps(nodes: Nodes, x: str, of: Type, to: int) -> str:
    """Codes of real numbers less the zero point, as integers of this type: the nearest to x / scale, ties to even,
    clamped."""
    number = nodes.add("Where", nodes.add("IsNaN", x), nodes.constant(0, np.float32), x)
    steps = nodes.add("Round", nodes.add("Div", number, _scale(nodes, of)))
    limits = (nodes.constant(q - of.zero_point, np.float32) for q in (of.qmin, of.qmax))
    return nodes.cast(nodes.add("Clip", steps, *limits), to)


def _codes(nodes: Nodes, x: str, of: Type) -> str:
    """Codes of real numbers, as QuantizeLinear has them."""
    return nodes.add("QuantizeLinear", x, _scale(nodes, of), nodes.constant(of.zero_point, of.dtype))


def _wrapped(low: int, high: int) -> Array:
    """The numbers from low to high in the order that indices count: from 0 on, then those below it, from the end."""
    return np.concatenate([np.arange(max(low, 0), high + 1), np.arange(low, min(high + 1, 0))])


def _index(nodes: Nodes, x: str, of: Type) -> tuple[str, Array]:
    """An index by real numbers, and the codes in its order."""
    if _native(nodes, of):
        return nodes.cast(_codes(nodes, x, of), TensorProto.INT32), _wrapped(*code_range(8 * of.dtype.itemsize, of.signed))
    steps, low, high = _steps(nodes, x, of, TensorProto.INT32), of.qmin - of.zero_point, of.qmax - of.zero_point
    if low > 0 or high < 0:
        return nodes.add("Sub", steps, nodes.constant(low, np.int32)), np.arange(of.qmin, of.qmax + 1)
    return steps, _wrapped(low, high) + of.zero_point


def look_up(nodes: Nodes, values: Array, index: str, like: str, output: Optional[str] = None) -> str:
    """The values by the index, in the shape of `like`, named `output` where that is given."""
    flat = nodes.add("Reshape", index, nodes.constant([-1], np.int64))
    found = nodes.add("GatherElements", nodes.constant(values, values.dtype), flat)
    return nodes.add("Reshape", found, nodes.add("Shape", like), output=output)


def _dequantise(nodes: Nodes, codes: str, of: Type, output: Optional[str] = None) -> str:
    """Real numbers of codes, as DequantizeLinear has them, named `output` where that is given."""
    return nodes.add("DequantizeLinear", codes, _scale(nodes, of), nodes.constant(of.zero_point, of.dtype), output=output)


def add_codes(nodes: Nodes, x: str, of: Type) -> str:
    """Codes of real numbers as int64."""
    check_type(of, "the input")
    if _native(nodes, of):
        return nodes.cast(_codes(nodes, x, of), TensorProto.INT64)
    return nodes.add("Add", _steps(nodes, x, of, TensorProto.INT64), nodes.constant(of.zero_point, np.int64))


def add_reals(nodes: Nodes, codes: str, of: Type, output: Optional[str] = None) -> str:
    """The real numbers of codes, given as int64; named `output` where that is given."""
    check_type(of, "the output")
    if _native(nodes, of):
        return _dequantise(nodes, nodes.cast(codes, helper.np_dtype_to_tensor_dtype(of.dtype)), of, output)
    steps = nodes.add("Sub", codes, nodes.constant(of.zero_point, np.int64))
    return nodes.add("Mul", nodes.cast(steps, TensorProto.FLOAT), _scale(nodes, of), output=output)


def _check(table: Table) -> None:
    check_type(table.input, "the input")
    check_type(table.output, "the output")


def add_table(nodes: Nodes, x: str, table: Table, output: Optional[str] = None) -> str:
    """Nodes from x, real numbers in float32, to those of the table's output codes, whose name is returned."""
    _check(table)
    index, order = _index(nodes, x, table.input)
    if not _native(nodes, table.output):
        return look_up(nodes, table.dequantize(table(order)), index, x, output)
    return _dequantise(nodes, look_up(nodes, table(order), index, x), table.output, output)


def add_map(nodes: Nodes, codes: str, table: Table) -> str:
    """Nodes from input codes, integers of any type, to output codes in the smallest type that holds them."""
    _check(table)
    of = table.input
    limits = (nodes.constant(q, np.int64) for q in (of.qmin, of.qmax))
    index = nodes.add("Clip", nodes.cast(codes, TensorProto.INT64), *limits)
    return look_up(nodes, table(_wrapped(*code_range(8 * of.dtype.itemsize, of.signed))), index, codes)


def add_quantisers(nodes: Nodes, x: str, of: Type, output: Optional[str] = None) -> str:
    """Nodes from x to the real numbers of the nearest codes, whose name is returned."""
    check_type(of, "the type")
    output = output or nodes.name("quantised")
    if _native(nodes, of) and (of.qmin, of.qmax) == code_range(8 * of.dtype.itemsize, of.signed):
        return _dequantise(nodes, _codes(nodes, x, of), of, output)
    return nodes.add("Mul", _steps(nodes, x, of, TensorProto.FLOAT), _scale(nodes, of), output=output)
