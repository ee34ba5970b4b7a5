/* SPDX-License-Identifier: Apache-2.0 */
/* How kernels whose tiles go through shared memory (device/tile.cuh) find codes and values at speed. */
#ifndef PWL_QGEMM_FAST_H
#define PWL_QGEMM_FAST_H

#include <math.h>
#include <stdint.h>

#include "arch/near.h"
#include "map/plan.h"
#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a table's values come from. */
typedef enum pwl_qgemm_way {
    PWL_QGEMM_BY_SEARCH = 0, /* any, element by element */
    PWL_QGEMM_BY_VALUE = 1,  /* 256 codes or fewer: each code's value */
    PWL_QGEMM_BY_IMAGE = 2   /* the image of its plan */
} pwl_qgemm_way;

/* To codes from `first` to `last`, counted from the zero point, at most 2^22 from it. */
typedef struct pwl_qgemm_rounding {
    float inverse, first, last;
    uint32_t zero; /* first + PWL_PRESET */
} pwl_qgemm_rounding;

/* What these kernels take from an epilogue, and of Y. */
typedef struct pwl_qgemm_fast {
    pwl_qgemm_way way;
    int32_t aligned; /* rows of Y to four elements */
    uint32_t y_bytes;
    pwl_qgemm_rounding x, out;
    int32_t qmin_y, qmax_y;    /* of the table */
    int32_t all16;             /* the table takes -2^15 to 2^15 - 1 around its zero point, and Y holds 16 bits, all of
                                * which it gives */
    uint32_t zero_y, zero_out; /* of of_y and of_out, less PWL_PRESET */
    float up_limit, up_plus;   /* of up, infinite where there is none, and -0, which changes nothing */
} pwl_qgemm_fast;

/* pwl_code_of_real() of a y that is not NaN, counted from the lowest code, plus as->zero: clamped before it is rounded,
 * which a sum around 1.5 * 2^23 does, ties to even, and leaves in its last bits. */
PWL_FN uint32_t pwl_qgemm_round(const pwl_qgemm_rounding *as, float y)
{
    return pwl_bits_of_f32(fminf(fmaxf(y * as->inverse, as->first), as->last) + PWL_PRESET_FLOAT);
}

/* pwl_qgemm_up() of an up that is not NaN. */
PWL_FN float pwl_qgemm_fast_up(const pwl_qgemm_fast *as, float up)
{
    return fminf(fmaxf(up, -as->up_limit), as->up_limit) + as->up_plus;
}

/* Of a product that was checked; table->memory is null where it has no activation, of which e is, else. */
pwl_qgemm_fast pwl_qgemm_fast_of(const pwl_qgemm_product *product, const pwl_qgemm_epilogue *e,
                                 const pwl_planned *table);

#ifdef __cplusplus
}
#endif
#endif
