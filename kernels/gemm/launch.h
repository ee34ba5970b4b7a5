/* SPDX-License-Identifier: Apache-2.0 */
/* What the host's C code asks of the files that nvcc compiles. Each returns the launch's cudaError_t. */
#ifndef PWL_QGEMM_LAUNCH_H
#define PWL_QGEMM_LAUNCH_H

#include <pwl/qgemm.h>
#include <pwl/qgemm_kernels.h>

#include "fast.h"
#include "group.h"
#include "map/plan.h"
#include "narrow.h"
#include "schedule.h"
#include "source.h"
#include "store.h"
#include "strips.h"
#include "tiles.h"

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st;

/* CUDA's errors as statuses of pwl/qgemm.h. */
static inline pwl_qgemm_status pwl_qgemm_status_of(int error)
{
    return error == 0 ? PWL_QGEMM_OK : (pwl_qgemm_status)(PWL_QGEMM_ERR_CUDA + error);
}

/* Rows of X that splitk takes at most. */
#define PWL_QGEMM_FEW_ROWS 64

/* Pieces of one row of floats that splitk makes Q8_1 by itself at most, in W4A8. Each thread block makes all of the
 * row, which at K = 14336 takes longer than a launch that does it once. */
#define PWL_QGEMM_OWN_PIECES 64

/* A product that was checked, by value; what product points to on the host is here instead. */
typedef struct pwl_qgemm_call {
    pwl_qgemm_product product;
    pwl_qgemm_weights weights;
    pwl_qgemm_epilogue epilogue; /* the activation, where there is one */
    pwl_planned table;           /* its table; memory is null where there is none */
    pwl_qgemm_fast fast;
    pwl_qgemm_narrow narrow; /* of INT8 */
    const int32_t *f;        /* [M], where X is fp32 in a scheme of A16, or A8 is in halves */
    const pwl_block_q8_1 *q; /* [M][q_stride], X in A8 */
    size_t q_stride;
    const uint16_t *h; /* [M][h_stride], X as halves aligned to 16 bytes, for the kernels that take them */
    size_t h_stride;
    const uint8_t *bytes; /* X in the order of layout.h, for the kernels that take that; null where splitk makes
                           * it of a row of floats */

    /* Of kernels that cut K: what the parts leave, aligned to 16 bytes. */
    void *sums; /* streamk: a tile's in fp32 for each share; splitk: [4][M][N, up to a multiple of 128] */
    pwl_qgemm_schedule schedule;
    uint32_t *marks; /* [1 + shares], or of strips: how many were drawn, then how many pieces of each are made */

    /* Of wgmma and wgmma_bytes. */
    pwl_qgemm_tile tile;
    pwl_qgemm_strips strips;   /* all 0 where h is complete */
    pwl_qgemm_experts experts; /* of a group, whose weights and bias are those of the first expert */
} pwl_qgemm_call;

/* f of each row of X in A16. */
int pwl_cuda_launch_qgemm_exponents(const pwl_qgemm_call *call, int32_t *f, struct CUstream_st *stream);

/* X of A16 as halves over 2^f, or halves as they are: [M][K]. */
int pwl_cuda_launch_qgemm_halves(const pwl_qgemm_call *call, uint16_t *h, struct CUstream_st *stream);

/* X of A8, as pwl_qgemm_input_block(): blocks [M][K / 32]. */
int pwl_cuda_launch_qgemm_blocks(const pwl_qgemm_call *call, pwl_block_q8_1 *q, struct CUstream_st *stream);

/* These in halves over 2^f, [M][K], and f. */
int pwl_cuda_launch_qgemm_block_halves(const pwl_qgemm_call *call, uint16_t *h, int32_t *f, struct CUstream_st *stream);

/* What strips.h says of fp16 X, aligned to 16 bytes, in halves, [M][K]; and the marks. */
int pwl_cuda_launch_qgemm_halves_ahead(const pwl_qgemm_call *call, uint16_t *h, struct CUstream_st *stream);

/* Rows of floats as E4M3, with their scales, as pwl_qgemm_quantise_e4m3() makes them. */
int pwl_cuda_launch_qgemm_e4m3(const pwl_qgemm_input *x, size_t m, size_t k, const pwl_qgemm_output *to,
                               struct CUstream_st *stream);

/* X of A8 or INT8 as pwl_qgemm_pack_input() has it. */
int pwl_cuda_launch_qgemm_bytes(const pwl_qgemm_call *call, uint8_t *bytes, struct CUstream_st *stream);

/* Y of INT8 of sums. */
int pwl_cuda_launch_qgemm_store_sums(const pwl_qgemm_call *call, const int32_t *sums, size_t stride,
                                     struct CUstream_st *stream);

