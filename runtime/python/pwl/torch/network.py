# SPDX-License-Identifier: Apache-2.0
"""pwl.torch.quantize(): a model as a network of integers."""
from __future__ import annotations

import inspect
from typing import Any, Iterable, Mapping, Optional, Sequence, Union

import torch
from torch import nn

from ..codes import Array
from ..errors import Error
from ..network import FloatNetwork, Network, Ranges, Widths
from ..network.batches import Arrays, axes_of, check_batch, in_widths, longest_of, observed
from .graph_calls import read

__all__ = ["quantize", "real_network"]

Batch = Union[torch.Tensor, Sequence[Any], Mapping[str, Any]]


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
    check_batch(_arrays(found))
    return found


def _arrays(batch: Mapping[str, torch.Tensor]) -> dict[str, Array]:
    return {name: x.numpy() for name, x in batch.items()}


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
    arrays = [_arrays(batch) for batch in bound]
    axes = dict(sizes) if sizes is not None else axes_of(arrays)
    most = longest_of(arrays, axes, longest)
    network = read(_exported(model, bound[0], axes), axes, most)

    def computed(batch: Arrays) -> list[Array]:
        with torch.no_grad():
            return _outputs(model(**{name: torch.from_numpy(x) for name, x in batch.items()}))

    return network, observed(network, arrays, most, computed)


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
    return in_widths(network, ranges, [_arrays(_bound(model, batch)) for batch in batches], widths, loss)
