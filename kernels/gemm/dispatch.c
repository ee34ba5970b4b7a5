/* SPDX-License-Identifier: Apache-2.0 */
/* The host's side of products on devices: every check comes before the first launch. */
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include <pwl/cuda_qgemm.h>

#include "check.h"
#include "input.h"
#include "launch.h"
#include "schedule.h"
#include "super.h"
#include "words.h"

/* -- How K is cut ----------------------------------------------------------------------------------------------------
 */

/*
 * What a product needs: the kernel, and what is made in the workspace: f, blocks, bytes or E4M3 at its beginning, then
 * halves or scales of E4M3, then the sums of parts of K, and marks of these, then Y that is made E4M3 by dynamic
 * scales. `call` is complete but for pointers there, and X where it is taken as it is.
 */
struct plan {
    const pwl_qgemm_product *product; /* as it was given, or `floats` */
    pwl_qgemm_product floats;         /* of Y in F32; its place in the workspace is yet null, and as aligned as that */
    pwl_qgemm_call call;
    const struct kernel *kernel;
    int exponents, blocks, rows, halves, strips, packs, e4m3, sums, marks, dynamic;
    size_t halves_at, scales_at, sums_at, marks_at, floats_at, bytes;
};

static int count_multiprocessors(size_t *count)
{
    int device, multiprocessors = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    *count = (size_t)multiprocessors;
    return error;
}

/* Whether a way to cut K is worth while for a product, which only shares ask the device, where K is deep; and what it
 * takes of the workspace. Both return a cudaError_t. */
static int suits_whole(const pwl_qgemm_product *product, int *suits)
{
    (void)product;
    *suits = 1;
    return cudaSuccess;
}

static int plan_whole(struct plan *plan)
{
    (void)plan;
    return cudaSuccess;
}

static int suits_tiles(const pwl_qgemm_product *product, int *suits)
{
    return suits_whole(product, suits);
}

static int plan_tiles(struct plan *plan)
{
    size_t multiprocessors;
    const int error = count_multiprocessors(&multiprocessors);
    if (error != cudaSuccess)
        return error;
    plan->call.tile = pwl_qgemm_tile_of(plan->product, &plan->call.weights, multiprocessors);
    if (!plan->strips)
        return cudaSuccess;
    plan->call.strips = pwl_qgemm_strips_of(
        plan->product->m, pwl_qgemm_depth(plan->call.weights.k), plan->call.tile.tokens,
        pwl_qgemm_tile_first_rows(plan->call.weights.n, &plan->call.tile), multiprocessors * PWL_QGEMM_STRIP_WARPS);
    plan->marks = plan->call.strips.count > 0;
    plan->marks_at = pwl_qgemm_round_up(plan->bytes, sizeof(uint32_t));
    if (plan->marks)
        plan->bytes = plan->marks_at + (1 + plan->call.strips.count) * sizeof(uint32_t);
    return cudaSuccess;
}

/* Of a group, whose tiles are not cut. */
static int plan_group(struct plan *plan)
{
    size_t multiprocessors;
    const int error = count_multiprocessors(&multiprocessors);
    if (error == cudaSuccess)
        plan->call.tile =
            pwl_qgemm_group_tile_of(plan->product, &plan->call.weights, plan->call.experts.count, multiprocessors);
    return error;
}

static int suits_parts(const pwl_qgemm_product *product, int *suits)
{
    return suits_whole(product, suits);
}

static int plan_parts(struct plan *plan)
{
    const size_t sums = pwl_cuda_qgemm_splitk_bytes(plan->call.product.m, plan->call.weights.n);
    plan->sums = sums > 0;
    plan->sums_at = pwl_qgemm_round_up(plan->bytes, 16);
    if (plan->sums)
        plan->bytes = plan->sums_at + sums;
    return cudaSuccess;
}

