#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Common commands take no more instructions than instructions.txt says, so that what they cost cannot creep up: counts
# are the same on a busy machine, where times are not. The longest run with PWL_TEST_LONG=1. Exit 77, a skip, without
# valgrind.
# usage: instructions.sh PWLC LIMITS
set -eu
pwlc=$(realpath "$1")
limits=$(realpath "$2")
command -v valgrind >/dev/null || exit 77
unset MALLOC_PERTURB_ # meson's: to fill memory costs instructions, too
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0
count=0

# Every code of s16, as .npy.
python3 - <<'END'
import struct
header = "{'descr': '<i2', 'fortran_order': False, 'shape': (65536,), }"
header += " " * (63 - (10 + len(header)) % 64) + "\n"
with open("codes.npy", "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    file.write(struct.pack("<65536h", *range(-32768, 32768)))
END

while read -r limit arguments <&3; do
    case $limit in
    '#'* | '') continue ;;
    long)
        [ "${PWL_TEST_LONG:-}" = 1 ] || continue
        read -r limit arguments <<<"$arguments"
        ;;
    esac
    count=$((count + 1))
    # shellcheck disable=SC2086
    valgrind --tool=callgrind --callgrind-out-file=profile --log-file=counted "$pwlc" $arguments >out 2>notes </dev/null || {
        cat notes counted >&2
        exit 1
    }
    instructions=$(sed -n 's/^==.*I *refs: *//p' counted | tr -d ,)
    millions=$(((instructions + 999999) / 1000000))
    printf '%7d of %7d million: %s\n' "$millions" "$limit" "$arguments"
    if [ "$millions" -gt "$limit" ]; then
        echo "instructions: pwlc $arguments: $millions million instructions, more than $limit" >&2
        failures=$((failures + 1))
    fi
done 3<"$limits"
expected=$([ "${PWL_TEST_LONG:-}" = 1 ] && echo 9 || echo 7)
[ "$count" -eq "$expected" ] || { echo "instructions: $count commands in $limits, expected $expected" >&2; exit 1; }
[ "$failures" -eq 0 ]
