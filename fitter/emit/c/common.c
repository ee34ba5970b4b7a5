/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "c.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *c_type(int bits, bool is_signed)
{
    if (bits <= 8)
        return is_signed ? "int8_t" : "uint8_t";
    if (bits <= 16)
        return is_signed ? "int16_t" : "uint16_t";
    if (bits <= 32)
        return is_signed ? "int32_t" : "uint32_t";
    return is_signed ? "int64_t" : "uint64_t";
}

/* A decimal literal takes the first type that holds it, and minus is an operator: -2147483648 is a long or a long
 * long, so the minima are written as sums. Beyond int32, INT64_C gives the same type on every target. */
static const char *bare_literal(int64_t value, char text[C_LITERAL_SIZE])
{
    if (value == INT64_MIN)
        snprintf(text, C_LITERAL_SIZE, "(-INT64_C(9223372036854775807) - 1)");
    else if (value == INT32_MIN)
        snprintf(text, C_LITERAL_SIZE, "(-2147483647 - 1)");
    else if (value > INT32_MAX)
        snprintf(text, C_LITERAL_SIZE, "INT64_C(%" PRId64 ")", value);
    else if (value < INT32_MIN)
        snprintf(text, C_LITERAL_SIZE, "-INT64_C(%" PRId64 ")", -value);
    else
        snprintf(text, C_LITERAL_SIZE, "%" PRId64, value);
    return text;
}

const char *c_literal(int64_t value, char text[C_LITERAL_SIZE])
{
    char bare[C_LITERAL_SIZE];
    bare_literal(value, bare);
    snprintf(text, C_LITERAL_SIZE, bare[0] == '-' ? "(%s)" : "%s", bare);
    return text;
}

void c_add_array_head(struct text *out, const char *attribute, const char *type, const char *name, const char *suffix)
{
    const bool is_qualifier = emit_is_address_space(attribute);
    const char *const before = is_qualifier ? attribute : "", *const behind = is_qualifier ? "" : attribute;
    text_add(out, "static const %s%s%s %s_%s%s%s = {", before, *before ? " " : "", type, name, suffix,
             *behind ? " " : "", behind);
}

void c_add_array(struct text *out, const struct c_table *c, const char *type, const char *suffix)
{
    const int count = c->table->segment_count;
    char text[C_LITERAL_SIZE];
    int width = 1, columns = 16;
    for (int i = 0; i < count; i++) {
        const int length = (int)strlen(bare_literal(c->column[i], text));
        width = length > width ? length : width;
    }
    while (columns > 1 && columns * (width + 2) + (int)strlen(c->indent) > 116)
        columns /= 2;
    text_add(out, "%s", c->indent);
    snprintf(text, sizeof text, "%s[]", suffix);
    c_add_array_head(out, c->attribute, type, c->name, text);
    text_add(out, "\n");
    for (int i = 0; i < count; i++) {
        const bool ends_row = (i + 1) % columns == 0 || i + 1 == count;
        if (i % columns == 0)
            text_add(out, "%s   ", c->indent);
        text_add(out, " %*s%s", width, bare_literal(c->column[i], text),
                 i + 1 == count ? "\n" : (ends_row ? ",\n" : ","));
    }
    text_add(out, "%s};\n", c->indent);
}

void c_add_start(struct text *out, const struct c_table *c)
{
    const struct table *t = c->table;
    for (int i = 0; i < t->segment_count; i++)
        c->column[i] = t->segments[i].start;
    c_add_array(out, c, c_type(storage_bits(t->storage), (c->packed.table.flags & PWL_FLAG_UNSIGNED_X) == 0), "start");
}

void c_add_slope(struct text *out, const struct c_table *c)
{
    const struct table *t = c->table;
    for (int i = 0; i < t->segment_count; i++)
        c->column[i] = t->segments[i].q_b;
    c_add_array(out, c, c_type(storage_bits(t->storage), true), "q_b");
}

void c_add_shift(struct text *out, const struct c_table *c)
{
    const struct table *t = c->table;
    for (int i = 0; i < t->segment_count; i++)
        c->column[i] = t->segments[i].n;
    c_add_array(out, c, "int8_t", "n");
}

void c_add_offset(struct text *out, const struct c_table *c)
{
    const struct table *t = c->table;
    for (int i = 0; i < t->segment_count; i++)
        c->column[i] = t->segments[i].offset;
    c_add_array(out, c, c_type(offset_bits(t->storage, t->form), true), offset_name(t->form));
}

void c_add_assert_begin(struct text *out, const struct c_table *c)
{
    text_add(out,
             "#ifdef __cplusplus\n#define %s_ASSERT static_assert\n#else\n#define %s_ASSERT _Static_assert\n#endif\n",
             c->upper, c->upper);
    text_add(
        out,
        "#define %s_COUNT(array) \\\n"
        "    %s_ASSERT(sizeof(array) / sizeof((array)[0]) == %s_SEGMENTS, #array \" needs one element per segment\")\n",
        c->upper, c->upper, c->upper);
}

void c_add_count_assert(struct text *out, const struct c_table *c, const char *suffix)
{
    text_add(out, "%s%s_COUNT(%s_%s);\n", c->indent, c->upper, c->name, suffix);
}

void c_add_assert_end(struct text *out, const struct c_table *c)
{
    text_add(out, "#undef %s_COUNT\n#undef %s_ASSERT\n", c->upper, c->upper);
}

static void add_constant(struct text *out, const struct c_table *c, const char *suffix, int64_t value)
{
    char text[C_LITERAL_SIZE];
    text_add(out, "#define %s_%s %s\n", c->upper, suffix, c_literal(value, text));
}

void c_add_constants(struct text *out, const struct c_table *c)
{
    const struct table *t = c->table;
    text_add(out, "/* x = scale_x * (q_x - ZP_X) with scale_x = %s, y = scale_y * (q_y - ZP_Y) with scale_y = %s */\n",
             t->in.scale.text, t->out.scale.text);
    add_constant(out, c, "SEGMENTS", t->segment_count);
    add_constant(out, c, "ZP_X", t->in.zero_point);
    add_constant(out, c, "QMIN_X", t->in.qmin);
    add_constant(out, c, "QMAX_X", t->in.qmax);
    add_constant(out, c, "ZP_Y", t->out.zero_point);
    add_constant(out, c, "QMIN_Y", t->out.qmin);
    add_constant(out, c, "QMAX_Y", t->out.qmax);
}
