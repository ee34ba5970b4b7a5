/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include <string.h>

#include <pwl/eval.h>

_Static_assert(sizeof(pwl_cuda_plan) <= sizeof((pwl_cuda_table *)0)->plan, "an uploaded table has room for its plan");

/* Whether no cell of that width holds the starts of two lines beyond its first code. */
static int is_single(const pwl_table *table, uint32_t shift)
{
    pwl_plain_walk walk;
    pwl_plain_line next;
    uint64_t before = UINT64_MAX; /* cell of the last start inside one */
    pwl_plain_begin(&walk, table);
    while (pwl_plain_next(&walk, &next)) {
        const uint64_t cell = next.start >> shift;
        if (next.start == cell << shift)
            continue;
        if (cell == before)
            return 0;
        before = cell;
    }
    return 1;
}

/* Lines of 64 bits, if they have slopes of 32 bits and constants of 54; else 0. */
static uint32_t wide_heads(const pwl_table *table)
{
    pwl_plain_walk walk;
    pwl_plain_line next;
    uint32_t heads = 0;
    pwl_plain_begin(&walk, table);
    while (pwl_plain_next(&walk, &next)) {
        const int64_t slope = (int64_t)next.of.slope, post = (int64_t)next.of.post;
        if (slope != (int32_t)slope || post >= INT64_C(1) << 53 || post < -(INT64_C(1) << 53))
            return 0;
        heads++;
    }
    return heads;
}

/* Whether the values of a part's codes are all in range before they are saturated. */
static int part_is_within(const pwl_cuda_plan *plan, const pwl_compact_part *part)
{
    uint32_t u;
    for (u = part->first; u <= part->last; u++) {
        const int32_t raw = pwl_compact_eval(part->line, u, plan->fraction, plan->even);
        if (raw < plan->qmin_y || raw > plan->qmax_y)
            return 0;
    }
    return 1;
}

/* Counts compact lines, unless some are not to be had. */
static void plan_compact(pwl_cuda_plan *plan, const pwl_table *table, uint8_t even)
{
    pwl_compact_walk walk;
    pwl_compact_part part;
    uint32_t heads = 0;
    int more;
    pwl_compact_begin(&walk, table, plan->cell_shift, even);
    plan->fraction = walk.fraction;
    plan->even = even;
    plan->within = 1;
    while ((more = pwl_compact_next(&walk, &part)) == 1) {
        plan->within = plan->within && part_is_within(plan, &part);
        heads++;
    }
    if (more == 0)
        plan->heads = heads;
}

/* Lines of the image; none where some have no such form. Even compact ones are slower. */
static void plan_heads(pwl_cuda_plan *plan, const pwl_table *table)
{
    if (plan->wide) {
        plan->heads = wide_heads(table);
        return;
    }
    plan_compact(plan, table, 0);
    if (plan->heads == 0 && plan->rounding == PWL_PLAIN_EVEN)
        plan_compact(plan, table, 1);
}

static uint32_t cells_of(const pwl_table *table, uint32_t shift)
{
    return (uint32_t)(((uint64_t)(table->qmax_x - table->qmin_x) >> shift) + 1);
}

static uint32_t aligned(uint32_t bytes, uint32_t to)
{
    return (bytes + to - 1) / to * to;
}

/* Lays the image out with the copies chosen so far; all its bytes. */
static uint32_t lay_image_out(pwl_cuda_plan *plan)
{
    const uint32_t cell_bytes = plan->wide ? sizeof(pwl_cell) : sizeof(uint32_t), tails = plan->wide ? plan->heads : 0;
    const uint32_t head_bytes = plan->wide ? sizeof(pwl_wide_head) : sizeof(pwl_compact);
    plan->image_tails = aligned((plan->heads * head_bytes) << plan->head_copies, 16);
    plan->image_cells = plan->image_tails + aligned((tails * 4) << plan->tail_copies, 16);
    return plan->image_cells + aligned((plan->cells * cell_bytes) << plan->cell_copies, 16);
}

