/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of profiles: the first byte picks profile and notation, the second the types, the third the shift that aie is
 * told. An accepted file is a table whose outputs are codes; where the profile writes it again, in any of its
 * notations, and the file is read, the outputs are the same. */
#include "fuzz.h"

#include <string.h>

#include "function/tensor.h"
#include "profile/profile.h"
#include "table/table.h"

#define HEAD 3
#define CODES 512 /* that are compared */

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

/* A table of a file; the caller frees its segments. */
static int read_table(const struct profile *profile, const struct notation *notation, char *bytes, size_t size,
                      int shift, struct table *table, struct diag *diag)
{
    struct image image = {0};
    struct origin origin = {0};
    const int code = notation->folder ? read_folder(profile, notation, &table->in, bytes, size, &image, diag)
                                      : profile_read(profile, notation, bytes, size, &image, &origin, diag);
    image.shift = image.shift < 0 ? shift : image.shift;
    if (!code)
        profile_unpack(profile, &image, table, diag);
    image_free(&image);
    return diag->code;
}

static void require_same(const struct table *table, const struct packed_table *a, const struct packed_table *b)
{
    const int64_t span = table->in.qmax - table->in.qmin;
    for (int64_t k = 0; k < CODES; k++) {
        const int64_t q_x = table->in.qmin + span / (CODES - 1) * k, q_y = packed_eval(a, q_x);
        REQUIRE(q_y >= table->out.qmin && q_y <= table->out.qmax);
        REQUIRE(q_y == packed_eval(b, q_x));
    }
    for (int i = 0; i < table->segment_count && i < CODES; i++)
        for (int64_t step = -1; step <= 1; step++)
            REQUIRE(packed_eval(a, table->segments[i].start + step) == packed_eval(b, table->segments[i].start + step));
}

/* Writes a table and reads that. */
static void require_round_trip(const struct profile *profile, const struct notation *notation, struct table *table,
                               const struct packed_table *packed, int shift)
{
    struct text parts[FOLDER_MAX_PARTS] = {{0}}, whole = {0};
    struct table again = {.in = table->in, .out = table->out};
    struct packed_table packed_again;
    struct diag diag = {0};
    pwl_proof proof;
    int count;
    if (profile_write(profile, notation, table, parts, &count, &diag)) {
        REQUIRE(diag.code == EXIT_REQUIREMENT && one_line(diag.text));
    } else {
        for (int k = 0; k < count; k++) {
            text_add_bytes(&whole, parts[k].bytes, parts[k].size);
            if (k + 1 < count)
                text_add(&whole, "\f");
        }
        char *bytes = copy(whole.bytes, whole.size);
        REQUIRE(read_table(profile, notation, bytes, whole.size, shift, &again, &diag) == EXIT_DONE);
        REQUIRE(table_prove(&again, EXIT_USAGE, &packed_again, &proof, &diag) == EXIT_DONE);
        require_same(table, packed, &packed_again);
        packed_table_free(&packed_again);
        free(bytes);
    }
    for (int k = 0; k < FOLDER_MAX_PARTS; k++)
        text_free(&parts[k]);
    text_free(&whole);
    free(again.segments);
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
        require_same(&table, &packed, &packed);
        for (int k = 0; profile->notations[k]; k++)
            require_round_trip(profile, profile->notations[k], &table, &packed, shift);
        packed_table_free(&packed);
    }
    free(table.segments);
    free(bytes);
    return 0;
}
