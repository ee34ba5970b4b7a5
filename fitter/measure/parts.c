/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "parts.h"

#include <math.h>
#include <stdlib.h>

#include "smooth.h"

/* Large ones make few messages, small ones keep many processes busy to the end: at 2^24 codes, a quarter of a second.
 */
#define CHUNKS_OF_PART 256
#define LARGE_CHUNK ((uint64_t)1 << 16)
#define SMALL_CHUNK ((uint64_t)1 << 12)
#define MOST_IN_SMALL ((uint64_t)1 << 24)

static uint64_t chunk_size(uint64_t count)
{
    return count > MOST_IN_SMALL ? LARGE_CHUNK : SMALL_CHUNK;
}

static size_t chunk_count(uint64_t count)
{
    const uint64_t size = chunk_size(count);
    return (size_t)((count + size - 1) / size);
}

int parts_cut(const struct subject *subject, const uint64_t *items, uint64_t count, struct parts *parts,
              struct diag *diag)
{
    *parts = (struct parts){.subject = *subject,
                            .codes = {items, count, chunk_size(count)},
                            .initial = chunk_initial(subject),
                            .chunk_count = chunk_count(count)};
    parts->chunks = calloc(parts->chunk_count, sizeof *parts->chunks);
    return parts->chunks ? EXIT_DONE : diag_set(diag, EXIT_IO, "out of memory while comparing codes");
}

void parts_expect(struct parts *parts, const struct error_stats *stats)
{
    /* Just below what counts as the error of some code, so that only codes near it are candidates. */
    parts->initial.max_err = nextafter(max_err_tied(&parts->subject.table->out, stats->max_err), -1);
    parts->initial.max_ulp = stats->max_ulp > 0 ? stats->max_ulp - 1 : 0;
    parts->smooth = true;
}

static struct point item_point(const struct parts *parts, uint64_t index)
{
    return point_at(&parts->subject, chunk_code(&parts->subject, &parts->codes, index),
                    (parts->codes.items[index] & 1) != 0);
}

static void add_items(const struct parts *parts, struct chunk *chunk, uint64_t begin, uint64_t end)
{
    struct point previous = item_point(parts, begin > 0 ? begin - 1 : 0);
    for (uint64_t i = begin; i < end; i++) {
        const struct point point = item_point(parts, i);
        chunk_add_point(chunk, &parts->subject, &point);
        if (!chunk->backward)
            chunk->backward = steps_backward(&parts->subject, &previous, &point);
        previous = point;
    }
}

uint64_t parts_run_chunk(struct parts *parts, size_t index)
{
    const struct chunk_codes *codes = &parts->codes;
    const uint64_t begin = index * codes->chunk_size;
    const uint64_t end = codes->count - begin > codes->chunk_size ? begin + codes->chunk_size : codes->count;
    struct chunk chunk = parts->initial;
    if (codes->items)
        add_items(parts, &chunk, begin, end);
    else
        chunk_add_codes(&chunk, &parts->subject, chunk_code(&parts->subject, codes, begin), (int64_t)(end - begin),
                        parts->smooth);
    parts->chunks[index] = chunk;
    return end - begin;
}

int parts_join(const struct parts *parts, struct error_stats *stats, struct diag *diag)
{
    return chunks_join(&parts->subject, parts->chunks, parts->chunk_count, &parts->codes, stats, diag);
}

int parts_count(int64_t codes)
{
    return (int)((chunk_count((uint64_t)codes) + CHUNKS_OF_PART - 1) / CHUNKS_OF_PART);
}

/* The chunks of a part: [first, its end). */
static size_t first_chunk(int part)
{
    return (size_t)part * CHUNKS_OF_PART;
}

static size_t end_chunk(const struct parts *parts, int part)
{
    const size_t end = first_chunk(part) + CHUNKS_OF_PART;
    return end < parts->chunk_count ? end : parts->chunk_count;
}

int64_t parts_first(const struct parts *parts, int part)
{
    return chunk_code(&parts->subject, &parts->codes, first_chunk(part) * parts->codes.chunk_size);
}

int64_t parts_last(const struct parts *parts, int part)
{
    const uint64_t end = end_chunk(parts, part) * parts->codes.chunk_size;
    return chunk_code(&parts->subject, &parts->codes, (end < parts->codes.count ? end : parts->codes.count) - 1);
}

void parts_measure(struct parts *parts, int part)
{
    for (size_t k = first_chunk(part); k < end_chunk(parts, part); k++)
        parts_run_chunk(parts, k);
}

void parts_save(const struct parts *parts, int part, struct text *record)
{
    for (size_t k = first_chunk(part); k < end_chunk(parts, part); k++)
        chunk_save(&parts->chunks[k], record);
}

bool parts_load(struct parts *parts, int part, struct record *record)
{
    for (size_t k = first_chunk(part); k < end_chunk(parts, part); k++)
        parts->chunks[k] = chunk_load(record);
    return !record->failed;
}

void parts_free(struct parts *parts)
{
    free(parts->chunks);
    parts->chunks = NULL;
}
