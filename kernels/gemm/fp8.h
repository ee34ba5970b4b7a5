/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights that are multiplied as E4M3, in the pieces of layout.h, for the host and for devices. Columns are those of
 * mma.m16n8k32: lane l, with g = l / 4 and t = l % 4, has in each of two steps of 32 columns
 *     0: row g, columns 4t to 4t + 3           1: row g + 8, the same
 *     2: row g, columns 4t + 16 to 4t + 19     3: row g + 8, the same
 * so that X may lie as it is.
 *   ROWS_E4M3    a word for each of these, a lane's four of a step together. 1024 bytes a tile.
 *   MXFP4_E4M3   a word for rows g and g + 8 each, a lane's four of two steps together: codes of E2M1 without their
 * signs in nibbles 0 to 3, of the first columns, and 4 to 7, of the others, so that a nibble selects one of eight bytes
 * of two registers; signs of the first columns in bits 7, 15, 23 and 31, where E4M3 has them in bytes, of the others in
 * bits 3, 11, 19 and 27. 512 bytes a tile; then scales, in layout.h's order: 8 * (s - r + 5), r being the row's.
 * Row data: the rows' scales, floats, for rows up to the multiple of 128.
 */
#ifndef PWL_QGEMM_FP8_H
#define PWL_QGEMM_FP8_H

#include <pwl/e4m3.h>
#include <pwl/qgemm.h>

#include "layout.h"

#define PWL_QGEMM_LOWEST_SHIFT (-5) /* of a block from its row: 0.5 * 2^-5 is the least normal number of E4M3 */

/* Which word of a piece holds row r and column c, and where in it E2M1's code begins, but for its sign. */
typedef struct pwl_qgemm_e2m1_place {
    unsigned word, magnitude, sign;
} pwl_qgemm_e2m1_place;

PWL_FN pwl_qgemm_e2m1_place pwl_qgemm_e2m1_at(unsigned r, unsigned c)
{
    const unsigned lane = r % 8 * 4 + c % 16 / 4, later = c / 16 % 2;
    const pwl_qgemm_e2m1_place at = {r / 16 * 128 + lane * 4 + c / 32 * 2 + r / 8 % 2, c % 4 * 4 + later * 16,
                                     c % 4 * 8 + (later ? 3 : 7)};
    return at;
}

/* Which byte of a piece holds row r and column c, in ROWS_E4M3. */
PWL_FN unsigned pwl_qgemm_e4m3_at(unsigned r, unsigned c)
{
    return r / 16 * 1024 + c / 32 * 512 + (r % 8 * 4 + c % 16 / 4) * 16 + c / 16 % 2 * 8 + r / 8 % 2 * 4 + c % 4;
}

/*
 * E2M1's eight magnitudes as E4M3 in a block whose scale is stored so: 0, 0.5, 1 and 1.5 in the bytes of `low`, 2, 3, 4
 * and 6 in those of `high`. Above the row's largest number, whose magnitude is at most 384, they have no meaning.
 */
typedef struct pwl_qgemm_e2m1_bytes {
    uint32_t low, high;
} pwl_qgemm_e2m1_bytes;

PWL_FN pwl_qgemm_e2m1_bytes pwl_qgemm_e2m1_of(uint32_t scale)
{
    const pwl_qgemm_e2m1_bytes of = {0x14100800u + scale * 0x01010100u, 0x24201c18u + scale * 0x01010101u};
    return of;
}

/* One weight, as E4M3. */
PWL_FN uint8_t pwl_qgemm_weight_e4m3(const pwl_qgemm_weights *weights, size_t row, size_t column)
{
    const uint8_t *const piece =
        (const uint8_t *)weights->memory + pwl_qgemm_piece_at(weights->format, weights->k, row, column);
    const unsigned r = (unsigned)(row % PWL_QGEMM_ROWS), c = (unsigned)(column % PWL_QGEMM_COLUMNS);
    const pwl_qgemm_e2m1_place at = pwl_qgemm_e2m1_at(r, c);
    pwl_qgemm_e2m1_bytes of;
    uint32_t word, code;
    if (weights->format == PWL_QGEMM_ROWS_E4M3)
        return piece[pwl_qgemm_e4m3_at(r, c)];
    word = ((const uint32_t *)(const void *)piece)[at.word];
    code = word >> at.magnitude & 7;
    of = pwl_qgemm_e2m1_of(pwl_qgemm_scale(weights, row, column / PWL_BLOCK));
    return (uint8_t)((code < 4 ? of.low : of.high) >> code % 4 * 8 | (word >> at.sign & 1) << 7);
}

/* A row's scale. */
PWL_FN float pwl_qgemm_row_scale(const pwl_qgemm_weights *weights, size_t row)
{
    return ((const float *)(const void *)((const uint8_t *)weights->memory + weights->bytes -
                                          pwl_qgemm_row_bytes(PWL_QGEMM_ROWS_E4M3, weights->n)))[row];
}

#endif
