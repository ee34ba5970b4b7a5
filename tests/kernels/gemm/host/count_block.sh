#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How many instructions a way takes for 128 weights of Q4_0 by one row of X, counted by an emulator in the function that
# multiplies: at most LIMIT.
# usage: count_block.sh LIMIT WAY "EMULATOR..." NM --build COMPILER ARGUMENT... [--apart COMPILER ARGUMENT...]...
set -eu
. "$(dirname "$0")/../../../platform/emulate.sh"
limit=$1 way=$2 nm=$4
read -ra emulator <<<"$3"
shift 4
program "$@"
needs "${emulator[@]}"
needs "$nm"
range=$("$nm" -S "$program" | awk '$4 == "nibbles" { print "0x" $1 "+0x" $2 }')
[ -n "$range" ] || { echo "no function nibbles in the program"; exit 1; }
"${emulator[@]}" -singlestep -d exec,nochain -dfilter "$range" -D "$work/log" "$program" "$way"
count=$(grep -c ^Trace "$work/log")
weights=$((32 * 1024)) # as count_block.c has them
echo "$way: $count instructions, $((count * 1280 / weights)) tenths for 128 weights, at most $limit"
# Eight of them at least are dot products of 16 weights.
[ "$count" -ge $((weights / 16)) ] && [ "$((count * 128))" -le $((limit * weights)) ]
