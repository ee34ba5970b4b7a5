/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A table with an evaluation of its own, written for its form, rounding, fold and storage case only. What the table
 * never needs (a left shift, a clamp that the input type already gives, an array of equal shifts) is not written.
 *
 * The proof that the table passed when it was read covers this code: it forms the same product, rounding addend, shift
 * and sum in the same accumulator type.
 */
#include "c.h"

#include <stdio.h>
#include <stdlib.h>

#include "table/size.h"

/* Where bytes count, a scan beats halving in them, and up to here in time too. */
#define SCAN_MAX_SEGMENTS 16

/* Where vectors compare a block of codes with every start in turn: up to so many, that takes less time than halving
 * code by code. */
#define BLOCK_MAX_SEGMENTS 64
#define BLOCK_CODES 64

/* What varies between evaluations. */
struct shape {
    const char *in, *out;   /* code types */
    const char *acc, *uacc; /* accumulator and its unsigned twin */
    bool direct;            /* a full table: one code per segment, no slope */
    bool one_shift;         /* every segment has the same n */
    bool left, zero, right; /* some segment has n < 0, n = 0, n > 0 */
};

static struct shape shape_of(const struct table *t)
{
    const int acc_bits = accumulator_bits(t->storage);
    struct shape shape = {.in = c_type(t->in.bits, t->in.is_signed),
                          .out = c_type(t->out.bits, t->out.is_signed),
                          .acc = c_type(acc_bits, true),
                          .uacc = c_type(acc_bits, false),
                          .direct = table_is_full(t),
                          .one_shift = true};
    for (int i = 0; i < t->segment_count; i++) {
        const struct segment *segment = &t->segments[i];
        shape.one_shift = shape.one_shift && segment->n == t->segments[0].n;
        shape.left = shape.left || segment->n < 0;
        shape.zero = shape.zero || segment->n == 0;
        shape.right = shape.right || segment->n > 0;
    }
    return shape;
}

/* Widens q_x and clamps it where its type reaches beyond the table's range. */
static void add_input(struct text *out, const struct c_table *c, const struct shape *shape)
{
    const struct tensor *in = &c->table->in;
    const int type_bits = code_type_bits(in->bits);
    const bool low = in->qmin > code_min(type_bits, in->is_signed);
    const bool high = in->qmax < code_max(type_bits, in->is_signed);
    const bool reduced = c->table->has_reduction;
    const char *name = reduced ? "code" : "q", *type = reduced ? "int64_t" : shape->acc;
    text_add(out, "    %s%s %s = q_x;\n", low || high || c->table->has_fold ? "" : "const ", type, name);
    if (low)
        text_add(out, "    if (%s < %s_QMIN_X)\n        %s = %s_QMIN_X;\n", name, c->upper, name, c->upper);
    if (high)
        text_add(out, "    if (%s > %s_QMAX_X)\n        %s = %s_QMAX_X;\n", name, c->upper, name, c->upper);
}

static void add_mirror(struct text *out, const struct c_table *c)
{
    char text[C_LITERAL_SIZE];
    text_add(out,
             "    const int mirrored = q < %s_ZP_X;\n"
             "    if (mirrored)\n        q = %s - q;\n",
             c->upper, c_literal(2 * c->table->in.zero_point, text));
}

/* In as few bytes as there are. */
static void add_small_search(struct text *out, const struct c_table *c)
{
    if (c->table->segment_count <= SCAN_MAX_SEGMENTS)
        text_add(out,
                 "    unsigned i = %s_SEGMENTS - 1;\n"
                 "    while (%s_start[i] > q)\n        --i;\n",
                 c->upper, c->name);
    else
        text_add(out,
                 "    unsigned i = 0, end = %s_SEGMENTS;\n"
                 "    while (end - i > 1) {\n"
                 "        const unsigned middle = (i + end) / 2;\n"
                 "        if (%s_start[middle] <= q)\n"
                 "            i = middle;\n"
                 "        else\n"
                 "            end = middle;\n"
                 "    }\n",
                 c->upper, c->name);
}

