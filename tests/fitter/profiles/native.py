# SPDX-License-Identifier: GPL-3.0-or-later
"""A second evaluation of quant-gru's C++ and of MLI's C: the emitted text is compiled beside the published structure, and
the compiler, not a pattern, reads its fields. Needs gcc, and g++ with C++20."""
import re
import shutil
import struct
import subprocess

from consumers import QuantGru
from texts import need, without_comments

PROGRAM = """
#include <cstddef>
#include <cstdint>
#include <cstdio>
{structures}
{text}
static int64_t shift_half_even(int64_t p, int n)
{{
    if (n <= 0)
        return (int64_t)((uint64_t)p << -n);
    const int64_t rest = p & (((int64_t)1 << n) - 1), half = (int64_t)1 << (n - 1), quotient = p >> n;
    return quotient + (rest > half || (rest == half && (quotient & 1)));
}}
static int32_t evaluate(const SigmoidLUT &lut, int32_t x)
{{
    x = x < {x.low} ? {x.low} : x > {x.high} ? {x.high} : x;
    int i = 0;
    while (i < 15 && x >= lut.{array}[i].threshold)
        i++;
    const int64_t product = (int64_t)lut.{array}[i].q_b * (x - lut.zp_x);
    const int32_t term = (int32_t)shift_half_even(product, lut.{array}[i].n_BX_total);
    const int32_t y = (int32_t)((uint32_t)term + (uint32_t)lut.{array}[i].term_c_precomputed);
    return y < {y.low} ? {y.low} : y > {y.high} ? {y.high} : y;
}}
int main()
{{
    static_assert(sizeof(SigmoidLUT) == 276 && offsetof(SigmoidLUT, zp_x) == 256 && offsetof(SigmoidLUT, zp_y) == 264);
    std::fwrite(&{variable}, sizeof {variable}, 1, stdout);
    for (int32_t x = {x.low}; x <= {x.high}; x++) {{
        const int32_t y = evaluate({variable}, x);
        std::fwrite(&y, sizeof y, 1, stdout);
    }}
    return 0;
}}
"""

STRUCTURES = """
struct {segment} {{
    int32_t q_b;
    int8_t n_BX_total;
    int32_t term_c_precomputed;
    int32_t threshold;
}};
struct SigmoidLUT {{
    {segment} {array}[16];
    int32_t zp_x;
    int8_t shift_bits_x;
    int8_t shift_bits_y;
    int32_t zp_y;
    float {scale_x};
    float {scale_y};
}};
"""


def has_compiler():
    return shutil.which("g++") is not None


def run_quant_gru(text, x, y, folder):
    """Bytes of the structure, and the outputs of every input code. Names that the format leaves open (the array, the
    type of a segment, the floats) are those of the text; a text that brings the structures along is taken with them."""
    plain = without_comments(text)
    variable = re.search(r"\bSigmoidLUT\s+(\w+)\s*=?\s*\{", plain)
    need(variable, "quant-gru: no variable of type SigmoidLUT")
    array = re.search(r"\.(\w+)\s*=\s*\{[\s{]*\w*\s*\{?\s*\.q_b", plain)
    segment = re.search(r"\b([A-Za-z_]\w*)\s*\{\s*\.q_b", plain)
    scales = [name for name, _ in QuantGru.floats(text)] or ["scale_x", "scale_y"]
    names = {"array": array.group(1) if array else "segments", "segment": segment.group(1) if segment else "Segment"}
    structures = "" if re.search(r"\bstruct\s+SigmoidLUT\s*\{", plain) else STRUCTURES.format(
        scale_x=scales[0], scale_y=scales[1], **names)
    text = re.sub(r"(?m)^\s*#\s*include\s*\".*", "", text)
    source, program = folder / "quant_gru.cpp", folder / "quant_gru"
    source.write_text(PROGRAM.format(structures=structures, text=text, variable=variable.group(1), x=x, y=y,
                                     array=names["array"]))
    built = subprocess.run(["g++", "-std=c++20", "-O1", "-Wall", "-Werror", "-o", str(program), str(source)],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    need(built.returncode == 0, f"quant-gru: g++ says {built.stdout[:2000]}")
    output = subprocess.run([str(program)], stdout=subprocess.PIPE, check=True).stdout
    count = x.high - x.low + 1
    need(len(output) == 276 + 4 * count, f"quant-gru: the program wrote {len(output)} bytes")
    return output[:276], struct.unpack(f"<{count}i", output[276:])


MLI = """
#include <stdint.h>
#include <stdio.h>
typedef enum {{ MLI_EL_FX_16 = 0x10 }} mli_element_type;
typedef struct {{ uint32_t capacity; union {{ int32_t *pi32; int16_t *pi16; }} mem; }} mli_data_container;
typedef struct {{
    mli_data_container data;
    mli_element_type type;
    int32_t length, in_frac_bits, out_frac_bits, input_offset, output_offset;
}} mli_lut;
{text}
static const mli_lut lut = MLI_LUT_OF({name});
int main(void)
{{
    const int shift = {fraction} - lut.in_frac_bits;
    if (lut.data.capacity != 2u * (uint32_t)lut.length || lut.type != MLI_EL_FX_16 || lut.output_offset)
        return 1;
    for (int32_t x = -32768; x <= 32767; x++) {{
        int32_t i = (x >> shift) + lut.input_offset;
        i = i < 0 ? 0 : i > lut.length - 2 ? lut.length - 2 : i;
        const int32_t from = lut.data.mem.pi16[i], difference = (int16_t)(from - lut.data.mem.pi16[i + 1]);
        const int16_t y = (int16_t)(from - ((difference * (x & ((1 << shift) - 1)) + (1 << (shift - 1))) >> shift));
        fwrite(&y, sizeof y, 1, stdout);
    }}
    return 0;
}}
"""


def run_mli(text, name, fraction, folder):
    """The outputs of every code, of the structure that the text's own macro makes, in C and in C++."""
    found = []
    for suffix, compiler in ((".c", ["gcc", "-std=c11"]), (".cpp", ["g++", "-std=c++17"])):
        source, program = folder / f"mli{suffix}", folder / f"mli_{suffix[1:]}"
        source.write_text(MLI.format(text=text, name=name, fraction=fraction))
        built = subprocess.run([*compiler, "-O1", "-Wall", "-Werror", "-o", str(program), str(source)],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        need(built.returncode == 0, f"mli: {compiler[0]} says {built.stdout[:2000]}")
        found.append(struct.unpack("<65536h", subprocess.run([str(program)], stdout=subprocess.PIPE, check=True).stdout))
    need(found[0] == found[1], "mli: C and C++ differ")
    return found[0]
