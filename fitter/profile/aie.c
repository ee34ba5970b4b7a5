/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * AIE-ML's linear_approx for int16: pairs of slope and offset on an even grid. Pairs that fill 16 bytes, 32 on AIE-ML
 * v2, are written twice, so that a core loads both halves of a vector at once.
 *
 *     slope 0 | offset 0 | ... | slope 3 | offset 3 | the same 16 bytes again | slope 4 | ...
 *
 *     j = (x >> step_bits) + bias,   y = sat((slope[j] (x mod 2^step_bits) + (offset[j] << shift)) >> shift)
 *
 * The core must round down and saturate. Two copies of the array, lut_ab and lut_cd, lie in different banks.
 *
 * Source: the AIE API's documentation of parallel lookup, aie::lut and linear_approx.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "initialisers.h"
#include "notation.h"
#include "segments.h"

#define LEAST_STEP_BITS 3
#define CLIPPED_BITS 16 /* of the output, which the core saturates to */
#define PAIR_BYTES 4

enum { SLOPE, OFFSET };

/* Pairs that stand together take so many bytes. */
#define FIELDS(bytes)                                                                                                  \
    {                                                                                                                  \
        [SLOPE] = {.name = "slope",                                                                                    \
                   .bits = 16,                                                                                         \
                   .is_signed = true,                                                                                  \
                   .at = 0,                                                                                            \
                   .step = 32,                                                                                         \
                   .group = (bytes) / PAIR_BYTES,                                                                      \
                   .gap = 8 * (bytes),                                                                                 \
                   .copy = 8 * (bytes)},                                                                               \
        [OFFSET] = {.name = "offset",                                                                                  \
                    .bits = 16,                                                                                        \
                    .is_signed = true,                                                                                 \
                    .at = 16,                                                                                          \
                    .step = 32,                                                                                        \
                    .group = (bytes) / PAIR_BYTES,                                                                     \
                    .gap = 8 * (bytes),                                                                                \
                    .copy = 8 * (bytes)},                                                                              \
        {.name = NULL},                                                                                                \
    }
static const struct layout_field fields[] = FIELDS(16), fields_v2[] = FIELDS(32);
static const struct layout layout = {
    .fields = fields, .entry_bytes = 2 * PAIR_BYTES, .min_entries = 4, .max_entries = PWL_MAX_SEGMENTS};
static const struct layout layout_v2 = {
    .fields = fields_v2, .entry_bytes = 2 * PAIR_BYTES, .min_entries = 8, .max_entries = PWL_MAX_SEGMENTS};

/* What numbers of a table share: they are written beside its arrays. */
struct grid {
    int step_bits, bias, shift;
};

/* Of as many entries as a power of two, for a type's codes. */
static int grid_of(const struct tensor *in, int entries, struct grid *grid, struct diag *diag)
{
    int entry_bits = 0;
    while (1 << entry_bits < entries)
        entry_bits++;
    grid->step_bits = in->bits - entry_bits;
    if (1 << entry_bits != entries || grid->step_bits < LEAST_STEP_BITS)
        return diag_set(diag, EXIT_REQUIREMENT,
                        "has %d entries for %d bits; must be a power of two, each for 8 codes or more", entries,
                        in->bits);
    grid->bias = (int)-(in->qmin >> grid->step_bits);
    return EXIT_DONE;
}

/* The shift that all segments with a slope share; 0 where none has. */
static int shared_shift(const struct table *table, int *shift, struct diag *diag)
{
    *shift = -1;
    for (int i = 0; i < table->segment_count; i++) {
        const struct segment *segment = &table->segments[i];
        if (segment->q_b != 0 && *shift >= 0 && segment->n != *shift)
            return diag_set(diag, EXIT_REQUIREMENT, "segments have shifts of %d and %d; must have one (--shift one)",
                            *shift, segment->n);
        if (segment->q_b != 0)
            *shift = segment->n;
        if (segment->q_b != 0 && segment->n < 0)
            return diag_set(diag, EXIT_REQUIREMENT, "segments[%d].n_BX_total is %d; must not be negative", i,
                            segment->n);
    }
    *shift = *shift < 0 ? 0 : *shift;
    return EXIT_DONE;
}

