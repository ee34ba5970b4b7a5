#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Least squares in more steps: never a larger error, until the table is proven, and a note of it where more would help.
. "$(dirname "$0")/lib.sh"

long='tanh --in s10:2^-7 --out s8:2^-7 --segments 8 --form biased --rounding half_even'
note='LSB RMS, of the best table it may be'

# certificate FILE: optimal, the error and its bound.
certificate() {
    python3 -c 'import json, sys; c = json.load(open(sys.argv[1]))["certificate"]
print(int(c["optimal"]), c["rms_err_lsb"], c["lower_bound_lsb"])' "$1"
}

expect_status 0 fit $long -o short.json
read -r optimal error bound < <(certificate short.json)
[ "$optimal" = 0 ] || fail "one share of the steps proves this table: take another one"
grep -qE "$note .*; --effort 2 searches longer\$" ../err || fail "no note of --effort 2: $(cat ../err)"
for effort in 1 4; do
    expect_status 0 fit $long --effort "$effort" -o "effort$effort.json"
done
read -r optimal1 error1 bound1 < <(certificate effort1.json)
[ "$optimal1 $error1 $bound1" = "$optimal $error $bound" ] || fail "--effort 1 is not the same as none"
read -r optimal4 error4 bound4 < <(certificate effort4.json)
python3 -c "assert $optimal4 and $error4 <= $error and $bound4 == $error4 >= $bound" ||
    fail "--effort 4: error $error4, bound $bound4; without: error $error, bound $bound"
if grep -q "$note" ../err; then fail "a note of --effort for a proven table"; fi
grep -q -- '--effort 4' effort4.json || fail "the table does not say what it was fitted with"
rm -f ./*.json

# Half of 11 bits is searched, too.
folded='tanh --in s11:2^-8 --out s10:2^-9 --segments 8 --form biased --rounding half_even --symmetry fold'
expect_status 0 fit $folded -o folded.json
grep -qE "$note .*; --effort 2 searches longer\$" ../err || fail "no note of --effort for a folded table: $(cat ../err)"
rm -f folded.json

types='--in s8:2^-4 --out s8:2^-7'
for effort in 0 -1 1.5 1025 x ''; do
    expect_error 2 "--effort $effort: must be an integer from 1 to 1024" fit tanh $types --effort "$effort" -o none.json
done
expect_error 2 '--effort 2 with --method minimax: must be lsq' fit tanh $types --method minimax --effort 2 -o none.json
expect_error 2 'which --max-err implies' fit tanh $types --max-err 2 --effort 2 -o none.json
expect_error 2 'give --segments' fit tanh $types --method lsq --max-err 2 --effort 2 -o none.json
expect_error 2 'only tables of up to 1025 input codes' fit tanh --in s11:2^-8 --out s8:2^-7 --effort 2 -o none.json
printf '[{"name": "a", "function": "tanh", "in": "s8:2^-4", "out": "s8:2^-7", "segments": 4, "effort": 2}]' >jobs.json
expect_status 0 fit --spec jobs.json -o .
grep -q -- '--effort 2' a.json || fail "a job's effort is not taken"
rm -f jobs.json a.json

finish
