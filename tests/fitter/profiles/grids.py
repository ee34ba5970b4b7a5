# SPDX-License-Identifier: GPL-3.0-or-later
"""Readers of tables whose values lie on an even grid of a width that the table's size or text tells: ESP-DL, embARC
MLI. consumers.py tells what a reader is."""
import re
import struct

import texts
from arithmetic import S16, clip, half_up, holds, wrap
from texts import need


class Espdl16:
    """int16[65536 / step + 1], the nearest entry, the upper one half way: ESP-DL's C, on the ESP32-S3 and others."""
    profile = "espdl16"
    x = y = S16

    def __init__(self, table):
        self.table = list(table)
        need(len(self.table) > 1, f"{self.profile}: {len(self.table)} entries")
        self.step = 65536 // (len(self.table) - 1)

    @classmethod
    def parse(cls, data):
        need(len(data) % 2 == 0, f"{cls.profile}: {len(data)} bytes")
        return cls(struct.unpack(f"<{len(data) // 2}h", data))

    @classmethod
    def from_c(cls, text, name=None):
        """With the entry that the kernels read beyond the last one, aligned to 16 bytes."""
        need(re.search(r"int16_t\s+__attribute__\(\(aligned\(16\)\)\)", text), f"{cls.profile}: not aligned to 16 bytes")
        data = texts.c_bytes(text, ("int16_t",), name)
        need(data[-2:] == bytes(2), f"{cls.profile}: the last entry is not the one that is not used")
        return cls.parse(data[:-2])

    @classmethod
    def from_py(cls, text):
        """The table of the twin; lookup(), which the text has, is not looked at."""
        names = {}
        need(text.count("TABLE = [") == 1, f"{cls.profile}: not one TABLE")
        exec(text[text.index("TABLE = ["):text.index("]") + 1], names)
        return cls(names["TABLE"])

    def index(self, code):
        value = code + 32768
        below, remainder = divmod(value, self.step)
        return below + (remainder >= self.step / 2)

    def evaluate(self, code):
        need(holds(S16, code), f"{self.profile}: no input {code}")
        return self.table[self.index(code)]

    def check(self):
        need(self.step & (self.step - 1) == 0 and self.step > 1 and len(self.table) == 65536 // self.step + 1,
             f"{self.profile}: {len(self.table)} entries, not one more than a power of two")
        for i, value in enumerate(self.table):
            need(holds(S16, value), f"{self.profile}: table[{i}] is {value}")


class Espdl16P4(Espdl16):
    """The ESP32-P4's: half way the entry of even index."""
    profile = "espdl16-p4"

    def index(self, code):
        below, remainder = divmod(code + 32768, self.step)
        return below + (2 * remainder > self.step or (2 * remainder == self.step and below % 2 == 1))


class Espdl16Linear(Espdl16):
    """That of the versions before 3.3.8: T[i] + f * (T[i + 1] - T[i]) / step, where C drops what is behind the point."""
    profile = "espdl16-linear"

    def evaluate(self, code):
        need(holds(S16, code), f"{self.profile}: no input {code}")
        i, f = divmod(code + 32768, self.step)
        return self.table[i] + int(f * (self.table[i + 1] - self.table[i]) / self.step)


class Mli:
    """mli_lut of int16, and a tensor of int16 of so many fraction bits: mli_prv_lut_ref.h. A difference and a result have
    16 bits, and wrap."""
    profile = "mli"
    x = y = S16

    def __init__(self, data, in_frac_bits, out_frac_bits, input_offset, tensor_frac_bits=12):
        self.data, self.offset = list(data), input_offset
        self.in_frac_bits, self.out_frac_bits = in_frac_bits, out_frac_bits
        self.shift = tensor_frac_bits - in_frac_bits

    @classmethod
    def from_c(cls, text, tensor_frac_bits=12):
        arrays = [array for name, array in texts.c_arrays(text).items() if name.endswith("_data")]
        need(len(arrays) == 1 and arrays[0].type == "int16_t", "mli: not one array of int16_t")
        numbers = {name: int(value) for name, value in re.findall(r"enum \{ \w+?_(in_frac_bits|out_frac_bits|input_offset) = "
                                                                  r"(-?\d+) \};", text)}
        need(len(numbers) == 3, f"mli: numbers {numbers}")
        return cls(arrays[0].values, tensor_frac_bits=tensor_frac_bits, **numbers)

    def evaluate(self, code):
        need(holds(S16, code), f"mli: no input {code}")
        i = min(max((code >> self.shift) + self.offset, 0), len(self.data) - 2)
        difference = wrap(self.data[i] - self.data[i + 1], 16)
        return wrap(self.data[i] - clip(half_up(difference * (code & (1 << self.shift) - 1), self.shift), S16), 16)

    def check(self):
        need(self.in_frac_bits >= 0, f"mli: in_frac_bits {self.in_frac_bits} is below 0")
        need(1 <= self.shift <= 15, f"mli: the input has {self.shift} bits more than the table, not 1 to 15")
        need(len(self.data) >= 2, f"mli: {len(self.data)} entries")
        for i, (value, after) in enumerate(zip(self.data, self.data[1:])):
            need(holds(S16, value - after), f"mli: data[{i}] - data[{i + 1}] needs more than 16 bits")
