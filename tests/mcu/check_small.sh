#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The runtime built for tables of 8 and of 16 bits gives the same codes: small.c. Arrays of 8 bits lie on a small stack,
# as on 32-bit processors. usage: check_small.sh SOURCE_ROOT COMPILER...
set -eu
source_root=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for bits in 8 16; do
    for stack in 0 256 2048; do
        "$@" -std=c11 -O1 -Wall -Wextra -Werror "-I$source_root/runtime/include" "-I$source_root/luts" \
            -DPWL_MOST_BITS=$bits -DPWL_MAP_STACK=$stack "$source_root"/tests/mcu/small.c "$source_root"/runtime/*.c \
            "$source_root"/runtime/rows/*.c -o "$work/small"
        "$work/small" || { echo "FAILED: $bits bits, $stack bytes of stack"; exit 1; }
    done
done
