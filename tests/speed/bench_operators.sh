#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench_operators.sh BUILD WORK: what ./dev bench operators runs, from the source root. BUILD holds a release build with
# pwlc and libpwl. The peers that PyPI has are installed into a virtual environment in WORK, none elsewhere.
set -euo pipefail

build=$(realpath "$1")
mkdir -p "$2"
work=$(realpath "$2")
packages=(numpy ai-edge-litert onnxruntime torch)

python=$work/venv/bin/python
if ! "$python" -c 'import numpy, ai_edge_litert, onnxruntime, torch' 2>/dev/null; then
    echo "installing ${packages[*]} into $work/venv" >&2
    if ! /usr/bin/python3 -m venv "$work/venv" || ! "$python" -m pip -q install "${packages[@]}"; then
        echo "bench_operators: ${packages[*]} cannot be installed into $work/venv; they come from PyPI, venv from python3-venv" >&2
        exit 77
    fi
fi

model=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
export PWLC=$build/fitter/pwlc PYTHONPATH=$build/runtime/python PYTHONDONTWRITEBYTECODE=1
export OMP_NUM_THREADS=1 TF_CPP_MIN_LOG_LEVEL=3
"$python" tests/speed/bench_operators.py "${model:-unknown processor}" "$work/bench_operators.jsonl" "$work/operators.svg"
