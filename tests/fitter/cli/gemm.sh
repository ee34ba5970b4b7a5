#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pwlc gemm: what it prints, where it says that it ran, and every refusal. $3 is a libpwlc-cuda.so that needs no device;
# gemm.py has the numbers.
host_library=$(realpath "$3")
. "$(dirname "$0")/lib.sh"

# word COUNT VALUE: little-endian bytes of VALUE, as printf escapes.
word() {
    local i value=$2
    for ((i = 0; i < $1; i++)); do
        printf '\\x%02x' $((value & 255))
        value=$((value >> 8))
    done
}

# make_gguf FILE NAME TYPE SHAPE... -- BYTES: one tensor, its row length first; BYTES as printf escapes.
make_gguf() {
    local file=$1 name=$2 type=$3 shape=() size
    shift 3
    for (( ; ; )); do
        [ "$1" != -- ] || break
        shape+=("$1")
        shift
    done
    {
        printf 'GGUF%b%b%b' "$(word 4 3)" "$(word 8 1)" "$(word 8 0)"
        printf '%b%s%b' "$(word 8 ${#name})" "$name" "$(word 4 ${#shape[@]})"
        for size in "${shape[@]}"; do printf '%b' "$(word 8 "$size")"; done
        printf '%b%b' "$(word 4 "$type")" "$(word 8 0)"
        size=$((24 + 8 + ${#name} + 4 + 8 * ${#shape[@]} + 12))
        printf '%*s' $((-size & 31)) '' | tr ' ' '\0'
        printf '%b' "$2"
    } >"$file"
}

# repeat COUNT BYTES
repeat() {
    local i
    for ((i = 0; i < $1; i++)); do printf '%s' "$2"; done
}

one='\x00\x00\x80\x3f'
make_gguf ones.gguf w 0 32 2 -- "$(repeat 32 "$one")$(repeat 32 '\x00\x00\x00\x40')" # rows of 1 and of 2
make_gguf q4.gguf w 2 32 1 -- "\x00\x3c$(repeat 16 '\x99')"                             # 1 = 9 - 8
make_gguf q8.gguf w 8 32 1 -- "\x00\x3c$(repeat 32 '\x01')"
make_gguf mx.gguf w 39 32 1 -- "\x7f$(repeat 16 '\x22')"
make_npy x.npy '<f4' '(2, 32)' "$(repeat 32 "$one")$(repeat 32 '\x00\x00\x00\x00')"
make_npy row.npy '<f4' '(32,)' "$(repeat 32 "$one")"
make_npy b.npy '<f4' '(2,)' "\x00\x00\x20\x41\x00\x00\xc8\x42" # 10, 100
gemm=(gemm --weights ones.gguf:w --act x.npy)
cpu=(--device cpu)

# said TEXT: all that is on standard error
said() {
    checks=$((checks + 1))
    [ "$(cat ../err)" = "$1" ] || fail "said \"$(head -c 600 ../err)\", expected \"$1\""
}

# Rows of Y, by powers of two exactly.
expect_printed $'32 64\n0 0' "${gemm[@]}" "${cpu[@]}" --scheme int8
said 'pwlc gemm: note: int8, M 2, N 2, K 32, on the CPU'
expect_printed $'42 164\n10 100' "${gemm[@]}" "${cpu[@]}" --scheme int8 --bias b.npy
expect_printed $'42 164\n10 100' "${gemm[@]}" "${cpu[@]}" --scheme int8 --bias b.npy --out f16
expect_printed 32 gemm --weights q4.gguf:w --act row.npy "${cpu[@]}"
said 'pwlc gemm: note: w4a16, M 1, N 1, K 32, on the CPU'
expect_printed 32 gemm --weights q8.gguf:w --act row.npy "${cpu[@]}"
expect_printed 32 gemm --weights mx.gguf:w --act row.npy "${cpu[@]}" --scheme=mxfp4a16
expect_printed 32 gemm --weights q8.gguf:w --act - "${cpu[@]}" <row.npy
cp q8.gguf a:b.gguf
expect_printed 32 gemm --weights a:b.gguf:w --act row.npy "${cpu[@]}"
expect_status 0 "${gemm[@]}" "${cpu[@]}" -o y.npy && [ ! -s ../out ] || fail 'gemm -o: prints as well'
head -c 80 y.npy | grep -aqF "'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)" || fail 'gemm -o: not the header'
expect_status 0 gemm --weights q8.gguf:w --act row.npy "${cpu[@]}" --out f16 -o -
head -c 80 ../out | grep -aqF "'descr': '<f2', 'fortran_order': False, 'shape': (1,)" || fail 'gemm -o -: not the header'
tail -c 2 ../out | cmp - <(printf '\x00\x50') || fail 'gemm --out f16: not 32'

# Tables: tanh in s8:2^-4 of 32 and 64 saturates, of 0 is 0.
expect_status 0 fit tanh --in s8:2^-4 --out s8:2^-7 -o tanh.json
expect_status 0 fit gelu --in s8:0.0472:-3 --out s8:0.0238:-121 -o gelu.json
expect_printed $'127 127\n0 0' "${gemm[@]}" "${cpu[@]}" --scheme int8 --table tanh.json
expect_printed $'127 127\n0 0' "${gemm[@]}" "${cpu[@]}" --table tanh.json
expect_printed $'0.9921875 0.9921875\n0 0' "${gemm[@]}" "${cpu[@]}" --table tanh.json --out f16
expect_printed $'127 127\n127 127' "${gemm[@]}" "${cpu[@]}" --scheme int8 --table tanh.json --bias b.npy
expect_status 0 "${gemm[@]}" "${cpu[@]}" --table gelu.json -o y.npy
head -c 80 y.npy | grep -aqF "'descr': '|i1', 'fortran_order': False, 'shape': (2, 2)" || fail 'gemm --table: not the header'
expect_error 1 'missing.json: cannot open' "${gemm[@]}" --table missing.json
expect_error 2 'b.npy: ' "${gemm[@]}" --table b.npy
expect_error 2 'gelu.json: in.scale is 0.0472; must be a power of two for --scheme int8' \
    "${gemm[@]}" --table gelu.json --scheme int8
expect_error 2 "tanh.json: --scheme int8 stores a table's codes alone; must be without --out" \
    "${gemm[@]}" --table tanh.json --scheme int8 --out f32
expect_status 0 fit rsqrt --in u10:2^-6:-6 --out u10:2^-8 --reduce on --segments 4 -o reduced.json
expect_error 2 'reduced.json: reduction: must be a table without' "${gemm[@]}" --table reduced.json
make_npy huge.npy '<f4' '(2,)' '\x00\x00\x00\x00\x00\x00\x80\x4f' # 0, 2^32
expect_error 2 '--bias: element 1 is 4.29497e+09; must be below 2^31 units of its sums, 2^-11 each, for --scheme int8' \
    "${gemm[@]}" --table tanh.json --scheme int8 --bias huge.npy -o y2.npy

# Devices. Without a library: pwlc alone in a folder.
leave_libraries
if ! ldconfig -p 2>/dev/null | grep -q libpwlc-cuda; then
    expect_error 77 "libpwlc-cuda.so is neither in $(dirname "$pwlc") nor in" "${gemm[@]}" --device cuda
    expect_printed $'32 64\n0 0' "${gemm[@]}" --scheme int8
    grep -q "^pwlc gemm: note: int8, M 2, N 2, K 32, on the CPU: libpwlc-cuda.so is neither in " ../err ||
        fail "gemm does not say why it ran on the CPU: $(head -c 300 ../err)"
fi
pwlc=$built
export PWL_CUDA_LIBRARY=nowhere/lib.so
expect_error 77 'PWL_CUDA_LIBRARY: nowhere/lib.so: cannot open shared object file' "${gemm[@]}" --device cuda -o y2.npy
PWL_CUDA_LIBRARY=$host_library
for device in auto cuda; do
    expect_printed $'32 64\n0 0' "${gemm[@]}" --scheme int8 --device $device
    said 'pwlc gemm: note: int8, M 2, N 2, K 32, on no device by the kernel reference'
done
export DEVICE_FAULT=device
expect_error 77 '--device cuda: no CUDA device: none was found' "${gemm[@]}" --device cuda
expect_printed $'32 64\n0 0' "${gemm[@]}" --scheme int8
said 'pwlc gemm: note: int8, M 2, N 2, K 32, on the CPU: --device cuda: no CUDA device: none was found'
DEVICE_FAULT=memory
for device in auto cuda; do
    expect_error 1 '--device cuda: workspace: memory is too small' "${gemm[@]}" --device $device -o y2.npy
done
DEVICE_FAULT=abi
expect_error 77 'has interface version 5, must be 4' "${gemm[@]}" --device cuda
unset DEVICE_FAULT PWL_CUDA_LIBRARY

# Flags.
expect_error 2 '--weights is needed: pwlc gemm --weights FILE.gguf:TENSOR --act X.npy' gemm
expect_error 2 '--act is needed' gemm --weights ones.gguf:w
expect_error 2 '"x.npy" belongs to no flag' gemm x.npy
for value in ones.gguf ones.gguf: :w ''; do
    expect_error 2 "--weights is FILE.gguf:TENSOR, not \"$value\"" gemm --weights "$value" --act x.npy
done
expect_error 2 '--scheme w4a4: must be w4a16, w8a16, mxfp4a16, w4a8, w8a8, mxfp4a8, q4ka8, q5ka8, q6ka8, int8 or w4int8' "${gemm[@]}" --scheme w4a4
expect_error 2 '--scheme w4a: must be' "${gemm[@]}" --scheme w4a
expect_error 2 '--device gpu: must be auto, cpu or cuda' "${gemm[@]}" --device gpu
expect_error 2 '--out bf16: must be f32 or f16' "${gemm[@]}" --out bf16
expect_error 2 'standard input can be read once' gemm --weights ones.gguf:w --act - --bias -
expect_error 2 'standard input can be read once' gemm --weights ones.gguf:w --act x.npy --table - --bias -

# Weights.
expect_error 1 'missing.gguf: cannot open' gemm --weights missing.gguf:w --act x.npy
expect_error 2 'x.npy: gguf: the file does not start with GGUF' gemm --weights x.npy:w --act x.npy
expect_error 2 'ones.gguf: no tensor "v"; `pwlc gguf list` shows' gemm --weights ones.gguf:v --act x.npy
expect_error 2 'tensor "q2_k" is of type Q2_K, which is not supported' gemm --weights "$root/tests/fuzz/corpus/gguf/every_type:q2_k" --act x.npy
expect_error 2 'has 3 dimensions; must be a matrix' \
    gemm --weights "$root/tests/fuzz/corpus/gguf/every_type:f16" --act x.npy
expect_error 2 'F32 2 x 3 (N x K): N must be 1 or more, and K a multiple of 32' \
    gemm --weights "$root/tests/fuzz/corpus/gguf/every_type:f32" --act x.npy
make_gguf none.gguf w 0 32 0 -- ''
expect_error 2 'F32 0 x 32 (N x K): N must be 1 or more' gemm --weights none.gguf:w --act x.npy
make_gguf deep.gguf w 1 65824 1 -- "$(repeat 65824 '\x00\x00')"
expect_error 2 'K must be at most 65793 for --scheme int8' gemm --weights deep.gguf:w --act x.npy --scheme int8
expect_error 2 '--scheme w8a8 does not take Q4_0 tensors; must be w4a16 or w4a8 or w4int8 for tensor "w" of q4.gguf' \
    gemm --weights q4.gguf:w --act x.npy --scheme w8a8
expect_error 2 '--scheme int8 does not take Q8_0 tensors; must be w8a16 or w8a8' \
    gemm --weights q8.gguf:w --act x.npy --scheme int8
expect_error 2 'must be mxfp4a16 or mxfp4a8 for' gemm --weights mx.gguf:w --act x.npy --scheme w4a8
make_gguf nan.gguf w 0 64 2 -- "$(repeat 96 "$one")\x00\x00\xc0\x7f$(repeat 31 "$one")"
make_npy x64.npy '<f4' '(1, 64)' "$(repeat 64 "$one")"
expect_error 2 'tensor "w" of nan.gguf, F32 2 x 64 (N x K): row 1, columns 32 to 63: a scale or a weight is infinite' \
    gemm --weights nan.gguf:w --act x64.npy "${cpu[@]}" -o y2.npy
make_gguf inf.gguf w 8 32 1 -- "\x00\x7c$(repeat 32 '\x01')"
expect_error 2 'row 0, columns 0 to 31: a scale' gemm --weights inf.gguf:w --act row.npy -o y2.npy

# What the host alone multiplies: super-blocks, of a file and not of floats.
make_npy x256.npy '<f4' '(1, 256)' "$(repeat 256 "$one")"
super="$root/tests/fuzz/corpus/gguf/every_type"
export PWL_CUDA_LIBRARY=$host_library
for device in auto cpu; do
    expect_status 0 gemm --weights "$super:q4_k" --act x256.npy --device $device
    said 'pwlc gemm: note: q4ka8, M 1, N 1, K 256, on the CPU'
done
expect_error 2 '--scheme mxfp4a8 has no kernel; must be with --device cpu' gemm --weights mx.gguf:w --act row.npy \
    --scheme mxfp4a8 --device cuda
expect_error 2 '--scheme q6ka8 has no kernel; must be with --device cpu' gemm --weights "$super:q6_k" --act x256.npy \
    --device cuda
unset PWL_CUDA_LIBRARY
expect_error 2 '--scheme q4ka8 does not take F32 tensors; must be w4a16 or w8a16' "${gemm[@]}" --scheme q4ka8
expect_error 2 '--scheme w4a8 does not take Q4_K tensors; must be q4ka8 for' gemm --weights "$super:q4_k" --act x256.npy \
    --scheme w4a8

# Activations and bias.
expect_error 1 'missing.npy: cannot open' gemm --weights ones.gguf:w --act missing.npy
expect_error 2 'x64.npy: shape (1, 64) must be (M, 32), rows as long as those of tensor "w" of ones.gguf, F32 2 x 32 (N x K)' \
    gemm --weights ones.gguf:w --act x64.npy -o y2.npy
make_npy scalar.npy '<f4' '()' "$one"
expect_error 2 'scalar.npy: shape () must be (M, 32)' gemm --weights ones.gguf:w --act scalar.npy
make_npy empty.npy '<f4' '(0, 32)' ''
expect_error 2 'empty.npy: shape (0, 32) has no elements' gemm --weights ones.gguf:w --act empty.npy
make_npy codes.npy '|i1' '(1, 32)' "$(repeat 32 '\x01')"
expect_error 2 'codes.npy: the elements are integers; must be floats' gemm --weights ones.gguf:w --act codes.npy
make_npy large.npy '<f8' '(32,)' "$(repeat 32 '\x00\x00\x00\x00\x00\x00\xf0\x47')" # 2^128
expect_error 2 'large.npy: element 0 is 3.40282e+38; must be within the range of floats' \
    gemm --weights ones.gguf:w --act large.npy
make_npy nan.npy '<f4' '(32,)' "$(repeat 31 "$one")\x00\x00\xc0\x7f"
expect_error 2 'nan.npy: element 31 is nan; must be finite for --scheme int8' \
    gemm --weights ones.gguf:w --act nan.npy --scheme int8
expect_printed 'nan nan' gemm --weights ones.gguf:w --act nan.npy "${cpu[@]}"
expect_error 2 'x.npy: shape (2, 32) must be (2,), a number for each row of tensor "w"' "${gemm[@]}" --bias x.npy
expect_error 2 'row.npy: shape (32,) must be (2,)' "${gemm[@]}" --bias row.npy
expect_status 1 "${gemm[@]}" "${cpu[@]}" -o missing/y.npy && grep -q '^pwlc gemm: missing/y.npy: cannot write' ../err ||
    fail "gemm -o: $(head -c 300 ../err)"
[ ! -e y2.npy ] || fail 'a command that failed wrote its output'

finish
