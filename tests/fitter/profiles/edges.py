# SPDX-License-Identifier: GPL-3.0-or-later
"""What the rules of the formats say and their vectors do not reach: saturations, wraps, ties of either sign, zero
points, unsigned codes, both NVDLA tables, and the last value that a limit allows. The outputs are computed by hand."""
import json
import struct

import arithmetic
import broken
import consumers
import images
import texts
from consumers import S8, S16, S32, U8, U16, NvdlaTable, Range
from harness import accepted, outputs, refuses, same


def check_points():
    steps = consumers.Tosa16([16384, -16384] + [16383] * 511)
    same("tosa16: the steepest differences", (steps.difference(0), steps.difference(1)), (-32768, 32767))
    accepted("tosa16: -32768 and 32767 are allowed", steps.check)
    for name, points in (("the first difference 32768", [-16384, 16384] + [16384] * 511),
                         ("the last difference -32769", [16384] * 512 + [-16385])):
        refuses(f"tosa16: {name}", "more than 16 bits", consumers.Tosa16(points).check)
    outputs("tosa16: RESCALE saturates", consumers.Tosa16([16384] * 513, 1 << 15).evaluate, {0: 32767})
    outputs("tosa16: RESCALE saturates below", consumers.Tosa16([-16385] * 513, 1 << 15).evaluate, {0: -32768})
    wraps = consumers.Tflm16([-20000, 20000] + [20000] * 511)
    outputs("tflm16: a difference of 40000 wraps, and the output saturates",
            lambda fraction: wraps.evaluate(-32768 + fraction), {63: -32568, 64: -32768, 65: -32768, 127: -32768})
    word = consumers.Ethosu16([(20000 << 16) | 20000] * 512)
    outputs("ethosu16: saturates", word.evaluate, {0: 20000, 81: 32656, 82: 32767})
    reader = consumers.Tflm8.from_c(images.c_array("uint8_t", range(256)), None, U8, U8)
    accepted("tflm8, u8: checks", reader.check)
    outputs("tflm8, u8: outputs", reader.evaluate, {x: x for x in range(256)})
    refuses("tosa8: no code -129", "no input -129", lambda: consumers.Tosa8([0] * 256, S8, S8).evaluate(-129))
    refuses("tosa16: no code 32768", "no input 32768", lambda: consumers.Tosa16([0] * 513).evaluate(32768))
    refuses("ethosu16: no code 32768", "no input 32768", lambda: consumers.Ethosu16([0] * 512).evaluate(32768))


def check_quant_gru():
    wide = consumers.QuantGru(
        [(2 ** 30, 0, 5, 3), (1, 0, 2 ** 31 - 1, 4), (3, -30, 0, 65535)] + [(0, 0, 7, 65535)] * 13,
        0, (12, 16), 0, (0, 0), U16, U16)
    outputs("quant-gru: 32 bits wrap, 64 do not", wide.before_clip, {
        1: 2 ** 30 + 5, 2: 5 - 2 ** 31, 3: 2 - 2 ** 31, 5: -2 ** 30, 65535: 7, -1: 5, 65536: 7})
    text = images.gru_text()
    bare = "".join(line for line in text.splitlines(True) if "scale" not in line)
    some = text.replace("0.0f", "0.25f").replace("0x0p+0f", "0x1p-16f")
    one = text.replace(".scale_x = 0.0f,", "")
    read = consumers.QuantGru.from_cpp
    same("quant-gru: scales, none and some", (read(bare).scales, read(some).scales), ((0, 0), (0.25, 2 ** -16)))
    refuses("quant-gru: one scale", "1 floats", lambda: read(one))
    for n, good in ((-31, True), (63, True), (-32, False), (64, False)):
        reader = broken.gru([(0, n, 0), (0, 0, 0)])
        if good:
            accepted(f"quant-gru: n = {n} is allowed", reader.check)
        else:
            refuses(f"quant-gru: n = {n}", f"n_BX_total[0] = {n}", reader.check)
    for row in ((2 ** 31, 0, 0), (0, 0, -2 ** 31 - 1)):
        refuses(f"quant-gru: {row}", "more than 32 bits", broken.gru([row, (0, 0, 0)]).check)
    limits = broken.gru([(0, 0, -2 ** 31), (0, 0, 2 ** 31 - 1)])
    accepted("quant-gru: sums of all 32 bits are allowed", limits.check)
    same("quant-gru: the last codes of segments", map(limits.segment_of, (0, 4095, 4096, 65534, 65535)),
         (0, 0, 1, 1, 15))


