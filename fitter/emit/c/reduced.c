/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a reduced table adds to its core in C: the code before it, the code after it, and the runtime's structure. */
#include "c.h"

static const char *kind_constant(int kind)
{
    return kind == PWL_LEADING_ZEROS ? "PWL_LEADING_ZEROS" : "PWL_EXPONENT";
}

void c_add_runtime_reduction(struct text *out, const struct c_table *c)
{
    const pwl_reduction *reduction = &c->table->reduction;
    char text[C_LITERAL_SIZE];
    text_add(out, "    {\n        %d, /* version */\n        %s, /* kind */\n", PWL_REDUCTION_VERSION,
             kind_constant(reduction->kind));
    text_add(out, "        %d, /* log2_step */\n        %d, /* fraction */\n        %d, /* direction */\n",
             reduction->log2_step, reduction->fraction, reduction->direction);
    text_add(out, "        %d, /* shift */\n", reduction->shift);
    text_add(out, "        %s, /* factor */\n", c_literal(reduction->factor, text));
    text_add(out, "        %s, /* addend */\n", c_literal(reduction->addend, text));
    text_add(out, "        %s, /* below */\n", c_literal(reduction->below, text));
    text_add(out, "        %s_ZP_X, /* zp_x */\n        %s_QMIN_X, %s_QMAX_X, /* qmin_x, qmax_x */\n", c->upper,
             c->upper, c->upper);
    text_add(out, "        %s_ZP_Y /* zp_y */\n    },\n", c->upper);
}

/* The word of d and its octave r. The asserted arithmetic shift makes r a floor. */
static void add_leading_zeros(struct text *out, const struct c_table *c, const char *acc)
{
    const pwl_reduction *reduction = &c->table->reduction;
    char text[C_LITERAL_SIZE];
    text_add(out, "    if (d <= 0)\n        return %s;\n", c_literal(reduction->below, text));
    text_add(out,
             "    uint64_t rest = (uint64_t)d;\n"
             "    int left = %d - 1;\n"
             "    for (int step = 32; step > 0; step /= 2)\n"
             "        if (rest >> step) {\n"
             "            rest >>= step;\n"
             "            left -= step;\n"
             "        }\n",
             storage_bits(c->table->storage));
    text_add(out, "    const int r = left%s, up = r%s;\n", reduction->log2_step ? " >> 1" : "",
             reduction->log2_step ? " * 2" : "");
    text_add(out, "    const %s q = (%s)(up < 0 ? d >> -up : (int64_t)((uint64_t)d << up));\n", acc, acc);
}

static void add_exponent(struct text *out, const struct c_table *c, const char *acc)
{
    const pwl_reduction *reduction = &c->table->reduction;
    const int bits = storage_bits(c->table->storage), dropped = reduction->fraction - bits;
    char text[C_LITERAL_SIZE];
    if (dropped > 0)
        text_add(out, "    const int64_t z = (d * %s + ((int64_t)1 << %d)) >> %d, r = z >> %d;\n",
                 c_literal(reduction->factor, text), dropped - 1, dropped, bits);
    else
        text_add(out, "    const int64_t z = d * %s, r = z >> %d;\n", c_literal(reduction->factor, text), bits);
    text_add(out, "    const %s q = (%s)(z & %s);\n", acc, acc, c_literal(code_max(bits, false), text));
}

void c_add_word(struct text *out, const struct c_table *c, const char *acc)
{
    text_add(out, "    const int64_t d = code - %s_ZP_X;\n", c->upper);
    if (c->table->reduction.kind == PWL_LEADING_ZEROS)
        add_leading_zeros(out, c, acc);
    else
        add_exponent(out, c, acc);
}

/* As pwl_restore(). Clipped to 0..62: beyond, everything rounds to 0, and a left shift would saturate anyway. */
void c_add_restored(struct text *out, const struct c_table *c)
{
    const pwl_reduction *reduction = &c->table->reduction;
    char text[C_LITERAL_SIZE];
    if (reduction->direction == 0) {
        const int n = reduction->shift < 0 ? 0 : reduction->shift > 62 ? 62 : reduction->shift;
        text_add(out, "    int64_t y = v - r * %s;\n", c_literal(reduction->addend, text));
        if (n > 0)
            text_add(out, "    y = (y + ((int64_t)1 << %d)) >> %d;\n", n - 1, n);
    } else {
        text_add(out,
                 "    const int64_t shift = %s %c r;\n"
                 "    const int down = (int)(shift < 0 ? 0 : shift > 62 ? 62 : shift);\n"
                 "    int64_t y = v;\n"
                 "    if (down > 0)\n        y = (y + ((int64_t)1 << (down - 1))) >> down;\n",
                 c_literal(reduction->shift, text), reduction->direction > 0 ? '+' : '-');
    }
    text_add(out, "    y += %s_ZP_Y;\n", c->upper);
}
