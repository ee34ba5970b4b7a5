#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ladder.sh's columns against values found by hand: under the roof of tensor cores, of memory, and of an unknown card; and
# the table of kernels/results/README.md, which is what it makes of the figures there. $1 source root.
set -u
cd "$1" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# expect ROW DEVICE SCHEME M N K KERNEL US
expect() {
    printf '{"bench": "qgemm", "device": "%s", "scheme": "%s", "m": %s, "n": %s, "k": %s, "kernel": "%s", "time": {"us": %s, %s}}\n' \
        "${@:2}" '"p10": 9.500, "p90": 11.500' >"$work/row.jsonl"
    row=$(bash tests/kernels/bench/ladder.sh "$work/row.jsonl" | tail -n 1)
    [ "$row" = "$1" ] || { echo "FAILED: \"$row\", not \"$1\""; failed=1; }
}
# M = N = K = 4096: 2^37 FLOP over 9437184 + 2^26 bytes; in 138.9 us the tensor cores' peak.
expect '| W4A16 | 4096 | mma | 138.9 | 9.5 to 11.5 | 989.5 | - | 1796 | 1.000 |' 'NVIDIA H200' W4A16 4096 4096 4096 mma 138.9
expect '| W4A8 | 4096 | dp4a | 138.9 | 9.5 to 11.5 | 989.5 | - | 1796 | 0.500 |' 'NVIDIA H200' W4A8 4096 4096 4096 dp4a 138.9
# M = 1: 2^25 FLOP over 17825792 + 16384 bytes, which an H100 reads in 5.326 us.
expect '| W8A16 | 4096 | splitk | 10.7 | 9.5 to 11.5 | 3.2 | - | 2 | 0.500 |' 'NVIDIA H100 80GB HBM3' W8A16 1 4096 4096 splitk 10.652
expect '| fp16 | 32 | mma | 10.0 | 9.5 to 11.5 | 0.0 | - | 11 | - |' 'Another' fp16 32 32 32 mma 10
! bash tests/kernels/bench/ladder.sh <(echo '{"device": "A", "scheme": "W3", "k": 32}') >"$work/out" 2>&1 || failed=1
grep -q 'no bytes are known of W3' "$work/out" || { echo "FAILED: an unknown scheme: $(cat "$work/out")"; failed=1; }

bash tests/kernels/bench/ladder.sh kernels/results/bench_qgemm.jsonl 4096 >"$work/table"
sed -n '/^## The ladder/,/^## F/p' kernels/results/README.md | grep '^|' | diff - "$work/table" ||
    { echo 'FAILED: kernels/results/README.md has another ladder than bench_qgemm.jsonl'; failed=1; }
exit $failed
