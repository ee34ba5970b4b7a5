# SPDX-License-Identifier: GPL-3.0-or-later
"""The bytes of the vectors of the table formats, each from the formula of its vector, and the same tables as texts.

image(profile) gives the bytes: of aie one of the two equal arrays, of finn the texts by file name.
"""
import json
import math
import struct

import softmax


def points():
    return [(i - 256) ** 2 // 2 - 16384 for i in range(513)]


def doubled():
    """sat8(2x), by code."""
    return {x: max(-128, min(127, 2 * x)) for x in range(-128, 128)}


def espdl16_table():
    """Of ESP-DL's own test, 256 codes apart."""
    return [109 * i + 37 for i in range(257)]


def espdl_linear_table():
    return [i * i // 4 - 1000 for i in range(257)]


def mli_recipe(function, count, in_frac_bits):
    """As MLI's lutfx.py makes a table: 0 in the middle, halves away from it."""
    values = [function((i - count // 2) / 2 ** in_frac_bits) * 32768 for i in range(count)]
    return [min(max(int(value + 0.5 if value > 0 else value - 0.5), -32768), 32767) for value in values]


def mli_text(data, in_frac_bits, input_offset, out_frac_bits=15):
    return c_array("int16_t", data, "tanh_data") + "".join(
        f"enum {{ tanh_{name} = {value} }};\n" for name, value in (
            ("in_frac_bits", in_frac_bits), ("out_frac_bits", out_frac_bits), ("input_offset", input_offset)))


def mli_image():
    """MLI's own table of tanh."""
    return mli_text(mli_recipe(math.tanh, 344, 5), 5, 172)


def ethosu16_image():
    t = points()
    return b"".join(struct.pack("<I", ((t[i + 1] - t[i]) % 65536 << 16) | t[i] % 65536) for i in range(512))


def quant_gru_fields():
    return [(100 * (i - 7), 8, 1000 * i, min(4096 * (i + 1), 65535)) for i in range(16)]


def quant_gru_image():
    data = b"".join(struct.pack("<i", q_b) + struct.pack("b", n) + bytes(3) + struct.pack("<ii", c, threshold)
                    for q_b, n, c, threshold in quant_gru_fields())
    return data + struct.pack("<i", 24576) + struct.pack("bb", 12, 16) + bytes(2) + struct.pack("<i", -1) + bytes(8)


def aimet_fields():
    """start, q_b, n, c of each segment."""
    return [(4096 * i - 32768, 100 * (7 - i), 8, 1000 * i) for i in range(16)]


def aimet_image():
    fields = aimet_fields()
    bits = "".join(format(start % 2 ** 17, "017b")[::-1] for start, _, _, _ in fields)
    return (struct.pack("<16i", *(c for _, _, _, c in fields)) + struct.pack("16b", *(n for _, _, n, _ in fields))
            + struct.pack("<16h", *(q_b for _, q_b, _, _ in fields))
            + bytes(int(bits[k:k + 8][::-1], 2) for k in range(0, len(bits), 8)))


def finn_thresholds():
    return [16 * k - 127 for k in range(15)]


def finn_files():
    t = finn_thresholds()
    return {f"threshs_0_{s}.dat": "".join(f"{t[(j << (4 - s)) + 2 ** (3 - s) - 1] % 256:02x}\n" for j in range(2 ** s))
            for s in range(4)}


def aie_image(block=16):
    once = b"".join(struct.pack("<hh", j - 128, 10 * (j - 128)) for j in range(256))
    return b"".join(once[k:k + block] * 2 for k in range(0, len(once), block))


def nvdla_image():
    data = bytearray(700)
    data[130:644] = struct.pack("<257h", *(100 * i - 12800 for i in range(257)))
    data[646] = 8
    # The format leaves the upper halves open; with the CRC of its vector they are 0, of a negative limit too.
    for place, limit in ((648, 2 ** 31 - 1), (664, -32768), (672, 32768)):
        data[place:place + 8] = struct.pack("<Q", limit % 2 ** 32)
    data[692:695] = struct.pack("<hb", 3, 1)
    data[696:700] = bytes([1, 1, 1, 1])
    return bytes(data)


def gna_image():
    entries = ((-2 ** 31, 0, -100, 0), (-8192, 1, -100, 800), (0, 0, 0, 256), (8192, 2, 8192, -32768))
    return b"".join(struct.pack("<ihh", base + k, y, slope) for base, k, y, slope in entries)


def k210_image():
    entries = [(-2 ** 35, 0, 0)] + [(1000 * (i - 8), 64 * i, 14) for i in range(1, 16)]
    words = [(start % 2 ** 36 << 24) + (multiplier << 8) + shift for start, multiplier, shift in entries]
    return struct.pack("<16Q", *words) + bytes(10 * i for i in range(16))


IMAGES = {
    "tosa8": lambda: struct.pack("256b", *doubled().values()),
    "ethosu8": lambda: struct.pack("256b", *doubled().values()),
    "tflm8": lambda: struct.pack("256b", *(doubled()[(i + 128) % 256 - 128] for i in range(256))),
    "executorch8": lambda: struct.pack("256b", *doubled().values()),
    "xnnpack8": lambda: struct.pack("256B", *(doubled()[(i + 128) % 256 - 128] % 256 for i in range(256))),
    **{profile: lambda: struct.pack("<257h", *espdl16_table()) for profile in ("espdl16", "espdl16-p4")},
    "espdl16-linear": lambda: struct.pack("<257h", *espdl_linear_table()),
    "mli": mli_image,
    "tosa-softmax8": lambda: softmax.image(softmax.recipe(2 ** -4)),
    "tosa16": lambda: struct.pack("<513h", *points()),
    "tflm16": lambda: struct.pack("<513h", *points()),
    "ethosu16": ethosu16_image,
    "quant-gru": quant_gru_image,
    "aimet-pe": aimet_image,
    "finn": finn_files,
    "aie": aie_image,
    "nvdla": nvdla_image,
    "gna": gna_image,
    "k210": k210_image,
}


def image(profile):
    return IMAGES[profile]()


# -- Texts --------------------------------------------------------------------------------------------------------------

def mlir(values, bits, rescale=""):
    """A function as tosa-opt prints it; rescale: "", or attributes."""
    size = len(values)
    lines = ["module {", f"  func.func @table(%arg0: tensor<1x4xi{bits}>) -> tensor<1x4xi{bits}> {{",
             f'    %0 = "tosa.const"() <{{values = dense<{values}> : tensor<{size}xi{bits}>}}> : () -> '
             f"tensor<{size}xi{bits}>"]
    table = f"    %1 = tosa.table %arg0, %0 : (tensor<1x4xi{bits}>, tensor<{size}xi{bits}>) -> tensor<1x4xi"
    if not rescale:
        return "\n".join(lines + [f"{table}{bits}>", f"    return %1 : tensor<1x4xi{bits}>", "  }", "}", ""])
    lines.append(f"{table}32>")
    for name, value, kind in (("%2", 16384, "i16"), ("%3", 21, "i8"), ("%4", 0, "i32"), ("%5", 0, "i16")):
        lines.append(f'    {name} = "tosa.const"() <{{values = dense<{value}> : tensor<1x{kind}>}}> : () -> '
                     f"tensor<1x{kind}>")
    lines.append(f"    %6 = tosa.rescale %1, %2, %3, %4, %5 {{{rescale}}} : (tensor<1x4xi32>, tensor<1xi16>, "
                 "tensor<1xi8>, tensor<1xi32>, tensor<1xi16>) -> tensor<1x4xi16>")
    return "\n".join(lines + ["    return %6 : tensor<1x4xi16>", "  }", "}", ""])


RESCALE = ("input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, "
           "scale32 = false")


def c_array(kind, values, name="table"):
    return f"/* {len(values)} */\nstatic const {kind} {name}[{len(values)}] = {{\n{', '.join(map(str, values))},\n}};\n"


def gru_text():
    rows = "".join(f"        {{.q_b = {q_b}, .n_BX_total = {n}, .term_c_precomputed = {c}, .threshold = {threshold}}},\n"
                   for q_b, n, c, threshold in quant_gru_fields())
    return ('#include "elsewhere.h"\nstatic constexpr SigmoidLUT table = {\n    .segments = {\n' + rows + "    },\n"
            "    .zp_x = 24576,\n    .shift_bits_x = 12,\n    .shift_bits_y = 16,\n    .zp_y = -1, // of u16\n"
            "    .scale_x = 0.0f,\n    .scale_y = 0x0p+0f,\n};\n")


def aimet_text():
    fields = aimet_fields()
    tensor = {"scale": 2 ** -12, "zero_point": 0, "qmin": -32768, "qmax": 32767, "fmin": -8.0, "fmax": 32767 / 4096}
    after = [start for start, _, _, _ in fields[1:]] + [32767]
    return json.dumps({"table": {
        "quantization": {"input": tensor, "output": tensor, "coeff_b_bit_width": 16, "term_c_bit_width": 32,
                         "internal_accumulator_bit_width": 32},
        "num_segments": len(fields),
        "segments": [{"segment_id": i, "threshold_quantized": [start, after[i]],
                      "coefficients_quantized": {"q_b": q_b, "q_c": 0}, "shift_bits": {"n_bx_total": n},
                      "term_c_precomputed": c} for i, (start, q_b, n, c) in enumerate(fields)]}})


def npy(values, kind, shape):
    header = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    codes = {"f4": "f", "i2": "h"}
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(
        f"<{len(values)}{codes[kind]}", *values)


def patched(profile, place, new):
    data = image(profile)
    return data[:place] + new + data[place + len(new):]


def cut(profile):
    """The image without its last byte."""
    return image(profile)[:-1]


def gna(*entries):
    return b"".join(struct.pack("<ihh", *entry) for entry in entries)
