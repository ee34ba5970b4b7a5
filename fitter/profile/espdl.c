/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ESP-DL's tables of 16 bits: values T on an even grid of 2^K codes, N of them and one for the code behind the last.
 *
 *     T[i]      T[i+1]         x + 32768 = 2^K i + f
 *      o---------o---------o
 *      |<- 2^K ->|             espdl16          T[i] where f < 2^(K-1), else T[i+1]
 *                              espdl16-p4       the same, but f = 2^(K-1) gives the even one of i and i + 1
 *                              espdl16-linear   T[i] + (T[i+1] - T[i]) f / 2^K, as C divides: towards T[i]
 *
 * The first two are read from version 3.3.8 on, on the P4 and on others; the last one before that. Scales are
 * powers of two, and there are no zero points.
 *
 * Sources: ESP-DL's dl_base_lut and its test; dl_module_lut of the versions before; ESP-PPQ's AddLUTPattern.
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

static const struct layout_field fields[] = {{.name = "table", .bits = 16, .is_signed = true, .step = 16},
                                             {.name = NULL}};
static const struct layout layout = {.fields = fields,
                                     .entry_bytes = 2,
                                     .min_entries = 3,
                                     .max_entries = CODES / 2 + 1,
                                     .of_powers = true,
                                     .and_more = 1};

/* How an entry is taken: the one that a shift with a rounding gives, or a point of the line between two. */
struct lookup {
    bool is_linear;
    pwl_rounding rounding;
    const char *index; /* in Python, of value, SHIFT and HALF */
};

static const struct lookup half_up = {
    .rounding = PWL_HALF_UP,
    .index = "    return value + HALF >> SHIFT\n",
};
static const struct lookup half_even = {
    .rounding = PWL_HALF_EVEN,
    .index = "    below = value >> SHIFT\n"
             "    return value + HALF - 1 + (below & 1) >> SHIFT\n",
};
static const struct lookup linear = {
    .is_linear = true,
    .rounding = PWL_FLOOR,
    .index = "    return value >> SHIFT\n",
};

static int need_types(const struct table *table, struct diag *diag)
{
    return need_fixed_point(&table->in, "input", 16, 16, SIGNED, diag) ||
                   need_fixed_point(&table->out, "output", 16, 16, SIGNED, diag)
               ? diag->code
               : EXIT_DONE;
}

/* What ESP-DL computes from the entries, 2^shift codes apart, x codes behind the lowest. */
static int64_t look_up(const struct lookup *lookup, const int64_t *entries, int shift, int64_t x)
{
    const int64_t i = pwl_shr64(x, shift, (int)lookup->rounding);
    if (!lookup->is_linear)
        return entries[i];
    return entries[i] + (entries[i + 1] - entries[i]) * (x & (((int64_t)1 << shift) - 1)) / ((int64_t)1 << shift);
}

/* Takes the values at the grid, and says whether they give the table at every code. */
static bool holds(const struct lookup *lookup, const struct table *table, const struct packed_table *packed, int shift,
                  int64_t *entries)
{
    const int64_t low = table->in.qmin;
    for (int64_t i = 0; i < CODES >> shift; i++)
        entries[i] = packed_eval(packed, low + (i << shift));
    /* Behind the last code: where the last line leads, or the value of the codes that are nearest. */
    entries[CODES >> shift] =
        lookup->is_linear ? raw_value(table, packed, low + CODES) : packed_eval(packed, low + CODES - 1);
    for (int64_t x = 0; x < CODES; x++)
        if (look_up(lookup, entries, shift, x) != packed_eval(packed, low + x))
            return false;
    return true;
}

/* As few entries as the table's steps or points allow; the usual number where none gives its outputs. */
static int pack(const struct lookup *lookup, const struct table *table, struct image *image, struct diag *diag)
{
    struct packed_table packed;
    if (need_types(table, diag) || table_pack(table, &packed, diag))
        return diag->code;
    bool is_held = false;
    for (int shift = LONGEST_SHIFT; shift >= 0 && !is_held; shift--) {
        const int tried = shift > 0 ? shift : USUAL_SHIFT;
        image_free(image);
        if (image_make(&layout, (CODES >> tried) + 1, image, diag))
            break;
        is_held = holds(lookup, table, &packed, tried, image->values[0]);
    }
    packed_table_free(&packed);
    return diag->code;
}

