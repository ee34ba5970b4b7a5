/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks by integers alone: products, tables, operators of rows and of elements, and what moves codes between them.
 * docs/networks.md is their specification.
 *
 * A network is a constant of integers, as `pwlc emit NETWORK.json` writes it; it can live in ROM. Its nodes read edges,
 * which are arrays of codes, and write one each. It is checked once, and then run on any number of inputs by any number
 * of threads, each with memory of its own: running neither allocates nor keeps anything.
 *
 *   const uint32_t sizes[] = {1, 32};                              // batch, length: as the network names them
 *   const void *inputs[] = {ids, mask};
 *   void *outputs[] = {y};
 *   if (pwl_network_check(&network, NULL) == PWL_OK && pwl_network_size(&network, sizes) <= sizeof memory)
 *       status = pwl_network_run(&network, &(pwl_network_call){sizes, inputs, outputs, memory, sizeof memory, NULL});
 */
#ifndef PWL_NETWORK_H
#define PWL_NETWORK_H

#include "elements.h"
#include "plan.h"
#include "pwl.h"
#include "reduce.h"
#include "rows.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PWL_NETWORK_VERSION 1       /* layout and meaning of pwl_network */
#define PWL_NETWORK_AXES 8          /* of an edge, at most */
#define PWL_NETWORK_FACTORS 4       /* sizes whose product is an axis, at most */
#define PWL_NETWORK_READS 8         /* edges that a node reads, at most */
#define PWL_NETWORK_STATES 16       /* inputs of a loop's body, at most */
#define PWL_NETWORK_LARGEST 65536   /* of what a size can be */
#define PWL_NETWORK_EDGE 2147483647 /* codes of an edge, at most */
#define PWL_NETWORK_SUM_BITS 47     /* of a sum's magnitude, at most */
#define PWL_NETWORK_ELSEWHERE 65535 /* place of an edge that the caller's arrays hold: inputs and outputs */

/* The places of an axis: `times`, times each of the sizes named: 1 + its number, 0 for none. */
typedef struct pwl_network_axis {
    uint32_t times; /* 1 or more */
    uint8_t sizes[PWL_NETWORK_FACTORS];
} pwl_network_axis;

/* An array of codes, the last axis the fastest. Edges of one place of the memory are never needed at once. */
typedef struct pwl_network_edge {
    uint8_t type;       /* pwl_type */
    uint8_t axes;       /* 0..PWL_NETWORK_AXES */
    uint16_t place;     /* below `places` of the network, or PWL_NETWORK_ELSEWHERE */
    int64_t zero_point; /* within 33 bits */
    int64_t qmin, qmax;
    const pwl_network_axis *shape; /* null without an axis */
} pwl_network_edge;

/* What a node can be; the values are stable. */
typedef enum pwl_network_kind {
    PWL_NETWORK_GATHER = 0,
    PWL_NETWORK_CONSTANT = 1,
    PWL_NETWORK_PRODUCT = 2,
    PWL_NETWORK_MATMUL = 3,
    PWL_NETWORK_MULTIPLY = 4,
    PWL_NETWORK_MEAN = 5,
    PWL_NETWORK_OPERATOR = 6,
    PWL_NETWORK_RESHAPE = 7,
    PWL_NETWORK_TRANSPOSE = 8,
    PWL_NETWORK_SLICE = 9,
    PWL_NETWORK_CONCAT = 10,
    PWL_NETWORK_CONVOLUTION = 11,
    PWL_NETWORK_MAX_POOL = 12,
    PWL_NETWORK_LOOP = 13,
    PWL_NETWORK_APPEND = 14
} pwl_network_kind;

typedef struct pwl_network_node {
    uint8_t kind;  /* pwl_network_kind */
    uint8_t reads; /* inputs, 0..PWL_NETWORK_READS */
    uint16_t inputs[PWL_NETWORK_READS];
    uint16_t output;
    const void *of; /* the pwl_network_<kind>; null for reshape */
} pwl_network_node;

