/* SPDX-License-Identifier: Apache-2.0 */
/* What the codes of a tile count, for ways that have it in memory. */
#ifndef PWL_QGEMM_SCALES_H
#define PWL_QGEMM_SCALES_H

#include <string.h>

#include <pwl/half.h>

#include "pass.h"

typedef struct pwl_qgemm_scales {
    float d[PWL_QGEMM_PANEL];      /* none in INTEGERS */
    float second[PWL_QGEMM_PANEL]; /* Q6_K: of columns 16 and on; Q4_K and Q5_K: dmin * least */
} pwl_qgemm_scales;

/* Scales of sub-blocks are exact: of a super-block's head, d or dmin, by a byte of each row. */
static inline void pwl_qgemm_read_super_scales(pwl_qgemm_kind kind, const uint8_t *head, const uint8_t *bytes,
                                               pwl_qgemm_scales *to)
{
    for (size_t r = 0; r < PWL_QGEMM_PANEL; r++) {
        uint16_t d, dmin;
        memcpy(&d, head + r * sizeof d, sizeof d);
        if (kind == PWL_QGEMM_SUPER6) {
            to->d[r] = pwl_f32_from_f16(d) * (float)(int8_t)bytes[r];
            to->second[r] = pwl_f32_from_f16(d) * (float)(int8_t)bytes[PWL_QGEMM_PANEL + r];
            continue;
        }
        memcpy(&dmin, head + (PWL_QGEMM_PANEL + r) * sizeof dmin, sizeof dmin);
        to->d[r] = pwl_f32_from_f16(d) * (float)bytes[r];
        to->second[r] = pwl_f32_from_f16(dmin) * (float)bytes[PWL_QGEMM_PANEL + r];
    }
}

/* Of a tile of a kind that is no A16; head: its super-block's, where it has one. */
static inline void pwl_qgemm_read_scales(pwl_qgemm_kind kind, const uint8_t *head, const uint8_t *tile,
                                         pwl_qgemm_scales *to)
{
    const pwl_qgemm_format format = pwl_qgemm_format_of(kind);
    const uint8_t *const behind = tile + pwl_qgemm_panel_codes(format);
    if (kind == PWL_QGEMM_INTEGERS)
        return;
    if (pwl_qgemm_is_super(format)) {
        pwl_qgemm_read_super_scales(kind, head, behind, to);
        return;
    }
    for (size_t r = 0; r < PWL_QGEMM_PANEL; r++) {
        uint16_t scale;
        memcpy(&scale, behind + r * sizeof scale, sizeof scale);
        to->d[r] = kind == PWL_QGEMM_E2M1 ? pwl_f32_from_bf16(scale) : pwl_f32_from_f16(scale);
    }
}

#endif
