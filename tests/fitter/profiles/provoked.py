# SPDX-License-Identifier: GPL-3.0-or-later
"""Refusals of refusals.py, each provoked in pwlc: exit 3 of emit, exit 2 of import, what the message names, and no file
left. check_all() holds the list against refusals.REFUSALS."""
import json
import struct

import images
from harness import tap
from refusals import REFUSALS

# -- Tables for emit ----------------------------------------------------------------------------------------------------

def kind(name, zero_point=0):
    bits, is_signed = int(name[1:]), name[0] == "s"
    low = -1 << (bits - 1) if is_signed else 0
    return {"bits": bits, "signed": is_signed, "scale": "2^-4", "zero_point": zero_point, "qmin": low,
            "qmax": low + (1 << bits) - 1}


def table(x, y, form, rounding, rows):
    """rows: (start, q_b, n, offset)"""
    offset = {"absolute": "term_c", "biased": "bias", "anchored": "y"}[form]
    names = ("start", "q_b", "n_BX_total", offset)
    bits = max(int(x[1:]), int(y[1:]))
    return {"pwl_table": 1, "spec": "", "function": "tanh", "parameters": {}, "method": "lsq", "form": form,
            "rounding": rounding, "case": "int8" if bits <= 8 else "int16" if bits <= 16 else "int32",
            "in": kind(x), "out": kind(y), "segments": [dict(zip(names, row)) for row in rows]}


