#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# native.sh NVCC: the compute capabilities of this machine's devices, as nvcc names them, one to a line; none below 8.0,
# which the kernels need, and none that this nvcc does not compile for. Hopper's own instructions are those of 90a.
set -u
known=$("$1" --list-gpu-code 2>/dev/null)
for capability in $(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d '. ' | sort -un); do
    if [ "$capability" -ge 80 ] 2>/dev/null && grep -qx "sm_$capability" <<<"$known"; then
        echo "${capability/#90/90a}"
    fi
done
