# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of codes that tests draw, as tests/platform/row_equivalence.c does."""
import numpy as np


def splitmix(state):
    """The draws of tests/support/random.h: state is a list of one."""
    mask = (1 << 64) - 1
    z = state[0] = (state[0] + 0x9E3779B97F4A7C15) & mask
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
    return z ^ z >> 31


SHAPES = 6


def row(shape, part, length, low, top, state):
    """A structured (shape 0 to 3) or drawn row; the C programs of tests/platform/ make the same. Codes from low to
    low + top; part of them are what the shape is about."""
    if shape == 0:  # one against many
        v = [top if k == length // 2 else top - part for k in range(length)]
    elif shape == 1:  # two values
        v = [top if 2 * k < length else top - part for k in range(length)]
    elif shape == 2:  # all alike
        v = [top - part] * length
    elif shape == 3:  # ends
        v = [top if k & 1 else 0 for k in range(length)]
    elif shape == 4:  # drawn from the upper codes
        v = [top - splitmix(state) % (part + 1) for k in range(length)]
    else:  # drawn from all
        v = [splitmix(state) % (top + 1) for k in range(length)]
    return np.array([low + x for x in v], np.int64)
