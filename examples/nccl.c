/* SPDX-License-Identifier: 0BSD */
#include "nccl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUM = 0, DONE = 0 };

/* As NCCL's own, a result being an int, a communicator and a stream pointers. */
static struct library {
    int (*make_id)(nccl_id *id);
    int (*join)(void **communicator, int ranks, nccl_id id, int rank);
    int (*leave)(void *communicator);
    int (*all_reduce)(const void *from, void *to, size_t count, int type, int operation, void *communicator,
                      struct CUstream_st *stream);
    int (*reduce_scatter)(const void *from, void *to, size_t count, int type, int operation, void *communicator,
                          struct CUstream_st *stream);
    int (*all_gather)(const void *from, void *to, size_t count, int type, void *communicator,
                      struct CUstream_st *stream);
    const char *(*text)(int result);
} library;

static char missing[400];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void)
{
    static const struct {
        const char *name;
        void *function;
    } functions[] = {
        {"ncclGetUniqueId", &library.make_id},  {"ncclCommInitRank", &library.join},
        {"ncclCommDestroy", &library.leave},    {"ncclAllReduce", &library.all_reduce},
        {"ncclAllGather", &library.all_gather}, {"ncclReduceScatter", &library.reduce_scatter},
        {"ncclGetErrorString", &library.text},
    };
    const char *const named = getenv("PWL_NCCL");
    void *const handle = dlopen(named ? named : "libnccl.so.2", RTLD_NOW);
    if (!handle) {
        snprintf(missing, sizeof missing, "NCCL is missing: %s", dlerror());
        return;
    }
    for (size_t i = 0; i < sizeof functions / sizeof functions[0] && !missing[0]; i++) {
        void *const found = dlsym(handle, functions[i].name);
        memcpy(functions[i].function, &found, sizeof found);
        if (!found)
            snprintf(missing, sizeof missing, "NCCL is missing: %s", dlerror());
    }
}

static const char *text_of(int result)
{
    return result == DONE ? NULL : library.text(result);
}

const char *nccl_make_id(nccl_id *id)
{
    pthread_once(&once, load);
    return missing[0] ? missing : text_of(library.make_id(id));
}

const char *nccl_join(const nccl_id *id, int rank, int ranks, nccl *made)
{
    made->rank = rank;
    made->ranks = ranks;
    return text_of(library.join(&made->communicator, ranks, *id, rank));
}

void nccl_leave(nccl *of)
{
    if (of->communicator)
        (void)library.leave(of->communicator);
    of->communicator = NULL;
}

const char *nccl_all_reduce(const nccl *of, void *data, size_t count, nccl_type type, struct CUstream_st *stream)
{
    return text_of(library.all_reduce(data, data, count, type, SUM, of->communicator, stream));
}

const char *nccl_reduce_scatter(const nccl *of, const void *from, void *to, size_t count, nccl_type type,
                                struct CUstream_st *stream)
{
    return text_of(library.reduce_scatter(from, to, count, type, SUM, of->communicator, stream));
}

const char *nccl_all_gather(const nccl *of, const void *from, void *to, size_t count, nccl_type type,
                            struct CUstream_st *stream)
{
    return text_of(library.all_gather(from, to, count, type, of->communicator, stream));
}
