# SPDX-License-Identifier: GPL-3.0-or-later
"""What the table formats make a writer or a reader refuse, and why.

profile, what is refused, why; by: who can see it. Where the image shows it, `broken` reads and checks such an image, and
`says` is part of the reader's message; or `image` is such an image, which pwlc import refuses with `import` in its
message. The others are for the writer alone: it knows the table, the image does not.
"""
import functools
import json
import struct

import consumers
import images
from consumers import S8, S16, U16, U8, Range


def check(profile, data, *arguments):
    consumers.READERS[profile].parse(data, *arguments).check()


def tosa_text(old, new):
    return lambda: consumers.Tosa16.from_mlir(images.mlir(images.points(), 16, images.RESCALE).replace(old, new)).check()


def gru(rows, last=65535):
    """16 segments from (q_b, n, c) of the first ones; the first threshold is 4096."""
    rows = [row + (4096,) for row in rows[:1]] + [row + (last,) for row in (rows[1:] + rows[-1:] * 16)[:15]]
    return consumers.QuantGru(rows, 0, (12, 16), 0, (0, 0), U16, U16)


def aimet(place, new):
    """The vector with another segment 3: start, q_b, n, c."""
    fields = [list(field) for field in images.aimet_fields()]
    fields[3][place] = new
    return consumers.AimetPe(*map(list, zip(*fields)), 0, S16, S16)


def aimet_json(change):
    document = json.loads(images.aimet_text())
    change(document["table"])
    return lambda: consumers.AimetPe.from_json(json.dumps(document)).check()


def finn(thresholds=None, bias=-8, bits=8, x=S8, y=Range(-8, 7)):
    return consumers.Finn(images.finn_thresholds() if thresholds is None else thresholds, bias, bits, x, y)


def finn_files(name, text, bits=8):
    files = dict(images.image("finn"), **{name: text})
    return lambda: consumers.Finn.from_dat({k: v for k, v in files.items() if v}, 4, bits, -8, S8, Range(-8, 7)).check()


def aie(lut_ab=None, lut_cd=None, step_bits=8, bias=128, x=S16):
    good = images.image("aie")
    return lambda: consumers.Aie.parse(lut_ab or good, lut_cd or lut_ab or good, step_bits, bias, 8, 8, x).check()


def word(start, multiplier, shift):
    return struct.pack("<Q", (start % 2 ** 36 << 24) + (multiplier % 2 ** 16 << 8) + shift)


LOWEST = (-2 ** 31, 0, 0)

