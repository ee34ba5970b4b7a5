/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A comparison in chunks, which may be measured anywhere and in any order: a chunk's sums are its own, and chunks are
 * joined in order. Parts are runs of chunks, of every code of a wide input: what is worth a message. */
#ifndef PWLC_PARTS_H
#define PWLC_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/record.h"
#include "comparison.h"

struct parts {
    struct subject subject;
    struct chunk_codes codes;
    struct chunk initial; /* what a chunk starts from */
    bool smooth;          /* chunk_add_codes */
    size_t chunk_count;
    struct chunk *chunks; /* malloc'd */
};

/* Cuts the codes into chunks, none of which is measured; all codes where items is null, else those, which stay the
 * caller's. Free with parts_free(), also after a failure. */
int parts_cut(const struct subject *subject, const uint64_t *items, uint64_t count, struct parts *parts,
              struct diag *diag);

/* Measures a chunk; how many codes it has. */
uint64_t parts_run_chunk(struct parts *parts, size_t chunk);

/* Beforehand, of every code of a wide input: chunks then know what is known from the codes that measure() compares
 * without all_codes, so that they look at few codes closely. */
void parts_expect(struct parts *parts, const struct error_stats *stats);

int parts_join(const struct parts *parts, struct error_stats *stats, struct diag *diag);

/* How many parts a comparison of so many codes has, and the codes of one. */
int parts_count(int64_t codes);
int64_t parts_first(const struct parts *parts, int part);
int64_t parts_last(const struct parts *parts, int part);

void parts_measure(struct parts *parts, int part);

/* What a part has found, and takes from elsewhere; false when that is of another comparison. */
void parts_save(const struct parts *parts, int part, struct text *record);
bool parts_load(struct parts *parts, int part, struct record *record);

void parts_free(struct parts *parts);

#endif
