/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays of codes. A long one is mapped by a plan for this one call, in memory on the stack (map.h says when). What is
 * short, or has no such plan, goes through blocks of one type, pwl_code: one of six functions reads codes by their
 * type, one of six kernels, by the type of start, knows its storage at compile time, and one of three functions writes
 * values by their width. So 36 pairs of types and 6 storages cost 15 loops, not 216.
 */
#include "map.h"

#include <pwl/eval.h>
#include <pwl/plan.h>

#include "direct.h"
#include "element.h"
#include "tabulate.h"

#if PWL_MOST_BITS > 8 && !defined(PWL_TABLES_IN_FLASH)
/* Holds every code that tables tell apart: where those have 16 bits at most, codes beyond its ends count as these. */
#if PWL_MOST_BITS > 16
typedef int64_t pwl_code;
#else
typedef int32_t pwl_code;
#endif

/* Codes at a time, and codes that are searched for side by side, so that no search waits for another's: one where a
 * processor does one thing at a time, and has little stack. */
#if UINTPTR_MAX > UINT32_MAX
enum { BLOCK = 64, TOGETHER = 16 };
#else
enum { BLOCK = 32, TOGETHER = 1 };
#endif

/* Replaces each code of a block by its q_y. */
typedef void block_kernel(const pwl_table *table, pwl_code *codes, size_t count);

static inline pwl_code clip(pwl_code v, int64_t min, int64_t max)
{
    const pwl_code from_min = v < (pwl_code)min ? (pwl_code)min : v;
    return from_min > (pwl_code)max ? (pwl_code)max : from_min;
}

/*
 * acc_t holds mirrored codes (18 bits for 16-bit starts, 34 for 32-bit ones), q_x - zp_x and every later value, by
 * the proof; fold_sum too. The search halves `left` candidates, in as many steps whatever the code, so that a compiler
 * can do without branches on the data: low[k] ends at the last segment whose start is at most q[k].
 */
#define DEFINE_KERNEL(name, start_t, slope_t, offset_t, bias_t, acc_t, line)                                           \
    static void name(const pwl_table *table, pwl_code *codes, size_t count)                                            \
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
                const acc_t code = (acc_t)clip(codes[k], table->qmin_x, table->qmax_x);                                \
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
                codes[k] = clip(mirrored[k] ? fold_sum - raw : raw, table->qmin_y, table->qmax_y);                     \
            }                                                                                                          \
            codes += n;                                                                                                \
            count -= n;                                                                                                \
        }                                                                                                              \
    }
DEFINE_KERNEL(map_start_s8, int8_t, int8_t, int16_t, int32_t, int32_t, pwl_line32)
DEFINE_KERNEL(map_start_u8, uint8_t, int8_t, int16_t, int32_t, int32_t, pwl_line32)
DEFINE_KERNEL(map_start_s16, int16_t, int16_t, int32_t, int32_t, int32_t, pwl_line32)
DEFINE_KERNEL(map_start_u16, uint16_t, int16_t, int32_t, int32_t, int32_t, pwl_line32)
#if PWL_MOST_BITS >= 32
DEFINE_KERNEL(map_start_s32, int32_t, int32_t, int64_t, int64_t, int64_t, pwl_line64)
DEFINE_KERNEL(map_start_u32, uint32_t, int32_t, int64_t, int64_t, int64_t, pwl_line64)
#endif

/* By storage, and by whether starts are unsigned. */
static block_kernel *const kernels[][2] = {
    {map_start_s8, map_start_u8},
    {map_start_s16, map_start_u16},
#if PWL_MOST_BITS >= 32
    {map_start_s32, map_start_u32},
#endif
};

#define DEFINE_READ(in, in_t, min, max)                                                                                \
    static void read_##in(const void *x, pwl_code *codes, size_t count)                                                \
    {                                                                                                                  \
        size_t k;                                                                                                      \
        for (k = 0; k < count; k++)                                                                                    \
            codes[k] = (pwl_code)CODE(((const in_t *)x)[k]);                                                           \
    }
#if PWL_MOST_BITS > 16
#define CODE(v) (v)
#else
#define CODE(v) ((v) <= INT32_MAX ? (v) : INT32_MAX)
#endif
PWL_MAP_TYPES(DEFINE_READ)

