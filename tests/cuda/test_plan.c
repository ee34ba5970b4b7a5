/* SPDX-License-Identifier: Apache-2.0 */
/* Plans give the runtime's values: every code of tables up to 16 bits; of wider ones the starts of lines and of cells,
 * one code to each side, the ends and random codes. */
#include <stdint.h>
#include <stdlib.h>

#include "../../kernels/plan.h"
#include "luts.h"
#include "tables.h"
#include "tap.h"

static struct made_table made;

/* 1 when a code has the runtime's value, else tells of it. */
static int code_agrees(const pwl_plan *plan, const void *memory, const pwl_table *table, int64_t q_x)
{
    const int64_t expected = pwl_eval(table, q_x), value = pwl_plan_eval(plan, memory, q_x);
    if (value == expected)
        return 1;
    printf("# storage %d form %d rounding %d flags %d, %d segments: code %lld gives %lld, not %lld\n", table->storage,
           table->form, table->rounding, table->flags, table->segments, (long long)q_x, (long long)value,
           (long long)expected);
    return 0;
}

static int plan_agrees(const pwl_table *table, uint64_t *state, int random_codes, int *single)
{
    pwl_plan plan;
    pwl_plan_init(&plan, table);
    char *const memory = malloc(plan.bytes);
    int good = memory != NULL && plan.cells <= PWL_PLAN_CELLS && plan.lines <= PWL_PLAN_LINES;
    if (!good)
        return 0;
    pwl_plan_fill(&plan, table, memory);
    *single = plan.single;
    for (int k = 0; k < PWL_PLAN_BYTE_CODES; k++)
        good &= ((const int32_t *)memory)[k] == (int32_t)(uint32_t)pwl_eval(table, k + PWL_PLAN_BYTE_FIRST);
    if (table->qmax_x - table->qmin_x < 65536) {
        for (int64_t q = table->qmin_x - 3; good && q <= table->qmax_x + 3; q++)
            good = code_agrees(&plan, memory, table, q);
    } else {
        const uint32_t *const starts = (const uint32_t *)(memory + plan.start_offset);
        for (uint32_t i = 0; good && i < plan.lines; i++)
            for (int64_t d = -2; good && d <= 2; d++)
                good = code_agrees(&plan, memory, table, table->qmin_x + starts[i] + d);
        for (uint32_t i = 0; good && i < plan.cells; i++)
            for (int64_t d = -1; good && d <= 1; d++)
                good = code_agrees(&plan, memory, table, table->qmin_x + ((int64_t)i << plan.cell_shift) + d);
        for (int i = 0; good && i < random_codes; i++)
            good = code_agrees(&plan, memory, table, random_in(state, table->qmin_x - 9, table->qmax_x + 9));
        good = good && code_agrees(&plan, memory, table, INT64_MIN) && code_agrees(&plan, memory, table, INT64_MAX);
    }
    free(memory);
    return good;
}

static void test_random(pwl_storage storage, pwl_form form, pwl_rounding rounding, int fold)
{
    const int64_t codes = (int64_t)1 << (8 << storage);
    uint64_t state = (uint64_t)(((storage * 3 + form) * 4 + rounding) * 2 + fold);
    int good = 1, kinds = 0;
    for (int k = 0; k < 40; k++) {
        int single = 0;
        const int64_t longest = 1 + (codes >> (k % 10));
        const pwl_table *const table = draw_table(&made, &state, storage, form, rounding, fold, codes, longest, 1);
        good &= plan_agrees(table, &state, 20000, &single);
        kinds |= 1 << single;
    }
    tap(good, "plans of int%d, form %d, rounding %d%s: %s", 8 << storage, form, rounding, fold ? ", folded" : "",
        kinds == 2 ? "one comparison" : "one comparison or a search");
}

/* Starts one code apart, in a range too wide for a cell of each code: a search. */
static void test_crowded(void)
{
    uint64_t state = 7;
    int single = 1;
    (void)draw_table(&made, &state, PWL_INT16, PWL_ANCHORED, PWL_HALF_EVEN, 0, 65536, 2, 3000);
    made.table.qmin_x = made.start[0] = 0;
    for (int i = 0; i < made.table.segments; i++)
        made.start[i] = i;
    made.table.qmax_x = 65535;
    made.table.zp_x = 0;
    made.table.flags = PWL_FLAG_UNSIGNED_X;
    const int last = made.table.segments - 1;
    made.q_b[last] = 0;
    tap(pwl_table_check(made_pack(&made), NULL) == PWL_OK && plan_agrees(&made.table, &state, 0, &single) && !single,
        "starts side by side are searched");
}

int main(void)
{
    uint64_t state = 1;
    for (int storage = PWL_INT8; storage <= PWL_INT32; storage++)
        for (int form = PWL_ABSOLUTE; form <= PWL_ANCHORED; form++)
            for (int rounding = PWL_FLOOR; rounding <= PWL_HALF_EVEN; rounding++)
                for (int fold = 0; fold < 2; fold++)
                    test_random((pwl_storage)storage, (pwl_form)form, (pwl_rounding)rounding, fold);
    test_crowded();
    for (int i = 0; luts[i].table; i++) {
        int single = 0;
        tap(plan_agrees(luts[i].table, &state, 100000, &single) && single, "shipped table %s: one comparison",
            luts[i].name);
    }
    return tap_end();
}
