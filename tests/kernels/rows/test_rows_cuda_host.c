/* SPDX-License-Identifier: Apache-2.0 */
/* What pwl/cuda_rows.h promises before any device is asked: errors, and what is not one. */
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/cuda_rows.h>

#include "../../support/made_rows.h"
#include "../tap.h"

enum { LENGTH = 64 };

static made_softmax made;
static made_norm norm;
static double ones[LENGTH];
static int32_t gamma_codes[LENGTH];

static void make(void)
{
    make_softmax(&made, PWL_S8, 0.05L, PWL_U16, 16, 0, LENGTH);
    for (int c = 0; c < LENGTH; c++)
        ones[c] = 1;
    norm = (made_norm){.gamma = ones, .gamma_codes = gamma_codes};
    make_norm(&norm, PWL_LAYER_NORM, PWL_S16, 0.01L, 0, PWL_S8, 0.03L, 0, LENGTH, 1e-5L);
}

/* As after an upload; the addresses are never followed, since each call below ends in an error or does nothing. */
static pwl_cuda_softmax pretended(void)
{
    return (pwl_cuda_softmax){.softmax = made.softmax, .memory = (void *)0x1000};
}

static pwl_cuda_norm pretended_norm(void)
{
    return (pwl_cuda_norm){.norm = norm.norm, .memory = (void *)0x1000};
}

static void test_upload(void)
{
    pwl_cuda_softmax softmax = pretended();
    pwl_cuda_norm on_device = pretended_norm();
    pwl_softmax bad = made.softmax;
    pwl_norm bad_norm = norm.norm;
    int devices, error;
    tap(pwl_cuda_softmax_upload(&made.softmax, NULL) == PWL_CUDA_ERR_NULL &&
            pwl_cuda_norm_upload(&norm.norm, NULL) == PWL_CUDA_ERR_NULL,
        "upload: nowhere to put it");
    tap(pwl_cuda_softmax_upload(NULL, &softmax) == PWL_CUDA_ERR_NULL && !softmax.memory &&
            pwl_cuda_norm_upload(NULL, &on_device) == PWL_CUDA_ERR_NULL && !on_device.memory,
        "upload: no operator");
    bad.fraction = 31;
    bad_norm.length = 0;
    softmax = pretended();
    on_device = pretended_norm();
    tap(pwl_cuda_softmax_upload(&bad, &softmax) == PWL_CUDA_ERR_OPERATOR && !softmax.memory &&
            pwl_cuda_norm_upload(&bad_norm, &on_device) == PWL_CUDA_ERR_OPERATOR && !on_device.memory,
        "upload: an unsafe operator");
    error = cudaGetDeviceCount(&devices); /* main() hid every device */
    softmax = pretended();
    on_device = pretended_norm();
    tap(error != cudaSuccess &&
            pwl_cuda_softmax_upload(&made.softmax, &softmax) == (pwl_cuda_status)(PWL_CUDA_ERR_CUDA + error) &&
            pwl_cuda_norm_upload(&norm.norm, &on_device) == (pwl_cuda_status)(PWL_CUDA_ERR_CUDA + error) &&
            !softmax.memory && !on_device.memory,
        "upload: CUDA's error without a device, %d, is kept", error);
}

static void test_release(void)
{
    pwl_cuda_softmax softmax = {0};
    pwl_cuda_norm on_device = {0};
    tap(pwl_cuda_softmax_release(NULL) == PWL_CUDA_ERR_NULL && pwl_cuda_norm_release(NULL) == PWL_CUDA_ERR_NULL,
        "release: null");
    tap(pwl_cuda_softmax_release(&softmax) == PWL_CUDA_OK && pwl_cuda_norm_release(&on_device) == PWL_CUDA_OK,
        "release: what is cleared is left alone");
}

static pwl_cuda_status run(const pwl_cuda_softmax *softmax, const void *x, void *y, size_t count, size_t length,
                           const uint8_t *mask)
{
    const pwl_rows rows = {.x = x, .y = y, .count = count, .length = length, .mask = mask, .mask_stride = length};
    return pwl_cuda_softmax_run(softmax, &rows, NULL);
}

