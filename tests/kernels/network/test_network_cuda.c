/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks on the GPU against the CPU, bit for bit: the golden networks at drawn sizes, on a stream and from a graph, a
 * decoder whose caches change in place, products at the edges of their tiles, masked and causal softmax; and what is
 * refused.
 *
 * test_network_cuda        everything, on one device; exits 77 where there is none
 * test_network_cuda small  few runs of each, for compute-sanitizer
 */
#include <pwl/cuda_network.h>

#include "../../golden/networks/decoder.h"
#include "../../golden/networks/encoder.h"
#include "../../golden/networks/gru.h"
#include "../../golden/networks/gru_reverse.h"
#include "../../golden/networks/vision.h"
#include "../../support/row_shapes.h"
#include "../device.h"
#include "../tap.h"
#include "runs.h"

enum { GUARD = 64, POISON = 0xa5 };

static int small;

/* A run's arrays on the device, and what a call says of them; a guard lies behind each output and the memory. */
typedef struct device_run {
    void *inputs[RUN_ENDS], *outputs[RUN_ENDS];
    pwl_network_call call;
} device_run;

static void *on_device(const void *from, uint64_t bytes)
{
    void *memory;
    CUDA(cudaMalloc(&memory, bytes + GUARD));
    CUDA(cudaMemset(memory, POISON, bytes + GUARD));
    if (from)
        CUDA(cudaMemcpy(memory, from, bytes, cudaMemcpyHostToDevice));
    return memory;
}

static void bring(const pwl_cuda_network *uploaded, const network_run *run, device_run *to)
{
    const pwl_network *const network = uploaded->network;
    const uint64_t bytes = pwl_cuda_network_size(uploaded, run->sizes);
    for (int k = 0; k < network->inputs; k++)
        to->inputs[k] = on_device(run->inputs[k], run->input_bytes[k]);
    for (int k = 0; k < network->outputs; k++)
        to->outputs[k] = on_device(NULL, run->output_bytes[k]);
    to->call = (pwl_network_call){
        run->sizes, (const void *const *)to->inputs, to->outputs, on_device(NULL, bytes), bytes, NULL};
}

static int is_poison(const void *at)
{
    uint8_t guard[GUARD];
    CUDA(cudaMemcpy(guard, at, GUARD, cudaMemcpyDeviceToHost));
    for (int k = 0; k < GUARD; k++)
        if (guard[k] != POISON)
            return 0;
    return 1;
}

/* Frees all; whether the outputs are those of the CPU, and nothing beyond was written. */
static int compare(const pwl_network *network, network_run *run, device_run *of)
{
    int good = is_poison((char *)of->call.memory + of->call.bytes);
    for (int k = 0; k < network->outputs; k++) {
        CUDA(cudaMemcpy(run->outputs[k], of->outputs[k], run->output_bytes[k], cudaMemcpyDeviceToHost));
        good = is_poison((char *)of->outputs[k] + run->output_bytes[k]) && good;
        CUDA(cudaFree(of->outputs[k]));
    }
    for (int k = 0; k < network->inputs; k++)
        CUDA(cudaFree(of->inputs[k]));
    CUDA(cudaFree(of->call.memory));
    return end_run(network, run) && good;
}

static int run_once(const pwl_cuda_network *uploaded, uint64_t *state)
{
    network_run run;
    device_run on;
    make_run(uploaded->network, &run, state);
    bring(uploaded, &run, &on);
    PWL(pwl_cuda_network_run(uploaded, &on.call, NULL));
    return compare(uploaded->network, &run, &on);
}

/* From a graph that is launched twice, into outputs that are poisoned in between. */
static int run_graph(const pwl_cuda_network *uploaded, uint64_t *state)
{
    network_run run;
    device_run on;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    make_run(uploaded->network, &run, state);
    bring(uploaded, &run, &on);
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    PWL(pwl_cuda_network_run(uploaded, &on.call, stream));
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphLaunch(exec, stream));
    for (int k = 0; k < uploaded->network->outputs; k++)
        CUDA(cudaMemsetAsync(on.outputs[k], POISON, run.output_bytes[k], stream));
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
    return compare(uploaded->network, &run, &on);
}

