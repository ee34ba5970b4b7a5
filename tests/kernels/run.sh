#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every GPU test, on one device: as machine code of its architecture, and from the PTX of compute_80 alone; on devices
# of 9.0 products whose warps fall behind at random; where `./dev static` has made build/gpu/pwlc-static, sweeps,
# products and emitted headers; then a small part under each tool of compute-sanitizer. Needs the CUDA toolkit and a C
# compiler; builds in build/gpu.
# Exit 77 where the toolkit or a device is missing. Whole logs stay in build/gpu.
set -u
cd "$(dirname "$0")/../.." || exit 1
host_programs=(kernels/arch/test_bits kernels/map/test_{map_cuda_host,plan,real} kernels/blocks/test_blocks
    kernels/gemm/test_qgemm_{cuda_host,fast})
programs=(kernels/arch/test_bits_cuda kernels/map/test_{map,real}_cuda kernels/blocks/test_blocks_cuda
    kernels/gemm/test_qgemm_{cuda,activation_cuda,pack_cuda,wgmma_cuda,wgmma_drawn_cuda} examples/test_{gru,ffn}_cuda)
. tests/kernels/build.sh
failed=0

# run NAME COMMAND...: TAP, beside what else runs until `finish`, which tells the failures and a summary in one line; as
# many at a time as there are processors, since most of the work is the reference's.
names=()
processors=$(nproc)
run() {
    names+=("$1")
    while [ "$(jobs -rp | wc -l)" -ge "$processors" ]; do
        wait -n
    done
    run_alone "$@" >"$build/$1.said" &
}

run_alone() {
    local name=$1 file=$build/$1.log status passed began=$SECONDS
    shift
    timeout 300 "$@" >"$file" 2>&1
    status=$?
    passed=$(grep -c '^ok' "$file")
    if [ $status -eq 0 ] && [ "$passed" -gt 0 ]; then
        say "$name: $passed passed in $((SECONDS - began)) s"
    elif [ $status -ne 77 ]; then
        grep -vE '^ok|^1\.\.' "$file" | head -n 12
        say "$name: FAILED with status $status after $passed that passed; see $file"
        status=1
    fi
    echo $status >"$build/$name.status"
}

finish() {
    local name status
    wait
    for name in "${names[@]}"; do
        status=$(<"$build/$name.status")
        [ "$status" -ne 77 ] || skip "$(grep -m 1 SKIP "$build/$name.log")"
        [ "$status" -eq 0 ] || failed=1
        cat "$build/$name.said"
    done
    names=()
}

log build-host build_host || die "building the C parts failed"
native="arch=compute_$capability,code=sm_$capability"
log build-native build_for native "$native" &
building=$!
log build-ptx build_for ptx arch=compute_80,code=compute_80 &
building_ptx=$!
if [ "$capability" = 90a ]; then
    log build-delayed compile_delayed "$native" || die "building with delays failed"
fi
wait $building || die "building for sm_$capability failed"
wait $building_ptx || die "building for compute_80 failed"
say "built in $SECONDS s"

for program in "${host_programs[@]##*/}"; do
    run "$program" "$build/native/$program"
done
for program in "${programs[@]##*/}"; do
    run "$program-sm_$capability" "$build/native/$program"
    run "$program-compute_80-ptx" env QGEMM_PTX=1 "$build/ptx/$program"
done
if [ "$capability" = 90a ]; then
    log link-delayed link_delayed kernels/gemm/test_qgemm_wgmma_drawn_cuda || die "linking with delays failed"
    run wgmma-delayed bash tests/kernels/gemm/same_bits.sh "$build"/{native,delayed}/test_qgemm_wgmma_drawn_cuda
fi
finish

if [ -x "$build/pwlc-static" ]; then
    log build-library build_library native "$native" ||
        die "building libpwlc-cuda.so failed"
    run sweep bash tests/kernels/map/sweep.sh "$build/pwlc-static" "$build/native/libpwlc-cuda.so"
    run gemm python3 tests/fitter/cli/gemm.py "$build/pwlc-static" "$build/native/libpwlc-cuda.so"
    run emitted-headers bash tests/fitter/emit/run_cuda.sh "$build/pwlc-static" "$nvcc" "sm_$capability"
    finish
else
    say "no $build/pwlc-static: sweeps, products and emitted headers are left out (./dev static makes it, where its libraries are)"
fi

sanitizer=$(find_tool "$cuda/bin/compute-sanitizer" "$cuda/compute-sanitizer/compute-sanitizer" compute-sanitizer) ||
    { [ $failed -ne 0 ] || skip "compute-sanitizer is missing, the tests themselves passed"; exit 1; }
for tool in memcheck racecheck initcheck synccheck; do
    for program in "${programs[@]##*/}"; do
        run "$program-$tool" "$sanitizer" --tool $tool --error-exitcode 9 "$build/native/$program" small
    done
    [ ! -x "$build/pwlc-static" ] || PWL_CUDA_LIBRARY=$PWD/$build/native/libpwlc-cuda.so \
        run "sweep-$tool" bash -c '"$@" && echo "ok 1 - sweep"' sweep "$sanitizer" --tool $tool --error-exitcode 9 \
        "$build/pwlc-static" sweep --exhaustive --device cuda luts/tables/gelu_s8.json luts/tables/sigmoid_s16.json
done
finish
[ $failed -ne 0 ] || say "all passed in $SECONDS s"
exit $failed
