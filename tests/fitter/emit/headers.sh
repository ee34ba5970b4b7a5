# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by the scripts of this directory that compile emitted headers: a folder for their files, and what they share.
# The caller has set PWLC.
# shellcheck shell=bash
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$(basename "$0" .sh): $*" >&2
    exit 1
}

# limits TYPE: of a stdint type as C constants, "INT8_MIN, INT8_MAX".
limits() {
    local upper
    case $1 in
    uint*_t) upper=$(echo "${1%_t}" | tr a-z A-Z); echo "0, ${upper}_MAX" ;;
    int*_t) upper=$(echo "${1%_t}" | tr a-z A-Z); echo "${upper}_MIN, ${upper}_MAX" ;;
    *) fail "unexpected type $1" ;;
    esac
}

# cuda_kernels TABLE.json...: writes $work/tK.cuh for table K and $work/kernels.cu, with a kernel map_tK for each. Sets
# count, and the arrays in_types and out_types.
cuda_kernels() {
    local table name in out includes='' kernels=''
    count=0 in_types=() out_types=()
    for table; do
        name=t$count
        "$PWLC" emit --format cuda --name $name -o "$work/$name.cuh" "$table" || fail "$table: emit"
        read -r out in < <(sed -n "s/^T${count}_FUNCTION \([a-z0-9_]*\) ${name}_eval(\([a-z0-9_]*\) q_x)\$/\1 \2/p" \
            "$work/$name.cuh") || fail "$table: no function for the device"
        includes+="#include \"$name.cuh\""$'\n'
        kernels+="
__global__ void map_$name(const $in *x, $out *y, unsigned count)
{
    const unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < count)
        y[k] = ${name}_eval(x[k]);
}
"
        in_types+=("$in") out_types+=("$out")
        count=$((count + 1))
    done
    printf '%s%s' "$includes" "$kernels" >"$work/kernels.cu"
}
