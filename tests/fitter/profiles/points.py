# SPDX-License-Identifier: GPL-3.0-or-later
"""Readers of tables with an entry for every code, or with points or lines at even distances: TOSA, Ethos-U, TFLM, AIE,
NVDLA. consumers.py tells what a reader is."""
import collections
import struct

import texts
from arithmetic import (S16, S32, S8, U8, clip, ends, floor, full, half_away, half_up, holds, need_size, need_zero,
                        wrap)
from texts import need


# -- 8-bit values -------------------------------------------------------------------------------------------------------

class Tosa8:
    """int8[256], entry x + 128."""
    profile = "tosa8"
    inputs = outputs = (S8,)

    def __init__(self, values, x, y):
        self.values, self.x, self.y = values, x, y

    @classmethod
    def parse(cls, data, x=S8, y=S8):
        need_size(cls.profile, data, 256)
        return cls(list(struct.unpack("256b" if y.low < 0 else "256B", data)), x, y)

    @classmethod
    def from_mlir(cls, text, x=S8, y=S8):
        function = texts.TosaFunction(text)
        need(function.rescale is None, "tosa8: a tosa.rescale behind 8-bit values")
        need((function.input, function.element, function.output) == ("i8",) * 3, "tosa8: types are not i8")
        return cls(function.table, x, y)

    @classmethod
    def from_c(cls, text, name=None, x=S8, y=S8):
        return cls.parse(texts.c_bytes(text, ("int8_t",) if y.low < 0 else ("uint8_t",), name), x, y)

    def index(self, code):
        return code + 128

    def evaluate(self, code):
        need(holds(self.x, code), f"{self.profile}: no input {code}")
        return self.values[self.index(code)]

    def check(self):
        need(self.x in self.inputs, f"{self.profile}: inputs {self.x}")
        need(any(holds(limits, self.y.low) and holds(limits, self.y.high) for limits in self.outputs),
             f"{self.profile}: outputs {self.y}")
        need(len(self.values) == 256, f"{self.profile}: {len(self.values)} values, not 256")
        for value in self.values:
            need(holds(self.y, value), f"{self.profile}: {value} is no output")


class Ethosu8(Tosa8):
    """8-bit[256], entry x - qmin."""
    profile = "ethosu8"
    inputs = outputs = (S8, U8)

    def index(self, code):
        return code - self.x.low


class Tflm8(Tosa8):
    """8-bit[256], entry x mod 256."""
    profile = "tflm8"
    inputs = outputs = (S8, U8)

    def index(self, code):
        return code % 256


class Executorch8(Tosa8):
    """int8[256], lut[input + 128]."""
    profile = "executorch8"


class Xnnpack8(Tflm8):
    """uint8_t[256]: bytes go in and come out, whatever codes they are."""
    profile = "xnnpack8"

    @classmethod
    def parse(cls, data, x=S8, y=S8):
        need_size(cls.profile, data, 256)
        return cls([wrap(value, 8) if y.low < 0 else value for value in data], x, y)

    @classmethod
    def from_c(cls, text, name=None, x=S8, y=S8):
        return cls.parse(texts.c_bytes(text, ("uint8_t",), name), x, y)


# -- 513 points of 16 bits ----------------------------------------------------------------------------------------------

