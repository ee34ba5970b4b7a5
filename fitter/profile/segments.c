/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "segments.h"

#include <inttypes.h>
#include <stdlib.h>

#include <pwl/fixed.h>

int need_type(const struct tensor *type, const char *which, int least_bits, int most_bits, enum signs signs,
              struct diag *diag)
{
    char name[16], wanted[32];
    if (type->bits >= least_bits && type->bits <= most_bits && signs & (type->is_signed ? SIGNED : UNSIGNED))
        return EXIT_DONE;
    tensor_type_name(type, name, sizeof name);
    if (least_bits == most_bits)
        snprintf(wanted, sizeof wanted, "%d", most_bits);
    else
        snprintf(wanted, sizeof wanted, "%d to %d", least_bits, most_bits);
    return diag_set(diag, EXIT_REQUIREMENT, "the %s is %s; must be %s with %s bits", which, name,
                    signs == ANY_SIGN ? "signed or unsigned"
                    : signs == SIGNED ? "signed"
                                      : "unsigned",
                    wanted);
}

int need_fixed_point(const struct tensor *type, const char *which, int least_bits, int most_bits, enum signs signs,
                     struct diag *diag)
{
    if (need_type(type, which, least_bits, most_bits, signs, diag))
        return diag->code;
    if (type->zero_point == 0 && type->scale.power_of_two && abs(type->scale.shift_bits) <= FIXED_POINT_LOG2)
        return EXIT_DONE;
    return diag_set(diag, EXIT_REQUIREMENT,
                    "the %s has scale %s and zero point %" PRId64
                    "; must be fixed-point numbers: zero point 0, and a scale of 2^-%d to 2^%d",
                    which, type->scale.text, type->zero_point, FIXED_POINT_LOG2, FIXED_POINT_LOG2);
}

int need_slope(int i, int64_t slope, struct diag *diag)
{
    return slope >= INT16_MIN && slope <= INT16_MAX
               ? EXIT_DONE
               : diag_set(diag, EXIT_REQUIREMENT,
                          "points %d and %d would be %" PRId64 " apart; must be from -32768 to 32767", i, i + 1, slope);
}

/* Whether no segment drops a bit. */
static bool is_exact(const struct table *table)
{
    for (int i = 0; i < table->segment_count; i++)
        if (table->segments[i].n > 0 && table->segments[i].q_b != 0)
            return false;
    return true;
}

int need_lines(const struct table *table, pwl_form form, pwl_rounding rounding, int most, struct diag *diag)
{
    if (table->has_fold || table->has_reduction)
        return diag_set(diag, EXIT_REQUIREMENT, "the table is %s; must have segments for every code",
                        table->has_fold ? "folded (fit --symmetry off)" : "reduced to an octave (fit --reduce off)");
    if (table->form != form)
        return diag_set(diag, EXIT_REQUIREMENT, "the form is %s; must be %s", form_name(table->form), form_name(form));
    if (table->rounding != rounding && !is_exact(table))
        return diag_set(diag, EXIT_REQUIREMENT, "the rounding is %s; must be %s", rounding_name(table->rounding),
                        rounding_name(rounding));
    if (table->segment_count > most)
        return diag_set(diag, EXIT_REQUIREMENT, "has %d segments; must have at most %d", table->segment_count, most);
    return EXIT_DONE;
}

int64_t segment_value(const struct table *table, const struct segment *segment, int64_t q_x)
{
    const int64_t x = q_x - (table->form == PWL_ANCHORED ? segment->start : table->in.zero_point);
    return pwl_line64((int)table->form, (int)table->rounding, (int32_t)segment->q_b, x, segment->n, segment->offset);
}

/* The last code that a segment serves. */
static int64_t segment_end(const struct table *table, int i)
{
    return i + 1 < table->segment_count ? table->segments[i + 1].start - 1 : table->in.qmax;
}

/* Exit 3 where a line cannot be evaluated in 64 bits at a code. */
static int need_64_bits(const struct table *table, int i, int64_t q_x, struct diag *diag)
{
    const struct segment *segment = &table->segments[i];
    const int64_t x = q_x - (table->form == PWL_ANCHORED ? segment->start : table->in.zero_point);
    const bool shifts = segment->n >= -31 && segment->n <= 62;
    const int64_t most = INT64_MAX >> (shifts && segment->n < 0 ? 2 - segment->n : 2);
    int64_t product;
    if (shifts && !__builtin_mul_overflow(segment->q_b, x, &product) && product <= most && product >= -most &&
        segment->offset <= most && segment->offset >= -most)
        return EXIT_DONE;
    return diag_set(diag, EXIT_REQUIREMENT,
                    "segments[%d] at code %" PRId64 ": %" PRId64 " * %" PRId64
                    ", shifted by %d, needs more bits than there are",
                    i, q_x, segment->q_b, x, segment->n);
}

