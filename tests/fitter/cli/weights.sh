#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# --weights: fit counts codes by it; sweep, report, show and emit say so, and ask for the same file.
. "$(dirname "$0")/lib.sh"

types='--in s3:2^-1 --out s3:2^-2'
printf '0\n0\n1\n5\n9\n5\n1\n0\n' >list.csv
printf 'q_x,weight\n0,9\n-1,5\n1,5\n-2,1\n2,1\n' >pairs.csv
make_npy counts.npy '|u1' '(8,)' '\x00\x00\x01\x05\x09\x05\x01\x00'
make_npy floats.npy '<f4' '(7,)' "$(printf '\\x00%.0s' {1..28})"
printf '1\n2\n3\n' >short.csv

expect_status 0 fit tanh $types --segments 2 -o plain.json || true
for file in list.csv pairs.csv counts.npy; do
    expect_status 0 fit tanh $types --segments 2 --weights $file -o "$file.json" || true
    sum=$(sha256sum <$file)
    expect_line "  \"weights_sha256\": \"${sum%% *}\"," "$file.json" "fit --weights $file"
    sed '/weights_sha256/d; /"hash"/d' "$file.json" >"$file.bare"
    cmp -s list.csv.bare "$file.bare" || fail "$file makes another table than list.csv"
done

# Every code but the two at the ends, which never occur.
expect_error 2 '--weights: 3 weights; --in has the codes -4 to 3 and needs 8' fit tanh $types --weights short.csv
expect_error 2 'floats.npy: every weight is 0' fit tanh $types --weights floats.npy
expect_error 1 'absent.csv' fit tanh $types --weights absent.csv
expect_error 2 '--weights with --method minimax' fit tanh $types --weights list.csv --method minimax
expect_error 2 'which --max-err implies' fit tanh $types --weights list.csv --max-err 1
expect_error 2 '--weights with --method lut' fit tanh $types --weights list.csv --method lut

cat >jobs.json <<END
[{"name": "job", "function": "tanh", "in": "s3:2^-1", "out": "s3:2^-2", "segments": 2, "weights": "list.csv"}]
END
mkdir made
expect_status 0 fit --spec jobs.json -o made || true
cmp -s made/job.json list.csv.json || fail '--spec makes another table than the flags'

# sweep measures both averages, for tables made without weights too.
expect_status 0 sweep list.csv.json --weights list.csv --format json || true
cp ../out weighted.out
expect_status 0 sweep plain.json --weights list.csv --format json || true
grep -q '"weighted_rms_err_lsb"' ../out || fail 'sweep: no weighted RMS of a table made without weights'
expect_status 0 sweep plain.json --format json || true
if grep -q weighted ../out; then fail 'sweep without --weights speaks of weights'; fi
rms=$(sed -n 's/.*"rms_err_lsb": \([^,]*\),.*/\1/p' list.csv.json)
expect_line " *\"weighted_rms_err_lsb\": $rms,?" weighted.out 'sweep --weights'
if grep -qx " *\"rms_err_lsb\": $rms,\?" weighted.out; then fail 'the RMS of sweep is weighted'; fi
expect_error 2 'list.csv.json: --weights: missing' sweep list.csv.json
expect_error 2 'the table was made with' sweep list.csv.json --weights pairs.csv
expect_error 2 'plain.json: --weights: 3 weights' sweep plain.json --weights short.csv
sed "s/\"rms_err_lsb\": $rms/\"rms_err_lsb\": 0.001/" list.csv.json >false.json
sign false.json
expect_status 3 sweep false.json --weights list.csv || true
grep -q 'certificate says rms_err_lsb 0.001' ../err || fail "sweep takes a false weighted RMS: $(cat ../err)"
expect_status 0 sweep list.csv.json --weights list.csv --baseline list.csv.json || true

# The table without weights has the smaller RMS and the larger weighted RMS.
expect_status 0 fit tanh --in s8:2^-5 --out s8:2^-7 --segments 6 -o without.json || true
for q in $(seq -128 127); do echo "$q,$((q * q < 1600 ? 1600 - q * q : 1))"; done >bell.csv
expect_status 0 fit tanh --in s8:2^-5 --out s8:2^-7 --segments 6 --weights bell.csv -o with.json || true
expect_status 3 sweep without.json --weights bell.csv --baseline with.json || true
grep -q 'weighted RMS error .* is larger' ../err || fail "sweep --baseline: $(cat ../err)"

expect_status 0 show with.json || true
expect_line '  error .* weighted rms .*' ../out show
expect_line '  codes .* by weight correctly rounded.*' ../out show
expect_status 0 emit with.json || true
expect_line ' \*   RMS error   .* LSB, weighted' ../out emit
expect_line ' \*   weights     sha256 [0-9a-f]{64}' ../out emit
expect_status 0 explore tanh --in s8:2^-5 --out s8:2^-7 --segments 6 --weights bell.csv --format csv || true
rms=$(sed -n 's/.*"rms_err_lsb": \([^,]*\),.*/\1/p' with.json)
grep -qF ",$rms," ../out || fail "explore --weights: no RMS of $rms in $(cat ../out)"

# report fits its rivals with the weights, and weighs those that have none.
expect_status 0 report with.json without.json --weights bell.csv -o page.html || true
grep -q "$rms</b><span>RMS error, weighted, LSB" page.html || fail 'report: no weighted RMS'
[ "$(grep -c 'RMS error, LSB' page.html)" -eq 1 ] || fail 'report: the RMS of the table without weights'
expect_status 0 fit tanh --in s8:2^-5 --out s8:2^-7 --method uniform --segments 6 --weights bell.csv -o uniform.json || true
uniform=$(sed -n 's/.*"rms_err_lsb": \([^,]*\),.*/\1/p' uniform.json)
grep -q "uniform</td>.*<td>$uniform</td>" page.html || fail "report: the RMS of uniform is not $uniform"
expect_status 0 fit tanh --in s8:2^-5 --out s8:2^-7 --method lut -o lut.json || true
expect_status 0 sweep lut.json --weights bell.csv --format json || true
lut=$(sed -n 's/.*"weighted_rms_err_lsb": \([^,]*\),.*/\1/p' ../out)
grep -q "lut</td>.*<td>$lut</td>" page.html || fail "report: the RMS of lut is not $lut"
expect_error 2 'with.json: --weights: missing' report with.json
expect_error 2 'no table here was made with weights' report without.json --weights bell.csv
expect_error 2 'the table was made with' report with.json --weights pairs.csv

finish
