/* SPDX-License-Identifier: Apache-2.0 */
/* What products on the host refuse, and by which status; nothing is written then. */
#include "products.h"

static struct {
    pwl_qgemm_product product;
    pwl_qgemm_panels panels;
    uint8_t *workspace;
    size_t bytes, first, count;
} call; /* a good one, of which each test spoils something */

static float y[64], before[64];

static void refused(pwl_qgemm_status expected, const char *name)
{
    pwl_qgemm_status status[3];
    memset(y, POISON, sizeof y);
    memcpy(before, y, sizeof y);
    status[0] = pwl_qgemm(&call.product, &call.panels, call.workspace, call.bytes);
    status[1] = pwl_qgemm_rows(&call.product, &call.panels, 0, 1, call.workspace, call.bytes);
    status[2] = pwl_qgemm_part(&call.product, &call.panels, 0, call.panels.n, call.workspace, call.bytes);
    if (status[0] != expected)
        printf("# %s\n", pwl_qgemm_status_text(status[0]));
    tap(status[0] == expected && status[1] == expected && status[2] == expected && memcmp(y, before, sizeof y) == 0,
        "%s", name);
}

/* The description alone is wrong: the size of the workspace is refused, too. */
static void refused_before(pwl_qgemm_status expected, const char *name)
{
    size_t bytes = 77;
    tap(pwl_qgemm_workspace(&call.product, &call.panels, &bytes) == expected && bytes == 77, "%s: no workspace", name);
    refused(expected, name);
}

