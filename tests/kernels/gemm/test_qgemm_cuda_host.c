/* SPDX-License-Identifier: Apache-2.0 */
/* What products on devices ask for and refuse before the first call of CUDA. */
#include <cuda_runtime_api.h>
#include <stdlib.h>

#include <pwl/cuda_qgemm.h>

#include "../tap.h"
#include "cases.h"
#include "gemm/layout.h"
#include "map/plan.h"

static uint8_t memory[4608] __attribute__((aligned(16)));
static float x[65 * 32] __attribute__((aligned(16))), y[65];

enum { BYTES = 8 * (64 + 8) }; /* of A8 as bytes, up to 8 rows and 64 columns */
static const pwl_qgemm_weights weights = {memory, 1, 32, sizeof memory, PWL_QGEMM_Q4_0, 0};

static pwl_qgemm_product product_of(pwl_qgemm_scheme scheme, pwl_qgemm_type type)
{
    const pwl_qgemm_product product = {scheme,
                                       PWL_QGEMM_SUMS_EXACT,
                                       2,
                                       &weights,
                                       {x, 32, type, 0, NULL, NULL},
                                       NULL,
                                       {y, 1, PWL_QGEMM_F32, 0, 0, NULL, 0},
                                       NULL};
    return product;
}

static void test_workspaces(void)
{
    static const struct {
        pwl_qgemm_scheme scheme;
        pwl_qgemm_type type;
        size_t bytes;
        const char *name;
    } cases[] = {
        {PWL_QGEMM_W4A16, PWL_QGEMM_F32, 16 + 128, "an exponent and halves for each row of fp32"},
        {PWL_QGEMM_W4A16, PWL_QGEMM_F16, 0, "nothing for fp16"},
        {PWL_QGEMM_W4A16, PWL_QGEMM_BF16, 0, "nothing for bf16"},
        {PWL_QGEMM_W4A8, PWL_QGEMM_F32, BYTES, "bytes and scales of fp32"},
        {PWL_QGEMM_W4A8, PWL_QGEMM_BF16, BYTES, "bytes and scales of bf16"},
        {PWL_QGEMM_W4A8, PWL_QGEMM_BLOCKS_Q8_1, BYTES, "bytes and scales of blocks"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const pwl_qgemm_product product = product_of(cases[i].scheme, cases[i].type);
        size_t bytes = 77;
        tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_OK && bytes == cases[i].bytes, "workspace: %s",
            cases[i].name);
    }
}

/* Halves are copied where they are not aligned to 16 bytes, or their rows are not. */
static void test_halves(void)
{
    pwl_qgemm_product product = product_of(PWL_QGEMM_W4A16, PWL_QGEMM_F16);
    size_t bytes = 77;
    product.x.stride = 36;
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_OK && bytes == 128, "workspace: rows apart by 36");
    product.x.stride = 40;
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_OK && bytes == 0, "workspace: rows apart by 40");
    product.x.data = (const uint16_t *)(const void *)x + 1;
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_OK && bytes == 128, "workspace: from the second half");
    setenv("PWL_QGEMM_KERNEL", "tiled", 1);
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_OK && bytes == 0, "workspace: none for tiled");
    setenv("PWL_QGEMM_KERNEL", "vectorised", 1);
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_OK && bytes == 128, "workspace: halves for vectorised");
    unsetenv("PWL_QGEMM_KERNEL");
    product = product_of(PWL_QGEMM_W4A8, PWL_QGEMM_BLOCKS_Q8_1);
    setenv("PWL_QGEMM_KERNEL", "mma", 1);
    product.m = 63;
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_ERR_KERNEL, "no halves for 63 rows");
    product.m = 64;
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_OK && bytes == 64 * (4 + 64),
        "workspace: exponents and halves for 64 rows of blocks");
    setenv("PWL_QGEMM_KERNEL", "mma_bytes", 1);
    product.m = 57;
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_OK && bytes == 64 * (64 + 8),
        "workspace: bytes and scales of 64 columns for 57 rows, up to a multiple of 8");
    unsetenv("PWL_QGEMM_KERNEL");
    product.m = SIZE_MAX / 72;
    product.x.stride = 1;
    product.y.data = (void *)(UINTPTR_MAX / 16 * 12); /* behind all of X */
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_ERR_SHAPE, "workspace: more halves than size_t counts");
}

