/* SPDX-License-Identifier: Apache-2.0 */
/* What pwl/cuda.h promises before any device is asked: errors, and what is not one. */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/cuda.h>
#include <pwl/pwl.h>

#include "../tap.h"
#include "map/plan.h"

static const int8_t start[] = {-128, 0}, slopes[] = {3, -2}, shifts[] = {1, 0};
static const int16_t terms[] = {0, 5};

static pwl_table small_table(void)
{
    const pwl_table table = {.version = PWL_TABLE_VERSION,
                             .storage = PWL_INT8,
                             .segments = 2,
                             .start = start,
                             .q_b = slopes,
                             .n = shifts,
                             .offset = terms,
                             .qmin_x = -128,
                             .qmax_x = 127,
                             .qmin_y = -128,
                             .qmax_y = 127};
    return table;
}

/* As after an upload; the addresses are never followed, since each call below ends in an error or does nothing. */
static pwl_cuda_table pretended(void)
{
    const pwl_cuda_plan plan = {.qmin_y = -128, .qmax_y = 127, .bytes = 1};
    pwl_cuda_table uploaded = {.memory = (void *)0x1000, .multiprocessors = 1};
    pwl_cuda_plan_put(&uploaded, &plan);
    return uploaded;
}

static int is_cleared(const pwl_cuda_table *uploaded)
{
    return !uploaded->memory && !pwl_cuda_plan_of(uploaded).bytes && !uploaded->multiprocessors;
}

static void test_upload(void)
{
    const pwl_table table = small_table();
    pwl_table bad = table;
    pwl_cuda_table uploaded = pretended();
    pwl_cuda_status status;
    int devices, error;

    tap(pwl_cuda_upload(&table, NULL) == PWL_CUDA_ERR_NULL, "upload: nowhere to put it");
    tap(pwl_cuda_upload(NULL, &uploaded) == PWL_CUDA_ERR_NULL && is_cleared(&uploaded), "upload: no table");
    bad.segments = 0;
    uploaded = pretended();
    tap(pwl_cuda_upload(&bad, &uploaded) == PWL_CUDA_ERR_TABLE && is_cleared(&uploaded), "upload: an unsafe table");
    bad = table;
    bad.q_b = NULL;
    tap(pwl_cuda_upload(&bad, &uploaded) == PWL_CUDA_ERR_TABLE, "upload: a table without slopes");

    /* main() hid every device. */
    error = cudaGetDeviceCount(&devices);
    uploaded = pretended();
    status = pwl_cuda_upload(&table, &uploaded);
    tap(error != cudaSuccess && status == (pwl_cuda_status)(PWL_CUDA_ERR_CUDA + error) && is_cleared(&uploaded),
        "upload: CUDA's error without a device, %d, is kept: %d", error, pwl_cuda_error(status));
}

static void test_release(void)
{
    pwl_cuda_table uploaded = {0};
    tap(pwl_cuda_release(NULL) == PWL_CUDA_ERR_NULL, "release: null");
    tap(pwl_cuda_release(&uploaded) == PWL_CUDA_OK, "release: a cleared table is left alone");
}

