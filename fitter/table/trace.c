/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include <pwl/fixed.h>

#include "function/target.h"
#include "function/tensor.h"

static void print_integer(const char *name, int64_t value)
{
    printf("%s %" PRId64 "\n", name, value);
}

/* The last segment that starts at or below the code; the first starts at the lowest code there is. */
static int segment_of(const struct table *table, int64_t code)
{
    int i = table->segment_count - 1;
    while (i > 0 && table->segments[i].start > code)
        i--;
    return i;
}

static void print_unfused(const struct table *table, const struct segment *segment, int64_t product)
{
    const struct unfused *u = &segment->unfused;
    const int64_t q_bx = pwl_shr64(product, u->n_bx, (int)table->rounding);
    print_integer("n_bx", u->n_bx);
    print_integer("q_bx", q_bx);
    if (u->has_z_bx) {
        print_integer("z_bx", u->z_bx);
        print_integer("q_bx_code", q_bx + u->z_bx); /* what the quantiser of b * x would hold */
    }
    print_integer("n_yb", u->n_yb);
    print_integer("term_bx", pwl_shr64(q_bx, u->n_yb, (int)table->rounding));
    print_integer("q_c", u->q_c);
    print_integer("n_yc", u->n_yc);
}

/* The line of a segment before saturation. The proof keeps every step inside the table's accumulator, 64 bits at
 * most, so that 64-bit steps give the same values as the runtime's own width. */
static int64_t print_line(const struct table *table, const struct segment *segment, int64_t code)
{
    const int64_t x_offset =
        code - (table->form == PWL_ANCHORED ? segment->start : table_segment_codes(table).zero_point);
    const int64_t product = segment->q_b * x_offset;
    print_integer("x_offset", x_offset);
    print_integer("q_b", segment->q_b);
    print_integer("product", product);
    if (table->has_unfused)
        print_unfused(table, segment, product);
    print_integer("n_BX_total", segment->n);

    if (table->form == PWL_BIASED) {
        const int64_t sum = product + segment->offset;
        const int64_t shifted = pwl_shr64(sum, segment->n, (int)table->rounding);
        print_integer(offset_name(table->form), segment->offset);
        print_integer("sum", sum);
        print_integer("shifted", shifted);
        return shifted;
    }
    const int64_t shifted = pwl_shr64(product, segment->n, (int)table->rounding);
    const int64_t sum = shifted + segment->offset;
    print_integer("shifted", shifted);
    print_integer(offset_name(table->form), segment->offset);
    print_integer("sum", sum);
    return sum;
}

/* The segment of a code, and its line there. */
static int64_t print_segment(const struct table *table, int64_t code)
{
    const int index = segment_of(table, code);
    print_integer("segment", index);
    print_integer("start", table->segments[index].start);
    return print_line(table, &table->segments[index], code);
}

static int64_t print_folded(const struct table *table, int64_t clamped)
{
    const bool mirrored = table->has_fold && clamped < table->in.zero_point;
    const int64_t code = mirrored ? 2 * table->in.zero_point - clamped : clamped;
    if (mirrored)
        print_integer("mirrored", code);
    int64_t raw = print_segment(table, code);
    if (mirrored) {
        raw = table->fold_sum - raw;
        print_integer("fold_sum", table->fold_sum);
        print_integer("folded", raw);
    }
    return raw;
}

static int64_t print_reduced(const struct table *table, int64_t clamped)
{
    const pwl_reduction *reduction = &table->reduction;
    const int64_t d = clamped - table->in.zero_point;
    print_integer("d", d);
    if (reduction->kind == PWL_LEADING_ZEROS && d <= 0) {
        print_integer("below", reduction->below);
        return reduction->below;
    }
    const pwl_reduced_code at = pwl_reduce(reduction, storage_bits(table->storage), d);
    if (reduction->kind == PWL_EXPONENT) {
        print_integer("factor", reduction->factor);
        print_integer("exponent", d * reduction->factor);
    }
    print_integer("octave", at.r);
    print_integer("word", at.m);
    const int64_t raw = print_segment(table, at.m);
    if (reduction->direction == 0) {
        print_integer("addend", reduction->addend);
        print_integer("added", raw - at.r * reduction->addend);
    }
    print_integer("shift", pwl_sat(reduction->shift + reduction->direction * at.r, 0, 62));
    pwl_reduction whole = *reduction;
    whole.zp_y = table->out.zero_point;
    const int64_t restored = pwl_restore(&whole, raw, at.r);
    print_integer("restored", restored);
    return restored;
}

static void print_reference(const struct table *table, const struct function *function, int64_t q_x, int64_t q_y)
{
    const struct tensor *out = &table->out;
    if (table->outside == OUTSIDE_ERROR && !function_defined_at(function, tensor_at(&table->in, q_x)))
        return;
    const struct dd target = target_unclipped(function, &table->in, out, table->outside, q_x);
    printf("reference %.9g\n", dd_times(dd_sub(target, dd_of_integer(out->zero_point)), out->scale.value).hi);
    printf("error_lsb %.6g\n", fabs(target_missed(target_clipped(out, target), q_y).hi));
}

int trace_print(const struct table *table, const struct packed_table *packed, const struct function *function,
                int64_t q_x, struct diag *diag)
{
    const int64_t clamped = pwl_sat(q_x, table->in.qmin, table->in.qmax);
    if (clamped == q_x)
        print_integer("q_x", q_x);
    else
        printf("q_x %" PRId64 " (clamped from %" PRId64 ")\n", clamped, q_x);
    printf("x %.9Lg\n", tensor_real(&table->in, clamped));

    const int64_t raw = table->has_reduction ? print_reduced(table, clamped) : print_folded(table, clamped);
    const int64_t q_y = pwl_sat(raw, table->out.qmin, table->out.qmax);
    if (q_y == raw)
        print_integer("q_y", q_y);
    else
        printf("q_y %" PRId64 " (saturated)\n", q_y);
    printf("y %.9Lg\n", tensor_real(&table->out, q_y));
    if (function)
        print_reference(table, function, clamped, q_y);

    const int64_t expected = packed_eval(packed, q_x);
    if (q_y != expected)
        return diag_set(diag, EXIT_IO,
                        "internal error: the steps of code %" PRId64 " lead to %" PRId64 ", the runtime gives %" PRId64,
                        q_x, q_y, expected);
    return EXIT_DONE;
}
