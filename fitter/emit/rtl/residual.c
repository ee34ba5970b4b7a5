/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 *   x_i --> d --+--> |d| --> g --+
 *               |                - --> y_o
 *               +--> ramp -------+
 *
 * gelu(x) - x = gelu(-x), and so of silu, hard_swish and softplus: what their codes lack to a ramp is the same on both
 * sides, small, and 0 far away.
 */
#include "residual.h"

#include <stdlib.h>

#define MOST_SHIFT 8

/* All outputs, by the pattern of the input; and the codes of the lowest and the highest one. */
struct outputs {
    int64_t low, high, zero;
    int64_t *y; /* of low, low + 1, ... */
};

static wide ramp_of(wide d, int shift)
{
    return d <= 0 ? 0 : shift >= 0 ? d * ((wide)1 << shift) : d >> -shift;
}

static int64_t index_of(int64_t d, bool is_inverted)
{
    return d >= 0 ? d : is_inverted ? -1 - d : -d;
}

/* Fills g; false where the two sides do not agree. */
static bool try_shape(const struct outputs *outputs, int shift, bool is_inverted, wide *g, bool *has)
{
    for (int64_t q = outputs->low; q <= outputs->high; q++) {
        const int64_t d = q - outputs->zero, index = index_of(d, is_inverted);
        const wide lack = ramp_of(d, shift) - outputs->y[q - outputs->low];
        if (has[index] && g[index] != lack)
            return false;
        g[index] = lack;
        has[index] = true;
    }
    return true;
}

static void set_sizes(const struct outputs *outputs, struct residual *r)
{
    const int64_t below = index_of(outputs->low - outputs->zero, r->is_inverted), above = outputs->high - outputs->zero;
    r->entries = (int)(larger_integer(below, above) + 1);
    /* The mirror image of the lowest code is one beyond the others; it wraps around to 0 where that serves. */
    const int k = unsigned_bits(r->entries - 1) - 1;
    if (k > 0 && r->entries == (1 << k) + 1 && r->g[r->entries - 1] == r->g[0])
        r->entries--;
    r->index_bits = unsigned_bits(r->entries - 1);
    r->low = r->high = r->g[0];
    for (int i = 1; i < r->entries; i++) {
        r->low = smaller_wide(r->low, r->g[i]);
        r->high = larger_wide(r->high, r->g[i]);
    }
}

int residual_of(const struct table *table, const struct packed_table *packed, bool *is_one, struct residual *residual,
                struct diag *diag)
{
    const struct tensor *in = &table->in;
    struct outputs outputs = {code_min(in->bits, in->is_signed), code_max(in->bits, in->is_signed), in->zero_point,
                              NULL};
    *is_one = false;
    *residual = (struct residual){0};
    if (in->bits > ROM_MAX_BITS || outputs.zero < outputs.low || outputs.zero > outputs.high)
        return EXIT_DONE;
    const size_t count = (size_t)1 << in->bits;
    outputs.y = malloc(count * sizeof *outputs.y);
    residual->g = malloc((count + 1) * sizeof *residual->g);
    bool *const has = malloc(count + 1);
    if (!outputs.y || !residual->g || !has)
        diag_set(diag, EXIT_IO, "out of memory for %zu outputs", count);
    for (int64_t q = outputs.low; q <= outputs.high && diag->code == EXIT_DONE; q++)
        outputs.y[q - outputs.low] = packed_eval(packed, q);
    for (int k = 0; k < 4 * MOST_SHIFT + 2 && diag->code == EXIT_DONE && !*is_one; k++) {
        residual->shift = (k / 2 + 1) / 2 * (k / 2 % 2 ? 1 : -1); /* 0, 1, -1, 2, ... */
        residual->is_inverted = k % 2 == 0;
        for (size_t i = 0; i <= count; i++)
            has[i] = false;
        *is_one = try_shape(&outputs, residual->shift, residual->is_inverted, residual->g, has);
    }
    if (*is_one)
        set_sizes(&outputs, residual);
    free(outputs.y);
    free(has);
    if (!*is_one) {
        free(residual->g);
        residual->g = NULL;
    }
    return diag->code;
}

/* The low bits of |d|. */
static struct signal add_index(struct pipeline *p, struct signal *d, const struct residual *r)
{
    const int bits = r->index_bits, top = d->bits - 1;
    char range[CONSTANT_TEXT];
    struct text *out = pipeline_part(p);
    pipeline_bits(p, "mirrored", 1);
    text_add(out, "  assign mirrored = d[%d];\n", top);
    struct signal index = pipeline_bits(p, "index", bits);
    snprintf(range, sizeof range, bits > 1 ? "[%d:0]" : "[0]", bits - 1);
    text_add(out, "  assign index = %sd%s ^ {%d{mirrored}}%s", r->is_inverted ? "" : "(", range, bits,
             r->is_inverted ? ";\n" : ") + ");
    if (!r->is_inverted)
        text_add(out, bits > 1 ? "{%d'd0, mirrored};\n" : "mirrored;\n", bits - 1);
    return index;
}

