/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All ways to map arrays, and what they cost. This list is the only one: declarations, choice, tests and benchmarks
 * come from it.
 *
 *   PWL_WAYS(F): F(name, level, kind, lines, cost, even)
 *
 * A way is the kernel pwl_<name>() over what its kind prepares (kind.h), for tables of at most so many plain lines. It
 * needs the instructions of `level`, 0 for plain C, and is in the list where PWL_HAVE_<...> says that the build has it.
 *
 * `cost` has picoseconds per element for tables of one size after the other (pwl_way_cost() in way.c names the sizes),
 * and `even` what is added where ties are rounded to even. Of the ways that a machine has, only the ratios count: the
 * one that costs least is taken, the first of those that cost the same. runtime/RESULTS.md says on which machine each
 * was measured; `./dev bench ways` compares all of them with the machine at hand.
 */
#ifndef PWL_WAYS_H
#define PWL_WAYS_H

#include <pwl/plan.h>

#include "kind.h"
#include "narrow.h"
#include "pieces.h"
#include "wide.h"

/* As many as folded tables have; where half_away cuts lines, there may be more. */
#define PWL_MANY_LINES (2 * PWL_MAX_SEGMENTS)
#define PWL_ANY_LINES UINT32_MAX

/* A way of the list, where the build, by the bits of its widest tables, has its kind. */
#define PWL_IF_bytes(F, ...) F(__VA_ARGS__)
#define PWL_IF_values(F, ...) F(__VA_ARGS__)
#if PWL_MOST_BITS >= 16
#define PWL_IF_narrow(F, ...) F(__VA_ARGS__)
#define PWL_IF_pieces(F, ...) F(__VA_ARGS__)
#define PWL_IF_cells16(F, ...) F(__VA_ARGS__)
#else
#define PWL_IF_narrow(...)
#define PWL_IF_pieces(...)
#define PWL_IF_cells16(...)
#endif
#if PWL_MOST_BITS >= 32
#define PWL_IF_wide(F, ...) F(__VA_ARGS__)
#define PWL_IF_cells(F, ...) F(__VA_ARGS__)
#define PWL_IF_octaves(F, ...) F(__VA_ARGS__)
#else
#define PWL_IF_wide(...)
#define PWL_IF_cells(...)
#define PWL_IF_octaves(...)
#endif

#define PWL_WAY(F, name, level, kind, ...) PWL_IF_##kind(F, name, level, kind, __VA_ARGS__)

#ifdef PWL_HAVE_AVX512
#define PWL_WAYS_AVX512(F)                                                                                             \
    PWL_WAY(F, bytes_avx512vbmi, PWL_LEVEL_AVX512VBMI, bytes, PWL_ANY_LINES, (30, 140, 510), 0)                        \
    PWL_WAY(F, bytes_avx512, PWL_LEVEL_AVX512, bytes, PWL_ANY_LINES, (70, 220, 680), 0)                                \
    PWL_WAY(F, pieces_avx512, PWL_LEVEL_AVX512, pieces, PWL_PIECES, (220, 245, 305, 700, 1000), 60)                    \
    PWL_WAY(F, narrow_avx512, PWL_LEVEL_AVX512, narrow, PWL_NARROW_LINES, (250, 260), 55)                              \
    PWL_WAY(F, wide_avx512, PWL_LEVEL_AVX512, wide, PWL_WIDE_LINES, (550, 770), 100)                                   \
    PWL_WAY(F, cells_avx512, PWL_LEVEL_AVX512, cells, PWL_MANY_LINES, (1650, 1650, 1650, 1650, 1730, 2030), 150)
#else
#define PWL_WAYS_AVX512(F)
#endif

#ifdef PWL_HAVE_AVX2
#define PWL_WAYS_AVX2(F)                                                                                               \
    PWL_WAY(F, bytes_avx2, PWL_LEVEL_AVX2, bytes, PWL_ANY_LINES, (110, 300, 830), 0)                                   \
    PWL_WAY(F, narrow_avx2, PWL_LEVEL_AVX2, narrow, PWL_NARROW_LINES, (330, 550), 160)                                 \
    PWL_WAY(F, wide_avx2, PWL_LEVEL_AVX2, wide, 16, (1510), 180)                                                       \
    PWL_WAY(F, cells16_avx2, PWL_LEVEL_AVX2, cells16, PWL_MANY_LINES, (1370, 1370, 1370, 1370, 1400, 2000), 290)       \
    PWL_WAY(F, cells_avx2, PWL_LEVEL_AVX2, cells, PWL_MANY_LINES, (1690, 1690, 1690, 1690, 1750, 2050), 190)           \
    PWL_WAY(F, octaves_avx2, PWL_LEVEL_AVX2, octaves, PWL_MANY_LINES, (2550, 2550, 2550, 2550, 2650, 2950), 190)
#else
#define PWL_WAYS_AVX2(F)
#endif

#ifdef PWL_HAVE_SSE41
#define PWL_WAYS_SSE41(F)                                                                                              \
    PWL_WAY(F, bytes_sse41, PWL_LEVEL_SSE41, bytes, PWL_ANY_LINES, (230, 540, 1290), 0)                                \
    PWL_WAY(F, narrow_sse41, PWL_LEVEL_SSE41, narrow, PWL_NARROW_LINES, (1030, 1410), 310)
#else
#define PWL_WAYS_SSE41(F)
#endif

