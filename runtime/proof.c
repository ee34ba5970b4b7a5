/* SPDX-License-Identifier: Apache-2.0 */
/* The proof that a table is safe to run, over every code of its input range. */
#include <pwl/eval.h>
#include <pwl/fixed.h>
#include <pwl/pwl.h>

#include "within.h"

#define OFFSET_LIMIT ((int64_t)1 << 47) /* 48 valid bits: -2^47 .. 2^47 - 1 */

/* The accumulator, and the fewest bits that have held every value so far. */
struct accumulator {
    int64_t min, max;
    int32_t bits;
};

/* Notes a value; 0 when the accumulator cannot hold it. */
static int hold(struct accumulator *acc, int64_t v)
{
    /* v fits w bits when its magnitude, or that of -1 - v below zero, is less than 2^(w-1). */
    uint64_t rest = (uint64_t)(v < 0 ? -1 - v : v);
    int32_t bits = 1;
    for (; rest; rest >>= 1)
        bits++;
    if (bits > acc->bits)
        acc->bits = bits;
    return is_within(v, acc->min, acc->max);
}

/* Where tables have 16 bits at most, no value here leaves int64_t: X has 32 bits, a product 47. */
enum { MAY_LEAVE = PWL_MOST_BITS > 16 };

/* *product = slope * X; 0 when int64_t cannot hold it. */
static int multiply(int32_t slope, int64_t X, int64_t *product)
{
    /* Schoolbook in 32-bit digits: |slope| <= 2^31 and each digit of |X| < 2^32, so that each partial product stays
     * below 2^63, and the upper one, at most 2^31 * 2^31, has room for the carry. */
    const uint64_t a = pwl_abs64(slope), b = pwl_abs64(X);
    const uint64_t low = a * (b & UINT32_MAX);
    const uint64_t high = a * (b >> 32) + (low >> 32);
    const int negative = (slope < 0) != (X < 0);
    uint64_t magnitude;
    if (!MAY_LEAVE) {
        *product = slope * X;
        return 1;
    }
    if (high > UINT32_MAX)
        return 0;
    magnitude = high << 32 | (low & UINT32_MAX);
    if (magnitude > (uint64_t)INT64_MAX + (uint64_t)negative)
        return 0;
    *product = (int64_t)(negative ? 0 - magnitude : magnitude);
    return 1;
}

/* *sum = a + b; 0 when int64_t cannot hold it. */
static int add(int64_t a, int64_t b, int64_t *sum)
{
    if (MAY_LEAVE && (b < 0 ? a < INT64_MIN - b : a > INT64_MAX - b))
        return 0;
    *sum = a + b;
    return 1;
}

/* *difference = a - b; 0 when int64_t cannot hold it. */
static int subtract(int64_t a, int64_t b, int64_t *difference)
{
    if (MAY_LEAVE && (b < 0 ? a > INT64_MAX + b : a < INT64_MIN + b))
        return 0;
    *difference = a - b;
    return 1;
}

/* |p| + 2^(n-1) for half_away, p + 2^(n-1) for the other roundings to nearest. */
static int rounding_fits(struct accumulator *acc, int64_t p, int n, int rounding)
{
    int64_t v = p;
    if (rounding == PWL_HALF_AWAY && p < 0 && !subtract(0, p, &v))
        return 0;
    return add(v, pwl_shl64(1, n - 1), &v) && hold(acc, v);
}

/* *p = shr(*p, n), each step of it within the accumulator. */
static pwl_status checked_shr(struct accumulator *acc, int64_t *p, int n, int rounding)
{
    if (n > 0 && rounding != PWL_FLOOR && !rounding_fits(acc, *p, n, rounding))
        return PWL_ERR_ROUNDING;
    /* p * 2^k fits exactly when p lies between the limits divided by 2^k: powers of two, or one less, to floor. */
    if (n < 0 && !is_within(*p, acc->min >> -n, acc->max >> -n))
        return PWL_ERR_LEFT_SHIFT;
    *p = pwl_shr64(*p, n, rounding);
    (void)hold(acc, *p); /* only its width: a right shift never leaves, a left shift was asked above */
    return PWL_OK;
}

