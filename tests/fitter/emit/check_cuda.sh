#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A kernel on the CUDA header of each table, and of one with a reduction, compiles for a device without a warning,
# without local memory, and with the arrays in the device's memory.
# usage: check_cuda.sh PWLC NVCC TABLE.json...
set -eu
PWLC=$1
NVCC=$2
shift 2
. "$(dirname "$0")/headers.sh"

[ $# -gt 0 ] || fail "no table given"
"$PWLC" fit rsqrt --in u16:2^-6:-6 --out u16:2^-14 --reduce on --segments 8 -o "$work/reduced.json" 2>"$work/notes" ||
    fail "fit: $(cat "$work/notes")"
cuda_kernels "$@" "$work/reduced.json"

bash "$root/kernels/compile.sh" "$NVCC" -arch=sm_80 --keep --keep-dir "$work" -c "$work/kernels.cu" -o "$work/kernels.o" ||
    fail "does not compile"
arrays=$(cat "$work"/t*.cuh | grep -c '^    static const .*\[\] = {$')
found=$(grep -cE '^\.global .*(_start|_q_b|_n|_term_c|_bias|_y|_codes)\[' "$work"/kernels.ptx) || true
[ "$arrays" -gt 0 ] && [ "$found" -eq "$arrays" ] || fail "$found arrays in PTX, not $arrays"
echo "$count headers, $arrays arrays"
