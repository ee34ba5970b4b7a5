# SPDX-License-Identifier: GPL-3.0-or-later
# Shared by the scripts of this directory, which are run as NAME.sh PWLC SOURCE_DIR and source this file first.
# shellcheck shell=bash disable=SC2034
set -eu
pwlc=$(realpath "$1")
root=$(realpath "$2")
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache
mounted=
clean_up() {
    cd /
    [ -z "$mounted" ] || umount "$mounted" || true
    chmod -R u+w "$work" || true
    rm -rf "$work"
}
trap clean_up EXIT
cd "$work"
mkdir run
cd run
failures=0
checks=0

# The whole test, as ./dev test long runs it, instead of its quick part; C programs ask support/suite.h.
is_long() {
    [ "${PWL_TEST_LONG:-}" = 1 ]
}

fail() {
    printf 'FAIL: %s\n' "$*" >&2
    failures=$((failures + 1))
}

# run ARGUMENT...: pwlc with $status, and its streams in ../out and ../err; standard input is that of the caller.
run() {
    status=0
    "$pwlc" "$@" >../out 2>../err || status=$?
}

# expect_status CODE ARGUMENT...
expect_status() {
    local want=$1
    shift
    checks=$((checks + 1))
    run "$@"
    if [ "$status" -ne "$want" ]; then
        fail "pwlc $*: exit $status, expected $want: $(head -c 300 ../err)"
        return 1
    fi
}

# expect_error CODE WORDS ARGUMENT...: exactly one line on standard error, from pwlc, which contains WORDS; nothing on
# standard output; no file is made in the current directory.
expect_error() {
    local want=$1 words=$2 before after
    shift 2
    before=$(ls -A)
    expect_status "$want" "$@" || return 0
    after=$(ls -A)
    [ "$(wc -l <../err)" -eq 1 ] || fail "pwlc $*: expected one line of message: $(head -c 600 ../err)"
    [ "$(head -c 4 ../err)" = pwlc ] || fail "pwlc $*: the message is not from pwlc: $(head -c 300 ../err)"
    grep -qF -- "$words" ../err || fail "pwlc $*: \"$words\" is not in the message: $(head -c 300 ../err)"
    [ ! -s ../out ] || fail "pwlc $*: printed in spite of the error: $(head -c 300 ../out)"
    [ "$before" = "$after" ] || fail "pwlc $*: left files behind: $after"
}

# expect_printed TEXT ARGUMENT...: exit 0, exactly TEXT and a line feed on standard output; notes may be on standard error.
expect_printed() {
    local want=$1
    shift
    expect_status 0 "$@" || return 0
    [ "$(cat ../out)" = "$want" ] || fail "pwlc $*: printed \"$(head -c 300 ../out)\", expected \"$want\""
}

# expect_output TEXT ARGUMENT...: as expect_printed, and nothing on standard error.
expect_output() {
    expect_printed "$@"
    shift
    [ "$status" -ne 0 ] || [ ! -s ../err ] || fail "pwlc $*: message in spite of success: $(head -c 300 ../err)"
}

# expect_line REGEX FILE WHAT: a whole line of the file matches.
expect_line() {
    checks=$((checks + 1))
    grep -qxE -- "$1" "$2" || fail "$3: no line \"$1\" in: $(head -c 1500 "$2")"
}

finish() {
    printf '%d checks, %d failed\n' "$checks" "$failures"
    [ "$failures" -eq 0 ] && [ "$checks" -gt 0 ]
    exit
}

# make_npy FILE DTYPE SHAPE BYTES: a .npy file, version 1.0; BYTES as printf escapes.
make_npy() {
    local header
    header=$(printf "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" "$2" "$3")
    {
        printf '\x93NUMPY\x01\x00\x76\x00'
        printf '%-117s\n' "$header"
        printf "$4"
    } >"$1"
}

# sign FILE...: gives each table the hash of what it says now.
sign() {
    /usr/bin/python3 "$(dirname "${BASH_SOURCE[0]}")/../../support/signed_table.py" "$@"
}

