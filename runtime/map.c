/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays of codes. A long one is mapped by a plan for this one call, in memory on the stack (map.h says when). What is
 * short, or has no such plan, goes through blocks: each pair of types moves blocks of codes through int64_t, which
 * holds every element type; between its two conversions lies one of six kernels, by the type of start, that each knows
 * its storage at compile time. So 36 pairs of types and 6 storages cost 42 loops, not 216.
 */
#include "map.h"

#include <pwl/fixed.h>
#include <pwl/plan.h>

#include "element.h"

#define BLOCK 64 /* codes at a time: 512 bytes of stack */

/* Replaces each code of a block by its q_y. */
typedef void block_kernel(const pwl_table *table, int64_t *codes, size_t count);

/* Codes that are searched for side by side, so that no search waits for another's; one where a processor does one
 * thing at a time. */
#if UINTPTR_MAX > UINT32_MAX
#define TOGETHER 16
#else
#define TOGETHER 1
#endif

/*
 * acc_t holds mirrored codes (18 bits for 16-bit starts, 34 for 32-bit ones), q_x - zp_x and every later value, by
 * the proof; fold_sum too. The search halves `left` candidates, in as many steps whatever the code, so that a compiler
 * can do without branches on the data: low[k] ends at the last segment whose start is at most q[k].
 */
#define DEFINE_KERNEL(name, start_t, slope_t, offset_t, bias_t, acc_t, line)                                           \
    static void name(const pwl_table *table, int64_t *codes, size_t count)                                             \
    {                                                                                                                  \
        const start_t *const start = (const start_t *)table->start;                                                    \
        const slope_t *const slope = (const slope_t *)table->q_b;                                                      \
        const int form = table->form, rounding = table->rounding;                                                      \
        const int fold = table->flags & PWL_FLAG_FOLD;                                                                 \
        const acc_t zp_x = (acc_t)table->zp_x, fold_sum = (acc_t)table->fold_sum;                                      \
        while (count) {                                                                                                \
            const size_t n = count < TOGETHER ? count : TOGETHER;                                                      \
            uint32_t low[TOGETHER], left = table->segments;                                                            \
            acc_t q[TOGETHER];                                                                                         \
            int mirrored[TOGETHER];                                                                                    \
            size_t k;                                                                                                  \
            for (k = 0; k < n; k++) {                                                                                  \
                const acc_t code = (acc_t)pwl_sat(codes[k], table->qmin_x, table->qmax_x);                             \
                mirrored[k] = fold && code < zp_x;                                                                     \
                q[k] = mirrored[k] ? 2 * zp_x - code : code;                                                           \
                low[k] = 0;                                                                                            \
            }                                                                                                          \
            while (left > 1) {                                                                                         \
                const uint32_t half = left >> 1;                                                                       \
                for (k = 0; k < n; k++)                                                                                \
                    low[k] += (acc_t)start[low[k] + half] <= q[k] ? half : 0;                                          \
                left -= half;                                                                                          \
            }                                                                                                          \
            for (k = 0; k < n; k++) {                                                                                  \
                const uint32_t i = low[k];                                                                             \
                const acc_t X = q[k] - (form == PWL_ANCHORED ? (acc_t)start[i] : zp_x);                                \
                const acc_t offset = form == PWL_BIASED ? (acc_t)((const bias_t *)table->offset)[i]                    \
                                                        : (acc_t)((const offset_t *)table->offset)[i];                 \
                const acc_t raw = line(form, rounding, slope[i], X, table->n[i], offset);                              \
                codes[k] = pwl_sat(mirrored[k] ? fold_sum - raw : raw, table->qmin_y, table->qmax_y);                  \
            }                                                                                                          \
            codes += n;                                                                                                \
            count -= n;                                                                                                \
        }                                                                                                              \
    }