/* One row of floats is taken as it is where it is aligned to 16 bytes, and in W4A8 not too long. */
static void test_row(void)
{
    static const struct {
        pwl_qgemm_scheme scheme;
        pwl_qgemm_type type;
        size_t k, first; /* half of x */
        int taken;
    } cases[] = {{PWL_QGEMM_W4A8, PWL_QGEMM_F16, 32, 0, 1},    {PWL_QGEMM_W4A8, PWL_QGEMM_F16, 32, 1, 0},
                 {PWL_QGEMM_W4A8, PWL_QGEMM_F16, 32, 8, 1},    {PWL_QGEMM_W4A8, PWL_QGEMM_F32, 32, 2, 0},
                 {PWL_QGEMM_W4A8, PWL_QGEMM_BF16, 4096, 0, 1}, {PWL_QGEMM_W4A8, PWL_QGEMM_BF16, 4128, 0, 0},
                 {PWL_QGEMM_W8A8, PWL_QGEMM_F32, 14336, 0, 1}, {PWL_QGEMM_W8A8, PWL_QGEMM_BLOCKS_Q8_1, 32, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const size_t k = cases[i].k, needed = cases[i].taken ? 0 : pwl_qgemm_input_bytes(1, k);
        pwl_qgemm_product product = product_of(cases[i].scheme, cases[i].type);
        pwl_qgemm_weights deep = weights;
        size_t bytes = 77;
        deep.format = cases[i].scheme == PWL_QGEMM_W4A8 ? PWL_QGEMM_Q4_0 : PWL_QGEMM_Q8_0;
        deep.k = product.x.stride = k;
        product.m = 1;
        product.weights = &deep;
        product.x.data = (const uint16_t *)(const void *)x + cases[i].first;
        product.y.data = (void *)(UINTPTR_MAX / 16 * 12); /* behind all of X */
        deep.bytes = pwl_qgemm_pieces_bytes(deep.format, 1, k);
        tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_OK && bytes == needed,
            "workspace: %s for a row of %zu, scheme %d, type %d, from half %zu", needed ? "bytes" : "none", k,
            (int)cases[i].scheme, (int)cases[i].type, cases[i].first);
    }
}

/* E4M3 needs nothing; floats become such in the workspace, whatever the kernel. Only some multiply it. */
static void test_fp8(void)
{
    static uint8_t rows[8192 + 512] __attribute__((aligned(16)));
    static float scale[2], y_scale[2];
    const pwl_qgemm_weights w = {rows, 1, 32, sizeof rows, PWL_QGEMM_ROWS_E4M3, 1};
    static const char *const others[] = {"vectorised", "dp4a", "mma_bytes", "mma", "streamk", "splitk", "wgmma"};
    pwl_qgemm_product product = product_of(PWL_QGEMM_FP8, PWL_QGEMM_E4M3);
    size_t bytes = 77;
    uint8_t q[32];
    product.weights = &w;
    product.x.scale = scale;
    setenv("PWL_QGEMM_KERNEL", "tiled", 1);
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_OK && bytes == 0, "workspace: nothing for E4M3");
    product.x.type = PWL_QGEMM_F32;
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_OK && bytes == 2 * (32 + 4),
        "workspace: codes and scales of fp32 in FP8");
    product.y = (pwl_qgemm_output){q, 1, PWL_QGEMM_E4M3, 0, 0, y_scale, 0};
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_OK && bytes == 2 * (32 + 4),
        "workspace: nothing for Y in E4M3 by given scales");
    product.y.dynamic = 1;
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_OK && bytes == 80 + 2 * 4 * 4,
        "workspace: Y in F32 where its scales are dynamic, from a multiple of 16 on");
    int refused = 1;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        setenv("PWL_QGEMM_KERNEL", others[i], 1);
        refused &= pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_ERR_KERNEL;
    }
    tap(refused, "kernels that do not multiply E4M3 say so");
    unsetenv("PWL_QGEMM_KERNEL");
    tap(pwl_cuda_qgemm_quantise_e4m3(PWL_QGEMM_F32, NULL, 1, 32, 32, q, scale, NULL) == PWL_QGEMM_ERR_NULL &&
            pwl_cuda_qgemm_quantise_e4m3(PWL_QGEMM_S8, x, 1, 32, 32, q, scale, NULL) == PWL_QGEMM_ERR_TYPE &&
            pwl_cuda_qgemm_quantise_e4m3(PWL_QGEMM_F32, x, 0, 32, 32, q, scale, NULL) == PWL_QGEMM_ERR_SHAPE &&
            pwl_cuda_qgemm_quantise_e4m3(PWL_QGEMM_F32, x, 1, 32, 31, q, scale, NULL) == PWL_QGEMM_ERR_STRIDE &&
            pwl_cuda_qgemm_quantise_e4m3(PWL_QGEMM_F32, (const char *)(const void *)x + 1, 1, 32, 32, q, scale, NULL) ==
                PWL_QGEMM_ERR_ALIGN,
        "E4M3 of floats: errors");
}

