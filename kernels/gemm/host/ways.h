/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All ways to multiply. This list is the only one: declarations, choice, tests and benchmarks come from it.
 *
 *   PWL_QGEMM_WAYS(F): F(name, level, rows, most), the quickest first
 *
 * A way is pwl_qgemm_<name>(), which computes a pass of up to so many rows of X, in INT8 `most`, with the bits of the
 * plain C, and pwl_qgemm_round_<name>() (round.h). It needs all instructions of `level`, 0 for plain C, and is in the
 * list where PWL_HAVE_<...> says that the build has it.
 */
#ifndef PWL_QGEMM_WAYS_H
#define PWL_QGEMM_WAYS_H

#include <pwl/plan.h>

#include "pass.h"
#include "round.h"

#ifdef PWL_HAVE_AVX512VNNI
#define PWL_QGEMM_WAYS_AVX512VNNI(F) F(avx512vnni, PWL_LEVEL_AVX512 | PWL_LEVEL_AVX512VNNI, 6, 12)
#else
#define PWL_QGEMM_WAYS_AVX512VNNI(F)
#endif

#ifdef PWL_HAVE_AVXVNNI
#define PWL_QGEMM_WAYS_AVXVNNI(F) F(avxvnni, PWL_LEVEL_AVX2 | PWL_LEVEL_F16C | PWL_LEVEL_AVXVNNI, 6, 6)
#else
#define PWL_QGEMM_WAYS_AVXVNNI(F)
#endif

#ifdef PWL_HAVE_F16C
#define PWL_QGEMM_WAYS_AVX2(F) F(avx2, PWL_LEVEL_AVX2 | PWL_LEVEL_F16C, 4, 4)
#else
#define PWL_QGEMM_WAYS_AVX2(F)
#endif

#ifdef PWL_HAVE_I8MM
#define PWL_QGEMM_WAYS_I8MM(F) F(i8mm, PWL_LEVEL_NEON | PWL_LEVEL_DOTPROD | PWL_LEVEL_I8MM, 6, 6)
#else
#define PWL_QGEMM_WAYS_I8MM(F)
#endif

#ifdef PWL_HAVE_DOTPROD
#define PWL_QGEMM_WAYS_DOTPROD(F) F(dotprod, PWL_LEVEL_NEON | PWL_LEVEL_DOTPROD, 4, 4)
#else
#define PWL_QGEMM_WAYS_DOTPROD(F)
#endif

#ifdef PWL_HAVE_RVV
#define PWL_QGEMM_WAYS_RVV(F) F(rvv, PWL_LEVEL_RVV, 8, 8)
#else
#define PWL_QGEMM_WAYS_RVV(F)
#endif

#define PWL_QGEMM_WAYS(F)                                                                                              \
    PWL_QGEMM_WAYS_AVX512VNNI(F)                                                                                       \
    PWL_QGEMM_WAYS_AVXVNNI(F)                                                                                          \
    PWL_QGEMM_WAYS_AVX2(F)                                                                                             \
    PWL_QGEMM_WAYS_I8MM(F)                                                                                             \
    PWL_QGEMM_WAYS_DOTPROD(F)                                                                                          \
    PWL_QGEMM_WAYS_RVV(F)                                                                                              \
    F(plain, 0, 8, 8)

#define PWL_QGEMM_DECLARE_WAY(name, level, rows, most)                                                                 \
    void pwl_qgemm_##name(const pwl_qgemm_pass *pass);                                                                 \
    pwl_qgemm_round pwl_qgemm_round_##name;
PWL_QGEMM_WAYS(PWL_QGEMM_DECLARE_WAY)
#undef PWL_QGEMM_DECLARE_WAY

typedef struct pwl_qgemm_way {
    const char *name;
    uint32_t level;
    size_t rows, most; /* at most PWL_QGEMM_PASS_ROWS */
    void (*multiply)(const pwl_qgemm_pass *pass);
    pwl_qgemm_round *round;
} pwl_qgemm_way;

/* The list. */
extern const pwl_qgemm_way pwl_qgemm_ways[];
extern const size_t pwl_qgemm_way_count;

/* The first that needs no levels but these. */
const pwl_qgemm_way *pwl_qgemm_way_of(uint32_t levels);

/* As pwl_qgemm_part() and pwl_qgemm(), by a way. */
pwl_qgemm_status pwl_qgemm_part_by(const pwl_qgemm_way *way, const pwl_qgemm_product *product,
                                   const pwl_qgemm_panels *panels, size_t first, size_t count, void *workspace,
                                   size_t bytes);
pwl_qgemm_status pwl_qgemm_by(const pwl_qgemm_way *way, const pwl_qgemm_product *product,
                              const pwl_qgemm_panels *panels, void *workspace, size_t bytes);

#endif
