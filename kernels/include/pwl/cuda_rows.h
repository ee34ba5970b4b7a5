/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Row operators of pwl/rows.h on CUDA devices, bit for bit: softmax, log-softmax, LayerNorm, RMSNorm and the L2 norm.
 *
 *   pwl_cuda_softmax softmax;
 *   pwl_cuda_softmax_upload(&pwl_softmax_s8_u8, &softmax);                                        (once)
 *   pwl_cuda_softmax_run(&softmax, &(pwl_rows){.x = x, .y = y, .count = 8, .length = 1024}, stream);
 *
 * A row is read once, and stays in registers, where
 *
 *   x and y are aligned to 16 bytes, y of 8 bits from x of 16 to 8 bytes; rows of x have a multiple of 16 bytes
 *   rows have at most 32768 places
 *   codes are clipped to the output's type alone: qmin_y and qmax_y are its ends
 *   softmax   no mask is given, though rows may be causal, and F >= b + 2; log-softmax never
 *   norms     n range and the largest |t| are below 2^31: with 16 bits out, n is at most 15876
 *
 * All other rows are read two or three times, element by element, and take some times as long.
 */
#ifndef PWL_CUDA_ROWS_H
#define PWL_CUDA_ROWS_H

#include <pwl/cuda.h>
#include <pwl/rows.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An operator on a device. To be passed around as one likes, by any number of threads and streams at a time. */
typedef struct pwl_cuda_softmax {
    pwl_softmax softmax;  /* arrays on the device; no core */
    const uint16_t *core; /* on the device: what the core gives for each of 32768 codes */
    void *memory;         /* which has all of them; null once released */
    int32_t device;       /* whose memory it is */
    uint32_t overlaps;    /* 1 where a launch may start while the one before it ends */
} pwl_cuda_softmax;

/* How kernels compute a norm in 32 bits, where that does; see kernels/rows/norm.h. */
typedef struct pwl_norm_ends {
    int32_t base;   /* zp_x less the middle of its type */
    int32_t raise;  /* n u - A has room for so many bits more */
    int32_t shift;  /* of upper words: of v = t G + B, with as many bits more as there is room for */
    int64_t added;  /* what makes v round, and zp_y less the lowest code */
    uint32_t flip;  /* makes words of codes from the lowest on those of the type */
    int32_t serves; /* whether 32 bits do */
} pwl_norm_ends;

typedef struct pwl_cuda_norm {
    pwl_norm norm;        /* arrays on the device; no core */
    const uint16_t *core; /* on the device: of each of 49152 codes */
    pwl_norm_ends ends;
    const int32_t *gamma; /* on the device: of each channel, in the order in which threads read them */
    const int64_t *beta;  /* on the device: the same; null where all B are 0 */
    void *memory;
    int32_t device;
    uint32_t overlaps;
} pwl_cuda_norm;

/*
 * Checks an operator (PWL_CUDA_ERR_OPERATOR; the check of pwl/rows.h says why) and copies it to the current device: 66 to
 * 70 KiB for softmax, 96 KiB and up to 24 bytes a channel for norms. Otherwise as pwl_cuda_upload().
 */
PWL_NODISCARD pwl_cuda_status pwl_cuda_softmax_upload(const pwl_softmax *softmax, pwl_cuda_softmax *uploaded);
PWL_NODISCARD pwl_cuda_status pwl_cuda_norm_upload(const pwl_norm *norm, pwl_cuda_norm *uploaded);

/* As pwl_cuda_release(). */
PWL_NODISCARD pwl_cuda_status pwl_cuda_softmax_release(pwl_cuda_softmax *uploaded);
PWL_NODISCARD pwl_cuda_status pwl_cuda_norm_release(pwl_cuda_norm *uploaded);

/*
 * As pwl_softmax_run(), on device arrays, queued on `stream` (null: the default stream); *rows itself is the host's, and
 * is not needed after the call. Arrays are aligned to their elements. x and y may be the same array when their elements
 * have the same size; otherwise they must not overlap, and y overlaps no mask. No row does nothing, and allows null x
 * and y. PWL_CUDA_ERR_ROW: a length of 0, beyond the longest of the operator, or rows of 2^62 places and more in all. Can
 * be captured into a graph, which then needs the uploaded operator for as long as it is launched, though not *uploaded
 * itself.
 */
PWL_NODISCARD pwl_cuda_status pwl_cuda_softmax_run(const pwl_cuda_softmax *uploaded, const pwl_rows *rows,
                                                   struct CUstream_st *stream);

/* As pwl_norm_run(), of `count` rows of the operator's length; arrays as in pwl_cuda_softmax_run(). */
PWL_NODISCARD pwl_cuda_status pwl_cuda_norm_run(const pwl_cuda_norm *uploaded, const void *x, void *y, size_t count,
                                                struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif
#endif
