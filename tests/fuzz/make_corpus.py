#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the seeds of the fuzz targets: corpus/TARGET/FILE beside this script, or below the directory given."""
import hashlib
import json
import os
import pathlib
import struct
import sys

import model_seeds

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from signed_table import signed  # noqa: E402


def table(**changes):
    """Document 002's sigmoid, segment 8 alone, which happens to be a table of its own."""
    result = {
        "pwl_table": 1,
        "spec": "sigmoid --in u16:2^-12:24576 --out u16:2^-16:-1 --segments 1",
        "function": "sigmoid", "parameters": {}, "method": "document", "form": "absolute", "rounding": "floor",
        "case": "int16",
        "in": {"bits": 16, "signed": False, "scale": "2^-12", "zero_point": 24576, "qmin": 0, "qmax": 65535},
        "out": {"bits": 16, "signed": False, "scale": "2^-16", "zero_point": -1, "qmin": 0, "qmax": 65535},
        "segments": [{"start": 0, "q_b": 32619, "n_BX_total": 13, "term_c": 32770}],
        "certificate": {
            "checked": 65536, "exhaustive": True, "max_err_lsb": 65404.4, "max_err_at": 65535, "rms_err_lsb": 17250.5,
            "mean_abs_err_lsb": 12000.0, "correctly_rounded": 0.0625, "saturated_codes": 0, "monotone": True,
            "acc_bits": 32, "objective": "rms", "lower_bound_lsb": None, "optimal": None},
    }
    result.update(changes)
    return result


def code_range(bits, signed):
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)


def tensor(bits, signed, scale, zero_point, **changes):
    low, high = code_range(bits, signed)
    return {"bits": bits, "signed": signed, "scale": scale, "zero_point": zero_point, "qmin": low, "qmax": high,
            **changes}


def segments(offset, rows):
    return [dict(zip(("start", "q_b", "n_BX_total", offset), row)) for row in rows]


def certificate(checked, **changes):
    return {**table()["certificate"], "checked": checked, **changes}


