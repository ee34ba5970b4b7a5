/* SPDX-License-Identifier: Apache-2.0 */
#include <pwl/plan.h>

#include "map.h"
#include "ways.h"

/* The way that costs least within `most` bytes, and the bytes it takes; null and 0 where none is. */
static const pwl_way *choose(const pwl_source *source, pwl_type in, pwl_type out, uint32_t levels, size_t most,
                             size_t *bytes)
{
    const uint32_t have = levels & pwl_levels();
    const pwl_way *best = NULL;
    uint32_t least = UINT32_MAX;
    size_t k;
    *bytes = 0;
    if (!PWL_SERVES_REDUCED && source->reduced)
        return NULL;
    for (k = 0; k < pwl_way_count; k++) {
        const pwl_way *const way = &pwl_ways[k];
        uint32_t cost;
        size_t taken;
        if ((way->level & have) != way->level)
            continue;
        cost = pwl_way_look(way, source, in, out, least, &taken);
        if (taken && taken <= most) {
            best = way;
            least = cost;
            *bytes = taken;
        }
    }
    return best;
}

static void run_map(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    pwl_map_typed(plan->table, (pwl_type)plan->in, x, (pwl_type)plan->out, y, count);
}

typedef void run_plan(const pwl_plan *plan, const void *x, void *y, size_t count);

static void run_reduced_map(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    pwl_reduced_map((const pwl_reduced *)plan->memory, (pwl_type)plan->in, x, (pwl_type)plan->out, y, count);
}

/* By no way of the list: `run` reads the table alone. */
static void init_map(pwl_plan *plan, const pwl_source *source, pwl_type in, pwl_type out, run_plan *run)
{
    plan->run = plan->kernel = run;
    plan->memory = source->reduced;
    plan->table = source->table;
    plan->way = "map";
    plan->in = plan->kernel_in = (uint8_t)in;
    plan->out = plan->kernel_out = (uint8_t)out;
}

static size_t size_of(const pwl_source *source, pwl_type in, pwl_type out, uint32_t levels)
{
    size_t bytes;
    (void)choose(source, in, out, levels, SIZE_MAX, &bytes);
    return bytes;
}

/* What both kinds of tables refuse. */
static pwl_status check(const pwl_plan *plan, const void *memory, size_t bytes, const pwl_table *table, pwl_type in,
                        pwl_type out)
{
    if (!plan || !table || (bytes && !memory))
        return PWL_ERR_NULL;
    if ((unsigned)in > PWL_U32 || (unsigned)out > PWL_U32)
        return PWL_ERR_FIELD;
    return pwl_fits(table, out) ? PWL_OK : PWL_ERR_RANGE_Y;
}

static void init(pwl_plan *plan, void *memory, size_t bytes, const pwl_source *source, pwl_type in, pwl_type out,
                 uint32_t levels, run_plan *map)
{
    size_t taken;
    const pwl_way *const way = choose(source, in, out, levels, bytes, &taken);
    if (way)
        pwl_way_prepare(way, plan, memory, source, in, out);
    else
        init_map(plan, source, in, out, map);
}

size_t pwl_plan_size(const pwl_table *table, pwl_type in, pwl_type out, uint32_t levels)
{
    const pwl_source source = pwl_source_of(table);
    return size_of(&source, in, out, levels);
}

size_t pwl_reduced_plan_size(const pwl_reduced *reduced, pwl_type in, pwl_type out, uint32_t levels)
{
    const pwl_source source = pwl_source_of_reduced(reduced);
    return size_of(&source, in, out, levels);
}

pwl_status pwl_plan_init(pwl_plan *plan, void *memory, size_t bytes, const pwl_table *table, pwl_type in, pwl_type out,
                         uint32_t levels)
{
    const pwl_status status = check(plan, memory, bytes, table, in, out);
    if (status == PWL_OK) {
        const pwl_source source = pwl_source_of(table);
        init(plan, memory, bytes, &source, in, out, levels, run_map);
    }
    return status;
}

pwl_status pwl_reduced_plan_init(pwl_plan *plan, void *memory, size_t bytes, const pwl_reduced *reduced, pwl_type in,
                                 pwl_type out, uint32_t levels)
{
    const pwl_status status = check(plan, memory, bytes, reduced ? &reduced->core : NULL, in, out);
    if (status == PWL_OK) {
        const pwl_source source = pwl_source_of_reduced(reduced);
        init(plan, memory, bytes, &source, in, out, levels, run_reduced_map);
    }
    return status;
}

void pwl_plan_run(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    plan->run(plan, x, y, count);
}
