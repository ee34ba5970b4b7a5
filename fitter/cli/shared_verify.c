/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "shared_verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jobs/share.h"

/* Each part builds anew, which takes seconds: codes must be many. */
#define MANY_BITS 24
#define PARTS 16

struct shared_verdict {
    struct verdict verdict;
    struct diag diag;
};

void shared_verify_add(struct shared_verify *shared, const char *target)
{
    if (shared->count < SHARED_VERIFY_MOST)
        snprintf(shared->targets[shared->count++], sizeof shared->targets[0], "%.15s", target);
}

static void work(void *context, int job)
{
    const struct shared_verify *const shared = context;
    const char *const target = shared->targets[job / shared->parts];
    struct shared_verdict *const slot = &shared->verdicts[job];
    struct verification part = *shared->verification;
    part.part = job % shared->parts;
    part.parts = shared->parts;
    /* A proof is of all codes. */
    if (part.part == 0 || strcmp(target, VERIFY_PROOF) != 0)
        verify(target, &part, &slot->verdict, &slot->diag);
}

static bool save(void *context, int job, struct text *record)
{
    const struct shared_verify *const shared = context;
    const struct verdict *const verdict = &shared->verdicts[job].verdict;
    const struct diag *const diag = &shared->verdicts[job].diag;
    record_add_diag(record, diag);
    record_add_string(record, verdict->tools, strlen(verdict->tools));
    record_add_string(record, verdict->fault, strlen(verdict->fault));
    record_add_string(record, verdict->name, strlen(verdict->name));
    record_add_string(record, verdict->claim, strlen(verdict->claim));
    record_add_integer(record, verdict->compared);
    record_add_integer(record, verdict->mismatches);
    record_add_integer(record, verdict->code);
    record_add_integer(record, verdict->expected);
    record_add_integer(record, verdict->found);
    record_add_real(record, verdict->seconds);
    return diag->code != EXIT_IO && diag->code != EXIT_MISSING;
}

static void take_string(struct record *record, char *to, size_t room)
{
    size_t size;
    char *const string = record_string(record, &size);
    if (string)
        snprintf(to, room, "%s", string);
    free(string);
}

static bool load(void *context, int job, struct record *record)
{
    const struct shared_verify *const shared = context;
    struct verdict *const verdict = &shared->verdicts[job].verdict;
    record_diag(record, &shared->verdicts[job].diag);
    take_string(record, verdict->tools, sizeof verdict->tools);
    take_string(record, verdict->fault, sizeof verdict->fault);
    take_string(record, verdict->name, sizeof verdict->name);
    take_string(record, verdict->claim, sizeof verdict->claim);
    verdict->compared = record_integer(record);
    verdict->mismatches = record_integer(record);
    verdict->code = record_integer(record);
    verdict->expected = record_integer(record);
    verdict->found = record_integer(record);
    verdict->seconds = record_real(record);
    return !record->failed;
}

static void describe(void *context, int job, char name[SHARE_NAME_SIZE])
{
    const struct shared_verify *const shared = context;
    const char *const target = shared->targets[job / shared->parts];
    if (shared->parts == 1)
        snprintf(name, SHARE_NAME_SIZE, "%s", target);
    else
        snprintf(name, SHARE_NAME_SIZE, "part %d of %d of the codes of %s", job % shared->parts + 1, shared->parts,
                 target);
}

int shared_verify_run(struct shared_verify *shared, bool *goes_on, struct diag *diag)
{
    const struct verification *const verification = shared->verification;
    shared->parts = verification->exhaustive && verification->table->in.bits > MANY_BITS ? PARTS : 1;
    shared->verdicts = calloc((size_t)(shared->count * shared->parts), sizeof *shared->verdicts);
    if (!shared->verdicts)
        return diag_set(diag, EXIT_IO, "out of memory");
    const struct shared_jobs jobs = {shared->count * shared->parts, 1, "targets", shared, work, save, load, describe};
    return share_run(&jobs, goes_on, diag);
}

void shared_verify_join(const struct shared_verify *shared, int target, struct verdict *verdict, struct diag *diag)
{
    const struct shared_verdict *const parts = &shared->verdicts[target * shared->parts];
    *verdict = parts->verdict;
    *diag = parts->diag;
    for (int k = 1; k < shared->parts; k++) {
        const struct verdict *const part = &parts[k].verdict;
        if (verdict->mismatches == 0 && part->mismatches > 0) { /* the first one */
            verdict->code = part->code;
            verdict->expected = part->expected;
            verdict->found = part->found;
            memcpy(verdict->name, part->name, sizeof verdict->name);
        }
        verdict->compared += part->compared;
        verdict->mismatches += part->mismatches;
        verdict->seconds += part->seconds;
        if (diag->code == EXIT_DONE)
            *diag = parts[k].diag;
    }
}

void shared_verify_free(struct shared_verify *shared)
{
    free(shared->verdicts);
    shared->verdicts = NULL;
}
