/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libpwlc-mpi.so: the only source that includes MPI's header. */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>

#include "ranks_interface.h"

#define TAG 1

static int begin(int *rank, int *count);
static int gather(const void *mine, void *all, int size);
static int send(int to, const void *bytes, int size);
static int receive(int *from, void **bytes, int *size);
static void end(void);

static struct pwlc_mpi mpi = {.begin = begin, .gather = gather, .send = send, .receive = receive, .end = end};

/* 0, or 1 with MPI's words. */
static int check(int error)
{
    int length = 0;
    char words[MPI_MAX_ERROR_STRING];
    if (error == MPI_SUCCESS)
        return 0;
    MPI_Error_string(error, words, &length);
    words[(size_t)length < sizeof mpi.message ? (size_t)length : sizeof mpi.message - 1] = '\0';
    strcpy(mpi.message, words);
    return 1;
}

static int begin(int *rank, int *count)
{
    int given;
    int error = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given);
    if (error == MPI_SUCCESS)
        error = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (error == MPI_SUCCESS)
        error = MPI_Comm_rank(MPI_COMM_WORLD, rank);
    if (error == MPI_SUCCESS)
        error = MPI_Comm_size(MPI_COMM_WORLD, count);
    if (error == MPI_SUCCESS && given < MPI_THREAD_FUNNELED) {
        strcpy(mpi.message, "this MPI does not allow threads beside the one that calls it");
        return 1;
    }
    return check(error);
}

static int gather(const void *mine, void *all, int size)
{
    return check(MPI_Allgather(mine, size, MPI_BYTE, all, size, MPI_BYTE, MPI_COMM_WORLD));
}

static int send(int to, const void *bytes, int size)
{
    return check(MPI_Send(bytes, size, MPI_BYTE, to, TAG, MPI_COMM_WORLD));
}

static int receive(int *from, void **bytes, int *size)
{
    MPI_Status status;
    int is_there;
    *bytes = NULL;
    if (check(MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &is_there, &status)))
        return 1;
    if (!is_there)
        return 0;
    if (check(MPI_Get_count(&status, MPI_BYTE, size)))
        return 1;
    *from = status.MPI_SOURCE;
    *bytes = malloc((size_t)*size + 1);
    if (!*bytes) {
        strcpy(mpi.message, "out of memory");
        return 1;
    }
    return check(MPI_Recv(*bytes, *size, MPI_BYTE, *from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void end(void)
{
    MPI_Finalize();
}

int pwlc_mpi_abi(void);
int pwlc_mpi_abi(void)
{
    return PWLC_MPI_ABI;
}

struct pwlc_mpi *pwlc_mpi(void);
struct pwlc_mpi *pwlc_mpi(void)
{
    return &mpi;
}
