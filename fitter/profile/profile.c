/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/suggest.h"
#include "families.h"

const struct profile *const profiles[] = {
    &profile_tosa8,
    &profile_tosa16,
    &profile_ethosu8,
    &profile_ethosu16,
    &profile_tflm8,
    &profile_tflm16,
    &profile_executorch8,
    &profile_xnnpack8,
    &profile_espdl16,
    &profile_espdl16_p4,
    &profile_espdl16_linear,
    &profile_quant_gru,
    &profile_aimet_pe,
    &profile_finn,
    &profile_aie,
    &profile_aie_v2,
    &profile_nvdla,
    &profile_gna,
    &profile_k210,
    &profile_mli,
    &profile_tosa_softmax8,
    &profile_hls4ml,
    &profile_hls4ml_oneapi,
    &profile_hls4ml_oneapi_stable,
    &profile_hls4ml_legacy,
    &profile_hls4ml_oneapi_legacy,
    NULL,
};

enum { PROFILE_COUNT = sizeof profiles / sizeof *profiles - 1 };

#define EVERY_CODE_BITS 20
#define PART_MAX_BYTES ((size_t)1 << 16)

static int find_notation(const char *flag, const char *text, const struct profile *profile,
                         const struct notation **notation, struct diag *diag)
{
    char names[80] = "";
    for (int k = 0; profile->notations[k]; k++) {
        if (strcmp(text, profile->notations[k]->name) == 0) {
            *notation = profile->notations[k];
            return EXIT_DONE;
        }
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", k ? ", " : "", profile->notations[k]->name);
    }
    return diag_set(diag, EXIT_USAGE, "%s %s:%s: %s is written as %s", flag, profile->name, text, profile->name, names);
}

int profile_find(const char *flag, const char *text, const struct profile **profile, const struct notation **notation,
                 struct diag *diag)
{
    const char *colon = strchr(text, ':');
    const size_t length = colon ? (size_t)(colon - text) : strlen(text);
    const char *names[PROFILE_COUNT + 1];
    for (int k = 0; k < PROFILE_COUNT; k++) {
        names[k] = profiles[k]->name;
        if (strlen(names[k]) == length && strncmp(names[k], text, length) == 0) {
            *profile = profiles[k];
            *notation = profiles[k]->notations[0];
            return colon ? find_notation(flag, colon + 1, profiles[k], notation, diag) : EXIT_DONE;
        }
    }
    names[PROFILE_COUNT] = NULL;
    char word[32], meant[SUGGESTION_SIZE];
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), text);
    return diag_set(diag, EXIT_USAGE, "%s %s: is no profile%s `pwlc list profiles` shows them", flag, text,
                    suggestion(word, names, ";", meant));
}

/* Exit 3 at the first code, of those tried, at which a table of the same types differs from that of a profile. All of
 * up to EVERY_CODE_BITS bits are tried, of wider ones those around every start and 2^16 others. */
static int compare(const struct profile *profile, const struct table *table, const struct table *other,
                   struct diag *diag)
{
    struct packed_table a, b;
    if (table_pack(table, &a, diag))
        return diag->code;
    if (table_pack(other, &b, diag)) {
        packed_table_free(&a);
        return diag->code = EXIT_REQUIREMENT;
    }
    const struct tensor *in = &table->in;
    const int64_t codes = in->qmax - in->qmin + 1;
    const int64_t steps = in->bits <= EVERY_CODE_BITS ? codes : 65536;
    const int64_t near = in->bits <= EVERY_CODE_BITS ? 0 : 4;
    const struct table *tables[] = {table, other};
    int64_t differs = INT64_MIN;
    for (int64_t k = 0; k < steps && differs == INT64_MIN; k++) {
        const int64_t q_x = in->qmin + codes / steps * k;
        if (packed_eval(&a, q_x) != packed_eval(&b, q_x) && !(profile->is_free && profile->is_free(table, q_x)))
            differs = q_x;
    }
    for (int t = 0; t < 2; t++)
        for (int i = 0; i < tables[t]->segment_count && near > 0 && differs == INT64_MIN; i++)
            for (int64_t q_x = tables[t]->segments[i].start - near; q_x < tables[t]->segments[i].start + near; q_x++)
                if (packed_eval(&a, q_x) != packed_eval(&b, q_x))
                    differs = q_x;
    if (differs != INT64_MIN)
        diag_set(diag, EXIT_REQUIREMENT,
                 "at code %" PRId64 " the layout can give %" PRId64 ", the table gives %" PRId64, differs,
                 packed_eval(&b, differs), packed_eval(&a, differs));
    packed_table_free(&a);
    packed_table_free(&b);
    return diag->code;
}

