#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# JSON evaluator = emitted header = standalone header = CUDA header on the host, code by code.
# usage: check_headers.sh PWLC CC TABLE.json...
# Emits the three headers of every table, compiles all of them into one C and one C++ program without a warning, and
# compares them with `pwlc eval`. CC may hold flags; it must compile C++ too (-x c++), as gcc and clang do.
set -eu
PWLC=$1
CC=$2
shift 2
. "$(dirname "$0")/headers.sh"

[ $# -gt 0 ] || fail "no table given"

declarations='' entries='' includes='' count=0
for table in "$@"; do
    runtime=t${count}_runtime alone=t${count}_alone cuda=t${count}_cuda
    "$PWLC" emit --name "$runtime" -o "$work/$runtime.h" "$table" || fail "$table: emit"
    "$PWLC" emit --standalone --name "$alone" -o "$work/$alone.h" "$table" || fail "$table: emit --standalone"
    "$PWLC" emit --format cuda --name "$cuda" -o "$work/$cuda.h" "$table" || fail "$table: emit --format cuda"
    for header in "$alone" "$cuda"; do
        if grep '^#include' "$work/$header.h" | grep -qv -e '<stdint.h>' -e '<stddef.h>'; then
            fail "$table: $header.h includes more than stdint.h and stddef.h"
        fi
        if grep -qwE 'float|double' <(sed 's|/\*.*\*/||; /^\/\*/,/\*\//d' "$work/$header.h"); then
            fail "$table: $header.h computes in floating point"
        fi
    done
    read -r out_t in_t < <(sed -n "s/^static inline \([a-z0-9_]*\) ${alone}_eval(\([a-z0-9_]*\) q_x)\$/\1 \2/p" \
        "$work/$alone.h")
    includes+="#include \"$runtime.h\""$'\n'"#include \"$alone.h\""$'\n'"#include \"$cuda.h\""$'\n'
    declarations+="HEADER_FUNCTIONS($alone, $in_t, $out_t)"$'\n'"HEADER_FUNCTIONS($cuda, $in_t, $out_t)"$'\n'
    pointers="&$runtime, NULL"
    if grep -q "^static const pwl_reduced $runtime = " "$work/$runtime.h"; then
        pointers="&$runtime.core, &$runtime"
    fi
    entries+="    HEADER_TEST($pointers, $alone, $cuda, $(limits "$in_t")),"$'\n'
    count=$((count + 1))
done

# The emitted headers come first and twice: they need nothing before them and are guarded.
cat >"$work/check.c" <<END
${includes}${includes}#include "check_headers.h"
${declarations}
static const struct header_test tests[] = {
${entries}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, $count);
}
END

warnings='-Wall -Wextra -Wpedantic -Wconversion -Werror'
traps='-fsanitize=shift,signed-integer-overflow,bounds,null -fsanitize-undefined-trap-on-error'
include="-I$root/runtime/include -I$root/tests/fitter/emit"
build() { # NAME LANGUAGE-FLAGS...
    name=$1
    shift
    $CC "$@" $warnings $traps $include -c "$work/check.c" -o "$work/$name.o" || fail "$name: does not compile"
    $CC "$work/$name.o" "$work"/runtime_*.o -o "$work/$name" || fail "$name: does not link"
}
for source in "$root"/runtime/*.c; do
    $CC -std=c11 -O2 "-I$root/runtime/include" -c "$source" -o "$work/runtime_$(basename "$source" .c).o"
done
# Where size counts, headers search otherwise.
build check_c -O1 -std=c11
build check_cpp -Os -x c++ -std=c++17
$CC -x c++ -std=c++11 $warnings $include -fsyntax-only "$work/check.c" || fail "does not compile as C++11"

k=0 codes=0
for table in "$@"; do
    "$work/check_c" codes $k >"$work/codes"
    "$PWLC" eval "$table" - <"$work/codes" >"$work/expected" 2>"$work/notes" || fail "$table: eval: $(cat "$work/notes")"
    for program in check_c check_cpp; do
        "$work/$program" check $k <"$work/expected" || fail "$table: $program"
    done
    codes=$((codes + $(wc -l <"$work/codes")))
    k=$((k + 1))
done
echo "$count tables, $codes codes: JSON = header = standalone header = CUDA header, as C and as C++"
