#!/bin/bash
# SPDX-License-Identifier: 0BSD
# Compiles two functions, emits headers, runs them in a C program and measures them.
# $1 is the build directory that holds pwlc and libpwl, $2 the directory for what is written.
set -eu
build=$1 out=$2
mkdir -p "$out"

pwlc() {
    printf '\n$ pwlc %s\n' "$*"
    "$build/fitter/pwlc" "$@"
}

title() {
    printf '\n== %s\n' "$*"
}

title "A sigmoid: unsigned 16-bit codes in and out, 16 segments"
pwlc fit sigmoid --in u16:2^-12:24576 --out u16:2^-16:-1 --segments 16 -o "$out/sigmoid.json"
pwlc show "$out/sigmoid.json"

title "A GELU for INT8, with scales that are not powers of two"
pwlc fit gelu --in s8:0.0472:-3 --out s8:0.0248:-121 --max-err 1.0 -o "$out/gelu.json"
pwlc show "$out/gelu.json"

title "C headers: two for the runtime, one that stands alone"
pwlc emit "$out/sigmoid.json" --format c -o "$out/sigmoid.h"
pwlc emit "$out/gelu.json" --format c -o "$out/gelu.h"
pwlc emit "$out/sigmoid.json" --format c --standalone --prefix alone_ -o "$out/sigmoid_standalone.h"

title "examples/demo.c runs them with integers only, over every code, against libm"
printf '\n$ cc examples/demo.c -lpwl -lm\n'
"${CC:-cc}" -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -Iruntime/include -I"$out" examples/demo.c \
    "$build/runtime/libpwl.a" -lm -o "$out/demo"
"$out/demo"

title "The same measurement by pwlc"
pwlc sweep "$out/sigmoid.json"
pwlc sweep "$out/gelu.json"

printf '\nWritten to %s: sigmoid.json gelu.json (tables), sigmoid.h gelu.h sigmoid_standalone.h (C), demo (the program)\n' \
    "$out"