/* y = shr(v * factor[k], shift[k]) of a sum v: one for all, or one for each k. */
typedef struct pwl_network_factors {
    const int32_t *factor; /* not negative */
    const uint8_t *shift;  /* 1..62 */
    uint32_t count;
} pwl_network_factors;

typedef struct pwl_network_gather {
    const int16_t *table; /* `rows` rows of `columns` codes */
    uint32_t rows, columns;
} pwl_network_gather;

typedef struct pwl_network_constant {
    const int16_t *codes; /* in the output's shape of the longest sizes */
    uint32_t count;
} pwl_network_constant;

typedef struct pwl_network_product {
    const int8_t *weights;       /* `channels` rows of `length` */
    const int64_t *bias;         /* a channel each */
    pwl_network_factors factors; /* one, or a channel each */
    uint32_t channels, length;
    uint8_t is_narrow; /* 1: 32 bits hold the sum of any of a channel's products; 0: they need not */
} pwl_network_product;

typedef struct pwl_network_matmul {
    pwl_network_factors factors; /* one */
    uint8_t transposed;          /* 0, 1 */
} pwl_network_matmul;

typedef struct pwl_network_multiply {
    int32_t factor[2]; /* the second counts where four edges are read */
    uint8_t shift;     /* 1..62 */
} pwl_network_multiply;

typedef struct pwl_network_mean {
    pwl_network_factors factors; /* one, or one for each count from 1 to the longest axis */
    uint8_t axis;
} pwl_network_mean;

/* What an operator is: the type that `of` points to. */
typedef enum pwl_network_of {
    PWL_NETWORK_TABLE = 0,      /* pwl_table */
    PWL_NETWORK_REDUCED = 1,    /* pwl_reduced */
    PWL_NETWORK_SOFTMAX = 2,    /* pwl_softmax */
    PWL_NETWORK_NORM = 3,       /* pwl_norm */
    PWL_NETWORK_REQUANTISE = 4, /* pwl_requantise */
    PWL_NETWORK_ADD = 5         /* pwl_add */
} pwl_network_of;

typedef struct pwl_network_operator {
    const void *of;
    uint8_t type;      /* pwl_network_of */
    uint8_t is_causal; /* 0; of softmax 1: row r sees places 0 to r, 2: to the number at r of the last edge read */
} pwl_network_operator;

typedef struct pwl_network_transpose {
    uint8_t order[PWL_NETWORK_AXES]; /* axis k of the output is axis order[k] of the input */
} pwl_network_transpose;

typedef struct pwl_network_slice {
    int64_t start, stop; /* counted from the axis' end where they are negative */
    uint32_t step;       /* 1 or more */
    uint8_t axis;
    uint8_t keep; /* 0: place `start` alone, without the axis */
} pwl_network_slice;

typedef struct pwl_network_concat {
    uint8_t axis;
} pwl_network_concat;

/* Windows over rows and columns; of an edge without rows, its places are columns, and rows have {1, 1, 0, 1}. */
typedef struct pwl_network_window {
    uint32_t kernel, stride, padding, dilation; /* each 1 or more, but for the padding */
} pwl_network_window;

typedef struct pwl_network_convolution {
    const int8_t *weights;       /* `channels` times `inputs` times the kernel's rows and columns */
    const int64_t *bias;         /* a channel each */
    pwl_network_factors factors; /* one, or a channel each */
    uint32_t channels, inputs;   /* inputs: channels that each reads */
    uint32_t groups;
    pwl_network_window window[2]; /* rows, columns */
    uint8_t is_narrow;            /* as of a product */
} pwl_network_convolution;

typedef struct pwl_network_max_pool {
    pwl_network_window window[2]; /* of dilation 1 */
} pwl_network_max_pool;

/* Reads x, a cache, and an input of the network that numbers, for each place of x along `axis`, the place of the cache
 * that it takes. No other node reads the cache. */
typedef struct pwl_network_append {
    uint8_t axis;
} pwl_network_append;

/* The body has the sizes of the network around it. It reads a place of each input, then states; it gives a place of the
 * output, then the next states. It holds no loop and no append. */
typedef struct pwl_network_loop {
    const struct pwl_network *body;
    uint8_t axis;
    uint8_t reverse; /* 1: from the last place on */
} pwl_network_loop;

