/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles of the kernels wgmma and wgmma_bytes, and which of them suits a product. */
#ifndef PWL_QGEMM_TILES_H
#define PWL_QGEMM_TILES_H

#include <stddef.h>
#include <stdint.h>

#include <pwl/qgemm.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * All tiles that are compiled, by their rows of X: F(tokens, q4_0, q8_0, mxfp4), with the nanoseconds that a thread
 * block takes for a piece of the weights while all multiprocessors of an H100 are busy.
 */
#define PWL_QGEMM_TILE_SIZES(F)                                                                                        \
    F(48, 200, 235, 235)                                                                                               \
    F(64, 230, 270, 257)                                                                                               \
    F(96, 262, 300, 290)                                                                                               \
    F(128, 345, 430, 360)                                                                                              \
    F(144, 400, 450, 405)                                                                                              \
    F(176, 465, 490, 465)                                                                                              \
    F(192, 510, 525, 505)                                                                                              \
    F(256, 670, 680, 640)

/* Those of SPARSE4: F(tokens, piece), on an H200. */
#define PWL_QGEMM_SPARSE_TILE_SIZES(F)                                                                                 \
    F(64, 153)                                                                                                         \
    F(96, 186)                                                                                                         \
    F(128, 230)                                                                                                        \
    F(192, 315)                                                                                                        \
    F(256, 420)

/* Those of bytes: F(tokens, rows8, rows4). */
#define PWL_QGEMM_BYTE_TILE_SIZES(F)                                                                                   \
    F(32, 197, 119)                                                                                                    \
    F(64, 209, 123)                                                                                                    \
    F(96, 215, 145)                                                                                                    \
    F(128, 220, 170)                                                                                                   \
    F(192, 265, 240)                                                                                                   \
    F(256, 330, 310)

/* Those of E4M3, on an H200: F(tokens, rows_e4m3, mxfp4_e4m3); where sums are added in fp32 every so many columns, they
 * are up to PWL_QGEMM_RUN_TOKENS, since there are two of each. */
#define PWL_QGEMM_E4M3_TILE_SIZES(F)                                                                                   \
    F(32, 124, 130)                                                                                                    \
    F(64, 148, 150)                                                                                                    \
    F(96, 148, 168)                                                                                                    \
    F(128, 185, 205)                                                                                                   \
    F(192, 262, 272)                                                                                                   \
    F(256, 345, 345)
#define PWL_QGEMM_RUN_TOKENS 128

/* Those of groups, whose experts may have a few rows each: F(tokens, piece), with the nanoseconds of a piece, of halves
 * and of bytes and E4M3. */
#define PWL_QGEMM_GROUP_TILE_SIZES(F)                                                                                  \
    F(16, 190)                                                                                                         \
    F(32, 195)                                                                                                         \
    F(64, 240)                                                                                                         \
    F(96, 275)                                                                                                         \
    F(128, 355)                                                                                                        \
    F(256, 650)
#define PWL_QGEMM_GROUP_BYTE_TILE_SIZES(F)                                                                             \
    F(32, 130)                                                                                                         \
    F(64, 150)                                                                                                         \
    F(96, 170)                                                                                                         \
    F(128, 205)                                                                                                        \
    F(256, 345)
#define PWL_QGEMM_GROUP_ANY_TOKENS 64 /* of halves where rows of weights have exponents */

/* The one size for Y that is not `direct`, below: what such kernels have more code for is not to be compiled for each.
 */
#define PWL_QGEMM_ANY_TOKENS 128

/* Warps of a thread block that have time to make X (strips.h). */
#define PWL_QGEMM_STRIP_WARPS 2

typedef struct pwl_qgemm_tile {
    uint32_t tokens; /* rows of X, of PWL_QGEMM_TILE_SIZES, or of those of bytes */
    uint32_t split;  /* thread blocks that share K of each tile of the last wave, which is not whole: 1, or 2 where it
                      * has at most half as many tiles as there are blocks */
    uint32_t blocks; /* that the device holds at a time, an even number */
    uint32_t direct; /* of halves */
} pwl_qgemm_tile;

/* Whether Y is `direct`: sums become halves, without an activation or exponents of rows of weights, in rows that begin
 * and end with whole 16 bytes. */
int pwl_qgemm_is_direct(const pwl_qgemm_product *product, const pwl_qgemm_weights *weights);

/* The tile that takes least time by the model of tiles.c, on a device with room for so many thread blocks at a time, 2
 * or more. */
pwl_qgemm_tile pwl_qgemm_tile_of(const pwl_qgemm_product *product, const pwl_qgemm_weights *weights, size_t blocks);

/* The tile of a group, split being 1, that takes least time if all experts have about as many rows. */
pwl_qgemm_tile pwl_qgemm_group_tile_of(const pwl_qgemm_product *product, const pwl_qgemm_weights *weights,
                                       size_t experts, size_t blocks);

/* Rows of X of the tiles that thread blocks begin with. */
size_t pwl_qgemm_tile_first_rows(size_t n, const pwl_qgemm_tile *tile);

/* Microseconds that a product takes in a tile that is compiled for its weights, by the model of tiles.c. */
double pwl_qgemm_tile_time(size_t m, const pwl_qgemm_weights *weights, const pwl_qgemm_tile *tile);

#ifdef __cplusplus
}
#endif
#endif
