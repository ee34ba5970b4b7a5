#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench.sh [gpus]: benchmarks on one device, or on several: markdown on standard output, and JSON lines in
# build/gpu/bench_*.jsonl. Needs the CUDA toolkit and a C compiler; without cuobjdump or nvdisasm, instructions are not
# counted. Several devices need NCCL, as examples/nccl.h says. Exit 77 where the toolkit or a device is missing.
set -u
cd "$(dirname "$0")/../.." || exit 1
host_programs=()
several=$([ "${1:-}" = gpus ] && echo 1)
programs=(kernels/bench/bench_{map,rows_cuda,attention,blocks,qgemm,qgemm_many,qgemm_int8,qgemm_fp8,qgemm_group,qgemm_activation,qgemm_pack})
[ -z "$several" ] || programs=(kernels/bench/bench_ffn_parallel)
. tests/kernels/build.sh
log build-host build_host || die "building the C parts failed"
log build-native build_for native "arch=compute_$capability,code=sm_$capability" ||
    die "building for sm_$capability failed"
if [ -z "$several" ]; then
    log build-bits bash kernels/compile.sh "$nvcc" "${include[@]}" -gencode "arch=compute_$capability,code=sm_$capability" \
        -c tests/kernels/bench/bench_bits.cu -o "$build/native/bench_bits.o" || die "compiling bench_bits.cu failed"
    log link-bits "$nvcc" "$build/native/bench_bits.o" -o "$build/native/bench_bits" || die "linking bench_bits failed"

    # Machine instructions of each conversion, by name.
    PATH=$PATH:$cuda/bin
    cuobjdump=$(find_tool cuobjdump)
    bash tests/kernels/bench/count_sass.sh "${cuobjdump:-cuobjdump}" "$build/native/bench_bits.o" >"$build/bench_bits.counts" ||
        say "no instructions are counted"
fi

date -u '+%Y-%m-%d'
for program in "${programs[@]##*/}"; do
    "$build/native/$program" "$build/$program.jsonl" || exit
    [ "$program" != bench_qgemm ] || bash tests/kernels/bench/ladder.sh "$build/$program.jsonl"
done
[ -n "$several" ] || "$build/native/bench_bits" "$build/bench_bits.counts" "$build/bench_bits.jsonl"
