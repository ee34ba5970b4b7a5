/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The file of finished jobs. A run adds a record as each job ends, and syncs it, so that whatever ends the run, its
 * file holds what was finished:
 *
 *   head       magic, -1, size, hash | version, command line, hash of the inputs, number of jobs, shard
 *   a job's    magic, number, size, hash | result
 *   ...        in the order in which they ended
 *
 * Each hash, a SHA-256, covers the number, the size and what follows. A last record that is cut is one whose run was
 * ended while it wrote, and counts as not there; a record that is wrong with others behind it is an error.
 */
#ifndef PWLC_JOURNAL_H
#define PWLC_JOURNAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/file.h"

/* What the jobs are: the same in all runs that may share results. */
struct journal_head {
    const char *version;     /* of pwlc */
    const char *inputs;      /* the hash of what the command reads */
    const char *const *argv; /* the command line without the flags that share; argv[0] is the command's name */
    int argc;
    int count;         /* of jobs */
    int shard, shards; /* 1 of 1: all jobs */
};

struct journal {
    const char *path;
    int fd;
    uint64_t end; /* of the last whole record */

    unsigned char *bytes; /* the file as it was opened, its whole records; malloc'd */
    uint64_t size;
    struct journal_head head;
    char **words;  /* of head.argv; malloc'd, and so is what the head's pointers name */
    uint64_t next; /* where journal_next() goes on */
};

struct journal_record {
    int64_t job;
    const unsigned char *bytes;
    size_t size;
};

/* Reads a journal. Exit 1 when it cannot be read, 2 when it is none, of another format, or broken. Free with
 * journal_close(), also after a failure. */
int journal_read(const char *path, struct journal *journal, struct diag *diag);

/* Opens a journal to add to: a new one, or one of the same jobs, whose records journal_next() then gives. Exit 2 when
 * it is of others, naming what differs, or another process adds to it. */
int journal_open(const char *path, const struct journal_head *head, struct journal *journal, struct diag *diag);

/* Exit 2 unless both are of the same jobs; shards may differ. */
int journal_compare(const struct journal *journal, const struct journal_head *head, struct diag *diag);

/* The next record that was there when it was opened; 0 after the last. */
int journal_next(struct journal *journal, struct journal_record *record);

/* Adds a record; journal_sync() makes it last. Exit 1 when it cannot be written: then the file is as it was. */
int journal_add(struct journal *journal, int64_t job, const void *bytes, size_t size, struct diag *diag);
int journal_sync(struct journal *journal, struct diag *diag);

void journal_close(struct journal *journal);

#endif