/* The line between two entries. What C's division drops of a falling one it adds. */
static int add_line(struct table *table, int64_t start, int shift, int64_t from, int64_t to, struct diag *diag)
{
    const int64_t slope = to - from, width = (int64_t)1 << shift;
    return segments_add(table, start, slope, shift, from * width - slope * start + (slope < 0 ? width - 1 : 0), diag);
}

static int unpack(const struct lookup *lookup, const struct image *image, struct table *table, struct diag *diag)
{
    const int64_t *entries = image->values[0], low = table->in.qmin;
    int shift = 1;
    if (need_types(table, diag))
        return diag->code;
    while ((CODES >> shift) + 1 > image->entries)
        shift++;
    segments_begin(table, lookup->is_linear ? PWL_BIASED : PWL_ABSOLUTE, PWL_FLOOR);
    for (int i = 0; lookup->is_linear && i < CODES >> shift; i++)
        if (need_slope(i, entries[i + 1] - entries[i], diag) ||
            add_line(table, low + ((int64_t)i << shift), shift, entries[i], entries[i + 1], diag))
            return diag->code;
    for (int64_t x = 0, before = 0; !lookup->is_linear && x < CODES; x++) {
        const int64_t q_y = look_up(lookup, entries, shift, x);
        if ((x == 0 || q_y != before) && segments_add(table, low + x, 0, 0, q_y, diag))
            return diag->code;
        before = q_y;
    }
    return EXIT_DONE;
}

/* -- The texts ----------------------------------------------------------------------------------------------------- */

/* ESP-DL's kernels read the table aligned to 16 bytes, and one more entry. */
static int write_c(const struct image *image, const struct table *table, struct text *out, struct diag *diag)
{
    (void)diag;
    add_banner(table, "/* ", " */", out);
    text_add(out, "#include <stdint.h>\n\n/* %d values, %d codes apart, and one that is read and not used */\n",
             image->entries, CODES / (image->entries - 1));
    text_add(out, "static const int16_t __attribute__((aligned(16))) table[%d] = {", image->entries + 1);
    for (int i = 0; i <= image->entries; i++)
        text_add(out, "%s%" PRId64 ",", i % 12 ? " " : "\n    ", i < image->entries ? image->values[0][i] : 0);
    text_add(out, "\n};\n");
    return EXIT_DONE;
}

static int take_integers(const struct initialiser *list, size_t count, struct image *image, struct diag *diag)
{
    if (image_check_entries(&layout, count, diag) || image_make(&layout, (int)count, image, diag))
        return diag->code;
    for (size_t i = 0; i < count; i++) {
        if (!list[i].is_integer)
            return diag_set(diag, EXIT_USAGE, "table[%zu] is %g; must be an integer", i, list[i].real);
        image->values[0][i] = list[i].integer;
    }
    return EXIT_DONE;
}

/* With the entry that is not used, or without. */
static int read_c(const struct layout *wanted, const char *bytes, size_t size, struct image *image,
                  struct origin *origin, struct diag *diag)
{
    struct initialiser *list;
    size_t count;
    (void)wanted;
    (void)origin;
    if (initialisers_read(bytes, size, &list, &count, diag))
        return diag->code;
    if (count > 2 && ((count - 1) & (count - 2)) != 0 && ((count - 2) & (count - 3)) == 0)
        count--;
    take_integers(list, count, image, diag);
    free(list);
    return diag->code;
}

/* The twin: what ESP-DL computes, in Python. */
static int write_py(const struct lookup *lookup, const struct image *image, const struct table *table, struct text *out)
{
    const int step = CODES / (image->entries - 1);
    add_banner(table, "# ", "", out);
    text_add(out,
             "\"\"\"ESP-DL's LUT of s16. index() takes codes as integers, or as arrays of NumPy or PyTorch of 32 bits "
             "or more.\"\"\"\nimport numpy\n\nSHIFT = %d\nHALF = 1 << SHIFT - 1\nTABLE = [",
             __builtin_ctz((unsigned)step));
    for (int i = 0; i < image->entries; i++)
        text_add(out, "%s%" PRId64 ",", i % 12 ? " " : "\n    ", image->values[0][i]);
    text_add(out, "\n]\n\n\ndef index(codes):\n    value = codes + 32768\n%s", lookup->index);
    text_add(out, "\n\ndef lookup(codes):\n    \"\"\"Output codes of input codes, as an array.\"\"\"\n"
                  "    codes, table = numpy.asarray(codes, numpy.int64), numpy.array(TABLE, numpy.int64)\n");
    text_add(out, lookup->is_linear ? "    i = index(codes)\n"
                                      "    product = (table[i + 1] - table[i]) * (codes & (1 << SHIFT) - 1)\n"
                                      "    return table[i] + numpy.sign(product) * (abs(product) >> SHIFT)\n"
                                    : "    return table[index(codes)]\n");
    return EXIT_DONE;
}

