#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pwlc sweep: histogram, grid, plot and the second reference.
. "$(dirname "$0")/lib.sh"

make_step step.json
sed 's/leaky_relu/rsqrt/g; s/{"alpha": 1.0}/{}/; s/ --param alpha=1//; s/"zero_point": 0, "qmin": -128, "qmax": 127/"zero_point": -129, "qmin": -128, "qmax": 127/
    s/"exhaustive": true/"exhaustive": false/' step.json >rsqrt.json

# Errors of 0 at 233 codes, of 3 at 21, of 2 and 1 at one each, in bins of 0.2.
sweep_passes step.json --hist --format json
has hist_from_lsb 0
has hist_bin_lsb 0.2
has hist_counts '\[233, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 21\]'
# Errors on both sides of 0: 2 too low below code -100, too.
python3 - <<'END'
import json
table = json.load(open("step.json"))
del table["certificate"], table["hash"]
table["segments"] = [{"start": start, "q_b": 1, "n_BX_total": 0, "term_c": off} for start, off in ((-128, -2), (-100, 0), (100, 3))]
json.dump(table, open("sides.json", "w"))
END
sweep_passes sides.json --hist --format json
has hist_from_lsb -2
has hist_bin_lsb 0.5
has hist_counts '\[26, 0, 1, 0, 206, 0, 1, 0, 1, 0, 21\]'
sweep_passes step.json --hist --format csv
grep -qF ',"233, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 21"' ../out || fail "csv: no counts"
sweep_passes step.json --hist
expect_line '\| +0 \| +0\.2 \| +233 \| +91\.02% \| #{40} \|' ../out "sweep --hist"
expect_line '\| +1 \| +1\.2 \| +1 \| +0\.39% \| # +\|' ../out "sweep --hist"
expect_line '\| +3 \| +3\.2 \| +21 \| +8\.20% \| #### +\|' ../out "sweep --hist"
[ "$(grep '^|' ../out | tail -n 18 | awk '{ print length }' | sort -u | wc -l)" -eq 1 ] || fail "the histogram is not aligned"
sweep_passes step.json step.json --hist
[ "$(grep -c 'codes by error' ../out)" -eq 2 ] || fail "two tables, not two histograms"

# x on the quarters: 0, 1/4, 1/2 and 1/4 away from the nearest code, each four times; -1.5 is the first of 1/2.
sweep_passes step.json --grid -2:2:0.25 --format json
for field in 'grid "\[-2, 2\) step 0\.25"' 'grid_points 16' 'grid_mse 0.09375' 'grid_mean_abs 0.25' \
    'grid_mean_abs_squared 0.0625' 'grid_rms 0.306186' 'grid_max 0.5' 'grid_max_at -1.5'; do
    has "${field%% *}" "${field#* }"
done
sweep_passes step.json --grid -2:2:0.25:closed --format json
has grid '"\[-2, 2\] step 0\.25"'
has grid_points 17
sweep_passes step.json --grid 0:1:0.3 --format json
has grid_points 4
# Ties go to the even code: 99.5 to 100, which is 3 too high, 100.5 to 100, 98.5 to 98.
sweep_passes step.json --grid 99.5:100:0.5 --format json
has grid_max 3.5
sweep_passes step.json --grid 100.5:101:0.5 --format json
has grid_max 2.5
sweep_passes step.json --grid 98.5:99:0.5 --format json
has grid_max 0.5
# Outside the input range the nearest code answers, and f is not clipped: 123 for 130.
sweep_passes step.json --grid 130:131:1 --format json
has grid_max 7
sweep_passes step.json step.json --grid 0:1:0.5
[ "$(wc -l <../out)" -eq 4 ] && grep -q 'grid MSE' ../out || fail "--grid of two tables"
for grid in '' 1 0:1 0:1: 0:1:x 0:1:0.5: 0:1:0.5:open 0:1:0.5:closed: 0:nan:1; do
    expect_error 2 --grid sweep step.json --grid "$grid"
done
expect_error 2 'step must be above 0 and lo below hi' sweep step.json --grid 1:0:0.1
expect_error 2 'step must be above 0 and lo below hi' sweep step.json --grid 0:1:-0.1
expect_error 2 'at most 16777216 are allowed' sweep step.json --grid 0:1:1e-9
expect_error 2 'hi must be a whole number of steps' sweep step.json --grid 0:1:0.3:closed
expect_error 2 'rsqrt.json: --grid: rsqrt has no value at x = 0' sweep rsqrt.json --grid 0:1:0.5

