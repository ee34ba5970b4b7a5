/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "array_plan.h"

#include <stdlib.h>

#include <pwl/reduce.h>

#define ELEMENT_TYPES(F)                                                                                               \
    F(S8, int8_t, INT8_MIN, INT8_MAX)                                                                                  \
    F(U8, uint8_t, 0, UINT8_MAX) F(S16, int16_t, INT16_MIN, INT16_MAX) F(U16, uint16_t, 0, UINT16_MAX)                 \
        F(S32, int32_t, INT32_MIN, INT32_MAX) F(U32, uint32_t, 0, UINT32_MAX)

pwl_type element_type(int bits, bool is_signed)
{
    return (pwl_type)((bits <= 8 ? PWL_S8 : bits <= 16 ? PWL_S16 : PWL_S32) + !is_signed);
}

int64_t element_of(pwl_type type, const void *array, size_t k)
{
    switch (type) {
#define ELEMENT(name, element, low, high)                                                                              \
    case PWL_##name:                                                                                                   \
        return ((const element *)array)[k];
        ELEMENT_TYPES(ELEMENT)
#undef ELEMENT
    }
    return 0;
}

/* The limits are cut to what the type holds, so that an array of which nothing can lie outside is not looked at, and
 * the comparisons of all others are as narrow as its elements. */
#define COUNT_OUTSIDE(name, element, low, high)                                                                        \
    static size_t count_outside_##name(const element *x, size_t n, int64_t a, int64_t b)                               \
    {                                                                                                                  \
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
ELEMENT_TYPES(COUNT_OUTSIDE)
#undef COUNT_OUTSIDE

size_t elements_outside(pwl_type type, const void *array, size_t count, int64_t min, int64_t max, int64_t *first)
{
    size_t outside = 0;
    switch (type) {
#define OUTSIDE(name, element, low, high)                                                                              \
    case PWL_##name:                                                                                                   \
        outside = count_outside_##name(array, count, min, max);                                                        \
        break;
        ELEMENT_TYPES(OUTSIDE)
#undef OUTSIDE
    }
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
