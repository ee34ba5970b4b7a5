# SPDX-License-Identifier: Apache-2.0
"""Operators of pwl.torch as ONNX, for torch's exporter:

    from pwl.torch.onnx import translations
    torch.onnx.export(converted, (x,), "model8.onnx", dynamo=True, custom_translation_table=translations())

An activation becomes what pwl.onnx makes of it: QuantizeLinear, a lookup in integers, DequantizeLinear; softmax and norms
become row operators in integers.
"""
from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np

from ..errors import MissingError
from ..table import Table
from . import ops
from .ops import map_codes, map_real, map_row_codes, map_rows, operator_of, table_of

try:
    from onnx import TensorProto, helper, numpy_helper
    from onnxscript import opset18  # type: ignore[import-untyped, unused-ignore]
except ImportError as error:
    raise MissingError(f"the exporter of torch is not here: pip install onnx onnxscript ({error})") from None

from ..codes import Type
from ..onnx.lookup import Nodes, add_map, add_table
from ..onnx.row_integers import add_operator, add_operator_codes

__all__ = ["translations"]


class _Recorded(Nodes):
    """Nodes that torch's exporter records as they are called: names are its values. It has opset 18, and takes the whole
    model to another one afterwards."""

    def __init__(self) -> None:
        super().__init__("pwl", 18)

    def add(self, operator: str, *inputs: Any, output: Optional[str] = None, **attributes: Any) -> Any:
        return getattr(opset18, operator)(*inputs, **attributes)

    def constant(self, value: object, dtype: object) -> Any:
        array = np.array(value, dtype)  # type: ignore[call-overload]
        return opset18.Constant(value=numpy_helper.from_array(array))


def _as_float32(nodes: Nodes, x: Any, compute: Callable[[Any], Any]) -> Any:
    """What is computed of x in float32, in the type of x."""
    element = x.dtype
    if element is None or element == TensorProto.FLOAT:
        return compute(x)
    return nodes.cast(compute(nodes.cast(x, TensorProto.FLOAT)), int(element))


def _real(x: Any, table: str, exact: Any = None) -> Any:
    nodes, of = _Recorded(), _checked(table)
    return _as_float32(nodes, x, lambda given: add_table(nodes, given, of))


def _rows(x: Any, operator: str, exact: Any = None) -> Any:
    nodes, of = _Recorded(), operator_of(operator)
    return _as_float32(nodes, x, lambda given: add_operator(nodes, given, of))


def _map_rows(x: Any, operator: str) -> Any:
    nodes, of = _Recorded(), operator_of(operator)
    y = add_operator_codes(nodes, nodes.cast(x, TensorProto.INT64), of)
    return nodes.cast(y, _element(of.output))


def _element(of: Type) -> int:
    return int(helper.np_dtype_to_tensor_dtype(of.dtype))


def _map(x: Any, table: str) -> Any:
    return add_map(_Recorded(), x, _checked(table))


def _checked(table: str) -> Table:
    return table_of(table)


def translations() -> dict[Any, Callable[..., Any]]:
    """What torch.onnx.export() takes as custom_translation_table."""
    ops.translated = True
    return {map_real: _real, map_codes: _map, map_rows: _rows, map_row_codes: _map_rows}
