#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The vectors of the table formats: each image is built from its formula, its CRC-32 and its quoted bytes are compared,
and the readers (consumers.py) give the quoted outputs. Then each reader refuses what it must. TAP.

usage: vectors.py
"""
import ctypes
import fractions
import json
import math
import pathlib
import struct
import sys
import tempfile

import consumers
import edges
import images
import native
import softmax
from consumers import S8, S16, U8, U16, Range
from harness import accepted, check_bytes, end, outputs, refuses, same, tap
from images import IMAGES, image
from refusals import REFUSALS

# -- Roundings ----------------------------------------------------------------------------------------------------------

def check_roundings():
    """Against fractions, which know neither shifts nor signs."""
    half = fractions.Fraction(1, 2)
    rules = ((consumers.floor, math.floor), (consumers.half_up, lambda v: math.floor(v + half)),
             (consumers.half_away, lambda v: math.floor(abs(v) + half) * (-1 if v < 0 else 1)),
             (consumers.half_even, round))
    places = [(p, n) for p in list(range(-70, 71)) + [-2 ** 40 - 1, 2 ** 40 + 1] for n in range(-3, 7)]
    for rounding, rule in rules:
        same(f"{rounding.__name__}", (rounding(p, n) for p, n in places),
             (rule(p * fractions.Fraction(2) ** -n) for p, n in places))


# -- TOSA, Ethos-U, TFLM ------------------------------------------------------------------------------------------------

R16 = {-32768: 2097152, -32767: 2096896, -32705: 2081024, -32641: 2064640, 0: -2097152, 128: -2097152, 129: -2097150,
       32703: 2080512, 32767: 2096896}
Y16 = {-32768: 16384, -32767: 16382, -32705: 16258, -32641: 16130, 0: -16384, 128: -16384, 129: -16384, 32703: 16254,
       32767: 16382}


def check_tosa():
    check_bytes("tosa8", image("tosa8"), 256, 0x1b50db23, [(0, "80808080")])
    check_bytes("tosa16", image("tosa16"), 1026, 0x9ad45037, [])
    for name, reader in (("parse", consumers.Tosa8.parse(image("tosa8"))),
                         ("MLIR", consumers.Tosa8.from_mlir(images.mlir(list(images.doubled().values()), 8)))):
        accepted(f"tosa8, {name}: checks", reader.check)
        outputs(f"tosa8, {name}: outputs", reader.evaluate, images.doubled())
    for name, reader in (("parse", consumers.Tosa16.parse(image("tosa16"))),
                         ("MLIR", consumers.Tosa16.from_mlir(images.mlir(images.points(), 16, images.RESCALE)))):
        accepted(f"tosa16, {name}: checks", reader.check)
        outputs(f"tosa16, {name}: r", reader.interpolate, R16)
        outputs(f"tosa16, {name}: y", reader.evaluate, Y16)
    reader = consumers.Tosa16.parse(image("tosa16"))
    codes = range(-32768, 32768)
    same("tosa16: RESCALE is sat16(hu(r, 7))", map(reader.evaluate, codes),
         (consumers.clip(consumers.half_up(reader.interpolate(x), 7), S16) for x in codes))


def check_ethosu():
    check_bytes("ethosu8", image("ethosu8"), 256, 0x1b50db23, [(0, "80808080")])
    reader = consumers.Ethosu8.parse(image("ethosu8"))
    accepted("ethosu8: checks", reader.check)
    outputs("ethosu8: outputs", reader.evaluate, images.doubled())
    reader = consumers.Ethosu8.parse(bytes(255 - x for x in range(256)), U8, U8)
    accepted("ethosu8, u8: checks", reader.check)
    outputs("ethosu8, u8: entry x", reader.evaluate, {x: 255 - x for x in range(256)})

    data = image("ethosu16")
    check_bytes("ethosu16", data, 2048, 0xadd78998, [])
    reader = consumers.Ethosu16.parse(data)
    same("ethosu16: words", (f"{reader.words[i]:08x}" for i in (0, 1, 100)), ("ff004000", "ff023f00", "ff64ef88"))
    accepted("ethosu16: checks", reader.check)
    outputs("ethosu16: outputs", reader.evaluate, Y16)
    tosa = consumers.Tosa16.parse(image("tosa16"))
    codes = range(-32768, 32768)
    expected = [tosa.evaluate(x) for x in codes]
    same("ethosu16: all codes as tosa16", map(reader.evaluate, codes), expected)
    t = images.points()
    borrowed = consumers.Ethosu16([((t[i + 1] - t[i] << 16) + t[i]) % 2 ** 32 for i in range(512)])
    changed = sum(borrowed.evaluate(x) != y for x, y in zip(codes, expected))
    same("ethosu16: the borrow", (f"{borrowed.words[100]:08x}", changed), ("ff63ef88", 23922))


def runtime_points(function, scale):
    """The points of the runtime's recipe, 65535/512 codes apart: each is moved by half of what the line between it and
    the next misses in the middle. Outputs span -1..1 in 65535 steps of codes, hence the 65536/65535."""
    def nearest(value):
        return math.floor(abs(value) + 0.5) * (-1 if value < 0 else 1)
    low, step, to_codes = -32768 * scale, 65535 / 512 * scale, 32768 * 65536 / 65535
    found = []
    for i in range(512):
        value = nearest(function(low + i * step) * to_codes)
        between = nearest((function(low + (i + 1) * step) * to_codes + value) / 2)
        middle = nearest(function(low + (i + 0.5) * step) * to_codes)
        found.append(consumers.clip(value - nearest((between - middle) / 2), S16))
    return found + [consumers.clip(nearest(function(32767 * scale) * to_codes), S16)]


def largest_error(reader, function, scale):
    return max(abs(reader.evaluate(x) - function(x * scale) * 32768) for x in range(-32768, 32768))


def check_tflm():
    check_bytes("tflm8", image("tflm8"), 256, 0x9bf947a9, [(0, "00020406"), (252, "f8fafcfe")])
    check_bytes("tflm16", image("tflm16"), 1026, 0x9ad45037, [])
    signed = [value - 256 if value > 127 else value for value in image("tflm8")]
    for name, reader in (("parse", consumers.Tflm8.parse(image("tflm8"))),
                         ("C", consumers.Tflm8.from_c(images.c_array("int8_t", signed)))):
        accepted(f"tflm8, {name}: checks", reader.check)
        outputs(f"tflm8, {name}: outputs", reader.evaluate, images.doubled())
    for name, reader in (("parse", consumers.Tflm16.parse(image("tflm16"))),
                         ("C", consumers.Tflm16.from_c(images.c_array("int16_t", images.points())))):
        accepted(f"tflm16, {name}: checks", reader.check)
        outputs(f"tflm16, {name}: outputs", reader.evaluate, Y16)

    def sigmoid(v):
        return 1 / (1 + math.exp(-v))
    for function, apart_128, recipe in ((sigmoid, "1.265", "2.375"), (math.tanh, "3.798", "6.028")):
        nearest = [consumers.clip(math.floor(function(128 * (i - 256) / 4096) * 32768 + 0.5), S16) for i in range(513)]
        got = [largest_error(consumers.Tflm16(t), function, 2 ** -12)
               for t in (nearest, runtime_points(function, 2 ** -12))]
        same(f"tflm16: errors of {function.__name__}", (f"{error:.3f}" for error in got), (apart_128, recipe))


# -- quant-gru ----------------------------------------------------------------------------------------------------------

GRU = {1: 67197, 160: 66762, 4095: 56003, 4096: 49000, 24575: 5001, 24576: 6000, 32768: 11200, 33056: 11312,
       65535: 142997}


def structure_size(threshold, floats):
    segment = type("Segment", (ctypes.Structure,), {"_fields_": [
        ("q_b", ctypes.c_int32), ("n", ctypes.c_int8), ("c", ctypes.c_int32), ("threshold", threshold)]})
    return ctypes.sizeof(type("Table", (ctypes.Structure,), {"_fields_": [
        ("segments", segment * 16), ("zp_x", ctypes.c_int32), ("shift_x", ctypes.c_int8), ("shift_y", ctypes.c_int8),
        ("zp_y", ctypes.c_int32)] + [(f"float{k}", ctypes.c_float) for k in range(floats)]}))


def check_bytes_of_8_bits():
    """The layouts of tosa8 and tflm8, in files of others."""
    check_bytes("executorch8", image("executorch8"), 256, 0x1b50db23, [(0, "80808080")])
    check_bytes("xnnpack8", image("xnnpack8"), 256, 0x9bf947a9, [(0, "00020406"), (252, "f8fafcfe")])
    for name, reader in (("executorch8, parse", consumers.Executorch8.parse(image("executorch8"))),
                         ("xnnpack8, parse", consumers.Xnnpack8.parse(image("xnnpack8"))),
                         ("xnnpack8, C", consumers.Xnnpack8.from_c(images.c_array("uint8_t", image("xnnpack8"))))):
        accepted(f"{name}: checks", reader.check)
        outputs(f"{name}: outputs", reader.evaluate, images.doubled())
    reader = consumers.Xnnpack8.parse(bytes(255 - x for x in range(256)), U8, U8)
    outputs("xnnpack8, u8: entry x", reader.evaluate, {x: 255 - x for x in range(256)})


ESPDL = {
    "espdl16": {-32768: 37, -32767: 37, -32641: 37, -32640: 146, -3: 13989, -128: 13989, 0: 13989, 127: 13989, 128: 14098,
                32639: 27832, 32640: 27941, 32767: 27941},
    "espdl16-p4": {-32768: 37, -32767: 37, -32640: 37, -32639: 146, -3: 13989, -128: 13989, 0: 13989, 128: 13989,
                   129: 14098, 32639: 27832, 32640: 27941, 32767: 27941},
    "espdl16-linear": {-32768: -1000, -32767: -1000, -32000: -998, -3: 3095, 0: 3096, 1: 3096, 128: 3128,
                       1000: 3349, 32767: 15383}}


def check_espdl():
    for profile, expected in ESPDL.items():
        kind = consumers.READERS[profile]
        table = images.espdl_linear_table() if profile.endswith("linear") else images.espdl16_table()
        text = images.c_array("int16_t __attribute__((aligned(16)))", table + [0])
        for name, reader in (("parse", kind.parse(image(profile))), ("C", kind.from_c(text)),
                             ("Python", kind.from_py(f"TABLE = {table}\n"))):
            accepted(f"{profile}, {name}: checks", reader.check)
            outputs(f"{profile}, {name}: outputs", reader.evaluate, expected)
    for profile in ("espdl16", "espdl16-p4"):
        check_bytes(profile, image(profile), 514, 0xbde70df2, [(0, "25009200"), (512, "256d")])
    falls = consumers.Espdl16Linear([-value for value in images.espdl_linear_table()])
    outputs("espdl16-linear: falling lines, as C divides", falls.evaluate, {
        code: -y for code, y in ESPDL["espdl16-linear"].items()})


# By hand, of MLI's table of tanh: 7 bits between two of its points, 0 is data[172]. Halves go down: at 32, 1024 * 32 / 128
# is 256 itself, at 129 (2045 - 1024) / 128 = 7.98; at 192, 510.5.
MLI = {-32768: -32767, -22017: -32767, -21888: -32767, -129: -1032, -64: -512, 0: 0, 1: 8, 32: 256, 64: 512, 129: 1032,
       192: 1534, 21887: 32767, 32767: 32767}


def check_mli():
    reader = consumers.Mli.from_c(images.mli_image())
    accepted("mli: checks", reader.check)
    same("mli: the recipe gives the published values", reader.data[:8] + reader.data[168:177] + reader.data[-3:],
         (-32767, -32767, -32766, -32766, -32766, -32766, -32766, -32766, -4075, -3063, -2045, -1024, 0, 1024, 2045, 3063,
          4075, 32766, 32766, 32767))
    outputs("mli: outputs", reader.evaluate, MLI)
    ends = consumers.Mli([5, 1, 9], 4, 15, 0)
    outputs("mli: the lines of the ends come again", ends.evaluate, {
        -32768: 5, -1: 1, 0: 5, 128: 3, 255: 1, 256: 1, 384: 5, 512: 1, 640: 5, 32767: 9})


def softmax_outputs():
    return {d: y for d, y in softmax.recipe(2 ** -4).items()}


def check_softmax():
    """The recipe is near to exp, and a little off: by up to some thousands of 2^-31."""
    reader = consumers.TosaSoftmax8.parse(image("tosa-softmax8"), 0, Range(-256, 0))
    accepted("tosa-softmax8: checks", reader.check)
    outputs("tosa-softmax8: outputs", reader.evaluate, softmax_outputs())
    same("tosa-softmax8: bytes of one", [table[256] for table in reader.tables], (127, 255, 255, 255))
    errors = [abs(y - min(math.exp(d / 16) * 2 ** 31, 2 ** 31 - 1)) for d, y in softmax_outputs().items()]
    print(f"# tosa-softmax8: the recipe is off by up to {max(errors):.1f} of 2^-31")
    tap(0.5 < max(errors) < 4096, "tosa-softmax8: the recipe is exp, rounded a few times", f"{max(errors)}")


def check_quant_gru(folder):
    data = image("quant-gru")
    check_bytes("quant-gru", data, 276, 0x5a3e89d3, [(0, "44fdffff080000000000000000100000")])
    same("quant-gru: sizes of the structure and of the public copy",
         (structure_size(ctypes.c_int32, 2), structure_size(ctypes.c_int16, 0)), (276, 268))
    clipped = {x: min(y, 65535) for x, y in GRU.items()}
    same("quant-gru: what u16 clips", (x for x in GRU if GRU[x] != clipped[x]), (1, 160, 65535))
    readers = (("parse", consumers.QuantGru.parse(data)), ("C++", consumers.QuantGru.from_cpp(images.gru_text())))
    for name, reader in readers:
        accepted(f"quant-gru, {name}: checks", reader.check)
        outputs(f"quant-gru, {name}: before the clip", reader.before_clip, GRU)
        outputs(f"quant-gru, {name}: outputs", reader.evaluate, clipped)
        same(f"quant-gru, {name}: zero points, shifts and scales",
             (reader.zp_x, *reader.shifts, reader.zp_y, *reader.scales), (24576, 12, 16, -1, 0, 0))
    reader = readers[0][1]
    ties = [consumers.half_up(reader.segments[reader.segment_of(x)][0] * (x - 24576), 8)
            + reader.segments[reader.segment_of(x)][2] for x in (160, 33056)]
    same("quant-gru: half_up at the ties", ties, (66763, 11313))
    if not native.has_compiler():
        tap(True, "quant-gru: compiled # SKIP g++ is missing")
        return
    image_compiled, outputs_compiled = native.run_quant_gru(images.gru_text(), U16, U16, folder)
    same("quant-gru: bytes of the compiled structure", image_compiled, data)
    same("quant-gru: all codes of the compiled rule", outputs_compiled, map(reader.evaluate, range(65536)))


# -- aimet-pe -----------------------------------------------------------------------------------------------------------

AIMET = {-1: 7000, 0: 8000, 4095: 6400, 4096: 5800, 4112: 5788, 12345: -8289}


def check_aimet():
    data = image("aimet-pe")
    check_bytes("aimet-pe", data, 146, 0x1800586c, [(0x70, "00800120038006800d")])
    for name, reader in (("parse", consumers.AimetPe.parse(data)),
                         ("JSON", consumers.AimetPe.from_json(images.aimet_text()))):
        accepted(f"aimet-pe, {name}: checks", reader.check)
        same(f"aimet-pe, {name}: fields", zip(reader.start, reader.q_b, reader.n, reader.c), images.aimet_fields())
        outputs(f"aimet-pe, {name}: outputs", reader.evaluate, AIMET)
        same(f"aimet-pe, {name}: the simulator's default at 4112", [reader.simulate(4112)], [5787])
    head = struct.pack("<HHHHHHBBBHH", 5, 1, 0, 0x8000, 0x7fff, 0, 32, 7, 0, 0, 0)
    same("aimet-pe: the head", consumers.AimetPe.parse_head(head), (5, 1, 0, 0x8000, 0x7fff, 0, 32, 7, 0, 0, 0))


# -- finn ---------------------------------------------------------------------------------------------------------------

FINN = {-128: -8, -127: -7, -112: -7, -111: -6, 0: 0, 97: 7, 127: 7}
S4 = Range(-8, 7)


def check_finn(folder):
    files = image("finn")
    quoted = ("f1", "b1 31", "91 d1 11 51", "81 a1 c1 e1 01 21 41 61")
    same("finn: files", files.items(),
         ((f"threshs_0_{s}.dat", text.replace(" ", "\n") + "\n") for s, text in enumerate(quoted)))
    for name, text in files.items():
        (folder / name).write_text(text)
    t = images.finn_thresholds()
    text = json.dumps({"thresholds": [t], "out_scale": 1, "out_bias": -8})
    read = (("files", consumers.Finn.from_dat(files, 4, 8, -8, S8, S4)),
            ("folder", consumers.Finn.from_dat(folder, 4, 8, -8, S8, S4)),
            ("npy of floats", consumers.Finn.from_npy(images.npy(t, "f4", (1, 15)), 8, -8, S8, S4)),
            ("npy of integers", consumers.Finn.from_npy(images.npy(t, "i2", (15,)), 8, -8, S8, S4)),
            ("JSON", consumers.Finn.from_json(text, 8, S8, S4)))
    for name, reader in read:
        same(f"finn, {name}: thresholds", reader.thresholds, t)
        accepted(f"finn, {name}: checks", reader.check)
        outputs(f"finn, {name}: outputs", reader.evaluate, FINN)
    lower = consumers.Finn([threshold - 1 for threshold in t], -8, 9, S8, S4)
    same("finn: all codes of the HLS class, thresholds one lower", map(lower.evaluate_strict, range(-128, 128)),
         map(read[0][1].evaluate, range(-128, 128)))
    tap(any(read[0][1].evaluate_strict(x) != read[0][1].evaluate(x) for x in range(-128, 128)),
        "finn: without that it differs")
    narrow = consumers.Finn([-128] + t[:14], -8, 8, S8, Range(-7, 7))
    accepted("finn, narrow: checks", narrow.check)
    same("finn, narrow: outputs", map(narrow.evaluate, (-128, 127)), (-7, 7))


# -- aie, nvdla, gna, k210 ----------------------------------------------------------------------------------------------

AIE = {-32768: -1280, -32767: -1281, -1: -11, 0: 0, 255: 0, 256: 10, 300: 10, 32767: 1396}
NVDLA = {-40000: -12800, -32768: -12800, -1: 0, 127: 50, 128: 50, 32767: 12800, 32768: 12800, 32769: 12802,
         40000: 23648}
GNA = {-8193: -100, -8191: -100, -82: -2, -1: -1, 0: 0, 1: 1, 8192: 8192, 8193: 8191, 2 ** 31 - 1: -32768}
K210 = {-7000: 0, -6999: 10, -6000: 14, 0: 97, 1: 80, 129: 84, 1000: 111, 7000: 195, 7001: 150, 100000: 255}

def check_aie():
    data = image("aie")
    check_bytes("aie", data, 2048, 0xa8cbc5a3, [(0, "80ff00fb81ff0afb")])
    same("aie: bytes an entry", [len(data + data)], [4 * 4 * 256])
    values = [value for (value,) in struct.iter_unpack("<h", data)]
    text = images.c_array("int16_t", values, "gelu_lut_ab") + images.c_array("int16_t", values, "gelu_lut_cd")
    wide = images.aie_image(32)
    for name, reader in (("parse", consumers.Aie.parse(data, data, 8, 128, 8, 8)),
                         ("C", consumers.Aie.from_c(text, 8, 128, 8, 8)),
                         ("v2", consumers.Aie.parse(wide, wide, 8, 128, 8, 8, block=32))):
        accepted(f"aie, {name}: checks", reader.check)
        outputs(f"aie, {name}: outputs", reader.evaluate, AIE)


def check_nvdla():
    data = image("nvdla")
    check_bytes("nvdla", data, 700, 0x13808911, [])
    reader = consumers.Nvdla.parse(data)
    accepted("nvdla: checks", reader.check)
    outputs("nvdla: outputs", reader.evaluate, NVDLA)


def check_gna():
    data = image("gna")
    expected = bytes.fromhex("000000809cff0000 01e0ffff9cff2003 0000000000000001 0220000000200080")
    same("gna: bytes", data, expected)
    reader = consumers.Gna.parse(data)
    same("gna: bytes an entry", [len(data) // len(reader.entries)], [8])
    accepted("gna: checks", reader.check)
    outputs("gna: outputs", reader.evaluate, GNA)
    same("gna: shifts", (8 * (entry[1] + 1) for entry in reader.entries), (8, 16, 8, 24))


def check_k210():
    data = image("k210")
    check_bytes("k210", data, 144, 0x54476c18, [(8, "0e4000a8e4ffff0f")])
    reader = consumers.K210.parse(data, Range(-2 ** 20, 2 ** 20))
    accepted("k210: checks", reader.check)
    outputs("k210: outputs", reader.evaluate, K210)
    same("k210: the simulator at -1 >> 2", [reader.simulated_round(-1, 2)], [-2])
    products = [(code - entry[0]) * entry[1] for code in range(-7000, 9000, 7)
                for entry in [reader.entries[consumers.last_at(reader.starts, code - 1)]]]
    same("k210: the simulator's rounding where mul >= 0", (reader.simulated_round(p, 14) for p in products),
         (consumers.half_even(p, 14) for p in products))


# -- Refusals -----------------------------------------------------------------------------------------------------------

def check_refusals():
    """Each that a reader can see: the broken table is refused, for the reason that is told."""
    for refusal in REFUSALS:
        if "broken" not in refusal:
            continue
        refuses(f"{refusal['profile']}: refuses {refusal['what']}", refusal["says"], refusal["broken"])


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "finn").mkdir()
        check_roundings()
        check_tosa()
        check_ethosu()
        check_tflm()
        check_bytes_of_8_bits()
        check_espdl()
        check_mli()
        check_softmax()
        check_quant_gru(folder)
        check_aimet()
        check_finn(folder / "finn")
        check_aie()
        check_nvdla()
        check_gna()
        check_k210()
        edges.check()
        check_refusals()
    same("every format has a reader and an image", sorted(IMAGES), sorted(consumers.READERS))
    return end()


if __name__ == "__main__":
    sys.exit(main())
