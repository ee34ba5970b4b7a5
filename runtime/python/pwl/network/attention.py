# SPDX-License-Identifier: Apache-2.0
"""What decoders spell by many operations, as fewer: keys that are transposed for a product, heads that are repeated for one,
rotations by the angles of places."""
from __future__ import annotations

import dataclasses
from typing import Mapping, Optional

import numpy as np

from ..codes import Array
from .floats import FloatNetwork, Op
from .kinds import Shape, product_of_sizes

__all__ = ["TURN_BITS", "simplified"]

TURN_BITS = 14  # fraction bits of cosines and sines, where none is 2 or more


class _Rewriter:
    """Operations in their order, some of them replaced."""

    def __init__(self, network: FloatNetwork) -> None:
        self.network, self.ops = network, list(network.ops)
        self.made_of: dict[str, Op] = {}
        self.readers: dict[str, list[Op]] = {}
        self._count()

    def _count(self) -> None:
        self.made_of = {op.output: op for op in self.ops}
        self.readers = {}
        for op in self.ops:
            for name in op.inputs:
                self.readers.setdefault(name, []).append(op)

    def maker(self, name: str, kind: str) -> Optional[Op]:
        """The operation of that kind that gives an edge."""
        op = self.made_of.get(name)
        return op if op is not None and op.kind == kind else None

    def only_reader(self, name: str) -> Optional[Op]:
        readers = self.readers.get(name, [])
        return readers[0] if len(readers) == 1 and name not in self.network.outputs else None

    def replace(self, old: Op, *new: Op) -> None:
        at = self.ops.index(old)
        self.ops[at:at + 1] = new
        self._count()

    def prune(self) -> None:
        """Leaves out what nothing reads any more."""
        read, kept = set(self.network.outputs), []
        for op in reversed(self.ops):
            if op.output in read:
                read.update(op.inputs)
                kept.append(op)
        self.ops = kept[::-1]
        self._count()


def _without_idle(of: _Rewriter) -> None:
    """No slice of everything, and one reshape in the place of several."""
    same: dict[str, str] = {}
    for op in list(of.ops):
        inputs = tuple(same.get(name, name) for name in op.inputs)
        before = of.made_of.get(inputs[0]) if op.kind == "reshape" else None
        if before is not None and before.kind == "reshape":
            inputs = before.inputs
        if inputs != op.inputs:
            of.replace(op, dataclasses.replace(op, inputs=inputs))
        made = of.made_of.get(inputs[0]) if op.kind in ("reshape", "slice") else None
        if made is not None and made.shape == op.shape and op.output not in of.network.outputs:
            same[op.output] = inputs[0]


def _factor(of: _Rewriter, name: str) -> Optional[tuple[Op, str, float]]:
    """What multiplies an edge's numbers by one number, before moves that nothing else reads: that operation, what it reads, and
    the number."""
    while of.only_reader(name) is not None and name in of.made_of:
        op = of.made_of[name]
        if op.kind == "multiply" and len(op.inputs) == 2:
            for x, number in (op.inputs, op.inputs[::-1]):
                constant, before = of.maker(number, "constant"), of.made_of.get(x)
                values = np.zeros(0) if constant is None else constant.arrays["values"].reshape(-1)
                if values.size == 1 and before is not None and before.shape == op.shape:
                    return op, x, float(values[0])
        if op.kind not in ("reshape", "transpose", "slice", "expand"):
            return None
        name = op.inputs[0]
    return None


def _with_factors(of: _Rewriter) -> None:
    """Numbers that multiply queries or keys, as the factor of their product."""
    for op in list(of.ops):
        for k in range(2 if op.kind == "matmul" else 0):
            found = _factor(of, op.inputs[k])
            if found is None:
                continue
            scaled, x, number = found
            reader = of.only_reader(scaled.output)
            assert reader is not None
            made = dataclasses.replace(reader, inputs=tuple(x if name == scaled.output else name for name in reader.inputs))
            of.replace(reader, made)
            op = made if reader is op else op
            made = dataclasses.replace(op, fields={**op.fields, "factor": op.fields["factor"] * number})
            of.replace(op, made)
            op = made


def _transposed(of: _Rewriter, name: str) -> Optional[tuple[str, Shape]]:
    """Of an edge that is another with its last two axes changed, perhaps while others are one: that other, and its shape."""
    back = of.maker(name, "reshape")
    turn = of.maker(back.inputs[0] if back is not None else name, "transpose")
    if turn is None or turn.fields["order"] != [*range(len(turn.shape) - 2), len(turn.shape) - 1, len(turn.shape) - 2]:
        return None
    shape = of.made_of[name].shape
    if shape[-2:] != turn.shape[-2:]:
        return None
    return turn.inputs[0], (*shape[:-2], shape[-1], shape[-2])


def _with_transposed(of: _Rewriter) -> None:
    """a (b transposed) as a product that reads b as it is."""
    for op in list(of.ops):
        found = _transposed(of, op.inputs[1]) if op.kind == "matmul" and not op.fields["transposed"] else None
        if found is not None:
            b = f"{op.output}.b"
            of.replace(op, Op("reshape", (found[0],), b, found[1], op.name),
                       dataclasses.replace(op, inputs=(op.inputs[0], b), fields={**op.fields, "transposed": 1}))