/* Names and values do not change; kernels that came later have others. */
static const char *const names[] = {"naive", "tiled",   "vectorised", "dp4a", "mma_bytes",
                                    "mma",   "streamk", "splitk",     "wgmma"};

static void test_sparse(void)
{
    static const char *const refuse[] = {"splitk", "wgmma", "streamk", "mma", "mma_bytes", "dp4a", "vectorised"};
    static uint8_t piece[3328] __attribute__((aligned(16)));
    static float row[64] __attribute__((aligned(16)));
    static pwl_block_sparse4 block;
    const pwl_qgemm_weights sparse = {piece, 1, 64, sizeof piece, PWL_QGEMM_SPARSE4, 0};
    const int32_t offsets[2] = {0, 2};
    const pwl_qgemm_group group = {1, sizeof piece, offsets};
    pwl_qgemm_product product = product_of(PWL_QGEMM_SPARSE4_A16, PWL_QGEMM_F32);
    pwl_qgemm_weights made;
    size_t bytes = 77;
    int refused = 1;
    product.weights = &sparse;
    product.x.data = row;
    product.x.stride = 64;
    product.m = 1;
    setenv("PWL_QGEMM_KERNEL", "tiled", 1);
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_OK && bytes == 4, "workspace of SPARSE4: an exponent");
    for (size_t i = 0; i < sizeof refuse / sizeof *refuse; i++) {
        setenv("PWL_QGEMM_KERNEL", refuse[i], 1);
        refused &= pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_ERR_KERNEL && bytes == 4;
    }
    tap(refused, "kernels that take all columns for weights say so");
    setenv("PWL_QGEMM_KERNEL", "wgmma_sparse", 1);
    product.weights = &weights;
    product.scheme = PWL_QGEMM_W4A16;
    product.x.stride = 32;
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_ERR_KERNEL, "and wgmma_sparse of the others");
    unsetenv("PWL_QGEMM_KERNEL");
    product.weights = &sparse;
    product.scheme = PWL_QGEMM_SPARSE4_A16;
    product.x.stride = 64;
    tap(pwl_cuda_qgemm_group_workspace(&product, &group, &bytes) == PWL_QGEMM_ERR_SCHEME && bytes == 4,
        "no groups of SPARSE4");
    tap(pwl_cuda_qgemm_pack(pwl_qgemm_of_blocks(PWL_QGEMM_SPARSE4, &block, 1, 64), piece, sizeof piece, &made, NULL,
                            NULL) == PWL_QGEMM_ERR_FORMAT,
        "the host packs SPARSE4");
}

