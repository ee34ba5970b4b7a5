#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pwlc verify: what is emitted is equal, a wrong bit is found, and tools that are missing, old, broken or slow leave
# nothing behind.
. "$(dirname "$0")/lib.sh"

export TMPDIR=$work/tmp
mkdir "$TMPDIR" ../fake ../empty
real_path=$PATH

# left_nothing WHAT: no folder of a verification is there.
left_nothing() {
    [ ! -e "$TMPDIR" ] || [ -z "$(ls -A "$TMPDIR")" ] || fail "$1: left $(ls -A "$TMPDIR")"
}

# verifies CODE TARGET REGEX ARGUMENT...: exit CODE, and the target's line says REGEX.
verifies() {
    local want=$1 target=$2 words=$3
    shift 3
    expect_status "$want" verify "$@" || return 0
    expect_line "$target +$words" ../out "pwlc verify $*"
    left_nothing "pwlc verify $*"
}

# finds TARGET FILE ARGUMENT...: a wrong bit is found, at a code for which the table gives what is said.
finds() {
    local target=$1 file=$2 code value
    shift 2
    verifies 3 "$target" '.*' "$file" --against "$target" --inject "$@"
    read -r code value < <(sed -nE 's/.*: code (-?[0-9]+): the table gives (-?[0-9]+), .* gives .*/\1 \2/p' ../err)
    [ "$("$pwlc" eval "$file" "${code:-0}")" = "${value:-none}" ] || fail "$file, --inject: $(cat ../err)"
}

fit() { "$pwlc" fit "$@" 2>/dev/null; }
fit tanh --in s8:2^-5 --out s8:2^-7 -o s8.json
fit sigmoid --in s16:2^-12:-5 --out u16:2^-16:-1 --symmetry fold --segments 12 --method uniform --rounding half_even -o folded.json
fit rsqrt --in u16:2^-6:-6 --out u16:2^-14 --reduce on --segments 8 --method uniform -o reduced.json
fit silu --in u5:0.5:12 --out s7:2^-4 --form biased --segments 5 --rounding half_away -o narrow.json
fit relu --in s2:2^0 --out u2:2^0 --segments 2 --method uniform -o smallest.json
fit tanh --in s8:2^-5 --out s8:2^-7 --segments 3 --method uniform -o saturated.json
# The last code's 127 / 4 is rounded up to 32, which has a bit more than what it is rounded from.
make_table carry.json '{"start": -128, "q_b": 1, "n_BX_total": 2, "term_c": 0}' rounding='"half_up"'
fit tanh --in s32:2^-27 --out s32:2^-30 --method uniform --segments 4 -o wide.json

# The standalone header: all codes of the C type up to 16 bits.
verifies 0 standalone '256 codes, 0 mismatches, [0-9.]+ s, cc [0-9.]+' s8.json --against standalone
verifies 0 standalone '256 codes, 0 mismatches, .*' narrow.json --against standalone
verifies 0 standalone '65536 codes, 0 mismatches, .*' folded.json --against standalone
verifies 0 standalone '65536 codes, 0 mismatches, .*' reduced.json --against standalone
verifies 0 standalone '10486[0-9]{2} codes, 0 mismatches, .*' wide.json --against standalone
for file in s8 narrow folded reduced; do
    finds standalone $file.json
done
finds standalone wide.json

# The header for the runtime, with the libpwl of this build: not where sanitizers are in it.
PKG_CONFIG_LIBDIR=$work/empty verifies 77 c 'libpwl is missing: .*' s8.json --against c
uninstalled=$(dirname "$pwlc")/../meson-uninstalled
if ! grep -q __asan_init "$(dirname "$pwlc")"/../runtime/libpwl.so; then
    export PKG_CONFIG_PATH=$uninstalled
    verifies 0 c '65536 codes, 0 mismatches, .*' reduced.json --against c
    finds c folded.json
fi

# The module, simulated and proven.
if command -v iverilog >/dev/null; then
    for flags in '' '--stages 0' '--stages 4 --rtl-handshake ready'; do
        verifies 0 sv '256 codes, 0 mismatches, [0-9.]+ s, iverilog [0-9.]+' s8.json --against sv --simulator iverilog $flags
        verifies 0 sv '32 codes, 0 mismatches, .*' narrow.json --against sv --simulator iverilog $flags
        verifies 0 sv '256 codes, 0 mismatches, .*' carry.json --against sv --simulator iverilog --rtl-style aligned \
            $flags
    done
    finds sv narrow.json --simulator iverilog
fi
if command -v ghdl >/dev/null; then
    for flags in '' '--stages 0' '--stages 4 --rtl-handshake ready' '--rtl-style barrel --stages 2'; do
        verifies 0 vhdl '256 codes, 0 mismatches, [0-9.]+ s, ghdl [0-9.]+' s8.json --against vhdl $flags
        verifies 0 vhdl '32 codes, 0 mismatches, .*' narrow.json --against vhdl $flags
        verifies 0 vhdl '256 codes, 0 mismatches, .*' carry.json --against vhdl $flags
    done
    verifies 0 vhdl '4 codes, 0 mismatches, .*' smallest.json --against vhdl
    finds vhdl narrow.json
