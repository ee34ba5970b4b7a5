#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pwlc fit --knots points: tables of values with straight lines between them, and what cannot be asked for with them.
. "$(dirname "$0")/lib.sh"

types='--in s8:2^-5 --out s8:2^-7'

# refused CODE TEXT ARGUMENT...: fit with that exit code, one message that holds the text, and no file.
refused() {
    local want=$1 text=$2
    shift 2
    expect_error "$want" "$text" fit "$@" -o refused.json
}

# has SEGMENTS FORM SPEC: that many segments, the form, and words of the spec in table.json.
has() {
    grep -q "\"form\": \"$2\"" table.json || fail "$3: the form is not $2"
    [ "$(grep -c '"start":' table.json)" -eq "$1" ] || fail "$3: $(grep -c '"start":' table.json) segments, not $1"
    grep -q -e "\"spec\": \".*$3" table.json || fail "the spec is $(grep '"spec"' table.json), without $3"
}

# The number of segments, by each way of asking, and the form that holds the values.
expect_status 0 fit tanh $types --knots points:3 -o table.json
has 32 anchored '--form anchored --rounding floor --knots points:3'
! grep -q -e --segments table.json || fail 'the spec says --segments as well'
expect_status 0 fit tanh $types --knots points:3 --segments 32 --shift one --form anchored -o again.json
cmp table.json again.json || fail 'another way of asking for the same table'
expect_status 0 fit tanh $types --knots points --segments 64 --rounding half_up -o table.json
has 64 anchored '--rounding half_up --knots points:2'
for rounding in half_away half_even; do
    expect_status 0 fit tanh $types --knots points --rounding $rounding -o table.json
    has 16 biased "--form biased --rounding $rounding --knots points:4"
done
expect_status 0 fit tanh --in u2:2^0:1 --out s8:2^-7 --knots points -o table.json
has 2 anchored '--knots points:1'
expect_status 0 fit tanh $types --knots points --max-err 1.5 --rounding half_up -o table.json
has 32 anchored '--max-err 1.5 --method minimax --form anchored --rounding half_up --knots points'
grep -q '"optimal": true' table.json || fail 'the fewest segments are not proven'
expect_status 0 fit tanh $types --knots points:2 --max-err 1.5 -o table.json
has 64 anchored '--max-err 1.5'
refused 3 '--max-err 0.1: the table of 64 segments is off by' tanh $types --knots points:2 --max-err 0.1
refused 3 '--max-err 0.1: the table of 128 segments is off by' tanh $types --knots points --max-err 0.1

# errs ERROR SPEC ARGUMENT...: the least largest error, and a word of the spec.
errs() {
    local want=$1 spec=$2
    shift 2
    expect_status 0 fit "$@" --method minimax -o table.json
    grep -q "\"max_err_lsb\": $want, .*\"lower_bound_lsb\": $want, \"optimal\": true" table.json ||
        fail "fit $*: $(grep certificate table.json), not $want"
    grep -q -e "\"spec\": \".*$spec" table.json || fail "the spec is $(grep '"spec"' table.json), without $spec"
}

# Values are of --offset-type, and any without it.
silu='silu --in s8:2^-4:0 --out u8:2^-5:10 --knots points:4'
errs 5.20408 '--offset-type u8 --knots points:4' $silu --offset-type u8
errs 1.04065 '--offset-type s16 --knots points:4' $silu --offset-type s16
errs 1.04065 '--rounding floor --knots points:4' $silu
errs 0.96 '--knots points:4' hard_sigmoid --in s8:0.06:-7 --out u8:2^-8:0 --knots points:4
errs 0.602 '--offset-type s7' sin --in s5:0.064516129:0 --out s7:2^-6:-9 --rounding half_even --knots points:2 --offset-type s7

# A search of few codes and many values ends with all looked at, and so does one with a narrow offset type.
errs 1.86221 --monotone gelu --in u5:0.065:0 --out s9:2^-9:-256 --rounding half_up --monotone --knots points:2
errs 2912.0 '--offset-type u8' relu6 --in s7:2^-3:-34 --out u16:2^-12:58720 --form biased --rounding half_even --segments 3 \
    --knots uniform --offset-type u8