/* Without a branch, which random codes would have guessed wrong: of `left` candidates from i on, one half remains. */
static void add_quick_search(struct text *out, const struct c_table *c)
{
    text_add(out, "    unsigned i = 0;\n");
    for (int left = c->table->segment_count; left > 1; left -= left / 2) {
        const int half = left / 2;
        text_add(out, "    i += (unsigned)(%s_start[i + %d] <= q)", c->name, half);
        text_add(out, half > 1 ? " * %d;\n" : ";\n", half);
    }
}

/* Sets i to the last segment with start[i] <= q; start[0] <= q always, which ends the scan. */
static void add_search(struct text *out, const struct c_table *c)
{
    if (c->table->segment_count == 1) {
        text_add(out, "    const unsigned i = 0;\n");
        return;
    }
    text_add(out, "#ifdef __OPTIMIZE_SIZE__\n");
    add_small_search(out, c);
    text_add(out, "#else\n");
    add_quick_search(out, c);
    text_add(out, "#endif\n");
}

static void add_product(struct text *out, const struct c_table *c, const struct shape *shape)
{
    char zp_x[C_LITERAL_SIZE];
    text_add(out, "    %s v = (%s)%s_q_b[i] * ", shape->acc, shape->acc, c->name);
    if (c->table->form == PWL_ANCHORED)
        text_add(out, "(q - %s_start[i])", c->name);
    else if (c->table->has_reduction)
        text_add(out, "(q - %s)", c_literal(c->packed.table.zp_x, zp_x));
    else
        text_add(out, "(q - %s_ZP_X)", c->upper);
    if (c->table->form == PWL_BIASED)
        text_add(out, " + %s_bias[i]", c->name);
    text_add(out, ";\n");
}

/* A right shift by n > 0. To nearest: half = 2^(n-1) is added before the floor, one less where a tie goes down: for
 * half_away below zero, for half_even when the floor is even. */
static void add_right_shift(struct text *out, const struct c_table *c, const struct shape *shape, const char *n)
{
    switch (c->table->rounding) {
    case PWL_FLOOR:
        text_add(out, "v >>= %s;\n", n);
        break;
    case PWL_HALF_UP:
        text_add(out, "v = (v + ((%s)1 << (%s - 1))) >> %s;\n", shape->acc, n, n);
        break;
    case PWL_HALF_AWAY:
        text_add(out, "v = (v + (((%s)1 << (%s - 1)) - (v < 0))) >> %s;\n", shape->acc, n, n);
        break;
    case PWL_HALF_EVEN:
        text_add(out, "v = (v + (((%s)1 << (%s - 1)) - 1 + ((v >> %s) & 1))) >> %s;\n", shape->acc, n, n, n);
        break;
    }
}

static void add_shift(struct text *out, const struct c_table *c, const struct shape *shape)
{
    const bool nearest = c->table->rounding != PWL_FLOOR;
    char n[12] = "n";

    if (!shape->left && !shape->right)
        return;
    if (shape->one_shift) {
        snprintf(n, sizeof n, "%d", abs(c->table->segments[0].n));
    } else {
        text_add(out, "    const int n = %s_n[i];\n", c->name);
    }
    if (shape->left) {
        /* Through unsigned: shifting a negative value left is undefined. */
        if (!shape->one_shift)
            text_add(out, "    if (n < 0)\n    ");
        text_add(out, "    v = (%s)((%s)v << %s%s);\n", shape->acc, shape->uacc, shape->one_shift ? "" : "-", n);
    }
    if (!shape->right)
        return;
    if (nearest && shape->zero)
        text_add(out, "    %sif (n > 0)\n        ", shape->left ? "else " : "");
    else if (shape->left)
        text_add(out, "    else\n        ");
    else
        text_add(out, "    ");
    add_right_shift(out, c, shape, n);
}

