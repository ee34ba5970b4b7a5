#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Reduced tables on the command line: fit --reduce, what every command makes of them, and what the table file must say.
. "$(dirname "$0")/lib.sh"

expect_status 0 fit rsqrt --in u16:2^-6 --out u16:2^-14 --outside clamp --reduce on --segments 8 -o rsqrt.json
expect_status 0 fit log --in u16:2^-6 --out s16:2^-11 --outside clamp --reduce on --segments 8 -o log.json
expect_status 0 fit exp --in s16:2^-8:32767 --out u16:2^-16:-1 --reduce on --segments 8 -o exp.json
expect_status 0 fit rsqrt --in u16:2^-6 --out u16:2^-14 --outside clamp --segments 8 --method uniform -o plain.json
grep -q -- '--reduce on' rsqrt.json || fail 'the spec does not hold --reduce on'
! grep -q -- '--reduce\|reduction' plain.json || fail 'a plain table speaks of a reduction'

# The file is read and written back as it was; what it says of itself is measured again.
for name in rsqrt log exp; do
    expect_status 0 emit $name.json --format json && { cmp -s ../out $name.json || fail "$name: written differently"; }
    expect_status 0 sweep $name.json --format jsonl
    max=$(sed -nE 's/.*"max_err_lsb": ([^,]+),.*/\1/p' ../out)
    [ -n "$max" ] && grep -qF "\"max_err_lsb\": $max" $name.json || fail "$name: sweep finds $max"
    expect_status 0 report $name.json -o $name.html && { grep -q 'reduction' $name.html || fail "$name: not in the report"; }
    expect_status 0 sweep $name.json --plot $name.svg
    rm $name.html $name.svg
done

# A trace shows the steps, and leads to what eval gives.
expect_status 0 eval rsqrt.json --trace 100 && {
    for line in 'd 100' 'octave 4' 'word 25600' 'shift 10'; do expect_line "$line" ../out trace; done
    traced=$(sed -n 's/^q_y //p' ../out)
    expect_output "$traced" eval rsqrt.json 100
}
expect_status 0 eval rsqrt.json --trace 0 && { expect_line 'below 65535' ../out 'trace of 0'; expect_line 'q_y 65535' ../out 'trace of 0'; }
expect_status 0 eval log.json --trace 3 && { expect_line 'added .*' ../out 'trace of log'; expect_line 'octave 14' ../out 'trace of log'; }
expect_status 0 eval exp.json --trace 32767 && { expect_line 'exponent 0' ../out 'trace of exp'; expect_line 'word 0' ../out 'trace of exp'; }

expect_status 0 show rsqrt.json && { grep -q 'leading zeros, step 2, direction -1' ../out || fail 'show does not tell the reduction'; }
expect_status 0 show log.json --format json && { grep -q '"reduction": "leading zeros, step 1, addend' ../out || fail 'show --format json'; }
expect_status 0 show exp.json && { grep -q 'exponent, factor' ../out || fail 'show does not tell the exponent'; }
expect_status 3 diff rsqrt.json plain.json && { grep -q '^reduction: leading zeros.* | no$' ../out || fail "diff: $(head -3 ../out)"; }
expect_status 0 diff rsqrt.json rsqrt.json
expect_status 0 explore sqrt --in u8:2^-4 --out u8:2^-6 --reduce on --segments 2,4
echo '[{"name": "job", "function": "sqrt", "in": "u8:2^-4", "out": "u8:2^-6", "segments": 4, "reduce": "on"}]' >jobs.json
expect_status 0 fit --spec jobs.json -o . && { grep -q '"case": "int16"' job.json || fail 'the core of an 8-bit table is not int16'; }

# Where neither every code is visited nor a bound is proven, --max-err says what it holds for.
wide='--in u21:2^-12 --out u16:2^-11 --segments 4 --method uniform'
unproven='note: --max-err 1000 holds for the [0-9]* codes compared; of the others nothing is proven'
expect_status 0 fit sqrt $wide --max-err 1000 --reduce on -o wide.json
grep -q "$unproven" ../err || fail "--max-err of samples: $(cat ../err)"
expect_status 0 fit relu $wide --max-err 1000 -o wide.json
! grep -q "$unproven" ../err || fail "--max-err that is proven: $(cat ../err)"

# Rows of segments are not such a table.
expect_error 2 'the table has a reduction' emit rsqrt.json --format csv
expect_error 2 'the table has a reduction' emit exp.json --format npy -o exp.npy

# refused FROM EXPRESSION WORDS: the table changed by sed is not read, and the message tells why.
refused() {
    sed -E "$2" "$1" >changed.json
    ! cmp -s "$1" changed.json || fail "$2 changes nothing in $1"
    expect_error 2 "$3" eval changed.json 1
    rm changed.json
}
refused rsqrt.json 's/"function": "rsqrt"/"function": "tanh"/' 'reduction: must be left out, tanh has no octaves'
refused rsqrt.json 's/leading_zeros/exponent/' 'reduction.kind: "exponent", must be "leading_zeros"'
refused rsqrt.json 's/"step": 2/"step": 1/' 'reduction.step'
refused rsqrt.json 's/"direction": -1/"direction": 1/' 'reduction.direction'
refused rsqrt.json 's/"below": [0-9]+/"below": 65536/' 'reduction.below'
refused rsqrt.json 's/, "below": [0-9]+//' 'reduction.below'
refused rsqrt.json 's/"shift": [0-9]+/"shift": 40000/' 'reduction.shift'
refused rsqrt.json 's/"shift": [0-9]+/"shift": 1.5/' 'reduction.shift'
refused rsqrt.json 's/"below"/"addend": 3, "below"/' 'reduction.addend'
refused rsqrt.json 's/"reduction": /"fold": {"sum": 0}, "reduction": /' 'reduction: must be left out of a table with a fold'
refused rsqrt.json 's/"case": "int16"/"case": "int32"/' 'case'
refused rsqrt.json 's/"start": 16384/"start": 16385/' 'the lowest word of the reduction, 16384'
refused rsqrt.json '/"reduction"/d' 'segments[0].start'
refused log.json 's/, "addend": [0-9]+//' 'reduction.addend'
refused log.json 's/"addend": [0-9]+/"addend": 1152921504606846976/' 'needs more than 61 bits'
refused exp.json 's/"fraction": [0-9]+/"fraction": 15/' 'reduction.fraction'
refused exp.json 's/"fraction": [0-9]+/"fraction": 63/' 'reduction.fraction'
refused exp.json 's/"factor": [0-9]+/"factor": 0/' 'reduction.factor'
refused exp.json 's/"factor": [0-9]+/"factor": 281474976710656/' 'needs more than 63 bits'
refused exp.json 's/"direction"/"step": 1, "direction"/' 'reduction.step'

finish
