#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# program.sh NAME BUILD OUT: what ./dev bench ways and rows run, from the source root. BUILD holds a release build with
# libpwl. Compiles bench_NAME.c and runs it; what it says goes to standard output, JSON lines to OUT, and its exit status
# is this script's: bench_ways exits with 1 where a choice is beaten.
set -euo pipefail

program=bench_$1
build=$2
out=$3
cc=${CC:-cc}
mkdir -p "$build/$program"
"$cc" -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -Wall -Wextra -Iruntime/include "tests/speed/$program.c" \
    "$build/runtime/libpwl.a" -lm -o "$build/$program/$program"
model=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
echo "${model:-unknown processor}, one core, $(date -u +%Y-%m-%d), $("$cc" --version | head -n 1)"
echo
"$build/$program/$program" "${model:-unknown processor}" "$out"
