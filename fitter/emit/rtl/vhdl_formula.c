/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Formulas in VHDL, where types are kept apart that are one in Verilog: a bit (std_logic), what it is when it decides
 * (boolean), numbers with and without a sign (numeric_std), and the vectors of ports. Every node is written as the type
 * and width that its place asks for.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vhdl.h"

enum type { CONDITION, BIT, UNSIGNED, SIGNED, PORT };

struct form {
    enum type type;
    int bits; /* 1 of a condition or bit */
};

static const char *const type_names[] = {"boolean", "std_logic", "unsigned", "signed", "std_logic_vector"};

struct writer {
    struct text *out;
    bool failed;
};

static void put(struct writer *w, const struct formula *f, struct form form);

static enum type type_of(const struct declared *declared)
{
    return declared->is_port ? PORT : declared->is_signed ? SIGNED : declared->bits == 1 ? BIT : UNSIGNED;
}

const char *vhdl_type(const struct declared *declared, char text[VHDL_TYPE_TEXT])
{
    const enum type type = type_of(declared);
    if (type == BIT)
        return type_names[BIT];
    snprintf(text, VHDL_TYPE_TEXT, "%s(%d downto 0)", type_names[type], declared->bits - 1);
    return text;
}

/* The type in which a number is computed. */
static struct form number_form(bool is_signed, int bits)
{
    return (struct form){is_signed ? SIGNED : UNSIGNED, bits};
}

/* ---- from one form to another ---- */

static void put_text(struct writer *w, const char *text, struct form from, struct form to, bool is_signed)
{
    if (from.type == to.type && from.bits == to.bits) {
        text_add(w->out, "%s", text);
    } else if (to.type == CONDITION && from.type == BIT) {
        text_add(w->out, "%s = '1'", text);
    } else if (to.type == BIT && from.type != CONDITION && from.bits == 1) {
        text_add(w->out, "%s(0)", text);
    } else if (from.type == CONDITION || to.type == CONDITION || to.type == BIT) {
        w->failed = true;
    } else if (from.type == BIT) {
        struct text vector = {0};
        text_add(&vector, "unsigned'(0 => %s)", text);
        w->failed |= vector.failed;
        if (vector.bytes)
            put_text(w, vector.bytes, (struct form){UNSIGNED, 1}, to, is_signed);
        text_free(&vector);
    } else if (from.bits == to.bits) {
        text_add(w->out, "%s(%s)", type_names[to.type], text);
    } else {
        /* Widened as its sign says; what is shortened loses its upper bits, which resize() does of what has no sign. */
        const enum type resized = is_signed && to.bits > from.bits ? SIGNED : UNSIGNED;
        if (to.type != resized)
            text_add(w->out, "%s(", type_names[to.type]);
        text_add(w->out, from.type == resized ? "resize(%s%s" : "resize(%s(%s)",
                 from.type == resized ? "" : type_names[resized], text);
        text_add(w->out, ", %d)%s", to.bits, to.type == resized ? "" : ")");
    }
}

/* Writes the node as it is, and brings that to the form. */
static void put_from(struct writer *w, const struct formula *f, struct form from, struct form to,
                     void (*write)(struct writer *w, const struct formula *f, struct form form))
{
    struct text text = {0};
    struct writer inner = {.out = &text};
    write(&inner, f, from);
    w->failed |= inner.failed || text.failed;
    if (text.bytes)
        put_text(w, text.bytes, from, to, f->is_signed);
    text_free(&text);
}

/* ---- nodes ---- */

static void write_natural(struct writer *w, const struct formula *f)
{
    if (f->kind == FORMULA_NUMBER) {
        text_add(w->out, "%d", (int)f->value);
        return;
    }
    text_add(w->out, "to_integer(");
    put(w, f, (struct form){UNSIGNED, f->bits});
    text_add(w->out, ")");
}

static void write_signal(struct writer *w, const struct formula *f, struct form form)
{
    (void)form;
    text_add(w->out, "%s", f->signal->name);
    if (f->kind == FORMULA_BIT && (f->signal->bits > 1 || f->signal->is_signed))
        text_add(w->out, "(%d)", f->high);
    if (f->kind == FORMULA_SLICE)
        text_add(w->out, "(%d downto %d)", f->high, f->low);
    if (f->kind == FORMULA_CHOSEN) {
        text_add(w->out, "(");
        write_natural(w, f->first);
        text_add(w->out, ")");
    }
}

