/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways to sum products of codes, and to bring sums to codes, beyond plain C. This list is the only one: declarations,
 * choice and tests come from it. A way needs all instructions of `level`, is in the list where PWL_HAVE_<...> says that
 * the build has it, and gives the bits of plain C. The first is taken.
 *
 *   PWL_SUM_WAYS(F): F(name, level, round): pwl_sum_<name>(), pwl_taps_<name>(), and a pwl_network_rounder
 */
#ifndef PWL_NETWORK_SUM_WAYS_H
#define PWL_NETWORK_SUM_WAYS_H

#include <pwl/network.h>

/* What becomes of sums: (sum + bias) factor stays within 62 bits. */
typedef struct pwl_network_rounding {
    const int64_t *bias;     /* null: none */
    const int32_t *factor;   /* not negative */
    const uint8_t *shift;    /* 1..62 */
    uint8_t bias_each, each; /* 1: one for each sum, 0: one for all; of the bias, and of factor and shift */
} pwl_network_rounding;

/* Code at + k of an edge's array is clip(zero point + shr((sums[k] + bias) factor, shift)). */
typedef void pwl_network_rounder(const pwl_network_edge *edge, void *array, size_t at, const int64_t *sums,
                                 size_t count, const pwl_network_rounding *by);

/* Taps of a row of a window: sums[k] += sum_j weights[j] codes[k stride + j apart], of `columns` sums.
 * PWL_NETWORK_COLUMNS may be summed: there is room, and as many codes. */
typedef struct pwl_network_taps {
    const int16_t *codes;
    const int8_t *weights;
    size_t count, columns, stride, apart;
    int32_t *sums; /* which 32 bits hold */
} pwl_network_taps;

typedef void pwl_network_tapper(const pwl_network_taps *of);

/* Plain C. */
pwl_network_rounder pwl_network_round;
pwl_network_tapper pwl_taps_plain;

#ifdef PWL_HAVE_AVX512VNNI
#define PWL_SUM_WAYS_AVX512VNNI(F) F(avx512vnni, PWL_LEVEL_AVX512 | PWL_LEVEL_AVX512VNNI, pwl_round_avx512vnni)
#else
#define PWL_SUM_WAYS_AVX512VNNI(F)
#endif

#ifdef PWL_HAVE_AVX2
#define PWL_SUM_WAYS_AVX2(F) F(avx2, PWL_LEVEL_AVX2, pwl_round_avx2)
#else
#define PWL_SUM_WAYS_AVX2(F)
#endif

#ifdef PWL_HAVE_NEON
#define PWL_SUM_WAYS_NEON(F) F(neon, PWL_LEVEL_NEON, pwl_network_round)
#else
#define PWL_SUM_WAYS_NEON(F)
#endif

#define PWL_SUM_WAYS(F)                                                                                                \
    PWL_SUM_WAYS_AVX512VNNI(F)                                                                                         \
    PWL_SUM_WAYS_AVX2(F)                                                                                               \
    PWL_SUM_WAYS_NEON(F)

#define PWL_DECLARE_SUM_WAY(name, level, round)                                                                        \
    void pwl_sum_##name(const pwl_network_sums *of);                                                                   \
    pwl_network_tapper pwl_taps_##name;                                                                                \
    pwl_network_rounder round;
PWL_SUM_WAYS(PWL_DECLARE_SUM_WAY)
#undef PWL_DECLARE_SUM_WAY

typedef struct pwl_sum_way {
    const char *name;
    uint32_t level;
    void (*sum)(const pwl_network_sums *of);
    pwl_network_tapper *taps;
    pwl_network_rounder *round;
} pwl_sum_way;

/* The list, which ends with plain C, of level 0. */
extern const pwl_sum_way pwl_sum_ways[];

/* The way of these levels, plain C where there is no other. */
const pwl_sum_way *pwl_sum_way_of(uint32_t levels);

#endif