def even(x, count, row=(0, 0, 0)):
    """Segments of equal width: the same line each time."""
    low, codes = kind(x)["qmin"], 1 << kind(x)["bits"]
    return [(low + i * (codes // count), *row) for i in range(count)]


def points(values, shift=7, form="anchored", rounding="half_up"):
    return table("s16", "s16", form, rounding,
                 [(-32768 + 128 * i, values[i + 1] - values[i], shift, values[i]) for i in range(512)])


FLAT8 = [(-128, 0, 0, 0)]
STEEP = table("s16", "s16", "absolute", "half_up", [(-32768, 0, 0, -20000), (0, 0, 0, 20000)])
ABSOLUTE = ("absolute", "half_even")
UP = ("absolute", "half_up")
FLOOR = ("anchored", "floor")

# (profile, what) of REFUSALS: tables, each with a part of the message
WRITER = {
    ("tosa8", "inputs that are not s8"): [(table("u8", "s8", *UP, [(0, 0, 0, 0)]), "the input is u8"),
                                          (table("s9", "s8", *UP, [(-256, 0, 0, 0)]), "the input is s9")],
    ("tosa8", "outputs that are not s8"): [(table("s8", "u8", *UP, FLAT8), "the output is u8")],
    ("tosa16", "a difference of points above 16 bits"): [(STEEP, "apart")],
    ("tosa16", "inputs or outputs that are not s16"): [
        (table("u16", "s16", *UP, [(0, 0, 0, 0)]), "the input is u16"),
        (table("s16", "s15", *UP, [(-32768, 0, 0, 0)]), "the output is s15")],
    ("tosa16", "breaks that are not every 128 codes"): [
        (table("s16", "s16", *UP, [(-32768, 0, 0, 0), (-100, 0, 0, 200)]), "at code -127")],
    ("tosa16", "another rounding than half_up, or n other than 7 anywhere"): [
        (points([5 * i for i in range(513)], rounding="floor"), "at code"),
        (table("s16", "s16", "anchored", "half_up", [(-32768, 1, 10, 0), (0, 0, 0, 32)]), "at code")],
    ("tosa16", "a point outside int16, the one of code 32768 included"): [
        (points([32000] * 512 + [32768]), "points[512] would be 32768")],
    ("ethosu8", "inputs that are not s8 or u8"): [(table("s16", "s8", *UP, [(-32768, 0, 0, 0)]), "the input is s16")],
    ("ethosu16", "a slope above 16 bits"): [(STEEP, "apart")],
    ("ethosu16", "what tosa16 refuses"): [(table("u16", "s16", *UP, [(0, 0, 0, 0)]), "the input is u16")],
    ("tflm8", "inputs that are not s8 or u8"): [(table("u16", "s8", *UP, [(0, 0, 0, 0)]), "the input is u16")],
    ("tflm16", "a difference that wraps"): [(STEEP, "apart")],
    ("tflm16", "what tosa16 refuses"): [(table("s16", "u16", *UP, [(-32768, 0, 0, 0)]), "the output is u16")],
    ("quant-gru", "more than 16 segments"): [(table("s8", "s8", *ABSOLUTE, even("s8", 32)), "32 segments")],
    ("quant-gru", "another form than absolute, another rounding than half_even"): [
        (table("s8", "s8", "biased", "half_even", [(-128, 1, 1, 0)]), "the form is biased"),
        (table("s8", "s8", "absolute", "floor", [(-128, 1, 1, 0)]), "the rounding is floor")],
    ("quant-gru", "a sum that wraps at 32 bits"): [
        (table("s16", "s32", *ABSOLUTE, [(-32768, 30000, 0, 2 ** 31 - 1)]), "the sum")],
    ("quant-gru", "a shifted term that wraps at 32 bits"): [
        (table("s16", "s32", *ABSOLUTE, [(-32768, 2 ** 20, 0, 0)]), "the shifted product")],
    ("quant-gru", "q_b or term_c outside int32, n outside int8"): [
        (table("s16", "s32", *ABSOLUTE, [(-32768, 0, 0, 2 ** 33)]), "32 bits")],
    ("aimet-pe", "more than 16 segments"): [(table("s8", "s8", *UP, even("s8", 32)), "32 segments")],
    ("aimet-pe", "another form than absolute, another rounding than half_up"): [
        (table("s8", "s8", "anchored", "half_up", [(-128, 1, 1, 0)]), "the form is anchored"),
        (table("s8", "s8", *ABSOLUTE, [(-128, 1, 1, 0)]), "the rounding is half_even")],
    ("aimet-pe", "x - zp that saturates, so u16 with a large zp"): [
        (table("u16", "s16", *UP, [(0, 0, 0, 0)]), "zero point"),
        ({**table("u16", "s16", *UP, [(0, 0, 0, 0)]), "in": kind("u16", 32767)}, "up to 32768 from")],
    ("finn", "functions that decrease anywhere"): [
        (table("s8", "s4", *UP, [(-128, 0, 0, 1), (0, 0, 0, 0)]), "falls from 1 to 0 at code 0")],
    ("finn", "more than 8 output bits"): [(table("s8", "s9", *UP, FLAT8), "the output is s9"),
                                             (table("s8", "s31", *UP, FLAT8), "the output is s31"),
                                             (table("s8", "s32", *UP, FLAT8), "the output is s32")],
    ("aie", "breaks that are not uniform, or not a power of two of entries"): [
        (table("s8", "s16", *FLOOR, [(-128, 0, 0, 0), (-64, 0, 0, 0), (0, 0, 0, 0), (32, 0, 0, 9)]), "at code"),
        (table("s8", "s16", *FLOOR, [(-128, 0, 0, 0), (-64, 0, 0, 0), (0, 0, 0, 0)]), "3 entries")],
    ("aie", "entries that do not fill the 16 bytes"): [
        (table("s8", "s16", *FLOOR, even("s8", 2)), "must have 4")],
    ("aie", "step_bits below 3"): [(table("s8", "s16", *FLOOR, even("s8", 64)), "8 codes or more")],
    ("aie", "an output outside int16 or the output range"): [
        (table("s8", "s12", *FLOOR, even("s8", 4, (100, 0, 0))), "nothing clips")],
    ("aie", "slopes or offsets outside int16, or more than one n"): [
        (table("s8", "s16", *FLOOR, even("s8", 4, (0, 0, 40000))), "offset[0]"),
        (table("s8", "s16", *FLOOR, [(-128, 1, 1, 0), (-64, 1, 2, 0), (0, 0, 0, 0), (64, 0, 0, 0)]), "shifts of 1 and 2")],
    ("aie", "another rounding than the one told for the core"): [
        (table("s8", "s16", "anchored", "half_up", even("s8", 4, (1, 1, 0))), "the rounding is half_up")],
    ("nvdla", "breaks that are not uniform, or more than 64 or 256 intervals"): [
        (table("s16", "s16", "biased", "half_away", even("s16", 512)), "512 segments"),
        (table("s16", "s16", "biased", "half_away", even("s16", 128)), "equal width")],
    ("nvdla", "another rounding than half_away, or points outside int16"): [
        (table("s16", "s16", "biased", "half_up", even("s16", 256, (1, 8, 0))), "the rounding is half_up"),
        (table("s16", "s20", "biased", "half_away", even("s16", 256, (0, 0, 40000))),
         "linear_only_table[0]")],
    ("nvdla", "an output outside the output range"): [
        (table("s16", "s8", "biased", "half_away", even("s16", 256, (0, 0, 200))), "nothing clips")],
    ("nvdla", "a slope's shift above 5 bits"): [
        (table("s17", "s16", "biased", "half_away", [(-65536, 1, 20, 0)] + even("s16", 256)), "slope_shift")],
    ("gna", "fewer than 2 entries"): [
        (table("s32", "s16", *FLOOR, [(-2 ** 31, 0, 0, 0)]), "must have 2")],
    ("gna", "more than 128 entries"): [(table("s16", "s16", *FLOOR, even("s16", 128)), "at most 126")],
    ("gna", "starts that are not multiples of 4"): [
        (table("s16", "s16", *FLOOR, [(-32768, 0, 0, 0), (2, 0, 0, 1)]), "starts at 2")],
    ("gna", "shifts other than 8, 16, 24, 32, another rounding than floor"): [
        (table("s16", "s16", *FLOOR, [(-32768, 30001, 15, 0)]), "shift of 8"),
        (table("s16", "s16", "anchored", "half_up", [(-32768, 1, 8, 0)]), "the rounding is half_up")],
    ("gna", "yBase or slope outside int16"): [
        (table("s16", "s16", *FLOOR, [(-32768, 0, 0, 40000)]), "yBase[1]")],
    ("k210", "more than 15 segments"): [
        (table("s8", "u8", "anchored", "half_even", even("s8", 16)), "16 segments")],
    ("k210", "outputs that are not u8"): [(table("s8", "s8", "anchored", "half_even", FLAT8), "the output is s8")],
    ("k210", "mul below 0"): [(table("s8", "u8", "anchored", "half_even", [(-128, -1, 1, 200)]), "q_b is -1")],
    ("k210", "a shift above 43"): [
        (table("s18", "u8", "anchored", "half_even", [(-131072, 1, 44, 0)]), "44")],
    ("k210", "another rounding than half_even, bias not in 0..255, mul not in int16"): [
        (table("s8", "u8", "anchored", "floor", [(-128, 1, 1, 0)]), "the rounding is floor"),
        (table("s8", "u8", "anchored", "half_even", [(-128, 0, 0, 300)]), "bias[1]"),
        (table("s18", "u8", "anchored", "half_even", [(-131072, 40000, 15, 0)]), "mul[1]")],
}


# Refusals of a writer that no table of pwlc's reaches, and why.
NO_TABLE = {
    ("aimet-pe", "a shifted term that saturates"): "tables of 16 bits are proved in 32",
    ("aimet-pe", "a sum that saturates"): "tables of 16 bits are proved in 32",
    ("aimet-pe", "n above 6 significant bits"): "shifts of such tables are -31 to 31",
    ("aimet-pe", "q_b above 16 bits"): "slopes of such tables have 16 bits",
    ("aimet-pe", "term_c above 32 bits"): "constants of such tables have 32 bits",
    ("aimet-pe", "a start above 17 bits"): "codes have 16 bits",
    ("finn", "thresholds that descend"): "they are counted from the outputs",
    ("finn", "a threshold above K bits"): "they are codes, or one above",
    ("gna", "a first entry that is not at INT32_MIN"): "it is always written",
    ("gna", "a line that saturates"): "outputs of 8, 16 and 32 bits saturate in the hardware; the others: see below",
    ("nvdla", "index_select above 31"): "the codes of 257 points have at most 32 bits",
}


def check_emit(pwlc, key, fields, says):
    profile, what = key
    if (pwlc.folder / "refused.out").exists():
        (pwlc.folder / "refused.out").unlink()
    (pwlc.folder / "refused.json").write_text(json.dumps(fields))
    done = pwlc.run("emit", "refused.json", "--profile", profile, "-o", "refused.out")
    left = (pwlc.folder / "refused.out").exists()
    good = done.returncode == 3 and says in done.stderr and f"{profile} holds" in done.stderr and not left
    tap(good, f"{profile}: emit refuses {what}: {says}", f"exit {done.returncode}: {done.stderr}")


def check_all(pwlc):
    for key, cases in WRITER.items():
        for fields, says in cases:
            if says is not None:
                check_emit(pwlc, key, fields, says)
    known = {(refusal["profile"], refusal["what"]) for refusal in REFUSALS if refusal["by"] != "reader"}
    tap(not set(WRITER) - known, "each refusal of emit is one of the list", str(set(WRITER) - known))
    missing = {key for key in known if key not in WRITER and key not in NO_TABLE and key[1] != "this name"}
    tap(not missing, "each of the list is provoked in emit", "\n".join(map(str, sorted(missing))))


# -- Files for import ---------------------------------------------------------------------------------------------------

IN = {"tosa8": "s8 s8", "ethosu8": "s8 s8", "tflm8": "s8 s8", "tosa16": "s16 s16", "ethosu16": "s16 s16",
      "tflm16": "s16 s16", "quant-gru": "u16:2^-4:24576 u16:2^-4:-1", "aimet-pe": "s16 s16", "finn": "s8 s4",
      "aie": "s16 s16", "nvdla": "s16 s16", "gna": "s16 s16", "k210": "s16 u8"}


def types(text):
    x, y = (word if ":" in word else f"{word}:2^-4" for word in text.split())
    return ["--function", "tanh", "--in", x, "--out", y]


def mlir(old="", new="", rescale=images.RESCALE):
    text = images.mlir(images.points(), 16, rescale)
    assert old in text
    return text.replace(old, new, 1)


def aimet_json(change):
    document = json.loads(images.aimet_text())
    change(document["table"])
    return json.dumps(document)


def aimet_rom(place, new):
    fields = [list(field) for field in images.aimet_fields()]
    fields[3][place] = new
    start, q_b, n, c = zip(*fields)
    bits = sum((s % 2 ** 17) << 17 * i for i, s in enumerate(start))
    return struct.pack("<16i16b16h", *c, *n, *q_b) + bits.to_bytes(34, "little")


def finn(thresholds, bias=-8, scale=1):
    return json.dumps({"thresholds": thresholds, "out_scale": scale, "out_bias": bias})


def dat(name, text):
    return {k: v for k, v in dict(images.image("finn"), **{name: text}).items() if v}


def gru(rows):
    return b"".join(struct.pack("<ib3xii", *row) for row in rows) + struct.pack("<ibb2xiff", 24576, 12, 16, -1, 0, 0)


def aie_text(bias=128, step_bits=8, entries=256, other=None, shift=8):
    values = list(struct.unpack("<1024h", images.image("aie")))
    return (f"int entries = {entries};\nint bias = {bias};\nint step_bits = {step_bits};\nint shift = {shift};\n"
            f"int shift_offset = {shift};\n" + images.c_array("int16_t", values, "lut_ab")
            + images.c_array("int16_t", other or values, "lut_cd"))


T15 = images.finn_thresholds()
GRU = images.quant_gru_fields()

# Of files that refusals.py has no image of: (profile, what): notation, file, part of the message, and types where they
# are not those of IN.
READER = [
    ("tosa8", "a text with a RESCALE behind 8-bit values", "mlir",
     images.mlir(list(images.doubled().values()), 8, images.RESCALE), "tosa.rescale"),
    ("tosa16", "a difference of points above 16 bits", "bytes", struct.pack("<513h", -20000, 20000, *[0] * 511), "apart"),
    ("tosa16", "DOUBLE_ROUND", "mlir", mlir("SINGLE", "DOUBLE"), "rounding_mode"),
    ("tosa16", "scale32 = true", "mlir", mlir("scale32 = false", "scale32 = true"), "scale32"),
    ("tosa16", "a text without RESCALE", "mlir", mlir(rescale=""), "no tosa.rescale"),
    ("tosa16", "another multiplier", "mlir", mlir("dense<16384>", "dense<16383>"), "multiplier is 16383"),
    ("tosa16", "another shift", "mlir", mlir("dense<21>", "dense<22>"), "shift is 22"),
    ("tosa16", "a zero point of RESCALE", "mlir", mlir("dense<0> : tensor<1xi16>", "dense<1> : tensor<1xi16>"), "_zp is 1"),
    ("ethosu8", "an entry outside the output range", "bytes", images.image("ethosu8"), "table[0] is -128", "s8 s7"),
    ("tflm8", "a C array of the other sign", "c", images.c_array("uint8_t", [200] * 256), "table[128] is 200"),
    ("tflm16", "a difference that wraps", "bytes", struct.pack("<513h", -20000, 20000, *[0] * 511), "apart"),
    ("quant-gru", "the public copy of 268 bytes", "bytes", images.image("quant-gru")[:268], "268 bytes"),
    ("quant-gru", "a text without 16 segments", "cpp", "SigmoidLUT t = {.segments = {{.q_b = 1}}};", "must have 16"),
    ("quant-gru", "a text with 17 segments", "cpp", images.gru_text().replace("    },\n", "        {.q_b = 1}},\n", 1),
     "more than 16 values .q_b"),
    ("quant-gru", "products that leave 64 bits by their shifts", "bytes",
     gru([(2 ** 20, -31, 0, 24577)] + [(0, 0, 0, 65535)] * 15), "more bits than there are"),
    ("quant-gru", "a sum that wraps at 32 bits", "bytes", gru([(30000, 0, 2 ** 31 - 1, 65535)] * 16), "32 bits"),
    ("quant-gru", "a shifted term that wraps at 32 bits", "bytes", gru([(2 ** 20, 0, 0, 65535)] * 16), "32 bits"),
    ("aimet-pe", "x - zp that saturates, so u16 with a large zp", "bytes", images.image("aimet-pe"), "zero point",
     "u16 s16"),
    ("aimet-pe", "a shifted term that saturates", "bytes", aimet_rom(2, -20), "segments[3]"),
    ("aimet-pe", "a sum that saturates", "bytes", aimet_rom(3, -2 ** 31), "segments[3]"),
    ("aimet-pe", "n above 6 significant bits", "bytes", aimet_rom(2, 32), "n[3] is 32"),
    ("aimet-pe", "q_b above 16 bits", "json", aimet_json(
        lambda t: t["segments"][3]["coefficients_quantized"].update(q_b=32768)), "segments[3]"),
    ("aimet-pe", "term_c above 32 bits", "json", aimet_json(
        lambda t: t["segments"][3].update(term_c_precomputed=2 ** 31)), "term_c_precomputed"),
    ("aimet-pe", "a start above 17 bits", "json", aimet_json(
        lambda t: t["segments"][3]["threshold_quantized"].__setitem__(0, 65536)), "threshold_quantized"),
    ("aimet-pe", "starts that descend", "bytes", aimet_rom(0, -32768), "not in order"),
    ("aimet-pe", "codes without a segment", "bytes", bytes(146), "below 0"),
    ("aimet-pe", "JSON with a q_c", "json", aimet_json(
        lambda t: t["segments"][2]["coefficients_quantized"].update(q_c=1)), "q_c"),
    ("aimet-pe", "JSON with other widths", "json", aimet_json(
        lambda t: t["quantization"].update(term_c_bit_width=16)), "term_c_bit_width"),
    ("aimet-pe", "JSON whose segments do not join", "json", aimet_json(
        lambda t: t["segments"][15]["threshold_quantized"].__setitem__(1, 0)), "threshold_quantized"),
    ("aimet-pe", "JSON whose segments do not join", "json", aimet_json(
        lambda t: t["segments"][7]["threshold_quantized"].__setitem__(0, t["segments"][7]["threshold_quantized"][0] + 1)),
     "where the one before ends"),
    ("aimet-pe", "JSON with another count of segments", "json", aimet_json(lambda t: t.update(num_segments=15)),
     "num_segments"),
    ("finn", "thresholds that descend", "json", finn(T15[::-1]), "thresholds[1]"),
    ("finn", "more than 8 output bits", "json", finn([0] * 511, 0), "thresholds", "s8 u9"),
    ("finn", "another count than 2^N - 1", "json", finn(T15[1:]), "14 thresholds"),
    ("finn", "a threshold above K bits", "json", finn(T15[:14] + [256]), "thresholds[14] is 256"),
    ("finn", "a narrow range whose BIAS is not lower", "json", finn([-128] + T15[:14], -7), "out_bias is -7"),
    ("finn", "a stage file that is missing", "dat", dat("threshs_0_3.dat", ""), "7 thresholds"),
    ("finn", "a stage file with another count of lines", "dat", dat("threshs_0_2.dat", "91\nd1\n11\n"), "threshs_0_2.dat"),
    ("finn", "a value without the digits of K bits", "dat", dat("threshs_0_0.dat", "0f1\n"), "threshs_0_1.dat"),
    ("finn", "another out_scale than 1", "json", finn(T15, scale=2), "out_scale"),
    ("aie", "lut_ab and lut_cd that differ", "cpp", aie_text(other=[1] + [0] * 1023), "lut_cd"),
    ("aie", "16 bytes that are not written twice", "bytes", images.image("aie")[:-1] + b"\0", "copy"),
    ("aie", "the order of AIE-ML v2 where 16 bytes are told", "bytes", images.aie_image(32), "copy"),
    ("aie", "entries that do not fill the 16 bytes", "bytes", images.image("aie")[:24], "24 bytes"),
    ("aie", "entries that do not fill the 16 bytes", "bytes", images.image("aie")[:48], "multiple of 4"),
    ("aie", "step_bits below 3", "bytes", images.image("aie"), "8 codes or more", "s10 s16"),
    ("aie", "an entry below 0", "cpp", aie_text(bias=127), "bias is 127"),
    *(("aie", f"a shift of {shift}", "cpp", aie_text(shift=shift), "one integer from 0 to 31")
      for shift in ("8.5", "0x1p3", "-1", "32")),
    ("aie", "a shift_offset that is not the shift", "cpp", aie_text().replace("shift_offset = 8", "shift_offset = 7"),
     "one integer from 0 to 31"),
    *(("aie", f"step_bits of {bits}", "cpp", aie_text(step_bits=bits), "must be an integer from 0 to 31")
      for bits in ("8.5", "0x1p3", "-1", "32")),
    ("aie", "an output outside int16 or the output range", "bytes", images.image("aie"), "nothing clips", "s16 s9"),
    # What no format is, whatever the profile.
    ("tosa8", "an empty file", "bytes", b"", "0 bytes"), ("tosa8", "an empty text", "mlir", "", "tosa.table"),
    ("tflm8", "an empty text", "c", "", "no numbers"), ("finn", "an empty text", "json", "", "JSON"),
    ("tosa8", "a text without dense", "mlir", "module { %1 = tosa.table %0, %2 }", "dense"),
    ("tosa8", "numbers without commas", "mlir", images.mlir([0] * 256, 8).replace("0, 0", "0 0", 1), "comma"),
    *(("tflm8", f"C with {what}", "c", f"int a[1] = {{\n{text}}};\n", says) for what, text, says in (
        ("an expression", "1 << 3", "line 2: is an expression"), ("a difference", "3 -1", "line 2: is an expression"),
        ("a name", "ONE", "line 2: is a name"), ("a name in parentheses", "(ONE), 2", "line 2: is a name"),
        ("an octal number", "010", "line 2: is no number"), ("a character", "'1'", "line 2"),
        ("a designator", "[3] = 1", "line 2: is an array designator"), ("a comment without end", "/* 1", "line 2: a comment"),
        ("a string without end", '"1', "line 2: a string"), ("one number", "1", "has 1 numbers"),
        ("a real", "1.5" + ", 0" * 255, "table[0] is 1.5"), ("a large number", "256" + ", 0" * 255, "table[0] would be 256"),
        ("more than 64 bits", "0xffffffffffffffffff", "line 2"))),
    ("tosa16", "npy of floats", "npy", images.npy([0] * 513, "f4", (513,)), "reals"),
    ("tosa16", "npy of another count", "npy", images.npy([0] * 512, "i2", (512,)), "512 numbers"),
    ("tosa16", "no npy", "npy", b"abc", "npy"),
    *((profile, f"JSON that is {text}", "json", text, says) for profile in ("finn", "aimet-pe") for text, says in (
        ("[]", "object"), ("3", "JSON"), ("{}", "must be"), ('{"thresholds": 1}', "must be"),
        ('{"thresholds": [1.5], "out_scale": 1}', "must be"), ("{", "JSON"))),
]

# Refusals of a reader that import reads all the same, with the consumer's outputs (drawn.py shows it), or that are of no
# file of pwlc's.
READ = {
    ("ethosu16", "a slope from which the base has borrowed"): "the outputs of such words are what is to be measured",
    ("ethosu16", "a slope above 16 bits"): "the same: a line need not end where the next begins",
    ("quant-gru", "thresholds that descend"): "the first above x is taken, whatever comes behind",
    ("quant-gru", "a last threshold that is not qmax_x"): "the last segment serves the rest",
    ("quant-gru", "a first segment without a code"): "it is never taken",
    ("aimet-pe", "a head with more than a saturating function has"): "the head is not read",
    ("finn", "a narrow range without the threshold in front"): "types have their full range",
    ("gna", "a first entry that is not at INT32_MIN"): "codes below it have its yBase",
    ("gna", "a line that saturates"): "as the hardware does, of 8, 16 and 32 bits",
}


def check_import(pwlc, profile, what, notation, data, says, kinds=None):
    if (pwlc.folder / "hostile.json").exists():
        (pwlc.folder / "hostile.json").unlink()
    path = pwlc.folder / f"hostile{len(list(pwlc.folder.iterdir()))}"
    pwlc.write(path.name, data)
    shift = ["--shift", "8"] if profile == "aie" else []
    done = pwlc.run("import", path.name, "--profile", f"{profile}:{notation}", *types(kinds or IN[profile]), *shift, "-o",
                    "hostile.json")
    left = (pwlc.folder / "hostile.json").exists()
    good = done.returncode == 2 and says in done.stderr and path.name in done.stderr and not left
    tap(good, f"{profile}:{notation}: import refuses {what}", f"exit {done.returncode}: {done.stderr}")


def check_call(pwlc, name, code, says, *arguments):
    done = pwlc.run(*arguments, "-o", "call.json")
    tap(done.returncode == code and says in done.stderr and not (pwlc.folder / "call.json").exists(), name,
        f"exit {done.returncode}: {done.stderr}")


def check_imports(pwlc):
    shown = [(one["profile"], one["what"], "bytes", one["image"], one["import"]) for one in REFUSALS if "import" in one]
    for case in shown + READER:
        check_import(pwlc, *case)
    known = {(refusal["profile"], refusal["what"]) for refusal in REFUSALS if refusal["by"] != "writer"}
    missing = known - {case[:2] for case in shown + READER} - set(READ)
    tap(not missing, "each of the list is provoked in import", "\n".join(map(str, sorted(missing))))
    (pwlc.folder / "bytes").write_bytes(images.image("tosa8"))
    (pwlc.folder / "empty").mkdir()
    with open(str(pwlc.folder / "large"), "wb") as large:
        large.truncate(1 << 30)
    flags = types("s8 s8")
    for name, code, says, arguments in (
            ("no --function", 2, "--function: missing", ["bytes", "--profile", "tosa8", *flags[2:]]),
            ("no --in", 2, "--in", ["bytes", "--profile", "tosa8", *flags[:2], *flags[4:]]),
            ("no --out", 2, "--out", ["bytes", "--profile", "tosa8", *flags[:4]]),
            ("no --profile", 2, "--profile: missing", ["bytes", *flags]),
            ("no --shift", 2, "--shift: missing", ["aie.in", "--profile", "aie:bytes", *types("s16 s16")]),
            ("no such notation", 2, "bytes, mlir, c, npy", ["bytes", "--profile", "tosa8:json", *flags]),
            ("no such profile", 2, "pwlc list profiles", ["bytes", "--profile", "tenstorrent", *flags]),
            ("no such file", 1, "absent", ["absent", "--profile", "tosa8", *flags]),
            ("a folder", 1, "is a directory", ["empty", "--profile", "tosa8", *flags]),
            ("a folder without files", 1, "threshs_0_0.dat", ["empty", "--profile", "finn:dat", *types("s8 s4")]),
            ("a file of 1 GB", 2, "large", ["large", "--profile", "tosa8", *flags])):
        check_call(pwlc, f"import: {name}", code, says, "import", *arguments)
    (pwlc.folder / "plain.json").write_text(json.dumps(table("s8", "s8", *UP, FLAT8)))
    hostile = dict(table("s8", "s8", *UP, FLAT8), spec="x */ int a; /* \\")
    (pwlc.folder / "spec.json").write_text(json.dumps(hostile))
    for notation in ("tosa8:mlir", "tosa8:c", "quant-gru:cpp"):
        shown = pwlc.run("emit", "spec.json", "--profile", notation).stdout
        lines = shown.splitlines()
        tap(" x * / int a; / * ?" in lines[1] and lines[2][:1] != " ", f"{notation}: a spec stays inside its comment",
            shown[:200])
    for name in ("cmsis-nn", "tenstorrent"):
        check_call(pwlc, f"emit: --profile {name}", 2, "is no profile", "emit", "plain.json", "--profile", name)
