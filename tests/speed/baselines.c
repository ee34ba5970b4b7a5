/* SPDX-License-Identifier: Apache-2.0 */
#include "baselines.h"

#include <math.h>

#include <pwl/eval.h>

void scan_prepare(struct scan_table *scan, const pwl_table *table)
{
    scan->count = table->segments;
    scan->zp_x = table->zp_x;
    scan->min_y = table->qmin_y;
    scan->max_y = table->qmax_y;
    for (int i = 0; i < scan->count; i++) {
        scan->last[i] = i + 1 < scan->count ? pwl_element_start(table, i + 1) - 1 : table->qmax_x;
        scan->q_b[i] = pwl_element_slope(table, i);
        scan->term_c[i] = pwl_element_offset(table, i);
        scan->n[i] = table->n[i];
    }
}

static inline int64_t round_half_even(int64_t p, int n)
{
    if (n <= 0)
        return p * ((int64_t)1 << -n);
    const int64_t half = (int64_t)1 << (n - 1), mask = ((int64_t)1 << n) - 1;
    const int64_t down = p >> n, rest = p & mask;
    return down + (rest > half || (rest == half && (down & 1)));
}

#define DEFINE_SCAN(name, type)                                                                                        \
    void name(const struct scan_table *scan, const type *x, type *y, size_t count)                                     \
    {                                                                                                                  \
        for (size_t k = 0; k < count; k++) {                                                                           \
            const int64_t q = x[k];                                                                                    \
            int i = 0;                                                                                                 \
            while (i < scan->count - 1 && q > scan->last[i])                                                           \
                i++;                                                                                                   \
            int64_t v = round_half_even(scan->q_b[i] * (q - scan->zp_x), scan->n[i]) + scan->term_c[i];                \
            v = v < scan->min_y ? scan->min_y : v > scan->max_y ? scan->max_y : v;                                     \
            y[k] = (type)v;                                                                                            \
        }                                                                                                              \
    }
DEFINE_SCAN(scan_s8, int8_t)
DEFINE_SCAN(scan_s16, int16_t)
DEFINE_SCAN(scan_s32, int32_t)

void bytes_s8(const int8_t *values, const int8_t *x, int8_t *y, size_t count)
{
    for (size_t k = 0; k < count; k++)
        y[k] = values[(uint8_t)x[k]];
}

void interpolate_s16(const int16_t *samples, const int16_t *x, int16_t *y, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const int u = x[k] + 32768, i = u >> 7, fraction = u & 127;
        const int base = samples[i], slope = samples[i + 1] - base;
        y[k] = (int16_t)(base + ((slope * fraction + 64) >> 7));
    }
}

void libm_s16(const int16_t *x, int16_t *y, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const float v = rintf(0x1p15f / (1 + expf(-(float)x[k] * 0x1p-12f)));
        y[k] = (int16_t)(v > 32767 ? 32767 : v);
    }
}