# A table like others: it is certified, built and run.
expect_status 0 fit gelu --in s10:2^-6 --out s12:2^-8 --knots points:4 --rounding half_up --monotone --fix 0:0 -o table.json
expect_status 0 certify table.json -o again.json
expect_status 0 sweep table.json
expect_status 0 emit table.json --standalone -o table.h
expect_printed 0 eval table.json -- 0
echo '[{"name": "job", "function": "tanh", "in": "s8:2^-5", "out": "s8:2^-7", "knots": "points:3",
  "rounding": "half_even"}]' >jobs.json
expect_status 0 fit --spec jobs.json -o .
grep -q -e '--form biased --rounding half_even --knots points:3' job.json || fail 'a job has another form'
expect_status 0 explore tanh $types --segments 8,16 --knots free,points --rounding floor,half_even --format json
[ "$(grep -o '"knots": "points"' ../out | wc -l)" -ge 4 ] || fail "explore: $(head -c 400 ../out)"

# What the values bind costs nothing that is worth a note but what they are bound by.
expect_status 0 fit tanh $types --knots points:4 --shift one --continuous 0 --zero free -o table.json
[ ! -s ../err ] || ! grep -q -e --shift -e --continuous -e --knots ../err || fail "notes: $(cat ../err)"

refused 2 'with --form absolute: under --rounding floor it must be anchored' tanh $types --knots points:3 --form absolute
refused 2 'under --rounding half_away it must be biased' tanh $types --knots points:3 --form anchored --rounding half_away
refused 2 'under --rounding half_up it must be anchored' tanh $types --knots points:3 --form biased --rounding half_up
refused 2 '--segments 12 with --knots points: must be a power of two, such as 8 or 16' tanh $types --knots points --segments 12
refused 2 'from 2 to 128, such as 2' tanh $types --knots points --segments 1
refused 2 'from 2 to 128, such as 128' tanh $types --knots points --segments 256
refused 2 'make 32 segments; leave one out' tanh $types --knots points:3 --segments 16
refused 2 '--knots points:8: --in has 8 bits; must be from 1 to 7, for 2 to 128 segments' tanh $types --knots points:8
refused 2 'must be from 4 to 15, for 2 to 4096 segments' tanh --in s16:2^-12 --out s16:2^-15 --knots points:3
for rounding in half_down toward_left; do
    refused 2 "--knots points:3:$rounding with --rounding half_up: is a rounding itself" tanh $types \
        --knots points:3:$rounding --rounding half_up
    expect_status 0 fit gelu --in s8:2^-4 --out s8:2^-4 --knots points:3:$rounding --method minimax -o table.json
    has 32 biased "--form biased --rounding floor --knots points:3:$rounding"
done
# Of sums of 64 bits the least constant is that of its type, and what rounds halves down goes beyond it.
errs 0.0 '--form biased --rounding floor --knots points:2:half_down' \
    relu --in s4:2^-1 --out s24:2^-4 --knots points:2:half_down
for knots in points: points:0 points:16 points:x point points:3: points:3:left; do
    refused 2 'points:K:half_down, points:K:toward_left or steps:K, K from 1 to 15' tanh $types --knots "$knots"
done
refused 2 '--in has 17 bits, must have at most 16' tanh --in s17:2^-13 --out s16:2^-15 --knots points
refused 2 'with --symmetry fold' tanh $types --knots points:3 --symmetry fold
refused 2 'with --reduce on' rsqrt --in u16:2^-8 --out u16:2^-14 --outside clamp --knots points:5 --reduce on
refused 2 'with --slope-terms 2' tanh $types --knots points:3 --slope-terms 2
for method in uniform document lut; do
    refused 2 "--knots points with --method $method: must be lsq or minimax" tanh $types --knots points --method $method
done
seq 256 >counts.txt
expect_status 0 fit tanh $types --knots points:3 --weights counts.txt -o weighted.json
refused 2 '--weights with --method minimax' tanh $types --knots points:3 --method minimax --weights counts.txt
refused 3 'no values at the points keep to what is asked for; more segments are needed; there is one without --fix' \
    tanh $types --knots points:7 --fix 0:0 --fix 0.125:0.9 --fix 0.25:0

finish
