#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pwlc sweep: what it prints, and its gates.
. "$(dirname "$0")/lib.sh"

# with FIELD VALUE FILE: the table FILE with another value of a certificate's field, in changed.json.
with() {
    sed -E "s/(\"$1\": )[^,}]+/\1$2/" "$3" >changed.json
    ! cmp -s "$3" changed.json || fail "$1 was not changed in $3"
    sign changed.json
}

make_step step.json

unclaimed step.json >silent.json
sed 's/"term_c": 3/"term_c": 2/' silent.json >better.json
sed -E 's/"start": 100, (.*) 3}/"start": 90, \1 3}/' silent.json >wider.json # the same maximum, at more codes
sed 's/"scale": "2^0", "zero_point": 0, "qmin": -128, "qmax": 123/"scale": "2^1", "zero_point": 0, "qmin": -128, "qmax": 123/' \
    silent.json >coarse.json
sed 's/"alpha": 1.0/"alpha": 0.5/' silent.json >other.json
for table in better wider coarse other; do
    ! cmp -s silent.json "$table.json" || fail "$table.json is silent.json"
done

# Codes 100 to 120 are 3 off, 121 and 122 by 2 and 1: 63 + 3 in 256, 21 * 9 + 4 + 1 squared, 23 codes wrong.
sweep_passes step.json --format json
for line in '"table": "step.json"' '"function": "leaky_relu alpha=1"' '"in": "s8:2^0:0"' '"out": "s8:2^0:0"' '"segments": 2' \
    '"max_err_lsb": 3' '"max_err_real": 3' '"max_err_at": 100' '"max_err_at_real": 100' '"rms_err_lsb": 0.870524' \
    '"mean_abs_err_lsb": 0.257812' '"mean_abs_squared_lsb2": 0.0664673' '"mse_lsb2": 0.757812' '"mse_real": 0.757812' \
    '"max_ulp": 3' '"max_ulp_at": 100' '"correctly_rounded": 0.910156' '"saturated_codes": 4' '"monotone": true' \
    '"checked": 256' '"exhaustive": true' '"ref": "libm"'; do
    expect_line " *${line//^/\\^},?" ../out "sweep --format json"
done
[ "$(head -n 1 ../out)$(tail -n 1 ../out)" = '[]' ] || fail "json is not an array"

sweep_passes step.json
expect_line '\| max, LSB +\| 3 +\|' ../out "sweep of one table"
expect_line '\| codes checked +\| 256 +\|' ../out "sweep of one table"
for part in '1,/^$/' '/^$/,$'; do # the figures, and the worst codes
    [ "$(sed -n "$part p" ../out | awk '/^\|/ { print length }' | sort -u | wc -l)" -eq 1 ] ||
        fail "columns of one table are not aligned"
done
sweep_passes step.json better.json
[ "$(wc -l <../out)" -eq 4 ] || fail "two tables are not two rows below titles and rule"
[ "$(awk '{ print length }' ../out | sort -u | wc -l)" -eq 1 ] || fail "columns of two tables are not aligned"
sweep_passes step.json better.json --format jsonl
expect_line '\{"table": "step.json",.*"max_err_lsb": 3,.*\}' ../out "sweep --format jsonl"
expect_line '\{"table": "better.json",.*"max_err_lsb": 2,.*\}' ../out "sweep --format jsonl"
sweep_passes step.json better.json --format json
[ "$(grep -c '"table"' ../out)" -eq 2 ] || fail "json: not two objects"

cp step.json 'a,"b|.json'
sweep_passes 'a,"b|.json' --format csv
expect_line 'table,function,in,out,form,rounding,segments,max_err_lsb,.*' ../out "sweep --format csv"
expect_line '"a,""b\|.json",leaky_relu alpha=1,s8:2\^0:0,s8:2\^0:0,absolute,floor,2,3,.*' ../out "sweep --format csv"
cp step.json 'a"b.json'
sweep_passes 'a"b.json' --format csv
expect_line '"a""b\.json",leaky_relu alpha=1,.*' ../out 'sweep --format csv, a quote without a comma'
rm 'a"b.json'
sweep_passes 'a,"b|.json' --format jsonl
grep -qF '{"table": "a,\"b|.json",' ../out || fail "jsonl: the file name is not escaped"
sweep_passes 'a,"b|.json' step.json
grep -qF '| a,"b\|.json |' ../out || fail "md: the file name is not escaped"

# -o writes what would be printed.
sweep_passes step.json
cp ../out printed
sweep_passes step.json -o written
[ ! -s ../out ] || fail "-o printed as well"
cmp -s printed written || fail "-o wrote something else"
rm printed written
expect_error 1 missing/written sweep step.json -o missing/written
expect_status 3 sweep step.json --max-err 1 -o written && [ -s written ] || fail "a missed bound left no numbers"
rm -f written

# Gates.
sweep_passes step.json --max-err 3
gate 'step.json: max error 3 LSB at code 100 exceeds --max-err 2.5 by 0.5' step.json --max-err 2.5
gate '2 tables in all' step.json better.json --max-err 0
sweep_passes silent.json --baseline silent.json
[ "$(wc -l <../out)" -eq 4 ] || fail "--baseline does not print both"
sweep_passes better.json --baseline silent.json
gate 'max error 3 LSB at code 100 is larger than the 2 of --baseline better.json' silent.json --baseline better.json
gate 'RMS error' wider.json --baseline silent.json
expect_error 2 '--baseline coarse.json: out is s8:2^1:0, must be s8:2^0:0' sweep silent.json --baseline coarse.json
expect_error 2 '--baseline other.json: must have the parameters' sweep silent.json --baseline other.json
expect_error 2 '--baseline compares one table' sweep step.json better.json --baseline step.json