static int suits_shares(const pwl_qgemm_product *product, int *suits)
{
    const size_t depth = pwl_qgemm_depth(product->weights->k);
    size_t multiprocessors;
    int error;
    *suits = 0;
    if (depth < PWL_QGEMM_DEEP)
        return cudaSuccess;
    error = count_multiprocessors(&multiprocessors);
    if (error == cudaSuccess)
        *suits =
            pwl_qgemm_suits_shares(pwl_qgemm_streamk_tiles(product->m, product->weights->n), depth, multiprocessors);
    return error;
}

/* Shares of all tiles, and room for their sums and marks behind what the workspace holds. */
static int plan_shares(struct plan *plan)
{
    const size_t m = plan->call.product.m, depth = pwl_qgemm_depth(plan->call.weights.k);
    const size_t tiles = pwl_qgemm_streamk_tiles(m, plan->call.weights.n);
    size_t multiprocessors, shares;
    int residents, error = count_multiprocessors(&multiprocessors);
    if (error == cudaSuccess)
        error = pwl_cuda_qgemm_streamk_residents(&plan->call, &residents);
    if (error != cudaSuccess)
        return error;
    shares = pwl_qgemm_shares(tiles, depth, multiprocessors * (size_t)residents);
    if (tiles > SIZE_MAX / depth / shares)
        return cudaErrorInvalidConfiguration;
    plan->call.schedule = (pwl_qgemm_schedule){depth, tiles * depth, shares};
    plan->sums = plan->marks = 1;
    plan->sums_at = pwl_qgemm_round_up(plan->bytes, 16);
    plan->marks_at = plan->sums_at + shares * pwl_qgemm_streamk_rows(m) * PWL_QGEMM_ROWS * sizeof(float);
    plan->bytes = plan->marks_at + (1 + shares) * sizeof(uint32_t);
    return cudaSuccess;
}

/* -- The devices it runs on, where the current one can be asked -----------------------------------------------------
 */

static int runs_on_any(void)
{
    return 1;
}

static int runs_on_hopper(void)
{
    return pwl_cuda_qgemm_wgmma_runs();
}

/* -- The kernels -----------------------------------------------------------------------------------------------------
 */

