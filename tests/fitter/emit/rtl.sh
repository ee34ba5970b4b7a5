#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `pwlc emit` for hardware: flags, names, files and each refusal. That the modules compute right is rtl_sweep.py's.
. "$(dirname "$0")/../cli/lib.sh"

holds() {
    local what=$1
    shift
    checks=$((checks + 1))
    "$@" >../holds 2>&1 || fail "$what: $(head -c 600 ../holds)"
}

"$pwlc" fit tanh --in s8:2^-5 --out s8:2^-7 -o tanh.json 2>../err
"$pwlc" fit sigmoid --in s12:2^-8 --out u8:2^-8 --method uniform -o sigmoid.json 2>../err
"$pwlc" fit leaky_relu --in s10:2^-4 --out s10:2^-4 --param alpha=0.5 --segments 1 -o line.json 2>../err
mkdir files

# The same bytes on standard output, in a file, and every time; they name no file and no day.
for format in hls sv v vhdl sv-tb vhdl-tb cocotb mem coe mif core sdc; do
    clock=(--clock 4)
    [ "$format" != hls ] || clock=()
    expect_status 0 emit sigmoid.json --format "$format" "${clock[@]}" -o files/once
    expect_status 0 emit sigmoid.json --format "$format" "${clock[@]}" && cp ../out files/again
    holds "$format: stdout and -o agree" cmp files/once files/again
    holds "$format: nothing of the machine" bash -c "! grep -nE 'json|$(hostname)|/tmp|once' files/once"
done

# Style, stages and handshake are what was asked for; the style is auto and one stage otherwise.
expect_status 0 emit tanh.json --format sv && expect_line '//   style       rom, 1 stage, .*' ../out 's8'
expect_status 0 emit sigmoid.json --format sv && expect_line '//   style       tree, 1 stage, .*' ../out 's12, 16 segments'
for style in rom aligned barrel tree; do
    for stages in 0 1 2 3 4 7 24; do
        expect_status 0 emit sigmoid.json --format sv --rtl-style $style --stages $stages || continue
        expect_line "//   style       $style, $stages stages?, .*" ../out style
        expect_line "  localparam integer LATENCY = $stages;" ../out latency
    done
done
for port in 'input  logic clk_i,' 'input  logic rst_ni,' 'input  logic valid_i,' 'input  logic signed \[11:0\] x_i,' \
    'output logic valid_o,' 'output logic \[7:0\] y_o'; do
    expect_status 0 emit sigmoid.json --format sv && expect_line "  $port" ../out ports
done
expect_status 0 emit sigmoid.json --format sv --rtl-handshake ready && expect_line '  output logic ready_o,' ../out ready
expect_line '  input  logic ready_i,' ../out ready
expect_status 0 emit sigmoid.json --format v && holds 'Verilog-2005 has no logic' bash -c '! grep -wE "logic|always_ff" ../out'
expect_status 0 emit sigmoid.json --format sv --name squash && expect_line 'module squash \(' ../out --name
expect_status 0 emit sigmoid.json --format sv && expect_line 'module pwl_sigmoid_s12_u8 \(' ../out 'derived name'
expect_status 0 emit sigmoid.json --format core
for tool in 'verilator: {mode: lint-only, verilator_options: \[-Wall\]}' 'icarus: {iverilog_options: \[-g2012\]}' \
    'yosys: {arch: ice40}'; do # without it that tool does not run
    expect_line "    tools: \{$tool\}" ../out core
done
expect_line '    filesets: \[rtl\]' ../out 'synth of a core without a clock'
holds 'a core names no file that nobody wrote' bash -c '! grep -n sdc ../out'
expect_status 0 emit sigmoid.json --format core --clock 2.5
expect_line '      - pwl_sigmoid_s12_u8.sdc: \{file_type: SDC\}' ../out 'core with a clock'
expect_line '    filesets: \[rtl, constraints\]' ../out 'synth of a core with a clock'
expect_status 0 emit sigmoid.json --format sdc --clock 2.5 && expect_line 'create_clock .*-period 2\.5 .*' ../out clock

