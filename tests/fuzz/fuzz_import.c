/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of profiles: the first byte picks profile and notation, the second the types, the third the shift that aie is
 * told. An accepted file is a table whose outputs are codes; where the profile holds it again, its numbers are the same
 * table, and each of the notations gives back these numbers. On one input in some, every code is compared. */
#include "fuzz.h"

#include <string.h>

#include "function/tensor.h"
#include "profile/profile.h"
#include "table/table.h"

#define HEAD 3
#define MANY_CODES 512 /* that are compared where that may take long, */
#define CODES 48       /* and each time */
#define FEW_BITS 5     /* of inputs all of whose codes are visited each time, */
#define MOST_BITS 16   /* and of those whose numbers are found each time: finn's visit every code */

static const char *const types[][2] = {
    {"s8:2^-4:0", "s8:2^-7:0"},
    {"u8:2^-4:128", "u8:2^-7:3"},
    {"s8:2^-4:0", "s4:2^-3:0"},
    {"s16:2^-12:0", "s16:2^-15:0"},
    {"u16:2^-12:24576", "u16:2^-16:-1"},
    {"s16:2^-12:0", "s12:2^-11:0"},
    {"s18:2^-12:0", "s20:2^-15:0"},
    {"s18:2^-12:0", "u8:2^-5:0"},
    {"s32:2^-20:0", "s16:2^-12:0"},
    {"s32:2^-20:2147483647", "s32:2^-12:0"},
    {"u31:2^-20:-2147483648", "u16:2^-12:0"},
    {"u10:0.01:5", "s10:0.1:-9"},
};

/* The n-th notation of all profiles, from the start again behind the last. */
static void pick(unsigned n, const struct profile **profile, const struct notation **notation)
{
    unsigned count = 0;
    for (int p = 0; profiles[p]; p++)
        for (int k = 0; profiles[p]->notations[k]; k++)
            count++;
    n %= count;
    for (int p = 0; profiles[p]; p++)
        for (int k = 0; profiles[p]->notations[k]; k++)
            if (n-- == 0) {
                *profile = profiles[p];
                *notation = profiles[p]->notations[k];
            }
}

/* The parts of a folder are separated by form feeds. */
static int read_folder(const struct profile *profile, const struct notation *notation, const struct tensor *in,
                       char *bytes, size_t size, struct image *image, struct diag *diag)
{
    struct text parts[FOLDER_MAX_PARTS] = {{0}};
    int count = 0;
    char *at = bytes;
    for (char *end = bytes + size; count < FOLDER_MAX_PARTS; count++) {
        char *feed = memchr(at, '\f', (size_t)(end - at));
        parts[count] = (struct text){.bytes = at, .size = (size_t)((feed ? feed : end) - at)};
        if (!feed)
            break;
        *feed = '\0';
        at = feed + 1;
    }
    count += count < FOLDER_MAX_PARTS;
    *image = (struct image){0};
    return notation->folder->read(profile->layout, in, parts, count, image, diag);
}

/* A copy with a zero byte behind it, of exactly that size. */
static char *copy(const void *bytes, size_t size)
{
    char *text = malloc(size + 1);
    REQUIRE(text != NULL);
    memcpy(text, bytes, size);
    text[size] = '\0';
    return text;
}

/* The numbers of a file; the caller frees them. */
static int read_image(const struct profile *profile, const struct notation *notation, const struct tensor *in,
                      char *bytes, size_t size, struct image *image, struct diag *diag)
{
    struct origin origin = {0};
    *image = (struct image){0};
    return notation->folder ? read_folder(profile, notation, in, bytes, size, image, diag)
                            : profile_read(profile, notation, bytes, size, image, &origin, diag);
}

/* A table of a file; the caller frees its segments. */
static int read_table(const struct profile *profile, const struct notation *notation, char *bytes, size_t size,
                      int shift, struct table *table, struct diag *diag)
{
    struct image image;
    const int code = read_image(profile, notation, &table->in, bytes, size, &image, diag);
    image.shift = image.shift < 0 ? shift : image.shift;
    if (!code)
        profile_unpack(profile, &image, table, diag);
    image_free(&image);
    return diag->code;
}

static void require_same(const struct table *table, const struct packed_table *a, const struct packed_table *b,
                         int is_long)
{
    const int64_t span = table->in.qmax - table->in.qmin, codes = is_long ? MANY_CODES : CODES;
    for (int64_t k = 0; k < codes; k++) {
        const int64_t q_x = table->in.qmin + span / (codes - 1) * k, q_y = packed_eval(a, q_x);
        REQUIRE(q_y >= table->out.qmin && q_y <= table->out.qmax);
        REQUIRE(q_y == packed_eval(b, q_x));
    }
    const int stride = is_long ? 1 : 1 + table->segment_count / CODES;
    for (int i = 0; i < table->segment_count; i += stride)
        for (int64_t step = -1; step <= 1; step++)
            REQUIRE(packed_eval(a, table->segments[i].start + step) == packed_eval(b, table->segments[i].start + step));
}

