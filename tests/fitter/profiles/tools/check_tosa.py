# SPDX-License-Identifier: GPL-3.0-or-later
"""check_tosa.py PWLC: tosa-opt takes the text of tosa8, tosa16 and tosa-softmax8, and Arm's reference model of TOSA
gives at every code what pwlc eval gives."""
import sys
import zlib

import numpy as np

from tables import Pwlc, break_number, check, difference, end, run, squares


def model(text, codes):
    """Outputs of the reference model for a file of MLIR."""
    flatbuffer, out = text.with_suffix(".tosa"), text.with_suffix(".out.npy")
    run("tosa-opt", "--tosa-attach-target=specification_version=1.0 level=8k profiles=pro_int extensions=int16",
        "--tosa-validate=strict-op-spec-alignment", "--tosa-serialize", f"-tosa-flatbuffer-filename={flatbuffer}", text)
    run("tosa_reference_model", "--tosa_file", flatbuffer, "--ifm_name", "TosaInput_0", "--ifm_file", codes,
        "--ofm_name", "TosaOutput_0", "--ofm_file", out)
    return np.load(out).ravel()


def check_functions(pwlc, profile, bits):
    for function in "sigmoid", "tanh", "gelu":
        table = pwlc.fit(function, profile)
        text = pwlc.emit(table, f"{profile}:mlir", ".mlir")
        got, expected = model(text, pwlc.codes(bits)), pwlc.outputs(table, bits)
        check(f"{profile} {function}: the reference model gives pwlc's {expected.size} outputs",
              difference(got, expected) or ("" if got.dtype == expected.dtype else f"of type {got.dtype}"))
    text.write_text(break_number(text.read_text(), "dense<[", 100))
    check(f"{profile}: another number at 100 is seen",
          "" if difference(model(text, pwlc.codes(bits)), expected) else "it is not")


def check_softmax(pwlc):
    """The sum of four tables, at 128 (x - max); all other codes are interpolated, and are not looked up."""
    table = pwlc.fit("exp", "tosa-softmax8", "--in", "s9:2^-4:0")
    got = model(pwlc.emit(table, "tosa-softmax8:mlir", ".mlir"), pwlc.codes(16))[::128]
    check("tosa-softmax8 exp: the reference model gives pwlc's 512 outputs", difference(got, pwlc.outputs(table, 9)))


def check_vector(pwlc):
    """The table of squares: T[i] = floor((i - 256)^2 / 2) - 16384."""
    check("the table of squares has its checksum", difference([zlib.crc32(squares().tobytes())], [0x9ad45037]))
    table = pwlc.read("squares", squares().tobytes(), "tosa16:bytes")
    got = model(pwlc.emit(table, "tosa16:mlir", ".mlir"), pwlc.codes(16))
    expected = {-32768: 16384, -32767: 16382, -32705: 16258, -32641: 16130, 0: -16384, 128: -16384, 129: -16384,
                32703: 16254, 32767: 16382}
    check("the reference model gives the outputs that are written down of the table of squares",
          difference(got[np.array(list(expected)) + 32768], list(expected.values())))


def main():
    pwlc = Pwlc(sys.argv[1])
    check_functions(pwlc, "tosa8", 8)
    check_functions(pwlc, "tosa16", 16)
    check_softmax(pwlc)
    check_vector(pwlc)
    end()


main()
