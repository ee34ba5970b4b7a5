#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# rows.sh BUILD OUT: what ./dev bench rows runs, from the source root. BUILD holds a release build with libpwl. Compiles and
# runs bench_rows; what it says goes to standard output, JSON lines to OUT.
set -euo pipefail

build=$1
out=$2
cc=${CC:-cc}
mkdir -p "$build/bench_rows"
"$cc" -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -Wall -Wextra -Iruntime/include tests/speed/bench_rows.c \
    "$build/runtime/libpwl.a" -lm -o "$build/bench_rows/bench_rows"
model=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
echo "${model:-unknown processor}, one core, $(date -u +%Y-%m-%d), $("$cc" --version | head -n 1)"
echo
"$build/bench_rows/bench_rows" "${model:-unknown processor}" "$out"
