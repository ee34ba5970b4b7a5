/* SPDX-License-Identifier: Apache-2.0 */
/* INT8: codes of the sums of a row of X, by a loop that each way compiles for its instructions. */
#ifndef PWL_QGEMM_ROUND_H
#define PWL_QGEMM_ROUND_H

#include "panel.h"

/* What v is of the sums S of a panel: S + offset has 33 bits, and counts in 2^-(n_w + n_x). */
typedef struct pwl_qgemm_sums_of_panel {
    int64_t offset[PWL_QGEMM_PANEL];
    double real_offset[PWL_QGEMM_PANEL]; /* the same */
    double unit[PWL_QGEMM_PANEL];        /* 2^-n_w */
    int fits;                            /* v has 32 bits for every S, which is at most K * 128 * 128 */
    const int8_t *n_w;
} pwl_qgemm_sums_of_panel;

/* How a row is rounded: v is clamped, counts `unit`, and is clamped again, to 2^17 at most. */
typedef struct pwl_qgemm_rounding_of_row {
    double v_least, v_most, unit, least, most;
    int32_t zero;
} pwl_qgemm_rounding_of_row;

/*
 * q = the code of v * 2^-n_w * unit, for one row of X and every row of a panel. All is exact in double: v has 33 bits,
 * and what is clamped to 2^17 gets 2^18 + 1/2 more, of which the bits above 1 are the integer, rounded half up. Below
 * 1/4 v leaves 0, whatever is rounded.
 */
static inline void pwl_qgemm_round_row(const pwl_qgemm_sums_of_panel *of, const int32_t *s,
                                       const pwl_qgemm_rounding_of_row *by, int32_t q[PWL_QGEMM_PANEL])
{
    const pwl_qgemm_rounding_of_row to = *by;
    for (size_t j = 0; j < PWL_QGEMM_PANEL; j++) {
        const double sum = s[j] + of->real_offset[j], above = sum > to.v_least ? sum : to.v_least;
        const double v = (above < to.v_most ? above : to.v_most) * of->unit[j] * to.unit;
        const double upper = v > to.least ? v : to.least, clamped = upper < to.most ? upper : to.most;
        q[j] = (int32_t)(clamped + (0x1p18 + 0.5)) + (to.zero - (1 << 18));
    }
}

typedef void pwl_qgemm_round(const pwl_qgemm_sums_of_panel *of, const int32_t *s, const pwl_qgemm_rounding_of_row *by,
                             int32_t q[PWL_QGEMM_PANEL]);

/* The function of a way. */
#define PWL_QGEMM_DEFINE_ROUND(way)                                                                                    \
    void pwl_qgemm_round_##way(const pwl_qgemm_sums_of_panel *of, const int32_t *s,                                    \
                               const pwl_qgemm_rounding_of_row *by, int32_t q[PWL_QGEMM_PANEL])                        \
    {                                                                                                                  \
        pwl_qgemm_round_row(of, s, by, q);                                                                             \
    }

#endif
