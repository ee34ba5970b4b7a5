/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products on a device: within the reference's bound, INT8 bit for bit, twice with the same bits, for every scheme,
 * type of X and Y, and shape; in arrays that are aligned to their elements alone, with rows of any length, poisoned.
 *
 * test_qgemm_cuda        everything, on one device; exits 77 where there is none
 * test_qgemm_cuda small  some of it, for compute-sanitizer
 */
#include "../tap.h"
#include "expected.h"

enum { MOST_M = 512 };

static int small;

/* Every kernel: all rows of a small product, else the last, one between, and unless weights are many, the first two. */
static int agrees(const struct problem *p, uint64_t *state)
{
    const size_t n = p->product.weights->n, k = p->product.weights->k, m_all = p->product.m;
    size_t rows[MOST_M] = {m_all - 1, random_bits(state) % m_all, 0, m_all > 1}, count = n * k > 4000000 ? 2 : 4;
    if ((double)m_all * (double)n * (double)k < 4e6) {
        for (count = 0; count < m_all; count++)
            rows[count] = count;
    }
    struct expected expected = expect_rows(p, rows, count);
    int good = 1;
    for (size_t i = 0; i < KERNELS; i++) {
        if (serves(kernels[i], &p->product))
            good &= agrees_with(p, kernels[i], &expected);
    }
    free_expected(&expected);
    return good;
}

static int draw_and_compare(const struct scheme *scheme, const struct weights *w, size_t m, uint64_t *state)
{
    const size_t offset = random_bits(state) % 4, gap = random_bits(state) % 4;
    const pwl_qgemm_type x = draw_type_x(scheme, state), y = draw_type_y(scheme, state);
    const int odd = random_bits(state) % 5 == 0;
    struct problem p = new_problem(scheme, w, m, x, y, draw_sums(scheme, state), offset, gap, odd, state);
    const int good = agrees(&p, state);
    free_problem(&p);
    return good;
}

/* Every M with every N and K, but every third with large ones; types and alignment at random. */
static void test_shapes(const struct scheme *scheme)
{
    static const size_t ms[] = {1, 2, 7, 8, 9, 15, 16, 17, 40, 63, 64, 65, 127, 128, 129, MOST_M};
    static const size_t ns[] = {1, 63, 127, 128, 129, 4096, 4099}, ks[] = {32, 96, 4064, 4096};
    uint64_t state = 41;
    int good = 1;
    for (size_t n = small ? 4 : 0; n < (small ? 5 : 7); n++) {
        for (size_t k = 0; k < (small ? 2 : 4); k++) {
            struct weights w = new_weights(scheme->format, ns[n], ks[k], n % 2 ? 15 : -2, &state);
            const size_t step = small ? 7 : ns[n] * ks[k] > 4000000 ? 3 : 1, end = small ? 14 : 16;
            for (size_t m = small ? 0 : (n + k) % step; m < end && good; m += step)
                good &= draw_and_compare(scheme, &w, ms[m], &state);
            release(&w);
        }
    }
    tap(good, "%s: every shape", scheme->name);
}

static void test_random(const struct scheme *scheme)
{
    uint64_t state = 42;
    int good = 1;
    for (int i = 0; i < (small ? 1 : 170) && good; i++) {
        const size_t n = (size_t)random_in(&state, 1, i % 10 ? 300 : 2000), k = 32 * (size_t)random_in(&state, 1, 24);
        struct weights w = new_weights(scheme->format, n, k, (int)random_in(&state, -8, 15), &state);
        good &= draw_and_compare(scheme, &w, (size_t)random_in(&state, 1, small || i % 10 ? 80 : MOST_M), &state);
        release(&w);
    }
    tap(good, "%s: random shapes", scheme->name);
}

