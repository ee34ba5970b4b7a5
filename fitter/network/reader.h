/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of the reader of networks share. */
#ifndef PWLC_NETWORK_READER_H
#define PWLC_NETWORK_READER_H

#include "arrays.h"
#include "network.h"

struct reader {
    struct network *network;
    const struct arrays *arrays;
    json_t *names;   /* of edges: their numbers */
    char prefix[16]; /* of arrays' names: of a body its loop's number and a point */
};

/* node_fields.c: the kind of a node, its fields and its arrays, into nodes[k] and packed_nodes[k], whose edges are
 * known.
 */
int reader_node(const struct reader *reader, const struct fields *fields, uint16_t k, struct diag *diag);

/* network_json.c: the body of the loop nodes[k]. */
int reader_body(const struct reader *reader, const struct fields *fields, uint16_t k, struct diag *diag);

#endif