static int read_py(const struct layout *wanted, const char *bytes, size_t size, struct image *image,
                   struct origin *origin, struct diag *diag)
{
    static const char begin[] = "TABLE = [";
    struct initialiser *list;
    size_t count;
    (void)wanted;
    (void)origin;
    const char *const from = memchr(bytes, '\0', size) ? NULL : strstr(bytes, begin);
    const char *const end = from ? strchr(from, ']') : NULL;
    if (!end)
        return diag_set(diag, EXIT_USAGE, "has no line that begins a list, %s", begin);
    struct text text = {0}; /* as an initialiser of C */
    text_add(&text, "t = {%.*s};", (int)(end - from - (ptrdiff_t)strlen(begin)), from + strlen(begin));
    if (text.failed)
        diag_set(diag, EXIT_IO, "out of memory for a list");
    else if (!initialisers_read(text.bytes, text.size, &list, &count, diag)) {
        take_integers(list, count, image, diag);
        free(list);
    }
    text_free(&text);
    return diag->code;
}

static const struct notation notation_padded_c = {"c", "a C array, aligned and padded", write_c, read_c, NULL};

/* -- The profiles, each by its lookup -------------------------------------------------------------------------------
 */

#define ESPDL(NAME, LOOKUP)                                                                                            \
    static int pack_##NAME(const struct table *table, struct image *image, struct diag *diag)                          \
    {                                                                                                                  \
        return pack(&LOOKUP, table, image, diag);                                                                      \
    }                                                                                                                  \
    static int unpack_##NAME(const struct image *image, struct table *table, struct diag *diag)                        \
    {                                                                                                                  \
        return unpack(&LOOKUP, image, table, diag);                                                                    \
    }                                                                                                                  \
    static int write_##NAME(const struct image *image, const struct table *table, struct text *out, struct diag *diag) \
    {                                                                                                                  \
        (void)diag;                                                                                                    \
        return write_py(&LOOKUP, image, table, out);                                                                   \
    }                                                                                                                  \
    static const struct notation notation_##NAME = {"py", "its twin in Python", write_##NAME, read_py, NULL}

ESPDL(half_up, half_up);
ESPDL(half_even, half_even);
ESPDL(linear, linear);

#define LIMITS "signed codes of 16 bits, scales that are powers of two, values 2^K codes apart, "
#define TYPES " --offset-type s16 --pow2-scales --in s16:2^-12:0 --out s16:auto:0"

const struct profile profile_espdl16 = {
    .name = "espdl16",
    .reader = "ESP-DL's LUT of s16 from 3.3.8 on: ESP32-S3 and others",
    .limits = LIMITS "of which the nearest is read, half way the upper one",
    .flags = "--method minimax --knots steps:8 --rounding half_up" TYPES,
    .layout = &layout,
    .notations = {&notation_npy, &notation_padded_c, &notation_half_up, &notation_bytes},
    .pack = pack_half_up,
    .unpack = unpack_half_up,
};

const struct profile profile_espdl16_p4 = {
    .name = "espdl16-p4",
    .reader = "ESP-DL's LUT of s16 from 3.3.8 on: ESP32-P4",
    .limits = LIMITS "of which the nearest is read, half way the one of even index",
    .flags = "--method minimax --knots steps:8 --rounding half_even" TYPES,
    .layout = &layout,
    .notations = {&notation_npy, &notation_padded_c, &notation_half_even, &notation_bytes},
    .pack = pack_half_even,
    .unpack = unpack_half_even,
};

const struct profile profile_espdl16_linear = {
    .name = "espdl16-linear",
    .reader = "ESP-DL's LUT of s16 before 3.3.8",
    .limits = LIMITS "and lines between them that are rounded towards the left one",
    .flags = "--method minimax --knots points:8:toward_left" TYPES,
    .layout = &layout,
    .notations = {&notation_npy, &notation_padded_c, &notation_linear, &notation_bytes},
    .pack = pack_linear,
    .unpack = unpack_linear,
};
