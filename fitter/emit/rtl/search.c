/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which segment a code lies in: by its top bits, by a comparison with every start, or by one for each bit of the
 * answer. */
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

/* A comparison with a constant in two halves, which tools without an idea of constants share and fit into few LUTs
 * (measured in README.md). Both are counted from the lowest code. */
static void add_halves(struct body *b)
{
    const int bits = b->code.bits, low = bits / 2;
    struct text *out = pipeline_part(b->p);
    char code[SIGNAL_TEXT], range[CONSTANT_TEXT];
    signal_use(b->p, &b->code, code);
    text_add(out, "  %s %supper;\n  assign upper = {~%s[%d]", b->m->dialect->net, bit_range(bits - low, range), code,
             bits - 1);
    if (bits - low > 1)
        text_add(out, ", %s[%d:%d]", code, bits - 2, low);
    text_add(out, "};\n  %s %slower;\n  assign lower = %s[%d:0];\n", b->m->dialect->net, bit_range(low, range), code,
             low - 1);
}

static void add_comparison(struct body *b, wide start)
{
    const int low = b->code.bits / 2, high = b->code.bits - low;
    const uint64_t from_lowest = (uint64_t)(start + ((wide)1 << (b->code.bits - 1)));
    const uint64_t upper = from_lowest >> low, lower = from_lowest & ((UINT64_C(1) << low) - 1);
    struct text *out = pipeline_part(b->p);
    if (lower == 0)
        text_add(out, "upper >= %d'd%" PRIu64, high, upper);
    else if (upper + 1 == UINT64_C(1) << high)
        text_add(out, "(upper == %d'd%" PRIu64 ") & (lower >= %d'd%" PRIu64 ")", high, upper, low, lower);
    else
        text_add(out, "(upper > %d'd%" PRIu64 ") | ((upper == %d'd%" PRIu64 ") & (lower >= %d'd%" PRIu64 "))", high,
                 upper, high, upper, low, lower);
}

/* Bit by bit, the comparison that the bits above select: reached_k[j] is 1 from the start of segment (2 j + 1) 2^k on.
 */
static void add_comparisons(struct body *b)
{
    struct text *out = pipeline_part(b->p);
    const char *net = b->m->dialect->net;
    const int bits = unsigned_bits(b->lines.count - 1);
    char range[CONSTANT_TEXT];
    add_halves(b);
    for (int bit = bits - 1; bit >= 0; bit--) {
        const int choices = 1 << (bits - 1 - bit);
        text_add(out, "  %s %sreached_%d;\n", net, bit_range(choices, range), bit);
        for (int j = 0; j < choices; j++) {
            const int i = (2 * j + 1) << bit;
            text_add(out, "  assign reached_%d", bit);
            if (choices > 1)
                text_add(out, "[%d]", j);
            text_add(out, " = ");
            if (i < b->lines.count)
                add_comparison(b, b->lines.lines[i].start);
            else
                text_add(out, "1'b0");
            text_add(out, ";\n");
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
    const int bits = unsigned_bits(b->lines.count - 1);
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

/* Starts that are multiples of 2^k leave the low k bits of a code out of the search. Looking up the others takes, for
 * each bit of the answer, a LUT of six inputs for every 64 entries; comparing them two a segment or so. */
static bool is_lookup(int top_bits, int count)
{
    const int luts = top_bits <= 6 ? 1 : top_bits < 16 ? 1 << (top_bits - 6) : PWL_MAX_SEGMENTS;
    return luts == 1 || unsigned_bits(count - 1) * luts <= 2 * count;
}

int add_search(struct body *b, struct diag *diag)
{
    if (b->lines.count == 1)
        return EXIT_DONE;
    const int k = common_zero_bits(&b->lines, b->code.bits);
    if (is_lookup(b->code.bits - k, b->lines.count))
        return add_lookup(b, k, diag);
    if (b->m->style == RTL_TREE)
        return add_tree(b, diag);
    add_comparisons(b);
    return EXIT_DONE;
}
