/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hls4ml's activation tables: N = 2^k values, and a rule by function that makes an index of x, a fixed-point number.
 *
 *     WHOLE   N/2 + x N / (2 R)             from -R to R, the first and last entry beyond        sigmoid, tanh, ...
 *     HALF    |x| N / R, at most N - 1      for x < 0 the entry from 1, or negated               of oneAPI and Quartus
 *     BELOW   |x| N / R, at most N - 1      for x < 0 alone; else x, or x times a constant       elu, selu
 *     TOP     the highest k bits of x       two's complement: 0, 1, ..., -2, -1                  exp, 1/x of softmax
 *     SIGN    the k bits behind the sign    x on one side of 0; 0 for x = 0 alone                the same, of oneAPI's
 *     UP      x N / R, at most N - 1        from 0                                               1/x of old softmax
 *
 * ap_fixed becomes an int towards 0, ac_fixed by floor; only WHOLE has indices below 0. A value that the type of the
 * table or of the output does not hold to its last bit is rounded down.
 *
 * Sources: hls4ml's nnet_activation for Vivado, for oneAPI and for Quartus; the writers of activation_tables.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "families.h"
#include "initialisers.h"
#include "notation.h"
#include "segments.h"

#define MOST_ADDRESS_BITS 12
#define INPUT_BITS 20                  /* every code is looked up */
#define FRACTION_BITS FIXED_POINT_LOG2 /* of an image's numbers */
#define SELU_SLOPE 1.0507009873554804934193349852946

enum rule { WHOLE, HALF, BELOW, TOP, SIGN, UP };

struct lookup {
    const char *function, *array, *type;
    enum rule rule;
    int range_log2;    /* of R */
    double one;        /* HALF: what an entry is taken from for x < 0 */
    double slope;      /* BELOW: of the codes that are not below 0 */
    int slope_bits;    /* BELOW: its bits behind the point; 0: as many as the output has */
    bool towards_zero; /* indices below 0 */
    int side;          /* SIGN: of the codes that occur, -1 or 1 */
};

static const struct lookup of_vivado[] = {
    {"sigmoid", "sigmoid_table", "table_t", .rule = WHOLE, .range_log2 = 3, .towards_zero = true},
    {"tanh", "tanh_table", "table_t", .rule = WHOLE, .range_log2 = 2, .towards_zero = true},
    {"softsign", "softsign_table", "table_t", .rule = WHOLE, .range_log2 = 3, .towards_zero = true},
    {"softplus", "softplus_table", "table_t", .rule = WHOLE, .range_log2 = 3, .towards_zero = true},
    {"elu", "elu_table", "table_t", .rule = BELOW, .range_log2 = 3, .slope = 1},
    {"selu", "selu_table", "table_t", .rule = BELOW, .range_log2 = 3, .slope = SELU_SLOPE, .slope_bits = 15},
    {"exp", "exp_table", "exp_table_t", .rule = TOP},
    {"reciprocal", "invert_table", "inv_table_t", .rule = TOP},
    {"expr", "exp_table", "exp_table_t", .rule = TOP}, /* exp(-x), of what stable softmax lies below its maximum */
    {.function = NULL},
};

static const struct lookup of_oneapi[] = {
    {"sigmoid", "sigmoid_table", "table_t", .rule = HALF, .range_log2 = 3, .one = 1},
    {"tanh", "tanh_table", "table_t", .rule = HALF, .range_log2 = 2, .one = 0},
    {"softsign", "softsign_table", "table_t", .rule = HALF, .range_log2 = 3, .one = 0},
    {"softplus", "softplus_table", "table_t", .rule = WHOLE, .range_log2 = 3},
    {"elu", "elu_table", "table_t", .rule = BELOW, .range_log2 = 3, .slope = 1},
    {"selu", "selu_table", "table_t", .rule = BELOW, .range_log2 = 3, .slope = SELU_SLOPE},
    {"exp", "exp_table_latency", "exp_table_t", .rule = TOP},
    {"reciprocal", "invert_table_latency", "inv_table_t", .rule = TOP},
    {.function = NULL},
};