/* The value of segment i at code q before saturation, each step of it within the accumulator. */
static pwl_status checked_line(const pwl_table *table, struct accumulator *acc, int32_t i, int64_t q, int64_t *raw)
{
    /* q - start has at most 35 bits; q - zp_x was bounded with the zero point. */
    const int64_t X = q - (table->form == PWL_ANCHORED ? pwl_element_start(table, i) : table->zp_x);
    const int64_t offset = pwl_element_offset(table, i);
    pwl_status status;
    if (!multiply(pwl_element_slope(table, i), X, raw) || !hold(acc, *raw))
        return PWL_ERR_PRODUCT;
    if (table->form == PWL_BIASED && (!add(*raw, offset, raw) || !hold(acc, *raw)))
        return PWL_ERR_BIAS;
    status = checked_shr(acc, raw, pwl_element_shift(table, i), table->rounding);
    if (status != PWL_OK)
        return status;
    if (table->form != PWL_BIASED && (!add(*raw, offset, raw) || !hold(acc, *raw)))
        return PWL_ERR_SUM;
    return PWL_OK;
}

/* As checked_line for a code that a fold mirrors to q: with fold_sum - raw. */
static pwl_status checked_fold(const pwl_table *table, struct accumulator *acc, int32_t i, int64_t q)
{
    int64_t raw;
    const pwl_status status = checked_line(table, acc, i, q, &raw);
    if (status != PWL_OK)
        return status;
    return subtract(table->fold_sum, raw, &raw) && hold(acc, raw) ? PWL_OK : PWL_ERR_FOLD;
}

/* The earlier limit of two. */
static pwl_status first_of(pwl_status a, pwl_status b)
{
    if (a == PWL_OK || b == PWL_OK)
        return a == PWL_OK ? b : a;
    return a < b ? a : b;
}

/*
 * Segment i over the codes first..last, of which those in mirrored_first..mirrored_last are (also) images of folded
 * codes.
 *
 * The ends suffice. Inside one segment the product q_b * X is monotone in the code; adding a constant, the rounding
 * addend, shr (under each rounding) and fold_sum - raw keep or reverse that order. So each intermediate value takes
 * its extremes at the first and the last code. The one that is not monotone, |p| + half of half_away, is convex in p,
 * and has its largest value at an end too.
 */
static pwl_status check_segment(const pwl_table *table, struct accumulator *acc, int32_t i, int64_t first, int64_t last,
                                int64_t mirrored_first, int64_t mirrored_last)
{
    int64_t raw;
    pwl_status status = checked_line(table, acc, i, first, &raw);
    status = first_of(status, checked_line(table, acc, i, last, &raw));
    if (mirrored_first < first)
        mirrored_first = first;
    if (mirrored_last > last)
        mirrored_last = last;
    if (mirrored_first <= mirrored_last) {
        status = first_of(status, checked_fold(table, acc, i, mirrored_first));
        status = first_of(status, checked_fold(table, acc, i, mirrored_last));
    }
    return status;
}

