# SPDX-License-Identifier: Apache-2.0
"""What readers of models share: operations in their order, the shapes of what they give, and what one node of a model becomes of
several."""
from __future__ import annotations

import dataclasses
import math
from typing import Iterable, Mapping, Sequence

import numpy as np

from ..codes import Array
from ..errors import Error
from .attention import simplified
from .floats import FloatNetwork, Input, Op, narrowed, without_scales
from .kinds import Shape, Size

__all__ = ["Operations"]


class Operations:
    """Operations one after another, each by the name of what it gives, and the shapes of these and of the inputs."""

    def __init__(self, shapes: Mapping[str, Shape]) -> None:
        self.shapes = dict(shapes)
        self.ops: list[Op] = []
        self.made: dict[str, Op] = {}

    def append(self, *ops: Op) -> str:
        """Adds operations, and gives the name of what the last one gives."""
        for op in ops:
            self.ops.append(op)
            self.made[op.output], self.shapes[op.output] = op, op.shape
        return ops[-1].output

    def join(self, edges: Sequence[str], axis: int, output: str, where: str) -> str:
        """Edges one behind the other, two at a time."""
        whole = edges[0]
        for k, edge in enumerate(edges[1:], 1):
            shape, more = list(self.shapes[whole]), self.shapes[edge][axis]
            shape[axis] = _sum(shape[axis], more, where)
            name = output if k == len(edges) - 1 else f"{output}/{k}"
            whole = self.append(Op("concat", (whole, edge), name, tuple(shape), where, {"axis": axis}))
        return whole

    def average(self, x: str, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int], output: str, shape: Shape,
                where: str) -> str:
        """The mean of each window, what lies beyond the ends among it: a convolution of each channel."""
        channels = shape[1]
        if not isinstance(channels, int):
            raise Error(f"{where}: an average pool over {channels} channels, whose number inputs choose")
        return self.append(Op("convolution", (x,), output, shape, where, {
            "stride": list(stride), "padding": list(padding), "dilation": [1] * len(kernel), "groups": channels}, {
            "weights": np.full((channels, 1, *kernel), 1 / math.prod(kernel)), "bias": np.zeros(channels)}))

    def scaled(self, before: Op, factor: Array, summand: Array, output: str, where: str) -> str:
        """factor y + summand, a number of each a channel, of the y that a linear layer or a convolution gives: one with other
        weights."""
        weights = before.arrays["weights"]
        arrays = {"weights": weights * factor.reshape(-1, *[1] * (weights.ndim - 1)), "bias": before.arrays["bias"] * factor + summand}
        return self.append(dataclasses.replace(before, output=output, name=where, arrays=arrays))

    def network(self, roles: Mapping[str, str], outputs: Iterable[str]) -> FloatNetwork:
        """All of them as a network, whose inputs are those of `roles` that are read."""
        names = list(outputs)
        used = {name for op in self.ops for name in op.inputs} | set(names)
        inputs = [Input(name, self.shapes[name], role) for name, role in roles.items() if name in used]
        return narrowed(without_scales(simplified(FloatNetwork(inputs, names, self.ops))))


def _sum(size: Size, more: Size, where: str) -> int:
    if not (isinstance(size, int) and isinstance(more, int)):
        raise Error(f"{where}: a concatenation along a size of the inputs")
    return size + more
