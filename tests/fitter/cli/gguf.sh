#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pwlc gguf: what list prints, what extract writes, and every refusal.
. "$(dirname "$0")/lib.sh"
corpus=$root/tests/fuzz/corpus/gguf

expect_status 0 gguf list "$corpus/every_type"
expect_line '\| f32 +\| F32 +\| 2 x 3 +\| +24 \| +448 \|' ../out 'gguf list'
expect_line '\| mxfp4 +\| MXFP4 +\| 1 x 1 x 1 x 32 +\| +17 \| +640 \|' ../out 'gguf list'
expect_line '\| q2_k +\| Q2_K, unsupported +\| 256 +\| +- \| +672 \|' ../out 'gguf list'
expect_line '\| q4_k +\| Q4_K +\| 1 x 256 +\| +144 \| +672 \|' ../out 'gguf list'
expect_line '\| q5_k +\| Q5_K +\| 256 +\| +176 \| +832 \|' ../out 'gguf list'
expect_line '\| q6_k +\| Q6_K +\| 256 +\| +210 \| +1024 \|' ../out 'gguf list'
expect_status 0 gguf list "$corpus/metadata" --metadata
expect_line 'string = a\\x5cb\\x0a\\xff' ../out 'gguf list --metadata'
expect_line 'array = i16\[9\] -4, -3, -2, -1, 0, 1, 2, 3, \.\.\.' ../out 'gguf list --metadata'

# Text is shown as text: UTF-8, but for control characters, those of two bytes among them, and what is cut or wrong.
python3 - <<'END'
import struct
def string(data):
    return struct.pack("<Q", len(data)) + data
values = {"name": "größe 模型 🙂", "bad": b"a\xc3(\xe6\xa8", "control": "\u009b1m\t", "long": "é" * 150}
file = b"GGUF" + struct.pack("<IQQ", 3, 3, len(values))
for key, value in values.items():
    file += string(key.encode()) + struct.pack("<I", 8) + string(value if isinstance(value, bytes) else value.encode())
for name, kind in (("prüfung", 0), ("odd", 4), ("new", 99)):
    file += string(name.encode()) + struct.pack("<IQIQ", 1, 1, kind, 0)
open("text.gguf", "wb").write(file + bytes(-len(file) % 32) + bytes(4))
END
expect_status 0 gguf list text.gguf --metadata
expect_line 'name = größe 模型 🙂' ../out 'UTF-8'
expect_line 'bad = a\\xc3\(\\xe6\\xa8' ../out 'no UTF-8'
expect_line 'control = \\xc2\\x9b1m\\x09' ../out 'control characters'
expect_line "long = (é){100}\\.\\.\\. \\(300 bytes\\)" ../out 'a long text'
expect_status 0 gguf list text.gguf
expect_line '\| prüfung \| F32 +\| 1 +\| +4 \| .*' ../out 'a name in UTF-8'
expect_line '\| odd +\| unknown type 4, unsupported +\|.*' ../out 'a number without a name'
expect_line '\| new +\| unknown type 99, unsupported +\|.*' ../out 'a number without a name'

# An array of floats: numpy's shape, rows first, and the six values.
expect_status 0 gguf extract "$corpus/every_type" f32 -o f32.npy
head -c 80 f32.npy | grep -aqF "'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)" || fail 'extract: not the header of floats'
tail -c 24 f32.npy >values
tail -c +449 "$corpus/every_type" | head -c 24 | cmp - values || fail 'extract: not the values of f32'
expect_status 0 gguf extract "$corpus/version_2" scalar -o -
tail -c 4 ../out | cmp - <(printf '\0\0\0\0') || fail 'extract: not the scalar'

# The bytes as they are.
expect_status 0 gguf extract --raw "$corpus/every_type" q8_0 -o q8_0.bin
tail -c +577 "$corpus/every_type" | head -c 34 | cmp - q8_0.bin || fail 'extract --raw: not the bytes of q8_0'

expect_error 2 'an action is needed' gguf
expect_error 2 '"lst" is not an action; did you mean list? the actions are' gguf lst x
expect_error 2 'the actions are list and extract' gguf zzzzzz x
expect_error 2 'a file is needed: pwlc gguf list FILE' gguf list
expect_error 2 'a tensor is needed' gguf extract "$corpus/every_type"
expect_error 2 '-o is needed' gguf extract "$corpus/every_type" f32
expect_error 2 '--metadata goes with list' gguf extract "$corpus/every_type" f32 -o a --metadata
expect_error 2 '--raw goes with extract' gguf list "$corpus/every_type" --raw
expect_error 2 '-o goes with extract' gguf list "$corpus/every_type" -o a
expect_error 2 '"f32" is one argument too many' gguf list "$corpus/every_type" f32
expect_error 2 '"more" is one argument too many' gguf extract "$corpus/every_type" f32 more -o a
expect_error 2 'no tensor "g32"; `pwlc gguf list` shows' gguf extract "$corpus/every_type" g32 -o a
expect_error 2 'tensor "q2_k" is of type Q2_K, which is not supported; F32, F16, BF16, Q4_0, Q8_0, MXFP4, Q4_K, Q5_K and Q6_K can' \
    gguf extract "$corpus/every_type" q2_k -o a
expect_error 2 'not_gguf: gguf: the file does not start with GGUF' gguf list "$corpus/not_gguf"
expect_error 2 'not a file of one byte or more' gguf list /dev/null
expect_error 1 'cannot open' gguf list missing.gguf
expect_error 1 'missing/a' gguf extract "$corpus/every_type" f32 -o missing/a

finish