# unclaimed FILE: the table without its certificate, on standard output.
unclaimed() {
    /usr/bin/python3 - "$1" <<'END'
import json, sys
table = json.load(open(sys.argv[1]))
del table["certificate"], table["hash"]
print(json.dumps(table))
END
}

# make_table FILE SEGMENTS [NAME=JSON...]: a table of tanh in eight bits whose segments, form and so on are given, without
# a certificate.
make_table() {
    local file=$1 segments=$2 assignment
    local form='"absolute"' rounding='"floor"' extra='' case='"int8"' bits=8 qmin=-128 qmax=127
    shift 2
    for assignment; do
        local "$assignment"
    done
    cat >"$file" <<END
{"pwl_table": 1, "spec": "tanh --in s$bits:2^-4:0 --out s$bits:2^-7:0", "function": "tanh", "parameters": {},
 "method": "lsq", "form": $form, "rounding": $rounding, "case": $case, $extra
 "in": {"bits": $bits, "signed": true, "scale": "2^-4", "zero_point": 0, "qmin": $qmin, "qmax": $qmax},
 "out": {"bits": $bits, "signed": true, "scale": "2^-7", "zero_point": 0, "qmin": $qmin, "qmax": $qmax},
 "segments": [$segments]}
END
}

# sweep_passes ARGUMENT...: exit 0 and nothing on standard error.
sweep_passes() {
    expect_status 0 sweep "$@" || return 0
    [ ! -s ../err ] || fail "sweep $*: messages: $(head -c 600 ../err)"
}

# has FIELD VALUE: what `sweep --format json` printed last has the field.
has() {
    expect_line " *\"$1\": $2,?" ../out "sweep --format json"
}

# gate WORDS ARGUMENT...: exit 3 with one message that contains WORDS, and the numbers of sweep all the same.
gate() {
    local words=$1
    shift
    expect_status 3 sweep "$@" || return 0
    [ "$(wc -l <../err)" -eq 1 ] || fail "sweep $*: messages: $(head -c 600 ../err)"
    grep -qF -- "$words" ../err || fail "sweep $*: \"$words\" is not in: $(head -c 600 ../err)"
    grep -q . ../out || fail "sweep $*: printed nothing"
}

# make_step FILE: f(q) = q in whole codes, by a table that is 3 too high from code 100 on: 256 codes, 4 of which saturate.
make_step() {
    cat >"$1" <<'END'
{"pwl_table": 1, "spec": "leaky_relu --in s8:2^0 --out s8:2^0 --param alpha=1", "function": "leaky_relu",
 "parameters": {"alpha": 1.0}, "method": "lsq", "form": "absolute", "rounding": "floor", "case": "int8",
 "in": {"bits": 8, "signed": true, "scale": "2^0", "zero_point": 0, "qmin": -128, "qmax": 127},
 "out": {"bits": 8, "signed": true, "scale": "2^0", "zero_point": 0, "qmin": -128, "qmax": 123},
 "segments": [{"start": -128, "q_b": 1, "n_BX_total": 0, "term_c": 0},
   {"start": 100, "q_b": 1, "n_BX_total": 0, "term_c": 3}],
 "certificate": {"checked": 256, "exhaustive": true, "max_err_lsb": 3.0, "max_err_at": 100, "rms_err_lsb": 0.870524,
   "mean_abs_err_lsb": 0.257812, "correctly_rounded": 0.910156, "saturated_codes": 4, "monotone": true,
   "acc_bits": 9, "objective": "rms", "lower_bound_lsb": null, "optimal": null}}
END
    sign "$1"
}

# leave_libraries: pwlc alone in a folder, without a library for devices beside it; $built is where it was.
leave_libraries() {
    cp "$pwlc" ../pwlc
    built=$pwlc
    pwlc=$(realpath ../pwlc)
    unset PWL_CUDA_LIBRARY
}