def table_seeds():
    int8 = {"case": "int8", "method": "lsq", "certificate": certificate(256, max_err_at=0)}
    sigmoid = table()
    sigmoid["segments"][0]["unfused"] = {"q_c": 16385, "n_bx": 9, "n_yb": 4, "n_yc": -1}
    yield "document_unfused", sigmoid
    yield "absolute_int16", table(rounding="half_even")
    yield "certified_int16", signed(table())
    yield "biased_int8", table(
        form="biased", rounding="half_up", function="gelu", **int8, **{
            "in": tensor(8, True, "0.0472", -3), "out": tensor(8, True, "0.0248", -121)},
        segments=segments("bias", [(-128, 0, 0, -121), (-40, -3, 5, -3900), (-3, 60, 5, -3872), (100, 7, 2, -500)]))
    yield "anchored_int8", table(
        form="anchored", rounding="half_away", function="tanh", **int8, **{
            "in": tensor(8, False, "2^-5", 128), "out": tensor(8, True, "2^-7", 0)},
        segments=segments("y", [(0, 1, -1, -128), (64, 127, 5, -100), (160, -61, 3, 127)]))
    yield "absolute_int8", table(
        rounding="half_even", function="tanh", **int8, **{
            "in": tensor(8, True, "2^-5", 0), "out": tensor(8, True, "2^-7", 0)},
        segments=segments("term_c", [(-128, 0, 0, -128), (-80, 17, 4, -20), (0, 91, 5, 0), (50, 3, -2, 7)]))
    yield "folded_int8", table(
        function="tanh", fold={"sum": 0}, **int8, **{
            "in": tensor(8, True, "2^-5", 0), "out": tensor(8, True, "2^-7", 0)},
        segments=segments("term_c", [(0, 100, 5, 0), (24, 30, 5, 52), (80, 0, 0, 127)]))
    yield "int32", table(
        case="int32", method="lsq", **{
            "in": tensor(32, True, "2^-28", 0), "out": tensor(32, True, "2^-31", 0)},
        segments=segments("term_c", [(-2147483648, 2147483647, 31, -70368744177664), (0, -2147483648, 32, 70368744177663)]),
        certificate=certificate(1 << 20, exhaustive=False, bound_lsb=1e12, max_err_lsb=1.5e9))
    yield "narrow_range", table(
        case="int8", method="lut", function="leaky_relu", parameters={"alpha": 0.01}, outside="clamp", **{
            "in": tensor(3, True, "2^0", 0), "out": tensor(4, True, "2^1", 1, qmin=-4, qmax=5)},
        segments=segments("term_c", [(i, 0, 0, i // 2) for i in range(-4, 4)]),
        certificate=certificate(8, max_err_at=0, optimal=True, lower_bound_lsb=0.25))
    rsqrt = {"kind": "leading_zeros", "step": 2, "direction": -1, "shift": 14, "below": 65535}
    reduced = {
        "function": "rsqrt", "method": "minimax", "outside": "clamp",
        "in": tensor(16, False, "2^-6", 0), "out": tensor(16, False, "2^-14", 0),
        "segments": segments("term_c", [(16384, -31012, 6, 8835279), (32256, -22197, 7, 11862595)])}
    yield "reduced_rsqrt", table(reduction=rsqrt, **reduced)
    yield "reduced_bad_step", table(reduction={**rsqrt, "step": 1}, **reduced)
    yield "reduced_bad_below", table(reduction={**rsqrt, "below": 65536}, **reduced)
    yield "reduced_log", table(
        function="log", form="anchored", method="lsq", outside="clamp", **{
            "in": tensor(16, True, "2^-6", -32768), "out": tensor(16, True, "2^-11", 0)},
        reduction={"kind": "leading_zeros", "step": 1, "direction": 0, "shift": 10, "addend": 1453635, "below": -8517},
        segments=segments("y", [(32768, 16384, 9, 13000000), (49152, 12000, 9, 13700000)]),
        certificate=certificate(65536, max_err_at=0))
    yield "reduced_exp", table(
        function="exp", form="biased", method="lsq", case="int32", **{
            "in": tensor(32, True, "2^-24", 2147483647), "out": tensor(32, False, "2^-32", 0)},
        reduction={"kind": "exponent", "fraction": 53, "factor": 774541002, "direction": -1, "shift": 1},
        segments=segments("bias", [(0, 1073741824, 28, 3 << 60), (2147483648, 1518500249, 28, 3 << 60)]),
        certificate=certificate(1 << 20, exhaustive=False, max_err_at=0))
    yield "future_version", table(pwl_table=2)
    yield "unknown_field", table(colour="red")
    yield "unsorted", table(segments=segments("term_c", [(0, 1, 1, 0), (8, 1, 1, 0), (8, 1, 1, 0)]))
    yield "shift_beyond", table(segments=segments("term_c", [(0, 1, 32, 0)]))
    yield "left_shift_beyond", table(segments=segments("term_c", [(0, 32767, -31, 0)]))


def npy(dtype, shape, payload, version=1, order="False"):
    shape_text = "(" + "".join(f"{n}, " for n in shape) + ")"
    header = f"{{'descr': '{dtype}', 'fortran_order': {order}, 'shape': {shape_text}, }}".encode()
    length_size = 2 if version == 1 else 4
    header += b" " * (-(8 + length_size + len(header) + 1) % 64) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + len(header).to_bytes(length_size, "little") + header + payload


def npy_seeds():
    pairs = struct.pack("<6d", -1, 0, 0, 0.5, 1, 1)
    yield "samples_f8", npy("<f8", (3, 2), pairs)
    yield "samples_f4_v2", npy("<f4", (2, 2), struct.pack("<4f", 2, 1, 1, 3), version=2)
    yield "codes_i2", npy("<i2", (4,), struct.pack("<4h", -32768, -1, 0, 32767))
    yield "codes_u1_v3", npy("|u1", (2, 2, 1), bytes([0, 1, 254, 255]), version=3)
    yield "codes_u8", npy("<u8", (1,), b"\xff" * 8)
    yield "weights_pairs", npy("<i4", (2, 2), struct.pack("<4i", 3, 100, -3, 7))
    yield "weights_f4", npy("<f4", (4,), struct.pack("<4f", 0, 0.5, 2, 1))
    yield "samples_f2", npy("<f2", (2, 2), struct.pack("<4e", -1, 1, 65504, 3))
    yield "scalar", npy("<i4", (), struct.pack("<i", 7))
    yield "empty", npy("<f8", (0, 2), b"")
    yield "truncated", npy("<f8", (3, 2), pairs[:-1])
    yield "size_overflow", npy("<f8", (1 << 62, 8), pairs)
    yield "fortran", npy("<f8", (3, 2), pairs, order="True")
    yield "big_endian", npy(">f8", (3, 2), pairs)


TENSORS = ["u16:2^-12:24576", "s8:0.0472:-3", "q3.12", "uq0.16", "s32:2^3", "s2:1e-9:-5", "u32:0.5:2147483648",
           "s33:2^-1:0", "u8:0:0", "s8:-1:0", "s8:nan:0", "s8:2^-9999:0", "s8:2^-64:9223372036854775807", "q0.0", "s16"]

CSVS = {
    "plain": b"0,0\n1,2\n2,3\n",
    "header_comment_crlf": b"x,y\r\n# a comment\r\n\r\n-1.5e-3, 2\r\n0.25 ,\t-7\r\n",
    "descending": b"3,1\n2,1\n1,0",
    "extremes": b"-1.7976931348623157e308,5e-324\n1.7976931348623157e308,-0\n",
    "unsorted": b"0,0\n2,0\n1,0\n",
    "equal": b"0,0\n0,1\n",
    "nan": b"0,nan\n1,inf\n",
    "one_column": b"0\n1\n",
    "one_row": b"0,1\n",
    "zero_byte": b"0,1\n1,2\0\n",
    "empty": b"",
}

WEIGHTS = {
    "list": b"weight\n0\n3\n1e2\n0.5\n",
    "pairs": b"q_x,weight\n-128,1\n127,2\n0,7\n",
    "crlf": b"\xef\xbb\xbf# of a layer\r\n3, 1\r\n\r\n-2 ,\t4\r\n",
    "twice": b"1,2\n1,3\n",
    "all_zero": b"0\n-0\n",
    "negative": b"1\n-1\n",
    "fraction": b"0.5,1\n",
    "far": b"9007199254740993,1\n-1e17,1\n",
    "extremes": b"1.7976931348623157e308\n5e-324\n",
    "mixed": b"1\n1,2\n",
    "empty": b"",
}


U16 = {"in": "u16:2^-12:24576", "out": "u16:2^-16:-1"}
S8 = {"in": "s8:0.0472:-3", "out": "s8:0.0248:-121"}

SPECS = {
    "plain": [{"name": "sigmoid_u16", "function": "sigmoid", **U16}],
    "every_key": [{"name": "elu", "function": "elu", "param": {"alpha": 0.5}, **S8, "segments": 12, "max_err": 1.5,
                   "method": "uniform", "form": "biased", "rounding": "half_even", "slope_bits": 6, "shift_bits": 5, "shift_multiple": 4,
                   "outside": "clamp", "no_saturate": True}],
    "several": [{"name": "a", "function": "tanh", "in": "q3.12", "out": "q0.15", "method": "lsq"},
                {"name": "b", "function": "sigmoid", **U16, "method": "document"},
                {"name": "c", "function": "gelu", **S8, "method": "lut"}],
    "log_clamped": [{"name": "log", "function": "log", "in": "s8:2^-4:0", "out": "s8:2^-4:0", "outside": "clamp"}],
    "log_outside": [{"name": "log", "function": "log", "in": "s8:2^-4:0", "out": "s8:2^-4:0"}],
    "same_name": [{"name": "a", "function": "tanh", "in": "q3.12", "out": "q0.15"}] * 2,
    "no_name": [{"function": "tanh", "in": "q3.12", "out": "q0.15"}],
    "bad_segments": [{"name": "a", "function": "tanh", "in": "q3.12", "out": "q0.15", "segments": 4097}],
    "bad_parameter": [{"name": "a", "function": "tanh", "in": "q3.12", "out": "q0.15", "param": {"alpha": 1}}],
    "unknown_key": [{"name": "a", "function": "tanh", "in": "q3.12", "out": "q0.15", "colour": 1}],
    "ranges": [{"name": "a", "function": "tanh", "in": "s8", "out": "u8", "range": "-4:4"},
               {"name": "b", "function": "relu6", "in": "u16", "out": "u8", "range": "-1:7", "pow2_scales": True}],
    "range_and_types": [{"name": "a", "function": "tanh", "in": "q3.12", "out": "q0.15", "range": "-1:1"}],
    "empty": [],
    "object": {},
}

EXPRESSIONS = [
    "1/(1+exp(-x))", "x*(1+erf(x/sqrt(2)))/2", "x < -1 ? -1 : x > 1 && x != 2 ? sqrt(x) : x", "max(min(x,6),0)",
    "log1p(exp(x))*_pi^_e", "rint(x)+floor(x/3)+ceil(abs(x))+sign(x)", "sum(x,1,x)-avg(x,2)", "((((x))))", "x = 1",
    "x, 2", "y", "sin(", "min()", "3", "x;1", "1e400*x", "-x^-x",
]


def gguf_string(text):
    return struct.pack("<Q", len(text)) + text


def gguf(metadata=(), tensors=(), data=b"", version=3, tensor_count=None, metadata_count=None, alignment=32):
    """metadata: (key, kind, payload); tensors: (name, shape, type, offset)"""
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors) if tensor_count is None else tensor_count,
                                 len(metadata) if metadata_count is None else metadata_count)
    for key, kind, payload in metadata:
        head += gguf_string(key) + struct.pack("<I", kind) + payload
    for name, shape, kind, offset in tensors:
        head += gguf_string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, offset)
    return head + b"\0" * (-len(head) % alignment) + data


