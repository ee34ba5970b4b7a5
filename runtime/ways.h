/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All ways to map an array, the quickest first. This list is the only one: declarations, choice, tests and benchmarks
 * come from it.
 *
 *   PWL_WAYS(F): F(name, level, kind, lines)
 *
 * A way is the kernel pwl_<name>() over what its kind prepares (kind.h), for tables of at most so many plain lines. It
 * needs the instructions of `level`, 0 for plain C, and is in the list where PWL_HAVE_<...> says that the build has it.
 */
#ifndef PWL_WAYS_H
#define PWL_WAYS_H

#include <pwl/plan.h>

#include "kind.h"
#include "narrow.h"
#include "pieces.h"
#include "wide.h"

#define PWL_ANY_LINES (2 * PWL_MAX_SEGMENTS)

#ifdef PWL_HAVE_AVX512
#define PWL_WAYS_AVX512(F)                                                                                             \
    F(bytes_avx512vbmi, PWL_LEVEL_AVX512VBMI, bytes, PWL_ANY_LINES)                                                    \
    F(bytes_avx512, PWL_LEVEL_AVX512, bytes, PWL_ANY_LINES)                                                            \
    F(narrow_avx512, PWL_LEVEL_AVX512, narrow, PWL_NARROW_LINES)                                                       \
    F(pieces_avx512, PWL_LEVEL_AVX512, pieces, PWL_PIECES)                                                             \
    F(wide_avx512, PWL_LEVEL_AVX512, wide, PWL_WIDE_LINES)
#else
#define PWL_WAYS_AVX512(F)
#endif

#ifdef PWL_HAVE_AVX2
#define PWL_WAYS_AVX2(F)                                                                                               \
    F(bytes_avx2, PWL_LEVEL_AVX2, bytes, PWL_ANY_LINES)                                                                \
    F(narrow_avx2, PWL_LEVEL_AVX2, narrow, PWL_NARROW_LINES)                                                           \
    F(wide_avx2, PWL_LEVEL_AVX2, wide, 16)
#define PWL_WAYS_AVX2_CELLS(F) F(cells16_avx2, PWL_LEVEL_AVX2, cells16, PWL_ANY_LINES)
#else
#define PWL_WAYS_AVX2(F)
#define PWL_WAYS_AVX2_CELLS(F)
#endif

#ifdef PWL_HAVE_SSE41
#define PWL_WAYS_SSE41(F) F(bytes_sse41, PWL_LEVEL_SSE41, bytes, PWL_ANY_LINES)
#define PWL_WAYS_SSE41_NARROW(F) F(narrow_sse41, PWL_LEVEL_SSE41, narrow, PWL_NARROW_LINES)
#else
#define PWL_WAYS_SSE41(F)
#define PWL_WAYS_SSE41_NARROW(F)
#endif

#ifdef PWL_HAVE_NEON
#define PWL_WAYS_NEON(F)                                                                                               \
    F(bytes_neon, PWL_LEVEL_NEON, bytes, PWL_ANY_LINES)                                                                \
    F(narrow_neon, PWL_LEVEL_NEON, narrow, PWL_NARROW_LINES)                                                           \
    F(wide_neon, PWL_LEVEL_NEON, wide, PWL_WIDE_LINES)
#else
#define PWL_WAYS_NEON(F)
#endif

#ifdef PWL_HAVE_SVE2
#define PWL_WAYS_SVE2(F) F(values_sve2, PWL_LEVEL_SVE2, values, PWL_ANY_LINES)
#define PWL_WAYS_SVE2_CELLS(F) F(cells16_sve2, PWL_LEVEL_SVE2, cells16, PWL_ANY_LINES)
#else
#define PWL_WAYS_SVE2(F)
#define PWL_WAYS_SVE2_CELLS(F)
#endif

#ifdef PWL_HAVE_HELIUM
#define PWL_WAYS_HELIUM(F) F(bytes_helium, PWL_LEVEL_HELIUM, bytes, PWL_ANY_LINES)
#define PWL_WAYS_HELIUM_CELLS(F) F(cells16_helium, PWL_LEVEL_HELIUM, cells16, PWL_ANY_LINES)
#else
#define PWL_WAYS_HELIUM(F)
#define PWL_WAYS_HELIUM_CELLS(F)
#endif

#ifdef PWL_HAVE_DSP
#define PWL_WAYS_DSP_CELLS(F) F(cells16_dsp, PWL_LEVEL_DSP, cells16, PWL_ANY_LINES)
#else
#define PWL_WAYS_DSP_CELLS(F)
#endif

#ifdef PWL_HAVE_RVV
#define PWL_WAYS_RVV(F) F(bytes_rvv, PWL_LEVEL_RVV, bytes, PWL_ANY_LINES)
#define PWL_WAYS_RVV_CELLS(F) F(cells16_rvv, PWL_LEVEL_RVV, cells16, PWL_ANY_LINES)
#else
#define PWL_WAYS_RVV(F)
#define PWL_WAYS_RVV_CELLS(F)
#endif

#define PWL_WAYS(F)                                                                                                    \
    PWL_WAYS_AVX512(F)                                                                                                 \
    PWL_WAYS_AVX2(F)                                                                                                   \
    PWL_WAYS_SSE41(F)                                                                                                  \
    PWL_WAYS_NEON(F)                                                                                                   \
    PWL_WAYS_SVE2(F)                                                                                                   \
    PWL_WAYS_HELIUM(F)                                                                                                 \
    PWL_WAYS_RVV(F)                                                                                                    \
    F(values, 0, values, PWL_ANY_LINES)                                                                                \
    PWL_WAYS_AVX2_CELLS(F)                                                                                             \
    PWL_WAYS_SSE41_NARROW(F)                                                                                           \
    PWL_WAYS_SVE2_CELLS(F)                                                                                             \
    PWL_WAYS_HELIUM_CELLS(F)                                                                                           \
    PWL_WAYS_DSP_CELLS(F)                                                                                              \
    PWL_WAYS_RVV_CELLS(F)                                                                                              \
    F(cells16, 0, cells16, PWL_ANY_LINES)                                                                              \
    F(cells, 0, cells, PWL_ANY_LINES)

/* y[k] = value of x[k] for k in [0, count), in types of the kind's kernels. */
#define PWL_DECLARE_WAY(name, level, kind, lines)                                                                      \
    void pwl_##name(const pwl_plan *plan, const void *x, void *y, size_t count);
PWL_WAYS(PWL_DECLARE_WAY)
#undef PWL_DECLARE_WAY

typedef struct pwl_way {
    const char *name;
    uint32_t level;
    const pwl_kind *kind;
    uint32_t lines;
    void (*kernel)(const pwl_plan *plan, const void *x, void *y, size_t count);
} pwl_way;

/* The list. */
extern const pwl_way pwl_ways[];
extern const size_t pwl_way_count;

/* Bytes that a way takes for a checked table of so many plain lines, room to align them included; 0 where it does not
 * serve them. */
size_t pwl_way_bytes(const pwl_way *way, const pwl_table *table, uint32_t lines, pwl_type in, pwl_type out);

/* A plan by a way that serves the table, in so many bytes of memory. */
void pwl_way_prepare(const pwl_way *way, pwl_plan *plan, void *memory, const pwl_table *table, uint32_t lines,
                     pwl_type in, pwl_type out);

#endif
