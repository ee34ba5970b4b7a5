#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# equivalence.c under an emulator: what it writes is in hashes.txt. Exit 77, a skip, without the emulator or compiler.
# usage: run.sh few|all "EMULATOR..." PROGRAM
#        run.sh few|all "EMULATOR..." --build COMPILER ARGUMENT...
set -eu
hashes=$(dirname "$0")/hashes.txt
which=$1
read -ra emulator <<<"$2"
shift 2

# needs COMMAND...
needs() {
    local tool=${1:-true}
    command -v "$tool" >/dev/null || { echo "$tool is missing; ./dev test installs it"; exit 77; }
}

needs "${emulator[@]}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
program=$1
if [ "$1" = --build ]; then
    shift
    needs "$@"
    program=$work/equivalence
    "$@" -o "$program"
fi

marks=few
[ "$which" = few ] || marks='few|all'
{ grep -E "^($marks) " "$hashes"; echo 'done'; } >"$work/expected"
status=0
"${emulator[@]}" "$program" >"$work/found" 2>&1 || status=$?
if ! diff "$work/expected" "$work/found"; then
    echo "FAILED: not what hashes.txt holds; exit status $status"
    exit 1
fi
echo "$(($(wc -l <"$work/found") - 1)) tables"
exit $status
