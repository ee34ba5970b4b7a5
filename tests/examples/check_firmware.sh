#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The firmware, under an emulator, says that it sent its frames, and leaves with exit status 0. Exit 77, a skip, without
# the emulator or compiler. usage: check_firmware.sh "EMULATOR..." --build COMPILER ARGUMENT...
set -eu
. "$(dirname "$0")/../platform/emulate.sh"
program "${@:2}"
emulate "$1"
cat "$work/found"
[ $status -eq 0 ] || { echo "FAILED: exit status $status"; exit 1; }
grep -qx 'frames sent by way of values' "$work/found"
