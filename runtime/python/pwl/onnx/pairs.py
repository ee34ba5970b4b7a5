# SPDX-License-Identifier: Apache-2.0
"""Models with QuantizeLinear and DequantizeLinear as the real functions that they stand for."""
from __future__ import annotations

from typing import Callable

import numpy as np
import onnx
from onnx import helper, numpy_helper

from ..codes import Array
from ..errors import Error

__all__ = ["without_pairs"]

# What already gives no negative number, and what lets those of its input through.
NOT_NEGATIVE = {"Relu", "Sigmoid", "HardSigmoid", "Softmax", "Clip", "Softplus", "Exp", "Abs"}
THROUGH = {"Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze", "Identity", "MaxPool", "AveragePool", "GlobalAveragePool",
           "DequantizeLinear", "QuantizeLinear"}


def _not_negative(name: str, made_by: dict[str, onnx.NodeProto]) -> bool:
    while name in made_by and made_by[name].op_type in THROUGH:
        name = made_by[name].input[0]
    return name in made_by and made_by[name].op_type in NOT_NEGATIVE


def without_pairs(graph: onnx.GraphProto, constant: Callable[[str], Array]) -> None:
    """Takes a QuantizeLinear and the DequantizeLinear behind it away, but where their codes begin at 0 and what they are given
    does not: they are a ReLU up to their largest code then. `constant` gives the values of a tensor that depends on none."""
    made_by = {name: node for node in graph.node for name in node.output}
    kept, limits, count = [], [], 0
    for node in graph.node:
        before = made_by.get(node.input[0]) if node.input else None
        if node.op_type == "DequantizeLinear" and before is not None and before.op_type == "QuantizeLinear":
            x, scale = before.input[0], constant(before.input[1])
            zero = constant(before.input[2]) if len(before.input) > 2 else np.zeros((), np.uint8)
            codes = np.iinfo(zero.dtype)
            if scale.size == 1 and int(zero.reshape(-1)[0]) == codes.min and not _not_negative(x, made_by):
                ends = (0.0, float(scale.reshape(-1)[0]) * (codes.max - codes.min))
                names = [f"{node.output[0]}/{count}/low", f"{node.output[0]}/{count}/high"]
                limits += [numpy_helper.from_array(np.array(end, np.float32), name) for end, name in zip(ends, names)]
                kept.append(helper.make_node("Clip", [x, *names], [node.output[0]], node.name))
            else:
                kept.append(helper.make_node("Identity", [x], [node.output[0]], node.name))
            count += 1
        else:
            kept.append(node)
    if not any(node.op_type == "QuantizeLinear" for node in graph.node):
        return
    read = {name for node in kept for name in node.input} | {value.name for value in graph.output}
    made = [onnx.NodeProto.FromString(node.SerializeToString()) for node in kept
            if node.op_type != "QuantizeLinear" or node.output[0] in read]
    for node in made:
        if node.op_type == "QuantizeLinear":
            raise Error(f"{node.name or node.output[0]} (QuantizeLinear): no DequantizeLinear reads it; models of QDQ have both")
    del graph.node[:]
    graph.node.extend(made)
    graph.initializer.extend(limits)
