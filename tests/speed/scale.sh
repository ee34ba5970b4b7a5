#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What docs/scale.md counts with: the time of every code of four 32-bit tables in 1 and 2 ranks on this machine, of its
# parts, and what follows for more ranks.
#
# usage: scale.sh PWLC SOURCE [RANKS...]
set -eu
pwlc=$(realpath "$1")
source=$(realpath "$2")
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cp "$source"/luts/tables/{sigmoid,tanh,gelu,silu}_s32.json .
sweep='sweep sigmoid_s32.json tanh_s32.json gelu_s32.json silu_s32.json --exhaustive --format json'
export TIMEFORMAT='%R %U %S'
ranks() {
    mpirun --allow-run-as-root --oversubscribe -n "$@"
}
# timed COMMAND...: sets elapsed and processor, in seconds.
timed() {
    local user system
    { time "$@" >out 2>err; } 2>times || { cat err >&2; exit 1; }
    read -r elapsed user system <times
    processor=$(awk "BEGIN { print $user + $system }")
}
echo "| what | elapsed, s | processor time, s |"
echo "| --- | ---: | ---: |"
[ $# -gt 0 ] || set -- 1 2
for count; do
    rm -f journal
    # shellcheck disable=SC2086
    timed ranks "$count" "$pwlc" $sweep --resume journal
    echo "| ranks: $count | $elapsed | $processor |"
    [ "$count" -gt 1 ] || all=$processor
done
timed "$pwlc" merge journal
serial=$processor
echo "| what rank 0 does at the end, alone | $elapsed | $processor |"
first=0
for table in *_s32.json; do
    rm -f shard
    timed "$pwlc" sweep "$table" --exhaustive --shard 1/256 --resume shard
    first=$(awk "BEGIN { print $first + $processor }")
done
echo "| the first job of each table, with what each rank does before it | | $first |"
timed ranks 2 "$pwlc" sweep sigmoid_s32.json -o swept
two=$elapsed
timed "$pwlc" sweep sigmoid_s32.json -o swept
echo "| start and end of 2 ranks | $(awk "BEGIN { print $two - $elapsed }") | |"
jobs=$(($(grep -aob pwlcjob journal | wc -l) - 1))
echo
echo "$jobs jobs, $(($(stat -c %s journal) / jobs)) bytes of result each"
[ -z "${all:-}" ] || /usr/bin/python3 - "$all" "$serial" "$first" "$jobs" <<'END_PYTHON'
import sys
processor, serial, first, jobs = map(float, sys.argv[1:])
work = (processor - serial - first) / (1 - 4 / jobs)  # of the jobs alone
begin = first - 4 * work / jobs
print(f"{4 * 2**32 / work / 1e6:.0f} million codes a second on one core, {begin:.2f} s before a rank's first jobs\n")
print("| ranks | elapsed by calculation, s | of it rank 0 alone | efficiency |")
print("| ---: | ---: | ---: | ---: |")
for ranks in (1, 2, 16, 64, 256):
    elapsed = work / ranks + (work / jobs / 2 if ranks > 1 else 0) + begin + serial
    print(f"| {ranks} | {elapsed:.1f} | {100 * serial / elapsed:.0f} % | {100 * processor / ranks / elapsed:.0f} % |")
END_PYTHON
