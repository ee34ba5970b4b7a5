/* SPDX-License-Identifier: Apache-2.0 */
/*
 * INT8 in 32 bits, for the host and for devices: which sums and shifts allow it, and how they become codes. What does
 * not is done in 64 bits by store.h, with the same results.
 */
#ifndef PWL_QGEMM_NARROW_H
#define PWL_QGEMM_NARROW_H

#include <stdint.h>

#include "map/plan.h"
#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How Y is made of v. */
typedef enum pwl_qgemm_narrow_way {
    PWL_QGEMM_IN_64_BITS = 0, /* whatever it is */
    PWL_QGEMM_SUMS = 1,       /* S32 */
    PWL_QGEMM_CODES = 2,      /* S8 */
    PWL_QGEMM_VALUES = 3,     /* a table of up to 256 codes, by each one's value */
    PWL_QGEMM_LINES = 4       /* the lines and cells of its image, one copy of each */
} pwl_qgemm_narrow_way;

/* Bytes of a table in shared memory, at most. */
#define PWL_QGEMM_NARROW_TABLE (16u << 10)

typedef struct pwl_qgemm_narrow {
    pwl_qgemm_narrow_way way;
    int32_t n;              /* a sum is shifted by n_w + n_x - n */
    int32_t zero, last;     /* then zero is added; of a table, what results counts from its lowest code, to `last` */
    int32_t saturates;      /* lines: Y's type is signed, and saturating to it is all that values need */
    uint32_t y_bytes;       /* 1, 2 or 4 */
    uint32_t table_bytes;   /* heads, then cells; or values */
    int32_t copied, paired; /* rows of Y are aligned to 16 bytes; to two elements */
} pwl_qgemm_narrow;

/* Whether v, which is `start` and K products, stays below 2^31 - 2^28 in magnitude. */
PWL_FN int pwl_qgemm_start_is_narrow(int64_t start, size_t k)
{
    const int64_t most = INT32_MAX - (INT64_C(1) << 28) - (int64_t)k * (128 * 128);
    return start <= most && start >= -most;
}

/* Whether such a v may be shifted by s as below. */
PWL_FN int pwl_qgemm_shift_is_narrow(int s)
{
    return s >= 1 && s <= 29;
}

/* shr(v, s), rounded half up, where a * b is 2^(s - 1): a multiplication adds the half. */
PWL_FN int32_t pwl_qgemm_shift_narrow(int32_t v, int s, int32_t a, int32_t b)
{
    return (v + a * b) >> s;
}

/* The code of a table counted from its lowest; |shifted| < 2^30, |zero| < 2^29. */
PWL_FN int32_t pwl_qgemm_narrow_code(int32_t shifted, int32_t zero, int32_t last)
{
#ifdef __CUDA_ARCH__
    return __viaddmin_s32_relu(shifted, zero, last); /* max(min(shifted + zero, last), 0) */
#else
    const int32_t code = shifted + zero < last ? shifted + zero : last;
    return code > 0 ? code : 0;
#endif
}

/* Where heads end and cells begin in shared memory. */
PWL_FN uint32_t pwl_qgemm_narrow_cells_at(const pwl_cuda_plan *plan)
{
    return plan->heads * (uint32_t)sizeof(pwl_compact);
}

/* Of a product in INT8 that was checked; table->memory is null where it has no activation, of which e is, else. */
pwl_qgemm_narrow pwl_qgemm_narrow_of(const pwl_qgemm_product *product, const pwl_qgemm_epilogue *e,
                                     const pwl_planned *table);

#ifdef __cplusplus
}
#endif
#endif
