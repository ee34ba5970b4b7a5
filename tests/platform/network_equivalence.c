/* SPDX-License-Identifier: Apache-2.0 */
/* The networks of tests/golden/make_networks.py at some sizes, by plain C and by every way that the machine has: the
 * hashes of their codes, which numpy gave, are in hashes.txt. */
#include "network_equivalence.h"

#include <stdint.h>

#include <pwl/network.h>

#include "../golden/networks/decoder.h"
#include "../golden/networks/encoder.h"
#include "../golden/networks/gru.h"
#include "../golden/networks/gru_reverse.h"
#include "../golden/networks/vision.h"
#include "../support/random.h"
#include "../support/typed_array.h"
#include "say.h"
#include "text.h"

enum { RUNS = 3, ENDS = 512 };

/* Inputs and outputs, and what is left for the network. */
static void *ends, *memory;
static size_t memory_bytes;

/* Codes of an input as they are drawn. */
static void draw(const pwl_network_edge *edge, void *codes, uint64_t count, uint64_t *state)
{
    uint64_t k;
    for (k = 0; k < count; k++)
        pwl_set_element_of((pwl_type)edge->type, codes, (size_t)k, random_in(state, edge->qmin, edge->qmax));
}

/* Where the next input or output lies. */
static void *take(size_t *at, const pwl_network *network, uint16_t edge, const uint32_t *sizes)
{
    void *const taken = (char *)ends + *at;
    *at += (size_t)(pwl_network_bytes(network, edge, sizes) + 7) & ~(size_t)7;
    return *at <= ENDS ? taken : 0;
}

static uint64_t hash_run(const pwl_network *network, uint32_t levels, uint64_t *state, uint64_t hash, int *failed)
{
    uint32_t sizes[4];
    const void *inputs[4];
    void *outputs[4], *input;
    const pwl_network_way way = {levels, 0};
    const pwl_network_call call = {sizes, inputs, outputs, memory, memory_bytes, &way};
    size_t at = 0;
    uint64_t i;
    int k;
    for (k = 0; k < network->sizes; k++)
        sizes[k] = (uint32_t)random_in(state, 1, network->longest[k]);
    for (k = 0; k < network->inputs; k++) {
        const uint16_t edge = network->input[k];
        inputs[k] = input = take(&at, network, edge, sizes);
        if (input)
            draw(&network->edges[edge], input, pwl_network_count(network, edge, sizes), state);
    }
    for (k = 0; k < network->outputs; k++)
        outputs[k] = take(&at, network, network->output[k], sizes);
    if (pwl_network_run(network, &call) != PWL_OK) {
        *failed = 1;
        return hash;
    }
    for (k = 0; k < network->outputs; k++)
        for (i = 0; i < pwl_network_count(network, network->output[k], sizes); i++) {
            const pwl_type type = (pwl_type)network->edges[network->output[k]].type;
            hash = (hash ^ (uint32_t)pwl_element_of(type, outputs[k], (size_t)i)) * 0x100000001b3u;
        }
    return hash;
}

static uint64_t hash_of(const pwl_network *network, uint32_t levels, int *failed)
{
    uint64_t hash = 0xcbf29ce484222325u, state = 0;
    int run;
    for (run = 0; run < RUNS; run++)
        hash = hash_run(network, levels, &state, hash, failed);
    return hash;
}

static int check_one(const char *name, const pwl_network *network)
{
    int failed = pwl_network_check(network, 0) != PWL_OK, shift;
    const uint64_t hash = hash_of(network, 0, &failed);
    struct text line = {.length = 0};
    if (hash_of(network, PWL_LEVELS_ALL, &failed) != hash)
        failed = 1;
    add(&line, "few networks ");
    add(&line, name);
    add(&line, " ");
    for (shift = 60; shift >= 0; shift -= 4) {
        const char digit[2] = {"0123456789abcdef"[hash >> shift & 15], '\0'};
        add(&line, digit);
    }
    add(&line, failed ? " is refused, or differs from way to way\n" : "\n");
    say(line.characters);
    return failed;
}

int check_networks(void *all, size_t bytes)
{
    int failed;
    ends = all;
    memory = (char *)all + ENDS;
    memory_bytes = bytes - ENDS;
    failed = check_one("encoder", &golden_encoder);
    failed |= check_one("decoder", &golden_decoder);
    failed |= check_one("vision", &golden_vision);
    failed |= check_one("gru", &golden_gru);
    return failed | check_one("gru_reverse", &golden_gru_reverse);
}
