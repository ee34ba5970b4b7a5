/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The products of pwl/qgemm.h on CUDA devices. Weights are packed there, or on the host and copied; every pointer in a
 * product, weights->memory too, is then the device's, but for product, weights, activation and its table themselves.
 * INT8 has the bits of pwl_qgemm_reference(); the others stay within pwl_qgemm_bound(), and give the same bits each
 * time.
 *
 * An activation's table is the one that pwl_cuda_upload() made, `uploaded`; what it makes of Y is bit for bit what
 * pwl_cuda_map_from_real() makes of the Y that the same kernel stores in PWL_QGEMM_F32, in INT8 what the host makes of
 * PWL_QGEMM_S32; so is Y in PWL_QGEMM_E4M3 what the host makes of PWL_QGEMM_F32. Fastest by wgmma, mma, mma_bytes and
 * streamk, where rows of Y are aligned to four elements, for tables of up to 256 codes, and for others of 8- and 16-bit
 * storage that round by floor or half_up; zero points up to 2^21 from the codes. In INT8 by wgmma_bytes, for such
 * tables without a gate, whose Y has 8 or 16 bits, and Y without a table.
 *
 * Products are queued on `stream` (null: the default one), can be captured into a graph, and return before the work is
 * done. Weights may be read while kernels that were queued before on the stream still run, if these let the next one
 * start early, or have only just ended: what writes weights must be waited for, or be the packing here. No call
 * allocates; what product points to on the host is not needed afterwards.
 */
#ifndef PWL_CUDA_QGEMM_H
#define PWL_CUDA_QGEMM_H

#include <pwl/cuda.h>
#include <pwl/qgemm.h>
#include <pwl/qgemm_kernels.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * *bytes = the workspace that the product needs on the current device, aligned to 16. Of each row of X a number, blocks
 * of Q8_1, bytes or halves, or none; halves that are aligned to 16 bytes, with rows so apart, need no copy, nor does
 * one row of floats that is in W8A8, and in W4A8 with K up to 4096.
 * FP8 and MXFP4_FP8 need K + 4 bytes for each row of floats; of E4M3 nothing, but on Hopper K bytes a row where X or
 * its rows are not aligned to 16 bytes.
 * Y in E4M3 by dynamic scales needs 4 bytes for each element, of N up to a multiple of 4: it is stored in F32, and a
 * second launch makes it E4M3. Y of groups has given scales alone (PWL_QGEMM_ERR_TYPE).
 * PWL_QGEMM_STREAMK needs besides, for each thread block that the device holds at a time, 64 KiB, or up to M = 32 16
 * KiB, and 4 bytes; PWL_QGEMM_SPLITK, from M = 17 on, 16 bytes for each element of Y, of N up to a multiple of 128. The
 * device is asked where PWL_QGEMM_STREAMK is named, or where the others on halves would run and K is above 960; and
 * whether it has PWL_QGEMM_WGMMA, for more than 64 rows of X, and PWL_QGEMM_WGMMA_BYTES, which in INT8 needs room for X
 * where that or its rows are not aligned to 16 bytes.
 */
PWL_NODISCARD pwl_qgemm_status pwl_cuda_qgemm_workspace(const pwl_qgemm_product *product, size_t *bytes);

/*
 * Computes Y. *ran (may be null) tells by which kernel, which the shape and the device decide, or the name in the
 * environment's PWL_QGEMM_KERNEL; what is no kernel's name there, or of one without the scheme or not for the device,
 * is PWL_QGEMM_ERR_KERNEL. Fails with CUDA's own error as PWL_QGEMM_ERR_CUDA plus the cudaError_t.
 */
PWL_NODISCARD pwl_qgemm_status pwl_cuda_qgemm(const pwl_qgemm_product *product, void *workspace, size_t bytes,
                                              pwl_qgemm_kernel *ran, struct CUstream_st *stream);

