/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The block that GPUs share. In integers: the parts' sums, added up on the host and made codes on the device, are bit
 * for bit one GPU's block, for 2 to 5 ranks, one after the other on one device; and so is what NCCL makes of them,
 * where there are several devices, whose kinds all ranks know. In floats: what NCCL makes is the sum of what the ranks
 * stored, but for roundings.
 */
#include <math.h>

#include <pwl/half.h>

#include "../../examples/ffn_parallel.h"
#include "../../examples/gpus.h"
#include "../kernels/device.h"
#include "../kernels/gemm/cases.h"
#include "../kernels/tap.h"
#include "pwl_silu_s16.h"
#include "ranks.h"

enum { D = 384, FF = 1408, MOST_TOKENS = 130, ROOM = MOST_TOKENS + MOST_RANKS };

static const size_t tokens[] = {1, 7, 31, 130};
#define TOKENS (sizeof tokens / sizeof tokens[0])

static struct {
    ffn_shared shared;
    pwl_qgemm_weights gate_up, down;       /* on the host */
    uint16_t x[MOST_TOKENS * D];           /* or bytes */
    uint16_t one[TOKENS][MOST_TOKENS * D]; /* Y of one rank */
    nccl_id id;
    size_t m, element;
    char unlike[MOST_RANKS][GPUS_MESSAGE];
    uint16_t partial[MOST_RANKS][ROOM * D], got[2][MOST_RANKS][ROOM * D];
} all;

static pwl_qgemm_weights draw(pwl_qgemm_format format, size_t n, size_t k, uint64_t *state)
{
    const int rows = format == PWL_QGEMM_ROWS8;
    uint8_t *const codes = need(n * k), *const blocks = need(blocks_bytes(&qgemm_kinds[0], n, k));
    int8_t *const n_w = need(n);
    pwl_qgemm_weights made;
    size_t bytes;
    for (size_t i = 0; i < n * k; i++)
        codes[i] = (uint8_t)random_bits(state);
    for (size_t i = 0; i < n; i++)
        n_w[i] = (int8_t)random_in(state, 9, 11);
    draw_blocks(&qgemm_kinds[0], blocks, n * k / PWL_BLOCK, -10, -8, state);
    PWL(pwl_qgemm_weights_bytes(format, n, k, &bytes));
    PWL(pwl_qgemm_pack(rows ? pwl_qgemm_of_codes(format, codes, n_w, n, k) : pwl_qgemm_of_blocks(format, blocks, n, k),
                       need(bytes), bytes, &made, NULL));
    free(codes);
    free(blocks);
    free(n_w);
    return made;
}

static void make_block(int integers)
{
    const pwl_table *const table = &pwl_silu_s16;
    uint64_t state = 5;
    all.element = integers ? 1 : 2;
    all.gate_up = draw(integers ? PWL_QGEMM_ROWS8 : PWL_QGEMM_Q4_0, 2 * FF, D, &state);
    all.down = draw(integers ? PWL_QGEMM_ROWS8 : PWL_QGEMM_Q4_0, D, FF, &state);
    all.shared = (ffn_shared){
        .scheme = integers ? PWL_QGEMM_INT8 : PWL_QGEMM_W4A16,
        .d = D,
        .ff = FF,
        .most = MOST_TOKENS,
        .table = table,
        .as = {.of_x = {0x1p-11F, 0}, .of_y = {0x1p-11F, 0}, .gated = 1, .of_up = {0x1p-8F, 0}, .of_out = {0x1p-1F, 0}},
        .n_h = 1,
        .n_y = 0};
    for (size_t i = 0; i < MOST_TOKENS * D; i++) {
        if (integers)
            ((int8_t *)all.x)[i] = (int8_t)random_in(&state, -10, 10);
        else
            all.x[i] = pwl_f16_from_f32((float)random_in(&state, -1000, 1000) / 512);
    }
}

static const char *text_of(cudaError_t error)
{
    return error == cudaSuccess ? NULL : cudaGetErrorString(error);
}

