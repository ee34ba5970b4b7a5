/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "every_slope.h"

int64_t every_shift(enum every_rounding rounding, int64_t p, int n)
{
    return shifted(rounding, p, n);
}

bool every_fits(const struct every_spec *spec, int64_t sum)
{
    return -power(spec->sum_bits - 1) <= sum && sum < power(spec->sum_bits - 1);
}

bool every_shifts_legally(const struct every_spec *spec, int64_t p, int n)
{
    int64_t added = 0;
    if (n > 0 && spec->rounding != EVERY_FLOOR)
        added = (spec->rounding == EVERY_HALF_AWAY ? llabs(p) : p) + power(n - 1);
    return every_fits(spec, p) && every_fits(spec, added) && every_fits(spec, every_shift(spec->rounding, p, n));
}

struct values values_of(const struct every_spec *spec)
{
    struct values values = {.low = spec->qmin_y, .high = spec->qmax_y};
    for (int k = 0; k < spec->count; k++)
        if (spec->mirror[k].exists) {
            values.low = spec->sum - spec->qmax_y < values.low ? spec->sum - spec->qmax_y : values.low;
            values.high = spec->sum - spec->qmin_y > values.high ? spec->sum - spec->qmin_y : values.high;
        }
    values.count = (int)(values.high - values.low + 1);
    return values;
}

static bool is_legal_sum(const struct every_spec *spec, int64_t p, int n, bool mirrored)
{
    const int64_t value = spec->form == EVERY_BIASED ? every_shift(spec->rounding, p, n) : p;
    if (spec->form == EVERY_BIASED && !every_shifts_legally(spec, p, n))
        return false;
    return every_fits(spec, value) && (!mirrored || every_fits(spec, spec->sum - value));
}

struct interval legal_sums(const struct every_spec *spec, int n, bool mirrored)
{
    struct interval legal = {0, 0};
    for (int64_t step = power(spec->sum_bits); step > 0; step /= 2) {
        while (is_legal_sum(spec, legal.low - step, n, mirrored))
            legal.low -= step;
        while (is_legal_sum(spec, legal.high + step, n, mirrored))
            legal.high += step;
    }
    return legal;
}

static bool has_terms(int64_t q_b, int terms, int bits)
{
    if (q_b == 0 || terms == 0)
        return true;
    for (int k = 0; k <= bits; k++)
        for (int sign = -1; sign <= 1; sign += 2)
            if (terms > 0 && (q_b == sign * (1 << k) || (terms > 1 && has_terms(q_b - sign * (1 << k), 1, bits))))
                return true;
    return false;
}

bool every_is_stored(const struct every_spec *spec, int64_t q_b, int n)
{
    if (spec->shift_bits && (n < -power(spec->shift_bits - 1) || n >= power(spec->shift_bits - 1)))
        return false;
    if (spec->shift_multiple == 0)
        return true;
    for (int s = spec->shift_multiple; s <= 32; s += spec->shift_multiple) {
        if (s < n || s - n >= spec->stored_bits)
            continue;
        const int64_t stored = q_b * power(s - n), end = power(spec->stored_bits - 1);
        if (stored >= -end && stored < end)
            return true;
    }
    return false;
}

/* Whether offsets may be any output, and any value whose image is one. */
static bool offsets_hold_values(const struct every_spec *spec, const struct values *values)
{
    return spec->offset_low <= values->low && values->high <= spec->offset_high;
}

/*
 * Whether n and all larger shifts make lines that a smaller one makes too.
 *
 * Once 2^n is more than four times each product, the products shifted by n are 0 or -1, as those shifted by n - 1 are.
 * In the biased form, once 2^n is more than four times the difference of any two products, the line has at most one
 * step, by 1, which n - 1 puts between the same codes, where offsets reach it.
 */
static bool is_too_flat(const struct every_spec *spec, const struct values *values, int64_t q_b, int n)
{
    const int64_t a = q_b * (spec->first_x - spec->zp_x), b = a + q_b * (spec->count - 1);
    const int64_t largest = llabs(a) > llabs(b) ? llabs(a) : llabs(b);
    const int64_t most = llabs(values->low) + llabs(values->high) + 1;
    if (n <= 2 || power(n - 2) <= (spec->form == EVERY_ABSOLUTE ? largest : llabs(b - a)))
        return false;
    return spec->form != EVERY_BIASED ||
           (spec->offset_low <= -most * power(n) - largest && most * power(n) + largest <= spec->offset_high);
}