static void test_network(const char *name, const pwl_network *network, int runs)
{
    pwl_cuda_network uploaded;
    uint64_t state = 1;
    int good = 1, graphs = 1;
    PWL(pwl_cuda_network_upload(network, &uploaded, NULL));
    for (int k = 0; k < runs; k++)
        good = run_once(&uploaded, &state) && good;
    for (int k = 0; k < (runs + 9) / 10; k++)
        graphs = run_graph(&uploaded, &state) && graphs;
    PWL(pwl_cuda_network_release(&uploaded));
    tap(good, "%s: %d runs", name, runs);
    tap(graphs, "%s: from a graph", name);
}

/* A decoder whose caches are their own outputs. */
static void test_in_place(int runs)
{
    const pwl_network *const network = &golden_decoder;
    pwl_cuda_network uploaded;
    uint64_t state = 2;
    int good = 1;
    PWL(pwl_cuda_network_upload(network, &uploaded, NULL));
    for (int k = 0; k < runs; k++) {
        network_run run;
        device_run on;
        make_run(network, &run, &state);
        bring(&uploaded, &run, &on);
        for (int cache = 1; cache < 3; cache++) {
            void *const apart = on.outputs[cache];
            on.outputs[cache] = on.inputs[cache + 1];
            on.inputs[cache + 1] = apart; /* is freed */
        }
        const void *const inputs[] = {on.inputs[0], on.inputs[1], on.outputs[1], on.outputs[2]};
        on.call.inputs = inputs;
        PWL(pwl_cuda_network_run(&uploaded, &on.call, NULL));
        good = compare(network, &run, &on) && good;
    }
    PWL(pwl_cuda_network_release(&uploaded));
    tap(good, "a decoder in place: %d runs", runs);
}

/* A network of one node, over edges of up to three axes of which the first is a size. */
typedef struct one_node {
    pwl_network network;
    pwl_network_edge edges[4];
    pwl_network_axis axes[4][3];
    pwl_network_node node;
    uint32_t longest;
    uint16_t ends[4];
} one_node;

static void set_edge(one_node *of, int k, pwl_type type, uint32_t rows, uint32_t columns)
{
    pwl_network_edge *const edge = &of->edges[k];
    of->axes[k][0] = (pwl_network_axis){1, {1}};
    of->axes[k][1] = (pwl_network_axis){rows, {0}};
    of->axes[k][2] = (pwl_network_axis){columns, {0}};
    *edge = (pwl_network_edge){(uint8_t)type,          3,          PWL_NETWORK_ELSEWHERE, 0, pwl_type_lowest(type),
                               pwl_type_highest(type), of->axes[k]};
}

/* The first edges are read, the one behind them is written. */
static void set_node(one_node *of, pwl_network_kind kind, int reads, const void *own)
{
    of->longest = 4;
    for (uint16_t k = 0; k < 4; k++)
        of->ends[k] = k;
    of->node = (pwl_network_node){(uint8_t)kind, (uint8_t)reads, {0, 1, 2}, (uint16_t)reads, own};
    of->network = (pwl_network){
        PWL_NETWORK_VERSION, 1,         (uint8_t)reads, 1, (uint16_t)(reads + 1), 1, 0, &of->longest, of->ends,
        of->ends + reads,    of->edges, &of->node};
}

static int one_agrees(const one_node *of, int runs, uint64_t *state)
{
    pwl_cuda_network uploaded;
    pwl_network_proof proof;
    int good = 1;
    if (pwl_network_check(&of->network, &proof) != PWL_OK) {
        printf("# refused: %s\n", pwl_status_text(proof.status));
        return 0;
    }
    PWL(pwl_cuda_network_upload(&of->network, &uploaded, NULL));
    for (int k = 0; k < runs; k++)
        good = run_once(&uploaded, state) && good;
    PWL(pwl_cuda_network_release(&uploaded));
    return good;
}