fi
# Waves: of every signal of the module, also where it is wrong.
# has_waves FILE FLAGS...: s8.json and a wrong one, into FILE.
has_waves() {
    local file=$1
    shift
    rm -f "$file"
    verifies 0 "$2" '256 codes, 0 mismatches, .*' s8.json --wave "$file" --rtl-style tree "$@"
    holds_waves "$file"
    rm -f "$file"
    verifies 3 "$2" '.* is flipped' s8.json --wave "$file" --rtl-style tree --inject "$@"
    holds_waves "$file"
}
# An FST begins with a block 0 of 329 bytes, or as a whole is a block 254 that is compressed.
holds_waves() {
    checks=$((checks + 1))
    case $1 in
    *.vcd) grep -qE 'var.* product[ []' "$1" || fail "$1 has no product" ;;
    *) head -c 9 "$1" | od -An -tx1 | tr -d ' ' | grep -qE '^(000000000000000149|fe)' || fail "$1 is no FST" ;;
    esac
}
for end in vcd fst; do
    if command -v ghdl >/dev/null; then
        has_waves "a wave.$end" --against vhdl
    fi
    if command -v iverilog >/dev/null; then
        has_waves "wave\"'.$end" --against sv --simulator iverilog
    fi
    if command -v verilator >/dev/null && is_long; then
        has_waves wave.$end --against sv
    fi
done
expect_error 2 'must be a file that ends with .vcd or .fst' verify s8.json --against sv --wave a.txt
expect_error 2 'must be a file that ends with .vcd or .fst' verify s8.json --against sv --wave .vcd
for against in '--against standalone' '--against sv,vhdl' --prove; do
    # shellcheck disable=SC2086
    expect_error 2 '--against must name one of sv and vhdl' verify s8.json $against --wave a.vcd
done
if command -v ghdl >/dev/null; then
    verifies 1 vhdl '--wave none/a.vcd: cannot write: .*' s8.json --against vhdl --wave none/a.vcd
fi

if command -v yosys >/dev/null; then
    verifies 0 proof 'equal at every one of 256 codes, no feedback, [0-9.]+ s, yosys [0-9.]+' s8.json --prove
    verifies 0 proof 'equal at every one of 32 codes, .*' narrow.json --prove --stages 3 --rtl-handshake ready
    verifies 0 proof 'equal at every one of 4 codes, .*' smallest.json --prove
    # of what saturates, synthesis would make a reset of a register
    verifies 0 proof 'equal at every one of 256 codes, .*' saturated.json --prove --rtl-style aligned
    verifies 3 proof 'code -?[0-9]+: the table gives .*; bit 0 of .* is flipped' narrow.json --prove --inject
    verifies 0 proof 'no feedback; that codes are equal is left to --against sv, .*' folded.json --prove
    verifies 2 proof '.*up to 8 bits.*' folded.json --prove --inject
fi

# fake NAME VERSION COMMANDS: a tool that answers with its version, and else runs the commands.
fake() {
    printf '#!/bin/bash\ncase $1 in\n--version | -V) echo "%s"; exit ;;\nesac\n%s\n' "$2" "$3" >"../fake/$1"
    chmod +x "../fake/$1"
}

# program COMMANDS: what cc makes of everything.
program() {
    fake cc 'cc 1.0' "printf '#!/bin/bash\n%s\n' '$1' >program; chmod +x program"
}