def check_aimet():
    fields = [(4096 * i, -1, 1, 5) for i in range(16)]
    stream = sum((start % 2 ** 17) << 17 * i for i, (start, _, _, _) in enumerate(fields))
    data = struct.pack("<16i16b16h", *([5] * 16 + [1] * 16 + [-1] * 16)) + stream.to_bytes(34, "little")
    reader = consumers.AimetPe.parse(data, 32768, U16, U16)
    same("aimet-pe, u16: starts of 17 bits", reader.start, (start for start, _, _, _ in fields))
    accepted("aimet-pe, u16: checks", reader.check)
    outputs("aimet-pe, u16: ties, half up", reader.evaluate, {
        0: 16389, 1: 16389, 3: 16388, 32767: 6, 32768: 5, 32769: 5, 32771: 4, 65535: 0})
    outputs("aimet-pe, u16: ties, half away", reader.simulate, {
        0: 16389, 3: 16388, 32767: 6, 32769: 4, 32771: 3, 65535: 0})
    for zp, code, expected in ((-10, 32767, 32767), (10, -32768, -32768), (-10, 32757, 32767), (10, -32757, -32767)):
        outputs(f"aimet-pe: X saturates, zp {zp}", consumers.AimetPe([-32768], [1], [0], [0], zp, S16, S32).evaluate,
                {code: expected})
    for c, expected in ((-7, 2 ** 31 - 8), (10, 2 ** 31 - 1)):
        outputs(f"aimet-pe: term and sum saturate, c {c}",
                consumers.AimetPe([-32768], [32767], [-4], [c], 0, S16, S32).evaluate, {32767: expected})
    for n, good in ((-32, True), (31, True), (-33, False), (32, False)):
        reader = consumers.AimetPe([-32768], [0], [n], [0], 0, S16, S16)
        if good:
            accepted(f"aimet-pe: n = {n} is allowed", reader.check)
        else:
            refuses(f"aimet-pe: n = {n}", "more than 6 bits", reader.check)
    wide = consumers.AimetPe([-65536, 65535], [0] * 2, [0] * 2, [0] * 2, 0, S16, S16)
    accepted("aimet-pe: 17 bits of start", wide.check)
    near = consumers.AimetPe([-32768], [-32767], [-1], [2 ** 31 - 1 - 2 * 32767 * 32768], 0, S16, S32)
    accepted("aimet-pe: a sum of 2^31 - 1 is allowed", near.check)
    near.c[0] += 1
    refuses("aimet-pe: a sum of 2^31", "saturate at code -32768", near.check)
    tie = consumers.AimetPe([-32768], [-1], [1], [2 ** 31 - 1 - 16383], 0, Range(-32765, -32765), S32)
    accepted("aimet-pe: a tie to 2^31 - 1 is allowed", tie.check)
    tie.c[0] += 1
    refuses("aimet-pe: a tie to 2^31", "saturate at code -32765", tie.check)
    accepted("aimet-pe: the zero point counts in sums", consumers.AimetPe(
        [-100], [1], [0], [2 ** 31 - 51], 50, Range(-100, 100), S32).check)
    for zp, says in ((1, "x - zp = -32769"), (-1, "x - zp = 32768")):
        refuses(f"aimet-pe: {says}", says, consumers.AimetPe([-32768], [0], [0], [0], zp, S16, S16).check)

    document = json.loads(images.aimet_text())
    tensor = document["table"]["quantization"]["output"]
    tensor.update(qmin=0, qmax=255, zero_point=128, scale=0.5, fmin=-64.0, fmax=63.5)
    reader = consumers.AimetPe.from_json(json.dumps(document))
    same("aimet-pe, JSON: ranges", (reader.x, reader.y), (S16, U8))
    for key, value in (("fmin", -63), ("fmax", 64), ("scale", "1")):
        changed = json.loads(json.dumps(document))
        changed["table"]["quantization"]["output"][key] = value
        refuses(f"aimet-pe, JSON: {key} {value}", "aimet-pe: output",
                lambda text=json.dumps(changed): consumers.AimetPe.from_json(text))
    tensor.update(scale=0, fmin=0, fmax=0)
    refuses("aimet-pe, JSON: scale 0", "scale 0", lambda: consumers.AimetPe.from_json(json.dumps(document)))
    document["other"] = document["table"]
    refuses("aimet-pe, JSON: two functions", "2 functions", lambda: consumers.AimetPe.from_json(json.dumps(document)))