static void test_products(struct operand *q4, struct operand *rows)
{
    static float x[2 * 40], scales[2];
    static int8_t q_x[2 * 40], n_x[2];
    static uint8_t workspace[4096];
    static pwl_table no_table;
    static const pwl_qgemm_activation as = {
        .table = &no_table, .of_x = {1, 0}, .of_y = {1, 0}, .of_up = {1, 0}, .of_out = {1, 0}};
    const pwl_qgemm_product good = {PWL_QGEMM_W4A8,
                                    PWL_QGEMM_SUMS_EXACT,
                                    2,
                                    NULL,
                                    {x, 32, PWL_QGEMM_F32, 0, NULL, NULL},
                                    q4->bias,
                                    {y, 5, PWL_QGEMM_F32, 0, 0, NULL, 0},
                                    NULL};
    pwl_qgemm_product int8 = good;
    int8.scheme = PWL_QGEMM_INT8;
    int8.bias = rows->bias;
    int8.x = (pwl_qgemm_input){q_x, 32, PWL_QGEMM_S8, 0, n_x, NULL};
    int8.y.type = PWL_QGEMM_S8;
#define SPOILT(from, operand, what, check, expected, name)                                                             \
    do {                                                                                                               \
        call.product = from;                                                                                           \
        call.panels = (operand)->panels;                                                                               \
        call.workspace = workspace;                                                                                    \
        call.bytes = sizeof workspace;                                                                                 \
        what;                                                                                                          \
        check(expected, name);                                                                                         \
    } while (0)
#define Q4(what, expected, name) SPOILT(good, q4, what, refused_before, expected, name)
#define INT8(what, expected, name) SPOILT(int8, rows, what, refused_before, expected, name)
#define WORK(what, expected, name) SPOILT(good, q4, what, refused, expected, name)
    call.product = good;
    tap(pwl_qgemm(&good, &q4->panels, workspace, sizeof workspace) == PWL_QGEMM_OK, "a product to spoil");
    tap(pwl_qgemm(&int8, &rows->panels, workspace, sizeof workspace) == PWL_QGEMM_OK, "another, of integers");
    Q4(call.panels.memory = NULL, PWL_QGEMM_ERR_NULL, "no memory of panels");
    Q4(call.panels.memory = (const char *)call.panels.memory + 16, PWL_QGEMM_ERR_ALIGN, "panels aligned to 16");
    Q4(call.panels.format = (pwl_qgemm_format)64, PWL_QGEMM_ERR_FORMAT, "panels of no format");
    Q4((call.panels.format = PWL_QGEMM_SPARSE4, call.panels.k = 64), PWL_QGEMM_ERR_FORMAT, "panels of two of four");
    INT8(call.panels.format = PWL_QGEMM_ROWS4, PWL_QGEMM_ERR_FORMAT, "panels of nibbles in rows, which are made bytes");
    Q4(call.panels.k = 48, PWL_QGEMM_ERR_SHAPE, "K of 48");
    Q4(call.panels.n = 0, PWL_QGEMM_ERR_SHAPE, "N of 0");
    Q4(call.panels.n = SIZE_MAX / 4, PWL_QGEMM_ERR_SHAPE, "N beyond size_t");
    Q4(call.panels.n = 33, PWL_QGEMM_ERR_SPACE, "more rows than the panels have");
    Q4(call.panels.bytes--, PWL_QGEMM_ERR_SPACE, "a byte of panels too few");
    Q4((call.panels.format = PWL_QGEMM_Q6_K, call.panels.k = 288), PWL_QGEMM_ERR_SHAPE, "Q6_K: K of 288");
    Q4((call.panels.format = PWL_QGEMM_Q4_K, call.panels.k = 256), PWL_QGEMM_ERR_SPACE, "panels of another format");
    INT8(call.panels.k = 65824, PWL_QGEMM_ERR_DEPTH, "INT8: K of 65824");
    Q4(call.product.scheme = (pwl_qgemm_scheme)64, PWL_QGEMM_ERR_SCHEME, "no scheme");
    Q4(call.product.scheme = PWL_QGEMM_W8A8, PWL_QGEMM_ERR_SCHEME, "another scheme's weights");
    Q4(call.product.scheme = PWL_QGEMM_Q4_K_A8, PWL_QGEMM_ERR_SCHEME, "a scheme of super-blocks");
    Q4((call.product.scheme = PWL_QGEMM_MXFP4_A8, call.product.sums = PWL_QGEMM_SUMS_STORED), PWL_QGEMM_ERR_SCHEME,
       "MXFP4 with stored sums");
    Q4(call.product.x.type = PWL_QGEMM_S8, PWL_QGEMM_ERR_TYPE, "X of integers");
    Q4(call.product.y.type = PWL_QGEMM_S8, PWL_QGEMM_ERR_TYPE, "Y of integers");
    Q4((call.product.y.type = PWL_QGEMM_E4M3, call.product.y.scale = x, call.product.y.dynamic = 1),
       PWL_QGEMM_ERR_OVERLAP, "dynamic scales of Y in X");
    Q4((call.product.y.type = PWL_QGEMM_E4M3, call.product.y.scale = scales, call.product.y.dynamic = 1),
       PWL_QGEMM_ERR_TYPE, "dynamic scales of Y");
    INT8((call.product.y.type = PWL_QGEMM_E4M3, call.product.y.scale = scales), PWL_QGEMM_ERR_TYPE, "INT8: Y of E4M3");
    Q4(call.product.m = 0, PWL_QGEMM_ERR_SHAPE, "M of 0");
    Q4(call.product.m = SIZE_MAX / 64, PWL_QGEMM_ERR_SHAPE, "X beyond size_t");
    INT8((call.product.m = SIZE_MAX / 64, call.product.x.stride = 32), PWL_QGEMM_ERR_OVERLAP,
         "INT8: more rows than memory has");
    Q4(call.product.x.stride = 31, PWL_QGEMM_ERR_STRIDE, "rows of X overlap");
    Q4(call.product.y.stride = 4, PWL_QGEMM_ERR_STRIDE, "rows of Y overlap");
    Q4(call.product.x.data = NULL, PWL_QGEMM_ERR_NULL, "no X");
    Q4(call.product.y.data = NULL, PWL_QGEMM_ERR_NULL, "no Y");
    Q4(call.product.x.data = (char *)x + 2, PWL_QGEMM_ERR_ALIGN, "X at half a float");
    Q4(call.product.y.data = (char *)y + 1, PWL_QGEMM_ERR_ALIGN, "Y at a quarter of a float");
    Q4(call.product.bias = (char *)x + 2, PWL_QGEMM_ERR_ALIGN, "bias at half a float");
    INT8(call.product.x.n_x = NULL, PWL_QGEMM_ERR_NULL, "INT8: no exponents of X");
    INT8(call.product.x.zero_point = 128, PWL_QGEMM_ERR_RANGE, "INT8: a zero point of 128");
    Q4(call.product.y.data = (void *)(uintptr_t)call.panels.memory, PWL_QGEMM_ERR_OVERLAP, "Y in the panels");
    Q4(call.product.bias = y + 9, PWL_QGEMM_ERR_OVERLAP, "Y in the bias");
    Q4(call.product.x.data = y, PWL_QGEMM_ERR_OVERLAP, "Y in X");
    Q4(call.product.activation = &as, PWL_QGEMM_ERR_TABLE, "an activation without a good table");
    WORK(call.workspace = NULL, PWL_QGEMM_ERR_NULL, "no workspace");
    WORK(call.bytes = 0, PWL_QGEMM_ERR_SPACE, "a workspace of no bytes");
    WORK((must(pwl_qgemm_workspace(&good, &call.panels, &call.bytes)), call.bytes--), PWL_QGEMM_ERR_SPACE,
         "a workspace of a byte too few");
    WORK(call.workspace = (uint8_t *)y, PWL_QGEMM_ERR_OVERLAP, "the workspace in Y");
    WORK(call.workspace = (uint8_t *)x, PWL_QGEMM_ERR_OVERLAP, "the workspace in X");
    tap(pwl_qgemm(NULL, &q4->panels, workspace, sizeof workspace) == PWL_QGEMM_ERR_NULL &&
            pwl_qgemm(&good, NULL, workspace, sizeof workspace) == PWL_QGEMM_ERR_NULL &&
            pwl_qgemm_workspace(&good, &q4->panels, NULL) == PWL_QGEMM_ERR_NULL,
        "no product, no panels, nowhere to put the size");
}

