/* SPDX-License-Identifier: 0BSD */
#include "ffn_parallel.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime_api.h>

#include "gpus.h"

static const char *cuda_text(cudaError_t error)
{
    return error == cudaSuccess ? NULL : cudaGetErrorString(error);
}

static const char *product_text(pwl_qgemm_status status)
{
    if (status > PWL_QGEMM_ERR_CUDA)
        return cudaGetErrorString((cudaError_t)(status - PWL_QGEMM_ERR_CUDA));
    return status == PWL_QGEMM_OK ? NULL : pwl_qgemm_status_text(status);
}

static int is_integer(const ffn_shared *of)
{
    return of->scheme == PWL_QGEMM_INT8;
}

static int ranks_of(const ffn_part *part)
{
    return part->group.communicator ? part->group.ranks : 1;
}

/* -- GPUs -------------------------------------------------------------------------------------------------------------
 */

/* Of all ranks; `kinds` are zeros. */
static const char *gather_kinds(const nccl *group, gpu_kind *kinds)
{
    gpu_kind *const own = kinds + group->rank, *there = NULL;
    const size_t bytes = (size_t)group->ranks * sizeof *kinds;
    struct cudaDeviceProp properties;
    int device = 0;
    const char *failed = cuda_text(cudaGetDevice(&device));
    if (!failed)
        failed = cuda_text(cudaGetDeviceProperties(&properties, device));
    if (failed)
        return failed;
    snprintf(own->name, sizeof own->name, "%s", properties.name);
    own->major = properties.major;
    own->minor = properties.minor;
    failed = cuda_text(cudaMalloc((void **)&there, bytes));
    if (!failed)
        failed = cuda_text(cudaMemcpy(there + group->rank, own, sizeof *own, cudaMemcpyHostToDevice));
    if (!failed)
        failed = nccl_all_gather(group, there + group->rank, there, sizeof *own, NCCL_S8, NULL);
    if (!failed)
        failed = cuda_text(cudaMemcpy(kinds, there, bytes, cudaMemcpyDeviceToHost));
    (void)cudaFree(there);
    return failed;
}

const char *ffn_compare_gpus(const nccl *group, char *unlike, size_t size)
{
    gpu_kind *const kinds = calloc((size_t)group->ranks, sizeof *kinds);
    const char *const failed = kinds ? gather_kinds(group, kinds) : "out of memory";
    if (failed || !gpus_unlike(kinds, group->ranks, unlike, size))
        unlike[0] = 0;
    free(kinds);
    return failed;
}

/* -- Weights ----------------------------------------------------------------------------------------------------------
 */

/* A part on the device. */
static const char *cut(const pwl_qgemm_weights *whole, pwl_qgemm_share rows, pwl_qgemm_share columns,
                       pwl_qgemm_weights *part)
{
    void *there = NULL;
    size_t bytes;
    if (rows.count == 0 || columns.count == 0)
        return "there are more ranks than pieces of weights";
    const char *failed = product_text(pwl_qgemm_weights_bytes(whole->format, rows.count, columns.count, &bytes));
    void *const here = failed ? NULL : aligned_alloc(16, (bytes + 15) / 16 * 16);
    if (!here)
        return failed ? failed : "out of memory";
    failed = product_text(pwl_qgemm_cut(whole, rows, columns, here, bytes, part));
    if (!failed)
        failed = cuda_text(cudaMalloc(&there, part->bytes));
    if (!failed)
        failed = cuda_text(cudaMemcpy(there, here, part->bytes, cudaMemcpyHostToDevice));
    part->memory = there;
    free(here);
    return failed;
}

const char *ffn_cut(const pwl_qgemm_weights *gate_up, const pwl_qgemm_weights *down, int rank, int ranks,
                    ffn_part *part)
{
    const pwl_qgemm_share pairs = pwl_qgemm_rows_of_rank(gate_up, (size_t)rank, (size_t)ranks);
    const pwl_qgemm_share inputs = {0, gate_up->k}, outputs = {0, down->n};
    const pwl_qgemm_share hidden = {pairs.first / 2, pairs.count / 2};
    const char *const failed = cut(gate_up, pairs, inputs, &part->gate_up);
    return failed ? failed : cut(down, outputs, hidden, &part->down);
}

/* -- Memory -----------------------------------------------------------------------------------------------------------
 */

static pwl_qgemm_product first_product(const ffn_part *part, const void *x, size_t m)
{
    const ffn_shared *const of = part->of;
    const pwl_qgemm_type type = is_integer(of) ? PWL_QGEMM_S8 : PWL_QGEMM_F16;
    return (pwl_qgemm_product){.scheme = of->scheme,
                               .m = m,
                               .weights = &part->gate_up,
                               .x = {.data = x, .stride = of->d, .type = type, .n_x = part->exponents},
                               .y = {.data = part->h, .stride = part->down.k, .type = type},
                               .activation = &part->as};
}

/* Y is S_r, or on one rank Y itself. */
static pwl_qgemm_product second_product(const ffn_part *part, size_t m, void *y, pwl_qgemm_type type)
{
    const ffn_shared *const of = part->of;
    return (pwl_qgemm_product){.scheme = of->scheme,
                               .m = m,
                               .weights = &part->down,
                               .x = {.data = part->h,
                                     .stride = part->down.k,
                                     .type = is_integer(of) ? PWL_QGEMM_S8 : PWL_QGEMM_F16,
                                     .n_x = part->exponents + of->most},
                               .y = {.data = y, .stride = of->d, .type = type, .n_y = of->n_y}};
}