/*
 * Whether a smaller slope or shift to the left makes lines that saturate alike.
 *
 * Absolute and anchored: of a line that rises by more than all values from code to code one code at most does not
 * saturate. The line of slope 2^m, the least such, through that code and value saturates the same codes alike, and lies
 * between the other line and that value everywhere: it is legal when the other is, and so is its offset where offsets
 * hold the values. Biased: once 2^-n exceeds the magnitude of each value, only the sign of the sum counts.
 */
static bool is_too_steep(const struct every_spec *spec, const struct values *values, int64_t q_b, int n)
{
    const int64_t most = 4 * (llabs(values->low) + llabs(values->high));
    if (spec->form == EVERY_BIASED)
        return n < 0 && power(-n) > most;
    return offsets_hold_values(spec, values) && (n < 0 ? llabs(q_b) * power(-n) > most : llabs(q_b) > most * power(n));
}

/* Whether other slopes make the same lines: without a bias under the shift q_b / 2^n in lowest terms, by smaller
 * numbers; flat ones without a shift. With one shift all lines of a shift count or none. */
static bool adds_nothing(const struct every_spec *spec, const struct values *values, int64_t q_b, int n)
{
    if (spec->shift_multiple || spec->shift_bits)
        return false;
    if (spec->one_shift)
        return is_too_flat(spec, values, power(spec->slope_bits - 1), n) || is_too_steep(spec, values, 1, n);
    if (is_too_flat(spec, values, q_b, n) || is_too_steep(spec, values, q_b, n))
        return true;
    if (q_b == 0)
        return n != 0 && (spec->form != EVERY_BIASED || offsets_hold_values(spec, values));
    return spec->form != EVERY_BIASED && q_b % 2 == 0 && n > 1 - spec->sum_bits;
}

static struct base base_at(const struct every_spec *spec, int64_t q_b, int n, int64_t x)
{
    const int64_t product = q_b * x;
    if (spec->form == EVERY_BIASED)
        return (struct base){product, every_fits(spec, x) && every_fits(spec, product)};
    return (struct base){every_shift(spec->rounding, product, n),
                         every_fits(spec, x) && every_shifts_legally(spec, product, n)};
}

void collect_slopes(const struct every_spec *spec, const struct values *values, int first, int last,
                    struct slopes *slopes)
{
    const int64_t steepest = power(spec->slope_bits - 1),
                  x = spec->form == EVERY_ANCHORED ? 0 : spec->first_x - spec->zp_x;
    const int flat = last < 0 ? last : first > 0 ? first : 0;
    const int most = 2 * SHIFTS << spec->slope_bits;
    slopes->slope = slopes->slope ? slopes->slope : allocate((size_t)most, sizeof *slopes->slope);
    slopes->count = 0;
    if (every_is_stored(spec, 0, flat))
        slopes->slope[slopes->count++] = (struct slope){.q_b = 0, .n = flat};
    for (int n = last; n >= first; n--)
        for (int64_t q_b = -steepest; q_b < steepest; q_b++)
            if (has_terms(q_b, spec->slope_terms, spec->slope_bits) && every_is_stored(spec, q_b, n) &&
                (spec->every_line || !adds_nothing(spec, values, q_b, n)))
                slopes->slope[slopes->count++] = (struct slope){.q_b = q_b, .n = n};
    free(slopes->base);
    slopes->base = allocate((size_t)slopes->count * (size_t)spec->count + 1, sizeof *slopes->base);
    for (int s = 0; s < slopes->count; s++) {
        struct slope *const slope = &slopes->slope[s];
        struct base *const base = slopes->base + (size_t)s * (size_t)spec->count;
        for (int k = 0; k < spec->count; k++)
            base[k] = base_at(spec, slope->q_b, slope->n, x + k);
        slope->base = base;
    }
}
