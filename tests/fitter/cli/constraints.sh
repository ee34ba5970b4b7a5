#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pwlc fit: the flags that bind a table beyond its format, what they give, what they cost and what they refuse.
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

# sums_to TABLE SUM X X: the sum of the output codes of two input codes.
sums_to() {
    expect_status 0 eval "$1" -- "$3" "$4" || return 0
    [[ $(cat ../out) =~ ^(-?[0-9]+)$'\n'(-?[0-9]+)$ ]] && [ $((BASH_REMATCH[1] + BASH_REMATCH[2])) -eq "$2" ] ||
        fail "$1: $3 and $4 give $(paste -sd' ' ../out), which is not $2 in all"
}

# A folded table is odd, or complementary, at every code that has a mirror image, and half as long.
expect_status 0 fit tanh --in s8:2^-5 --out s8:2^-7 --segments 8 --symmetry fold -o tanh.json
grep -q '"fold": {"sum": 0}' tanh.json || fail 'tanh: no fold'
grep -q '{"start": 0,' tanh.json || fail 'tanh: segments do not start at the zero point'
for code in 1 2 17 40 63; do
    sums_to tanh.json 0 "$code" "-$code"
done
expect_status 0 fit sigmoid --in u8:2^-4:100 --out u8:2^-7:3 --segments 6 --symmetry fold -o sigmoid.json
grep -q '"fold": {"sum": 134}' sigmoid.json || fail 'sigmoid: the sum is not 2^7 + 2 * 3'
for away in 1 30 100; do
    sums_to sigmoid.json 134 $((100 + away)) $((100 - away))
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
expect_status 0 fit tanh --in s10:2^-6 --out s16:2^-15 --max-err 3 --symmetry fold --fix 0:0 --fix -1:-0.7616 -o both.json
gives both.json 0 0
gives both.json -64 -24956
gives both.json 64 24956
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
refused 3 '--fix' tanh --in s6:2^-3 --out s8:2^-7 --fix 0:0 --fix 0.125:0.25 --fix 0.25:0.1 --segments 1
refused 3 '--fix' tanh $types --fix 0:0 --fix 0.0625:0.25 --fix 0.125:0.1 --segments 1 --method uniform
refused 3 '--fix' tanh $types --fix 0:0 --fix 0.0625:0.25 --fix 0.125:0.1 --segments 1 --method minimax

# Each is part of the canonical spec, from which the same table comes again, and says what it costs.
fit_twice() {
    local flags=$1 types='--in s7:2^-4 --out s8:2^-7'
    expect_status 0 fit tanh $types --segments 8 $flags -o first.json || return 0
    grep -q -- " $flags\"" first.json || fail "$flags: the spec is $(grep '"spec"' first.json)"
    says=$(sed -n "s/.*note: with $flags the RMS error is \([0-9.]*\) LSB, without \([0-9.]*\)\$/\1 \2/p" ../err)
    with=$(sed -n 's/.*"rms_err_lsb": \([0-9.]*\),.*/\1/p' first.json)
    without=$(sed -n 's/.*"rms_err_lsb": \([0-9.]*\),.*/\1/p' unbound.json)
    if awk "BEGIN { exit !($with > $without) }"; then
        [ "$says" = "$with $without" ] || fail "$flags: $with LSB, without $without; the note says $says"
        costly="$costly $flags"
    else
        [ -z "$says" ] || fail "$flags: costs nothing, and the note says $says"
    fi
    expect_status 0 fit $(sed -n 's/.*"spec": "\(.*\)",/\1/p' first.json) -o second.json
    cmp -s first.json second.json || fail "$flags: its canonical spec gives another table"
    expect_status 0 sweep first.json
}
expect_status 0 fit tanh --in s7:2^-4 --out s8:2^-7 --segments 8 -o unbound.json
costly=
for flags in '--shift one' '--shift-bits 3' '--shift-multiple 4' '--slope-terms 1' '--slope-terms 2' '--knots uniform' '--knots pow2' \
    '--knots pow2:4' --monotone '--continuous 0' '--continuous 2'; do
    fit_twice "$flags"
done
case $costly in
*'--shift one'*'--shift-bits 3'*'--shift-multiple 4'*'--slope-terms 1'*'--knots uniform'*'--continuous 0'*) ;;
*) fail "few constraints cost anything:$costly" ;;
esac
expect_status 0 fit tanh $types --segments 8 --shift per-segment --knots free --slope-terms any -o first.json
! grep -q -e --shift -e --knots -e --slope-terms first.json || fail 'defaults are in the spec'
! grep -q 'note: with' ../err || fail "defaults cost: $(cat ../err)"
expect_status 0 fit tanh $types --max-err 1 --slope-terms 1 --knots pow2:7 -o first.json
grep -q 'note: with --slope-terms 1 [0-9]* segments are needed, without [0-9]*$' ../err || fail "cost: $(cat ../err)"
grep -q 'note: with --knots pow2:7 [0-9]* segments are needed, without [0-9]*$' ../err || fail "cost: $(cat ../err)"
expect_status 0 fit tanh $types --method minimax --segments 8 --continuous 0 -o first.json
grep -q 'note: with --continuous 0 the largest error is [0-9.]* LSB, without' ../err || fail "cost: $(cat ../err)"
grep -q '"optimal": true' first.json || fail 'a continuous table of 8 bits is not proven'