/* As many copies as fit. A bank for each lane of a transaction, of 128 bytes, is all that helps. */
static void choose_image(pwl_cuda_plan *plan)
{
    uint8_t *const copies[] = {&plan->head_copies, &plan->tail_copies, &plan->cell_copies};
    const int most[] = {plan->wide ? 3 : 4, plan->wide ? 5 : 0, plan->wide ? 4 : 5};
    int k, more = 1;
    if (plan->heads == 0 || plan->heads > PWL_PLAN_LINES || lay_image_out(plan) > PWL_PLAN_IMAGE)
        return;
    while (more) {
        more = 0;
        for (k = 0; k < 3; k++) {
            if (*copies[k] == most[k])
                continue;
            ++*copies[k];
            if (lay_image_out(plan) <= PWL_PLAN_IMAGE)
                more = 1;
            else
                --*copies[k];
        }
    }
    plan->image_bytes = lay_image_out(plan);
}

void pwl_cuda_plan_init(pwl_cuda_plan *plan, const pwl_table *table)
{
    uint32_t shift;
    memset(plan, 0, sizeof *plan);
    plan->qmin_x = table->qmin_x;
    plan->qmax_x = table->qmax_x;
    plan->qmin_y = table->qmin_y;
    plan->qmax_y = table->qmax_y;
    plan->wide = table->storage == PWL_INT32;
    plan->rounding = (uint8_t)pwl_plain_rounding_of(table);
    plan->lines = pwl_plain_count(table);
    /* The widest cells that do, in which compact lines can be cut; at shift 0 every code is a cell. */
    shift = plan->wide ? 31 : 12;
    while (!is_single(table, shift) && cells_of(table, shift - 1) <= PWL_PLAN_CELLS)
        shift--;
    plan->cell_shift = shift;
    plan->cells = cells_of(table, shift);
    if (is_single(table, shift))
        plan_heads(plan, table);
    choose_image(plan);
    plan->line_offset = PWL_PLAN_BYTE_CODES * sizeof(int32_t);
    plan->cell_offset =
        plan->line_offset + plan->lines * (uint32_t)(plan->wide ? sizeof(pwl_plain64) : sizeof(pwl_plain32));
    plan->start_offset = plan->cell_offset + (plan->cells + 1) * (uint32_t)sizeof(pwl_cell);
    plan->image_offset = aligned(plan->start_offset + plan->lines * (uint32_t)sizeof(uint32_t), 128);
    plan->bytes = plan->image_offset + plan->image_bytes;
}

/* All copies of the lines and cells of 64 bits that lie in the plan's memory. */
static void put_wide(const pwl_cuda_plan *plan, char *memory)
{
    const pwl_plain64 *const lines = (const pwl_plain64 *)(memory + plan->line_offset);
    const pwl_cell *const cells = (const pwl_cell *)(memory + plan->cell_offset);
    char *const image = memory + plan->image_offset;
    pwl_wide_head *const heads = (pwl_wide_head *)image;
    uint32_t *const tails = (uint32_t *)(image + plan->image_tails);
    pwl_cell *const image_cells = (pwl_cell *)(image + plan->image_cells);
    uint32_t i;

    for (i = 0; i < plan->lines << plan->head_copies; i++) {
        const pwl_plain64 *const line = &lines[i >> plan->head_copies];
        heads[i].pre_low = (uint32_t)line->pre;
        heads[i].pre_high = (uint32_t)(line->pre >> 32);
        heads[i].slope = (uint32_t)line->slope;
        heads[i].post_low = (uint32_t)line->post;
    }
    for (i = 0; i < plan->lines << plan->tail_copies; i++) {
        const pwl_plain64 *const line = &lines[i >> plan->tail_copies];
        tails[i] = (uint32_t)(line->post >> 32) << 10 | (uint32_t)line->n;
    }
    for (i = 0; i < plan->cells << plan->cell_copies; i++)
        image_cells[i] = cells[i >> plan->cell_copies];
}

/* All copies of the compact lines, and the cells that start in their parts. */
static void put_compact(const pwl_cuda_plan *plan, const pwl_table *table, char *image)
{
    pwl_compact *const heads = (pwl_compact *)image;
    uint32_t *const cells = (uint32_t *)(image + plan->image_cells);
    pwl_compact_walk walk;
    pwl_compact_part part;
    uint32_t head = 0, cell = 0, end, i;

    pwl_compact_begin(&walk, table, plan->cell_shift, plan->even);
    for (; pwl_compact_next(&walk, &part) == 1; head++) {
        for (i = head << plan->head_copies; i < (head + 1) << plan->head_copies; i++)
            heads[i] = part.line;
        end = (part.last >> plan->cell_shift) + 1;
        for (i = cell << plan->cell_copies; i < end << plan->cell_copies; i++)
            cells[i] = (head << 16) + 65535 - part.last;
        cell = end;
    }
}

