/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps of real numbers on the GPU against pwl/real.h and the runtime, bit for bit: every f16 and bf16, floats around
 * ties, special ones and random ones; every pair of kinds, at small lengths and offsets and in place.
 *
 * test_real_cuda        everything, on one device; exits 77 where there is none
 * test_real_cuda small  a few tables and numbers, for compute-sanitizer
 */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/cuda.h>
#include <pwl/half.h>
#include <pwl/pwl.h>

#include "../device.h"
#include "../tap.h"
#include "luts.h" /* made by list_luts.sh */
#include "tables.h"

enum { MOST = 1 << 18, POISON = 0xa5, MARGIN = 64 };

static int small;
static struct made_table made;
static uint8_t *x, *y;
static char *device_x, *device_y;

static const char *const real_names[] = {"f32", "f16", "bf16"}, *const type_names[] = {"s8",  "u8",  "s16",
                                                                                       "u16", "s32", "u32"};

static size_t real_bytes(pwl_real real)
{
    return real == PWL_F32 ? 4 : 2;
}

static float get_real(pwl_real real, const uint8_t *array, size_t k)
{
    uint32_t word;
    uint16_t half;
    memcpy(&word, array + 4 * (real == PWL_F32 ? k : 0), 4);
    memcpy(&half, array + 2 * (real == PWL_F32 ? 0 : k), 2);
    return real == PWL_F32 ? pwl_f32_of_bits(word) : real == PWL_F16 ? pwl_f32_from_f16(half) : pwl_f32_from_bf16(half);
}

/* The bits of a real number as a kind, or of a code as a type. */
static uint32_t bits_of(pwl_real real, float v)
{
    return real == PWL_F32 ? pwl_bits_of_f32(v) : real == PWL_F16 ? pwl_f16_from_f32(v) : pwl_bf16_from_f32(v);
}

/* Outputs 0 to 5 are codes, 6 to 8 real numbers. */
enum { OUTPUTS = 9 };

static size_t out_bytes(int out)
{
    return out < 6 ? (size_t)1 << (out >> 1) : real_bytes((pwl_real)(out - 6));
}

static const char *out_name(int out)
{
    return out < 6 ? type_names[out] : real_names[out - 6];
}

/* Number k of `in`: all of a kind of 16 bits; floats of every exponent, and around the table's ties. */
static void put_number(pwl_real in, size_t k, pwl_affine of, uint64_t *state)
{
    static const float special[] = {0, -0.0f, INFINITY, -INFINITY, NAN, 0x1p-149f, 0x1p127f, -0x1p127f};
    uint32_t bits = (uint32_t)k;
    if (in == PWL_F32) {
        const float tie = ((float)random_in(state, -40000, 40000) + 0.5f) * of.scale;
        bits = k < 8        ? pwl_bits_of_f32(special[k])
               : k % 4 == 0 ? (uint32_t)random_bits(state)
                            : pwl_bits_of_f32(tie) + (uint32_t)(k % 4) - 2;
    } else if (small) {
        bits = (uint32_t)random_bits(state);
    }
    if (in == PWL_F32)
        memcpy(x + 4 * k, &bits, 4);
    else
        memcpy(x + 2 * k, (const uint16_t[]){(uint16_t)bits}, 2);
}

/* One launch: numbers from x_at on to elements from y_at on; what lies beside the output must stay. */
static int launch_agrees(const pwl_cuda_table *uploaded, const pwl_table *table, pwl_affine of_x, pwl_real in,
                         size_t x_at, pwl_affine of_y, int out, size_t y_at, size_t count, int in_place)
{
    const size_t bytes = out_bytes(out), all = (y_at + count) * bytes + MARGIN;
    char *const from = in_place ? device_y : device_x;
    CUDA(cudaMemset(device_y, POISON, all));
    if (in_place)
        CUDA(cudaMemcpy(device_y + y_at * bytes, x + x_at * real_bytes(in), count * bytes, cudaMemcpyHostToDevice));
    if (out < 6)
        PWL(pwl_cuda_map_from_real(uploaded, of_x, in, from + x_at * real_bytes(in), (pwl_type)out,
                                   device_y + y_at * bytes, count, NULL));
    else
        PWL(pwl_cuda_map_real(uploaded, of_x, in, from + x_at * real_bytes(in), of_y, (pwl_real)(out - 6),
                              device_y + y_at * bytes, count, NULL));
    CUDA(cudaMemcpy(y, device_y, all, cudaMemcpyDeviceToHost));
    for (size_t k = 0; k < all; k++) {
        if ((k < y_at * bytes || k >= (y_at + count) * bytes) && y[k] != POISON) {
            printf("# %s to %s, %zu from %zu to %zu: byte %zu beside the output is written\n", real_names[in],
                   out_name(out), count, x_at, y_at, k);
            return 0;
        }
    }
    for (size_t k = 0; k < count; k++) {
        const float number = get_real(in, x, x_at + k);
        const int64_t code = pwl_code_of_real(number, 1.0f / of_x.scale, of_x.zero_point, table->qmin_x, table->qmax_x);
        const int64_t value = pwl_eval(table, code);
        const uint32_t expected =
            out < 6 ? (uint32_t)value : bits_of((pwl_real)(out - 6), pwl_real_of_code(value, of_y));
        if (memcmp(y + (y_at + k) * bytes, &expected, bytes)) { /* little endian */
            printf("# storage %d rounding %d flags %d, %s to %s, element %zu of %zu: %a, code %lld, value %lld\n",
                   table->storage, table->rounding, table->flags, real_names[in], out_name(out), k, count,
                   (double)number, (long long)code, (long long)value);
            return 0;
        }
    }
    return 1;
}

