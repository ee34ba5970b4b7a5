/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The line of a segment: its fields out of the ROM, slope * X, then shift, rounding and offset. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "body.h"

/* The fields: of all segments; of anchored ones; of slopes that are multiplied; of slopes that are sums of shifts:
 *   slope * X = (2^high +- 2^low) * (+-X, or 0)
 */
enum { OFFSET, AMOUNT, ANCHOR, SLOPE, HIGH, LOW, NEGATIVE, NONZERO, PAIRED, SUBTRACTED };

static const struct {
    const char *name;
    bool is_number; /* else a vector of bits */
} kinds[FIELDS] = {{"offset", true}, {"amount", false},   {"anchor", false},  {"slope", true},   {"high", false},
                   {"low", false},   {"negative", false}, {"nonzero", false}, {"paired", false}, {"subtracted", false}};

/* ---- fields ---- */

static int make_field(struct body *b, struct field fields[FIELDS], int which, struct diag *diag)
{
    struct field *field = &fields[which];
    field->name = kinds[which].name;
    field->is_number = kinds[which].is_number;
    field->values = calloc((size_t)b->lines.count, sizeof *field->values);
    return field->values ? EXIT_DONE : diag_set(diag, EXIT_IO, "out of memory for %d segments", b->lines.count);
}

static void set_range(struct field *field, int count)
{
    field->low = field->high = field->values[0];
    for (int i = 1; i < count; i++) {
        field->low = smaller_wide(field->values[i], field->low);
        field->high = larger_wide(field->values[i], field->high);
    }
    field->bits = field_bits(field->low, field->high);
}

/*
 * X of anchored segments counts from 0 to a number of `bits` bits, so that it is a difference modulo 2^bits. Every
 * start is a multiple of 2^zeros: an anchor is the bits between, and the bits below are those of the code.
 *
 *   code   | .......... | bits - zeros | zeros |
 *   anchor              | bits - zeros | 0...0 |
 */
struct anchors {
    int bits, zeros;
};

static struct anchors anchors_of(const struct body *b)
{
    wide longest = 1, starts = 0;
    for (int i = 0; i < b->lines.count; i++) {
        longest = larger_wide(longest, b->lines.lines[i].x_high);
        starts |= b->lines.lines[i].start;
    }
    struct anchors anchors = {.bits = unsigned_bits(longest)};
    while (anchors.zeros < anchors.bits && ((starts >> anchors.zeros) & 1) == 0)
        anchors.zeros++;
    return anchors;
}

/* Shifts are counted from the smallest, which is wired; those of terms that are not there are that one. */
static void set_terms(struct body *b, struct field fields[FIELDS])
{
    b->high = b->low = 127;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < b->lines.count; i++) {
            struct terms terms;
            slope_terms(b->lines.lines[i].slope, &terms);
            const bool first = terms.sign != 0, second = first && terms.second != 0;
            if (first && terms.high < b->high)
                b->high = terms.high;
            if (second && terms.low < b->low)
                b->low = terms.low;
            if (pass == 0)
                continue;
            fields[HIGH].values[i] = first ? terms.high - b->high : 0;
            fields[LOW].values[i] = second ? terms.low - b->low : 0;
            fields[NEGATIVE].values[i] = terms.sign < 0;
            fields[NONZERO].values[i] = first;
            fields[PAIRED].values[i] = second;
            fields[SUBTRACTED].values[i] = terms.second < 0;
        }
}

