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
 * all rows (int32_t), then n_w (int8_t). Rows beyond N have codes that count 0, and scales of 0.
 */
#ifndef PWL_QGEMM_PANEL_H
#define PWL_QGEMM_PANEL_H

#include <stddef.h>
#include <stdint.h>

#include <pwl/qgemm_host.h>

#include "gemm/layout.h"

enum {
    PWL_QGEMM_GROUP = 64, /* bytes of a group */
    PWL_QGEMM_LINE = 64   /* what panels and workspaces are aligned to */
};

/* Bytes of a tile's codes; of a tile. */
static inline size_t pwl_qgemm_panel_codes(pwl_qgemm_format format)
{
    return (size_t)PWL_QGEMM_PANEL * PWL_BLOCK / 8 * (size_t)pwl_qgemm_bits(format);
}

/* Where in a tile the first group of a row has its codes, there being 4 or 8 groups. */
static inline size_t pwl_qgemm_panel_row(size_t groups, size_t row)
{
    return row / 16 * groups * PWL_QGEMM_GROUP + row % 16 * 4;
}

static inline size_t pwl_qgemm_panel_tile(pwl_qgemm_format format)
{
    return pwl_qgemm_panel_codes(format) + (format == PWL_QGEMM_ROWS8 ? 0 : PWL_QGEMM_PANEL * sizeof(uint16_t));
}

/* Rows, up to whole panels. */
static inline size_t pwl_qgemm_panel_rows(size_t n)
{
    return pwl_qgemm_round_up(n, PWL_QGEMM_PANEL);
}

/* Where a row's panel begins, and where the rows' data do. */
static inline size_t pwl_qgemm_panel_at(pwl_qgemm_format format, size_t k, size_t row)
{
    return row / PWL_QGEMM_PANEL * (k / PWL_BLOCK) * pwl_qgemm_panel_tile(format);
}

static inline size_t pwl_qgemm_panel_sums_at(pwl_qgemm_format format, size_t n, size_t k)
{
    return pwl_qgemm_panel_at(format, k, pwl_qgemm_panel_rows(n));
}

static inline size_t pwl_qgemm_panel_exponents_at(pwl_qgemm_format format, size_t n, size_t k)
{
    return pwl_qgemm_panel_sums_at(format, n, k) + pwl_qgemm_panel_rows(n) * sizeof(int32_t);
}

/* Bytes of all of it. */
static inline size_t pwl_qgemm_panel_bytes(pwl_qgemm_format format, size_t n, size_t k)
{
    if (format != PWL_QGEMM_ROWS8)
        return pwl_qgemm_panel_sums_at(format, n, k);
    return pwl_qgemm_panel_exponents_at(format, n, k) + pwl_qgemm_panel_rows(n);
}

/* From an address to the next that is aligned. */
static inline size_t pwl_qgemm_to_line(const void *memory)
{
    return -(uintptr_t)memory & (PWL_QGEMM_LINE - 1);
}

#endif