def gguf_seeds():
    scalars = [(b"u8", 0, b"\xff"), (b"i8", 1, b"\xff"), (b"u16", 2, b"\xff\xff"), (b"i16", 3, b"\xff\xff"),
               (b"u32", 4, b"\xff" * 4), (b"i32", 5, b"\xff" * 4), (b"f32", 6, struct.pack("<f", 0.5)), (b"bool", 7, b"\1"),
               (b"string", 8, gguf_string(b"a\\b\n\xff")), (b"u64", 10, b"\xff" * 8), (b"i64", 11, b"\0" * 7 + b"\x80"),
               (b"f64", 12, struct.pack("<d", 0.1))]
    array = struct.pack("<IQ", 3, 9) + struct.pack("<9h", *range(-4, 5))
    strings = struct.pack("<IQ", 8, 2) + gguf_string(b"one") + gguf_string(b"")
    f32 = struct.pack("<6f", 1, -2, 0.5, 3e38, 0, -0.0)
    q4_0 = bytes([0, 0x3c]) + bytes(range(16))
    q8_0 = bytes([0, 0x40]) + bytes(range(240, 256)) + bytes(16)
    mxfp4 = bytes([127]) + bytes(range(0, 256, 16))
    q4_k = struct.pack("<2e", 1, 2) + bytes(range(12)) + bytes(range(128))
    q5_k = struct.pack("<2e", 1, 2) + bytes(range(12)) + bytes(range(32)) + bytes(range(128))
    q6_k = bytes(range(128)) + bytes(range(64)) + bytes(range(248, 256)) + bytes(range(8)) + struct.pack("<e", 0.5)
    pad = lambda block: block + bytes(-len(block) % 32)
    every = [(b"f32", (3, 2), 0, 0), (b"f16", (2, 1, 2), 1, 32), (b"bf16", (4,), 30, 64), (b"q4_0", (32, 1), 2, 96),
             (b"q8_0", (32,), 8, 128), (b"mxfp4", (32, 1, 1, 1), 39, 192), (b"q2_k", (256,), 10, 224),
             (b"q4_k", (256, 1), 12, 224), (b"q5_k", (256,), 13, 384), (b"q6_k", (256,), 14, 576)]
    every_data = (pad(f32) + pad(struct.pack("<4e", 1, 2, -3, 65504)) + pad(b"\x80\x3f\0\xc0\x80\x7f\1\0") + pad(q4_0) +
                  pad(q8_0) + pad(mxfp4) + pad(q4_k) + pad(q5_k) + pad(q6_k))
    yield "metadata", gguf(scalars + [(b"array", 9, array), (b"strings", 9, strings)])
    yield "every_type", gguf((), every, every_data)
    yield "aligned_1", gguf([(b"general.alignment", 4, struct.pack("<I", 1))], [(b"t", (2,), 0, 3)], bytes(11), alignment=1)
    yield "aligned_64", gguf([(b"general.alignment", 4, struct.pack("<I", 64))], [(b"t", (2,), 0, 64)], bytes(72), alignment=64)
    yield "version_2", gguf([], [(b"scalar", (), 0, 0)], bytes(4), version=2)
    yield "empty_tensor", gguf([], [(b"t", (0, 1 << 62), 0, 0)])
    yield "data_missing", gguf([], [(b"t", (9,), 0, 0)], bytes(35))
    yield "offset_beyond", gguf([], [(b"t", (1,), 0, 1 << 63)], bytes(32))
    yield "offset_unaligned", gguf([], [(b"t", (1,), 0, 4)], bytes(32))
    yield "size_overflow", gguf([], [(b"t", (1 << 32, 1 << 31, 2), 0, 0)], bytes(32))
    yield "rows_of_33", gguf([], [(b"t", (33, 32), 2, 0)], bytes(640))
    yield "rows_of_288", gguf([], [(b"t", (288, 8), 12, 0)], bytes(2048))
    yield "dimensions_5", gguf([], [(b"t", (1, 1, 1, 1, 1), 0, 0)], bytes(32))
    yield "many_tensors", gguf(tensor_count=1 << 60)
    yield "many_entries", gguf(metadata_count=1 << 60)
    yield "array_of_arrays", gguf([(b"k", 9, struct.pack("<IQ", 9, 1))])
    yield "long_array", gguf([(b"k", 9, struct.pack("<IQ", 12, 1 << 61) + bytes(64))])
    yield "long_string", gguf([(b"k", 8, struct.pack("<Q", (1 << 64) - 1) + bytes(64))])
    yield "alignment_24", gguf([(b"general.alignment", 4, struct.pack("<I", 24))])
    yield "alignment_twice", gguf([(b"general.alignment", 4, struct.pack("<I", 32)), (b"k", 0, b"1"),
                                   (b"general.alignment", 4, struct.pack("<I", 64))])
    yield "name_twice", gguf([], [(b"a", (1,), 0, 0), (b"b", (1,), 0, 0), (b"a", (1,), 0, 32), (b"aa", (1,), 0, 32)],
                             bytes(36))
    # the FNV-1a hash of all of these is 0
    zero = b"\xd5\x6b\xb9\x53\x42\x87\x08\x36"
    names = [(zero + bytes(k), (1,), 0, 0) for k in (2, 0, 1)]
    yield "one_hash", gguf([], [*names, (b"b", (1,), 0, 0)], bytes(36))
    yield "one_hash_twice", gguf([], [*names, (b"b", (1,), 0, 0), names[1]], bytes(36))
    yield "big_endian", b"GGUF\0\0\0\3" + bytes(16)
    yield "truncated", gguf(scalars)[:100]
    yield "not_gguf", b"GGML" + bytes(28)


