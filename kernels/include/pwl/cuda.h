/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pwl on CUDA devices: the values of the runtime, bit for bit, since both compile pwl/eval.h.
 *
 * No function here prints, keeps state or allocates, but for pwl_cuda_upload(), which takes one piece of device memory
 * (and of the host's, while it runs).
 * No CUDA header is needed: a stream is passed as cudaStream_t or CUstream, which are pointers to CUstream_st.
 */
#ifndef PWL_CUDA_H
#define PWL_CUDA_H

#include <stddef.h>
#include <stdint.h>

#include <pwl/blocks.h>
#include <pwl/pwl.h>
#include <pwl/real.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st;

/* Why a call did nothing; the values are stable. From PWL_CUDA_ERR_CUDA on, the rest is CUDA's own error: see
 * pwl_cuda_error(). */
typedef enum pwl_cuda_status {
    PWL_CUDA_OK = 0,
    PWL_CUDA_ERR_NULL = 1,    /* a null pointer, or a table or operator that was released */
    PWL_CUDA_ERR_TABLE = 2,   /* the table is not safe to run; pwl_table_check() says why */
    PWL_CUDA_ERR_TYPE = 3,    /* not one of pwl_type */
    PWL_CUDA_ERR_FIT = 4,     /* the output type does not hold [qmin_y, qmax_y], see pwl_fits() */
    PWL_CUDA_ERR_ALIGN = 5,   /* x or y is not aligned to its element */
    PWL_CUDA_ERR_OVERLAP = 6, /* x and y overlap and are not one array of elements of one size */
    PWL_CUDA_ERR_DEVICE = 7,  /* the current device is not the one that the table or operator was uploaded to */
    PWL_CUDA_ERR_FORMAT = 8,  /* not one of pwl_format */
    PWL_CUDA_ERR_RULE = 9,    /* not one of pwl_rule, or none of the format's */
    PWL_CUDA_ERR_SHAPE = 10,  /* k_padded is not a multiple of 32, or below k, or the matrix is too large */
    PWL_CUDA_ERR_MEMORY = 11, /* no host memory for the plan of a table */
    PWL_CUDA_ERR_SCALE = 12,  /* a scale or zero point that pwl/real.h does not allow beside the table's codes */
    PWL_CUDA_ERR_OPERATOR = 13, /* the row operator is not safe to run; pwl_softmax_check() or pwl_norm_check() say why */
    PWL_CUDA_ERR_ROW = 14,    /* a row of no place, or longer than the operator's, or too many places in all */
    PWL_CUDA_ERR_NETWORK = 15, /* the network is not safe to run; pwl_network_check() says why */
    PWL_CUDA_ERR_NODE = 16,    /* a node of the network is of a kind that devices do not run, or it has too many places */
    PWL_CUDA_ERR_ROOM = 17,    /* too little memory for the network at these sizes */
    PWL_CUDA_ERR_CUDA = 65536 /* plus the cudaError_t, which is below 65536 */
} pwl_cuda_status;

#define PWL_CUDA_PLAN_WORDS 16

/* A table on a device. To be passed around as one likes, by any number of threads and streams at a time. */
typedef struct pwl_cuda_table {
    uint64_t plan[PWL_CUDA_PLAN_WORDS]; /* how the kernels evaluate it: the library's own */
    void *memory;                       /* device memory of the plan's arrays; null once released */
    int32_t device;                     /* whose memory it is */
    uint32_t multiprocessors;           /* which it has */
    uint32_t overlaps;                  /* 1 where a launch may start while the one before it ends */
} pwl_cuda_table;

/*
 * Checks the table and copies its plan, 2 to 650 KiB, to the current device; *uploaded is usable on every stream when
 * the call returns. Takes host memory of that size in between, and waits for the device's default stream, so not while
 * a stream is being captured. The table and its arrays (host memory) are not needed afterwards. *uploaded is cleared
 * when the call fails.
 */
PWL_NODISCARD pwl_cuda_status pwl_cuda_upload(const pwl_table *table, pwl_cuda_table *uploaded);

/*
 * Frees the device memory, after all work that uses it (cudaFree waits for the device). A table that was released, or
 * that pwl_cuda_upload() cleared, is left alone. Copies of *uploaded must not be used any more.
 */
PWL_NODISCARD pwl_cuda_status pwl_cuda_release(pwl_cuda_table *uploaded);

/*
 * y[k] = (out type) pwl_eval(table, x[k]) for k in [0, count), queued on `stream` (null: the default stream). Device
 * arrays, aligned to their elements; reads x[0..count), writes y[0..count), nothing else. x and y may be the same array
 * when their elements have the same size; otherwise they must not overlap. count 0 does nothing, and allows null x and
 * y. 16 bytes of x at a time where x and y are aligned alike, that is where y is aligned to as many elements (at most
 * 16 bytes) at the first element of x that is aligned to 16 bytes. Can be captured into a graph, which then needs
 * the uploaded table for as long as it is launched, though not *uploaded itself.
 */
PWL_NODISCARD pwl_cuda_status pwl_cuda_map(const pwl_cuda_table *uploaded, pwl_type in, const void *x, pwl_type out,
                                           void *y, size_t count, struct CUstream_st *stream);

/*
 * The same from real numbers: codes of x by pwl/real.h with the table's input range, then the table; y holds codes, or
 * their real numbers in float, which is rounded once more to f16 or bf16 (to nearest, ties to even). What holds for the
 * arrays of pwl_cuda_map() holds here, elements being of 4 bytes (PWL_F32) or 2. Fastest for tables of 8- and 16-bit
 * storage that round by floor or half_up.
 */
PWL_NODISCARD pwl_cuda_status pwl_cuda_map_from_real(const pwl_cuda_table *uploaded, pwl_affine of_x, pwl_real in,
                                                     const void *x, pwl_type out, void *y, size_t count,
                                                     struct CUstream_st *stream);
PWL_NODISCARD pwl_cuda_status pwl_cuda_map_real(const pwl_cuda_table *uploaded, pwl_affine of_x, pwl_real in,
                                                const void *x, pwl_affine of_y, pwl_real out, void *y, size_t count,
                                                struct CUstream_st *stream);

/*
 * As pwl_quantise(), pwl_dequantise() and pwl_dequantise_f16() of pwl/blocks.h, with the same bits, on device arrays,
 * queued on `stream`. Can be captured into a graph. Fastest where rows of values are aligned to 16 bytes.
 */
PWL_NODISCARD pwl_cuda_status pwl_cuda_quantise(pwl_format format, pwl_rule rule, const float *x, size_t rows, size_t k,
                                                size_t k_padded, void *blocks, struct CUstream_st *stream);
PWL_NODISCARD pwl_cuda_status pwl_cuda_dequantise(pwl_format format, const void *blocks, size_t rows, size_t k,
                                                  size_t k_padded, float *y, struct CUstream_st *stream);
PWL_NODISCARD pwl_cuda_status pwl_cuda_dequantise_f16(pwl_format format, const void *blocks, size_t rows, size_t k,
                                                      size_t k_padded, uint16_t *y, struct CUstream_st *stream);

/* The cudaError_t in a status, or 0 (cudaSuccess) when it holds none. */
int pwl_cuda_error(pwl_cuda_status status);

/* Name of a status for messages, CUDA's own for its errors. Never null. */
const char *pwl_cuda_status_text(pwl_cuda_status status);

#ifdef __cplusplus
}
#endif
#endif
