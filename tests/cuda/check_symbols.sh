#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# libpwl-cuda calls the CUDA runtime, and no cuBLAS. $1 the library.
set -u
symbols=$(nm --undefined-only "$1" 2>/dev/null | awk '{print $NF}' | sort -u)
if ! grep -qx cudaLaunchKernel <<<"$symbols"; then
    echo "$1: no symbols can be read"
    exit 1
fi
if grep -i cublas <<<"$symbols"; then
    echo "$1 needs cuBLAS"
    exit 1
fi
