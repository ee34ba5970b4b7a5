#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A standalone table of 16 segments, evaluation included, takes at most 300 bytes of a Cortex-M4 at -Os, in every form
# and rounding, and compiles without a warning there. How it was fitted makes no difference. Exit 77, a skip, without
# the ARM compiler.
# usage: check_size.sh PWLC
set -eu
PWLC=$(realpath "$1")
LIMIT=300
CC=arm-none-eabi-gcc
command -v $CC >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

largest=0
for types in '--in u16:2^-12:24576 --out u16:2^-16:-1' '--in s8:2^-4 --out s8:2^-8:-128'; do
    for form in absolute biased anchored; do
        for rounding in floor half_up half_away half_even; do
            # shellcheck disable=SC2086
            "$PWLC" fit sigmoid $types --segments 16 --method uniform --form $form --rounding $rounding -o t.json 2>notes ||
                { cat notes >&2; exit 1; }
            "$PWLC" emit t.json --standalone --name table -o table.h
            [ "$(sed -n 's/^#define TABLE_SEGMENTS //p' table.h)" -eq 16 ]
            printf '#include "table.h"\nint evaluate(int q_x);\nint evaluate(int q_x)\n{\n    return table_eval((%s)q_x);\n}\n' \
                "$(sed -n 's/^static inline .* table_eval(\([a-z0-9_]*\) q_x)$/\1/p' table.h)" >table.c
            $CC -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Werror -ffreestanding -Os -mthumb -mcpu=cortex-m4 \
                -c table.c -o table.o
            bytes=$(arm-none-eabi-size table.o | awk 'NR == 2 { print $1 + $2 + $3 }')
            if [ "$bytes" -gt $LIMIT ]; then
                echo "check_size: $types $form $rounding: $bytes bytes, more than $LIMIT" >&2
                exit 1
            fi
            [ "$bytes" -le $largest ] || largest=$bytes
        done
    done
done
echo "at most $largest bytes, table and evaluation"