/* Everything but the arrays. */
static pwl_status check_constants(const pwl_table *table, const struct accumulator *acc)
{
    const int is_unsigned = table->flags & PWL_FLAG_UNSIGNED_X;
    const int fold = table->flags & PWL_FLAG_FOLD;
    const int64_t half = pwl_shl64(1, (8 << pwl_storage_of(table)) - 1); /* of the codes: 2^7, 2^15 or 2^31 */
    const int64_t min_x = is_unsigned ? 0 : -half, max_x = is_unsigned ? 2 * half - 1 : half - 1;
    int64_t low, high;

    if (table->segments < 1 || table->segments > PWL_MAX_SEGMENTS)
        return PWL_ERR_SEGMENTS;
    if (table->qmin_x > table->qmax_x || table->qmin_x < min_x || table->qmax_x > max_x)
        return PWL_ERR_RANGE_X;
    /* Output codes fit the signed or the unsigned type; a negative one rules the latter out. */
    if (table->qmin_y > table->qmax_y || table->qmin_y < -half ||
        table->qmax_y > (table->qmin_y < 0 ? half - 1 : 2 * half - 1))
        return PWL_ERR_RANGE_Y;
    if (pwl_storage_of(table) == PWL_INT8 && !is_within(table->zp_x, INT16_MIN, INT16_MAX))
        return PWL_ERR_ZERO_POINT;
    if (pwl_storage_of(table) == PWL_INT16 && !is_within(table->zp_x, INT32_MIN, INT32_MAX))
        return PWL_ERR_ZERO_POINT;
    /* q_x - zp_x has the accumulator's type: int32 or int64. */
    if (!subtract(table->qmin_x, table->zp_x, &low) || !subtract(table->qmax_x, table->zp_x, &high) || low < acc->min ||
        high > acc->max)
        return PWL_ERR_ZERO_POINT;
    if (fold &&
        (!is_within(table->zp_x, table->qmin_x, table->qmax_x) || !is_within(table->fold_sum, acc->min, acc->max)))
        return PWL_ERR_FOLD;
    return !fold && table->fold_sum != 0 ? PWL_ERR_FIELD : PWL_OK;
}

/* The arrays, against codes from `first` to `last`; *segment is the one that fails. */
static pwl_status check_arrays(const pwl_table *table, struct accumulator *acc, int64_t first, int64_t last,
                               int32_t *segment)
{
    const int max_shift = pwl_storage_of(table) == PWL_INT32 ? 63 : 31;
    const int32_t count = table->segments;
    int64_t mirrored_first = INT64_MAX, mirrored_last = INT64_MIN;
    int32_t i;

    if (table->flags & PWL_FLAG_FOLD) {
        mirrored_first = table->zp_x + 1;
        mirrored_last = 2 * table->zp_x - table->qmin_x;
    }
    for (i = 0; i < count; i++) {
        const int64_t start = pwl_element_start(table, i);
        *segment = i;
        if (i == 0 ? start != first : start <= pwl_element_start(table, i - 1) || start > last)
            return PWL_ERR_START;
    }
    for (i = 0; i < count; i++) {
        const int64_t end = i + 1 < count ? pwl_element_start(table, i + 1) - 1 : last;
        const int64_t offset = pwl_element_offset(table, i);
        pwl_status status;
        *segment = i;
        if (pwl_element_shift(table, i) < -max_shift || pwl_element_shift(table, i) > max_shift)
            return PWL_ERR_SHIFT;
        if (pwl_storage_of(table) == PWL_INT32 && table->form != PWL_BIASED &&
            !is_within(offset, -OFFSET_LIMIT, OFFSET_LIMIT - 1))
            return PWL_ERR_OFFSET;
        status = check_segment(table, acc, i, pwl_element_start(table, i), end, mirrored_first, mirrored_last);
        if (status != PWL_OK)
            return status;
    }
    *segment = -1;
    return PWL_OK;
}

