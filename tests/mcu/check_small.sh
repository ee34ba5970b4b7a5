#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The runtime built for tables of 8 and of 16 bits gives the same codes: small.c. Arrays of 8 bits lie on a small stack,
# as on 32-bit processors; and tables in a flash that is read as AVR's. usage: check_small.sh SOURCE_ROOT COMPILER...
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
strict="-std=c11 -O1 -Wall -Wextra -Werror -I$source_root/runtime/include"
for bits in 8 16 32; do
    mkdir "$work/$bits"
    # shellcheck disable=SC2086
    (cd "$work/$bits" && "$@" $strict "-I$source_root/tests/mcu/flash" -DPWL_TABLES_IN_FLASH -DPWL_MOST_BITS=$bits \
        -c "$source_root"/runtime/*.c)
    # shellcheck disable=SC2086
    "$@" $strict "-I$source_root/luts" -DPWL_MOST_BITS=$bits -DFLASH "$source_root/tests/mcu/small.c" \
        "$work/$bits"/*.o -o "$work/small"
    "$work/small" || { echo "FAILED: $bits bits, tables in flash"; exit 1; }
done
