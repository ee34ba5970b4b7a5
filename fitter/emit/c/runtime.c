/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table for the runtime: four arrays and a pwl_table over them. */
#include "c.h"

static const char *storage_constant(pwl_storage storage)
{
    static const char *const names[] = {"PWL_INT8", "PWL_INT16", "PWL_INT32"};
    return names[storage];
}

static const char *form_constant(pwl_form form)
{
    static const char *const names[] = {"PWL_ABSOLUTE", "PWL_BIASED", "PWL_ANCHORED"};
    return names[form];
}

static const char *rounding_constant(pwl_rounding rounding)
{
    static const char *const names[] = {"PWL_FLOOR", "PWL_HALF_UP", "PWL_HALF_AWAY", "PWL_HALF_EVEN"};
    return names[rounding];
}

static const char *flags_constant(unsigned flags)
{
    static const char *const names[] = {"0", "PWL_FLAG_UNSIGNED_X", "PWL_FLAG_FOLD",
                                        "PWL_FLAG_UNSIGNED_X | PWL_FLAG_FOLD"};
    return names[flags & (PWL_FLAG_UNSIGNED_X | PWL_FLAG_FOLD)];
}

/* Positional, because C++ before 20 has no designated initialisers; the order is pwl_table's. The version is a number
 * on purpose: the header holds the layout it was generated for, and an assertion compares it with the runtime's. */
static void add_fields(struct text *out, const struct c_table *c, const char *indent)
{
    const struct table *t = c->table;
    char zp_x[C_LITERAL_SIZE], qmin_x[C_LITERAL_SIZE], qmax_x[C_LITERAL_SIZE], sum[C_LITERAL_SIZE];
    text_add(out, "%s%d, /* version */\n", indent, PWL_TABLE_VERSION);
    text_add(out, "%s%s, /* storage */\n", indent, storage_constant(t->storage));
    text_add(out, "%s%s, /* form */\n", indent, form_constant(t->form));
    text_add(out, "%s%s, /* rounding */\n", indent, rounding_constant(t->rounding));
    text_add(out, "%s%s, /* flags */\n", indent, flags_constant(c->packed.table.flags));
    text_add(out, "%s%s_SEGMENTS, /* segments */\n", indent, c->upper);
    text_add(out, "%s%s_start, /* start */\n", indent, c->name);
    text_add(out, "%s%s_q_b, /* q_b */\n", indent, c->name);
    text_add(out, "%s%s_n, /* n */\n", indent, c->name);
    text_add(out, "%s%s_%s, /* offset */\n", indent, c->name, offset_name(t->form));
    if (t->has_reduction) {
        const pwl_table *core = &c->packed.table;
        text_add(out, "%s%s, /* zp_x */\n%s%s, %s, /* qmin_x, qmax_x */\n", indent, c_literal(core->zp_x, zp_x), indent,
                 c_literal(core->qmin_x, qmin_x), c_literal(core->qmax_x, qmax_x));
    } else {
        text_add(out, "%s%s_ZP_X, /* zp_x */\n", indent, c->upper);
        text_add(out, "%s%s_QMIN_X, %s_QMAX_X, /* qmin_x, qmax_x */\n", indent, c->upper, c->upper);
    }
    text_add(out, "%s%s_QMIN_Y, %s_QMAX_Y, /* qmin_y, qmax_y */\n", indent, c->upper, c->upper);
    text_add(out, "%s%s /* fold_sum */\n", indent, c_literal(t->has_fold ? t->fold_sum : 0, sum));
}

static void add_table(struct text *out, const struct c_table *c)
{
    if (!c->table->has_reduction) {
        text_add(out, "static const pwl_table %s = {\n", c->name);
        add_fields(out, c, "    ");
        text_add(out, "};\n");
        return;
    }
    text_add(out, "static const pwl_reduced %s = {\n", c->name);
    c_add_runtime_reduction(out, c);
    text_add(out, "    {\n");
    add_fields(out, c, "        ");
    text_add(out, "    }\n};\n");
}

void c_add_runtime_table(struct text *out, const struct c_table *c)
{
    c_add_constants(out, c);
    text_add(out, "\n");
    c_add_start(out, c);
    c_add_slope(out, c);
    c_add_shift(out, c);
    c_add_offset(out, c);
    text_add(out, "\n");
    add_table(out, c);
    text_add(out, "\n");
    c_add_assert_begin(out, c);
    text_add(out, "%s_ASSERT(PWL_TABLE_VERSION == %d, \"generated for version %d of pwl_table\");\n", c->upper,
             PWL_TABLE_VERSION, PWL_TABLE_VERSION);
    if (c->table->has_reduction)
        text_add(out, "%s_ASSERT(PWL_REDUCTION_VERSION == %d, \"generated for version %d of pwl_reduction\");\n",
                 c->upper, PWL_REDUCTION_VERSION, PWL_REDUCTION_VERSION);
    text_add(out, "%s_ASSERT(%s_SEGMENTS <= PWL_MAX_SEGMENTS, \"at most PWL_MAX_SEGMENTS segments\");\n", c->upper,
             c->upper);
    c_add_count_assert(out, c, "start");
    c_add_count_assert(out, c, "q_b");
    c_add_count_assert(out, c, "n");
    c_add_count_assert(out, c, offset_name(c->table->form));
    c_add_assert_end(out, c);
}