void pwl_cuda_plan_fill(const pwl_cuda_plan *plan, const pwl_table *table, void *memory)
{
    char *const base = (char *)memory;
    int32_t *const values = (int32_t *)base;
    pwl_plain32 *const line32 = (pwl_plain32 *)(base + plan->line_offset);
    pwl_plain64 *const line64 = (pwl_plain64 *)(base + plan->line_offset);
    pwl_cell *const cells = (pwl_cell *)(base + plan->cell_offset);
    uint32_t *const starts = (uint32_t *)(base + plan->start_offset);
    pwl_plain_walk walk;
    pwl_plain_line next;
    uint32_t i, cell, at = 0;

    memset(memory, 0, plan->bytes);
    for (i = 0; i < PWL_PLAN_BYTE_CODES; i++)
        values[i] = (int32_t)(uint32_t)pwl_eval_inline(table, (int64_t)i + PWL_PLAN_BYTE_FIRST);
    pwl_plain_begin(&walk, table);
    for (i = 0; pwl_plain_next(&walk, &next); i++) {
        starts[i] = (uint32_t)next.start;
        if (plan->wide) {
            line64[i] = next.of;
        } else {
            line32[i] = pwl_plain_cut(&next.of);
        }
    }
    for (cell = 0; cell < plan->cells; cell++) {
        const uint64_t first = (uint64_t)cell << plan->cell_shift;
        while (at + 1 < plan->lines && starts[at + 1] <= first)
            at++;
        cells[cell].line = at;
        cells[cell].last = at + 1 < plan->lines ? starts[at + 1] - 1 : UINT32_MAX;
    }
    cells[plan->cells].line = plan->lines - 1;
    cells[plan->cells].last = UINT32_MAX;
    if (plan->image_bytes && plan->wide)
        put_wide(plan, base);
    else if (plan->image_bytes)
        put_compact(plan, table, base + plan->image_offset);
}

/* Before saturation. */
static int64_t eval_image(const pwl_cuda_plan *plan, const char *image, uint32_t u, uint32_t lane)
{
    const uint32_t cell_bytes = plan->wide ? sizeof(pwl_cell) : sizeof(uint32_t);
    const char *const cell =
        image + plan->image_cells + pwl_image_at(cell_bytes, plan->cell_copies, u >> plan->cell_shift, lane);
    if (plan->wide) {
        const pwl_cell *const c = (const pwl_cell *)cell;
        const uint32_t i = pwl_wide_pick(c->last, c->line, u);
        const char *const head = image + pwl_image_at(sizeof(pwl_wide_head), plan->head_copies, i, lane);
        const char *const tail = image + plan->image_tails + pwl_image_at(4, plan->tail_copies, i, lane);
        const pwl_plain64 line = pwl_wide_line(*(const pwl_wide_head *)head, *(const uint32_t *)tail);
        return pwl_plain_eval64(&line, u, plan->rounding);
    } else {
        const uint32_t i = pwl_narrow_pick(*(const uint32_t *)cell, u);
        const char *const head = image + pwl_image_at(sizeof(pwl_compact), plan->head_copies, i, lane);
        return pwl_compact_eval(*(const pwl_compact *)head, u, plan->fraction, plan->even);
    }
}

static int64_t eval_arrays(const pwl_cuda_plan *plan, const char *memory, uint32_t u)
{
    const pwl_cell *const cell = (const pwl_cell *)(memory + plan->cell_offset) + (u >> plan->cell_shift);
    const uint32_t i = pwl_cuda_plan_search(cell, (const uint32_t *)(memory + plan->start_offset), u);
    return plan->wide ? pwl_plain_eval64((const pwl_plain64 *)(memory + plan->line_offset) + i, u, plan->rounding)
                      : pwl_plain_eval32((const pwl_plain32 *)(memory + plan->line_offset) + i, u, plan->rounding);
}

int64_t pwl_cuda_plan_eval(const pwl_cuda_plan *plan, const void *memory, int64_t q_x, int lane)
{
    const char *const base = (const char *)memory;
    const uint32_t u = (uint32_t)(pwl_sat(q_x, plan->qmin_x, plan->qmax_x) - plan->qmin_x);
    const int64_t raw = plan->image_bytes && lane >= 0 ? eval_image(plan, base + plan->image_offset, u, (uint32_t)lane)
                                                       : eval_arrays(plan, base, u);
    return pwl_sat(raw, plan->qmin_y, plan->qmax_y);
}