static void add_output(struct text *out, const struct c_table *c, const struct shape *shape)
{
    const struct table *t = c->table;
    char text[C_LITERAL_SIZE];
    if (t->form != PWL_BIASED)
        text_add(out, "    v += %s_%s[i];\n", c->name, offset_name(t->form));
    if (t->has_fold)
        text_add(out, "    if (mirrored)\n        v = %s - v;\n", c_literal(t->fold_sum, text));
    if (t->has_reduction)
        c_add_restored(out, c);
    const char *name = t->has_reduction ? "y" : "v";
    text_add(out,
             "    if (%s < %s_QMIN_Y)\n        %s = %s_QMIN_Y;\n"
             "    if (%s > %s_QMAX_Y)\n        %s = %s_QMAX_Y;\n"
             "    return (%s)%s;\n",
             name, c->upper, name, c->upper, name, c->upper, name, c->upper, shape->out, name);
}

/* nvcc compiles a function for the host and for the device only where it is told to. */
static void add_qualifiers(struct text *out, const struct c_table *c)
{
    text_add(out,
             "#ifdef __CUDACC__\n#define %s_FUNCTION __host__ __device__ static inline\n"
             "#else\n#define %s_FUNCTION static inline\n#endif\n",
             c->upper, c->upper);
}

static void add_arrays(struct text *out, const struct c_table *c, const struct shape *shape)
{
    const struct table *t = c->table;
    if (shape->direct) {
        /* Every answer is known here, so the header carries the output codes themselves. */
        for (int i = 0; i < t->segment_count; i++)
            c->column[i] = packed_eval(&c->packed, t->in.qmin + i);
        c_add_array(out, c, shape->out, "codes");
        return;
    }
    c_add_start(out, c);
    c_add_slope(out, c);
    if (!shape->one_shift)
        c_add_shift(out, c);
    c_add_offset(out, c);
}

/* The arrays, then what holds them to their length. */
static void add_data(struct text *out, const struct c_table *c, const struct shape *shape)
{
    add_arrays(out, c, shape);
    text_add(out, "\n");
    c_add_assert_begin(out, c);
    if (shape->direct) {
        c_add_count_assert(out, c, "codes");
    } else {
        text_add(out, "%s%s_ASSERT((-1 >> 1) == -1, \"right shifts of negative values are arithmetic\");\n", c->indent,
                 c->upper);
        c_add_count_assert(out, c, "start");
        c_add_count_assert(out, c, "q_b");
        if (!shape->one_shift)
            c_add_count_assert(out, c, "n");
        c_add_count_assert(out, c, offset_name(c->table->form));
    }
    c_add_assert_end(out, c);
}

/* Whether the segments of a block of codes are found by comparing the codes as they are: a clamped code has the segment
 * of the code itself, a mirrored one, or a word of an octave, has not. */
static bool has_blocks(const struct c_table *c, const struct shape *shape)
{
    const struct table *t = c->table;
    return c->kind == C_STANDALONE && !shape->direct && !t->has_fold && !t->has_reduction && t->segment_count > 1 &&
           t->segment_count <= BLOCK_MAX_SEGMENTS;
}

/* What follows the search. */
static void add_line(struct text *out, const struct c_table *c, const struct shape *shape)
{
    add_product(out, c, shape);
    add_shift(out, c, shape);
    add_output(out, c, shape);
}

/* The line of a segment apart from the search, so that a map can search in blocks. */
static void add_eval_in_two(struct text *out, const struct c_table *c, const struct shape *shape)
{
    text_add(out, "\n/* The output code of an input code of segment i. */\n");
    text_add(out, "static inline %s %s_line(%s q_x, unsigned i)\n{\n", shape->out, c->name, shape->in);
    add_input(out, c, shape);
    add_line(out, c, shape);
    text_add(out, "}\n");
    text_add(out, "\n/* The output code of an input code; q_x is clamped to [QMIN_X, QMAX_X]. */\n");
    text_add(out, "static inline %s %s_eval(%s q_x)\n{\n", shape->out, c->name, shape->in);
    add_input(out, c, shape);
    add_search(out, c);
    text_add(out, "    return %s_line((%s)q, i);\n}\n", c->name, shape->in);
}

