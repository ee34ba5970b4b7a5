/* SPDX-License-Identifier: 0BSD */
/* Tensors of a GGUF file (versions 2 and 3, little-endian) for pwl/qgemm.h. */
#ifndef GGUF_H
#define GGUF_H

#include <stddef.h>

#include <pwl/qgemm.h>

/*
 * The tensor of that name in a file's bytes, which tensor->data then points into. Every size is checked against
 * the file. Null when it is found; else why not, for messages: "%s has ...", the file or the tensor being %s.
 */
const char *gguf_find(const void *bytes, size_t size, const char *name, pwl_qgemm_tensor *tensor);

#endif
