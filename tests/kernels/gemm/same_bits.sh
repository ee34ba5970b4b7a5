#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# same_bits.sh PROGRAM OTHER: two builds of a test that prints hashes for the argument `bits` pass it, and print the
# same, OTHER three times. TAP.
set -u
expected=$("$1" bits) || { echo "$expected"; echo "not ok 1 - $1"; exit 1; }
for time in 1 2 3; do
    found=$("$2" bits) || { echo "$found"; echo "not ok 1 - $2"; exit 1; }
    if [ "$found" != "$expected" ]; then
        diff <(echo "$expected") <(echo "$found")
        echo "not ok 1 - $2, time $time: other bits"
        exit 1
    fi
done
echo "ok 1 - $(grep -c '^#' <<<"$expected") results with the same bits"
