# SPDX-License-Identifier: Apache-2.0
"""A network of real numbers, as models of torch and of ONNX are read into it: few operations, one meaning each. It is what
a network of integers is made from, and what that is held against."""
from __future__ import annotations

import dataclasses
from typing import Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np

from ..codes import Array
from ..errors import Error
from .arithmetic import for_places, for_rows, windows
from .kinds import Shape, sizes_of

__all__ = ["MOVES", "FloatNetwork", "Input", "Op", "narrowed", "without_scales"]

Function = Union[str, Callable[[Any], Any]]
Replace = Callable[["Op", Sequence[Array], Array], Array]  # what stands for a result, of an operation, its inputs and it


@dataclasses.dataclass
class Op:
    """One operation.

    kind       gather, constant, linear, convolution, matmul, add, multiply, scale, function, softmax, layernorm, rmsnorm, l2norm,
               mean, max_pool, reshape, transpose, slice, concat, expand, loop
    shape      of its result
    fields     numbers and lists: axis of a mean and a concat; axis of one place and times of an expand; fraction bits of a
               constant of 16 bits, where they are fixed; transposed and factor of a matmul; factor of a scale; causal of a softmax; eps of norms;
               order of a transpose; axis, start, stop, step, keep of a slice; stride, padding, dilation, groups of a convolution;
               kernel, stride, padding of a max_pool; axis and reverse of a loop
    arrays     weights and bias of a linear and of a convolution; table of a gather; values of a constant; gamma and beta of norms
    function   what a function computes: a name of pwlc's, or a function of arrays
    parameters of the name
    """

    kind: str
    inputs: tuple[str, ...]
    output: str
    shape: Shape
    name: str = ""
    fields: dict[str, Any] = dataclasses.field(default_factory=dict)
    arrays: dict[str, Array] = dataclasses.field(default_factory=dict)
    function: Optional[Function] = None
    parameters: dict[str, float] = dataclasses.field(default_factory=dict)
    values: Optional[Callable[[Array], Array]] = None  # the function of arrays, where function is a name
    body: Optional[FloatNetwork] = None  # of a loop: reads a place of each input, then states; gives a place, then states


@dataclasses.dataclass(frozen=True)
class Input:
    """An input: real numbers, "index" (of rows of an embedding) or "mask" (0 and 1)."""

    name: str
    shape: Shape
    role: str  # "real", "index" or "mask"


def _softmax(op: Op, x: Array, mask: Optional[Array]) -> Array:
    keep = np.ones(x.shape, np.bool_)
    if mask is not None:
        keep &= for_rows(mask, x.ndim) != 0
    if op.fields["causal"]:
        keep &= np.tri(x.shape[-2], x.shape[-1], dtype=np.bool_)
    largest = np.where(keep, x, -np.inf).max(-1, keepdims=True)
    e = np.where(keep, np.exp(np.minimum(x - np.where(np.isfinite(largest), largest, 0), 0)), 0)
    sums = e.sum(-1, keepdims=True)
    return np.asarray(e / np.where(sums == 0, 1, sums))


def _normalised(op: Op, x: Array) -> Array:
    if op.kind == "l2norm":
        return np.asarray(x / np.sqrt(np.maximum((x * x).sum(-1, keepdims=True), 1e-300)))
    centred = x - x.mean(-1, keepdims=True) if op.kind == "layernorm" else x
    y = centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + op.fields["eps"])
    for name, step in (("gamma", np.multiply), ("beta", np.add)):
        if name in op.arrays:
            y = step(y, op.arrays[name])
    return np.asarray(y)


def _mean(op: Op, x: Array, mask: Optional[Array]) -> Array:
    axis = op.fields["axis"]
    if mask is None:
        return np.asarray(x.mean(axis))
    keep = for_places(mask, x.ndim)
    count = for_places(np.maximum(mask.sum(-1), 1), x.ndim - 1)
    return np.asarray((x * keep).sum(axis) / count)


def _slice(op: Op, x: Array) -> Array:
    f = op.fields
    part = slice(f["start"], f["stop"], f["step"]) if f["keep"] else f["start"]
    return np.asarray(x[(*[slice(None)] * f["axis"], part)])


def _convolution(op: Op, x: Array) -> Array:
    weights, groups = op.arrays["weights"], op.fields["groups"]
    taken = windows(op.fields, x, weights.shape[2:], 0.0)
    y = []
    for own, of in zip(np.split(taken, groups, 1), np.split(weights, groups)):
        axes = [1, *range(2 + weights.ndim - 2, 2 + 2 * (weights.ndim - 2))]
        y.append(np.moveaxis(np.tensordot(own, of, (axes, range(1, weights.ndim))), -1, 1))
    return np.concatenate(y, 1) + op.arrays["bias"].reshape(-1, *[1] * (weights.ndim - 2))