static pwl_status check(const pwl_table *table, struct accumulator *acc, int32_t *segment)
{
    int64_t first, last;
    pwl_status status;

    if (!table || !table->start || !table->q_b || !table->n || !table->offset)
        return PWL_ERR_NULL;
    if (table->version != PWL_TABLE_VERSION)
        return PWL_ERR_VERSION;
    if (table->storage > PWL_MOST_BITS / 16 || table->form > PWL_ANCHORED || table->rounding > PWL_HALF_EVEN ||
        (table->flags & ~(PWL_FLAG_UNSIGNED_X | PWL_FLAG_FOLD)))
        return PWL_ERR_FIELD;
    acc->min = pwl_storage_of(table) == PWL_INT32 ? INT64_MIN : INT32_MIN;
    acc->max = pwl_storage_of(table) == PWL_INT32 ? INT64_MAX : INT32_MAX;
    status = check_constants(table, acc);
    if (status != PWL_OK)
        return status;

    /* A fold evaluates the codes from zp_x on, and the images of those below it, which may lie beyond qmax_x. */
    first = table->qmin_x;
    last = table->qmax_x;
    if (table->flags & PWL_FLAG_FOLD) {
        first = table->zp_x;
        if (2 * table->zp_x - table->qmin_x > last)
            last = 2 * table->zp_x - table->qmin_x;
    }
    return check_arrays(table, acc, first, last, segment);
}

pwl_status pwl_table_check(const pwl_table *table, pwl_proof *proof)
{
    struct accumulator acc = {0, 0, 1};
    int32_t segment = -1;
    const pwl_status status = check(table, &acc, &segment);
    if (proof) {
        proof->status = status;
        proof->segment = segment;
        proof->acc_bits = status == PWL_OK ? acc.bits : 0;
    }
    return status;
}

const char *pwl_status_text(pwl_status status)
{
    switch (status) {
    case PWL_OK:
        return "ok";
    case PWL_ERR_NULL:
        return "null pointer";
    case PWL_ERR_VERSION:
        return "unknown table version";
    case PWL_ERR_FIELD:
        return "storage, form, rounding, flags or an unused fold_sum is not legal";
    case PWL_ERR_SEGMENTS:
        return "number of segments outside 1..4096";
    case PWL_ERR_RANGE_X:
        return "input range is empty or wider than the storage case";
    case PWL_ERR_RANGE_Y:
        return "output range is empty or wider than the storage case";
    case PWL_ERR_ZERO_POINT:
        return "zero point, or code minus zero point, leaves its type";
    case PWL_ERR_START:
        return "starts not ascending from the first code to the last";
    case PWL_ERR_SHIFT:
        return "shift count outside the accumulator's";
    case PWL_ERR_OFFSET:
        return "term_c or y needs more than 48 bits";
    case PWL_ERR_PRODUCT:
        return "product leaves the accumulator";
    case PWL_ERR_BIAS:
        return "product plus bias leaves the accumulator";
    case PWL_ERR_ROUNDING:
        return "rounding addend leaves the accumulator";
    case PWL_ERR_LEFT_SHIFT:
        return "left shift leaves the accumulator";
    case PWL_ERR_SUM:
        return "sum leaves the accumulator";
    case PWL_ERR_FOLD:
        return "fold_sum minus value leaves the accumulator, or zero point outside the folded range";
    case PWL_ERR_REDUCTION:
        return "a field of the reduction is not legal, or its core is folded";
    case PWL_ERR_REDUCED_CODE:
        return "code minus zero point, times factor, needs more than 63 bits";
    case PWL_ERR_REDUCED_VALUE:
        return "value before the reduction's shift needs more than 61 bits";
    case PWL_ERR_ROW:
        return "length of a row, or a sum over it, is too large";
    case PWL_ERR_CORE:
        return "core gives what is no reciprocal, or no reciprocal root";
    case PWL_ERR_CONSTANT:
        return "constant, or an entry of a table, outside its range";
    case PWL_ERR_EDGE:
        return "no edge, or one that is read before it is written, or written twice";
    case PWL_ERR_SHAPE:
        return "shapes do not fit each other, or the node's constants";
    case PWL_ERR_SUM_BITS:
        return "a sum, or a sum times its factor, can have too many bits";
    case PWL_ERR_MEMORY:
        return "two edges need one place of the memory at once, or the memory is too small or not aligned";
    case PWL_ERR_SIZE:
        return "a size is not from 1 to its longest, or an edge has too many codes";
    case PWL_ERR_CODE:
        return "an input has a code that is not of its edge";
    }
    return "unknown status";
}