/* The most that a product of up to `most` tokens takes. */
static const char *find_workspace(ffn_part *part)
{
    const pwl_qgemm_type type = is_integer(part->of) ? PWL_QGEMM_S32 : PWL_QGEMM_F16;
    const char *failed = NULL;
    for (size_t m = part->of->most; m > 0 && !failed; m /= 2) {
        const pwl_qgemm_product products[] = {first_product(part, part->sums, m),
                                              second_product(part, m, part->sums, type)};
        for (int i = 0; i < 2 && !failed; i++) {
            size_t bytes = 0;
            failed = product_text(pwl_cuda_qgemm_workspace(&products[i], &bytes));
            part->workspace_bytes = bytes > part->workspace_bytes ? bytes : part->workspace_bytes;
        }
    }
    return failed ? failed : cuda_text(cudaMalloc(&part->workspace, part->workspace_bytes + 1));
}

/* Exponents of X and Y are 0; those of H are n_h. */
static const char *set_exponents(ffn_part *part)
{
    const size_t most = part->of->most;
    const char *failed = cuda_text(cudaMalloc((void **)&part->exponents, 2 * most));
    if (!failed)
        failed = cuda_text(cudaMemset(part->exponents, 0, most));
    return failed ? failed : cuda_text(cudaMemset(part->exponents + most, part->of->n_h, most));
}

const char *ffn_prepare(const ffn_shared *of, ffn_part *part)
{
    const size_t rows = of->most + (size_t)ranks_of(part);
    const pwl_cuda_status uploaded = pwl_cuda_upload(of->table, &part->table);
    part->of = of;
    part->as = of->as;
    part->as.uploaded = &part->table;
    const char *failed = uploaded == PWL_CUDA_OK ? NULL : pwl_cuda_status_text(uploaded);
    if (!failed)
        failed = cuda_text(cudaMalloc(&part->h, of->most * part->down.k * sizeof(uint16_t)));
    if (!failed)
        failed = cuda_text(cudaMalloc(&part->sums, rows * of->d * sizeof(int32_t)));
    if (!failed)
        failed = cuda_text(cudaMalloc(&part->own, rows * of->d * (sizeof(int32_t) + 1)));
    if (!failed)
        failed = set_exponents(part);
    return failed ? failed : find_workspace(part);
}

void ffn_release(ffn_part *part)
{
    void *const arrays[] = {(void *)(uintptr_t)part->gate_up.memory,
                            (void *)(uintptr_t)part->down.memory,
                            part->h,
                            part->sums,
                            part->own,
                            part->exponents,
                            part->workspace};
    nccl_leave(&part->group);
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        (void)cudaFree(arrays[i]);
    if (pwl_cuda_release(&part->table) != PWL_CUDA_OK)
        part->table.memory = NULL;
}

/* -- The block --------------------------------------------------------------------------------------------------------
 */

static const char *multiply(const ffn_part *part, const pwl_qgemm_product *product, struct CUstream_st *stream)
{
    return product_text(pwl_cuda_qgemm(product, part->workspace, part->workspace_bytes, NULL, stream));
}

/* Codes of complete sums of `count` tokens. */
static const char *make_codes(const ffn_part *part, const int32_t *sums, size_t count, void *y,
                              struct CUstream_st *stream)
{
    const pwl_qgemm_product product = second_product(part, count, y, PWL_QGEMM_S8);
    return product_text(pwl_cuda_qgemm_store_sums(&product, sums, part->of->d, stream));
}

/* Each rank has `each` tokens, the last ones of which may lie beyond M. */
static const char *share_sums(const ffn_part *part, size_t each, void *y, struct CUstream_st *stream)
{
    const size_t count = each * part->of->d;
    int32_t *const sums = part->own;
    int8_t *const codes = (int8_t *)(sums + count);
    const char *failed = nccl_reduce_scatter(&part->group, part->sums, sums, count, NCCL_S32, stream);
    if (!failed)
        failed = make_codes(part, sums, each, codes, stream);
    return failed ? failed : nccl_all_gather(&part->group, codes, y, count, NCCL_S8, stream);
}

static const char *add_integers(const ffn_part *part, size_t m, void *y, struct CUstream_st *stream)
{
    const size_t ranks = (size_t)part->group.ranks, each = (m + ranks - 1) / ranks;
    if (each >= FFN_OWN_TOKENS)
        return share_sums(part, each, y, stream);
    const char *const failed = nccl_all_reduce(&part->group, part->sums, m * part->of->d, NCCL_S32, stream);
    return failed ? failed : make_codes(part, part->sums, m, y, stream);
}

const char *ffn_queue(const ffn_part *part, const void *x, size_t m, void *y, int steps, struct CUstream_st *stream)
{
    const int integers = is_integer(part->of), alone = ranks_of(part) == 1;
    const pwl_qgemm_product first = first_product(part, x, m);
    const pwl_qgemm_product second = second_product(part, m, integers && !alone ? part->sums : y,
                                                    !integers ? PWL_QGEMM_F16
                                                    : alone   ? PWL_QGEMM_S8
                                                              : PWL_QGEMM_S32);
    const char *failed = NULL;
    if (steps & FFN_PRODUCTS)
        failed = multiply(part, &first, stream);
    if (!failed && steps & FFN_PRODUCTS)
        failed = multiply(part, &second, stream);
    if (failed || alone || !(steps & FFN_REDUCTION))
        return failed;
    return integers ? add_integers(part, m, y, stream)
                    : nccl_all_reduce(&part->group, y, m * part->of->d, NCCL_F16, stream);
}
