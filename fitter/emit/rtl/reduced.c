/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a reduced table has before and behind its core (<pwl/reduce.h>): the word and the octave of a code; the core's
 * value brought to that octave.
 */
#include <stdio.h>

#include "body.h"

/*
 * d is shifted to the left until one of the top `step` bits of a field is set, by 2^j steps where as many top bits are
 * 0, for each j from the largest down. The field has `bits` bits: where its first octave is not 0, the word is a part
 * of it, or it is a part of the word.
 *
 *   octave = first_octave + steps           bits = word bits - first_octave * step
 */
static void add_leading_zeros(struct body *b, struct signal *d)
{
    struct pipeline *p = b->p;
    const pwl_reduction *r = &b->table->reduction;
    const int word_bits = storage_bits(b->table->storage), step = 1 << r->log2_step;
    const int d_bits = d->high > 0 ? unsigned_bits(d->high) : 1;
    const int first = (word_bits - d_bits) >> r->log2_step, last = (word_bits - 1) >> r->log2_step;
    const int bits = word_bits - first * step;
    const char *net = b->m->dialect->net;
    struct text *out = pipeline_part(p);
    char name[SIGNAL_TEXT], from[32], literal[CONSTANT_TEXT];

    if (d->low <= 0) {
        b->is_below = pipeline_bits(p, "is_below", 1);
        text_add(out, "  assign is_below = d <= %s;\n", signed_constant(d->bits, 0, literal));
    }
    signal_use(p, d, name);
    snprintf(from, sizeof from, "field");
    text_add(out, "  %s [%d:0] field;\n  assign field = ", net, bits - 1);
    if (bits > d_bits)
        text_add(out, "{%d'd0, %s[%d:0]};\n", bits - d_bits, name, d_bits - 1);
    else
        text_add(out, "%s[%d:0];\n", name, bits - 1);
    if (d->low > 0 || d->bits > d_bits + 1)
        pipeline_drop(p, d, d->bits - 1, d_bits);
    const int counts = last > first ? unsigned_bits(last - first) : 0;
    for (int j = counts - 1; j >= 0; j--) {
        const int by = step << j;
        if (by >= bits) { /* nothing has so many leading zeros but 0 */
            text_add(out, "  %s steps_%d;\n  assign steps_%d = 1'b0;\n", net, j, j);
            continue;
        }
        text_add(out, "  %s steps_%d;\n  assign steps_%d = ~|%s[%d:%d];\n", net, j, j, from, bits - 1, bits - by);
        text_add(out, "  %s [%d:0] field_%d;\n  assign field_%d = steps_%d ? {%s[%d:0], %d'd0} : %s;\n", net, bits - 1,
                 j, j, j, from, bits - by - 1, by, from);
        snprintf(from, sizeof from, "field_%d", j);
    }
    const struct tensor words = table_segment_codes(b->table);
    b->code = pipeline_value(p, "word_of_code", word_bits + 1, words.qmin, words.qmax);
    if (bits > word_bits) {
        text_add(out, "  assign word_of_code = $signed({1'b0, %s[%d:%d]});\n", from, bits - 1, bits - word_bits);
        text_add(out, "  %s unused_field;\n  assign unused_field = ^%s[%d:0];\n", net, from, bits - word_bits - 1);
    } else if (bits < word_bits) {
        text_add(out, "  assign word_of_code = $signed({1'b0, %s, %d'd0});\n", from, word_bits - bits);
    } else {
        text_add(out, "  assign word_of_code = $signed({1'b0, %s});\n", from);
    }
    if (counts == 0) {
        b->octave = pipeline_value(p, "octave", 0, first, first);
        text_add(out, "  assign octave = %s;\n", signed_constant(b->octave.bits, first, literal));
        return;
    }
    struct signal steps = pipeline_value(p, "steps", counts + 1, 0, last - first);
    text_add(out, "  assign steps = $signed({1'b0");
    for (int j = counts - 1; j >= 0; j--)
        text_add(out, ", steps_%d", j);
    text_add(out, "});\n");
    b->octave = pipeline_sum(p, "octave", &steps, first);
}

