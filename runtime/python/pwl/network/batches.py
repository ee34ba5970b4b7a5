# SPDX-License-Identifier: Apache-2.0
"""What readers of models share: sizes that batches tell, ranges over them, and widths."""
from __future__ import annotations

from typing import Callable, Mapping, Optional, Sequence, Union

import numpy as np

from ..codes import Array
from ..errors import Error
from .floats import FloatNetwork
from .graph import Network
from .kinds import Shape
from .quantise import Ranges, Widths, cheapest, quantise

__all__ = ["Arrays", "axes_of", "check_batch", "in_widths", "longest_of", "observed"]

AGREES = 1e-3  # of the largest output: how far a network of real numbers may be from the model that it was read from

Arrays = Mapping[str, Array]  # a batch, by the names of the model's inputs


def check_batch(batch: Arrays) -> None:
    """Error for a batch of no numbers."""
    if not batch or any(x.size == 0 for x in batch.values()):
        raise Error("a batch of no numbers")


def axes_of(batches: Sequence[Arrays]) -> dict[str, Shape]:
    """The axes of each input: the first is the batch, one whose length differs between batches has a name too, and axes whose
    lengths are the same in every batch share it."""
    names: dict[tuple[int, ...], str] = {}
    found = {}
    for name, first in batches[0].items():
        axes: list[Union[str, int]] = ["batch"]
        for axis in range(1, first.ndim):
            lengths = tuple(batch[name].shape[axis] for batch in batches)
            if len(set(lengths)) == 1:
                axes.append(lengths[0])
            else:
                axes.append(names.setdefault(lengths, "length" if not names else f"length{len(names) + 1}"))
        found[name] = tuple(axes)
    return found


def longest_of(batches: Sequence[Arrays], axes: Mapping[str, Sequence[Union[str, int]]],
               longest: Optional[Mapping[str, int]]) -> dict[str, int]:
    """The longest of each size, in the batches or as the caller says."""
    most: dict[str, int] = {}
    for batch in batches:
        for name, of in axes.items():
            for size, given in zip(of, batch[name].shape):
                if isinstance(size, str):
                    most[size] = max(most.get(size, 0), given, 2)
    return {**most, **(longest or {})}


def observed(network: FloatNetwork, batches: Sequence[Arrays], longest: Mapping[str, int],
             model: Callable[[Arrays], Sequence[Array]]) -> Ranges:
    """The ranges of the network over the batches. Each is computed by the model too: Error where the two differ by more than a
    thousandth of the largest output."""
    ranges = Ranges(network)
    ranges.sizes.update(longest)
    for batch in batches:
        found = ranges.observe(*(batch[one.name] for one in network.inputs))
        for k, (y, exact) in enumerate(zip(found, model(batch))):
            if y.shape != exact.shape or np.abs(y - exact).max() > AGREES * max(np.abs(exact).max(), 1e-30):
                raise Error(f"output {k}: what was read from the model gives {y.ravel()[:3]} of shape {y.shape}, the model "
                            f"{exact.ravel()[:3]} of {exact.shape}")
    return ranges


def in_widths(network: FloatNetwork, ranges: Ranges, batches: Sequence[Arrays], widths: Union[Widths, str, None],
              loss: Optional[float]) -> Network:
    """The network by integers of these widths, or of the cheapest within a loss over the batches."""
    if (widths == "auto") != (loss is not None) or (isinstance(widths, str) and widths != "auto"):
        raise Error(f"widths: {widths!r}, loss: {loss!r}; must be a Widths, or \"auto\" with a loss")
    if loss is None:
        assert not isinstance(widths, str)
        return quantise(network, ranges, widths)
    return cheapest(network, ranges, [[batch[one.name] for one in network.inputs] for batch in batches], loss)
