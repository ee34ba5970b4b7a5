/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds "values" and "bytes": the value of every code that an array of 8 or 16 bits can hold, in the output's type, by
 * the code's bits. Kernels of "bytes" map bytes to bytes. */
#include "kind.h"
#include "tabulate.h"
#include "ways.h"

static size_t codes_of(const pwl_job *job)
{
    return (size_t)1 << (8 << pwl_type_bytes_log2(job->in));
}

static size_t values_size(const pwl_job *job)
{
    return pwl_type_bytes_log2(job->in) < 2 ? codes_of(job) << pwl_type_bytes_log2(job->out) : 0;
}

static size_t bytes_size(const pwl_job *job)
{
    return pwl_type_bytes_log2(job->in) == 0 && pwl_type_bytes_log2(job->out) == 0 ? 256 : 0;
}

static void prepare(const pwl_job *job, void *memory)
{
    pwl_tabulate(job->table, job->in, job->out, memory);
}

const pwl_kind pwl_kind_values = {0, 0, values_size, prepare};
const pwl_kind pwl_kind_bytes = {0, 0, bytes_size, prepare};

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
DEFINE_LOOK_UP(look_up_16_8, uint16_t, uint8_t)
DEFINE_LOOK_UP(look_up_16_16, uint16_t, uint16_t)
DEFINE_LOOK_UP(look_up_16_32, uint16_t, uint32_t)

void pwl_values(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    static void (*const look_up[2][3])(const void *values, const void *x, void *y, size_t count) = {
        {look_up_8_8, look_up_8_16, look_up_8_32}, {look_up_16_8, look_up_16_16, look_up_16_32}};
    look_up[plan->in >> 1][plan->out >> 1](plan->memory, x, y, count);
}
