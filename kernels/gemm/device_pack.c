/* SPDX-License-Identifier: Apache-2.0 */
/* The host's side of packing on devices. */
#include <string.h>

#include <cuda_runtime_api.h>

#include <pwl/cuda_qgemm.h>

#include "check.h"
#include "launch.h"
#include "super.h"

/* What is found lies where the first 16 bytes of the weights will. */
static int find_nothing(void *memory, struct CUstream_st *stream)
{
    return cudaMemsetAsync(memory, 0xff, sizeof(pwl_qgemm_survey), stream);
}

/* Waits for it: its bytes. */
static int wait_for(const void *memory, void *found, size_t bytes, struct CUstream_st *stream)
{
    const int error = cudaMemcpyAsync(found, memory, bytes, cudaMemcpyDeviceToHost, stream);
    return error == cudaSuccess ? (int)cudaStreamSynchronize(stream) : error;
}

/* Packs all but rows' exponents, and tells whether there may be any; integers are not looked at. */
static int pack_pieces(const pwl_qgemm_source *from, const pwl_qgemm_weights *made, void *memory,
                       pwl_qgemm_survey *found, struct CUstream_st *stream)
{
    const int looks = from->from != PWL_QGEMM_FROM_CODES;
    pwl_qgemm_survey *const there = looks ? memory : NULL;
    int error = looks ? find_nothing(memory, stream) : cudaSuccess;
    if (error == cudaSuccess && made->row_data)
        error = pwl_cuda_launch_qgemm_rows(from, made, there, stream);
    if (error == cudaSuccess)
        error = pwl_cuda_launch_qgemm_pieces(from, made, there, stream);
    if (error == cudaSuccess && looks)
        error = wait_for(memory, found, sizeof *found, stream);
    return error;
}

/* Looks at whole rows, where single blocks call for an exponent. */
static int survey(const pwl_qgemm_source *from, void *memory, pwl_qgemm_survey *found, struct CUstream_st *stream)
{
    int error = find_nothing(memory, stream);
    if (error == cudaSuccess)
        error = pwl_cuda_launch_qgemm_survey(from, memory, stream);
    return error == cudaSuccess ? wait_for(memory, found, sizeof *found, stream) : error;
}

/* Looks at all weights of E4M3's formats, and puts the scales of their rows in place. */
static int survey_e4m3(const pwl_qgemm_source *from, const pwl_qgemm_weights *made, void *memory,
                       pwl_qgemm_survey_e4m3 *found, struct CUstream_st *stream)
{
    pwl_qgemm_survey_e4m3 *const there = memory;
    int error = find_nothing(memory, stream);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(&there->apart, 0, sizeof there->apart, stream);
    if (error == cudaSuccess)
        error = pwl_cuda_launch_qgemm_e4m3_rows(from, made, there, stream);
    return error == cudaSuccess ? wait_for(memory, found, sizeof *found, stream) : error;
}

/* What was found, as pwl_qgemm_pack() tells it. */
static pwl_qgemm_status judge_e4m3(const pwl_qgemm_source *from, const pwl_qgemm_survey_e4m3 *found,
                                   pwl_qgemm_place *bad)
{
    const int is_bad = found->bad != UINT64_MAX, is_inexact = found->inexact != UINT64_MAX;
    if (bad && (is_bad || is_inexact))
        *bad = pwl_qgemm_place_of(from, (size_t)(is_bad ? found->bad : found->inexact));
    if (is_bad)
        return PWL_QGEMM_ERR_SCALE;
    if (bad && from->format == PWL_QGEMM_MXFP4_E4M3)
        bad->apart = found->apart;
    return is_inexact ? PWL_QGEMM_ERR_SPREAD : PWL_QGEMM_OK;
}

