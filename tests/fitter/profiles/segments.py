# SPDX-License-Identifier: GPL-3.0-or-later
"""Readers of tables whose segments begin where they please: quant-gru, aimet-pe, GNA, K210, and FINN's thresholds.
consumers.py tells what a reader is."""
import bisect
import json
import pathlib
import re
import struct

import texts
from arithmetic import (Range, S16, S32, U16, U8, clip, ends, floor, full, half_away, half_even, half_up, holds,
                        last_at, need_order, need_size, need_zero, wrap)
from texts import need


# -- quant-gru ----------------------------------------------------------------------------------------------------------

class QuantGru:
    """struct SigmoidLUT, 276 bytes; segments are tuples (q_b, n, c, threshold)."""
    profile = "quant-gru"
    INTEGERS = ("q_b", "n_BX_total", "term_c_precomputed", "threshold", "zp_x", "shift_bits_x", "shift_bits_y", "zp_y")

    def __init__(self, segments, zp_x, shifts, zp_y, scales, x, y):
        self.segments, self.zp_x, self.shifts, self.zp_y, self.scales = segments, zp_x, shifts, zp_y, scales
        self.x, self.y = x, y

    @classmethod
    def parse(cls, data, x=U16, y=U16):
        need_size("quant-gru", data, 276)
        need_zero("quant-gru", data, [16 * i + k for i in range(16) for k in (5, 6, 7)] + [262, 263])
        segments = [struct.unpack("<ib3xii", data[16 * i:16 * i + 16]) for i in range(16)]
        zp_x, shift_x, shift_y, zp_y, scale_x, scale_y = struct.unpack("<ibb2xiff", data[256:])
        return cls(segments, zp_x, (shift_x, shift_y), zp_y, (scale_x, scale_y), x, y)

    @classmethod
    def from_cpp(cls, text, x=U16, y=U16):
        columns = [[texts.number(value) for value in texts.designated(text, field)]
                   for field in cls.INTEGERS[:4]]
        need([len(column) for column in columns] == [16] * 4, "quant-gru: not 16 segments of four fields")
        scales = [float.fromhex(value) if "x" in value else float(value) for _, value in cls.floats(text)]
        need(len(scales) in (0, 2), f"quant-gru: {len(scales)} floats, not 2")
        zp_x, shift_x, shift_y, zp_y = (texts.designated_integer(text, field) for field in cls.INTEGERS[4:])
        return cls(list(zip(*columns)), zp_x, (shift_x, shift_y), zp_y, tuple(scales) or (0.0, 0.0), x, y)

    @classmethod
    def floats(cls, text):
        """Name and value of the fields that the format leaves without a name."""
        found = re.findall(r"\.([A-Za-z_]\w*)\s*=\s*([-+]?[.\d][-+.\w]*)", texts.without_comments(text))
        return [(name, value.rstrip("fF")) for name, value in found if name not in cls.INTEGERS]

    def segment_of(self, code):
        return next((i for i in range(16) if code < self.segments[i][3]), 15)

    def terms(self, code):
        """Shifted term and constant, before the 32-bit wraps."""
        code = clip(code, self.x)
        q_b, n, c, _ = self.segments[self.segment_of(code)]
        return half_even(q_b * (code - self.zp_x), n), c

    def before_clip(self, code):
        term, c = self.terms(code)
        return wrap(wrap(term, 32) + c, 32)

    def evaluate(self, code):
        return clip(self.before_clip(code), self.y)

    def check(self):
        thresholds = [segment[3] for segment in self.segments]
        need_order("quant-gru", "threshold", thresholds)
        need(thresholds[0] > self.x.low, "quant-gru: threshold[0] leaves no code to segment 0")
        need(thresholds[15] == self.x.high, f"quant-gru: threshold[15] = {thresholds[15]}, not qmax_x")
        for i, (q_b, n, c, _) in enumerate(self.segments):
            need(-32 < n < 64, f"quant-gru: n_BX_total[{i}] = {n} shifts a 64-bit product out")
            need(holds(S32, q_b) and holds(S32, c), f"quant-gru: segment {i} needs more than 32 bits")
        for code in ends(self.x, thresholds):
            term, c = self.terms(code)
            need(holds(S32, term) and holds(S32, term + c), f"quant-gru: 32 bits wrap at code {code}")


