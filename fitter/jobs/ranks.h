/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The processes that mpirun has started: who they are, and messages between them. MPI is in libpwlc-mpi.so, which is
 * loaded (base/library.h) where the environment says that mpirun started this process. */
#ifndef PWLC_RANKS_H
#define PWLC_RANKS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/library.h"

#define MPI_LIBRARY_NAME "libpwlc-mpi.so"
#define MPI_LIBRARY_VARIABLE "PWL_MPI_LIBRARY"

/* What each rank tells all others. */
struct rank_info {
    char host[64];
    pid_t process;
    int code;      /* of its command's beginning, which has failed unless 0 */
    char jobs[65]; /* the hash of what its jobs are */
};

struct ranks {
    int rank, count;
    struct rank_info *all; /* of each rank; malloc'd */

    struct library library;
    struct pwlc_mpi *mpi;
};

/* Whether mpirun, or another launcher of MPI, started this process. */
bool ranks_are_there(void);

/* Begins MPI and tells all ranks of all. Exit 77 without the library, 1 when MPI fails. */
int ranks_begin(struct ranks *ranks, int code, const char *jobs, struct diag *diag);

/* A message is a job's number, whether its result is to be kept, and the result's bytes. */
struct rank_message {
    int from;
    long long job; /* or -1 */
    bool is_kept;
    void *memory; /* malloc'd; null: no message has arrived */
    const unsigned char *bytes;
    size_t size;
};

int ranks_send(struct ranks *ranks, int to, long long job, bool is_kept, const struct text *result, struct diag *diag);
int ranks_receive(struct ranks *ranks, struct rank_message *message, struct diag *diag);

/* A short pause between looks for messages. */
void ranks_pause(void);

/* Ends MPI, where it has begun; waits for all ranks. */
void ranks_end(struct ranks *ranks);

#endif