class Tosa16:
    """int16[513]; TABLE interpolates to int32, RESCALE rounds it."""
    profile = "tosa16"

    def __init__(self, points, multiplier=1 << 14, shift=21):
        self.points, self.multiplier, self.shift = points, multiplier, shift
        self.x = self.y = S16

    @classmethod
    def parse(cls, data):
        need_size(cls.profile, data, 1026)
        return cls(list(struct.unpack("<513h", data)))

    @classmethod
    def from_mlir(cls, text):
        function = texts.TosaFunction(text)
        need((function.input, function.element, function.table_result, function.output) == ("i16", "i16", "i32", "i16"),
             "tosa16: types are not i16, i16, i32, i16")
        need(function.rescale is not None, "tosa16: no tosa.rescale")
        multiplier, shift, input_zero, output_zero = function.rescale
        need((input_zero, output_zero) == (0, 0), "tosa16: zero points of tosa.rescale are not 0")
        return cls(function.table, multiplier, shift)

    @classmethod
    def from_c(cls, text, name=None):
        return cls.parse(texts.c_bytes(text, ("int16_t",), name))

    def difference(self, i):
        return self.points[i + 1] - self.points[i]

    def interpolate(self, code):
        need(holds(S16, code), f"{self.profile}: no input {code}")
        i, fraction = (code + 32768) >> 7, code & 127
        return 128 * self.points[i] + self.difference(i) * fraction  # below 2^24

    def evaluate(self, code):
        return clip(half_up(self.interpolate(code) * self.multiplier, self.shift), S16)

    def check(self):
        need(len(self.points) == 513, f"{self.profile}: {len(self.points)} points, not 513")
        need((self.multiplier, self.shift) == (1 << 14, 21),
             f"{self.profile}: multiplier {self.multiplier}, shift {self.shift}, not 16384 and 21")
        for i in range(512):
            step = self.points[i + 1] - self.points[i]
            need(holds(S16, step), f"{self.profile}: T[{i + 1}] - T[{i}] = {step} needs more than 16 bits")


class Tflm16(Tosa16):
    """As tosa16, but the difference is held in int16 and wraps."""
    profile = "tflm16"

    def difference(self, i):
        return wrap(self.points[i + 1] - self.points[i], 16)


class Ethosu16:
    """uint32[512], slope above base."""
    profile = "ethosu16"
    x = y = S16

    def __init__(self, words):
        self.words = words

    @classmethod
    def parse(cls, data):
        need_size(cls.profile, data, 2048)
        return cls(struct.unpack("<512I", data))

    def base(self, i):
        return wrap(self.words[i], 16)

    def slope(self, i):
        return wrap(self.words[i] >> 16, 16)

    def evaluate(self, code):
        need(holds(S16, code), f"ethosu16: no input {code}")
        i, fraction = (code + 32768) >> 7, code & 127
        return clip(self.base(i) + half_up(self.slope(i) * fraction, 7), S16)

    def check(self):
        """The words are those of points: each line ends where the next one begins. A borrow breaks that."""
        for i in range(512):
            end = self.base(i) + self.slope(i)
            need(holds(S16, end), f"ethosu16: word {i} ends at {end}, not a 16-bit point")
            need(i == 511 or end == self.base(i + 1), f"ethosu16: word {i} ends at {end}, word {i + 1} begins elsewhere")


# -- aie ----------------------------------------------------------------------------------------------------------------

class Aie:
    """int16 (slope, offset), each block written twice, and the array twice."""
    profile = "aie"

    def __init__(self, pairs, step_bits, bias, shift_offset, shift, x, y):
        self.pairs, self.step_bits, self.bias = pairs, step_bits, bias
        self.shift_offset, self.shift = shift_offset, shift
        self.x, self.y = x, y

    @classmethod
    def parse(cls, lut_ab, lut_cd, step_bits, bias, shift_offset, shift, x=S16, y=S16, block=16):
        """block: the bytes that are written twice, 32 for AIE-ML v2."""
        need(lut_ab == lut_cd, "aie: lut_ab and lut_cd differ")
        need(len(lut_ab) > 0 and len(lut_ab) % (2 * block) == 0,
             f"aie: {len(lut_ab)} bytes, not a multiple of {2 * block}")
        values = []
        for at in range(0, len(lut_ab), 2 * block):
            once = lut_ab[at:at + block]
            need(once == lut_ab[at + block:at + 2 * block], f"aie: the {block} bytes at {at} are not written twice")
            values += struct.unpack(f"<{block // 2}h", once)
        return cls(list(zip(values[::2], values[1::2])), step_bits, bias, shift_offset, shift, x, y)

    @classmethod
    def from_c(cls, text, step_bits, bias, shift_offset, shift, x=S16, y=S16, block=16):
        arrays = texts.c_arrays(text)
        tables = [texts.c_bytes(text, ("int16_t",), next((name for name in arrays if name.endswith(end)), end))
                  for end in ("lut_ab", "lut_cd")]
        return cls.parse(*tables, step_bits, bias, shift_offset, shift, x, y, block)

    def index(self, code):
        return min((code >> self.step_bits) + self.bias, len(self.pairs) - 1)

    def accumulate(self, code):
        j = self.index(code)
        need(j >= 0, f"aie: entry {j} at code {code}")
        slope, offset = self.pairs[j]
        return slope * (code & ((1 << self.step_bits) - 1)) + (offset << self.shift_offset)

    def evaluate(self, code, rounding=floor, saturates=False):
        value = rounding(self.accumulate(code), self.shift)
        return clip(value, S16) if saturates else wrap(value, 16)

    def check(self, rounding=floor):
        count = len(self.pairs)
        need(count & (count - 1) == 0, f"aie: {count} entries, not a power of two")
        need(self.step_bits >= 3, f"aie: step_bits {self.step_bits} is below 3")
        need(self.bias == -(self.x.low >> self.step_bits), f"aie: bias {self.bias} is not -(qmin >> step_bits)")
        need((self.x.high >> self.step_bits) + self.bias < count, "aie: the last codes have no entry of their own")
        need(min(self.shift_offset, self.shift) >= 0, "aie: a shift is below 0")
        for code in range(self.x.low, self.x.high + 1):
            value = rounding(self.accumulate(code), self.shift)
            need(holds(S16, value) and holds(self.y, value), f"aie: {value} at code {code} leaves the output")