# The certificate in the file.
for change in max_err_lsb=3.00001 rms_err_lsb=0.870526 mean_abs_err_lsb=0.257814 correctly_rounded=0.910158 \
    saturated_codes=5 monotone=false; do
    with "${change%=*}" "${change#*=}" step.json
    gate "changed.json: certificate says ${change%=*} ${change#*=}, measured" changed.json
done
with max_err_at 121 step.json
gate 'changed.json: certificate says max_err_at 121, where the error is 2; measured 100' changed.json
with max_err_lsb 3.0000001 step.json # rounds to the same six digits
sweep_passes changed.json

# Wide inputs: a table in 22 bits, exact but for one segment.
cat >wide.json <<'END'
{"pwl_table": 1, "spec": "leaky_relu --in s22:2^0 --out s22:2^0 --param alpha=1", "function": "leaky_relu",
 "parameters": {"alpha": 1.0}, "method": "lsq", "form": "absolute", "rounding": "floor", "case": "int32",
 "in": {"bits": 22, "signed": true, "scale": "2^0", "zero_point": 0, "qmin": -2097152, "qmax": 2097151},
 "out": {"bits": 22, "signed": true, "scale": "2^0", "zero_point": 0, "qmin": -2097152, "qmax": 2097151},
 "segments": [{"start": -2097152, "q_b": 1, "n_BX_total": 0, "term_c": 0},
   {"start": 1048576, "q_b": 1, "n_BX_total": 0, "term_c": 8}, {"start": 2097148, "q_b": 1, "n_BX_total": 0, "term_c": 0}],
 "certificate": {"checked": 1048576, "exhaustive": false, "max_err_lsb": 8.0, "max_err_at": 1048576, "rms_err_lsb": 4.0,
   "mean_abs_err_lsb": 2.0, "correctly_rounded": 0.75, "saturated_codes": 0, "monotone": false, "acc_bits": 23,
   "objective": "rms", "lower_bound_lsb": null, "optimal": null, "bound_lsb": 8.00001}}
END
sign wide.json
sweep_passes wide.json --format json
expect_line ' *"exhaustive": false,' ../out "sweep of a wide input"
sweep_passes wide.json --format json --exhaustive
for line in '"checked": 4194304' '"exhaustive": true' '"max_err_lsb": 8' '"max_err_at": 1048576' '"monotone": false' \
    '"correctly_rounded": 0.750001' '"mean_abs_err_lsb": 1.99999'; do # 1048572 codes of 4194304
    expect_line " *$line,?" ../out "sweep --exhaustive"
done
with bound_lsb 7.5 wide.json
gate 'changed.json: certificate says bound_lsb 7.5, measured 8 at code 1048576' changed.json
with bound_lsb 7.99999 wide.json
gate 'changed.json: certificate says bound_lsb 7.99999, measured 8 at code 1048576' changed.json --exhaustive

# The bound is proven here, not taken from the file; six digits, rounded up.
with bound_lsb 9.0 wide.json
sweep_passes changed.json --format json
expect_line ' *"bound_lsb": 8.00001,' ../out "sweep of a wide input"
sweep_passes changed.json
expect_line '\| proven max, LSB +\| 8.00001 +\|' ../out "sweep of a wide input"
sweep_passes step.json --format json
expect_line ' *"bound_lsb": null,' ../out "sweep of a narrow input"
sweep_passes step.json
! grep -q proven ../out || fail 'sweep step.json: a bound where every code was visited'
sweep_passes wide.json --max-err 8.001
gate 'wide.json: the proven bound 8.00001 LSB exceeds --max-err 8, though the largest error found is 8' wide.json \
    --max-err 8
gate 'wide.json: max error 8 LSB at code 1048576 exceeds --max-err 7.5 by 0.5' wide.json --max-err 7.5
sweep_passes wide.json --max-err 8 --exhaustive

# Functions given as samples.
printf '%s\n' -8,-1 0,0 8,1 >points.csv
printf '%s\n' -8,-1 0,0 8,2 >others.csv
if expect_status 0 fit --samples points.csv --in s8:2^-4 --out s8:2^-7 --segments 4 -o sampled.json; then
    sweep_passes sampled.json --samples points.csv
    sweep_passes sampled.json step.json --samples points.csv
    expect_error 2 sampled.json: sweep sampled.json
    expect_error 2 sampled.json: sweep sampled.json --samples others.csv
fi
expect_error 2 '--samples points.csv: no table here was made from samples' sweep step.json --samples points.csv

# Flags and files.
expect_error 2 'a table is needed' sweep
expect_error 2 '--format xml: must be md, csv, json or jsonl' sweep step.json --format xml
expect_error 2 '--ref exact: must be libm or mpfr' sweep step.json --ref exact
sweep_passes step.json --ref libm
for bound in -1 nan inf 1x ''; do
    expect_error 2 '--max-err is a number' sweep step.json --max-err "$bound"
done
expect_error 2 '--max-er is not a flag' sweep step.json --max-er 1
expect_error 1 missing.json sweep step.json missing.json
printf '{' >broken.json
expect_error 2 broken.json: sweep step.json broken.json
sed 's/"leaky_relu"/"log"/; s/{"alpha": 1.0}/{}/' silent.json >log.json
expect_error 2 'log.json: in: code -128' sweep log.json
status=0
"$pwlc" sweep - --format csv <step.json >../out || status=$?
[ "$status" -eq 0 ] && grep -q '^-,leaky_relu' ../out || fail "a table on standard input"
finish
