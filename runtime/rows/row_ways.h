/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways to run row operators beyond plain C. This list is the only one: declarations, choice and tests come from it. A
 * way needs the instructions of `level`, is in the list where PWL_HAVE_<...> says that the build has it, and gives the
 * bits of plain C for every operator that it serves. The first that serves is taken.
 *
 *   PWL_SOFTMAX_WAYS(F), PWL_NORM_WAYS(F): F(name, level)
 *
 * pwl_<name>_serves() tells whether a checked operator is one of those that pwl_<name>() runs, over `count` rows of
 * which no place is masked.
 */
#ifndef PWL_ROW_WAYS_H
#define PWL_ROW_WAYS_H

#include <pwl/rows.h>

#ifdef PWL_HAVE_AVX512
#define PWL_SOFTMAX_WAYS_AVX512(F)                                                                                     \
    F(softmax_avx512vbmi, PWL_LEVEL_AVX512VBMI)                                                                        \
    F(softmax_words_avx512vbmi, PWL_LEVEL_AVX512VBMI)
#define PWL_NORM_WAYS_AVX512(F) F(norm_avx512, PWL_LEVEL_AVX512)
#else
#define PWL_SOFTMAX_WAYS_AVX512(F)
#define PWL_NORM_WAYS_AVX512(F)
#endif

#ifdef PWL_HAVE_AVX2
#define PWL_SOFTMAX_WAYS_AVX2(F)                                                                                       \
    F(softmax_avx2, PWL_LEVEL_AVX2)                                                                                    \
    F(softmax_words_avx2, PWL_LEVEL_AVX2)
#define PWL_NORM_WAYS_AVX2(F) F(norm_avx2, PWL_LEVEL_AVX2)
#else
#define PWL_SOFTMAX_WAYS_AVX2(F)
#define PWL_NORM_WAYS_AVX2(F)
#endif

#ifdef PWL_HAVE_NEON
#define PWL_SOFTMAX_WAYS_NEON(F)                                                                                       \
    F(softmax_neon, PWL_LEVEL_NEON)                                                                                    \
    F(softmax_words_neon, PWL_LEVEL_NEON)
#define PWL_NORM_WAYS_NEON(F) F(norm_neon, PWL_LEVEL_NEON)
#else
#define PWL_SOFTMAX_WAYS_NEON(F)
#define PWL_NORM_WAYS_NEON(F)
#endif

#define PWL_SOFTMAX_WAYS(F)                                                                                            \
    PWL_SOFTMAX_WAYS_AVX512(F)                                                                                         \
    PWL_SOFTMAX_WAYS_AVX2(F)                                                                                           \
    PWL_SOFTMAX_WAYS_NEON(F)
#define PWL_NORM_WAYS(F)                                                                                               \
    PWL_NORM_WAYS_AVX512(F)                                                                                            \
    PWL_NORM_WAYS_AVX2(F)                                                                                              \
    PWL_NORM_WAYS_NEON(F)

typedef struct pwl_softmax_way {
    const char *name;
    uint32_t level;
    int (*serves)(const pwl_softmax *softmax);
    void (*run)(const pwl_softmax *softmax, const void *x, void *y, size_t count, size_t length);
} pwl_softmax_way;

typedef struct pwl_norm_way {
    const char *name;
    uint32_t level;
    int (*serves)(const pwl_norm *norm);
    void (*run)(const pwl_norm *norm, const void *x, void *y, size_t count);
} pwl_norm_way;

#define PWL_DECLARE_SOFTMAX_WAY(name, level)                                                                           \
    int pwl_##name##_serves(const pwl_softmax *softmax);                                                               \
    void pwl_##name(const pwl_softmax *softmax, const void *x, void *y, size_t count, size_t length);
PWL_SOFTMAX_WAYS(PWL_DECLARE_SOFTMAX_WAY)
#undef PWL_DECLARE_SOFTMAX_WAY

#define PWL_DECLARE_NORM_WAY(name, level)                                                                              \
    int pwl_##name##_serves(const pwl_norm *norm);                                                                     \
    void pwl_##name(const pwl_norm *norm, const void *x, void *y, size_t count);
PWL_NORM_WAYS(PWL_DECLARE_NORM_WAY)
#undef PWL_DECLARE_NORM_WAY

/* The lists, which end with a null name. */
extern const pwl_softmax_way pwl_softmax_ways[];
extern const pwl_norm_way pwl_norm_ways[];

/* The way for an operator; null: plain C. */
const pwl_softmax_way *pwl_softmax_way_of(const pwl_softmax *softmax, uint32_t levels);
const pwl_norm_way *pwl_norm_way_of(const pwl_norm *norm, uint32_t levels);

#endif
