# SPDX-License-Identifier: Apache-2.0
"""Branches that a model always takes: an If whose condition is constant is replaced by the nodes of that branch, so that
what they compute is part of the graph around it. Exporters write such, as torch's for a squeeze."""
from __future__ import annotations

from typing import Any, Callable, Mapping, Optional

import numpy as np
import onnx
from onnx import helper, numpy_helper

from ..codes import Array

__all__ = ["enter_branches"]

# Operators that conditions are made by.
CONDITIONS: Mapping[str, Callable[..., Any]] = {
    "Identity": lambda x: x, "Not": np.logical_not, "And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor,
    "Equal": np.equal, "Greater": np.greater, "GreaterOrEqual": np.greater_equal, "Less": np.less,
    "LessOrEqual": np.less_equal,
}
BOOLEAN = onnx.TensorProto.BOOL


def _constants(graph: onnx.GraphProto) -> dict[str, Array]:
    """The values of one element that are known beforehand, by name."""
    inputs = {value.name for value in graph.input}  # an initializer that is an input too may be given another value
    known = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer
             if tensor.name not in inputs and np.prod(tensor.dims) == 1}
    for node in graph.node:
        attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
        if node.op_type == "Constant" and isinstance(attributes.get("value"), onnx.TensorProto):
            value = numpy_helper.to_array(attributes["value"])
        elif node.op_type == "Cast" and attributes.get("to") == BOOLEAN and node.input[0] in known:
            value = known[node.input[0]].astype(bool)
        elif node.op_type in CONDITIONS and all(name in known for name in node.input):
            value = np.asarray(CONDITIONS[node.op_type](*(known[name] for name in node.input)))
        else:
            continue
        if value.size == 1:
            known[node.output[0]] = value
    return known


def _rename(node: onnx.NodeProto, names: Mapping[str, str]) -> None:
    """Other names for tensors, in the node and in graphs within it, but where these have names of their own."""
    node.input[:] = [names.get(name, name) for name in node.input]
    node.output[:] = [names.get(name, name) for name in node.output]
    for attribute in node.attribute:
        for graph in ([attribute.g] if attribute.type == onnx.AttributeProto.GRAPH else list(attribute.graphs)):
            own = {value.name for value in (*graph.input, *graph.initializer)}
            own |= {name for inner in graph.node for name in inner.output}
            left = {name: new for name, new in names.items() if name not in own}
            for inner in graph.node:
                _rename(inner, left)
            for value in graph.output:
                value.name = left.get(value.name, value.name)


def _entered(node: onnx.NodeProto, branch: onnx.GraphProto, prefix: str) -> list[onnx.NodeProto]:
    """The branch's nodes, which make what the If makes. Its initializers become Constants, its names get the prefix."""
    made = [helper.make_node("Constant", [], [tensor.name], value=tensor) for tensor in branch.initializer]
    made += [onnx.NodeProto.FromString(inner.SerializeToString()) for inner in branch.node]
    inside = {name for inner in made for name in inner.output if name}
    names = {name: f"{prefix}/{name}" for name in inside}
    same = []  # outputs that are tensors of the graph around it, or that are given twice
    for value, output in zip(branch.output, node.output):
        if value.name in inside and names[value.name].startswith(prefix):
            names[value.name] = output
        else:
            same.append(helper.make_node("Identity", [names.get(value.name, value.name)], [output]))
    for inner in made:
        _rename(inner, names)
        if inner.name:
            inner.name = f"{prefix}/{inner.name}"
    return made + same


def enter_branches(graph: onnx.GraphProto) -> None:
    """Replaces each If of the graph whose condition is constant, those within such branches too."""
    taken = {name for node in graph.node for name in (node.name, *node.input, *node.output)}
    count = 0
    while True:
        known = _constants(graph)
        chosen: Optional[int] = next((k for k, node in enumerate(graph.node)
                                      if node.op_type == "If" and node.domain in ("", "ai.onnx") and node.input[0] in known), None)
        if chosen is None:
            return
        node = graph.node[chosen]
        prefix = f"branch_{count}"
        while any(name.startswith(f"{prefix}/") for name in taken):
            count += 1
            prefix = f"branch_{count}"
        count += 1
        which = "then_branch" if known[node.input[0]].reshape(()) else "else_branch"
        branch = next(one.g for one in node.attribute if one.name == which)
        nodes = [*graph.node[:chosen], *_entered(node, branch, prefix), *graph.node[chosen + 1:]]
        kept = [onnx.NodeProto.FromString(one.SerializeToString()) for one in nodes]
        del graph.node[:]
        graph.node.extend(kept)
