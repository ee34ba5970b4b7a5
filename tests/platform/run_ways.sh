#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A test that runs every way of a list, under emulators, which must have the ways of these names.
# usage: run_ways.sh "WAY..." "EMULATOR...[; EMULATOR...]..." --build COMPILER ARGUMENT...
#        [--apart COMPILER ARGUMENT...]...
set -eu
. "$(dirname "$0")/emulate.sh"
read -ra ways <<<"$1"
emulators=$2
shift 2
program "$@"
while read -rd ';' emulator; do
    emulate "$emulator"
    cat "$work/found"
    [ $status -eq 0 ] || exit $status
    for way in "${ways[@]}"; do
        grep -Eq "^# ways:.* $way( [^(]|\$)" "$work/found" || { echo "the way $way is not there"; exit 1; }
    done
done <<<"$emulators;"