static void test_names(void)
{
    static const struct {
        pwl_qgemm_kernel kernel;
        const char *name;
    } listed[] = {
#define KERNEL(NAME, value, name, ...) {PWL_QGEMM_##NAME, #name},
        PWL_QGEMM_KERNELS(KERNEL)
#undef KERNEL
    };
    const size_t count = sizeof listed / sizeof listed[0], first = sizeof names / sizeof names[0];
    int distinct = 1;
    for (size_t i = 0; i < first; i++)
        tap(strcmp(pwl_qgemm_kernel_name((pwl_qgemm_kernel)i), names[i]) == 0, "kernel %zu is %s", i, names[i]);
    for (size_t i = 0; i < count; i++) {
        const char *const name = pwl_qgemm_kernel_name(listed[i].kernel);
        tap(name && strcmp(name, listed[i].name) == 0 && (size_t)listed[i].kernel < count, "%s is listed",
            listed[i].name);
        for (size_t j = 0; j < i; j++)
            distinct &= listed[i].kernel != listed[j].kernel && strcmp(listed[i].name, listed[j].name) != 0;
    }
    tap(distinct, "kernels have a name and a value each");
    tap(pwl_qgemm_kernel_name((pwl_qgemm_kernel)-1) == NULL && pwl_qgemm_kernel_name((pwl_qgemm_kernel)count) == NULL,
        "what is no kernel has no name");
}

static void test_errors(void)
{
    pwl_qgemm_product product = product_of(PWL_QGEMM_W4A8, PWL_QGEMM_F32);
    pwl_qgemm_kernel ran = (pwl_qgemm_kernel)77;
    uint8_t workspace[BYTES + 8] __attribute__((aligned(16)));
    size_t bytes = 77;
    tap(pwl_cuda_qgemm_workspace(NULL, &bytes) == PWL_QGEMM_ERR_NULL && bytes == 77, "workspace: no product");
    tap(pwl_cuda_qgemm_workspace(&product, NULL) == PWL_QGEMM_ERR_NULL, "workspace: nowhere to put it");
    tap(pwl_cuda_qgemm(NULL, workspace, BYTES, &ran, NULL) == PWL_QGEMM_ERR_NULL, "no product");
    tap(pwl_cuda_qgemm(&product, NULL, BYTES, &ran, NULL) == PWL_QGEMM_ERR_NULL, "no workspace");
    tap(pwl_cuda_qgemm(&product, workspace, BYTES - 1, &ran, NULL) == PWL_QGEMM_ERR_SPACE,
        "a workspace of a byte too few");
    tap(pwl_cuda_qgemm(&product, workspace + 8, BYTES, &ran, NULL) == PWL_QGEMM_ERR_ALIGN, "a workspace aligned to 8");
    setenv("PWL_QGEMM_KERNEL", "naïve", 1);
    tap(pwl_cuda_qgemm(&product, workspace, BYTES, &ran, NULL) == PWL_QGEMM_ERR_KERNEL, "a kernel that is none");
    for (int kernel = PWL_QGEMM_NAIVE; kernel <= PWL_QGEMM_WGMMA; kernel++) {
        const int serves = kernel != PWL_QGEMM_VECTORISED && kernel != PWL_QGEMM_MMA && kernel != PWL_QGEMM_STREAMK &&
                           kernel != PWL_QGEMM_WGMMA;
        const pwl_qgemm_status expected = serves ? PWL_QGEMM_ERR_SPACE : PWL_QGEMM_ERR_KERNEL;
        setenv("PWL_QGEMM_KERNEL", names[kernel], 1);
        tap(pwl_cuda_qgemm(&product, workspace, 71, &ran, NULL) == expected &&
                pwl_cuda_qgemm_workspace(&product, &bytes) == (serves ? PWL_QGEMM_OK : PWL_QGEMM_ERR_KERNEL),
            "%s is one%s", names[kernel], serves ? "" : ", but not for A8 of two rows");
    }
    setenv("PWL_QGEMM_KERNEL", "dp4a", 1);
    product.scheme = PWL_QGEMM_W4A16;
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_ERR_KERNEL, "dp4a is not for A16");
    product.scheme = PWL_QGEMM_W4A8;
    setenv("PWL_QGEMM_KERNEL", "mma", 1);
    product.m = PWL_QGEMM_HALVES_FROM;
    product.sums = PWL_QGEMM_SUMS_STORED;
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_ERR_KERNEL, "mma is not for stored sums");
    setenv("PWL_QGEMM_KERNEL", "mma_bytes", 1);
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_ERR_KERNEL, "nor is mma_bytes");
    setenv("PWL_QGEMM_KERNEL", "streamk", 1);
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_ERR_KERNEL, "nor is streamk");
    setenv("PWL_QGEMM_KERNEL", "splitk", 1);
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_ERR_KERNEL, "nor is splitk");
    product.sums = PWL_QGEMM_SUMS_EXACT;
    product.m = 65;
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_ERR_KERNEL, "splitk is not for 65 rows");
    product.m = 16;
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_OK && bytes == 2 * BYTES, "workspace: no sums for 16");
    product.m = 17;
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_OK && bytes == 3 * BYTES + 4 * 17 * 128 * 4,
        "workspace: those of four parts for 17");
    product.m = 2;
    unsetenv("PWL_QGEMM_KERNEL");
    product.m = 0;
    tap(pwl_cuda_qgemm(&product, workspace, BYTES, &ran, NULL) == PWL_QGEMM_ERR_SHAPE, "M of 0");
    tap(ran == (pwl_qgemm_kernel)77, "no kernel ran");
}

