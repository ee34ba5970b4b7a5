/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Range reduction: a function that repeats itself from octave to octave needs a table of one octave only. A reduced
 * table is a plain table, the core, and what happens before and after it. With d = q_x - zp_x (q_x clamped first), w
 * the bits of the core's storage, and step = 2^log2_step octaves:
 *
 *   leading zeros   r = floor((w - bits of d) / step), m = floor(d * 2^(r * step)): d with its highest set bit brought
 *                   to the top of a w-bit word, by whole steps. Exact while d has at most w bits. d <= 0 has no such
 *                   bit, and gives q_y = below.
 *   exponent        z = d * factor rounded to w of its fraction bits, halves up; r = floor(z / 2^fraction), m = those
 *                   w bits.
 *
 *   q_y = sat( zp_y + half_up( (raw(m) - r * addend) / 2^n ) ),   n = shift + direction * r, clipped to 0..62,
 *
 * raw being the core's value before saturation, which carries more bits than q_y. The one rounding that matters is the
 * last; the core's `rounding` is that of its own shifts. The laws:
 *
 *   sqrt        leading zeros, step 2, direction  1     sqrt(m / 4^r)  = sqrt(m) / 2^r
 *   rsqrt       leading zeros, step 2, direction -1     rsqrt(m / 4^r) = rsqrt(m) * 2^r
 *   reciprocal  leading zeros, step 1, direction -1     1 / (m / 2^r)  = 1/m * 2^r
 *   log         leading zeros, step 1, direction  0     log(m / 2^r)   = log(m) - r log(2), addend = log(2)
 *   exp         exponent, direction -1                  2^(r + m)      = 2^m * 2^r, factor = log2(e)
 *
 * in code units, factor and addend with fraction bits of their own. A clipped n is of no consequence: beyond 62 every
 * value rounds to 0, and a result that would need a left shift is far beyond the output codes.
 */
#ifndef PWL_REDUCE_H
#define PWL_REDUCE_H

#include "eval.h"
#include "fixed.h"
#include "plan.h"
#include "pwl.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PWL_REDUCTION_VERSION 1 /* layout and meaning of pwl_reduction */

typedef enum pwl_reduction_kind { PWL_LEADING_ZEROS = 0, PWL_EXPONENT = 1 } pwl_reduction_kind;

typedef struct pwl_reduction {
    uint8_t version;   /* PWL_REDUCTION_VERSION */
    uint8_t kind;      /* pwl_reduction_kind */
    uint8_t log2_step; /* leading zeros: 0 or 1, else 0 */
    uint8_t fraction;  /* exponent: w..62, else 0 */
    int8_t direction;  /* -1, 0 or 1 */
    int16_t shift;
    int64_t factor; /* exponent: else 0 */
    int64_t addend;
    int64_t below; /* leading zeros: in [qmin_y, qmax_y] of the core, else 0 */
    int64_t zp_x;
    int64_t qmin_x, qmax_x; /* within int32 or uint32 */
    int64_t zp_y;
} pwl_reduction;

/* The core's input codes are m, its qmin_y and qmax_y those of the result. Can live in ROM. */
typedef struct pwl_reduced {
    pwl_reduction reduction;
    pwl_table core; /* not folded */
} pwl_reduced;

/*
 * Proves a reduced table safe for every q_x: the core by pwl_table_check(), every field of the reduction legal, z
 * within 63 bits, raw(m) and r * addend within 61 bits each, so that their difference and half of 2^62 fit 64. As
 * pwl_table_check(); proof->acc_bits is the core's, what lies around it is computed in 64 bits.
 */
PWL_API PWL_NODISCARD pwl_status pwl_reduced_check(const pwl_reduced *reduced, pwl_proof *proof);

/* One code: the specification every other evaluation must equal. Any q_x is accepted; the table passed the check. */
PWL_API int64_t pwl_reduced_eval(const pwl_reduced *reduced, int64_t q_x);