static void add_exponent(struct body *b, struct signal *d)
{
    struct pipeline *p = b->p;
    const pwl_reduction *r = &b->table->reduction;
    const int word_bits = storage_bits(b->table->storage), dropped = r->fraction - word_bits;
    const wide ends[] = {d->low * r->factor, d->high * r->factor};
    char name[SIGNAL_TEXT], literal[CONSTANT_TEXT];
    const int factor_bits = signed_bits(smaller_wide(r->factor, 0), larger_wide(r->factor, 0));
    struct signal z = pipeline_value(p, "scaled_d", factor_bits > d->bits ? factor_bits : d->bits,
                                     smaller_wide(ends[0], ends[1]), larger_wide(ends[0], ends[1]));
    text_add(pipeline_part(p), "  assign scaled_d = %s * %s;\n", signal_extend(p, d, z.bits, name),
             signed_constant(z.bits, r->factor, literal));
    if (dropped > 1)
        pipeline_drop(p, &z, dropped - 2, 0);
    if (dropped > 0) {
        /* One bit more than z has, whose carry rounds. */
        struct signal half =
            pipeline_value(p, "half_z", z.bits - dropped + 1, z.low >> (dropped - 1), z.high >> (dropped - 1));
        text_add(pipeline_part(p), "  assign half_z = $signed(scaled_d[%d:%d]);\n", z.bits - 1, dropped - 1);
        struct signal rounded = pipeline_sum(p, "rounded_z", &half, 1);
        pipeline_drop(p, &rounded, 0, 0);
        z = pipeline_value(p, "z", rounded.bits - 1, rounded.low >> 1, rounded.high >> 1);
        text_add(pipeline_part(p), "  assign z = $signed(rounded_z[%d:1]);\n", rounded.bits - 1);
    }
    const struct tensor words = table_segment_codes(b->table);
    b->code = pipeline_value(p, "word_of_code", word_bits + 1, words.qmin, words.qmax);
    b->octave = pipeline_value(p, "octave", z.bits > word_bits ? z.bits - word_bits : 1, z.low >> word_bits,
                               z.high >> word_bits);
    if (z.bits > word_bits) {
        text_add(pipeline_part(p), "  assign word_of_code = $signed({1'b0, %s[%d:0]});\n", z.name, word_bits - 1);
        text_add(pipeline_part(p), "  assign octave = $signed(%s[%d:%d]);\n", z.name, z.bits - 1, word_bits);
    } else {
        struct signal whole = pipeline_value(p, "whole_z", word_bits + 1, z.low, z.high);
        text_add(pipeline_part(p), "  assign whole_z = %s;\n", signal_extend(p, &z, whole.bits, name));
        text_add(pipeline_part(p), "  assign word_of_code = $signed({1'b0, whole_z[%d:0]});\n", word_bits - 1);
        text_add(pipeline_part(p), "  assign octave = $signed(whole_z[%d]);\n", word_bits);
    }
}

void add_word(struct body *b)
{
    struct signal d = pipeline_sum(b->p, "d", &b->code, -(wide)b->table->in.zero_point);
    if (b->table->reduction.kind == PWL_LEADING_ZEROS)
        add_leading_zeros(b, &d);
    else
        add_exponent(b, &d);
}

