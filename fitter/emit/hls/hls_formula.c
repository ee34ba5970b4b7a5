/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Formulas in C++. Operations of ap_int and ac_int grow as their values need, those of plain integers have room for
 * all: so every node is written as the number that it is, and cut to bits where the notation does.
 *
 *   Signed<N>, Bits<N>      types
 *   as_signed<N>(v)         the low N bits of v, two's complement
 *   as_bits<N>(v)           the low N bits of v, without a sign
 *   shifted_left(v, n)      v * 2^n, in the bits of v or more
 *   as_index(v)             an unsigned
 */
#include <inttypes.h>
#include <string.h>

#include "hls.h"

struct writer {
    struct text *out;
    bool failed;
};

static void put(struct writer *w, const struct formula *f);

static void put_number(struct writer *w, wide value)
{
    if (value > INT64_MAX || value < -INT64_MAX)
        text_add(w->out, "(shifted_left(as_signed<96>(%" PRId64 "LL), 32) + %" PRIu32 "u)", (int64_t)(value >> 32),
                 (uint32_t)value);
    else if (value > INT32_MAX || value < -INT32_MAX)
        text_add(w->out, value < 0 ? "(%" PRId64 "LL)" : "%" PRId64 "LL", (int64_t)value);
    else
        text_add(w->out, value < 0 ? "(%d)" : "%d", (int)value);
}

/* Whether a node is written as Bits<bits> itself. */
static bool is_bits(const struct formula *f, int bits)
{
    const bool is_part = f->kind == FORMULA_BIT || f->kind == FORMULA_SLICE || f->kind == FORMULA_CHOSEN;
    return f->bits == bits && (is_part || f->kind == FORMULA_JOINED || f->kind == FORMULA_LOOKUP ||
                               (f->kind == FORMULA_SIGNAL && !f->signal->is_signed && !f->signal->is_port));
}

/* The pattern of a node: what it is to operations on bits. */
static void put_bits(struct writer *w, const struct formula *f, int bits)
{
    if (is_bits(f, bits)) {
        put(w, f);
        return;
    }
    text_add(w->out, "as_bits<%d>(", bits);
    if (bits > f->bits && f->is_signed) /* its own bits first, without a sign */
        put_bits(w, f, f->bits);
    else
        put(w, f);
    text_add(w->out, ")");
}

/* In parentheses, where it is an operation. */
static void put_operand(struct writer *w, const struct formula *f)
{
    const bool is_plain = f->kind <= FORMULA_RESIZED;
    text_add(w->out, "%s", is_plain ? "" : "(");
    put(w, f);
    text_add(w->out, "%s", is_plain ? "" : ")");
}

static void put_reduced(struct writer *w, const struct formula *f)
{
    const bool is_and = strchr(f->operation, '&') != NULL, is_not = f->operation[0] == '~';
    w->failed |= strchr(f->operation, '^') != NULL;
    put_bits(w, f->first, f->first->bits);
    text_add(w->out, is_not != is_and ? " == " : " != ");
    if (is_and)
        put_number(w, (((wide)1 << (f->first->bits - 1)) - 1) * 2 + 1);
    else
        text_add(w->out, "0");
}

/* Numbers of both kinds of sign are compared as what has none. */
static void put_compared(struct writer *w, const struct formula *f)
{
    const struct formula *a = f->first, *b = f->second;
    const int bits = a->bits > b->bits ? a->bits : b->bits;
    if (a->is_signed == b->is_signed) {
        put_operand(w, a);
        text_add(w->out, " %s ", f->operation);
        put_operand(w, b);
    } else {
        put_bits(w, a, bits);
        text_add(w->out, " %s ", f->operation);
        put_bits(w, b, bits);
    }
}

/* Of one bit, what is decided by comparisons and by other bits. */
static bool is_logical(const struct formula *f)
{
    return f->kind == FORMULA_COMPARED || f->kind == FORMULA_REDUCED || f->kind == FORMULA_NOT ||
           (f->bits == 1 && !f->is_signed && (f->kind == FORMULA_UNARY || f->kind == FORMULA_BINARY));
}

static void put_condition(struct writer *w, const struct formula *f);

static void put_logical(struct writer *w, const struct formula *f)
{
    if (f->kind == FORMULA_COMPARED) {
        put_compared(w, f);
    } else if (f->kind == FORMULA_REDUCED) {
        put_reduced(w, f);
    } else if (f->kind == FORMULA_BINARY && strchr("&|", f->operation[0])) {
        put_condition(w, f->first);
        text_add(w->out, f->operation[0] == '&' ? " && " : " || ");
        put_condition(w, f->second);
    } else if (f->kind == FORMULA_BINARY) { /* ^, + and - of single bits are one */
        text_add(w->out, "(");
        put_condition(w, f->first);
        text_add(w->out, ") != (");
        put_condition(w, f->second);
        text_add(w->out, ")");
    } else {
        w->failed |= f->operation[0] == '-';
        text_add(w->out, "!(");
        put_condition(w, f->first);
        text_add(w->out, ")");
    }
}

static void put_condition(struct writer *w, const struct formula *f)
{
    const bool is_mixed = f->kind == FORMULA_BINARY; /* of what is around it */
    text_add(w->out, is_mixed ? "(" : "");
    if (is_logical(f)) {
        put_logical(w, f);
    } else {
        put_operand(w, f);
        text_add(w->out, " != 0");
    }
    text_add(w->out, is_mixed ? ")" : "");
}

