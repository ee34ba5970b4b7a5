#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cliffs.sh BUILD OUT COMMIT: what ./dev bench cliffs runs, from the source root. BUILD holds a release build with pwlc
# and libpwl. Builds the runtime of an older commit beside it, with other names, and measures both in one process; a
# table goes to standard output, JSON lines to OUT.
set -euo pipefail

build=$1
out=$2
commit=$3
cc=${CC:-cc}
work=$build/bench_cliffs
rm -rf "$work"
mkdir -p "$work/old"
git archive "$commit" | tar -x -C "$work/old"
meson setup "$work/old/build" "$work/old" --buildtype=release -Dfitter=disabled -Dtests=disabled -Dcuda=disabled >/dev/null
ninja -C "$work/old/build" runtime/libpwl.a >/dev/null
ld -r --whole-archive "$work/old/build/runtime/libpwl.a" -o "$work/old.o"
objcopy --prefix-symbols=old_ "$work/old.o"

fit() {
    local name=$1
    shift
    "$build/fitter/pwlc" fit "$@" --reduce on --segments 16 -o "$work/$name.json"
    "$build/fitter/pwlc" emit "$work/$name.json" --name "$name" -o "$work/$name.h"
    echo "#include \"$name.h\"" >>"$work/reduced.h"
}
fit pwl_sqrt_u16 sqrt --in u16:2^-8:0 --out u16:2^-8:0
fit pwl_sqrt_u32 sqrt --in u32:2^-16:0 --out u16:2^-8:0
fit pwl_exp_s32 exp --in s32:2^-24:0 --out u32:2^-16:0

"$cc" -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -Wall -Wextra -Iruntime/include "-I$work" tests/speed/bench_cliffs.c \
    "$build/runtime/libpwl.a" "$work/old.o" -lm -o "$work/bench_cliffs"
model=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
echo "${model:-unknown processor}, one core, $(date -u +%Y-%m-%d), $("$cc" --version | head -n 1); medians; before: $(git rev-parse --short "$commit")"
echo
"$work/bench_cliffs" "$out"
