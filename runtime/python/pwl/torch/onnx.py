# SPDX-License-Identifier: Apache-2.0
"""Operators of pwl.torch as ONNX, for torch's exporter:

    from pwl.torch.onnx import translations
    torch.onnx.export(converted, (x,), "model8.onnx", dynamo=True, custom_translation_table=translations())

An activation becomes what pwl.onnx makes of it: QuantizeLinear, a lookup in integers, DequantizeLinear.
"""
from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np

from ..errors import MissingError
from ..table import Table
from . import ops
from .ops import map_codes, map_real, table_of

try:
    from onnx import TensorProto, numpy_helper
    from onnxscript import opset18  # type: ignore[import-untyped, unused-ignore]
except ImportError as error:
    raise MissingError(f"the exporter of torch is not here: pip install onnx onnxscript ({error})") from None

from ..onnx.lookup import Nodes, add_map, add_table

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


def _real(x: Any, table: str, exact: Any = None) -> Any:
    nodes, of = _Recorded(), _checked(table)
    element = x.dtype
    if element is None or element == TensorProto.FLOAT:
        return add_table(nodes, x, of)
    return nodes.cast(add_table(nodes, nodes.cast(x, TensorProto.FLOAT), of), int(element))


def _map(x: Any, table: str) -> Any:
    return add_map(_Recorded(), x, _checked(table))


def _checked(table: str) -> Table:
    return table_of(table)


def translations() -> dict[Any, Callable[..., Any]]:
    """What torch.onnx.export() takes as custom_translation_table."""
    ops.translated = True
    return {map_real: _real, map_codes: _map}
