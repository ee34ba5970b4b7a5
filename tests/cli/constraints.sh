#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pwlc fit: --symmetry fold and --fix, what they give and what they refuse.
. "$(dirname "$0")/lib.sh"

# refused CODE TEXT ARGUMENT...: fit with that exit code, one message that holds the text, and no file.
refused() {
    local want=$1 text=$2
    shift 2
    expect_error "$want" "$text" fit "$@" -o refused.json
}

# gives TABLE X Y: the table's output code for an input code.
gives() {
    expect_status 0 eval "$1" -- "$2" || return 0
    [ "$(cat ../out)" = "$3" ] || fail "$1: $2 gives $(cat ../out), not $3"
}

# A folded table is odd, or complementary, at every code that has a mirror image, and half as long.
expect_status 0 fit tanh --in s8:2^-5 --out s8:2^-7 --segments 8 --symmetry fold -o tanh.json
grep -q '"fold": {"sum": 0}' tanh.json || fail 'tanh: no fold'
grep -q '{"start": 0,' tanh.json || fail 'tanh: segments do not start at the zero point'
for code in 1 2 17 40 63; do
    expect_status 0 eval tanh.json -- "$code" "-$code"
    [ "$(paste -sd+ ../out | bc)" -eq 0 ] || fail "tanh is not odd at $code: $(paste -sd' ' ../out)"
done
expect_status 0 fit sigmoid --in u8:2^-4:100 --out u8:2^-7:3 --segments 6 --symmetry fold -o sigmoid.json
grep -q '"fold": {"sum": 134}' sigmoid.json || fail 'sigmoid: the sum is not 2^7 + 2 * 3'
for away in 1 30 100; do
    expect_status 0 eval sigmoid.json $((100 + away)) $((100 - away))
    [ "$(paste -sd+ ../out | bc)" -eq 134 ] || fail "sigmoid is not complementary at $away: $(paste -sd' ' ../out)"
done
expect_status 0 sweep sigmoid.json tanh.json
expect_status 0 emit tanh.json --standalone -o tanh.h

refused 2 'gelu is neither odd' gelu --in s8:2^-5 --out s8:2^-5 --symmetry fold
refused 2 'at most 128' tanh --in u8:2^-5:129 --out s8:2^-7 --symmetry fold
refused 2 'must be one of its codes' tanh --in u8:2^-5:300 --out s8:2^-7 --symmetry fold
refused 2 'must be fold or off' tanh --in s8:2^-5 --out s8:2^-7 --symmetry odd
refused 2 '--symmetry' tanh --in s8:2^-5 --out s8:2^-7 --symmetry fold --method lut

# Fixed values hold under every method that takes them, in both halves of a folded table, and are part of the spec.
for method in lsq minimax uniform; do
    expect_status 0 fit gelu --in s8:0.0472:-3 --out s8:0.0248:-121 --segments 8 --method $method --fix 0:0 -o fixed.json
    gives fixed.json -3 -121
    grep -q -- '--fix 0:0' fixed.json || fail "$method: the spec does not hold --fix"
done
expect_status 0 fit tanh --in s16:2^-12 --out s16:2^-15 --max-err 3 --symmetry fold --fix 0:0 --fix -1:-0.7616 -o both.json
gives both.json 0 0
gives both.json -4096 -24956
gives both.json 4096 24956
echo '[{"name": "job", "function": "tanh", "in": "s8:2^-5", "out": "s8:2^-7", "segments": 8, "symmetry": "fold",
  "fix": ["0:0", "1:0.75"]}]' >jobs.json
expect_status 0 fit --spec jobs.json -o .
gives job.json 0 0
gives job.json 32 96

types='--in s8:2^-5 --out s8:2^-7'
refused 2 'must be X:Y' tanh $types --fix 0
refused 2 'must be X:Y' tanh $types --fix 0:x
refused 2 'Y must lie in the range of --out' tanh $types --fix 0:7
refused 2 'X must lie in the range of --in' tanh $types --fix 99:0
refused 2 'already fixed' tanh $types --fix 0:0 --fix 0:0.5
refused 2 'already fixed' tanh $types --fix 1:0.5 --fix -1:0.5 --symmetry fold
refused 2 'must be lsq, minimax or uniform' tanh $types --fix 0:0 --method lut
refused 2 'at most 16' tanh --in s20:2^-16 --out s16:2^-15 --fix 0:0
refused 3 '--fix' tanh $types --fix 0:0.5 --max-err 1
refused 3 '--fix' tanh $types --fix 0:0 --fix 0.0625:0.25 --fix 0.125:0.1 --segments 1
refused 3 '--fix' tanh $types --fix 0:0 --fix 0.0625:0.25 --fix 0.125:0.1 --segments 1 --method uniform
refused 3 '--fix' tanh $types --fix 0:0 --fix 0.0625:0.25 --fix 0.125:0.1 --segments 1 --method minimax

finish
