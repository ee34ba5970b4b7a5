/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Networks as the fitter holds them: the runtime's constant, and the names, scales and operators that the file has
 * beside it. docs/networks.md has the kinds of nodes and the file. */
#ifndef PWLC_NETWORK_H
#define PWLC_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include <pwl/network.h>

#include "base/diag.h"
#include "base/file.h"
#include "function/tensor.h"
#include "operator/operator.h"
#include "table/table.h"

/* A table or an operator of a node, and as the runtime reads it. */
struct node_operator {
    bool is_table;
    struct table table;
    struct packed_table packed_table;
    struct row_operator row;
    struct packed_operator packed_row;
};

/* Arrays of constants that a kind of node has, at most. */
#define NODE_ARRAYS 4

struct network_node {
    char *name; /* where it comes from in the model; "" where the file says nothing */
    pwl_network_any of;
    void *arrays[NODE_ARRAYS];      /* what `of` points to, malloc'd */
    size_t bytes;                   /* of these */
    struct node_operator *operator; /* malloc'd; null for other kinds */
    struct network *body;           /* of a loop, malloc'd; null for other kinds */
};

struct network_edge {
    char *name;
    struct tensor type;
};

struct network {
    pwl_network packed; /* complete and checked; it points into what follows */
    char *name;         /* that of its file of arrays, without its ending */
    bool is_body;       /* of a loop; sizes and longest are those of the network around it */
    char **sizes;
    uint32_t *longest;
    uint16_t *input, *output;
    pwl_network_edge *packed_edges;
    pwl_network_axis *axes; /* PWL_NETWORK_AXES an edge */
    pwl_network_node *packed_nodes;
    struct network_edge *edges;
    struct network_node *nodes;
};

void network_free(struct network *network);

/* network_json.c: reads a network and the arrays beside it, and checks it by pwl_network_check(). Messages begin with
 * the file, then the field. */
#define NETWORK_MAX_BYTES ((size_t)256 << 20)
int network_read(const char *path, struct network *network, struct diag *diag);

/* The same of bytes; the arrays may have any name and any hash. */
int network_from_bytes(const char *json, size_t json_size, const unsigned char *arrays, size_t arrays_size,
                       struct network *network, struct diag *diag);

/* Whether a file is a network's: a regular file, an object of JSON with the field pwl_network. */
bool network_recognise(const char *path);

/* The name of a node's kind: "product". */
const char *node_kind_name(const pwl_network_node *node);

/* "(batch, length, 64)" of an edge, and "s16". */
void network_shape_text(const struct network *network, uint16_t edge, struct text *out);

/* Bytes of a node's constants: its arrays, the tables of its operator, and what its body has; and of all nodes. */
size_t node_bytes(const struct network *network, uint16_t node);
size_t network_bytes(const struct network *network);

/* "NAME=VALUE" puts a value into sizes, which holds one for each size. Exit 2 where there is no such size, or no such
 * value of it. */
int network_set_size(const struct network *network, const char *text, uint32_t *sizes, struct diag *diag);

#endif
