#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Types from a range or from data: the table holds what was found, nothing of where it came from, and is the one that
# the found types give; each refusal says what would be right.
. "$(dirname "$0")/lib.sh"

note='pwlc fit: note: the types are'

# expect_types IN OUT ARGUMENT...: these types are found, noted, and give the same table when written out.
expect_types() {
    local in=$1 out=$2
    shift 2
    expect_status 0 fit "$@" --method uniform -o derived.json || return 0
    grep -qxF "$note --in $in --out $out" ../err || fail "pwlc fit $*: $(head -c 300 ../err)"
    expect_status 0 fit "$1" --in "$in" --out "$out" --method uniform -o written.json || return 0
    checks=$((checks + 1))
    cmp -s derived.json written.json || fail "pwlc fit $*: not the table of --in $in --out $out"
    if grep -qE 'range|calibrate|npy|pow2' derived.json; then fail "pwlc fit $*: the table says where the types came from"; fi
    rm -f derived.json written.json
}

expect_types s8:0.0392156862745098:-26 u8:0.023529411764705882:0 relu6 --in s8 --out u8 --range -4:6
expect_types s8:2^-4:0 u8:2^-5:0 relu6 --in s8 --out u8 --range -8:7.9375 --pow2-scales
expect_types s8:2^-4:0 u8:0.023529411764705882:0 relu6 --in s8:2^-4 --out u8
expect_types s8:2^-4:0 u8:0.00392156862745098:0 relu6 --in s8:2^-4 --out u8 --range -1:1
expect_types s8:0.031496062992125984:0 s8:2^-7:0 tanh --in s8 --out s8:2^-7 --range -4:4

# What profiles ask for is as in Q formats, and a symmetric range has the zero point 0 there too.
for range in -6:6 -8:8 -7.5:7.5; do
    expect_status 0 fit tanh --profile aimet-pe --in s12 --range $range --method uniform -o profile.json
    expect_line "$note --in s12:2\^-8:0 --out s16:2\^-15:0" ../err "--profile aimet-pe --in s12 --range $range"
    rm -f profile.json
done

# Data: -1, 0.5, 3 and 2 as float32, in any shape.
values='\x00\x00\x80\xbf\x00\x00\x00\x3f\x00\x00\x40\x40\x00\x00\x00\x40'
make_npy data.npy '<f4' '(4,)' "$values"
make_npy square.npy '<f4' '(2, 2)' "$values"
for file in data.npy square.npy; do
    expect_types s8:0.01568627450980392:-64 s8:2^-5:0 relu --in s8 --out s8:2^-5 --calibrate "$file"
done
expect_types s8:2^-5:-96 s8:2^-5:0 relu --in s8 --out s8:2^-5 --calibrate data.npy --pow2-scales
# numpy.percentile([-1, 0.5, 2, 3], [10, 90]) = [-0.55, 2.7]
expect_types s8:0.012745098039215686:-85 s8:2^-5:0 relu --in s8 --out s8:2^-5 --calibrate data.npy --calibrate-by percentile=80
expect_status 0 fit relu --in s4 --out s8:2^-5 --calibrate data.npy --calibrate-by mse --method uniform -o mse.json
expect_status 0 fit relu --in s8 --out u8 --calibrate - --method uniform -o stdin.json <data.npy
rm -f mse.json stdin.json

# A spec file finds types as the flags do.
printf '[{"name": "a", "function": "relu6", "in": "s8", "out": "u8", "method": "uniform",
  "range": "-8:7.9375", "pow2_scales": true},
 {"name": "b", "function": "relu", "in": "s8", "out": "s8:2^-5", "method": "uniform", "calibrate": "data.npy",
  "calibrate_by": "percentile=80"}]' >spec.json
mkdir jobs
expect_status 0 fit --spec spec.json -o jobs
expect_status 0 fit relu6 --in s8:2^-4:0 --out u8:2^-5:0 --method uniform -o a.json
expect_status 0 fit relu --in s8:0.012745098039215686:-85 --out s8:2^-5 --method uniform -o b.json
checks=$((checks + 2))
cmp -s a.json jobs/a.json || fail 'job a differs'
cmp -s b.json jobs/b.json || fail 'job b differs'
rm -r a.json b.json jobs

