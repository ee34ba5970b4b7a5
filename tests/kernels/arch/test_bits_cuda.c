/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits.cuh on a device against the host, bit for bit, but for which NaN a result is; test_bits.c proves the host's.
 *
 * test_bits_cuda        everything, on one device; exits 77 where there is none
 * test_bits_cuda small  some of it, for compute-sanitizer
 */
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

#include "../device.h"
#include "../tap.h"
#include "bits_device.h"
#include "bits_inputs.h"

static int small;
static bits_input *inputs, *device_inputs;
static bits_output *outputs, *device_outputs;

enum kind { F16, BF16, F32, INTEGERS };

/* Which of a result's bits may be a NaN's. */
static enum kind kind_of(const char *name)
{
    if (strncmp(name, "f16_", 4) == 0 || strcmp(name, "fma_f16x2") == 0)
        return F16;
    if (strncmp(name, "bf16_", 5) == 0 || strcmp(name, "fma_bf16x2") == 0)
        return BF16;
    return strncmp(name, "f32_", 4) == 0 ? F32 : INTEGERS;
}

/* The word with one NaN for all. */
static uint32_t canonical(uint32_t w, enum kind kind)
{
    const uint32_t infinity = kind == F16 ? 0x7c00 : 0x7f80;
    if (kind == INTEGERS)
        return w;
    if (kind == F32)
        return (w & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : w;
    for (int shift = 0; shift <= 16; shift += 16) {
        if ((w >> shift & 0x7fff) > infinity)
            w = (w & ~(0xffffu << shift)) | 0x7fffu << shift;
    }
    return w;
}

static int agrees(const bits_input *in, const bits_output *got, const bits_output *expected, enum kind kind)
{
    for (int i = 0; i < 4; i++) {
        if (canonical(got->w[i], kind) != canonical(expected->w[i], kind)) {
            printf("# %08x, %08x, %08x, word %d: %08x, not %08x\n", in->x, in->scale, in->zero, i, got->w[i],
                   expected->w[i]);
            return 0;
        }
    }
    return 1;
}

static void test_case(enum bits_case id, const char *name, bits_output (*run)(bits_input in))
{
    const size_t count = bits_draw(id, inputs, small);
    size_t k = 0;
    CUDA(cudaMemcpy(device_inputs, inputs, count * sizeof *inputs, cudaMemcpyHostToDevice));
    CUDA(cudaMemset(device_outputs, 0xa5, count * sizeof *outputs));
    CUDA((cudaError_t)bits_device_run(id, device_inputs, device_outputs, (unsigned)count));
    CUDA(cudaMemcpy(outputs, device_outputs, count * sizeof *outputs, cudaMemcpyDeviceToHost));
    for (; k < count; k++) {
        const bits_output expected = run(inputs[k]);
        if (!agrees(&inputs[k], &outputs[k], &expected, kind_of(name)))
            break;
    }
    tap(k == count, "%s: %zu inputs", name, count);
}

static void test_e4m3(void)
{
    const unsigned long long none = UINT64_MAX;
    unsigned long long first, *device_first;
    CUDA(cudaMalloc((void **)&device_first, sizeof first));
    CUDA(cudaMemcpy(device_first, &none, sizeof none, cudaMemcpyHostToDevice));
    CUDA((cudaError_t)bits_device_visit_e4m3(small ? 1 << 15 : 1, device_first));
    CUDA(cudaMemcpy(&first, device_first, sizeof first, cudaMemcpyDeviceToHost));
    tap(first == none, "every float as E4M3, or the first %llx is not", first);
    CUDA(cudaFree(device_first));
}

int main(int argc, char **argv)
{
    small = test_is_small(argc, argv);
    inputs = malloc(BITS_MOST_INPUTS * sizeof *inputs);
    outputs = malloc(BITS_MOST_INPUTS * sizeof *outputs);
    if (!inputs || !outputs)
        return 1;
    CUDA(cudaMalloc((void **)&device_inputs, BITS_MOST_INPUTS * sizeof *inputs));
    CUDA(cudaMalloc((void **)&device_outputs, BITS_MOST_INPUTS * sizeof *outputs));
#define TEST(name, type, value) test_case(BITS_CASE_##name, #name, bits_##name);
    BITS_CASES(TEST)
#undef TEST
    test_e4m3();
    CUDA(cudaFree(device_inputs));
    CUDA(cudaFree(device_outputs));
    free(inputs);
    free(outputs);
    return tap_end();
}