/* Where K is deep the device decides, and one that is not there is told of. */
static void test_deep(void)
{
    static uint8_t deep[16 * 4608] __attribute__((aligned(16)));
    static float rows[65 * 1024] __attribute__((aligned(16)));
    pwl_qgemm_weights w = {deep, 1, 992, sizeof deep, PWL_QGEMM_Q4_0, 0};
    pwl_qgemm_product product = product_of(PWL_QGEMM_W4A16, PWL_QGEMM_F16);
    pwl_qgemm_kernel ran = (pwl_qgemm_kernel)77;
    size_t bytes = 77;
    int device;
    const int error = (int)cudaGetDevice(&device);
    const pwl_qgemm_status expected =
        error == (int)cudaSuccess ? PWL_QGEMM_OK : (pwl_qgemm_status)(PWL_QGEMM_ERR_CUDA + error);
    product.weights = &w;
    product.m = 65;
    product.x.data = rows;
    product.x.stride = 1024;
    setenv("PWL_QGEMM_KERNEL", "wgmma", 1);
    const pwl_qgemm_status wgmma = pwl_cuda_qgemm_workspace(&product, &bytes);
    tap(wgmma == PWL_QGEMM_ERR_KERNEL ? bytes == 77 : wgmma == PWL_QGEMM_OK && bytes == 0,
        "workspace: nothing for wgmma, where it runs");
    bytes = 77;
    unsetenv("PWL_QGEMM_KERNEL");
    if (wgmma == PWL_QGEMM_OK) /* it would be taken */
        setenv("PWL_QGEMM_KERNEL", "streamk", 1);
    /* A tile in two parts of 128 rows and columns, and three marks. */
    const size_t shared = expected == PWL_QGEMM_OK ? 2 * 128 * 128 * 4 + 3 * 4 : 77;
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == expected && bytes == shared, "workspace: sums of 16 pieces");
    tap(pwl_cuda_qgemm(&product, deep, 0, &ran, NULL) == (expected == PWL_QGEMM_OK ? PWL_QGEMM_ERR_SPACE : expected) &&
            ran == (pwl_qgemm_kernel)77,
        "no product of 16 pieces without them");
    unsetenv("PWL_QGEMM_KERNEL");
    w.k = 960;
    w.bytes = 15 * 4608;
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_OK && bytes == 0, "workspace: nothing for 15 pieces");
    setenv("PWL_QGEMM_KERNEL", "streamk", 1);
    bytes = 77;
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == expected && bytes == shared, "workspace: sums where they must");
    setenv("PWL_QGEMM_KERNEL", "mma", 1);
    w.k = 992;
    w.bytes = sizeof deep;
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_OK && bytes == 0, "workspace: nothing for mma");
    unsetenv("PWL_QGEMM_KERNEL");
}

