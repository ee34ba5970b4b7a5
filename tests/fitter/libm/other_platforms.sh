#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every table, certificate and all, is the same where the C library, the processor and `long double` are others: the
# fitter is built with what is given, and each table of specs.sh compared with pwlc's. Exit 77, a skip, without a
# compiler or an emulator. Emulators are slow: under these one table of 31, and in the long part those of narrow
# types and some of 16 bits; the others have one table of three, and in the long part some of 20 bits.
# usage: other_platforms.sh PWLC SOURCE_DIR "EMULATOR..." COMPILER ARGUMENT...
set -eu
here=$(dirname "$0")
pwlc=$(realpath "$1")
root=$(realpath "$2")
# shellcheck source=tests/platform/emulate.sh
. "$root/tests/platform/emulate.sh"

# The rooms from a spec to its table's text, but for what needs a library.
sources=("$here/fitted.c")
for source in "$root"/fitter/{base,function,fit,measure,search,search/*,spec}/*.c \
    "$root"/fitter/table/{array_plan,pack,reduction,size,storage,table,table_write,unfused}.c; do
    case $source in
    */base/guard_none.c | */base/input.c | */base/library.c | */base/progress_page.c) ;;
    */function/reference_mpfr.c | */spec/spec_json.c) ;;
    *) sources+=("$source") ;;
    esac
done
program --build "${@:4}" -std=c11 -O1 -ffp-contract=off -ffunction-sections -Wl,--gc-sections -D_POSIX_C_SOURCE=200809L \
    '-DPWLC_VERSION=""' '-DPWLC_LIBRARY_FOLDER=""' "-I$here/stand_in" "-I$root/fitter" "${sources[@]}" -static -lm

bash "$here/specs.sh" "$pwlc" >"$work/all"
case ${3:+emulated}${PWL_TEST_LONG:-} in
emulated1) some='/--in s16/ ? wide++ % 7 == 0 : !/--in s20/' ;;
emulated*) some='!/--in s16/ && narrow++ % 31 == 0' ;;
1) some='!/--in s20/ || wide++ % 7 == 0' ;;
*) some='number++ % 3 == 0' ;;
esac
awk "$some" "$work/all" >"$work/specs"
set -f # the * and ? of expressions
while read -r spec; do
    # shellcheck disable=SC2086
    "$pwlc" fit $spec 2>"$work/notes" || { echo "FAILED: pwlc fit $spec: $(head -c 300 "$work/notes")"; exit 1; }
done <"$work/specs" | grep -v '^  "hash": ' >"$work/expected"
set +f
emulate "$3" <"$work/specs"
if [ "$status" -ne 0 ] || ! diff "$work/expected" "$work/found" >"$work/differences"; then
    echo "FAILED: $3: exit status $status; < pwlc, > built by $4"
    head -n 20 "$work/differences"
    exit 1
fi
echo "$(wc -l <"$work/specs") tables, $(wc -c <"$work/found") bytes alike: $3 $4"
