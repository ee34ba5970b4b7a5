/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs in ranks. Each rank but 0 sends a message when it is free, which brings the result of its last job, and gets the
 * number of its next, or -1 after the last. Rank 0 does jobs in a thread, so that its main thread always answers.
 *
 *   rank r                          rank 0
 *   -1                        -->   is free
 *                             <--   job k
 *   k, is_kept, result        -->   journal, slot k; is free
 *                             <--   -1
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/output.h"
#include "base/progress.h"
#include "shared_run.h"

#define NO_JOB (-1)

/* -- Who is at what: for the handler of a signal, which ends all when one has died ------------------------------------
 */

#define LINE_SIZE (SHARE_NAME_SIZE + 240)

struct seat {
    pid_t process;
    bool is_here;            /* on this host, where the process can be looked for */
    char line[2][LINE_SIZE]; /* "pwlc: rank 1 on HOST (process 77) has died at job 7, ...\n" */
    _Atomic int valid;       /* which of both; -1: it is at none */
};

static struct {
    struct seat *seats;
    int count;
} board;

static bool is_dead(const struct seat *seat)
{
    return seat->is_here && kill(seat->process, 0) != 0 && errno == ESRCH;
}

static void say(const struct seat *seat)
{
    const int valid = atomic_load(&seat->valid);
    if (valid >= 0)
        (void)!write(STDERR_FILENO, seat->line[valid], strlen(seat->line[valid]));
}

/* In a handler, which may interrupt anything. */
static void say_who_died(pid_t sender)
{
    bool found = false;
    (void)sender;
    for (int r = 0; r < board.count; r++)
        if (is_dead(&board.seats[r])) {
            say(&board.seats[r]);
            found = true;
        }
    for (int r = 0; !found && r < board.count; r++)
        if (!board.seats[r].is_here)
            say(&board.seats[r]);
}

/* In a handler, too, of the other ranks. Rank 0 is to find them alive, though mpirun ends all ranks that live at the
 * same moment; and where rank 0 is what has died, rank 1 says so, unless rank 0 ended it: then that one has spoken, and
 * may have ended before this handler runs. */
static void outlive_rank_0(pid_t sender)
{
    if (board.count > 0 && sender != board.seats[0].process && is_dead(&board.seats[0]))
        say(&board.seats[0]);
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
}

/* Of the first so many ranks. */
static int make_board(const struct ranks *ranks, int count, void (*tell)(pid_t), struct diag *diag)
{
    board.seats = calloc((size_t)count + 1, sizeof *board.seats);
    if (!board.seats)
        return diag_set(diag, EXIT_IO, "out of memory for %d ranks", count);
    for (int r = 0; r < count; r++) {
        board.seats[r].process = ranks->all[r].process;
        board.seats[r].is_here = strcmp(ranks->all[r].host, ranks->all[0].host) == 0;
        atomic_init(&board.seats[r].valid, -1);
    }
    board.count = count;
    outputs_tell(tell);
    return EXIT_DONE;
}

static void drop_board(void)
{
    outputs_tell(NULL);
    free(board.seats);
    board.count = 0;
}

/* Which of a seat's lines is to be written next. */
static int free_line(const struct seat *seat)
{
    return atomic_load(&seat->valid) == 0;
}

static void note_job(const struct shared_run *run, const struct ranks *ranks, int rank, int job)
{
    struct seat *const seat = &board.seats[rank];
    const struct rank_info *const info = &ranks->all[rank];
    const int other = free_line(seat);
    char name[SHARE_NAME_SIZE];
    if (job == NO_JOB) {
        atomic_store(&seat->valid, -1);
        return;
    }
    run->jobs->describe(run->jobs->context, job, name);
    snprintf(seat->line[other], LINE_SIZE, "pwlc: rank %d on %s (process %ld) %s job %d (%s)%s\n", rank, info->host,
             (long)info->process,
             !seat->is_here ? "has died, or was ended by this, at"
             : rank > 0     ? "has died at"
                            : "has died at or behind",
             job, name, run->has_journal ? "; the same command goes on from the file of --resume" : "");
    atomic_store(&seat->valid, other);
}

