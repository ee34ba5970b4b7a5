/* SPDX-License-Identifier: 0BSD */
/*
 * The few calls of NCCL that ffn_parallel.c makes, found at run time: libnccl.so.2 of the system, of PyPI's
 * nvidia-nccl where its folder is in LD_LIBRARY_PATH, or the file that PWL_NCCL names. Nothing is linked with it, and
 * none of its headers is needed. Functions return null, or in words what went wrong.
 */
#ifndef NCCL_H
#define NCCL_H

#include <stddef.h>

struct CUstream_st;

/* Elements; the numbers are NCCL's. */
typedef enum nccl_type { NCCL_S8 = 0, NCCL_S32 = 2, NCCL_F16 = 6 } nccl_type;

/* What ranks meet by: one of them makes it, all have the same. */
typedef struct nccl_id {
    char bytes[128];
} nccl_id;

typedef struct nccl {
    void *communicator;
    int rank, ranks;
} nccl;

/* "NCCL is missing: ..." where the library is not found. */
const char *nccl_make_id(nccl_id *id);

/* Of the current device, one thread or process a rank; returns when all have come. */
const char *nccl_join(const nccl_id *id, int rank, int ranks, nccl *made);
void nccl_leave(nccl *of); /* leaves zeros alone */

/* Sums over all ranks, in place. Queued on the stream, as all that follows; may be captured into a graph. */
const char *nccl_all_reduce(const nccl *of, void *data, size_t count, nccl_type type, struct CUstream_st *stream);

/* The rank's own `count` of the sums of ranks * count elements. */
const char *nccl_reduce_scatter(const nccl *of, const void *from, void *to, size_t count, nccl_type type,
                                struct CUstream_st *stream);

/* All ranks' `count` elements, one rank's after the other's. */
const char *nccl_all_gather(const nccl *of, const void *from, void *to, size_t count, nccl_type type,
                            struct CUstream_st *stream);

#endif