/* Activations are refused by what their uploaded tables say. */
static void test_activations(void)
{
    static char there[4];
    static int8_t codes[4];
    pwl_cuda_plan plan = {.qmin_x = -128, .qmax_x = 127, .qmin_y = -5, .qmax_y = 200};
    pwl_cuda_table uploaded = {.memory = there};
    pwl_qgemm_activation as = {.uploaded = &uploaded, .of_x = {1, 0}, .of_y = {1, 0}, .of_out = {1, 0}};
    pwl_qgemm_product product = product_of(PWL_QGEMM_W4A16, PWL_QGEMM_F16);
    size_t bytes = 77;
    pwl_cuda_plan_put(&uploaded, &plan);
    product.activation = &as;
    product.y = (pwl_qgemm_output){codes, 1, PWL_QGEMM_S8, 0, 0, NULL, 0};
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_ERR_FIT, "activation: s8 does not hold 200");
    product.y.type = PWL_QGEMM_U8;
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_ERR_FIT, "activation: u8 does not hold -5");
    plan.qmin_y = 0;
    pwl_cuda_plan_put(&uploaded, &plan);
    as.of_x.scale = 0;
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_ERR_AFFINE, "activation: a scale of 0");
    as.of_x.scale = 1;
    as.of_x.zero_point = INT64_C(1) << 31;
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_ERR_AFFINE, "activation: a zero point of 2^31");
    as.of_x.zero_point = 0;
    as.gated = 1;
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_ERR_SHAPE, "activation: gated, of one row of weights");
    as.gated = 0;
    uploaded.memory = NULL;
    tap(pwl_cuda_qgemm_workspace(&product, &bytes) == PWL_QGEMM_ERR_TABLE, "activation: a released table");
    as.uploaded = NULL;
    tap(pwl_cuda_qgemm(&product, NULL, 0, NULL, NULL) == PWL_QGEMM_ERR_NULL && bytes == 77, "activation: no table");
}

/* What groups are refused for, before the device is asked whether it has their kernels. */
static void test_groups(void)
{
    static uint8_t two[2 * sizeof memory] __attribute__((aligned(16)));
    static int32_t offsets[3];
    const pwl_qgemm_weights w = {two, 1, 32, sizeof memory, PWL_QGEMM_Q4_0, 0};
    const pwl_qgemm_group good = {2, sizeof memory, offsets};
    pwl_qgemm_group group = good;
    pwl_qgemm_product product = product_of(PWL_QGEMM_W4A16, PWL_QGEMM_F16);
    size_t bytes = 77;
    product.weights = &w;
    const pwl_qgemm_status status = pwl_cuda_qgemm_group_workspace(&product, &group, &bytes);
    tap(status == PWL_QGEMM_ERR_KERNEL ? bytes == 77 : status == PWL_QGEMM_OK && bytes == 0,
        "group: nothing for fp16, where it runs");
    bytes = 77;
    tap(pwl_cuda_qgemm_group(&product, NULL, NULL, 0, NULL) == PWL_QGEMM_ERR_NULL, "group: none");
    tap(pwl_cuda_qgemm_group(NULL, &group, NULL, 0, NULL) == PWL_QGEMM_ERR_NULL, "group: no product");
    const pwl_qgemm_product plain = product;
    product.y = (pwl_qgemm_output){y, 1, PWL_QGEMM_E4M3, 0, 0, y + 2, 1};
    tap(pwl_cuda_qgemm_group_workspace(&product, &group, &bytes) == PWL_QGEMM_ERR_TYPE, "group: dynamic scales of Y");
    product = plain;
    group.offsets = NULL;
    tap(pwl_cuda_qgemm_group_workspace(&product, &group, &bytes) == PWL_QGEMM_ERR_NULL, "group: no offsets");
    group = good;
    group.experts = 0;
    tap(pwl_cuda_qgemm_group_workspace(&product, &group, &bytes) == PWL_QGEMM_ERR_GROUP, "group: no experts");
    group.experts = PWL_QGEMM_MOST_EXPERTS + 1;
    tap(pwl_cuda_qgemm_group_workspace(&product, &group, &bytes) == PWL_QGEMM_ERR_GROUP, "group: too many");
    group = good;
    group.apart = sizeof memory - 16;
    tap(pwl_cuda_qgemm_group_workspace(&product, &group, &bytes) == PWL_QGEMM_ERR_GROUP, "group: weights that overlap");
    product.scheme = PWL_QGEMM_W4A8;
    tap(pwl_cuda_qgemm_group_workspace(&product, &good, &bytes) == PWL_QGEMM_ERR_SCHEME && bytes == 77,
        "group: W4A8 is not for groups");
}