/* Ranges of rows and columns. */
static void test_ranges(struct operand *w)
{
    static const struct {
        size_t first, count;
        int good;
    } columns[] = {{0, 70, 1},
                   {32, 38, 1},
                   {64, 6, 1},
                   {64, 0, 1},
                   {0, 32, 1},
                   {0, 64, 1},
                   {16, 16, 0},
                   {0, 33, 0},
                   {64, 32, 0},
                   {96, SIZE_MAX, 0},
                   {32, SIZE_MAX - 31, 0},
                   {96, 0, 0}},
      some[] = {{0, 3, 1}, {1, 2, 1}, {3, 0, 1}, {0, 4, 0}, {2, SIZE_MAX, 0}, {4, 0, 0}};
    static float x[3 * 32], z[3 * 70];
    static uint8_t workspace[4096];
    const pwl_qgemm_product product = {PWL_QGEMM_W4A8,
                                       PWL_QGEMM_SUMS_EXACT,
                                       3,
                                       NULL,
                                       {x, 32, PWL_QGEMM_F32, 0, NULL, NULL},
                                       NULL,
                                       {z, 70, PWL_QGEMM_F32, 0, 0, NULL, 0},
                                       NULL};
    int good = 1;
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++)
        good &= pwl_qgemm_rows(&product, &w->panels, some[i].first, some[i].count, workspace, sizeof workspace) ==
                (some[i].good ? PWL_QGEMM_OK : PWL_QGEMM_ERR_SHAPE);
    tap(good, "ranges of rows");
    good = 1;
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        good &= pwl_qgemm_part(&product, &w->panels, columns[i].first, columns[i].count, workspace, sizeof workspace) ==
                (columns[i].good ? PWL_QGEMM_OK : PWL_QGEMM_ERR_SHAPE);
    tap(good, "ranges of columns");
}

static void test_arrange(const struct operand *w)
{
    static uint8_t memory[8192], piece[3328] __attribute__((aligned(16)));
    pwl_qgemm_panels panels = {NULL, 1, 2, 3, PWL_QGEMM_Q8_0};
    pwl_qgemm_weights bad = w->packed;
    size_t bytes;
    must(pwl_qgemm_panels_bytes(&w->packed, &bytes));
    tap(pwl_qgemm_panels_bytes(NULL, &bytes) == PWL_QGEMM_ERR_NULL &&
            pwl_qgemm_panels_bytes(&w->packed, NULL) == PWL_QGEMM_ERR_NULL &&
            pwl_qgemm_arrange(NULL, memory, sizeof memory, &panels) == PWL_QGEMM_ERR_NULL &&
            pwl_qgemm_arrange(&w->packed, NULL, sizeof memory, &panels) == PWL_QGEMM_ERR_NULL &&
            pwl_qgemm_arrange(&w->packed, memory, sizeof memory, NULL) == PWL_QGEMM_ERR_NULL,
        "nothing to arrange, or nowhere to");
    tap(pwl_qgemm_arrange(&w->packed, memory, bytes - 1, &panels) == PWL_QGEMM_ERR_SPACE, "a byte too few");
    tap(pwl_qgemm_arrange(&w->packed, (void *)(uintptr_t)w->packed.memory, w->packed.bytes, &panels) ==
            PWL_QGEMM_ERR_OVERLAP,
        "panels where the packed weights are");
    bad.bytes++;
    tap(pwl_qgemm_arrange(&bad, memory, sizeof memory, &panels) == PWL_QGEMM_ERR_SPACE, "weights of another size");
    bad = (pwl_qgemm_weights){piece, 1, 64, sizeof piece, PWL_QGEMM_SPARSE4, 0};
    tap(pwl_qgemm_panels_bytes(&bad, &bytes) == PWL_QGEMM_ERR_FORMAT &&
            pwl_qgemm_arrange(&bad, memory, sizeof memory, &panels) == PWL_QGEMM_ERR_FORMAT,
        "weights with two of four columns");
    tap(!panels.memory && panels.n == 1 && memory[0] == 0 && memory[63] == 0, "and nothing was written");
}

int main(void)
{
    uint64_t state = 86;
    struct operand q4 = draw_operand(&schemes[0], 5, 32, -4, 0, &state);
    struct operand rows = draw_operand(&schemes[4], 5, 32, 0, 0, &state);
    struct operand wide = draw_operand(&schemes[0], 70, 32, -4, 0, &state);
    test_products(&q4, &rows);
    test_ranges(&wide);
    test_arrange(&q4);
    free_operand(&q4);
    free_operand(&rows);
    free_operand(&wide);
    return tap_end();
}
