/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formula.h"

#include <stdio.h>
#include <string.h>

#include "base/ascii.h"

struct reader {
    const char *at, *end;
    const struct declarations *declarations;
    struct formulas *formulas;
    bool failed;
};

static struct formula *read_choice(struct reader *r);

/* ---- words ---- */

static void skip_blanks(struct reader *r)
{
    while (r->at < r->end && *r->at == ' ')
        r->at++;
}

static bool looks_at(struct reader *r, const char *word)
{
    skip_blanks(r);
    return (size_t)(r->end - r->at) >= strlen(word) && memcmp(r->at, word, strlen(word)) == 0;
}

static bool take(struct reader *r, const char *word)
{
    if (!looks_at(r, word))
        return false;
    r->at += strlen(word);
    return true;
}

static void expect(struct reader *r, const char *word)
{
    r->failed |= !take(r, word);
}

static int read_integer(struct reader *r)
{
    int value = 0;
    skip_blanks(r);
    r->failed |= r->at >= r->end || !is_digit(*r->at);
    while (r->at < r->end && is_digit(*r->at) && value < 1000000)
        value = 10 * value + (*r->at++ - '0');
    return value;
}

/* ---- nodes ---- */

static struct formula *new_formula(struct reader *r, enum formula_kind kind, int bits, bool is_signed)
{
    if (r->formulas->count == FORMULA_MOST) { /* the last one serves until reading ends */
        r->failed = true;
        r->formulas->count--;
    }
    struct formula *f = &r->formulas->list[r->formulas->count++];
    *f = (struct formula){.kind = kind, .bits = bits, .is_signed = is_signed};
    return f;
}

static wide extended(wide value, int bits, bool is_signed)
{
    __extension__ typedef unsigned __int128 pattern;
    const pattern top = (pattern)value << (128 - bits);
    return is_signed ? (wide)top >> (128 - bits) : (wide)(top >> (128 - bits));
}

static struct formula *new_number(struct reader *r, int bits, bool is_signed, wide value)
{
    if (bits < 1 || bits > (is_signed ? 128 : 127)) {
        r->failed = true;
        bits = 1;
    }
    struct formula *f = new_formula(r, FORMULA_NUMBER, bits, is_signed);
    f->value = extended(value, bits, is_signed);
    return f;
}

static struct formula *new_operation(struct reader *r, enum formula_kind kind, const char *operation,
                                     const struct formula *first, const struct formula *second)
{
    struct formula *f = new_formula(r, kind, first->bits, first->is_signed);
    snprintf(f->operation, sizeof f->operation, "%s", operation);
    f->first = first;
    f->second = second;
    if (kind == FORMULA_BINARY || kind == FORMULA_PRODUCT) {
        f->bits = first->bits > second->bits ? first->bits : second->bits;
        f->is_signed = first->is_signed && second->is_signed;
    } else if (kind == FORMULA_COMPARED || kind == FORMULA_REDUCED || kind == FORMULA_NOT) {
        f->bits = 1;
        f->is_signed = false;
    }
    return f;
}

/* ---- what has no operation in front of it ---- */

/* Behind "12'": sd5, d5, shff, hff, b01, or (a) */
static struct formula *read_sized(struct reader *r, int bits)
{
    if (take(r, "(")) {
        const struct formula *inner = read_choice(r);
        expect(r, ")");
        struct formula *f = new_formula(r, FORMULA_RESIZED, bits, inner->is_signed);
        f->first = inner;
        return f;
    }
    const bool is_signed = take(r, "s");
    const int base = take(r, "d") ? 10 : take(r, "h") ? 16 : take(r, "b") ? 2 : 0;
    static const char digits[] = "0123456789abcdef";
    wide value = 0;
    r->failed |= base == 0;
    for (const char *digit; base && r->at < r->end && (digit = memchr(digits, *r->at, (size_t)base)) != NULL; r->at++)
        value = (wide)((__extension__(unsigned __int128) value) * (unsigned)base + (unsigned)(digit - digits));
    return new_number(r, bits, is_signed, value);
}

static struct formula *read_number(struct reader *r)
{
    const int value = read_integer(r);
    return take(r, "'") ? read_sized(r, value) : new_number(r, 32, true, value);
}

/* Behind "{": parts, or a number and the bit that is repeated so many times. */
static struct formula *read_joined(struct reader *r)
{
    struct formula *part = read_choice(r);
    if (take(r, "{")) {
        const struct formula *repeated = read_choice(r);
        wide value = 0;
        expect(r, "}");
        expect(r, "}");
        r->failed |= part->kind != FORMULA_NUMBER || part->value < 1 || part->value > 127 || repeated->bits != 1 ||
                     repeated->is_signed;
        const int count = r->failed ? 1 : (int)part->value;
        if (repeated->kind != FORMULA_NUMBER) {
            struct formula *f = new_formula(r, FORMULA_REPEATED, count, false);
            f->first = repeated;
            return f;
        }
        for (int k = 0; k < count; k++)
            value |= (repeated->value & 1) << k;
        return new_number(r, count, false, value);
    }
    struct formula *f = new_formula(r, FORMULA_JOINED, part->bits, false);
    f->first = part;
    while (take(r, ",")) {
        struct formula *next = read_choice(r);
        f->bits += next->bits;
        part->next = next;
        part = next;
    }
    expect(r, "}");
    return f;
}