#define DEFINE_WRITE(bits)                                                                                             \
    static void write_##bits(const pwl_code *codes, void *y, size_t count)                                             \
    {                                                                                                                  \
        size_t k;                                                                                                      \
        for (k = 0; k < count; k++)                                                                                    \
            ((uint##bits##_t *)y)[k] = (uint##bits##_t)codes[k];                                                       \
    }
DEFINE_WRITE(8)
DEFINE_WRITE(16)
DEFINE_WRITE(32)

/* A block is read whole before any of it is written, so x and y may be one array. */
static void by_blocks(const pwl_table *table, pwl_type in, const void *x, pwl_type out, void *y, size_t count)
{
#define READ(in, in_t, min, max) read_##in,
    static void (*const read[])(const void *x, pwl_code *codes, size_t count) = {PWL_MAP_TYPES(READ)};
    static void (*const write[])(const pwl_code *codes, void *y, size_t count) = {write_8, write_16, write_32};
    block_kernel *const kernel = kernels[pwl_storage_of(table)][table->flags & PWL_FLAG_UNSIGNED_X];
    const char *from = (const char *)x;
    char *to = (char *)y;
    pwl_code codes[BLOCK];
    while (count) {
        const size_t n = count < BLOCK ? count : BLOCK;
        read[in](from, codes, n);
        kernel(table, codes, n);
        write[out >> 1](codes, to, n);
        from += n << pwl_type_bytes_log2(in);
        to += n << pwl_type_bytes_log2(out);
        count -= n;
    }
}

#else
/* Small chips have less room than time. */
static void by_blocks(const pwl_table *table, pwl_type in, const void *x, pwl_type out, void *y, size_t count)
{
    size_t k;
    for (k = 0; k < count; k++)
        pwl_set_element_of(out, y, k, pwl_eval(table, pwl_element_of(in, x, k)));
}
#endif

#if PWL_MAP_STACK >= PWL_MAP_PLANS
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
#elif PWL_MAP_STACK >= PWL_MAP_VALUES
/* Whether the values of all codes, of which there are few, did it. */
static int by_plan(const pwl_table *table, pwl_type in, const void *x, pwl_type out, void *y, size_t count)
{
    uint8_t values[PWL_MAP_VALUES];
    size_t k;
    if (in > PWL_U8 || out > PWL_U8)
        return 0;
    pwl_tabulate(table, pwl_type_lowest(in), pwl_type_highest(in), out, values);
    for (k = 0; k < count; k++)
        ((uint8_t *)y)[k] = values[((const uint8_t *)x)[k]];
    return 1;
}
#else
static int by_plan(const pwl_table *table, pwl_type in, const void *x, pwl_type out, void *y, size_t count)
{
    (void)table, (void)in, (void)x, (void)out, (void)y, (void)count;
    return 0;
}
#endif

/* Whether the table's own arrays, in registers, did it. */
static int directly(const pwl_table *table, pwl_type in, const void *x, pwl_type out, void *y, size_t count)
{
#ifdef PWL_HAVE_AVX512
    if (pwl_map_is_direct(table)) {
        if (table->segments <= PWL_DIRECT_FEW)
            pwl_direct_avx512(table, in, x, out, y, count);
        else
            pwl_direct_many_avx512(table, in, x, out, y, count);
        return 1;
    }
#endif
    (void)table, (void)in, (void)x, (void)out, (void)y, (void)count;
    return 0;
}

void pwl_map_typed(const pwl_table *table, pwl_type in, const void *x, pwl_type out, void *y, size_t count)
{
    if (count < pwl_map_pays(table, in) || !by_plan(table, in, x, out, y, count))
        if (!directly(table, in, x, out, y, count))
            by_blocks(table, in, x, out, y, count);
}

#define DEFINE_MAP(in, in_t, out, out_t)                                                                               \
    void pwl_map_##in##_##out(const pwl_table *table, const in_t *x, out_t *y, size_t count)                           \
    {                                                                                                                  \
        pwl_map_typed(table, type_##in, x, type_##out, y, count);                                                      \
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