def _with_shared(of: _Rewriter) -> None:
    """Heads that share keys or values: their rows are multiplied as those of one head; no key is repeated."""
    for op in list(of.ops):
        joined = of.maker(op.inputs[1], "reshape") if op.kind == "matmul" else None
        wide = of.maker(joined.inputs[0], "expand") if joined is not None else None
        if joined is None or wide is None or len(wide.shape) != len(op.shape) + 1 or wide.fields["axis"] != len(op.shape) - 2:
            continue
        before, times = wide.shape[:-3], wide.fields["times"]
        if (*before[:-1], product_of_sizes([before[-1], times]), *wide.shape[-2:]) != tuple(joined.shape):
            continue
        a, single = of.made_of[op.inputs[0]].shape if op.inputs[0] in of.made_of else (), (*before, *wide.shape[-2:])
        if len(a) != len(op.shape):
            continue
        rows = product_of_sizes([times, a[-2]])
        of.replace(op,
                   Op("reshape", (op.inputs[0],), f"{op.output}.rows", (*before, rows, a[-1]), op.name),
                   Op("reshape", (wide.inputs[0],), f"{op.output}.shared", single, op.name),
                   dataclasses.replace(op, inputs=(f"{op.output}.rows", f"{op.output}.shared"), output=f"{op.output}.grouped",
                                       shape=(*before, rows, op.shape[-1])),
                   Op("reshape", (f"{op.output}.grouped",), op.output, op.shape, op.name))


def _with_repeated(of: _Rewriter) -> None:
    """What is repeated otherwise, joined place by place."""
    for op in [one for one in of.ops if one.kind == "expand"]:
        axis, whole, new = op.fields["axis"], op.inputs[0], []
        for k in range(2, op.fields["times"] + 1):
            shape: Shape = (*op.shape[:axis], k, *op.shape[axis + 1:])
            output = op.output if k == op.fields["times"] else f"{op.output}.{k}"
            new.append(Op("concat", (whole, op.inputs[0]), output, shape, op.name, {"axis": axis}))
            whole = output
        of.replace(op, *new)


def _with_pairs(of: _Rewriter) -> None:
    """a b + c d with one rounding."""
    for op in list(of.ops):
        pairs = [of.maker(name, "multiply") for name in op.inputs] if op.kind == "add" else []
        if pairs and all(pair is not None and len(pair.inputs) == 2 and of.only_reader(pair.output) is op for pair in pairs):
            inputs = tuple(name for pair in pairs if pair is not None for name in pair.inputs)
            of.replace(op, dataclasses.replace(op, kind="multiply", inputs=inputs))


def _turned(of: _Rewriter, constant: Op, factors: Array, known: dict[tuple[Shape, bytes], str], reader: Op) -> str:
    """A constant of cosines or sines, times factors along its last axis: what it is called."""
    values = constant.arrays["values"] * factors
    key = constant.shape, values.tobytes()
    if key not in known:
        most = float(np.abs(values).max())
        bits = TURN_BITS - max(0, int(np.ceil(np.log2(max(most, 1.0) / (2.0 - 2.0 ** -TURN_BITS)))))
        known[key] = f"{constant.output}.turn{len(known)}"
        of.ops.insert(of.ops.index(reader), dataclasses.replace(constant, output=known[key], arrays={"values": values},
                                                                fields={"fraction": bits}))
        of._count()
    return known[key]


def _halves(of: _Rewriter, name: str) -> Optional[tuple[Op, Array, tuple[str, ...]]]:
    """Of what joins two parts along the last axis, of which one may have a factor: itself, the factors of each place, and the
    parts without them."""
    joined = of.maker(name, "concat")
    if joined is None or joined.fields["axis"] != len(joined.shape) - 1 or len(of.readers[name]) != 1:
        return None
    factors, parts = [], []
    for part in joined.inputs:
        scale = of.maker(part, "scale")
        width = of.made_of[part].shape[-1] if part in of.made_of else ""
        if not isinstance(width, int):
            return None
        factors.append(np.full(width, scale.fields["factor"] if scale is not None else 1.0))
        parts.append(scale.inputs[0] if scale is not None else part)
    return joined, np.concatenate(factors), tuple(parts)


def _with_turns(of: _Rewriter) -> None:
    """x cos + (-x2, x1) sin: the sign is the sine's, and both are constants of a power of two."""
    known: dict[tuple[Shape, bytes], str] = {}
    for op in list(of.ops):
        if op.kind != "multiply" or len(op.inputs) != 4:
            continue
        constants: Mapping[int, Optional[Op]] = {k: of.maker(op.inputs[k], "constant") for k in (1, 3)}
        halves = _halves(of, op.inputs[2])
        if halves is None or any(one is None or one.shape[-1:] != op.shape[-1:] for one in constants.values()):
            continue
        joined, factors, parts = halves
        cos, sin = constants[1], constants[3]
        assert cos is not None and sin is not None
        names = [_turned(of, cos, np.ones(1), known, joined), _turned(of, sin, factors, known, joined)]
        of.replace(joined, dataclasses.replace(joined, inputs=parts))
        of.replace(of.made_of[op.output], dataclasses.replace(op, inputs=(op.inputs[0], names[0], op.inputs[2], names[1])))


def simplified(network: FloatNetwork) -> FloatNetwork:
    """The same network with fewer operations; none of kind expand is left."""
    of = _Rewriter(network)
    for rewrite in (_without_idle, _with_factors, _with_transposed, _without_idle, _with_shared, _with_repeated, _with_pairs,
                    _with_turns, _without_idle):
        rewrite(of)
        of.prune()
    return FloatNetwork(network.inputs, network.outputs, of.ops)