/* Every kernel that multiplies A8 in halves, or every other one. */
static int kernels_return(const struct problem *p, int halves)
{
    int good = 1;
    for (size_t i = 0; i < KERNELS; i++) {
        if (!serves(kernels[i], &p->product) || is_halved(kernels[i], &p->product) != halves)
            continue;
        compute(p, kernels[i], p->y);
        good &= memcmp(p->y + p->y_offset, p->expected, p->y_bytes) == 0;
    }
    return good;
}

/* Activations of one 1, each of which returns a column of the weights: the reference's bits; in halves, those of A16.
 */
static void test_one_hot(const struct scheme *scheme)
{
    const size_t N = small ? 16 : 144, K = small ? 32 : 160;
    const int first = scheme->a8 ? PWL_QGEMM_BLOCKS_Q8_1 : PWL_QGEMM_F32;
    uint64_t state = 43;
    int good = 1;
    for (int type = first; type <= (scheme->a8 ? PWL_QGEMM_BLOCKS_Q8_1 : PWL_QGEMM_BF16); type++) {
        struct weights w = new_weights(scheme->format, N, K, 15, &state);
        struct problem p =
            new_problem(scheme, &w, K, (pwl_qgemm_type)type, PWL_QGEMM_F32, PWL_QGEMM_SUMS_EXACT, 0, 0, 0, &state);
        uint16_t *const halves = need(2 * K * K);
        pwl_qgemm_product in_halves = p.product;
        memset(p.x, 0, p.x_bytes);
        memset(halves, 0, 2 * K * K);
        for (size_t m = 0; m < K; m++) {
            pwl_block_q8_1 *const blocks = (pwl_block_q8_1 *)(void *)p.x + m * (K / PWL_BLOCK);
            halves[m * K + m] = 0x3c00;
            if (!scheme->a8) {
                put_x((pwl_qgemm_type)type, p.x, m * K + m, 1);
                continue;
            }
            for (size_t b = 0; b < K / PWL_BLOCK; b++)
                blocks[b].d = 0x3c00;
            blocks[m / PWL_BLOCK].qs[m % PWL_BLOCK] = 1;
        }
        CUDA(cudaMemcpy(p.device_x, p.x, p.x_bytes, cudaMemcpyHostToDevice));
        PWL(pwl_qgemm_reference(&p.product));
        good &= kernels_return(&p, 0);
        if (scheme->a8) {
            in_halves.scheme = scheme->format == PWL_QGEMM_Q4_0 ? PWL_QGEMM_W4A16 : PWL_QGEMM_W8A16;
            in_halves.x = (pwl_qgemm_input){halves, K, PWL_QGEMM_F16, 0, NULL, NULL};
            PWL(pwl_qgemm_reference(&in_halves));
            good &= kernels_return(&p, 1);
        }
        free(halves);
        free_problem(&p);
        release(&w);
    }
    tap(good, "%s: a 1 in X gives each weight back", scheme->name);
}

/* Tiles keep the order of the naive kernel's sums, also those of bytes. */
static void test_tiles(const struct scheme *scheme)
{
    uint64_t state = 45;
    int good = 1;
    for (int i = 0; i < (small ? 1 : 12); i++) {
        struct weights w = new_weights(scheme->format, (size_t)random_in(&state, 1, 200), 160, i % 2 ? 15 : -2, &state);
        struct problem p = new_problem(scheme, &w, (size_t)random_in(&state, 1, 140), draw_type_x(scheme, &state),
                                       draw_type_y(scheme, &state), draw_sums(scheme, &state), 1, 1, i == 5, &state);
        compute(&p, PWL_QGEMM_NAIVE, p.y);
        for (size_t j = 0; j < KERNELS; j++) {
            if (!has_same_bits(kernels[j]) || !serves(kernels[j], &p.product))
                continue;
            compute(&p, kernels[j], p.again);
            good &= memcmp(p.y, p.again, p.y_bytes + 2 * p.y_offset) == 0;
        }
        free_problem(&p);
        release(&w);
    }
    tap(good, "%s: tiles have the bits of the naive kernel", scheme->name);
}

