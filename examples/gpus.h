/* SPDX-License-Identifier: 0BSD */
/* Which GPUs ranks have. A block has the same bits on GPUs of unlike kinds where its sums are integers, but every rank
 * waits for the slowest: a user should know, and may choose by CUDA_VISIBLE_DEVICES. */
#ifndef GPUS_H
#define GPUS_H

#include <stddef.h>

/* A rank's, without padding: ranks exchange it as bytes. */
typedef struct gpu_kind {
    char name[256]; /* as the driver says it, and zeros */
    int major, minor;
} gpu_kind;

/* Bytes that every message fits in. */
#define GPUS_MESSAGE 700

/* Null where all have the same name and capability; or `message`, which names the first rank that differs from rank 0.
 */
const char *gpus_unlike(const gpu_kind *kinds, int ranks, char *message, size_t size);

#endif
