#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""cmsis.py PAGE: TAP: what the 256 values that CMSIS-NN and TensorFlow Lite Micro ship of the sigmoid are off by at every
code, and that no other 256 values are off by less, by a search of all of them; the page has these figures.

For a largest error E each code leaves a range to its sum, the one of two neighbouring values by their arithmetic. From
the first value on, the values that can be reached within E are found one after the other; where none is left, there are
no such 256 values. Among those within E a dynamic program finds the least squared error."""
import collections
import math
import sys

import recipes
from harness import end, tap

CASES = [(function, scale) for function in ("sigmoid", "tanh") for scale in ("2^-12", "2^-11")]
OUT = recipes.Type("s16:2^-15:0")
LEAST, MOST = 0, 65535  # of uint16_t
BELOW = 1e-9  # the errors of targets in double are far less


class Search:
    """All values for a function and a scale. A sum that gives 32768 would come out as -32768: it is left out."""

    def __init__(self, function, scale):
        of_in = recipes.Type(f"s16:{scale}:0")
        self.cmsis, self.f = recipes.Cmsis(function, of_in), recipes.target(function, of_in, OUT)
        self.of_in = of_in
        self.codes = collections.defaultdict(list)  # of each interval: how far in, targets of the output above 0
        for x in range(32769):
            mirrored = [self.cmsis.mirror - OUT.clip(self.f(-x))] if x else []
            i, f = self.cmsis.place(x)
            self.codes[i].append((f, ([OUT.clip(self.f(x))] if x < 32768 else []) + mirrored))

    def bands(self, i, limit):
        """(how far in, least sum, largest sum)."""
        c, found = self.cmsis, []
        for f, targets in self.codes[i]:
            low, high = math.ceil(max(targets) - limit), min(32767, math.floor(min(targets) + limit))
            found.append((f, (low << c.shift) - c.half + c.zero, (high + 1 << c.shift) - c.half + c.zero - 1))
        return found

    def pairs(self, limit):
        """Of each interval that holds codes between two values {value: the values that may follow}, as far as they are
        reached; None where none is."""
        width, chain, reached = 1 << self.cmsis.bits, [], range(LEAST, MOST + 1)
        if any(abs(32767 - target) > limit for _, targets in self.codes[255] for target in targets):
            return None
        for i in range(256):
            bands, allowed = self.bands(i, limit), {}
            least = max((-(-low // width) for f, low, _ in bands if f == 0), default=LEAST)
            most = min((high // width for f, _, high in bands if f == 0), default=MOST)
            inside = [band for band in bands if band[0] > 0]
            reached = [a for a in reached if i == 255 or least <= a <= most]
            if not inside or i == 255:
                break
            for a in reached:
                low = max(LEAST, *(-((a * (width - f) - low) // f) for f, low, _ in inside))
                high = min(MOST, *((high - a * (width - f)) // f for f, _, high in inside))
                if low <= high:
                    allowed[a] = range(low, high + 1)
            reached = sorted(set().union(*allowed.values()))
            chain.append(allowed)
        return chain if reached else None

    def cost(self, i, a, b):
        c = self.cmsis
        outputs = ((c.output((a << c.bits) + f * (b - a)), targets) for f, targets in self.codes[i])
        return sum((y - target) ** 2 for y, targets in outputs for target in targets)

    def least_squares(self, chain):
        """The values of a chain whose squared errors are least. The code at the last of them alone counts, too."""
        paths = [{a: (0.0, None) for a in chain[0]}]
        for i, allowed in enumerate(chain):
            following = {}
            for a, (before, _) in paths[-1].items():
                for b in allowed.get(a, ()):
                    cost = before + self.cost(i, a, b)
                    if b not in following or cost < following[b][0]:
                        following[b] = (cost, a)
            paths.append(following)
        n = len(chain)
        values = [min(paths[n], key=lambda b: paths[n][b][0] + (self.cost(n, b, b) if n < 255 else 0))]
        for path in reversed(paths[1:]):
            values.append(path[values[-1]][1])
        return values[::-1]


def check(function, scale, page):
    search = Search(function, scale)
    shipped = recipes.cmsis_points()
    largest, rms = recipes.errors(search.cmsis.outputs(shipped), search.f, search.of_in, OUT)
    what = f"{function}, {scale}"
    chain = search.pairs(largest + BELOW)
    tap(chain is not None and all(b in allowed.get(a, ()) for allowed, a, b in zip(chain, shipped, shipped[1:])),
        f"{what}: the search finds what ships")
    tap(search.pairs(largest - BELOW) is None, f"{what}: no 256 values have a largest error below {largest:.6g} LSB")
    values = search.least_squares(chain)
    got, least = recipes.errors(search.cmsis.outputs(values + shipped[len(values):]), search.f, search.of_in, OUT)
    tap(got <= largest + BELOW and least <= rms, f"{what}: of those, some have an RMS error of {least:.6g} LSB")
    row = f"| {function} | s16:{scale} | {largest:.4g} | {largest:.4g} | {rms:.4g} | {least:.4g} |"
    tap(row in page, f"{what}: the page has the row", row)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1]) as file:
        page = file.read()
    for function, scale in CASES:
        check(function, scale, page)
    sys.exit(end())


main()
