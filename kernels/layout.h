/* SPDX-License-Identifier: Apache-2.0 */
/* Where the arrays of a table lie on a device, and which of its memories a kernel reads them from. */
#ifndef PWL_LAYOUT_H
#define PWL_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include <pwl/pwl.h>

/* Dynamic shared memory that every device grants a block unasked. */
#define PWL_SHARED_LIMIT 49152u

/* A block, and the blocks that a multiprocessor holds at least and is sent at most: 1024 threads leave 64 registers to
 * each, of which the kernels need up to 59. */
#define PWL_MAP_THREADS 256
#define PWL_MAP_BLOCKS 4

/* The types come in pairs of one width: 1, 2 or 4 bytes. */
static inline size_t pwl_type_bytes(pwl_type type)
{
    return (size_t)1 << (type >> 1);
}

/*
 * One piece of memory, no gaps: offset, start, q_b, n. Each array's elements are as wide as those of the one after it,
 * or wider, so that each is aligned. `bytes` is rounded up to 16, for copies of 16 bytes at a time.
 */
typedef struct pwl_layout {
    uint32_t start, q_b, n; /* byte offsets; that of `offset` is 0 */
    uint32_t bytes;
    uint32_t shared_bytes; /* `bytes` where a block's shared memory holds them, else 0 */
} pwl_layout;

/* The table's segments are at most PWL_MAX_SEGMENTS: at most 17 * 4096 bytes. */
static inline pwl_layout pwl_layout_of(const pwl_table *table)
{
    const uint32_t segments = table->segments, element = 1u << table->storage;
    const uint32_t offset = table->storage == PWL_INT8 && table->form == PWL_BIASED ? 4 : 2 * element;
    pwl_layout layout;
    layout.start = segments * offset;
    layout.q_b = layout.start + segments * element;
    layout.n = layout.q_b + segments * element;
    layout.bytes = (layout.n + segments + 15) / 16 * 16;
    layout.shared_bytes = layout.bytes <= PWL_SHARED_LIMIT ? layout.bytes : 0;
    return layout;
}

#endif
