/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of floats through a plan, in blocks that stay in the cache: codes of a block, their values, real numbers. */
#include "reals.h"

#include "element.h"

/* Elements at a time, 8 bytes of stack each; where there is much of it, a plan's beginnings take some hundredths of a
 * block's time. */
#if UINTPTR_MAX > UINT32_MAX
#define BLOCK 1024
#else
#define BLOCK 24
#endif

/* From here on a cache hardly holds what is written, which then need not be read before. */
#if SIZE_MAX > UINT16_MAX
#define STREAMED_BYTES ((size_t)32 << 20)
#else
#define STREAMED_BYTES SIZE_MAX
#endif

static size_t no_codes(const pwl_scaling *of, const float *x, pwl_type type, void *codes, size_t count)
{
    (void)of, (void)x, (void)type, (void)codes, (void)count;
    return 0;
}

static size_t no_reals(const pwl_scaling *of, pwl_type type, const void *codes, float *y, size_t count, int streamed)
{
    (void)of, (void)type, (void)codes, (void)y, (void)count, (void)streamed;
    return 0;
}

const pwl_real_way pwl_real_ways[] = {
#define WAY(name, level) {level, pwl_codes_##name, pwl_reals_##name},
    PWL_REAL_WAYS(WAY)
#undef WAY
        {0, no_codes, no_reals},
};
const size_t pwl_real_way_count = sizeof pwl_real_ways / sizeof *pwl_real_ways;

/* Whether every code of the type is within 32 bits, as it is and from the zero point on. */
static int fits(pwl_type type, int64_t zero_point)
{
    const int64_t lowest = pwl_type_lowest(type), highest = pwl_type_highest(type);
    return highest <= INT32_MAX && zero_point >= INT32_MIN && zero_point <= INT32_MAX &&
           lowest - zero_point >= INT32_MIN && highest - zero_point <= INT32_MAX;
}

pwl_status pwl_run_real_by(const pwl_plan *plan, const pwl_affine *of_x, const float *x, const pwl_affine *of_y,
                           float *y, size_t count, uint32_t levels)
{
    const pwl_real_way *by = pwl_real_ways;
    uint32_t codes[BLOCK], values[BLOCK];
    pwl_scaling of;
    pwl_type in, out;
    int64_t lowest, highest;
    int vectors_in, vectors_out, streamed, is_wide;
    size_t n;
    if (!plan || (count && (!x || !y)))
        return PWL_ERR_NULL;
    is_wide = plan->table->storage == PWL_INT32;
    if (!pwl_affine_serves(*of_x, is_wide) || !pwl_affine_serves(*of_y, is_wide))
        return PWL_ERR_FIELD;
    while ((by->level & levels) != by->level)
        by++;
    in = (pwl_type)plan->in;
    out = (pwl_type)plan->out;
    lowest = pwl_type_lowest(in);
    highest = pwl_type_highest(in);
    of.inverse = 1.0f / of_x->scale;
    of.scale = of_y->scale;
    vectors_in = fits(in, of_x->zero_point);
    vectors_out = fits(out, of_y->zero_point);
    of.zero = vectors_in ? (int32_t)of_x->zero_point : 0;
    of.least = vectors_in ? (int32_t)(lowest - of_x->zero_point) : 0;
    of.most = vectors_in ? (int32_t)(highest - of_x->zero_point) : 0;
    of.zero_y = vectors_out ? (int32_t)of_y->zero_point : 0;
    streamed = count * sizeof *y >= STREAMED_BYTES && x != y && (uintptr_t)y % sizeof *y == 0;
    /* Streams begin where a line of the cache does. */
    n = streamed ? (-(uintptr_t)y & 63) / sizeof *y : 0;
    n = n ? n : BLOCK;
    while (count) {
        size_t k;
        n = n < count ? n : count;
        for (k = vectors_in ? by->codes(&of, x, in, codes, n) : 0; k < n; k++)
            pwl_set_element_of(in, codes, k, pwl_code_of_real(x[k], of.inverse, of_x->zero_point, lowest, highest));
        pwl_run(plan, codes, values, n);
        for (k = vectors_out ? by->reals(&of, out, values, y, n, streamed && n == BLOCK) : 0; k < n; k++)
            y[k] = pwl_real_of_code(pwl_element_of(out, values, k), *of_y);
        x += n;
        y += n;
        count -= n;
        n = BLOCK;
    }
    return PWL_OK;
}

pwl_status pwl_run_real(const pwl_plan *plan, pwl_affine of_x, const float *x, pwl_affine of_y, float *y, size_t count)
{
    return pwl_run_real_by(plan, &of_x, x, &of_y, y, count, pwl_levels());
}
