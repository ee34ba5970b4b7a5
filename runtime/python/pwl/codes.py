# SPDX-License-Identifier: Apache-2.0
"""How codes stand for real numbers: real = scale * (code - zero_point)."""
from __future__ import annotations

import dataclasses
import re
from typing import Any, Optional

import numpy as np

from . import _core
from .document import Fields
from .errors import Error, shown
from .program import type_fields

__all__ = ["Type"]

Array = np.ndarray[Any, Any]
DType = np.dtype[Any]

# A scale as the JSON of tables has it: a power of two, or a decimal.
SCALE = re.compile(r"2\^([+-]?[0-9]{1,18})|\+?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
SIDE_FIELDS = {"bits", "signed", "scale", "zero_point", "qmin", "qmax"}  # of a table's JSON

# In the order of pwl_type of <pwl/pwl.h>.
DTYPES = [np.dtype(name) for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32")]


def code_range(bits: int, signed: bool) -> tuple[int, int]:
    """The lowest and the highest integer of so many bits."""
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)


def parse_scale(text: object) -> Optional[float]:
    """The number that "2^-12" or "0.0472" stands for; None for what is no scale from 2^-64 to 2^64, or is longer than pwlc
    writes and reads it."""
    match = SCALE.fullmatch(text) if isinstance(text, str) and len(text) < 40 else None
    if match is None:
        return None
    if match[1]:
        return 2.0 ** int(match[1]) if abs(int(match[1])) <= 64 else None
    scale = float(match[0])
    return scale if 2.0 ** -64 <= scale <= 2.0 ** 64 else None


def scale_text(scale: float) -> str:
    """A scale as pwlc writes it, "1e-9", "3" and "1e20", which gives back the same double."""
    mantissa, exponent = np.frexp(scale)
    if mantissa == 0.5:
        return f"2^{int(exponent) - 1}"
    digits = next(n for n in range(1, 18) if float(f"{scale:.{n - 1}e}") == scale)
    places = int(f"{scale:.{digits - 1}e}".partition("e")[2]) + 1  # before the decimal point
    return re.sub(r"e\+?(-?)0*", r"e\1", f"{scale:.{places if digits < places <= 16 else digits}g}")


def as_array(x: Any) -> Array:
    """x as an array of numpy's own types: tensors of torch without their gradient, bfloat16 and other floats that numpy
    does not have as float32."""
    if not isinstance(x, np.ndarray) and type(x).__module__.partition(".")[0] == "torch":
        x = x.detach().float() if str(x.dtype) == "torch.bfloat16" else x.detach()
    array = np.asarray(x)
    if array.dtype.kind == "V" and array.dtype.name.startswith(("bfloat", "float")):  # of ml_dtypes
        array = array.astype(np.float32)
    return array


def real_array(x: Any) -> Array:
    """x as float32; a copy only where it is of another type."""
    array = as_array(x)
    if array.dtype.kind not in "fiu" and array.size > 0:
        raise Error(f"an array of {array.dtype}: real numbers are wanted, float32 or what numpy makes it of")
    return array.astype(np.float32, copy=False)


def real_out(x: Array, out: Optional[Array], dtype: DType) -> Array:
    if out is None:
        return np.empty_like(x, dtype=dtype, subok=False)
    if not isinstance(out, np.ndarray) or out.dtype != dtype:
        raise Error(f"out must be an array of {dtype}")
    return out


def plain(array: Array, out: Optional[Array]) -> Any:
    """Of an array without dimensions that was made here, its number."""
    return array[()] if out is None and array.ndim == 0 else array


def contiguous_out(shape: tuple[int, ...], out: Optional[Array], dtype: DType) -> Array:
    """Where results are computed, in the order of C: out itself where it lies so. returned() brings them there."""
    if out is not None and (not isinstance(out, np.ndarray) or out.dtype != dtype or out.shape != shape):
        raise Error(f"out must be an array of {dtype} of shape {shape}")
    return out if out is not None and out.flags.c_contiguous else np.empty(shape, dtype)


def returned(array: Array, out: Optional[Array]) -> Any:
    """What a call with this out gives, of the array that contiguous_out() gave it."""
    if out is None:
        return plain(array, None)
    if array is not out:
        out[...] = array
    return out


def check_codes(side: Type, low: int, high: int) -> None:
    """Refuses codes from low to high that a type does not have."""
    if not (side.qmin <= low and high <= side.qmax):
        raise Error(f"codes from {low} to {high}: must be from {side.qmin} to {side.qmax}")


def codes_of(x: Any, side: Type) -> Array:
    """x as codes of a type, whose integers have it or fit it."""
    array = np.asarray(x)
    if array.dtype == side.dtype:
        return array
    if array.dtype.kind not in "iu":
        raise Error(f"an array of {array.dtype}: codes are integers; of real numbers quantize() makes them")
    if array.size:
        check_codes(side, int(array.min()), int(array.max()))
    return array.astype(side.dtype)


@dataclasses.dataclass(frozen=True)
class Type:
    """A quantised type: codes of `bits` bits, from qmin to qmax. str() gives what pwlc's flags --in and --out take."""

    bits: int
    signed: bool
    scale: float
    zero_point: int = 0
    qmin: int = dataclasses.field(default=None)  # type: ignore[assignment]
    qmax: int = dataclasses.field(default=None)  # type: ignore[assignment]
    scale_text: str = dataclasses.field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.bits, int) or not 2 <= self.bits <= 32:
            raise Error(f"bits: {shown(self.bits)}, must be an integer from 2 to 32")
        try:
            good = 2.0 ** -64 <= float(self.scale) <= 2.0 ** 64
        except (TypeError, ValueError):
            good = False
        if not good:
            raise Error(f"scale: {shown(self.scale)}, must be a number from 2^-64 to 2^64")
        low, high = code_range(self.bits, self.signed)
        for name, value in (("signed", bool(self.signed)), ("scale", float(self.scale)),
                            ("qmin", low if self.qmin is None else self.qmin),
                            ("qmax", high if self.qmax is None else self.qmax),
                            ("scale_text", self.scale_text or scale_text(self.scale))):
            object.__setattr__(self, name, value)

    @classmethod
    def parse(cls, text: str) -> Type:
        """A type as pwlc reads it: "u16:2^-12:24576", "int8:0.0472" or "q3.12". ToolError where it is none."""
        return read_type(Fields("", {"type": type_fields(text)}), "type")

    def __str__(self) -> str:
        return f"{'s' if self.signed else 'u'}{self.bits}:{self.scale_text}:{self.zero_point}"

    @property
    def dtype(self) -> DType:
        """The smallest type of numpy that holds all codes."""
        width = 8 if self.bits <= 8 else 16 if self.bits <= 16 else 32
        return DTYPES[(width.bit_length() - 4) * 2 + (not self.signed)]

    @property
    def range(self) -> tuple[float, float]:
        """The real numbers of the lowest and the highest code."""
        return self.scale * (self.qmin - self.zero_point), self.scale * (self.qmax - self.zero_point)

    def quantize(self, x: Any, out: Optional[Array] = None) -> Any:
        """The codes of real numbers, computed in float32: the nearest, ties to even, clamped to the type's; of NaN that of
        0. An array of any shape and layout, a list or a number."""
        array = real_array(x)
        codes = real_out(array, out, self.dtype)
        _core.quantise(array, codes, self.scale, self.zero_point, self.qmin, self.qmax)
        return plain(codes, out)

    def dequantize(self, codes: Any, out: Optional[Array] = None) -> Any:
        """The real numbers of codes, in float32."""
        array = np.asarray(codes)
        if array.dtype.kind not in "iu" and array.size > 0:
            raise Error(f"an array of {array.dtype}: codes are integers")
        array = array if array.dtype.kind in "iu" else array.astype(self.dtype)
        reals = real_out(array, out, np.dtype(np.float32))
        _core.dequantise(array, reals, self.scale, self.zero_point, DTYPES.index(self.dtype))
        return plain(reals, out)


def read_type(top: Fields, field: str) -> Type:
    """A side of a table's JSON."""
    side = top.object(field, SIDE_FIELDS)
    bits, signed = side.integer("bits", 2, 32), bool(side.choice("signed", [False, True]))
    text, zero_point = side.get("scale"), side.integer("zero_point", *code_range(64, True))
    scale = parse_scale(text)
    if scale is None:
        raise Error(f"{side.name('scale')}: {shown(text)}, must be a text, 2^n or a positive decimal, from 2^-64 to 2^64, of at "
                    "most 39 characters")
    limits = code_range(bits, signed)
    return Type(bits, signed, scale, zero_point, side.integer("qmin", *limits), side.integer("qmax", *limits), text)
