/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many threads walk arrays, in which blocks.
 *
 * Short arrays: one wave, and where little is to be done few blocks, so that the next launch finds room to start in.
 * Long ones, beyond what the caches hold: blocks that end soon where they keep little in shared memory, else several
 * waves, each half as long as the one before it, the last as long as its predecessor. Multiprocessors differ in speed
 * by a tenth; those that end their part early start on the next one, so that all end together, and stay close enough to
 * each other to share the pages of memory that are open.
 */
#ifndef PWL_SHAPE_H
#define PWL_SHAPE_H

#include <stddef.h>
#include <stdint.h>

#include <pwl/fixed.h>

/* A multiprocessor holds so many threads of a map at most; registers are limited accordingly. */
#define PWL_SHAPE_RESIDENT 1152

/* Loads that a thread has under way, each in 16 bytes of shared memory at most. */
#define PWL_SHAPE_DEPTH 2

typedef struct pwl_shape {
    uint32_t threads;     /* of a block */
    uint32_t wave_blocks; /* blocks of a wave */
    uint32_t waves;
} pwl_shape;

/* For `work` pieces, at least one, of which a thread takes one at a time, and blocks that keep `values` bytes in shared
 * memory. The numbers were found by trial on an H200. */
PWL_FN pwl_shape pwl_shape_of(size_t work, uint32_t multiprocessors, uint32_t values)
{
    const int is_long = work >= (size_t)32 * PWL_SHAPE_RESIDENT * multiprocessors; /* the last wave has work for all */
    uint32_t most = multiprocessors;
    pwl_shape shape;
    shape.threads = 512;
    shape.waves = 1;
    if (is_long && values <= 1 << 10) {
        shape.threads = 160;
        most = work / (4 * 160) < 1u << 24 ? (uint32_t)(work / (4 * 160)) : 1u << 24; /* threads count in 32 bits */
    } else if (is_long) {
        shape.threads = values <= 16 << 10 ? 224 : 384;
        shape.waves = 6;
        most *= PWL_SHAPE_RESIDENT / shape.threads;
    } else if (work > (size_t)8 * shape.threads * multiprocessors) {
        most *= 2;
    }
    shape.wave_blocks = (work - 1) / shape.threads < most ? (uint32_t)((work - 1) / shape.threads) + 1 : most;
    return shape;
}

/* The first piece of wave `wave` out of `work`; that of wave `waves` is `work`. */
PWL_FN size_t pwl_shape_first(size_t work, uint32_t waves, uint32_t wave)
{
    return wave < waves ? work - (work >> wave) : work;
}

#endif
