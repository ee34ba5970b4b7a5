/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ranks.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/record.h"
#include "ranks_interface.h"

#define PAUSE_NS 200000

bool ranks_are_there(void)
{
    /* Open MPI; MPICH and Intel MPI; launchers by PMIx */
    static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i]))
            return true;
    return false;
}

static int fail(const struct ranks *ranks, struct diag *diag)
{
    return diag_set(diag, EXIT_IO, "MPI: %.500s", ranks->mpi->message);
}

static int load(struct ranks *ranks, struct diag *diag)
{
    static const struct library_kind kind = {MPI_LIBRARY_NAME, MPI_LIBRARY_VARIABLE, "-Dmpi=enabled", "pwlc_mpi_abi",
                                             PWLC_MPI_ABI};
    library_entry *entry;
    if (library_open(&ranks->library, &kind, diag) || library_function(&ranks->library, "pwlc_mpi", &entry, diag))
        return diag_prefix(diag, "started by mpirun");
    ranks->mpi = ((pwlc_mpi_function *)entry)();
    return EXIT_DONE;
}

int ranks_begin(struct ranks *ranks, int code, const char *jobs, struct diag *diag)
{
    struct rank_info own = {.process = getpid(), .code = code};
    *ranks = (struct ranks){0};
    gethostname(own.host, sizeof own.host - 1);
    strncpy(own.jobs, jobs, sizeof own.jobs - 1);
    if (load(ranks, diag))
        return diag->code;
    if (ranks->mpi->begin(&ranks->rank, &ranks->count))
        return fail(ranks, diag);
    ranks->all = calloc((size_t)ranks->count, sizeof *ranks->all);
    if (!ranks->all)
        return diag_set(diag, EXIT_IO, "out of memory for %d ranks", ranks->count);
    return ranks->mpi->gather(&own, ranks->all, sizeof own) ? fail(ranks, diag) : EXIT_DONE;
}

int ranks_send(struct ranks *ranks, int to, long long job, bool is_kept, const struct text *result, struct diag *diag)
{
    struct text message = {0};
    record_add_integer(&message, job);
    record_add_integer(&message, is_kept);
    if (result)
        text_add_bytes(&message, result->bytes, result->size);
    if (message.failed || message.size > INT_MAX)
        diag_set(diag, EXIT_IO, "a result of %zu bytes is too long for a message", message.size);
    else if (ranks->mpi->send(to, message.bytes, (int)message.size))
        fail(ranks, diag);
    text_free(&message);
    return diag->code;
}

int ranks_receive(struct ranks *ranks, struct rank_message *message, struct diag *diag)
{
    int size;
    *message = (struct rank_message){0};
    if (ranks->mpi->receive(&message->from, &message->memory, &size))
        return fail(ranks, diag);
    if (!message->memory)
        return EXIT_DONE;
    struct record record = {message->memory, (size_t)size, false};
    message->job = record_integer(&record);
    message->is_kept = record_integer(&record) != 0;
    message->bytes = record.bytes;
    message->size = record.size;
    return EXIT_DONE;
}

void ranks_pause(void)
{
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
}

void ranks_end(struct ranks *ranks)
{
    if (ranks->mpi)
        ranks->mpi->end();
    free(ranks->all);
    *ranks = (struct ranks){0};
}
