#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# CUDA headers on a device: every code of tables of 8 and 16 bits, of each form and rounding, folded and reduced, has
# the value that `pwlc eval` gives, in a kernel and on the host.
# usage: run_cuda.sh PWLC NVCC ARCHITECTURE    for example sm_90a. Exit 77 without a device, once everything compiles.
set -eu
PWLC=$1
NVCC=$2
architecture=$3
. "$(dirname "$0")/headers.sh"

tables=()
# fit NAME ARGUMENT...
fit() {
    local file=$work/$1.json
    shift
    "$PWLC" fit "$@" -o "$file" 2>"$work/notes" || fail "fit $*: $(cat "$work/notes")"
    tables+=("$file")
}

ins=(s8:2^-4:3 u16:2^-12:24576 s16:2^-12:0 u8:0.04:100) outs=(s16:2^-12:0 u8:2^-5:60 s8:2^-4:-1 u16:2^-12:20000)
k=0
for form in absolute biased anchored; do
    for rounding in floor half_up half_away half_even; do
        fit "t$k" silu --in "${ins[k % 4]}" --out "${outs[(k + k / 4) % 4]}" --form $form --rounding $rounding \
            --segments 12 --method uniform
        k=$((k + 1))
    done
done
fit folded8 tanh --in s8:2^-5:0 --out s8:2^-7:0 --symmetry fold --segments 8
fit folded16 sigmoid --in s16:2^-12:-5 --out u16:2^-16:-1 --symmetry fold --segments 12 --method uniform --rounding half_even
fit reduced rsqrt --in u16:2^-6:-6 --out u16:2^-14 --reduce on --segments 8 --method uniform
fit lut gelu --in s8:2^-5 --out s8:2^-5 --method lut
cuda_kernels "${tables[@]}"

cat >>"$work/kernels.cu" <<'SOURCE'

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

static void check(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    printf("%s\n", cudaGetErrorString(error));
    exit(error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? 77 : 1);
}

/* Codes whose value, in the kernel or on the host, is not the one in the file: one line each, in the codes' order. */
template <class in_t, class out_t>
static int wrong(void (*kernel)(const in_t *, out_t *, unsigned), out_t (*eval)(in_t), const char *path)
{
    const int low = std::numeric_limits<in_t>::min(), high = std::numeric_limits<in_t>::max();
    const unsigned count = high - low + 1;
    std::vector<in_t> codes(count);
    std::vector<out_t> values(count);
    for (unsigned k = 0; k < count; k++)
        codes[k] = static_cast<in_t>(low + static_cast<int>(k));
    in_t *x;
    out_t *y;
    check(cudaMalloc(&x, count * sizeof *x));
    check(cudaMalloc(&y, count * sizeof *y));
    check(cudaMemcpy(x, codes.data(), count * sizeof *x, cudaMemcpyHostToDevice));
    kernel<<<(count + 127) / 128, 128>>>(x, y, count);
    check(cudaGetLastError());
    check(cudaMemcpy(values.data(), y, count * sizeof *y, cudaMemcpyDeviceToHost));
    check(cudaFree(x));
    check(cudaFree(y));

    FILE *const file = fopen(path, "r");
    int found = 0, expected = 0;
    for (unsigned k = 0; k < count; k++) {
        if (!file || fscanf(file, "%d", &expected) != 1)
            return printf("%s: only %u values\n", path, k), 1;
        found += values[k] != expected || eval(codes[k]) != expected;
    }
    const bool more = fscanf(file, "%d", &expected) == 1;
    fclose(file);
    if (found || more)
        printf("%s: %d of %u values are wrong%s\n", path, found, count, more ? ", and the file holds more" : "");
    return found || more;
}

int main()
{
    int failed = 0;
SOURCE
for ((k = 0; k < count; k++)); do
    echo "    failed |= wrong(map_t$k, t${k}_eval, \"$work/t$k.values\");" >>"$work/kernels.cu"
done
printf '    return failed;\n}\n' >>"$work/kernels.cu"
bash "$root/kernels/compile.sh" "$NVCC" "-arch=$architecture" -c "$work/kernels.cu" -o "$work/kernels.o" ||
    fail "does not compile"
"$NVCC" "-arch=$architecture" "$work/kernels.o" -o "$work/kernels"

codes=0
for ((k = 0; k < count; k++)); do
    case ${in_types[k]} in
    int8_t) seq -128 127 ;;
    uint8_t) seq 0 255 ;;
    int16_t) seq -32768 32767 ;;
    uint16_t) seq 0 65535 ;;
    *) fail "${tables[k]}: codes of ${in_types[k]}" ;;
    esac >"$work/codes"
    "$PWLC" eval "${tables[k]}" - <"$work/codes" >"$work/t$k.values" 2>"$work/notes" ||
        fail "${tables[k]}: eval: $(cat "$work/notes")"
    codes=$((codes + $(wc -l <"$work/codes")))
done
status=0
"$work/kernels" >"$work/out" || status=$?
if [ $status -eq 77 ]; then
    echo "1..0 # SKIP no CUDA device: $(cat "$work/out")"
    exit 77
fi
[ $status -eq 0 ] || fail "$(cat "$work/out")"
echo "ok 1 - $count CUDA headers, $codes codes"
echo 1..1
