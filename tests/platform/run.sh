#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# equivalence.c under an emulator: what it writes is in hashes.txt. Exit 77, a skip, without the emulator or compiler.
# usage: run.sh few|all "EMULATOR..." PROGRAM
#        run.sh few|all "EMULATOR..." --build COMPILER ARGUMENT...
set -eu
. "$(dirname "$0")/emulate.sh"
marks=few
[ "$1" = few ] || marks='few|all'
shift
{ grep -E "^($marks) " "$(dirname "$0")/hashes.txt"; echo 'done'; } >"$work/expected"
emulate "$@"
if ! diff "$work/expected" "$work/found"; then
    echo "FAILED: not what hashes.txt holds; exit status $status"
    exit 1
fi
echo "$(($(wc -l <"$work/found") - 1)) tables"
exit $status