# refused WORDS ARGUMENT...
refused() {
    local words=$1
    shift
    expect_error 2 "$words" fit tanh "$@" -o out.json
}
types='--in s8 --out s8'
refused '--in s8: has no scale; write it, as in s8:2^-4:0, or give --range or --calibrate' $types
refused '--in s8: has no scale' --in s8 --out s8:2^-7
refused "--out: type 's1' is not 2 to 32 bits wide" --in s8:2^-4 --out s1
refused '--in: type '"'u33'"' is not 2 to 32 bits wide' --in u33 --out s8 --range -1:1
for range in '' : 1 -1: :1 1:1 2:-2 nan:1 0:inf 0:1e999 0:1:2; do
    refused '--range' $types --range "$range"
done
refused 'outside 2^-64 to 2^64' $types --range 0:1e-30
refused 'too far from 0' $types --range 1e15:1000000000000001
refused '--range: --in and --out have scales already' --in s8:2^-4 --out s8:2^-7 --range -1:1
refused '--calibrate: --in and --out have scales already' --in s8:2^-4 --out s8:2^-7 --calibrate data.npy
refused '--pow2-scales: --in and --out have scales already' --in s8:2^-4 --out s8:2^-7 --pow2-scales
refused '--range with --calibrate' $types --range -1:1 --calibrate data.npy
refused '--calibrate-by: only with --calibrate' $types --range -1:1 --calibrate-by mse
for by in '' max percentile percentile=0 percentile=101 percentile=nan; do
    refused '--calibrate-by' $types --calibrate data.npy --calibrate-by "$by"
done
expect_error 2 'relu is 0 everywhere over the range of --in' fit relu $types --range -2:-1 -o out.json
expect_error 2 'log has no finite value over the range of --in' fit log $types --range -2:-1 -o out.json

# Data that gives no range.
make_npy nan.npy '<f4' '(2,)' '\x00\x00\x80\xbf\x00\x00\xc0\x7f'
make_npy inf.npy '<f4' '(2,)' '\x00\x00\x80\xff\x00\x00\x80\x3f'
make_npy empty.npy '<f4' '(0,)' ''
make_npy same.npy '<f4' '(2,)' '\x00\x00\x80\x3f\x00\x00\x80\x3f'
make_npy integer.npy '<i4' '(1,)' '\x00\x00\x00\x00'
make_npy short.npy '<f4' '(2,)' '\x00\x00\x00\x00'
printf '1,2\n' >text.csv
refused 'nan.npy: element 1 is not a number; all must be finite' $types --calibrate nan.npy
refused 'inf.npy: element 0 is infinite' $types --calibrate inf.npy
refused 'empty.npy: no elements' $types --calibrate empty.npy
refused '--calibrate: every value is 1; at least 2 different values are needed' $types --calibrate same.npy
refused 'integer.npy: elements are integers; must be float16, float32 or float64' $types --calibrate integer.npy
refused 'short.npy' $types --calibrate short.npy
refused 'text.csv' $types --calibrate text.csv
expect_error 1 'missing.npy' fit tanh $types --calibrate missing.npy -o out.json
printf '[{"name": "a", "function": "tanh", "in": "s8", "out": "s8"}]' >spec.json
mkdir jobs
expect_error 2 'spec.json: [0]: --in s8: has no scale' fit --spec spec.json -o jobs

# What a type is, as the sides of a table's JSON.
expect_status 0 --type int8:0.25:-3
[ "$(cat ../out)" = '{"bits": 8, "signed": true, "scale": "2^-2", "zero_point": -3, "qmin": -128, "qmax": 127}' ] ||
    fail "--type: $(cat ../out)"
expect_error 2 "--type: type 's8' has no scale" --type s8
expect_error 2 '--type needs one value, TYPE' --type

finish