/* -- Rank 0's own jobs ------------------------------------------------------------------------------------------------
 */

struct own {
    const struct shared_jobs *jobs;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t given;
    int job; /* to be done, or NO_JOB */
    bool is_done, has_ended;
    struct text result; /* of the job that is done */
    bool is_kept;
};

static void *serve(void *context)
{
    struct own *const own = context;
    pthread_mutex_lock(&own->lock);
    for (;;) {
        while (!own->has_ended && (own->job == NO_JOB || own->is_done))
            pthread_cond_wait(&own->given, &own->lock);
        if (own->has_ended)
            break;
        const int job = own->job;
        pthread_mutex_unlock(&own->lock);
        own->jobs->work(own->jobs->context, job);
        own->is_kept = own->jobs->save(own->jobs->context, job, &own->result);
        pthread_mutex_lock(&own->lock);
        own->is_done = true;
    }
    pthread_mutex_unlock(&own->lock);
    return NULL;
}

static int own_begin(struct own *own, const struct shared_jobs *jobs, struct diag *diag)
{
    *own = (struct own){.jobs = jobs, .job = NO_JOB};
    pthread_mutex_init(&own->lock, NULL);
    pthread_cond_init(&own->given, NULL);
    if (pthread_create(&own->thread, NULL, serve, own) != 0)
        return diag_set(diag, EXIT_IO, "no thread for the jobs of rank 0");
    return EXIT_DONE;
}

static bool own_is_free(struct own *own)
{
    pthread_mutex_lock(&own->lock);
    const bool is_free = own->job == NO_JOB || own->is_done;
    pthread_mutex_unlock(&own->lock);
    return is_free;
}

static void own_give(struct own *own, int job)
{
    pthread_mutex_lock(&own->lock);
    text_free(&own->result);
    own->job = job;
    own->is_done = false;
    pthread_cond_signal(&own->given);
    pthread_mutex_unlock(&own->lock);
}

static void own_end(struct own *own)
{
    pthread_mutex_lock(&own->lock);
    own->has_ended = true;
    pthread_cond_signal(&own->given);
    pthread_mutex_unlock(&own->lock);
    pthread_join(own->thread, NULL);
    pthread_cond_destroy(&own->given);
    pthread_mutex_destroy(&own->lock);
    text_free(&own->result);
}

/* -- Rank 0 -----------------------------------------------------------------------------------------------------------
 */

struct lead {
    struct shared_run *run;
    struct ranks *ranks;
    struct own own;
    struct progress progress;
    int given, finished; /* of run->to_do */
    int released;        /* ranks that were told that there are no more jobs */
};

/* The next job for a rank, or NO_JOB. */
static int next_job(struct lead *lead, int rank)
{
    const struct shared_run *const run = lead->run;
    const int job = lead->given < run->count ? run->to_do[lead->given++] : NO_JOB;
    note_job(run, lead->ranks, rank, job);
    return job;
}

static int finish(struct lead *lead, int job, bool is_kept, const void *bytes, size_t size, struct diag *diag)
{
    lead->run->done[job] = true;
    lead->finished++;
    progress_add(&lead->progress, 1);
    return is_kept ? shared_run_keep(lead->run, job, bytes, size, diag) : EXIT_DONE;
}

/* A job for a rank, and what it is to say if rank 0 dies. */
static int send_job(struct lead *lead, int to, int job, struct diag *diag)
{
    const int valid = atomic_load(&board.seats[0].valid);
    struct text line = {0};
    text_add(&line, "%s", valid < 0 ? "" : board.seats[0].line[valid]);
    ranks_send(lead->ranks, to, job, false, &line, diag);
    text_free(&line);
    return diag->code;
}