def check_finn():
    files = {"threshs_3_0.dat": "0ff\n", "threshs_3_1.dat": "000\n100\n"}
    reader = consumers.Finn.from_dat(files, 2, 9, 0, U8, Range(0, 3), pe=3)
    same("finn, u8 in 9 bits: thresholds", reader.thresholds, (0, 255, 256))
    outputs("finn, u8 in 9 bits: outputs", reader.evaluate, {0: 1, 254: 1, 255: 2})
    accepted("finn, u8 in 9 bits: checks", reader.check)
    signed = dict(files, **{"threshs_3_1.dat": "100\n0ff\n"})
    reader = consumers.Finn.from_dat(signed, 2, 9, -2, S8, Range(-2, 1), pe=3)
    same("finn, s8 in 9 bits: thresholds", reader.thresholds, (-256, 255, 255))
    accepted("finn, s8 in 9 bits: checks", reader.check)
    refuses("finn: 9 bits have no 200", "more than 9 bits", lambda: consumers.Finn.from_dat(
        dict(files, **{"threshs_3_0.dat": "200\n"}), 2, 9, 0, U8, Range(0, 3), pe=3))
    refuses("finn: K = 10 of 8-bit codes", "K = 10", consumers.Finn([0], 0, 10, U8, Range(0, 1)).check)
    refuses("finn: no threshold", "0 thresholds", consumers.Finn([], 0, 8, U8, Range(0, 0)).check)
    accepted("finn: 255 thresholds", consumers.Finn([0] * 255, 0, 8, U8, U8).check)
    refuses("finn: a missing output", "thresholds for outputs", consumers.Finn([0] * 3, 0, 8, U8, Range(0, 1)).check)
    refuses("finn: BIAS", "BIAS 1, not 0", consumers.Finn([0] * 3, 1, 8, U8, Range(0, 3)).check)
    refuses("finn: a threshold that is not whole", "not a whole number",
            lambda: consumers.Finn.from_values([0.5], 8, 0, U8, Range(0, 1)))
    refuses("finn: a threshold that is not whole, npy", "not a whole number",
            lambda: texts.npy_values(images.npy([0.5], "f4", (1, 1))))
    refuses("finn: npy of two rows", "not one row", lambda: texts.npy_values(images.npy([0] * 4, "f4", (2, 2))))
    refuses("finn: npy that ends early", "bytes for shape", lambda: texts.npy_values(images.npy([0] * 4, "f4", (5,))))
    refuses("finn: npy of big numbers", "type >f4",
            lambda: texts.npy_values(images.npy([0] * 4, "f4", (4,)).replace(b"<f4", b">f4")))
    refuses("finn: no npy", "no npy file", lambda: texts.npy_values(b"0" * 100))
    second = images.npy([1, -2], "i2", (2,))
    size = second[8:10]
    same("finn: npy of version 2", texts.npy_values(second[:6] + b"\x02\x00" + size + b"\0\0" + second[10:]), (1, -2))


