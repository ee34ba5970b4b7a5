/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention on the GPU against its definition, bit for bit: both sizes of heads, causal or not, rows and keys around
 * each edge of tiles, heads that share keys, scores that are flat and scores that are peaks, and what lies beyond y.
 *
 * test_attention_cuda        everything, on one device; exits 77 where there is none
 * test_attention_cuda small  few rows of every kind, for compute-sanitizer
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/cuda_attention.h>

#include "../device.h"
#include "../need.h"
#include "../tap.h"
#include "made_attention.h"

enum { ROOM = 1 << 22, GUARD = 64, POISON = 0xa5, LONGEST = 65536 };

static int small;

static struct {
    int8_t *q, *k, *v;
    uint8_t *expected, *y;
    uint8_t *device_q, *device_k, *device_v, *device_y, *workspace;
} arrays;

static size_t rows_of(const pwl_attention_call *call)
{
    return call->heads * call->share * call->queries;
}

static void draw(const pwl_attention_call *call, int part, uint64_t *state)
{
    const size_t of_q = rows_of(call) * call->channels, of_k = call->heads * call->keys * call->channels;
    draw_codes(arrays.q, of_q, part, state);
    draw_codes(arrays.k, of_k, part, state);
    draw_codes(arrays.v, of_k, 30, state);
    CUDA(cudaMemcpy(arrays.device_q, arrays.q, of_q, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(arrays.device_k, arrays.k, of_k, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(arrays.device_v, arrays.v, of_k, cudaMemcpyHostToDevice));
    CUDA(cudaMemset(arrays.device_y, POISON, of_q + GUARD));
    CUDA(cudaMemset(arrays.workspace, POISON, ROOM));
}

/* Whether the device has what arrays.expected has, and nothing behind it. */
static int same_codes(const pwl_attention_call *call)
{
    const size_t codes = rows_of(call) * call->channels;
    CUDA(cudaMemcpy(arrays.y, arrays.device_y, codes + GUARD, cudaMemcpyDeviceToHost));
    for (size_t k = 0; k < codes; k++)
        if (arrays.y[k] != arrays.expected[k]) {
            printf("# channel %zu of row %zu of head %zu is %d, not %d\n", k % call->channels,
                   k / call->channels % call->queries, k / call->channels / call->queries, (int8_t)arrays.y[k],
                   (int8_t)arrays.expected[k]);
            return 0;
        }
    for (size_t k = 0; k < GUARD; k++)
        if (arrays.y[codes + k] != POISON)
            return 0;
    return 1;
}

static int agrees(const pwl_attention *attention, pwl_attention_call call, int part, uint64_t *state)
{
    pwl_cuda_attention uploaded;
    int good;
    draw(&call, part, state);
    call.q = arrays.q, call.k = arrays.k, call.v = arrays.v, call.y = arrays.expected;
    PWL(pwl_attention_run(attention, &call));
    PWL(pwl_cuda_attention_upload(attention, &uploaded));
    call.q = (int8_t *)arrays.device_q, call.k = (int8_t *)arrays.device_k, call.v = (int8_t *)arrays.device_v;
    call.y = arrays.device_y;
    PWL(pwl_cuda_attention_run(&uploaded, &call, arrays.workspace, pwl_cuda_attention_workspace(&call), NULL));
    good = same_codes(&call);
    if (!good)
        printf("# %zu x %zu heads of %zu channels, %zu rows, %zu keys%s from %zu\n", call.heads, call.share,
               call.channels, call.queries, call.keys, call.is_causal ? ", causal" : "", call.first);
    PWL(pwl_cuda_attention_release(&uploaded));
    return good;
}

/* Operators whose scores are flat, or peaks, or in between. */
static pwl_attention drawn_attention(made_softmax *made, uint64_t *state)
{
    const pwl_type out = random_bits(state) % 2 ? PWL_S8 : PWL_U8;
    const long double of_product =
        ldexpl(1 + (long double)(random_bits(state) % 64) / 64, -4 - (int)(random_bits(state) % 9));
    return make_attention(
        made, 0.02L + (long double)(random_bits(state) % 100) / 1000, 8 + (int)(random_bits(state) % 8), LONGEST,
        of_product, (int8_t)random_in(state, -128, 127),
        made_context(out, 0.5L + (long double)(random_bits(state) % 100) / 50, random_in(state, -9, 9)));
}

static void test_shapes(size_t channels)
{
    static const size_t counts[] = {1, 2, 63, 64, 65, 127, 128, 129, 191, 192, 193, 255, 256, 257, 400};
    enum { COUNTS = sizeof counts / sizeof *counts };
    uint64_t state = 0xa77e + channels;
    int good = 1, calls = 0;
    for (size_t i = 0; i < COUNTS * COUNTS; i += small ? 31 : 1) {
        made_softmax made;
        const pwl_attention attention = drawn_attention(&made, &state);
        pwl_attention_call call = {.heads = 1 + random_bits(&state) % 2,
                                   .share = 1 + random_bits(&state) % 3,
                                   .queries = counts[i / COUNTS],
                                   .keys = counts[i % COUNTS],
                                   .channels = channels,
                                   .is_causal = (int)(random_bits(&state) % 2)};
        call.first = random_bits(&state) % 2 && call.keys > call.queries ? call.keys - call.queries
                                                                         : random_bits(&state) % (2 * call.keys);
        good &= agrees(&attention, call, 1 + (int)(random_bits(&state) % 30), &state);
        calls++;
    }
    tap(good, "heads of %zu channels, %d calls", channels, calls);
}

/* Sums as large as they can be: equal scores of many keys, values at their ends. */
static void test_large_sums(size_t channels)
{
    const size_t keys = small ? 1024 : ROOM / channels;
    pwl_attention_call call = {
        .heads = 1, .share = 1, .queries = 3, .keys = keys > LONGEST ? LONGEST : keys, .channels = channels};
    pwl_cuda_attention uploaded;
    made_softmax made;
    const pwl_attention attention =
        make_attention(&made, 0.001L, 15, LONGEST, 0x1p-8L, 127, made_context(PWL_S8, 0.5L, 0));
    memset(arrays.q, 0, 3 * channels);
    memset(arrays.k, 0, call.keys * channels);
    memset(arrays.v, -128, call.keys * channels);
    arrays.q[channels] = arrays.q[2 * channels] = 1;
    for (size_t k = 0; k < call.keys; k += 1 + k % 7)
        arrays.k[k * channels] = (int8_t)(k % 256 - 128);
    call.q = arrays.q, call.k = arrays.k, call.v = arrays.v, call.y = arrays.expected;
    PWL(pwl_attention_run(&attention, &call));
    CUDA(cudaMemcpy(arrays.device_q, arrays.q, 3 * channels, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(arrays.device_k, arrays.k, call.keys * channels, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(arrays.device_v, arrays.v, call.keys * channels, cudaMemcpyHostToDevice));
    CUDA(cudaMemset(arrays.device_y, POISON, 3 * channels + GUARD));
    PWL(pwl_cuda_attention_upload(&attention, &uploaded));
    call.q = (int8_t *)arrays.device_q, call.k = (int8_t *)arrays.device_k, call.v = (int8_t *)arrays.device_v;
    call.y = arrays.device_y;
    PWL(pwl_cuda_attention_run(&uploaded, &call, arrays.workspace, pwl_cuda_attention_workspace(&call), NULL));
    tap(same_codes(&call), "%zu keys of %zu channels, whose sums are as large as they can be", call.keys, channels);
    PWL(pwl_cuda_attention_release(&uploaded));
}

/* Whether this device, or the code that is here for it, has none of the kernels. */
static int is_refused(void)
{
    made_softmax made;
    pwl_cuda_attention uploaded;
    const pwl_attention attention = make_attention(&made, 0.05L, 15, LONGEST, 0x1p-8L, 0, made_context(PWL_S8, 1, 0));
    const pwl_attention_call call = {.q = (int8_t *)arrays.device_q,
                                     .k = (int8_t *)arrays.device_k,
                                     .v = (int8_t *)arrays.device_v,
                                     .y = arrays.device_y,
                                     .heads = 1,
                                     .share = 1,
                                     .queries = 1,
                                     .keys = 1,
                                     .channels = 64};
    pwl_cuda_status status;
    PWL(pwl_cuda_attention_upload(&attention, &uploaded));
    status = pwl_cuda_attention_run(&uploaded, &call, arrays.workspace, ROOM, NULL);
    PWL(pwl_cuda_attention_release(&uploaded));
    return pwl_cuda_error(status) == cudaErrorNotSupported;
}

int main(int argc, char **argv)
{
    small = test_is_small(argc, argv);
    arrays.q = need(ROOM);
    arrays.k = need(ROOM);
    arrays.v = need(ROOM);
    arrays.expected = need(ROOM);
    arrays.y = need(ROOM + GUARD);
    CUDA(cudaMalloc((void **)&arrays.device_q, ROOM));
    CUDA(cudaMalloc((void **)&arrays.device_k, ROOM));
    CUDA(cudaMalloc((void **)&arrays.device_v, ROOM));
    CUDA(cudaMalloc((void **)&arrays.device_y, ROOM + GUARD));
    CUDA(cudaMalloc((void **)&arrays.workspace, ROOM));
    CUDA(cudaMemset(arrays.device_q, 0, ROOM)); /* what is_refused() reads of them */
    CUDA(cudaMemset(arrays.device_k, 0, ROOM));
    CUDA(cudaMemset(arrays.device_v, 0, ROOM));
    if (is_refused()) {
        tap(1, "a device without the kernels is refused");
        return tap_end();
    }
    for (size_t channels = 64; channels <= 128; channels *= 2) {
        test_shapes(channels);
        test_large_sums(channels);
    }
    return tap_end();
}