static int make_fields(struct body *b, struct field fields[FIELDS], struct diag *diag)
{
    const struct anchors anchors = anchors_of(b);
    const wide anchor_mask = ((wide)1 << (anchors.bits - anchors.zeros)) - 1;
    const bool anchored = b->table->form == PWL_ANCHORED && anchor_mask != 0 && !search_gives_starts(b);
    for (int which = 0; which < FIELDS; which++) {
        if ((which == SLOPE && b->lines.few_terms) || (which >= HIGH && !b->lines.few_terms) ||
            (which == ANCHOR && !anchored))
            continue;
        if (make_field(b, fields, which, diag) != EXIT_DONE)
            return diag->code;
        for (int i = 0; i < b->lines.count; i++) {
            const struct line *line = &b->lines.lines[i];
            const wide values[FIELDS] = {line->offset, line->amount, (line->start >> anchors.zeros) & anchor_mask,
                                         line->slope};
            fields[which].values[i] = values[which];
        }
    }
    if (b->lines.few_terms)
        set_terms(b, fields);
    int width = 0;
    for (int which = FIELDS - 1; which >= 0; which--) {
        if (!fields[which].values)
            continue;
        set_range(&fields[which], b->lines.count);
        fields[which].lowest_bit = width;
        width += fields[which].bits;
    }
    if (width == 0)
        return EXIT_DONE;
    if (rom_make(&b->m->rom, b->lines.count, width, diag) != EXIT_DONE)
        return diag->code;
    for (int which = 0; which < FIELDS; which++)
        for (int i = 0; fields[which].values && i < b->lines.count; i++)
            rom_put(&b->m->rom, i, fields[which].lowest_bit, fields[which].bits, fields[which].values[i]);
    return EXIT_DONE;
}

static void add_layout(struct text *out, const struct field *field)
{
    if (field->bits > 0)
        text_add(out, "%s%s[%d:%d]%s", out->size > 0 ? ", " : "", field->name, field->lowest_bit + field->bits - 1,
                 field->lowest_bit, field->low < 0 ? " signed" : "");
}

static void add_field(struct body *b, struct field *field)
{
    char constant[CONSTANT_TEXT], slice[CONSTANT_TEXT] = "";
    struct text *out = pipeline_part(b->p);
    if (field->is_number)
        field->signal = pipeline_value(b->p, field->name, 0, field->low, field->high);
    else
        field->signal = pipeline_bits(b->p, field->name, field->bits);
    if (field->bits == 0) {
        text_add(out, "  assign %s = %s;\n", field->name, signed_constant(field->signal.bits, field->low, constant));
        return;
    }
    if (b->m->rom.width > 1)
        snprintf(slice, sizeof slice, field->bits == 1 ? "[%d]" : "[%d:%d]", field->lowest_bit + field->bits - 1,
                 field->lowest_bit);
    text_add(out,
             field->is_number && field->low >= 0 ? "  assign %s = $signed({1'b0, word%s});\n"
             : field->is_number                  ? "  assign %s = $signed(word%s);\n"
                                                 : "  assign %s = word%s;\n",
             field->name, slice);
}

/* ---- X ---- */

/* The bits of the segment's anchor: of its number, of the ROM, or those of all segments. */
static void add_anchor(struct body *b, struct field *anchor, int bits)
{
    struct text *out = pipeline_part(b->p);
    char name[SIGNAL_TEXT];
    struct signal *signal = search_gives_starts(b) ? &b->segment : &anchor->signal;
    if (!search_gives_starts(b) && anchor->bits == 0) {
        text_add(out, "%d'd%" PRIu64, bits, (uint64_t)anchor->low);
        return;
    }
    signal_use(b->p, signal, name);
    if (signal->bits > bits)
        text_add(out, bits == 1 ? "%s[0]" : "%s[%d:0]", name, bits - 1);
    else if (signal->bits < bits)
        text_add(out, "{%d'd0, %s}", bits - signal->bits, name);
    else
        text_add(out, "%s", name);
}

