# SPDX-License-Identifier: GPL-3.0-or-later
"""The reader of the four tables of TOSA's softmax of 8 bits, and the recipe that compilers of TensorFlow Lite make them by:
gemmlowp's exp in fixed point, in integers with every rounding said. consumers.py tells what a reader is."""
import math
import re
import struct

import texts
from arithmetic import S32, Range, clip, need_size, wrap
from texts import need

FIELDS = ("bits_31_24", "bits_23_16", "bits_15_8", "bits_7_0")


class TosaSoftmax8:
    """Four TABLEs of int16[513], looked up at 128 (x - max), and shifted to the places of their bytes."""
    profile = "tosa-softmax8"

    def __init__(self, tables, zero_point, x, y=S32):
        self.tables, self.zero_point, self.x, self.y = [list(table) for table in tables], zero_point, x, y

    @classmethod
    def parse(cls, data, zero_point=255, x=Range(0, 255), y=S32):
        need_size(cls.profile, data, 4 * 1026)
        return cls([struct.unpack("<513h", data[at:at + 1026]) for at in range(0, 4104, 1026)], zero_point, x, y)

    @classmethod
    def from_c(cls, text, zero_point=255, x=Range(0, 255), y=S32):
        arrays = texts.c_arrays(text)
        need(list(arrays) == list(FIELDS), f"tosa-softmax8: arrays {list(arrays)}")
        need(all(array.type == "int16_t" for array in arrays.values()), "tosa-softmax8: not of int16_t")
        return cls([array.values for array in arrays.values()], zero_point, x, y)

    @classmethod
    def from_mlir(cls, text, zero_point=255, x=Range(0, 255), y=S32):
        """Follows each byte from its table through its shift to the sum."""
        found = texts.operations(text)
        by_result = {operation.result: operation for operation in found}

        def shift_of(operation):
            name, operands = operation.name, operation.operands
            need(name in ("tosa.logical_left_shift", "tosa.arithmetic_right_shift"), f"tosa-softmax8: a {name} in the sum")
            amount = texts.constant(by_result[operands[1]])[0][0]
            if name == "tosa.arithmetic_right_shift":
                need(re.search(r"round = true", operation.text) and amount == 7, "tosa-softmax8: not >> 7, rounded")
                return -amount, by_result[operands[0]]
            return amount, by_result[operands[0]]

        def parts_of(operation):
            if operation.name == "tosa.add":
                return [part for operand in operation.operands for part in parts_of(by_result[operand])]
            return [shift_of(operation)]

        parts = sorted(parts_of(by_result[found[-1].operands[0]]), key=lambda part: -part[0])
        need([shift for shift, _ in parts] == [17, 9, 1, -7], "tosa-softmax8: shifts are not 17, 9, 1 and -7")
        need(all(table.name == "tosa.table" for _, table in parts), "tosa-softmax8: a part is no tosa.table")
        return cls([texts.constant(by_result[table.operands[1]])[0] for _, table in parts], zero_point, x, y)

    @staticmethod
    def look_up(table, value):
        """TABLE: 7 bits between two points, and as many behind the point of what comes out."""
        i, f = (value + 32768) >> 7, value & 127
        return 128 * table[i] + (table[i + 1] - table[i]) * f

    def evaluate(self, code):
        wide = [self.look_up(table, 128 * (code - self.zero_point)) for table in self.tables]
        parts = [wrap(wide[k] << shift, 32) for k, shift in enumerate((17, 9, 1))] + [(wide[3] + 64) >> 7]
        return wrap(sum(parts), 32)

    def check(self):
        need(len(self.tables) == 4 and all(len(table) == 513 for table in self.tables), "tosa-softmax8: not four of 513")
        for table in self.tables:
            need(all(0 <= value <= 255 for value in table), "tosa-softmax8: an entry is no byte")
        need(-256 <= self.x.low - self.zero_point and self.x.high - self.zero_point <= 255,
             f"tosa-softmax8: inputs {self.x} of zero point {self.zero_point}")


