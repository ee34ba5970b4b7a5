# SPDX-License-Identifier: Apache-2.0
"""pwl.onnx.quantize(): a model as a network of integers."""
from __future__ import annotations

from typing import Any, Iterable, Mapping, Optional, Sequence, Union

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

from ..codes import Array
from ..errors import Error
from ..network import FloatNetwork, Network, Ranges, Widths
from ..network.batches import Arrays, axes_of, check_batch, in_widths, longest_of, observed
from .convert import Batch, Model, load_model, run
from .graph_calls import read
from .pairs import without_pairs

__all__ = ["quantize", "real_network"]

OLDEST = 9  # opset of models that are read

Sizes = Mapping[str, Sequence[Union[str, int]]]


def _inputs(graph: onnx.GraphProto) -> list[str]:
    constants = {tensor.name for tensor in graph.initializer}
    return [value.name for value in graph.input if value.name not in constants]


def _named(batch: Batch, names: Sequence[str]) -> dict[str, Array]:
    """A batch as arrays by the names of the model's inputs."""
    if not isinstance(batch, Mapping):
        arrays = batch if isinstance(batch, (tuple, list)) else (batch,)
        if len(arrays) != len(names):
            raise Error(f"a batch of {len(arrays)} arrays, and the model has {len(names)} inputs: {', '.join(names)}")
        batch = dict(zip(names, arrays))
    if set(batch) != set(names):
        raise Error(f"a batch of {', '.join(batch)}, and the model's inputs are {', '.join(names)}")
    found = {name: np.asarray(batch[name]) for name in names}
    check_batch(found)
    return found


def _real(model: Model) -> onnx.ModelProto:
    """A copy of the model without quantisers."""
    made = load_model(model, OLDEST)
    values = {tensor.name: numpy_helper.to_array(tensor) for tensor in made.graph.initializer}
    values.update({node.output[0]: numpy_helper.to_array(one.t) for node in made.graph.node if node.op_type == "Constant"
                   for one in node.attribute if one.name == "value"})

    def constant(name: str) -> Array:
        if name not in values:
            raise Error(f"{name}: the scale or zero point of a QuantizeLinear, which must be constant")
        return values[name]

    without_pairs(made.graph, constant)
    return made


def _computed(model: onnx.ModelProto, batch: Arrays) -> list[Array]:
    """The model's outputs, by ONNX Runtime where it is there."""
    names = [value.name for value in model.graph.output]
    try:
        import onnxruntime  # type: ignore[import-untyped, unused-ignore] # noqa: F401
    except ImportError:
        found = [np.asarray(one) for one in ReferenceEvaluator(model).run(names, dict(batch))]
    else:
        tensors = next(iter(run(model, names, [dict(batch)])))
        found = [tensors[name] for name in names]
    return [one.astype(np.float64) for one in found]


def real_network(model: Model, batches: Iterable[Batch], *, sizes: Optional[Sizes] = None,
                 longest: Optional[Mapping[str, int]] = None) -> tuple[FloatNetwork, Ranges]:
    """The model's operations, and their ranges over the batches. Each batch is computed by the model too: Error where the two
    differ by more than a thousandth of the largest output."""
    made = _real(model)
    arrays = [_named(batch, _inputs(made.graph)) for batch in batches]
    if not arrays:
        raise Error("no batches: at least one is needed, for ranges")
    axes = {name: tuple(of) for name, of in sizes.items()} if sizes is not None else axes_of(arrays)
    most = longest_of(arrays, axes, longest)
    network = read(made, axes, most)
    return network, observed(network, arrays, most, lambda batch: _computed(made, batch))


def quantize(model: Model, batches: Iterable[Any], widths: Union[Widths, str, None] = None, *, loss: Optional[float] = None,
             sizes: Optional[Sizes] = None, longest: Optional[Mapping[str, int]] = None) -> Network:
    """A model as a network of integers: weights of 8 bits a channel, activations of `widths`, whose ranges are those of the
    batches. A QuantizeLinear with the DequantizeLinear behind it counts as the real function that it stands for.

    model     an onnx.ModelProto, a file's name, or bytes
    widths    bits of each place; or "auto", with `loss`: as many places of 8 bits as lose no more than it over the batches, the
              root of the mean square of the outputs' errors over that of the outputs
    batches   arrays, tuples of them in the order of the model's inputs, or mappings by their names: indices and masks of 0 and 1
              as integers
    sizes     the axes of each input by its name, as {"input_ids": ("batch", "length")}; by default the first axis is the batch,
              and one that differs between batches a size too
    longest   how long each size may be, as {"length": 256}; by default as in the batches
    """
    batches = list(batches)
    network, ranges = real_network(model, batches, sizes=sizes, longest=longest)
    names = _inputs(load_model(model, OLDEST).graph)
    return in_widths(network, ranges, [_named(batch, names) for batch in batches], widths, loss)
