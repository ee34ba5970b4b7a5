/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of products, for the host and for devices: which rows an expert has, and which expert a tile belongs to.
 *
 * A tile is so many rows of one expert's X by 128 rows of its weights. Experts follow each other, then rows of weights,
 * then rows of X, so that thread blocks that run at a time share weights:
 *
 *     expert 0, 3 tiles of X    expert 1, none    expert 2, 1 tile
 *           rows of weights ->
 *         X | 0  3  6                              9  10  11
 *         | | 1  4  7
 *         v | 2  5  8
 */
#ifndef PWL_QGEMM_GROUP_H
#define PWL_QGEMM_GROUP_H

#include <stddef.h>
#include <stdint.h>

#include <pwl/fixed.h>
#include <pwl/qgemm.h>

/* A group as kernels take it; count is 0 where the product is alone. */
typedef struct pwl_qgemm_experts {
    const int32_t *offsets; /* [count + 1] */
    size_t apart;           /* bytes from one expert's weights to the next one's */
    uint32_t count;
} pwl_qgemm_experts;

/* The most tiles along M that `experts` can have together. */
PWL_FN size_t pwl_qgemm_group_most_tiles(size_t m, size_t experts, size_t tokens)
{
    const size_t most = experts < m ? experts : m; /* that have rows */
    return (m - most) / tokens + most;
}

/* Rows of an expert whose offsets are `begin` and `end`; the largest offset before is `highest`, 0 if that is negative.
 */
PWL_FN uint32_t pwl_qgemm_expert_rows(int32_t begin, int32_t end, int32_t highest, size_t m)
{
    return begin >= highest && end >= begin && (size_t)end <= m ? (uint32_t)(end - begin) : 0;
}

PWL_FN uint32_t pwl_qgemm_expert_tiles(uint32_t rows, uint32_t tokens)
{
    return rows / tokens + (rows % tokens > 0);
}

/* The expert that has tile `down` along M; starts[e] are tiles of those before e, and starts[count] are more than
 * `down`. */
PWL_FN uint32_t pwl_qgemm_expert_of(const uint32_t *starts, uint32_t count, uint32_t down)
{
    uint32_t low = 0, high = count - 1;
    while (low < high) {
        const uint32_t middle = high - (high - low) / 2;
        if (starts[middle] <= down)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* A tile by its place among those of the expert. */
typedef struct pwl_qgemm_group_tile {
    uint32_t expert, across, down;
} pwl_qgemm_group_tile;

/* Tile `turn` of starts[count] * across. */
PWL_FN pwl_qgemm_group_tile pwl_qgemm_group_tile_at(const uint32_t *starts, uint32_t count, uint32_t across,
                                                    uint32_t turn)
{
    const uint32_t expert = pwl_qgemm_expert_of(starts, count, turn / across);
    const uint32_t in = turn - starts[expert] * across, height = starts[expert + 1] - starts[expert];
    const pwl_qgemm_group_tile tile = {expert, in / height, in % height};
    return tile;
}

#endif
