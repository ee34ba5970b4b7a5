# SPDX-License-Identifier: Apache-2.0
"""GRU and LSTM of torch as loops."""
from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import fx

from ..network.recurrent import RecurrentLayer, last_states
from .graph import Pending, Reader, Result

__all__ = ["last", "recurrent"]

aten = torch.ops.aten


def recurrent(reader: Reader, node: fx.Node, args: list[Any]) -> Result:
    """gru and lstm: for each layer and direction one product for all places, and a loop."""
    x, states, weights, has_bias, layers, _, _, both = args
    axis = int(bool(node.args[8]))  # of the places
    for state in states if isinstance(states, (list, tuple)) else [states]:
        if not reader.is_constant(state) or reader.constant(state).any():
            raise reader.refuse(node, "a first state that is not 0")
    shape, edge = reader.shape(x), reader.edge(x, node)
    size, directions, kind = 4 if has_bias else 2, 2 if both else 1, "gru" if node.target is aten.gru.input else "lstm"
    if len(weights) != layers * directions * size:
        raise reader.refuse(node, "states that are projected (proj_size)")
    made: list[RecurrentLayer] = []
    for layer in range(layers):
        for direction in range(directions):
            own = [reader.constant(one) for one in weights[(layer * directions + direction) * size:][:size]]
            output = node.name if (layer == layers - 1 and not both) else f"{node.name}.{layer}.{direction}"
            bias = own[2:] if has_bias else [np.zeros(len(own[0]))] * 2
            made.append(RecurrentLayer(kind, output, axis, bool(direction), reader.where(node), edge, shape, (own[0], own[1]), bias))
            reader.append(*made[-1].ops())
        shape = (*shape[:2], made[-1].width * directions)
        edge = made[-1].output
        if both:
            edge = reader.join([one.output for one in made[-2:]], 2, node.name if layer == layers - 1 else f"{node.name}.{layer}",
                               reader.where(node))
    return Pending("recurrent", edge, layers=tuple(made))


def last(reader: Reader, node: fx.Node, part: Pending, cells: bool) -> str:
    """What gru and lstm give beside their output: the last states of each layer and direction."""
    return reader.append(*last_states(part.layers, node.name, cells))
