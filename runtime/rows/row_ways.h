/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways to run row operators beyond plain C. This list is the only one: declarations, choice and tests come from it. A
 * way needs the instructions of `level`, is in the list where PWL_HAVE_<...> says that the build has it, and gives the
 * bits of plain C for every operator that it serves. The first that serves is taken.
 *
 *   PWL_SOFTMAX_WAYS(F), PWL_NORM_WAYS(F): F(name, level)
 *
 * pwl_<name>_serves() tells whether a checked operator is one of those that pwl_<name>() runs, row by row, no place
 * masked.
 */
#ifndef PWL_ROW_WAYS_H
#define PWL_ROW_WAYS_H

#include <pwl/rows.h>

#define PWL_SOFTMAX_WAYS(F)
#define PWL_NORM_WAYS(F)

typedef struct pwl_softmax_way {
    const char *name;
    uint32_t level;
    int (*serves)(const pwl_softmax *softmax);
    void (*run)(const pwl_softmax *softmax, const void *x, void *y, size_t length);
} pwl_softmax_way;

typedef struct pwl_norm_way {
    const char *name;
    uint32_t level;
    int (*serves)(const pwl_norm *norm);
    void (*run)(const pwl_norm *norm, const void *x, void *y);
} pwl_norm_way;

#define PWL_DECLARE_SOFTMAX_WAY(name, level)                                                                           \
    int pwl_##name##_serves(const pwl_softmax *softmax);                                                               \
    void pwl_##name(const pwl_softmax *softmax, const void *x, void *y, size_t length);
PWL_SOFTMAX_WAYS(PWL_DECLARE_SOFTMAX_WAY)
#undef PWL_DECLARE_SOFTMAX_WAY

#define PWL_DECLARE_NORM_WAY(name, level)                                                                              \
    int pwl_##name##_serves(const pwl_norm *norm);                                                                     \
    void pwl_##name(const pwl_norm *norm, const void *x, void *y);
PWL_NORM_WAYS(PWL_DECLARE_NORM_WAY)
#undef PWL_DECLARE_NORM_WAY

/* The way for an operator; null: plain C. */
const pwl_softmax_way *pwl_softmax_way_of(const pwl_softmax *softmax, uint32_t levels);
const pwl_norm_way *pwl_norm_way_of(const pwl_norm *norm, uint32_t levels);

#endif