/* ramp(d), modulo 2^bits: those of an output */
static struct signal add_ramp(struct pipeline *p, const struct signal *d, int shift, int bits)
{
    struct text *out = pipeline_part(p);
    struct signal ramp = pipeline_bits(p, "ramp", bits);
    const int first = shift < 0 ? -shift : 0, zeros = shift > 0 ? shift : 0;
    const int taken = smaller_integer(d->bits - first, bits - zeros), signs = bits - zeros - taken;
    if (taken <= 0) {
        text_add(out, "  assign ramp = %d'd0;\n", bits);
        return ramp;
    }
    text_add(out, "  assign ramp = {%d{~mirrored}} & ", bits);
    text_add(out, zeros > 0 || signs > 0 ? "{" : "");
    if (signs > 0)
        text_add(out, "%d'd0, ", signs);
    text_add(out, "d[%d:%d]", first + taken - 1, first);
    if (zeros > 0)
        text_add(out, ", %d'd0", zeros);
    text_add(out, zeros > 0 || signs > 0 ? "};\n" : ";\n");
    return ramp;
}

static int make_rom(struct module *m, const struct residual *r, int bits, struct diag *diag)
{
    if (rom_make(&m->rom, r->entries, bits, diag))
        return diag->code;
    for (int i = 0; i < r->entries; i++)
        rom_put(&m->rom, i, 0, bits, r->g[i]);
    text_add(&m->layout, "g[%d:0]%s", bits - 1, r->low < 0 ? " signed" : "");
    return EXIT_DONE;
}

static void add_difference(struct module *m, struct signal *ramp, struct signal *g, bool has_sign)
{
    struct pipeline *p = &m->pipeline;
    const int bits = m->table->out.bits, more = bits - g->bits;
    char left[SIGNAL_TEXT], right[SIGNAL_TEXT];
    signal_use(p, ramp, left);
    signal_use(p, g, right);
    struct signal y = pipeline_bits(p, "y", bits);
    text_add(pipeline_part(p), "  assign y = %s - ", left);
    if (more > 0 && has_sign && g->bits > 1)
        text_add(pipeline_part(p), "{{%d{%s[%d]}}, %s};\n", more, right, g->bits - 1, right);
    else if (more > 0 && has_sign)
        text_add(pipeline_part(p), "{%d{%s}};\n", bits, right);
    else if (more > 0)
        text_add(pipeline_part(p), "{%d'd0, %s};\n", more, right);
    else if (more < 0)
        text_add(pipeline_part(p), "%s[%d:0];\n", right, bits - 1);
    else
        text_add(pipeline_part(p), "%s;\n", right);
    if (more < 0)
        pipeline_drop(p, g, g->bits - 1, bits);
    while (p->stages < m->stages)
        pipeline_cut(p);
    text_add(pipeline_part(p), m->table->out.is_signed ? "  assign y_o = $signed(%s);\n" : "  assign y_o = %s;\n",
             signal_use(p, &y, left));
}

static int add_body(struct module *m, const struct residual *r, struct diag *diag)
{
    struct pipeline *p = &m->pipeline;
    const struct tensor *in = &m->table->in;
    const int g_bits = field_bits(r->low, r->high) ? field_bits(r->low, r->high) : 1;
    char name[SIGNAL_TEXT];
    if (make_rom(m, r, g_bits, diag))
        return diag->code;
    struct signal x = pipeline_value(p, "x", 0, code_min(in->bits, in->is_signed), code_max(in->bits, in->is_signed));
    text_add(pipeline_part(p), in->is_signed ? "  assign x = x_i;\n" : "  assign x = $signed({1'b0, x_i});\n");
    struct signal d = pipeline_sum(p, "d", &x, -(wide)in->zero_point);
    struct signal index = add_index(p, &d, r);
    struct signal ramp = add_ramp(p, &d, r->shift, m->table->out.bits);
    if (m->stages >= 2)
        pipeline_cut(p);
    signal_use(p, &index, name);
    struct signal g = pipeline_bits(p, "g", g_bits);
    text_add(pipeline_part(p), "  assign g = ");
    module_add_lookup(m, name);
    if (m->stages >= 3)
        pipeline_cut(p);
    m->datapath.added = m->table->out.bits + (r->is_inverted ? 0 : r->index_bits);
    add_difference(m, &ramp, &g, r->low < 0);
    return EXIT_DONE;
}

int module_of_residual(struct module *m, struct diag *diag)
{
    struct residual residual;
    bool is_one;
    diag->code = EXIT_DONE;
    if (residual_of(m->table, &m->packed, &is_one, &residual, diag))
        return diag->code;
    if (!is_one)
        return diag_set(diag, EXIT_USAGE,
                        "--rtl-style residual: the outputs of this table are no ramp less what is the same on both "
                        "sides of the zero point, of up to %d bits; use rom, or segments",
                        ROM_MAX_BITS);
    add_body(m, &residual, diag);
    free(residual.g);
    return diag->code;
}