static void test_rows(void)
{
    static const int32_t index[4] = {0};
    static const float weight[4] = {0};
    static uint8_t from[64], to[64];
#define GATHER(x, rows, stride, index, count, bytes, y, y_stride)                                                      \
    pwl_cuda_qgemm_gather(x, rows, stride, index, count, bytes, y, y_stride, NULL)
    tap(GATHER(NULL, 2, 8, index, 2, 8, to, 8) == PWL_QGEMM_ERR_NULL, "gather: no rows");
    tap(GATHER(from, 2, 8, NULL, 2, 8, to, 8) == PWL_QGEMM_ERR_NULL, "gather: no index");
    tap(GATHER(from, 0, 8, index, 2, 8, to, 8) == PWL_QGEMM_ERR_SHAPE, "gather: of no rows");
    tap(GATHER(from, 2, 8, index, 2, 8, to, 7) == PWL_QGEMM_ERR_STRIDE, "gather: rows that overlap");
    tap(GATHER(from, 2, 8, (const int32_t *)(const void *)(from + 1), 2, 8, to, 8) == PWL_QGEMM_ERR_ALIGN,
        "gather: an index at an odd address");
    tap(GATHER(from, 2, 8, index, 2, 8, from + 15, 8) == PWL_QGEMM_ERR_OVERLAP, "gather: into the last byte");
#undef GATHER
#define COMBINE(type, y, index, tokens, each, out)                                                                     \
    pwl_cuda_qgemm_combine(type, y, 2, 4, 4, index, weight, tokens, each, out, 4, NULL)
    tap(COMBINE(PWL_QGEMM_F16, NULL, index, 1, 2, to) == PWL_QGEMM_ERR_NULL, "combine: no rows");
    tap(COMBINE(PWL_QGEMM_S8, from, index, 1, 2, to) == PWL_QGEMM_ERR_TYPE, "combine: of integers");
    tap(COMBINE(PWL_QGEMM_F16, from, index, 0, 2, to) == PWL_QGEMM_ERR_SHAPE, "combine: no tokens");
    tap(COMBINE(PWL_QGEMM_F16, from, index, 1, 0, to) == PWL_QGEMM_ERR_SHAPE, "combine: of none");
    tap(COMBINE(PWL_QGEMM_F16, from, index, SIZE_MAX / 32, 16, to) == PWL_QGEMM_ERR_SHAPE, "combine: of too many");
    tap(COMBINE(PWL_QGEMM_F16, from, index, 1, 2, to + 1) == PWL_QGEMM_ERR_ALIGN, "combine: to an odd address");
    tap(COMBINE(PWL_QGEMM_F16, from, index, 1, 2, from + 14) == PWL_QGEMM_ERR_OVERLAP, "combine: into the last row");
#undef COMBINE
}