static const struct lookup of_vivado_legacy[] = {
    {"exp", "exp_table", "table_t", .rule = WHOLE, .range_log2 = 3, .towards_zero = true},
    {"reciprocal", "invert_table", "table_t", .rule = UP, .range_log2 = 6},
    {.function = NULL},
};

static const struct lookup of_oneapi_legacy[] = {
    {"exp", "exp_table_legacy", "exp_table_t", .rule = WHOLE, .range_log2 = 3},
    {"reciprocal", "invert_table_legacy", "inv_table_t", .rule = UP, .range_log2 = 6},
    {.function = NULL},
};

static const struct lookup of_oneapi_stable[] = {
    {"exp", "exp_table", "exp_table_t", .rule = SIGN, .side = -1},
    {"reciprocal", "invert_table", "inv_table_t", .rule = SIGN, .side = 1},
    {.function = NULL},
};

static const struct layout_field fields[] = {{.name = "table", .bits = 64, .is_signed = true, .step = 64},
                                             {.name = NULL}};
static const struct layout layout = {
    .fields = fields, .entry_bytes = 8, .min_entries = 2, .max_entries = 1 << MOST_ADDRESS_BITS, .of_powers = true};

/* The lookup of the table's function; null, and exit 3, where there is none, or not of such types. */
static const struct lookup *find_lookup(const struct lookup *lookups, const struct table *table, struct diag *diag)
{
    if (need_fixed_point(&table->in, "input", 2, INPUT_BITS, ANY_SIGN, diag) ||
        need_fixed_point(&table->out, "output", 2, 32, ANY_SIGN, diag))
        return NULL;
    for (const struct lookup *lookup = lookups; lookup->function; lookup++)
        if (strcmp(lookup->function, table->function) == 0)
            return lookup->rule == SIGN && need_type(&table->in, "input", 2, INPUT_BITS, SIGNED, diag) ? NULL : lookup;
    struct text names = {0};
    for (const struct lookup *lookup = lookups; lookup->function; lookup++)
        text_add(&names, "%s%s", lookup == lookups ? "" : ", ", lookup->function);
    if (names.failed)
        diag_set(diag, EXIT_IO, "out of memory for a message");
    else
        diag_set(diag, EXIT_REQUIREMENT, "the function is %s; must be one of %s", table->function, names.bytes);
    text_free(&names);
    return NULL;
}

/* x 2^-shift. */
static int64_t shifted(int64_t x, int shift, bool towards_zero)
{
    if (shift > 62)
        return x < 0 && !towards_zero ? -1 : 0;
    if (shift >= 0)
        return towards_zero && x < 0 ? -(-x >> shift) : x >> shift;
    const int64_t most = INT64_MAX >> (shift < -30 ? 62 : 2 - shift); /* beyond any index */
    return x > most ? INT64_MAX / 2 : x < -most ? -(INT64_MAX / 2) : x * ((int64_t)1 << (shift < -30 ? 30 : -shift));
}

/* The entry of 2^k for a code; -1 where none is looked up. */
static int64_t entry_of(const struct lookup *lookup, const struct tensor *in, int k, int64_t q_x)
{
    const int64_t entries = (int64_t)1 << k;
    const int unit = in->scale.shift_bits + lookup->range_log2 - k; /* 2^unit codes an entry, but of WHOLE the double */
    int64_t at;
    switch (lookup->rule) {
    case WHOLE:
        at = shifted(q_x, unit + 1, lookup->towards_zero) + entries / 2;
        break;
    case TOP:
        return (q_x >> (in->bits - k)) & (entries - 1);
    case SIGN:
        at = (q_x >> (in->bits - 1 - k)) & (entries - 1);
        return at == 0 && q_x != 0 ? 1 : at;
    case UP:
        at = shifted(q_x, unit, false);
        break;
    default:
        if (lookup->rule == BELOW && q_x >= 0)
            return -1;
        at = shifted(q_x < 0 ? -q_x : q_x, unit, false);
    }
    return at < 0 ? 0 : at < entries ? at : entries - 1;
}

