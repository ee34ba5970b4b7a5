# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables as those who read them make theirs today: values of the function at given places, rounded to the nearest code.
Each recipe is given a function's name and the types, and gives the outputs at every code by the reader's own rule. Nothing here is shared with what pwlc does."""
import math
import struct

FUNCTIONS = {
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x)),
    "tanh": math.tanh,
    "gelu": lambda x: x * 0.5 * math.erfc(-x / math.sqrt(2)),
    "silu": lambda x: x / (1 + math.exp(-x)) if x >= 0 else x * math.exp(x) / (1 + math.exp(x)),
    "exp": math.exp,
}


class Type:
    """A quantised type, as --in and --out have it."""

    def __init__(self, text):
        kind, scale, zero = text.split(":")
        base, _, power = scale.partition("^")
        self.bits, self.is_signed = int(kind[1:]), kind[0] == "s"
        self.scale = float(base) ** int(power) if power else float(base)
        self.zero = int(zero)
        self.qmin = -(1 << self.bits - 1) if self.is_signed else 0
        self.qmax = self.qmin + (1 << self.bits) - 1

    def clip(self, q):
        return min(max(q, self.qmin), self.qmax)

    def codes(self):
        return range(self.qmin, self.qmax + 1)


def nearest(value):
    """Halves away from zero."""
    return math.floor(value + 0.5) if value >= 0 else -math.floor(0.5 - value)


def target(function, of_in, of_out):
    """The real output code at a code, which need not be an integer, and may lie outside of the range."""
    real = FUNCTIONS[function]
    return lambda q: real((q - of_in.zero) * of_in.scale) / of_out.scale + of_out.zero


def each_code(function, of_in, of_out):
    """The nearest value at every code, or the nearest thresholds: tables that differ in order alone."""
    f = target(function, of_in, of_out)
    return [of_out.clip(nearest(f(q))) for q in of_in.codes()]


def between_points(points, of_in, of_out, shift, half):
    """Lines between points 2^shift codes apart; half is added before the shift, for a product."""
    outputs = []
    for i, (low, high) in enumerate(zip(points, points[1:])):
        for f in range(1 << shift):
            p = (low << shift) + (high - low) * f
            outputs.append(of_out.clip(p + half(p) >> shift))
    return outputs[:of_in.qmax - of_in.qmin + 1]


def tosa(function, of_in, of_out):
    """TOSA's TABLE: nearest values 128 codes apart, the last one behind the last code. Halves are rounded up."""
    f = target(function, of_in, of_out)
    points = [of_out.clip(nearest(f(of_in.qmin + 128 * i))) for i in range(513)]
    return between_points(points, of_in, of_out, 7, lambda p: 64)


def single(value):
    """In single precision."""
    return struct.unpack("f", struct.pack("f", value))[0]


def tflm_points(function, of_in, of_out):
    """The runtime's own 513 points. They are 65535/512 codes apart, each lowered by half of what the line to the next
    value is too high in the middle; and values are 65536/65535 of what they should be. In single precision, in which
    values that end in about a half are rounded either way."""
    lowest, highest = (single(of_in.scale * (q - of_in.zero)) for q in (of_in.qmin, of_in.qmax))
    out_lowest, out_highest = (single(of_out.scale * (q - of_out.zero)) for q in (of_out.qmin, of_out.qmax))
    step = single(single(highest - lowest) / 512)
    scale = single(65536 / single(out_highest - out_lowest))

    real = FUNCTIONS[function]

    def value(x):
        return single(single(real(x)) * scale)

    points = []
    for i in range(512):
        x = single(lowest + single(i * step))
        point = nearest(value(x))
        middle = nearest(value(single(x + step / 2)))
        following = value(single(lowest + single((i + 1) * step)))
        error = nearest(single(single(following + point) / 2)) - middle
        points.append(of_out.clip(point - nearest(error / 2) + of_out.zero))
    return points + [of_out.clip(nearest(value(highest)) + of_out.zero)]


def tflm(function, of_in, of_out):
    """The runtime's recipe, and its lookup, whose points are 128 codes apart."""
    return between_points(tflm_points(function, of_in, of_out), of_in, of_out, 7, lambda p: 64)


def grid_of_256(function, of_in, of_out):
    """Nearest values 256 codes apart, and one behind the last code."""
    f = target(function, of_in, of_out)
    return [of_out.clip(nearest(f(of_in.qmin + 256 * i))) for i in range(257)]


def espdl16(function, of_in, of_out):
    """ESP-PPQ's values, of which the nearest is read, half way the upper one."""
    table = grid_of_256(function, of_in, of_out)
    return [table[x + 128 >> 8] for x in range(65536)]


def espdl16_p4(function, of_in, of_out):
    """The same, half way the one of even index."""
    table = grid_of_256(function, of_in, of_out)
    return [table[round(x / 256)] for x in range(65536)]


def espdl16_linear(function, of_in, of_out):
    """Lines between them, rounded towards the left value."""
    table = grid_of_256(function, of_in, of_out)
    return [low + int((high - low) * f / 256) for low, high in zip(table, table[1:]) for f in range(256)]


def mli(function, of_in, of_out):
    """Lines between them, halves down."""
    return between_points(grid_of_256(function, of_in, of_out), of_in, of_out, 8, lambda p: 127)


def nvdla(function, of_in, of_out):
    """257 nearest values on the even grid; halves are rounded away from zero."""
    f = target(function, of_in, of_out)
    shift = of_in.bits - 8
    points = [of_out.clip(nearest(f(of_in.qmin + (i << shift)))) for i in range(257)]
    return between_points(points, of_in, of_out, shift, lambda p: (1 << shift - 1) - (p < 0))


