/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often each input code occurs, as `--weights` gives it. */
#ifndef PWLC_WEIGHTS_H
#define PWLC_WEIGHTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "tensor.h"

struct weights {
    size_t count;    /* at least 1 */
    int64_t *code;   /* ascending; null: one value for each code, in their order. Codes not listed weigh 0 */
    double *value;   /* 0 to 1, the largest is 1: what is read, over its largest */
    char sha256[65]; /* of the file's bytes, lower-case hexadecimal */
};

/* Reads FILE: .npy of any type (shape (n,): a weight for each code; (n, 2): rows q_x, weight, in any order) or text
 * with one "weight" or one "q_x,weight" a line, as csv.h reads it. Weights are counts or shares: finite, 0 or more, not
 * all 0, and not more than the input has codes. Messages name the file and the line or element. */
int weights_read(const char *path, uint64_t codes, struct weights **weights, struct diag *diag);

/* As weights_read, from memory; for tests and fuzzing. npy: the bytes are a .npy file. */
int weights_parse(const void *bytes, size_t size, int npy, uint64_t codes, struct weights **weights, struct diag *diag);

void weights_free(struct weights *weights);

/* Whether the weights are those of all codes of a type: exit 2 for another number of them or another code. */
int weights_check(const struct weights *weights, const struct tensor *in, struct diag *diag);

/* The code of an entry, the weights being those of the type. */
int64_t weights_code(const struct weights *weights, const struct tensor *in, size_t entry);

#endif