static void write_lookup(struct writer *w, const struct formula *f, struct form form)
{
    (void)form;
    text_add(w->out, "%s(", f->rom);
    write_natural(w, f->first);
    text_add(w->out, ")");
}

/* 5 where an operation takes one, else to_signed(5, 16), and beyond 31 bits signed'(40x"ff00ff00ff"). */
static bool is_short(wide value)
{
    return value >= INT32_MIN + 1 && value <= INT32_MAX;
}

static void put_number(struct writer *w, const struct formula *f, struct form form)
{
    __extension__ typedef unsigned __int128 pattern;
    const pattern low = (pattern)f->value << (128 - form.bits);
    const wide value = form.type == SIGNED ? (wide)low >> (128 - form.bits) : (wide)(low >> (128 - form.bits));
    if (form.type == BIT || form.type == CONDITION) {
        text_add(w->out, form.type == BIT ? "'%d'" : "%d = 1", (int)(f->value & 1));
        return;
    }
    if (is_short(value)) {
        text_add(w->out, "to_%s(%d, %d)", type_names[form.type], (int)value, form.bits);
        return;
    }
    text_add(w->out, "%s'(%dx\"", type_names[form.type], form.bits);
    for (int digit = (form.bits + 3) / 4 - 1; digit >= 0; digit--)
        text_add(w->out, "%x", (unsigned)(low >> (128 - form.bits) >> (4 * digit)) & 15u);
    text_add(w->out, "\")");
}

static void put_operand(struct writer *w, const struct formula *f, struct form form);

/* Parts of a whole that is a number with or without a sign; where only the whole says which, `is_qualified`. */
static void put_parts(struct writer *w, const struct formula *f, enum type type, bool is_qualified)
{
    if (is_qualified)
        text_add(w->out, "%s'(", type_names[type]);
    for (const struct formula *part = f->first; part; part = part->next) {
        if (part->kind == FORMULA_NUMBER) {
            text_add(w->out, part->bits == 1 ? "'" : "\"");
            for (int bit = part->bits - 1; bit >= 0; bit--)
                text_add(w->out, "%d", (int)(part->value >> bit) & 1);
            text_add(w->out, part->bits == 1 ? "'" : "\"");
        } else {
            const bool is_bit = part->bits == 1 && !part->is_signed;
            put_operand(w, part, (struct form){is_bit ? BIT : type, part->bits});
        }
        text_add(w->out, "%s", part->next ? " & " : "");
    }
    if (is_qualified)
        text_add(w->out, ")");
}

static void write_joined(struct writer *w, const struct formula *f, struct form form)
{
    put_parts(w, f, form.type, true);
}

static void put_joined(struct writer *w, const struct formula *f, struct form form)
{
    if (!f->first->next)
        put(w, f->first, form);
    else if (form.type == SIGNED && form.bits == f->bits)
        write_joined(w, f, form);
    else
        put_from(w, f, (struct form){UNSIGNED, f->bits}, form, write_joined);
}

/* unsigned'(6 downto 0 => a) */
static void write_repeated(struct writer *w, const struct formula *f, struct form form)
{
    text_add(w->out, "%s'(%d downto 0 => ", type_names[form.type], f->bits - 1);
    put(w, f->first, (struct form){BIT, 1});
    text_add(w->out, ")");
}

static bool is_leaf(const struct formula *f)
{
    return f->kind <= FORMULA_RESIZED;
}

/* What an operation takes, in parentheses where it is one itself. */
static void put_operand(struct writer *w, const struct formula *f, struct form form)
{
    const bool is_plain = is_leaf(f) && form.type != CONDITION;
    /* Widened with the sign that the whole has, which is its own but in mixtures. */
    w->failed |= is_leaf(f) && f->bits < form.bits && f->is_signed != (form.type == SIGNED);
    text_add(w->out, "%s", is_plain ? "" : "(");
    put(w, f, form);
    text_add(w->out, "%s", is_plain ? "" : ")");
}

