/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of products in plain C. Codes of 8 bits, and of 16 without a zero point, become int16_t in pieces, whose
 * products compilers sum many at once: in 32 bits where those hold any sum, or the sum of a piece, else in 64.
 *
 *        k ->   PIECE
 *   a  | . . . . . . |  rows, of which each piece is widened once for all columns
 *   b  | . . . . . . |  columns, one piece at a time
 *
 * Weights of 8 bits are read as they lie, TOGETHER columns at once, where few rows would share what is widened.
 */
#include "step.h"
#include "sum_codes.h"
#include "tap_loops.h"

enum { TOGETHER = 4 };
#if UINTPTR_MAX > UINT32_MAX
enum { PIECE = 256, FEW_ROWS = 1 };
#else
enum { PIECE = 32, FEW_ROWS = PWL_NETWORK_ROWS }; /* little of a small stack, and no vectors to widen by */
#endif

/* Whether codes of a type less a zero point are int16_t; and how large they are. */
static int is_short(uint8_t type, int64_t zero)
{
    return type <= PWL_S16 &&
           is_within(zero, pwl_type_highest((pwl_type)type) - INT16_MAX, pwl_type_lowest((pwl_type)type) - INT16_MIN);
}

static int64_t largest(uint8_t type, int64_t zero)
{
    const int64_t above = pwl_type_highest((pwl_type)type) - zero, below = zero - pwl_type_lowest((pwl_type)type);
    return above > below ? above : below;
}

/* INT32_MAX over the largest product, digit by digit: small processors have no division. */
size_t pwl_sum_most(const pwl_network_sums *of)
{
    int64_t product, most = 0, digit;
    if (!is_short(of->a_type, of->a_zero) || !is_short(of->b_type, of->b_zero))
        return 0;
    if (of->is_narrow)
        return SIZE_MAX;
    product = largest(of->a_type, of->a_zero) * largest(of->b_type, of->b_zero);
    for (digit = (int64_t)1 << 17; digit > 0; digit >>= 1)
        if ((most + digit) * product <= INT32_MAX)
            most += digit;
    return (size_t)most;
}

#define WIDEN(type)                                                                                                    \
    for (k = 0; k < count; k++)                                                                                        \
    to[k] = (int16_t)(((const type *)array)[at + k * step] - zero)

void pwl_sum_widen(uint8_t type, const void *array, size_t at, size_t step, size_t count, int zero, int16_t *to)
{
    size_t k;
    if (step != 1) {
        if (type == PWL_S8)
            WIDEN(int8_t);
        else if (type == PWL_U8)
            WIDEN(uint8_t);
        else
            WIDEN(int16_t);
        return;
    }
    step = 1; /* which compilers know from here on */
    if (type == PWL_S8)
        WIDEN(int8_t);
    else if (type == PWL_U8)
        WIDEN(uint8_t);
    else
        WIDEN(int16_t);
}

static int32_t dot(const int16_t *a, const int16_t *b, size_t count)
{
    int32_t sum = 0;
    size_t k;
    for (k = 0; k < count; k++)
        sum += a[k] * b[k];
    return sum;
}

static int64_t dot_wide(const int16_t *a, const int16_t *b, size_t count)
{
    int64_t sum = 0;
    size_t k;
    for (k = 0; k < count; k++)
        sum += a[k] * b[k];
    return sum;
}

static void sum_short(const pwl_network_sums *of)
{
    int16_t a[PWL_NETWORK_ROWS][PIECE], b[PIECE];
    const int fits = pwl_sum_most(of) >= PIECE;
    size_t at, i, j, count;
    for (at = 0; at < of->length; at += count) {
        count = of->length - at < PIECE ? of->length - at : PIECE;
        for (i = 0; i < of->rows; i++)
            pwl_sum_widen(of->a_type, of->a, i * of->a_stride + at, 1, count, (int)of->a_zero, a[i]);
        for (j = 0; j < of->columns; j++) {
            pwl_sum_widen(of->b_type, of->b, j * of->b_stride + at * of->b_step, of->b_step, count, (int)of->b_zero, b);
            for (i = 0; i < of->rows; i++)
                of->sums[i * of->columns + j] += fits ? dot(a[i], b, count) : dot_wide(a[i], b, count);
        }
    }
}

