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

at_most 28 0 sigmoid_s8 rom
if is_long; then
    at_most 63 1 sigmoid_s8 aligned
    at_most 131 1 sigmoid_s16 aligned
    at_most 174 1 sigmoid_s16 barrel
    at_most 77 1 sigmoid_s16 tree
fi
finish
