/* SPDX-License-Identifier: Apache-2.0 */
/* What pwl/cuda_attention.h promises before any device is asked: errors, and what is not one. */
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdlib.h>

#include <pwl/cuda_attention.h>

#include "../tap.h"
#include "made_attention.h"

enum { LONGEST = 1000, ROOM = 1 << 20 };

static made_softmax made;
static pwl_attention attention;

/* As after an upload; the addresses are never followed, since each call below ends in an error or does nothing. */
static pwl_cuda_attention pretended(void)
{
    pwl_cuda_attention uploaded = {.attention = attention};
    uploaded.softmax.softmax = attention.softmax;
    uploaded.softmax.memory = (void *)0x1000;
    return uploaded;
}

static pwl_attention_call whole(void)
{
    return (pwl_attention_call){.q = (void *)0x10000000,
                                .k = (void *)0x20000000,
                                .v = (void *)0x30000000,
                                .y = (void *)0x40000000,
                                .heads = 2,
                                .share = 3,
                                .queries = 100,
                                .keys = 200,
                                .channels = 64};
}

static pwl_cuda_status run(pwl_attention_call call, size_t bytes)
{
    const pwl_cuda_attention uploaded = pretended();
    return pwl_cuda_attention_run(&uploaded, &call, (void *)0x50000000, bytes, NULL);
}

static void test_upload(void)
{
    pwl_cuda_attention uploaded = pretended();
    pwl_attention bad = attention;
    int devices;
    bad.step = 0;
    tap(pwl_cuda_attention_upload(&attention, NULL) == PWL_CUDA_ERR_NULL, "upload: nowhere to put it");
    tap(pwl_cuda_attention_upload(NULL, &uploaded) == PWL_CUDA_ERR_NULL && !uploaded.softmax.memory,
        "upload: no operator");
    uploaded = pretended();
    tap(pwl_cuda_attention_upload(&bad, &uploaded) == PWL_CUDA_ERR_OPERATOR && !uploaded.softmax.memory,
        "upload: an unsafe operator");
    const int error = cudaGetDeviceCount(&devices); /* main() hid every device */
    tap(error != cudaSuccess && pwl_cuda_error(pwl_cuda_attention_upload(&attention, &uploaded)) == error,
        "upload: CUDA's error without a device, %d, is kept", error);
    uploaded = (pwl_cuda_attention){0};
    tap(pwl_cuda_attention_release(NULL) == PWL_CUDA_ERR_NULL && pwl_cuda_attention_release(&uploaded) == PWL_CUDA_OK,
        "release: null, and what is cleared");
}

static void test_workspace(void)
{
    pwl_attention_call call = whole();
    tap(pwl_cuda_attention_workspace(&call) == 2 * 256 * 64, "workspace: keys are rounded up to 128");
    call.heads = (size_t)1 << 40;
    tap(pwl_cuda_attention_workspace(&call) == 0 && pwl_cuda_attention_workspace(NULL) == 0,
        "workspace: none for too many heads, or no call");
    call = whole();
    tap(run(call, 2 * 256 * 64 - 1) == PWL_CUDA_ERR_ROOM, "run: too little workspace");
}

static void test_shapes(void)
{
    pwl_attention_call call = whole();
    const pwl_cuda_attention cleared = {0}, uploaded = pretended();
    tap(pwl_cuda_attention_run(&cleared, &call, NULL, 0, NULL) == PWL_CUDA_ERR_NULL &&
            pwl_cuda_attention_run(&uploaded, NULL, NULL, 0, NULL) == PWL_CUDA_ERR_NULL,
        "run: an operator that was released, and no call");
    call.queries = 0;
    tap(run(call, 0) == PWL_CUDA_OK, "run: no row");
    call = whole();
    call.channels = 96;
    tap(run(call, ROOM) == PWL_CUDA_ERR_SHAPE, "run: heads of 96 channels");
    call = whole();
    call.share = 0;
    tap(run(call, ROOM) == PWL_CUDA_ERR_SHAPE, "run: a share of 0");
    call = whole();
    call.share = (size_t)1 << 62;
    tap(run(call, ROOM) == PWL_CUDA_ERR_SHAPE, "run: too many rows");
    call = whole();
    call.keys = 0;
    tap(run(call, ROOM) == PWL_CUDA_ERR_ROW, "run: no key");
    call.keys = LONGEST + 1;
    tap(run(call, ROOM) == PWL_CUDA_ERR_ROW, "run: more keys than the longest row");
}

static void test_arrays(void)
{
    pwl_attention_call call = whole();
    call.k = NULL;
    tap(run(call, ROOM) == PWL_CUDA_ERR_NULL, "run: no keys' array");
    call = whole();
    call.q++;
    tap(run(call, ROOM) == PWL_CUDA_ERR_ALIGN, "run: queries that are not aligned");
    call = whole();
    call.y = (void *)((uintptr_t)call.v + 16);
    tap(run(call, ROOM) == PWL_CUDA_ERR_OVERLAP, "run: y within the values");
    call = whole();
    call.k = (void *)(0x50000000 + 2 * 256 * 64 - 16);
    tap(run(call, ROOM) == PWL_CUDA_ERR_OVERLAP, "run: keys within the workspace");
}

int main(void)
{
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    attention = make_attention(&made, 0.05L, 15, LONGEST, 0x1p-8L, 0, made_context(PWL_S8, 1, 0));
    test_upload();
    test_workspace();
    test_shapes();
    test_arrays();
    return tap_end();
}
