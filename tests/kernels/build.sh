# SPDX-License-Identifier: Apache-2.0
# Sourced, from the root of the sources, by what builds programs for this machine's device: its tools, the device's
# capability, and functions. The caller names host_programs, which need no device, and programs, by their sources' paths
# below tests/ without the .c; they are built in build/gpu, where whole logs stay. Exit 77 where the toolkit or a device
# is missing.
build=build/gpu
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

nvidia-smi --query-gpu=name --format=csv,noheader >/dev/null 2>&1 || skip "no CUDA device: nvidia-smi finds none"
capability=$(bash kernels/native.sh "$nvcc" | head -n 1)
[ -n "$capability" ] || die "$nvcc does not compile for this machine's devices"
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

include=(-Iruntime/include -Ikernels/include -Ikernels/bench/include -Ikernels -Ifitter -Iluts)

# listed FILE: the sources that a list of sources names, as paths from here.
listed() {
    local library source
    while read -r library source; do
        case $library in
        '' | '#') ;;
        *) echo "${1%/*}/$source" ;;
        esac
    done <"$1"
}

# What every program is linked from.
c_sources=(runtime/{,network/,rows/}*.c examples/{gru_cell,ffn_block,ffn_cuda,ffn_parallel,gpus,nccl,gguf}.c)
cu_sources=(tests/kernels/arch/bits_device.cu examples/gru.cu)
for source in $(listed kernels/sources.txt); do
    case $source in
    *.cu) cu_sources+=("$source") ;;
    *) c_sources+=("$source") ;;
    esac
done

# objects DIRECTORY SOURCE...: the names of their objects.
objects() {
    local directory=$1 source
    shift
    for source; do
        source=${source//\//_}
        echo "$directory/${source%.*}.o"
    done
}

# all PID...: waits for each; fails when one did.
all() {
    local pid status=0
    for pid; do
        wait "$pid" || status=1
    done
    return $status
}

# compile_c SOURCE DIRECTORY
compile_c() {
    "$cc" -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -g -fPIC -Wall -Wextra "${include[@]}" -I"$build" -isystem "$cuda/include" \
        -c "$1" -o "$(objects "$2" "$1")"
}

# compile_cu SOURCE DIRECTORY GENCODE
compile_cu() {
    bash kernels/compile.sh "$nvcc" "${include[@]}" -Xcompiler -fPIC -lineinfo -gencode "$3" -c "$1" \
        -o "$(objects "$2" "$1")"
}

build_host() {
    local source pids=()
    bash tests/list_luts.sh "$PWD/luts" >"$build/luts.h" || return
    for source in "${c_sources[@]}" "${host_programs[@]/#/tests/}" "${programs[@]/#/tests/}"; do
        compile_c "${source%.c}.c" "$build" &
        pids+=($!)
    done
    all "${pids[@]}"
}

# build_for NAME GENCODE: the programs in build/gpu/NAME, without their folders.
build_for() {
    local directory=$build/$1 source program pids=()
    mkdir -p "$directory"
    for source in "${cu_sources[@]}"; do
        compile_cu "$source" "$directory" "$2" &
        pids+=($!)
    done
    all "${pids[@]}" || return
    for program in "${host_programs[@]}" "${programs[@]}"; do
        # shellcheck disable=SC2046
        "$nvcc" $(objects "$build" "tests/$program.c" "${c_sources[@]}") $(objects "$directory" "${cu_sources[@]}") \
            -o "$directory/${program##*/}" || return
    done
}

# Sources whose copies and multiplications wait for each other by barriers of arch/hopper.cuh.
waiting_sources=(kernels/gemm/device/*wgmma*.cu kernels/attention/attention.cu)

# compile_waiting NAME GENCODE OPTION...: those, in another way, in build/gpu/NAME. Such a build is about the order of
# things alone: it may spill the registers that its option takes.
compile_waiting() {
    local source pids=()
    mkdir -p "$build/$1"
    for source in "${waiting_sources[@]}"; do
        "$nvcc" -std=c++17 -O3 "${include[@]}" -Xcompiler -fPIC -lineinfo -gencode "$2" "${@:3}" -c "$source" \
            -o "$(objects "$build/$1" "$source")" &
        pids+=($!)
    done
    all "${pids[@]}"
}

# link_waiting NAME PROGRAM...: programs of build_for native, with them, in build/gpu/NAME.
link_waiting() {
    local directory=$build/$1 source program cu_objects=()
    for source in "${cu_sources[@]}"; do
        case " ${waiting_sources[*]} " in
        *" $source "*) cu_objects+=("$(objects "$directory" "$source")") ;;
        *) cu_objects+=("$(objects "$build/native" "$source")") ;;
        esac
    done
    for program in "${@:2}"; do
        # shellcheck disable=SC2046
        "$nvcc" $(objects "$build" "tests/$program.c" "${c_sources[@]}") "${cu_objects[@]}" \
            -o "$directory/${program##*/}" || return
    done
}

# build_library NAME GENCODE: what pwlc loads, as build/gpu/NAME/libpwlc-cuda.so, from what build_for NAME made.
build_library() {
    local directory=$build/$1 source own
    own=$(listed fitter/device/sources.txt)
    for source in $own; do
        case $source in
        *.cu) compile_cu "$source" "$directory" "$2" ;;
        *) compile_c "$source" "$directory" ;;
        esac || return
    done
    # shellcheck disable=SC2046,SC2086
    "$nvcc" -shared $(objects "$directory" $own) $(objects "$build" "${c_sources[@]}") \
        $(objects "$directory" "${cu_sources[@]}") -Xlinker --exclude-libs,ALL -o "$directory/libpwlc-cuda.so"
}
