/* SPDX-License-Identifier: Apache-2.0 */
/* From floats to codes and back, for blocks of an array: what instructions beyond plain C do for pwl_run_real(). */
#ifndef PWL_REALS_H
#define PWL_REALS_H

#include <pwl/real.h>

/*
 * code = clamp(rint(x * inverse), least, most) + zero, where NaN has 0; all of them, and every code before zero is
 * added, are within 32 bits. real = scale * (code - zero_y), the difference within 32 bits too.
 */
typedef struct pwl_scaling {
    float inverse, scale;
    int32_t least, most, zero, zero_y;
} pwl_scaling;

/*
 *   PWL_REAL_WAYS(F): F(name, level), the quickest first
 *
 * pwl_codes_<name>() writes codes[0..n) in the type's width, and pwl_reals_<name>() y[0..n), n being `count` rounded
 * down to whole vectors, and return n. With `streamed`, y is aligned to 64 bytes, and stores may pass the caches by.
 */
#ifdef PWL_HAVE_AVX512
#define PWL_REAL_WAYS_AVX512(F) F(avx512, PWL_LEVEL_AVX512)
#else
#define PWL_REAL_WAYS_AVX512(F)
#endif
#ifdef PWL_HAVE_AVX2
#define PWL_REAL_WAYS_AVX2(F) F(avx2, PWL_LEVEL_AVX2)
#else
#define PWL_REAL_WAYS_AVX2(F)
#endif
#ifdef PWL_HAVE_NEON
#define PWL_REAL_WAYS_NEON(F) F(neon, PWL_LEVEL_NEON)
#else
#define PWL_REAL_WAYS_NEON(F)
#endif
#define PWL_REAL_WAYS(F)                                                                                               \
    PWL_REAL_WAYS_AVX512(F)                                                                                            \
    PWL_REAL_WAYS_AVX2(F)                                                                                              \
    PWL_REAL_WAYS_NEON(F)

#define PWL_DECLARE_REAL_WAY(name, level)                                                                              \
    size_t pwl_codes_##name(const pwl_scaling *of, const float *x, pwl_type type, void *codes, size_t count);          \
    size_t pwl_reals_##name(const pwl_scaling *of, pwl_type type, const void *codes, float *y, size_t count,           \
                            int streamed);
PWL_REAL_WAYS(PWL_DECLARE_REAL_WAY)
#undef PWL_DECLARE_REAL_WAY

typedef struct pwl_real_way {
    uint32_t level;
    size_t (*codes)(const pwl_scaling *of, const float *x, pwl_type type, void *codes, size_t count);
    size_t (*reals)(const pwl_scaling *of, pwl_type type, const void *codes, float *y, size_t count, int streamed);
} pwl_real_way;

/* The list, with plain C last, which leaves all elements to pwl_run_real_by(). */
extern const pwl_real_way pwl_real_ways[];
extern const size_t pwl_real_way_count;

/* As pwl_run_real(), by no instructions but of these levels. */
pwl_status pwl_run_real_by(const pwl_plan *plan, const pwl_affine *of_x, const float *x, const pwl_affine *of_y,
                           float *y, size_t count, uint32_t levels);

#endif