/* Tiles cut along K where streamk would not do so in the tests above: anywhere, alike, in four parts. */
static void test_cuts(const struct scheme *scheme)
{
    static const size_t cases[][3] = {
        {70, 257, 832}, {1200, 4099, 160}, {17, 90001, 96}, {512, 2000, 1472}, {300, 4099, 2080}};
    uint64_t state = 46;
    int good = 1;
    for (size_t i = 0; i < (small ? 1 : sizeof cases / sizeof cases[0]) && good; i++) {
        struct weights w = new_weights(scheme->format, cases[i][1], cases[i][2], i % 2 ? 15 : -2, &state);
        good = draw_and_compare(scheme, &w, cases[i][0], &state);
        release(&w);
    }
    tap(good, "%s: tiles cut along K", scheme->name);
}

/* Values whose blocks' d are fp16 numbers of every exponent, zero and none. */
static void draw_row(struct problem *p, uint64_t *state)
{
    for (size_t c = 0; c < p->product.weights->k; c++) {
        const double v = (double)random_in(state, -4096, 4095) / 1024;
        put_x(p->product.x.type, p->x, c, (float)ldexp(v, 16 - (int)(c / PWL_BLOCK % 48)));
    }
}

/* One row of floats, made bytes by splitk itself where it is aligned to 16 bytes: the bits that it has elsewhere. */
static void test_row(const struct scheme *scheme)
{
    static const size_t ks[] = {32, 96, 4064, 4096, 5024};
    uint64_t state = 49;
    int good = 1;
    for (size_t i = 0; i < (small ? 2 : sizeof ks / sizeof ks[0]); i++) {
        struct weights w = new_weights(scheme->format, 129, ks[i], i % 2 ? 15 : -2, &state);
        for (int type = PWL_QGEMM_F32; type <= PWL_QGEMM_BF16; type++) {
            struct problem p =
                new_problem(scheme, &w, 1, (pwl_qgemm_type)type, PWL_QGEMM_F32, PWL_QGEMM_SUMS_EXACT, 0, 0, 0, &state);
            char *moved;
            draw_row(&p, &state);
            CUDA(cudaMemcpy(p.device_x, p.x, p.x_bytes, cudaMemcpyHostToDevice));
            compute(&p, PWL_QGEMM_SPLITK, p.y);
            CUDA(cudaMalloc((void **)&moved, p.x_bytes + 8));
            CUDA(cudaMemcpy(moved + element_bytes[type], p.x, p.x_bytes, cudaMemcpyHostToDevice));
            p.on_device.x.data = moved + element_bytes[type];
            compute(&p, PWL_QGEMM_SPLITK, p.again);
            good &= memcmp(p.y, p.again, p.y_bytes + 2 * p.y_offset) == 0;
            CUDA(cudaFree(moved));
            free_problem(&p);
        }
        release(&w);
    }
    tap(good, "%s: one row has the same bits wherever it lies", scheme->name);
}

/* Whether a product of few tiles gets a kernel. */
static int chooses(size_t m, size_t k, pwl_qgemm_kernel kernel)
{
    uint64_t state = 47;
    struct weights w = new_weights(PWL_QGEMM_Q4_0, 129, k, -2, &state);
    struct problem p =
        new_problem(&schemes[0], &w, m, PWL_QGEMM_F16, PWL_QGEMM_F32, PWL_QGEMM_SUMS_EXACT, 0, 0, 0, &state);
    pwl_qgemm_kernel ran;
    size_t bytes;
    void *workspace;
    PWL(pwl_cuda_qgemm_workspace(&p.on_device, &bytes));
    CUDA(cudaMalloc(&workspace, bytes + 16));
    PWL(pwl_cuda_qgemm(&p.on_device, workspace, bytes, &ran, NULL));
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaFree(workspace));
    free_problem(&p);
    release(&w);
    return ran == kernel;
}

