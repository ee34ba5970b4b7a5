/* SPDX-License-Identifier: Apache-2.0 */
/* Rows are visited in pieces, whose codes are widened and narrowed here: all else is written once for all types. */
#ifndef PWL_ROWS_CODES_H
#define PWL_ROWS_CODES_H

#include <pwl/pwl.h>

enum { PWL_PIECE = 64 };

static inline size_t pwl_piece_of(size_t left)
{
    return left < PWL_PIECE ? left : PWL_PIECE;
}

/* Codes [at, at + count) of an array of 8 or 16 bits, or of PWL_S32. */
void pwl_codes_load(pwl_type type, const void *array, size_t at, size_t count, int32_t *codes);

/* The same back, of codes that the type, of 8 or 16 bits, has. */
void pwl_codes_store(pwl_type type, void *array, size_t at, size_t count, const int32_t *codes);

/* All of them the same code. */
void pwl_codes_fill(pwl_type type, void *array, size_t at, size_t count, int32_t code);

#endif
