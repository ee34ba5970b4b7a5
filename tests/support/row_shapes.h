/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of codes on which row operators go wrong, if they do. */
#ifndef ROW_SHAPES_H
#define ROW_SHAPES_H

#include "made_rows.h"
#include "random.h"

/* Rows that are hard: which code stands at place k of a row of `length`, of codes from 0 to `top`. */
typedef uint32_t row_shape(size_t k, size_t length, uint32_t top, uint32_t part, uint64_t *state);

static inline uint32_t one_against_many(size_t k, size_t length, uint32_t top, uint32_t part, uint64_t *state)
{
    (void)state;
    return k == length / 2 ? top : top - part;
}

static inline uint32_t two_values(size_t k, size_t length, uint32_t top, uint32_t part, uint64_t *state)
{
    (void)state;
    return k < length / 2 ? top : top - part;
}

static inline uint32_t equal(size_t k, size_t length, uint32_t top, uint32_t part, uint64_t *state)
{
    (void)k, (void)length, (void)state;
    return top - part;
}

static inline uint32_t alternating_ends(size_t k, size_t length, uint32_t top, uint32_t part, uint64_t *state)
{
    (void)length, (void)state;
    return k & 1 ? top : part & 1 ? 0 : part;
}

static inline uint32_t ramp(size_t k, size_t length, uint32_t top, uint32_t part, uint64_t *state)
{
    (void)part, (void)state;
    return (uint32_t)(k * top / length);
}

static inline uint32_t drawn(size_t k, size_t length, uint32_t top, uint32_t part, uint64_t *state)
{
    (void)k, (void)length, (void)part;
    return (uint32_t)random_in(state, 0, top);
}

/* The sum of four: near to normal, of the width that `part` says. */
static inline uint32_t bell(size_t k, size_t length, uint32_t top, uint32_t part, uint64_t *state)
{
    int64_t v = top / 2;
    (void)k, (void)length;
    for (int j = 0; j < 4; j++)
        v += random_in(state, -(int64_t)(part / 4), part / 4);
    return (uint32_t)(v < 0 ? 0 : v > top ? top : v);
}

static inline uint32_t outliers(size_t k, size_t length, uint32_t top, uint32_t part, uint64_t *state)
{
    return random_bits(state) % 100 == 0 ? (uint32_t)random_in(state, 0, top) : bell(k, length, top, part / 16, state);
}

static row_shape *const shapes[] = {one_against_many, two_values, equal, alternating_ends, ramp, drawn, bell, outliers};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static inline void fill_row(pwl_type type, void *x, size_t length, row_shape *shape, uint32_t part, uint64_t *state)
{
    const uint32_t top = (1u << type_bits(type)) - 1;
    for (size_t k = 0; k < length; k++)
        set_code_at(type, x, k, type_lowest(type) + (int32_t)shape(k, length, top, part, state));
}

/* A part of the codes: few and many, both small and large. */
static inline uint32_t part_of(pwl_type type, int k)
{
    static const uint16_t parts[] = {0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 255};
    const uint32_t part = parts[k % 14];
    return type_bits(type) == 8 ? part : k < 14 ? part : part * 257;
}

#endif
