/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many threads walk arrays, in which blocks, and which part each takes.
 *
 * Short arrays: one wave, and where little is to be done few blocks, so that the next launch finds room to start in.
 * Long ones, beyond what the caches hold: where blocks keep little in shared memory, they end soon, each after a
 * stretch of its own; else several waves, each half as long as the one before it, the last as long as its predecessor.
 * Multiprocessors differ in speed by a tenth; those that end their part early start on the next one, so that all end
 * together, and stay close enough to each other to share the pages of memory that are open.
 *
 * Shares of the speed of cudaMemcpyAsync, 256 MiB in and out on an H200: a grid that stays for the whole array 0.93,
 * since the last multiprocessor ends 12 us after the first; six waves 0.97; a pack of 16 bytes to a thread 1.00, but
 * each block brings the table's image first. Stretches of seven packs pay for 8 KiB (32-bit tables 0.98, in waves
 * 0.965, and 0.957 where a block's packs lie a grid apart), of four packs for the 256 values of 8-bit codes. Larger
 * images (24 KiB: 0.955, in stretches 0.91) and busy evaluation (f16: 0.90, in stretches 0.855) stay with waves.
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

/* In round r, thread t of block b of a wave takes piece r * step + b * apart + t, as far as there are pieces. */
typedef struct pwl_shape {
    uint32_t threads;     /* of a block */
    uint32_t wave_blocks; /* blocks of a wave */
    uint32_t waves;
    uint32_t rounds; /* of all waves together */
    uint32_t step, apart;
} pwl_shape;

/* Waves in which `blocks` blocks at most take turns. */
PWL_FN pwl_shape pwl_shape_by_turns(size_t work, uint32_t threads, uint32_t blocks, uint32_t waves)
{
    pwl_shape shape;
    shape.threads = threads;
    shape.wave_blocks = (work - 1) / threads < blocks ? (uint32_t)((work - 1) / threads) + 1 : blocks;
    shape.waves = waves;
    shape.step = shape.wave_blocks * threads;
    shape.apart = threads;
    shape.rounds = (uint32_t)((work - 1) / shape.step) + 1;
    return shape;
}

/* Blocks that end after `rounds` rounds, the pieces of each side by side. */
PWL_FN pwl_shape pwl_shape_by_stretches(size_t work, uint32_t threads, uint32_t rounds)
{
    pwl_shape shape;
    shape.threads = threads;
    shape.waves = 1;
    shape.step = threads;
    shape.apart = rounds * threads;
    shape.rounds = rounds;
    shape.wave_blocks = (uint32_t)((work - 1) / shape.apart) + 1;
    return shape;
}

/* For `work` pieces, 1 to 2^39, and blocks that keep `values` bytes in shared memory; is_busy where evaluation, rather
 * than memory, takes most of the time. The numbers were found by trial on an H200. */
PWL_FN pwl_shape pwl_shape_of(size_t work, uint32_t multiprocessors, uint32_t values, int is_busy)
{
    const uint32_t threads = values <= 16 << 10 ? 224 : 384;
    if (work < (size_t)32 * PWL_SHAPE_RESIDENT * multiprocessors) /* the last of six waves would be less than a round */
        return pwl_shape_by_turns(work, 512,
                                  work > (size_t)8 * 512 * multiprocessors ? 2 * multiprocessors : multiprocessors, 1);
    if (values <= 1 << 10)
        return pwl_shape_by_stretches(work, 160, 4);
    if (values <= 8 << 10 && !is_busy)
        return pwl_shape_by_stretches(work, 128, 7);
    return pwl_shape_by_turns(work, threads, PWL_SHAPE_RESIDENT / threads * multiprocessors, 6);
}

/* The first round of wave `wave`; that of wave `waves` is `rounds`. */
PWL_FN uint32_t pwl_shape_round(const pwl_shape *shape, uint32_t wave)
{
    return wave < shape->waves ? shape->rounds - (shape->rounds >> wave) : shape->rounds;
}

/* The piece of a thread in a round. */
PWL_FN size_t pwl_shape_piece(const pwl_shape *shape, uint32_t round, uint32_t block, uint32_t thread)
{
    return (size_t)round * shape->step + (size_t)block * shape->apart + thread;
}

#endif
