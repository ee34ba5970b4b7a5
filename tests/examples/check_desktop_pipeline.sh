#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the example measures is what the tables' headers say. $1 the program, $2 source root.
set -eu
output=$("$1")
echo "$output"
for name in gelu_s8 sigmoid_s16; do
    error=$(sed -n 's/^ \*   max error   \(.* LSB\),.*/\1/p' "$2/luts/pwl_$name.h")
    if ! grep -qE "^$name .* by [a-z0-9_]+: max error ${error:-missing}, at" <<<"$output"; then
        echo "$name: the header says $error"
        exit 1
    fi
done
