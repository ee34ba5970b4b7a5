#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How many instructions a way takes for 128 weights of Q4_0 by one row of X, where a pass has so many, counted by an
# emulator in the functions that multiply: at most LIMIT.
# usage: count_block.sh "LIMIT WAY ROWS[; LIMIT WAY ROWS]..." "EMULATOR..." NM --build COMPILER ARGUMENT...
#        [--apart COMPILER ARGUMENT...]...
set -eu
. "$(dirname "$0")/../../../platform/emulate.sh"
limits=$1 nm=$3
read -ra emulator <<<"$2"
shift 3
program "$@"
needs "${emulator[@]}"
needs "$nm"
ranges=$("$nm" -S "$program" | awk '$4 == "nibbles" { print "0x" $1 "+0x" $2 }' | paste -sd,)
[ -n "$ranges" ] || { echo "no function nibbles in the program"; exit 1; }
failed=0
while read -rd ';' limit way rows; do
    "${emulator[@]}" -singlestep -d exec,nochain -dfilter "$ranges" -D "$work/log" "$program" "$way" "$rows"
    count=$(grep -c ^Trace "$work/log")
    weights=$((32 * 1024 * rows)) # as count_block.c has them
    echo "$way, $rows rows: $count instructions, $((count * 1280 / weights)) tenths for 128 weights, at most $limit"
    # A product of matrices is of 32 weights at most.
    [ "$count" -ge $((weights / 32)) ] && [ "$((count * 128))" -le $((limit * weights)) ] || failed=1
done <<<"$limits;"
exit $failed