REFUSALS = [
    # -- tosa8, tosa16 --
    {"profile": "tosa8", "by": "writer", "what": "inputs that are not s8", "says": "inputs",
     "why": "entry x + 128 of 256; TABLE of int8 has no other input",
     "broken": lambda: check("tosa8", images.image("tosa8"), U8)},
    {"profile": "tosa8", "by": "writer", "what": "outputs that are not s8", "says": "outputs",
     "why": "TABLE of int8 gives int8", "broken": lambda: check("tosa8", images.image("tosa8"), S8, Range(-128, 128))},
    {"profile": "tosa8", "by": "reader", "what": "an image of another size", "says": "255 bytes, not 256",
     "why": "the table has an entry for every code", "import": "255 bytes",
     "image": images.cut("tosa8")},
    {"profile": "tosa8", "by": "reader", "what": "a text with a RESCALE behind 8-bit values", "says": "tosa.rescale",
     "why": "TABLE of int8 gives the output itself",
     "broken": lambda: consumers.Tosa8.from_mlir(images.mlir(images.points(), 16, images.RESCALE))},
    {"profile": "tosa16", "by": "reader", "what": "an image of another size", "says": "1025 bytes, not 1026",
     "why": "513 points", "import": "1025 bytes",
     "image": images.cut("tosa16")},
    {"profile": "tosa16", "by": "both", "what": "a difference of points above 16 bits", "says": "more than 16 bits",
     "why": "T[i+1] - T[i] outside -32768..32767 is unpredictable",
     "broken": lambda: consumers.Tosa16([-20000, 20000] + [0] * 511).check()},
    {"profile": "tosa16", "by": "writer", "what": "inputs or outputs that are not s16",
     "why": "512 intervals of 128 codes are the s16 range; TABLE takes s8 or s16"},
    {"profile": "tosa16", "by": "writer", "what": "breaks that are not every 128 codes",
     "why": "the interval is x >> 7"},
    {"profile": "tosa16", "by": "writer", "what": "another rounding than half_up, or n other than 7 anywhere",
     "why": "RESCALE of 2^14 and 21 is hu(r, 7)"},
    {"profile": "tosa16", "by": "writer", "what": "a point outside int16, the one of code 32768 included",
     "why": "clamping code 32768 to 32767 flattens the last interval"},
    {"profile": "tosa16", "by": "reader", "what": "DOUBLE_ROUND", "says": "rounding_mode is not SINGLE_ROUND",
     "why": "it changes some codes, and Vela then needs more table memory", "broken": tosa_text("SINGLE", "DOUBLE")},
    {"profile": "tosa16", "by": "reader", "what": "scale32 = true", "says": "scale32 is not false",
     "why": "the pair is that of scale32 = false", "broken": tosa_text("scale32 = false", "scale32 = true")},
    {"profile": "tosa16", "by": "reader", "what": "a text without RESCALE", "says": "types are not",
     "why": "TABLE gives 128 times the output",
     "broken": lambda: consumers.Tosa16.from_mlir(images.mlir(images.points(), 16))},
    {"profile": "tosa16", "by": "reader", "what": "another multiplier", "says": "multiplier 16383",
     "why": "2^14", "broken": tosa_text("dense<16384>", "dense<16383>")},
    {"profile": "tosa16", "by": "reader", "what": "another shift", "says": "shift 22", "why": "21",
     "broken": tosa_text("dense<21>", "dense<22>")},
    {"profile": "tosa16", "by": "reader", "what": "a zero point of RESCALE", "says": "zero points",
     "why": "zero points are in T only", "broken": tosa_text("dense<0> : tensor<1xi16>", "dense<1> : tensor<1xi16>")},

    # -- ethosu8, ethosu16 --
    {"profile": "ethosu8", "by": "writer", "what": "inputs that are not s8 or u8", "says": "inputs",
     "why": "256 entries, one a code", "broken": lambda: check("ethosu8", images.image("ethosu8"), Range(-8, 7))},
    {"profile": "ethosu8", "by": "reader", "what": "an entry outside the output range", "says": "-128 is no output",
     "why": "the accelerator does not clip to a narrow range",
     "broken": lambda: check("ethosu8", images.image("ethosu8"), S8, Range(-127, 127))},
    {"profile": "ethosu8", "by": "reader", "what": "an image of another size", "says": "255 bytes, not 256",
     "why": "256 entries", "import": "255 bytes",
     "image": images.cut("ethosu8")},
    {"profile": "ethosu16", "by": "reader", "what": "an image of another size", "says": "2047 bytes, not 2048",
     "why": "512 words", "import": "2047 bytes",
     "image": images.cut("ethosu16")},
    {"profile": "ethosu16", "by": "reader", "what": "a slope from which the base has borrowed",
     "says": "begins elsewhere", "why": "(slope << 16) + base with a negative base borrows one",
     "image": images.patched("ethosu16", 402, b"\x63")},
    {"profile": "ethosu16", "by": "both", "what": "a slope above 16 bits", "says": "not a 16-bit point",
     "why": "as tosa16: T[i+1] - T[i] is held in 16 bits",
     "image": images.patched("ethosu16", 0, struct.pack("<Hh", 32767, 1))},
    {"profile": "ethosu16", "by": "writer", "what": "what tosa16 refuses", "why": "it is made from the same points"},

    # -- tflm8, tflm16 --
    {"profile": "tflm8", "by": "writer", "what": "inputs that are not s8 or u8", "says": "inputs",
     "why": "entry x mod 256 of 256", "broken": lambda: check("tflm8", images.image("tflm8"), Range(-8, 7))},
    {"profile": "tflm8", "by": "reader", "what": "an image of another size", "says": "255 bytes, not 256",
     "why": "256 entries", "import": "255 bytes",
     "image": images.cut("tflm8")},
    {"profile": "tflm8", "by": "reader", "what": "a C array of the other sign", "says": "is of uint8_t",
     "why": "outputs below 0 would be read as above 127",
     "broken": lambda: consumers.Tflm8.from_c(images.c_array("uint8_t", [0] * 256))},
    {"profile": "tflm16", "by": "reader", "what": "an image of another size", "says": "1025 bytes, not 1026",
     "why": "513 points", "import": "1025 bytes",
     "image": images.cut("tflm16")},
    {"profile": "tflm16", "by": "both", "what": "a difference that wraps", "says": "more than 16 bits",
     "why": "the runtime holds the difference in int16",
     "broken": lambda: consumers.Tflm16([-20000, 20000] + [0] * 511).check()},
    {"profile": "tflm16", "by": "writer", "what": "what tosa16 refuses", "why": "it is the same table"},

    # -- quant-gru --
    {"profile": "quant-gru", "by": "reader", "what": "an image of another size", "says": "275 bytes, not 276",
     "why": "the structure has 276 bytes", "import": "275 bytes",
     "image": images.cut("quant-gru")},
    {"profile": "quant-gru", "by": "reader", "what": "the public copy of 268 bytes", "says": "268 bytes, not 276",
     "why": "its threshold is int16, too small for u16",
     "broken": lambda: check("quant-gru", images.image("quant-gru")[:268])},
    {"profile": "quant-gru", "by": "writer", "what": "more than 16 segments", "why": "exactly 16"},
    {"profile": "quant-gru", "by": "reader", "what": "a text without 16 segments", "says": "not 16 segments",
     "why": "exactly 16; fewer are filled up by repeating the last one",
     "broken": lambda: consumers.QuantGru.from_cpp("SigmoidLUT t = {.segments = {{.q_b = 1}}};")},
    {"profile": "quant-gru", "by": "writer", "what": "another form than absolute, another rounding than half_even",
     "why": "y = clip(he(q_b X, n) + c)"},
    {"profile": "quant-gru", "by": "both", "what": "a sum that wraps at 32 bits", "says": "32 bits wrap",
     "why": "the shifted term and the sum are held in 32 bits",
     "broken": lambda: gru([(0, 0, 0), (30000, 0, 2 ** 31 - 1)]).check()},
    {"profile": "quant-gru", "by": "both", "what": "a shifted term that wraps at 32 bits", "says": "32 bits wrap",
     "why": "the shifted term and the sum are held in 32 bits",
     "broken": lambda: gru([(0, 0, 0), (2 ** 20, 0, 0)]).check()},
    {"profile": "quant-gru", "by": "writer", "what": "q_b or term_c outside int32, n outside int8",
     "why": "the types of the fields"},
    {"profile": "quant-gru", "by": "reader", "what": "thresholds that descend", "says": "comes after",
     "why": "the first segment above x is taken", "image": images.patched("quant-gru", 28, bytes(4))},
    {"profile": "quant-gru", "by": "reader", "what": "a last threshold that is not qmax_x", "says": "not qmax_x",
     "why": "what is filled up has thresholds qmax_x", "broken": lambda: gru([(1, 0, 0)] * 2, 65536).check()},
    *({"profile": "quant-gru", "by": "reader", "what": f"padding that is not 0 at {at}", "says": f"padding at {at}",
       "why": "the vector's bytes", "import": f"byte {at} ",
       "image": images.patched("quant-gru", at, b"\x01")} for at in (5, 7, 247, 263)),
    {"profile": "quant-gru", "by": "reader", "what": "n that shifts a 64-bit product out", "says": "n_BX_total[3] = 64",
     "why": "the product has 64 bits", "import": "segments[3]",
     "image": images.patched("quant-gru", 52, b"\x40")},
    {"profile": "quant-gru", "by": "reader", "what": "a first segment without a code", "says": "no code to segment 0",
     "why": "thresholds are exclusive upper bounds", "image": images.patched("quant-gru", 12, bytes(4))},

    # -- aimet-pe --
    {"profile": "aimet-pe", "by": "reader", "what": "an image of another size", "says": "145 bytes, not 146",
     "why": "146 bytes", "import": "145 bytes",
     "image": images.cut("aimet-pe")},
    {"profile": "aimet-pe", "by": "writer", "what": "more than 16 segments", "says": "17 segments, not 16 at most",
     "why": "16 rows", "broken": lambda: consumers.AimetPe(*map(list, zip(*(
         images.aimet_fields() + [(32767, 0, 8, 0)]))), 0, S16, S16).check()},
    {"profile": "aimet-pe", "by": "writer", "what": "another form than absolute, another rounding than half_up",
     "why": "t = hu(q_b X, n); y = t + c"},
    {"profile": "aimet-pe", "by": "both", "what": "x - zp that saturates, so u16 with a large zp", "says": "saturates",
     "why": "X = sat16(x - zp)", "broken": lambda: check("aimet-pe", images.image("aimet-pe"), 0, U16)},
    {"profile": "aimet-pe", "by": "both", "what": "a shifted term that saturates", "says": "32 bits saturate",
     "why": "the simulator has no intermediate saturation", "broken": lambda: aimet(2, -20).check()},
    {"profile": "aimet-pe", "by": "both", "what": "a sum that saturates", "says": "32 bits saturate",
     "why": "the simulator has no intermediate saturation", "broken": lambda: aimet(3, -2 ** 31).check()},
    {"profile": "aimet-pe", "by": "both", "what": "n above 6 significant bits", "says": "more than 6 bits",
     "why": "n has 6 significant bits", "broken": lambda: aimet(2, 32).check()},
    {"profile": "aimet-pe", "by": "both", "what": "q_b above 16 bits", "says": "q_b[3]", "why": "q_b is int16",
     "broken": lambda: aimet(1, 32768).check()},
    {"profile": "aimet-pe", "by": "both", "what": "term_c above 32 bits", "says": "term_c[3]", "why": "term_c is int32",
     "broken": lambda: aimet(3, 2 ** 31).check()},
    {"profile": "aimet-pe", "by": "both", "what": "a start above 17 bits", "says": "more than 17 bits",
     "why": "starts have 17 bits", "broken": lambda: aimet(0, 65536).check()},
    {"profile": "aimet-pe", "by": "reader", "what": "starts that descend", "says": "comes after",
     "why": "the last segment with x >= start is taken", "broken": lambda: aimet(0, -32768).check()},
    {"profile": "aimet-pe", "by": "reader", "what": "codes without a segment", "says": "no segment holds -32768",
     "why": "no start is at or below them", "broken": lambda: consumers.AimetPe(
         [0] * 16, [0] * 16, [0] * 16, [0] * 16, 0, S16, S16).check()},
    {"profile": "aimet-pe", "by": "reader", "what": "JSON with a q_c", "says": "q_c of segment 2", "why": "q_c is 0",
     "broken": aimet_json(lambda table: table["segments"][2]["coefficients_quantized"].update(q_c=1))},
    {"profile": "aimet-pe", "by": "reader", "what": "JSON with other widths", "says": "widths",
     "why": "16, 32 and 32", "broken": aimet_json(lambda table: table["quantization"].update(term_c_bit_width=16))},
    {"profile": "aimet-pe", "by": "reader", "what": "JSON whose segments do not join", "says": "does not end at",
     "why": "threshold_quantized is start and next start, at the end qmax",
     "broken": aimet_json(lambda table: table["segments"][15]["threshold_quantized"].__setitem__(1, 0))},
    {"profile": "aimet-pe", "by": "reader", "what": "JSON with another count of segments", "says": "num_segments",
     "why": "num_segments counts the list", "broken": aimet_json(lambda table: table.update(num_segments=15))},
    {"profile": "aimet-pe", "by": "reader", "what": "a head with more than a saturating function has",
     "says": "field 2 is 1", "why": "fields 2, 5, 8, 9 and 10 are 0",
     "broken": lambda: consumers.AimetPe.parse_head(struct.pack("<HHH13x", 0, 1, 1))},

    # -- finn --
    {"profile": "finn", "by": "writer", "what": "functions that decrease anywhere",
     "why": "a count of thresholds at or below x never falls"},
    {"profile": "finn", "by": "both", "what": "thresholds that descend", "says": "comes after",
     "why": "T is ascending; equal entries are allowed",
     "broken": lambda: finn(images.finn_thresholds()[::-1]).check()},
    {"profile": "finn", "by": "both", "what": "more than 8 output bits", "says": "N above 8", "why": "N to about 8",
     "broken": lambda: finn([0] * 511, 0, 8, S8, Range(0, 511)).check()},
    {"profile": "finn", "by": "reader", "what": "another count than 2^N - 1", "says": "not 2^N - 1",
     "why": "a narrow range of 2^N - 2 gets one in front", "broken": lambda: finn(
         images.finn_thresholds()[1:], y=Range(-7, 7)).check()},
    {"profile": "finn", "by": "reader", "what": "a narrow range without the threshold in front", "says": "in front",
     "why": "the lowest value stands in front, and BIAS is one lower",
     "broken": lambda: finn(y=Range(-7, 7)).check()},
    {"profile": "finn", "by": "reader", "what": "a narrow range whose BIAS is not lower", "says": "BIAS -7, not -8",
     "why": "the lowest value stands in front, and BIAS is one lower",
     "broken": lambda: finn([-128] + images.finn_thresholds()[:14], bias=-7, y=Range(-7, 7)).check()},
    {"profile": "finn", "by": "both", "what": "a threshold above K bits", "says": "more than K bits",
     "why": "an output never reached needs T above qmax_x: K = input bits + 1",
     "broken": lambda: finn(images.finn_thresholds()[:14] + [128]).check()},
    {"profile": "finn", "by": "reader", "what": "a stage file that is missing", "says": "files",
     "why": "one a stage", "broken": finn_files("threshs_0_3.dat", "")},
    {"profile": "finn", "by": "reader", "what": "a stage file with another count of lines", "says": "3 lines, not 4",
     "why": "stage s holds 2^s", "broken": finn_files("threshs_0_2.dat", "91\nd1\n11\n")},
    {"profile": "finn", "by": "reader", "what": "a value without the digits of K bits", "says": "2 hex digits",
     "why": "K bits in hex digits", "broken": finn_files("threshs_0_0.dat", "0f1\n")},
    {"profile": "finn", "by": "reader", "what": "another out_scale than 1", "says": "out_scale",
     "why": "out_scale 1, out_bias = BIAS", "broken": lambda: consumers.Finn.from_json(json.dumps(
         {"thresholds": [images.finn_thresholds()], "out_scale": 2, "out_bias": -8}), 8, S8, Range(-8, 7))},

    # -- aie --
    {"profile": "aie", "by": "reader", "what": "lut_ab and lut_cd that differ", "says": "differ",
     "why": "the array exists twice", "broken": aie(None, images.image("aie")[:-1] + b"\0")},
    {"profile": "aie", "by": "reader", "what": "16 bytes that are not written twice", "says": "not written twice",
     "why": "each 16 bytes are written twice", "broken": aie(images.image("aie")[:-1] + b"\0")},
    {"profile": "aie", "by": "reader", "what": "the order of AIE-ML v2 where 16 bytes are told",
     "says": "not written twice", "why": "v2 writes 32 bytes twice", "broken": aie(images.aie_image(32))},
    {"profile": "aie", "by": "both", "what": "entries that do not fill the 16 bytes", "says": "not a multiple of 32",
     "why": "four pairs make 16 bytes", "broken": aie(images.image("aie")[:16])},
    {"profile": "aie", "by": "writer", "what": "breaks that are not uniform, or not a power of two of entries",
     "says": "not a power of two", "why": "the entry is x >> step_bits",
     "broken": aie(images.image("aie")[:96])},
    {"profile": "aie", "by": "both", "what": "step_bits below 3", "says": "below 3",
     "why": "int16 needs 3 (int8 2, int32 pairs 4)", "broken": aie(step_bits=2, bias=8192)},
    {"profile": "aie", "by": "reader", "what": "an entry below 0", "says": "bias 127",
     "why": "what is then taken depends on the saturation mode", "broken": aie(bias=127)},
    {"profile": "aie", "by": "both", "what": "an output outside int16 or the output range", "says": "leaves the output",
     "why": "the kernel saturates only if it is set to",
     "broken": aie(images.image("aie")[:-32] + struct.pack("<8h", *[127, 1270] * 3, 127, 32767) * 2)},
    {"profile": "aie", "by": "writer", "what": "slopes or offsets outside int16, or more than one n",
     "why": "the pairs are int16, and the kernel shifts once"},
    {"profile": "aie", "by": "writer", "what": "another rounding than the one told for the core",
     "why": "floor unless set"},

    # -- nvdla --
    {"profile": "nvdla", "by": "reader", "what": "an image of another size", "says": "699 bytes, not 700",
     "why": "the structure has 700 bytes", "import": "699 bytes",
     "image": images.cut("nvdla")},
    {"profile": "nvdla", "by": "writer", "what": "breaks that are not uniform, or more than 64 or 256 intervals",
     "why": "65 and 257 points, (x - start) >> sel apart"},
    {"profile": "nvdla", "by": "writer", "what": "another rounding than half_away, or points outside int16",
     "why": "y = ha(..., sel) of int16 points"},
    {"profile": "nvdla", "by": "both", "what": "index_select above 31", "says": "index_select 32",
     "why": "sel <= 31", "import": "linear_only_select is 32",
     "image": images.patched("nvdla", 646, b"\x20")},
    *({"profile": "nvdla", "by": "reader", "what": f"padding that is not 0 at {at}", "says": f"padding at {at}",
       "why": "the vector's bytes", "import": f"byte {at} ",
       "image": images.patched("nvdla", at, b"\x01")} for at in (645, 647, 683, 687, 691, 695)),
    {"profile": "nvdla", "by": "writer", "what": "an output outside the output range", "says": "leaves the output",
     "why": "the converter behind it is not part of the table",
     "broken": lambda: check("nvdla", images.image("nvdla"), S16, Range(-12800, 12799))},
    {"profile": "nvdla", "by": "reader", "what": "the exponential method", "says": "method 0",
     "why": "its rule is not part of the format", "import": "method is 0",
     "image": images.patched("nvdla", 699, b"\0")},
    {"profile": "nvdla", "by": "reader", "what": "a priority that is neither table", "says": "priorities",
     "why": "0 LE, 1 LO", "import": "priority[1] is 2",
     "image": images.patched("nvdla", 697, b"\x02")},
    {"profile": "nvdla", "by": "both", "what": "a slope's shift above 5 bits", "says": "more than 5 bits",
     "why": "shift is 5 bits signed", "import": "slope_shift[3] is 16",
     "image": images.patched("nvdla", 694, b"\x10")},

    # -- gna --
    {"profile": "gna", "by": "reader", "what": "an image that is not 8 bytes an entry", "says": "not 8 an entry",
     "why": "8 bytes an entry", "import": "31 bytes",
     "image": images.cut("gna")},
    {"profile": "gna", "by": "both", "what": "fewer than 2 entries", "says": "1 entries", "why": "1 from GNA 3.0",
     "import": "8 bytes", "image": images.gna(LOWEST)},
    {"profile": "gna", "by": "both", "what": "more than 128 entries", "says": "129 entries", "why": "128 at most",
     "import": "1032 bytes", "image": images.gna(LOWEST, *((4 * k, 0, 0) for k in range(128)))},
    {"profile": "gna", "by": "reader", "what": "bases that do not ascend", "says": "comes after", "why": "b ascending",
     "import": "xBase[2]", "image": images.gna(LOWEST, (4, 0, 0), (4, 0, 0))},
    {"profile": "gna", "by": "writer", "what": "starts that are not multiples of 4",
     "why": "the two low bits of xBase are the shift"},
    {"profile": "gna", "by": "writer", "what": "shifts other than 8, 16, 24, 32, another rounding than floor",
     "why": "k tells 8 (k + 1), and >> is floor"},
    {"profile": "gna", "by": "both", "what": "a first entry that is not at INT32_MIN", "says": "not INT32_MIN",
     "why": "put INT32_MIN first", "image": images.gna((-32768, 0, 0), (0, 0, 0))},
    {"profile": "gna", "by": "both", "what": "a line that saturates", "says": "a flat entry must stand there",
     "why": "a flat entry wherever the output would saturate", "image": images.gna(LOWEST, (0, 0, 512))},
    {"profile": "gna", "by": "writer", "what": "yBase or slope outside int16", "why": "the types of the fields"},

    # -- k210 --
    {"profile": "k210", "by": "reader", "what": "an image of another size", "says": "143 bytes, not 144",
     "why": "144 bytes", "import": "143 bytes",
     "image": images.cut("k210")},
    {"profile": "k210", "by": "writer", "what": "more than 15 segments", "why": "entry 0 is taken"},
    {"profile": "k210", "by": "writer", "what": "outputs that are not u8", "says": "not of u8", "why": "satu8",
     "broken": lambda: check("k210", images.image("k210"), S16, S8)},
    {"profile": "k210", "by": "reader", "what": "another entry 0", "says": "entry 0", "why": "-2^35, 0, 0",
     "import": "entry 0", "image": images.patched("k210", 0, word(-2 ** 35, 1, 0))},
    {"profile": "k210", "by": "both", "what": "mul below 0", "says": "is negative",
     "why": "the public simulator rounds products below 0 the wrong way; silicon is unknown",
     "import": "mul[1] is -1", "image": images.patched("k210", 8, word(-7000, -1, 14))},
    {"profile": "k210", "by": "both", "what": "a shift above 43", "says": "above 43", "why": "0..43",
     "import": "shift[1] is 44", "image": images.patched("k210", 8, word(-7000, 1, 44))},
    {"profile": "k210", "by": "reader", "what": "starts that descend", "says": "comes after",
     "why": "the last entry with x > x_start is taken", "import": "x_start",
     "image": images.patched("k210", 16, word(-7001, 128, 14))},
    {"profile": "k210", "by": "reader", "what": "bits above the 36 of x_start", "says": "bits 63..60",
     "why": "they hold nothing", "import": "byte 15 ",
     "image": images.patched("k210", 15, b"\xff")},
    {"profile": "k210", "by": "writer", "what": "another rounding than half_even, bias not in 0..255, mul not in int16",
     "why": "R is he; the types of the fields"},

    # -- Formats that are none --
    {"profile": "cmsis-nn", "by": "writer", "what": "this name", "why": "constants of the library: no format"},
    {"profile": "tenstorrent", "by": "writer", "what": "this name", "why": "float slopes: it needs a float fit"},
]

# Where an image shows it, the reader is given that image, and so is pwlc import (provoked.py).
for refusal in REFUSALS:
    if "image" in refusal:
        refusal["broken"] = functools.partial(check, refusal["profile"], refusal["image"])
