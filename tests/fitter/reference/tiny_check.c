/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a table is, by the definitions alone, against what it was asked to keep to. */
#include "every_points.h"
#include "fixture.h"
#include "tiny_spec.h"

bool tiny_keeps_ties(const struct every_spec *every, const struct reference_table *reference)
{
    for (int k = 1; k < every->count; k++) {
        const int64_t q = every->first_x + k;
        const struct ref_table *table = &reference->table;
        if (every->monotone && every->output[k].exists &&
            every->output[k].direction * (ref_eval(table, q).q_y - ref_eval(table, q - 1).q_y) < 0)
            return false;
        if (every->monotone && every->mirror[k].exists) {
            const int64_t mirror = every->first_x - k;
            if (every->mirror[k - 1].direction * (ref_eval(table, mirror + 1).q_y - ref_eval(table, mirror).q_y) < 0)
                return false;
        }
    }
    for (int m = 1; m < reference->table.count && every->is_continuous; m++) {
        struct ref_table before = reference->table; /* whose last segment goes on, in whatever type it takes */
        const int64_t at = before.start[m], mirror = 2 * before.zp_x - at;
        before.count = m;
        before.acc_bits = 127;
        if (llabs(ref_eval(&reference->table, at).q_y - ref_eval(&before, at).q_y) > every->max_step)
            return false;
        if (before.fold && mirror >= before.qmin_x &&
            llabs(ref_eval(&reference->table, mirror).q_y - ref_eval(&before, mirror).q_y) > every->max_step)
            return false;
    }
    return true;
}

/* The values at points, of which one ends an interval and begins the next. */
static bool keeps_to_values(const struct every_spec *every, const struct table *table)
{
    int64_t value = 0;
    for (int m = 0; m < table->segment_count; m++) {
        const struct segment *s = &table->segments[m];
        const int64_t width = INT64_C(1) << every->shift,
                      sum = every->form == EVERY_ANCHORED
                                ? s->offset * width
                                : s->offset + s->q_b * (s->start - every->zp_x) - every_addend(every, s->q_b);
        if (s->n != every->shift || sum % width != 0 || (m > 0 && sum / width != value) ||
            s->start != every->first_x + m * width)
            return false;
        value = sum / width + s->q_b;
        for (int end = 0; end < 2; end++)
            if (value - end * s->q_b < every->offset_low || value - end * s->q_b > every->offset_high)
                return false;
    }
    return true;
}

bool tiny_keeps_to_fields(const struct every_spec *every, const struct table *table)
{
    if (every->shift && !keeps_to_values(every, table))
        return false;
    for (int m = 0; m < table->segment_count; m++) {
        const struct segment *segment = &table->segments[m];
        const uint64_t q = (uint64_t)llabs(segment->q_b);
        if (!every->may_start[segment->start - every->first_x] || (every->step_shift && segment->q_b != 0) ||
            (every->one_shift && segment->n != table->segments[0].n) ||
            (every->slope_terms && __builtin_popcountll(q ^ 3 * q) > every->slope_terms) ||
            segment->q_b < -(1 << (every->slope_bits - 1)) || segment->q_b >= 1 << (every->slope_bits - 1) ||
            !every_is_stored(every, segment->q_b, segment->n) ||
            (!every->shift && (segment->offset < every->offset_low || segment->offset > every->offset_high)))
            return false;
    }
    return true;
}

struct tiny_error tiny_error(const struct every_spec *every, const struct reference_table *reference, const char *text)
{
    struct tiny_error error = {0, 0};
    for (int k = 0; k < 2 * every->count; k++) {
        const struct every_output *output = k < every->count ? &every->output[k] : &every->mirror[k - every->count];
        const int64_t q = every->first_x + (k < every->count ? k : every->count - k);
        if (!output->exists)
            continue;
        const struct ref_result result = ref_eval(&reference->table, q);
        ck_assert_msg(result.leaves == REF_FITS, "%s: code %" PRId64 " leaves the accumulator", text, q);
        ck_assert_msg(output->fixed == EVERY_FREE || result.q_y == output->fixed, "%s: code %" PRId64 " gives %" PRId64,
                      text, q, result.q_y);
        const double e = fabs((double)result.q_y - output->target);
        error.max = fmax(error.max, e);
        error.squares += output->weight * e * e;
    }
    return error;
}
