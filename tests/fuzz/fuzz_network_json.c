/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Network JSON, a zero byte, and its arrays: an accepted network runs on any codes to codes within its outputs' limits,
 * in the memory that it says and no more, twice alike, and goes through the emitter. */
#include "fuzz.h"

#include <string.h>

#include "emit/network/network_c.h"
#include "network/network.h"

#define MOST_CODES 4096 /* of an edge; larger networks take long and tell no more */
#define MOST_NODES 64
#define MOST_PRODUCTS 4000000
#define ENDS 256

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Whether a run takes no long time: edges of so many codes, and each of them of so many products. */
static bool is_small(const struct network *network)
{
    const pwl_network *const packed = &network->packed;
    uint64_t work = 0;
    for (int k = 0; k < packed->edge_count; k++)
        if (pwl_network_count(packed, (uint16_t)k, packed->longest) > MOST_CODES)
            return false;
    for (int k = 0; k < packed->node_count; k++) {
        const struct network *const body = network->nodes[k].body;
        const uint64_t each = body ? MOST_CODES / 4 : node_bytes(network, (uint16_t)k) + 64;
        work += each * pwl_network_count(packed, packed->nodes[k].output, packed->longest);
        if (body && (!is_small(body) || body->packed.node_count > MOST_NODES))
            return false;
    }
    return packed->node_count <= MOST_NODES && work <= MOST_PRODUCTS;
}

static void *draw(const struct network *network, uint16_t edge, uint64_t *state)
{
    const pwl_network *const packed = &network->packed;
    struct tensor type = network->edges[edge].type;
    const uint64_t count = pwl_network_count(packed, edge, packed->longest);
    void *const codes = malloc(pwl_network_bytes(packed, edge, packed->longest));
    REQUIRE(codes);
    const uint64_t span = (uint64_t)(type.qmax - type.qmin);
    type.bits = code_type_bits(type.bits);
    for (uint64_t k = 0; k < count; k++)
        operator_set_code(&type, codes, k, type.qmin + (int64_t)((random_next(state) >> 20) % (span + 1)));
    return codes;
}

static void require_codes(const struct network *network, uint16_t edge, const void *codes)
{
    struct tensor type = network->edges[edge].type;
    type.bits = code_type_bits(type.bits);
    for (uint64_t k = 0; k < pwl_network_count(&network->packed, edge, network->longest); k++)
        REQUIRE(operator_code(&type, codes, k) >= type.qmin && operator_code(&type, codes, k) <= type.qmax);
}

static bool keeps_tokens(const pwl_network *network)
{
    for (int k = 0; k < network->node_count; k++)
        if (network->nodes[k].kind == PWL_NETWORK_APPEND)
            return true;
    return false;
}

/* Arrays of exactly what is said: what lies beyond them is for the sanitizers. */
static void require_run(const struct network *network, uint64_t seed)
{
    const pwl_network *const packed = &network->packed;
    const uint64_t bytes = pwl_network_size(packed, packed->longest);
    void *inputs[ENDS], *outputs[2][ENDS], *const memory = malloc(bytes ? bytes : 1);
    uint64_t state = seed | 1;
    bool is_run = true; /* else its inputs number places that a cache does not have */
    REQUIRE(memory);
    for (int k = 0; k < packed->inputs; k++)
        inputs[k] = draw(network, packed->input[k], &state);
    for (int run = 0; run < 2; run++) {
        for (int k = 0; k < packed->outputs; k++)
            outputs[run][k] = calloc(1, pwl_network_bytes(packed, packed->output[k], packed->longest));
        memset(memory, run ? 0xa5 : 0, bytes);
        const pwl_network_call call = {packed->longest, (const void *const *)inputs, outputs[run], memory, bytes, NULL};
        const pwl_status status = pwl_network_run(packed, &call);
        is_run = status != PWL_ERR_CODE || !keeps_tokens(packed);
        REQUIRE(status == PWL_OK || !is_run);
    }
    for (int k = 0; k < packed->outputs; k++) {
        if (is_run)
            require_codes(network, packed->output[k], outputs[0][k]);
        REQUIRE(memcmp(outputs[0][k], outputs[1][k], pwl_network_bytes(packed, packed->output[k], packed->longest)) ==
                0);
        free(outputs[0][k]);
        free(outputs[1][k]);
    }
    for (int k = 0; k < packed->inputs; k++)
        free(inputs[k]);
    free(memory);
}

static void require_emitted(const struct network *network)
{
    const struct emit_options options = {.prefix = "pwl_", .name = "network"};
    struct text out = {0};
    struct diag diag = {0};
    REQUIRE(emit_network_c(network, network->longest, &options, &out, &diag) == EXIT_DONE && out.size > 0);
    text_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *const end = memchr(data, 0, size);
    const size_t json = end ? (size_t)(end - data) : size;
    struct network network;
    struct diag diag = {0};
    const int code =
        network_from_bytes((const char *)data, json, end ? end + 1 : data, end ? size - json - 1 : 0, &network, &diag);
    if (code != EXIT_DONE) {
        REQUIRE_REFUSAL(code, diag);
        return 0;
    }
    REQUIRE(pwl_network_check(&network.packed, NULL) == PWL_OK);
    if (is_small(&network))
        require_run(&network, size * 0x9e3779b97f4a7c15u);
    require_emitted(&network);
    network_free(&network);
    return 0;
}
