/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a command says of the jobs that it shares out (share.h). */
#ifndef PWLC_SHARED_JOBS_H
#define PWLC_SHARED_JOBS_H

#include <stdbool.h>

#include "base/file.h"
#include "base/record.h"
#include "jobs.h"

#define SHARE_NAME_SIZE 160

struct shared_jobs {
    int count;
    int workers;      /* threads, where there is one process */
    const char *unit; /* of the progress, "tables" */
    void *context;
    job_work *work;

    /* The result in slot k as a record. False: it is one of this moment, as memory that ran out, and not to be kept. */
    bool (*save)(void *context, int k, struct text *record);

    /* Fills slot k from a record; false when that is none. */
    bool (*load)(void *context, int k, struct record *record);

    /* What the job is, for messages: "codes 0 to 65535 of tanh.json". */
    void (*describe)(void *context, int k, char name[SHARE_NAME_SIZE]);
};

#endif
