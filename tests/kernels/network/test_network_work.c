/* SPDX-License-Identifier: Apache-2.0 */
/* The launches of libpwl-cuda's networks, element by element on the host: the codes of pwl_network_run(). */
#include "network/walk.h"
#include "network/wide.h"

#include "../../golden/networks/decoder.h"
#include "../../golden/networks/encoder.h"
#include "../../golden/networks/gru.h"
#include "../../golden/networks/gru_reverse.h"
#include "../../golden/networks/vision.h"
#include "../tap.h"
#include "runs.h"

enum { RUNS = 40 };

static int seen[PWL_WORK_NORM + 1], seen_values, seen_orders, seen_sums, seen_beside;

static void run_softmax(const pwl_work *work)
{
    const pwl_work_softmax *const of = &work->of.softmax;
    const size_t in = (size_t)1 << (work->x[0].type >> 1), out = (size_t)1 << (work->y.type >> 1);
    for (uint32_t r = 0; r < of->rows; r++) {
        pwl_rows rows = {.count = 1, .length = of->length};
        rows.x = (const char *)work->x[0].at + (size_t)r * of->length * in;
        rows.y = (char *)work->y.at + (size_t)r * of->length * out;
        rows.mask = of->mask ? of->mask + (size_t)(r / of->each) * of->length : NULL;
        rows.is_causal = of->second != 0;
        rows.first = pwl_work_softmax_reach(of, &work->x[1], r) - 1;
        pwl_softmax_run(work->operator_of, &rows, PWL_LEVELS_ALL);
    }
}

static int run_work(void *context, const pwl_work *work)
{
    seen[work->kind]++;
    seen_values += work->y.values != NULL;
    if (work->kind == PWL_WORK_MATRIX) {
        seen_orders += work->of.matrix.order.columns != 0;
        seen_sums += work->of.matrix.other.at != NULL;
        seen_beside += work->beside != NULL;
    }
    if (work->beside)
        run_work(context, work->beside);
    switch (work->kind) {
    case PWL_WORK_SOFTMAX:
        run_softmax(work);
        break;
    case PWL_WORK_TABLE:
        for (uint32_t k = 0; k < work->count; k++)
            pwl_work_set(work->y.type, work->y.at, k,
                         pwl_eval(work->operator_of, pwl_work_code(work->x[0].type, work->x[0].at, k)));
        break;
    case PWL_WORK_NORM:
        pwl_norm_run(work->operator_of, work->x[0].at, work->y.at, work->count, PWL_LEVELS_ALL);
        break;
    default:
        for (uint32_t k = 0; k < work->count; k++)
            pwl_work_element(work, work->kind, k);
    }
    return 0;
}

static void *aligned_room(uint64_t bytes)
{
    void *const memory = aligned_alloc(256, ((size_t)bytes + 511) & ~(size_t)255);
    if (!memory)
        exit(1);
    memset(memory, 0xa5, ((size_t)bytes + 511) & ~(size_t)255);
    return memory;
}

static void test_network(const char *name, const pwl_network *network)
{
    pwl_cuda_node *const nodes = malloc((pwl_cuda_network_nodes(network) + (size_t)1) * sizeof *nodes);
    const size_t bytes = pwl_cuda_network_prepare(network, 1, NULL, NULL, nodes);
    void *const image = aligned_room(bytes);
    uint64_t state = 1;
    int good =
        pwl_cuda_network_unserved(network) == -1 && pwl_cuda_network_prepare(network, 1, image, image, nodes) == bytes;
    for (int k = 0; k < RUNS && good; k++) {
        network_run run;
        make_run(network, &run, &state);
        void *const memory = aligned_room(pwl_cuda_network_bytes(network, run.sizes));
        const pwl_network_call call = {run.sizes, (const void *const *)run.inputs, run.outputs, memory, 0, NULL};
        good = pwl_cuda_network_walk(network, nodes, &call, run_work, NULL) == 0;
        good = end_run(network, &run) && good;
        free(memory);
    }
    free(image);
    free(nodes);
    tap(good, "%s: %d runs", name, RUNS);
}

