/* SPDX-License-Identifier: Apache-2.0 */
/* Tables for the runtime's tests: written as plain int64 arrays, packed into the runtime's layout, and drawn at random
 * from a fixed seed. */
#ifndef MADE_TABLE_H
#define MADE_TABLE_H

#include <stdint.h>
#include <string.h>

#include <pwl/pwl.h>

#include "random.h"

/* A test may ask for longer tables. */
#ifndef MADE_MAX_SEGMENTS
#define MADE_MAX_SEGMENTS 16
#endif

/* An array of one of the runtime's element types. */
union made_array {
    int8_t as_int8[MADE_MAX_SEGMENTS];
    int16_t as_int16[MADE_MAX_SEGMENTS];
    int32_t as_int32[MADE_MAX_SEGMENTS];
    int64_t as_int64[MADE_MAX_SEGMENTS];
};

struct made_table {
    /* What the test writes; the pointers of `table` are set by made_pack(). */
    pwl_table table;
    int64_t start[MADE_MAX_SEGMENTS], q_b[MADE_MAX_SEGMENTS], n[MADE_MAX_SEGMENTS], offset[MADE_MAX_SEGMENTS];
    /* What the runtime reads. */
    union made_array packed_start, packed_q_b, packed_n, packed_offset;
};

static inline const void *made_store(union made_array *array, const int64_t *v, int count, int bytes)
{
    for (int i = 0; i < count; i++) {
        if (bytes == 1)
            array->as_int8[i] = (int8_t)v[i];
        else if (bytes == 2)
            array->as_int16[i] = (int16_t)v[i];
        else if (bytes == 4)
            array->as_int32[i] = (int32_t)v[i];
        else
            array->as_int64[i] = v[i];
    }
    return array;
}

static inline const pwl_table *made_pack(struct made_table *made)
{
    pwl_table *const table = &made->table;
    const int bytes = 1 << table->storage, count = table->segments;
    const int offset_bytes = table->storage == PWL_INT8 && table->form == PWL_BIASED ? 4 : 2 * bytes;
    table->start = made_store(&made->packed_start, made->start, count, bytes);
    table->q_b = made_store(&made->packed_q_b, made->q_b, count, bytes);
    table->n = (const int8_t *)made_store(&made->packed_n, made->n, count, 1);
    table->offset = made_store(&made->packed_offset, made->offset, count, offset_bytes);
    return table;
}

/* A signed value of a random width up to `bits`, so that small and large magnitudes are equally common. */
static inline int64_t random_width(uint64_t *state, int bits)
{
    const int drop = (int)(random_bits(state) % (uint64_t)bits);
    const uint64_t magnitude = random_bits(state) >> (64 - bits + drop) >> 1;
    return random_bits(state) & 1 ? (int64_t)~magnitude : (int64_t)magnitude;
}

/* As random_width, and every fourth time close to the ends of the width. */
static inline int64_t random_field(uint64_t *state, int bits)
{
    const int64_t max = (int64_t)(UINT64_MAX >> (65 - bits)), v = random_width(state, bits);
    if (random_bits(state) % 4)
        return v;
    return v < 0 ? -max - 1 - v / (max / 64 + 1) : max - v / (max / 64 + 1);
}

static inline int64_t random_zero_point(uint64_t *state, const pwl_table *table)
{
    const int bits = table->storage == PWL_INT8 ? 16 : table->storage == PWL_INT16 ? 31 : 62;
    if ((table->flags & PWL_FLAG_FOLD) || random_bits(state) % 2)
        return random_in(state, table->qmin_x, table->qmax_x);
    return random_bits(state) % 2 ? table->qmin_x + random_in(state, -40, 200) : random_width(state, bits);
}

/* The slope, shift and offset of segment i; the table's storage and form are set. */
static inline void made_random_line(struct made_table *made, uint64_t *state, int i)
{
    const pwl_table *const table = &made->table;
    const int bits = 8 << table->storage, acc_bits = table->storage == PWL_INT32 ? 64 : 32, max_n = acc_bits - 1;
    const int offset_bits = table->form == PWL_BIASED ? acc_bits : table->storage == PWL_INT32 ? 48 : 2 * bits;
    const int tame = random_bits(state) % 4 != 0;
    made->q_b[i] = random_field(state, bits);
    made->n[i] = tame ? random_in(state, -2, bits) : random_in(state, -max_n, max_n);
    made->offset[i] = tame ? random_width(state, bits + 1) : random_field(state, offset_bits);
}

/*
 * Fields that are legal one by one, over at most `codes` input codes in segments of at most `longest`: the ranges, zero
 * point and starts pass the proof, while slopes, shifts and offsets of every magnitude decide whether the arithmetic
 * does.
 */
static inline void made_random_dense(struct made_table *made, uint64_t *state, pwl_storage storage, pwl_form form,
                                     pwl_rounding rounding, int fold, int64_t codes, int64_t longest)
{
    pwl_table *const table = &made->table;
    const int bits = 8 << storage, acc_bits = storage == PWL_INT32 ? 64 : 32;
    const int is_unsigned = random_bits(state) & 1, unsigned_y = random_bits(state) & 1;
    const int64_t half = (int64_t)1 << (bits - 1);
    const int64_t min_x = is_unsigned ? 0 : -half, max_x = is_unsigned ? 2 * half - 1 : half - 1;
    const int64_t min_y = unsigned_y ? 0 : -half, max_y = unsigned_y ? 2 * half - 1 : half - 1;
    const int64_t span = random_in(state, 1, codes < 2 * half ? codes : 2 * half);
    int64_t first, last;

    memset(made, 0, sizeof *made);
    table->version = PWL_TABLE_VERSION;
    table->storage = (uint8_t)storage;
    table->form = (uint8_t)form;
    table->rounding = (uint8_t)rounding;
    table->flags = (uint16_t)((is_unsigned ? PWL_FLAG_UNSIGNED_X : 0) | (fold ? PWL_FLAG_FOLD : 0));
    table->qmin_x = random_bits(state) % 4 ? random_in(state, min_x, max_x - span + 1) : max_x - span + 1;
    table->qmax_x = table->qmin_x + span - 1;
    table->qmin_y = random_in(state, min_y, max_y);
    table->qmax_y = random_bits(state) % 2 ? max_y : random_in(state, table->qmin_y, max_y);
    table->zp_x = random_zero_point(state, table);
    table->fold_sum = !fold                    ? 0
                      : random_bits(state) % 4 ? random_width(state, bits + 1)
                                               : random_field(state, acc_bits);

    first = fold ? table->zp_x : table->qmin_x;
    last = fold && 2 * table->zp_x - table->qmin_x > table->qmax_x ? 2 * table->zp_x - table->qmin_x : table->qmax_x;
    if (last > max_x)
        last = max_x;
    while (first <= last && table->segments < MADE_MAX_SEGMENTS) {
        const int i = table->segments++;
        made->start[i] = first;
        made_random_line(made, state, i);
        first += random_in(state, 1, longest);
    }
    made_pack(made);
}

/* As made_random_dense, in a handful of segments. */
static inline void made_random(struct made_table *made, uint64_t *state, pwl_storage storage, pwl_form form,
                               pwl_rounding rounding, int fold, int codes)
{
    made_random_dense(made, state, storage, form, rounding, fold, codes, 1 + codes / 4);
}

#endif
