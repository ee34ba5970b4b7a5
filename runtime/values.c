/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds "values" and "bytes": the value of every code that an array of 8 or 16 bits can hold, in the output's type, by
 * the code's bits. "bytes", for arrays of 8 bits, has the bytes of values apart: the lowest of all codes first. */
#include <pwl/reduce.h>

#include "kind.h"
#include "tabulate.h"
#include "ways.h"

static size_t codes_of(const pwl_job *job)
{
    return (size_t)1 << (8 << pwl_type_bytes_log2(job->in));
}

/* Where tables have 8 bits at most, arrays of 16 are not worth it. */
enum { MOST_BYTES_LOG2 = PWL_MOST_BITS > 8 ? 1 : 0 };

static size_t values_size(const pwl_job *job)
{
    return pwl_type_bytes_log2(job->in) <= MOST_BYTES_LOG2 ? codes_of(job) << pwl_type_bytes_log2(job->out) : 0;
}

static size_t bytes_size(const pwl_job *job)
{
    return pwl_type_bytes_log2(job->in) == 0 ? values_size(job) : 0;
}

/* The values of codes from `lowest` to `highest`, by the codes' bits. */
static void write_values(const pwl_job *job, int64_t lowest, int64_t highest, void *values)
{
#if PWL_SERVES_REDUCED
    int64_t q;
    if (job->reduced) {
        for (q = lowest; q <= highest; q++)
            pwl_set_element_of(job->out, values, (size_t)(q & (highest - lowest)), pwl_reduced_eval(job->reduced, q));
        return;
    }
#endif
    pwl_tabulate(job->table, lowest, highest, job->out, values);
}

static void prepare_values(const pwl_job *job, void *memory)
{
    write_values(job, pwl_type_lowest(job->in), pwl_type_highest(job->in), memory);
}

/* Codes whose bytes are taken apart at a time. */
#if UINTPTR_MAX > UINT32_MAX
enum { APART = 256 };
#else
enum { APART = 32 };
#endif

/* Ways of kind "bytes" are for machines whose least significant byte comes first. */
static void prepare_bytes(const pwl_job *job, void *memory)
{
    const int parts = 1 << pwl_type_bytes_log2(job->out);
    const int64_t lowest = pwl_type_lowest(job->in);
    uint32_t values[APART]; /* of which narrower ones fill a part */
    int from, k, part;
    for (from = 0; from < 256; from += APART) {
        uint8_t *const to = (uint8_t *)memory + ((size_t)(lowest + from) & (256 - APART));
        write_values(job, lowest + from, lowest + from + APART - 1, values);
        for (part = 0; part < parts; part++)
            for (k = 0; k < APART; k++)
                to[256 * part + k] = ((const uint8_t *)values)[parts * k + part];
    }
}

const pwl_kind pwl_kind_values = {PWL_TABLES | PWL_REDUCED, 0, 0, values_size, prepare_values, NULL};
const pwl_kind pwl_kind_bytes = {PWL_TABLES | PWL_REDUCED, 0, PWL_JOINED, bytes_size, prepare_bytes, NULL};

#define DEFINE_LOOK_UP(name, in_t, out_t)                                                                              \
    static void name(const void *values, const void *x, void *y, size_t count)                                         \
    {                                                                                                                  \
        size_t k;                                                                                                      \
        for (k = 0; k < count; k++)                                                                                    \
            ((out_t *)y)[k] = ((const out_t *)values)[((const in_t *)x)[k]];                                           \
    }
DEFINE_LOOK_UP(look_up_8_8, uint8_t, uint8_t)
DEFINE_LOOK_UP(look_up_8_16, uint8_t, uint16_t)
DEFINE_LOOK_UP(look_up_8_32, uint8_t, uint32_t)
#if PWL_MOST_BITS > 8
DEFINE_LOOK_UP(look_up_16_8, uint16_t, uint8_t)
DEFINE_LOOK_UP(look_up_16_16, uint16_t, uint16_t)
DEFINE_LOOK_UP(look_up_16_32, uint16_t, uint32_t)
#endif

void pwl_values(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    static void (*const look_up[][3])(const void *values, const void *x, void *y, size_t count) = {
        {look_up_8_8, look_up_8_16, look_up_8_32},
#if PWL_MOST_BITS > 8
        {look_up_16_8, look_up_16_16, look_up_16_32},
#endif
    };
    look_up[plan->kernel_in >> 1][plan->kernel_out >> 1](plan->memory, x, y, count);
}
