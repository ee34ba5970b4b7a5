#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# equivalence.c under emulators: what it writes is in hashes.txt. Exit 77, a skip, without an emulator or compiler.
# usage: run.sh few|all "EMULATOR...[; EMULATOR...]..." PROGRAM
#        run.sh few|all "EMULATOR...[; EMULATOR...]..." --build COMPILER ARGUMENT... [--apart COMPILER ARGUMENT...]...
set -eu
. "$(dirname "$0")/emulate.sh"
marks=few
[ "$1" = few ] || marks='few|all'
emulators=$2
shift 2
{ grep -E "^($marks) " "$(dirname "$0")/hashes.txt"; echo 'done'; } >"$work/expected"
program "$@"
while read -rd ';' emulator; do
    emulate "$emulator"
    if ! diff "$work/expected" "$work/found"; then
        echo "FAILED: $emulator: not what hashes.txt holds; exit status $status"
        exit 1
    fi
    [ $status -eq 0 ] || exit $status
    echo "$emulator: $(($(wc -l <"$work/found") - 1)) tables"
done <<<"$emulators;"
