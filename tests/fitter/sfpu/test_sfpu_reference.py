#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of the SFPU, read from the headers that pwlc emits and evaluated by fractions at every code of bf16: pwlc's
codes, its certificate, the registers that the header loads, and the twin in C: TAP.
usage: test_sfpu_reference.py PWLC CC..."""
import fractions
import json
import math
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

PWLC, CC = os.path.abspath(sys.argv[1]), sys.argv[2:]
LEAST = fractions.Fraction(1, 1 << 126)  # the least number that is not subnormal
CODES = 65536

GELU = "0x37e7322b,0x38e138f3,0x38003852,0xb12286d8,0xb437b479,0x7c00afa4"
SIGMOID = "0x32f433d9,0x300a318a,0x7c002a35,0x23c87c00,0x30272baa,0x37ff34cc"
TANH = "0x389c3bb2,0x2e2c3498,0x7c002900,0x322c7c00,0x3a2537b6,0x3c003b10"
# What tt-metal's pull requests measured on a chip, where they did: the largest error in ULP, whose unit is at least
# 2^-15, as follows from their figures; the largest absolute error, and the mean.
CASES = [
    (["import", "tanh", "--layout", "fp8x3", "--words", "0x1dff,0x481a,0xff00"], ("37.03", "0.14466", "0.000676")),
    (["import", "tanh", "--words", TANH], ("9.995867", "0.018351593", "1.402636e-4")),
    (["import", "sigmoid", "--layout", "fp16x6-4", "--words", SIGMOID], (None, "0.017742", None)),
    (["import", "sigmoid", "--layout", "fp8x3", "--words", "0x3dff,0x21d8,0xff10"], (None, "0.1192", None)),
    (["import", "gelu", "--words", GELU, "--chip", "blackhole", "--store", "nearest"], (None, None, None)),
    (["import", "gelu", "--layout", "fp16x3", "--words", "0x32000000,0xb80086d8,0x38007c00"], (None, None, None)),
    (["fit", "sigmoid", "--layout", "fp8x3", "--keep-zero", "--keep-ends"], (None, None, None)),
    (["fit", "gelu", "--range=-3:8", "--keep-zero", "--store", "nearest"], (None, None, None)),
]
FUNCTIONS = {
    "tanh": math.tanh,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)) if x > -700 else math.exp(x) if x > -740 else 0.0,
    "gelu": lambda x: 0.5 * x * math.erfc(-x / math.sqrt(2)),
}
STUB = """#include <cstdint>
#include <cstdio>
static std::uint32_t lreg[8], issued[2];
#define TTI_SFPLOADI(at, mode, value) (lreg[at] = (mode) == 2 ? (value) : (mode) == 10 ? \\
    (lreg[at] & 0xffff0000u) | (value) : (lreg[at] & 0xffffu) | static_cast<std::uint32_t>(value) << 16)