static void test_map_errors(void)
{
    const pwl_cuda_table uploaded = pretended(), released = {0};
    char *const x = (char *)0x10000, *const y = (char *)0x20000;
    const pwl_type beyond = (pwl_type)(PWL_U32 + 1), below = (pwl_type)-1;
    int devices, error;
#define STATUS(in, x, out, y, count) pwl_cuda_map(&uploaded, in, x, out, y, count, NULL)

    tap(pwl_cuda_map(NULL, PWL_S8, x, PWL_S8, y, 1, NULL) == PWL_CUDA_ERR_NULL, "map: no table");
    tap(pwl_cuda_map(&released, PWL_S8, x, PWL_S8, y, 1, NULL) == PWL_CUDA_ERR_NULL, "map: a released table");
    tap(STATUS(beyond, x, PWL_S8, y, 1) == PWL_CUDA_ERR_TYPE, "map: unknown input type");
    tap(STATUS(PWL_S8, x, beyond, y, 1) == PWL_CUDA_ERR_TYPE, "map: unknown output type");
    tap(STATUS(below, x, PWL_S8, y, 1) == PWL_CUDA_ERR_TYPE, "map: negative input type");
    tap(STATUS(PWL_S8, x, PWL_U8, y, 1) == PWL_CUDA_ERR_FIT, "map: u8 does not hold -128");
    tap(STATUS(PWL_S8, x, PWL_U32, y, 0) == PWL_CUDA_ERR_FIT, "map: nor does u32, for no codes either");
    tap(STATUS(PWL_S8, NULL, PWL_S8, y, 1) == PWL_CUDA_ERR_NULL, "map: no input");
    tap(STATUS(PWL_S8, x, PWL_S8, NULL, 1) == PWL_CUDA_ERR_NULL, "map: no output");
    tap(STATUS(PWL_S8, NULL, PWL_S8, NULL, 0) == PWL_CUDA_OK, "map: no codes, no arrays");
    tap(STATUS(PWL_U16, x + 1, PWL_S8, y, 1) == PWL_CUDA_ERR_ALIGN, "map: input between two elements");
    tap(STATUS(PWL_S8, x, PWL_S32, y + 2, 1) == PWL_CUDA_ERR_ALIGN, "map: output between two elements");

    tap(STATUS(PWL_S8, x, PWL_S16, x, 1) == PWL_CUDA_ERR_OVERLAP, "map: in place, to a wider type");
    tap(STATUS(PWL_U32, x, PWL_S16, x, 1) == PWL_CUDA_ERR_OVERLAP, "map: in place, to a narrower type");
    tap(STATUS(PWL_S8, x, PWL_S8, x + 1, 2) == PWL_CUDA_ERR_OVERLAP, "map: output one element further");
    tap(STATUS(PWL_S8, x + 1, PWL_S8, x, 2) == PWL_CUDA_ERR_OVERLAP, "map: input one element further");
    tap(STATUS(PWL_S8, x, PWL_S16, x + 10, 11) == PWL_CUDA_ERR_OVERLAP, "map: output at the input's last element");
    tap(STATUS(PWL_S8, x + 20, PWL_S16, x, 11) == PWL_CUDA_ERR_OVERLAP, "map: input at the output's last element");
    tap(STATUS(PWL_U32, x, PWL_S16, y, SIZE_MAX) == PWL_CUDA_ERR_OVERLAP, "map: a length beyond memory");

    /* What gets past the checks asks CUDA, which has no device here. */
    error = cudaGetDeviceCount(&devices);
#define PASSES(in, x, out, y, count) (pwl_cuda_error(STATUS(in, x, out, y, count)) == error)
    tap(PASSES(PWL_S8, x, PWL_S8, y, 1), "map: two arrays");
    tap(PASSES(PWL_U8, x, PWL_S8, x, 100), "map: in place, elements of one size");
    tap(PASSES(PWL_S8, x, PWL_S8, x + 100, 100), "map: output right after the input");
    tap(PASSES(PWL_S8, x + 200, PWL_S16, x, 100), "map: input right after the output");
    tap(PASSES(PWL_S8, x + 1, PWL_S16, y + 2, 1), "map: aligned to elements, no further");
}

