/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NumPy .npy files (format 1.0, 2.0 and 3.0), little-endian or one-byte elements, C order. Every size is
 * checked against the file before use. */
#ifndef PWLC_NPY_H
#define PWLC_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define NPY_MAX_DIMENSIONS 8
#define NPY_MAX_START ((size_t)65547) /* of a file's data: version 1.0 allows headers of up to 65535 bytes */
#define NPY_HEADER_SIZE 512           /* more than any that is written */
#define NPY_SHAPE_SIZE (NPY_MAX_DIMENSIONS * 22 + 3) /* 20 digits and ", " each */

struct npy {
    char kind;      /* 'i' signed, 'u' unsigned, 'f' float */
    int item_size;  /* bytes: 1, 2, 4, 8; of floats 2, 4, 8 */
    int dimensions; /* 0..NPY_MAX_DIMENSIONS */
    size_t shape[NPY_MAX_DIMENSIONS];
    size_t count;              /* product of shape */
    const unsigned char *data; /* count * item_size bytes inside the file's bytes */
};

/* Whether a file is to be read as .npy: by its name, or by its first bytes, so that standard input works too. */
bool npy_recognise(const char *path, const void *bytes, size_t size);

/* Describes the array in bytes[0..size); data points into bytes. */
int npy_parse(const void *bytes, size_t size, struct npy *npy, struct diag *diag);

/* The same of a file's first bytes, all of them or at least NPY_MAX_START: npy->data stays null, and the data begin at
 * *data_start. npy_check_size then judges how many bytes of data there are. */
int npy_parse_header(const void *bytes, size_t size, struct npy *npy, size_t *data_start, struct diag *diag);
int npy_check_size(const struct npy *npy, uint64_t data_size, struct diag *diag);

/* Element as integer or real. Integer elements beyond int64 and kinds that do not fit are the caller's to check. */
int64_t npy_integer(const struct npy *npy, size_t index);
double npy_real(const struct npy *npy, size_t index);

/* Elements [from, from + count) as reals. */
void npy_reals(const struct npy *npy, size_t from, size_t count, double *reals);

/* The shape as numpy writes it: "(100, 2)", "(5,)", "()". */
void npy_shape_text(const struct npy *npy, char text[NPY_SHAPE_SIZE]);

/* Writes an element's bytes as a file has them. */
void npy_store(unsigned char *to, uint64_t bits, int item_size);

/* Turns elements as a file has them into the machine's own, or back, in place. */
void npy_swap_order(void *elements, size_t count, int item_size);

/* What a version 1.0 file begins with; npy->data is not looked at. */
int npy_build_header(const struct npy *npy, unsigned char header[NPY_HEADER_SIZE], size_t *size, struct diag *diag);

/* Builds a version 1.0 file; *bytes is malloc'd. data holds count little-endian elements as in npy. */
int npy_build(const struct npy *npy, unsigned char **bytes, size_t *size, struct diag *diag);

#endif