/* The right operand of a sum or comparison, where a short number is written as such. */
static void put_right_operand(struct writer *w, const struct formula *f, const struct formula *left, struct form form)
{
    const bool is_kept = f->value >= 0 || form.type == SIGNED;
    if (f->kind == FORMULA_NUMBER && left->kind != FORMULA_NUMBER && is_short(f->value) && is_kept &&
        (form.type == SIGNED || form.type == UNSIGNED))
        text_add(w->out, f->value < 0 ? "(%d)" : "%d", (int)f->value);
    else
        put_operand(w, f, form);
}

static const char *word_of(const char *operation)
{
    static const char *const words[][2] = {{"&", "and"}, {"|", "or"},    {"~&", "nand"}, {"~|", "nor"},
                                           {"^", "xor"}, {"~^", "xnor"}, {"==", "="},    {"~", "not"}};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strcmp(words[k][0], operation) == 0)
            return words[k][1];
    return operation;
}

static void write_unary(struct writer *w, const struct formula *f, struct form form)
{
    const bool is_minus = f->operation[0] == '-';
    w->failed |= is_minus && form.type != SIGNED;
    text_add(w->out, is_minus ? "-" : "not ");
    put_operand(w, f->first, form);
}

static void write_binary(struct writer *w, const struct formula *f, struct form form)
{
    const bool is_sum = f->operation[0] == '+' || f->operation[0] == '-'; /* of single bits the same as ^ */
    put_operand(w, f->first, form);
    text_add(w->out, " %s ", is_sum && form.type == BIT ? "xor" : word_of(f->operation));
    put_right_operand(w, f->second, f->first, form);
}

static void write_product(struct writer *w, const struct formula *f, struct form form)
{
    put_operand(w, f->first, (struct form){form.type, f->first->bits});
    text_add(w->out, " * ");
    put_operand(w, f->second, (struct form){form.type, f->second->bits});
}

static void write_shifted(struct writer *w, const struct formula *f, struct form form)
{
    text_add(w->out, f->operation[0] == '<' ? "shift_left(" : "shift_right(");
    put(w, f->first, form);
    text_add(w->out, ", ");
    write_natural(w, f->second);
    text_add(w->out, ")");
}

static void write_compared(struct writer *w, const struct formula *f, struct form form)
{
    const struct formula *a = f->first, *b = f->second;
    (void)form;
    const struct form operands = number_form(a->is_signed && b->is_signed, a->bits > b->bits ? a->bits : b->bits);
    put_operand(w, a, operands);
    text_add(w->out, " %s ", word_of(f->operation));
    put_right_operand(w, b, a, operands);
}

static void write_reduced(struct writer *w, const struct formula *f, struct form form)
{
    const struct formula *a = f->first;
    (void)form;
    if (a->bits == 1 && !a->is_signed) { /* of one bit, the bit or its opposite */
        text_add(w->out, f->operation[0] == '~' ? "not " : "");
        put_operand(w, a, (struct form){BIT, 1});
        return;
    }
    text_add(w->out, "%s ", word_of(f->operation));
    put_operand(w, a,
                number_form(a->kind == FORMULA_SIGNAL || a->kind == FORMULA_SLICE ? a->signal->is_signed : a->is_signed,
                            a->bits));
}

/* Whether a comparison decides it. */
static bool is_condition(const struct formula *f)
{
    if (f->kind == FORMULA_COMPARED)
        return true;
    if (f->kind == FORMULA_NOT)
        return is_condition(f->first);
    if (f->bits != 1 || (f->kind != FORMULA_BINARY && f->kind != FORMULA_UNARY))
        return false;
    return is_condition(f->first) || (f->second && is_condition(f->second));
}

/* Operations are computed as bits, conditions or numbers of the width that is asked for. */
static void put_operation(struct writer *w, const struct formula *f, struct form form,
                          void (*write)(struct writer *w, const struct formula *f, struct form form))
{
    struct form own = number_form(f->is_signed, form.bits > f->bits ? form.bits : f->bits);
    if (f->bits == 1 && !f->is_signed && own.bits == 1)
        own.type = form.type == CONDITION && is_condition(f) ? CONDITION : BIT;
    put_from(w, f, own, form, write);
}