def _max_pool(op: Op, x: Array) -> Array:
    return np.asarray(windows(op.fields, x, op.fields["kernel"], -np.inf).max(tuple(range(2 - x.ndim, 0))))


def _loop(op: Op, x: Sequence[Array], sizes: Mapping[str, int], replaced: Optional[Replace]) -> Array:
    body, axis = op.body, op.fields["axis"]
    assert body is not None
    states = [np.zeros(sizes_of(one.shape, sizes)) for one in body.inputs[len(x):]]
    y, order = np.empty(sizes_of(op.shape, sizes)), range(x[0].shape[axis])
    for place in reversed(order) if op.fields["reverse"] else order:
        made, *states = body.run([part.take(place, axis) for part in x] + states, sizes, replaced)
        np.moveaxis(y, axis, 0)[place] = made
    return y


MOVES: dict[str, Callable[[Op, Array, tuple[int, ...]], Array]] = {
    "reshape": lambda op, x, shape: x.reshape(shape),
    "transpose": lambda op, x, shape: x.transpose(op.fields["order"]),
    "slice": lambda op, x, shape: _slice(op, x),
    "max_pool": lambda op, x, shape: _max_pool(op, x),
}


def evaluated(op: Op, x: Sequence[Array], sizes: Mapping[str, int], replaced: Optional[Replace] = None) -> Array:
    """What an operation makes of its inputs, in double precision; `replaced` serves a loop's body."""
    kind, second = op.kind, x[1] if len(x) > 1 else None
    if kind in MOVES:
        return MOVES[kind](op, x[0], sizes_of(op.shape, sizes))
    if kind == "gather":
        return np.asarray(op.arrays["table"][x[0]])
    if kind == "constant":
        return np.asarray(op.arrays["values"][tuple(slice(size) for size in sizes_of(op.shape, sizes))])
    if kind == "linear":
        return np.asarray(x[0] @ op.arrays["weights"].T + op.arrays["bias"])
    if kind == "convolution":
        return _convolution(op, x[0])
    if kind == "loop":
        return _loop(op, x, sizes, replaced)
    if kind == "matmul":
        return np.asarray(op.fields["factor"] * (x[0] @ (np.swapaxes(x[1], -1, -2) if op.fields["transposed"] else x[1])))
    if kind == "add":
        return np.asarray(x[0] + x[1])
    if kind == "multiply":  # and with four inputs the sum of two products
        return np.asarray(x[0] * x[1] if len(x) == 2 else x[0] * x[1] + x[2] * x[3])
    if kind == "expand":
        return np.repeat(x[0], op.fields["times"], op.fields["axis"])
    if kind == "concat":
        return np.concatenate(x, op.fields["axis"])
    if kind == "scale":
        return np.asarray(x[0] * op.fields["factor"])
    if kind == "function":
        assert op.values is not None
        return np.asarray(op.values(x[0]))
    if kind == "softmax":
        return _softmax(op, x[0], second)
    if kind in ("layernorm", "rmsnorm", "l2norm"):
        return _normalised(op, x[0])
    if kind == "mean":
        return _mean(op, x[0], second)
    raise Error(f"{op.name or op.output}: {kind} is no operation of a network")


class FloatNetwork:
    """The operations of a model, in an order in which each reads what stands before it."""

    def __init__(self, inputs: Sequence[Input], outputs: Sequence[str], ops: Sequence[Op]) -> None:
        self.inputs, self.outputs, self.ops = tuple(inputs), tuple(outputs), tuple(ops)

    def sizes(self, inputs: Sequence[Array]) -> dict[str, int]:
        """The sizes that the inputs tell."""
        return {size: given for one, x in zip(self.inputs, inputs) for size, given in zip(one.shape, x.shape)
                if isinstance(size, str)}

    def __call__(self, *inputs: Any, replaced: Optional[Replace] = None) -> tuple[Array, ...]:
        """Its outputs in double precision. What `replaced` makes of a result stands in the result's place."""
        arrays = [np.asarray(x) for x in inputs]
        reals = [x.astype(np.float64) if one.role == "real" else x for one, x in zip(self.inputs, arrays)]
        return tuple(self.run(reals, self.sizes(arrays), replaced))

    def run(self, inputs: Sequence[Array], sizes: Mapping[str, int], replaced: Optional[Replace] = None) -> list[Array]:
        """The same for sizes that are known."""
        values = {one.name: x for one, x in zip(self.inputs, inputs)}
        last = {name: k for k, op in enumerate(self.ops) for name in op.inputs}
        for k, op in enumerate(self.ops):
            x = [values[name] for name in op.inputs]
            y = evaluated(op, x, sizes, replaced)
            values[op.output] = y if replaced is None else replaced(op, x, y)
            for name in set(op.inputs):
                if last[name] == k and name not in self.outputs:
                    del values[name]
        return [values[name] for name in self.outputs]