/* What a node of any kind but reshape says, for those that make networks. */
typedef union pwl_network_any {
    pwl_network_gather gather;
    pwl_network_constant constant;
    pwl_network_product product;
    pwl_network_matmul matmul;
    pwl_network_multiply multiply;
    pwl_network_mean mean;
    pwl_network_operator operate;
    pwl_network_transpose transpose;
    pwl_network_slice slice;
    pwl_network_concat concat;
    pwl_network_convolution convolution;
    pwl_network_max_pool max_pool;
    pwl_network_loop loop;
    pwl_network_append append;
} pwl_network_any;

typedef struct pwl_network {
    uint8_t version;                /* PWL_NETWORK_VERSION */
    uint8_t sizes, inputs, outputs; /* how many there are, as are the next three */
    uint16_t edge_count, node_count, places;
    const uint32_t *longest;        /* of each size */
    const uint16_t *input, *output; /* edges */
    const pwl_network_edge *edges;
    const pwl_network_node *nodes; /* in an order in which each reads what stands before it */
} pwl_network;

/* What the check found. */
typedef struct pwl_network_proof {
    pwl_status status;
    int32_t node; /* that fails, -1 where the failure is not of one node; then */
    int32_t edge; /* that fails, -1 where it is not of one */
} pwl_network_proof;

/*
 * Proves a network safe for all sizes up to the longest and every code, as docs/networks.md says under "What a check
 * proves"; tables and operators by their own checks. proof may be null. PWL_ERR_NULL, PWL_ERR_VERSION, PWL_ERR_FIELD (a
 * kind, a type, or a field of a node), PWL_ERR_SIZE (a longest size, or an edge of too many codes), PWL_ERR_RANGE_Y
 * (the codes of an edge, or of what writes it), PWL_ERR_ZERO_POINT, PWL_ERR_EDGE (no edge, one that is read before it
 * is written, or written twice), PWL_ERR_SHAPE (shapes of the longest sizes do not fit), PWL_ERR_SHIFT,
 * PWL_ERR_CONSTANT (a factor, or a constant that is no code of its edge), PWL_ERR_SUM_BITS, PWL_ERR_MEMORY (two edges
 * need one place at once), and what the checks of tables and operators give.
 */
PWL_API PWL_NODISCARD pwl_status pwl_network_check(const pwl_network *network, pwl_network_proof *proof);

/*
 * Gives each edge its place: those of inputs and outputs PWL_NETWORK_ELSEWHERE, others one of the memory. `edges` is
 * what network->edges points to. Kinds, edges and sizes that nodes, inputs, outputs and shapes name are there. `memory`
 * is aligned as a uint64_t and has 12 bytes a node and 4 an edge. The number of places, for the field `places`.
 */
PWL_API uint16_t pwl_network_place(const pwl_network *network, pwl_network_edge *edges, void *memory);

/* The codes of an edge at these sizes, and their bytes. */
PWL_API uint64_t pwl_network_count(const pwl_network *network, uint16_t edge, const uint32_t *sizes);
PWL_API uint64_t pwl_network_bytes(const pwl_network *network, uint16_t edge, const uint32_t *sizes);

/* Bytes of memory that a run at these sizes, each of 1 to its longest, needs. The same on every machine. */
PWL_API uint64_t pwl_network_size(const pwl_network *network, const uint32_t *sizes);

/* Products of codes, to be summed: of `rows` rows of a by `columns` rows of b, sums[i * columns + j] is
 * sum_k (a[i * a_stride + k] - a_zero) (b[j * b_stride + k * b_step] - b_zero) of `length` products. */
typedef struct pwl_network_sums {
    const void *a, *b;
    uint8_t a_type, b_type; /* pwl_type */
    uint8_t is_narrow;      /* 32 bits hold the sum of any of the products of one i and j */
    size_t rows, columns, length;
    size_t a_stride, b_stride, b_step; /* elements */
    int64_t a_zero, b_zero;
    int64_t *sums;
} pwl_network_sums;

