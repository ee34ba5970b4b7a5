# SPDX-License-Identifier: Apache-2.0
"""A network as libpwl runs it."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..codes import DTYPES, Array, Type
from ..errors import Error
from .kinds import KINDS, Node, Size, sizes_of

if TYPE_CHECKING:
    from .graph import Network

__all__ = ["compiled", "ran"]

AXES, FACTORS, READS, OWN = 8, 4, 8, 8  # what pwl/network.h has at most, and integers of a node's own
NEUTRAL = {"kernel": 1, "stride": 1, "padding": 0, "dilation": 1}  # of rows, where there are none


def compiled(network: Network) -> _core.Network:
    """The network for libpwl, which proves it anew. Error where it has more than that takes."""
    names, numbers = list(network.sizes), {name: k for k, name in enumerate(network.edges)}
    sides = [(DTYPES.index(edge.type.dtype), len(edge.shape), edge.type.zero_point, edge.type.qmin, edge.type.qmax)
             for edge in network.edges.values()]
    axes = np.zeros((len(sides), AXES, 1 + FACTORS), np.uint32)
    for k, edge in enumerate(network.edges.values()):
        if len(edge.shape) > AXES:
            raise Error(f"edge {edge.name}: {len(edge.shape)} axes, libpwl takes {AXES}")
        for axis, size in enumerate(edge.shape):
            axes[k, axis] = _axis(size, names)
    nodes = []
    for node in network.nodes:
        if len(node.inputs) > READS:
            raise Error(f"{node.name or node.output}: reads {len(node.inputs)} edges, libpwl takes {READS}")
        head = [list(KINDS).index(node.kind), numbers[node.output], len(node.inputs), *(numbers[name] for name in node.inputs)]
        own = _own(node, network.edges[node.inputs[0]].type if node.inputs else None)
        integers = np.zeros(3 + READS + OWN, np.int64)
        integers[:len(head)], integers[3 + READS:3 + READS + len(own)] = head, own
        arrays = tuple(np.asarray(node.arrays[name], order="C") for name in KINDS[node.kind].arrays)
        nodes.append((integers, arrays, node.operator if node.body is None else compiled(node.body)))
    return _core.Network(np.array(list(network.sizes.values()), np.uint32), _edges(network.inputs, numbers),
                         _edges(network.outputs, numbers), np.array(sides, np.int64).reshape(-1, 5), axes, tuple(nodes))


def ran(network: Network, of: _core.Network, inputs: list[Array], sizes: dict[str, int]) -> list[Array]:
    """The outputs of inputs that are known to fit."""
    outputs = [np.empty(sizes_of(edge.shape, sizes), edge.type.dtype)
               for edge in (network.edges[name] for name in network.outputs)]
    of.run(np.array([sizes[name] for name in network.sizes], np.uint32), tuple(np.asarray(x, order="C") for x in inputs),
           tuple(outputs))
    return outputs


def _edges(names: tuple[str, ...], numbers: dict[str, int]) -> Array:
    return np.array([numbers[name] for name in names], np.uint16)


def _axis(size: Size, names: list[str]) -> list[int]:
    """The number of an axis, and the sizes that are its factors, counted from 1."""
    parts = size.split("*") if isinstance(size, str) else [str(size)]
    factors = [1 + names.index(part) for part in parts if not part.isdecimal()]
    if len(factors) > FACTORS:
        raise Error(f"a size of {size}: libpwl takes {FACTORS} factors")
    return [math.prod(int(part) for part in parts if part.isdecimal()), *factors, *[0] * (FACTORS - len(factors))]


def _own(node: Node, x: Any) -> list[int]:
    """The integers of a node's kind in their order, lists of windows with rows."""
    own: list[int] = []
    for name in KINDS[node.kind].fields:
        value = node.fields[name]
        if name in NEUTRAL:
            value = [NEUTRAL[name]] * (2 - len(value)) + value
        own += value if isinstance(value, list) else [value]
    return own + ([int(_is_narrow(node.arrays["weights"], x))] if "weights" in node.arrays else [])


def _is_narrow(weights: Array, x: Type) -> bool:
    """Whether 32 bits hold any products of a channel's weights and codes."""
    weights = weights.reshape(len(weights), -1).astype(np.int64)
    up, down = np.maximum(weights, 0).sum(1), np.maximum(-weights, 0).sum(1)
    above, below = max(x.qmax, 0), max(-x.qmin, 0)
    return bool((np.maximum(up * above + down * below, up * below + down * above) < 1 << 31).all())
