# SPDX-License-Identifier: Apache-2.0
"""pwl.torch.quantize(): a model as a network of integers."""
from __future__ import annotations

import inspect
from typing import Any, Iterable, Mapping, Optional, Sequence, Union

import numpy as np
import torch
from torch import nn

from ..codes import Array
from ..errors import Error
from ..network import FloatNetwork, Network, Ranges, Widths, cheapest, quantise
from .graph_calls import read

__all__ = ["quantize", "real_network"]

Batch = Union[torch.Tensor, Sequence[Any], Mapping[str, Any]]
AGREES = 1e-3  # of the largest output: how far a network of real numbers may be from the model that it was read from


def _bound(model: nn.Module, batch: Batch) -> dict[str, torch.Tensor]:
    """A batch as arguments by their names."""
    given: Any = batch
    args, keywords = ((), given) if isinstance(given, Mapping) else ((given,), {}) if isinstance(given, torch.Tensor) else (given, {})
    bound = inspect.signature(model.forward).bind(*args, **keywords)
    found: dict[str, torch.Tensor] = {}
    for name, value in bound.arguments.items():
        if value is not None and not isinstance(value, torch.Tensor):
            raise Error(f"{name}: {type(value).__name__}; a batch is a tensor, a sequence of tensors or a mapping of them")
        if value is not None:
            found[name] = value.detach()
    if not found or any(value.numel() == 0 for value in found.values()):
        raise Error("a batch of no numbers")
    return found


def _sizes(batches: Sequence[Mapping[str, torch.Tensor]]) -> dict[str, tuple[Union[str, int], ...]]:
    """The axes of each input: the first is the batch, one whose length differs between batches has a name too, and axes whose
    lengths are the same in every batch share it."""
    names: dict[tuple[int, ...], str] = {}
    found = {}
    for name, first in batches[0].items():
        axes: list[Union[str, int]] = ["batch"]
        for axis in range(1, first.dim()):
            lengths = tuple(batch[name].shape[axis] for batch in batches)
            if len(set(lengths)) == 1:
                axes.append(lengths[0])
            else:
                axes.append(names.setdefault(lengths, "length" if not names else f"length{len(names) + 1}"))
        found[name] = tuple(axes)
    return found


def _exported(model: nn.Module, batch: Mapping[str, torch.Tensor], sizes: Mapping[str, Sequence[Union[str, int]]]) -> Any:
    """The graph of torch.export; axes of one place are doubled first, as it takes 1 for a number."""
    example = {}
    for name, x in batch.items():
        for axis, size in enumerate(sizes[name]):
            if isinstance(size, str) and x.shape[axis] == 1:
                x = torch.cat([x, x], axis)
        example[name] = x
    dims = {size: torch.export.Dim.AUTO for axes in sizes.values() for size in axes if isinstance(size, str)}
    shapes = {name: {axis: dims[size] for axis, size in enumerate(axes) if isinstance(size, str)} for name, axes in sizes.items()}
    with torch.no_grad():
        return torch.export.export(model, (), example, dynamic_shapes=shapes)


def _outputs(results: Any) -> list[Array]:
    flat = torch.utils._pytree.tree_leaves(results)
    return [value.detach().double().numpy() for value in flat if isinstance(value, torch.Tensor)]


def real_network(model: nn.Module, batches: Iterable[Batch], *, sizes: Optional[Mapping[str, Sequence[Union[str, int]]]] = None,
                 longest: Optional[Mapping[str, int]] = None) -> tuple[FloatNetwork, Ranges]:
    """The model's operations, and their ranges over the batches. Each batch is computed by the model too: Error where the two
    differ by more than a thousandth of the largest output."""
    if model.training:
        raise Error("the model is in training: model.eval() first")
    bound = [_bound(model, batch) for batch in batches]
    if not bound:
        raise Error("no batches: at least one is needed, for ranges")
    axes = dict(sizes) if sizes is not None else _sizes(bound)
    most: dict[str, int] = {}
    for batch in bound:
        for name, of in axes.items():
            for size, given in zip(of, batch[name].shape):
                if isinstance(size, str):
                    most[size] = max(most.get(size, 0), given, 2)
    most.update(longest or {})
    network = read(_exported(model, bound[0], axes), axes, most)
    ranges = Ranges(network)
    ranges.sizes.update(most)
    for batch in bound:
        found = ranges.observe(*(batch[one.name].numpy() for one in network.inputs))
        with torch.no_grad():
            wanted = _outputs(model(**batch))
        for k, (y, exact) in enumerate(zip(found, wanted)):
            if y.shape != exact.shape or np.abs(y - exact).max() > AGREES * max(np.abs(exact).max(), 1e-30):
                raise Error(f"output {k}: what was read from the model gives {y.ravel()[:3]}, the model {exact.ravel()[:3]}")
    return network, ranges


def quantize(model: nn.Module, batches: Iterable[Batch], widths: Union[Widths, str, None] = None, *,
             loss: Optional[float] = None, sizes: Optional[Mapping[str, Sequence[Union[str, int]]]] = None,
             longest: Optional[Mapping[str, int]] = None) -> Network:
    """A model as a network of integers: weights of 8 bits a channel, activations of `widths`, whose ranges are those of the
    batches.

    widths    bits of each place; or "auto", with `loss`: as many places of 8 bits as lose no more than it over the batches, the root
              of the mean square of the outputs' errors over that of the outputs
    batches   tensors, sequences or mappings of them, as the model takes them: indices and masks of 0 and 1 as integers
    sizes     the axes of each input by its name, as {"input_ids": ("batch", "length")}; by default the first axis is the
              batch, and one that differs between batches a size too
    longest   how long each size may be, as {"length": 256}; by default as in the batches
    """
    batches = list(batches)
    network, ranges = real_network(model, batches, sizes=sizes, longest=longest)
    if (widths == "auto") != (loss is not None) or (isinstance(widths, str) and widths != "auto"):
        raise Error(f"widths: {widths!r}, loss: {loss!r}; must be a Widths, or \"auto\" with a loss")
    if loss is None:
        assert not isinstance(widths, str)
        return quantise(network, ranges, widths)
    bound = [_bound(model, batch) for batch in batches]
    return cheapest(network, ranges, [[batch[one.name].numpy() for one in network.inputs] for batch in bound], loss)
