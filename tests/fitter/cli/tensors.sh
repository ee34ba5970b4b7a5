#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Types from models: `tensors` lists them, --in and --out take them wherever a type is asked for, and the table is the one
# of the same types written out, without a word of where they came from.
. "$(dirname "$0")/lib.sh"

corpus=$root/tests/fuzz/corpus
cp "$corpus/onnx/qdq" m.onnx
cp "$corpus/onnx/refused" refused.onnx
cp "$corpus/tflite/every_tensor" m.tflite
cp "$corpus/tflite/every_tensor" 'copy:1' # no ending, and a colon

expect_output '| index | type                       | tensor |
| ----: | -------------------------- | ------ |
|     0 | s8:0.047200001776218414:-3 | x      |
|     1 | s8:0.047200001776218414:-3 | x_q    |
|     2 | s8:0.047200001776218414:-3 | x_d    |
|     3 | u8:2^-8:0                  | y      |
|     4 | u8:2^-8:0                  | y_q    |
|     5 | u8:2^-8:0                  | y_d    |' tensors m.onnx
expect_status 0 tensors m.tflite
expect_line '\|     4 \| int8, 3 scales +\| channels +\|' ../out 'tensors m.tflite'
expect_line '\|    28 \| int8, 3 scales but another number of zero points +\| fewer +\|' ../out 'tensors m.tflite'
expect_line '\|    24 \| s8:2\^-1:25 +\| +\|' ../out 'tensors m.tflite'
expect_line '\|    25 \| s8:2\^-1:26 +\| bars \\\| and \\x5c and \\x0a \|' ../out 'tensors m.tflite'
expect_status 0 tensors "$corpus/tflite/zero_points_last" # with which the file ends
expect_line '\|     0 \| s8:2\^-1:-3 +\| x +\|' ../out 'tensors zero_points_last'
expect_status 0 tensors "$corpus/onnx/long_name"
expect_line '\|     0 \| unknown type, not quantised \| n{200}\.\.\. \(4096 bytes\) \|' ../out 'tensors long_name'

# expect_listed FILE TYPE TENSOR...: an ONNX file of the corpus has these tensors, each of this type.
expect_listed() {
    local file=$1 type=$2 tensor
    shift 2
    expect_status 0 tensors "$corpus/onnx/$file" || return 0
    for tensor; do
        expect_line "\| +[0-9]+ \| ${type//^/\\^} +\| $tensor +\|" ../out "tensors $file"
    done
}
expect_listed every_operator s8:2^-1:1 QLinear{Add,Mul,MatMul,Conv}_a QGemm_a \
    QLinear{Sigmoid,LeakyRelu,Softmax,AveragePool,GlobalAveragePool,ReduceMean}_x
expect_listed every_operator s8:2^-2:2 QLinear{Add,Mul,MatMul,Conv}_b QGemm_b QLinearConcat_y \
    QLinear{Sigmoid,LeakyRelu,Softmax,AveragePool,GlobalAveragePool,ReduceMean}_y
expect_listed every_operator s8:2^-3:3 QLinear{Add,Mul,MatMul,Conv}_y QGemm_y
for pair in u8:200=uint8 s8:-3=int8 u16:40000=uint16 s16:-30000=int16 s32:0=int32 u4:15=uint4 s4:-8=int4 u2:3=uint2 \
    s2:-2=int2; do # each type's code, in the field of integers
    codes=${pair%=*}
    expect_listed every_quantised "${codes/:/:0.047200001776218414:}" "${pair#*=}_q" "${pair#*=}_d"
done
for pair in u8:201=uint8 s8:-4=int8 u16:40001=uint16 s16:-30001=int16 s32:-70000=int32 u4:14=uint4 s4:-7=int4 s2:-2=int2; do
    codes=${pair%=*} # and in that of bytes
    expect_listed every_quantised "${codes/:/:2^-7:}" "${pair#*=}_raw_q" "${pair#*=}_raw_d"
done
expect_listed every_quantised s8:0.75:-5 unpacked_q
expect_listed every_quantised s8:0.0999755859375:1 half_q half_int_d
expect_listed every_quantised s8:0.10009765625:2 bfloat_q
expect_listed defaults u8:0.047200001776218414:0 x_q x_d
expect_listed defaults s16:0.047200001776218414:0 a a_q a_d
expect_listed defaults s4:0.047200001776218414:0 w w_d
expect_listed defaults u16:0.047200001776218414:0 b_d
expect_listed constants u8:2^-3:9 x_q x_d
expect_listed refused 'float32, not quantised' x y
expect_listed refused 'unknown type, scale 0.5' untyped_d

