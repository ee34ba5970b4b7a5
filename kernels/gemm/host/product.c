/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products on the processor. The workspace, from the next multiple of 64 on:
 *
 *     rows of X, as passes read them | the plan of the activation's table | the plan's memory
 *
 *          panels of W ->
 *        +------+------+------+
 *      M |pass  |pass  |      |     Rows of X that a cache holds go by one panel after the other,
 *      | +------+------+--    |     some at a time; sums of a pass stay in registers over all of K.
 *      v |pass  |
 */
#include <string.h>

#include "results.h"
#include "gemm/check.h"
#include "gemm/input.h"
#include "rows.h"
#include "ways.h"

enum {
    CACHED = 384 << 10,   /* bytes of X that are multiplied by a panel after the other */
    PLAN_BYTES = 1 << 14, /* of a plan for Y of less than PLAN_PAYS elements */
    PLAN_PAYS = 1 << 20
};

/* A product that was checked, and where its parts lie in the workspace. */
typedef struct job {
    pwl_qgemm_product product; /* its weights are `panels`, described */
    pwl_qgemm_weights panels;
    pwl_qgemm_codes codes;
    size_t row, plan_at, bytes; /* of X; from the aligned beginning on */
    size_t plan_bytes;
} job;

static pwl_qgemm_status check_panels(const pwl_qgemm_panels *panels)
{
    pwl_qgemm_status status;
    if (!panels || !panels->memory)
        return PWL_QGEMM_ERR_NULL;
    status = pwl_qgemm_check_shape(panels->format, panels->n, panels->k);
    if (status != PWL_QGEMM_OK)
        return status;
    if (panels->format == PWL_QGEMM_ROWS4 || pwl_qgemm_is_sparse(panels->format)) /* the former has those of ROWS8 */
        return PWL_QGEMM_ERR_FORMAT;
    if ((uintptr_t)panels->memory % PWL_QGEMM_LINE)
        return PWL_QGEMM_ERR_ALIGN;
    if (panels->bytes == pwl_qgemm_panel_bytes(panels->format, panels->n, panels->k, 1) &&
        !pwl_qgemm_is_super(panels->format))
        return PWL_QGEMM_OK;
    return panels->bytes == pwl_qgemm_panel_bytes(panels->format, panels->n, panels->k, 0) &&
                   panels->format != PWL_QGEMM_ROWS8
               ? PWL_QGEMM_OK
               : PWL_QGEMM_ERR_SPACE;
}

static size_t plan_bytes(const job *job)
{
    const pwl_qgemm_activation *const as = job->product.activation;
    const size_t wanted = pwl_plan_size(as->table, pwl_qgemm_codes_type(&job->codes),
                                        pwl_qgemm_values_type(&job->product, &job->codes), PWL_LEVELS_ALL);
    return wanted > PLAN_BYTES && job->product.m < PLAN_PAYS / job->panels.n ? PLAN_BYTES : wanted;
}

static pwl_qgemm_status describe(const pwl_qgemm_product *product, const pwl_qgemm_panels *panels, job *job)
{
    pwl_qgemm_status status = check_panels(panels);
    if (status == PWL_QGEMM_OK)
        status = pwl_qgemm_host_codes(product, &job->codes);
    if (status != PWL_QGEMM_OK)
        return status;
    job->product = *product;
    job->panels = (pwl_qgemm_weights){
        panels->memory, panels->n,
        panels->k,      panels->bytes,
        panels->format, panels->bytes == pwl_qgemm_panel_bytes(panels->format, panels->n, panels->k, 1)};
    job->product.weights = &job->panels;
    status = pwl_qgemm_check_operands(&job->product, &job->codes);
    if (status != PWL_QGEMM_OK)
        return status;
    if (pwl_qgemm_is_fp8(&job->product))
        return PWL_QGEMM_ERR_SCHEME;
    if (product->y.type == PWL_QGEMM_E4M3 && product->y.dynamic) /* which takes whole rows of Y */
        return PWL_QGEMM_ERR_TYPE;
    job->row = pwl_qgemm_row_of_x_bytes(product, panels->k);
    if (product->m > SIZE_MAX / 2 / job->row) /* what follows is far less */
        return PWL_QGEMM_ERR_SHAPE;
    job->plan_at = pwl_qgemm_round_up(product->m * job->row, PWL_QGEMM_LINE);
    job->plan_bytes = product->activation ? plan_bytes(job) : 0;
    job->bytes = job->plan_at + sizeof(pwl_plan) + job->plan_bytes;
    return PWL_QGEMM_OK;
}