def flags(text, data=b""):
    return text.encode() + (b"\n\n" + data if data else b"")


def flags_seeds():
    types = "FUNCTION tanh\n--in s8:2^-5\n--out s8:2^-7\n"
    data = npy("<f8", (6,), struct.pack("<6d", -3, -1, 0, 0.5, 1, 2.5))
    yield "every_flag", flags("--form biased\n--rounding half_even\n--slope-bits 6\n--shift one\n--shift-bits 5\n--shift-multiple 4\n--slope-terms 2\n"
                              "--knots pow2:4\n--monotone\n--continuous 1\n--fix 0:0\n--fix 1:0.75\n--outside clamp\n"
                              "--no-saturate\n--segments 12\n--method lsq\n--symmetry off\n--reduce off\n" + types)
    yield "fold", flags(types + "--symmetry fold\n--knots free\n--method lsq")
    yield "points", flags(types + "--knots points:3\n--rounding half_even\n--max-err 4\n--segments 32")
    yield "reduce", flags("FUNCTION rsqrt\n--in u16:2^-8\n--out u16:2^-14\n--reduce on\n--outside clamp")
    yield "bound", flags(types + "--max-err 1.5\n--segments 4")
    yield "parameter", flags("FUNCTION elu\n--param alpha=0.5\n--in q3.4\n--out q1.6\n--method document")
    yield "range", flags("FUNCTION tanh\n--in s8\n--out u8\n--range -4:4\n--pow2-scales")
    yield "calibrate", flags("FUNCTION gelu\n--in s8\n--out s8\n--calibrate x\n--calibrate-by minmax", data)
    yield "percentile", flags("FUNCTION gelu\n--in u16\n--out s8\n--calibrate x\n--calibrate-by percentile=90", data)
    yield "mse", flags("FUNCTION gelu\n--in s4\n--out s8\n--calibrate x\n--calibrate-by mse\n--pow2-scales", data)
    yield "samples", flags("--samples s.csv\n--in s8:2^-5\n--out s8:2^-7\n--outside clamp", CSVS["plain"])
    yield "weights", flags("FUNCTION tanh\n--in s2:2^0\n--out s4:2^-3\n--weights w.csv", WEIGHTS["list"])
    yield "expression", flags("--expr x/(1+exp(-x))\n--in s8:2^-4\n--out s8:2^-5\n--segments 8")
    yield "grid", flags("--grid -4:4:0.01")
    yield "grid_closed", flags("--grid -4:4:0.01:closed")
    yield "grid_open_end", flags("--grid 0:1:0.3")
    yield "grid_bad", flags("--grid 0:1:1e-30")
    yield "no_flag", flags("--colour red")