/*
 * Y of a launch is X of the next, in the same workspace, without a wait in between, though launches may overlap: the
 * bits that they have one by one. Weights of 0, but for one in each row, pass numbers on.
 */
static void test_chain(const struct scheme *scheme, size_t m, pwl_qgemm_kernel kernel)
{
    enum { N = 4096, LINKS = 200 };
    pwl_qgemm_weights host, device;
    float *const w = need(sizeof *w * N * N);
    uint16_t *const y[2] = {need(2 * m * N), need(2 * m * N)};
    uint64_t state = 48;
    size_t bytes;
    void *memory, *workspace, *x[2];
    int good = 1;
    memset(w, 0, sizeof *w * N * N);
    for (size_t n = 0; n < N; n++)
        w[n * N + (n * 1021 + 7) % N] = n % 2 ? 1.0f : -1.0f;
    PWL(pwl_qgemm_weights_bytes(scheme->format, N, N, &bytes));
    memory = need(bytes);
    PWL(pwl_qgemm_pack(pwl_qgemm_of_floats(scheme->format, PWL_RULE_DEFAULT, w, N, N), memory, bytes, &host, NULL));
    device = host;
    device.memory = on_device(memory, host.bytes);
    for (size_t i = 0; i < m * N; i++)
        y[0][i] = pwl_f16_from_f32((float)random_in(&state, -4096, 4095) / 1024);
    x[0] = on_device(y[0], 2 * m * N);
    x[1] = on_device(y[0], 2 * m * N);
    pwl_qgemm_product product = {(pwl_qgemm_scheme)(scheme - schemes),
                                 PWL_QGEMM_SUMS_EXACT,
                                 m,
                                 &device,
                                 {x[0], N, PWL_QGEMM_F16, 0, NULL, NULL},
                                 NULL,
                                 {x[1], N, PWL_QGEMM_F16, 0, 0, NULL, 0},
                                 NULL};
    setenv("PWL_QGEMM_KERNEL", pwl_qgemm_kernel_name(kernel), 1);
    PWL(pwl_cuda_qgemm_workspace(&product, &bytes));
    CUDA(cudaMalloc(&workspace, bytes + 16));
    for (int waits = 0; waits < 2; waits++) {
        CUDA(cudaMemcpy(x[0], y[0], 2 * m * N, cudaMemcpyHostToDevice));
        for (int i = 0; i < LINKS; i++) {
            product.x.data = x[i % 2];
            product.y.data = x[1 - i % 2];
            PWL(pwl_cuda_qgemm(&product, workspace, bytes, NULL, NULL));
            if (waits)
                CUDA(cudaDeviceSynchronize());
        }
        CUDA(cudaMemcpy(y[waits ? 0 : 1], x[0], 2 * m * N, cudaMemcpyDeviceToHost));
    }
    good = memcmp(y[0], y[1], 2 * m * N) == 0;
    tap(good, "%s: launches of %s in a row, M = %zu", scheme->name, pwl_qgemm_kernel_name(kernel), m);
    unsetenv("PWL_QGEMM_KERNEL");
    CUDA(cudaFree(workspace));
    CUDA(cudaFree(x[0]));
    CUDA(cudaFree(x[1]));
    CUDA(cudaFree((void *)(uintptr_t)device.memory));
    free(memory);
    free(w);
    free(y[0]);
    free(y[1]);
}

