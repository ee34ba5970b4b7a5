# SPDX-License-Identifier: GPL-3.0-or-later
"""Images with random fields, drawn to the limits of their types: import gives the reader's outputs at drawn codes, or
refuses with exit 2 and one of the messages that are known."""
import os
import struct

import consumers
import images
from consumers import Range
from harness import tap

DRAWS = 24 if os.environ.get("PWL_TEST_LONG") == "1" else 8  # of each profile
CODES = 48  # of each table, beside the ends


class Draw:
    """Random numbers that are often limits, or small."""

    def __init__(self, random):
        self.random = random

    def number(self, bits, is_signed=True):
        low, high = consumers.full(bits, is_signed)
        return self.random.choice((
            low, high, max(low, -1), 0, 1, self.random.randint(low, high), self.random.randint(low, high),
            self.random.randint(max(low, -200), min(high, 200)), self.random.randint(max(low, -20), min(high, 20))))

    def rising(self, count, low, high, step=1):
        """Numbers in order, some of them equal or far outside."""
        found = sorted(self.random.randint(low, high) // step * step for _ in range(count))
        return found if self.random.random() < 0.9 else found[::-1]


# Each draws: types, the image, and the reader that it gives.

def outputs(kind):
    def make(draw):
        x, y = draw.random.choice(("s8", "u8")), draw.random.choice(("s8", "u8"))
        if consumers.U8 not in kind.inputs:
            x = y = "s8"
        data = bytes(draw.number(8, False) for _ in range(256))
        return x, y, data, kind.parse(data, ranges(x), ranges(y))
    return make


def points(kind):
    def make(draw):
        half = draw.random.random() < 0.8
        data = struct.pack("<513h", *(draw.number(15 if half else 16) for _ in range(513)))
        return "s16", "s16", data, kind.parse(data)
    return make


def espdl16(kind):
    def make(draw):
        count = (1 << draw.random.choice((1, 2, 5, 8, 11))) + 1
        narrow = draw.random.random() < 0.8
        data = struct.pack(f"<{count}h", *(draw.number(15 if narrow else 16) for _ in range(count)))
        return "s16", "s16", data, kind.parse(data)
    return make


def mli(draw):
    shift = draw.random.choice((5, 7, 8, 11))
    count = draw.random.choice((2, 3, 17, (65536 >> shift) + 1))
    narrow = draw.random.random() < 0.8
    data = [draw.number(14 if narrow else 16) for _ in range(count)]
    offset = draw.random.choice((count // 2, 32768 >> shift, -3, 0, 40))
    text = images.mli_text(data, 12 - shift, offset)
    return "s16:2^-12", "s16:2^-15", text.encode(), consumers.Mli(data, 12 - shift, 15, offset)


def softmax8(draw):
    zero, x = draw.random.choice(((255, "u8"), (127, "s8"), (0, "s9")))
    bytes_only = draw.random.random() < 0.8
    data = struct.pack("<2052h", *(draw.random.randrange(256) if bytes_only else draw.number(16) for _ in range(2052)))
    return f"{x}:2^-4:{zero}", "s32:2^-31:0", data, consumers.TosaSoftmax8.parse(data, zero, ranges(x))


def ethosu16(draw):
    data = struct.pack("<1024h", *(draw.number(16) for _ in range(1024)))
    return "s16", "s16", data, consumers.Ethosu16.parse(data)


def quant_gru(draw):
    x, y = draw.random.choice(("u16", "s16", "u10", "s9")), draw.random.choice(("u16", "s16", "s8", "s32"))
    low, high = ranges(x)
    thresholds = draw.rising(16, low - 10, high + 10)
    zp_x, zp_y = draw.random.choice((low, high, 0, 5)), draw.number(16)
    wide = draw.random.random() < 0.2
    shifts = (8, 0, -3, 12, 1, 20, 31, 45) if wide else (8, 6, 12, 14)
    rows = b"".join(struct.pack("<ib3xii", draw.number(32 if wide else 14), draw.random.choice(shifts),
                                draw.number(32 if wide else 20), thresholds[i]) for i in range(16))
    data = rows + struct.pack("<ibb2xiff", zp_x, draw.number(8), draw.number(8), zp_y, 0, 1.5)
    return f"{x}:2^-4:{zp_x}", f"{y}:2^-4:{zp_y}", data, consumers.QuantGru.parse(data, ranges(x), ranges(y))


def aimet_pe(draw):
    x, y = draw.random.choice(("s16", "u10", "s9", "u15")), draw.random.choice(("u16", "s16", "s8"))
    low, high = ranges(x)
    zp = draw.random.choice((0, low + 3, 7, -4))
    start = [low] + draw.rising(15, low - 10, high + 10)
    start[0] = min(start)
    wide = draw.random.random() < 0.2
    shifts = (8, 0, -2, 12, 1, 20, 31, -32) if wide else (8, 1, 12, 14)
    bits = sum((s % 2 ** 17) << 17 * i for i, s in enumerate(start))
    data = struct.pack("<16i16b16h", *(draw.number(32 if wide else 20) for _ in range(16)),
                       *(draw.random.choice(shifts) for _ in range(16)),
                       *(draw.number(16 if wide else 14) for _ in range(16))) + bits.to_bytes(34, "little")
    return f"{x}:2^-4:{zp}", y, data, consumers.AimetPe.parse(data, zp, ranges(x), ranges(y))


def aie(draw):
    x, entries = draw.random.choice((("s8", 4), ("s8", 16), ("s10", 64), ("s16", 256)))
    y = draw.random.choice(("s16", "s16", "s12"))
    pairs = [(draw.number(draw.random.choice((6, 16))), draw.number(draw.random.choice((10, 16)))) for _ in range(entries)]
    once = b"".join(struct.pack("<hh", *pair) for pair in pairs)
    data = b"".join(once[k:k + 16] * 2 for k in range(0, len(once), 16))
    step_bits = int(x[1:]) - entries.bit_length() + 1
    reader = consumers.Aie.parse(data, data, step_bits, -(ranges(x).low >> step_bits), 8, 8, ranges(x), ranges(y))
    evaluate = reader.evaluate
    reader.evaluate = lambda code: evaluate(code, saturates=True)
    return x, y, data, reader


def nvdla(draw):
    x, y = draw.random.choice(("s16", "s18", "u12", "s32")), draw.random.choice(("s16", "s32", "s20"))
    select = draw.random.choice((0, 3, 8, 10, int(x[1:]) - 8, 31))
    low, high = ranges(x)
    start = draw.random.choice((low, low, low - 5 if low > -2 ** 31 else low, low + 100, -200))
    end = draw.random.choice((start + (256 << select), high, draw.number(32)))
    data = bytearray(700)
    data[130:644] = struct.pack("<257h", *(draw.number(draw.random.choice((9, 16))) for _ in range(257)))
    data[646] = select
    for place, limit in ((648, 2 ** 31 - 1), (664, start), (672, end)):
        data[place:place + 8] = struct.pack("<Q", limit % 2 ** 32)
    for place in (688, 692):
        if draw.random.random() < 0.4:
            data[place:place + 3] = struct.pack("<hb", draw.number(draw.random.choice((4, 16))),
                                                draw.random.choice((0, 1, 4, 15, -2, -16)))
    data[696:700] = bytes([1, 1, 1, 1])
    return f"{x}:2^-4:{draw.random.choice((0, 5))}", y, bytes(data), consumers.Nvdla.parse(bytes(data), ranges(x), ranges(y))


def gna(draw):
    x, y = draw.random.choice(("s16", "s10", "s32")), draw.random.choice(("s16", "s8", "s32", "s12"))
    low, high = ranges(x)
    count = draw.random.choice((2, 3, 9, 128))
    bases = sorted(set(draw.rising(count, low, high, 4)) | {-2 ** 31})[:128]
    if draw.random.random() < 0.2:
        bases = bases[1:] + [high // 4 * 4]
    flat = draw.random.random() < 0.9
    data = b"".join(struct.pack("<ihh", base + draw.random.randrange(4), draw.number(16),
                                0 if flat and base < low else draw.number(draw.random.choice((8, 16)))) for base in bases)
    return x, y, data, consumers.Gna.parse(data, ranges(x), ranges(y))


def k210(draw):
    x = draw.random.choice(("s16", "u10", "s9"))
    low, high = ranges(x)
    starts = [-2 ** 35] + draw.rising(15, low - 20, high + 20)
    if draw.random.random() < 0.1:
        starts[1] = -2 ** 35 + 1
    narrow = draw.random.random() < 0.8
    shifts = (0, 1, 3, 6, 8) if narrow else (0, 1, 3, 8, 14, 30, 43)
    rows = [(starts[0], 0, 0)] + [(start, abs(draw.number(10)) if narrow else draw.number(16), draw.random.choice(shifts))
                                  for start in starts[1:]]
    data = struct.pack("<16Q", *((s % 2 ** 36 << 24) + (m % 2 ** 16 << 8) + n for s, m, n in rows)) + bytes(
        draw.number(8, False) for _ in range(16))
    return f"{x}:2^-4:{draw.random.choice((0, 5))}", "u8", data, consumers.K210.parse(data, ranges(x), consumers.U8)


def finn(draw):
    x, bits = draw.random.choice(("s8", "u7", "s10")), draw.random.choice((2, 4, 8))
    y = draw.random.choice("su") + str(bits)
    low, high = ranges(x)
    thresholds = draw.rising((1 << bits) - 1, low, high + 1)
    text = '{"out_scale": 1, "out_bias": %d, "thresholds": %s}' % (ranges(y).low, thresholds)
    return x, y, text.encode(), consumers.Finn(thresholds, ranges(y).low, int(x[1:]) + 1, ranges(x), ranges(y))


DRAWN = {"tosa8:bytes": outputs(consumers.Tosa8), "ethosu8:bytes": outputs(consumers.Ethosu8),
         "tflm8:bytes": outputs(consumers.Tflm8), "executorch8:bytes": outputs(consumers.Executorch8),
         "xnnpack8:bytes": outputs(consumers.Xnnpack8), "espdl16:bytes": espdl16(consumers.Espdl16),
         "mli:c": mli, "tosa-softmax8:bytes": softmax8, "espdl16-p4:bytes": espdl16(consumers.Espdl16P4),
         "espdl16-linear:bytes": espdl16(consumers.Espdl16Linear),
         "tosa16:bytes": points(consumers.Tosa16),
         "tflm16:bytes": points(consumers.Tflm16), "ethosu16:bytes": ethosu16, "quant-gru:bytes": quant_gru,
         "aimet-pe:bytes": aimet_pe, "finn:json": finn, "aie:bytes": aie, "nvdla:bytes": nvdla, "gna:bytes": gna,
         "k210:bytes": k210}

# Parts of the messages of a refusal of numbers that are bytes of the layout.
KNOWN = ("more bits than there are", "32 bits", "nothing clips", "apart; must be", "not in order", "must ascend",
         "give an --in that begins there", "no table does that", "zero point", "no proof that it is safe", "must be an integer in",
         "must have 6 bits", "must not be negative", "must be at most 43", "needs more than", "below thresholds",
         "must have 5 bits", "nothing serves", "must fit", "must be a byte")


def ranges(kind):
    return Range(*consumers.full(int(kind[1:]), kind[0] == "s"))


def with_scale(kind):
    return kind if ":" in kind else f"{kind}:2^-4"


def codes_of(reader, data, draw):
    x = getattr(reader, "x", consumers.S16)
    codes = {x.low, x.low + 1, x.high, x.high - 1} | {draw.random.randint(x.low, x.high) for _ in range(CODES)}
    starts = [row[-1] for row in getattr(reader, "segments", [])] + getattr(reader, "starts", []) + getattr(
        reader, "start", []) + getattr(reader, "thresholds", [])[:40]
    if hasattr(reader, "step"):  # half way between two entries
        starts += [-32768 + reader.step * draw.random.randrange(len(reader.table) - 1) + reader.step // 2 for _ in range(9)]
    codes |= {start + k for start in starts for k in (-1, 0, 1) if x.low <= start + k <= x.high}
    return sorted(codes)


def check_one(pwlc, name, make, draw):
    """"", "refused", or what is wrong."""
    x, y, data, reader = make(draw)
    (pwlc.folder / "drawn").write_bytes(data)
    shift = ["--shift", "8"] if name.startswith("aie") else []
    done = pwlc.run("import", "drawn", "--profile", name, "--function", "tanh", "--in", with_scale(x), "--out",
                    with_scale(y), *shift, "-o", "drawn.json")
    if done.returncode == 2 and any(part in done.stderr for part in KNOWN):
        return "refused"
    if done.returncode:
        return f"exit {done.returncode}: {done.stderr.strip()} [{x} {y}]"
    codes = codes_of(reader, data, draw)
    for code, got in zip(codes, pwlc.evaluate("drawn.json", codes)):
        try:
            wanted = reader.evaluate(code)
        except consumers.Refused as error:
            return f"{error} at {code}, and import gives {got} [{x} {y}] {data.hex()[:80]}"
        if got != wanted:
            return f"{got} at {code}, not {wanted} [{x} {y}] {data.hex()[:80]}"
    return ""


def check(pwlc, random, draws=DRAWS):
    for name, make in DRAWN.items():
        found = [check_one(pwlc, name, make, Draw(random)) for _ in range(draws)]
        wrong = [text for text in found if text not in ("", "refused")]
        read = found.count("")
        tap(not wrong and 3 * read >= draws, f"{name}: {draws} drawn images, {read} of them tables",
            "\n".join(wrong) or "fewer than a third are tables")