# -- aimet-pe -----------------------------------------------------------------------------------------------------------

class AimetPe:
    """ROM of 146 bytes, or JSON. zp and ranges stand in the head or in the JSON."""
    profile = "aimet-pe"
    HEAD = (16, 16, 16, 16, 16, 16, 8, 8, 8, 16, 16)

    def __init__(self, start, q_b, n, c, zp, x, y):
        self.start, self.q_b, self.n, self.c, self.zp, self.x, self.y = start, q_b, n, c, zp, x, y

    @classmethod
    def parse(cls, data, zp=0, x=S16, y=S16):
        need_size("aimet-pe", data, 146)
        stream = int.from_bytes(data[0x70:], "little")
        start = [wrap(stream >> 17 * i, 17) for i in range(16)]
        return cls(start, list(struct.unpack("<16h", data[0x50:0x70])), list(struct.unpack("<16b", data[0x40:0x50])),
                   list(struct.unpack("<16i", data[:0x40])), zp, x, y)

    @classmethod
    def parse_head(cls, data):
        """The 11 fields of the head, unsigned; what is not of a saturating function is 0."""
        need_size("aimet-pe head", data, sum(cls.HEAD) // 8)
        stream, fields = int.from_bytes(data, "little"), []
        for bits in cls.HEAD:
            fields.append(stream & ((1 << bits) - 1))
            stream >>= bits
        for i in (2, 5, 8, 9, 10):
            need(fields[i] == 0, f"aimet-pe head: field {i} is {fields[i]}, not 0")
        return fields

    @classmethod
    def from_json(cls, text):
        document = json.loads(text)
        need(len(document) == 1, f"aimet-pe: {len(document)} functions")
        function = next(iter(document.values()))
        quantization, segments = function["quantization"], function["segments"]
        need([quantization[key] for key in ("coeff_b_bit_width", "term_c_bit_width", "internal_accumulator_bit_width")]
             == [16, 32, 32], "aimet-pe: widths are not 16, 32, 32")
        ranges = []
        for side in ("input", "output"):
            tensor = quantization[side]
            need(all(isinstance(tensor[key], (int, float)) for key in ("scale", "fmin", "fmax")),
                 f"aimet-pe: {side} has no numbers in scale, fmin, fmax")
            need(tensor["scale"] > 0, f"aimet-pe: {side} has scale {tensor['scale']}")
            for key, code in (("fmin", "qmin"), ("fmax", "qmax")):
                real = tensor["scale"] * (tensor[code] - tensor["zero_point"])
                need(abs(tensor[key] - real) <= 1e-6 * max(abs(real), tensor["scale"]),
                     f"aimet-pe: {side} {key} is {tensor[key]}, not {real}")
            ranges.append(Range(tensor["qmin"], tensor["qmax"]))
        need(function["num_segments"] == len(segments), f"aimet-pe: num_segments, but {len(segments)} segments")
        for i, segment in enumerate(segments):
            need(segment["segment_id"] == i, f"aimet-pe: segment_id {segment['segment_id']} at {i}")
            need(segment["coefficients_quantized"]["q_c"] == 0, f"aimet-pe: q_c of segment {i} is not 0")
            after = segments[i + 1]["threshold_quantized"][0] if i + 1 < len(segments) else ranges[0].high
            need(segment["threshold_quantized"][1:] == [after], f"aimet-pe: segment {i} does not end at {after}")
        return cls([segment["threshold_quantized"][0] for segment in segments],
                   [segment["coefficients_quantized"]["q_b"] for segment in segments],
                   [segment["shift_bits"]["n_bx_total"] for segment in segments],
                   [segment["term_c_precomputed"] for segment in segments],
                   quantization["input"]["zero_point"], *ranges)

    def segment_of(self, code):
        i = last_at(self.start, code)
        need(i is not None, f"aimet-pe: no segment holds {code}")
        return i

    def evaluate(self, code):
        """The hardware: half up, a saturation after every step."""
        i = self.segment_of(code)
        product = self.q_b[i] * clip(code - self.zp, S16)  # of 16 and 16 bits: 32 bits hold it
        term = clip(half_up(product, self.n[i]), S32)
        return clip(clip(term + self.c[i], S32), self.y)

    def simulate(self, code):
        """The simulator's default mode: half away, no saturation inside."""
        i = self.segment_of(code)
        return clip(half_away(self.q_b[i] * (code - self.zp), self.n[i]) + self.c[i], self.y)

    def check(self):
        need(1 <= len(self.start) <= 16, f"aimet-pe: {len(self.start)} segments, not 16 at most")
        for i, start in enumerate(self.start):
            need(holds(full(17, True), start), f"aimet-pe: start[{i}] = {start} needs more than 17 bits")
            need(holds(full(6, True), self.n[i]), f"aimet-pe: n[{i}] = {self.n[i]} needs more than 6 bits")
            need(holds(S16, self.q_b[i]), f"aimet-pe: q_b[{i}] = {self.q_b[i]} needs more than 16 bits")
            need(holds(S32, self.c[i]), f"aimet-pe: term_c[{i}] = {self.c[i]} needs more than 32 bits")
        need_order("aimet-pe", "start", self.start)
        need(self.start[0] <= self.x.low, f"aimet-pe: no segment holds {self.x.low}")
        # The document's limit is 32767 on both sides; its own vector has -32768 as a start, and sat16 keeps that one.
        for code in self.x:
            need(holds(S16, code - self.zp), f"aimet-pe: x - zp = {code - self.zp} saturates")
        for code in ends(self.x, self.start):
            i = self.segment_of(code)
            term = half_up(self.q_b[i] * (code - self.zp), self.n[i])
            need(holds(S32, term) and holds(S32, term + self.c[i]), f"aimet-pe: 32 bits saturate at code {code}")


# -- gna ----------------------------------------------------------------------------------------------------------------

class Gna:
    """Gna2PwlSegment[]: entries (base, k, y, slope)."""
    profile = "gna"

    def __init__(self, entries, x, y):
        self.entries, self.x, self.y = entries, x, y
        self.starts = [entry[0] for entry in entries]

    @classmethod
    def parse(cls, data, x=S16, y=S16):
        need(len(data) % 8 == 0, f"gna: {len(data)} bytes, not 8 an entry")
        entries = []
        for at in range(0, len(data), 8):
            base, y_base, slope = struct.unpack("<ihh", data[at:at + 8])
            entries.append((base & ~3, base & 3, y_base, slope))
        return cls(entries, x, y)

    def before_saturation(self, code):
        if code <= self.starts[0]:
            return self.entries[0][2]
        base, k, y_base, slope = self.entries[last_at(self.starts, code)]
        return ((code - base) * slope >> 8 * (k + 1)) + y_base  # the product is below 2^48

    def evaluate(self, code):
        need(holds(S32, code), f"gna: no input {code}")
        return clip(self.before_saturation(code), self.y)

    def check(self, version=2):
        need((1 if version >= 3 else 2) <= len(self.entries) <= 128, f"gna: {len(self.entries)} entries")
        need_order("gna", "b", self.starts, equal=False)
        need(self.starts[0] == S32.low, f"gna: the first entry is at {self.starts[0]}, not INT32_MIN")
        for code in ends(self.x, self.starts):
            value = self.before_saturation(code)
            need(holds(self.y, value), f"gna: {value} at code {code} saturates; a flat entry must stand there")


# -- k210 ---------------------------------------------------------------------------------------------------------------

class K210:
    """kpu_activate_table_t, 144 bytes: entries (x_start, mul, shift, bias)."""
    profile = "k210"

    def __init__(self, entries, x, y):
        self.entries, self.x, self.y = entries, x, y
        self.starts = [entry[0] for entry in entries]

    @classmethod
    def parse(cls, data, x=S16, y=U8):
        need_size("k210", data, 144)
        entries = []
        for i, word in enumerate(struct.unpack("<16Q", data[:128])):
            need(word >> 60 == 0, f"k210: bits 63..60 of entry {i} are not 0")
            entries.append((wrap(word >> 24, 36), wrap(word >> 8, 16), word & 255, data[128 + i]))
        return cls(entries, x, y)

    @staticmethod
    def simulated_round(p, n):
        """The public simulator: below 0 it steps the wrong way from the floor."""
        down = floor(p, n)
        step = half_even(p, n) - down
        return down + (step if p >= 0 else -step)

    def evaluate(self, code):
        need(holds(full(36, True), code), f"k210: no input {code}")
        i = last_at(self.starts, code - 1)
        need(i is not None, f"k210: no entry holds {code}")
        start, multiplier, shift, bias = self.entries[i]
        product = (code - start) * multiplier
        need(product >= 0, f"k210: product {product} at code {code}: its rounding is unknown")
        return clip(half_even(product, shift) + bias, U8)

    def check(self):
        need(self.entries[0][:3] == (-1 << 35, 0, 0), "k210: entry 0 is not -2^35, 0, 0")
        need_order("k210", "x_start", self.starts)
        for i, (_, multiplier, shift, _) in enumerate(self.entries):
            need(multiplier >= 0, f"k210: mul[{i}] = {multiplier} is negative")
            need(shift <= 43, f"k210: shift[{i}] = {shift} is above 43")
        need(self.y.low >= 0 and self.y.high <= 255, f"k210: outputs {self.y} are not of u8")


# -- finn ---------------------------------------------------------------------------------------------------------------

class Finn:
    """Thresholds: y = BIAS + how many of them are <= x."""
    profile = "finn"

    def __init__(self, thresholds, bias, bits, x, y):
        """bits: K, of thresholds and codes, signed where x is."""
        self.thresholds, self.bias, self.bits, self.x, self.y = thresholds, bias, bits, x, y
        self.is_signed = x.low < 0
        self.ascending = sorted(thresholds)  # to count with; check() tells whether they came so

    @classmethod
    def from_dat(cls, files, out_bits, bits, bias, x, y, pe=0):
        """files: a folder, or texts by name. Stage s has what step s of a binary search compares."""
        if not isinstance(files, dict):
            files = {path.name: path.read_text() for path in pathlib.Path(files).iterdir()
                     if path.name.startswith(f"threshs_{pe}_")}
        names = [f"threshs_{pe}_{stage}.dat" for stage in range(out_bits)]
        need(sorted(files) == sorted(names), f"finn: files {', '.join(sorted(files))}, not {', '.join(names)}")
        thresholds = [None] * ((1 << out_bits) - 1)
        for stage, name in enumerate(names):
            values = texts.hex_values(files[name], bits, x.low < 0, name)
            need(len(values) == 1 << stage, f"finn: {name} has {len(values)} lines, not {1 << stage}")
            for j, value in enumerate(values):
                thresholds[(j << (out_bits - stage)) + (1 << (out_bits - stage - 1)) - 1] = value
        return cls(thresholds, bias, bits, x, y)

    @classmethod
    def from_values(cls, values, bits, bias, x, y):
        return cls(texts.whole(values, "finn"), bias, bits, x, y)

    @classmethod
    def from_npy(cls, data, bits, bias, x, y):
        return cls(texts.npy_values(data), bias, bits, x, y)

    @classmethod
    def from_json(cls, text, bits, x, y):
        document = json.loads(text)
        rows = document["thresholds"]
        if len(rows) == 1 and isinstance(rows[0], list):
            rows = rows[0]
        need(document["out_scale"] == 1, f"finn: out_scale {document['out_scale']}, not 1")
        return cls(texts.whole(rows, "finn"), texts.whole([document["out_bias"]], "finn")[0], bits, x, y)

    def evaluate(self, code):
        return self.bias + bisect.bisect_right(self.ascending, code)

    def evaluate_strict(self, code):
        """The HLS activation class without less_equal: thresholds must then be one lower."""
        return self.bias + bisect.bisect_left(self.ascending, code)

    def check(self):
        count = len(self.thresholds)
        need(count & (count + 1) == 0 and count > 0, f"finn: {count} thresholds, not 2^N - 1")
        need(count < 1 << 8, f"finn: {count} thresholds, N above 8")
        need_order("finn", "T", self.thresholds)
        bits = (self.x.high - self.x.low).bit_length()
        need(self.bits in (bits, bits + 1), f"finn: K = {self.bits} for inputs of {bits} bits")
        for i, threshold in enumerate(self.thresholds):
            need(holds(full(self.bits, self.is_signed), threshold), f"finn: T[{i}] = {threshold} needs more than K bits")
        missing = count - (self.y.high - self.y.low)
        need(missing in (0, 1), f"finn: {count} thresholds for outputs {self.y.low}..{self.y.high}")
        need(self.bias == self.y.low - missing, f"finn: BIAS {self.bias}, not {self.y.low - missing}")
        need(not missing or self.thresholds[0] <= self.x.low, "finn: the threshold in front is not the lowest value")