static void add_anchored_x(struct body *b, struct field fields[FIELDS])
{
    struct pipeline *p = b->p;
    const struct anchors anchors = anchors_of(b);
    const bool is_searched = b->lines.count > 1 && b->code.copied == p->stages; /* in this part */
    const int blocks = anchors.bits - anchors.zeros;
    struct text *out = pipeline_part(p);
    char code[SIGNAL_TEXT], range[CONSTANT_TEXT];
    wide high = 0;
    for (int i = 0; i < b->lines.count; i++)
        high = larger_wide(high, b->lines.lines[i].x_high);
    signal_use(p, &b->code, code);
    if (blocks > 0) {
        text_add(out, "  %s %sblocks;\n  assign blocks = %s[%d:%d] - ", b->m->dialect->net, bit_range(blocks, range),
                 code, anchors.bits - 1, anchors.zeros);
        add_anchor(b, &fields[ANCHOR], blocks);
        text_add(out, ";\n");
    }
    b->x = pipeline_value(p, "x_offset", anchors.bits + 1, 0, high);
    text_add(out, "  assign x_offset = $signed({1'b0%s", blocks > 0 ? ", blocks" : "");
    if (anchors.zeros > 0)
        text_add(out, ", %s[%d:0]", code, anchors.zeros - 1);
    text_add(out, "});\n");
    if (!is_searched && b->code.bits > anchors.bits)
        pipeline_drop(p, &b->code, b->code.bits - 1, anchors.bits);
}

static void add_x(struct body *b, struct field fields[FIELDS])
{
    if (b->table->form == PWL_ANCHORED) {
        add_anchored_x(b, fields);
        return;
    }
    b->x = b->code;
    if (b->lines.zero != 0)
        b->x = pipeline_sum(b->p, "x_offset", &b->code, -b->lines.zero);
}

int add_fields(struct body *b, struct field fields[FIELDS], struct diag *diag)
{
    struct pipeline *p = b->p;
    char segment[SIGNAL_TEXT];
    if (make_fields(b, fields, diag) != EXIT_DONE)
        return diag->code;
    if (b->m->rom.width > 0) {
        pipeline_bits(p, "word", b->m->rom.width);
        text_add(pipeline_part(p), "  assign word = ");
        module_add_lookup(b->m, signal_use(p, &b->segment, segment));
    }
    for (int which = 0; which < FIELDS; which++)
        add_layout(&b->m->layout, &fields[which]);
    for (int which = 0; which < FIELDS; which++)
        if (fields[which].bits > 0 || (fields[which].values && fields[which].is_number))
            add_field(b, &fields[which]);
    add_x(b, fields);
    return EXIT_DONE;
}

/* ---- product ---- */

struct range {
    wide low, high;
};

/* What segments compute, step by step. */
enum step { PRODUCT, SCALED, CUT, SHIFTED, ROUNDED, SUM };

static bool is_nearest(const struct body *b)
{
    return b->table->rounding != PWL_FLOOR && b->lines.right + b->lines.max_amount > 0;
}

/* Bits that are dropped before the shift by the segment's own amount. To nearest keeps one bit more than the sum has,
 * whose carry rounds; -1: a bit is added for it. */
static int cut_bits(const struct body *b)
{
    return is_nearest(b) ? b->lines.right - 1 : b->lines.right;
}

static wide step_value(const struct body *b, const struct line *line, wide x, enum step step)
{
    const bool biased = b->table->form == PWL_BIASED;
    const wide offset = biased ? 0 : line->offset;
    const int cut = cut_bits(b);
    wide v = line->slope * x;
    if (step == PRODUCT)
        return v;
    v = (v + (biased ? line->offset : 0)) * ((wide)1 << b->lines.left);
    if (step == SCALED)
        return v;
    if (step == SUM)
        return shift_right(v, b->lines.right + line->amount, b->table->rounding) + offset;
    v = cut < 0 ? v * 2 : v >> cut;
    if (step == CUT)
        return v;
    v >>= line->amount;
    return step == SHIFTED ? v : v + 2 * offset;
}

/* The ends of a segment speak for all of it. */
static struct range step_range(const struct body *b, enum step step)
{
    struct range range = {0, 0};
    for (int i = 0; i < b->lines.count; i++) {
        const struct line *line = &b->lines.lines[i];
        for (int end = 0; end < 2; end++) {
            const wide value = step_value(b, line, end ? line->x_high : line->x_low, step);
            if ((i == 0 && end == 0) || value < range.low)
                range.low = value;
            if ((i == 0 && end == 0) || value > range.high)
                range.high = value;
        }
    }
    return range;
}

