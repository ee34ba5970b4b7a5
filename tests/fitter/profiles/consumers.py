# SPDX-License-Identifier: GPL-3.0-or-later
"""Readers of the table formats of other consumers: each takes the bytes or the text apart and computes outputs by the
consumer's rule, in Python's integers with every wrap and saturation said. Written from the formats alone: no code is
shared with what writes them.

Each class: parse(image, ...) and, where there is a text, from_...(text, ...); evaluate(code); check(), which raises
Refused where the consumer would not run the table, or would run it to other outputs. `x` and `y` are the ranges of input
and output codes, which most images do not hold. parse and the texts:

    Tosa8, Ethosu8, Tflm8,     parse(data, x, y); from_c(text, name, x, y); Tosa8.from_mlir(text)
    Executorch8, Xnnpack8
    Tosa16, Tflm16, Ethosu16   parse(data); from_c(text, name); Tosa16.from_mlir(text)
    Espdl16, -P4, -Linear      parse(data); from_c(text, name); from_py(text)
    Mli                        from_c(text, fraction bits of the input)
    TosaSoftmax8               parse(data, zero point, x, y); from_c(text, ...); from_mlir(text, ...)
    QuantGru                   parse(data, x, y); from_cpp(text, x, y); native.run_quant_gru compiles the text
    AimetPe                    parse(data, zp, x, y); parse_head(data); from_json(text)
    Finn                       from_dat(files, N, K, BIAS, x, y, pe); from_npy(data, K, BIAS, x, y);
                               from_json(text, K, x, y)
    Aie                        parse(lut_ab, lut_cd, step_bits, bias, shift_offset, s, x, y, block); from_c(text, ...)
    Nvdla, Gna, K210           parse(data, x, y)
"""
# ruff: noqa: F401
from arithmetic import S8, S16, S32, U8, U16, Range, clip, floor, full, half_away, half_even, half_up, last_at
from grids import Espdl16, Espdl16Linear, Espdl16P4, Mli
from points import Aie, Ethosu8, Ethosu16, Executorch8, Nvdla, NvdlaTable, Tflm8, Tflm16, Tosa8, Tosa16, Xnnpack8
from segments import AimetPe, Finn, Gna, K210, QuantGru
from softmax import TosaSoftmax8
from texts import Refused

READERS = {reader.profile: reader for reader in (
    Tosa8, Tosa16, Ethosu8, Ethosu16, Tflm8, Tflm16, Executorch8, Xnnpack8, Espdl16, Espdl16P4,
    Espdl16Linear, Mli, TosaSoftmax8, QuantGru, AimetPe, Finn, Aie, Nvdla, Gna, K210)}
