# SPDX-License-Identifier: Apache-2.0
"""GRU and LSTM of torch as loops."""
from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import fx

from ..network.recurrent import RecurrentLayer
from .graph import Pending, Reader, Result

__all__ = ["last_states", "recurrent"]

aten = torch.ops.aten


def recurrent(reader: Reader, node: fx.Node, args: list[Any]) -> Result:
    """gru and lstm: for each layer and direction one product for all places, and a loop."""
    x, states, weights, has_bias, layers, _, _, both = (*args[:6], args[6], args[7])
    batch_first = bool(node.args[8])
    for state in states if isinstance(states, (list, tuple)) else [states]:
        if not reader.is_constant(state) or reader.constant(state).any():
            raise reader.refuse(node, "a first state that is not 0")
    axis, shape, edge = int(batch_first), reader.shape(x), reader.edge(x, node)
    size, directions = 4 if has_bias else 2, 2 if both else 1
    finals = []
    for layer in range(layers):
        outputs = []
        for direction in range(directions):
            own = [reader.constant(one) for one in weights[(layer * directions + direction) * size:][:size]]
            output = node.name if (layer == layers - 1 and not both) else f"{node.name}.{layer}.{direction}"
            bias = own[2:] if has_bias else [np.zeros(len(own[0]))] * 2
            kind = "gru" if node.target is aten.gru.input else "lstm"
            made = RecurrentLayer(kind, output, axis, bool(direction), reader.where(node))
            reader.ops.extend(made.of(edge, shape, own[0], own[1], bias))
            outputs.append(output)
            finals.append((outputs[-1], direction))
        shape = (*shape[:2], own[1].shape[1] * directions)
        edge = outputs[0]
        if both:
            edge = reader.add(node, "concat", outputs, fields={"axis": 2}, shape=shape,
                            output=node.name if layer == layers - 1 else f"{node.name}.{layer}")
    return Pending("recurrent", edge, axis=axis, finals=tuple(finals))


def last_states(reader: Reader, node: fx.Node, part: Pending) -> str:
    """What gru and lstm give beside their output: its last place, of each layer and direction."""
    edges, shape = [], reader.shape(node)
    for k, (edge, reverse) in enumerate(part.finals):
        last = reader.add(node, "slice", [edge], output=f"{node.name}.{k}.last", shape=shape[1:], fields={
            "axis": part.axis, "start": 0 if reverse else -1, "stop": 1 if reverse else 1 << 40, "step": 1, "keep": 0})
        edges.append(reader.add(node, "reshape", [last], output=f"{node.name}.{k}" if len(part.finals) > 1 else node.name,
                              shape=(1, *shape[1:])))
    for k in range(1, len(edges)):
        edges[0] = reader.add(node, "concat", [edges[0], edges[k]], fields={"axis": 0}, shape=(k + 1, *shape[1:]),
                            output=node.name if k == len(edges) - 1 else f"{node.name}.to{k}")
    return edges[0]