#define TTI_SFPLUT(vd, mod, zero) (issued[0] = (vd), issued[1] = (mod) + (zero))
#define TTI_SFPLUTFP32(vd, mod) (issued[0] = (vd), issued[1] = (mod))
"""


def pwlc(*arguments):
    return subprocess.run([PWLC, "sfpu", *arguments], check=True, capture_output=True, text=True).stdout


def real(code):
    return struct.unpack(">f", struct.pack(">I", code << 16))[0]


def rounded(value):
    """A fraction to fp32, to nearest even; no subnormal numbers. Infinite where it is too large."""
    if value == 0:
        return fractions.Fraction(0)
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length() - 24
    while size >= fractions.Fraction(2) ** (exponent + 24):
        exponent += 1
    unit = fractions.Fraction(2) ** exponent
    size = round(size / unit) * unit  # Python's round takes ties to even
    if size < LEAST:
        return fractions.Fraction(0)
    if size >= 1 << 128:
        return math.inf if value > 0 else -math.inf
    return size if value > 0 else -size


def coefficient(code, bits):
    width, bias = (4, 0) if bits == 8 else (10, 15)
    fields = code >> width & (7 if bits == 8 else 31)
    if code == 0xff and bits == 8 or fields == 31 and bits == 16:
        return fractions.Fraction(0)
    power = -fields if bits == 8 else fields - bias
    size = (1 + fractions.Fraction(code & ((1 << width) - 1), 1 << width)) * fractions.Fraction(2) ** power
    return -size if code >> (bits - 1) else size


class Header:
    """What a kernel knows after it has included the header."""

    def __init__(self, text):
        words = re.search(r"_registers\[\d\] = \{(.*)\};", text).group(1)
        self.words = [int(word, 16) for word in words.split(",")]
        self.modifier = int(re.search(r"_modifier = (\d+);", text).group(1))
        self.is_sfplut = "TTI_SFPLUT(VD" in text
        added = re.search(r"TTI_SFPADDI\((0x\w+), VD, 0\)", text)
        self.constant = fractions.Fraction(real(int(added.group(1), 16))) if added else fractions.Fraction(0)
        self.adds_half = "add x * 0.5" in text
        self.is_nearest = "SFP_STOCH_RND" in text
        self.pairs = [tuple(coefficient(code, self.bits()) for code in pair) for pair in self.codes()]

    def bits(self):
        return 8 if self.is_sfplut else 16

    def codes(self):
        """Slope and offset of each segment."""
        low, high = [w & 0xffff for w in self.words], [w >> 16 for w in self.words]
        if self.is_sfplut:
            return [(w >> 8, w & 0xff) for w in self.words]
        if len(self.words) == 3:
            return list(zip(high, low))
        return [(half[k], half[k + 3]) for k in range(3) for half in (low, high)]

    def breaks(self):
        if len(self.pairs) == 3:
            return [1, 2]
        return [0.5, 1, 1.5, 2, 4 if self.modifier & 1 else 3]

    def result(self, code):
        x = fractions.Fraction(real(code) if code & 0x7f80 else 0)
        slope, offset = self.pairs[sum(abs(x) >= at for at in self.breaks())]
        y = rounded(slope * abs(x) + offset)
        if self.modifier & 4:
            y = -abs(y) if code >> 15 else abs(y)
        if self.adds_half:
            y = y if isinstance(y, float) else rounded(y + rounded(x / 2))
        elif not isinstance(y, float):
            y = rounded(y + self.constant)
        return stored(y, self.is_nearest)


def stored(y, is_nearest):
    bits = struct.unpack(">I", struct.pack(">f", float(y)))[0]
    if is_nearest and abs(y) != math.inf:
        bits += 0x8000
    return bits >> 16


def is_finite(code):
    return code & 0x7fff < 0x7f80


def same(one, other):
    """Codes of the same number: the sign of a zero may differ."""
    return one == other or (one | other) & 0x7fff == 0


def errors(document, codes):
    """The certificate's numbers, from the result's codes: largest and mean, of ULP and absolute. And the largest in ULP
    of at least 2^-15."""
    function = FUNCTIONS[document["function"]]
    low, high = (float(end) if end else sign * math.inf for sign, end in zip((-1, 1), document["range"].split(":")))
    ulp, distance, coarse = [], [], 0
    for code in filter(is_finite, range(CODES)):
        x = real(code) if code & 0x7f80 else 0.0
        if not low <= x <= high:
            continue
        value = function(x)
        exponent = math.frexp(value)[1] if value else -200
        distance.append(abs(real(codes[code]) - value))
        ulp.append(distance[-1] / max(math.ldexp(1, exponent - 8), 2.0 ** -126))
        coarse = max(coarse, distance[-1] / max(math.ldexp(1, exponent - 8), 2.0 ** -15))
    return [max(ulp), math.fsum(ulp) / len(ulp), max(distance), math.fsum(distance) / len(distance), coarse]


def check_case(arguments, published):
    pwlc(*arguments, "-o", "table.json")
    document = json.loads(pathlib.Path("table.json").read_text())
    text = pwlc("emit", "table.json", "--format", "llk")
    header = Header(text)
    codes = [int(line.split()[1], 16) for line in pwlc("eval", "table.json", "--all").splitlines()]
    for code in filter(is_finite, range(CODES)):
        expected = header.result(code)
        assert same(codes[code], expected), f"{code:#06x}: {codes[code]:#06x}, by fractions {expected:#06x}"
    claims = document["certificate"]
    found = errors(document, codes)
    for name, value in zip(("max_ulp", "mean_ulp", "max_abs", "mean_abs"), found):
        assert math.isclose(claims[name], value, rel_tol=6e-6, abs_tol=1e-12), f"{name}: {claims[name]}, is {value}"
    for value, figure in zip((found[4], found[2], found[3]), published):
        digits = len(re.sub(r"e.*|[.]|^0[.]0*", "", figure)) if figure else 1
        assert figure is None or f"{value:.{digits - 1}e}" == f"{float(figure):.{digits - 1}e}", \
            f"published {figure}, is {value}"
    check_header(document, text, header)
    check_twin(document, codes)


def check_header(document, text, header):
    """The header compiles, loads what it says, and issues its instruction."""
    name = document["function"]
    pathlib.Path("ckernel_ops.h").write_text(STUB)
    pathlib.Path("lut.h").write_text(text)
    pathlib.Path("lut.cpp").write_text(
        f'#include "lut.h"\nint main()\n{{\n    pwl_sfpu::{name}_init();\n    pwl_sfpu::{name}_line<7>();\n'
        '    for (int k = 0; k < 7; k += k == 2 ? 2 : 1)\n        std::printf("%u ", lreg[k]);\n'
        '    std::printf("%u %u\\n", issued[0], issued[1]);\n}\n')
    subprocess.run([*CC, "-x", "c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I.", "-o", "lut", "lut.cpp"],
                   check=True)
    loaded = [int(word) for word in subprocess.run(["./lut"], check=True, capture_output=True).stdout.split()]
    words = header.words + [0] * (6 - len(header.words))
    assert loaded == words + [7, header.modifier], f"loaded {loaded}, the header says {words}"
    assert list(document["registers"].values()) == [f"{word:#010x}" for word in header.words]


def check_twin(document, codes):
    pathlib.Path("twin.h").write_text(pwlc("emit", "table.json", "--format", "c"))
    pathlib.Path("twin.c").write_text(
        '#include <stdio.h>\n#include "twin.h"\nint main(void)\n{\n    for (unsigned code = 0; code < 65536; code++)\n'
        f'        printf("%u\\n", pwl_sfpu_{document["function"]}((uint16_t)code));\n    return 0;\n}}\n')
    subprocess.run([*CC, "-std=c11", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-o",
                    "twin", "twin.c", "-lm"], check=True)
    twin = [int(line) for line in subprocess.run(["./twin"], check=True, capture_output=True).stdout.split()]
    for code in filter(is_finite, range(CODES)):
        assert same(twin[code], codes[code]), f"the twin at {code:#06x}: {twin[code]:#06x}, not {codes[code]:#06x}"


def main():
    failed = False
    print(f"1..{len(CASES)}")
    for number, (arguments, published) in enumerate(CASES, 1):
        try:
            check_case(arguments, published)
            print(f"ok {number} - {' '.join(arguments)}", flush=True)
        except (AssertionError, subprocess.CalledProcessError) as error:
            failed = True
            print(f"not ok {number} - {' '.join(arguments)}\n# {error} {getattr(error, 'stderr', '')}", flush=True)
    return failed


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.exit(main())