# expect_types IN OUT ARGUMENT...: these types are found, noted, and give the same table when written out.
expect_types() {
    local in=$1 out=$2
    shift 2
    expect_status 0 fit sigmoid "$@" --segments 4 --method uniform -o found.json || return 0
    grep -qxF "pwlc fit: note: the types are --in $in --out $out" ../err || fail "pwlc fit $*: $(head -c 300 ../err)"
    expect_status 0 fit sigmoid --in "$in" --out "$out" --segments 4 --method uniform -o written.json || return 0
    checks=$((checks + 1))
    cmp -s found.json written.json || fail "pwlc fit $*: not the table of --in $in --out $out"
    if grep -qE 'onnx|tflite|x_d|copy' found.json; then fail "pwlc fit $*: the table says where the types came from"; fi
    rm -f found.json written.json
}
float=0.047200001776218414
expect_types s8:$float:-3 u8:2^-8:0 --in m.onnx:x_d --out m.onnx:y
expect_types s8:$float:-3 u8:2^-8:0 --in=m.onnx:0 --out=./m.onnx:5
expect_types u8:$float:128 u8:2^-8:0 --in m.tflite:decimal --out u8:2^-8
expect_types s8:2^-4:-3 s8:2^-7:-128 --in 'copy:1:power of two' --out m.tflite:colon:0
expect_types s8:2^-1:27 u8:2^-8:0 --in m.tflite:auto:0 --out u8:2^-8 # which is no type with a scale to be found
expect_types s8:2^-4:-3 u8:0.003918821809367235:0 --in 'm.tflite:0' --out u8

# Wherever a type is asked for: lists of jobs, explore, import.
echo '[{"name": "a", "function": "sigmoid", "in": "m.onnx:x", "out": "m.tflite:26", "segments": 4}]' >jobs.json
expect_status 0 fit --spec jobs.json -o jobs && expect_line '.*"spec": "sigmoid --in s8:0\.0472[0-9]*:-3 --out u8:2\^-8:0 .*' \
    jobs/a.json 'fit --spec'
expect_status 0 explore sigmoid --in m.onnx:x --out m.onnx:y --segments 4 --format csv
expect_status 0 fit sigmoid --profile tosa8 --in m.onnx:x --out m.tflite:0 -o tosa.json
expect_status 0 emit tosa.json --profile tosa8 -o tosa.bin
expect_status 0 import tosa.bin --profile tosa8 --function sigmoid --in m.onnx:x --out m.tflite:0 -o again.json &&
    expect_line ".*\"in\": .*\"scale\": \"$float\", \"zero_point\": -3,.*" again.json import
rm -rf jobs jobs.json tosa.json tosa.bin again.json

# Refused.
refused() {
    local words=$1
    shift
    expect_error 2 "$words" fit sigmoid "$@" --out u8:2^-8 -o out.json
}
refused '--in: m.onnx: no tensor "y_dd"; did you mean y_d?' --in m.onnx:y_dd
refused '--in: m.onnx: no tensor 6; there are 6, counted from 0' --in m.onnx:6
refused '--in: m.onnx: a tensor of the file is needed, FILE:TENSOR; `pwlc tensors` lists them' --in m.onnx
refused '--in: m.tflite: channels: int8, 3 scales; one for each channel or block' --in m.tflite:channels
refused '--in: refused.onnx: w: int8, 3 scales; one for each channel or block' --in refused.onnx:w
refused '--in: m.tflite: real: float32, not quantised; name a quantised one' --in m.tflite:real
refused '--in: m.tflite: nan: int8, scale nan; a scale lies in 2^-64 to 2^64' --in m.tflite:nan
refused '--range: --in and --out have scales already' --in m.onnx:x --range -1:1
refused "--in: type 'm.onx:x' does not start with s, u, q or uq, and names no file" --in m.onx:x
refused "--in: scale 'm.onnx' is not a number" --in s8:m.onnx:x
expect_error 2 '--out: m.tflite: no tensor "yy"' fit sigmoid --in m.onnx:x --out m.tflite:yy -o out.json
expect_error 1 '--in: none.onnx: cannot open' fit sigmoid --in none.onnx:x --out u8:2^-8 -o out.json
expect_error 2 'm.onnx' fit sigmoid --in m.onnx:x --out u8:2^-8 -o m.onnx # a file that the command reads
echo '[{"name": "a", "function": "sigmoid", "in": "m.onnx:z", "out": "u8:2^-8"}]' >jobs.json
expect_error 2 'jobs.json: [0]: --in: m.onnx: no tensor "z"' fit --spec jobs.json -o jobs

expect_error 2 'a file is needed: pwlc tensors FILE' tensors
expect_error 2 '"more" is one argument too many' tensors m.onnx more
expect_error 1 'missing.onnx: cannot open' tensors missing.onnx
expect_error 2 '/dev/null: not a file of one byte or more' tensors /dev/null
expect_error 2 'jobs.json: neither a TFLite model, with TFL3 at byte 4, nor an ONNX model' tensors jobs.json
expect_error 2 'truncated: neither a TFLite model' tensors "$corpus/onnx/truncated"
expect_error 2 'half: tflite: tensor 0 of subgraph 0 reaches beyond the end of the file' tensors "$corpus/tflite/half"
expect_error 2 'zero_points_cut: tflite: tensor 0 of subgraph 0 reaches beyond' tensors "$corpus/tflite/zero_points_cut"
for name in field_beyond field_in_offset header many_subgraphs root_at_0 root_beyond table_beyond table_long \
    vtable_{before,beyond,far,long,short}; do
    expect_error 2 "$name: tflite: the list of subgraphs reaches beyond" tensors "$corpus/tflite/$name"
done
while read -r name byte; do
    expect_error 2 "$name: onnx: the field at byte $byte is broken" tensors "$corpus/onnx/$name"
done <<'END'
field_0 2
fixed_cut 5
fixed64_cut 5
group 2
inner_beyond 4
length_huge 2
varint_cut 3
varint_endless 3
END

finish