# --slope-terms: no multiplication; --knots pow2: no comparison.
"$pwlc" fit sigmoid --in s10:2^-6 --out s10:2^-9 --slope-terms 1 --method minimax -o terms.json 2>../err
expect_status 0 emit terms.json --format sv --rtl-style aligned && holds 'no multiplier' bash -c "! grep -n ' \* ' ../out"
expect_status 0 emit sigmoid.json --format sv --rtl-style tree && holds 'a multiplier' grep -n ' \* ' ../out
"$pwlc" fit sigmoid --in s12:2^-8 --out s12:2^-11 --knots pow2:6 -o knots.json 2>../err
expect_status 0 emit knots.json --format sv --rtl-style tree && holds 'no comparison' bash -c "! grep -nE ' (<|>|>=) ' ../out"

# Segments of 2^k codes: the number of a segment is bits of the code, an anchor bits of the number; nothing is looked up
# for either. Anchors elsewhere: no more bits than X has.
uniform="--method uniform --form anchored"
"$pwlc" fit sigmoid --in s12:2^-8 --out s12:2^-11 $uniform --segments 32 --symmetry fold -o folded.json 2>../err
expect_status 0 emit folded.json --format sv --rtl-style tree
expect_line '  assign segment = distance\[10:6\] \| \{5\{distance\[11\]\}\};' ../out 'the bits of a code'
expect_line '  assign blocks = distance\[6:6\] - segment\[0\];' ../out 'the bits of an anchor'
holds 'no anchors, no search' bash -c '! grep -nE "anchor[^e]|segment_rom| (<|>|>=) " ../out'
"$pwlc" fit gelu --in s12:2^-8 --out s12:2^-8 $uniform --segments 32 -o uniform.json 2>../err
expect_status 0 emit uniform.json --format sv --rtl-style tree
expect_line '  assign segment = \{~x\[11\], x\[10:7\]\};' ../out 'a sign'
holds 'no anchors, no search' bash -c '! grep -nE "anchor[^e]|segment_rom|reached|before" ../out'
"$pwlc" fit gelu --in s12:2^-8 --out s12:2^-8 $uniform --segments 37 -o odd.json 2>../err
expect_status 0 show odd.json --format json && holds 'anchors of 7 bits' grep -qE 'anchor\[[0-9]+:' ../out
expect_status 0 emit odd.json --format sv --rtl-style tree && expect_line '  logic \[6:0\] anchor;' ../out 'anchors of 7 bits'

# --rom mem: the words lie beside the module, all at once or not at all, and --check reads both.
expect_status 0 emit sigmoid.json --format sv --rom mem --name m -o files/m.sv
holds 'the module reads m.mem' grep -qF '$readmemh("m.mem", word_rom)' files/m.sv
expect_status 0 emit sigmoid.json --format mem --name m && holds '--format mem' cmp ../out files/m.mem
expect_status 0 emit sigmoid.json --format sv --rom mem --name m -o files/m.sv --check
echo 0 >>files/m.mem
expect_error 3 'files/m.mem: differs' emit sigmoid.json --format sv --rom mem --name m -o files/m.sv --check
mkdir -p files/taken/m.mem
expect_error 1 'm.mem' emit sigmoid.json --format sv --rom mem --name m -o files/taken/m.sv
holds 'no module without its words' test ! -e files/taken/m.sv
expect_status 0 emit line.json --format sv --rom mem --name one -o files/one.sv
holds 'one segment has no ROM' test ! -e files/one.mem

# VHDL: the same flags, the same words in a file, names that it takes.
expect_status 0 emit sigmoid.json --format vhdl --rtl-style tree --stages 3 --rtl-handshake ready
for line in 'entity pwl_sigmoid_s12_u8 is' '    x_i     : in  std_logic_vector\(11 downto 0\); -- signed' '    ready_o : out std_logic;' \
    '  constant LATENCY : natural := 3;' '--   style       tree, 3 stages, .*'; do
    expect_line "$line" ../out vhdl
