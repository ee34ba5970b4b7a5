#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [tests|sanitizers]: every GPU test, on one device. Tests: as machine code of its architecture, and from the PTX
# of compute_80 alone; on devices of 9.0 products whose warps fall behind at random; where `./dev static` has made
# build/gpu/pwlc-static, sweeps, products and emitted headers. Sanitizers: a small part under each tool of
# compute-sanitizer. Needs the CUDA toolkit and a C compiler; builds in build/gpu.
# Exit 77 where the toolkit or a device is missing. Whole logs stay in build/gpu.
set -u
cd "$(dirname "$0")/../.." || exit 1
case ${1:-} in
'') parts=" tests sanitizers " ;;
tests | sanitizers) parts=" $1 " ;;
*) echo "gpu: \"$1\" is not a part: tests or sanitizers" >&2 && exit 2 ;;
esac
host_programs=(kernels/arch/test_bits kernels/map/test_{map_cuda_host,plan,real}
    kernels/rows/test_{packs,rows_cuda_host} kernels/attention/test_attention{,_cuda_host} kernels/blocks/test_blocks
    kernels/gemm/test_qgemm_{cuda_host,fast,narrow})
programs=(kernels/arch/test_bits_cuda kernels/map/test_{map,real}_cuda kernels/rows/test_rows_cuda
    kernels/attention/test_attention_cuda
    kernels/network/test_network_cuda
    kernels/blocks/test_blocks_cuda
    kernels/gemm/test_qgemm_{cuda,activation_cuda,pack_cuda,pack_e4m3_cuda,wgmma_cuda,wgmma_drawn_cuda,fp8_cuda,group_cuda}
    examples/test_{gru,ffn,ffn_parallel}_cuda)
. tests/kernels/build.sh
. tests/devices.sh
devices=$(device_states)
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
    else # nor may it skip: there is a device
        grep -vE '^ok|^1\.\.[1-9]' "$file" | head -n 12
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
        [ "$status" -eq 0 ] || failed=1
        cat "$build/$name.said"
    done
    names=()
}

wanted() {
    [[ $parts = *" $1 "* ]]
}

# Jobs of one name and the pid of each, until `built`.
building=()
begin() {
    log "build-$1" "${@:2}" &
    building+=($!)
}

log build-host build_host || die "building the C parts failed"
native="arch=compute_$capability,code=sm_$capability"
begin native build_for native "$native"
if wanted tests; then
    begin ptx build_for ptx arch=compute_80,code=compute_80
fi
if [ "$capability" = 90a ]; then
    ! wanted tests || begin delayed compile_waiting delayed "$native" -DPWL_QGEMM_DELAYS
    ! wanted sanitizers || begin each-lane compile_waiting each-lane "$native" -DPWL_QGEMM_EACH_LANE_TELLS
fi
all "${building[@]}" || die "building failed"
if [ -x "$build/pwlc-static" ]; then
    log build-library build_library native "$native" || die "building libpwlc-cuda.so failed"
fi
say "built in $SECONDS s"

run_tests() {
    local program
    for program in "${host_programs[@]##*/}"; do
        run "$program" "$build/native/$program"
    done
    for program in "${programs[@]##*/}"; do
        run "$program-sm_$capability" "$build/native/$program"
        run "$program-compute_80-ptx" env QGEMM_PTX=1 "$build/ptx/$program"
    done
    if [ "$capability" = 90a ]; then
        log link-delayed link_waiting delayed kernels/gemm/test_qgemm_wgmma_drawn_cuda ||
            die "linking with delays failed"
        run wgmma-delayed bash tests/kernels/gemm/same_bits.sh "$build"/{native,delayed}/test_qgemm_wgmma_drawn_cuda
    fi
    finish
    if [ ! -x "$build/pwlc-static" ]; then
        say "no $build/pwlc-static: sweeps, products and emitted headers are left out" \
            "(./dev static makes it, where its libraries are)"
        return
    fi
    run sweep bash tests/kernels/map/sweep.sh "$build/pwlc-static" "$build/native/libpwlc-cuda.so"
    run gemm python3 tests/fitter/cli/gemm.py "$build/pwlc-static" "$build/native/libpwlc-cuda.so"
    run emitted-headers bash tests/fitter/emit/run_cuda.sh "$build/pwlc-static" "$nvcc" "sm_$capability"
    finish
}

run_sanitizers() {
    local sanitizer tool program programs_of
    sanitizer=$(find_tool "$cuda/bin/compute-sanitizer" "$cuda/compute-sanitizer/compute-sanitizer" compute-sanitizer) || {
        [ $failed -eq 0 ] || exit 1
        skip "compute-sanitizer is missing, what ran before it passed"
    }
    if [ "$capability" = 90a ]; then
        log link-each-lane link_waiting each-lane "${programs[@]}" || die "linking for racecheck failed"
    fi
    for tool in memcheck racecheck initcheck synccheck; do
        programs_of=$build/native
        if [ $tool = racecheck ] && [ "$capability" = 90a ]; then
            programs_of=$build/each-lane # wgmma_loop.cuh says what for
        fi
        for program in "${programs[@]##*/}"; do
            run "$program-$tool" "$sanitizer" --tool $tool --error-exitcode 9 "$programs_of/$program" small
        done
        [ ! -x "$build/pwlc-static" ] || PWL_CUDA_LIBRARY=$PWD/$build/native/libpwlc-cuda.so \
            run "sweep-$tool" bash -c '"$@" && echo "ok 1 - sweep"' sweep "$sanitizer" --tool $tool --error-exitcode 9 \
            "$build/pwlc-static" sweep --exhaustive --device cuda luts/tables/gelu_s8.json luts/tables/sigmoid_s16.json
    done
    finish
}

! wanted tests || run_tests
! wanted sanitizers || run_sanitizers
same_devices "$devices" || failed=1
[ $failed -ne 0 ] || say "all passed in $SECONDS s"
exit $failed
