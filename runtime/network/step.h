/* SPDX-License-Identifier: Apache-2.0 */
/* One node of a network at certain sizes: what its kind checks and runs. */
#ifndef PWL_NETWORK_STEP_H
#define PWL_NETWORK_STEP_H

#include <pwl/network.h>

#include "../element.h"
#include "../within.h"
#include "sum_ways.h"

typedef struct pwl_network_step {
    const pwl_network *network;
    const uint32_t *sizes;
    const pwl_network_node *node;
    const pwl_network_edge *in[PWL_NETWORK_READS], *out;
    pwl_network_shape x_shape[PWL_NETWORK_READS], y_shape;
    const void *x[PWL_NETWORK_READS]; /* of a run alone, as is all below */
    void *y;
    void *scratch; /* of as many bytes as the kind wants */
    pwl_network_way way;
    pwl_network_tapper *taps;
    pwl_network_rounder *round;
} pwl_network_step;

/* A kind of node: a row of the list in kinds.c. */
typedef struct pwl_network_kind_row {
    uint8_t least, most; /* edges that it reads */
    /* What the types and constants must be, at the longest sizes; step's shapes have passed fits(). */
    pwl_status (*check)(const pwl_network_step *step);
    /* Whether the shapes fit each other, and the kind's axes them. */
    int (*fits)(const pwl_network_step *step);
    void (*run)(const pwl_network_step *step);
    /* Whether the output may lie where input k does, given that both have one number of bytes; null: never. */
    int (*in_place)(const pwl_network_step *step, int k);
    /* Bytes of scratch at these sizes; null: none. */
    uint64_t (*scratch)(const pwl_network_step *step);
} pwl_network_kind_row;

/* Null for a kind that there is not. */
const pwl_network_kind_row *pwl_network_kind_of(const pwl_network_node *node);

/* shape.c */
/* Fills all of a step that does not belong to a run. */
void pwl_network_step_at(const pwl_network *network, const pwl_network_node *node, const uint32_t *sizes,
                         pwl_network_step *step);
size_t pwl_network_all(const pwl_network_shape *shape);

/* Whether axes [from, from + count) of a are those of b from another on. */
int pwl_network_same_axes(const pwl_network_shape *a, size_t from, const pwl_network_shape *b, size_t at, size_t count);

/* Shapes broadcast as numpy's do: aligned at their ends, and an axis of one place serves for all. Whether the inputs'
 * are then the output's. */
int pwl_network_broadcasts(const pwl_network_step *step);

/* To the next place of the output's first `axes` axes, and where each input then is. */
void pwl_network_next(const pwl_network_step *step, size_t axes, size_t *place, size_t *at);

/* run.c */
static inline uint64_t pwl_network_aligned(uint64_t bytes)
{
    return (bytes + 15) & ~(uint64_t)15;
}

/* Whether the shapes of all nodes fit at these sizes. */
int pwl_network_fits(const pwl_network *network, const uint32_t *sizes);

/* Writes where each place begins into the memory of a call that has been checked: once for any number of runs of nodes
 * at its sizes. */
void pwl_network_lay_out(const pwl_network *network, const pwl_network_call *call);
void pwl_network_run_nodes(const pwl_network *network, const pwl_network_call *call);

/* moves.c */
/* Whether the cache has each place that an append's third edge numbers: an array of the network's input. */
int pwl_network_has_places(const pwl_network_step *step, const void *numbers);

/* products.c */
enum { PWL_NETWORK_TILE = PWL_NETWORK_ROWS * PWL_NETWORK_COLUMNS };

/* PWL_OK where the sums of `channels` rows of `length` weights times codes of x, and what is_narrow says of them, are
 * safe, and their factors. */
pwl_status pwl_network_check_weights(const pwl_network_edge *x, const pwl_network_product *product);

/* edge_codes.c */
enum { PWL_NETWORK_PIECE = 64 };

/* to[k] = code (at + k * stride) less its zero point, for k below count, which is at most PWL_NETWORK_PIECE. */
void pwl_network_load(pwl_type type, const void *array, size_t at, size_t stride, size_t count, int64_t zero_point,
                      int64_t *to);

/* Code (at + k) of the output is clip(zero point + values[k]). */
void pwl_network_store(const pwl_network_edge *edge, void *array, size_t at, size_t count, const int64_t *values);

/* `count` elements of `bytes` bytes each, `stride` elements apart where they are read. */
void pwl_network_copy(void *to, size_t to_at, const void *from, size_t from_at, size_t stride, size_t count,
                      size_t bytes);

/* The largest |code - zero point|. */
uint64_t pwl_network_offset(const pwl_network_edge *edge);

static inline size_t pwl_network_bytes_of(const pwl_network_edge *edge)
{
    return (size_t)1 << pwl_type_bytes_log2((pwl_type)edge->type);
}

/* Whether factors and shifts are in their ranges for sums of at most `bits` bits, and `count` or one. */
pwl_status pwl_network_check_factors(const pwl_network_factors *factors, int bits, size_t count);

/* Whether codes are all the edge's. */
pwl_status pwl_network_check_codes(const pwl_network_edge *edge, const int16_t *codes, size_t count);

#endif