def gemm_input(scheme, out, model, x, bias=b""):
    return bytes([scheme, out]) + struct.pack("<II", len(model), len(x)) + model + x + bias


def gemm_seeds():
    random = bytes(hashlib.sha256(bytes([k])).digest()[0] for k in range(256))
    f32 = struct.pack("<64f", *[(b - 128) / 100 for b in random[:64]])
    q4_0 = bytes([0, 0x3c]) + random[:16] + bytes([0, 0x38]) + random[16:32]
    q8_0 = bytes([0, 0x34]) + random[:32] + bytes([0, 0x30]) + random[32:64]
    mxfp4 = bytes([127]) + random[:16] + bytes([120]) + random[16:32]
    x32 = npy("<f4", (3, 32), struct.pack("<96f", *[(b - 128) / 64 for b in random[:96]]))
    x16 = npy("<f2", (2, 1, 32), struct.pack("<64e", *[(b - 128) / 64 for b in random[:64]]))
    row = npy("<f8", (32,), struct.pack("<32d", *random[:32]))
    bias = npy("<f4", (2,), struct.pack("<2f", 1, -0.5))
    for name, kind, data, schemes in (("f32", 0, f32, range(7)), ("q4_0", 2, q4_0, (0, 3, 6)), ("q8_0", 8, q8_0, (1, 4)),
                                      ("mxfp4", 39, mxfp4, (2,))):
        model = gguf([], [(b"w", (32, 2), kind, 0)], data)
        for scheme in schemes:
            yield f"{name}_{scheme}", gemm_input(scheme, scheme % 2, model, (x32, x16, row)[scheme % 3],
                                                 bias if scheme % 2 else b"")
    model = gguf([], [(b"w", (32, 2), 0, 0)], f32)
    yield "short_x", gemm_input(6, 0, model, npy("<f4", (31,), bytes(124)))
    yield "integers", gemm_input(6, 0, model, npy("<i4", (32,), bytes(128)))
    yield "short_bias", gemm_input(6, 0, model, x32, npy("<f4", (1,), bytes(4)))
    yield "infinite", gemm_input(5, 0, model, npy("<f4", (32,), struct.pack("<f", float("inf")) * 32))
    yield "infinite_weights", gemm_input(1, 0, gguf([], [(b"w", (32, 1), 0, 0)], struct.pack("<f", float("nan")) * 32), x32)
    yield "vector", gemm_input(6, 0, gguf([], [(b"w", (64,), 0, 0)], f32), x32)


