/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Softmax of 16-bit codes, piece by piece: exponentials are looked up and multiplied one by one, the rest is in
 * vectors. Those of up to KEPT places of a row stay on the stack between the sum and the results; those of the places
 * after them are computed twice.
 *
 * Whoever includes this has defined lanes, what the results of a row share in each lane, and
 *
 *   lanes lanes_of(softmax, reciprocal)
 *   uint16_t largest_of(x, length, flip)         of x ^ flip: codes from the lowest of the type on
 *   void subtract(x, count, largest, d)          differences to the largest code as the array has it, modulo 2^16
 *   uint64_t round_and_add(count, e)             e[k] = (e[k] + 1) >> 1; their sum. e has whole vectors, 0 in the last
 * one void store_piece(all, e, count, is_wide, y)  results of 8 or 16 bits
 */
#ifndef PWL_SOFTMAX_PIECES_H
#define PWL_SOFTMAX_PIECES_H

#include "softmax_words.h"

enum { PIECE = 256, KEPT = 4096 };

static inline size_t piece_of(size_t left)
{
    return left < PIECE ? left : PIECE;
}

/* E of a piece, and 0 up to whole vectors; the sum. */
static uint64_t exp_of(const pwl_exp_words *of, const uint16_t *x, size_t count, uint16_t largest, uint32_t e[PIECE])
{
    uint16_t d[PIECE];
    size_t k;
    subtract(x, count, largest, d);
    pwl_exp_products(of, (const uint8_t *)d, count, e);
    for (k = count; k % EACH; k++)
        e[k] = 0;
    return round_and_add(count, e);
}

static uint64_t sum_of(const pwl_exp_words *of, const uint16_t *x, size_t length, uint16_t largest, uint32_t *kept)
{
    uint32_t other[PIECE];
    uint64_t sum = 0;
    size_t k;
    for (k = 0; k < length; k += PIECE)
        sum += exp_of(of, x + k, piece_of(length - k), largest, k < KEPT ? kept + k : other);
    return sum;
}

/* One row; y is x itself, or apart from it. */
static void run_row(const pwl_exp_words *of, const pwl_softmax *softmax, const uint16_t *x, uint8_t *y, size_t length)
{
    const uint16_t flip = pwl_type_is_unsigned((pwl_type)softmax->in) ? 0 : 0x8000;
    const uint16_t largest = (uint16_t)(largest_of(x, length, flip) ^ flip);
    const int is_wide = pwl_type_bytes_log2((pwl_type)softmax->out);
    uint32_t kept[KEPT], other[PIECE];
    const uint64_t sum = sum_of(of, x, length, largest, kept);
    const lanes all = lanes_of(softmax, pwl_row_reciprocal(softmax->reciprocal, sum));
    size_t k;
    for (k = 0; k < length; k += PIECE) {
        if (k >= KEPT)
            (void)exp_of(of, x + k, piece_of(length - k), largest, other);
        store_piece(&all, k < KEPT ? kept + k : other, piece_of(length - k), is_wide, y + (k << is_wide));
    }
}

static void run_rows(const pwl_softmax *softmax, const void *x, void *y, size_t count, size_t length)
{
    const size_t y_bytes = length << pwl_type_bytes_log2((pwl_type)softmax->out);
    pwl_exp_words of;
    size_t r;
    pwl_exp_words_init(&of, softmax);
    for (r = 0; r < count; r++)
        run_row(&of, softmax, (const uint16_t *)x + r * length, (uint8_t *)y + r * y_bytes, length);
}

#endif
