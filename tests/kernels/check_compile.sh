#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kernels/compile.sh stops a build at spilled registers, at ptxas's remarks on performance and at warnings.
# $1 source root, $2 nvcc.
set -u
compile=$1/kernels/compile.sh nvcc=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# expect STATUS PATTERN NVCC OPTION...: its exit status, and a line of its output; "" for none.
expect() {
    local status=$1 pattern=$2 output got
    shift 2
    output=$(bash "$compile" "$@" 2>&1)
    got=$?
    if [ $status = bad ] && [ $got -ne 0 ] && grep -qE "$pattern" <<<"$output"; then
        return
    fi
    if [ $status = good ] && [ $got -eq 0 ] && [ -z "$output" ]; then
        return
    fi
    echo "FAILED: $status expected of $*, but status $got and:"
    echo "$output"
    failed=1
}

cat >"$work/kernel.cu" <<'SOURCE'
__global__ void sums(const float *x, float *y)
{
    float v[48];
    for (int i = 0; i < 48; i++)
        v[i] = x[48 * threadIdx.x + i];
    __syncthreads();
    for (int i = 0; i < 48; i++)
        y[48 * threadIdx.x + i] = v[i] * v[47 - i];
}
SOURCE
cat >"$work/warning.cu" <<'SOURCE'
__global__ void unused(float *y)
{
    int forgotten;
    *y = 1;
}
SOURCE
options=(-gencode arch=compute_80,code=sm_80 -c -o "$work/kernel.o")
expect good "" "$nvcc" "${options[@]}" "$work/kernel.cu"
expect bad 'spill' "$nvcc" "${options[@]}" -maxrregcount=24 "$work/kernel.cu"
expect bad 'forgotten' "$nvcc" "${options[@]}" "$work/warning.cu"

# An nvcc that succeeds and prints what $work/says holds.
printf '#!/bin/sh\ncat "%s"\n' "$work/says" >"$work/nvcc"
chmod +x "$work/nvcc"
say() {
    printf 'ptxas info    : Compiling entry function %s for %s\n%s\n' "'gemm'" "'sm_90a'" "$1" >"$work/says"
}
say '    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads'
expect good "" "$work/nvcc"
say '    0 bytes stack frame, 4 bytes spill stores, 0 bytes spill loads'
expect bad 'gemm' "$work/nvcc"
say '    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads'
expect bad '16 bytes stack' "$work/nvcc"
say "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to..."
expect bad 'C7510.*Potential' "$work/nvcc"
say "ptxas info    : (C7515) wgmma.mma_async instructions are serialized"
expect bad 'C7515' "$work/nvcc"
exit $failed
