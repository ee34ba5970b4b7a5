/* SPDX-License-Identifier: Apache-2.0 */
/* What the ways of x86 share. */
#ifndef PWL_QGEMM_X86_H
#define PWL_QGEMM_X86_H

#include <immintrin.h>

#include "gemm/host/unroll.h"
#include "gemm/host/ways.h"

INLINE int32_t word_at(const int8_t *p)
{
    int32_t word;
    __builtin_memcpy(&word, p, sizeof word);
    return word;
}

/* Where a tile has the scales from row `row` on. */
INLINE const uint8_t *scales_at(pwl_qgemm_kind kind, const uint8_t *tile, size_t row)
{
    return tile + PWL_QGEMM_PANEL * (is_bytes(kind) ? 32 : 16) + row * sizeof(uint16_t);
}

#endif
