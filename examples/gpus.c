/* SPDX-License-Identifier: 0BSD */
#include "gpus.h"

#include <stdio.h>
#include <string.h>

static int is_same(const gpu_kind *a, const gpu_kind *b)
{
    return strncmp(a->name, b->name, sizeof a->name) == 0 && a->major == b->major && a->minor == b->minor;
}

const char *gpus_unlike(const gpu_kind *kinds, int ranks, char *message, size_t size)
{
    const int most = (int)sizeof kinds->name;
    int other = 1;
    while (other < ranks && is_same(&kinds[0], &kinds[other]))
        other++;
    if (other >= ranks)
        return NULL;
    snprintf(
        message, size,
        "GPUs of unlike kinds: rank 0 has %.*s (%d.%d), rank %d has %.*s (%d.%d); every rank waits for the slowest",
        most, kinds[0].name, kinds[0].major, kinds[0].minor, other, most, kinds[other].name, kinds[other].major,
        kinds[other].minor);
    return message;
}