# The cost is counted from the very table that fit makes without it.
longer='--in s12:2^-9 --out s16:2^-15 --segments 4'
expect_status 0 fit tanh $longer -o free.json
free=$(sed -n 's/.*"rms_err_lsb": \([0-9.]*\),.*/\1/p' free.json)
expect_status 0 fit tanh $longer --knots pow2:6 -o first.json
grep -q -- "note: with --knots pow2:6 the RMS error is [0-9.]* LSB, without $free\$" ../err ||
    fail "the cost is not counted from $free LSB: $(cat ../err)"

# Where least squares of few codes are not proven fit says how far off the table may be, of half a table too; else not.
gap='note: the error is [0-9.]* LSB RMS, of the best table it may be [0-9.]*$'
unproven=('--in s10:2^-7 --out s8:2^-7' '--in s11:2^-8 --out s10:2^-9 --symmetry fold')
is_long || unset 'unproven[1]'
for types_of in "${unproven[@]}"; do
    expect_status 0 fit tanh $types_of --segments 8 --form biased --rounding half_even -o first.json
    grep -q "$gap" ../err || fail "nothing of how far off: $(cat ../err)"
done
expect_status 0 fit tanh $types --segments 8 -o first.json
! grep -q "$gap" ../err || fail "a proven table is off: $(cat ../err)"

# The keys of a list of jobs, which gives the same tables whatever the number of workers.
cat >jobs.json <<'END'
[{"name": "a", "function": "tanh", "in": "s7:2^-4", "out": "s8:2^-7", "segments": 6, "shift": "one", "slope_terms": 2},
 {"name": "b", "function": "tanh", "in": "s8:2^-5", "out": "s8:2^-7", "segments": 6, "knots": "pow2:4", "monotone": true},
 {"name": "c", "function": "tanh", "in": "s8:2^-5", "out": "s8:2^-7", "max_err": 2, "continuous": 1, "monotone": false},
 {"name": "d", "function": "gelu", "in": "s8:2^-5", "out": "s8:2^-5", "segments": 6, "method": "minimax", "continuous": 0},
 {"name": "e", "function": "gelu", "in": "s8:2^-5", "out": "s8:2^-5", "segments": 6, "slope_bits": 16, "shift_multiple": 8},
 {"name": "f", "function": "gelu", "in": "s8:2^-5", "out": "s8:2^-5", "segments": 6, "shift_bits": 3}]
END
mkdir -p one four
expect_status 0 fit --spec jobs.json --jobs 1 -o one
expect_status 0 fit --spec jobs.json --jobs 4 -o four
diff -r one four >/dev/null || fail '--jobs changes tables'
expect_line '.*--segments 6 .*--shift one --slope-terms 2".*' one/a.json 'job a'
expect_line '.*--segments 6 .*--knots pow2:4 --monotone".*' one/b.json 'job b'
expect_line '.*--max-err 2 .*--continuous 1".*' one/c.json 'job c'
expect_line '.*--segments 6 .*--slope-bits 16 --shift-multiple 8".*' one/e.json 'job e'
expect_line '.*--segments 6 .*--shift-bits 3".*' one/f.json 'job f'
rm -r one four
sed 's/"shift_multiple": 8/"shift_multiple": 1/' jobs.json >bad.json
expect_error 2 '[4]: --shift-multiple 1: must be an integer from 2 to 32' fit --spec bad.json -o .
sed 's/"shift": "one"/"shift": 1/' jobs.json >bad.json
expect_error 2 '[0]: --shift 1: must be per-segment or one' fit --spec bad.json -o .
sed 's/"monotone": true/"monotone": 1/' jobs.json >bad.json
expect_error 2 '[1].monotone' fit --spec bad.json -o .
sed 's/pow2:4/pow2:x/' jobs.json >bad.json
expect_error 2 'pow2:B' fit --spec bad.json -o .

# Six bits, which some 32-bit tables have too few of, and seven, which are none too few.
shifts_of() {
    grep -o '"n_BX_total": [-0-9]*' "$1" | sort -n -k 2 | sed -n '1p; $p' | grep -o '[-0-9]*$' | paste -sd ' '
}
wide='--in s32:2^-28 --out s32:2^-31 --segments 8'
for bits in none 6 7; do
    expect_status 0 fit tanh $wide $([ $bits = none ] || echo --shift-bits $bits) -o shift$bits.json
