/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluation of a table in 128-bit integers, written from the definition alone: linear scan, division with remainder
 * instead of shifts, no header of the project. Every intermediate value is compared with the accumulator.
 */
#ifndef REFERENCE_EVAL_H
#define REFERENCE_EVAL_H

#include <stdint.h>

__extension__ typedef __int128 ref_int;

enum { REF_ABSOLUTE, REF_BIASED, REF_ANCHORED };
enum { REF_FLOOR, REF_HALF_UP, REF_HALF_AWAY, REF_HALF_EVEN };

struct ref_table {
    int form, rounding;
    int fold;
    int acc_bits; /* 32 or 64 */
    int count;
    const int64_t *start, *q_b, *n, *offset;
    int64_t zp_x, qmin_x, qmax_x, qmin_y, qmax_y, fold_sum;
};

/* The step whose value leaves the accumulator first. */
enum ref_step { REF_FITS, REF_PRODUCT, REF_BIAS, REF_ROUNDING, REF_LEFT_SHIFT, REF_SUM, REF_FOLD };

struct ref_result {
    enum ref_step leaves; /* anything but REF_FITS: the values below are not complete */
    int bits;             /* smallest two's complement width of every intermediate value */
    int segment;
    ref_int product;
    ref_int value; /* before saturation */
    int64_t q_y;
};

static inline ref_int ref_power(int n)
{
    ref_int power = 1;
    while (n-- > 0)
        power *= 2;
    return power;
}

/* p / 2^n for n > 0, rounded by definition: the nearest integer, and the ties one by one. */
static inline ref_int ref_divide(ref_int p, int n, int rounding)
{
    const ref_int d = ref_power(n);
    ref_int down = p / d, rest = p % d;
    if (rest < 0) {
        rest += d;
        down--;
    }
    if (rounding == REF_FLOOR || 2 * rest < d)
        return down;
    if (2 * rest > d)
        return down + 1;
    if (rounding == REF_HALF_UP)
        return down + 1;
    if (rounding == REF_HALF_AWAY)
        return p > 0 ? down + 1 : down;
    return down % 2 == 0 ? down : down + 1;
}

/* Notes an intermediate value; 0 when the accumulator does not hold it. */
static inline int ref_hold(const struct ref_table *table, struct ref_result *result, ref_int v)
{
    ref_int rest = v < 0 ? -1 - v : v;
    int bits = 1;
    for (; rest > 0; rest /= 2)
        bits++;
    if (bits > result->bits)
        result->bits = bits;
    return bits <= table->acc_bits;
}

static inline enum ref_step ref_raw(const struct ref_table *table, ref_int q, struct ref_result *result)
{
    int i = 0, k;
    ref_int v;
    for (k = 0; k < table->count; k++) {
        if (table->start[k] <= q)
            i = k;
    }
    result->segment = i;

    v = q - (table->form == REF_ANCHORED ? table->start[i] : table->zp_x);
    v *= table->q_b[i];
    result->product = v;
    if (!ref_hold(table, result, v))
        return REF_PRODUCT;
    if (table->form == REF_BIASED) {
        v += table->offset[i];
        if (!ref_hold(table, result, v))
            return REF_BIAS;
    }
    if (table->n[i] > 0) {
        if (table->rounding != REF_FLOOR) {
            const ref_int rounded = table->rounding == REF_HALF_AWAY && v < 0 ? -v : v;
            if (!ref_hold(table, result, rounded + ref_power((int)table->n[i] - 1)))
                return REF_ROUNDING;
        }
        v = ref_divide(v, (int)table->n[i], table->rounding);
    } else {
        v *= ref_power((int)-table->n[i]);
    }
    if (!ref_hold(table, result, v))
        return REF_LEFT_SHIFT;
    if (table->form != REF_BIASED) {
        v += table->offset[i];
        if (!ref_hold(table, result, v))
            return REF_SUM;
    }
    result->value = v;
    return REF_FITS;
}

static inline struct ref_result ref_eval(const struct ref_table *table, int64_t q_x)
{
    struct ref_result result = {REF_FITS, 1, 0, 0, 0, 0};
    ref_int q = q_x;
    int mirrored;
    if (q < table->qmin_x)
        q = table->qmin_x;
    if (q > table->qmax_x)
        q = table->qmax_x;
    mirrored = table->fold && q < table->zp_x;
    if (mirrored)
        q = 2 * (ref_int)table->zp_x - q;

    result.leaves = ref_raw(table, q, &result);
    if (result.leaves != REF_FITS)
        return result;
    if (mirrored) {
        result.value = table->fold_sum - result.value;
        if (!ref_hold(table, &result, result.value)) {
            result.leaves = REF_FOLD;
            return result;
        }
    }
    result.q_y = result.value < table->qmin_y   ? table->qmin_y
                 : result.value > table->qmax_y ? table->qmax_y
                                                : (int64_t)result.value;
    return result;
}

#endif
