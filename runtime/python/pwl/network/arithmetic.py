# SPDX-License-Identifier: Apache-2.0
"""Sums of products and their requantisation, by integers alone."""
from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np

from ..codes import Array, Type
from ..errors import Error

__all__ = ["MOST_SUM_BITS", "Multiplier", "exact_matmul", "for_places", "for_rows", "largest_offset", "multipliers", "rescaled", "windows"]

MOST_SUM_BITS = 47  # of a sum's magnitude; its multiplier then has 15 bits
EXACT_IN_DOUBLE = 1 << 53


class Multiplier:
    """Factors as integers: value = factor * 2^-shift, one for all or one a channel.

    A sum of at most `bits` bits times a factor stays below 2^62. factor has min(31, 62 - bits) bits, shift is 1 to 62.
    """

    def __init__(self, factor: Array, shift: Array) -> None:
        self.factor, self.shift = np.asarray(factor, np.int64), np.asarray(shift, np.int64)


def multipliers(values: Any, bits: int) -> Multiplier:
    """The nearest factors for positive real values and sums of at most so many bits."""
    values = np.asarray(values, np.float64)
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise Error("a factor between two scales must be positive and finite")
    width = min(31, 62 - bits)
    mantissa, exponent = np.frexp(values)
    factor = np.rint(mantissa * 2.0 ** width).astype(np.int64)
    shift = width - exponent.astype(np.int64)
    carried = factor == 1 << width
    factor, shift = np.where(carried, factor >> 1, factor), np.where(carried, shift - 1, shift)
    if (shift < 1).any():
        raise Error(f"a factor of {values.max():g} between two scales: below 2^{width - 1} is wanted; the output's scale is "
                    "far below its inputs'")
    small = shift > 62  # what is left then is below half a step of the output: so is this
    return Multiplier(np.where(small, 0, factor), np.where(small, 62, shift))


def rescaled(sums: Array, by: Multiplier, side: Type) -> Array:
    """clip(zero_point + shr(sums * factor, shift)), shr rounding halves up."""
    shifted = (sums * by.factor + (np.int64(1) << (by.shift - 1))) >> by.shift
    return np.asarray(np.clip(shifted + side.zero_point, side.qmin, side.qmax).astype(side.dtype))


def largest_offset(side: Type) -> int:
    """The largest |code - zero point| of a type."""
    return max(side.qmax - side.zero_point, side.zero_point - side.qmin)


def exact_matmul(a: Array, b: Array, largest: int) -> Array:
    """a @ b of integers whose sums stay within `largest`: by floating point where that is exact, as it is faster."""
    if largest < EXACT_IN_DOUBLE:
        return np.asarray(np.rint(a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64))
    return np.asarray(a.astype(np.int64) @ b.astype(np.int64))


def for_rows(mask: Array, axes: int) -> Array:
    """A mask [batch, place] of rows of places, which are the last of so many axes."""
    return mask.reshape(mask.shape[0], *[1] * (axes - 2), mask.shape[1])


def for_places(mask: Array, axes: int) -> Array:
    """What is told for the places of the first axes, for all of so many axes."""
    return mask.reshape(*mask.shape, *[1] * (axes - mask.ndim))


def windows(fields: Mapping[str, Any], x: Array, kernel: Sequence[int], fill: float) -> Array:
    """The windows of a convolution or a pool over the axes behind the first two, as [batch, channels, places, window], with
    `fill` beyond the ends."""
    axes = tuple(range(2, x.ndim))
    x = np.pad(x, [(0, 0), (0, 0), *((pad, pad) for pad in fields["padding"])], constant_values=fill)
    dilation = fields.get("dilation", [1] * len(axes))
    reach = tuple(step * (size - 1) + 1 for step, size in zip(dilation, kernel))
    found = np.lib.stride_tricks.sliding_window_view(x, reach, axes)
    return found[(slice(None), slice(None), *(slice(None, None, step) for step in (*fields["stride"], *dilation)))]
