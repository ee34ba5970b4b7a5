/* SPDX-License-Identifier: Apache-2.0 */
/* Plans and their images give the runtime's values: every code of tables up to 16 bits; of wider ones the starts of
 * lines and of cells, one code to each side, the ends and random codes. */
#include <stdint.h>
#include <stdlib.h>

#include "../../kernels/plan.h"
#include "../../kernels/shape.h"
#include "luts.h"
#include "tables.h"
#include "tap.h"

static struct made_table made;

/* 1 when a code has the runtime's value by the arrays and by the image, of which each code asks another lane; else
 * tells of it. */
static int code_agrees(const pwl_cuda_plan *plan, const void *memory, const pwl_table *table, int64_t q_x)
{
    const int64_t expected = pwl_eval(table, q_x);
    const int lanes[] = {-1, (int)(q_x & 1023)};
    for (int i = 0; i < 2; i++) {
        const int64_t value = pwl_cuda_plan_eval(plan, memory, q_x, lanes[i]);
        if (value != expected) {
            printf("# storage %d form %d rounding %d flags %d, %d segments: code %lld gives lane %d %lld, not %lld\n",
                   table->storage, table->form, table->rounding, table->flags, table->segments, (long long)q_x,
                   lanes[i], (long long)value, (long long)expected);
            return 0;
        }
    }
    return 1;
}

static int plan_agrees(const pwl_table *table, uint64_t *state, int random_codes, int *image)
{
    pwl_cuda_plan plan;
    pwl_cuda_plan_init(&plan, table);
    char *const memory = malloc(plan.bytes);
    int good = memory != NULL && plan.cells <= PWL_PLAN_CELLS && plan.lines <= PWL_PLAN_LINES &&
               plan.image_bytes <= PWL_PLAN_IMAGE && plan.image_offset % 128 == 0 && plan.image_bytes % 16 == 0;
    if (!good)
        return 0;
    pwl_cuda_plan_fill(&plan, table, memory);
    *image = plan.image_bytes != 0;
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
        int image = 0;
        const int64_t longest = 1 + (codes >> (k % 10));
        const pwl_table *const table = draw_table(&made, &state, storage, form, rounding, fold, codes, longest, 1);
        good &= plan_agrees(table, &state, 20000, &image);
        kinds |= 1 << image;
    }
    tap(good, "plans of int%d, form %d, rounding %d%s: %s", 8 << storage, form, rounding, fold ? ", folded" : "",
        kinds == 2 ? "images" : "with an image and without");
}

/* Starts one code apart, in a range too wide for a cell of each code: a search. */
static void test_crowded(void)
{
    uint64_t state = 7;
    int image = 1;
    (void)draw_table(&made, &state, PWL_INT16, PWL_ANCHORED, PWL_HALF_EVEN, 0, 65536, 2, 3000);
    made.table.qmin_x = made.start[0] = 0;
    for (int i = 0; i < made.table.segments; i++)
        made.start[i] = i;
    made.table.qmax_x = 65535;
    made.table.zp_x = 0;
    made.table.flags = PWL_FLAG_UNSIGNED_X;
    const int last = made.table.segments - 1;
    made.q_b[last] = 0;
    tap(pwl_table_check(made_pack(&made), NULL) == PWL_OK && plan_agrees(&made.table, &state, 0, &image) && !image,
        "starts side by side are searched");
}

/* Lines and cells fill an image up to its last byte, and one cell more has none. */
static void test_image_limit(void)
{
    uint64_t state = 5;
    int image[2];
    for (int i = 0; i < 2; i++) {
        /* Starts at every fourth code, and one in between: cells of 4 codes, of 4 bytes beside the lines' 16. */
        const int segments = (int)(PWL_PLAN_IMAGE / 20) + i;
        (void)draw_table(&made, &state, PWL_INT16, PWL_ANCHORED, PWL_FLOOR, 0, 65536, 2, 3000);
        for (int k = 0; k < segments; k++) {
            made.start[k] = k < 2 ? 2 * k : 4 * (k - 1);
            made.q_b[k] = 1;
            made.n[k] = 0;
            made.offset[k] = k;
        }
        made.table.segments = (uint16_t)segments;
        made.table.zp_x = made.table.qmin_x = 0;
        made.table.qmax_x = 4 * (segments - 1) - 1;
        made.table.flags = 0;
        tap(pwl_table_check(made_pack(&made), NULL) == PWL_OK && plan_agrees(&made.table, &state, 0, &image[i]) &&
                image[i] == !i,
            "%d lines %s in an image", segments, i ? "do not fit" : "fit");
    }
}

/* Every piece of work belongs to one thread, whatever the shape. */
static void test_shapes(void)
{
    static const uint32_t devices[] = {1, 20, 132};
    int good = 1, waves = 0;
    for (int i = 0; i < 3; i++) {
        const uint32_t most = devices[i];
        for (size_t work = 1; work < (size_t)100 * PWL_SHAPE_RESIDENT * most; work += 1 + work / 7) {
            const uint32_t values = work % 3 == 0 ? 256 : work % 3 == 1 ? 8 << 10 : PWL_PLAN_IMAGE;
            const pwl_shape shape = pwl_shape_of(work, most, values);
            const size_t threads = (size_t)shape.wave_blocks * shape.threads;
            size_t before = 0;
            good &= shape.threads % 32 == 0 && shape.threads <= PWL_SHAPE_RESIDENT / 2;
            good &= shape.wave_blocks >= 1;
            good &= threads <= PWL_SHAPE_RESIDENT * most || (values == 256 && threads <= work / 4);
            good &= PWL_PLAN_IMAGE + PWL_SHAPE_DEPTH * shape.threads * 16 <= 48 << 10;
            /* No wave has threads without work, but for those of its last block. */
            good &= (size_t)(shape.wave_blocks - 1) * shape.threads < (work >> (shape.waves - 1));
            for (uint32_t w = 0; w <= shape.waves; w++) {
                const size_t first = pwl_shape_first(work, shape.waves, w);
                good &= w == 0 ? first == 0 : first > before;
                before = first;
            }
            good &= before == work;
            waves |= 1 << shape.waves;
        }
    }
    const pwl_shape large = pwl_shape_of((size_t)1 << 62, 132, 256);
    good &= (uint64_t)large.wave_blocks * large.threads <= UINT32_MAX;
    tap(good && waves == (1 << 1 | 1 << 6), "shapes of launches share out all work, in one wave or six");
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
    test_image_limit();
    test_shapes();
    for (int i = 0; luts[i].table; i++) {
        int image = 0;
        tap(plan_agrees(luts[i].table, &state, 100000, &image) && image, "shipped table %s: has an image",
            luts[i].name);
    }
    return tap_end();
}
