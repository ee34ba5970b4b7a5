/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where weights lie for processors. A panel is 32 rows, a tile 32 rows and a block of 32 columns of them; tiles of a
 * panel follow each other, so that a product reads one run of memory. An instruction adds four columns for each of 4,
 * 8 or 16 rows, whose codes are therefore side by side, in groups of 4 columns: those of rows 0 to 15, then those of
 * rows 16 to 31,
 *
 *     group g:   row 0: 4 codes | row 1: 4 codes | ... | row 15: 4 codes        64 bytes
 *
 *   4 bits   groups 0 to 3: the low halves of bytes are columns 4g to 4g + 3, the high halves 16 + 4g to 16 + 4g + 3;
 *            codes are those of the format
 *   8 bits   groups 0 to 7: the code + 128, as x86 multiplies signed numbers by unsigned ones alone
 *
 * Behind a tile's codes are the scales of its 32 rows, 2 bytes each: d, or in MXFP4 2^(e - 127) as bf16; ROWS8 has
 * none. So a tile takes 576, 1088 or 1024 bytes, all multiples of 64. Behind all panels, ROWS8 has the sums of codes of
 * all rows (int32_t), then n_w (int8_t); others e of all rows (int8_t), where one is not 0. Rows beyond N have codes
 * that count 0, and scales of 0.
 *
 * Super-blocks of 32 rows begin with a head, d of all rows and then, but in Q6_K, dmin; 8 tiles follow. Behind a tile's
 * codes are a byte of each row twice: scale and least, in Q6_K the scales of the first and of the last 16 columns.
 * Codes that are wider than 4 bits have the low bits of their bytes, and what is left of these holds further codes.
 * With c[j] the codes of columns 4j to 4j + 3, and (c, i) for bits i and up of c:
 *
 *                 bits 0 to 4   5 to 7                                bits 0 to 5   6 to 7
 *   Q5_K  group 0     c[0]      (c[5], 0)              Q6_K  group 0      c[0]      (c[3], 0)
 *               1     c[1]      (c[7], 3) (c[5], 3)                1      c[1]      (c[3], 2)
 *               2     c[2]      (c[6], 0)                          2      c[2]      (c[3], 4)
 *               3     c[3]      (c[7], 4) (c[6], 3)          3 to 5: so too, c[4] to c[7]
 *               4     c[4]      (c[7], 0)                    (of one bit, bit 5; of two, bits 6 and 7)
 *
 * Such a tile takes 576, 704 or 832 bytes, a head 128 or 64.
 */
#ifndef PWL_QGEMM_PANEL_H
#define PWL_QGEMM_PANEL_H

#include <stddef.h>
#include <stdint.h>

#include <pwl/qgemm_host.h>

#include "gemm/layout.h"
#include "gemm/super.h"

enum {
    PWL_QGEMM_GROUP = 64,                               /* bytes of a group */
    PWL_QGEMM_LINE = 64,                                /* what panels and workspaces are aligned to */
    PWL_QGEMM_SUPER_TILES = PWL_SUPER_BLOCK / PWL_BLOCK /* behind a head */
};

/* Bits of a code, which are the groups of half a tile, too. */
static inline size_t pwl_qgemm_panel_bits(pwl_qgemm_format format)
{
    if (format == PWL_QGEMM_Q5_K)
        return 5;
    if (format == PWL_QGEMM_Q6_K)
        return 6;
    return format == PWL_QGEMM_Q4_K ? 4 : (size_t)pwl_qgemm_bits(format);
}

/* Bytes of a tile's codes; of a tile; of the head of a super-block, or 0. */
static inline size_t pwl_qgemm_panel_codes(pwl_qgemm_format format)
{
    return (size_t)PWL_QGEMM_PANEL * PWL_BLOCK / 8 * pwl_qgemm_panel_bits(format);
}

/* Where in a tile the first group of a row has its codes, there being 4 to 8 groups. */
static inline size_t pwl_qgemm_panel_row(size_t groups, size_t row)
{
    return row / 16 * groups * PWL_QGEMM_GROUP + row % 16 * 4;
}

static inline size_t pwl_qgemm_panel_tile(pwl_qgemm_format format)
{
    return pwl_qgemm_panel_codes(format) + (format == PWL_QGEMM_ROWS8 ? 0 : PWL_QGEMM_PANEL * sizeof(uint16_t));
}

static inline size_t pwl_qgemm_panel_head(pwl_qgemm_format format)
{
    if (!pwl_qgemm_is_super(format))
        return 0;
    return (format == PWL_QGEMM_Q6_K ? 1 : 2) * PWL_QGEMM_PANEL * sizeof(uint16_t);
}

/* Rows, up to whole panels. */
static inline size_t pwl_qgemm_panel_rows(size_t n)
{
    return pwl_qgemm_round_up(n, PWL_QGEMM_PANEL);
}

/* Where a row's panel begins, and where the rows' data do. */
static inline size_t pwl_qgemm_panel_at(pwl_qgemm_format format, size_t k, size_t row)
{
    const size_t heads = k / PWL_SUPER_BLOCK * pwl_qgemm_panel_head(format);
    return row / PWL_QGEMM_PANEL * (k / PWL_BLOCK * pwl_qgemm_panel_tile(format) + heads);
}

static inline size_t pwl_qgemm_panel_sums_at(pwl_qgemm_format format, size_t n, size_t k)
{
    return pwl_qgemm_panel_at(format, k, pwl_qgemm_panel_rows(n));
}

static inline size_t pwl_qgemm_panel_exponents_at(pwl_qgemm_format format, size_t n, size_t k)
{
    const size_t sums = format == PWL_QGEMM_ROWS8 ? pwl_qgemm_panel_rows(n) * sizeof(int32_t) : 0;
    return pwl_qgemm_panel_sums_at(format, n, k) + sums;
}

/* Bytes of all of it, with exponents of rows or, where a format is not ROWS8, without. */
static inline size_t pwl_qgemm_panel_bytes(pwl_qgemm_format format, size_t n, size_t k, int exponents)
{
    return pwl_qgemm_panel_exponents_at(format, n, k) + (exponents ? pwl_qgemm_panel_rows(n) : 0);
}

/* From an address to the next that is aligned. */
static inline size_t pwl_qgemm_to_line(const void *memory)
{
    return -(uintptr_t)memory & (PWL_QGEMM_LINE - 1);
}

#endif