/* Its parts lie in the workspace, which is large enough and apart from X and Y; `work` is its aligned beginning. */
static pwl_qgemm_status describe_in(const pwl_qgemm_product *product, const pwl_qgemm_panels *panels, void *workspace,
                                    size_t bytes, job *job, uint8_t **work)
{
    const pwl_qgemm_status status = describe(product, panels, job);
    if (status != PWL_QGEMM_OK)
        return status;
    if (!workspace)
        return PWL_QGEMM_ERR_NULL;
    if (bytes < job->bytes + PWL_QGEMM_LINE - 1)
        return PWL_QGEMM_ERR_SPACE;
    if (pwl_qgemm_touches(&job->product, workspace, job->bytes + PWL_QGEMM_LINE - 1))
        return PWL_QGEMM_ERR_OVERLAP;
    *work = (uint8_t *)workspace + pwl_qgemm_to_line(workspace);
    return PWL_QGEMM_OK;
}

static pwl_qgemm_results results_of(const job *job, const uint8_t *work, const pwl_qgemm_way *way)
{
    const pwl_qgemm_weights *const w = &job->panels;
    const uint8_t *const memory = w->memory;
    pwl_qgemm_results results = {.product = &job->product, .round = way->round, .n = w->n};
    if (job->product.activation) {
        results.e = pwl_qgemm_epilogue_of(&job->product, &job->codes);
        results.plan = (const pwl_plan *)(const void *)(work + job->plan_at);
        results.codes = pwl_qgemm_codes_type(&job->codes);
        results.values = pwl_qgemm_values_type(&job->product, &job->codes);
        results.qmin_y = job->codes.qmin_y;
        results.qmax_y = job->codes.qmax_y;
    }
    if (w->format == PWL_QGEMM_ROWS8) {
        results.w_sums = (const int32_t *)(const void *)(memory + pwl_qgemm_panel_sums_at(w->format, w->n, w->k));
        results.n_w = (const int8_t *)memory + pwl_qgemm_panel_exponents_at(w->format, w->n, w->k);
    }
    return results;
}

/* Rows [m, m + rows) of X. */
static pwl_qgemm_pass pass_of(const job *job, const uint8_t *work, size_t m)
{
    pwl_qgemm_pass pass = {.kind = pwl_qgemm_kind_of(&job->product), .blocks = job->panels.k / PWL_BLOCK};
    const void *const prepared = work + m * job->row;
    pass.x = prepared;
    if (pass.kind == PWL_QGEMM_INTEGERS) {
        pass.x_stride = job->product.x.stride;
        pass.x = (const int8_t *)job->product.x.data + m * pass.x_stride;
        pass.start = prepared;
    }
    if (pwl_qgemm_is_halves(pass.kind)) {
        const int bf16 = job->product.x.type == PWL_QGEMM_BF16;
        pass.x_stride = job->row;
        pass.x = (const uint8_t *)prepared + PWL_QGEMM_LINE;
        pass.rounding.digits = bf16 ? 0x1.8p16f : 0x1.8p13f;
        pass.rounding.least = bf16 ? 0x1.8p-110f : 0x1.8p-1f;
        pass.rounding.scales = job->panels.row_data;
    }
    return pass;
}

/* A16: e of the rows of a panel, and 2^-e; in MXFP4, whose values are counted in halves, half as much, since e may be
 * -128. */
typedef struct exponents {
    int e[PWL_QGEMM_PANEL];
    float power[PWL_QGEMM_PANEL];
} exponents;

static exponents exponents_of(const job *job, size_t n)
{
    const pwl_qgemm_weights *const w = &job->panels;
    const int8_t *const stored = (const int8_t *)w->memory + pwl_qgemm_panel_exponents_at(w->format, w->n, w->k) + n;
    exponents found;
    for (size_t r = 0; r < PWL_QGEMM_PANEL; r++) {
        found.e[r] = w->row_data ? stored[r] : 0;
        found.power[r] = (float)pwl_qgemm_power(-found.e[r] - (w->format == PWL_QGEMM_MXFP4));
    }
    return found;
}

/* A16: sums of a pass times 2^(e + f), rounded once. */
static void scale(const job *job, const uint8_t *work, const exponents *of, size_t m, size_t rows, float *sums)
{
    for (size_t i = 0; i < rows; i++, sums += PWL_QGEMM_PANEL) {
        int32_t f;
        memcpy(&f, work + (m + i) * job->row, sizeof f);
        for (size_t r = 0; r < PWL_QGEMM_PANEL; r++)
            sums[r] = (float)(sums[r] * pwl_qgemm_power(of->e[r] + f));
    }
}

/* Rows of X that are multiplied by a panel before the next, a multiple of those of a pass. */
static size_t cached_rows(const job *job, size_t of_pass)
{
    const size_t rows = CACHED / (job->product.scheme == PWL_QGEMM_INT8 ? job->panels.k : job->row);
    return rows < of_pass ? of_pass : rows / of_pass * of_pass;
}