/* The next job goes out before the last is looked at. */
static int answer(struct lead *lead, const struct rank_message *message, struct diag *diag)
{
    const struct shared_jobs *const jobs = lead->run->jobs;
    const int next = next_job(lead, message->from);
    if (send_job(lead, message->from, next, diag))
        return diag->code;
    lead->released += next == NO_JOB;
    if (message->job == NO_JOB)
        return EXIT_DONE;
    struct record result = {message->bytes, message->size, false};
    if (message->job < 0 || message->job >= jobs->count || lead->run->done[message->job] ||
        !jobs->load(jobs->context, (int)message->job, &result) || !record_is_read(&result))
        return diag_set(diag, EXIT_IO, "rank %d sent no result of its job", message->from);
    return finish(lead, (int)message->job, message->is_kept, message->bytes, message->size, diag);
}

static int serve_own(struct lead *lead, struct diag *diag)
{
    struct own *const own = &lead->own;
    if (own->job != NO_JOB && own->is_done) {
        if (own->result.failed)
            return diag_set(diag, EXIT_IO, "out of memory for a result");
        if (finish(lead, own->job, own->is_kept, own->result.bytes, own->result.size, diag))
            return diag->code;
    }
    own_give(own, next_job(lead, 0));
    return EXIT_DONE;
}

static int serve_ranks(struct lead *lead, struct diag *diag)
{
    while (lead->finished < lead->run->count || lead->released < lead->ranks->count - 1) {
        struct rank_message message;
        if (ranks_receive(lead->ranks, &message, diag))
            return diag->code;
        if (message.memory) {
            answer(lead, &message, diag);
            free(message.memory);
        } else if (own_is_free(&lead->own) && (lead->own.job != NO_JOB || lead->given < lead->run->count)) {
            serve_own(lead, diag);
        } else if (!shared_run_sync(lead->run, diag)) {
            ranks_pause();
        }
        if (diag->code)
            return diag->code;
    }
    return shared_run_sync(lead->run, diag);
}

/* mpirun ends the other ranks when one ends like this. Rank 1 is ended before, and knows by whom. */
static _Noreturn void end_at_once(const struct diag *diag)
{
    fprintf(stderr, "pwlc: %s\n", diag->text);
    if (board.count > 1 && board.seats[1].is_here)
        kill(board.seats[1].process, SIGTERM);
    outputs_drop();
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    _exit(diag->code);
}

int ranks_lead(struct shared_run *run, struct ranks *ranks, struct diag *diag)
{
    struct lead lead = {.run = run, .ranks = ranks};
    if (make_board(ranks, ranks->count, say_who_died, diag) || own_begin(&lead.own, run->jobs, diag))
        end_at_once(diag);
    progress_begin(&lead.progress, run->jobs->unit ? run->jobs->unit : "jobs", (uint64_t)run->count);
    if (serve_ranks(&lead, diag))
        end_at_once(diag);
    progress_end(&lead.progress);
    own_end(&lead.own);
    drop_board();
    return EXIT_DONE;
}

/* -- The other ranks --------------------------------------------------------------------------------------------------
 */

static int wait_for_job(struct ranks *ranks, int *job, struct diag *diag)
{
    struct rank_message message;
    while (!ranks_receive(ranks, &message, diag) && !message.memory)
        ranks_pause();
    *job = (int)message.job;
    if (board.count > 0 && message.size > 0 && message.size < LINE_SIZE) {
        struct seat *const seat = &board.seats[0];
        const int other = free_line(seat);
        memcpy(seat->line[other], message.bytes, message.size);
        seat->line[other][message.size] = '\0';
        atomic_store(&seat->valid, other);
    }
    free(message.memory);
    return diag->code;
}

int ranks_follow(const struct shared_jobs *jobs, struct ranks *ranks, struct diag *diag)
{
    int job;
    if (make_board(ranks, ranks->rank == 1, outlive_rank_0, diag) || ranks_send(ranks, 0, NO_JOB, false, NULL, diag))
        return diag->code;
    while (!wait_for_job(ranks, &job, diag) && job != NO_JOB) {
        struct text result = {0};
        jobs->work(jobs->context, job);
        const bool is_kept = jobs->save(jobs->context, job, &result);
        if (result.failed)
            diag_set(diag, EXIT_IO, "out of memory for a result");
        else
            ranks_send(ranks, 0, job, is_kept, &result, diag);
        text_free(&result);
        if (diag->code)
            break;
    }
    drop_board();
    return diag->code;
}