/* Rounded down. */
static int64_t code_of(const struct tensor *out, double real)
{
    return (int64_t)floor(ldexp(real, out->scale.shift_bits));
}

/* The output that an entry gives, and the entry that gives an output. */
static int64_t mirrored(const struct lookup *lookup, const struct tensor *out, int64_t q_x, int64_t q_y)
{
    return lookup->rule == HALF && q_x < 0 ? code_of(out, lookup->one) - q_y : q_y;
}

/* -x is no code there, and the entry is none of the array, or another code's; or the code does not occur. */
static bool is_free_of(const struct lookup *lookup, const struct tensor *in, int64_t q_x)
{
    const bool has_no_mirror = in->is_signed && q_x == in->qmin;
    return (has_no_mirror && (lookup->rule == HALF || lookup->rule == SIGN)) || lookup->side * q_x < 0 ||
           (lookup->rule == UP && q_x < 0);
}

/* Bits of the input that tell entries apart. */
static int address_bits(const struct lookup *lookup, const struct tensor *in)
{
    return lookup->rule == TOP ? in->bits : lookup->rule == SIGN ? in->bits - 1 : MOST_ADDRESS_BITS;
}

/* The outputs of the entries that codes lead to, of 2^k; false where two codes of one entry need two. */
static bool collect(const struct lookup *lookup, const struct table *table, const struct packed_table *packed, int k,
                    int64_t *outputs, bool *is_set)
{
    bool agrees = true;
    memset(is_set, 0, sizeof *is_set << k);
    for (int64_t q_x = table->in.qmax; q_x >= table->in.qmin; q_x--) {
        const int64_t at = entry_of(lookup, &table->in, k, q_x);
        if (at < 0 || is_free_of(lookup, &table->in, q_x))
            continue;
        const int64_t q_y = mirrored(lookup, &table->out, q_x, packed_eval(packed, q_x));
        agrees &= !is_set[at] || outputs[at] == q_y;
        if (!is_set[at])
            outputs[at] = q_y;
        is_set[at] = true;
    }
    return agrees;
}

/* Entries that no code leads to take the value of the nearest one before them, or else of the first. */
static void fill(int entries, int64_t *outputs, const bool *is_set)
{
    int first = 0;
    while (first < entries - 1 && !is_set[first])
        first++;
    for (int i = 0; i < entries; i++)
        if (!is_set[i])
            outputs[i] = outputs[i < first ? first : i - 1];
}

/* As few entries as the table's steps allow. */
static int pack(const struct lookup *lookups, const struct table *table, struct image *image, struct diag *diag)
{
    struct packed_table packed;
    int64_t outputs[1 << MOST_ADDRESS_BITS] = {0};
    bool is_set[1 << MOST_ADDRESS_BITS];
    const struct lookup *const lookup = find_lookup(lookups, table, diag);
    if (!lookup || table_pack(table, &packed, diag))
        return diag->code;
    const int bits = address_bits(lookup, &table->in), most = bits < MOST_ADDRESS_BITS ? bits : MOST_ADDRESS_BITS;
    int k = 1;
    while (!collect(lookup, table, &packed, k, outputs, is_set) && k < most)
        k++;
    packed_table_free(&packed);
    if (image_make(&layout, 1 << k, image, diag))
        return diag->code;
    fill(1 << k, outputs, is_set);
    for (int i = 0; i < 1 << k; i++)
        image->values[0][i] = outputs[i] * ((int64_t)1 << (FRACTION_BITS - table->out.scale.shift_bits));
    return EXIT_DONE;
}