static int pack_with(const struct layout *wanted, const struct table *table, struct image *image, struct diag *diag)
{
    struct grid grid = {0};
    if (need_type(&table->in, "input", 4, 16, SIGNED, diag) || need_type(&table->out, "output", 2, 16, SIGNED, diag) ||
        need_lines(table, PWL_ANCHORED, PWL_FLOOR, wanted->max_entries, diag) ||
        (table->out.bits != CLIPPED_BITS && need_within(table, diag)) || shared_shift(table, &grid.shift, diag) ||
        grid_of(&table->in, table->segment_count, &grid, diag))
        return diag->code;
    if (table->segment_count < wanted->min_entries)
        return diag_set(diag, EXIT_REQUIREMENT, "has %d segments; must have %d at least", table->segment_count,
                        wanted->min_entries);
    if (image_make(wanted, table->segment_count, image, diag))
        return diag->code;
    for (int i = 0; i < table->segment_count; i++) {
        image->values[SLOPE][i] = table->segments[i].q_b;
        image->values[OFFSET][i] = table->segments[i].offset;
    }
    image->shift = grid.shift;
    return EXIT_DONE;
}

static int pack(const struct table *table, struct image *image, struct diag *diag)
{
    return pack_with(&layout, table, image, diag);
}

static int pack_v2(const struct table *table, struct image *image, struct diag *diag)
{
    return pack_with(&layout_v2, table, image, diag);
}

static int unpack(const struct image *image, struct table *table, struct diag *diag)
{
    struct grid grid = {0};
    if (need_type(&table->in, "input", 4, 16, SIGNED, diag) || need_type(&table->out, "output", 2, 16, SIGNED, diag) ||
        grid_of(&table->in, image->entries, &grid, diag))
        return diag->code;
    if (image->shift < 0)
        return diag_set(diag, EXIT_USAGE, "--shift: missing; the arrays do not say how many bits their kernel drops");
    if (image->step_bits >= 0 && image->step_bits != grid.step_bits)
        return diag_set(diag, EXIT_USAGE, "step_bits is %d; %d entries for --in of %d bits must have %d",
                        image->step_bits, image->entries, table->in.bits, grid.step_bits);
    segments_begin(table, PWL_ANCHORED, PWL_FLOOR);
    for (int i = 0; i < image->entries; i++)
        if (segments_add(table, table->in.qmin + ((int64_t)i << grid.step_bits), image->values[SLOPE][i], image->shift,
                         image->values[OFFSET][i], diag))
            return diag->code;
    return table->out.bits == CLIPPED_BITS ? EXIT_DONE : need_within(table, diag);
}

/* Two arrays as the core has them, and what the kernel is given. */
static int write_cpp(const struct image *image, const struct table *table, struct text *out, struct diag *diag)
{
    static const char *const arrays[] = {"lut_ab", "lut_cd"};
    const int group = image->layout->fields[SLOPE].group, size = 4 * image->entries;
    struct grid grid = {0};
    if (grid_of(&table->in, image->entries, &grid, diag))
        return diag->code;
    add_banner(table, "// ", "", out);
    text_add(
        out,
        "// The core must round down and saturate.\n#include <cstdint>\n\n"
        "static constexpr int entries = %d;\nstatic constexpr int step_bits = %d;\n"
        "static constexpr int bias = %d;\nstatic constexpr int shift_offset = %d;\nstatic constexpr int shift = %d;\n",
        image->entries, grid.step_bits, grid.bias, image->shift, image->shift);
    for (int a = 0; a < 2; a++) {
        text_add(out, "\nalignas(32) const int16_t %s[%d] = {", arrays[a], size);
        for (int i = 0; i < image->entries; i += group)
            for (int copy = 0; copy < 2; copy++) {
                text_add(out, "\n    ");
                for (int k = i; k < i + group; k++)
                    text_add(out, "%" PRId64 ", %" PRId64 ",%s", image->values[SLOPE][k], image->values[OFFSET][k],
                             k + 1 < i + group ? " " : "");
            }
        text_add(out, "\n};\n");
    }
    return EXIT_DONE;
}

/* The numbers of an array, which stand behind one another. */
static const struct initialiser *find_array(const struct initialiser *list, size_t count, const char *name,
                                            size_t *numbers)
{
    size_t first = 0;
    while (first < count && strcmp(list[first].name, name) != 0)
        first++;
    for (*numbers = 0; first + *numbers < count && strcmp(list[first + *numbers].name, name) == 0;)
        ++*numbers;
    return &list[first];
}

