/* SPDX-License-Identifier: Apache-2.0 */
/* What plans are measured against. Each maps x[0..count) to y[0..count); their own tables are made once. */
#ifndef BASELINES_H
#define BASELINES_H

#include <stddef.h>
#include <stdint.h>

#include <pwl/pwl.h>

/* A table as the scan reads it: thresholds are the last codes of segments. */
struct scan_table {
    int count;
    int64_t last[PWL_MAX_SEGMENTS], q_b[PWL_MAX_SEGMENTS], term_c[PWL_MAX_SEGMENTS];
    int n[PWL_MAX_SEGMENTS];
    int64_t zp_x, min_y, max_y;
};

/* Of an absolute table. */
void scan_prepare(struct scan_table *scan, const pwl_table *table);

/* Linear scan, 64-bit product, half-even rounding: the loop that integer pipelines write first. */
void scan_s8(const struct scan_table *scan, const int8_t *x, int8_t *y, size_t count);
void scan_s16(const struct scan_table *scan, const int16_t *x, int16_t *y, size_t count);
void scan_s32(const struct scan_table *scan, const int32_t *x, int32_t *y, size_t count);

/* 256 values, one per code. */
void bytes_s8(const int8_t *values, const int8_t *x, int8_t *y, size_t count);

/* 513 samples, every 128th code, and the line between two of them: base + (slope * fraction + 64 >> 7). */
void interpolate_s16(const int16_t *samples, const int16_t *x, int16_t *y, size_t count);

/* The same table as 512 words of slope << 16 | base, gathered by 16 codes at a time; without the instructions 0. */
int gather_s16(const uint32_t *words, const int16_t *x, int16_t *y, size_t count);

/* The sigmoid in floats, by libm: q * 2^-12 to 2^-15. */
void libm_s16(const int16_t *x, int16_t *y, size_t count);

#endif