/* sum - octave * addend */
static void add_addend(struct body *b)
{
    struct pipeline *p = b->p;
    const wide addend = b->table->reduction.addend;
    const wide ends[] = {b->octave.low * addend, b->octave.high * addend};
    const wide low = smaller_wide(ends[0], ends[1]), high = larger_wide(ends[0], ends[1]);
    const int addend_bits = signed_bits(smaller_wide(addend, 0), larger_wide(addend, 0));
    char text[SIGNAL_TEXT], other[SIGNAL_TEXT], literal[CONSTANT_TEXT];
    struct signal part =
        pipeline_value(p, "of_octave", addend_bits > b->octave.bits ? addend_bits : b->octave.bits, low, high);
    text_add(pipeline_part(p), "  assign of_octave = %s * %s;\n", signal_extend(p, &b->octave, part.bits, text),
             signed_constant(part.bits, addend, literal));
    const int bits = part.bits > b->sum.bits ? part.bits : b->sum.bits;
    struct signal added = pipeline_value(p, "added", bits, b->sum.low - high, b->sum.high - low);
    signal_extend(p, &b->sum, added.bits, text);
    text_add(pipeline_part(p), "  assign added = %s - %s;\n", text, signal_extend(p, &part, added.bits, other));
    b->sum = added;
}

/* shift + direction * octave, clipped to 0..62; a constant where it is one. */
static struct signal add_down(struct body *b)
{
    struct pipeline *p = b->p;
    const pwl_reduction *r = &b->table->reduction;
    char name[SIGNAL_TEXT], low[CONSTANT_TEXT], high[CONSTANT_TEXT], result[CONSTANT_TEXT];
    struct signal shift = r->direction > 0 ? pipeline_sum(p, "shift", &b->octave, r->shift)
                                           : pipeline_difference(p, "shift", r->shift, &b->octave);
    struct signal down = pipeline_value(p, "down", shift.bits, larger_wide(smaller_wide(shift.low, 62), 0),
                                        larger_wide(smaller_wide(shift.high, 62), 0));
    struct text *out = pipeline_part(p);
    signal_use(p, &shift, name);
    text_add(out, "  assign down = ");
    if (shift.low < 0)
        text_add(out, "(%s < %s) ? %s : ", name, signed_constant(shift.bits, 0, low),
                 signed_constant(down.bits, 0, result));
    if (shift.high > 62)
        text_add(out, "(%s > %s) ? %s : ", name, signed_constant(shift.bits, 62, high),
                 signed_constant(down.bits, 62, result));
    text_add(out, "%s;\n", name);
    return down;
}

/* half_up(sum / 2^down) + zp_y = (floor(2 sum / 2^down) + 2 zp_y + 1) >> 1 */
void add_restored(struct body *b)
{
    struct pipeline *p = b->p;
    const pwl_reduction *r = &b->table->reduction;
    const wide zero = b->table->out.zero_point;
    char text[SIGNAL_TEXT], by[SIGNAL_TEXT];
    if (r->addend != 0)
        add_addend(b);
    wide least_down = larger_wide(smaller_wide(r->shift, 62), 0);
    struct signal down = {.bits = 0};
    if (r->direction != 0) {
        down = add_down(b);
        least_down = down.low;
    }
    const int amount = (int)least_down;
    signal_use(p, &b->sum, text);
    struct signal twice = pipeline_value(p, "twice", b->sum.bits + 1, 2 * b->sum.low, 2 * b->sum.high);
    text_add(pipeline_part(p), "  assign twice = $signed({%s, 1'b0});\n", text);
    /* The largest values are those of the smallest shift; larger shifts lead towards 0. */
    struct signal moved = pipeline_value(p, "moved", twice.bits, smaller_wide(twice.low >> amount, -1),
                                         larger_wide(twice.high >> amount, 0));
    if (r->direction != 0)
        text_add(pipeline_part(p), "  assign moved = twice >>> %s;\n", signal_use(p, &down, by));
    else
        text_add(pipeline_part(p), "  assign moved = twice >>> %d;\n",
                 amount < twice.bits ? amount : twice.bits - 1); /* signs alone are left */
    struct signal rounded = pipeline_sum(p, "restored_twice", &moved, 2 * zero + 1);
    pipeline_drop(p, &rounded, 0, 0);
    b->sum = pipeline_value(p, "restored", rounded.bits - 1, rounded.low >> 1, rounded.high >> 1);
    text_add(pipeline_part(p), "  assign restored = $signed(restored_twice[%d:1]);\n", rounded.bits - 1);
}
