/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which segment a code lies in: by its top bits, by a comparison with every start, or by one for each bit of the
 * answer. */
#include "body.h"

/* Starts that are multiples of 2^k leave the low k bits of a code out of the search. A lookup of the others is worth it
 * up to this many entries a segment. */
#define LOOKUP_ENTRIES 4

static int index_bits(int count)
{
    int bits = 1;
    while (1 << bits < count)
        bits++;
    return bits;
}

/* The first start needs no comparison. */
static int common_zero_bits(const struct lines *lines)
{
    int k = 0;
    for (;; k++)
        for (int i = 1; i < lines->count; i++)
            if ((lines->lines[i].start >> k) & 1)
                return k;
}

static int segment_of(const struct lines *lines, wide code)
{
    int i = lines->count - 1;
    while (i > 0 && lines->lines[i].start > code)
        i--;
    return i;
}

/* segment = segment_rom(code[top:k]) */
static int add_lookup(struct body *b, int k, struct diag *diag)
{
    struct pipeline *p = b->p;
    const int address_bits = b->code.bits - k, bits = index_bits(b->lines.count);
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

static void add_bits_of_segment(struct body *b, int bits)
{
    struct text *out = pipeline_part(b->p);
    b->segment = pipeline_bits(b->p, "segment", bits);
    text_add(out, "  assign segment = {");
    for (int bit = bits - 1; bit >= 0; bit--)
        text_add(out, "segment_%d%s", bit, bit > 0 ? ", " : "};\n");
}

/* "{segment_3, segment_2}", the bits above one */
static void add_upper_bits(struct text *out, int bits, int bit)
{
    text_add(out, "%s", bits - bit > 2 ? "{" : "");
    for (int upper = bits - 1; upper > bit; upper--)
        text_add(out, "segment_%d%s", upper, upper > bit + 1 ? ", " : "");
    text_add(out, "%s", bits - bit > 2 ? "}" : "");
}

/* Bit by bit, the comparison that the bits above select: reached_k[j] is 1 from the start of segment (2 j + 1) 2^k on.
 */
static void add_comparisons(struct body *b)
{
    struct text *out = pipeline_part(b->p);
    const char *net = b->m->dialect->net;
    const int bits = index_bits(b->lines.count);
    char code[SIGNAL_TEXT], constant[CONSTANT_TEXT], range[CONSTANT_TEXT];
    signal_use(b->p, &b->code, code);
    for (int bit = bits - 1; bit >= 0; bit--) {
        const int choices = 1 << (bits - 1 - bit);
        text_add(out, "  %s %sreached_%d;\n", net, bit_range(choices, range), bit);
        for (int j = 0; j < choices; j++) {
            const int i = (2 * j + 1) << bit;
            text_add(out, "  assign reached_%d", bit);
            if (choices > 1)
                text_add(out, "[%d]", j);
            if (i < b->lines.count)
                text_add(out, " = %s >= %s;\n", code, signed_constant(b->code.bits, b->lines.lines[i].start, constant));
            else
                text_add(out, " = 1'b0;\n");
        }
        text_add(out, "  %s segment_%d;\n  assign segment_%d = reached_%d", net, bit, bit, bit);
        if (choices > 1) {
            text_add(out, "[");
            add_upper_bits(out, bits, bit);
            text_add(out, "]");
        }
        text_add(out, ";\n");
    }
    add_bits_of_segment(b, bits);
}

/* Bit by bit, a comparison with the start that the bits above select. The ROM of a bit holds the code before that
 * start; where there is none, the last code, which nothing exceeds. */
static int add_tree(struct body *b, struct diag *diag)
{
    struct text *out = pipeline_part(b->p);
    const char *net = b->m->dialect->net;
    const int bits = index_bits(b->lines.count);
    char code[SIGNAL_TEXT], constant[CONSTANT_TEXT], name[32], range[CONSTANT_TEXT];
    signal_use(b->p, &b->code, code);
    for (int bit = bits - 1; bit >= 0; bit--) {
        const int choices = 1 << (bits - 1 - bit);
        struct rom rom = {0};
        if (choices > 1 && rom_make(&rom, choices, b->code.bits, diag) != EXIT_DONE)
            return diag->code;
        for (int j = 0; j < choices; j++) {
            const int i = (2 * j + 1) << bit;
            const wide before = i < b->lines.count ? b->lines.lines[i].start - 1 : b->code.high;
            signed_constant(b->code.bits, before, constant);
            if (choices > 1)
                rom_put(&rom, j, 0, b->code.bits, before);
        }
        if (choices > 1) {
            snprintf(name, sizeof name, "before_%d", bit);
            rom_add_function(&b->m->functions, b->m->dialect, &rom, name);
            rom_free(&rom);
            text_add(out, "  %s signed %sbefore_%d;\n  assign before_%d = before_%d_rom(", net,
                     bit_range(b->code.bits, range), bit, bit, bit);
            add_upper_bits(out, bits, bit);
            text_add(out, ");\n");
            snprintf(constant, sizeof constant, "before_%d", bit);
        }
        text_add(out, "  %s segment_%d;\n  assign segment_%d = %s > %s;\n", net, bit, bit, code, constant);
    }
    add_bits_of_segment(b, bits);
    return EXIT_DONE;
}

int add_search(struct body *b, struct diag *diag)
{
    if (b->lines.count == 1)
        return EXIT_DONE;
    const int k = common_zero_bits(&b->lines), top = b->code.bits - k;
    if (top < 16 && (top <= 6 || 1 << top <= LOOKUP_ENTRIES * b->lines.count))
        return add_lookup(b, k, diag);
    if (b->m->style == RTL_TREE)
        return add_tree(b, diag);
    add_comparisons(b);
    return EXIT_DONE;
}
