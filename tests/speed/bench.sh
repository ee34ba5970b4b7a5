#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench.sh BUILD OUT: what ./dev bench cpu runs, from the source root. BUILD holds a release build with pwlc and libpwl.
# Fits the sigmoids, compiles the baselines as a plain program would be (-O2), and runs the benchmark; the ratios that are
# aimed at and all times go to standard output, JSON lines to OUT.
set -euo pipefail

build=$1
out=$2
cc=${CC:-cc}
work=$build/bench_cpu
mkdir -p "$work"

declare -A types=([8]='--in s8:2^-4:0 --out s8:2^-8:-128' [16]='--in s16:2^-12:0 --out s16:2^-15:0' [32]='--in s32:2^-28:0 --out s32:2^-31:0')
: >"$work/tables.h"
entries=
for bits in 8 16 32; do
    for segments in 8 16 32 64 256; do
        name=pwl_bench_s${bits}_$segments
        # Tables of all codes of 8 bits need no more than some dozens of segments.
        [ $bits -ne 8 ] || [ $segments -le 32 ] || continue
        [ -f "$work/$name.h" ] || {
            # shellcheck disable=SC2086
            "$build/fitter/pwlc" fit sigmoid ${types[$bits]} --segments $segments --method minimax -o "$work/$name.json"
            "$build/fitter/pwlc" emit "$work/$name.json" --name "$name" -o "$work/$name.h"
        }
        echo "#include \"$name.h\"" >>"$work/tables.h"
        entries+="    {&$name, PWL_S$bits},"$'\n'
    done
done
cat >>"$work/tables.h" <<END
static const struct {
    const pwl_table *table;
    pwl_type type;
} bench_tables[] = {
$entries};
END

wide=()
if "$cc" -mavx512bw -E -x c /dev/null >/dev/null 2>&1; then
    wide=(-mavx512f -mavx512bw)
fi
flags=(-std=c11 -D_POSIX_C_SOURCE=200809L -O2 -Wall -Wextra -Iruntime/include "-I$work")
"$cc" "${flags[@]}" -c tests/speed/baselines.c -o "$work/baselines.o"
"$cc" "${flags[@]}" "${wide[@]}" -c tests/speed/gather.c -o "$work/gather.o"
"$cc" "${flags[@]}" tests/speed/bench_cpu.c "$work"/{baselines,gather}.o "$build/runtime/libpwl.a" -lm \
    -o "$work/bench_cpu"

model=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
echo "${model:-unknown processor}, one core, $(date -u +%Y-%m-%d), $("$cc" --version | head -n 1); medians"
echo
"$work/bench_cpu" "${model:-unknown processor}" "$out" >"$work/table.md"
/usr/bin/python3 tests/speed/ratios.py "$out"
echo
cat "$work/table.md"