static void test_real_errors(void)
{
    const pwl_cuda_table uploaded = pretended(), released = {0};
    const pwl_affine one = {1, 0}, zero = {0, 0}, negative = {-1, 0}, nan = {NAN, 0}, tiny = {0x1p-127f, 0},
                     huge = {0x1p127f, 0}, far = {1, (1 << 30) + 1}, farthest = {1, -(1 << 30)};
    const pwl_real beyond = (pwl_real)(PWL_BF16 + 1);
    const pwl_affine *const bad[] = {&zero, &negative, &nan, &tiny, &huge, &far};
    char *const x = (char *)0x10000, *const y = (char *)0x20000;
    int good = 1;
#define FROM_REAL(of, in, x, out, y, count) pwl_cuda_map_from_real(&uploaded, of, in, x, out, y, count, NULL)
#define REAL(of_x, in, x, of_y, out, y, count) pwl_cuda_map_real(&uploaded, of_x, in, x, of_y, out, y, count, NULL)
    tap(pwl_cuda_map_from_real(&released, one, PWL_F32, x, PWL_S8, y, 1, NULL) == PWL_CUDA_ERR_NULL &&
            pwl_cuda_map_real(NULL, one, PWL_F32, x, one, PWL_F32, y, 1, NULL) == PWL_CUDA_ERR_NULL,
        "real: no table");
    tap(FROM_REAL(one, beyond, x, PWL_S8, y, 1) == PWL_CUDA_ERR_TYPE &&
            FROM_REAL(one, PWL_F32, x, (pwl_type)(PWL_U32 + 1), y, 1) == PWL_CUDA_ERR_TYPE &&
            REAL(one, beyond, x, one, PWL_F32, y, 1) == PWL_CUDA_ERR_TYPE &&
            REAL(one, PWL_F32, x, one, beyond, y, 1) == PWL_CUDA_ERR_TYPE,
        "real: unknown types");
    tap(FROM_REAL(one, PWL_F32, x, PWL_U8, y, 1) == PWL_CUDA_ERR_FIT, "real: u8 does not hold -128");
    for (int i = 0; i < 6; i++)
        good &= FROM_REAL(*bad[i], PWL_F32, x, PWL_S8, y, 1) == PWL_CUDA_ERR_SCALE &&
                REAL(*bad[i], PWL_F32, x, one, PWL_F32, y, 1) == PWL_CUDA_ERR_SCALE &&
                REAL(one, PWL_F32, x, *bad[i], PWL_F32, y, 1) == PWL_CUDA_ERR_SCALE;
    tap(good, "real: scales of 0, below 0, NaN, beyond 2^126 either way, zero points beyond 2^30");
    tap(REAL(farthest, PWL_F32, NULL, farthest, PWL_F32, NULL, 0) == PWL_CUDA_OK &&
            FROM_REAL(one, PWL_F16, NULL, PWL_S8, NULL, 0) == PWL_CUDA_OK,
        "real: a zero point at 2^30; no elements, no arrays");
    tap(FROM_REAL(one, PWL_F16, NULL, PWL_S8, y, 1) == PWL_CUDA_ERR_NULL &&
            REAL(one, PWL_F16, x, one, PWL_F16, NULL, 1) == PWL_CUDA_ERR_NULL,
        "real: no arrays");
    tap(FROM_REAL(one, PWL_F32, x + 2, PWL_S8, y, 1) == PWL_CUDA_ERR_ALIGN &&
            REAL(one, PWL_F16, x, one, PWL_BF16, y + 1, 1) == PWL_CUDA_ERR_ALIGN,
        "real: between two elements");
    tap(REAL(one, PWL_F32, x, one, PWL_F16, x, 1) == PWL_CUDA_ERR_OVERLAP &&
            FROM_REAL(one, PWL_F16, x, PWL_S16, x + 2, 2) == PWL_CUDA_ERR_OVERLAP,
        "real: arrays that overlap");
}