static const struct kernel {
    pwl_qgemm_kernel id;
    const char *name;
    int (*launch)(const pwl_qgemm_call *call, struct CUstream_st *stream);
    int (*serves)(const pwl_qgemm_product *product);
    size_t rows; /* of X, the fewest for which it is worth while */
    enum operand (*x)(const pwl_qgemm_product *product);
    int (*suits)(const pwl_qgemm_product *product, int *suits);
    int (*plan)(struct plan *plan);
    int (*runs)(void);
} kernels[] = {
#define KERNEL(NAME, value, name, serves, rows, x, cut, bits, on)                                                      \
    {PWL_QGEMM_##NAME, #name,       pwl_cuda_launch_qgemm_##name, serves_##serves, rows, x_##x, suits_##cut,           \
     plan_##cut,       runs_on_##on},
    PWL_QGEMM_KERNELS(KERNEL)
#undef KERNEL
};

#define KERNELS (sizeof kernels / sizeof kernels[0])

/* Those of groups, which have no names. */
static const struct kernel group_kernels[] = {
    {.launch = pwl_cuda_launch_qgemm_group_halves, .serves = serves_a16, .x = x_halves, .plan = plan_group},
    {.launch = pwl_cuda_launch_qgemm_group_bytes, .serves = serves_integers, .x = x_rows, .plan = plan_group},
    {.launch = pwl_cuda_launch_qgemm_group_fp8, .serves = serves_fp8, .x = x_rows, .plan = plan_group},
};

/* The kernel that is named, or null. */
static const struct kernel *find(const char *name)
{
    for (size_t i = 0; i < KERNELS; i++) {
        if (strcmp(name, kernels[i].name) == 0)
            return &kernels[i];
    }
    return NULL;
}

/* The kernel that the environment names, or else the first that serves and suits. */
static pwl_qgemm_status choose(const pwl_qgemm_product *product, const struct kernel **kernel)
{
    const char *const name = getenv("PWL_QGEMM_KERNEL");
    if (name) {
        *kernel = find(name);
        return *kernel && (*kernel)->serves(product) && (*kernel)->runs() ? PWL_QGEMM_OK : PWL_QGEMM_ERR_KERNEL;
    }
    for (size_t i = 0; i < KERNELS; i++) {
        int suits, error;
        if (product->m < kernels[i].rows || !kernels[i].serves(product) || !kernels[i].runs())
            continue;
        error = kernels[i].suits(product, &suits);
        if (error != cudaSuccess)
            return pwl_qgemm_status_of(error);
        if (suits) {
            *kernel = &kernels[i];
            return PWL_QGEMM_OK;
        }
    }
    return PWL_QGEMM_ERR_KERNEL; /* not reached: the last of the list serves all */
}

static pwl_qgemm_status choose_for_group(const pwl_qgemm_product *product, const struct kernel **kernel)
{
    for (size_t i = 0; i < sizeof group_kernels / sizeof group_kernels[0]; i++) {
        *kernel = &group_kernels[i];
        if ((*kernel)->serves(product))
            return runs_on_hopper() ? PWL_QGEMM_OK : PWL_QGEMM_ERR_KERNEL;
    }
    return PWL_QGEMM_ERR_SCHEME;
}

static pwl_qgemm_status check_either(const pwl_qgemm_product *product, const pwl_qgemm_group *group,
                                     const pwl_qgemm_codes *codes)
{
    return group ? pwl_qgemm_check_group_with(product, group, codes) : pwl_qgemm_check_with(product, codes);
}

/* The call's table, of a product that is not checked yet, and its codes, which are null where there is none. */
static pwl_qgemm_status take_table(const pwl_qgemm_product *product, pwl_qgemm_call *call, pwl_qgemm_codes *room,
                                   const pwl_qgemm_codes **codes)
{
    const pwl_cuda_table *uploaded;
    pwl_cuda_plan plan;
    *codes = NULL;
    if (!product)
        return PWL_QGEMM_ERR_NULL;
    if (!product->activation)
        return PWL_QGEMM_OK;
    uploaded = product->activation->uploaded;
    if (!uploaded)
        return PWL_QGEMM_ERR_NULL;
    if (!uploaded->memory)
        return PWL_QGEMM_ERR_TABLE;
    plan = pwl_cuda_plan_of(uploaded);
    *room = (pwl_qgemm_codes){plan.qmin_x, plan.qmax_x, plan.qmin_y, plan.qmax_y, plan.wide};
    *codes = room;
    call->table = (pwl_planned){plan, uploaded->memory};
    return PWL_QGEMM_OK;
}

/* What the call becomes of a product that was checked but for its device. */
static pwl_qgemm_status take_product(const pwl_qgemm_product *product, const pwl_qgemm_codes *codes,
                                     pwl_qgemm_call *call)
{
    int device;
    cudaError_t error;
    call->product = *product;
    call->weights = *product->weights;
    call->product.weights = NULL; /* what it points to on the host is in the call */
    call->product.activation = NULL;
    if (!codes)
        return PWL_QGEMM_OK;
    error = cudaGetDevice(&device);
    if (error != cudaSuccess)
        return pwl_qgemm_status_of(error);
    call->epilogue = pwl_qgemm_epilogue_of(product, codes);
    return device == product->activation->uploaded->device ? PWL_QGEMM_OK : PWL_QGEMM_ERR_DEVICE;
}

/* The call of a product, or of a group. */
static pwl_qgemm_status check(const pwl_qgemm_product *product, const pwl_qgemm_group *group, pwl_qgemm_call *call)
{
    pwl_qgemm_codes room;
    const pwl_qgemm_codes *codes;
    pwl_qgemm_status status = take_table(product, call, &room, &codes);
    if (status == PWL_QGEMM_OK)
        status = check_either(product, group, codes);
    return status == PWL_QGEMM_OK ? take_product(product, codes, call) : status;
}

/* What becomes of X in the workspace, M * K being in size_t's range 64 times. */
static void plan_input(struct plan *plan)
{
    const pwl_qgemm_product *const product = plan->product;
    const size_t elements = product->m * product->weights->k;
    const enum operand x = plan->kernel->x(product);
    const int a8 = pwl_qgemm_is_a8(product);
    plan->packs = x == BYTES;
    plan->e4m3 = pwl_qgemm_is_fp8(product) && product->x.type != PWL_QGEMM_E4M3;
    plan->rows = x == ROWS && !plan->e4m3;
    plan->strips = x == STRIPS;
    plan->halves = plan->strips || (x == HALVES && (a8 || !is_aligned_halves(&product->x)));
    plan->exponents = a8 ? x == HALVES : pwl_qgemm_is_a16(product) && product->x.type == PWL_QGEMM_F32;
    plan->blocks = a8 && x == PLAIN && product->x.type != PWL_QGEMM_BLOCKS_Q8_1;
    if (plan->packs)
        plan->bytes = pwl_qgemm_input_bytes(product->m, product->weights->k);
    if (plan->blocks)
        plan->bytes = elements / PWL_BLOCK * sizeof(pwl_block_q8_1);
    if (plan->rows || plan->e4m3)
        plan->bytes = elements;
    if (plan->e4m3) { /* K is a multiple of 32 */
        plan->scales_at = plan->bytes;
        plan->bytes += product->m * sizeof(float);
    }
    if (plan->exponents)
        plan->bytes = product->m * sizeof(int32_t);
    if (plan->halves) {
        plan->halves_at = pwl_qgemm_round_up(plan->bytes, 16);
        plan->bytes = plan->halves_at + elements * sizeof(uint16_t);
    }
}

static int is_dynamic(const pwl_qgemm_product *product)
{
    return product->y.type == PWL_QGEMM_E4M3 && product->y.dynamic;
}

/* The product whose Y becomes E4M3 by dynamic scales: in F32, its rows aligned to four elements. */
static pwl_qgemm_product floats_of(const pwl_qgemm_product *product)
{
    const pwl_qgemm_activation *const as = product->activation;
    pwl_qgemm_product floats = *product;
    floats.y = (pwl_qgemm_output){.stride = pwl_qgemm_columns(product->weights->n, as && as->gated)};
    floats.y.stride = pwl_qgemm_round_up(floats.y.stride, 4);
    floats.y.type = PWL_QGEMM_F32;
    return floats;
}

/* Whether devices have it, of a product that was checked. */
static pwl_qgemm_status check_for_device(const pwl_qgemm_product *product, const pwl_qgemm_group *group)
{
    if (product->scheme == PWL_QGEMM_MXFP4_A8 || pwl_qgemm_is_super(product->weights->format))
        return PWL_QGEMM_ERR_SCHEME;
    if (!is_dynamic(product))
        return PWL_QGEMM_OK;
    if (group) /* rows that are no expert's would become codes */
        return PWL_QGEMM_ERR_TYPE;
    return product->m > SIZE_MAX / 64 / product->weights->n ? PWL_QGEMM_ERR_SHAPE : PWL_QGEMM_OK;
}

static pwl_qgemm_status make_plan(const pwl_qgemm_product *product, const pwl_qgemm_group *group, struct plan *plan)
{
    pwl_qgemm_status status;
    memset(plan, 0, sizeof *plan);
    status = check(product, group, &plan->call);
    if (status == PWL_QGEMM_OK)
        status = check_for_device(product, group);
    if (status == PWL_QGEMM_OK && is_dynamic(product)) {
        plan->dynamic = 1;
        plan->floats = floats_of(product);
        product = &plan->floats;
    }
    if (status == PWL_QGEMM_OK)
        status = group ? choose_for_group(product, &plan->kernel) : choose(product, &plan->kernel);
    if (status != PWL_QGEMM_OK)
        return status;
    plan->product = product;
    plan->call.product.y = product->y; /* of the floats, too */
    if (group)
        plan->call.experts = (pwl_qgemm_experts){group->offsets, group->apart, (uint32_t)group->experts};
    plan->call.fast = pwl_qgemm_fast_of(product, &plan->call.epilogue, &plan->call.table);
    if (product->scheme == PWL_QGEMM_INT8)
        plan->call.narrow = pwl_qgemm_narrow_of(product, &plan->call.epilogue, &plan->call.table);
    if (product->m * product->weights->k > SIZE_MAX / 64) /* more than all that follows */
        return PWL_QGEMM_ERR_SHAPE;
    plan_input(plan);
    status = pwl_qgemm_status_of(plan->kernel->plan(plan));
    plan->floats_at = pwl_qgemm_round_up(plan->bytes, 16);
    if (plan->dynamic)
        plan->bytes = plan->floats_at + product->m * product->y.stride * sizeof(float);
    return status;
}

static pwl_qgemm_status find_workspace(const pwl_qgemm_product *product, const pwl_qgemm_group *group, size_t *bytes)
{
    struct plan plan;
    const pwl_qgemm_status status = make_plan(product, group, &plan);
    if (status != PWL_QGEMM_OK)
        return status;
    if (!bytes)
        return PWL_QGEMM_ERR_NULL;
    *bytes = plan.bytes;
    return PWL_QGEMM_OK;
}

/* Makes X in the workspace, and completes the call. */
static int prepare(const struct plan *plan, void *workspace, pwl_qgemm_call *call, struct CUstream_st *stream)
{
    const pwl_qgemm_product *const product = plan->product;
    int32_t *const f = plan->exponents ? workspace : NULL;
    uint16_t *const halves = plan->halves ? (uint16_t *)(void *)((char *)workspace + plan->halves_at) : NULL;
    int error = cudaSuccess;
    call->f = f;
    call->q = plan->blocks ? workspace : product->x.data;
    call->q_stride = plan->blocks ? call->weights.k / PWL_BLOCK : product->x.stride;
    call->h = plan->halves ? halves : product->x.data;
    call->h_stride = plan->halves ? call->weights.k : product->x.stride;
    call->bytes = plan->packs ? workspace : NULL;
    if (plan->rows) {
        const size_t k = call->weights.k;
        error = cudaMemcpy2DAsync(workspace, k, product->x.data, product->x.stride, k, product->m,
                                  cudaMemcpyDeviceToDevice, stream);
        call->product.x.data = workspace;
        call->product.x.stride = k;
    }
    if (plan->e4m3) {
        const pwl_qgemm_input from = product->x;
        float *const scales = (float *)(void *)((char *)workspace + plan->scales_at);
        const pwl_qgemm_output to = {workspace, call->weights.k, PWL_QGEMM_E4M3, 0, 0, scales, 1};
        error = pwl_cuda_launch_qgemm_e4m3(&from, product->m, call->weights.k, &to, stream);
        call->product.x = (pwl_qgemm_input){workspace, call->weights.k, PWL_QGEMM_E4M3, 0, NULL, scales};
    }
    if (plan->dynamic)
        call->product.y.data = (char *)workspace + plan->floats_at;
    if (plan->sums)
        call->sums = (char *)workspace + plan->sums_at;
    if (plan->marks)
        call->marks = (uint32_t *)(void *)((char *)workspace + plan->marks_at);
    if (plan->packs)
        error = pwl_cuda_launch_qgemm_bytes(call, workspace, stream);
    if (plan->blocks)
        error = pwl_cuda_launch_qgemm_blocks(call, workspace, stream);
    if (plan->strips) {
        error = pwl_cuda_launch_qgemm_halves_ahead(call, halves, stream);
    } else if (plan->halves && pwl_qgemm_is_a8(product)) {
        error = pwl_cuda_launch_qgemm_block_halves(call, halves, f, stream);
    } else {
        if (plan->exponents)
            error = pwl_cuda_launch_qgemm_exponents(call, f, stream);
        if (plan->halves && error == cudaSuccess)
            error = pwl_cuda_launch_qgemm_halves(call, halves, stream);
    }
    return error;
}

/* Y in E4M3 of Y in F32. */
static int quantise_y(const pwl_qgemm_product *product, const pwl_qgemm_output *floats, struct CUstream_st *stream)
{
    const pwl_qgemm_activation *const as = product->activation;
    const pwl_qgemm_input from = {floats->data, floats->stride, PWL_QGEMM_F32, 0, NULL, NULL};
    const size_t columns = pwl_qgemm_columns(product->weights->n, as && as->gated);
    return pwl_cuda_launch_qgemm_e4m3(&from, product->m, columns, &product->y, stream);
}

static pwl_qgemm_status multiply(const pwl_qgemm_product *product, const pwl_qgemm_group *group, void *workspace,
                                 size_t bytes, pwl_qgemm_kernel *ran, struct CUstream_st *stream)
{
    struct plan plan;
    pwl_qgemm_call call;
    int error;
    const pwl_qgemm_status status = make_plan(product, group, &plan);
    if (status != PWL_QGEMM_OK)
        return status;
    if (plan.bytes && !workspace)
        return PWL_QGEMM_ERR_NULL;
    if (plan.bytes && (uintptr_t)workspace % 16)
        return PWL_QGEMM_ERR_ALIGN;
    if (bytes < plan.bytes)
        return PWL_QGEMM_ERR_SPACE;
    call = plan.call;
    error = prepare(&plan, workspace, &call, stream);
    if (error == cudaSuccess)
        error = plan.kernel->launch(&call, stream);
    if (error == cudaSuccess && plan.dynamic)
        error = quantise_y(product, &call.product.y, stream);
    if (error == cudaSuccess && ran)
        *ran = plan.kernel->id;
    return pwl_qgemm_status_of(error);
}

pwl_qgemm_status pwl_cuda_qgemm_workspace(const pwl_qgemm_product *product, size_t *bytes)
{
    return find_workspace(product, NULL, bytes);
}

pwl_qgemm_status pwl_cuda_qgemm(const pwl_qgemm_product *product, void *workspace, size_t bytes, pwl_qgemm_kernel *ran,
                                struct CUstream_st *stream)
{
    return multiply(product, NULL, workspace, bytes, ran, stream);
}

pwl_qgemm_status pwl_cuda_qgemm_group_workspace(const pwl_qgemm_product *product, const pwl_qgemm_group *group,
                                                size_t *bytes)
{
    return group ? find_workspace(product, group, bytes) : PWL_QGEMM_ERR_NULL;
}

pwl_qgemm_status pwl_cuda_qgemm_group(const pwl_qgemm_product *product, const pwl_qgemm_group *group, void *workspace,
                                      size_t bytes, struct CUstream_st *stream)
{
    return group ? multiply(product, group, workspace, bytes, NULL, stream) : PWL_QGEMM_ERR_NULL;
}

pwl_qgemm_status pwl_cuda_qgemm_store_sums(const pwl_qgemm_product *product, const int32_t *sums, size_t stride,
                                           struct CUstream_st *stream)
{
    pwl_qgemm_call call;
    pwl_qgemm_product of;
    pwl_qgemm_codes room;
    const pwl_qgemm_codes *codes;
    pwl_qgemm_status status;
    memset(&call, 0, sizeof call);
    status = take_table(product, &call, &room, &codes);
    if (status != PWL_QGEMM_OK)
        return status;
    of = pwl_qgemm_without_x(product);
    status = pwl_qgemm_check_sums(&of, codes, sums, stride);
    if (status == PWL_QGEMM_OK)
        status = take_product(&of, codes, &call);
    return status == PWL_QGEMM_OK ? pwl_qgemm_status_of(pwl_cuda_launch_qgemm_store_sums(&call, sums, stride, stream))
                                  : status;
}

const char *pwl_qgemm_kernel_name(pwl_qgemm_kernel kernel)
{
    for (size_t i = 0; i < KERNELS; i++) {
        if (kernels[i].id == kernel)
            return kernels[i].name;
    }
    return NULL;
}