def check_aie():
    data = struct.pack("<8h", -1, 3, 1, 0, 32767, 32767, 2, -5) * 2
    reader = consumers.Aie.parse(data, data, 3, 2, 1, 1, Range(-16, 15), S16)
    outputs("aie: floor", reader.evaluate, {-16: 3, -15: 2, -13: 1, -9: -1, -7: 0, -5: 1})
    outputs("aie: half_even", lambda x: reader.evaluate(x, consumers.half_even), {-15: 2, -13: 2, -9: 0, -7: 0, -5: 2})
    outputs("aie: wraps", reader.evaluate, {0: 32767, 1: -16386, 6: 131068 - 131072})
    outputs("aie: saturates if set", lambda x: reader.evaluate(x, saturates=True), {0: 32767, 1: 32767, 6: 32767, 8: -5})
    outputs("aie: codes above the last entry have it", reader.evaluate, {8: -5, 15: 2, 16: -5, 23: 2})
    refuses("aie: an entry below 0", "entry -1", lambda: reader.evaluate(-17))
    flat = struct.pack("<8h", *[0, 7] * 4) * 2
    accepted("aie: step_bits 3", consumers.Aie.parse(flat, flat, 3, 2, 0, 0, Range(-16, 15), S16).check)
    for name, says, values in (
            ("a code more than the entries have", "no entry of their own", (3, 2, 0, 0, Range(-16, 16), S16)),
            ("a shift of offsets below 0", "a shift", (3, 2, -1, 0, Range(-16, 15), S16)),
            ("a shift below 0", "a shift", (3, 2, 0, -1, Range(-16, 15), S16)),
            ("an output above the range", "leaves the output", (3, 2, 0, 0, Range(-16, 15), Range(0, 6)))):
        refuses(f"aie: {name}", says, consumers.Aie.parse(flat, flat, *values).check)
    rising = struct.pack("<8h", 0, 0, 1, 0, 0, 0, 0, 0) * 2
    for limit, good in ((6, True), (5, False)):
        reader = consumers.Aie.parse(rising, rising, 3, 2, 0, 0, Range(-16, -2), Range(0, limit))
        if good:
            accepted("aie: the last code gives the last output", reader.check)
        else:
            refuses("aie: the last code leaves the output", "6 at code -2", reader.check)
    refuses("aie: no bytes", "0 bytes", lambda: consumers.Aie.parse(b"", b"", 3, 2, 0, 0))
    three = flat * 3
    refuses("aie: 12 entries", "12 entries", consumers.Aie.parse(three, three, 3, 2, 0, 0, Range(-16, 15), S16).check)