/* Y of a rank that is ready, or what `steps` leave of it; at `to` on the host, from `from` on the device. */
static const char *compute(const ffn_part *part, int steps, size_t m, const void *x, void *y, const void *from,
                           size_t bytes, void *to)
{
    const char *failed = ffn_queue(part, x, m, y, steps, NULL);
    return failed ? failed : text_of(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}

/* -- One device -------------------------------------------------------------------------------------------------------
 */

static void compute_one(void)
{
    void *x, *y;
    ffn_part part = {0};
    const char *failed = ffn_cut(&all.gate_up, &all.down, 0, 1, &part);
    failed = failed ? failed : ffn_prepare(&all.shared, &part);
    CUDA(cudaMalloc(&x, sizeof all.x));
    CUDA(cudaMalloc(&y, sizeof all.x));
    CUDA(cudaMemcpy(x, all.x, sizeof all.x, cudaMemcpyHostToDevice));
    for (size_t t = 0; t < TOKENS && !failed; t++)
        failed = compute(&part, FFN_ALL, tokens[t], x, y, y, tokens[t] * D * all.element, all.one[t]);
    ffn_release(&part);
    CUDA(cudaFree(x));
    CUDA(cudaFree(y));
    tap(!failed, "one rank%s%s", failed ? ": " : "", failed ? failed : "");
}

/* Ranks in turn; their sums are added up on the host. */
static void test_in_turn(int ranks)
{
    static int32_t sums[MOST_TOKENS * D], some[MOST_TOKENS * D];
    static int8_t codes[MOST_TOKENS * D];
    void *x, *y, *total;
    int good = 1;
    const char *failed = NULL;
    CUDA(cudaMalloc(&x, sizeof all.x));
    CUDA(cudaMalloc(&y, sizeof all.x));
    CUDA(cudaMalloc(&total, sizeof sums));
    CUDA(cudaMemcpy(x, all.x, sizeof all.x, cudaMemcpyHostToDevice));
    for (size_t t = 0; t < TOKENS && !failed; t++) {
        const size_t count = tokens[t] * D;
        ffn_part part = {0};
        memset(sums, 0, sizeof sums);
        for (int rank = 0; rank < ranks && !failed; rank++) {
            ffn_release(&part);
            part = (ffn_part){.group = {&part, rank, ranks}};
            failed = ffn_cut(&all.gate_up, &all.down, rank, ranks, &part);
            failed = failed ? failed : ffn_prepare(&all.shared, &part);
            failed = failed ? failed : compute(&part, FFN_PRODUCTS, tokens[t], x, y, part.sums, count * 4, some);
            part.group.communicator = NULL; /* it was none */
            for (size_t i = 0; i < count; i++)
                sums[i] += some[i];
        }
        CUDA(cudaMemcpy(total, sums, count * 4, cudaMemcpyHostToDevice));
        const pwl_qgemm_product product = {
            .scheme = PWL_QGEMM_INT8,
            .m = tokens[t],
            .weights = &part.down,
            .x = {part.h, part.down.k, PWL_QGEMM_S8, 0, part.exponents + MOST_TOKENS, NULL},
            .y = {.data = y, .stride = D, .type = PWL_QGEMM_S8, .n_y = all.shared.n_y}};
        PWL(pwl_cuda_qgemm_store_sums(&product, total, D, NULL));
        CUDA(cudaMemcpy(codes, y, count, cudaMemcpyDeviceToHost));
        good &= memcmp(codes, all.one[t], count) == 0;
        ffn_release(&part);
    }
    CUDA(cudaFree(x));
    CUDA(cudaFree(y));
    CUDA(cudaFree(total));
    tap(!failed && good, "%d ranks in turn have the bits of one%s%s", ranks, failed ? ": " : "", failed ? failed : "");
}

/* -- Several ----------------------------------------------------------------------------------------------------------
 */

/* What one rank stored, and Y, twice. */
static const char *work_rank(const struct ranks *ranks, int rank)
{
    const size_t bytes = all.m * D * all.element;
    void *x, *y;
    ffn_part part = {0};
    CUDA(cudaSetDevice(rank));
    const char *failed = nccl_join(&all.id, rank, ranks->count, &part.group);
    failed = failed ? failed : ffn_compare_gpus(&part.group, all.unlike[rank], sizeof all.unlike[rank]);
    failed = failed ? failed : ffn_cut(&all.gate_up, &all.down, rank, ranks->count, &part);
    failed = failed ? failed : ffn_prepare(&all.shared, &part);
    CUDA(cudaMalloc(&x, sizeof all.x));
    CUDA(cudaMalloc(&y, sizeof all.partial[0]));
    CUDA(cudaMemcpy(x, all.x, sizeof all.x, cudaMemcpyHostToDevice));
    failed = failed ? failed : compute(&part, FFN_PRODUCTS, all.m, x, y, y, bytes, all.partial[rank]);
    for (int again = 0; again < 2 && !failed; again++)
        failed = compute(&part, FFN_ALL, all.m, x, y, y, bytes, all.got[again][rank]);
    ffn_release(&part);
    CUDA(cudaFree(x));
    CUDA(cudaFree(y));
    return failed;
}

/* Each of the additions rounds by half an ulp of fp16 at most, of partial sums. */
static int is_near_sum(int ranks, size_t at)
{
    double sum = 0, size = 0;
    for (int rank = 0; rank < ranks; rank++) {
        const double part = (double)pwl_f32_from_f16(all.partial[rank][at]);
        sum += part;
        size += fabs(part);
    }
    return fabs((double)pwl_f32_from_f16(all.got[0][0][at]) - sum) <= (ranks - 1) * (0x1p-11 * size + 0x1p-25);
}

/* What ranks should have heard of each other's GPUs, here all of one process. */
static const char *find_unlike(int ranks, char *message, size_t size)
{
    static gpu_kind kinds[MOST_RANKS];
    for (int rank = 0; rank < ranks; rank++) {
        struct cudaDeviceProp properties;
        CUDA(cudaGetDeviceProperties(&properties, rank));
        snprintf(kinds[rank].name, sizeof kinds[rank].name, "%s", properties.name);
        kinds[rank].major = properties.major;
        kinds[rank].minor = properties.minor;
    }
    return gpus_unlike(kinds, ranks, message, size);
}

static void test_together(int ranks, size_t t)
{
    const size_t count = tokens[t] * D, bytes = count * all.element;
    int same = 1, right = 1;
    char unlike[sizeof all.unlike[0]];
    all.m = tokens[t];
    const char *const failed = nccl_make_id(&all.id);
    if (!failed)
        run_ranks(ranks, work_rank, NULL);
    for (int again = 0; again < 2; again++)
        for (int rank = 0; rank < ranks; rank++)
            same &= memcmp(all.got[again][rank], all.got[0][0], bytes) == 0;
    if (!find_unlike(ranks, unlike, sizeof unlike))
        unlike[0] = 0;
    for (int rank = 0; rank < ranks; rank++)
        same &= strcmp(all.unlike[rank], unlike) == 0;
    if (all.element == 1)
        right = memcmp(all.got[0][0], all.one[t], bytes) == 0;
    for (size_t i = 0; i < count && all.element == 2; i++)
        right &= is_near_sum(ranks, i);
    tap(!failed && same && right, "%d ranks, %zu tokens, %s: %s%s", ranks, tokens[t], all.element == 1 ? "s8" : "fp16",
        all.element == 1 ? "the bits of one" : "the sum", failed ? failed : "");
}

int main(int argc, char **argv)
{
    const int small = test_is_small(argc, argv);
    int devices;
    CUDA(cudaGetDeviceCount(&devices));
    for (int integers = 0; integers < 2; integers++) {
        make_block(integers);
        compute_one();
        for (int ranks = 2; ranks <= (small ? 2 : 5) && integers; ranks++)
            test_in_turn(ranks);
        for (int ranks = 2; ranks <= devices && ranks <= MOST_RANKS && !small; ranks++)
            for (size_t t = 0; t < TOKENS; t++)
                test_together(ranks, t);
        free_weights(&all.gate_up);
        free_weights(&all.down);
    }
    return tap_end();
}
