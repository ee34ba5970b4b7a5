/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "share.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/color.h"
#include "base/input.h"
#include "base/number.h"
#include "shared_run.h"

#define MOST_SHARDS 1000000

static struct {
    bool is_on, is_merging, has_ranks, have_met, is_leaving;
    char **argv; /* without the flags that share */
    int argc;
    const char *resume;
    int shard, shards;
    struct journal *merged;
    int merged_count;
    struct ranks ranks;
} sharing = {.shard = 1, .shards = 1};

/* -- The command line -------------------------------------------------------------------------------------------------
 */

/* The value of a flag at argv[i], as "--flag VALUE" or "--flag=VALUE"; moves i to its last word. Null for another. */
static const char *value_of(const char *flag, int argc, char **argv, int *i)
{
    const size_t length = strlen(flag);
    if (strncmp(argv[*i], flag, length) != 0 || (argv[*i][length] != '\0' && argv[*i][length] != '='))
        return NULL;
    if (argv[*i][length] == '=')
        return argv[*i] + length + 1;
    return *i + 1 < argc ? argv[++*i] : "";
}

static int take_shard(const char *value, struct diag *diag)
{
    const char *const slash = strchr(value, '/');
    int64_t shard, shards;
    if (!slash || number_integer(value, (size_t)(slash - value), &shard) != NUMBER_OK ||
        number_integer(slash + 1, strlen(slash + 1), &shards) != NUMBER_OK || shards < 1 || shards > MOST_SHARDS ||
        shard < 1 || shard > shards)
        return diag_set(diag, EXIT_USAGE, "--shard %.40s: must be I/N, as 1/4 for the first of four", value);
    sharing.shard = (int)shard;
    sharing.shards = (int)shards;
    return EXIT_DONE;
}

/* What the jobs are does not depend on how many are done at once. */
static int note_words(int argc, char **argv, struct diag *diag)
{
    sharing.argv = calloc((size_t)argc + 1, sizeof *sharing.argv);
    if (!sharing.argv)
        return diag_set(diag, EXIT_IO, "out of memory");
    for (int i = 0; i < argc; i++)
        if (!value_of("--jobs", argc, argv, &i) && !value_of("-j", argc, argv, &i))
            sharing.argv[sharing.argc++] = argv[i];
    return EXIT_DONE;
}

int share_take(int *argc, char **argv, struct diag *diag)
{
    const char *shard = NULL, *resume = NULL;
    int kept = 1;
    for (int i = 1; i < *argc; i++) {
        const int at = i;
        const char *const of_shard = value_of("--shard", *argc, argv, &i);
        const char *const of_resume = of_shard ? NULL : value_of("--resume", *argc, argv, &i);
        if ((of_shard && shard) || (of_resume && resume))
            return diag_set(diag, EXIT_USAGE, "%s is given more than once", of_shard ? "--shard" : "--resume");
        shard = of_shard ? of_shard : shard;
        resume = of_resume ? of_resume : resume;
        if (!of_shard && !of_resume)
            argv[kept++] = argv[at];
    }
    argv[kept] = NULL;
    *argc = kept;
    if (resume && !*resume)
        return diag_set(diag, EXIT_USAGE, "--resume needs a value, FILE");
    if (shard && take_shard(shard, diag))
        return diag->code;
    if (shard && !resume)
        return diag_set(diag, EXIT_USAGE, "--shard %s: needs --resume FILE, for its results", shard);
    sharing.resume = resume;
    sharing.has_ranks = !sharing.is_merging && ranks_are_there();
    sharing.is_on = resume || sharing.has_ranks || sharing.is_merging;
    if (!sharing.is_on)
        return EXIT_DONE;
    if (sharing.has_ranks)
        color_refuse(); /* mpirun may give ranks a terminal of its own */
    inputs_hash();
    return note_words(*argc, argv, diag);
}

void share_from(struct journal *journals, int count)
{
    sharing.is_merging = true;
    sharing.merged = journals;
    sharing.merged_count = count;
}

bool share_is_on(void)
{
    return sharing.is_on;
}

/* -- Journals ---------------------------------------------------------------------------------------------------------
 */

static int refuse_missing(const struct shared_run *run, int k, struct diag *diag)
{
    char name[SHARE_NAME_SIZE];
    const int shards = sharing.merged[0].head.shards, shard = shared_shard_of(k, shards);
    run->jobs->describe(run->jobs->context, k, name);
    for (int i = 0; i < sharing.merged_count; i++)
        if (sharing.merged[i].head.shard == shard)
            return diag_set(diag, EXIT_USAGE, "%s: job %d (%s) is not finished; run shard %d/%d again with --resume",
                            sharing.merged[i].path, k, name, shard, shards);
    return diag_set(diag, EXIT_USAGE, "shard %d/%d is missing; must be among the files", shard, shards);
}

