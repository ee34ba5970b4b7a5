/* SPDX-License-Identifier: Apache-2.0 */
/* What ways of one kind share: which tables they serve, and what they read. */
#ifndef PWL_KIND_H
#define PWL_KIND_H

#include <pwl/plan.h>

#include "element.h"

/* What is to be prepared: a checked table, the types of the arrays that the kernel maps, and how many plain lines the
 * table has. */
typedef struct pwl_job {
    const pwl_table *table;
    pwl_type in, out;
    uint32_t lines;
} pwl_job;

typedef struct pwl_kind {
    /* Bytes of an element that the kernels map, 0 where they map the plan's own arrays: others are converted. */
    uint8_t in_bytes, out_bytes;
    /* Bytes that prepare() writes; 0 where the kind does not serve the job. */
    size_t (*size)(const pwl_job *job);
    /* Writes them to memory aligned to PWL_KIND_ALIGNMENT. */
    void (*prepare)(const pwl_job *job, void *memory);
} pwl_kind;

/* Vectors of any width load from prepared arrays whole. */
#define PWL_KIND_ALIGNMENT 64u

extern const pwl_kind pwl_kind_bytes, pwl_kind_values, pwl_kind_pieces, pwl_kind_narrow, pwl_kind_wide,
    pwl_kind_cells16, pwl_kind_cells;

static inline int pwl_type_is_unsigned(pwl_type type)
{
    return (int)type & 1;
}

/* Code 0 of an array whose lowest code is 0 or -2^(bits - 1) lies here when counted as signed from the middle: what is
 * to be subtracted from a code of the type to get it. 2^(bits - 1) for unsigned types, else 0. */
static inline int64_t pwl_type_middle(pwl_type type)
{
    return pwl_type_is_unsigned(type) ? (int64_t)1 << ((8 << pwl_type_bytes_log2(type)) - 1) : 0;
}

#endif