# -- The tables of 16 bits ----------------------------------------------------------------------------------------------

# Of what softmax of int16 looks up, as tflm16 has it: flags of fit, f, and the real numbers at its ends.
TABLES16 = {
    "exp": (["exp", "--in", f"s16:{10 / 65535!r}:32767"], math.exp, -10, 0),
    "1 / (1 + x)": (["--expr", "1/(1+x)", "--in", f"s16:{1 / 65535!r}:-32768"], lambda x: 1 / (1 + x), 0, 1)}


def recipe16(f, low, high):
    """gen_lut() of TensorFlow Lite: points 65535/512 codes apart, each moved by half of what the line to the next one is
    off in the middle."""
    def nearest(value):
        return math.floor(abs(value) + 0.5) * (-1 if value < 0 else 1)
    step, values = (high - low) / 512, []
    for i in range(512):
        value, after = nearest(f(low + i * step) * 32768), f(low + (i + 1) * step) * 32768
        middle = nearest((after + value) / 2) - nearest(f(low + i * step + step / 2) * 32768)
        values.append(min(max(value - nearest(middle / 2), -32768), 32767))
    return values + [min(nearest(f(high) * 32768), 32767)]


def largest_error16(outputs, f, low, high):
    return max(abs(y - min(f(low + (high - low) * k / 65535) * 32768, 32767)) for k, y in enumerate(outputs))


# -- The recipe -----------------------------------------------------------------------------------------------------------

def high_product(a, b):
    """2 a b / 2^32, halves away from zero; the only product that saturates is none of these."""
    product = a * b
    nudged = product + (1 << 30 if product >= 0 else 1 - (1 << 30))
    return nudged >> 31 if nudged >= 0 else -(-nudged >> 31)


def divided(x, bits):
    """x / 2^bits, halves away from zero."""
    rest, threshold = x & (1 << bits) - 1, (1 << bits - 1) - 1 + (x < 0)
    return (x >> bits) + (rest > threshold)


def exp_near_zero(a):
    """Of a in [-1/4, 0), 31 bits behind the point: four terms of the series around -1/8."""
    x = a + (1 << 28)
    x2 = high_product(x, x)
    x3, x4 = high_product(x2, x), high_product(x2, x2)
    third = high_product(divided(x4, 2) + x3, 715827883)
    return 1895147668 + high_product(1895147668, x + divided(third + x2, 1))


FACTORS = ((-2, 1672461947), (-1, 1302514674), (0, 790015084), (1, 290630308), (2, 39332535), (3, 720401), (4, 242))


def gemmlowp_exp(a):
    """Of a <= 0 with 26 bits behind the point and 5 before it."""
    if a == 0:
        return S32.high
    quarter = 1 << 24
    near = (a & quarter - 1) - quarter
    result, rest = exp_near_zero(near << 5), near - a
    for exponent, factor in FACTORS:
        if rest & 1 << 26 + exponent:
            result = high_product(result, factor)
    return result


def recipe(scale):
    """The outputs at d = -256 to 0, of x with that scale."""
    real = min(scale * 2 ** 26, 2 ** 31 - 1)
    mantissa, left_shift = math.frexp(real)
    multiplier = math.floor(mantissa * 2 ** 31 + 0.5)
    least = -math.floor(31 * 2 ** 26 / 2 ** left_shift)
    return {d: gemmlowp_exp(high_product(d << left_shift, multiplier)) if d >= least else 0 for d in range(-256, 1)}


def image(outputs):
    """Bytes of the four tables; what lies beyond d = 0 is as there."""
    values = [outputs[min(d, 0)] for d in range(-256, 257)]
    return b"".join(struct.pack("<513h", *(value >> shift & 255 for value in values)) for shift in (24, 16, 8, 0))