/* Kernels, once f, q, h or bytes are there. */
#define PWL_QGEMM_DECLARE_LAUNCH(NAME, value, name, ...)                                                               \
    int pwl_cuda_launch_qgemm_##name(const pwl_qgemm_call *call, struct CUstream_st *stream);
PWL_QGEMM_KERNELS(PWL_QGEMM_DECLARE_LAUNCH)
#undef PWL_QGEMM_DECLARE_LAUNCH

/* Kernels of groups, whose experts are told. */
int pwl_cuda_launch_qgemm_group_halves(const pwl_qgemm_call *call, struct CUstream_st *stream);
int pwl_cuda_launch_qgemm_group_bytes(const pwl_qgemm_call *call, struct CUstream_st *stream);
int pwl_cuda_launch_qgemm_group_fp8(const pwl_qgemm_call *call, struct CUstream_st *stream);

/* Arguments of pwl_cuda_qgemm_gather() and pwl_cuda_qgemm_combine(), checked. */
typedef struct pwl_qgemm_rows_of {
    const void *x;
    const int32_t *index;
    void *y;
    size_t rows, count, bytes, x_stride, y_stride;
} pwl_qgemm_rows_of;

typedef struct pwl_qgemm_combined {
    const void *y;
    const int32_t *index;
    const float *weight;
    void *out;
    size_t rows, columns, tokens, each, y_stride, out_stride;
    pwl_qgemm_type type;
} pwl_qgemm_combined;

int pwl_cuda_launch_qgemm_gather(const pwl_qgemm_rows_of *rows, struct CUstream_st *stream);
int pwl_cuda_launch_qgemm_combine(const pwl_qgemm_combined *of, struct CUstream_st *stream);

/* What splitk leaves in `sums`. */
size_t pwl_cuda_qgemm_splitk_bytes(size_t m, size_t n);

/* *blocks = how many thread blocks of streamk a multiprocessor of this device holds, at least 1; a cudaError_t. */
int pwl_cuda_qgemm_streamk_residents(const pwl_qgemm_call *call, int *blocks);

/* Whether wgmma has code for this device. */
int pwl_cuda_qgemm_wgmma_runs(void);

/* What is found about weights; all bits 1 where there is no such thing. */
typedef struct pwl_qgemm_survey {
    unsigned long long bad; /* the first block that is not finite: row * k / 32 + block */
    unsigned long long row; /* the first row with an exponent; by the launch of pieces, one that may have it */
} pwl_qgemm_survey;

/*
 * Packing of a source that was checked. *found, on the device, is lowered, or null: in every row by the survey; by the
 * rows' data, and those of scales and codes by pieces, as they are written. Pieces add to the sums of rows, which are 0
 * when rows' data are new. Where found is told, it lies in the first 16 bytes of the weights, which pieces leave to the
 * last launch.
 */
int pwl_cuda_launch_qgemm_survey(const pwl_qgemm_source *from, pwl_qgemm_survey *found, struct CUstream_st *stream);
int pwl_cuda_launch_qgemm_rows(const pwl_qgemm_source *from, const pwl_qgemm_weights *to, pwl_qgemm_survey *found,
                               struct CUstream_st *stream);
int pwl_cuda_launch_qgemm_pieces(const pwl_qgemm_source *from, const pwl_qgemm_weights *to, pwl_qgemm_survey *found,
                                 struct CUstream_st *stream);
int pwl_cuda_launch_qgemm_last(const pwl_qgemm_source *from, const pwl_qgemm_weights *to, struct CUstream_st *stream);

/* What is found about weights of E4M3's formats: the first block that is not finite, and the first that is not exact,
 * row * k / 32 + block, all bits 1 where there is none; and how far blocks are apart, see pwl_qgemm_place. */
typedef struct pwl_qgemm_survey_e4m3 {
    unsigned long long bad, inexact;
    int32_t apart;
} pwl_qgemm_survey_e4m3;

/* Packing of those: rows' scales, for which all of the source is looked at, then the pieces. *found is on the device.
 */
int pwl_cuda_launch_qgemm_e4m3_rows(const pwl_qgemm_source *from, const pwl_qgemm_weights *to,
                                    pwl_qgemm_survey_e4m3 *found, struct CUstream_st *stream);
int pwl_cuda_launch_qgemm_e4m3_pieces(const pwl_qgemm_source *from, const pwl_qgemm_weights *to,
                                      struct CUstream_st *stream);

/*
 * Does nothing, after any packing: products read weights before the launch just before them has ended, and that is then
 * this one, which begins once the weights are there.
 */
int pwl_cuda_launch_qgemm_settle(struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif
#endif