def check_nvdla():
    data = bytearray(700)
    data[0:130] = struct.pack("<65h", *(7 * i - 200 for i in range(65)))
    data[130:644] = struct.pack("<257h", *(3 * i for i in range(257)))
    data[644], data[646] = 2, 3
    data[648:680] = struct.pack("<qqqq", -100, 500, -1000, 1048)
    data[680:696] = struct.pack("<hbxhbxhbxhbx", 5, 2, 5, -1, 3, 1, -3, 2)
    expected = {  # which table: where both hit, below both, above both
        (1, 0, 1): {-1102: -1453, -1001: -1326, -1000: -1325, -99: 338, -98: 338, 155: 433, 1048: 768, 1050: 766},
        (0, 1, 0): {-1102: -153, -1101: -152, -1000: 0, -99: -198, -98: -197, 155: 246, 1048: 5728, 1050: 5748}}
    for priorities, found in expected.items():
        data[696:700] = bytes(priorities) + b"\x01"
        reader = consumers.Nvdla.parse(bytes(data), S16, S32)
        accepted(f"nvdla, both tables, {priorities}: checks", reader.check)
        outputs(f"nvdla, both tables, {priorities}: outputs", reader.evaluate, found)
        outputs(f"nvdla, both tables, {priorities}: one hit", reader.evaluate,
                {-999: 0, -996: 2, -995: 2, -100: 338, 156: 434, 1047: 768})
    apart = [NvdlaTable([value] * 3, 4, start, start + 32, (0, 0), (0, 0)) for value, start in ((1000, 0), (2000, 100))]
    for hybrid in (0, 1):
        reader = consumers.Nvdla(apart, (hybrid, 0, 0), 1, S16, S16)
        outputs(f"nvdla: one over, one under, hybrid {hybrid}", reader.evaluate,
                {32: 1000 + 1000 * hybrid, 101: 2000, 132: 1000})
    steep = NvdlaTable([0] * 3, 4, 0, 32, (32767, -16), (-32767, 15))
    rising = NvdlaTable([0] * 3, 4, 0, 32, (32767, 15), (32767, -16))
    for name, table, found in (("falls", steep, {-1: -2147418112, -2: -2 ** 31, 33: -1, 2 ** 31 - 1: -2147418079}),
                               ("rises", rising, {33: 2147418112, 34: 2 ** 31 - 1, -1: -1, -2 ** 31: -2147418112})):
        outputs(f"nvdla: an upper slope that {name} saturates, and shifts go both ways",
                consumers.Nvdla([table, table], (1, 1, 1), 1, S16, S32).evaluate, found)
    limits = bytearray(images.image("nvdla"))
    limits[656:664] = b"\x00\x00\x00\x80" + b"\xff" * 4
    reader = consumers.Nvdla.parse(bytes(limits))
    same("nvdla: limits are the low 32 bits", (limit for table in reader.tables for limit in (table.start, table.end)),
         (2 ** 31 - 1, -2 ** 31, -32768, 32768))
    peak = NvdlaTable([0, 0, 0, 160, 0, 0], 4, 5, 85, (0, 0), (0, 0))
    reader = consumers.Nvdla([peak, peak], (0, 0, 0), 1, S16, Range(0, 160))
    outputs("nvdla: a start that is no multiple of the step", reader.evaluate,
            {37: 0, 38: 10, 52: 150, 53: 160, 54: 150})
    accepted("nvdla: the highest point is allowed", reader.check)
    refuses("nvdla: the highest point leaves the output", "160 at code 53", consumers.Nvdla(
        [peak, peak], (0, 0, 0), 1, S16, Range(0, 159)).check)
    for select, good in ((0, True), (31, True), (-1, False), (32, False)):
        flat = NvdlaTable([0] * 3, select, 0, 32, (1, -16), (1, 15))
        reader = consumers.Nvdla([flat, flat], (0, 1, 0), 1, Range(0, 1), S32)
        if good:
            accepted(f"nvdla: index_select {select} and shifts -16 and 15 are allowed", reader.check)
        else:
            refuses(f"nvdla: index_select {select}", "is not 0..31", reader.check)
    for shift in (-17, 16):
        table = NvdlaTable([0] * 3, 0, 0, 0, (1, shift), (0, 0))
        reader = consumers.Nvdla([table, table], (0, 0, 0), 1, S16, S16)
        refuses(f"nvdla: shift {shift}", "more than 5 bits", reader.check)
    refuses("nvdla: no input 2^31", "no input", lambda: reader.evaluate(2 ** 31))


