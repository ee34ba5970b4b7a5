# SPDX-License-Identifier: GPL-3.0-or-later
"""Readers of tables whose values lie on an even grid of a width that the table's size tells: ESP-DL. consumers.py tells
what a reader is."""
import re
import struct

import texts
from arithmetic import S16, holds
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
