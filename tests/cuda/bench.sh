#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Benchmarks on one device: markdown on standard output. Needs the CUDA toolkit and a C compiler.
# Exit 77 where the toolkit or a device is missing.
set -u
cd "$(dirname "$0")/../.." || exit 1
host_programs=()
programs=(bench_map)
. tests/cuda/build.sh
log build-host build_host || die "building the C parts failed"
log build-native build_for native "arch=compute_$capability,code=sm_$capability" ||
    die "building for sm_$capability failed"
date -u '+%Y-%m-%d'
for program in "${programs[@]}"; do
    "$build/native/$program" || exit
done
