#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# LUTs and DSPs that yosys needs for tables of luts/, at most those of fitter/emit/rtl/README.md. Without PWL_TEST_LONG=1
# the quickest alone.
. "$(dirname "$0")/../cli/lib.sh"
command -v yosys >/dev/null || { echo "yosys is not installed"; exit 77; }

# at_most LUTS DSPS TABLE STYLE: of an xc7, one stage.
at_most() {
    local luts dsps
    checks=$((checks + 1))
    expect_status 0 emit "$root/luts/tables/$3.json" --format sv --rtl-style "$4" --name m -o m.sv || return 0
    yosys -q -p 'read_verilog -sv m.sv; synth_xilinx -family xc7 -top m -noiopad; tee -o stat.txt stat' >yosys.txt 2>&1 ||
        fail "yosys: $(tail -n 3 yosys.txt)"
    luts=$(awk '$1 ~ /^LUT/ { n += $2 } END { print n + 0 }' stat.txt)
    dsps=$(awk '$1 ~ /^DSP/ { n += $2 } END { print n + 0 }' stat.txt)
    [ "$luts" -le "$1" ] && [ "$dsps" -le "$2" ] || fail "$3 $4: $luts LUTs and $dsps DSPs, at most $1 and $2"
    [ "$luts" -gt 0 ] || fail "$3 $4: no LUT"
}

# of_up5k LUTS DSPS RAMS MHZ TABLE FLAGS...: what pwlc cost finds for an iCE40 UltraPlus.
of_up5k() {
    local row want="$1 $2 $3 $4" table=$5 figure
    checks=$((checks + 1))
    shift 5
    expect_status 0 cost "$table" --target ice40-dsp --format jsonl "$@" || return 0
    row=$(head -n 1 ../out)
    figure() { sed -E "s/.*\"$1\": ([0-9.]+).*/\1/" <<<"$row"; }
    awk -v got="$(figure lut) $(figure dsp) $(figure ram) $(figure fmax_mhz)" -v want="$want" 'BEGIN {
        split(got, g); split(want, w); exit !(g[1] <= w[1] && g[2] <= w[2] && g[3] <= w[3] && g[4] >= w[4]) }' ||
        fail "$*: $row, at most $want MHz"
}

at_most 28 0 sigmoid_s8 rom
if command -v nextpnr-ice40 >/dev/null; then
    "$pwlc" fit sigmoid --in s16:2^-12 --out s16:2^-15 --form anchored --knots uniform --segments 256 --rounding half_up \
        --shift one --symmetry fold --method minimax -o folded.json 2>../err
    of_up5k 80 1 2 50 folded.json --rtl-style tree --stages 4
fi
if is_long; then
    at_most 63 1 sigmoid_s8 aligned
    at_most 131 1 sigmoid_s16 aligned
    at_most 174 1 sigmoid_s16 barrel
    at_most 77 1 sigmoid_s16 tree
fi
finish