/* What a graph replays, each time, is what the call does. */
static void test_graph(const struct scheme *scheme, size_t m, size_t k, pwl_qgemm_kernel kernel)
{
    uint64_t state = 44;
    struct weights w = new_weights(scheme->format, 265, k, -2, &state);
    struct problem p = new_problem(scheme, &w, m, PWL_QGEMM_F32, PWL_QGEMM_F32, PWL_QGEMM_SUMS_EXACT, 0, 0, 0, &state);
    size_t bytes;
    void *workspace;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    int good = 1;
    compute(&p, kernel, p.y);
    setenv("PWL_QGEMM_KERNEL", pwl_qgemm_kernel_name(kernel), 1);
    PWL(pwl_cuda_qgemm_workspace(&p.on_device, &bytes));
    CUDA(cudaMalloc(&workspace, bytes));
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    PWL(pwl_cuda_qgemm(&p.on_device, workspace, bytes, NULL, stream));
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&replay, graph, 0));
    unsetenv("PWL_QGEMM_KERNEL");
    for (int i = 0; i < 2; i++) {
        CUDA(cudaMemset(p.device_y, POISON, p.y_bytes + 2 * p.y_offset));
        CUDA(cudaDeviceSynchronize());
        CUDA(cudaGraphLaunch(replay, stream));
        CUDA(cudaStreamSynchronize(stream));
        CUDA(cudaMemcpy(p.again, p.device_y, p.y_bytes + 2 * p.y_offset, cudaMemcpyDeviceToHost));
        good &= memcmp(p.y, p.again, p.y_bytes + 2 * p.y_offset) == 0;
    }
    tap(good, "%s captured into a graph", pwl_qgemm_kernel_name(kernel));
    CUDA(cudaGraphExecDestroy(replay));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFree(workspace));
    free_problem(&p);
    release(&w);
}

int main(int argc, char **argv)
{
    small = test_is_small(argc, argv);
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        test_shapes(&schemes[i]);
        test_random(&schemes[i]);
        if (schemes[i].scheme != PWL_QGEMM_INT8)
            test_one_hot(&schemes[i]);
        test_tiles(&schemes[i]);
        if (schemes[i].a8)
            test_row(&schemes[i]);
        if (schemes[i].scheme != PWL_QGEMM_INT8)
            test_cuts(&schemes[i]);
    }
    if (runs_here(PWL_QGEMM_WGMMA))
        tap(chooses(65, 960, PWL_QGEMM_WGMMA) && chooses(65, 992, PWL_QGEMM_WGMMA), "more than 64 rows of X: wgmma");
    else
        tap(chooses(65, 960, PWL_QGEMM_MMA) && chooses(65, 992, PWL_QGEMM_STREAMK),
            "few tiles are cut from 16 pieces on");
    tap(chooses(1, 992, PWL_QGEMM_SPLITK) && chooses(64, 992, PWL_QGEMM_SPLITK), "few rows of X: splitk");
    test_graph(&schemes[3], 9, 96, PWL_QGEMM_MMA_BYTES);
    test_graph(&schemes[0], 40, 544, PWL_QGEMM_STREAMK);
    if (runs_here(PWL_QGEMM_WGMMA))
        test_graph(&schemes[0], 70, 544, PWL_QGEMM_WGMMA);
    test_graph(&schemes[3], 9, 544, PWL_QGEMM_SPLITK);
    test_graph(&schemes[4], 1, 4672, PWL_QGEMM_SPLITK);
    if (!small) {
        test_chain(&schemes[0], 1, PWL_QGEMM_SPLITK);
        test_chain(&schemes[0], 33, PWL_QGEMM_SPLITK);
        test_chain(&schemes[3], 1, PWL_QGEMM_SPLITK);
        test_chain(&schemes[3], 2, PWL_QGEMM_SPLITK);
        test_chain(&schemes[3], 17, PWL_QGEMM_SPLITK);
        test_chain(&schemes[4], 70, PWL_QGEMM_MMA_BYTES);
        test_chain(&schemes[3], 70, PWL_QGEMM_MMA);
        for (size_t i = 0; i < 4 && runs_here(PWL_QGEMM_WGMMA); i++) {
            test_chain(&schemes[i], 70, PWL_QGEMM_WGMMA);
            test_chain(&schemes[i], 300, PWL_QGEMM_WGMMA);
        }
    }
    return tap_end();
}
