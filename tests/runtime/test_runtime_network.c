/* SPDX-License-Identifier: Apache-2.0 */
/* Each status of the check and of runs of networks, provoked by one change of the networks of
 * tests/golden/make_networks.py, with the node and the edge that the check names; and that a run which is refused
 * writes nothing. */
#include <check.h>
#include <string.h>

#include <pwl/network.h>

#include "../golden/networks/encoder.h"
#include "../golden/networks/gru.h"
#include "../golden/networks/vision.h"
#include "../support/suite.h"

enum { MOST = 40 };

/* A network with its own copies of what it points to, and of what one of its nodes does. */
typedef struct own_network {
    pwl_network network;
    pwl_network_edge edges[MOST];
    pwl_network_node nodes[MOST];
    uint32_t longest[4];
    uint16_t input[4], output[4];
    pwl_network_axis shape[PWL_NETWORK_AXES];
} own_network;

static void own(own_network *to, const pwl_network *from)
{
    to->network = *from;
    to->network.edges = memcpy(to->edges, from->edges, from->edge_count * sizeof *to->edges);
    to->network.nodes = memcpy(to->nodes, from->nodes, from->node_count * sizeof *to->nodes);
    to->network.longest = memcpy(to->longest, from->longest, from->sizes * sizeof *to->longest);
    to->network.input = memcpy(to->input, from->input, from->inputs * sizeof *to->input);
    to->network.output = memcpy(to->output, from->output, from->outputs * sizeof *to->output);
}

/* An edge's shape as one that can be changed. */
static pwl_network_axis *shape_of(own_network *of, int edge)
{
    memcpy(of->shape, of->edges[edge].shape, of->edges[edge].axes * sizeof *of->shape);
    of->edges[edge].shape = of->shape;
    return of->shape;
}

static void check_refused(const pwl_network *network, int line, pwl_status expected, int node, int edge)
{
    pwl_network_proof proof;
    const pwl_status status = pwl_network_check(network, &proof);
    ck_assert_msg(status == expected && proof.status == expected, "line %d: %s, must be %s", line,
                  pwl_status_text(status), pwl_status_text(expected));
    ck_assert_msg(proof.node == node && proof.edge == edge, "line %d: node %d, edge %d, must be %d and %d", line,
                  (int)proof.node, (int)proof.edge, node, edge);
}

