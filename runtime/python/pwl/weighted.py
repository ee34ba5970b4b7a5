# SPDX-License-Identifier: Apache-2.0
"""Sums of values weighted by the softmax of a row, divided after they are summed: what attention makes of scores and values,
by integers with a proven error.

    op = pwl.weigh("s8:0.08", "s8:0.03", "s8:0.03", rows=1024)   # types of scores, values, results; fitted by pwlc
    y = op(scores, values)                                        # [..., rows, places] and [..., places, channels]
    op(scores, values, causal=True)
    op.certificate.bound_lsb                                      # no result of any row is further off

docs/operators.md has the formulas and the proof.
"""
from __future__ import annotations

from typing import Any, Optional, Union

import numpy as np

from . import _core, document
from .certificate import OperatorCertificate, read_certificate
from .codes import DTYPES, Array, Type, codes_of, contiguous_out, returned
from .document import Fields
from .elements import read_side
from .errors import Error
from .rows import COMMON, LONGEST, SOFTMAX_ARRAYS, check_row, kept, read_arrays, read_sides
from .table import Table

__all__ = ["WeighOperator", "weigh"]

FIELDS = {*COMMON, "exp", "exp_high", "exp_shift", "in_b", "multiplier", "shift"}


class WeighOperator(document.Kept):
    """Weighted sums, from the JSON of pwlc. They never change; any number of threads may call them.

    input, input_b, output  the Types of scores, values and results
    operator                "weigh"
    rows                    the longest row
    core                    the Table of the reciprocal
    multiplier, shift       results are clip(zp_y + shr(multiplier o, shift)), o being a sum of 30 less the bits of the
                            values in fraction bits
    certificate             an OperatorCertificate
    """

    operator = "weigh"
    input: Type
    input_b: Type
    output: Type
    rows: int
    core: Table
    multiplier: int
    shift: int
    spec: str
    certificate: OperatorCertificate
    notes: tuple[str, ...] = ()
    _weights: _core.RowOperator
    _codes: _core.ElementOperator

    @classmethod
    def _read(cls, top: Fields, path: str) -> WeighOperator:
        top.integer("pwl_operator", 1, 1)
        top.choice("operator", ["weigh"])
        top.only(FIELDS)
        self: WeighOperator = object.__new__(cls)
        self.input, self.output = read_sides(top)
        self.input_b, self.rows = read_side(top, "in_b", (8, 16)), top.integer("rows", 1, LONGEST)
        self.multiplier, self.shift = top.integer("multiplier", 1 << 30, (1 << 31) - 1), top.integer("shift", 1, 62)
        core = top.get("core")
        self.core = Table(core if isinstance(core, dict) else {})
        out = self.output
        # The softmax has an output, which nothing is written to: probabilities of u8.
        fields = (0, DTYPES.index(self.input.dtype), 1, top.integer("fraction", 8, 30), 8, 0, 0, self.rows, 0, 0, 0, 255, 0)
        self._weights = _core.RowOperator(False, self.core, fields, read_arrays(top, SOFTMAX_ARRAYS, self.rows))
        self._codes = _core.ElementOperator(False, (DTYPES.index(np.dtype("int32")), DTYPES.index(out.dtype), self.shift,
                                                    self.multiplier, out.qmin, out.qmax, 0, out.zero_point))
        self.spec = top.value.get("spec", "")
        self.certificate = read_certificate(top, path)
        return self

    def __repr__(self) -> str:
        bound = self.certificate.bound_lsb
        return (f"<pwl.WeighOperator {self.input} weighs {self.input_b} to {self.output}, rows of up to {self.rows}"
                f"{'' if bound is None else f', error at most {bound:g} LSB'}>")

    def __call__(self, x: Any, v: Any, out: Optional[Array] = None, *, mask: Any = None, causal: bool = False,
                 first: int = 0) -> Any:
        """The codes of y[..., r, c], of scores x[..., r, k] and values v[..., k, c], whose axes before the last two broadcast
        to each other's as those of a product of matrices do; x of one axis is one row. mask, causal and first are those of
        RowOperator: a place where mask is 0 takes no part, and y is the code of 0 where none does. out has the output's
        type and the shape of y."""
        scores, values = codes_of(x, self.input), codes_of(v, self.input_b)
        check_row(scores.shape, self.rows, first)
        if values.ndim < 2 or values.shape[-2] != scores.shape[-1]:
            raise Error(f"values of shape {values.shape}: the second last axis must have the {scores.shape[-1]} places of a "
                        "row")
        keep = None if mask is None else np.broadcast_to(np.asarray(mask) != 0, scores.shape)
        rows = scores.shape[-2:-1]
        try:
            outer = np.broadcast_shapes(scores.shape[:-2], values.shape[:-2])
        except ValueError:
            raise Error(f"scores of shape {scores.shape} and values of shape {values.shape} have other axes") from None
        result = contiguous_out((*outer, *rows, values.shape[-1]), out, self.output.dtype)
        sums = np.empty(result.shape, np.int32)
        for at in np.ndindex(outer):
            self._weigh(_block(scores, at, outer), _block(values, at, outer), sums[at],
                        None if keep is None else _block(keep, at, outer), causal, first)
        if result.size:
            self._codes._run(sums, None, result)
        return returned(result, out)

    def _weigh(self, x: Array, v: Array, sums: Array, keep: Optional[Array], causal: bool, first: int) -> None:
        if sums.size:
            self._weights._weigh(np.ascontiguousarray(x), np.ascontiguousarray(v), self.input_b.zero_point, sums, x.shape[-1],
                                 None if keep is None else np.ascontiguousarray(keep, dtype=np.uint8), causal, first)

    def real(self, x: Any, v: Any) -> Array:
        """Real numbers of real numbers, in float32, by way of the nearest codes. A score that float32 gives no share has none
        here either, as RowOperator.real() says."""
        reals = np.asarray(x, np.float32)
        keep = kept(reals) if reals.size else None
        y: Array = self.output.dequantize(self(self.input.quantize(reals), self.input_b.quantize(v), mask=keep))
        return y


def _block(array: Array, at: tuple[int, ...], outer: tuple[int, ...]) -> Array:
    """The last two axes of an array whose other ones broadcast to `outer`."""
    own = array.shape[:-2]
    block: Array = array[tuple(0 if n == 1 else k for k, n in zip(at[len(outer) - len(own):], own))]
    return block


def weigh(input: Union[str, Type], values: Union[str, Type], output: Union[str, Type], *, rows: int,
          fraction: Optional[int] = None) -> WeighOperator:
    """Sums of values weighted by the softmax of rows of up to `rows` scores: `pwlc fit weigh`. All of 8 or 16 bits."""
    from .fit import fit_text
    text, notes = fit_text("weigh", {"input": input, "in_b": values, "output": output, "rows": rows, "fraction": fraction})
    operator = WeighOperator(text)
    operator.notes = notes
    return operator