def check_gna():
    data = struct.pack("<ihhihh", -8, 5, 256, 8, -3, -256)
    outputs("gna: below and at the first base", consumers.Gna.parse(data, S16, S8).evaluate, {
        -9: 5, -8: 5, -7: 6, 7: 20, 8: -3, 10: -5, 133: -128, 134: -128})
    one = consumers.Gna([(-2 ** 31, 0, 3, 0)], S16, S16)
    accepted("gna: one entry from 3.0", lambda: one.check(3))
    refuses("gna: no entry", "0 entries", lambda: consumers.Gna([], S16, S16).check(3))
    many = [(-2 ** 31, 0, 0, 0)] + [(4 * k, 0, 0, 0) for k in range(127)]
    accepted("gna: 128 entries", consumers.Gna(many, S16, S16).check)
    refuses("gna: no input 2^31", "no input", lambda: one.evaluate(2 ** 31))
    line = [(-2 ** 31, 0, -16384, 0), (-32768, 0, -16384, 128)]
    accepted("gna: a line to the last output", consumers.Gna(line, S16, Range(-16384, 16383)).check)
    for limits in (Range(-16384, 16382), Range(-16383, 16383)):
        refuses(f"gna: outputs {limits.low}..{limits.high}", "saturates", consumers.Gna(line, S16, limits).check)


def check_k210():
    words = [broken.word(*entry) for entry in ((-2 ** 35, 0, 0), (0, 1, 1), (100, 32767, 0), (200, 1, 43))]
    data = b"".join(words + words[3:] * 12) + bytes([9, 20, 0, 7] + [8] * 12)
    reader = consumers.K210.parse(data, Range(-500, 500))
    accepted("k210: checks, with shifts 0 and 43", reader.check)
    outputs("k210: ties to even, and saturation", reader.evaluate, {
        -500: 9, 0: 9, 1: 20, 2: 21, 3: 22, 5: 22, 7: 24, 100: 70, 101: 255, 200: 255, 201: 8, 500: 8})
    outputs("k210: the first and last code", reader.evaluate, {-2 ** 35 + 1: 9, 2 ** 35 - 1: 8})
    refuses("k210: the code -2^35 is above no start", "no entry holds", lambda: reader.evaluate(-2 ** 35))
    refuses("k210: no input 2^35", "no input", lambda: reader.evaluate(2 ** 35))
    falling = consumers.K210.parse(images.patched("k210", 8, broken.word(-7000, -1, 14)))
    refuses("k210: a product below 0 has no output", "its rounding is unknown", lambda: falling.evaluate(-6999))
    for limits in (Range(-1, 255), Range(0, 256)):
        refuses(f"k210: outputs {limits.low}..{limits.high}", "not of u8", lambda limits=limits: consumers.K210.parse(
            data, S16, limits).check())
    same("k210: the simulator's rounding", (reader.simulated_round(p, 2) for p in (-4, -3, -1, 1, 3, 6)),
         (-1, -1, -2, 0, 1, 2))


