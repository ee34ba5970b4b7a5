/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/npy.h"

/* Rows of segments do not say what comes before and after them. */
static int refuse_reduced(const struct table *table, const char *format, struct diag *diag)
{
    if (!table->has_reduction)
        return EXIT_DONE;
    return diag_set(diag, EXIT_USAGE,
                    "--format %s: the table has a reduction, which rows of segments cannot carry; use c or json",
                    format);
}

static int out_of_memory(struct diag *diag)
{
    return diag_set(diag, EXIT_IO, "out of memory while writing the table");
}

int emit_json(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
              struct diag *diag)
{
    (void)options;
    if (count > 1)
        text_add(out, "[\n");
    for (int i = 0; i < count; i++) {
        char *json = NULL;
        const int code = table_to_json(tables[i], &json, diag);
        if (code != EXIT_DONE)
            return code;
        size_t length = strlen(json);
        while (length > 0 && json[length - 1] == '\n')
            json[--length] = '\0';
        text_add(out, "%s%s\n", json, i + 1 < count ? "," : "");
        free(json);
    }
    if (count > 1)
        text_add(out, "]\n");
    return out->failed ? out_of_memory(diag) : EXIT_DONE;
}

/* Where the line of a segment, rounding and saturation left aside, meets x = 0: with slope m = q_b * 2^-n in code
 * space, q_y = m * X + c for real c, so y = slope * x + scale_y * (c - zp_y). */
static long double intercept_real(const struct table *table, const struct segment *segment, long double m)
{
    long double c = (long double)segment->offset;
    if (table->form == PWL_BIASED)
        c = ldexpl(c, -segment->n);
    else if (table->form == PWL_ANCHORED)
        c -= m * (long double)(segment->start - table->in.zero_point);
    return table->out.scale.value * (c - (long double)table->out.zero_point);
}

int emit_csv(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
             struct diag *diag)
{
    const struct table *table = tables[0];
    (void)options;
    (void)count;
    if (refuse_reduced(table, "csv", diag))
        return diag->code;

    text_add(out, "segment,start,q_b,n_BX_total,%s,start_real,slope_real,intercept_real\n", offset_name(table->form));
    for (int i = 0; i < table->segment_count; i++) {
        const struct segment *segment = &table->segments[i];
        const long double m = ldexpl((long double)segment->q_b, -segment->n);
        text_add(out, "%d,%" PRId64 ",%" PRId64 ",%d,%" PRId64 ",%.17g,%.17g,%.17g\n", i, segment->start, segment->q_b,
                 segment->n, segment->offset, (double)tensor_real(&table->in, segment->start),
                 (double)(m * table->out.scale.value / table->in.scale.value),
                 (double)intercept_real(table, segment, m));
    }
    return out->failed ? out_of_memory(diag) : EXIT_DONE;
}

static void store_le64(unsigned char *bytes, int64_t value)
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)((uint64_t)value >> (8 * i));
}

int emit_npy(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
             struct diag *diag)
{
    const struct table *table = tables[0];
    const size_t rows = (size_t)table->segment_count;
    (void)options;
    (void)count;
    if (refuse_reduced(table, "npy", diag))
        return diag->code;

    unsigned char *data = malloc(rows * 4 * 8), *bytes = NULL;
    size_t size = 0;
    if (!data)
        return out_of_memory(diag);
    for (size_t i = 0; i < rows; i++) {
        const struct segment *segment = &table->segments[i];
        store_le64(data + 32 * i, segment->start);
        store_le64(data + 32 * i + 8, segment->q_b);
        store_le64(data + 32 * i + 16, segment->n);
        store_le64(data + 32 * i + 24, segment->offset);
    }
    const struct npy npy = {
        .kind = 'i', .item_size = 8, .dimensions = 2, .shape = {rows, 4}, .count = rows * 4, .data = data};
    const int code = npy_build(&npy, &bytes, &size, diag);
    free(data);
    if (code != EXIT_DONE)
        return code;
    /* The array's bytes become the text's own. */
    text_free(out);
    *out = (struct text){.bytes = (char *)bytes, .size = size, .capacity = size};
    return EXIT_DONE;
}
