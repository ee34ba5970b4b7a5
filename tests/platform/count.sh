#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program that counts instructions, under an emulator. Exit 77, a skip, without the emulator or compiler.
# usage: count.sh "EMULATOR..." --build COMPILER ARGUMENT...
set -eu
. "$(dirname "$0")/emulate.sh"
program "${@:2}"
emulate "$1"
cat "$work/found"
[ $status -eq 0 ] || echo "FAILED: wrong values, a count above its limit, or ways in another order than their costs; exit status $status"
exit $status
