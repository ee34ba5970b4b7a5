/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of convert.h, once for each set of instructions that compilers make vectors of the loops with: whoever
 * includes this has defined RUN_CONVERTED and RUN_JOINED, their names there. */
#include <pwl/plan.h>

#include "element.h"

/* Elements at a time: 8 KiB of stack for codes and values of 32 bits each, where there is much of it, or else 256
 * bytes. A kernel prepares its registers anew for each block. */
#if UINTPTR_MAX > UINT32_MAX
#define BLOCK 1024
#else
#define BLOCK 32
#endif

/* Of its own, compilers see the least and the greatest of two numbers here, which are two instructions of vectors. */
static inline int32_t within(int32_t v, int32_t min, int32_t max)
{
    const int32_t from_min = v < min ? min : v;
    return from_min > max ? max : from_min;
}

/* y[k] = value, which is x[k] or what is nearest to it in the other type. */
#define DEFINE_CONVERSION(name, from_t, to_t, value)                                                                   \
    static void name(const void *from, void *to, size_t count)                                                         \
    {                                                                                                                  \
        const from_t *x = (const from_t *)from;                                                                        \
        to_t *y = (to_t *)to;                                                                                          \
        size_t k;                                                                                                      \
        for (k = 0; k < count; k++)                                                                                    \
            y[k] = (to_t)(value);                                                                                      \
    }
#define WITHIN(min, max) within(x[k], min, max)
#define AT_MOST(max) (x[k] < (max) ? x[k] : (max))

/* Of codes and of values: to a type that holds them. */
DEFINE_CONVERSION(s8_to_16, int8_t, int16_t, x[k])
DEFINE_CONVERSION(u8_to_16, uint8_t, uint16_t, x[k])
DEFINE_CONVERSION(s8_to_32, int8_t, int32_t, x[k])
DEFINE_CONVERSION(u8_to_32, uint8_t, uint32_t, x[k])
DEFINE_CONVERSION(s16_to_32, int16_t, int32_t, x[k])
DEFINE_CONVERSION(u16_to_32, uint16_t, uint32_t, x[k])

/* Of values, which the narrower type holds. */
DEFINE_CONVERSION(low_16_to_8, uint16_t, uint8_t, x[k])
DEFINE_CONVERSION(low_32_to_8, uint32_t, uint8_t, x[k])
DEFINE_CONVERSION(low_32_to_16, uint32_t, uint16_t, x[k])

/* Of codes, clipped to the other type. */
DEFINE_CONVERSION(s8_to_u16, int8_t, uint16_t, WITHIN(0, INT8_MAX))
DEFINE_CONVERSION(s8_to_u32, int8_t, uint32_t, WITHIN(0, INT8_MAX))
DEFINE_CONVERSION(s16_to_u32, int16_t, uint32_t, WITHIN(0, INT16_MAX))
DEFINE_CONVERSION(s32_to_s16, int32_t, int16_t, WITHIN(INT16_MIN, INT16_MAX))
DEFINE_CONVERSION(s32_to_u16, int32_t, uint16_t, WITHIN(0, UINT16_MAX))
DEFINE_CONVERSION(u32_to_s16, uint32_t, int16_t, AT_MOST((uint32_t)INT16_MAX))
DEFINE_CONVERSION(u32_to_u16, uint32_t, uint16_t, AT_MOST((uint32_t)UINT16_MAX))

DEFINE_CONVERSION(s16_to_s8, int16_t, int8_t, WITHIN(INT8_MIN, INT8_MAX))
DEFINE_CONVERSION(s16_to_u8, int16_t, uint8_t, WITHIN(0, UINT8_MAX))
DEFINE_CONVERSION(u16_to_s8, uint16_t, int8_t, AT_MOST(INT8_MAX))
DEFINE_CONVERSION(u16_to_u8, uint16_t, uint8_t, AT_MOST(UINT8_MAX))
DEFINE_CONVERSION(s32_to_s8, int32_t, int8_t, WITHIN(INT8_MIN, INT8_MAX))
DEFINE_CONVERSION(s32_to_u8, int32_t, uint8_t, WITHIN(0, UINT8_MAX))
DEFINE_CONVERSION(u32_to_s8, uint32_t, int8_t, AT_MOST((uint32_t)INT8_MAX))
DEFINE_CONVERSION(u32_to_u8, uint32_t, uint8_t, AT_MOST((uint32_t)UINT8_MAX))