static const pwl_type types[] = {PWL_S8, PWL_U8, PWL_S16, PWL_U16, PWL_S32};

/* Products of every type of codes, at the edges of tiles and of pieces. */
static void test_products(void)
{
    static int8_t weights[200 * 1100];
    static int64_t bias[200];
    static int32_t factor[200];
    static uint8_t shift[200];
    static const uint32_t shapes[][3] = {{1, 1, 1},     {7, 5, 3},        {32, 32, 32},  {33, 31, 64},
                                         {31, 33, 65},  {64, 64, 48},     {128, 64, 80}, {129, 65, 16},
                                         {40, 200, 31}, {130, 150, 1100}, {9, 17, 700},  {32, 48, 1100}};
    uint64_t state = 5;
    for (int type = 0; type < 5; type++) {
        int good = 1;
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s += small ? 3 : 1) {
            const uint32_t rows = shapes[s][0], channels = shapes[s][1], length = shapes[s][2];
            const int bits = types[type] == PWL_S32 ? 15 : 23;
            one_node of;
            pwl_network_product product = {weights, bias, {factor, shift, s & 1 ? channels : 1}, channels, length, 0};
            for (size_t k = 0; k < (size_t)channels * length; k++)
                weights[k] = (int8_t)random_in(&state, -128, 127);
            for (uint32_t c = 0; c < channels; c++) {
                bias[c] = random_in(&state, -100000, 100000);
                factor[c] = (int32_t)random_in(&state, 1 << (bits - 1), (1 << bits) - 1);
                shift[c] = (uint8_t)(bits + random_in(&state, 1, 8));
            }
            set_edge(&of, 0, types[type], rows, length);
            set_edge(&of, 1, s % 3 == 0 ? PWL_S8 : s % 3 == 1 ? PWL_S16 : PWL_U8, rows, channels);
            of.edges[1].zero_point = random_in(&state, -100, 100);
            if (types[type] == PWL_S32) {
                of.edges[0].qmin = -(1 << 20);
                of.edges[0].qmax = 1 << 20;
            }
            set_node(&of, PWL_NETWORK_PRODUCT, 1, &product);
            if (!one_agrees(&of, small ? 1 : 4, &state)) {
                printf("# %u by %u by %u\n", rows, channels, length);
                good = 0;
            }
        }
        tap(good, "products of codes of type %d", (int)types[type]);
    }
    /* Tiles of 128 by 64 are for many. */
    if (!small) {
        one_node of;
        pwl_network_product product = {weights, bias, {factor, shift, 150}, 150, 256, 0};
        set_edge(&of, 0, PWL_S16, 4100, 256);
        set_edge(&of, 1, PWL_S16, 4100, 150);
        set_node(&of, PWL_NETWORK_PRODUCT, 1, &product);
        tap(one_agrees(&of, 4, &state), "a large product");
    }
}

static void test_matmuls(void)
{
    static const uint32_t shapes[][3] = {{1, 1, 1},    {5, 7, 3},    {32, 32, 32},
                                         {33, 31, 64}, {48, 80, 96}, {130, 70, 144}};
    uint64_t state = 6;
    for (int a = 0; a < 4; a++) {
        int good = 1;
        for (int b = 0; b < 4; b++)
            for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s += small ? 4 : 1)
                for (int transposed = 0; transposed < 2; transposed++) {
                    const uint32_t rows = shapes[s][0], columns = shapes[s][1], length = shapes[s][2];
                    const int32_t factor = (int32_t)random_in(&state, 1 << 20, (1 << 21) - 1);
                    const uint8_t shift = (uint8_t)random_in(&state, 28, 38);
                    const pwl_network_matmul matmul = {{&factor, &shift, 1}, (uint8_t)transposed};
                    one_node of;
                    set_edge(&of, 0, types[a], rows, length);
                    set_edge(&of, 1, types[b], transposed ? columns : length, transposed ? length : columns);
                    set_edge(&of, 2, s & 1 ? PWL_S8 : PWL_S16, rows, columns);
                    of.edges[2].zero_point = 11;
                    of.edges[0].zero_point = s == 3 ? 3 : 0;
                    of.edges[1].zero_point = s == 1 ? -7 : 0;
                    set_node(&of, PWL_NETWORK_MATMUL, 2, &matmul);
                    if (!one_agrees(&of, small ? 1 : 2, &state)) {
                        printf("# %u by %u by %u of types %d and %d\n", rows, columns, length, a, b);
                        good = 0;
                    }
                }
        tap(good, "matrix by matrix of type %d", a);
    }
}