/* to[j] += products of a piece of a row and of a column, `stride` bytes apart: 32 bits hold them, at most 2^22 each. */
static void add_columns(const int16_t *a, const int8_t *b, size_t stride, size_t count, int64_t to[TOGETHER])
{
    const int8_t *const b1 = b + stride, *const b2 = b1 + stride, *const b3 = b2 + stride;
    int32_t sums[TOGETHER] = {0, 0, 0, 0};
    size_t k;
    for (k = 0; k < count; k++) {
        sums[0] += a[k] * b[k];
        sums[1] += a[k] * b1[k];
        sums[2] += a[k] * b2[k];
        sums[3] += a[k] * b3[k];
    }
    for (k = 0; k < TOGETHER; k++)
        to[k] += sums[k];
}

static void add_column(const int16_t *a, const int8_t *b, size_t count, int64_t *to)
{
    int32_t sum = 0;
    size_t k;
    for (k = 0; k < count; k++)
        sum += a[k] * b[k];
    *to += sum;
}

static void sum_bytes(const pwl_network_sums *of)
{
    int16_t a[PIECE];
    size_t at, i, j, count;
    for (i = 0; i < of->rows; i++) {
        int64_t *const sums = of->sums + i * of->columns;
        for (at = 0; at < of->length; at += count) {
            const int8_t *const b = (const int8_t *)of->b + at;
            count = of->length - at < PIECE ? of->length - at : PIECE;
            pwl_sum_widen(of->a_type, of->a, i * of->a_stride + at, 1, count, (int)of->a_zero, a);
            for (j = 0; j + TOGETHER <= of->columns; j += TOGETHER)
                add_columns(a, b + j * of->b_stride, of->b_stride, count, sums + j);
            for (; j < of->columns; j++)
                add_column(a, b + j * of->b_stride, count, sums + j);
        }
    }
}

static void sum_any(const pwl_network_sums *of)
{
    int64_t a[PWL_NETWORK_PIECE], b[PWL_NETWORK_PIECE];
    size_t at, i, j, k, count;
    for (at = 0; at < of->length; at += count) {
        count = of->length - at < PWL_NETWORK_PIECE ? of->length - at : PWL_NETWORK_PIECE;
        for (i = 0; i < of->rows; i++) {
            pwl_network_load((pwl_type)of->a_type, of->a, i * of->a_stride + at, 1, count, of->a_zero, a);
            for (j = 0; j < of->columns; j++) {
                int64_t sum = 0;
                pwl_network_load((pwl_type)of->b_type, of->b, j * of->b_stride + at * of->b_step, of->b_step, count,
                                 of->b_zero, b);
                for (k = 0; k < count; k++)
                    sum += a[k] * b[k];
                of->sums[i * of->columns + j] += sum;
            }
        }
    }
}

void pwl_network_sum(const pwl_network_sums *of)
{
    size_t k;
    for (k = 0; k < of->rows * of->columns; k++)
        of->sums[k] = 0;
    if (!is_short(of->a_type, of->a_zero) || !is_short(of->b_type, of->b_zero))
        sum_any(of);
    else if (of->b_type == PWL_S8 && !of->b_zero && of->b_step == 1 && of->rows <= FEW_ROWS)
        sum_bytes(of);
    else
        sum_short(of);
}

void pwl_network_round(const pwl_network_edge *edge, void *array, size_t at, const int64_t *sums, size_t count,
                       const pwl_network_rounding *by)
{
    int64_t values[PWL_NETWORK_PIECE];
    size_t from, k, piece;
    for (from = 0; from < count; from += piece) {
        piece = count - from < PWL_NETWORK_PIECE ? count - from : PWL_NETWORK_PIECE;
        for (k = 0; k < piece; k++) {
            const size_t i = from + k;
            const int64_t v = (sums[i] + (by->bias ? by->bias[by->bias_each * i] : 0)) * by->factor[by->each * i];
            values[k] = pwl_network_shr(v, by->shift[by->each * i]);
        }
        pwl_network_store(edge, array, at + from, piece, values);
    }
}

void pwl_taps_plain(const pwl_network_taps *of)
{
    add_taps(of, of->columns);
}

#define WAY(name, level, round) {#name, level, pwl_sum_##name, pwl_taps_##name, round},
const pwl_sum_way pwl_sum_ways[] = {PWL_SUM_WAYS(WAY){"plain", 0, pwl_network_sum, pwl_taps_plain, pwl_network_round}};
#undef WAY

const pwl_sum_way *pwl_sum_way_of(uint32_t levels)
{
    const uint32_t have = levels & pwl_levels();
    const pwl_sum_way *way = pwl_sum_ways;
    while ((way->level & have) != way->level)
        way++;
    return way;
}
