# SPDX-License-Identifier: Apache-2.0
"""Operators of elements: requantisation, and the addition of two scales with one rounding, by integers with a proven error.

    op = pwl.requantise("s32:0.0003", "s8:0.05:-3")      # fitted by pwlc
    y = op(sums)                                          # codes to codes, of any shape
    residual = pwl.add("s8:0.05", "s8:0.03", "s8:0.06")
    y = residual(a, b)
    residual.certificate.bound_lsb                        # no code is further off

docs/operators.md has the formulas and the proofs.
"""
from __future__ import annotations

from typing import Any, Optional, Union

import numpy as np

from . import _core, document
from .certificate import OperatorCertificate, read_certificate
from .codes import DTYPES, Array, Type, code_range, codes_of, contiguous_out, read_type, returned
from .document import Fields
from .errors import Error

__all__ = ["ElementOperator", "add", "requantise"]

KINDS = ["requantise", "add"]
COMMON = {"pwl_operator", "spec", "operator", "in", "out", "shift", "hash", "certificate"}


def read_side(top: Fields, name: str, widths: tuple[int, ...]) -> Type:
    """A side of an operator whose inputs are all codes of a type, with one of them as their zero point."""
    side = read_type(top, name)
    if side.bits not in widths or (side.bits == 32 and not side.signed):
        raise Error(f"{name}.bits: {side.bits}, must be {'8, 16, or 32 and signed' if 32 in widths else '8 or 16'}")
    if name != "out" and (side.qmin, side.qmax) != code_range(side.bits, side.signed):
        raise Error(f"{name}.qmin, {name}.qmax: must be all codes of the type")
    if name != "out" and not side.qmin <= side.zero_point <= side.qmax:
        raise Error(f"{name}: the zero point {side.zero_point}, must be a code, {side.qmin}..{side.qmax}")
    return side


class ElementOperator(document.Kept, _core.ElementOperator):
    """An operator of elements, from the JSON of pwlc. It never changes; any number of threads may call it.

    operator          "requantise" or "add"
    input, output     the Types of both sides
    input_b           add: the Type of the second input; else None
    multiplier        requantise: y = clip(zp_y + shr(multiplier (x - zp_x), shift))
    factors           add: y = clip(zp_y + shr(factors[0] (a - zp_a) + factors[1] (b - zp_b), shift))
    certificate       an OperatorCertificate
    """

    operator: str
    input: Type
    input_b: Optional[Type]
    output: Type
    multiplier: Optional[int]
    factors: Optional[tuple[int, int]]
    shift: int
    spec: str
    certificate: OperatorCertificate
    notes: tuple[str, ...] = ()

    @classmethod
    def _read(cls, top: Fields, path: str) -> ElementOperator:
        top.integer("pwl_operator", 1, 1)
        kind = KINDS[top.choice("operator", KINDS)]
        is_add = kind == "add"
        top.only({*COMMON, *(("in_b", "factor_a", "factor_b") if is_add else ("multiplier",))})
        x, y = read_side(top, "in", (8, 16) if is_add else (8, 16, 32)), read_side(top, "out", (8, 16))
        b = read_side(top, "in_b", (8, 16)) if is_add else None
        shift, fields = top.integer("shift", 1, 62), (y.qmin, y.qmax)
        multiplier, factors = None, None
        if b is None:
            multiplier = top.integer("multiplier", 1 << 30, (1 << 31) - 1)
            self = _core.ElementOperator.__new__(cls, False, (DTYPES.index(x.dtype), DTYPES.index(y.dtype), shift, multiplier,
                                                              *fields, x.zero_point, y.zero_point))
        else:
            factors = top.integer("factor_a", 0, (1 << 31) - 1), top.integer("factor_b", 0, (1 << 31) - 1)
            constant = -(factors[0] * x.zero_point + factors[1] * b.zero_point)
            self = _core.ElementOperator.__new__(cls, True, (DTYPES.index(x.dtype), DTYPES.index(b.dtype),
                                                             DTYPES.index(y.dtype), shift, *factors, *fields, constant,
                                                             y.zero_point))
        self.operator, self.input, self.input_b, self.output = kind, x, b, y
        self.multiplier, self.factors, self.shift = multiplier, factors, shift
        self.spec = top.value.get("spec", "")
        self.certificate = read_certificate(top, path)
        return self

    def __repr__(self) -> str:
        bound, second = self.certificate.bound_lsb, f" and {self.input_b}" if self.input_b else ""
        return (f"<pwl.ElementOperator {self.operator}, {self.input}{second} to {self.output}"
                f"{'' if bound is None else f', error at most {bound:g} LSB'}>")

    def __call__(self, x: Any, b: Any = None, out: Optional[Array] = None) -> Any:
        """The output codes of codes of the input's type, and for add of b's, which broadcast to one shape. out, of the
        output's type and that shape, may be an input where both types have one size."""
        if (b is None) != (self.input_b is None):
            raise Error(f"{self.operator} takes {'one input' if self.input_b is None else 'two inputs'}")
        arrays = [codes_of(x, self.input)] + ([codes_of(b, self.input_b)] if self.input_b else [])
        arrays = [np.asarray(array, order="C") for array in np.broadcast_arrays(*arrays)]
        result = contiguous_out(arrays[0].shape, out, self.output.dtype)
        if result.size:
            self._run(arrays[0], arrays[1] if self.input_b else None, result)
        return returned(result, out)

    def real(self, x: Any, b: Any = None) -> Array:
        """Real numbers of real numbers, in float32, by way of the nearest codes."""
        second = None if b is None or self.input_b is None else self.input_b.quantize(b)
        y: Array = self.output.dequantize(self(self.input.quantize(x), second if b is not None else None))
        return y


def _fit(kind: str, **keywords: Any) -> ElementOperator:
    from .fit import fit_text
    text, notes = fit_text(kind, keywords)
    operator = ElementOperator(text)
    operator.notes = notes
    return operator


def requantise(input: Union[str, Type], output: Union[str, Type]) -> ElementOperator:
    """Codes of another scale, as 8 bits of sums of products: `pwlc fit requantise`. The input has 8 or 16 bits or is s32."""
    return _fit("requantise", input=input, output=output)


def add(a: Union[str, Type], b: Union[str, Type], output: Union[str, Type]) -> ElementOperator:
    """The sum of two inputs of scales of their own, rounded once: `pwlc fit add`. All of 8 or 16 bits."""
    return _fit("add", input=a, in_b=b, output=output)