/* Rows with a mask, causal or to numbers of places, or both, of as many places as a warp holds in registers, and more.
 */
static void test_softmaxes(void)
{
    static const uint32_t lengths[] = {1, 31, 32, 33, 64, 100, 128, 129, 256, 257, 700};
    static made_softmax made;
    uint64_t state = 7;
    for (int is_wide = 0; is_wide < 2; is_wide++)
        for (int is_log = 0; is_log < 2; is_log++) {
            const pwl_type in = is_wide ? PWL_S16 : PWL_S8, out = is_log ? PWL_S8 : is_wide ? PWL_U16 : PWL_U8;
            int good = 1;
            for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l += small ? 3 : 1)
                for (int way = 1; way < 6; way++) {
                    const int reads = 1 + (way & 1) + (way > 3);
                    one_node of;
                    if (is_log)
                        make_log_softmax(&made, in, is_wide ? 0.0003L : 0.05L, out, 0.05L, 120, 1024);
                    else
                        make_softmax(&made, in, is_wide ? 0.0003L : 0.05L, out, 8 + 8 * is_wide, 0, 1024);
                    const pwl_network_operator own = {&made.softmax, PWL_NETWORK_SOFTMAX, (uint8_t)(way >> 1)};
                    set_edge(&of, 0, in, 5, lengths[l]);
                    set_edge(&of, reads, out, 5, lengths[l]);
                    of.edges[reads].zero_point = made.softmax.zp_y;
                    if (way & 1) {
                        set_edge(&of, 1, PWL_U8, lengths[l], 1);
                        of.edges[1].axes = 2;
                        of.edges[1].qmax = l & 1 ? 1 : 7;
                    }
                    if (way > 3) {
                        set_edge(&of, reads - 1, PWL_S32, 0, 0);
                        of.axes[reads - 1][0] = (pwl_network_axis){5, {0}};
                        of.edges[reads - 1].axes = 1;
                        of.edges[reads - 1].qmin = 0;
                        of.edges[reads - 1].qmax = 800;
                    }
                    set_node(&of, PWL_NETWORK_OPERATOR, reads, &own);
                    if (!one_agrees(&of, small ? 1 : 4, &state)) {
                        printf("# rows of %u, way %d\n", lengths[l], way);
                        good = 0;
                    }
                }
            tap(good, "masked %ssoftmax of type %d", is_log ? "log-" : "", (int)in);
        }
}