def aie(function, of_in, of_out):
    """256 nearest values and the slopes to the next; the fine bits are dropped."""
    f = target(function, of_in, of_out)
    shift = of_in.bits - 8
    points = [of_out.clip(nearest(f(of_in.qmin + (i << shift)))) for i in range(257)]
    return between_points(points, of_in, of_out, shift, lambda p: 0)


def cmsis_points():
    """The 256 values that CMSIS-NN and TensorFlow Lite Micro ship of sigmoid(i / 24), in units of 2^-16: each raised by
    half of what the line to the next is too low in the middle, and the last one by more."""
    real = FUNCTIONS["sigmoid"]

    def bend(x):
        return real(x) * (1 - real(x)) * (1 - 2 * real(x))
    return [nearest(65536 * (real(i / 24) - bend(i / 24) / 24 ** 2 / 16)) for i in range(255)] + [65535]


class Cmsis:
    """arm_nn_activation_s16() at left_shift = 12 - the fraction bits of the input. tanh(x) is 2 sigmoid(2 x) - 1. At code
    x the distance from 0 is 3 |x| 2^left_shift, of which the low bits interpolate; codes below 0 are mirrored."""

    def __init__(self, function, of_in):
        by_function = {"sigmoid": (9, 10, 0, 32768), "tanh": (8, 8, 1 << 23, 0)}
        self.bits, self.shift, self.zero, self.mirror = by_function[function]
        self.step = nearest(3 * of_in.scale * 4096)
        self.half = 1 << self.shift - 1

    def place(self, x):
        """Interval, of which there are 255, and how far in."""
        i, f = divmod(abs(x) * self.step, 1 << self.bits)
        return (i, f) if i < 255 else (255, 0)

    def output(self, total):
        """Of a code from 0 on, of the weighted sum of two values."""
        return total - self.zero + self.half >> self.shift

    def outputs(self, points):
        found = []
        for x in range(-32768, 32768):
            i, f = self.place(x)
            y = 32767 if i == 255 else self.output((points[i] << self.bits) + f * (points[i + 1] - points[i]))
            found.append(y if x >= 0 else self.mirror - y)
        return found

    def lines(self, points):
        """(start, slope, shift, bias) of the biased form, halves up."""
        above = []
        for i in range(256):
            start = -(-(i << self.bits) // self.step)
            slope = points[i + 1] - points[i] if i < 255 else 0
            bias = (points[i] - slope * i << self.bits) - self.zero if i < 255 else 32767 << self.shift
            above.append((start, self.step * slope, self.shift, bias))
        ends = [row[0] for row in above[1:]] + [32769]
        below = [(1 - end, slope, shift, (self.mirror << shift) - 1 - bias if slope else self.mirror - 32767 << shift)
                 for (_, slope, shift, bias), end in zip(above, ends)][::-1]
        rows = [(max(start, -32768), *row) for start, *row in below + above]
        last = {row[0]: row for row in rows if row[0] < 32768}  # of those that begin below the lowest code one is left
        return [last[start] for start in sorted(last)]


def cmsis(function, of_in, of_out):
    return Cmsis(function, of_in).outputs(cmsis_points())


def segments_of(f, of_in, count):
    """Equal segments: first code, the code behind the last, values at both."""
    width = of_in.qmax + 1 - of_in.qmin
    starts = [of_in.qmin + width * i // count for i in range(count + 1)]
    return [(a, b, f(a), f(b)) for a, b in zip(starts, starts[1:])]


def gna(function, of_in, of_out, count=64):
    """Equal segments through samples, the finest of the four shifts that a slope of 16 bits allows; rounds down."""
    outputs = []
    for first, end, low, high in segments_of(target(function, of_in, of_out), of_in, count):
        low, high = (min(max(value, of_out.qmin), of_out.qmax) for value in (low, high))
        slope = (high - low) / (end - first)
        shift = max((s for s in (8, 16, 24, 32) if abs(nearest(slope * 2 ** s)) < 32768), default=8)
        scaled, base = nearest(slope * 2 ** shift), nearest(low)
        outputs += [of_out.clip((scaled * d >> shift) + base) for d in range(end - first)]
    return outputs


def k210(function, of_in, of_out, count=15):
    """Equal segments through samples, the finest shift that a slope of 16 bits allows; halves are rounded to even."""
    outputs = []
    for first, end, low, high in segments_of(target(function, of_in, of_out), of_in, count):
        low, high = (min(max(value, of_out.qmin), of_out.qmax) for value in (low, high))
        slope = (high - low) / (end - first)
        shift = max((s for s in range(44) if abs(nearest(slope * 2 ** s)) < 32768), default=0)
        scaled, base = nearest(slope * 2 ** shift), nearest(low)
        for d in range(end - first):
            whole, rest = divmod(scaled * d, 1 << shift)
            up = 2 * rest > 1 << shift or (2 * rest == 1 << shift and whole % 2)
            outputs.append(of_out.clip(whole + up + base))
    return outputs


def errors(outputs, f, of_in, of_out):
    """Largest and root mean square error against the real function, which is clipped to the outputs' range."""
    largest = squares = 0
    for q, got in zip(of_in.codes(), outputs):
        error = abs(got - of_out.clip(f(q)))
        largest, squares = max(largest, error), squares + error * error
    return largest, math.sqrt(squares / len(outputs))
