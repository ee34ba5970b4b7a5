/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What libpwlc-mpi.so gives pwlc: the few calls of MPI that it needs, so that nothing else is linked with MPI. */
#ifndef PWLC_RANKS_INTERFACE_H
#define PWLC_RANKS_INTERFACE_H

#include <stddef.h>

/* Changes when a function below does. */
#define PWLC_MPI_ABI 1
typedef int pwlc_mpi_abi_function(void);

/* All but end() return 0, or 1 with a line in `message`; all are for one thread, the one that calls begin(). */
struct pwlc_mpi {
    int (*begin)(int *rank, int *count);

    /* Each rank's `size` bytes, in all ranks, in the order of ranks. */
    int (*gather)(const void *mine, void *all, int size);

    int (*send)(int to, const void *bytes, int size);

    /* A message that has arrived, into malloc'd memory; null in *bytes where none has. Does not wait. */
    int (*receive)(int *from, void **bytes, int *size);

    /* Waits for all ranks to call it. */
    void (*end)(void);

    char message[512]; /* why a call failed */
};

/* The one there is. */
typedef struct pwlc_mpi *pwlc_mpi_function(void);

#endif