/* Pairs of one array, each group of them twice. */
static int take_array(const struct initialiser *array, struct image *image, struct diag *diag)
{
    const int group = image->layout->fields[SLOPE].group;
    for (int i = 0; i < image->entries; i++)
        for (int copy = 0; copy < 2; copy++)
            for (int f = SLOPE; f <= OFFSET; f++) {
                const int k = 2 * (i / group * 2 * group + copy * group + i % group) + f;
                if (!array[k].is_integer || (copy > 0 && array[k].integer != image->values[f][i]))
                    return diag_set(diag, EXIT_USAGE, "%s[%d] is %g; must be %s", array[k].name, k, array[k].real,
                                    array[k].is_integer ? "the number of its first copy" : "an integer");
                image->values[f][i] = array[k].integer;
            }
    return EXIT_DONE;
}

/* What follows from the arrays, where the text has it too. */
static int check_scalar(const struct initialiser *list, size_t count, const char *name, int64_t wanted,
                        struct diag *diag)
{
    const struct initialiser *found = initialisers_find(list, count, name, 0);
    return !found || (found->is_integer && found->integer == wanted)
               ? EXIT_DONE
               : diag_set(diag, EXIT_USAGE, "%s is %g; must be %" PRId64 ", by the count of numbers in lut_ab", name,
                          found->real, wanted);
}

/* A number of bits that is there; 8.5 and 0x1p3 are no integers. */
static bool is_count(const struct initialiser *number)
{
    return number && number->is_integer && number->integer >= 0 && number->integer <= 31;
}

static int take_text(const struct layout *wanted, const struct initialiser *list, size_t count, struct image *image,
                     struct diag *diag)
{
    const struct initialiser *shift = initialisers_find(list, count, "shift", 0),
                             *offset = initialisers_find(list, count, "shift_offset", 0);
    size_t numbers, others;
    const struct initialiser *ab = find_array(list, count, "lut_ab", &numbers),
                             *cd = find_array(list, count, "lut_cd", &others);
    const size_t entries = numbers / 4;
    if (numbers % 4 != 0 || entries < (size_t)wanted->min_entries || entries > (size_t)wanted->max_entries ||
        entries % (size_t)wanted->fields[SLOPE].group != 0 || others != numbers)
        return diag_set(diag, EXIT_USAGE,
                        "has %zu numbers in lut_ab and %zu in lut_cd; must have 4 for each entry, in both", numbers,
                        others);
    if (!is_count(shift) || !is_count(offset) || shift->integer != offset->integer)
        return diag_set(diag, EXIT_USAGE, "shift and shift_offset must both be there, and one integer from 0 to 31");
    if (check_scalar(list, count, "entries", (int64_t)entries, diag) ||
        check_scalar(list, count, "bias", (int64_t)entries / 2, diag))
        return diag->code;
    if (image_make(wanted, (int)entries, image, diag) || take_array(ab, image, diag) || take_array(cd, image, diag))
        return diag->code;
    image->shift = (int)shift->integer;
    const struct initialiser *step_bits = initialisers_find(list, count, "step_bits", 0);
    if (step_bits && !is_count(step_bits))
        return diag_set(diag, EXIT_USAGE, "step_bits is %g; must be an integer from 0 to 31", step_bits->real);
    image->step_bits = step_bits ? (int)step_bits->integer : -1;
    return EXIT_DONE;
}

static int read_cpp(const struct layout *wanted, const char *bytes, size_t size, struct image *image,
                    struct origin *origin, struct diag *diag)
{
    struct initialiser *list;
    size_t count;
    (void)origin;
    if (initialisers_read(bytes, size, &list, &count, diag))
        return diag->code;
    take_text(wanted, list, count, image, diag);
    free(list);
    return diag->code;
}

static const struct notation notation_cpp = {"cpp", "both arrays, and what the kernel is given, in C++", write_cpp,
                                             read_cpp, NULL};

#define LIMITS "signed codes of up to 16 bits, a power of two of equal segments of the anchored form, floor, one shift"
#define FLAGS                                                                                                          \
    "--method minimax --segments 256 --form anchored --rounding floor --offset-type s16 --shift one --knots uniform "  \
    "--pow2-scales "                                                                                                   \
    "--in s16:2^-12:0 --out s16:auto:0"

const struct profile profile_aie = {
    .name = "aie",
    .reader = "AMD AIE-ML: aie::lut with linear_approx",
    .limits = LIMITS,
    .flags = FLAGS,
    .layout = &layout,
    .notations = {&notation_cpp, &notation_bytes},
    .pack = pack,
    .unpack = unpack,
};

const struct profile profile_aie_v2 = {
    .name = "aie-v2",
    .reader = "AMD AIE-ML v2: the same with 32 bytes written twice",
    .limits = LIMITS,
    .flags = FLAGS,
    .layout = &layout_v2,
    .notations = {&notation_cpp, &notation_bytes},
    .pack = pack_v2,
    .unpack = unpack,
};
