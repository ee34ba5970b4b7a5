/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which segment a code lies in: its top bits themselves, or what they look up; by a comparison with every start, or by
 * one for each bit of the answer. */
#include <inttypes.h>
#include <stdio.h>

#include "body.h"

/* The first start needs no comparison. Where all others are 0, the sign alone of `bits` bits is left. */
static int common_zero_bits(const struct lines *lines, int bits)
{
    int k = 0;
    for (; k < bits - 1; k++)
        for (int i = 1; i < lines->count; i++)
            if ((lines->lines[i].start >> k) & 1)
                return k;
    return k;
}

static int segment_of(const struct lines *lines, wide code)
{
    int i = lines->count - 1;
    while (i > 0 && lines->lines[i].start > code)
        i--;
    return i;
}

/*
 * Segments of 2^log2_width codes from the first on: the number of a code's segment is its bits from log2_width on, less
 * `first`, the number of blocks of as many codes before the first segment. Of 2^bits segments the last may have codes
 * of one block more, as a folded table has the mirror image of its lowest code.
 */
struct quotient {
    int log2_width, bits;
    wide first;
    bool has_beyond;
};

static bool quotient_of(const struct body *b, struct quotient *quotient)
{
    const struct lines *lines = &b->lines;
    if (lines->count == 1)
        return false;
    const wide width = lines->lines[1].start - lines->lines[0].start;
    const int k = unsigned_bits(width) - 1, bits = unsigned_bits(lines->count - 1);
    const wide first = lines->lines[0].start >> k, blocks = (b->code.high >> k) - first + 1;
    *quotient = (struct quotient){k, bits, first, blocks > lines->count};
    for (int i = 0; i < lines->count; i++)
        if (lines->lines[i].start != (first + i) * ((wide)1 << k))
            return false;
    if ((b->code.low >> k) < first || b->code.bits < k + bits + quotient->has_beyond)
        return false;
    return !quotient->has_beyond ||
           (blocks == lines->count + 1 && lines->count == 1 << bits && first % (2 * lines->count) == 0);
}

bool search_gives_starts(const struct body *b)
{
    struct quotient quotient;
    return quotient_of(b, &quotient) && quotient.first % (1 << quotient.bits) == 0;
}

/* segment = code / 2^log2_width - first */
static void add_quotient(struct body *b, const struct quotient *quotient)
{
    struct text *out = pipeline_part(b->p);
    const int bits = quotient->bits, k = quotient->log2_width, used = k + bits + quotient->has_beyond;
    const wide first = quotient->first & (((wide)1 << bits) - 1);
    char code[SIGNAL_TEXT];
    signal_use(b->p, &b->code, code);
    b->segment = pipeline_bits(b->p, "segment", bits);
    text_add(out, "  assign segment = ");
    if (first == (wide)1 << (bits - 1)) {
        text_add(out, bits > 1 ? "{~%s[%d]" : "~%s[%d]", code, k + bits - 1);
        if (bits > 1)
            text_add(out, ", %s[%d:%d]}", code, k + bits - 2, k);
    } else {
        text_add(out, "%s[%d:%d]", code, k + bits - 1, k);
        if (first != 0)
            text_add(out, " - %d'd%d", bits, (int)first);
    }
    if (quotient->has_beyond)
        text_add(out, " | {%d{%s[%d]}}", bits, code, k + bits);
    text_add(out, ";\n");
    if (used < b->code.bits)
        pipeline_drop(b->p, &b->code, b->code.bits - 1, used);
}

/* segment = segment_rom(code[top:k]) */
static int add_lookup(struct body *b, int k, struct diag *diag)
{
    struct pipeline *p = b->p;
    const int address_bits = b->code.bits - k, bits = unsigned_bits(b->lines.count - 1);
    struct rom rom;
    char code[SIGNAL_TEXT];
    if (rom_make(&rom, 1 << address_bits, bits, diag) != EXIT_DONE)
        return diag->code;
    for (int i = 0; i < rom.entries; i++) {
        const wide top = i >> (address_bits - 1) ? i - rom.entries : i;
        rom_put(&rom, i, 0, bits, segment_of(&b->lines, top * ((wide)1 << k)));
    }
    rom_add_function(&b->m->functions, b->m->dialect, &rom, "segment");
    rom_free(&rom);
    b->segment = pipeline_bits(p, "segment", bits);
    text_add(pipeline_part(p), "  assign segment = segment_rom(%s[%d:%d]);\n", signal_use(p, &b->code, code),
             b->code.bits - 1, k);
    return EXIT_DONE;
}

/* The segment's number, bit by bit from the highest on. */
struct answer {
    int bits;
    struct signal bit[SEARCH_PARTS / 2];
};

static struct answer answer_of(const struct lines *lines)
{
    return (struct answer){.bits = unsigned_bits(lines->count - 1)};
}

/* Declares a bit. */
static void add_bit(struct body *b, struct answer *answer, int bit)
{
    char name[32];
    snprintf(name, sizeof name, "segment_%d", bit);
    answer->bit[bit] = pipeline_bits(b->p, name, 1);
}