static void test_softmax_errors(void)
{
    const pwl_cuda_softmax softmax = pretended(), released = {.softmax = made.softmax};
    char *const x = (char *)0x10000, *const y = (char *)0x20000;
    tap(pwl_cuda_softmax_run(&softmax, NULL, NULL) == PWL_CUDA_ERR_NULL &&
            run(NULL, x, y, 1, LENGTH, NULL) == PWL_CUDA_ERR_NULL &&
            run(&released, x, y, 1, LENGTH, NULL) == PWL_CUDA_ERR_NULL &&
            run(&softmax, NULL, y, 1, LENGTH, NULL) == PWL_CUDA_ERR_NULL &&
            run(&softmax, x, NULL, 1, LENGTH, NULL) == PWL_CUDA_ERR_NULL,
        "softmax: null");
    tap(run(&softmax, NULL, NULL, 0, 0, NULL) == PWL_CUDA_OK, "softmax: no row");
    tap(run(&softmax, x, y, 1, 0, NULL) == PWL_CUDA_ERR_ROW &&
            run(&softmax, x, y, 1, LENGTH + 1, NULL) == PWL_CUDA_ERR_ROW &&
            run(&softmax, x, y, SIZE_MAX, LENGTH, NULL) == PWL_CUDA_ERR_ROW,
        "softmax: rows that the operator has not, or too many");
    tap(run(&softmax, x, y + 1, 1, LENGTH, NULL) == PWL_CUDA_ERR_ALIGN, "softmax: y between two elements");
    tap(run(&softmax, x, x, 1, LENGTH, NULL) == PWL_CUDA_ERR_OVERLAP &&
            run(&softmax, x, x + 2 * LENGTH - 2, 2, LENGTH, NULL) == PWL_CUDA_ERR_OVERLAP &&
            run(&softmax, x + 4 * LENGTH - 1, x, 2, LENGTH, NULL) == PWL_CUDA_ERR_OVERLAP,
        "softmax: elements of two sizes overlap");
    tap(run(&softmax, x, y, 2, LENGTH, (uint8_t *)y + 4 * LENGTH - 1) == PWL_CUDA_ERR_OVERLAP &&
            run(&softmax, x, y, 2, LENGTH, (uint8_t *)y - 2 * LENGTH + 1) == PWL_CUDA_ERR_OVERLAP,
        "softmax: y overlaps the mask");
}

static void test_norm_errors(void)
{
    const pwl_cuda_norm on_device = pretended_norm(), released = {.norm = norm.norm};
    char *const x = (char *)0x10000, *const y = (char *)0x20000;
    tap(pwl_cuda_norm_run(NULL, x, y, 1, NULL) == PWL_CUDA_ERR_NULL &&
            pwl_cuda_norm_run(&released, x, y, 1, NULL) == PWL_CUDA_ERR_NULL &&
            pwl_cuda_norm_run(&on_device, NULL, y, 1, NULL) == PWL_CUDA_ERR_NULL &&
            pwl_cuda_norm_run(&on_device, x, NULL, 1, NULL) == PWL_CUDA_ERR_NULL,
        "norm: null");
    tap(pwl_cuda_norm_run(&on_device, NULL, NULL, 0, NULL) == PWL_CUDA_OK, "norm: no row");
    tap(pwl_cuda_norm_run(&on_device, x, y, SIZE_MAX, NULL) == PWL_CUDA_ERR_ROW, "norm: too many rows");
    tap(pwl_cuda_norm_run(&on_device, x + 1, y, 1, NULL) == PWL_CUDA_ERR_ALIGN, "norm: x between two elements");
    tap(pwl_cuda_norm_run(&on_device, x, x, 1, NULL) == PWL_CUDA_ERR_OVERLAP, "norm: elements of two sizes overlap");
}

int main(void)
{
    /* The same answers on a machine with a device. */
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    make();
    test_upload();
    test_release();
    test_softmax_errors();
    test_norm_errors();
    return tap_end();
}