static void add_eval(struct text *out, const struct c_table *c, const struct shape *shape, const char *function)
{
    text_add(out, "\n/* The output code of an input code; q_x is clamped to [QMIN_X, QMAX_X]. */\n");
    text_add(out, "%s %s %s_eval(%s q_x)\n{\n", function, shape->out, c->name, shape->in);
    if (c->kind == C_CUDA) {
        add_data(out, c, shape);
        text_add(out, "\n");
    }
    add_input(out, c, shape);
    if (shape->direct) {
        text_add(out, "    return %s_codes[(size_t)(q - %s_QMIN_X)];\n", c->name, c->upper);
    } else {
        if (c->table->has_fold)
            add_mirror(out, c);
        if (c->table->has_reduction)
            c_add_word(out, c, shape->acc);
        add_search(out, c);
        add_line(out, c, shape);
    }
    text_add(out, "}\n");
}

/* A segment is how many starts but the first a code has reached. Counts have the width of codes, so that one vector
 * holds as many of them. */
static void add_blocks(struct text *out, const struct c_table *c)
{
    const char *const count = c_type(c->table->in.bits, false);
    text_add(out,
             "#if !defined(__OPTIMIZE_SIZE__) && (defined(__SSE2__) || defined(__ARM_NEON))\n"
             "    for (; n >= %d; n -= %d, x += %d, y += %d) { /* blocks, for compilers to make vectors of */\n"
             "        %s reached[%d] = {0};\n"
             "        for (unsigned i = 1; i < %s_SEGMENTS; ++i)\n"
             "            for (unsigned j = 0; j < %d; ++j)\n"
             "                reached[j] = (%s)(reached[j] + (%s_start[i] <= x[j]));\n"
             "        for (unsigned j = 0; j < %d; ++j)\n"
             "            y[j] = %s_line(x[j], reached[j]);\n"
             "    }\n"
             "#endif\n",
             BLOCK_CODES, BLOCK_CODES, BLOCK_CODES, BLOCK_CODES, count, BLOCK_CODES, c->upper, BLOCK_CODES, count,
             c->name, BLOCK_CODES, c->name);
}

static void add_map(struct text *out, const struct c_table *c, const struct shape *shape, const char *function)
{
    text_add(out,
             "\n/* y[k] = %s_eval(x[k]) for k in [0, n); x and y may be the same array where their types agree. */\n",
             c->name);
    text_add(out, "%s void %s_map(const %s *x, %s *y, size_t n)\n{\n", function, c->name, shape->in, shape->out);
    if (has_blocks(c, shape))
        add_blocks(out, c);
    text_add(out, "    for (size_t k = 0; k < n; ++k)\n        y[k] = %s_eval(x[k]);\n}\n", c->name);
}

void c_add_standalone_table(struct text *out, const struct c_table *c)
{
    const struct shape shape = shape_of(c->table);
    char function[EMIT_NAME_SIZE + 16] = "static inline";

    c_add_constants(out, c);
    text_add(out, "\n");
    if (c->kind == C_CUDA) {
        snprintf(function, sizeof function, "%s_FUNCTION", c->upper);
        add_qualifiers(out, c);
    } else {
        add_data(out, c, &shape);
    }
    if (has_blocks(c, &shape))
        add_eval_in_two(out, c, &shape);
    else
        add_eval(out, c, &shape, function);
    add_map(out, c, &shape, function);
    if (c->kind == C_CUDA)
        text_add(out, "#undef %s_FUNCTION\n", c->upper);
}
