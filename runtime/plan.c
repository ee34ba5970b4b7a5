/* SPDX-License-Identifier: Apache-2.0 */
#include <pwl/fixed.h>
#include <pwl/plain.h>
#include <pwl/plan.h>

#include "element.h"
#include "kind.h"
#include "ways.h"

const pwl_way pwl_ways[] = {
#define WAY(name, level, kind, lines) {#name, level, &pwl_kind_##kind, lines, pwl_##name},
    PWL_WAYS(WAY)
#undef WAY
};
const size_t pwl_way_count = sizeof pwl_ways / sizeof *pwl_ways;

/* `wanted` where it has so many bytes, else the type that has them and holds [min, max]. */
static pwl_type type_of(pwl_type wanted, int bytes, int64_t min)
{
    if (bytes == 0 || bytes == 1 << pwl_type_bytes_log2(wanted))
        return wanted;
    if (bytes == 2)
        return min < 0 ? PWL_S16 : PWL_U16;
    return min < 0 ? PWL_S32 : PWL_U32;
}

static pwl_job job_of(const pwl_kind *kind, const pwl_table *table, pwl_type in, pwl_type out, uint32_t lines)
{
    pwl_job job;
    job.table = table;
    job.in = type_of(in, kind->in_bytes, table->qmin_x);
    job.out = type_of(out, kind->out_bytes, table->qmin_y);
    job.lines = lines;
    return job;
}

size_t pwl_way_bytes(const pwl_way *way, const pwl_table *table, uint32_t lines, pwl_type in, pwl_type out)
{
    const pwl_job job = job_of(way->kind, table, in, out, lines);
    const size_t bytes = lines <= way->lines ? way->kind->size(&job) : 0;
    return bytes ? bytes + PWL_KIND_ALIGNMENT - 1 : 0;
}

/* The quickest way within `most` bytes, and the bytes it takes; null and 0 where none is. */
static const pwl_way *choose(const pwl_table *table, pwl_type in, pwl_type out, uint32_t levels, size_t most,
                             size_t *bytes)
{
    const uint32_t lines = pwl_plain_count(table), have = levels & pwl_levels();
    size_t k;
    for (k = 0; k < pwl_way_count; k++) {
        const pwl_way *const way = &pwl_ways[k];
        if ((way->level & have) != way->level)
            continue;
        *bytes = pwl_way_bytes(way, table, lines, in, out);
        if (*bytes && *bytes <= most)
            return way;
    }
    *bytes = 0;
    return NULL;
}

/* As the plan's own types say. */
static void run_map(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    switch (plan->in * 8 + plan->out) {
#define CASE_OF(in, in_t, out, out_t, in_type, out_type)                                                               \
    case in_type * 8 + out_type:                                                                                       \
        pwl_map_##in##_##out(plan->table, (const in_t *)x, (out_t *)y, count);                                         \
        break;
#define CASES_FROM(in, in_t, in_type)                                                                                  \
    CASE_OF(in, in_t, s8, int8_t, in_type, PWL_S8)                                                                     \
    CASE_OF(in, in_t, u8, uint8_t, in_type, PWL_U8)                                                                    \
    CASE_OF(in, in_t, s16, int16_t, in_type, PWL_S16)                                                                  \
    CASE_OF(in, in_t, u16, uint16_t, in_type, PWL_U16)                                                                 \
    CASE_OF(in, in_t, s32, int32_t, in_type, PWL_S32)                                                                  \
    CASE_OF(in, in_t, u32, uint32_t, in_type, PWL_U32)
        CASES_FROM(s8, int8_t, PWL_S8)
        CASES_FROM(u8, uint8_t, PWL_U8)
        CASES_FROM(s16, int16_t, PWL_S16)
        CASES_FROM(u16, uint16_t, PWL_U16)
        CASES_FROM(s32, int32_t, PWL_S32)
        CASES_FROM(u32, uint32_t, PWL_U32)
    default:
        break;
    }
}

#define BLOCK 256 /* elements at a time: 2 KiB of stack */

/* Through blocks in the kernel's types. A block is read whole before any of it is written. */
static void run_converted(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    const pwl_type in = (pwl_type)plan->in, out = (pwl_type)plan->out;
    const pwl_type kernel_in = (pwl_type)plan->kernel_in, kernel_out = (pwl_type)plan->kernel_out;
    const pwl_table *const table = plan->table;
    uint32_t codes[BLOCK], values[BLOCK];
    size_t first, k;
    for (first = 0; first < count; first += BLOCK) {
        const size_t n = count - first < BLOCK ? count - first : BLOCK;
        for (k = 0; k < n; k++)
            pwl_set_element_of(kernel_in, codes, k,
                               pwl_sat(pwl_element_of(in, x, first + k), table->qmin_x, table->qmax_x));
        plan->kernel(plan, codes, values, n);
        for (k = 0; k < n; k++)
            pwl_set_element_of(out, y, first + k, pwl_element_of(kernel_out, values, k));
    }
}

void pwl_way_prepare(const pwl_way *way, pwl_plan *plan, void *memory, const pwl_table *table, uint32_t lines,
                     pwl_type in, pwl_type out)
{
    const pwl_job job = job_of(way->kind, table, in, out, lines);
    char *const aligned = (char *)memory + (-(uintptr_t)memory & (PWL_KIND_ALIGNMENT - 1));
    way->kind->prepare(&job, aligned);
    plan->run = job.in == in && job.out == out ? way->kernel : run_converted;
    plan->kernel = way->kernel;
    plan->memory = aligned;
    plan->table = table;
    plan->way = way->name;
    plan->in = (uint8_t)in;
    plan->out = (uint8_t)out;
    plan->kernel_in = (uint8_t)job.in;
    plan->kernel_out = (uint8_t)job.out;
}

size_t pwl_plan_size(const pwl_table *table, pwl_type in, pwl_type out, uint32_t levels)
{
    size_t bytes;
    (void)choose(table, in, out, levels, SIZE_MAX, &bytes);
    return bytes;
}

pwl_status pwl_plan_init(pwl_plan *plan, void *memory, size_t bytes, const pwl_table *table, pwl_type in, pwl_type out,
                         uint32_t levels)
{
    static const pwl_plan by_map = {run_map, run_map, NULL, NULL, "map", 0, 0, 0, 0};
    const pwl_way *way;
    size_t taken;
    if (!plan || !table || (bytes && !memory))
        return PWL_ERR_NULL;
    if ((unsigned)in > PWL_U32 || (unsigned)out > PWL_U32)
        return PWL_ERR_FIELD;
    if (!pwl_fits(table, out))
        return PWL_ERR_RANGE_Y;
    way = choose(table, in, out, levels, bytes, &taken);
    if (way) {
        pwl_way_prepare(way, plan, memory, table, pwl_plain_count(table), in, out);
    } else {
        *plan = by_map;
        plan->table = table;
        plan->in = plan->kernel_in = (uint8_t)in;
        plan->out = plan->kernel_out = (uint8_t)out;
    }
    return PWL_OK;
}