def check_texts():
    same("texts: integers of C", map(texts.number, ("0", "-12", " 0x10Fu", "-2147483647 - 1", "12ULL")),
         (0, -12, 0x10f, -2 ** 31, 12))
    for text in ("", "1 2", "abc", "0x", "1.5", "012"):
        refuses(f"texts: {text!r}", "is no integer", lambda text=text: texts.number(text))
    text = ("alignas(16) const int32_t a[2 * 2] = {1, -2, 0x3, 4,}; /* int8_t b[1] = {1}; */ // int8_t c[] = {2};\n"
            "static const uint64_t d[1] __attribute__((aligned(4))) = { 255 };")
    same("texts: arrays of C", ((*key, value) for (key, value) in (((array.type, name), tuple(array.values))
         for name, array in texts.c_arrays(text).items())),
         (("int32_t", "a", (1, -2, 3, 4)), ("uint64_t", "d", (255,))))
    for text, says in (("int8_t a[2] = {1};", "1 values in an array of 2"), ("int8_t a[] = {128};", "too large"),
                       ("int8_t a[] = {1}; int8_t a[] = {1};", "stands twice"), ("", "no array")):
        refuses(f"texts: {text!r}", says, lambda text=text: texts.c_arrays(text))
    refuses("texts: two arrays where one is meant", "arrays: a, b",
            lambda: texts.c_bytes("int8_t a[] = {1}; int8_t b[] = {1};", ("int8_t",)))
    refuses("texts: an array of another name", "arrays: a", lambda: texts.c_bytes("int8_t a[] = {1};", ("int8_t",), "b"))

    good = images.mlir(images.points(), 16, images.RESCALE)
    packed = good.replace(str(images.points()), f'"0x{images.image("tosa16").hex().upper()}"')
    same("texts: MLIR in hex", consumers.Tosa16.from_mlir(packed).points, images.points())
    splat = good.replace(str(images.points()), "-300")
    same("texts: MLIR of one value", consumers.Tosa16.from_mlir(splat).points, [-300] * 513)
    same("texts: MLIR of one value in hex", consumers.Tosa16.from_mlir(splat.replace("<-300>", '<"0xD4FE">')).points,
         [-300] * 513)
    generic = good.replace("func.func @table(%arg0: tensor<1x4xi16>) -> tensor<1x4xi16> {",
                           '"func.func"() <{sym_name = "table"}> ({\n  ^bb0(%arg0: tensor<1x4xi16>):')
    for old, new in (("tosa.table %arg0, %0 :", '"tosa.table"(%arg0, %0) :'), ("return %6", '"func.return"(%6)'),
                     ("tosa.rescale %1, %2, %3, %4, %5 {", '"tosa.rescale"(%1, %2, %3, %4, %5) <{'),
                     ("scale32 = false}", "scale32 = false}>")):
        generic = generic.replace(old, new)
    same("texts: MLIR in the generic form", consumers.Tosa16.from_mlir(generic).points, images.points())
    for old, new, says in (
            ("tosa.table %arg0", "tosa.table %0", "does not read the argument"),
            ("tosa.rescale %1", "tosa.rescale %0", "does not read tosa.table"),
            ("return %6", "return %1", "returns another value"),
            ("%2, %3, %4, %5 {", "%2, %3, %4 {", "operand 4 is missing"),
            ("%4, %5 {", "%4, %7 {", "%7 is not defined"), ("%4, %5 {", "%4, %1 {", "%1 is tosa.table, not tosa.const"),
            ("tosa.table %arg0, %0 :", "tosa.abs %arg0 :", "tosa.abs"),
            ("dense<21> : tensor<1xi8>", "dense<-129> : tensor<1xi8>", "too large for i8"),
            ("dense<21> : tensor<1xi8>", "dense<128> : tensor<1xi8>", "too large for i8"),
            ("dense<21> : tensor<1xi8>", "dense<21> : tensor<2xi8>", "operand 2 is not one i8"),
            ("dense<21> : tensor<1xi8>", "dense<21> : tensor<1xi16>", "operand 2 is not one i8"),
            ("dense<21> : tensor<1xi8>", "dense<[21, 3]> : tensor<1xi8>", "2 values"),
            ("dense<21> : tensor<1xi8>", "sparse<21> : tensor<1xi8>", "no values"),
            ("per_channel = false", "per_channel = true", "per_channel is not false"),
            ("input_unsigned = false", "input_unsigned = true", "input_unsigned is not false"),
            ("output_unsigned = false, ", "", "output_unsigned stands 0 times"),
            ("    return %6", "    %7 = tosa.rescale %6, %2 : () -> tensor<1x4xi16>\n    return %6", "2 tosa.rescale"),
            ("    return %6", "    %7 = tosa.table %arg0, %0 : () -> tensor<1x4xi32>\n    return %6", "2 tosa.table"),
            ("module {", "module { func.func @other() {}", "not one function"),
            ("    %3 =", "    %2 =", "defined twice")):
        refuses(f"texts: MLIR with {new!r}", says,
                lambda text=good.replace(old, new): consumers.Tosa16.from_mlir(text))


def check_arithmetic():
    same("ends of lines", arithmetic.ends(Range(-10, 10), [-30, -10, 0, 5, 11]), (-10, -9, -1, 0, 1, 4, 5, 6, 10))


def check():
    check_arithmetic()
    check_points()
    check_quant_gru()
    check_aimet()
    check_finn()
    check_aie()
    check_nvdla()
    check_gna()
    check_k210()
    check_texts()
