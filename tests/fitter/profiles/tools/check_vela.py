# SPDX-License-Identifier: GPL-3.0-or-later
"""check_vela.py PWLC: what Vela loads into the table memory of Ethos-U55, U65 and U85, for a model with a table of tosa8
or tosa16, is what pwlc writes for ethosu8 or ethosu16."""
import struct
import sys
import zlib

import numpy as np

from tables import Pwlc, break_number, check, difference, end, run, squares
from tflite_model import one_operator

ACCELERATORS = "ethos-u55-128", "ethos-u65-256", "ethos-u85-256"

# What a command stream must hold of a table: a DMA of its bytes, and one operation that uses a table.
HAS_PAYLOAD = 0x4000
DMA_START, DMA_LENGTH, POOL = 0x0010, 0x4032, 0x0005


class Compiled:
    """What Vela makes of a model for an accelerator: its constants and its commands."""

    def __init__(self, model, accelerator):
        out = model.parent / f"{model.stem}-{accelerator}"
        run("vela", model, "--accelerator-config", accelerator, "--output-format", "raw", "--output-dir", out)
        with np.load(out / f"{model.stem}_vela.npz") as arrays:
            self.constants = arrays["weight_data"].tobytes()
            self.stream = arrays["cmd_data"].tobytes()

    def commands(self):
        """(command, parameter) of each, from the driver's own words on; a command with bit 14 has 32 bits of payload."""
        words = struct.unpack(f"<{len(self.stream) // 4}I", self.stream)
        i = 8  # magic, configuration, version, two of the accelerator's, padding, length
        while i < len(words):
            command, parameter = words[i] & 0xffff, words[i] >> 16
            if command & HAS_PAYLOAD:
                i += 1
                parameter = words[i]
            yield command, parameter
            i += 1

    def problem(self, expected):
        """What is not as it should be: the constants are the table's bytes alone, loaded once, for one operation."""
        commands = list(self.commands())
        lengths = [parameter for command, parameter in commands if command == DMA_LENGTH]
        counts = [sum(command == wanted for command, _ in commands) for wanted in (DMA_START, POOL)]
        if lengths != [len(expected)] or counts != [1, 1]:
            return f"{counts[0]} loads of {lengths} bytes for {counts[1]} operations"
        return difference(self.constants, expected)


def serialise(text):
    """The flatbuffer of a file of MLIR."""
    flatbuffer = text.with_suffix(".tosa")
    run("tosa-opt", "--tosa-serialize", f"-tosa-flatbuffer-filename={flatbuffer}", text)
    return flatbuffer


def check_function(pwlc, function, bits):
    profile, memory = f"tosa{bits}", f"ethosu{bits}"
    table = pwlc.fit(function, profile)
    text = pwlc.emit(table, f"{profile}:mlir", ".mlir")
    expected = pwlc.emit(table, f"{memory}:bytes", ".bin").read_bytes()
    model = serialise(text)
    for accelerator in ACCELERATORS:
        check(f"{memory} {function}: Vela loads pwlc's {len(expected)} bytes into {accelerator}",
              Compiled(model, accelerator).problem(expected))
    text.write_text(break_number(text.read_text(), "dense<[", 100))
    check(f"{memory}: another number at 100 is seen",
          "" if Compiled(serialise(text), ACCELERATORS[0]).problem(expected) else "it is not")


def check_vector(pwlc):
    """The table of squares, whose slopes and values are of both signs."""
    table = pwlc.read("squares", squares().tobytes(), "tosa16:bytes")
    model = serialise(pwlc.emit(table, "tosa16:mlir", ".mlir"))
    for accelerator in ACCELERATORS:
        made = Compiled(model, accelerator).constants
        words = struct.unpack("<512I", made)
        check(f"the table of squares on {accelerator} has the words and the checksum that are written down",
              difference([words[0], words[1], words[100], zlib.crc32(made)],
                         [0xff004000, 0xff023f00, 0xff64ef88, 0xadd78998]))


def check_own(pwlc):
    """The tables that Vela makes itself of TensorFlow Lite's operators on int8."""
    for function, scale, zero in ("sigmoid", 8, -128), ("tanh", 7, 0):
        model = pwlc.folder / f"{function}.tflite"
        model.write_bytes(one_operator(function, 8, 256, 2 ** -4, 2 ** -scale, zero))
        table = pwlc.fit(function, "ethosu8", "--in", "s8:2^-4:0", "--out", f"s8:2^-{scale}:{zero}")
        expected = pwlc.emit(table, "ethosu8:bytes", ".bin").read_bytes()
        for accelerator in ACCELERATORS:
            check(f"ethosu8 {function}: Vela's own table for {accelerator} is pwlc's",
                  Compiled(model, accelerator).problem(expected))


def main():
    pwlc = Pwlc(sys.argv[1])
    check_function(pwlc, "gelu", 8)
    check_function(pwlc, "sigmoid", 16)
    check_vector(pwlc)
    check_own(pwlc)
    end()


main()
