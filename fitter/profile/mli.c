/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * embARC MLI's mli_lut: points T of 16 bits on an even grid of 2^K codes, K being what the input has in fraction bits
 * beyond the table.
 *
 *     i = (x >> K) + input_offset, cut to 0 ... length - 2     f = x mod 2^K, whatever i was before
 *
 *     y = T[i] - round((T[i] - T[i+1]) f / 2^K)                halves up, so that those of y go down
 *
 * Beyond the ends the first or the last line comes again and again: they are flat, or every code has its line.
 *
 * Sources: embARC MLI's mli_types, mli_prv_lut_ref and mli_math; its generator lutfx.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/fixed.h>

#include "families.h"
#include "initialisers.h"
#include "notation.h"
#include "segments.h"

#define CODES 65536
#define LONGEST_SHIFT 15
#define USUAL_SHIFT 8

enum field { DATA, IN_FRAC_BITS, OUT_FRAC_BITS, INPUT_OFFSET };
static const struct layout_field fields[] = {
    [DATA] = {.name = "data", .bits = 16, .is_signed = true, .step = 16},
    [IN_FRAC_BITS] = {.name = "in_frac_bits", .bits = 32, .is_signed = true, .count = 1},
    [OUT_FRAC_BITS] = {.name = "out_frac_bits", .bits = 32, .is_signed = true, .count = 1},
    [INPUT_OFFSET] = {.name = "input_offset", .bits = 32, .is_signed = true, .count = 1},
    {.name = NULL}};
static const struct layout layout = {
    .fields = fields, .entry_bytes = 2, .min_entries = 2, .max_entries = CODES / 2 + 1};

static int need_types(const struct table *table, struct diag *diag)
{
    return need_fixed_point(&table->in, "input", 16, 16, SIGNED, diag) ||
                   need_fixed_point(&table->out, "output", 16, 16, SIGNED, diag)
               ? diag->code
               : EXIT_DONE;
}

/* What MLI computes at a code, of a table without ends. */
static int64_t look_up(const int64_t *points, int shift, int64_t x)
{
    const int64_t *const at = points + (x >> shift) + (CODES / 2 >> shift);
    return at[0] - pwl_shr64((at[0] - at[1]) * (x & (((int64_t)1 << shift) - 1)), shift, PWL_HALF_UP);
}

/* Takes the values at the grid, and says whether they give the table at every code. */
static bool holds(const struct table *table, const struct packed_table *packed, int shift, int64_t *points)
{
    for (int64_t i = 0; i <= CODES >> shift; i++)
        points[i] = raw_value(table, packed, table->in.qmin + (i << shift));
    for (int64_t x = table->in.qmin; x <= table->in.qmax; x++)
        if (look_up(points, shift, x) != packed_eval(packed, x))
            return false;
    return true;
}

/* As few points as the table's lines allow; the usual number where none gives its outputs. Returns K. */
static int find_points(const struct table *table, const struct packed_table *packed, int64_t *points)
{
    const int fraction = table->in.scale.shift_bits, longest = fraction < LONGEST_SHIFT ? fraction : LONGEST_SHIFT;
    for (int shift = longest; shift > 0; shift--)
        if (holds(table, packed, shift, points))
            return shift;
    const int shift = longest < USUAL_SHIFT ? longest : USUAL_SHIFT;
    holds(table, packed, shift, points);
    return shift;
}

static int pack(const struct table *table, struct image *image, struct diag *diag)
{
    struct packed_table packed;
    if (need_types(table, diag))
        return diag->code;
    if (table->in.scale.shift_bits < 1)
        return diag_set(diag, EXIT_REQUIREMENT,
                        "the input has %d fraction bits; must have more than the table, 1 at least",
                        table->in.scale.shift_bits);
    int64_t *const points = malloc((CODES / 2 + 1) * sizeof *points);
    if (!points)
        return diag_set(diag, EXIT_IO, "out of memory for %d points", CODES / 2 + 1);
    if (!table_pack(table, &packed, diag)) {
        const int shift = find_points(table, &packed, points);
        int first = 0, last = CODES >> shift; /* without what the ends repeat */
        while (first < last - 2 && points[first] == points[first + 1] && points[first] == points[first + 2])
            first++;
        while (first < last - 2 && points[last] == points[last - 1] && points[last] == points[last - 2])
            last--;
        if (!image_make(&layout, last - first + 1, image, diag)) {
            memcpy(image->values[DATA], points + first, (size_t)image->entries * sizeof *points);
            image->values[IN_FRAC_BITS][0] = table->in.scale.shift_bits - shift;
            image->values[OUT_FRAC_BITS][0] = table->out.scale.shift_bits;
            image->values[INPUT_OFFSET][0] = (CODES / 2 >> shift) - first;
        }
        packed_table_free(&packed);
    }
    free(points);
    return diag->code;
}

/* The line of an entry from a code on; flat ones that go on are one. */
static int add_line(struct table *table, const int64_t *entry, int i, int64_t start, int shift, struct diag *diag)
{
    const int64_t slope = entry[1] - entry[0], half = (int64_t)1 << (shift - 1);
    const struct segment *const before = &table->segments[table->segment_count - 1];
    if (need_slope(i, slope, diag) || need_slope(i, -slope, diag))
        return diag->code;
    if (slope != 0)
        return segments_add(table, start, slope, shift, 2 * half * entry[0] + half - 1 - slope * start, diag);
    const bool goes_on = table->segment_count > 0 && before->q_b == 0 && before->offset == entry[0];
    return goes_on ? EXIT_DONE : segments_add(table, start, 0, 0, entry[0], diag);
}

