# SPDX-License-Identifier: Apache-2.0
"""pwl.onnx: tables in models of ONNX.

    import pwl.onnx

    converted = pwl.onnx.convert("model.onnx", batches, bits=8)     # an onnx.ModelProto
    tables = pwl.onnx.fit("model.onnx", batches, bits=16)           # or step by step
    converted = pwl.onnx.replace("model.onnx", tables)
    print(pwl.onnx.report("model.onnx", tables, other_batches))

Converted models are plain ONNX of the model's own opset, 13 or later: QuantizeLinear, a lookup in integer operators, and
DequantizeLinear. On every code the lookup has the table's own bits. Softmax and norms become row operators, spelled by
operators of int64, with the bits of these.
"""
from __future__ import annotations

from ..errors import MissingError as _MissingError

try:
    import onnx as _onnx
    import onnx.inliner as _inliner
except ImportError as _error:
    raise _MissingError(f"onnx is not here: pip install 'onnx>=1.16' onnxruntime ({_error})") from None

from .convert import convert, fit, replace, to_model
from .expressions import Place
from .network import quantize
from .places import find
from .report import Loss, Report, Stay, Use, report
from .row_places import RowPlace

__all__ = ["Loss", "Place", "Report", "RowPlace", "Stay", "Use", "convert", "find", "fit", "quantize", "replace", "report",
           "to_model"]
