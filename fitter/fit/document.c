/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "document.h"

#include <math.h>
#include <stdlib.h>

#include "search/real_line_fit.h"

/* A line in code space: q_y = slope * (q_x - zp_x) + constant, the output zero point included. */
struct real_line {
    double slope, constant;
    double product_min, product_max; /* slope * (q_x - zp_x) over the segment, and 0 */
};

static struct real_line real_line_of(const struct spec *spec, const struct points *points, int begin, int end)
{
    struct lsq_line fit;
    struct real_line line = {0};
    if (lsq_fit(points->code + begin, points->target + begin, points->weight + begin, (size_t)(end - begin), &fit)) {
        line.constant = points->target[begin]; /* saturated everywhere */
        return line;
    }
    const double zp = (double)spec->in.zero_point;
    const double low = fit.slope * ((double)points->cell[begin] - zp);
    const double high = fit.slope * ((double)(points->cell[end] - 1) - zp);
    line.slope = fit.slope;
    line.constant = fit.y_mean + fit.slope * (zp - fit.x_mean);
    line.product_min = fmin(0, fmin(low, high));
    line.product_max = fmax(0, fmax(low, high));
    return line;
}

/* Largest s in [-limit, limit] with |value| * 2^s rounding to at most most. */
static int finest_shift(double value, double most, int limit)
{
    int s = limit;
    while (s > -limit && rint(ldexp(fabs(value), s)) > most)
        s--;
    return s;
}

/* floor(q * 2^-n) */
static int64_t shift_floor(int64_t q, int n)
{
    return (int64_t)floor(ldexp((double)q, -n)); /* |q| < 2^31: exact */
}

int document_quantise(const struct spec *spec, const struct line_rules *rules, const struct points *points,
                      int segment_count, const int *knots, struct segment *segments, struct diag *diag)
{
    const int operand_bits = storage_for(spec->in.bits, spec->out.bits) == PWL_INT32 ? 32 : 16;
    const double operand_max = ldexp(1, operand_bits - 1) - 1;
    struct real_line *lines = malloc((size_t)segment_count * sizeof *lines);
    double slope_max = 0, constant_max = 0;
    if (!lines)
        return diag_set(diag, EXIT_IO, "out of memory for %d segments", segment_count);
    for (int m = 0; m < segment_count; m++) {
        lines[m] = real_line_of(spec, points, knots[m], knots[m + 1]);
        slope_max = fmax(slope_max, fabs(lines[m].slope));
        constant_max = fmax(constant_max, fabs(lines[m].constant));
    }
    int n_total = finest_shift(slope_max, (double)rules->slopes.high, rules->shift_max);
    const int n_yc = finest_shift(constant_max, operand_max, rules->shift_max);

    bool provable = false;
    for (; !provable && n_total >= rules->shift_min; n_total--) {
        provable = true;
        for (int m = 0; m < segment_count && provable; m++) {
            struct segment *segment = &segments[m];
            const struct real_line *real = &lines[m];
            segment->start = points->cell[knots[m]];
            segment->q_b = (int64_t)rint(ldexp(real->slope, n_total));
            segment->n = n_total;
            segment->unfused = (struct unfused){.q_c = (int64_t)rint(ldexp(real->constant, n_yc)), .n_yc = n_yc};
            segment->offset = shift_floor(segment->unfused.q_c, n_yc);
            /* A finer intermediate than the product's own grid would only append zeros. */
            const int n_yb =
                finest_shift(real->product_max - real->product_min, ldexp(1, operand_bits) - 1, rules->shift_max);
            segment->unfused.n_yb = n_yb < n_total ? n_yb : n_total;
            segment->unfused.n_bx = n_total - segment->unfused.n_yb;
            const struct line line = {.q_b = segment->q_b, .n = n_total, .offset = segment->offset};
            provable = line_provable(rules, &line, segment->start, points->cell[knots[m + 1]] - 1);
        }
    }
    free(lines);
    if (!provable)
        return diag_set(diag, EXIT_REQUIREMENT,
                        "--method document: no common shift keeps q_b * (q_x - zp_x) and term_c in their types");
    return EXIT_DONE;
}
