#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Who may include whom. Every source but the tests' lies in a room of the table below, and includes headers of its own
# room, of the rooms that its line names, and of systems and packages as far as the end of this script allows.
set -u
cd "$1" || exit 1

# A room is a folder; one with a "/" at its end is that folder with all in it. A line names rooms that stand above it
# alone, so that what is included lies nearer to the top, always.
rooms='
runtime/include/pwl     :
runtime                 : runtime/include/pwl
runtime/rows            : runtime/include/pwl runtime
runtime/network         : runtime/include/pwl runtime
runtime/x86             : runtime/include/pwl runtime runtime/rows runtime/network
runtime/arm             : runtime/include/pwl runtime runtime/rows runtime/network
runtime/riscv           : runtime/include/pwl runtime

kernels/include/pwl     : runtime/include/pwl
runtime/python/core     : runtime/include/pwl kernels/include/pwl
kernels/arch            : runtime/include/pwl kernels/include/pwl
kernels/attention       : runtime/include/pwl kernels/include/pwl kernels/arch
kernels/map             : runtime/include/pwl kernels/include/pwl kernels/arch
kernels/rows            : runtime/include/pwl kernels/include/pwl kernels/arch
kernels/network         : runtime/include/pwl kernels/include/pwl kernels/arch kernels/map kernels/rows
kernels/blocks          : runtime/include/pwl kernels/include/pwl kernels/arch
kernels/gemm            : runtime/include/pwl kernels/include/pwl kernels/arch kernels/map kernels/blocks
kernels/blocks/x86      : runtime/include/pwl kernels/include/pwl kernels/arch kernels/blocks
kernels/gemm/host       : runtime/include/pwl kernels/include/pwl kernels/arch kernels/blocks kernels/gemm
kernels/gemm/host/x86   : runtime/include/pwl kernels/include/pwl kernels/gemm kernels/gemm/host
kernels/gemm/host/arm   : runtime/include/pwl kernels/include/pwl kernels/gemm kernels/gemm/host
kernels/gemm/host/riscv : runtime/include/pwl kernels/include/pwl kernels/gemm kernels/gemm/host
kernels/gemm/device     : runtime/include/pwl kernels/include/pwl kernels/arch kernels/map kernels/blocks kernels/gemm
kernels/bench/include/pwl :
kernels/bench           : kernels/bench/include/pwl

fitter/base             :
fitter/jobs             : fitter/base
fitter/tools            : fitter/base
fitter/io               : fitter/base kernels/include/pwl
fitter/function         : fitter/base fitter/io
fitter/table            : fitter/base fitter/io fitter/function runtime/include/pwl
fitter/measure          : fitter/base fitter/function fitter/table runtime/include/pwl
fitter/profile          : fitter/base fitter/io fitter/function fitter/table runtime/include/pwl
fitter/spec             : fitter/base fitter/io fitter/function fitter/table fitter/profile runtime/include/pwl
fitter/search           : fitter/base fitter/function fitter/table runtime/include/pwl
fitter/search/minimax   : fitter/base fitter/function fitter/measure fitter/search runtime/include/pwl
fitter/search/interpolation : fitter/base fitter/search fitter/search/minimax runtime/include/pwl
fitter/search/squares   : fitter/base fitter/search runtime/include/pwl
fitter/search/ties      : fitter/base fitter/search fitter/search/minimax runtime/include/pwl
fitter/fit              : fitter/base fitter/function fitter/table fitter/measure fitter/spec fitter/search fitter/search/minimax fitter/search/interpolation fitter/search/squares fitter/search/ties
fitter/proof            : fitter/base fitter/function fitter/table fitter/spec fitter/search fitter/search/minimax fitter/fit runtime/include/pwl
fitter/proof/checker    :
fitter/operator         : fitter/base fitter/io fitter/function fitter/table fitter/spec fitter/fit runtime/include/pwl
fitter/network          : fitter/base fitter/io fitter/function fitter/table fitter/operator runtime/include/pwl
fitter/emit/            : fitter/base fitter/io fitter/function fitter/table fitter/operator fitter/network runtime/include/pwl
fitter/sfpu             : fitter/base fitter/io fitter/function fitter/table kernels/include/pwl
fitter/verify           : fitter/base fitter/tools fitter/table fitter/operator fitter/emit runtime/include/pwl
fitter/cost             : fitter/base fitter/tools fitter/table fitter/operator fitter/emit runtime/include/pwl
fitter/report           : fitter/base fitter/jobs fitter/io fitter/function fitter/table fitter/measure fitter/spec fitter/fit fitter/operator
fitter/device           : fitter/base fitter/jobs fitter/io fitter/function fitter/table fitter/measure runtime/include/pwl kernels/include/pwl kernels/bench/include/pwl
fitter/cli              : fitter/base fitter/jobs fitter/io fitter/function fitter/table fitter/profile fitter/measure fitter/spec fitter/fit fitter/proof fitter/operator fitter/network fitter/emit fitter/sfpu fitter/verify fitter/cost fitter/report fitter/device runtime/include/pwl kernels/include/pwl
fitter                  : fitter/base fitter/jobs fitter/cli

luts                    : runtime/include/pwl
luts/standalone         :
examples                : runtime/include/pwl kernels/include/pwl luts
'

# Sources that need each other, and why. A source is a .c, .cu or .cuh with the header of its name.
loops='
fitter/function/expression fitter/function/function : an expression is a kind of function, and is made of functions
'

sources() {
    if [ -e .git ] && command -v git >/dev/null; then
        git -c safe.directory='*' ls-files --cached --others --exclude-standard
    else
        find . -type f -not -path './build*' | sed 's|^\./||'
    fi | grep -E '\.(c|h|cu|cuh)$' | grep -v '^tests/' | while IFS= read -r path; do [ -f "$path" ] && echo "$path"; done
}