/* y[k] = pwl_reduced_eval(reduced, x[k]) for k in [0, count), for arrays of the types said. As for pwl_map_*: x and y
 * may be the same array when their elements have the same size, and [qmin_y, qmax_y] must fit the output type. */
PWL_API void pwl_reduced_map(const pwl_reduced *reduced, pwl_type in, const void *x, pwl_type out, void *y,
                             size_t count);

/*
 * Plans of reduced tables: as pwl_plan_size() and pwl_plan_init() of plan.h, and pwl_run() gives the codes of
 * pwl_reduced_eval(). The table has passed pwl_reduced_check() and outlives the plan. Arrays of 8 and 16 bits are
 * looked up, value by value, where memory allows; those of 32 bits take at most 300 KiB.
 */
PWL_API size_t pwl_reduced_plan_size(const pwl_reduced *reduced, pwl_type in, pwl_type out, uint32_t levels);
PWL_API PWL_NODISCARD pwl_status pwl_reduced_plan_init(pwl_plan *plan, void *memory, size_t bytes,
                                                       const pwl_reduced *reduced, pwl_type in, pwl_type out,
                                                       uint32_t levels);

/* Bits of v: 0 for 0, else 1 + floor(log2(v)). Halving steps, since not every target counts zeros. */
PWL_FN int pwl_bit_length(uint64_t v)
{
#ifdef __CUDA_ARCH__
    return 64 - __clzll((long long)v);
#else
    int bits = 0, step;
    for (step = 32; step > 0; step >>= 1)
        if (v >> step) {
            v >>= step;
            bits += step;
        }
    return bits + (int)v;
#endif
}

/* Where the core is asked, and in which octave. */
typedef struct pwl_reduced_code {
    int64_t m; /* 0..2^w - 1 */
    int64_t r;
} pwl_reduced_code;

/* Of d = q_x - zp_x, positive for leading zeros; word_bits is w. */
PWL_FN pwl_reduced_code pwl_reduce(const pwl_reduction *reduction, int word_bits, int64_t d)
{
    pwl_reduced_code code;
    if (reduction->kind == PWL_LEADING_ZEROS) {
        /* At most w - 1 and at least w - 63. */
        const int left = word_bits - pwl_bit_length((uint64_t)d);
        const int shift = (left >> reduction->log2_step) * (1 << reduction->log2_step);
        code.r = left >> reduction->log2_step;
        code.m = shift < 0 ? d >> -shift : pwl_shl64(d, shift);
    } else {
        const int dropped = reduction->fraction - word_bits;
        const int64_t z = pwl_shr64(d * reduction->factor, dropped, PWL_HALF_UP);
        code.r = z >> word_bits;
        code.m = z & (int64_t)(UINT64_MAX >> (64 - word_bits));
    }
    return code;
}

/* The result before saturation, from the core's raw value. */
PWL_FN int64_t pwl_restore(const pwl_reduction *reduction, int64_t raw, int64_t r)
{
    const int n = (int)pwl_sat(reduction->shift + reduction->direction * r, 0, 62);
    return reduction->zp_y + pwl_shr64(raw - r * reduction->addend, n, PWL_HALF_UP);
}

/* As pwl_reduced_eval(). */
PWL_FN int64_t pwl_reduced_eval_inline(const pwl_reduced *reduced, int64_t q_x)
{
    const pwl_reduction *reduction = &reduced->reduction;
    const int64_t d = pwl_sat(q_x, reduction->qmin_x, reduction->qmax_x) - reduction->zp_x;
    pwl_reduced_code code;
    if (reduction->kind == PWL_LEADING_ZEROS && d <= 0)
        return reduction->below;
    code = pwl_reduce(reduction, 8 << reduced->core.storage, d);
    return pwl_sat(pwl_restore(reduction, pwl_eval_unclamped_inline(&reduced->core, code.m), code.r),
                   reduced->core.qmin_y, reduced->core.qmax_y);
}

#ifdef __cplusplus
}
#endif
#endif