/* Bytes do not tell the sign of a field of any sign. */
static void require_same_field(const struct image *a, const struct image *b, int k)
{
    const struct layout_field *const field = &a->layout->fields[k];
    const uint64_t told = field->any_sign ? ((uint64_t)1 << field->bits) - 1 : UINT64_MAX;
    REQUIRE(image_count(a, k) == image_count(b, k));
    for (int i = 0; i < image_count(a, k); i++)
        REQUIRE((((uint64_t)a->values[k][i] ^ (uint64_t)b->values[k][i]) & told) == 0);
}

/* Numbers in a notation are the same when they are read. */
static void require_notation(const struct profile *profile, const struct notation *notation, const struct table *table,
                             const struct image *image)
{
    struct text parts[FOLDER_MAX_PARTS] = {{0}}, whole = {0};
    struct image again;
    struct diag diag = {0};
    int count = 1;
    const int code = notation->folder ? notation->folder->write(image, table, parts, &count, &diag)
                                      : notation->write(image, table, &parts[0], &diag);
    if (code != EXIT_DONE) {
        REQUIRE(diag.code == EXIT_REQUIREMENT && one_line(diag.text));
    } else {
        for (int k = 0; k < count; k++) {
            text_add_bytes(&whole, parts[k].bytes, parts[k].size);
            if (k + 1 < count)
                text_add(&whole, "\f");
        }
        char *bytes = copy(whole.bytes, whole.size);
        REQUIRE(read_image(profile, notation, &table->in, bytes, whole.size, &again, &diag) == EXIT_DONE);
        REQUIRE(again.entries == image->entries);
        for (int k = 0; profile->layout->fields[k].name; k++)
            require_same_field(&again, image, k);
        image_free(&again);
        free(bytes);
    }
    for (int k = 0; k < FOLDER_MAX_PARTS; k++)
        text_free(&parts[k]);
    text_free(&whole);
}

/* What the numbers of a profile are, as a table. */
static void require_same_table(const struct profile *profile, const struct table *table,
                               const struct packed_table *packed, const struct image *image, int is_long)
{
    struct table again = {.in = table->in, .out = table->out};
    struct packed_table packed_again;
    struct diag diag = {0};
    pwl_proof proof;
    REQUIRE(profile_unpack(profile, image, &again, &diag) == EXIT_DONE);
    REQUIRE(table_prove(&again, EXIT_USAGE, &packed_again, &proof, &diag) == EXIT_DONE);
    require_same(table, packed, &packed_again, is_long);
    packed_table_free(&packed_again);
    free(again.segments);
}

/* Numbers of the table that was read, which are not its own where the file had another way to say them. Without a look
 * at every code what the profile holds is known where pack alone says so; then profile_write() decides. */
static void require_round_trip(const struct profile *profile, struct table *table, const struct packed_table *packed,
                               int is_long)
{
    struct text parts[FOLDER_MAX_PARTS] = {{0}};
    struct image image = {0};
    struct diag diag = {0};
    int count, code = EXIT_DONE;
    if (is_long || table->in.bits <= FEW_BITS) {
        code = profile_write(profile, profile->notations[0], table, parts, &count, &diag);
        REQUIRE(code == EXIT_DONE || (code == EXIT_REQUIREMENT && one_line(diag.text)));
        for (int k = 0; k < FOLDER_MAX_PARTS; k++)
            text_free(&parts[k]);
        if (code == EXIT_DONE) {
            REQUIRE(profile->pack(table, &image, &diag) == EXIT_DONE);
            require_same_table(profile, table, packed, &image, is_long);
        }
    } else if (table->in.bits <= MOST_BITS) {
        code = profile->pack(table, &image, &diag) ? diag.code : image_check(&image, &diag);
        REQUIRE(code == EXIT_DONE || (code == EXIT_REQUIREMENT && one_line(diag.text)));
    } else {
        return;
    }
    for (int k = 0; code == EXIT_DONE && profile->notations[k]; k++)
        require_notation(profile, profile->notations[k], table, &image);
    image_free(&image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct profile *profile = NULL;
    const struct notation *notation = NULL;
    struct table table = {.spec = (char[]){""}, .function = "tanh"};
    struct packed_table packed;
    struct diag diag = {0};
    pwl_proof proof;
    if (size < HEAD)
        return 0;
    pick(data[0], &profile, &notation);
    const char *const *type = types[data[1] % (sizeof types / sizeof *types)];
    const int shift = data[2] % 32;
    REQUIRE(tensor_parse(type[0], "--in", &table.in, &diag) == EXIT_DONE);
    REQUIRE(tensor_parse(type[1], "--out", &table.out, &diag) == EXIT_DONE);

    char *bytes = copy(data + HEAD, size - HEAD);
    int code = read_table(profile, notation, bytes, size - HEAD, shift, &table, &diag);
    if (code == EXIT_DONE)
        code = table_prove(&table, EXIT_USAGE, &packed, &proof, &diag);
    if (code != EXIT_DONE) {
        REQUIRE_REFUSAL(code, diag);
    } else {
        const int is_long = takes_long(data, size);
        require_same(&table, &packed, &packed, is_long);
        require_round_trip(profile, &table, &packed, is_long);
        packed_table_free(&packed);
    }
    free(table.segments);
    free(bytes);
    return 0;
}