/* At most so many rows and columns are asked for at once. */
#define PWL_NETWORK_ROWS 8
#define PWL_NETWORK_COLUMNS 32

/* Sums by plain C, of any types. */
PWL_API void pwl_network_sum(const pwl_network_sums *of);

/* How a network runs; null in a call stands for PWL_LEVELS_ALL. Neither field changes a bit. */
typedef struct pwl_network_way {
    uint32_t levels;
    void (*sum)(const pwl_network_sums *of); /* null: the quickest way of these levels */
} pwl_network_way;

/* What a run reads and writes. Arrays are those of the network's inputs and outputs in their order, of the types and
 * shapes of their edges at these sizes; none overlaps another or the memory, but for what an append gives: that may be
 * the array of the cache that it reads, which then changes in place. */
typedef struct pwl_network_call {
    const uint32_t *sizes; /* of each size of the network */
    const void *const *inputs;
    void *const *outputs;
    void *memory; /* aligned as an int64_t; may be null where pwl_network_size() is 0 */
    uint64_t bytes;
    const pwl_network_way *way;
} pwl_network_call;

/*
 * The outputs of the inputs. The network has passed pwl_network_check(). Nothing is written where PWL_ERR_NULL,
 * PWL_ERR_SIZE (a size outside 1 to its longest), PWL_ERR_SHAPE (a node's shapes do not fit at these sizes; the check
 * knows the longest alone), PWL_ERR_MEMORY (too little, or not aligned) or PWL_ERR_CODE (an input that is no code of
 * its edge, or numbers a place that a cache does not have) is returned.
 */
PWL_API PWL_NODISCARD pwl_status pwl_network_run(const pwl_network *network, const pwl_network_call *call);

/* What pwl_network_run() says of sizes: PWL_OK, PWL_ERR_SIZE or PWL_ERR_SHAPE. */
PWL_API PWL_NODISCARD pwl_status pwl_network_check_sizes(const pwl_network *network, const uint32_t *sizes);

/* What follows is the arithmetic of edges and of one code, for those who run networks elsewhere. */

/* An edge's axes as numbers. What is counted fits 31 bits, as the check proves of the longest sizes. */
typedef struct pwl_network_shape {
    size_t axes, at[PWL_NETWORK_AXES];
} pwl_network_shape;

PWL_FN void pwl_network_shape_at(const pwl_network_edge *edge, const uint32_t *sizes, pwl_network_shape *shape)
{
    size_t axis, k;
    shape->axes = edge->axes;
    for (axis = 0; axis < edge->axes; axis++) {
        shape->at[axis] = edge->shape[axis].times;
        for (k = 0; k < PWL_NETWORK_FACTORS; k++)
            if (edge->shape[axis].sizes[k])
                shape->at[axis] *= sizes[edge->shape[axis].sizes[k] - 1];
    }
}

/* The product of axes [from, to). */
PWL_FN size_t pwl_network_places(const pwl_network_shape *shape, size_t from, size_t to)
{
    size_t places = 1;
    for (; from < to; from++)
        places *= shape->at[from];
    return places;
}

/* Elements from one place of an axis of y to the next, of an x that is broadcast to it: 0 where x has one place alone,
 * or none. */
PWL_FN size_t pwl_network_stride(const pwl_network_shape *x, const pwl_network_shape *y, size_t axis)
{
    const size_t missing = y->axes - x->axes;
    if (axis < missing || x->at[axis - missing] == 1)
        return 0;
    return pwl_network_places(x, axis - missing + 1, x->axes);
}

/* A place of a slice: counted from the end where it is negative, and cut to the axis. */
PWL_FN size_t pwl_network_place_of(int64_t place, size_t length)
{
    const int64_t from_start = place < 0 ? place + (int64_t)length : place;
    return (size_t)pwl_sat(from_start, 0, (int64_t)length);
}

/* shr(v, n), of |v| below 2^62 and n from 1 to 62 */
PWL_FN int64_t pwl_network_shr(int64_t v, int n)
{
    return (v + ((int64_t)1 << (n - 1))) >> n;
}

#ifdef __cplusplus
}
#endif
#endif