/* The codes that are not below 0: a line, or its steps where the slope is none that a segment holds. */
static int add_line(const struct lookup *lookup, struct table *table, struct diag *diag)
{
    const int out_fraction = table->out.scale.shift_bits;
    const int slope_fraction = lookup->slope == 1 ? 0 : lookup->slope_bits ? lookup->slope_bits : out_fraction;
    const int64_t slope = (int64_t)floor(ldexp(lookup->slope, slope_fraction));
    const int n = table->in.scale.shift_bits + slope_fraction - out_fraction;
    if (slope >> (storage_bits(table->storage) - 1) == 0)
        return segments_add(table, 0, slope, n, 0, diag);
    for (int64_t q_x = 0; q_x <= table->in.qmax; q_x++)
        if (segments_add(table, q_x, 0, 0, shifted(q_x * slope, n, false), diag))
            return diag->code;
    return EXIT_DONE;
}

static int unpack(const struct lookup *lookups, const struct image *image, struct table *table, struct diag *diag)
{
    const struct lookup *const lookup = find_lookup(lookups, table, diag);
    int k = 1;
    if (!lookup)
        return diag->code;
    while (1 << k < image->entries)
        k++;
    if (k > address_bits(lookup, &table->in))
        return diag_set(diag, EXIT_USAGE, "has %d entries; --in of %d bits has %d codes", image->entries,
                        table->in.bits, 1 << address_bits(lookup, &table->in));
    segments_begin(table, PWL_ABSOLUTE, PWL_FLOOR);
    for (int64_t q_x = table->in.qmin, before = 0; q_x <= table->in.qmax; q_x++) {
        const int64_t at = entry_of(lookup, &table->in, k, q_x);
        if (at < 0)
            return add_line(lookup, table, diag) || need_within(table, diag) ? diag->code : EXIT_DONE;
        const int64_t held = image->values[0][at] >> (FRACTION_BITS - table->out.scale.shift_bits);
        const int64_t q_y = mirrored(lookup, &table->out, q_x, held);
        if ((q_x == table->in.qmin || q_y != before) && segments_add(table, q_x, 0, 0, q_y, diag))
            return diag->code;
        before = q_y;
    }
    return need_within(table, diag);
}

/* -- The text ------------------------------------------------------------------------------------------------------ */

static void add_type(const struct tensor *type, struct text *out)
{
    text_add(out, "%sfixed<%d, %d>", type->is_signed ? "" : "u", type->bits, type->bits - type->scale.shift_bits);
}

static int write(const struct lookup *lookups, const struct image *image, const struct table *table, struct text *out,
                 struct diag *diag)
{
    const struct lookup *const lookup = find_lookup(lookups, table, diag);
    if (!lookup)
        return diag->code;
    add_banner(table, "// ", "", out);
    text_add(out, "// table_size %d; of ", image->entries);
    add_type(&table->in, out);
    text_add(out, " to ");
    add_type(&table->out, out);
    text_add(out, "\nstatic const typename CONFIG_T::%s %s[%d] = {", lookup->type, lookup->array, image->entries);
    for (int i = 0; i < image->entries; i++) {
        char number[NUMBER_TEXT_SIZE];
        number_format(ldexp((double)image->values[0][i], -FRACTION_BITS), number);
        text_add(out, "%s%s", i == 0 ? "\n    " : i % 8 ? ", " : ",\n    ", number);
    }
    text_add(out, "};\n");
    return EXIT_DONE;
}

static int read_numbers(const struct layout *wanted, const char *bytes, size_t size, struct image *image,
                        struct origin *origin, struct diag *diag)
{
    const double limit = ldexp(1, 62 - FRACTION_BITS);
    struct initialiser *list;
    size_t count;
    (void)origin;
    if (initialisers_read(bytes, size, &list, &count, diag))
        return diag->code;
    if (!image_check_entries(wanted, count, diag) && !image_make(wanted, (int)count, image, diag))
        for (int i = 0; i < image->entries && !diag->code; i++) {
            if (fabs(list[i].real) >= limit)
                diag_set(diag, EXIT_USAGE, "table[%d] is %g; must be below %g", i, list[i].real, limit);
            else
                image->values[0][i] = (int64_t)floor(ldexp(list[i].real, FRACTION_BITS));
        }
    free(list);
    return diag->code;
}

