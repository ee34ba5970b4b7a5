# SPDX-License-Identifier: Apache-2.0
"""A row operator as ONNX operators of integers: the steps of docs/operators.md in int64, each by the operator of that name.

    QuantizeLinear      codes of the real numbers, then int64
    GatherElements      exponentials by the difference of codes; the cores by the upper bits of a word, one for a row
    ReduceMax, ReduceSum, Mul, Sub, Add, Div, Where    all else; of p < 0, floor(p / 2^n) is Div(p - (2^n - 1), 2^n)
    DequantizeLinear    the real numbers of the output codes

A place of softmax whose share is 0 in float32, as masks have it that are added, takes no part: that alone is asked of the
real numbers, before they become codes.
"""
from __future__ import annotations

from typing import Any, Optional

import numpy as np
from onnx import TensorProto

from ..errors import Error
from ..rows import FARTHEST, RowOperator
from .lookup import Nodes, add_codes, add_quantisers, add_reals, look_up

__all__ = ["add_kept", "add_operator", "add_operator_codes", "add_row_quantisers"]

LONGEST_SHIFT = 62
LN2 = 744261118  # 2^30 ln 2
NORMS = ("layernorm", "rmsnorm", "l2norm")


class _Integers:
    """Arithmetic of int64 by nodes. Names of tensors, or integers, are its numbers."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self.powers = nodes.constant([1 << n for n in range(LONGEST_SHIFT + 1)], np.int64)

    def of(self, value: object) -> str:
        """The name of a tensor, which of torch's exporter is a value of its own."""
        name: Any = value
        return self.nodes.constant(value, np.int64) if isinstance(value, (int, np.integer, np.ndarray)) else name

    def do(self, operator: str, *values: object) -> str:
        return self.nodes.add(operator, *(self.of(value) for value in values))

    def power(self, n: object) -> object:
        """2^n, n from 0 to 62."""
        return 1 << n if isinstance(n, int) else self.do("Gather", self.powers, n)

    def cut(self, p: object, n: object) -> str:
        """p >> n of p that is not negative."""
        return self.do("Div", p, self.power(n))

    def floor(self, p: object, n: object) -> str:
        """p >> n of any p of less than 2^62 + 2^61: Div rounds towards 0, so that 2^n - 1 is taken from what is negative."""
        by = self.power(n)
        less = by - 1 if isinstance(by, int) else self.do("Sub", by, 1)
        return self.do("Div", self.do("Sub", p, self.do("Where", self.do("Less", p, 0), less, 0)), by)

    def shr(self, p: object, n: object, signed: bool = True) -> str:
        """floor((p + 2^(n-1)) / 2^n), n from 1 to 62."""
        half = self.power(n - 1 if isinstance(n, int) else self.do("Sub", n, 1))
        return (self.floor if signed else self.cut)(self.do("Add", p, half), n)

    def along(self, operator: str, p: str) -> str:
        """ReduceSum or ReduceMax of rows."""
        return along(self.nodes, operator, p)

    def bits(self, v: str) -> str:
        """bits(v) of 1 <= v: how many powers of two are no larger."""
        return self.along("ReduceSum", self.nodes.cast(self.do("GreaterOrEqual", v, self.powers), TensorProto.INT64))

    def word(self, v: str, up: str) -> str:
        left, right = self.do("Max", up, 0), self.do("Max", self.do("Neg", up), 0)
        return self.cut(self.do("Mul", v, self.power(left)), right)

    def core(self, of: RowOperator, word: str) -> str:
        """r by the upper bits of a word."""
        first = 16384 if of.operator in NORMS else 32768  # a word has 31 or 32 bits, that of a sum 32
        values = of.core(np.arange(65536 - first))
        index = self.do("Sub", self.cut(word, 16), first)
        table = self.nodes.constant(values, values.dtype)
        return self.nodes.cast(self.nodes.add("Gather", table, index), TensorProto.INT64)

    def newton(self, r: str, err: str) -> str:
        step = self.floor(self.do("Mul", r, self.floor(err, 15)), 17)
        return self.do("Add", self.do("Mul", r, 1 << 15), step)

    def reciprocal(self, of: RowOperator, total: str) -> tuple[str, str]:
        """R and k of 1/S."""
        up = self.do("Sub", 32, self.bits(total))
        word = self.word(total, up)
        r = self.core(of, word)
        return self.newton(r, self.do("Sub", 1 << 47, self.do("Mul", word, r))), self.do("Sub", 62, up)

    def rsqrt(self, of: RowOperator, v: str) -> tuple[str, str]:
        """R and k of 1/sqrt(V)."""
        length = self.bits(v)
        up = self.do("Sub", self.do("Sub", 32, length), self.do("Mod", length, 2))
        word = self.word(v, up)
        r = self.core(of, word)
        square = self.do("Mul", self.do("Mul", r, r), self.cut(self.do("Add", word, 1), 1))
        return self.newton(r, self.do("Sub", 1 << 46, self.cut(square, 15))), self.do("Sub", 46, self.do("Div", up, 2))


def along(nodes: Nodes, operator: str, x: str) -> str:
    """A reduction over the last axis, which stays with one element."""
    if operator == "ReduceSum" or nodes.opset >= 18:  # axes are an input
        return nodes.add(operator, x, nodes.constant([-1], np.int64), keepdims=1)
    return nodes.add(operator, x, axes=[-1], keepdims=1)


def add_kept(nodes: Nodes, x: str) -> str:
    """Which places of rows of real numbers softmax gives a share."""
    below = nodes.add("Sub", x, along(nodes, "ReduceMax", x))
    return nodes.add("Greater", below, nodes.constant(-FARTHEST, np.float32))  # false where both are -inf


