/* SPDX-License-Identifier: Apache-2.0 */
/* A runtime for tables of PWL_MOST_BITS: all pairs of types, by pwl_map_*() and by plans, give the codes of pwl_eval()
 * as a program compiles it for all tables; wider tables are refused. check_small.sh runs it. */
#include <stdio.h>

#include <pwl/plan.h>

#include "pwl_gelu_s8.h"
#include "pwl_sigmoid_s16.h"

#include "../../runtime/element.h"

/* eval.h for all tables, whatever the library has. */
enum { LIBRARY_BITS = PWL_MOST_BITS };
#undef PWL_MOST_BITS
#define PWL_MOST_BITS 32
#include <pwl/eval.h>

enum { COUNT = 700 };

static int failures;

static void expect(const pwl_table *table, pwl_type in, const void *x, pwl_type out, const void *y, size_t count,
                   const char *way)
{
    for (size_t k = 0; k < count; k++) {
        const int64_t code = pwl_element_of(in, x, k), wanted = pwl_eval_inline(table, code);
        if (pwl_element_of(out, y, k) != wanted && failures++ < 10)
            printf("%s, types %d to %d: code %lld gives %lld, not %lld\n", way, (int)in, (int)out, (long long)code,
                   (long long)pwl_element_of(out, y, k), (long long)wanted);
    }
}

#ifdef FLASH
/* The table with its arrays as flash/avr/pgmspace.h reads them. */
static const pwl_table *as_library_reads(const pwl_table *table, pwl_table *made)
{
    static unsigned char arrays[4][8 * PWL_MAX_SEGMENTS];
    const int bytes = 1 << table->storage;
    const void *const from[] = {table->start, table->q_b, table->n, table->offset};
    const int sizes[] = {bytes, bytes, 1, table->storage == PWL_INT8 && table->form == PWL_BIASED ? 4 : 2 * bytes};
    for (int array = 0; array < 4; array++)
        for (int k = 0; k < sizes[array] * table->segments; k++)
            arrays[array][k] = (unsigned char)~((const unsigned char *)from[array])[k];
    *made = *table;
    made->start = arrays[0];
    made->q_b = arrays[1];
    made->n = (const int8_t *)arrays[2];
    made->offset = arrays[3];
    return made;
}
#else
static const pwl_table *as_library_reads(const pwl_table *table, pwl_table *made)
{
    (void)made;
    return table;
}
#endif

static void map_all(const pwl_table *of)
{
    pwl_table made;
    const pwl_table *const table = as_library_reads(of, &made);
    static uint32_t x[COUNT], y[COUNT], memory[80000];
    for (int in = PWL_S8; in <= PWL_U32; in++)
        for (int out = PWL_S8; out <= PWL_U32; out++) {
            pwl_plan plan;
            if (!pwl_fits(table, (pwl_type)out))
                continue;
            for (int k = 0; k < COUNT; k++)
                pwl_set_element_of((pwl_type)in, x, (size_t)k, k < 600 ? k - 300 : (int64_t)k * 0x9e3779b1);
            for (size_t count = 3; count <= COUNT; count += COUNT - 3) {
#define CASE(in_name, in_t, out_name, out_t)                                                                           \
    if (in * 6 + out == pair++)                                                                                        \
        pwl_map_##in_name##_##out_name(table, (const in_t *)x, (out_t *)y, count);
                int pair = 0;
                PWL_MAP_PAIRS(CASE)
                expect(of, (pwl_type)in, x, (pwl_type)out, y, count, "pwl_map");
            }
            for (size_t bytes = 0; bytes <= sizeof memory; bytes = bytes ? 16 * bytes : 100) {
                if (pwl_plan_init(&plan, memory, bytes, table, (pwl_type)in, (pwl_type)out, PWL_LEVELS_ALL) != PWL_OK)
                    failures++;
                pwl_run(&plan, x, y, COUNT);
                expect(of, (pwl_type)in, x, (pwl_type)out, y, COUNT, pwl_plan_way(&plan));
            }
        }
}

int main(void)
{
    pwl_table made;
    const pwl_status wide = pwl_table_check(as_library_reads(&pwl_sigmoid_s16, &made), NULL);
    if (pwl_table_check(as_library_reads(&pwl_gelu_s8, &made), NULL) != PWL_OK ||
        wide != (LIBRARY_BITS > 8 ? PWL_OK : PWL_ERR_FIELD))
        printf("%d failures: pwl_table_check\n", ++failures);
    map_all(&pwl_gelu_s8);
    if (wide == PWL_OK)
        map_all(&pwl_sigmoid_s16);
    return failures != 0;
}