static void put_selected(struct writer *w, const struct formula *f)
{
    text_add(w->out, "as_bits<%d>(%s", f->bits, f->signal->name);
    if (f->kind == FORMULA_CHOSEN) {
        text_add(w->out, " >> as_index(");
        put(w, f->first);
        text_add(w->out, ")");
    } else if (f->low > 0) {
        text_add(w->out, " >> %d", f->low);
    }
    text_add(w->out, ")");
}

static void put_joined(struct writer *w, const struct formula *f)
{
    int below = f->bits;
    bool is_first = true;
    text_add(w->out, "as_bits<%d>(", f->bits);
    for (const struct formula *part = f->first; part; part = part->next) {
        below -= part->bits;
        if (part->kind == FORMULA_NUMBER && part->value == 0)
            continue;
        text_add(w->out, is_first ? "" : " | ");
        is_first = false;
        text_add(w->out, below > 0 ? "shifted_left(" : "");
        put_bits(w, part, f->bits);
        if (below > 0)
            text_add(w->out, ", %d)", below);
    }
    text_add(w->out, is_first ? "0)" : ")");
}

static void put_repeated(struct writer *w, const struct formula *f)
{
    text_add(w->out, "as_bits<%d>((", f->bits);
    put_condition(w, f->first);
    text_add(w->out, ") ? ");
    put_number(w, (((wide)1 << (f->bits - 1)) - 1) * 2 + 1);
    text_add(w->out, " : 0)");
}

static void put_binary(struct writer *w, const struct formula *f)
{
    const bool is_of_bits = strchr("&^|", f->operation[0]) != NULL;
    if (is_of_bits)
        put_bits(w, f->first, f->bits);
    else
        put_operand(w, f->first);
    text_add(w->out, " %s ", f->operation);
    if (is_of_bits)
        put_bits(w, f->second, f->bits);
    else
        put_operand(w, f->second);
}

/* To the left within its own bits. */
static void put_shifted(struct writer *w, const struct formula *f)
{
    if (f->operation[0] == '<') {
        text_add(w->out, f->is_signed ? "shifted_left(as_signed<%d>(" : "shifted_left(as_bits<%d>(", f->bits);
        put(w, f->first);
        text_add(w->out, "), as_index(");
    } else {
        put_operand(w, f->first);
        text_add(w->out, " >> (as_index(");
    }
    put(w, f->second);
    text_add(w->out, "))");
}

static void put(struct writer *w, const struct formula *f)
{
    if (is_logical(f)) {
        put_logical(w, f);
        return;
    }
    switch (f->kind) {
    case FORMULA_NUMBER:
        put_number(w, f->value);
        break;
    case FORMULA_SIGNAL:
        text_add(w->out, "%s", f->signal->name);
        break;
    case FORMULA_BIT:
    case FORMULA_SLICE:
    case FORMULA_CHOSEN:
        put_selected(w, f);
        break;
    case FORMULA_LOOKUP:
        text_add(w->out, "%s(as_index(", f->rom);
        put(w, f->first);
        text_add(w->out, "))");
        break;
    case FORMULA_JOINED:
        put_joined(w, f);
        break;
    case FORMULA_REPEATED:
        put_repeated(w, f);
        break;
    case FORMULA_SIGNED:
        text_add(w->out, "as_signed<%d>(", f->bits);
        put(w, f->first);
        text_add(w->out, ")");
        break;
    case FORMULA_RESIZED: /* a number keeps its value */
        w->failed |= f->bits < f->first->bits;
        put(w, f->first);
        break;
    case FORMULA_UNARY:
        text_add(w->out, "%s", f->operation);
        put_operand(w, f->first);
        break;
    case FORMULA_BINARY:
        put_binary(w, f);
        break;
    case FORMULA_PRODUCT:
        put_operand(w, f->first);
        text_add(w->out, " * ");
        put_operand(w, f->second);
        break;
    case FORMULA_SHIFTED:
        put_shifted(w, f);
        break;
    case FORMULA_NOT: /* written as conditions */
    case FORMULA_REDUCED:
    case FORMULA_COMPARED:
    case FORMULA_CHOICE: /* only whole right sides choose */
        w->failed = true;
        break;
    }
}

static void put_whole(struct writer *w, const struct formula *f, bool is_signed, int bits)
{
    if (f->kind == FORMULA_SIGNED && (f->bits == bits || f->first->kind == FORMULA_LOOKUP))
        f = f->first;
    if (!is_signed) {
        put_bits(w, f, bits);
    } else {
        text_add(w->out, "as_signed<%d>(", bits);
        put(w, f);
        text_add(w->out, ")");
    }
}

bool hls_add_formula(struct text *out, const struct formula *formula, bool is_signed, int bits)
{
    struct writer w = {.out = out};
    /* What falls off at the left of more bits has not fallen off. */
    w.failed = formula->kind == FORMULA_SHIFTED && formula->operation[0] == '<' && formula->bits < bits;
    for (; formula->kind == FORMULA_CHOICE; formula = formula->third) {
        put_condition(&w, formula->first);
        text_add(out, " ? ");
        put_whole(&w, formula->second, is_signed, bits);
        text_add(out, " : ");
    }
    put_whole(&w, formula, is_signed, bits);
    return !w.failed;
}
