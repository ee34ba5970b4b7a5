/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights of E4M3's formats packed on a device against the host's, byte for byte, and what is refused, by its place;
 * test_qgemm_fp8.c proves the host's.
 *
 * test_qgemm_pack_e4m3_cuda        everything, on one device; exits 77 where there is none
 * test_qgemm_pack_e4m3_cuda small  some of it, for compute-sanitizer
 */
#include <math.h>

#include <pwl/cuda_qgemm.h>

#include "../device.h"
#include "../tap.h"
#include "fp8_cases.h"

enum { GUARD = 64 };

#define POISON 0xa5

static int small;
static const size_t shapes[][2] = {{1, 32},    {1, 96},     {16, 64},    {127, 32},  {128, 128},  {129, 96},
                                   {17, 2080}, {130, 4064}, {300, 1024}, {1000, 96}, {1040, 4096}};

static size_t shapes_count(void)
{
    return small ? 7 : sizeof shapes / sizeof shapes[0];
}

/* Rows of a source, of a pair those of gate and then of up, n in all. */
struct rows {
    pwl_qgemm_format format;
    pwl_qgemm_spread spread;
    size_t n, k, bytes; /* of the data */
    int pair;
    uint8_t *data;
    float *scale; /* of E4M3 */
};

/* Of memory on either side. */
static pwl_qgemm_source source_of(const struct rows *r, const uint8_t *data, const float *scale)
{
    pwl_qgemm_source of[2];
    const size_t n = r->pair ? r->n / 2 : r->n;
    for (int i = 0; i < 2; i++) {
        const uint8_t *const from = data + (size_t)i * (r->bytes / 2);
        of[i] = r->format == PWL_QGEMM_ROWS_E4M3 ? pwl_qgemm_of_codes(r->format, from, scale + (size_t)i * n, n, r->k)
                                                 : pwl_qgemm_of_blocks(r->format, from, n, r->k);
        of[i].spread = r->spread;
    }
    return r->pair ? pwl_qgemm_of_pair(of[0], of[1]) : of[0];
}

/* The device does what the host does; *status is what both said. */
static int agrees(const struct rows *r, size_t offset, pwl_qgemm_status *status)
{
    const pwl_qgemm_weights untouched = {NULL, 1, 2, 3, PWL_QGEMM_Q8_0, 4};
    pwl_qgemm_weights host = untouched, device = untouched;
    pwl_qgemm_place bad[2] = {{77, 77, 77}, {77, 77, 77}};
    uint8_t *data, *to;
    float *scale;
    size_t bytes;
    PWL(pwl_qgemm_weights_bytes(r->format, r->n, r->k, &bytes));
    uint8_t *const expected = need(bytes + GUARD), *const got = need(bytes + GUARD);
    memset(expected, POISON, bytes + GUARD);
    CUDA(cudaMalloc((void **)&data, r->bytes + offset));
    CUDA(cudaMalloc((void **)&scale, r->n * sizeof *scale));
    CUDA(cudaMalloc((void **)&to, bytes + GUARD));
    CUDA(cudaMemcpy(data + offset, r->data, r->bytes, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(scale, r->scale, r->n * sizeof *scale, cudaMemcpyHostToDevice));
    CUDA(cudaMemset(to, POISON, bytes + GUARD));
    *status = pwl_qgemm_pack(source_of(r, r->data, r->scale), expected, bytes, &host, &bad[0]);
    int good = pwl_cuda_qgemm_pack(source_of(r, data + offset, scale), to, bytes, &device, &bad[1], NULL) == *status;
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(got, to, bytes + GUARD, cudaMemcpyDeviceToHost));
    good = good && bad[0].row == bad[1].row && bad[0].block == bad[1].block && bad[0].apart == bad[1].apart &&
           host.n == device.n && host.k == device.k && host.bytes == device.bytes && host.format == device.format &&
           host.row_data == device.row_data && device.memory == (*status == PWL_QGEMM_OK ? to : NULL);
    /* Memory of weights that were refused holds anything. */
    good = good && memcmp(got + bytes, expected + bytes, GUARD) == 0 &&
           (*status != PWL_QGEMM_OK || memcmp(got, expected, bytes) == 0);
    if (!good)
        printf("# format %d, %zu rows of %zu, pair %d: status %d; row %zu, block %zu, apart %d, not %zu, %zu, %d\n",
               r->format, r->n, r->k, r->pair, *status, bad[1].row, bad[1].block, bad[1].apart, bad[0].row,
               bad[0].block, bad[0].apart);
    free(expected);
    free(got);
    CUDA(cudaFree(data));
    CUDA(cudaFree(scale));
    CUDA(cudaFree(to));
    return good;
}

