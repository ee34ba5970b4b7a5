#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What fitting costs, as a Markdown table on standard output: bench_fit.sh PWLC [REPETITIONS]
# Medians of the processor time of one fit, and its peak memory. Needs GNU time. Nothing here passes or fails.
set -euo pipefail

pwlc=$1
repetitions=${2:-5}
time=$(command -v time || true)
if [ -z "$time" ] || ! "$time" -f '%U %S %M' true 2>/dev/null; then
    echo 'bench_fit.sh: GNU time is needed' >&2
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# name, codes, flags of fit
measure() {
    local name=$1 codes=$2
    shift 2
    for _ in $(seq "$repetitions"); do
        "$time" -o "$work/cost" -f '%U %S %M' "$pwlc" fit "$@" -o "$work/table.json" 2>"$work/notes"
        awk '{ printf "%.2f %.1f\n", $1 + $2, $3 / 1024 }' "$work/cost"
    done | sort -n >"$work/costs"
    local median memory segments proof
    median=$(awk -v middle=$((repetitions / 2 + 1)) 'NR == middle { print $1 }' "$work/costs")
    memory=$(awk '$2 > most { most = $2 } END { print most }' "$work/costs")
    segments=$(grep -c '"start"' "$work/table.json")
    proof=$(grep -o '"optimal": [a-z]*' "$work/table.json" | cut -d' ' -f2)
    echo "| $name | $codes | $segments | $median | $memory | $proof |"
}

jobs_of_16_bits=(
    'sigmoid --in u16:2^-12:24576 --out u16:2^-16:-1' 'sigmoid --in s16:2^-12:0 --out s16:2^-15:0'
    'tanh --in s16:2^-13:0 --out s16:2^-15:0' 'gelu --in s16:2^-12:0 --out s16:2^-12:0'
    'atan --in s16:2^-12:0 --out s8:2^-6:0' 'sin --in s16:2^-13:0 --out s16:2^-15:0'
    'exp --in s16:2^-12:32767 --out s16:2^-15:0' 'erf --in s16:2^-13:0 --out s16:2^-15:0')
jobs_of_10_bits=(
    'sigmoid --in s10:2^-6:0 --out s16:2^-15:0' 'sigmoid --in s10:2^-6:0 --out u8:2^-8:0'
    'tanh --in s10:2^-7:0 --out s16:2^-15:0' 'tanh --in s10:2^-7:0 --out s10:2^-9:0'
    'exp --in s10:2^-7:511 --out s16:2^-15:0' 'gelu --in s10:2^-6:0 --out s10:2^-6:0'
    'silu --in s10:2^-6:0 --out s16:2^-12:0' 'sin --in s10:2^-7:0 --out s8:2^-7:0')
jobs_of_8_bits=(
    'sigmoid --in s8:2^-5:0 --out s8:2^-6:0' 'tanh --in s8:2^-5:0 --out s8:2^-6:0'
    'gelu --in s8:2^-5:0 --out s8:2^-5:0' 'silu --in s8:2^-4:0 --out s8:2^-4:0' 'sin --in s8:2^-4:0 --out s8:2^-6:0'
    'cos --in s8:2^-4:0 --out s8:2^-6:0' 'exp --in s8:2^-5:0 --out u8:2^-7:0' 'erf --in s8:2^-5:0 --out s8:2^-7:0')

# The fit that takes longest among jobs under the same flags, each done once: slowest CODES FLAGS... -- JOBS...
slowest() {
    local repetitions=1 codes=$1 job
    local flags=()
    shift
    while [ "$1" != -- ]; do
        flags+=("$1")
        shift
    done
    shift
    for job in "$@"; do
        # shellcheck disable=SC2086
        measure "${job%% *} ${flags[*]}" "$codes" $job "${flags[@]}"
    done | sort -t '|' -k 5,5n | tail -n 1
}

echo "$(grep -m 1 '^model name' /proc/cpuinfo | cut -d: -f2 | sed 's/^ *//'), one core, $(date -u +%Y-%m-%d)," \
    "median of $repetitions, \`$("$pwlc" --version | head -n 1)\`"
echo
echo '| fit | codes | segments | seconds | peak MiB | optimal |'
echo '|---|---|---|---|---|---|'
for bits in 10 12 14 16; do
    types=(--in "s$bits:2^-$((bits - 4)):0" --out s16:2^-15:0)
    codes=$((1 << bits))
    measure 'sigmoid lsq' "$codes" sigmoid "${types[@]}" --segments 16 --method lsq
    measure 'sigmoid minimax' "$codes" sigmoid "${types[@]}" --segments 16 --method minimax
    measure 'sigmoid --max-err 1' "$codes" sigmoid "${types[@]}" --max-err 1
done
for function in sigmoid gelu silu; do
    measure "$function int8 lsq" 256 "$function" --in s8:2^-4:0 --out s8:2^-6:0
    measure "$function int8 minimax" 256 "$function" --in s8:2^-4:0 --out s8:2^-6:0 --method minimax
done
measure 'sigmoid int32 lsq' $((1 << 32)) sigmoid --in s32:2^-28:0 --out s32:2^-30:0 --segments 16
measure 'sigmoid int32 minimax' $((1 << 32)) sigmoid --in s32:2^-28:0 --out s32:2^-30:0 --segments 16 --method minimax
echo
echo '| slowest of eight | codes | segments | seconds | peak MiB | optimal |'
echo '|---|---|---|---|---|---|'
for form in absolute biased anchored; do
    for shift in per-segment one; do
        slowest 65536 --method lsq --form "$form" --shift "$shift" -- "${jobs_of_16_bits[@]}"
        slowest 65536 --method minimax --form "$form" --shift "$shift" -- "${jobs_of_16_bits[@]}"
        slowest 65536 --max-err 1 --form "$form" --shift "$shift" -- "${jobs_of_16_bits[@]}"
    done
done
for form in absolute biased anchored; do
    for shift in per-segment one; do
        slowest 1024 --segments 16 --rounding half_even --form "$form" --shift "$shift" -- "${jobs_of_10_bits[@]}"
    done
done
for form in absolute biased anchored; do
    for shift in per-segment one; do
        slowest 256 --segments 8 --rounding half_even --form "$form" --shift "$shift" -- "${jobs_of_8_bits[@]}"
    done
done
