#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the runtime without a C library for this machine, Cortex-M0 and Cortex-M4, and checks that it needs nothing but
# integer support routines of the compiler, keeps no state, and that evaluation stays small.
# $1 source root, then this machine's compiler (cc when none is given). ARM_CC names the ARM compiler.
set -eu
source_root=${1:-$(dirname "$0")/../..}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- "${CC:-cc}"
arm_cc=${ARM_CC:-arm-none-eabi-gcc}

# pwl_eval and all it calls in the runtime, at -Os, on each Cortex-M: bytes of code and constants.
eval_limit_bytes=700

# 64-bit multiplications and shifts, comparisons, and Thumb-1's jump tables. No float (__aeabi_d*, __aeabi_f*), no
# division, no memory routine.
allowed='^(__aeabi_(lmul|llsl|llsr|lasr|lcmp|ulcmp)|__gnu_thumb1_case_(sqi|uqi|shi|uhi|si))$'
# Of reals.c, which alone computes in float: its arithmetic, comparisons and conversions.
allowed_reals='^(__aeabi_(f(add|sub|mul|div|cmp(eq|lt|le|ge|gt|un)|2iz|2lz)|i2f|l2f))$'

if ! command -v "$arm_cc" >/dev/null; then
    echo "$arm_cc is missing: install gcc-arm-none-eabi, or name another compiler in ARM_CC"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "FAILED: $*"
    failed=1
}

# build TARGET TOOL_PREFIX "LEVEL SOURCE..." COMPILER...: objects, programs and the checks that every target shares;
# with the sources of a level, if any.
build() {
    local target=$1 tools=$2 level name source symbols state
    read -ra level <<<"$3"
    shift 3
    local directory=$work/$target
    local compile=("$@" -std=c11 -Wall -Wextra -Wpedantic -Werror -Os -ffreestanding -fno-pic -ffunction-sections
        -fdata-sections "-I$source_root/runtime/include")
    local link=("$@" -nostdlib -static -Wl,--gc-sections -Wl,-e,start)
    local objects=() sources=("$source_root"/runtime/{,rows/,network/}*.c)
    mkdir "$directory"
    if [ ${#level[@]} -gt 0 ]; then
        compile+=("-DPWL_HAVE_${level[0]}")
        level=("${level[@]:1}")
        sources+=("${level[@]/#/$source_root/runtime/}")
    fi
    for source in "${sources[@]}"; do
        name=$(basename "$source" .c)
        objects+=("$directory/$name.o")
        "${compile[@]}" -c "$source" -o "$directory/$name.o"
        symbols=$("${tools}nm" -u "$directory/$name.o" | awk '{ print $2 }' | grep -Ev '^pwl_' | grep -Ev "$allowed" || true)
        [ "$name" != reals ] || symbols=$(grep -Ev "$allowed_reals" <<<"$symbols" || true)
        [ -z "$symbols" ] || fail "$target: $name.c needs" $symbols
        state=$("${tools}size" "$directory/$name.o" | awk 'NR == 2 { print $2 + $3 }')
        [ "$state" -eq 0 ] || fail "$target: $name.c has $state bytes of writable data"
    done
    "${compile[@]}" -c "$source_root/tests/mcu/main.c" -o "$directory/main.o"
    "${compile[@]}" -DEVAL_ONLY -c "$source_root/tests/mcu/main.c" -o "$directory/main_eval.o"
    # The compiler's own support library and no other: an undefined symbol ends here.
    "${link[@]}" "$directory/main.o" "${objects[@]}" -lgcc -o "$directory/all" || fail "$target: does not link"
    "${link[@]}" "$directory"/{main_eval,eval}.o -lgcc -o "$directory/eval" || fail "$target: does not link"
}

# eval_bytes TARGET TOOL_PREFIX: what the program with pwl_eval alone holds of eval.c.
eval_bytes() {
    "${2}nm" "$work/$1/eval.o" | awk '$2 ~ /^[tTrR]$/ { print $3 }' >"$work/$1/names"
    "${2}nm" -S "$work/$1/eval" | while read -r _ size _ name; do
        ! grep -Fqx "${name:-}" "$work/$1/names" || echo "$((16#$size))"
    done | awk '{ sum += $1 } END { print sum + 0 }'
}

build host "" "" "$@"
[ $failed -ne 0 ] || echo "host: all sources link without a C library"
declare -A levels=([cortex-m0]='' [cortex-m4]="DSP arm/cells16_dsp.c")
for cpu in cortex-m0 cortex-m4; do
    tools=${arm_cc%gcc}
    build $cpu "$tools" "${levels[$cpu]}" "$arm_cc" -mcpu=$cpu -mthumb
    bytes=$(eval_bytes $cpu "$tools")
    echo "$cpu: pwl_eval $bytes bytes of at most $eval_limit_bytes;" \
        "whole objects: $("${tools}size" "$work/$cpu"/{eval,map,proof,reduce}.o |
            awk 'NR > 1 { n = split($6, path, "/"); printf "%s%s %d", separator, path[n], $1; separator = ", " }')"
    [ "$bytes" -gt 0 ] || fail "$cpu: pwl_eval is not in the program"
    [ "$bytes" -le $eval_limit_bytes ] || fail "$cpu: pwl_eval takes $bytes bytes, more than $eval_limit_bytes"
done
exit $failed
