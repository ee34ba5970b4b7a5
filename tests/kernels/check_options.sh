#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What gpu_code compiles for: ptx for no device, native for the pretended ones of this machine or as ptx, all for every
# architecture, 12.0 where nvcc knows it. -Dfitter=disabled with CUDA: configured whole, one kernel compiled; all else
# are commands of other builds.
# $1 source root, $2 nvcc, then the compiler.
set -eu
source_root=$1 nvcc=$2
shift 2

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# quietly COMMAND...: what it says is shown when it fails.
quietly() {
    "$@" >"$root/log" 2>&1 || { cat "$root/log"; exit 1; }
}

# An nvidia-smi that finds the devices in $root/devices.
mkdir "$root/bin"
printf '#!/bin/sh\ncat "%s"\n' "$root/devices" >"$root/bin/nvidia-smi"
chmod +x "$root/bin/nvidia-smi"
PATH=$root/bin:$PATH

# expect GPU_CODE DEVICES CODE...: every kernel is compiled for these and nothing else.
expect() {
    local gpu_code=$1 code
    printf '%s' "$2" >"$root/devices"
    shift 2
    if [ -d "$root/build" ]; then
        quietly "${MESON:-meson}" setup --reconfigure "$root/build" "$source_root" -Dgpu_code="$gpu_code"
    else
        CC=$cc quietly "${MESON:-meson}" setup "$root/build" "$source_root" -Dwerror=true -Dtests=enabled -Dcuda=enabled \
            -Dgpu_code="$gpu_code" -Dfitter=disabled
    fi
    ninja -C "$root/build" -t commands >"$root/commands"
    grep -E 'compile\.sh.*/kernels/(map|gemm|blocks)/' "$root/commands" >"$root/kernels" ||
        { echo "no kernel is compiled"; exit 1; }
    while IFS= read -r line; do
        code=$(grep -oE '\b(sm|compute)_[0-9]+[a-z]?\b' <<<"${line//arch=compute_[0-9]*([0-9a-z]),/}" | sort -u | paste -sd ' ')
        [ "$code" = "$*" ] || { echo "gpu_code=$gpu_code compiles for $code, not $*: $line"; exit 1; }
    done <"$root/kernels"
}
shopt -s extglob
cc=$*
# CI's nvcc is to compile for all there are.
newest=$("$nvcc" --list-gpu-code | grep -x sm_120) || [ "${CI:-}" != true ] ||
    { echo "$nvcc compiles for no sm_120"; exit 1; }
expect ptx $'9.0\n' compute_80
# No command lacks a source, and one works.
quietly ninja -C "$root/build" -n
quietly ninja -C "$root/build" kernels/blocks_blocks.o
expect native $'9.0\n8.6\n9.0\n' sm_86 sm_90a
expect native $'7.5\n99.9\n' compute_80
expect all '' compute_80 $newest sm_80 sm_86 sm_89 sm_90a

# By an nvcc that knows no sm_120.
cat >"$root/bin/nvcc" <<END
#!/bin/sh
[ "\$1" = --list-gpu-code ] || exec "$nvcc" "\$@"
"$nvcc" --list-gpu-code | grep -v sm_12
END
chmod +x "$root/bin/nvcc"
expect all '' compute_80 sm_80 sm_86 sm_89 sm_90a

if grep -E '^[^ ]+ .*(/fitter/|-lgsl)' "$root/commands"; then
    echo "fitter=disabled builds pwlc"
    exit 1
fi
