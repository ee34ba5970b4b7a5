#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench_peers.sh BUILD WORK: what ./dev bench peers runs, from the source root. BUILD holds a release build with pwlc and
# libpwl. The peers that PyPI has are installed into a virtual environment in WORK, none elsewhere.
set -euo pipefail

build=$(realpath "$1")
mkdir -p "$2"
work=$(realpath "$2")
cc=${CC:-cc}
packages=(numpy ai-edge-litert onnxruntime opencv-python-headless)

python=$work/venv/bin/python
if ! "$python" -c 'import numpy, ai_edge_litert, onnxruntime, cv2' 2>/dev/null; then
    echo "installing ${packages[*]} into $work/venv" >&2
    if ! /usr/bin/python3 -m venv "$work/venv" || ! "$python" -m pip -q install "${packages[@]}"; then
        echo "bench_peers: ${packages[*]} cannot be installed into $work/venv; they come from PyPI, venv from python3-venv" >&2
        exit 77
    fi
fi

declare -A types=([s8]='--in s8:2^-4:0 --out s8:2^-8:-128' [s16]='--in s16:2^-12:0 --out s16:2^-15:0' [s32]='--in s32:2^-28:0 --out s32:2^-31:0')
for type in s8 s16 s32; do
    # shellcheck disable=SC2086
    [ -f "$work/$type.json" ] ||
        "$build/fitter/pwlc" fit sigmoid ${types[$type]} --segments 16 --method minimax -o "$work/$type.json"
done

sleef=()
if echo '#include <sleef.h>' | "$cc" -march=native -E - >/dev/null 2>&1; then
    sleef=(-DSLEEF -lsleef)
else
    echo "bench_peers: without SLEEF: install libsleef-dev" >&2
fi
"$cc" -O2 -ftree-vectorize -march=native -ffast-math -shared -fPIC tests/speed/vector_math.c -o "$work/vector_math.so" \
    "${sleef[@]}" -lm

model=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
export LIBPWL=$build/runtime/libpwl.so PYTHONPATH=$build/runtime/python PYTHONDONTWRITEBYTECODE=1
export OMP_NUM_THREADS=1 TF_CPP_MIN_LOG_LEVEL=3
"$python" tests/speed/bench_peers.py "$work" "${model:-unknown processor}" "$work/bench_peers.jsonl"
