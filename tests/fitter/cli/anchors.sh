#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pwlc sweep --anchors: no published table of equal size is better, or the row says why.
. "$(dirname "$0")/lib.sh"

# at_most VALUE WORDS...: exactly one row has all the words, and "ours" in it is at most VALUE.
at_most() {
    local limit=$1 words
    shift
    cp rows found
    for words; do
        grep -F -- "$words" found >narrowed || true
        mv narrowed found
    done
    [ "$(wc -l <found)" -eq 1 ] || { fail "$*: $(wc -l <found) rows"; return; }
    checks=$((checks + 1))
    sed -E 's/.*"ours": ([^,]*),.*/\1/' found | awk -v limit="$limit" '{ exit !($1 <= limit) }' ||
        fail "$*: $(cat found), expected at most $limit"
}

# The quick part: of each source but LUT-APP, whose four rows take two thirds of the time, what is quick to fit, one row
# of each kind at least: every metric (LUT-APP's mean error but squared), samples of a shifted grid, reduced tables.
if is_long; then
    least=60
    expect_status 0 sweep --anchors --format jsonl || finish
    cp ../out rows
else
    least=52
    for row in 'quant-gru-pytorch' 'exact search' 'GQA-LUT, 8 bits' 'rounding floor' 'cmsis-nn' 'TFLite' \
        'gemmlowp' 'real lines' 'GQA-LUT, b=5:gelu' 'SCNA:exp' 'SCNA:rsqrt' 'Flex-SFU:sigmoid'; do
        IFS=: read -ra words <<<"$row"
        expect_status 0 sweep --anchors "${words[@]}" --format jsonl || continue
        cat ../out >>rows
    done
fi
[ "$(wc -l <rows)" -ge "$least" ] || fail "only $(wc -l <rows) rows"
# Worse than the anchor: in few rows, each with its reason.
grep -E '"ratio_to_anchor": ([1-9]\.|[1-9][0-9])' rows | grep -v '"ratio_to_anchor": 1,' >worse || true
! grep -F '"note": null' worse || fail "no reason given"
[ "$(wc -l <worse)" -le 2 ] || fail "worse than published: $(cat worse)"
u16='"in": "u16:2^-12:24576"'
at_most 81.3 "$u16" '"segments": 16' 'max, LSB'
at_most 304.8 "$u16" '"segments": 8,' 'max, LSB'
at_most 20.3 "$u16" '"segments": 32' 'max, LSB'
at_most 5.7 "$u16" '"segments": 64' 'max, LSB'
at_most 83.8 '"in": "s16:2^-13"' 'max, LSB'
at_most 0.0706 'rounding floor' sigmoid
at_most 1.18e-5 'GQA-LUT, b=5' gelu '"segments": 8,'
at_most 8.3e-7 'GQA-LUT, b=5' gelu '"segments": 16'
at_most 1.34e-11 SCNA '"exp"' '"reduce": false'
at_most 9.04e-8 SCNA rsqrt '"reduce": false'
at_most 1e-11 SCNA '"exp"' '"reduce": true'
at_most 7e-10 SCNA rsqrt '"reduce": true'
at_most 2.375 TFLite sigmoid
at_most 2.15e-7 Flex-SFU sigmoid
if is_long; then
    at_most 2.09e-7 'GQA-LUT, b=5' exp '"segments": 16'
    at_most 1.67e-7 Flex-SFU gelu
    at_most 3.88e-7 Flex-SFU tanh
fi
finish