/* Sums and products of two, of one shape or of one row for all, at lengths that eight divides and others. */
static void test_pairs(void)
{
    static const uint32_t lengths[] = {1, 7, 8, 40, 129, 384};
    uint64_t state = 8;
    for (int type = 0; type < 4; type++) {
        int good = 1;
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
            for (int way = 0; way < 8; way++) {
                const pwl_type b = types[(type + way) % 4], y = types[way / 2];
                const pwl_add add = {.version = PWL_ELEMENTS_VERSION,
                                     .in_a = (uint8_t)types[type],
                                     .in_b = (uint8_t)b,
                                     .out = (uint8_t)y,
                                     .shift = 32,
                                     .factor_a = 1 << 30,
                                     .factor_b = 1234567891,
                                     .qmin_y = (int32_t)pwl_type_lowest(y),
                                     .qmax_y = (int32_t)pwl_type_highest(y),
                                     .constant = -123456789,
                                     .zp_y = 3};
                const pwl_network_operator own = {&add, PWL_NETWORK_ADD, 0};
                const pwl_network_multiply multiply = {{1 << 20, 0}, (uint8_t)(20 + 2 * way)};
                one_node of;
                set_edge(&of, 0, types[type], 6, lengths[l]);
                set_edge(&of, 1, b, way & 1 ? 1 : 6, lengths[l]);
                set_edge(&of, 2, y, 6, lengths[l]);
                of.edges[2].zero_point = 3;
                set_node(&of, PWL_NETWORK_OPERATOR, 2, &own);
                good = one_agrees(&of, 1, &state) && good;
                of.edges[0].zero_point = -9;
                set_node(&of, PWL_NETWORK_MULTIPLY, 2, &multiply);
                good = one_agrees(&of, 1, &state) && good;
            }
        tap(good, "sums and products of type %d", type);
    }
}

static void test_errors(void)
{
    pwl_network_node nodes[200];
    pwl_network other = golden_vision;
    pwl_cuda_network uploaded;
    network_run run;
    device_run on;
    int32_t node = 5;
    uint64_t state = 9;
    memcpy(nodes, other.nodes, other.node_count * sizeof *nodes);
    other.nodes = nodes;
    nodes[1].kind = 200;
    tap(pwl_cuda_network_upload(NULL, &uploaded, NULL) == PWL_CUDA_ERR_NULL &&
            pwl_cuda_network_upload(&other, NULL, NULL) == PWL_CUDA_ERR_NULL &&
            pwl_cuda_network_upload(&other, &uploaded, &node) == PWL_CUDA_ERR_NETWORK && node == -1 &&
            pwl_cuda_network_run(&uploaded, &on.call, NULL) == PWL_CUDA_ERR_NULL &&
            pwl_cuda_network_release(&uploaded) == PWL_CUDA_OK && pwl_cuda_network_release(NULL) == PWL_CUDA_ERR_NULL,
        "networks that are refused");
    PWL(pwl_cuda_network_upload(&golden_encoder, &uploaded, &node));
    make_run(&golden_encoder, &run, &state);
    bring(&uploaded, &run, &on);
    pwl_network_call call = on.call;
    call.bytes--;
    int good = node == -1 && pwl_cuda_network_run(&uploaded, &call, NULL) == PWL_CUDA_ERR_ROOM;
    call = on.call;
    call.memory = (char *)call.memory + 16;
    good = good && pwl_cuda_network_run(&uploaded, &call, NULL) == PWL_CUDA_ERR_ALIGN;
    call = on.call;
    call.inputs = NULL;
    good = good && pwl_cuda_network_run(&uploaded, &call, NULL) == PWL_CUDA_ERR_NULL;
    uint32_t none[8] = {0};
    call = on.call;
    call.sizes = none;
    good = good && pwl_cuda_network_run(&uploaded, &call, NULL) == PWL_CUDA_ERR_SHAPE;
    PWL(pwl_cuda_network_run(&uploaded, &on.call, NULL));
    tap(compare(&golden_encoder, &run, &on) && good, "calls that are refused launch nothing");
    PWL(pwl_cuda_network_release(&uploaded));
}

int main(int argc, char **argv)
{
    small = test_is_small(argc, argv);
    const int runs = small ? 2 : 50;
    test_network("encoder", &golden_encoder, runs);
    test_network("decoder", &golden_decoder, runs);
    test_in_place(runs);
    test_network("vision", &golden_vision, runs);
    test_network("gru", &golden_gru, runs);
    test_network("gru_reverse", &golden_gru_reverse, runs);
    test_products();
    test_matmuls();
    test_softmaxes();
    test_pairs();
    test_errors();
    return tap_end();
}
