# SPDX-License-Identifier: GPL-3.0-or-later
"""What refusals.py is made of: images and texts for the readers, tables for pwlc emit, files for pwlc import."""
import json
import struct

import consumers
import images
from consumers import S8, S16, U16, Range

# -- For the readers of consumers.py ------------------------------------------------------------------------------------

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
    return lambda: consumers.AimetPe.from_json(aimet_document(change)).check()


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


# -- Files for import ---------------------------------------------------------------------------------------------------

def mlir_text(old="", new="", rescale=images.RESCALE):
    text = images.mlir(images.points(), 16, rescale)
    assert old in text
    return text.replace(old, new, 1)


def aimet_document(change):
    document = json.loads(images.aimet_text())
    change(document["table"])
    return json.dumps(document)


def aimet_rom(place, new):
    fields = [list(field) for field in images.aimet_fields()]
    fields[3][place] = new
    start, q_b, n, c = zip(*fields)
    bits = sum((s % 2 ** 17) << 17 * i for i, s in enumerate(start))
    return struct.pack("<16i16b16h", *c, *n, *q_b) + bits.to_bytes(34, "little")


def finn_document(thresholds, bias=-8, scale=1):
    return json.dumps({"thresholds": thresholds, "out_scale": scale, "out_bias": bias})


def finn_folder(name, text):
    return {k: v for k, v in dict(images.image("finn"), **{name: text}).items() if v}


def gru_bytes(rows):
    return b"".join(struct.pack("<ib3xii", *row) for row in rows) + struct.pack("<ibb2xiff", 24576, 12, 16, -1, 0, 0)


def aie_text(bias=128, step_bits=8, entries=256, other=None, shift=8):
    values = list(struct.unpack("<1024h", images.image("aie")))
    return (f"int entries = {entries};\nint bias = {bias};\nint step_bits = {step_bits};\nint shift = {shift};\n"
            f"int shift_offset = {shift};\n" + images.c_array("int16_t", values, "lut_ab")
            + images.c_array("int16_t", other or values, "lut_cd"))


T15 = images.finn_thresholds()
