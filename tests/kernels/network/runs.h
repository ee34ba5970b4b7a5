/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs of networks as they are drawn, and what the CPU gives for them. */
#ifndef NETWORK_RUNS_H
#define NETWORK_RUNS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/network.h>

#include "../../support/random.h"
#include "../../support/typed_array.h"

enum { RUN_ENDS = 8 };

/* One run: arrays of the host, each malloc'd. */
typedef struct network_run {
    uint32_t sizes[8];
    void *inputs[RUN_ENDS], *outputs[RUN_ENDS], *expected[RUN_ENDS];
    uint64_t input_bytes[RUN_ENDS], output_bytes[RUN_ENDS];
} network_run;

static inline void *room(uint64_t bytes)
{
    void *const memory = malloc((size_t)bytes + 1);
    if (!memory)
        exit(1);
    return memory;
}

static inline void draw_input(const pwl_network_edge *edge, void *codes, uint64_t count, uint64_t *state)
{
    uint64_t k;
    for (k = 0; k < count; k++)
        pwl_set_element_of((pwl_type)edge->type, codes, (size_t)k, random_in(state, edge->qmin, edge->qmax));
}

/* Sizes and inputs, and the outputs of pwl_network_run(). */
static inline void make_run(const pwl_network *network, network_run *run, uint64_t *state)
{
    const void *inputs[RUN_ENDS];
    pwl_network_call call = {run->sizes, inputs, run->expected, NULL, 0, NULL};
    int k;
    for (k = 0; k < network->sizes; k++)
        run->sizes[k] = (uint32_t)random_in(state, 1, network->longest[k]);
    for (k = 0; k < network->inputs; k++) {
        const uint16_t edge = network->input[k];
        run->input_bytes[k] = pwl_network_bytes(network, edge, run->sizes);
        inputs[k] = run->inputs[k] = room(run->input_bytes[k]);
        draw_input(&network->edges[edge], run->inputs[k], pwl_network_count(network, edge, run->sizes), state);
    }
    for (k = 0; k < network->outputs; k++) {
        run->output_bytes[k] = pwl_network_bytes(network, network->output[k], run->sizes);
        run->outputs[k] = room(run->output_bytes[k]);
        run->expected[k] = room(run->output_bytes[k]);
        memset(run->outputs[k], 0xa5, (size_t)run->output_bytes[k]);
    }
    call.bytes = pwl_network_size(network, run->sizes);
    call.memory = room(call.bytes);
    if (pwl_network_run(network, &call) != PWL_OK) {
        printf("Bail out! pwl_network_run() fails\n");
        exit(1);
    }
    free(call.memory);
}

/* Whether outputs are those that were expected; frees all. */
static inline int end_run(const pwl_network *network, network_run *run)
{
    int same = 1, k;
    for (k = 0; k < network->outputs; k++) {
        if (memcmp(run->outputs[k], run->expected[k], (size_t)run->output_bytes[k]) != 0) {
            uint64_t at = 0;
            while (((uint8_t *)run->outputs[k])[at] == ((uint8_t *)run->expected[k])[at])
                at++;
            printf("# output %d differs from byte %lu of %lu on\n", k, (unsigned long)at,
                   (unsigned long)run->output_bytes[k]);
            same = 0;
        }
        free(run->outputs[k]);
        free(run->expected[k]);
    }
    for (k = 0; k < network->inputs; k++)
        free(run->inputs[k]);
    return same;
}

#endif