# -- nvdla --------------------------------------------------------------------------------------------------------------

NvdlaTable = collections.namedtuple("NvdlaTable", "values select start end under over")


class Nvdla:
    """struct dla_lut_param, 700 bytes; under and over are (scale, shift)."""
    profile = "nvdla"

    def __init__(self, tables, priorities, method, x, y):
        self.tables, self.priorities, self.method, self.x, self.y = tables, priorities, method, x, y

    @classmethod
    def parse(cls, data, x=S16, y=S16):
        need_size("nvdla", data, 700)
        need_zero("nvdla", data, [645, 647, 683, 687, 691, 695])
        values = struct.unpack("<65h", data[:130]), struct.unpack("<257h", data[130:644])
        select = struct.unpack("<bxbx", data[644:648])
        limits = [wrap(value, 32) for value in struct.unpack("<4Q", data[648:680])]
        slopes = [struct.unpack("<hbx", data[at:at + 4]) for at in (680, 684, 688, 692)]
        return cls([NvdlaTable(values[k], select[k], limits[2 * k], limits[2 * k + 1], slopes[2 * k], slopes[2 * k + 1])
                    for k in (0, 1)], tuple(data[696:699]), data[699], x, y)

    @staticmethod
    def look_up(table, x):
        """("under", "over" or "hit", value before the choice)."""
        if x <= table.start:
            scale, shift = table.under
            return "under", clip(table.values[0] + half_away((x - table.start) * scale, shift), S32)
        i = (x - table.start) >> table.select
        if i >= len(table.values) - 1:
            scale, shift = table.over
            return "over", clip(table.values[-1] + half_away((x - table.end) * scale, shift), S32)
        f, whole = (x - table.start) & ((1 << table.select) - 1), 1 << table.select
        return "hit", half_away(table.values[i] * (whole - f) + table.values[i + 1] * f, table.select)

    def evaluate(self, code):
        need(holds(S32, code), f"nvdla: no input {code}")
        found = [self.look_up(table, code) for table in self.tables]
        kinds = [kind for kind, _ in found]
        hybrid, underflow, overflow = self.priorities
        if kinds.count("hit") == 1:
            return found[kinds.index("hit")][1]
        chosen = underflow if kinds == ["under"] * 2 else overflow if kinds == ["over"] * 2 else hybrid
        return found[chosen][1]

    def check(self):
        need(self.method == 1, f"nvdla: method {self.method}, not 1 (linear)")
        need(all(priority in (0, 1) for priority in self.priorities), f"nvdla: priorities {self.priorities}")
        for name, table in zip(("LE", "LO"), self.tables):
            need(0 <= table.select <= 31, f"nvdla: {name} index_select {table.select} is not 0..31")
            for _, shift in (table.under, table.over):
                need(holds(full(5, True), shift), f"nvdla: {name} shift {shift} needs more than 5 bits")
        for code in ends(self.x, [table.start + (i << table.select) for table in self.tables
                                  for i in range(len(table.values))]):
            need(holds(self.y, self.evaluate(code)), f"nvdla: {self.evaluate(code)} at code {code} leaves the output")
