/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the fp16 X of W4A8 and W8A8 becomes halves while wgmma multiplies (pwl/qgemm.h: RN16(d q), f = 0). A pass makes
 * the first columns of the rows that are multiplied first; warps that have nothing else to do make the rest, a strip of
 * a few rows each, from left to right, and tell how far they are.
 *
 *                 K ->
 *         +---------+----------------------------+
 *       M | by the  |                            |  } a strip
 *       | |  pass   |  by warps of the product   |
 *       v +---------+                            |
 *         |                                      |
 *         +--------------------------------------+
 */
#ifndef PWL_QGEMM_STRIPS_H
#define PWL_QGEMM_STRIPS_H

#include <stddef.h>
#include <stdint.h>

#include <pwl/fixed.h>

#include "layout.h"

/* Elements that the pass makes: as many as cost it little more than its launch does. */
#define PWL_QGEMM_AHEAD ((size_t)1 << 21)

/* Rows of X, and of X in a tile, at least, of products that make strips: others are over before that pays. */
#define PWL_QGEMM_STRIPS_FROM 1024
#define PWL_QGEMM_STRIP_TILE 256

/* Columns, at least, that a product has before its own warps have made any. */
#define PWL_QGEMM_AHEAD_COLUMNS 512

typedef struct pwl_qgemm_strips {
    size_t count;      /* strips; 0 where the pass makes all of X */
    uint32_t log_rows; /* 2^log_rows rows of X in a strip: 1, 2 or 4 */
    size_t ahead;      /* pieces of K that the pass makes */
    size_t leading;    /* rows of X, of the first strips, of which it does */
} pwl_qgemm_strips;

/* Strips of an X of so many rows and pieces of K, for tiles of `tile` rows of it, of which `first` rows are multiplied
 * first, on a device with so many warps to make them. */
PWL_FN pwl_qgemm_strips pwl_qgemm_strips_of(size_t m, size_t depth, size_t tile, size_t first, size_t warps)
{
    pwl_qgemm_strips strips = {0, 0, depth, m};
    if (tile < PWL_QGEMM_STRIP_TILE)
        return strips;
    first = first < m ? first : m;
    strips.ahead = PWL_QGEMM_AHEAD / PWL_QGEMM_COLUMNS / first;
    if (strips.ahead < PWL_QGEMM_AHEAD_COLUMNS / PWL_QGEMM_COLUMNS)
        strips.ahead = PWL_QGEMM_AHEAD_COLUMNS / PWL_QGEMM_COLUMNS;
    if (strips.ahead > depth)
        strips.ahead = depth;
    while (strips.log_rows < 2 && warps << strips.log_rows < first)
        strips.log_rows++;
    strips.leading = (((first - 1) >> strips.log_rows) + 1) << strips.log_rows;
    if (strips.leading > m)
        strips.leading = m;
    if (strips.ahead < depth || strips.leading < m)
        strips.count = ((m - 1) >> strips.log_rows) + 1;
    return strips;
}

/* Pieces of a strip that are there before the product begins. */
PWL_FN size_t pwl_qgemm_strip_ahead(const pwl_qgemm_strips *strips, size_t strip)
{
    return (strip << strips->log_rows) < strips->leading ? strips->ahead : 0;
}

#endif
