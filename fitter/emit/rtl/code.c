/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two ends of a module: from the port to a code that has a segment, and from the sum to the port. */
#include <stdio.h>

#include "body.h"

/* Compares with a limit only where the port reaches beyond it. */
static void add_clamped(struct body *b, struct signal *x)
{
    const struct tensor *in = &b->table->in;
    char name[SIGNAL_TEXT], limit[CONSTANT_TEXT], result[CONSTANT_TEXT];
    struct text *out = pipeline_part(b->p);
    b->code = pipeline_value(b->p, "code", x->bits, in->qmin, in->qmax);
    signal_use(b->p, x, name);
    text_add(out, "  assign code =");
    if (x->low < in->qmin)
        text_add(out, " (%s < %s) ? %s :", name, signed_constant(x->bits, in->qmin, limit),
                 signed_constant(x->bits, in->qmin, result));
    if (x->high > in->qmax)
        text_add(out, " (%s > %s) ? %s :", name, signed_constant(x->bits, in->qmax, limit),
                 signed_constant(x->bits, in->qmax, result));
    text_add(out, " %s;\n", name);
}

/* The distance from the zero point, and on which side of it the code lies. */
static void add_fold(struct body *b)
{
    struct pipeline *p = b->p;
    char text[SIGNAL_TEXT];
    struct signal side = pipeline_sum(p, "side", &b->code, -(wide)b->table->in.zero_point);
    const wide high = larger_wide(-side.low, side.high);
    b->mirrored = pipeline_bits(p, "mirrored", 1);
    text_add(pipeline_part(p), "  assign mirrored = side[%d];\n", side.bits - 1);
    b->code = pipeline_value(p, "distance", side.bits, 0, high);
    text_add(pipeline_part(p), "  assign distance = $signed(({%s} ^ {%d{mirrored}}) + {%d'd0, mirrored});\n",
             signal_extend(p, &side, b->code.bits, text), b->code.bits, b->code.bits - 1);
}

void add_code(struct body *b)
{
    const struct tensor *in = &b->table->in;
    struct signal x =
        pipeline_value(b->p, "x", 0, code_min(in->bits, in->is_signed), code_max(in->bits, in->is_signed));
    text_add(pipeline_part(b->p), in->is_signed ? "  assign x = x_i;\n" : "  assign x = $signed({1'b0, x_i});\n");
    b->code = x;
    if (x.low < in->qmin || x.high > in->qmax)
        add_clamped(b, &x);
    if (b->table->has_fold)
        add_fold(b);
}

/* sum, or fold_sum - sum, which is fold_sum + 1 + ~sum: one adder, and no choice between two results. */
void add_unfolded(struct body *b)
{
    struct pipeline *p = b->p;
    char sum[SIGNAL_TEXT], mirrored[SIGNAL_TEXT], constant[CONSTANT_TEXT];
    const wide image_low = b->table->fold_sum - b->sum.high, image_high = b->table->fold_sum - b->sum.low;
    struct signal both = pipeline_value(p, "unfolded", b->sum.bits, smaller_wide(image_low, b->sum.low),
                                        larger_wide(image_high, b->sum.high));
    const wide one_more = b->table->fold_sum + 1;
    struct signal addend = pipeline_value(p, "addend", both.bits, 0, 0);
    text_add(pipeline_part(p), "  assign addend = %s ? %s : %d'sd0;\n", signal_use(p, &b->mirrored, mirrored),
             signed_constant(both.bits, one_more, constant), addend.bits);
    text_add(pipeline_part(p), "  assign unfolded = $signed(({%s} ^ {%d{%s}}) + {addend});\n",
             signal_extend(p, &b->sum, both.bits, sum), both.bits, mirrored);
    b->sum = both;
}

/* k where v is 2^k, else -1 */
static int power_of_two(wide v)
{
    for (int k = 0; k < 64; k++)
        if (v == (wide)1 << k)
            return k;
    return -1;
}

/* Whether the sum is above a limit, by its top bits where the limit is 2^k - 1. */
static void add_over(struct body *b, const char *sum, int top, wide limit)
{
    struct text *out = pipeline_part(b->p);
    char constant[CONSTANT_TEXT];
    const int k = power_of_two(limit + 1);
    text_add(out, "  %s over;\n  assign over = ", b->m->dialect->net);
    if (k >= 0)
        text_add(out, "~%s[%d] & |%s[%d:%d];\n", sum, top, sum, top - 1, k);
    else
        text_add(out, "%s > %s;\n", sum, signed_constant(top + 1, limit, constant));
}

/* Whether it is below one, by its top bits where the limit is 0 or -2^k. */
static void add_under(struct body *b, const char *sum, int top, wide limit)
{
    struct text *out = pipeline_part(b->p);
    char constant[CONSTANT_TEXT];
    const int k = power_of_two(-limit);
    text_add(out, "  %s under;\n  assign under = ", b->m->dialect->net);
    if (limit == 0 && top == 0)
        text_add(out, "{%s};\n", sum);
    else if (limit == 0)
        text_add(out, "%s[%d];\n", sum, top);
    else if (k >= 0)
        text_add(out, "%s[%d] & ~&%s[%d:%d];\n", sum, top, sum, top - 1, k);
    else
        text_add(out, "%s < %s;\n", sum, signed_constant(top + 1, limit, constant));
}

struct signal add_saturated(struct body *b)
{
    struct pipeline *p = b->p;
    const struct tensor *y = &b->table->out;
    const bool over = b->sum.high > y->qmax, under = b->sum.low < y->qmin;
    struct text *out = pipeline_part(p);
    char sum[SIGNAL_TEXT], low[SIGNAL_TEXT], below[SIGNAL_TEXT], constant[CONSTANT_TEXT];
    signal_use(p, &b->sum, sum);
    if (over)
        add_over(b, sum, b->sum.bits - 1, y->qmax);
    if (under)
        add_under(b, sum, b->sum.bits - 1, y->qmin);
    struct signal result = pipeline_value(p, "y", y->bits, 0, 0);
    if (b->sum.bits <= y->bits)
        signal_extend(p, &b->sum, y->bits, low);
    else
        snprintf(low, sizeof low, "$signed(%.40s[%d:0])", sum, y->bits - 1);
    text_add(out, "  assign y = ");
    if (b->is_below.bits > 0)
        text_add(out, "%s ? %s : ", signal_use(p, &b->is_below, below),
                 signed_constant(y->bits, b->table->reduction.below, constant));
    if (over)
        text_add(out, "over ? %s : ", signed_constant(y->bits, y->qmax, constant));
    if (under)
        text_add(out, "under ? %s : ", signed_constant(y->bits, y->qmin, constant));
    text_add(out, "%s;\n", low);
    /* What neither the output nor a comparison with 0 takes. */
    const int unused = b->sum.bits - (under && y->qmin == 0);
    if (!over && (!under || y->qmin == 0) && unused > y->bits)
        pipeline_drop(p, &b->sum, unused - 1, y->bits);
    return result;
}