SCALED = {"linear": ("weights", "bias"), "convolution": ("weights", "bias"), "gather": ("table",), "constant": ("values",), "layernorm": ("gamma", "beta"),
          "rmsnorm": ("gamma",)}  # arrays that take a factor


def _times(op: Op, factor: float, output: str, made_of: Mapping[str, Op], ops: list[Op]) -> None:
    """Appends operations that give `factor` times what op gives: op with other constants, and the moves behind it."""
    if op.kind in MOVES:
        source = f"{output}.{op.output}"
        _times(made_of[op.inputs[0]], factor, source, made_of, ops)
        ops.append(dataclasses.replace(op, inputs=(source,), output=output))
    elif op.kind == "matmul":
        ops.append(dataclasses.replace(op, output=output, fields={**op.fields, "factor": op.fields["factor"] * factor}))
    elif op.kind == "function" and op.values is not None:
        values = op.values
        ops.append(dataclasses.replace(op, output=output, function=lambda x: values(x) * factor, parameters={},
                                       values=lambda x: values(x) * factor))
    elif op.kind in SCALED:
        arrays = {name: op.arrays[name] * factor for name in SCALED[op.kind] if name in op.arrays}
        if op.kind in ("layernorm", "rmsnorm") and "gamma" not in op.arrays:
            arrays["gamma"] = np.full(op.shape[-1], factor)  # type: ignore[arg-type]
        ops.append(dataclasses.replace(op, output=output, arrays=arrays))
    else:
        raise Error(f"{op.name or op.output}: a factor of {factor:g} after {op.kind}, where no constant takes it")


def without_scales(network: FloatNetwork) -> FloatNetwork:
    """The same network without operations of kind scale: constants before them take the factors. What nothing reads is left
    out."""
    made_of: dict[str, Op] = {}
    ops: list[Op] = []
    for op in network.ops:
        count = len(ops)
        if op.kind == "scale":
            if op.inputs[0] not in made_of:
                raise Error(f"{op.name or op.output}: a factor of an input; multiply the data by it")
            _times(made_of[op.inputs[0]], op.fields["factor"], op.output, made_of, ops)
        else:
            ops.append(op)
        made_of.update({made.output: made for made in ops[count:]})
    read, kept = set(network.outputs), []
    for op in reversed(ops):
        if op.output in read:
            read.update(op.inputs)
            kept.append(op)
    return FloatNetwork(network.inputs, network.outputs, kept[::-1])


def narrowed(network: FloatNetwork) -> FloatNetwork:
    """The same network, in which a constant that has the same numbers at each place of a size of the inputs has one place there, where
    nothing but sums and products that broadcast read it: models expand such constants to each row of a batch."""
    made_of = {op.output: op for op in network.ops}
    shapes = {one.name: one.shape for one in network.inputs} | {op.output: op.shape for op in network.ops}

    def keeps(reader: Op, name: str, axis: int) -> bool:
        """Whether the reader's other operand has the axis, counted from the last, so that its result still does."""
        if reader.kind not in ("add", "multiply") or len(reader.inputs) != 2:
            return False
        others = [one for one in reader.inputs if one != name]
        return len(others) == 1 and shapes[others[0]][axis:axis + 1 or None] == shapes[name][axis:axis + 1 or None]

    for op in network.ops:
        if op.kind != "constant" or op.output in network.outputs:
            continue
        readers = [reader for reader in network.ops if op.output in reader.inputs]
        for axis in range(-len(op.shape), 0):
            values = op.arrays["values"]
            first = values.take([0], axis)
            if (isinstance(op.shape[axis], str) and np.array_equal(values, np.broadcast_to(first, values.shape))
                    and all(keeps(reader, op.output, axis) for reader in readers)):
                shape = tuple(1 if k == axis + len(op.shape) else size for k, size in enumerate(op.shape))
                op = made_of[op.output] = dataclasses.replace(op, shape=shape, arrays={"values": first})
                shapes[op.output] = shape
    return FloatNetwork(network.inputs, network.outputs, [made_of[op.output] for op in network.ops])