/* Whether a field differs between segments; otherwise it is field->low everywhere. */
static bool varies(const struct field *field)
{
    return field->bits > 0;
}

/* +-X or 0, which the terms shift. */
static void add_signed_x(struct body *b, struct field fields[FIELDS])
{
    struct pipeline *p = b->p;
    char x[SIGNAL_TEXT], flag[SIGNAL_TEXT];
    const wide high = larger_wide(-b->x.low, b->x.high);
    const bool negates = fields[NEGATIVE].high == 1;
    if (!negates && fields[NONZERO].low == 1)
        return;
    struct signal value = pipeline_value(p, "signed_x", b->x.bits, negates ? -high : b->x.low, high);
    struct text *out = pipeline_part(p);
    signal_extend(p, &b->x, value.bits, x);
    text_add(out, "  assign signed_x = ");
    if (fields[NONZERO].low == 0)
        text_add(out, "!%s ? %d'sd0 : ", signal_use(p, &fields[NONZERO].signal, flag), value.bits);
    if (varies(&fields[NEGATIVE]))
        text_add(out, "%s ? -(%s) : %s;\n", signal_use(p, &fields[NEGATIVE].signal, flag), x, x);
    else
        text_add(out, negates ? "-(%s);\n" : "%s;\n", x);
    b->x = value;
}

/* (signed X << least) << shift, or 0 where the flag is 0 */
static void add_term(struct body *b, const char *name, int bits, int least, struct field *shift, struct field *flag)
{
    struct pipeline *p = b->p;
    char text[SIGNAL_TEXT];
    struct text *out = pipeline_part(p);
    struct signal term = pipeline_value(p, name, bits, 0, 0);
    text_add(out, "  assign %s = ", term.name);
    if (flag && varies(flag))
        text_add(out, "!%s ? %d'sd0 : ", signal_use(p, &flag->signal, text), bits);
    signal_extend(p, &b->x, bits, text);
    text_add(out, least == 0 ? "%s" : varies(shift) ? "(%s <<< %d)" : "%s <<< %d", text, least);
    if (varies(shift))
        text_add(out, " <<< %s", signal_use(p, &shift->signal, text));
    text_add(out, ";\n");
}

/* Terms wrap around where their sum does not. */
static void add_terms(struct body *b, struct field fields[FIELDS])
{
    struct pipeline *p = b->p;
    char flag[SIGNAL_TEXT];
    add_signed_x(b, fields);
    const struct range range = step_range(b, PRODUCT);
    const bool pairs = fields[PAIRED].high == 1;
    const int needed = signed_bits(range.low, range.high), bits = needed > b->x.bits ? needed : b->x.bits;
    add_term(b, "term_high", bits, b->high, &fields[HIGH], NULL);
    if (pairs)
        add_term(b, "term_low", bits, b->low, &fields[LOW], &fields[PAIRED]);
    b->product = pipeline_value(p, "product", bits, range.low, range.high);
    struct text *out = pipeline_part(p);
    if (!pairs)
        text_add(out, "  assign product = term_high;\n");
    else if (varies(&fields[SUBTRACTED]))
        text_add(out, "  assign product = %s ? term_high - term_low : term_high + term_low;\n",
                 signal_use(p, &fields[SUBTRACTED].signal, flag));
    else
        text_add(out, "  assign product = term_high %c term_low;\n", fields[SUBTRACTED].high ? '-' : '+');
}

int multiplied_bits(const struct body *b, const struct field fields[FIELDS])
{
    return b->lines.few_terms ? 0 : fields[SLOPE].signal.bits;
}