done
read -r _ longest <<<"$(shifts_of shiftnone.json)"
[ "$longest" -gt 31 ] || fail "a 32-bit table without a shift beyond 31: $(shifts_of shiftnone.json)"
read -r _ longest <<<"$(shifts_of shift6.json)"
[ "$longest" -le 31 ] || fail "--shift-bits 6: a shift of $longest"
checks=$((checks + 3))
diff <(grep start shiftnone.json) <(grep start shift7.json) || fail '--shift-bits 7 makes another table'

refused 2 '--shift two: must be per-segment or one' tanh $types --shift two
for terms in 0 3 -1 1.5 x ''; do
    refused 2 'must be any, 1 or 2' tanh $types --slope-terms "$terms"
done
for bits in 0 1 9 -6 6.5 x ''; do
    refused 2 'must be an integer from 2 to 8' tanh $types --shift-bits "$bits"
done
refused 2 'an octave adds to the shifts' exp $types --reduce on --shift-bits 6
refused 2 'the shift is K' tanh $types --knots points:3 --shift-bits 6
for multiple in 0 1 33 -8 8.5 x ''; do
    refused 2 'must be an integer from 2 to 32' tanh $types --shift-multiple "$multiple"
done
refused 2 'slopes are stored in 8 bits, and a shift between two multiples takes up to 7 of them; --slope-bits must be at least 9' \
    tanh $types --shift-multiple 8
refused 2 '--slope-bits must be at least 9' tanh $types --slope-bits 8 --shift-multiple 8
refused 2 '--slope-bits 9: these types store slopes in 8 bits' tanh $types --slope-bits 9
for knots in odd pow2: pow2:0 pow2:31 pow2:x pow3 ''; do
    refused 2 'must be free, uniform, pow2 or pow2:B' tanh $types --knots "$knots"
done
refused 2 '--knots pow2:9: --in has 8 bits' tanh $types --knots pow2:9
for step in -1 0.5 x '' 2147483648; do
    refused 2 'must be an integer from 0 to 2147483647' tanh $types --continuous "$step"
done
refused 2 '--monotone' tanh $types --monotone=1
for method in document lut; do
    for flags in '--shift one' '--shift-bits 3' '--shift-multiple 4' '--slope-terms 1' '--knots pow2' --monotone '--continuous 1'; do
        refused 2 "$flags with --method $method: must be lsq, minimax or uniform" tanh $types $flags --method $method
    done
done
refused 2 'must be lsq or minimax' tanh $types --knots pow2 --method uniform
for flags in --monotone '--continuous 1' '--shift-multiple 4'; do
    refused 2 'leave one out' rsqrt --in u16:2^-6:-6 --out u16:2^-14 --reduce on $flags
done

# What cannot be kept is refused with the flag that binds, and those without which there is a table.
refused 3 '--monotone: no table of 4 segments' tanh --in s6:2^-3 --out s8:2^-7 --segments 4 --monotone --fix 0:0.5 --fix 1:0.25
grep -q 'there is one without --monotone or --fix$' ../err || fail "blame: $(cat ../err)"
refused 3 '--continuous: no table of 2 segments keeps to it' \
    tanh --in s5:2^-2 --out s6:2^-5 --method minimax --segments 2 --continuous 0 --slope-terms 1 --fix 0:0 --fix 1:0.5 --fix -1:-0.9
grep -q 'there is one without --slope-terms 1 or --continuous 0 or --fix$' ../err || fail "blame: $(cat ../err)"
refused 3 '--max-err 2: ' mish --in s10:2^-6 --out s10:2^-6 --max-err 2 --knots pow2:3 --monotone
grep -q 'there is one without --knots pow2:3$' ../err || fail "blame: $(cat ../err)"
refused 3 '--max-err 0.6' tanh $types --max-err 0.6 --segments 4 --slope-terms 1 --knots uniform
grep -q 'leaving out one of its constraints alone does not help' ../err || fail "blame: $(cat ../err)"

expect_status 0 fit --help
for flag in --shift --shift-multiple --slope-terms --knots --monotone --continuous --fix --symmetry --slope-bits; do
    grep -q -- "^ *$flag" ../out || fail "--help does not list $flag"
done

# Slopes of B bits are those from -2^(B-1) on, as the pages say, and the help does not deny.
if grep -F -- '-2^(B-1)' ../out | grep -q 'left out'; then fail '--help of --slope-bits'; fi
for page in fitter/search/README.md docs/table-json.md; do
    grep -qF -- 'from -2^(B-1) to 2^(B-1) - 1' "$root/$page" || fail "$page does not say which slopes there are"
done
printf '%s\n' -8,16 7,-14 >steep.csv
expect_status 0 fit --samples steep.csv --in s4:1 --out s6:1 --slope-bits 2 --segments 1 -o steep.json
grep -qF '"q_b": -2, "n_BX_total": 0' steep.json || fail "a slope of -2 in two bits: $(grep q_b steep.json)"

finish
