#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# -Dgpu_code=ptx and -Dfitter=disabled with CUDA: configured whole, one kernel compiled, machine code for no device; all
# else are commands of other builds.
# $1 source root, then the compiler.
set -eu
source_root=$1
shift

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# quietly COMMAND...: what it says is shown when it fails.
quietly() {
    "$@" >"$root/log" 2>&1 || { cat "$root/log"; exit 1; }
}
CC=$* quietly "${MESON:-meson}" setup "$root/build" "$source_root" -Dwerror=true -Dtests=enabled -Dcuda=enabled \
    -Dgpu_code=ptx -Dfitter=disabled
# No command lacks a source, and one works.
quietly ninja -C "$root/build" -n
quietly ninja -C "$root/build" kernels/blocks_blocks.o

ninja -C "$root/build" -t commands >"$root/commands"
grep -q 'code=compute_80' "$root/commands" || { echo "no PTX is compiled"; exit 1; }
if grep -E 'code=[^ ]*sm_[0-9]' "$root/commands"; then
    echo "gpu_code=ptx compiles for devices"
    exit 1
fi
if grep -E '^[^ ]+ .*(/fitter/|-lgsl)' "$root/commands"; then
    echo "fitter=disabled builds pwlc"
    exit 1
fi