void add_product(struct body *b, struct field fields[FIELDS])
{
    struct pipeline *p = b->p;
    const struct range range = step_range(b, PRODUCT);
    char x[SIGNAL_TEXT], slope[SIGNAL_TEXT];
    if (range.low == 0 && range.high == 0 && b->lines.few_terms) {
        /* A table of constants. */
        b->product = pipeline_value(p, "product", 0, 0, 0);
        text_add(pipeline_part(p), "  assign product = 1'sh0;\n");
        pipeline_drop(p, &b->x, b->x.bits - 1, 0);
    } else if (b->lines.few_terms) {
        add_terms(b, fields);
    } else {
        const int slope_bits = fields[SLOPE].signal.bits;
        b->product =
            pipeline_value(p, "product", slope_bits > b->x.bits ? slope_bits : b->x.bits, range.low, range.high);
        const int bits = b->product.bits;
        text_add(pipeline_part(p), "  assign product = %s * %s;\n", signal_extend(p, &b->x, bits, x),
                 signal_extend(p, &fields[SLOPE].signal, bits, slope));
    }
}

/* ---- sum ---- */

/* product + bias */
static void add_bias(struct body *b, struct field *offset)
{
    struct pipeline *p = b->p;
    char product[SIGNAL_TEXT], bias[SIGNAL_TEXT];
    struct range range = step_range(b, SCALED);
    range.low >>= b->lines.left;
    range.high >>= b->lines.left;
    const int bits = offset->signal.bits > b->product.bits ? offset->signal.bits : b->product.bits;
    struct signal biased = pipeline_value(p, "biased", bits, range.low, range.high);
    signal_extend(p, &b->product, biased.bits, product);
    text_add(pipeline_part(p), "  assign biased = %s + %s;\n", product,
             signal_extend(p, &offset->signal, biased.bits, bias));
    b->product = biased;
}

/* v = {v, bits zeros} */
static void add_zeros(struct body *b, const char *name, struct signal *v, int bits)
{
    char text[SIGNAL_TEXT];
    signal_use(b->p, v, text);
    struct signal scaled = pipeline_value(b->p, name, v->bits + bits, 0, 0);
    text_add(pipeline_part(b->p), "  assign %s = $signed({%s, %d'd0});\n", name, text, bits);
    *v = scaled;
}

/* Signs in front, so that v has as many bits. */
static void add_signs(struct body *b, struct signal *v, int bits)
{
    char text[SIGNAL_TEXT];
    struct signal wider = pipeline_value(b->p, "widened", bits, v->low, v->high);
    text_add(pipeline_part(b->p), "  assign widened = %s;\n", signal_extend(b->p, v, bits, text));
    *v = wider;
}

/* v >> bits, a slice; and, where wanted, whether the bits below are not all 0. */
static void add_cut(struct body *b, struct signal *v, int bits, bool wants_sticky)
{
    struct pipeline *p = b->p;
    char text[SIGNAL_TEXT];
    signal_use(p, v, text);
    if (wants_sticky) {
        pipeline_bits(p, "below", 1);
        text_add(pipeline_part(p), "  assign below = |%s[%d:0];\n", text, bits - 1);
    } else {
        pipeline_drop(p, v, bits - 1, 0);
    }
    const struct range range = step_range(b, CUT);
    const int top = v->bits - 1;
    *v = pipeline_value(p, "cut", top + 1 - bits, range.low, range.high);
    text_add(pipeline_part(p), "  assign cut = $signed(%s[%d:%d]);\n", text, top, bits);
}

/* v >>> amount, and whether what falls off is not 0 */
static void add_amount(struct body *b, struct signal *v, struct field *amount, bool wants_sticky)
{
    struct pipeline *p = b->p;
    char text[SIGNAL_TEXT], by[SIGNAL_TEXT], range[CONSTANT_TEXT];
    struct text *out = pipeline_part(p);
    signal_use(p, v, text);
    signal_use(p, &amount->signal, by);
    if (wants_sticky) {
        text_add(out, "  %s %skept;\n  assign kept = {%d{1'b1}} << %s;\n", b->m->dialect->net,
                 bit_range(v->bits, range), v->bits, by);
        text_add(out, "  %s below_amount;\n  assign below_amount = |({%s} & ~kept);\n", b->m->dialect->net, text);
    }
    struct signal shifted = pipeline_value(p, "shifted", v->bits, 0, 0);
    text_add(out, "  assign shifted = %s >>> %s;\n", text, by);
    *v = shifted;
}