# A plot is well-formed and names the certificate's maximum, and nothing else is written when it fails.
sweep_passes step.json --plot step.svg
if [ -s step.svg ]; then
    for words in '<title>leaky_relu, 2 segments</title>' 'certificate: max 3 LSB' 's8:2^0:0 to s8:2^0:0' '</svg>'; do
        grep -qF -- "$words" step.svg || fail "--plot: \"$words\" is missing"
    done
    python3 -c 'from xml.dom import minidom; minidom.parse("step.svg")' || fail "--plot: not well-formed"
    cp step.svg first.svg
    sweep_passes step.json --plot step.svg
    cmp -s step.svg first.svg || fail "--plot: other bytes in a second run"
    rm -f step.svg first.svg
else
    fail "--plot wrote nothing"
fi
expect_error 2 '--plot -: the errors go to standard output already; give -o FILE' sweep step.json --plot -
sweep_passes step.json --plot - -o step.md
grep -q '^<svg' ../out && grep -q 'max, LSB' step.md || fail '--plot - does not print the plot alone'
expect_error 1 missing/step.svg sweep step.json --plot missing/step.svg
expect_error 2 rsqrt.json: sweep rsqrt.json --grid 0:1:0.5 --plot rsqrt.svg

# MPFR and libm agree in every field, to all six digits; or pwlc says that it has no MPFR.
run sweep step.json --ref mpfr
if [ "$status" -eq 77 ]; then
    grep -qF 'built without MPFR; install libmpfr-dev' ../err || fail "exit 77: $(head -c 300 ../err)"
    [ ! -s ../out ] || fail "exit 77, and printed"
else
    compared=0
    # A scale at which no two codes are equally far off, which would make the first of them a matter of the last bit.
    for function in $("$pwlc" list functions | awk -F'|' '/^\|/ && !/---/ && ++row > 1 { gsub(/ /, "", $2); print $2 }'); do
        "$pwlc" fit "$function" --in s8:0.0613:1 --out s16:0.0019 --outside clamp --method uniform -o table.json \
            2>/dev/null ||
            fail "fit $function"
        sweep_passes table.json --format json --ref libm
        sed '/"ref"/d' ../out >../libm
        sweep_passes table.json --format json --ref mpfr
        has ref '"mpfr"'
        sed '/"ref"/d' ../out >../mpfr
        cmp -s ../mpfr ../libm || fail "$function: MPFR and libm differ: $(diff ../mpfr ../libm)"
        compared=$((compared + 1))
    done
    [ "$compared" -ge 25 ] || fail "only $compared functions were compared"
    printf '%s\n' -8,-1 0,0 8,1 >points.csv
    "$pwlc" fit --samples points.csv --in s8:2^-4 --out s8:2^-7 --segments 4 -o sampled.json
    expect_error 2 'sampled.json: --ref mpfr: samples is not a built-in function' \
        sweep sampled.json --samples points.csv --ref mpfr
fi

# --anchors stands alone; words choose its rows, and ones that no row has are told what there is.
expect_error 2 '--anchors: no row has "step.json"; sources: quant-gru-pytorch | exact search | ' sweep --anchors step.json
expect_error 2 '; functions: sigmoid | tanh | gelu | hard_swish | ' sweep --anchors SCNA gelu
expect_error 2 '--anchors: no row has "SCNA" and "gelu"; ' sweep SCNA --anchors gelu
expect_error 2 '--anchors fits its own tables and takes words, --format and -o alone, not --hist' sweep --anchors --hist
expect_status 0 sweep --anchors --format csv floor gelu
checks=$((checks + 1))
[ "$(cut -d , -f 1-4 ../out | tail -n +2)" = 'rounding floor,gelu,s8:2^-5,s8:2^-5
rounding floor,gelu,s8:2^-4,s8:2^-4' ] || fail "sweep --anchors floor gelu: $(cut -c 1-300 ../out)"
expect_status 0 sweep --anchors --format csv floor gelu s8:2^-4
expect_line 'rounding floor,gelu,.*' ../out 'sweep --anchors, by type'
[ "$(wc -l <../out)" -eq 2 ] || fail "sweep --anchors floor gelu s8:2^-4: $(cat ../out)"

finish