/* Numbers that give the table's own outputs at every code. */
static int pack_surely(const struct profile *profile, const struct table *table, struct image *image, struct diag *diag)
{
    struct table again = {.in = table->in, .out = table->out, .storage = table->storage};
    if (profile->pack(table, image, diag) || image_check(image, diag))
        return diag->code;
    again.segments = malloc(PWL_MAX_SEGMENTS * sizeof *again.segments);
    if (!again.segments)
        return diag_set(diag, EXIT_IO, "out of memory for a table");
    memcpy(again.function, table->function, sizeof again.function);
    if (profile->unpack(image, &again, diag))
        diag->code = EXIT_REQUIREMENT;
    else
        compare(profile, table, &again, diag);
    free(again.segments);
    return diag->code;
}

int profile_write(const struct profile *profile, const struct notation *notation, const struct table *table,
                  struct text parts[FOLDER_MAX_PARTS], int *count, struct diag *diag)
{
    struct image image = {0};
    diag->code = EXIT_DONE;
    *count = 1;
    if (pack_surely(profile, table, &image, diag))
        ;
    else if (notation->folder)
        notation->folder->write(&image, table, parts, count, diag);
    else
        notation->write(&image, table, &parts[0], diag);
    image_free(&image);
    if (diag->code == EXIT_REQUIREMENT) {
        char prefix[200];
        snprintf(prefix, sizeof prefix, "%s holds %s", profile->name, profile->limits);
        diag_prefix(diag, prefix);
    }
    for (int k = 0; k < *count && !diag->code; k++)
        if (parts[k].failed)
            diag_set(diag, EXIT_IO, "out of memory for %s", profile->name);
    return diag->code;
}

/* Says which notation of the profile a file is in that the one given does not read. */
static void name_notation(const struct profile *profile, const struct notation *given, const char *bytes, size_t size,
                          struct diag *diag)
{
    for (int k = 0; profile->notations[k]; k++) {
        const struct notation *notation = profile->notations[k];
        struct image image = {0};
        struct origin origin = {0};
        struct diag unread = {.code = EXIT_DONE};
        const bool is_read = notation != given && !notation->folder &&
                             !notation->read(profile->layout, bytes, size, &image, &origin, &unread);
        image_free(&image);
        if (is_read) {
            diag_set(diag, EXIT_USAGE, "is not %s but %s: --profile %s:%s reads it", given->name, notation->name,
                     profile->name, notation->name);
            return;
        }
    }
}

int profile_read(const struct profile *profile, const struct notation *notation, const char *bytes, size_t size,
                 struct image *image, struct origin *origin, struct diag *diag)
{
    *origin = (struct origin){0};
    *image = (struct image){0};
    diag->code = EXIT_DONE;
    if (notation->read(profile->layout, bytes, size, image, origin, diag) == EXIT_USAGE)
        name_notation(profile, notation, bytes, size, diag);
    else if (!diag->code && image_check(image, diag))
        diag->code = EXIT_USAGE; /* a number that its field does not hold */
    return diag->code;
}

int profile_read_folder(const struct profile *profile, const struct notation *notation, const char *path,
                        const struct tensor *in, struct image *image, struct diag *diag)
{
    struct text parts[FOLDER_MAX_PARTS] = {{0}};
    struct text name = {0};
    int count = 0;
    *image = (struct image){0};
    for (bool more = true; more && count < FOLDER_MAX_PARTS && !diag->code; count += more) {
        char part[PART_NAME_SIZE];
        unsigned char *bytes;
        notation->folder->part_name(count, part);
        text_free(&name);
        text_add(&name, "%s/%s", path, part);
        if (name.failed) {
            diag_set(diag, EXIT_IO, "out of memory for the name of a file");
            break;
        }
        more = count == 0 || access(name.bytes, F_OK) == 0;
        if (more && !file_read(name.bytes, PART_MAX_BYTES, &bytes, &parts[count].size, diag))
            parts[count].bytes = (char *)bytes;
    }
    if (!diag->code && notation->folder->read(profile->layout, in, parts, count, image, diag))
        diag_prefix(diag, path);
    for (int k = 0; k < FOLDER_MAX_PARTS; k++)
        text_free(&parts[k]);
    text_free(&name);
    return diag->code;
}

int profile_unpack(const struct profile *profile, const struct image *image, struct table *table, struct diag *diag)
{
    const int64_t zero_point = table->in.zero_point;
    if (zero_point < INT32_MIN || zero_point > INT32_MAX)
        return diag_set(diag, EXIT_USAGE, "--in: the zero point is %" PRId64 "; must have 32 bits", zero_point);
    table->segments = malloc(PWL_MAX_SEGMENTS * sizeof *table->segments);
    if (!table->segments)
        return diag_set(diag, EXIT_IO, "out of memory for a table");
    table->storage = storage_for(table->in.bits, table->out.bits);
    if (profile->unpack(image, table, diag) == EXIT_REQUIREMENT) /* a type, that the caller gave */
        diag->code = EXIT_USAGE;
    return diag->code;
}
