# SPDX-License-Identifier: Apache-2.0
"""Masks of softmax, as models write them in many ways: each is recognised by what it computes, over drawn inputs of several
sizes: padding by an input of 0 and 1, causal, or both."""
from __future__ import annotations

import dataclasses
from typing import Iterable, Mapping, Optional, Sequence

import numpy as np

from ..codes import Array
from ..errors import Error
from .kinds import Shape, sizes_of

__all__ = ["MASKED", "Case", "Mask", "drawn", "recognised"]

MASKED = -1e4  # what is added to a score that takes no part is this or less
DRAWN_SIZES = ((2, 3), (3, 7), (2, 16))


@dataclasses.dataclass(frozen=True)
class Mask:
    """What was recognised: the input of 0 and 1, if any, and whether each row sees no place behind its own."""

    input: Optional[str]
    causal: bool


@dataclasses.dataclass(frozen=True)
class Case:
    """Drawn inputs, the sizes that they have, and what the mask is of them."""

    sizes: dict[str, int]
    inputs: dict[str, Array]


def drawn(shapes: Mapping[str, Shape], longest: Mapping[str, int]) -> list[Case]:
    """Inputs of 0 and 1 of several sizes, the first place of each row 1."""
    random, cases = np.random.default_rng(1), []
    for numbers in DRAWN_SIZES:
        sizes = {name: min(number, longest[name]) for name, number in zip(longest, numbers + (numbers[-1],) * len(longest))}
        inputs = {}
        for name in sorted(shapes):
            inputs[name] = random.integers(0, 2, sizes_of(shapes[name], sizes))
            inputs[name][..., 0] = 1
        cases.append(Case(sizes, inputs))
    return cases


def recognised(shapes: Mapping[str, Shape], cases: Iterable[tuple[Case, Array]], inverted: bool) -> Mask:
    """The mask, as keep[..., row, place], of what it is in each case: booleans, or numbers to be added to scores."""
    candidates = [Mask(name, causal) for name in [None, *sorted(shapes)] for causal in (False, True)]
    for case, value in cases:
        keep = (~value if inverted else value) if value.dtype == np.bool_ else value > MASKED
        if value.dtype != np.bool_ and (keep & (value != 0)).any():
            raise Error("a mask that adds other numbers than 0 and -inf")
        candidates = [one for one in candidates if _is(one, shapes, keep, case.inputs)]
    if not candidates:
        raise Error("a mask that is neither padding by an input of 0 and 1, nor causal, nor both")
    return candidates[0]


def _is(mask: Mask, shapes: Mapping[str, Shape], keep: Array, inputs: Mapping[str, Array]) -> bool:
    shape: Sequence[int] = keep.shape
    wanted = np.ones(1, np.bool_)
    if len(shape) < 2 and (mask.input is not None or mask.causal):
        return False
    if mask.input is not None:
        if len(shapes[mask.input]) != 2:
            return False
        padding = inputs[mask.input] != 0
        wanted = padding.reshape(padding.shape[0], *[1] * (len(shape) - 2), padding.shape[1])
    if mask.causal:
        wanted = wanted & np.tri(*shape[-2:], dtype=np.bool_)
    try:
        return bool((keep == wanted).all()) and (keep | wanted).shape == shape
    except ValueError:
        return False
