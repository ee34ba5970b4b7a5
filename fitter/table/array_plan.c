/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "array_plan.h"

#include <stdlib.h>

#include <pwl/reduce.h>

pwl_type element_type(int bits, bool is_signed)
{
    return (pwl_type)((bits <= 8 ? PWL_S8 : bits <= 16 ? PWL_S16 : PWL_S32) + !is_signed);
}

#define DEFINE_ELEMENT(name, element, low, high)                                                                       \
    static int64_t element_##name(const void *array, size_t k)                                                         \
    {                                                                                                                  \
        return ((const element *)array)[k];                                                                            \
    }
PWL_MAP_TYPES(DEFINE_ELEMENT)

/* The limits are cut to what the type holds, so that an array of which nothing can lie outside is not looked at, and
 * the comparisons of all others are as narrow as its elements. */
#define DEFINE_OUTSIDE(name, element, low, high)                                                                       \
    static size_t outside_##name(const void *array, size_t n, int64_t a, int64_t b)                                    \
    {                                                                                                                  \
        const element *const x = array;                                                                                \
        if (a > (high) || b < (low))                                                                                   \
            return n;                                                                                                  \
        if (a <= (low) && b >= (high))                                                                                 \
            return 0;                                                                                                  \
        const element min = a < (low) ? (element)(low) : (element)a;                                                   \
        const element max = b > (high) ? (element)(high) : (element)b;                                                 \
        size_t outside = 0;                                                                                            \
        for (size_t k = 0; k < n; k++)                                                                                 \
            outside += (size_t)(x[k] < min) | (size_t)(x[k] > max);                                                    \
        return outside;                                                                                                \
    }
PWL_MAP_TYPES(DEFINE_OUTSIDE)

/* In the order of pwl_type. */
#define TYPE_FUNCTIONS(name, element, low, high) {element_##name, outside_##name},
static const struct {
    int64_t (*element)(const void *array, size_t k);
    size_t (*outside)(const void *array, size_t n, int64_t a, int64_t b);
} functions[] = {PWL_MAP_TYPES(TYPE_FUNCTIONS)};

int64_t element_of(pwl_type type, const void *array, size_t k)
{
    return functions[type].element(array, k);
}

size_t elements_outside(pwl_type type, const void *array, size_t count, int64_t min, int64_t max, int64_t *first)
{
    const size_t outside = functions[type].outside(array, count, min, max);
    for (size_t k = 0; outside > 0; k++) {
        *first = element_of(type, array, k);
        if (*first < min || *first > max)
            break;
    }
    return outside;
}

int array_plan_make(struct array_plan *plan, const struct packed_table *packed, pwl_type in, pwl_type out,
                    struct diag *diag)
{
    *plan = (struct array_plan){.packed = packed, .in = in, .out = out};
    if (packed->is_reduced)
        return EXIT_DONE;
    const size_t bytes = pwl_plan_size(&packed->table, in, out, PWL_LEVELS_ALL);
    plan->memory = malloc(bytes + 1);
    if (!plan->memory)
        return diag_set(diag, EXIT_IO, "out of memory for a plan of %zu bytes", bytes);
    const pwl_status status = pwl_plan_init(&plan->plan, plan->memory, bytes, &packed->table, in, out, PWL_LEVELS_ALL);
    return status == PWL_OK ? EXIT_DONE : diag_set(diag, EXIT_IO, "no plan for the table: %s", pwl_status_text(status));
}

void array_plan_free(struct array_plan *plan)
{
    free(plan->memory);
    plan->memory = NULL;
}

void array_plan_run(const struct array_plan *plan, const void *x, void *y, size_t count)
{
    if (plan->packed->is_reduced)
        pwl_reduced_map(&plan->packed->reduced, plan->in, x, plan->out, y, count);
    else
        pwl_run(&plan->plan, x, y, count);
}
