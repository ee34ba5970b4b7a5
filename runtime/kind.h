/* SPDX-License-Identifier: Apache-2.0 */
/* What ways of one kind share: which tables they serve, and what they read. */
#ifndef PWL_KIND_H
#define PWL_KIND_H

#include <pwl/plan.h>
#include <pwl/reduce.h>

#include "element.h"

/* What is to be mapped: a checked table of so many plain lines, or a checked reduced table and its core. */
typedef struct pwl_source {
    const pwl_table *table;
    const pwl_reduced *reduced; /* null for a table */
    int64_t qmin_x;             /* lowest input code */
    uint32_t lines;
} pwl_source;

pwl_source pwl_source_of(const pwl_table *table);
pwl_source pwl_source_of_reduced(const pwl_reduced *reduced);

/* What is to be prepared: for arrays of which types the kernel's work is. */
typedef struct pwl_job {
    const pwl_table *table;
    const pwl_reduced *reduced;
    uint32_t lines, counted; /* plain lines; what the kind's count() gives */
    pwl_type in, out;
} pwl_job;

/* Builds for narrower tables leave reduced ones to pwl_reduced_map(). */
#define PWL_SERVES_REDUCED (PWL_MOST_BITS > 16)

/* What a kind serves. */
enum { PWL_TABLES = 1, PWL_REDUCED = 2 };

/* Kernels map bytes to bytes; values of more bytes are joined (convert.h). */
enum { PWL_JOINED = 255 };

typedef struct pwl_kind {
    uint8_t serves;
    /* Bytes of an element that the kernels map, 0 where they map the plan's own arrays: others are converted. */
    uint8_t in_bytes, out_bytes;
    /* Bytes that prepare() writes; 0 where the kind does not serve the job. */
    size_t (*size)(const pwl_job *job);
    /* Writes them to memory aligned to PWL_KIND_ALIGNMENT. */
    void (*prepare)(const pwl_job *job, void *memory);
    /* Lines that the kernels search, asked before size() and written to the job; null where they are the job's. */
    uint32_t (*count)(const pwl_job *job);
} pwl_kind;

/* Vectors of any width load from prepared arrays whole. */
#define PWL_KIND_ALIGNMENT 64u

extern const pwl_kind pwl_kind_bytes, pwl_kind_values, pwl_kind_pieces, pwl_kind_narrow, pwl_kind_wide,
    pwl_kind_cells16, pwl_kind_cells, pwl_kind_octaves;

/* Code 0 of an array whose lowest code is 0 or -2^(bits - 1) lies here when counted as signed from the middle: what is
 * to be subtracted from a code of the type to get it. 2^(bits - 1) for unsigned types, else 0. */
static inline int64_t pwl_type_middle(pwl_type type)
{
    return pwl_type_is_unsigned(type) ? (int64_t)1 << ((8 << pwl_type_bytes_log2(type)) - 1) : 0;
}

#endif
