/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "jobs/share.h"

static const struct option_info options[] = {
    {NULL, NULL, NULL},
};

/* The commands that share their jobs. */
static const struct command *const sharing[] = {&command_fit, &command_explore, &command_sweep, &command_certify,
                                                &command_verify};

static const struct command *find(const char *name)
{
    for (size_t i = 0; i < sizeof sharing / sizeof *sharing; i++)
        if (strcmp(sharing[i]->name, name) == 0)
            return sharing[i];
    return NULL;
}

/* Exit 2 where journals are of other jobs than the first, of another number of shards, or of the same shard. */
static int check(const struct journal *journals, int count, struct diag *diag)
{
    for (int i = 1; i < count; i++) {
        const struct journal_head *const head = &journals[i].head;
        if (journal_compare(&journals[i], &journals[0].head, diag))
            return diag->code;
        if (head->shards != journals[0].head.shards)
            return diag_set(diag, EXIT_USAGE, "%s: of %d shards, must be of %d, as %s", journals[i].path, head->shards,
                            journals[0].head.shards, journals[0].path);
        for (int k = 0; k < i; k++)
            if (journals[k].head.shard == head->shard)
                return diag_set(diag, EXIT_USAGE, "%s and %s are both of shard %d/%d", journals[k].path,
                                journals[i].path, head->shard, head->shards);
    }
    return EXIT_DONE;
}

/* Runs the command of the journals, which finds its results there. */
static int merge(struct journal *journals, int count, struct diag *diag)
{
    const struct journal_head *const head = &journals[0].head;
    const struct command *const command = find(head->argv[0]);
    if (!command)
        return diag_set(diag, EXIT_USAGE, "%s: pwlc %.40s has no jobs; must be a command that has", journals[0].path,
                        head->argv[0]);
    char **const argv = calloc((size_t)head->argc + 1, sizeof *argv);
    if (!argv)
        return diag_set(diag, EXIT_IO, "out of memory");
    memcpy(argv, head->argv, (size_t)head->argc * sizeof *argv);
    share_from(journals, count);
    const int code = command->run(head->argc, argv, diag);
    free(argv);
    return code;
}

static int run(int argc, char **argv, struct diag *diag)
{
    struct argument_walk walk = {.command = &command_merge, .argc = argc, .argv = argv, .index = 1};
    const struct option_info *option;
    const char *path;
    struct journal *const journals = calloc((size_t)argc, sizeof *journals);
    int count = 0, more;
    if (!journals)
        return diag_set(diag, EXIT_IO, "out of memory");
    while ((more = argument_next(&walk, &option, &path, diag)) > 0)
        if (journal_read(path, &journals[count++], diag))
            break;
    if (more == 0 && count == 0)
        diag_set(diag, EXIT_USAGE, "journals are needed: pwlc merge FILE...");
    if (diag->code == EXIT_DONE && !check(journals, count, diag))
        merge(journals, count, diag);
    for (int i = 0; i < count; i++)
        journal_close(&journals[i]);
    free(journals);
    return diag->code;
}

const struct command command_merge = {
    .name = "merge",
    .synopsis = "pwlc merge FILE...",
    .summary = "Write the output of a command whose jobs were done in shards.",
    .details =
        "fit --spec, explore, sweep --exhaustive, certify --exhaustive and verify have jobs. --shard I/N does every "
        "Nth of "
        "them, "
        "from the Ith on, into the FILE of --resume, on machines that know nothing of each other; merge takes the "
        "files "
        "of all shards, in any order, and writes what the command without --shard writes, to the same place. It reads "
        "the command's inputs again, by the same names, and refuses those with other content.",
    .example = "pwlc fit tanh --in s24:2^-20 --out s16:2^-15 -o tanh.json\n"
               "pwlc sweep tanh.json --exhaustive --shard 1/2 --resume one\n"
               "pwlc sweep tanh.json --exhaustive --shard 2/2 --resume two\n"
               "pwlc merge one two",
    .options = options,
    .run = run,
};