typedef void conversion(const void *from, void *to, size_t count);

/* By the kernel's type and the array's; null where both have the same width. */
static conversion *const codes_to[6][6] = {
    {NULL, NULL, s16_to_s8, u16_to_s8, s32_to_s8, u32_to_s8}, {NULL, NULL, s16_to_u8, u16_to_u8, s32_to_u8, u32_to_u8},
    {s8_to_16, u8_to_16, NULL, NULL, s32_to_s16, u32_to_s16}, {s8_to_u16, u8_to_16, NULL, NULL, s32_to_u16, u32_to_u16},
    {s8_to_32, u8_to_32, s16_to_32, u16_to_32, NULL, NULL},   {s8_to_u32, u8_to_32, s16_to_u32, u16_to_32, NULL, NULL},
};

/* By the kernel's type and the width of the array's. */
static conversion *const values_from[6][3] = {
    {NULL, s8_to_16, s8_to_32},     {NULL, u8_to_16, u8_to_32},        {low_16_to_8, NULL, s16_to_32},
    {low_16_to_8, NULL, u16_to_32}, {low_32_to_8, low_32_to_16, NULL}, {low_32_to_8, low_32_to_16, NULL},
};

static conversion *conversion_of_values(const pwl_plan *plan)
{
    return values_from[plan->kernel_out][plan->out >> 1];
}

/* A block is read whole before any of it is written, so x and y may be one array. */
void RUN_CONVERTED(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    conversion *const codes_in = codes_to[plan->kernel_in][plan->in];
    conversion *const values_out = conversion_of_values(plan);
    const char *from = (const char *)x;
    char *to = (char *)y;
    uint32_t codes[BLOCK], values[BLOCK];
    while (count) {
        const size_t n = count < BLOCK ? count : BLOCK;
        if (codes_in)
            codes_in(from, codes, n);
        plan->kernel(plan, codes_in ? (const void *)codes : from, values_out ? (void *)values : to, n);
        if (values_out)
            values_out(values, to, n);
        from += n << (plan->in >> 1);
        to += n << (plan->out >> 1);
        count -= n;
    }
}

/* What the parts have of a value, the lowest byte first. */
static void join_2(uint8_t (*part)[BLOCK], void *to, size_t count)
{
    const uint8_t *low = part[0], *high = part[1];
    uint16_t *y = (uint16_t *)to;
    size_t k;
    for (k = 0; k < count; k++)
        y[k] = (uint16_t)(low[k] | high[k] << 8);
}

static void join_4(uint8_t (*part)[BLOCK], void *to, size_t count)
{
    const uint8_t *a = part[0], *b = part[1], *c = part[2], *d = part[3];
    uint32_t *y = (uint32_t *)to;
    size_t k;
    for (k = 0; k < count; k++)
        y[k] = a[k] | (uint32_t)b[k] << 8 | (uint32_t)c[k] << 16 | (uint32_t)d[k] << 24;
}

void RUN_JOINED(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    conversion *const codes_in = codes_to[plan->kernel_in][plan->in];
    conversion *const values_out = conversion_of_values(plan);
    const int parts = 1 << (plan->kernel_out >> 1);
    const char *from = (const char *)x;
    char *to = (char *)y;
    uint8_t codes[BLOCK], part[4][BLOCK];
    uint32_t joined[BLOCK];
    pwl_plan of_part;
    while (count) {
        const size_t n = count < BLOCK ? count : BLOCK;
        void *const values = !values_out ? (void *)to : parts == 1 ? (void *)part : (void *)joined;
        int p;
        if (codes_in)
            codes_in(from, codes, n);
        for (p = 0; p < parts; p++) {
            of_part.memory = (const char *)plan->memory + 256 * p;
            plan->kernel(&of_part, codes_in ? (const void *)codes : from, parts == 1 ? values : (void *)part[p], n);
        }
        if (parts == 2)
            join_2(part, values, n);
        else if (parts == 4)
            join_4(part, values, n);
        if (values_out)
            values_out(values, to, n);
        from += n << (plan->in >> 1);
        to += n << (plan->out >> 1);
        count -= n;
    }
}