DEFINE_KERNEL(map_start_s8, int8_t, int8_t, int16_t, int32_t, int32_t, pwl_line32)
DEFINE_KERNEL(map_start_u8, uint8_t, int8_t, int16_t, int32_t, int32_t, pwl_line32)
DEFINE_KERNEL(map_start_s16, int16_t, int16_t, int32_t, int32_t, int32_t, pwl_line32)
DEFINE_KERNEL(map_start_u16, uint16_t, int16_t, int32_t, int32_t, int32_t, pwl_line32)
DEFINE_KERNEL(map_start_s32, int32_t, int32_t, int64_t, int64_t, int64_t, pwl_line64)
DEFINE_KERNEL(map_start_u32, uint32_t, int32_t, int64_t, int64_t, int64_t, pwl_line64)

static block_kernel *kernel_for(const pwl_table *table)
{
    const int is_unsigned = table->flags & PWL_FLAG_UNSIGNED_X;
    if (table->storage == PWL_INT8)
        return is_unsigned ? map_start_u8 : map_start_s8;
    if (table->storage == PWL_INT16)
        return is_unsigned ? map_start_u16 : map_start_s16;
    return is_unsigned ? map_start_u32 : map_start_s32;
}

/* A block is read whole before any of it is written, so x and y may be one array. */
#define DEFINE_BLOCKS(in, in_t, out, out_t)                                                                            \
    static void blocks_##in##_##out(const pwl_table *table, const in_t *x, out_t *y, size_t count)                     \
    {                                                                                                                  \
        block_kernel *const kernel = kernel_for(table);                                                                \
        int64_t codes[BLOCK];                                                                                          \
        while (count) {                                                                                                \
            const size_t n = count < BLOCK ? count : BLOCK;                                                            \
            size_t k;                                                                                                  \
            for (k = 0; k < n; k++)                                                                                    \
                codes[k] = x[k];                                                                                       \
            kernel(table, codes, n);                                                                                   \
            for (k = 0; k < n; k++)                                                                                    \
                y[k] = (out_t)codes[k];                                                                                \
            x += n;                                                                                                    \
            y += n;                                                                                                    \
            count -= n;                                                                                                \
        }                                                                                                              \
    }
PWL_MAP_PAIRS(DEFINE_BLOCKS)

#if PWL_MAP_STACK > 0
/* Whether a plan for this call alone did it. */
static int by_plan(const pwl_table *table, pwl_type in, const void *x, pwl_type out, void *y, size_t count)
{
    char memory[PWL_MAP_STACK];
    pwl_plan plan;
    if (pwl_plan_init(&plan, memory, sizeof memory, table, in, out, PWL_LEVELS_ALL) != PWL_OK || !plan.memory)
        return 0;
    pwl_run(&plan, x, y, count);
    return 1;
}
#else
static int by_plan(const pwl_table *table, pwl_type in, const void *x, pwl_type out, void *y, size_t count)
{
    (void)table, (void)in, (void)x, (void)out, (void)y, (void)count;
    return 0;
}
#endif

#define DEFINE_MAP(in, in_t, out, out_t)                                                                               \
    void pwl_map_##in##_##out(const pwl_table *table, const in_t *x, out_t *y, size_t count)                           \
    {                                                                                                                  \
        if (count < pwl_map_pays(table, type_##in) || !by_plan(table, type_##in, x, type_##out, y, count))             \
            blocks_##in##_##out(table, x, y, count);                                                                   \
    }
static const pwl_type type_s8 = PWL_S8, type_u8 = PWL_U8, type_s16 = PWL_S16, type_u16 = PWL_U16, type_s32 = PWL_S32,
                      type_u32 = PWL_U32;
PWL_MAP_PAIRS(DEFINE_MAP)

int pwl_fits(const pwl_table *table, pwl_type out)
{
    if ((unsigned)out > PWL_U32)
        return 0;
    return pwl_type_lowest(out) <= table->qmin_y && table->qmax_y <= pwl_type_highest(out);
}
