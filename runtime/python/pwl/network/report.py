# SPDX-License-Identifier: Apache-2.0
"""What each part of a network of integers loses: the output's error where that part alone computes by integers."""
from __future__ import annotations

import dataclasses
import html
import math
from typing import TYPE_CHECKING, Any, Optional, Sequence

import numpy as np

from ..codes import Array
from .floats import FloatNetwork, Op, Replace, evaluated
from .kinds import KINDS, Edge, Node

if TYPE_CHECKING:
    from .graph import Network

__all__ = ["Loss", "Report", "relative_loss", "report"]

WEIGHTED = ("product", "convolution")


@dataclasses.dataclass(frozen=True)
class Loss:
    """A part: a node, all nodes of a kind, the weights of all products, or everything.

    loss     root of the mean square of the output's error, over that of the output
    bound    of its operator, in steps of its output; None where it has none
    """

    name: str
    kind: str
    types: str
    bound: Optional[float]
    loss: float


@dataclasses.dataclass(frozen=True)
class Report:
    """The losses by kind, then everything, and by node, in their order."""

    kinds: tuple[Loss, ...]
    nodes: tuple[Loss, ...]

    def __str__(self) -> str:
        lines = ["| part | loss |", "|---|---:|", *(f"| {one.name} | {one.loss:.3g} |" for one in self.kinds), "",
                 "| node | kind | codes | bound, LSB | loss |", "|---|---|---|---:|---:|"]
        for one in self.nodes:
            bound = "" if one.bound is None else f"{one.bound:.4g}"
            lines.append(f"| {one.name} | {one.kind} | {one.types} | {bound} | {one.loss:.3g} |")
        return "\n".join(lines)

    def svg(self) -> str:
        """A bar for each kind and node, as long as its loss."""
        rows = [*self.kinds, *self.nodes]
        most, step, left, width = max((one.loss for one in rows), default=0) or 1, 18, 330, 700
        bars = []
        for k, one in enumerate(rows):
            length, y = one.loss / most * (width - left - 70), 8 + k * step
            text = f"{one.name}, {one.kind}" if one.kind and one.kind != one.name else one.name
            bars.append(f'<text x="{left - 6}" y="{y + 11}" text-anchor="end">{html.escape(text[-52:], quote=False)}</text>'
                        f'<rect x="{left}" y="{y}" width="{length:.1f}" height="12"/>'
                        f'<text x="{left + length + 5:.1f}" y="{y + 11}">{one.loss:.3g}</text>')
        height = 16 + len(rows) * step
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
                'font-family="sans-serif" font-size="11">'
                '<style>rect{fill:#3b6ea5}text{fill:#222}@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>'
                + "".join(bars) + "</svg>\n")


def _all_nodes(network: Network) -> dict[str, tuple[Network, Node]]:
    """Nodes by what they write, those of bodies too, with the network they are in."""
    found = {}
    for node in network.nodes:
        found[node.output] = (network, node)
        if node.body is not None:
            found.update(_all_nodes(node.body))
    return found


class _Parts:
    """Operations computed by the integers of their nodes."""

    def __init__(self, made: Network, real: FloatNetwork, inputs: Sequence[Any]) -> None:
        self.real, self.inputs, self.nodes = real, inputs, _all_nodes(made)
        self.sizes = real.sizes([np.asarray(x) for x in inputs])
        self.exact = real(*inputs)

    def loss(self, chosen: Sequence[Op], by: Replace) -> float:
        """The loss where `by` computes the operations that are chosen."""
        names = {op.output for op in chosen}
        found = self.real(*self.inputs, replaced=lambda op, x, y: by(op, x, y) if op.output in names else y)
        return relative_loss(found, self.exact)

    def by_integers(self, op: Op, x: Sequence[Array], y: Array) -> Array:
        """The real numbers of the codes that a node gives for the nearest codes of real inputs."""
        if op.output not in self.nodes or op.kind == "loop":
            return y
        network, node = self.nodes[op.output]
        sides = network.sides(node)
        codes = [_codes(edge, values) for edge, values in zip(sides.inputs, x)]
        made = KINDS[node.kind].run(node, sides, codes, self.sizes)
        return _numbers(sides.output, made)

    def by_weights(self, op: Op, x: Sequence[Array], y: Array) -> Array:
        """A product with the numbers that its codes of weights stand for."""
        if op.output not in self.nodes:
            return y
        network, node = self.nodes[op.output]
        weights, sides = node.arrays["weights"], network.sides(node)
        steps = node.arrays["factor"] * 2.0 ** -node.arrays["shift"].astype(np.float64)
        steps = np.broadcast_to(steps * (sides.output.type.scale / sides.inputs[0].type.scale), len(weights))
        rounded = dataclasses.replace(op, arrays={**op.arrays, "weights": weights * steps.reshape(-1, *[1] * (weights.ndim - 1))})
        return evaluated(rounded, x, self.sizes)


def _codes(edge: Edge, values: Array) -> Array:
    side = edge.type
    if values.dtype.kind in "iub":
        return values.astype(side.dtype)
    return np.asarray(np.clip(np.rint(values / side.scale) + side.zero_point, side.qmin, side.qmax).astype(side.dtype))


def _numbers(edge: Edge, codes: Array) -> Array:
    return np.asarray((codes.astype(np.float64) - edge.type.zero_point) * edge.type.scale)


def relative_loss(found: Sequence[Array], exact: Sequence[Array]) -> float:
    """The root of the mean square of what outputs are off, over that of the exact ones."""
    off = sum(float(((y - real) ** 2).sum()) for y, real in zip(found, exact))
    whole = sum(float((real ** 2).sum()) for real in exact)
    return math.sqrt(off / whole) if whole > 0 else math.sqrt(off)


def _ops(real: FloatNetwork) -> list[Op]:
    """Operations that compute, those of bodies in the place of their loop."""
    found = []
    for op in real.ops:
        found += _ops(op.body) if op.body is not None else [op]
    return found


def report(made: Network, real: FloatNetwork, inputs: Sequence[Any]) -> Report:
    """The losses of a network over a batch of real inputs."""
    parts = _Parts(made, real, inputs)
    computing = [op for op in _ops(real) if op.output in parts.nodes and not KINDS[parts.nodes[op.output][1].kind].moves]
    names = dict.fromkeys(op.kind for op in computing)
    kinds = [Loss(kind, "", "", None, parts.loss([op for op in computing if op.kind == kind], parts.by_integers)) for kind in names]
    weighted = [op for op in computing if parts.nodes[op.output][1].kind in WEIGHTED]
    if weighted:
        kinds.append(Loss("weights alone", "", "", None, parts.loss(weighted, parts.by_weights)))
    found = made.real(*inputs)
    kinds.append(Loss("everything", "", "", None, relative_loss(found if isinstance(found, tuple) else (found,), parts.exact)))
    nodes = []
    for op in computing:
        network, node = parts.nodes[op.output]
        sides, operator = network.sides(node), node.operator
        bound = getattr(operator.certificate, "bound_lsb", None) if operator is not None else None
        nodes.append(Loss(op.name or op.output, op.kind, " ".join(str(edge.type) for edge in (*sides.inputs, sides.output)), bound,
                          parts.loss([op], parts.by_integers)))
    return Report(tuple(kinds), tuple(nodes))