static struct rows new_rows(pwl_qgemm_format format, size_t n, size_t k, uint64_t *state)
{
    const int is_e4m3 = format == PWL_QGEMM_ROWS_E4M3;
    struct rows r = {format, PWL_QGEMM_SPREAD_EXACT, n, k, is_e4m3 ? n * k : n * (k / 32) * 17, 0, NULL, NULL};
    r.pair = n % 16 == 0 && random_bits(state) % 2;
    r.data = need(r.bytes);
    r.scale = need(n * sizeof *r.scale);
    for (size_t i = 0; i < n; i++)
        r.scale[i] = (float)random_in(state, -1000, 1000) / 7;
    if (is_e4m3)
        draw_fp8_w(FP8_ANY, r.data, n, k, state);
    else
        draw_fp8_blocks(FP8_ANY, (pwl_block_mxfp4 *)r.data, n, k, (int)random_in(state, -127, 100), state);
    return r;
}

static void free_rows(struct rows *r)
{
    free(r->data);
    free(r->scale);
}

static void test_packing(pwl_qgemm_format format, const char *name)
{
    uint64_t state = 95;
    int good = 1;
    for (size_t i = 0; i < 2 * shapes_count() && good; i++) {
        struct rows r = new_rows(format, shapes[i / 2][0], shapes[i / 2][1], &state);
        pwl_qgemm_status status;
        if (random_bits(&state) % 3 == 0) /* a row of zeros, whatever its exponents */
            for (size_t c = 0; c < r.bytes / r.n; c++)
                r.data[c] = format == PWL_QGEMM_ROWS_E4M3 || c % 17 ? 0 : r.data[c];
        good = agrees(&r, i % 4, &status) && status == PWL_QGEMM_OK;
        free_rows(&r);
    }
    tap(good, "%s", name);
}

/* Blocks of every distance: refused at the first that would change, or rounded. */
static void test_spread(void)
{
    uint64_t state = 96;
    int good = 1, refused = 0, packed = 0;
    for (size_t i = 0; i < (small ? 8 : 120) && good; i++) {
        struct rows r = new_rows(PWL_QGEMM_MXFP4_E4M3, (size_t)random_in(&state, 1, 60), 96, &state);
        pwl_qgemm_status status;
        const size_t spoilt = random_bits(&state) % 3;
        for (size_t j = 0; j < spoilt; j++)
            r.data[random_bits(&state) % (r.bytes / 17) * 17] = (uint8_t)random_in(&state, 0, 254);
        good = agrees(&r, 0, &status) && (status == PWL_QGEMM_OK || status == PWL_QGEMM_ERR_SPREAD);
        refused += status == PWL_QGEMM_ERR_SPREAD;
        r.spread = PWL_QGEMM_SPREAD_ROUNDED;
        good = good && agrees(&r, 0, &status) && status == PWL_QGEMM_OK;
        packed++;
        free_rows(&r);
    }
    tap(good && refused > packed / 4 && refused < packed, "MXFP4: rows of any spread, %d of %d refused", refused,
        packed);
}

/* A NaN, an infinite scale, or some, of which the first is told; before any that is not exact. */
static void test_refusals(pwl_qgemm_format format, const char *name)
{
    uint64_t state = 97;
    int good = 1;
    for (size_t i = 0; i < (small ? 6 : 60) && good; i++) {
        struct rows r = new_rows(format, 16 * (size_t)random_in(&state, 1, 10), 160, &state);
        const size_t count = 1 + random_bits(&state) % 3, row = random_bits(&state) % r.n;
        pwl_qgemm_status status;
        if (format == PWL_QGEMM_MXFP4_E4M3) /* of which the row is not exact, as it may be */
            r.data[random_bits(&state) % (r.bytes / 17) * 17] = 0;
        for (size_t j = 0; j < count; j++) {
            if (format == PWL_QGEMM_ROWS_E4M3)
                r.data[random_bits(&state) % r.bytes] = random_bits(&state) % 2 ? 0x7f : 0xff;
            else
                r.data[random_bits(&state) % (r.bytes / 17) * 17] = 255;
        }
        if (format == PWL_QGEMM_ROWS_E4M3 && i % 2)
            r.scale[row] = i % 4 == 1 ? INFINITY : NAN;
        good = agrees(&r, i % 2, &status) && status == PWL_QGEMM_ERR_SCALE;
        free_rows(&r);
    }
    tap(good, "%s: what is not finite is refused by its place", name);
}

int main(int argc, char **argv)
{
    small = test_is_small(argc, argv);
    test_packing(PWL_QGEMM_ROWS_E4M3, "E4M3");
    test_packing(PWL_QGEMM_MXFP4_E4M3, "MXFP4");
    test_spread();
    test_refusals(PWL_QGEMM_ROWS_E4M3, "E4M3");
    test_refusals(PWL_QGEMM_MXFP4_E4M3, "MXFP4");
    return tap_end();
}