/* What is added in the place of the half: 1, but where a tie goes down 0. A tie has the half and nothing below it. It
 * goes down half away from zero in negative values, half to even in even ones. */
static void add_round(struct body *b, const char *sign, const struct signal *v, bool has_cut, bool has_amount)
{
    struct text *out = pipeline_part(b->p);
    pipeline_bits(b->p, "round", 1);
    text_add(out, "  assign round = ");
    if (b->table->rounding == PWL_HALF_UP)
        text_add(out, "1'b1");
    else if (b->table->rounding == PWL_HALF_AWAY)
        text_add(out, "~%s", sign);
    else
        text_add(out, "%s[1]", v->name);
    text_add(out, "%s%s;\n", has_cut ? " | below" : "", has_amount ? " | below_amount" : "");
}

/* (v + {offset, round}) / 2 */
static void add_rounded(struct body *b, struct signal *v, struct field *offset)
{
    struct pipeline *p = b->p;
    const struct range exact = step_range(b, SUM), twice = step_range(b, ROUNDED);
    const int offset_bits = offset ? offset->signal.bits + 1 : 2;
    char text[SIGNAL_TEXT], addend[SIGNAL_TEXT];
    const int bits = offset_bits > v->bits ? offset_bits : v->bits;
    struct signal rounded = pipeline_value(p, "rounded", bits, twice.low, twice.high + 1);
    signal_extend(p, v, rounded.bits, text);
    if (offset)
        signal_extend(p, &offset->signal, rounded.bits - 1, addend);
    else
        snprintf(addend, sizeof addend, "%d'd0", rounded.bits - 1);
    text_add(pipeline_part(p), "  assign rounded = %s + $signed({%s, round});\n", text, addend);
    pipeline_drop(p, &rounded, 0, 0);
    b->sum = pipeline_value(p, "sum", rounded.bits - 1, exact.low, exact.high);
    text_add(pipeline_part(p), "  assign sum = $signed(rounded[%d:1]);\n", rounded.bits - 1);
}

void add_sum(struct body *b, struct field fields[FIELDS])
{
    struct pipeline *p = b->p;
    const bool biased = b->table->form == PWL_BIASED, nearest = is_nearest(b);
    const bool sticky = nearest && b->table->rounding != PWL_HALF_UP;
    const int cut = cut_bits(b);
    struct field *offset = biased ? NULL : &fields[OFFSET];
    char sign[SIGNAL_TEXT + 16], text[SIGNAL_TEXT];
    if (biased)
        add_bias(b, &fields[OFFSET]);
    struct signal v = b->product;
    snprintf(sign, sizeof sign, v.bits > 1 ? "%s[%d]" : "%s", signal_use(p, &v, text), v.bits - 1);
    if (b->lines.left > 0)
        add_zeros(b, "scaled", &v, b->lines.left);
    if (cut < 0)
        add_zeros(b, "doubled", &v, 1);
    /* A sum, and to nearest the half below it, are left of a value that is shorter than the shift too. */
    if (v.bits < cut + 1 + nearest)
        add_signs(b, &v, cut + 1 + nearest);
    if (cut > 0)
        add_cut(b, &v, cut, sticky);
    if (b->lines.max_amount > 0)
        add_amount(b, &v, &fields[AMOUNT], sticky);
    if (nearest) {
        add_round(b, sign, &v, sticky && cut > 0, sticky && b->lines.max_amount > 0);
        add_rounded(b, &v, offset);
        return;
    }
    const struct range range = step_range(b, SUM);
    if (!offset) {
        b->sum = v;
        b->sum.low = range.low;
        b->sum.high = range.high;
        return;
    }
    char addend[SIGNAL_TEXT];
    const int bits = offset->signal.bits > v.bits ? offset->signal.bits : v.bits;
    b->sum = pipeline_value(p, "sum", bits, range.low, range.high);
    signal_extend(p, &v, b->sum.bits, text);
    text_add(pipeline_part(p), "  assign sum = %s + %s;\n", text,
             signal_extend(p, &offset->signal, b->sum.bits, addend));
}