# In the order of profiles and their notations (fitter/profile/profile.c), and of the target's types.
NOTATIONS = [f"{profile}:{notation}" for profile, notations in (
    ("tosa8", "bytes mlir c npy"), ("tosa16", "bytes mlir c npy"), ("ethosu8", "bytes c npy"), ("ethosu16", "bytes c"),
    ("tflm8", "c bytes npy"), ("tflm16", "c bytes npy"), ("executorch8", "npy c bytes"), ("xnnpack8", "c bytes npy"),
    ("espdl16", "npy c py bytes"), ("espdl16-p4", "npy c py bytes"), ("espdl16-linear", "npy c py bytes"),
    ("quant-gru", "cpp bytes"), ("aimet-pe", "json bytes"),
    ("finn", "json npy dat"), ("aie", "cpp bytes"), ("aie-v2", "cpp bytes"), ("nvdla", "bytes"), ("gna", "bytes"),
    ("k210", "bytes"), ("mli", "c"), ("tosa-softmax8", "c mlir bytes")) for notation in notations.split()]
S8_S8, U8_U8, S8_S4, S16_S16, U16_U16, S16_S12, S18_S20, S18_U8, S32_S16 = range(9)


def import_seeds():
    """The formats' vectors, as bytes and as texts."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fitter/profiles"))
    import images

    def seed(notation, types, data, shift=8):
        data = data.encode() if isinstance(data, str) else data
        return notation.replace(":", "_"), bytes([NOTATIONS.index(notation), types, shift]) + data

    points, doubled = images.points(), list(images.doubled().values())
    for profile, types in (("tosa8", S8_S8), ("ethosu8", S8_S8), ("tflm8", U8_U8), ("executorch8", S8_S8),
                           ("xnnpack8", U8_U8), ("espdl16", S16_S16), ("espdl16-linear", S16_S16),
                           ("tosa16", S16_S16),
                           ("ethosu16", S16_S16), ("tflm16", S16_S16), ("quant-gru", U16_U16), ("aimet-pe", S16_S16),
                           ("aie", S16_S16), ("nvdla", S18_S20), ("gna", S32_S16), ("k210", S18_U8)):
        yield seed(f"{profile}:bytes", types, images.image(profile))
    yield seed("aie-v2:bytes", S16_S16, images.aie_image(32))
    yield ("aie_half_group",) + seed("aie:bytes", S16_S16, images.image("aie")[:48])[1:]
    yield seed("tosa8:mlir", S8_S8, images.mlir(doubled, 8))
    yield seed("tosa16:mlir", S16_S16, images.mlir(points, 16, images.RESCALE))
    yield seed("tflm16:c", S16_S16, images.c_array("int16_t", points))
    yield seed("espdl16-p4:c", S16_S16, images.c_array("int16_t", images.espdl16_table() + [0]))
    yield seed("espdl16-p4:py", S16_S16, f"TABLE = {images.espdl16_table()}\n")
    yield seed("mli:c", S16_S16, images.mli_image())
    yield seed("ethosu8:c", U8_U8, images.c_array("uint8_t", range(256)))
    yield seed("tosa16:npy", S16_S16, images.npy(points, "i2", (513,)))
    yield seed("quant-gru:cpp", U16_U16, images.gru_text())
    yield seed("aimet-pe:json", S16_S16, images.aimet_text())
    values = [struct.unpack_from("<h", images.image("aie"), k)[0] for k in range(0, 2048, 2)]
    yield seed("aie:cpp", S16_S16, "int shift = 8, shift_offset = 8;".replace(", ", "; int ") + "int bias = 128;"
               + images.c_array("int16_t", values, "lut_ab") + images.c_array("int16_t", values, "lut_cd"))
    yield seed("finn:dat", S8_S4, "\f".join(images.image("finn").values()))
    yield seed("finn:json", S8_S4, json.dumps({"thresholds": images.finn_thresholds(), "out_scale": 1, "out_bias": -8}))
    yield seed("finn:npy", S8_S4, images.npy(images.finn_thresholds(), "i2", (1, 15)))


def pwl_loader_seeds():
    text = json.dumps(table(hash="0" * 64))
    yield "scale_zero", text.replace('"2^-12"', '"0"').encode()
    yield "scale_negative", text.replace('"2^-12"', '"-0.5"').encode()
    yield "scale_word", text.replace('"2^-12"', '"nan"').encode()
    yield "scale_number", text.replace('"2^-12"', "0.5").encode()
    yield "scale_decimal", text.replace('"2^-12"', '"0.0472"').encode()
    yield "scale_long", text.replace('"2^-12"', '"0.' + "9" * 40 + '"').encode()
    yield "digits_5000", text.replace('"zero_point": 24576', '"zero_point": ' + "9" * 5000).encode()
    yield "digits_20", text.replace('"zero_point": 24576', '"zero_point": 9223372036854775808').encode()
    yield "twice", text.replace('"start": ', '"start": 0, "start": ', 1).encode()
    yield "beyond_double", text.replace('"max_err_lsb": ', '"max_err_lsb": 1e999, "x": ', 1).encode()
    yield "no_number", text.replace('"max_err_lsb": ', '"max_err_lsb": Infinity, "x": ', 1).encode()
    yield "latin", text.replace("sigmoid", "sigmo\xefd").encode("latin-1")


def side(bits, signed, scale, zero_point=0):
    low = -(1 << (bits - 1)) if signed else 0
    return {"bits": bits, "signed": signed, "scale": scale, "zero_point": zero_point, "qmin": low,
            "qmax": low + (1 << bits) - 1}


def operator_seeds():
    """Those that every platform runs, without their certificates; operators of elements; and what a check must refuse."""
    rows = pathlib.Path(__file__).resolve().parent / "../golden/rows"
    kept = {path.stem: json.loads(path.read_text()) for path in sorted(rows.glob("*.json"))}
    assert len(kept) >= 5
    for op in kept.values():
        del op["certificate"], op["hash"]
    softmax, norm = kept["softmax_s8_u8"], kept["layernorm_s16_s16"]
    head = {"pwl_operator": 1, "spec": ""}
    requantise = {**head, "operator": "requantise", "in": side(32, True, "0.0003", 5), "out": side(8, True, "0.05", -3),
                  "multiplier": 1649267442, "shift": 38}
    add = {**head, "operator": "add", "in": side(8, True, "0.05", 4), "in_b": side(8, False, "0.031", 100),
           "out": side(16, True, "0.0006", 2), "factor_a": 1398101333, "factor_b": 866822827, "shift": 24}
    weigh = {**softmax, "operator": "weigh", "in_b": side(16, False, "0.0004", 30000), "out": side(8, True, "0.1", 3),
             "multiplier": 1125899907, "shift": 52}
    seeds = {**kept, "requantise": requantise, "add": add, "weigh": weigh, "weigh_most": {**weigh, "multiplier": (1 << 31) - 1},
             "weigh_far": {**weigh, "in_b": side(16, False, "0.0004", 1 << 16)},
             "add_narrow": {**add, "out": side(8, True, "0.06", 2), "factor_a": 6990507, "factor_b": 4334114, "shift": 23},
             "add_nothing": {**add, "factor_a": 0, "factor_b": 0, "shift": 62},
             "add_most": {**add, "factor_a": (1 << 31) - 1, "factor_b": (1 << 31) - 1, "shift": 1},
             "requantise_most": {**requantise, "in": side(32, True, "1", -(1 << 31)), "multiplier": (1 << 31) - 1, "shift": 33},
             "requantise_beyond": {**requantise, "in": side(32, True, "1", -(1 << 31)), "multiplier": (1 << 31) - 1,
                                   "shift": 34},
             "exp_rises": {**softmax, "exp": softmax["exp"][:9] + [1 << 30] + softmax["exp"][10:]},
             "no_core": {field: value for field, value in softmax.items() if field != "core"},
             "eps_most": {**norm, "eps_code": (1 << 63) - 1},
             "gamma_short": {**norm, "gamma_codes": norm["gamma_codes"][:-1]},
             "claims": {**add, "certificate": {"bound_lsb": 0.5, "factor_lsb": 0, "max_err_lsb": 0.5, "rows": 1, "worst_row": "x"},
                        "hash": "0" * 64}}
    for name, op in seeds.items():
        yield name, json.dumps(op, indent=1).encode()
    yield "truncated", json.dumps(add).encode()[:200]
    yield "list", b"[]"


def network_seeds():
    """Networks that every platform runs, whole and with what no reader may take."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../golden/networks")
    for name in ("encoder", "vision", "gru", "decoder"):
        with open(os.path.join(folder, f"{name}.json"), "rb") as file:
            text = json.dumps(json.loads(file.read()), separators=(",", ":")).encode()
        with open(os.path.join(folder, f"{name}.safetensors"), "rb") as file:
            arrays = file.read()
        yield name, text + b"\0" + arrays
        yield f"{name}_cut", text + b"\0" + arrays[:len(arrays) // 2]
        for old, new in ((b'"batch",', b'"batch*batch",'), (b'"axis":1', b'"axis":3'), (b'"bits":16', b'"bits":32')):
            if old in text:
                yield f"{name}_{new.decode().strip(',').translate({34: None, 58: None, 42: None})}", text.replace(old, new, 1) + b"\0" + arrays


def sfpu_table(layout, registers, **changes):
    """A table of the SFPU, without a certificate."""
    result = {"pwl_sfpu": 1, "function": "tanh", "parameters": {}, "layout": layout, "chip": "wormhole",
              "sign": "retain", "add": "none", "store": "truncate", "measure": "ulp", "range": ":", "keep_zero": False,
              "keep_ends": False, "registers": registers}
    result.update(changes)
    return result


def sfpu_seeds():
    short = {"LREG0": "0x00001dff", "LREG1": "0x0000481a", "LREG2": "0x0000ff00"}
    long = dict(zip(("LREG0", "LREG1", "LREG2", "LREG4", "LREG5", "LREG6"),
                    ("0x37e7322b", "0x38e138f3", "0x38003852", "0xb12286d8", "0xb437b479", "0x7c00afa4")))
    certificate = {"codes": 65280, "max_ulp": 37.0319, "max_ulp_at": 16256, "mean_ulp": 8.67229, "max_abs": 0.144656,
                   "max_abs_at": 16256, "mean_abs": 0.000675507, "monotone": True, "optimal": False,
                   "least_mean": False}
    cases = {
        "three": sfpu_table("fp8x3", short),
        "certified": signed(sfpu_table("fp8x3", short, certificate=certificate)),
        "edited": sfpu_table("fp8x3", short, certificate=certificate),
        "six": sfpu_table("fp16x6-3", long, function="gelu", sign="update", add="x/2", store="nearest"),
        "six_4": sfpu_table("fp16x6-4", long, function="sigmoid", add="0.5", chip="blackhole", range="-3:8.5"),
        "wide": sfpu_table("fp16x3", {name: "4294967295" for name in short}, function="leaky_relu",
                           parameters={"alpha": 0.01}),
        "undefined": sfpu_table("fp8x3", short, function="log", range=":-1"),
        "infinite": sfpu_table("fp8x3", short, function="exp"),
        "too_wide": sfpu_table("fp8x3", dict(short, LREG0="0x10000")),
        "no_number": sfpu_table("fp8x3", dict(short, LREG0="0x")),
        "add_no_bf16": sfpu_table("fp8x3", short, add="0.1"),
        "add_zero": sfpu_table("fp8x3", short, add="0"),
        "version": sfpu_table("fp8x3", short, pwl_sfpu=2),
    }
    return [(name, json.dumps(value, indent=1).encode()) for name, value in cases.items()]


def main(root):
    seeds = [("tensor", f"{i:02}", text.encode()) for i, text in enumerate(TENSORS)]
    seeds += [("expr", f"{i:02}", text.encode()) for i, text in enumerate(EXPRESSIONS)]
    seeds += [("samples_csv", name, data) for name, data in CSVS.items()]
    seeds += [("weights_csv", name, data) for name, data in WEIGHTS.items()]
    seeds += [("npy", name, data) for name, data in npy_seeds()]
    seeds += [("gguf", name, data) for name, data in gguf_seeds()]
    seeds += [("gguf_readers", name, data) for name, data in gguf_seeds()
              if name in ("metadata", "every_type", "aligned_64", "version_2", "empty_tensor", "name_twice",
                          "alignment_twice", "offset_unaligned", "truncated")]
    seeds += [("tflite", name, data) for name, data in model_seeds.tflite_seeds()]
    seeds += [("onnx", name, data) for name, data in model_seeds.onnx_seeds()]
    seeds += [("gemm", name, data) for name, data in gemm_seeds()]
    seeds += [("flags", name, data) for name, data in flags_seeds()]
    seeds += [("import", name, data) for name, data in import_seeds()]
    seeds += [("pwl_loader", name, data) for name, data in pwl_loader_seeds()]
    seeds += [("spec", name, json.dumps(value, indent=1).encode()) for name, value in SPECS.items()]
    seeds += [("table_json", name, json.dumps(value, indent=1).encode()) for name, value in table_seeds()]
    seeds += [("table_json", name, data) for name, data in {
        "truncated": json.dumps(table()).encode()[:300],
        "deep": b"[" * 4000,
        "duplicate": b'{"pwl_table": 1, "pwl_table": 1}',
        "not_json": b"pwl",
    }.items()]
    seeds += [("operator_json", name, data) for name, data in operator_seeds()]
    seeds += [("network_json", name, data) for name, data in network_seeds()]
    seeds += [("sfpu_json", name, data) for name, data in sfpu_seeds()]
    for target, name, data in seeds:
        directory = os.path.join(root, target)
        os.makedirs(directory, exist_ok=True)
        with open(os.path.join(directory, name), "wb") as seed:
            seed.write(data)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus"))
