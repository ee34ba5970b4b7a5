/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kind "pieces": tables of storage INT8 and INT16 for arrays of 16 bits, in words of 16 bits throughout.
 *
 * The lines (span.h) are cut where they saturate and where the table's codes end, so that each piece is right modulo
 * 2^16 for every code it serves and nothing is left to clip:
 *
 *   y = low 16 bits of ( shr(slope[i] * s + pre[i], n[i]) + post[i] )
 *
 * with slope * s + pre modulo 2^32 and unsigned, shr rounding down or, as `even` says, taking ties to even values as
 * span.h tells. For n >= 16, nothing that is shifted may leave [0, 2^32), or bits above would be missing: where it can
 * be below zero, pre has 2^31 added and post 2^(31 - n) taken away. Tables with a line that leaves the range either way
 * are not served.
 *
 * The search starts from the line of the first code of a cell of 2^cell_bits codes, or an earlier one, and takes
 * `steps` steps (span.h). No index reaches `capacity`.
 */
#ifndef PWL_PIECES_H
#define PWL_PIECES_H

#include <stdint.h>

#define PWL_PIECES 256
#define PWL_PIECES_CELLS 64

typedef struct pwl_pieces {
    int16_t last[PWL_PIECES]; /* INT16_MAX from the last piece on: no code lies beyond it */
    int16_t cell[PWL_PIECES_CELLS];
    int16_t slope[PWL_PIECES];
    uint16_t pre_low[PWL_PIECES], pre_high[PWL_PIECES], n[PWL_PIECES], post[PWL_PIECES];
    uint16_t flip_x, flip_y;                 /* 0x8000 for unsigned arrays */
    uint16_t capacity;                       /* 32, 64, 128 or 256 */
    uint8_t cell_bits, steps, even, is_long; /* 10 or 11; is_long: some n >= 16 */
} pwl_pieces;

#endif