/* A line is largest and least at its ends. */
int need_within(const struct table *table, struct diag *diag)
{
    const struct tensor *out = &table->out;
    for (int i = 0; i < table->segment_count; i++) {
        const int64_t ends[] = {table->segments[i].start, segment_end(table, i)};
        for (int k = 0; k < 2; k++) {
            if (need_64_bits(table, i, ends[k], diag))
                return diag->code;
            const int64_t value = segment_value(table, &table->segments[i], ends[k]);
            if (value < out->qmin || value > out->qmax)
                return diag_set(diag, EXIT_REQUIREMENT,
                                "segments[%d] gives %" PRId64 " at code %" PRId64
                                ", and nothing clips that to the output's codes, %" PRId64 " to %" PRId64
                                "; an --out that holds it is needed",
                                i, value, ends[k], out->qmin, out->qmax);
        }
    }
    return EXIT_DONE;
}

static bool fits_32_bits(int64_t value)
{
    return value >= INT32_MIN && value <= INT32_MAX;
}

int need_32_bits(const struct table *table, struct diag *diag)
{
    for (int i = 0; i < table->segment_count; i++) {
        const struct segment *segment = &table->segments[i];
        const int64_t ends[] = {segment->start, segment_end(table, i)};
        for (int k = 0; k < 2; k++) {
            if (need_64_bits(table, i, ends[k], diag))
                return diag->code;
            const int64_t term =
                pwl_shr64(segment->q_b * (ends[k] - table->in.zero_point), segment->n, (int)table->rounding);
            if (!fits_32_bits(term) || !fits_32_bits(term + segment->offset))
                return diag_set(diag, EXIT_REQUIREMENT,
                                "segments[%d] at code %" PRId64 ": %s needs more than the 32 bits that there are", i,
                                ends[k], fits_32_bits(term) ? "the sum" : "the shifted product");
        }
    }
    return EXIT_DONE;
}

int64_t raw_value(const struct table *table, const struct packed_table *packed, int64_t q_x)
{
    if (table->has_reduction)
        return packed_eval(packed, q_x);
    if (table->has_fold || q_x <= table->in.qmax)
        return pwl_eval_unclamped(&packed->table, q_x);
    return segment_value(table, &table->segments[table->segment_count - 1], q_x);
}

void segments_begin(struct table *table, pwl_form form, pwl_rounding rounding)
{
    table->form = form;
    table->rounding = rounding;
    table->segment_count = 0;
}

int segments_add(struct table *table, int64_t start, int64_t q_b, int n, int64_t offset, struct diag *diag)
{
    const struct tensor *in = &table->in;
    struct segment segment = {.start = start, .q_b = q_b, .n = n, .offset = offset};
    if (start > in->qmax)
        return EXIT_DONE;
    if (start < in->qmin) {
        if (table->form == PWL_ANCHORED && q_b != 0) {
            const int64_t before = in->qmin - start;
            if (before > INT32_MAX || n < 0 || n > 62 || (n > 0 && (q_b * before) % ((int64_t)1 << n) != 0))
                return diag_set(diag, EXIT_USAGE,
                                "the line that starts at code %" PRId64 " is not one of codes from %" PRId64
                                " on; give an --in that begins there",
                                start, in->qmin);
            segment.offset += q_b * before / ((int64_t)1 << n);
        }
        segment.start = in->qmin;
    }
    int at = table->segment_count;
    if (at > 0 && table->segments[at - 1].start > segment.start)
        return diag_set(diag, EXIT_USAGE, "segments are not in order: one starts at %" PRId64 ", the next at %" PRId64,
                        table->segments[at - 1].start, start);
    if (at > 0 && table->segments[at - 1].start == segment.start)
        at--;
    if (at == 0 && segment.start != in->qmin)
        return diag_set(diag, EXIT_USAGE, "nothing serves the codes below %" PRId64 ", where the first segment starts",
                        segment.start);
    if (at == PWL_MAX_SEGMENTS)
        return diag_set(diag, EXIT_USAGE, "needs more than %d segments", PWL_MAX_SEGMENTS);
    table->segments[at] = segment;
    table->segment_count = at + 1;
    return EXIT_DONE;
}