mapfile -t files < <(sources)
[ ${#files[@]} -gt 0 ] || { echo "no sources found in $1"; exit 1; }

ROOMS=$rooms LOOPS=$loops FILES=$(printf '%s\n' "${files[@]}") awk '
function fail(text) { print text; failed = 1 }

function folder(path) { sub(/\/[^\/]*$/, "", path); return path }

# The room of a path; "" outside every room.
function room_of(path, at) {
    at = folder(path)
    if (at in order)
        return at
    for (; at ~ /\//; at = folder(at))
        if ((at "/") in whole)
            return at
    return (at "/") in whole ? at : ""
}

# A path without "x/../".
function plain(path) { while (sub(/[^\/.]+\/\.\.\//, "", path)) {} return path }

function resolve(from, name, count, places, i, path) {
    count = split(folder(from) " fitter kernels kernels/include kernels/bench/include runtime/include luts", places, " ")
    for (i = 1; i <= count; i++) {
        path = plain(places[i] "/" name)
        if (path in known)
            return path
    }
    return ""
}

function source_of(path) { sub(/\.(c|h|cu|cuh)$/, "", path); return path }

# Whether one source needs another, directly or through others.
function reaches(from, to, seen, count, list, i) {
    count = split(needs[from], list, " ")
    for (i = 1; i <= count; i++) {
        if (list[i] == to)
            return 1
        if (!(list[i] in seen)) {
            seen[list[i]] = 1
            if (reaches(list[i], to, seen))
                return 1
        }
    }
    return 0
}

BEGIN {
    count = split(ENVIRON["ROOMS"], lines, "\n")
    for (i = 1; i <= count; i++) {
        if (split(lines[i], half, ":") < 2)
            continue
        room = half[1]
        gsub(/ /, "", room)
        if (sub(/\/$/, "", room))
            whole[room "/"] = 1
        order[room] = ++rooms
        parts = split(half[2], named, " ")
        for (k = 1; k <= parts; k++) {
            if (!(named[k] in order))
                fail("rooms: " room " names " named[k] ", which does not stand above it")
            allowed[room, named[k]] = 1
        }
        allowed[room, room] = 1
    }
    count = split(ENVIRON["LOOPS"], lines, "\n")
    for (i = 1; i <= count; i++)
        if (split(lines[i], half, " : ") == 2) {
            parts = split(half[1], named, " ")
            for (k = 1; k <= parts; k++)
                for (l = 1; l <= parts; l++)
                    told[named[k], named[l]] = 1
        }
    count = split(ENVIRON["FILES"], list, "\n")
    for (i = 1; i <= count; i++)
        known[list[i]] = 1
}

FNR == 1 {
    room = room_of(FILENAME)
    if (room == "")
        fail(FILENAME ": is in no room; tests/check_layers.sh has the table")
}

/^[ \t]*#[ \t]*include[ \t]*["<]/ {
    name = $0
    sub(/^[^"<]*["<]/, "", name)
    sub(/[">].*/, "", name)
    path = resolve(FILENAME, name)
    if (path == "") {
        if ($0 ~ /include[ \t]*"/ && room != "examples") # which include what a build makes, too
            fail(FILENAME ":" FNR ": " name " is no header of the project")
        next
    }
    other = room_of(path)
    if (room != "" && other != "" && !((room, other) in allowed))
        fail(FILENAME ":" FNR ": " path ": " room "/ may not include what is in " other "/")
    if (source_of(path) != source_of(FILENAME))
        needs[source_of(FILENAME)] = needs[source_of(FILENAME)] " " source_of(path)
}

END {
    for (from in needs) {
        count = split(needs[from], list, " ")
        for (i = 1; i <= count; i++) {
            delete seen
            if (!((from, list[i]) in told) && reaches(list[i], from, seen))
                fail(from " needs " list[i] ", which needs it in turn")
        }
    }
    exit failed
}' "${files[@]}"
failed=$?

# Headers of systems and packages. only FOLDERS PATTERN WHY: sources there include, of <...>, what matches the extended
# pattern alone; never FOLDERS PATTERN WHY: nothing that matches. FOLDERS is an extended pattern, too.
judge() {
    local kind=$1 folders=$2 pattern=$3 why=$4 found
    found=$(printf '%s\n' "${files[@]}" | grep -E "^($folders)" | grep -v '^fitter/search/real_line_fit.c$' |
        xargs -r grep -nHE '^[[:space:]]*#[[:space:]]*include[[:space:]]*<' | grep -v '<pwl/' |
        grep $kind -E "<($pattern)>")
    [ -z "$found" ] || { printf '%s\n' "$found" "$why"; failed=1; }
}
only() { judge -v "$@"; }
never() { judge '' "$@"; }
never . 'gsl/.*' 'GSL is included by fitter/search/real_line_fit.c alone'
never 'runtime|kernels' '(jansson|nettle|mpfr).*' 'the packages of fitter/ are not for runtime/ and kernels/'
only 'runtime/([^p]|p[^y])' 'std(def|int)\.h|immintrin\.h|arm_(acle|mve|neon|sve)\.h|riscv_vector\.h|avr/pgmspace\.h|sys/auxv\.h' \
    'runtime/ includes stddef.h, stdint.h, headers of instructions and of flash, and sys/auxv.h'
only runtime/python 'std(bool|def|int|lib)\.h|float\.h|string\.h|Python\.h|cuda_runtime_api\.h' \
    'runtime/python/ includes Python.h, the CUDA runtime and little of the C library'
exit $failed
