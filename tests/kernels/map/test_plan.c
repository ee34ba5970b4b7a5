/* SPDX-License-Identifier: Apache-2.0 */
/* Plans and their images give the runtime's values: every code of tables up to 16 bits; of wider ones the starts of
 * lines and of cells, one code to each side, the ends and random codes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../tap.h"
#include "luts.h"
#include "map/plan.h"
#include "map/shape.h"
#include "tables.h"

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

/* Whether a plan says of its image what is so: that no value of a code leaves the table's range. */
static int tells_within(const pwl_cuda_plan *plan, const char *memory)
{
    pwl_cuda_plan unsaturated = *plan;
    int within = 1;
    unsaturated.qmin_y = INT64_MIN;
    unsaturated.qmax_y = INT64_MAX;
    for (int64_t q = plan->qmin_x; q <= plan->qmax_x; q++) {
        const int64_t raw = pwl_cuda_plan_eval(&unsaturated, memory, q, 0);
        within &= raw >= plan->qmin_y && raw <= plan->qmax_y;
    }
    return plan->within == within;
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
        good &= plan.wide || !plan.image_bytes || tells_within(&plan, memory);
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

/* Tables as functions have them, whose lines are had in 8 bytes; with ties to even some of them as even ones alone. */
static void test_smooth(pwl_form form, pwl_rounding rounding, int fold)
{
    uint64_t state = (uint64_t)((form * 4 + rounding) * 2 + fold);
    int good = 1, images = 0, even = 0;
    for (int k = 0; k < 20; k++) {
        const pwl_table *const table = draw_smooth_table(&made, &state, form, rounding, fold, 1 << k % 8);
        pwl_cuda_plan plan;
        int image = 0;
        good &= plan_agrees(table, &state, 0, &image);
        pwl_cuda_plan_init(&plan, table);
        images += image;
        even += plan.even;
    }
    tap(good && images == 20 && (even > 0) == (rounding == PWL_HALF_EVEN),
        "plans of smooth tables, form %d, rounding %d%s: an image each, %d of even lines", form, rounding,
        fold ? ", folded" : "", even);
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
        /* Starts at every fourth code, and one in between: cells of 4 codes, of 4 bytes beside the lines' 8. */
        const int segments = (int)(PWL_PLAN_IMAGE / 12) + i;
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

enum { MOST_WORK = 100 * PWL_SHAPE_RESIDENT };

/* 1 when the threads of a launch, as kernels walk, take each piece exactly once. */
static int takes_all_once(const pwl_shape *shape, size_t work)
{
    static uint8_t taken[MOST_WORK];
    memset(taken, 0, work);
    for (uint32_t w = 0; w < shape->waves; w++)
        for (uint32_t b = 0; b < shape->wave_blocks; b++)
            for (uint32_t t = 0; t < shape->threads; t++)
                for (uint32_t r = pwl_shape_round(shape, w); r < pwl_shape_round(shape, w + 1); r++) {
                    const size_t piece = pwl_shape_piece(shape, r, b, t);
                    if (piece < work && taken[piece]++)
                        return 0;
                }
    return memchr(taken, 0, work) == NULL;
}

/* Waves and stretches of any size. */
static void test_walks(void)
{
    uint64_t state = 11;
    int turns = 1, stretches = 1;
    for (int i = 0; i < 400; i++) {
        const size_t work = (size_t)random_in(&state, 1, i % 2 ? 60 : 20000);
        const uint32_t threads = (uint32_t)random_in(&state, 1, i % 3 ? 40 : PWL_SHAPE_RESIDENT / 2);
        pwl_shape shape = pwl_shape_by_turns(work, threads, (uint32_t)random_in(&state, 1, 9), 1 + (uint32_t)i % 7);
        turns &= takes_all_once(&shape, work);
        shape = pwl_shape_by_stretches(work, threads, 1 + (uint32_t)i % 9);
        stretches &= takes_all_once(&shape, work);
    }
    tap(turns, "blocks that take turns in waves take each piece once");
    tap(stretches, "blocks with a stretch each take each piece once");
}

/* The shapes of launches share out all work and fit devices. */
static void test_shapes(void)
{
    static const uint32_t devices[] = {1, 20, 132}, kept[] = {256, 8 << 10, 16 << 10, PWL_PLAN_IMAGE};
    int good = 1, waves = 0, stretches = 0, i = 0;
    for (int device = 0; device < 3; device++) {
        const uint32_t most = devices[device];
        for (size_t work = 1; work < (size_t)MOST_WORK * most; work += 1 + work / 7, i++) {
            const uint32_t values = kept[i % 4];
            const int is_busy = i / 4 % 3 == 2;
            const pwl_shape shape = pwl_shape_of(work, most, values, is_busy);
            const size_t threads = (size_t)shape.wave_blocks * shape.threads;
            good &= shape.threads % 32 == 0 && shape.threads <= PWL_SHAPE_RESIDENT / 2;
            good &= shape.wave_blocks >= 1;
            good &= PWL_PLAN_IMAGE + PWL_SHAPE_DEPTH * shape.threads * 16 <= 48 << 10;
            /* No block of the first wave is without work, and no wave. */
            good &= pwl_shape_piece(&shape, 0, shape.wave_blocks - 1, 0) < work;
            good &= pwl_shape_piece(&shape, pwl_shape_round(&shape, shape.waves - 1), 0, 0) < work;
            for (uint32_t w = 0; w < shape.waves; w++)
                good &= pwl_shape_round(&shape, w) < pwl_shape_round(&shape, w + 1);
            if (shape.step == shape.threads && shape.wave_blocks > 1) {
                good &= values <= (is_busy ? 1 << 10 : 8 << 10) && threads <= work / 3;
                stretches |= 1 << shape.rounds;
            } else {
                good &= threads <= PWL_SHAPE_RESIDENT * most;
                waves |= 1 << shape.waves;
            }
            if (most == 1)
                good &= takes_all_once(&shape, work);
        }
    }
    tap(good && waves == (1 << 1 | 1 << 6) && stretches == (1 << 4 | 1 << 7),
        "shapes of launches share out all work, in one wave, six, or stretches of four rounds or seven");
}

/* The most work leaves blocks and rounds in 31 bits. */
static void test_most_work(void)
{
    const size_t work = (size_t)1 << 39;
    int good = 1;
    for (uint32_t values = 256; values <= PWL_PLAN_IMAGE; values *= 2) {
        const pwl_shape shape = pwl_shape_of(work, 1, values, 0);
        good &= shape.wave_blocks <= INT32_MAX && shape.rounds <= INT32_MAX;
        good &= pwl_shape_piece(&shape, shape.rounds - 1, shape.wave_blocks - 1, shape.threads - 1) >= work - 1;
    }
    tap(good, "shapes of 2^39 pieces");
}

int main(void)
{
    uint64_t state = 1;
    for (int storage = PWL_INT8; storage <= PWL_INT32; storage++)
        for (int form = PWL_ABSOLUTE; form <= PWL_ANCHORED; form++)
            for (int rounding = PWL_FLOOR; rounding <= PWL_HALF_EVEN; rounding++)
                for (int fold = 0; fold < 2; fold++)
                    test_random((pwl_storage)storage, (pwl_form)form, (pwl_rounding)rounding, fold);
    for (int form = PWL_ABSOLUTE; form <= PWL_ANCHORED; form++)
        for (int rounding = PWL_FLOOR; rounding <= PWL_HALF_EVEN; rounding++)
            for (int fold = 0; fold < 2; fold++)
                test_smooth((pwl_form)form, (pwl_rounding)rounding, fold);
    test_crowded();
    test_image_limit();
    test_walks();
    test_shapes();
    test_most_work();
    for (int i = 0; luts[i].table; i++) {
        int image = 0;
        tap(plan_agrees(luts[i].table, &state, 100000, &image) && image, "shipped table %s: has an image",
            luts[i].name);
    }
    return tap_end();
}