/* -- The profiles, each by its lookups ---------------------------------------------------------------------------- */

#define HLS4ML(NAME)                                                                                                   \
    static int pack_##NAME(const struct table *table, struct image *image, struct diag *diag)                          \
    {                                                                                                                  \
        return pack(of_##NAME, table, image, diag);                                                                    \
    }                                                                                                                  \
    static int unpack_##NAME(const struct image *image, struct table *table, struct diag *diag)                        \
    {                                                                                                                  \
        return unpack(of_##NAME, image, table, diag);                                                                  \
    }                                                                                                                  \
    static int write_##NAME(const struct image *image, const struct table *table, struct text *out, struct diag *diag) \
    {                                                                                                                  \
        return write(of_##NAME, image, table, out, diag);                                                              \
    }                                                                                                                  \
    static bool is_free_##NAME(const struct table *table, int64_t q_x)                                                 \
    {                                                                                                                  \
        struct diag ignored = {.code = EXIT_DONE};                                                                     \
        const struct lookup *const lookup = find_lookup(of_##NAME, table, &ignored);                                   \
        return lookup && is_free_of(lookup, &table->in, q_x);                                                          \
    }                                                                                                                  \
    static const struct notation notation_##NAME = {"tb", "an array of numbers in C++", write_##NAME, read_numbers,    \
                                                    NULL}

#define LOOKED_UP_BY(NAME)                                                                                             \
    .layout = &layout, .notations = {&notation_##NAME}, .pack = pack_##NAME, .unpack = unpack_##NAME,                  \
    .is_free = is_free_##NAME

HLS4ML(vivado);
HLS4ML(oneapi);
HLS4ML(oneapi_stable);
HLS4ML(vivado_legacy);
HLS4ML(oneapi_legacy);

#define OF_FIXED_POINT " or reciprocal, of fixed-point numbers, a power of two up to 4096"
#define LIMITS(OTHERS) "values of sigmoid, tanh, softsign, softplus, elu, selu, exp" OTHERS OF_FIXED_POINT
#define FLAGS "--method lut --pow2-scales --in s10:2^-6:0 --out s16:auto:0"

const struct profile profile_hls4ml = {
    .name = "hls4ml",
    .reader = "hls4ml's nnet_activation.h for Vivado and Vitis, in place of its init_..._table",
    .limits = LIMITS(", an expression as exp(-x)"),
    .flags = FLAGS,
    LOOKED_UP_BY(vivado),
};

const struct profile profile_hls4ml_oneapi = {
    .name = "hls4ml-oneapi",
    .reader = "hls4ml for oneAPI and Quartus: nnet_utils/activation_tables",
    .limits = LIMITS(""),
    .flags = FLAGS,
    LOOKED_UP_BY(oneapi),
};

const struct profile profile_hls4ml_oneapi_stable = {
    .name = "hls4ml-oneapi-stable",
    .reader = "as hls4ml-oneapi: the two tables of stable softmax",
    .limits = "values of exp at x of 0 and below" OF_FIXED_POINT " above 0",
    .flags = FLAGS,
    LOOKED_UP_BY(oneapi_stable),
};

const struct profile profile_hls4ml_legacy = {
    .name = "hls4ml-legacy",
    .reader = "as hls4ml: the two tables of legacy softmax",
    .limits = "values of exp from -8 to 8" OF_FIXED_POINT " from 0 to 64",
    .flags = FLAGS,
    LOOKED_UP_BY(vivado_legacy),
};

const struct profile profile_hls4ml_oneapi_legacy = {
    .name = "hls4ml-oneapi-legacy",
    .reader = "as hls4ml-oneapi: the two tables of legacy softmax",
    .limits = "values of exp from -8 to 8" OF_FIXED_POINT " from 0 to 64",
    .flags = FLAGS,
    LOOKED_UP_BY(oneapi_legacy),
};