def _softmax(nodes: Nodes, of: RowOperator, q: str, kept: Optional[str]) -> str:
    integers, is_log = _Integers(nodes), of.operator == "logsoftmax"
    if kept is not None:
        q = integers.do("Where", kept, q, of.input.qmin)
    d = integers.do("Sub", integers.along("ReduceMax", q), q)
    e = nodes.cast(look_up(nodes, of.exponentials().astype(np.int32), d, d), TensorProto.INT64)
    if kept is not None:
        e = integers.do("Where", kept, e, 0)
    total = integers.do("Max", integers.along("ReduceSum", e), 1)  # 0 where every place is masked
    if is_log:
        y = _log_places(integers, of, d, total)
    else:
        factor, k = integers.reciprocal(of, total)
        # E is at most 2^30 and R below 2^31, whatever the core gives: shifted by 62 their product is 0, as by more.
        n = integers.do("Min", integers.do("Sub", k, round(-np.log2(of.output.scale))), LONGEST_SHIFT)
        y = integers.shr(integers.do("Mul", e, factor), n, signed=False)
    y = integers.do("Clip", integers.do("Add", y, of.output.zero_point), of.output.qmin, of.output.qmax)
    return integers.do("Where", kept, y, of.output.qmin) if is_log and kept is not None else y


def _log_places(integers: _Integers, of: RowOperator, d: str, total: str) -> str:
    constants = of.constants
    length = integers.bits(total)
    word = integers.word(total, integers.do("Sub", 32, length))
    cell = integers.do("Sub", integers.cut(word, 24), 128)
    factor, value = (integers.do("Gather", constants[name], cell) for name in ("log_factor", "log_value"))
    z = integers.do("Sub", integers.cut(integers.do("Mul", word, factor), 17), 1 << 30)
    log = integers.do("Sub", integers.do("Add", value, z), integers.cut(integers.do("Mul", z, z), 31))
    octaves = integers.do("Sub", length, 1 + constants["fraction"])
    log = integers.do("Add", log, integers.do("Mul", octaves, LN2))
    log = integers.shr(integers.do("Mul", log, constants["log_unit"]), constants["log_shift"])
    v = integers.do("Sub", integers.do("Neg", integers.do("Mul", d, constants["step"])), log)
    return integers.shr(v, constants["step_shift"])


def _norm(nodes: Nodes, of: RowOperator, q: str) -> str:
    integers, constants, n = _Integers(nodes), of.constants, of.rows
    is_layer = of.operator == "layernorm"
    middle = (of.input.qmin + of.input.qmax + 1) // 2
    u = integers.do("Sub", q, middle if is_layer else of.input.zero_point)
    spread = integers.do("Mul", integers.along("ReduceSum", integers.do("Mul", u, u)), n)
    distance = integers.do("Mul", u, n)
    if is_layer:
        total = integers.along("ReduceSum", u)
        spread = integers.do("Sub", spread, integers.do("Mul", total, total))
        distance = integers.do("Sub", distance, total)
    f, drop, fraction = (constants[name] for name in ("variance_shift", "drop", "fraction"))
    v = integers.do("Add", integers.do("Mul", spread, 1 << f), constants["eps_code"])
    factor, k = integers.rsqrt(of, integers.do("Max", v, 1))
    # Where all codes are equal, each distance is 0, and the shift may be none.
    shift = integers.do("Where", integers.do("Equal", spread, 0), 1, integers.do("Sub", k, drop + fraction + f // 2))
    t = integers.shr(integers.do("Mul", distance, integers.cut(factor, drop)), shift)
    scaled = integers.do("Mul", t, constants["gamma_codes"])
    if "beta_codes" in constants:
        scaled = integers.do("Add", scaled, constants["beta_codes"])
    y = integers.do("Add", integers.shr(scaled, constants["gamma_shift"] + fraction), of.output.zero_point)
    return integers.do("Clip", y, of.output.qmin, of.output.qmax)


def add_operator_codes(nodes: Nodes, q: str, of: RowOperator, kept: Optional[str] = None) -> str:
    """Nodes from input codes, rows along the last axis, to output codes, both int64."""
    if not isinstance(of, RowOperator):
        raise Error(f"{type(of).__name__}: a pwl.RowOperator is wanted")
    return _softmax(nodes, of, q, kept) if of.operator in ("softmax", "logsoftmax") else _norm(nodes, of, q)


def add_operator(nodes: Nodes, x: str, of: RowOperator, output: Optional[str] = None) -> str:
    """Nodes from x, real numbers in float32, to those of the operator's output codes, whose name is returned."""
    kept = add_kept(nodes, x) if of.operator in ("softmax", "logsoftmax") else None
    return add_reals(nodes, add_operator_codes(nodes, add_codes(nodes, x, of.input), of, kept), of.output, output)


def add_row_quantisers(nodes: Nodes, x: str, of: RowOperator, order: Optional[list[int]] = None) -> str:
    """Nodes from x to the real numbers of the nearest input codes; what softmax gives no share becomes -inf. order puts the
    dimension of rows last, and back."""
    y = add_quantisers(nodes, x, of.input)
    if of.operator not in ("softmax", "logsoftmax"):
        return y
    kept = add_kept(nodes, x) if order is None else nodes.add(
        "Transpose", add_kept(nodes, nodes.add("Transpose", x, perm=order)), perm=order)
    return nodes.add("Where", kept, y, nodes.constant(-np.inf, np.float32))
