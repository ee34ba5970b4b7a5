#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every GPU test, on one device: as machine code of its architecture, then from the PTX of compute_80 alone, then a
# small part under each tool of compute-sanitizer. Needs the CUDA toolkit and a C compiler; builds in build/gpu.
# Exit 77 where the toolkit or a device is missing. Whole logs stay in build/gpu.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=build/gpu
failed=0
mkdir -p "$build" || exit 1

say() {
    printf 'gpu: %s\n' "$*"
}

skip() {
    say "$*"
    exit 77
}

die() {
    say "$*"
    exit 1
}

# find_tool NAME PATH...: the first that runs.
find_tool() {
    local path
    for path; do
        path=$(command -v "$path") || continue
        echo "$path"
        return
    done
    return 1
}

nvcc=$(find_tool nvcc "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc") || skip "nvcc is missing: install the CUDA toolkit"
cuda=$(bash kernels/toolkit.sh "$nvcc") || exit 1
cc=$(find_tool "${CC:-cc}" gcc) || skip "a C compiler is missing"

# The capability, as nvcc names it; Hopper's own instructions are those of 90a.
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d '. ')
[[ $capability =~ ^[0-9]+$ ]] || skip "no CUDA device: nvidia-smi finds none"
[ "$capability" != 90 ] || capability=90a
say "$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1)," \
    "$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/CUDA \1/p')"

# log NAME COMMAND...: the output goes to a file, which is shown when the command fails.
log() {
    local file=$build/$1.log
    shift
    "$@" >"$file" 2>&1 && return
    tail -n 40 "$file"
    return 1
}

include=(-Iruntime/include -Ikernels/include)

# What every program is linked from, and the programs: those that need no device, and the others.
c_sources=(runtime/{eval,map,proof}.c kernels/{cuda,cuda_blocks,blocks}.c)
cu_sources=(kernels/{map,blocks}.cu tests/cuda/bits_device.cu)
host_programs=(test_cuda_host test_bits test_blocks)
programs=(test_cuda test_bits_cuda test_blocks_cuda)

# objects DIRECTORY SOURCE...: the names of their objects.
objects() {
    local directory=$1 source
    shift
    for source; do
        source=${source##*/}
        echo "$directory/${source%.*}.o"
    done
}

build_host() {
    local source
    bash tests/cuda/list_luts.sh "$PWD/luts" >"$build/luts.h" || return
    for source in "${c_sources[@]}" "${host_programs[@]/#/tests/cuda/}" "${programs[@]/#/tests/cuda/}"; do
        "$cc" -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -g -Wall -Wextra "${include[@]}" -I"$build" -isystem "$cuda/include" \
            -c "${source%.c}.c" -o "$(objects "$build" "$source")" || return
    done
}

# build_for NAME GENCODE: the programs in build/gpu/NAME.
build_for() {
    local directory=$build/$1 source program
    mkdir -p "$directory"
    for source in "${cu_sources[@]}"; do
        bash kernels/compile.sh "$nvcc" "${include[@]}" -lineinfo -gencode "$2" -c "$source" \
            -o "$(objects "$directory" "$source")" || return
    done
    for program in "${host_programs[@]}" "${programs[@]}"; do
        # shellcheck disable=SC2046
        "$nvcc" "$build/$program.o" $(objects "$build" "${c_sources[@]}") $(objects "$directory" "${cu_sources[@]}") \
            -o "$directory/$program" || return
    done
}

# run NAME COMMAND...: TAP; tells the failures and a summary in one line.
run() {
    local name=$1 file=$build/$1.log status passed began=$SECONDS
    shift
    timeout 300 "$@" >"$file" 2>&1
    status=$?
    [ $status -ne 77 ] || skip "$(grep -m 1 SKIP "$file")"
    passed=$(grep -c '^ok' "$file")
    if [ $status -eq 0 ] && [ "$passed" -gt 0 ]; then
        say "$name: $passed passed in $((SECONDS - began)) s"
        return
    fi
    failed=1
    grep -vE '^ok|^1\.\.' "$file" | head -n 12
    say "$name: FAILED with status $status after $passed that passed; see $file"
}

log build-host build_host || die "building the C parts failed"
log build-native build_for native "arch=compute_$capability,code=sm_$capability" || die "building for sm_$capability failed"
log build-ptx build_for ptx arch=compute_80,code=compute_80 || die "building for compute_80 failed"

for program in "${host_programs[@]}"; do
    run "$program" "$build/native/$program"
done
for program in "${programs[@]}"; do
    run "$program-sm_$capability" "$build/native/$program"
    run "$program-compute_80-ptx" "$build/ptx/$program"
done

sanitizer=$(find_tool "$cuda/bin/compute-sanitizer" "$cuda/compute-sanitizer/compute-sanitizer" compute-sanitizer) ||
    { [ $failed -ne 0 ] || skip "compute-sanitizer is missing, the tests themselves passed"; exit 1; }
for tool in memcheck racecheck initcheck synccheck; do
    for program in "${programs[@]}"; do
        run "$program-$tool" "$sanitizer" --tool $tool --error-exitcode 9 "$build/native/$program" small
    done
done
[ $failed -ne 0 ] || say "all passed"
exit $failed
