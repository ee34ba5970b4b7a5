# SPDX-License-Identifier: GPL-3.0-or-later
"""Integer arithmetic of the readers, with every wrap and saturation said, and the checks that they share."""
import collections

from texts import need

Range = collections.namedtuple("Range", "low high")


def full(bits, is_signed):
    return Range(-1 << (bits - 1), (1 << (bits - 1)) - 1) if is_signed else Range(0, (1 << bits) - 1)


S8, U8, S16, U16, S32 = full(8, True), full(8, False), full(16, True), full(16, False), full(32, True)


def holds(limits, value):
    return limits.low <= value <= limits.high


def clip(value, limits):
    return min(max(value, limits.low), limits.high)


def wrap(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


# -- Rounding: p * 2^-n to an integer, n <= 0 exact ---------------------------------------------------------------------

def floor(p, n):
    return p >> n if n > 0 else p << -n


def half_up(p, n):
    return (p + (1 << (n - 1))) >> n if n > 0 else p << -n


def half_away(p, n):
    if n <= 0:
        return p << -n
    magnitude = (abs(p) + (1 << (n - 1))) >> n
    return -magnitude if p < 0 else magnitude


def half_even(p, n):
    if n <= 0:
        return p << -n
    quotient, rest, half = p >> n, p & ((1 << n) - 1), 1 << (n - 1)
    return quotient + (rest > half or (rest == half and quotient & 1 == 1))


# -- Small things -------------------------------------------------------------------------------------------------------

def need_size(profile, data, size):
    need(len(data) == size, f"{profile}: {len(data)} bytes, not {size}")


def need_zero(profile, data, places):
    for place in places:
        need(data[place] == 0, f"{profile}: padding at {place} is not 0")


def need_order(profile, name, values, equal=True):
    """Ascending; equal: neighbours may be the same."""
    for i in range(1, len(values)):
        need(values[i - 1] < values[i] or equal and values[i - 1] == values[i],
             f"{profile}: {name}[{i}] = {values[i]} comes after {values[i - 1]}")


def last_at(starts, code):
    """The last index whose start is not above the code; None without one."""
    for i in range(len(starts) - 1, -1, -1):
        if starts[i] <= code:
            return i
    return None


def ends(x, starts):
    """Codes between which a table is a line and nothing else: there it is largest and least."""
    near = {x.low, x.high} | {start + k for start in starts for k in (-1, 0, 1)}
    return sorted(code for code in near if holds(x, code))
