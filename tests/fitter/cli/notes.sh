#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What pwlc fit says of a table that was made as asked and that its user may not expect; and that it says nothing else.
. "$(dirname "$0")/lib.sh"

# notes WORDS ARGUMENT...: a note with WORDS; with no WORDS, none at all.
notes() {
    local words=$1
    shift
    expect_status 0 fit "$@" -o table.json || return 0
    if [ -z "$words" ]; then
        [ ! -s ../err ] || fail "fit $*: notes: $(head -c 600 ../err)"
    else
        grep -qF -- "note: $words" ../err || fail "fit $*: \"$words\" is not in: $(head -c 600 ../err)"
    fi
}

notes '' silu --in s8:2^-5 --out s8:2^-5
notes 'the output takes only 1 of its 256 codes' sigmoid --in s8:2e-5 --out s8:2^-7
notes 'the output takes only 3 of its 256 codes' tanh --in s8:2^6 --out s8:2^-1 --method minimax
notes '--in: the zero point 300 lies outside the codes -128 to 127' sigmoid --in s8:0.1:300 --out s8:2^-7
notes '--out: the zero point -1 lies outside the codes 0 to 65535' sigmoid --in u16:2^-12:24576 --out u16:2^-16:-1
notes 'tanh leaves the output range at 39 of 256 codes' tanh --in s8:2^-5 --out s8:2^-7
notes 'f(0) = 0 does not give its own code -121; --fix 0:0' gelu --in s8:0.0472:-3 --out s8:0.0238:-121 --segments 2
notes 'f(0) = 0.5 does not give its own code 32768' sigmoid --in s20:2^-16 --out u16:2^-16 --segments 7
if grep -q -- --fix ../err; then fail "--fix is advised where it cannot be: $(cat ../err)"; fi
notes 'code 5 is off by 21366' rsqrt --in u24:2^-16 --out u24:2^-12 --outside clamp
grep -qF 'times the RMS error; --method minimax' ../err || fail "a far code: $(cat ../err)"
notes '' rsqrt --in u24:2^-16 --out u24:2^-12 --outside clamp --method minimax
notes '' relu --profile finn --in s8:2^-4 --out s4:0.6:-8
notes 'emit --profile refuses this table: finn holds a rising table' gelu --profile finn --in s8:2^-4 --out s4:0.1:-4
expect_status 3 emit table.json --profile finn
notes "emit --profile refuses this table: aimet-pe holds 16 segments of the absolute form" tanh --profile aimet-pe \
    --in s8:2^-5 --out s8:2^-7 --segments 17 --method uniform
# Samples at every code leave nothing between.
between='joined by straight lines; between them nothing is known'
printf '%s\n' -8,-1 0,0 7.9375,0.9921875 >few.csv
python3 -c 'for q in range(-128, 128): print(f"{q / 16},{q / 128}")' >all.csv
notes "there are codes between samples, which are $between" --samples few.csv --in s8:2^-4 --out s8:2^-7
expect_status 0 show table.json
expect_line "  samples      [0-9a-f]{64}, $between" ../out 'show of samples'
expect_status 0 emit table.json
expect_line " \*               $between" ../out 'emit of samples'
notes '' --samples all.csv --in s8:2^-4 --out s8:2^-7

cat >jobs.json <<'END'
[{"name": "narrow", "function": "sigmoid", "in": "s8:2e-5", "out": "s8:2^-7"}]
END
expect_status 0 fit --spec jobs.json -o .
grep -qF 'note: narrow: the output takes only 1' ../err || fail "--spec: $(cat ../err)"

# A derived type holds the function's range but for the rounding of its zero point, at which no code is off by more.
for flags in 'erf --profile k210 --method uniform' 'tanh --in s8:2^-5 --out u8' 'exp --in s9:2^-6 --out u8' \
    'cos --in s10:2^-6 --out s8'; do
    expect_status 0 fit $flags -o table.json
    if grep -q 'leaves the output range' ../err; then fail "fit $flags: $(cat ../err)"; fi
done
expect_line '.*"saturated_codes": [1-9].*' table.json 'a derived type that saturates by its rounding'
notes 'tanh leaves the output range at' tanh --in s8:2^-5 --out u8 --range=-1:1
notes 'tanh leaves the output range at 1 of 4 codes' tanh --in s2:2^0:0 --out s8:0.0069:-1 --method lut

# A time that is over at once: the first table found, which is a table of the same flags.
notes '--time-limit 1e-09 ended the search' tanh --in s12:2^-8 --out s12:2^-11 --segments 6 --method minimax --monotone --time-limit 1e-9
expect_status 0 fit tanh --in s12:2^-8 --out s12:2^-11 --segments 6 --method minimax --time-limit 1e-9 -o cut.json
expect_status 0 fit tanh --in s12:2^-8 --out s12:2^-11 --segments 6 --method minimax --time-limit 1e5 -o long.json
expect_status 0 fit tanh --in s12:2^-8 --out s12:2^-11 --segments 6 --method minimax -o free.json
expect_status 0 certify cut.json
grep -q '"optimal": false' cut.json || fail "a search that was cut: $(grep certificate cut.json)"
grep -q '"optimal": true' free.json || fail "a search that was not cut: $(grep certificate free.json)"
cmp -s long.json free.json || fail '--time-limit changes a table that takes less'
[ "$(grep '"spec"' cut.json)" = "$(grep '"spec"' free.json)" ] || fail '--time-limit is part of the spec'

# --reply: the table's text, byte for byte, and the notes, of which standard error then has none.
expect_status 0 fit tanh --in s8:2^-5 --out s8:2^-7 -o table.json
expect_status 0 fit tanh --in s8:2^-5 --out s8:2^-7 --reply -o reply.json
[ ! -s ../err ] || fail "--reply: $(cat ../err)"
python3 -c 'import json
reply = json.load(open("reply.json"))
assert reply["result"] == open("table.json").read()
assert reply["notes"] == ["tanh leaves the output range at 39 of 256 codes, which saturate"], reply["notes"]' || fail '--reply'
expect_status 0 fit softmax --rows 9 --in s8:0.1 --out u8:2^-8 --reply
grep -q '"notes": \[\]' ../out || fail "--reply of softmax: $(tail -c 100 ../out)"
expect_error 2 '--reply: of one table' fit --spec jobs.json -o jobs --reply

# A constraint that costs nothing is not said to.
notes '' relu --in s8:2^-5 --out s8:2^-5 --slope-terms 1 --shift one --knots pow2 --monotone --segments 2
notes 'with --slope-terms 2 ' silu --in s8:2^-5 --out s8:2^-5 --slope-terms 2 --max-err 0.6
expect_status 0 fit tanh --in s8:2^-5 --out s8:2^-7 --max-err 1 --knots pow2:6 -o six.json
expect_status 0 fit tanh --in s8:2^-5 --out s8:2^-7 --max-err 1 --knots pow2 -o any.json
[ "$(grep -c '"start"' any.json)" -le "$(grep -c '"start"' six.json)" ] || fail 'pow2 needs more segments than pow2:6'

finish