/* Behind a signal: nothing, or [3], [7:0], [a]. */
static struct formula *read_selected(struct reader *r, const struct declared *signal)
{
    if (!take(r, "[")) {
        struct formula *whole = new_formula(r, FORMULA_SIGNAL, signal->bits, signal->is_signed);
        whole->signal = signal;
        return whole;
    }
    const struct formula *index = read_choice(r);
    struct formula *f = new_formula(r, FORMULA_CHOSEN, 1, false);
    f->signal = signal;
    f->first = index;
    if (index->kind == FORMULA_NUMBER) {
        f->kind = FORMULA_BIT;
        f->high = f->low = (int)index->value;
        if (take(r, ":")) {
            f->low = read_integer(r);
            f->kind = f->low == f->high ? FORMULA_BIT : FORMULA_SLICE;
            f->bits = f->high - f->low + 1;
        }
        r->failed |= f->low > f->high || f->high >= signal->bits;
    }
    expect(r, "]");
    return f;
}

static struct formula *read_lookup(struct reader *r, const char *name, size_t length)
{
    struct formula *f = new_formula(r, FORMULA_LOOKUP, 0, false);
    const bool is_memory = take(r, "[");
    if (!is_memory)
        expect(r, "(");
    snprintf(f->rom, sizeof f->rom, "%.*s", (int)length, name);
    f->first = read_choice(r);
    expect(r, is_memory ? "]" : ")");
    return f;
}

static struct formula *read_name(struct reader *r)
{
    const char *name = r->at;
    while (r->at < r->end && (is_letter(*r->at) || is_digit(*r->at)))
        r->at++;
    const size_t length = (size_t)(r->at - name);
    if (length > 4 && memcmp(name + length - 4, "_rom", 4) == 0)
        return read_lookup(r, name, length);
    const struct declared *signal = declared_find(r->declarations, name, length);
    if (signal)
        return read_selected(r, signal);
    r->failed = true;
    return new_number(r, 1, false, 0);
}

static struct formula *read_operand(struct reader *r)
{
    skip_blanks(r);
    if (r->failed || r->at >= r->end) {
        r->failed = true;
        return new_number(r, 1, false, 0);
    }
    if (take(r, "(")) {
        struct formula *f = read_choice(r);
        expect(r, ")");
        return f;
    }
    if (take(r, "$signed(")) {
        struct formula *f = new_operation(r, FORMULA_SIGNED, "", read_choice(r), NULL);
        f->is_signed = true;
        expect(r, ")");
        return f;
    }
    if (take(r, "{"))
        return read_joined(r);
    return is_digit(*r->at) ? read_number(r) : read_name(r);
}

/* ---- operations, the tightest first ---- */

static struct formula *read_unary(struct reader *r)
{
    static const char *const reductions[] = {"~&", "~|", "~^", "&", "|", "^"};
    for (size_t k = 0; k < sizeof reductions / sizeof *reductions; k++)
        if (take(r, reductions[k]))
            return new_operation(r, FORMULA_REDUCED, reductions[k], read_unary(r), NULL);
    if (take(r, "!"))
        return new_operation(r, FORMULA_NOT, "!", read_unary(r), NULL);
    if (take(r, "~"))
        return new_operation(r, FORMULA_UNARY, "~", read_unary(r), NULL);
    if (!take(r, "-"))
        return read_operand(r);
    const struct formula *f = read_unary(r);
    return f->kind == FORMULA_NUMBER ? new_number(r, f->bits, f->is_signed, -f->value)
                                     : new_operation(r, FORMULA_UNARY, "-", f, NULL);
}

static const struct level {
    enum formula_kind kind;
    const char *operations[5]; /* longer ones before what they begin with */
} levels[] = {
    {FORMULA_BINARY, {"|"}},
    {FORMULA_BINARY, {"^"}},
    {FORMULA_BINARY, {"&"}},
    {FORMULA_COMPARED, {"=="}},
    {FORMULA_COMPARED, {"<=", ">=", "<", ">"}},
    {FORMULA_SHIFTED, {"<<<", ">>>", "<<"}},
    {FORMULA_BINARY, {"+", "-"}},
    {FORMULA_PRODUCT, {"*"}},
};

static const char *take_operation(struct reader *r, const struct level *level)
{
    if (level->kind == FORMULA_COMPARED && (looks_at(r, "<<") || looks_at(r, ">>")))
        return NULL;
    for (int k = 0; level->operations[k]; k++)
        if (take(r, level->operations[k]))
            return level->operations[k];
    return NULL;
}

static struct formula *read_level(struct reader *r, size_t level)
{
    if (level == sizeof levels / sizeof *levels)
        return read_unary(r);
    struct formula *f = read_level(r, level + 1);
    for (const char *operation; (operation = take_operation(r, &levels[level])) != NULL;)
        f = new_operation(r, levels[level].kind, operation, f, read_level(r, level + 1));
    return f;
}

static struct formula *read_choice(struct reader *r)
{
    struct formula *condition = read_level(r, 0);
    if (r->failed || !take(r, "?"))
        return condition;
    const struct formula *yes = read_choice(r);
    expect(r, ":");
    const struct formula *no = read_choice(r);
    struct formula *f =
        new_formula(r, FORMULA_CHOICE, yes->bits > no->bits ? yes->bits : no->bits, yes->is_signed && no->is_signed);
    f->first = condition;
    f->second = yes;
    f->third = no;
    return f;
}

const struct declared *declared_find(const struct declarations *declarations, const char *name, size_t length)
{
    for (int i = 0; i < declarations->count; i++) {
        const char *known = declarations->list[i].name;
        if (strlen(known) == length && memcmp(known, name, length) == 0)
            return &declarations->list[i];
    }
    return NULL;
}

const struct formula *formula_read(const char *text, size_t length, const struct declarations *declarations,
                                   struct formulas *formulas)
{
    struct reader r = {.at = text, .end = text + length, .declarations = declarations, .formulas = formulas};
    formulas->count = 0;
    const struct formula *f = read_choice(&r);
    skip_blanks(&r);
    return r.failed || r.at < r.end ? NULL : f;
}