/* "{segment_3, segment_2}", those from the highest to a lowest; of one, its name alone. */
static void add_upper_bits(struct body *b, struct answer *answer, int lowest)
{
    struct text *out = pipeline_part(b->p);
    char name[SIGNAL_TEXT];
    const bool is_one = lowest == answer->bits - 1;
    text_add(out, "%s", is_one ? "" : "{");
    for (int bit = answer->bits - 1; bit >= lowest; bit--)
        text_add(out, "%s%s", signal_use(b->p, &answer->bit[bit], name), bit > lowest ? ", " : "");
    text_add(out, "%s", is_one ? "" : "}");
}

static void add_answer(struct body *b, struct answer *answer)
{
    b->segment = pipeline_bits(b->p, "segment", answer->bits);
    text_add(pipeline_part(b->p), "  assign segment = ");
    add_upper_bits(b, answer, 0);
    text_add(pipeline_part(b->p), ";\n");
}

/* A comparison with a constant in two halves, which tools without an idea of constants share and fit into few LUTs
 * (measured in README.md). Both are counted from the lowest code. */
struct halves {
    struct signal upper, lower;
};

static struct halves add_halves(struct body *b)
{
    const int bits = b->code.bits, low = bits / 2;
    struct halves halves;
    char code[SIGNAL_TEXT];
    signal_use(b->p, &b->code, code);
    halves.upper = pipeline_bits(b->p, "upper", bits - low);
    text_add(pipeline_part(b->p), "  assign upper = {~%s[%d]", code, bits - 1);
    if (bits - low > 1)
        text_add(pipeline_part(b->p), ", %s[%d:%d]", code, bits - 2, low);
    text_add(pipeline_part(b->p), "};\n");
    halves.lower = pipeline_bits(b->p, "lower", low);
    text_add(pipeline_part(b->p), "  assign lower = %s[%d:0];\n", code, low - 1);
    return halves;
}

static void add_comparison(struct body *b, struct halves *halves, wide start)
{
    const int low = halves->lower.bits, high = halves->upper.bits;
    const uint64_t from_lowest = (uint64_t)(start + ((wide)1 << (b->code.bits - 1)));
    const uint64_t upper = from_lowest >> low, lower = from_lowest & ((UINT64_C(1) << low) - 1);
    struct text *out = pipeline_part(b->p);
    char u[SIGNAL_TEXT], l[SIGNAL_TEXT];
    signal_use(b->p, &halves->upper, u);
    if (lower == 0) {
        text_add(out, "%s >= %d'd%" PRIu64, u, high, upper);
        return;
    }
    signal_use(b->p, &halves->lower, l);
    if (upper + 1 == UINT64_C(1) << high)
        text_add(out, "(%s == %d'd%" PRIu64 ") & (%s >= %d'd%" PRIu64 ")", u, high, upper, l, low, lower);
    else
        text_add(out, "(%s > %d'd%" PRIu64 ") | ((%s == %d'd%" PRIu64 ") & (%s >= %d'd%" PRIu64 "))", u, high, upper, u,
                 high, upper, l, low, lower);
}

/* Bit by bit, the comparison that the bits above select: reached_k[j] is 1 from the start of segment (2 j + 1) 2^k on.
 */
static void add_comparisons(struct body *b)
{
    struct answer answer = answer_of(&b->lines);
    struct halves halves = add_halves(b);
    char range[CONSTANT_TEXT];
    for (int bit = answer.bits - 1; bit >= 0; bit--) {
        const int choices = 1 << (answer.bits - 1 - bit);
        struct text *out = pipeline_part(b->p);
        text_add(out, "  %s %sreached_%d;\n", b->m->dialect->net, bit_range(choices, range), bit);
        for (int j = 0; j < choices; j++) {
            const int i = (2 * j + 1) << bit;
            text_add(out, "  assign reached_%d", bit);
            if (choices > 1)
                text_add(out, "[%d]", j);
            text_add(out, " = ");
            if (i < b->lines.count)
                add_comparison(b, &halves, b->lines.lines[i].start);
            else
                text_add(out, "1'b0");
            text_add(out, ";\n");
        }
        add_bit(b, &answer, bit);
        text_add(out, "  assign segment_%d = reached_%d", bit, bit);
        if (choices > 1) {
            text_add(out, "[");
            add_upper_bits(b, &answer, bit + 1);
            text_add(out, "]");
        }
        text_add(out, ";\n");
        if (bit > 0)
            add_end(b);
    }
    add_answer(b, &answer);
}