static int unpack(const struct image *image, struct table *table, struct diag *diag)
{
    if (need_types(table, diag))
        return diag->code;
    const int64_t in_frac_bits = image->values[IN_FRAC_BITS][0], shift = table->in.scale.shift_bits - in_frac_bits,
                  offset = image->values[INPUT_OFFSET][0];
    if (in_frac_bits < 0 || shift < 1 || shift > LONGEST_SHIFT)
        return diag_set(diag, EXIT_USAGE,
                        "in_frac_bits is %" PRId64 "; must be from 0 on, and 1 to %d less than the %d of --in",
                        in_frac_bits, LONGEST_SHIFT, table->in.scale.shift_bits);
    if (image->values[OUT_FRAC_BITS][0] != table->out.scale.shift_bits)
        return diag_set(diag, EXIT_USAGE, "out_frac_bits is %" PRId64 "; --out has %d", image->values[OUT_FRAC_BITS][0],
                        table->out.scale.shift_bits);
    segments_begin(table, PWL_BIASED, PWL_FLOOR);
    for (int64_t start = table->in.qmin; start <= table->in.qmax; start += (int64_t)1 << shift) {
        const int64_t i = pwl_sat((start >> shift) + offset, 0, image->entries - 2);
        if (add_line(table, &image->values[DATA][i], (int)i, start, (int)shift, diag))
            return diag->code;
    }
    return EXIT_DONE;
}

/* -- The text ------------------------------------------------------------------------------------------------------ */

static int write_c(const struct image *image, const struct table *table, struct text *out, struct diag *diag)
{
    const char *const name = table->function;
    (void)diag;
    add_banner(table, "/* ", " */", out);
    text_add(out, "#include <stdint.h>\n\nstatic const int16_t %s_data[%d] = {", name, image->entries);
    for (int i = 0; i < image->entries; i++)
        text_add(out, "%s%" PRId64 ",", i % 12 ? " " : "\n    ", image->values[DATA][i]);
    text_add(out, "\n};\n");
    for (int f = IN_FRAC_BITS; f <= INPUT_OFFSET; f++)
        text_add(out, "enum { %s_%s = %" PRId64 " };\n", name, fields[f].name, image->values[f][0]);
    text_add(out,
             "/* const mli_lut lut = MLI_LUT_OF(%s); */\n"
             "#ifndef MLI_LUT_OF\n"
             "#define MLI_LUT_OF(NAME) {{sizeof NAME##_data, {(int32_t *)NAME##_data}}, MLI_EL_FX_16, sizeof "
             "NAME##_data / 2, "
             "NAME##_in_frac_bits, NAME##_out_frac_bits, NAME##_input_offset, 0}\n"
             "#endif\n",
             name);
    return EXIT_DONE;
}

/* Whether a name is NAME_field. */
static bool is_named(const struct initialiser *number, const char *field)
{
    const size_t length = strlen(number->name), tail = strlen(field);
    return length > tail && number->name[length - tail - 1] == '_' && strcmp(number->name + length - tail, field) == 0;
}

/* The numbers of the field, one or the entries. */
static int take_field(const struct initialiser *list, size_t count, enum field field, struct image *image,
                      struct diag *diag)
{
    int found = 0;
    for (size_t k = 0; k < count; k++) {
        if (!is_named(&list[k], fields[field].name))
            continue;
        if (!list[k].is_integer)
            return diag_set(diag, EXIT_USAGE, "%s is %g; must be an integer", list[k].name, list[k].real);
        if (found < image_count(image, field))
            image->values[field][found] = list[k].integer;
        found++;
    }
    return found == image_count(image, field) ? EXIT_DONE
                                              : diag_set(diag, EXIT_USAGE, "has %d numbers ..._%s; must have %d", found,
                                                         fields[field].name, image_count(image, field));
}

static int read_c(const struct layout *wanted, const char *bytes, size_t size, struct image *image,
                  struct origin *origin, struct diag *diag)
{
    struct initialiser *list;
    size_t count, entries = 0;
    (void)origin;
    if (initialisers_read(bytes, size, &list, &count, diag))
        return diag->code;
    for (size_t k = 0; k < count; k++)
        entries += is_named(&list[k], fields[DATA].name);
    if (!image_check_entries(wanted, entries, diag) && !image_make(wanted, (int)entries, image, diag))
        for (int f = DATA; f <= INPUT_OFFSET && !diag->code; f++)
            take_field(list, count, (enum field)f, image, diag);
    free(list);
    return diag->code;
}

static const struct notation notation_mli = {"c", "a C array, and what mli_lut has beside it", write_c, read_c, NULL};

const struct profile profile_mli = {
    .name = "mli",
    .reader = "embARC MLI: mli_lut of mli_krn_sigm_fx16 and others",
    .limits =
        "signed codes of 16 bits, scales that are powers of two, points 2^K codes apart, lines between them whose "
        "halves are rounded down",
    .flags = "--method minimax --knots points:8:half_down --offset-type s16 --pow2-scales --in s16:2^-12:0 "
             "--out s16:auto:0",
    .layout = &layout,
    .notations = {&notation_mli},
    .pack = pack,
    .unpack = unpack,
};