/* n is the network; what changes it. */
#define REFUSED(name, what, expected, node, edge)                                                                      \
    do {                                                                                                               \
        own_network n;                                                                                                 \
        own(&n, &golden_##name);                                                                                       \
        ck_assert_int_eq(pwl_network_check(&n.network, NULL), PWL_OK);                                                 \
        what;                                                                                                          \
        check_refused(&n.network, __LINE__, expected, node, edge);                                                     \
    } while (0)

/* k is what node `at` does. */
#define REFUSED_NODE(name, at, type, what, expected)                                                                   \
    do {                                                                                                               \
        type k;                                                                                                        \
        memcpy(&k, golden_##name.nodes[at].of, sizeof k);                                                              \
        REFUSED(name, n.nodes[at].of = &k; what, expected, at, -1);                                                    \
    } while (0)

START_TEST(heads_and_edges_refused)
{
    ck_assert_int_eq(pwl_network_check(NULL, NULL), PWL_ERR_NULL);
    REFUSED(encoder, n.network.nodes = NULL, PWL_ERR_NULL, -1, -1);
    REFUSED(encoder, n.network.version = 2, PWL_ERR_VERSION, -1, -1);
    REFUSED(encoder, n.longest[0] = 0, PWL_ERR_SIZE, -1, -1);
    REFUSED(encoder, n.longest[0] = PWL_NETWORK_LARGEST + 1, PWL_ERR_SIZE, -1, -1);
    REFUSED(encoder, n.input[0] = 31, PWL_ERR_EDGE, -1, -1);
    REFUSED(encoder, n.output[0] = 31, PWL_ERR_EDGE, -1, -1);
    REFUSED(encoder, n.edges[3].type = 6, PWL_ERR_FIELD, -1, 3);
    REFUSED(encoder, n.edges[3].axes = PWL_NETWORK_AXES + 1, PWL_ERR_FIELD, -1, 3);
    REFUSED(encoder, n.edges[3].shape = NULL, PWL_ERR_NULL, -1, 3);
    REFUSED(encoder, n.edges[3].qmin = 5; n.edges[3].qmax = 4, PWL_ERR_RANGE_Y, -1, 3);
    REFUSED(encoder, n.edges[3].qmax = 32768, PWL_ERR_RANGE_Y, -1, 3);
    REFUSED(encoder, n.edges[3].zero_point = ((int64_t)1 << 32) + 1, PWL_ERR_ZERO_POINT, -1, 3);
    REFUSED(encoder, n.edges[3].place = 5, PWL_ERR_MEMORY, -1, 3);
    REFUSED(encoder, n.edges[0].place = 0, PWL_ERR_MEMORY, -1, 0);
    REFUSED(encoder, shape_of(&n, 3)[0].times = 0, PWL_ERR_SIZE, -1, 3);
    REFUSED(encoder, shape_of(&n, 3)[0].sizes[1] = 3, PWL_ERR_SIZE, -1, 3);
    REFUSED(encoder, shape_of(&n, 3)[0].times = 1u << 31, PWL_ERR_SIZE, -1, 3);
}
END_TEST

START_TEST(order_and_places_refused)
{
    REFUSED(encoder, n.nodes[5].kind = 200, PWL_ERR_FIELD, 5, -1);
    REFUSED(encoder, n.nodes[5].reads = 0, PWL_ERR_FIELD, 5, -1);
    REFUSED(encoder, n.nodes[5].reads = 2, PWL_ERR_FIELD, 5, -1);
    REFUSED(encoder, n.nodes[5].of = NULL, PWL_ERR_NULL, 5, -1);
    REFUSED(encoder, n.nodes[5].inputs[0] = 7, PWL_ERR_EDGE, 5, -1);              /* its own output */
    REFUSED(encoder, n.nodes[5].inputs[0] = 9, PWL_ERR_EDGE, 5, -1);              /* written later */
    REFUSED(encoder, n.nodes[5].inputs[0] = 31, PWL_ERR_EDGE, 5, -1);             /* none */
    REFUSED(encoder, n.nodes[5].output = 6, PWL_ERR_EDGE, 5, -1);                 /* written before */
    REFUSED(encoder, n.nodes[5].output = 0, PWL_ERR_EDGE, 5, -1);                 /* an input */
    REFUSED(encoder, n.edges[7].place = n.edges[6].place, PWL_ERR_MEMORY, 4, -1); /* others read 6 later */
}
END_TEST

START_TEST(nodes_refused)
{
    REFUSED_NODE(encoder, 0, pwl_network_gather, k.rows = 11, PWL_ERR_CODE);
    REFUSED_NODE(encoder, 0, pwl_network_gather, k.columns = 9, PWL_ERR_SHAPE);
    REFUSED_NODE(encoder, 0, pwl_network_gather, k.table = NULL, PWL_ERR_NULL);
    REFUSED_NODE(encoder, 1, pwl_network_constant, k.count = 3, PWL_ERR_SHAPE);
    REFUSED(encoder, n.edges[4].qmax = 0, PWL_ERR_CONSTANT, 2, -1); /* a code of the node's */
    REFUSED_NODE(encoder, 3, pwl_network_multiply, k.shift = 0, PWL_ERR_SHIFT);
    REFUSED_NODE(encoder, 3, pwl_network_multiply, k.shift = 63, PWL_ERR_SHIFT);
    REFUSED(encoder, n.nodes[3].reads = 3, PWL_ERR_SHAPE, 3, -1);
    REFUSED_NODE(encoder, 5, pwl_network_product, k.weights = NULL, PWL_ERR_NULL);
    REFUSED_NODE(encoder, 5, pwl_network_product, k.is_narrow = 2, PWL_ERR_FIELD);
    REFUSED_NODE(encoder, 5, pwl_network_product, k.channels++, PWL_ERR_SHAPE);
    REFUSED_NODE(encoder, 5, pwl_network_product, k.factors.count = 2, PWL_ERR_SHAPE);
    REFUSED_NODE(encoder, 5, pwl_network_product, int64_t bias[64] = {(int64_t)1 << 47};
                 k.bias = bias, PWL_ERR_SUM_BITS);
    REFUSED_NODE(encoder, 5, pwl_network_product, int32_t factor[64] = {-1};
                 k.factors.factor = factor, PWL_ERR_CONSTANT);
    REFUSED_NODE(encoder, 5, pwl_network_product, uint8_t shift[64] = {0}; k.factors.shift = shift, PWL_ERR_SHIFT);
    REFUSED_NODE(encoder, 7, pwl_network_transpose, k.order[0] = 1, PWL_ERR_SHAPE);
    REFUSED_NODE(encoder, 14, pwl_network_matmul, k.transposed = 2, PWL_ERR_SHAPE);
    REFUSED_NODE(encoder, 14, pwl_network_matmul, uint8_t shift = 63; k.factors.shift = &shift, PWL_ERR_SHIFT);
    REFUSED_NODE(encoder, 27, pwl_network_mean, k.axis = 3, PWL_ERR_SHAPE);
    REFUSED_NODE(encoder, 27, pwl_network_mean, int32_t factor[6] = {-1}; k.factors.factor = factor, PWL_ERR_CONSTANT);
    REFUSED(encoder, n.edges[8].qmax = 100, PWL_ERR_RANGE_Y, 6, -1); /* reshape moves codes */
    REFUSED(encoder, n.edges[8].zero_point = 1, PWL_ERR_ZERO_POINT, 6, -1);
    REFUSED_NODE(vision, 0, pwl_network_convolution, k.groups = 5, PWL_ERR_SHAPE);
    REFUSED_NODE(vision, 0, pwl_network_convolution, k.window[0].stride = 0, PWL_ERR_SHAPE);
    REFUSED_NODE(vision, 1, pwl_network_max_pool, k.window[1].padding = 9, PWL_ERR_SHAPE);
    REFUSED_NODE(gru, 1, pwl_network_loop, k.reverse = 2, PWL_ERR_FIELD);
    REFUSED_NODE(gru, 1, pwl_network_loop, k.axis = 3, PWL_ERR_SHAPE);
    REFUSED_NODE(gru, 1, pwl_network_loop, k.body = NULL, PWL_ERR_NULL);
    REFUSED_NODE(gru, 1, pwl_network_loop, k.body = &golden_vision, PWL_ERR_SIZE);
    REFUSED_NODE(gru, 3, pwl_network_slice, k.step = 0, PWL_ERR_SHAPE);
    REFUSED_NODE(gru, 3, pwl_network_slice, k.start = 100, PWL_ERR_SHAPE);
}
END_TEST

START_TEST(operators_refused)
{
    REFUSED_NODE(encoder, 15, pwl_network_operator, k.type = 6, PWL_ERR_FIELD);
    REFUSED_NODE(encoder, 4, pwl_network_operator, k.is_causal = 1, PWL_ERR_FIELD); /* of softmax alone */
    REFUSED_NODE(encoder, 15, pwl_network_operator, pwl_softmax s = *(const pwl_softmax *)k.of; k.of = &s;
                 s.longest = 5, PWL_ERR_ROW);
    REFUSED_NODE(encoder, 15, pwl_network_operator, pwl_softmax s = *(const pwl_softmax *)k.of; k.of = &s;
                 s.version = 9, PWL_ERR_VERSION);
    REFUSED_NODE(encoder, 4, pwl_network_operator, pwl_norm s = *(const pwl_norm *)k.of; k.of = &s;
                 s.in = PWL_S8, PWL_ERR_FIELD);
    REFUSED_NODE(encoder, 23, pwl_network_operator, pwl_table t = *(const pwl_table *)k.of; k.of = &t;
                 t.version = 9, PWL_ERR_VERSION);
    REFUSED(encoder, n.edges[25].qmax = 100, PWL_ERR_RANGE_Y, 23, -1); /* of which the table gives more */
}
END_TEST

typedef struct run {
    uint32_t sizes[2];
    int32_t ids[12];
    uint8_t mask[12];
    int16_t y[64];
    const void *inputs[2];
    void *outputs[1];
    int64_t memory[GOLDEN_ENCODER_MEMORY / 8 + 2];
    pwl_network_call call;
} run;

static void make_run(run *to)
{
    memset(to, 0, sizeof *to);
    memset(to->mask, 1, sizeof to->mask);
    memset(to->y, 85, sizeof to->y);
    to->sizes[0] = 2;
    to->sizes[1] = 6;
    to->inputs[0] = to->ids;
    to->inputs[1] = to->mask;
    to->outputs[0] = to->y;
    to->call = (pwl_network_call){to->sizes, to->inputs, to->outputs, to->memory, sizeof to->memory, NULL};
}

#define RUN_REFUSED(what, expected)                                                                                    \
    do {                                                                                                               \
        static run r;                                                                                                  \
        int16_t before[64];                                                                                            \
        make_run(&r);                                                                                                  \
        memcpy(before, r.y, sizeof before);                                                                            \
        what;                                                                                                          \
        ck_assert_int_eq(pwl_network_run(&golden_encoder, &r.call), expected);                                         \
        ck_assert_mem_eq(before, r.y, sizeof before);                                                                  \
    } while (0)

START_TEST(runs_refused)
{
    static run r;
    make_run(&r);
    ck_assert_int_eq(pwl_network_run(&golden_encoder, &r.call), PWL_OK);
    ck_assert_int_eq(pwl_network_run(NULL, &r.call), PWL_ERR_NULL);
    ck_assert_int_eq(pwl_network_run(&golden_encoder, NULL), PWL_ERR_NULL);
    RUN_REFUSED(r.call.sizes = NULL, PWL_ERR_NULL);
    RUN_REFUSED(r.call.inputs = NULL, PWL_ERR_NULL);
    RUN_REFUSED(r.inputs[1] = NULL, PWL_ERR_NULL);
    RUN_REFUSED(r.call.outputs = NULL, PWL_ERR_NULL);
    RUN_REFUSED(r.outputs[0] = NULL, PWL_ERR_NULL);
    RUN_REFUSED(r.call.memory = NULL, PWL_ERR_NULL);
    RUN_REFUSED(r.sizes[0] = 0, PWL_ERR_SIZE);
    RUN_REFUSED(r.sizes[1] = 7, PWL_ERR_SIZE);
    RUN_REFUSED(r.call.bytes = pwl_network_size(&golden_encoder, r.sizes) - 1, PWL_ERR_MEMORY);
    RUN_REFUSED(r.call.memory = (char *)r.memory + 4, PWL_ERR_MEMORY);
    RUN_REFUSED(r.ids[11] = 12, PWL_ERR_CODE);
    RUN_REFUSED(r.ids[0] = -1, PWL_ERR_CODE);
    RUN_REFUSED(r.mask[3] = 2, PWL_ERR_CODE);
}
END_TEST

/* Two sizes that are alike where they are longest, and not at others. */
START_TEST(shapes_of_a_run_refused)
{
    const pwl_network_axis a[] = {{1, {1, 0, 0, 0}}}, b[] = {{1, {2, 0, 0, 0}}};
    const pwl_network_edge edges[] = {{PWL_S8, 1, PWL_NETWORK_ELSEWHERE, 0, -128, 127, a},
                                      {PWL_S8, 1, PWL_NETWORK_ELSEWHERE, 0, -128, 127, b},
                                      {PWL_S8, 1, PWL_NETWORK_ELSEWHERE, 0, -128, 127, b}};
    const pwl_network_multiply multiply = {{1, 0}, 7};
    const pwl_network_node node = {PWL_NETWORK_MULTIPLY, 2, {0, 1}, 2, &multiply};
    const uint32_t longest[] = {5, 5}, sizes[] = {5, 4};
    const uint16_t ends[] = {0, 1, 2};
    const pwl_network network = {PWL_NETWORK_VERSION, 2, 2, 1, 3, 1, 0, longest, ends, ends + 2, edges, &node};
    int8_t x[5] = {1, 2, 3, 4, 5}, y[5] = {85, 85, 85, 85, 85};
    const void *inputs[] = {x, x};
    void *outputs[] = {y};
    int64_t memory[8];
    ck_assert_int_eq(pwl_network_check(&network, NULL), PWL_OK);
    ck_assert_int_eq(
        pwl_network_run(&network, &(pwl_network_call){sizes, inputs, outputs, memory, sizeof memory, NULL}),
        PWL_ERR_SHAPE);
    for (int k = 0; k < 5; k++)
        ck_assert_int_eq(y[k], 85);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("runtime_network");
    TCase *const statuses = tcase_create("statuses");
    tcase_add_test(statuses, heads_and_edges_refused);
    tcase_add_test(statuses, order_and_places_refused);
    tcase_add_test(statuses, nodes_refused);
    tcase_add_test(statuses, operators_refused);
    tcase_add_test(statuses, runs_refused);
    tcase_add_test(statuses, shapes_of_a_run_refused);
    suite_add_tcase(suite, statuses);
    return run_suite(suite);
}
