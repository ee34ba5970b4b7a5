/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How MXFP4 becomes MXFP4_E4M3 (fp8.h), for the host and for devices: a row's scale, and codes and scales of its
 * blocks. pwl/qgemm.h says which numbers stay as they are.
 */
#ifndef PWL_QGEMM_PACK_FP8_H
#define PWL_QGEMM_PACK_FP8_H

#include "fp8.h"

#define PWL_QGEMM_NAN_SCALE 255 /* of MXFP4 */

/* The largest code of a block without its sign. */
PWL_FN unsigned pwl_qgemm_most_e2m1(const pwl_block_mxfp4 *block)
{
    unsigned most = 0;
    for (unsigned j = 0; j < PWL_BLOCK / 2; j++) {
        const unsigned low = block->qs[j] & 7, high = block->qs[j] >> 4 & 7;
        most = low > most ? low : most;
        most = high > most ? high : most;
    }
    return most;
}

/* What blocks of a row come to: p of their largest magnitude, and the lowest power of a block with a code that is not
 * 0. Of zeros, what is neutral. */
typedef struct pwl_qgemm_powers {
    int high, low;
} pwl_qgemm_powers;

PWL_FN pwl_qgemm_powers pwl_qgemm_no_powers(void)
{
    const pwl_qgemm_powers none = {-256, 256};
    return none;
}

PWL_FN int pwl_qgemm_is_of_zeros(pwl_qgemm_powers of)
{
    return of.high < of.low;
}

PWL_FN pwl_qgemm_powers pwl_qgemm_join_powers(pwl_qgemm_powers a, pwl_qgemm_powers b)
{
    const pwl_qgemm_powers both = {a.high > b.high ? a.high : b.high, a.low < b.low ? a.low : b.low};
    return both;
}

/* Of one block, whose scale is no NaN. */
PWL_FN pwl_qgemm_powers pwl_qgemm_powers_of(const pwl_block_mxfp4 *block)
{
    const int most = (int)pwl_qgemm_most_e2m1(block), power = block->e - 127;
    const pwl_qgemm_powers of = {power + most / 2 - 1, power};
    return most ? of : pwl_qgemm_no_powers();
}

/* r, the power of two of a row's scale: its largest magnitude becomes 256 or 384. */
PWL_FN int pwl_qgemm_row_power(pwl_qgemm_powers of)
{
    if (pwl_qgemm_is_of_zeros(of))
        return 0;
    return of.high - 8 < -126 ? -126 : of.high - 8;
}

/* By how many powers of two a block's scale is too low in such a row; 0 and less where it is not. */
PWL_FN int pwl_qgemm_down(const pwl_block_mxfp4 *block, int r)
{
    return PWL_QGEMM_LOWEST_SHIFT - (block->e - 127 - r);
}

/*
 * A code without its sign in a block that lies `down` powers of two too low, as one of a block that does not: in units
 * of half, E2M1 is 0, 1, 2, 3, 4, 6, 8 and 12. Rounded, ties to even, where *exact says that it must be. 5 does not
 * occur.
 */
PWL_FN unsigned pwl_qgemm_raised(unsigned code, int down, int *exact)
{
    const unsigned v = 0xc8643210u >> 4 * code & 15, shift = down < 5 ? (unsigned)down : 5; /* 12 / 32 is 0 rounded */
    const unsigned units = (v + (1u << shift >> 1) - (1 - (v >> shift & 1))) >> shift;
    *exact = units << shift == v;
    return 0x5443210u >> 4 * units & 15;
}

/* What is stored of a block's scale. */
PWL_FN uint8_t pwl_qgemm_shift_code(const pwl_block_mxfp4 *block, int r)
{
    const int down = pwl_qgemm_down(block, r);
    return (uint8_t)(down < 0 && pwl_qgemm_most_e2m1(block) ? -8 * down : 0);
}

/* One of its codes, 0 to 31, with its sign, as it is stored. */
PWL_FN unsigned pwl_qgemm_code_e2m1(const pwl_block_mxfp4 *block, unsigned j, int r, int *exact)
{
    const unsigned code = block->qs[j % 16] >> j / 16 * 4 & 15;
    const int down = pwl_qgemm_down(block, r);
    *exact = 1;
    return down > 0 ? (code & 8) | pwl_qgemm_raised(code & 7, down, exact) : code;
}

/* Whether all of them stay what they stand for. */
PWL_FN int pwl_qgemm_is_exact(const pwl_block_mxfp4 *block, int r)
{
    int all = 1;
    for (unsigned j = 0; j < PWL_BLOCK && pwl_qgemm_down(block, r) > 0; j++) {
        int exact;
        (void)pwl_qgemm_code_e2m1(block, j, r, &exact);
        all &= exact;
    }
    return all;
}

/* Whether a code of E4M3 is NaN. */
PWL_FN int pwl_qgemm_is_nan_e4m3(uint8_t code)
{
    return (code & 0x7f) == 0x7f;
}

#endif