#ifdef PWL_HAVE_NEON
#define PWL_WAYS_NEON(F)                                                                                               \
    PWL_WAY(F, bytes_neon, PWL_LEVEL_NEON, bytes, PWL_ANY_LINES, (100, 280, 700), 0)                                   \
    PWL_WAY(F, narrow_neon, PWL_LEVEL_NEON, narrow, PWL_NARROW_LINES, (450, 520), 120)                                 \
    PWL_WAY(F, wide_neon, PWL_LEVEL_NEON, wide, PWL_WIDE_LINES, (1500, 1900), 300)
#else
#define PWL_WAYS_NEON(F)
#endif

#ifdef PWL_HAVE_SVE2
#define PWL_WAYS_SVE2(F)                                                                                               \
    PWL_WAY(F, values_sve2, PWL_LEVEL_SVE2, values, PWL_ANY_LINES, (370, 680, 600, 680), 0)                            \
    PWL_WAY(F, cells16_sve2, PWL_LEVEL_SVE2, cells16, PWL_MANY_LINES, (900, 900, 900, 900, 1000, 1400), 200)
#else
#define PWL_WAYS_SVE2(F)
#endif

#ifdef PWL_HAVE_HELIUM
#define PWL_WAYS_HELIUM(F)                                                                                             \
    PWL_WAY(F, bytes_helium, PWL_LEVEL_HELIUM, bytes, PWL_ANY_LINES, (250, 700, 1400), 0)                              \
    PWL_WAY(F, cells16_helium, PWL_LEVEL_HELIUM, cells16, PWL_MANY_LINES, (1000, 1000, 1000, 1000, 1000, 1200), 150)
#else
#define PWL_WAYS_HELIUM(F)
#endif

#ifdef PWL_HAVE_DSP
#define PWL_WAYS_DSP(F)                                                                                                \
    PWL_WAY(F, cells16_dsp, PWL_LEVEL_DSP, cells16, PWL_MANY_LINES, (2100, 2100, 2100, 2100, 2100, 2500), 2500)
#else
#define PWL_WAYS_DSP(F)
#endif

#ifdef PWL_HAVE_RVV
#define PWL_WAYS_RVV(F)                                                                                                \
    PWL_WAY(F, bytes_rvv, PWL_LEVEL_RVV, bytes, PWL_ANY_LINES, (300, 700, 1400), 0)                                    \
    PWL_WAY(F, cells16_rvv, PWL_LEVEL_RVV, cells16, PWL_MANY_LINES, (3000, 3000, 3000, 3000, 3000, 3500), 600)
#else
#define PWL_WAYS_RVV(F)
#endif

#define PWL_WAYS(F)                                                                                                    \
    PWL_WAYS_AVX512(F)                                                                                                 \
    PWL_WAYS_AVX2(F)                                                                                                   \
    PWL_WAYS_SSE41(F)                                                                                                  \
    PWL_WAYS_NEON(F)                                                                                                   \
    PWL_WAYS_SVE2(F)                                                                                                   \
    PWL_WAYS_HELIUM(F)                                                                                                 \
    PWL_WAYS_DSP(F)                                                                                                    \
    PWL_WAYS_RVV(F)                                                                                                    \
    PWL_WAY(F, values, 0, values, PWL_ANY_LINES, (390, 640, 720, 800), 0)                                              \
    PWL_WAY(F, cells16, 0, cells16, PWL_MANY_LINES, (2950, 2950, 2950, 2950, 3000, 3500), 700)                         \
    PWL_WAY(F, cells, 0, cells, PWL_MANY_LINES, (3480, 3480, 3480, 3490, 3550, 4030), 380)                             \
    PWL_WAY(F, octaves, 0, octaves, PWL_MANY_LINES, (7000, 7000, 7000, 7000, 7200, 8000), 400)

/* y[k] = value of x[k] for k in [0, count), in types of the kind's kernels. */
#define PWL_DECLARE_WAY(name, level, kind, lines, cost, even)                                                          \
    void pwl_##name(const pwl_plan *plan, const void *x, void *y, size_t count);
PWL_WAYS(PWL_DECLARE_WAY)
/* Others leave the ends of arrays to these, in builds too that do not list them. */
PWL_DECLARE_WAY(cells16, , , , , )
PWL_DECLARE_WAY(cells, , , , , )
PWL_DECLARE_WAY(octaves, , , , , )
#undef PWL_DECLARE_WAY

enum { PWL_SIZES = 6 };

typedef struct pwl_way {
    const char *name;
    uint32_t level;
    const pwl_kind *kind;
    uint32_t lines;
    uint16_t cost[PWL_SIZES], even;
    void (*kernel)(const pwl_plan *plan, const void *x, void *y, size_t count);
} pwl_way;

/* The list. */
extern const pwl_way pwl_ways[];
extern const size_t pwl_way_count;

/* Both of what follows: the cost, and, where it is below the one given, the bytes, else 0. */
uint32_t pwl_way_look(const pwl_way *way, const pwl_source *source, pwl_type in, pwl_type out, uint32_t below,
                      size_t *bytes);

/* Bytes that a way takes for arrays of these types, room to align them included; 0 where it does not serve them. */
size_t pwl_way_bytes(const pwl_way *way, const pwl_source *source, pwl_type in, pwl_type out);

/* Picoseconds per element that it takes, by the list, where it serves them. */
uint32_t pwl_way_cost(const pwl_way *way, const pwl_source *source, pwl_type in, pwl_type out);

/* A plan by a way that serves them, in so many bytes of memory. */
void pwl_way_prepare(const pwl_way *way, pwl_plan *plan, void *memory, const pwl_source *source, pwl_type in,
                     pwl_type out);

#endif