/* A table with every pair of kinds; all numbers at once, then small lengths at offsets. */
static void test_table(const char *name, const pwl_table *table, pwl_affine of_x, pwl_affine of_y)
{
    static const size_t offsets[][2] = {{0, 0}, {4, 8}, {1, 0}, {3, 3}};
    uint64_t state = 1;
    pwl_cuda_table uploaded;
    int good = 1;
    PWL(pwl_cuda_upload(table, &uploaded));
    for (int in = PWL_F32; in <= PWL_BF16; in++) {
        const size_t count = small ? 500 : in == PWL_F32 ? MOST : 65536;
        for (size_t k = 0; k < count; k++)
            put_number((pwl_real)in, k, of_x, &state);
        CUDA(cudaMemcpy(device_x, x, count * real_bytes((pwl_real)in), cudaMemcpyHostToDevice));
        for (int out = 0; good && out < OUTPUTS; out++) {
            if (out < 6 && !pwl_fits(table, (pwl_type)out))
                continue;
            good &= launch_agrees(&uploaded, table, of_x, (pwl_real)in, 0, of_y, out, 0, count, 0);
            for (size_t length = 1; good && length < 40; length += small ? 17 : 3) {
                for (int i = 0; good && i < 4; i++)
                    good &= launch_agrees(&uploaded, table, of_x, (pwl_real)in, offsets[i][0], of_y, out, offsets[i][1],
                                          length, 0);
                if (out_bytes(out) == real_bytes((pwl_real)in))
                    good &= launch_agrees(&uploaded, table, of_x, (pwl_real)in, 3, of_y, out, 3, length, 1);
            }
        }
    }
    PWL(pwl_cuda_release(&uploaded));
    tap(good, "%s: f32, f16 and bf16 to codes and to real numbers", name);
}

static void test_random(pwl_storage storage, pwl_rounding rounding, int fold)
{
    const int64_t codes = (int64_t)1 << (8 << storage);
    uint64_t state = (uint64_t)(storage * 8 + rounding * 2 + fold);
    char name[64];
    const pwl_table *const table =
        draw_table(&made, &state, storage, (pwl_form)(rounding % 3), rounding, fold, codes, codes / 16, 2);
    const int64_t middle = table->qmin_x / 2 + table->qmax_x / 2;
    const pwl_affine of_x = {storage == PWL_INT32 ? 0x1p-20f : 0.01f, middle}, of_y = {0.037f, -3};
    snprintf(name, sizeof name, "int%d, rounding %d%s", 8 << storage, rounding, fold ? ", folded" : "");
    test_table(name, table, of_x, of_y);
}

/* To codes of 16 bits around their zero point, by lines in 8 bytes, of ties to even too. */
static void test_smooth(pwl_rounding rounding)
{
    uint64_t state = (uint64_t)rounding;
    char name[64];
    const pwl_table *const table = draw_smooth_table(&made, &state, (pwl_form)(rounding % 3), rounding, 0, 16);
    const pwl_affine of_x = {0.0003f, table->zp_x}, of_y = {0.037f, -3};
    snprintf(name, sizeof name, "smooth, rounding %d", rounding);
    test_table(name, table, of_x, of_y);
}

int main(int argc, char **argv)
{
    const size_t bytes = 4 * (size_t)MOST + 4096;
    const pwl_affine of_x = {0x1p-4f, 0}, of_y = {0x1p-7f, 0};
    small = test_is_small(argc, argv);
    x = malloc(bytes);
    y = malloc(bytes);
    if (!x || !y) {
        printf("Bail out! out of memory\n");
        return 1;
    }
    CUDA(cudaMalloc((void **)&device_x, bytes));
    CUDA(cudaMalloc((void **)&device_y, bytes));
    for (int storage = PWL_INT8; storage <= PWL_INT32; storage++)
        for (int rounding = small ? PWL_HALF_EVEN : PWL_FLOOR; rounding <= PWL_HALF_EVEN; rounding++)
            for (int fold = 0; fold < (small ? 1 : 2); fold++)
                test_random((pwl_storage)storage, (pwl_rounding)rounding, fold);
    for (int rounding = small ? PWL_HALF_EVEN : PWL_FLOOR; rounding <= PWL_HALF_EVEN; rounding++)
        test_smooth((pwl_rounding)rounding);
    for (int i = 0; luts[i].table && i < (small ? 1 : 100); i++)
        test_table(luts[i].name, luts[i].table, of_x, of_y);
    CUDA(cudaFree(device_x));
    CUDA(cudaFree(device_y));
    free(x);
    free(y);
    return tap_end();
}