static pwl_qgemm_status pack_e4m3(const pwl_qgemm_source *from, void *memory, pwl_qgemm_weights *weights,
                                  pwl_qgemm_place *bad, struct CUstream_st *stream)
{
    const pwl_qgemm_weights made = pwl_qgemm_weights_of(from, memory, 1);
    pwl_qgemm_survey_e4m3 found;
    int error = survey_e4m3(from, &made, memory, &found, stream);
    const pwl_qgemm_status status = error == cudaSuccess ? judge_e4m3(from, &found, bad) : pwl_qgemm_status_of(error);
    if (status != PWL_QGEMM_OK)
        return status;
    error = pwl_cuda_launch_qgemm_e4m3_pieces(from, &made, stream);
    if (error == cudaSuccess)
        error = pwl_cuda_launch_qgemm_settle(stream);
    if (error == cudaSuccess)
        *weights = made;
    return pwl_qgemm_status_of(error);
}

pwl_qgemm_status pwl_cuda_qgemm_pack(pwl_qgemm_source source, void *memory, size_t bytes, pwl_qgemm_weights *weights,
                                     pwl_qgemm_place *bad, struct CUstream_st *stream)
{
    pwl_qgemm_source from;
    pwl_qgemm_survey found;
    pwl_qgemm_weights made;
    int error;
    pwl_qgemm_status status = pwl_qgemm_resolve(&source, &from);
    if (status == PWL_QGEMM_OK)
        status = pwl_qgemm_check_source(&from, memory, bytes, weights);
    if (status != PWL_QGEMM_OK)
        return status;
    if (pwl_qgemm_is_super(from.format) || pwl_qgemm_is_sparse(from.format))
        return PWL_QGEMM_ERR_FORMAT;
    if (pwl_qgemm_is_e4m3(from.format))
        return pack_e4m3(&from, memory, weights, bad, stream);
    memset(&found, 0xff, sizeof found);
    made = pwl_qgemm_weights_of(&from, memory, 0);
    error = pack_pieces(&from, &made, memory, &found, stream);
    if (error != cudaSuccess)
        return pwl_qgemm_status_of(error);
    if (found.bad != UINT64_MAX) {
        if (bad)
            *bad = pwl_qgemm_place_of(&from, (size_t)found.bad);
        return PWL_QGEMM_ERR_SCALE;
    }
    if (found.row != UINT64_MAX && !made.row_data) {
        error = survey(&from, memory, &found, stream);
        made = pwl_qgemm_weights_of(&from, memory, found.row != UINT64_MAX);
        if (error == cudaSuccess && bytes < made.bytes)
            return PWL_QGEMM_ERR_SPACE;
        if (error == cudaSuccess && made.row_data)
            error = pwl_cuda_launch_qgemm_rows(&from, &made, NULL, stream);
    }
    if (error == cudaSuccess)
        error = pwl_cuda_launch_qgemm_last(&from, &made, stream);
    if (error == cudaSuccess)
        error = pwl_cuda_launch_qgemm_settle(stream);
    if (error == cudaSuccess)
        *weights = made;
    return pwl_qgemm_status_of(error);
}

pwl_qgemm_status pwl_cuda_qgemm_quantise_e4m3(pwl_qgemm_type type, const void *x, size_t m, size_t k, size_t stride,
                                              uint8_t *q, float *scale, struct CUstream_st *stream)
{
    const size_t element = type == PWL_QGEMM_F32 ? 4 : 2;
    const pwl_qgemm_input from = {x, stride, type, 0, NULL, NULL};
    const pwl_qgemm_output to = {q, k, PWL_QGEMM_E4M3, 0, 0, scale, 1};
    if (!x || !q || !scale)
        return PWL_QGEMM_ERR_NULL;
    if ((unsigned)type > PWL_QGEMM_BF16)
        return PWL_QGEMM_ERR_TYPE;
    const pwl_qgemm_status status = pwl_qgemm_check_rows(x, element, m, k, stride);
    if (status != PWL_QGEMM_OK)
        return status;
    if ((uintptr_t)scale % sizeof *scale)
        return PWL_QGEMM_ERR_ALIGN;
    return pwl_qgemm_status_of(pwl_cuda_launch_qgemm_e4m3(&from, m, k, &to, stream));
}