static void multiply(const job *job, const uint8_t *work, const pwl_qgemm_way *way, size_t first, size_t end)
{
    pwl_qgemm_results results = results_of(job, work, way);
    const size_t of_pass = job->product.scheme == PWL_QGEMM_INT8 ? way->most : way->rows;
    const size_t m_all = job->product.m, cached = cached_rows(job, of_pass);
    union {
        float reals[PWL_QGEMM_PASS_ROWS * PWL_QGEMM_PANEL];
        int32_t integers[PWL_QGEMM_PASS_ROWS * PWL_QGEMM_PANEL];
    } sums;
    for (size_t m_first = 0; m_first < m_all; m_first += cached) {
        const size_t m_end = m_all - m_first < cached ? m_all : m_first + cached;
        for (size_t n = first; n < end; n += PWL_QGEMM_PANEL) {
            const int halves = pwl_qgemm_is_a16(&job->product);
            const exponents of = halves ? exponents_of(job, n) : (exponents){{0}, {0}};
            pwl_qgemm_begin_panel(&results, n);
            for (size_t m = m_first; m < m_end; m += of_pass) {
                pwl_qgemm_pass pass = pass_of(job, work, m);
                pass.tiles =
                    (const uint8_t *)job->panels.memory + pwl_qgemm_panel_at(job->panels.format, job->panels.k, n);
                pass.rows = m_end - m < of_pass ? m_end - m : of_pass;
                pass.sums = &sums;
                pass.rounding.power = of.power;
                way->multiply(&pass);
                if (halves)
                    scale(job, work, &of, m, pass.rows, sums.reals);
                pwl_qgemm_put_results(&results, &sums, m, pass.rows, n);
            }
        }
    }
}

pwl_qgemm_status pwl_qgemm_workspace(const pwl_qgemm_product *product, const pwl_qgemm_panels *panels, size_t *bytes)
{
    job job;
    const pwl_qgemm_status status = describe(product, panels, &job);
    if (status != PWL_QGEMM_OK)
        return status;
    if (!bytes)
        return PWL_QGEMM_ERR_NULL;
    *bytes = job.bytes + PWL_QGEMM_LINE - 1;
    return PWL_QGEMM_OK;
}

static void prepare(const job *job, uint8_t *work, size_t first, size_t count)
{
    if (first == 0 && job->product.activation) {
        pwl_plan *const plan = (pwl_plan *)(void *)(work + job->plan_at);
        /* Of a checked table and types that hold its codes: it cannot fail. */
        (void)!pwl_plan_init(plan, job->plan_bytes ? plan + 1 : NULL, job->plan_bytes, job->product.activation->table,
                             pwl_qgemm_codes_type(&job->codes), pwl_qgemm_values_type(&job->product, &job->codes),
                             PWL_LEVELS_ALL);
    }
    for (size_t row = first; row < first + count; row++)
        pwl_qgemm_prepare_row(&job->product, job->panels.k, row, work + row * job->row);
}

pwl_qgemm_status pwl_qgemm_rows(const pwl_qgemm_product *product, const pwl_qgemm_panels *panels, size_t first,
                                size_t count, void *workspace, size_t bytes)
{
    job job;
    uint8_t *work;
    const pwl_qgemm_status status = describe_in(product, panels, workspace, bytes, &job, &work);
    if (status != PWL_QGEMM_OK)
        return status;
    if (first > product->m || count > product->m - first)
        return PWL_QGEMM_ERR_SHAPE;
    prepare(&job, work, first, count);
    return PWL_QGEMM_OK;
}

pwl_qgemm_status pwl_qgemm_part_by(const pwl_qgemm_way *way, const pwl_qgemm_product *product,
                                   const pwl_qgemm_panels *panels, size_t first, size_t count, void *workspace,
                                   size_t bytes)
{
    job job;
    uint8_t *work;
    const pwl_qgemm_status status = describe_in(product, panels, workspace, bytes, &job, &work);
    if (status != PWL_QGEMM_OK)
        return status;
    if (first > panels->n || count > panels->n - first || first % PWL_QGEMM_PANEL ||
        (count % PWL_QGEMM_PANEL && first + count != panels->n))
        return PWL_QGEMM_ERR_SHAPE;
    multiply(&job, work, way, first, first + count);
    return PWL_QGEMM_OK;
}

pwl_qgemm_status pwl_qgemm_part(const pwl_qgemm_product *product, const pwl_qgemm_panels *panels, size_t first,
                                size_t count, void *workspace, size_t bytes)
{
    return pwl_qgemm_part_by(pwl_qgemm_way_of(pwl_levels()), product, panels, first, count, workspace, bytes);
}

pwl_qgemm_status pwl_qgemm_by(const pwl_qgemm_way *way, const pwl_qgemm_product *product,
                              const pwl_qgemm_panels *panels, void *workspace, size_t bytes)
{
    job job;
    uint8_t *work;
    const pwl_qgemm_status status = describe_in(product, panels, workspace, bytes, &job, &work);
    if (status != PWL_QGEMM_OK)
        return status;
    prepare(&job, work, 0, product->m);
    multiply(&job, work, way, 0, panels->n);
    return PWL_QGEMM_OK;
}

pwl_qgemm_status pwl_qgemm(const pwl_qgemm_product *product, const pwl_qgemm_panels *panels, void *workspace,
                           size_t bytes)
{
    return pwl_qgemm_by(pwl_qgemm_way_of(pwl_levels()), product, panels, workspace, bytes);
}