/* The code before the start that the bits above select; where there is none, the last code, which nothing exceeds. */
static int add_before(struct body *b, struct answer *answer, int bit, struct signal *before, struct diag *diag)
{
    const int choices = 1 << (answer->bits - 1 - bit), bits = b->code.bits;
    struct rom rom;
    char name[32];
    if (rom_make(&rom, choices, bits, diag) != EXIT_DONE)
        return diag->code;
    for (int j = 0; j < choices; j++) {
        const int i = (2 * j + 1) << bit;
        rom_put(&rom, j, 0, bits, i < b->lines.count ? b->lines.lines[i].start - 1 : b->code.high);
    }
    snprintf(name, sizeof name, "before_%d", bit);
    rom_add_function(&b->m->functions, b->m->dialect, &rom, name);
    rom_free(&rom);
    *before = pipeline_value(b->p, name, bits, b->code.low, b->code.high);
    text_add(pipeline_part(b->p), "  assign before_%d = $signed(before_%d_rom(", bit, bit);
    add_upper_bits(b, answer, bit + 1);
    text_add(pipeline_part(b->p), "));\n");
    return EXIT_DONE;
}

/* Bit by bit, a comparison with the start that the bits above select. */
static int add_tree(struct body *b, struct diag *diag)
{
    struct answer answer = answer_of(&b->lines);
    char code[SIGNAL_TEXT], limit[SIGNAL_TEXT];
    for (int bit = answer.bits - 1; bit >= 0; bit--) {
        if (bit < answer.bits - 1) {
            struct signal before;
            if (add_before(b, &answer, bit, &before, diag) != EXIT_DONE)
                return diag->code;
            add_end(b);
            signal_use(b->p, &before, limit);
        } else {
            signed_constant(b->code.bits, b->lines.lines[1 << bit].start - 1, limit);
        }
        add_bit(b, &answer, bit);
        text_add(pipeline_part(b->p), "  assign segment_%d = %s > %s;\n", bit, signal_use(b->p, &b->code, code), limit);
        if (bit > 0)
            add_end(b);
    }
    add_answer(b, &answer);
    return EXIT_DONE;
}

/* Starts that are multiples of 2^k leave the low k bits of a code out of the search. Looking up the others takes, for
 * each bit of the answer, a LUT of six inputs for every 64 entries; comparing them two a segment or so. */
static bool is_lookup(int top_bits, int count)
{
    const int luts = top_bits <= 6 ? 1 : top_bits < 16 ? 1 << (top_bits - 6) : PWL_MAX_SEGMENTS;
    return luts == 1 || unsigned_bits(count - 1) * luts <= 2 * count;
}

/* What the search is done by. */
enum search { SEARCH_NONE, SEARCH_QUOTIENT, SEARCH_LOOKUP, SEARCH_TREE, SEARCH_COMPARISONS };

static enum search search_of(const struct body *b)
{
    if (b->lines.count == 1)
        return SEARCH_NONE;
    struct quotient quotient;
    if (quotient_of(b, &quotient))
        return SEARCH_QUOTIENT;
    if (is_lookup(b->code.bits - common_zero_bits(&b->lines, b->code.bits), b->lines.count))
        return SEARCH_LOOKUP;
    return b->m->style == RTL_TREE ? SEARCH_TREE : SEARCH_COMPARISONS;
}

int search_delays(const struct body *b, int delays[SEARCH_PARTS])
{
    const enum search search = search_of(b);
    const int bits = unsigned_bits(b->lines.count - 1);
    int parts = 0;
    if (search != SEARCH_TREE && search != SEARCH_COMPARISONS) {
        delays[0] = search == SEARCH_LOOKUP ? DELAY_LOOKUP : search == SEARCH_QUOTIENT ? DELAY_GATE : 0;
        return 1;
    }
    for (int bit = bits - 1; bit >= 0; bit--) {
        if (search == SEARCH_TREE && bit < bits - 1)
            delays[parts++] = DELAY_LOOKUP;
        delays[parts++] = DELAY_COMPARISON;
    }
    return parts;
}

void search_sizes(const struct body *b, int *compared, int *looked_up)
{
    const enum search search = search_of(b);
    const int segments = b->lines.count, bits = unsigned_bits(segments - 1), code_bits = b->code.bits;
    *compared = search == SEARCH_TREE          ? bits * code_bits
                : search == SEARCH_COMPARISONS ? (segments - 1) * code_bits
                                               : 0;
    *looked_up = search == SEARCH_TREE     ? ((1 << (bits - 1)) - 1) * code_bits
                 : search == SEARCH_LOOKUP ? bits << (code_bits - common_zero_bits(&b->lines, code_bits))
                                           : 0;
}

int add_search(struct body *b, struct diag *diag)
{
    struct quotient quotient;
    switch (search_of(b)) {
    case SEARCH_NONE:
        return EXIT_DONE;
    case SEARCH_QUOTIENT:
        quotient_of(b, &quotient);
        add_quotient(b, &quotient);
        return EXIT_DONE;
    case SEARCH_LOOKUP:
        return add_lookup(b, common_zero_bits(&b->lines, b->code.bits), diag);
    case SEARCH_TREE:
        return add_tree(b, diag);
    case SEARCH_COMPARISONS:
        add_comparisons(b);
    }
    return EXIT_DONE;
}
