/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the work along K is shared out, for the host and for devices.
 *
 * The pieces of all tiles of Y, those of a tile along K in a row, are cut into shares of equal length, but for one
 * piece: where there are p shares to a tile, each tile into p. What a share has of one tile is a part: the last pieces
 * of a tile that an earlier share began, then whole tiles, then the first pieces of another; or some in the middle of a
 * tile. The sums of a tile's parts are added in the order of K by the share that has its first pieces.
 */
#ifndef PWL_QGEMM_SCHEDULE_H
#define PWL_QGEMM_SCHEDULE_H

#include <stddef.h>

#include <pwl/fixed.h>

#include "layout.h"

#define PWL_QGEMM_DEEP 16 /* pieces along K, from which on tiles are cut */

typedef struct pwl_qgemm_schedule {
    size_t depth;  /* pieces of a tile */
    size_t pieces; /* of all tiles */
    size_t shares; /* 1 to pieces; with pieces * shares in size_t's range */
} pwl_qgemm_schedule;

typedef struct pwl_qgemm_part {
    size_t tile, piece, count; /* `count` of the tile's pieces, from `piece` on */
} pwl_qgemm_part;

/* The first piece of a share, counted over all tiles; that of share `shares` is the number of all. */
PWL_FN size_t pwl_qgemm_share_at(const pwl_qgemm_schedule *schedule, size_t share)
{
    return schedule->pieces * share / schedule->shares;
}

/* The part that begins at piece `from` of a share that ends at piece `end`. */
PWL_FN pwl_qgemm_part pwl_qgemm_part_from(const pwl_qgemm_schedule *schedule, size_t from, size_t end)
{
    const size_t tile = from / schedule->depth, piece = from - tile * schedule->depth;
    const size_t left = schedule->depth - piece;
    const pwl_qgemm_part part = {tile, piece, left < end - from ? left : end - from};
    return part;
}

/* The share that has the last piece of a tile: the last that begins there or before. */
PWL_FN size_t pwl_qgemm_last_share(const pwl_qgemm_schedule *schedule, size_t tile)
{
    return ((tile + 1) * schedule->depth * schedule->shares - 1) / schedule->pieces;
}

/* Rows of X in a tile: many where there are many, since each tile decodes the weights anew. */
PWL_FN size_t pwl_qgemm_streamk_rows(size_t m)
{
    return m > 32 ? 128 : 32;
}

/* Tiles of Y. Kernels without shares have as many: theirs differ in height only where one is enough for all of X. */
PWL_FN size_t pwl_qgemm_streamk_tiles(size_t m, size_t n)
{
    return ((m - 1) / pwl_qgemm_streamk_rows(m) + 1) * ((n - 1) / PWL_QGEMM_ROWS + 1);
}

/*
 * Whether tiles of `depth` pieces are worth cutting: whole, one to a multiprocessor, they would leave more than a
 * fourth of all idle, and they have enough pieces to make up for the sums that are added.
 */
PWL_FN int pwl_qgemm_suits_shares(size_t tiles, size_t depth, size_t multiprocessors)
{
    const size_t waves = (tiles - 1) / multiprocessors + 1;
    return depth >= PWL_QGEMM_DEEP && tiles < waves * multiprocessors * 3 / 4;
}

/*
 * How many shares suit a device with room for `room` thread blocks at a time, at least 1. A tile in p parts takes the
 * time of depth / p pieces and then of p - 1 parts to add, each about that of two pieces, the least of which is at p =
 * sqrt(depth / 2): no tile is cut more finely. Where hardly any room is left over then, all tiles are cut alike.
 */
PWL_FN size_t pwl_qgemm_shares(size_t tiles, size_t depth, size_t room)
{
    size_t parts = 1, alike;
    while (2 * (parts + 1) * (parts + 1) <= depth)
        parts++;
    if (tiles <= room / parts)
        return tiles * parts;
    alike = room / tiles * tiles;
    return room - alike <= room / 16 ? alike : room;
}

#endif