done
expect_status 0 emit sigmoid.json --format vhdl --rom mem --name v -o files/v.vhd
holds 'VHDL reads v.mem' grep -qF 'read_mode is "v.mem"' files/v.vhd
holds 'the same words' cmp <(grep -v // files/v.mem) <("$pwlc" emit sigmoid.json --format mem --name m | grep -v //)
if command -v ghdl >/dev/null; then
    expect_status 0 emit sigmoid.json --format vhdl-tb --name v -o files/v_tb.vhd
    (cd files && ghdl -a --std=08 v.vhd v_tb.vhd && ghdl -r --std=08 v_tb --ieee-asserts=disable) >../ghdl 2>&1
    holds 'words of a file' grep -q '4096 codes, no mismatch' ../ghdl
    sed -i '10 s/^./f/' files/v.mem
    (cd files && ghdl -r --std=08 v_tb --ieee-asserts=disable) >../ghdl 2>&1 || true
    holds 'a wrong word of a file' grep -q "an output differs from the table's" ../ghdl
fi
for name in Signal a__b _a a_ resize; do
    expect_error 2 'not a VHDL identifier' emit tanh.json --format vhdl --name $name
done
expect_status 0 emit tanh.json --format sv --name a__b
expect_error 2 '--rom mem needs -o' emit sigmoid.json --format vhdl --rom mem

# C++ for high-level synthesis: a style, and nothing that its tool decides.
expect_status 0 emit sigmoid.json --format hls --rtl-style barrel --name squash && expect_line '//   style       barrel, .*' ../out hls
expect_line 'inline squash_hls::out_t squash_eval\(squash_hls::in_t x_i\)' ../out hls
for flags in '--stages 2' '--rtl-style tree --stages 2' '--stages 2 --rtl-style tree' '--rtl-handshake ready' '--rom mem' '--clock 5'; do
    # shellcheck disable=SC2086
    expect_error 2 'with --format hls: its tool places registers and ports' emit sigmoid.json --format hls $flags
done
expect_error 2 'not a C identifier' emit sigmoid.json --format hls --name class

# Refusals.
expect_error 2 '--rom mem needs -o' emit sigmoid.json --format sv --rom mem
expect_error 2 'has no ROM' emit line.json --format mem
"$pwlc" fit leaky_relu --in s20:2^-8 --out s20:2^-8 --param alpha=0.5 --method uniform -o twenty.json 2>../err
expect_status 0 emit twenty.json --format mem --rtl-style rom --name big
expect_error 2 'not a Verilog identifier' emit tanh.json --format sv --name wire
expect_error 2 'not a Verilog identifier' emit tanh.json --format sv --name 8bit
expect_error 2 'not a Verilog identifier' emit tanh.json --format sv --name 'a$b'
expect_error 2 'cannot begin a Verilog identifier' emit tanh.json --format sv --prefix 'a-'
expect_error 2 '0 to 24' emit tanh.json --format sv --stages 25
expect_error 2 '0 to 24' emit tanh.json --format sv --stages=-1
expect_error 2 '0 to 24' emit tanh.json --format sv --stages 1.5
expect_error 2 'must be auto, rom, aligned, barrel, tree or residual' emit tanh.json --format sv --rtl-style wide
expect_error 2 'must be valid or ready' emit tanh.json --format sv --rtl-handshake none
expect_error 2 'takes one table' emit tanh.json sigmoid.json --format sv
expect_error 2 '--format sdc needs --clock' emit tanh.json --format sdc
expect_error 2 'in nanoseconds' emit tanh.json --format sdc --clock 0
expect_error 2 'in nanoseconds' emit tanh.json --format sdc --clock 5ns
expect_error 2 '--stages needs --format sv' emit tanh.json --stages 2
expect_error 2 '--rtl-style needs --format sv' emit tanh.json --format csv --rtl-style rom
expect_error 2 '--attribute needs --format c' emit tanh.json --format sv --attribute PROGMEM
expect_error 1 'cannot write' emit tanh.json --format sv -o missing/tanh.sv
"$pwlc" fit leaky_relu --in s24:2^-8 --out s24:2^-8 --param alpha=0.5 --method uniform --segments 2 -o wide.json 2>../err
expect_error 2 '24-bit codes need 2^24 entries' emit wide.json --format sv --rtl-style rom

# A bench of other stages than its module's says so.
says_stages='of 1 edges before; emit module and bench with the same --stages'
if command -v iverilog >/dev/null; then
    "$pwlc" emit tanh.json --stages 3 -o other.sv && "$pwlc" emit tanh.json --format sv-tb -o other_tb.sv
    { iverilog -g2012 -o other.vvp other.sv other_tb.sv && vvp -n other.vvp; } >../other 2>&1 || true
    holds 'a bench of other stages' grep -q "$says_stages" ../other
fi
if command -v ghdl >/dev/null; then
    mkdir other && "$pwlc" emit tanh.json --stages 3 -o other/t.vhd && "$pwlc" emit tanh.json --format vhdl-tb -o other/t_tb.vhd
    (cd other && ghdl -a --std=08 t.vhd t_tb.vhd && ghdl -r --std=08 pwl_tanh_s8_tb --ieee-asserts=disable) >../ghdl 2>&1 || true
    holds 'a bench in VHDL of other stages' grep -q "$says_stages" ../ghdl
fi

# Units of rows.
"$pwlc" fit softmax --in s8:0.1 --out u8:2^-8 --rows 16 -o softmax.json
"$pwlc" fit requantise --in s16:0.1 --out s8:0.2 -o requantise.json
for format in sv sv-tb; do
    expect_status 0 emit softmax.json --format $format --lanes 4 -o files/once
    expect_status 0 emit softmax.json --format $format --lanes 4 && cp ../out files/again
    holds "unit, $format: stdout and -o agree" cmp files/once files/again
    holds "unit, $format: nothing of the machine" bash -c "! grep -nE 'json|$(hostname)|/tmp|once' files/once"
    expect_line '  parameter integer Lanes = 4[,;]' ../out "$format, lanes"
done
expect_status 0 emit softmax.json --format sv && expect_line '  parameter integer Lanes = 1,' ../out 'one lane'
expect_line 'module pwl_softmax_s8_u8 #\(' ../out "a unit's name"
expect_error 2 '--lanes needs a row operator' emit tanh.json --format sv --lanes 2
expect_error 2 '--lanes needs --format sv or sv-tb, not c' emit softmax.json --lanes 2
expect_error 2 'must be a number of places, 1 to 64' emit softmax.json --format sv --lanes 0
expect_error 2 "--stages: not of a row operator's unit" emit softmax.json --format sv --stages 2
expect_error 2 'must be c, sv, sv-tb or json' emit softmax.json --format v
expect_error 2 'requantise: has no unit of hardware' emit requantise.json --format sv
expect_error 2 'not a Verilog identifier' emit softmax.json --format sv --name wire
expect_error 2 'is verified --against sv alone' verify softmax.json --against c
expect_error 2 '--stages: not of a row operator' verify softmax.json --stages 2
expect_error 2 '--rows 0: must be a number of rows' verify softmax.json --rows 0
expect_error 2 '--rows needs a row operator' verify tanh.json --rows 3
expect_error 2 '--lanes needs a row operator' verify tanh.json --lanes 3
expect_error 2 '--target cortex-m4: of tables' cost softmax.json --target cortex-m4
expect_error 2 "--rtl-style: not of a row operator's unit" cost softmax.json --rtl-style rom
expect_error 2 '--lanes needs a row operator' cost tanh.json --lanes 2

# show says what the module stores.
expect_status 0 show sigmoid.json && expect_line '  hardware     tree, ROM 16 x [0-9]+ = [0-9]+ bits: offset\[.*, slope\[.*' ../out show
expect_status 0 show tanh.json && expect_line '  hardware     rom, ROM 256 x 8 = 2048 bits: y\[7:0\] signed' ../out show

finish
