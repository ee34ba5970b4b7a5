#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pwlc sweep --device cuda on this machine's device: every code of every shipped table, against luts/EXHAUSTIVE.md and
# against the host. TAP. Exit 77 where the toolkit, a device or pwlc is missing.
# usage: sweep.sh [PWLC LIBRARY]    by default build/gpu/pwlc-static, which ./dev static makes, and a library built here
set -u
cd "$(dirname "$0")/../../.." || exit 1
if [ $# -eq 0 ]; then
    host_programs=()
    programs=()
    . tests/kernels/build.sh
    [ -x "$build/pwlc-static" ] || skip "$build/pwlc-static is missing: ./dev static makes it, where its libraries are"
    code="arch=compute_$capability,code=sm_$capability"
    log build-host build_host && log build-native build_for native "$code" &&
        log build-library build_library native "$code" || die "building libpwlc-cuda.so failed"
    set -- "$build/pwlc-static" "$build/native/libpwlc-cuda.so"
fi
PWL_CUDA_LIBRARY=$(realpath "$2") exec python3 tests/kernels/map/sweep.py "$1"