/* Packing on devices refuses what packing on the host does. */
static void test_packing(void)
{
    static uint8_t to[4608] __attribute__((aligned(16)));
    static float w[32];
    const int8_t q[32] = {0}, n_w = 0;
    const pwl_qgemm_format q4 = PWL_QGEMM_Q4_0;
    pwl_qgemm_weights made = {NULL, 1, 2, 3, PWL_QGEMM_Q8_0, 4};
#define BLOCKS(format, data, k, memory, bytes, weights)                                                                \
    pwl_cuda_qgemm_pack(pwl_qgemm_of_blocks(format, data, 1, k), memory, bytes, weights, NULL, NULL)
#define FLOATS(format, rule, data)                                                                                     \
    pwl_cuda_qgemm_pack(pwl_qgemm_of_floats(format, rule, data, 1, 32), to, sizeof to, &made, NULL, NULL)
    tap(BLOCKS((pwl_qgemm_format)64, w, 32, to, sizeof to, &made) == PWL_QGEMM_ERR_FORMAT, "pack: no format");
    tap(BLOCKS(PWL_QGEMM_ROWS4, w, 32, to, sizeof to, &made) == PWL_QGEMM_ERR_FORMAT,
        "pack: nibbles in rows of blocks");
    tap(BLOCKS(PWL_QGEMM_ROWS8, w, 32, to, sizeof to, &made) == PWL_QGEMM_ERR_FORMAT, "pack: int8 rows of blocks");
    tap(BLOCKS(q4, w, 40, to, sizeof to, &made) == PWL_QGEMM_ERR_SHAPE, "pack: K of 40");
    tap(BLOCKS(q4, NULL, 32, to, sizeof to, &made) == PWL_QGEMM_ERR_NULL, "pack: no blocks");
    tap(BLOCKS(q4, w, 32, NULL, sizeof to, &made) == PWL_QGEMM_ERR_NULL, "pack: no memory");
    tap(BLOCKS(q4, w, 32, to, sizeof to, NULL) == PWL_QGEMM_ERR_NULL, "pack: no weights");
    tap(BLOCKS(q4, (char *)w + 1, 32, to, sizeof to, &made) == PWL_QGEMM_ERR_ALIGN, "pack: blocks at an odd address");
    tap(BLOCKS(q4, w, 32, to + 8, sizeof to, &made) == PWL_QGEMM_ERR_ALIGN, "pack: memory aligned to 8");
    tap(BLOCKS(q4, w, 32, to, 4607, &made) == PWL_QGEMM_ERR_SPACE, "pack: a byte too few");
    tap(FLOATS(q4, (pwl_rule)3, w) == PWL_QGEMM_ERR_RULE, "pack: no rule");
    tap(FLOATS(q4, PWL_RULE_GGML, (const float *)(const void *)((const char *)w + 2)) == PWL_QGEMM_ERR_ALIGN,
        "pack: floats at half a float");
    tap(pwl_cuda_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, q, NULL, 1, 32), to, sizeof to, &made, NULL, NULL) ==
            PWL_QGEMM_ERR_NULL,
        "pack: no shifts");
    tap(pwl_cuda_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, q, &n_w, 1, 32), to, sizeof to, &made, NULL, NULL) ==
            PWL_QGEMM_ERR_SPACE,
        "pack: no room for int8 rows");
    tap(pwl_cuda_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS4, (const uint8_t *)q, NULL, 1, 32), to, sizeof to, &made,
                            NULL, NULL) == PWL_QGEMM_ERR_NULL,
        "pack: no shifts of nibbles");
    tap(pwl_cuda_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS4, (const uint8_t *)q, &n_w, 1, 32), to, 4096 + 639, &made,
                            NULL, NULL) == PWL_QGEMM_ERR_SPACE,
        "pack: no room for rows of nibbles");
    const pwl_qgemm_tensor tensor = {0, {32, 8, 1, 1}, w, sizeof w}, nine = {0, {32, 9, 1, 1}, w, 9 * sizeof w};
    tap(pwl_cuda_qgemm_pack(pwl_qgemm_of_pair(pwl_qgemm_of_tensor(q4, PWL_RULE_DEFAULT, &tensor),
                                              pwl_qgemm_of_tensor(q4, PWL_RULE_DEFAULT, NULL)),
                            to, sizeof to, &made, NULL, NULL) == PWL_QGEMM_ERR_DATA,
        "pack: a pair cut off");
    tap(pwl_cuda_qgemm_pack(pwl_qgemm_of_pair(pwl_qgemm_of_tensor(q4, PWL_RULE_DEFAULT, &nine),
                                              pwl_qgemm_of_tensor(q4, PWL_RULE_DEFAULT, &nine)),
                            to, sizeof to, &made, NULL, NULL) == PWL_QGEMM_ERR_PAIR,
        "pack: a pair of nine rows each");
    tap(pwl_cuda_qgemm_pack(pwl_qgemm_of_pair(pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, q, &n_w, 8, 32),
                                              pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, q, NULL, 8, 32)),
                            to, sizeof to, &made, NULL, NULL) == PWL_QGEMM_ERR_NULL,
        "pack: a pair without up's shifts");
    tap(!made.memory && made.bytes == 3 && to[0] == 0, "pack: nothing was written");
}

int main(void)
{
    test_packing();
    test_activations();
    test_workspaces();
    test_halves();
    test_row();
    test_fp8();
    test_sparse();
    test_names();
    test_errors();
    test_deep();
    test_groups();
    test_rows();
    return tap_end();
}