static int merge(struct shared_run *run, const struct journal_head *head, struct diag *diag)
{
    for (int i = 0; i < sharing.merged_count; i++)
        if (journal_compare(&sharing.merged[i], head, diag) || shared_run_load(run, &sharing.merged[i], diag))
            return diag->code;
    for (int k = 0; k < run->jobs->count; k++)
        if (!run->done[k])
            return refuse_missing(run, k, diag);
    return EXIT_DONE;
}

/* -- Ranks ------------------------------------------------------------------------------------------------------------
 */

/* The hash of all that ranks must have in common. */
static void hash_head(const struct journal_head *head, char hex[65])
{
    struct text text = {0};
    text_add(&text, "%s %s %d", head->version, head->inputs, head->count);
    for (int i = 0; i < head->argc; i++)
        text_add_bytes(&text, head->argv[i], strlen(head->argv[i]) + 1);
    sha256_hex(text.bytes, text.size, hex);
    text_free(&text);
}

/* All ranks come to the same verdict; rank 0 says it. */
static int judge_ranks(const struct ranks *ranks, bool *agree, struct diag *diag)
{
    const struct rank_info *const all = ranks->all;
    *agree = true;
    for (int r = 0; r < ranks->count && *agree; r++) {
        *agree = all[r].code == EXIT_DONE && strcmp(all[r].jobs, all[0].jobs) == 0;
        if (*agree || ranks->rank != 0)
            continue;
        if (all[r].code != EXIT_DONE)
            return diag_set(diag, all[r].code, "rank %d on %s has failed, with code %d", r, all[r].host, all[r].code);
        return diag_set(diag, EXIT_USAGE,
                        "rank %d on %s has other inputs, or another pwlc, than rank 0; must be the same", r,
                        all[r].host);
    }
    return EXIT_DONE;
}

static int run_ranks(struct shared_run *run, const struct journal_head *head, bool *goes_on, struct diag *diag)
{
    char hash[65];
    bool agree;
    hash_head(head, hash);
    sharing.have_met = true;
    if (ranks_begin(&sharing.ranks, EXIT_DONE, hash, diag))
        return diag->code;
    *goes_on = sharing.ranks.rank == 0;
    if (judge_ranks(&sharing.ranks, &agree, diag) || !agree) {
        ranks_end(&sharing.ranks); /* after which the rank that failed has said why */
        return diag->code;
    }
    if (!*goes_on)
        ranks_follow(run->jobs, &sharing.ranks, diag);
    else if (!shared_run_begin(run, sharing.resume, head, diag))
        ranks_lead(run, &sharing.ranks, diag);
    if (diag->code == EXIT_DONE)
        ranks_end(&sharing.ranks);
    return diag->code; /* without an end to MPI, mpirun ends the other ranks */
}

bool share_end(int code)
{
    struct diag ignored;
    bool speaks = true;
    if (!sharing.has_ranks || sharing.have_met)
        return true;
    sharing.have_met = sharing.is_leaving = true;
    if (ranks_begin(&sharing.ranks, code, "", &ignored) == EXIT_DONE)
        speaks = sharing.ranks.rank == 0 || sharing.ranks.all[0].code == EXIT_DONE;
    return speaks;
}

void share_leave(void)
{
    if (sharing.has_ranks && sharing.is_leaving)
        ranks_end(&sharing.ranks);
}

int share_run(const struct shared_jobs *jobs, bool *goes_on, struct diag *diag)
{
    char inputs[65];
    unsigned char digest[32];
    *goes_on = true;
    if (!sharing.is_on) {
        jobs_run(jobs->count, jobs->workers, jobs->work, jobs->context, jobs->unit);
        return EXIT_DONE;
    }
    const struct journal_head head = {
        PWLC_VERSION, inputs, (const char *const *)sharing.argv, sharing.argc, jobs->count, sharing.shard, sharing.shards};
    struct shared_run run = {.jobs = jobs, .shard = sharing.shard, .shards = sharing.shards};
    diag->code = EXIT_DONE;
    if (inputs_hashed(digest, diag))
        return diag->code;
    sha256_hex(digest, sizeof digest, inputs);
    run.done = calloc((size_t)jobs->count + 1, sizeof *run.done);
    run.to_do = calloc((size_t)jobs->count + 1, sizeof *run.to_do);
    if (!run.done || !run.to_do)
        diag_set(diag, EXIT_IO, "out of memory for %d jobs", jobs->count);
    else if (sharing.is_merging)
        merge(&run, &head, diag);
    else if (sharing.has_ranks)
        run_ranks(&run, &head, goes_on, diag);
    else if (!shared_run_begin(&run, sharing.resume, &head, diag))
        shared_run_here(&run, diag);
    *goes_on &= sharing.shards == 1;
    shared_run_end(&run);
    return diag->code;
}

int share_nothing(const char *what_has_jobs, bool *goes_on, struct diag *diag)
{
    const struct shared_jobs none = {0};
    if (sharing.resume)
        return diag_set(diag, EXIT_USAGE, "--resume %s: of %s alone", sharing.resume, what_has_jobs);
    return share_run(&none, goes_on, diag);
}