PATH=$work/fake:$real_path
fake cc 'cc 1.0' 'for k in 1 2 3 4 5 6; do echo "line $k" >&2; done; exit 4'
verifies 1 standalone 'cc failed with exit status 4; it said: line 3 \| line 4 \| line 5 \| line 6' s8.json --against standalone
fake cc 'cc 1.0' 'kill -SEGV $$'
verifies 1 standalone 'cc was ended by signal 11' s8.json --against standalone
fake cc 'cc 1.0' 'head -c 5000000 /dev/zero | tr "\0" "x"; printf "\n\033[1mend\n"; exit 1'
verifies 1 standalone 'cc failed with exit status 1; it said: x+ \| \\x1b\[1mend' s8.json --against standalone
program 'echo short'
verifies 1 standalone 'the program gave only a part of the values of 256 codes' s8.json --against standalone
program 'head -c 5000 /dev/zero'
verifies 1 standalone 'the program gave more than the values of 256 codes' s8.json --against standalone
program 'head -c 4096 /dev/zero'
verifies 3 standalone '256 codes, 25[0-9] mismatches, .*' s8.json --against standalone
seq -128 127 | "$pwlc" eval s8.json - >../values 2>../err
program "/usr/bin/python3 -c \"import struct, sys
for k, y in enumerate(map(int, open(\\\"$work/values\\\"))):
    sys.stdout.buffer.write(struct.pack(\\\"=qq\\\", y, y + (k == 200)))\""
verifies 3 standalone '256 codes, 1 mismatches, .*' s8.json --against standalone
grep -q 'code 72: the table gives .*, NAME_map gives .* (1 of 256 codes differ)' ../err || fail "the second value: $(cat ../err)"
program 'echo no such device >&2; exit 77'
verifies 77 standalone '.*it said: no such device' s8.json --against standalone
program 'cat >/dev/null; exec >&- 2>&-; sleep 1000'
verifies 1 standalone 'program did not end within 0.3 seconds' s8.json --against standalone --time-limit 0.3

# Missing and old tools. What else is asked for is verified all the same, and a mismatch is worse.
fake yosys 'Yosys 0.9 (git sha1 12.34)' 'exit 1'
verifies 77 proof 'yosys 0.9 is too old; 0.23 or later is needed; .*package yosys has it' s8.json --prove
fake yosys 'no number' 'exit 1'
verifies 77 proof 'yosys: no version is in its answer to -V; .*' s8.json --prove
fake verilator 'Verilator 4.038 2020' 'exit 1'
verifies 77 sv 'verilator 4.038 is too old; 5.6 or later is needed; .*' s8.json --against sv
program 'head -c 4096 /dev/zero'
mkdir ../few
for name in bash cat chmod grep head ls; do
    ln -s "$(command -v $name)" ../few/$name
done
PATH=$work/fake:$work/few verifies 77 cuda "nvcc is missing; NVIDIA's CUDA Toolkit has it" s8.json --against cuda
PATH=$work/fake:$work/few verifies 3 cuda 'nvcc is missing; .*' s8.json --against cuda,standalone
grep -q '^pwlc verify: standalone: code ' ../err || fail "the mismatch is not the message: $(cat ../err)"

# ended FILE: whether the process whose number is there has ended, or does so soon; nobody may have waited for it.
ended() {
    for ((k = 0; k < 500; k++)); do
        grep -q '^State:[[:space:]][^ZX]' "/proc/$(cat "$1")/status" 2>/dev/null || return 0
        sleep 0.02
    done
    return 1
}

# A tool that hangs ends at its limit, with what it started and its temporary files; a signal to pwlc ends all.
fake cc 'cc 1.0' "mktemp; mktemp -d; sleep 1000 & echo \$! >$work/child; echo about to hang; wait"
verifies 1 standalone 'cc did not end within 0.5 seconds; it said: .*about to hang' s8.json --against standalone --time-limit 0.5
ended ../child || fail 'the child of a tool that hung still runs'
for signal in INT TERM HUP KILL; do
    checks=$((checks + 1))
    rm -f ../child
    # Background jobs of a script ignore SIGINT, and all that nohup runs ignores SIGHUP.
    /usr/bin/python3 -c 'import os, signal, sys
for number in (signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' \
        "$pwlc" verify s8.json --against standalone >../out 2>../err &
    pid=$!
    for ((k = 0; k < 500; k++)); do
        [ ! -s ../child ] || break
        sleep 0.02
    done
    kill -$signal $pid
    status=0
    wait $pid 2>/dev/null || status=$?
    [ $status -gt 128 ] || fail "SIG$signal: exit $status"
    # after SIGKILL it is another process that removes everything
    for ((k = 0; k < 500; k++)); do
        [ $signal = KILL ] && [ -n "$(ls -A "$TMPDIR")" ] || break
        sleep 0.02
    done
    left_nothing "SIG$signal"
    ended ../child || fail "SIG$signal: the tool still runs"
done
PATH=$real_path

# A tool that leaves a process behind which holds its output open.
fake cc 'cc 1.0' "sleep 1000 & echo \$! >$work/child; exit 1"
PATH=$work/fake:$real_path verifies 1 standalone 'cc failed with exit status 1' s8.json --against standalone
ended ../child || fail 'what a tool left behind still runs'

# Unusable flags and folders.
expect_error 2 'a table is needed' verify
expect_error 2 'one table too many' verify s8.json s8.json
expect_error 2 '--against d: must be c, standalone, sv, vhdl or cuda' verify s8.json --against c,d
expect_error 2 '--against needs a value' verify s8.json --against=
expect_error 2 '--stages 25: must be a number of registers, 0 to 24' verify s8.json --stages 25
expect_error 2 '--time-limit 0: must be seconds' verify s8.json --time-limit 0
for against in '--against c' '--against standalone,c' --prove; do
    expect_error 2 '--simulator iverilog: runs the target sv, which --against does not name' verify s8.json $against \
        --simulator iverilog
done
expect_error 2 'did you mean verilator?' verify s8.json --simulator verilater
expect_error 1 'none.json' verify none.json
TMPDIR=$work/none verifies 1 standalone '.*/none: no folder for temporary files: .*' s8.json --against standalone
if [ "$(id -u)" -ne 0 ]; then
    chmod a-w ../empty
    TMPDIR=$work/empty verifies 1 standalone '.*cannot make a folder for temporary files: .*' s8.json --against standalone
fi

finish
