#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench_cpu_gemm.sh BUILD WORK: what ./dev bench cpu-gemm runs, from the source root. BUILD holds a release build with
# libpwl-qgemm. The peers that PyPI has are installed into a virtual environment in WORK, none elsewhere.
set -euo pipefail

build=$(realpath "$1")
mkdir -p "$2"
work=$(realpath "$2")
packages=(numpy onnx onnxruntime ggml-python torch)

python=$work/venv/bin/python
if ! "$python" -c 'import numpy, onnx, onnxruntime, ggml, torch' 2>/dev/null; then
    echo "installing ${packages[*]} into $work/venv" >&2
    if ! /usr/bin/python3 -m venv "$work/venv" || ! "$python" -m pip -q install "${packages[@]}"; then
        echo "bench_cpu_gemm: ${packages[*]} cannot be installed into $work/venv; they come from PyPI, venv from python3-venv" >&2
        exit 77
    fi
fi

# What the list of ways depends on.
have=()
while read -r macro; do
    have+=("$macro")
done < <(grep -o '"command": .*gemm_host_way\.c\.o.*' "$build/compile_commands.json" | grep -o -e '-DPWL_HAVE_[A-Z0-9]*' | sort -u)
"${CC:-cc}" -O2 -shared -fPIC "${have[@]}" -Iruntime/include -Ikernels/include -Ikernels tests/speed/cpu_gemm.c \
    -Wl,--whole-archive "$build/kernels/libpwl-qgemm.a" -Wl,--no-whole-archive "$build/kernels/libpwl-blocks.a" \
    "$build/runtime/libpwl.a" -lm -o "$work/cpu_gemm.so"
if ! "${CC:-cc}" -O2 -shared -fPIC tests/speed/onednn_gemm.c -ldnnl -o "$work/onednn_gemm.so"; then
    echo "bench_cpu_gemm: oneDNN is left out; it comes with libdnnl-dev" >&2
    rm -f "$work/onednn_gemm.so"
fi

model=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
"$python" tests/speed/bench_cpu_gemm.py "$work" "${model:-unknown processor}" "$work/bench_cpu_gemm.jsonl"