/* Every check comes before the first call of CUDA, and what there is nothing to do for needs none. */
static void test_blocks(void)
{
    float *const x = (float *)0x10000;
    uint16_t *const h = (uint16_t *)0x20000;
    char *const blocks = (char *)0x30000;
    tap(pwl_cuda_quantise((pwl_format)7, PWL_RULE_DEFAULT, x, 1, 32, 32, blocks, NULL) == PWL_CUDA_ERR_FORMAT,
        "quantise: no format");
    tap(pwl_cuda_quantise(PWL_MXFP4, PWL_RULE_DOCUMENT, x, 1, 32, 32, blocks, NULL) == PWL_CUDA_ERR_RULE,
        "quantise: not MXFP4's rule");
    tap(pwl_cuda_quantise(PWL_Q8_1, PWL_RULE_DEFAULT, x, 1, 33, 32, blocks, NULL) == PWL_CUDA_ERR_SHAPE,
        "quantise: k above k_padded");
    tap(pwl_cuda_quantise(PWL_Q8_1, PWL_RULE_DEFAULT, NULL, 1, 32, 32, blocks, NULL) == PWL_CUDA_ERR_NULL,
        "quantise: no values");
    tap(pwl_cuda_quantise(PWL_Q8_1, PWL_RULE_DEFAULT, x, 1, 32, 32, blocks + 1, NULL) == PWL_CUDA_ERR_ALIGN,
        "quantise: blocks at an odd address");
    tap(pwl_cuda_quantise(PWL_Q8_1, PWL_RULE_DEFAULT, NULL, 0, 32, 32, NULL, NULL) == PWL_CUDA_OK, "quantise: no rows");
    tap(pwl_cuda_dequantise(PWL_Q8_1, NULL, 1, 32, 32, x, NULL) == PWL_CUDA_ERR_NULL, "dequantise: no blocks");
    tap(pwl_cuda_dequantise(PWL_Q8_1, blocks, 1, 32, 32, (float *)(void *)(h + 1), NULL) == PWL_CUDA_ERR_ALIGN,
        "dequantise: values at half a float");
    tap(pwl_cuda_dequantise_f16(PWL_Q8_1, blocks, 1, 32, 40, h, NULL) == PWL_CUDA_ERR_SHAPE,
        "dequantise: k_padded of 40");
    tap(pwl_cuda_dequantise_f16(PWL_Q8_1, blocks, 1, 0, 32, NULL, NULL) == PWL_CUDA_OK, "dequantise: no elements");
    tap(pwl_cuda_error(pwl_cuda_quantise(PWL_Q8_1, PWL_RULE_DEFAULT, x, 1, 32, 32, blocks, NULL)) != 0,
        "quantise: CUDA's error without a device");
    tap(pwl_cuda_error(pwl_cuda_dequantise_f16(PWL_Q8_1, blocks, 1, 32, 32, h, NULL)) != 0,
        "dequantise: CUDA's error without a device");
}

static void test_texts(void)
{
    const pwl_cuda_status memory = (pwl_cuda_status)(PWL_CUDA_ERR_CUDA + cudaErrorMemoryAllocation);
    const char *const unknown = pwl_cuda_status_text((pwl_cuda_status)4711);
    int distinct = 1;
    for (int a = PWL_CUDA_OK; a <= PWL_CUDA_ERR_ROW; a++) {
        for (int b = PWL_CUDA_OK; b < a; b++)
            distinct &= strcmp(pwl_cuda_status_text((pwl_cuda_status)a), pwl_cuda_status_text((pwl_cuda_status)b)) != 0;
        distinct &= strcmp(pwl_cuda_status_text((pwl_cuda_status)a), unknown) != 0;
    }
    tap(distinct, "each status has a text of its own");
    tap(strcmp(unknown, "unknown status") == 0, "an unknown one says so");
    tap(strcmp(pwl_cuda_status_text(memory), cudaGetErrorString(cudaErrorMemoryAllocation)) == 0 &&
            pwl_cuda_error(memory) == cudaErrorMemoryAllocation,
        "CUDA's errors keep their number and text");
    tap(pwl_cuda_error(PWL_CUDA_OK) == 0 && pwl_cuda_error(PWL_CUDA_ERR_MEMORY) == 0, "the others hold none");
}

int main(void)
{
    /* The same answers on a machine with a device. */
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    test_upload();
    test_release();
    test_map_errors();
    test_real_errors();
    test_blocks();
    test_texts();
    return tap_end();
}