/* Caches that are their own outputs stay where they are. */
static void test_in_place(void)
{
    static pwl_cuda_node nodes[200];
    const pwl_network *const network = &golden_decoder;
    char *const image = aligned_room(pwl_cuda_network_prepare(network, 1, NULL, NULL, nodes));
    uint64_t state = 4;
    int good = 1;
    pwl_cuda_network_prepare(network, 1, image, image, nodes);
    for (int k = 0; k < RUNS; k++) {
        network_run run;
        make_run(network, &run, &state);
        for (int cache = 1; cache < 3; cache++)
            memcpy(run.outputs[cache], run.inputs[cache + 1], (size_t)run.output_bytes[cache]);
        const void *const inputs[] = {run.inputs[0], run.inputs[1], run.outputs[1], run.outputs[2]};
        void *const memory = aligned_room(pwl_cuda_network_bytes(network, run.sizes));
        const pwl_network_call call = {run.sizes, inputs, run.outputs, memory, 0, NULL};
        good = pwl_cuda_network_walk(network, nodes, &call, run_work, NULL) == 0 && good;
        good = end_run(network, &run) && good;
        free(memory);
    }
    free(image);
    tap(good, "a decoder in place: %d runs", RUNS);
}

/* What a lane reads of a row's codes, 16 bytes at a time, and where the operands that it makes of them have each code,
 * meets the weight of that column. */
static void test_packed(void)
{
    enum { LENGTH = 300, CHANNELS = 130 };
    int good = 1;
    for (uint32_t bytes = 1; bytes < 3; bytes++) {
        const uint32_t box = 128 / bytes, chunk = 16 / bytes;
        static uint8_t seen[192 * 384];
        memset(seen, 0, sizeof seen);
        good = good && pwl_wide_bytes(CHANNELS, LENGTH) == sizeof seen;
        for (uint32_t channel = 0; channel < CHANNELS; channel++)
            for (uint32_t k = 0; k < LENGTH; k++) {
                const uint32_t in_box = k % box, t = in_box / chunk / 2, half = in_box / chunk % 2;
                const uint32_t eight = in_box % chunk / 8, j = k % 8; /* of the chunk; of the eight */
                const uint32_t operand = k % 128 / box * 2 + half * chunk / 8 + eight;
                const uint32_t at = operand * 32 + j / 4 * 16 + 4 * t + j % 4, row = channel % 64;
                const size_t piece = (size_t)(channel / 64) * 3 + k / 128,
                             found = pwl_wide_at(LENGTH, channel, k, bytes);
                good = good && found == piece * 8192 + row * 128 + ((at / 16) ^ (row % 8)) * 16 + at % 16 &&
                       !seen[found]++;
            }
    }
    tap(good, "packed weights lie where the codes of their columns are read");
}

static int fails(void *context, const pwl_work *work)
{
    (void)work;
    return ++*(int *)context == 5 ? 77 : 0;
}

/* Nothing is launched after what failed. */
static void test_errors(void)
{
    static pwl_cuda_node nodes[200];
    const pwl_network *const network = &golden_encoder;
    char *const image = aligned_room(pwl_cuda_network_prepare(network, 1, NULL, NULL, nodes));
    network_run run;
    uint64_t state = 3;
    int launches = 0;
    make_run(network, &run, &state);
    pwl_cuda_network_prepare(network, 1, image, image, nodes);
    const pwl_network_call call = {run.sizes, (const void *const *)run.inputs, run.outputs, image, 0, NULL};
    tap(pwl_cuda_network_walk(network, nodes, &call, fails, &launches) == 77 && launches == 5,
        "the first error ends it");
    for (int k = 0; k < network->outputs; k++)
        memcpy(run.outputs[k], run.expected[k], (size_t)run.output_bytes[k]);
    tap(end_run(network, &run), "what was drawn is freed");
    free(image);
}

static void test_unserved(void)
{
    pwl_network_node nodes[200];
    pwl_network network = golden_encoder;
    memcpy(nodes, network.nodes, network.node_count * sizeof *nodes);
    network.nodes = nodes;
    nodes[7].kind = 200;
    tap(pwl_cuda_network_unserved(&network) == 7, "a kind that devices do not run is told");
}

int main(void)
{
    test_network("encoder", &golden_encoder);
    test_network("decoder", &golden_decoder);
    test_network("vision", &golden_vision);
    test_network("gru", &golden_gru);
    test_network("gru_reverse", &golden_gru_reverse);
    test_in_place();
    test_packed();
    test_errors();
    test_unserved();
    for (int kind = 0; kind <= PWL_WORK_NORM; kind++)
        printf("# work of kind %d: %d\n", kind, seen[kind]);
    tap(seen_values > 0 && seen_orders > 0 && seen_sums > 0 && seen_beside > 0,
        "tables, sums and transposes behind sums of products are part of them, and products of one edge are one "
        "launch");
    return tap_end();
}
