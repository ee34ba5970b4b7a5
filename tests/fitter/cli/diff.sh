#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pwlc diff: what counts as a difference, and how it is counted.
. "$(dirname "$0")/lib.sh"

# differs CODE ARGUMENT...: pwlc diff with that exit code, and one line of message when it is not 0.
differs() {
    local want=$1
    shift
    expect_status "$want" diff "$@" || return 0
    [ "$(wc -l <../err)" -eq $((want == 0 ? 0 : 1)) ] || fail "diff $*: messages: $(head -c 300 ../err)"
}

a='{"start": -128, "q_b": 0, "n_BX_total": 0, "term_c": -127}, {"start": -16, "q_b": 127, "n_BX_total": 4, "term_c": 0},
    {"start": 17, "q_b": 0, "n_BX_total": 0, "term_c": 127}'
make_table a.json "$a"

# Equal tables, and ones that differ only in where they come from.
differs 0 a.json a.json
expect_line 'outputs: 0 of 256 codes differ' ../out 'diff of equal tables'
differs 0 a.json - <a.json
expect_line 'a.json: no certificate, .*' ../out 'diff without certificates'
expect_status 0 certify a.json -o certified.json
sed -e 's/"method": "by_hand"/"method": "uniform"/' -e 's/"spec": ""/"spec": "erf"/' certified.json >origin.json
sign origin.json
sed -e 's/"rms_err_lsb": /&1/' certified.json >false.json
sign false.json
differs 0 certified.json origin.json
expect_line 'method: by_hand \| uniform' ../out 'diff of origins'
expect_line 'spec: none \| erf' ../out 'diff of origins'
expect_line 'certified.json: max .* rms 6\.8.*' ../out 'diff of certificates'
expect_line 'origin.json: max .* rms 6\.8.*' ../out 'diff of certificates'
differs 0 certified.json false.json
expect_line 'false.json: no certificate that counts: certificate says rms_err_lsb 16\.8.*' ../out 'diff with a false certificate'

# One output: 17 becomes 126.
make_table one.json "${a/\"start\": 17, \"q_b\": 0, \"n_BX_total\": 0, \"term_c\": 127/\"start\": 17, \"q_b\": 1, \"n_BX_total\": 1, \"term_c\": 118}, {\"start\": 18, \"q_b\": 0, \"n_BX_total\": 0, \"term_c\": 127}"
differs 3 a.json one.json
expect_line 'segments: 3 \| 4' ../out 'diff of counts'
expect_line 'segment 2: start 17 q_b 0 n 0 term_c 127 \| start 17 q_b 1 n 1 term_c 118' ../out 'diff of segments'
expect_line 'outputs: 1 of 256 codes differ' ../out 'diff of one code'
expect_line 'outputs: largest difference 1 at code 17, first difference at code 17' ../out 'diff of one code'
differs 3 --outputs-only a.json one.json
if grep -q segment ../out; then fail '--outputs-only shows segments'; fi

# Another representation of the same outputs fails, but not with --outputs-only.
make_table split.json "${a/\{\"start\": 17/\{\"start\": 0, \"q_b\": 127, \"n_BX_total\": 4, \"term_c\": 0\}, \{\"start\": 17}"
differs 3 a.json split.json
expect_line 'outputs: 0 of 256 codes differ' ../out 'diff of representations'
differs 0 --outputs-only a.json split.json
differs 0 a.json split.json --outputs-only
make_table biased.json "${a//term_c/bias}" form='"biased"'
differs 3 a.json biased.json
expect_line 'form: absolute \| biased' ../out 'diff of forms'
differs 0 --outputs-only a.json biased.json

# Rounding, scales, fold, unfused fields.
make_table up.json "$a" rounding='"half_up"'
differs 3 a.json up.json
expect_line 'rounding: floor \| half_up' ../out 'diff of roundings'
sed -e 's/2^-4/2^-5/g' a.json >scale.json
differs 3 a.json scale.json
expect_line 'in: s8:2\^-4:0 \| s8:2\^-5:0' ../out 'diff of scales'
expect_line 'outputs: 0 of 256 codes differ' ../out 'diff of scales'
differs 0 --outputs-only a.json scale.json
half='{"start": 0, "q_b": 127, "n_BX_total": 4, "term_c": 0}, {"start": 17, "q_b": 0, "n_BX_total": 0, "term_c": 127}'
make_table fold.json "$half" extra='"fold": {"sum": 0},'
make_table fold2.json "$half" extra='"fold": {"sum": 1},'
differs 3 a.json fold.json
expect_line 'fold: no \| yes' ../out 'diff of folds'
differs 3 fold.json fold2.json
expect_line 'fold.sum: 0 \| 1' ../out 'diff of folds'
expect_line 'outputs: 128 of 256 codes differ' ../out 'diff of folds'
expect_line 'outputs: largest difference 1 at code -128, first difference at code -128' ../out 'diff of folds'
make_table flow.json '{"start": -128, "q_b": 3, "n_BX_total": 2, "term_c": 4,
    "unfused": {"q_c": 8, "n_bx": 1, "n_yb": 1, "n_yc": 1}}'
make_table flow2.json '{"start": -128, "q_b": 3, "n_BX_total": 2, "term_c": 4,
    "unfused": {"q_c": 9, "n_bx": 0, "n_yb": 2, "n_yc": 1}}'
differs 3 flow.json flow2.json
expect_line 'segment 0: .* q_c 8 n_bx 1 n_yb 1 n_yc 1 \| .* q_c 9 n_bx 0 n_yb 2 n_yc 1' ../out 'diff of flows'
expect_line 'outputs: 0 of 256 codes differ' ../out 'diff of flows'

# Long lists are cut: 30 segments that differ, 20 shown.
many_a=$(for i in $(seq -128 -99); do printf '{"start": %d, "q_b": 0, "n_BX_total": 0, "term_c": %d}\n' "$i" "$i"; done |
    paste -sd ,)
make_table many_a.json "$many_a"
make_table many_b.json "${many_a//\"q_b\": 0/\"q_b\": 1}"
differs 3 many_a.json many_b.json
[ "$(grep -c '^segment ' ../out)" -eq 20 ] || fail 'diff does not list 20 segments'
expect_line 'segments that differ: 30 of 30, the first 20 are listed' ../out 'diff of many segments'

# Input ranges that differ cannot be compared code by code.
sed -e '/"in"/s/"qmax": 127/"qmax": 126/' a.json >range.json
differs 3 a.json range.json
expect_line 'in.qmax: 127 \| 126' ../out 'diff of ranges'
expect_line 'outputs: not compared, the input ranges differ' ../out 'diff of ranges'
differs 3 --outputs-only a.json range.json

# Wide inputs: the neighbourhood of a knot is seen, and the report says that not every code was compared.
knot() {
    make_table "$1" "{\"start\": -8388608, \"q_b\": 0, \"n_BX_total\": 0, \"term_c\": 0},
        {\"start\": 1234567, \"q_b\": 0, \"n_BX_total\": 0, \"term_c\": $2}, {\"start\": $3, \"q_b\": 0, \"n_BX_total\": 0, \"term_c\": 0}" \
        case='"int32"' bits=24 qmin=-8388608 qmax=8388607
}
knot wide.json 9 1234568
knot wide2.json 7 1234568
differs 3 wide.json wide2.json
expect_line 'outputs: [1-9][0-9]* of [0-9]+ codes differ \(not every code was compared: .*\)' ../out 'diff of wide tables'
expect_line 'outputs: largest difference 2 at code 1234567, first difference at code 1234567' ../out 'diff of wide tables'
differs 0 wide.json wide.json

finish
