/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of Q8_1 by PWL_RULE_DEFAULT, as pwl_quantise() makes them: what products make of every activation.
 *
 *   PWL_Q8_WAYS(F): F(name, level), the quickest first
 *
 * pwl_q8_1_<name>() makes `blocks` of x, float[blocks][32], by the instructions of `level`, 0 for plain C.
 */
#ifndef PWL_Q8_H
#define PWL_Q8_H

#include <pwl/blocks.h>
#include <pwl/plan.h>

#ifdef PWL_HAVE_F16C
#define PWL_Q8_WAYS_AVX2(F) F(avx2, PWL_LEVEL_AVX2 | PWL_LEVEL_F16C)
#else
#define PWL_Q8_WAYS_AVX2(F)
#endif
#define PWL_Q8_WAYS(F)                                                                                                 \
    PWL_Q8_WAYS_AVX2(F)                                                                                                \
    F(plain, 0)

#define PWL_DECLARE_Q8_WAY(name, level) void pwl_q8_1_##name(const float *x, size_t blocks, pwl_block_q8_1 *to);
PWL_Q8_WAYS(PWL_DECLARE_Q8_WAY)
#undef PWL_DECLARE_Q8_WAY

typedef struct pwl_q8_way {
    const char *name;
    uint32_t level;
    void (*make)(const float *x, size_t blocks, pwl_block_q8_1 *to);
} pwl_q8_way;

/* The list. */
extern const pwl_q8_way pwl_q8_ways[];
extern const size_t pwl_q8_way_count;

/* By the first that this machine has. */
void pwl_q8_1(const float *x, size_t blocks, pwl_block_q8_1 *to);

#endif
