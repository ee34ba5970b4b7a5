/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All kernels of products on devices (pwl/cuda_qgemm.h), the quickest first: the first that serves a product and is
 * worth while runs. This list is the only one: the enumeration, names, choice, launches and tests come from it. A new
 * kernel is a line here, its file, and the file's line in kernels/sources.txt.
 *
 *   PWL_QGEMM_KERNELS(F): F(NAME, value, name, serves, rows, x, cut, bits, on)
 *
 *   value   of PWL_QGEMM_<NAME>; values are stable
 *   name    for people and for the environment's PWL_QGEMM_KERNEL; the code is kernels/gemm/device/<name>.cu
 *   serves  the products that it can compute, of every shape
 *             all           every scheme
 *             a16           W4A16, W8A16, MXFP4 x A16
 *             bytes         W4A8, W8A8, INT8
 *             exact_bytes   these but for stored sums
 *             integers      INT8
 *             fp8           FP8, MXFP4 x FP8
 *             halves        a16, and W4A8 and W8A8 with exact sums from M = 64 on
 *             sparse        SPARSE4 x A16
 *             few           every other scheme but for stored sums, up to M = 64
 *   rows    the fewest rows of X for which it runs unless it is named
 *   x       how it takes X: plain (as it is, or blocks of Q8_1), rows (int8 or E4M3, aligned to 16 bytes), halves,
 * strips (halves, in A8 made of fp16 while it multiplies), bytes, or splitk (what suits the product) cut     how it
 * shares out the work along K: whole         not at all tiles         that of the last tiles, to two thread blocks
 * each, in tiles that suit the shape parts         of each tile, whose sums go through the workspace shares        of
 * all tiles, alike for every multiprocessor; where K is not deep, or whole tiles keep the device busy, it does not run
 * unless it is named bits    same: those of naive; own: its own, within pwl_qgemm_bound() in floats on      the devices
 * that it runs on: any from 8.0 on, or hopper, those of 9.0 where it was compiled for 9.0a
 */
#ifndef PWL_QGEMM_KERNELS_H
#define PWL_QGEMM_KERNELS_H

#define PWL_QGEMM_KERNELS(F)                                                                                           \
    /* tensor cores, bytes by wgmma, integers alone */                                                                 \
    F(WGMMA_BYTES, 9, wgmma_bytes, integers, 1, rows, tiles, same, hopper)                                             \
    /* tensor cores, E4M3 by wgmma */                                                                                  \
    F(WGMMA_FP8, 10, wgmma_fp8, fp8, 1, rows, tiles, own, hopper)                                                      \
    /* tensor cores, halves by wgmma.sp: two of four columns of the weights */                                         \
    F(WGMMA_SPARSE, 11, wgmma_sparse, sparse, 1, halves, tiles, own, hopper)                                           \
    /* K shared out over warps, weights read once; halves from M = 33 on by wgmma on devices of 9.0 */                 \
    F(SPLITK, 7, splitk, few, 1, splitk, parts, own, any)                                                              \
    /* tensor cores, halves by wgmma */                                                                                \
    F(WGMMA, 8, wgmma, halves, 65, strips, tiles, own, hopper)                                                         \
    /* mma, the work along K shared out evenly over the multiprocessors */                                             \
    F(STREAMK, 6, streamk, halves, 1, halves, shares, own, any)                                                        \
    /* tensor cores, halves by mma.m16n8k16 */                                                                         \
    F(MMA, 5, mma, halves, 1, halves, whole, own, any)                                                                 \
    /* tensor cores, bytes by mma.m16n8k32 */                                                                          \
    F(MMA_BYTES, 4, mma_bytes, exact_bytes, 9, bytes, whole, same, any)                                                \
    /* tiles of bytes, dp4a */                                                                                         \
    F(DP4A, 3, dp4a, bytes, 1, plain, whole, same, any)                                                                \
    /* naive but for loads of 16 bytes and packed conversions */                                                       \
    F(VECTORISED, 2, vectorised, a16, 1, halves, whole, own, any)                                                      \
    /* tiles in shared memory */                                                                                       \
    F(TILED, 1, tiled, all, 9, plain, whole, same, any)                                                                \
    /* a thread for each element of Y: to read, and to compare with */                                                 \
    F(NAIVE, 0, naive, all, 1, plain, whole, same, any)

typedef enum pwl_qgemm_kernel {
#define PWL_QGEMM_ENUMERATOR(NAME, value, ...) PWL_QGEMM_##NAME = value,
    PWL_QGEMM_KERNELS(PWL_QGEMM_ENUMERATOR)
#undef PWL_QGEMM_ENUMERATOR
} pwl_qgemm_kernel;

#endif