/* The signal that takes a product is wide enough for each: so its sign may be kept when it is shortened. */
static void put_product(struct writer *w, const struct formula *f, struct form form)
{
    const struct form own = number_form(f->is_signed, f->first->bits + f->second->bits);
    if (own.type == form.type && own.bits != form.bits) {
        text_add(w->out, "resize(");
        write_product(w, f, own);
        text_add(w->out, ", %d)", form.bits);
    } else {
        put_from(w, f, own, form, write_product);
    }
}

static void put(struct writer *w, const struct formula *f, struct form form)
{
    switch (f->kind) {
    case FORMULA_NUMBER:
        put_number(w, f, form);
        break;
    case FORMULA_SIGNAL:
    case FORMULA_SLICE:
        put_from(w, f, (struct form){type_of(f->signal), f->bits}, form, write_signal);
        break;
    case FORMULA_BIT:
    case FORMULA_CHOSEN:
        put_from(w, f, (struct form){BIT, 1}, form, write_signal);
        break;
    case FORMULA_LOOKUP: /* of as many bits as it is asked for */
        put_from(w, f, (struct form){UNSIGNED, form.bits}, form, write_lookup);
        break;
    case FORMULA_JOINED:
        put_joined(w, f, form);
        break;
    case FORMULA_REPEATED:
        put_from(w, f, (struct form){UNSIGNED, f->bits}, form, write_repeated);
        break;
    case FORMULA_SIGNED:
        /* Within the same bits, what it holds is asked for them itself. */
        if (f->bits == form.bits || f->first->kind == FORMULA_LOOKUP)
            put(w, f->first, form);
        else
            put_from(w, f, (struct form){SIGNED, f->bits}, form, put);
        break;
    case FORMULA_RESIZED:
        if (f->bits == form.bits)
            put(w, f->first, form);
        else
            put_from(w, f, number_form(f->is_signed, f->bits), form, put);
        break;
    case FORMULA_UNARY:
        put_operation(w, f, form, write_unary);
        break;
    case FORMULA_NOT:
        put_from(w, f, (struct form){form.type == CONDITION ? CONDITION : BIT, 1}, form, write_unary);
        break;
    case FORMULA_REDUCED:
        put_from(w, f, (struct form){BIT, 1}, form, write_reduced);
        break;
    case FORMULA_BINARY:
        put_operation(w, f, form, write_binary);
        break;
    case FORMULA_PRODUCT:
        put_product(w, f, form);
        break;
    case FORMULA_SHIFTED:
        put_operation(w, f, form, write_shifted);
        break;
    case FORMULA_COMPARED:
        put_from(w, f, (struct form){CONDITION, 1}, form, write_compared);
        break;
    case FORMULA_CHOICE: /* only whole right sides choose */
        w->failed = true;
        break;
    }
}

/* ---- assignments ---- */

/* The whole right side, where a type is known without naming it. */
static void put_whole(struct writer *w, const struct formula *f, struct form form)
{
    if (f->kind == FORMULA_SIGNED && (f->bits == form.bits || f->first->kind == FORMULA_LOOKUP))
        f = f->first;
    if (f->kind == FORMULA_JOINED && f->first->next && f->bits == form.bits && form.type != PORT && form.type != BIT) {
        put_parts(w, f, form.type, false);
    } else if (form.type == BIT && is_condition(f)) {
        text_add(w->out, "'1' when ");
        put(w, f, (struct form){CONDITION, 1});
        text_add(w->out, " else '0'");
    } else {
        put(w, f, form);
    }
}

bool vhdl_add_assignment(struct text *out, const struct declared *target, int bit, const struct formula *formula)
{
    const struct form form = {bit >= 0 ? BIT : type_of(target), bit >= 0 ? 1 : target->bits};
    struct writer w = {.out = out};
    text_add(out, "  %s", target->name);
    if (bit >= 0)
        text_add(out, "(%d)", bit);
    text_add(out, " <= ");
    for (; formula->kind == FORMULA_CHOICE; formula = formula->third) {
        /* Where they differ in width, the sign of all would widen them. */
        w.failed |=
            formula->second->is_signed != formula->third->is_signed && formula->second->bits != formula->third->bits;
        put_whole(&w, formula->second, form);
        text_add(out, " when ");
        put(&w, formula->first, (struct form){CONDITION, 1});
        text_add(out, " else ");
    }
    put_whole(&w, formula, form);
    text_add(out, ";\n");
    return !w.failed;
}