/*
 * Products of a mixture's experts, as pwl/qgemm.h has them, in one launch: group->offsets are the device's, and are
 * read there alone, so they may be another launch's output. All of X is taken and prepared as one product's. A16, INT8,
 * FP8 and MXFP4_FP8, on devices that have PWL_QGEMM_WGMMA; elsewhere PWL_QGEMM_ERR_KERNEL. The kernels are those of
 * products; their bits may be other than those of a product of the same rows, within the same bound.
 */
PWL_NODISCARD pwl_qgemm_status pwl_cuda_qgemm_group_workspace(const pwl_qgemm_product *product,
                                                              const pwl_qgemm_group *group, size_t *bytes);
PWL_NODISCARD pwl_qgemm_status pwl_cuda_qgemm_group(const pwl_qgemm_product *product, const pwl_qgemm_group *group,
                                                    void *workspace, size_t bytes, struct CUstream_st *stream);

/*
 * Row i of y = row index[i] of x, of `rows`; zeros where there is none. i below `count`; rows are `bytes` long, and
 * strides are bytes, too. index is int32_t[count], on the device. x and y must not overlap.
 */
PWL_NODISCARD pwl_qgemm_status pwl_cuda_qgemm_gather(const void *x, size_t rows, size_t x_stride, const int32_t *index,
                                                     size_t count, size_t bytes, void *y, size_t y_stride,
                                                     struct CUstream_st *stream);

/*
 * What experts gave a token, together: row t of out = sum over i < each of weight[t][i] * row index[t][i] of y, in
 * fp32, s = fma(weight, y, s) from 0 on and i ascending, rounded once to the type, that of y and out. `rows` are those
 * of y; an index outside adds nothing. index is int32_t[tokens][each], weight float[tokens][each], all on the device;
 * out must not overlap y.
 */
PWL_NODISCARD pwl_qgemm_status pwl_cuda_qgemm_combine(pwl_qgemm_type type, const void *y, size_t rows, size_t columns,
                                                      size_t y_stride, const int32_t *index, const float *weight,
                                                      size_t tokens, size_t each, void *out, size_t out_stride,
                                                      struct CUstream_st *stream);

/* As pwl_qgemm_store_sums(), with its bits; sums are the device's. */
PWL_NODISCARD pwl_qgemm_status pwl_cuda_qgemm_store_sums(const pwl_qgemm_product *product, const int32_t *sums,
                                                         size_t stride, struct CUstream_st *stream);

/*
 * As pwl_qgemm_pack(), to the same bytes, where blocks, floats, tensors' data and codes, what belongs to rows, and
 * memory are the device's; tensors themselves, *weights and *bad are the host's. Super-blocks are packed by the host:
 * PWL_QGEMM_ERR_FORMAT. Packing is queued on `stream`. All but that of int8's codes looks at weights, and waits for
 * what is found, so not while the stream is being captured; when it refuses a scale, or finds that memory has no room
 * for row exponents, memory holds no weights, but was written to: as far as weights without exponents take, in formats
 * of rows and of E4M3 all of them.
 */
PWL_NODISCARD pwl_qgemm_status pwl_cuda_qgemm_pack(pwl_qgemm_source source, void *memory, size_t bytes,
                                                   pwl_qgemm_weights *weights, pwl_qgemm_place *bad,
                                                   struct CUstream_st *stream);

/* As pwl_qgemm_quantise_e4m3(), with its bits, of x in a type of floats; all arrays are the device's. */
PWL_NODISCARD pwl_qgemm_status pwl_cuda_qgemm_quantise_e4m3(pwl_qgemm_type type, const void *x, size_t m, size_t k,
                                                            size_t stride, uint8_t *q, float *scale,
                                                            struct CUstream_st *stream);

/* As in pwl/qgemm_kernels.h, for example "naive"; null for what is no kernel. */
const char *pwl_qgemm_kernel_name(pwl_qgemm_kernel kernel);

#ifdef __cplusplus
}
#endif
#endif
