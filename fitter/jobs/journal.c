/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* flock, memmem */
#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/integers.h"
#include "base/record.h"

#define FORMAT 1
#define HEAD_JOB (-1)
#define MOST_WORDS 100000

static const char magic[8] = {'p', 'w', 'l', 'c', 'j', 'o', 'b', '\n'};

enum { AT_JOB = sizeof magic, AT_SIZE = AT_JOB + 8, AT_HASH = AT_SIZE + 8, START = AT_HASH + SHA256_DIGEST_SIZE };

/* The hash of a record whose job, size and bytes stand there. */
static void hash_record(const unsigned char start[START], const void *bytes, size_t size,
                        uint8_t digest[SHA256_DIGEST_SIZE])
{
    struct sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, AT_HASH - AT_JOB, start + AT_JOB);
    sha256_update(&context, size, bytes);
    sha256_digest(&context, SHA256_DIGEST_SIZE, digest);
}

/* Whether a whole and right record stands at a place of the file. */
static bool parse(const unsigned char *at, uint64_t left, struct journal_record *record)
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    if (left < START || memcmp(at, magic, sizeof magic) != 0)
        return false;
    const uint64_t size = little_endian(at + AT_SIZE, 8);
    if (size > left - START)
        return false;
    *record = (struct journal_record){(int64_t)little_endian(at + AT_JOB, 8), at + START, (size_t)size};
    hash_record(at, record->bytes, record->size, digest);
    return memcmp(digest, at + AT_HASH, sizeof digest) == 0;
}

/* -- The head ---------------------------------------------------------------------------------------------------------
 */

static void write_head(const struct journal_head *head, struct text *text)
{
    record_add_integer(text, FORMAT);
    record_add_string(text, head->version, strlen(head->version));
    record_add_string(text, head->inputs, strlen(head->inputs));
    record_add_integer(text, head->count);
    record_add_integer(text, head->shard);
    record_add_integer(text, head->shards);
    record_add_integer(text, head->argc);
    for (int i = 0; i < head->argc; i++)
        record_add_string(text, head->argv[i], strlen(head->argv[i]));
}

static int read_head(struct journal *journal, const struct journal_record *from, struct diag *diag)
{
    struct record record = {from->bytes, from->size, false};
    struct journal_head *const head = &journal->head;
    size_t size;
    const int64_t format = record_integer(&record);
    if (format != FORMAT)
        return diag_set(diag, EXIT_USAGE, "%s: a journal of format %lld, must be %d", journal->path, (long long)format,
                        FORMAT);
    head->version = record_string(&record, &size);
    head->inputs = record_string(&record, &size);
    head->count = (int)record_integer(&record);
    head->shard = (int)record_integer(&record);
    head->shards = (int)record_integer(&record);
    const int64_t argc = record_integer(&record);
    if (argc > 0 && argc < MOST_WORDS)
        journal->words = calloc((size_t)argc + 1, sizeof *journal->words);
    for (; journal->words && head->argc < argc; head->argc++)
        journal->words[head->argc] = record_string(&record, &size);
    head->argv = (const char *const *)journal->words;
    if (!record_is_read(&record) || !journal->words)
        return diag_set(diag, EXIT_USAGE, "%s: its head is no journal's of this pwlc", journal->path);
    return EXIT_DONE;
}

/* "sweep a.json --exhaustive", as far as it fits. */
static void format_words(const struct journal_head *head, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < head->argc && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "", head->argv[i]);
}

static bool has_same_words(const struct journal_head *a, const struct journal_head *b)
{
    bool same = a->argc == b->argc;
    for (int i = 0; same && i < a->argc; i++)
        same = strcmp(a->argv[i], b->argv[i]) == 0;
    return same;
}

int journal_compare(const struct journal *journal, const struct journal_head *head, struct diag *diag)
{
    const struct journal_head *const own = &journal->head;
    char words[160], wanted[160];
    if (strcmp(own->version, head->version) != 0)
        return diag_set(diag, EXIT_USAGE, "%s: a journal of pwlc %s, must be of %s", journal->path, own->version,
                        head->version);
    if (!has_same_words(own, head)) {
        format_words(own, words, sizeof words);
        format_words(head, wanted, sizeof wanted);
        return diag_set(diag, EXIT_USAGE, "%s: the journal of `pwlc %s`, must be of `pwlc %s`", journal->path, words,
                        wanted);
    }
    if (strcmp(own->inputs, head->inputs) != 0 || own->count != head->count)
        return diag_set(diag, EXIT_USAGE,
                        "%s: the journal of the same command with other content of its inputs; must be of the same",
                        journal->path);
    return EXIT_DONE;
}

/* -- Reading ----------------------------------------------------------------------------------------------------------
 */

/* Walks over the records, and finds the end of the last whole one. */
static int check_records(struct journal *journal, uint64_t size, struct diag *diag)
{
    struct journal_record record;
    uint64_t at = 0;
    while (parse(journal->bytes + at, size - at, &record)) {
        if (at == 0 && record.job == HEAD_JOB) {
            if (read_head(journal, &record, diag) != EXIT_DONE)
                return diag->code;
        } else if (!journal->words || record.job < 0 || record.job >= journal->head.count) {
            return diag_set(diag, EXIT_USAGE, "%s: the record at byte %llu is of no job", journal->path,
                            (unsigned long long)at);
        }
        at += START + record.size;
        journal->next = journal->next ? journal->next : at;
    }
    journal->end = journal->size = at;
    if (at < size && memmem(journal->bytes + at + 1, size - at - 1, magic, sizeof magic))
        return diag_set(diag, EXIT_USAGE, "%s: the record at byte %llu is broken, and others follow; remove the file",
                        journal->path, (unsigned long long)at);
    if (!journal->words)
        return diag_set(diag, EXIT_USAGE, "%s: is no journal that --resume writes", journal->path);
    return EXIT_DONE;
}

/* What is there, unless that is nothing. */
static int load(struct journal *journal, struct diag *diag)
{
    struct stat status;
    if (fstat(journal->fd, &status) != 0)
        return diag_set(diag, EXIT_IO, "%s: cannot read: %s", journal->path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return diag_set(diag, EXIT_USAGE, "%s: is no regular file, which a journal must be", journal->path);
    const size_t size = (size_t)status.st_size;
    journal->bytes = malloc(size + 1);
    if (!journal->bytes)
        return diag_set(diag, EXIT_IO, "%s: out of memory", journal->path);
    if (size == 0)
        return EXIT_DONE;
    if (file_read_at(journal->fd, journal->path, 0, journal->bytes, size, diag) != EXIT_DONE)
        return diag->code;
    return check_records(journal, size, diag);
}

static int open_file(const char *path, int flags, struct journal *journal, struct diag *diag)
{
    *journal = (struct journal){.path = path, .fd = open(path, flags | O_CLOEXEC, 0666)};
    if (journal->fd < 0)
        return diag_set(diag, EXIT_IO, "%s: cannot open: %s", path, strerror(errno));
    return EXIT_DONE;
}

int journal_read(const char *path, struct journal *journal, struct diag *diag)
{
    if (open_file(path, O_RDONLY, journal, diag) || load(journal, diag))
        return diag->code;
    if (!journal->words)
        return diag_set(diag, EXIT_USAGE, "%s: is no journal that --resume writes", path);
    return EXIT_DONE;
}

int journal_next(struct journal *journal, struct journal_record *record)
{
    if (journal->next >= journal->size || !parse(journal->bytes + journal->next, journal->size - journal->next, record))
        return 0;
    journal->next += START + record->size;
    return 1;
}

/* -- Writing ----------------------------------------------------------------------------------------------------------
 */

static int write_at(int fd, uint64_t at, const unsigned char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t put = pwrite(fd, bytes, size, (off_t)at);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return errno;
        bytes += put;
        at += (uint64_t)put;
        size -= (size_t)put;
    }
    return 0;
}

int journal_add(struct journal *journal, int64_t job, const void *bytes, size_t size, struct diag *diag)
{
    struct text text = {0};
    uint8_t digest[SHA256_DIGEST_SIZE] = {0};
    int error = ENOMEM;
    text_add_bytes(&text, magic, sizeof magic);
    record_add_integer(&text, job);
    record_add_integer(&text, (int64_t)size);
    text_add_bytes(&text, digest, sizeof digest);
    text_add_bytes(&text, bytes, size);
    if (!text.failed) {
        unsigned char *const record = (unsigned char *)text.bytes;
        hash_record(record, record + START, size, record + AT_HASH);
        error = write_at(journal->fd, journal->end, record, text.size);
    }
    if (error == 0)
        journal->end += text.size;
    else
        (void)!ftruncate(journal->fd, (off_t)journal->end);
    text_free(&text);
    return error == 0 ? EXIT_DONE : diag_set(diag, EXIT_IO, "%s: cannot write: %s", journal->path, strerror(error));
}

int journal_sync(struct journal *journal, struct diag *diag)
{
    if (fdatasync(journal->fd) != 0 && errno != EINVAL && errno != ENOTSUP)
        return diag_set(diag, EXIT_IO, "%s: cannot write: %s", journal->path, strerror(errno));
    return EXIT_DONE;
}

/* One that another process adds to as well would come to nothing. */
static int lock(const struct journal *journal, struct diag *diag)
{
    if (flock(journal->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return diag_set(diag, EXIT_USAGE, "%s: another run of pwlc adds to it; wait, or name another file",
                        journal->path);
    return EXIT_DONE;
}

static int begin(struct journal *journal, const struct journal_head *head, struct diag *diag)
{
    struct text text = {0};
    write_head(head, &text);
    if (text.failed)
        diag_set(diag, EXIT_IO, "out of memory");
    else if (!journal_add(journal, HEAD_JOB, text.bytes, text.size, diag))
        journal_sync(journal, diag);
    text_free(&text);
    return diag->code;
}

/* A head that was cut, too, is none. */
static bool is_cut_head(const struct journal *journal, const struct diag *diag)
{
    struct stat status;
    return diag->code == EXIT_USAGE && journal->bytes && !journal->words && fstat(journal->fd, &status) == 0 &&
           memcmp(journal->bytes, magic,
                  (size_t)status.st_size < sizeof magic ? (size_t)status.st_size : sizeof magic) == 0 &&
           (status.st_size < START || little_endian(journal->bytes + AT_SIZE, 8) > (uint64_t)status.st_size - START);
}

int journal_open(const char *path, const struct journal_head *head, struct journal *journal, struct diag *diag)
{
    diag->code = EXIT_DONE;
    if (open_file(path, O_RDWR | O_CREAT, journal, diag) || lock(journal, diag))
        return diag->code;
    if (load(journal, diag) != EXIT_DONE) {
        if (!is_cut_head(journal, diag))
            return diag->code;
        diag->code = EXIT_DONE;
    }
    if (ftruncate(journal->fd, (off_t)journal->end) != 0)
        return diag_set(diag, EXIT_IO, "%s: cannot write: %s", path, strerror(errno));
    if (!journal->words)
        return begin(journal, head, diag);
    if (journal_compare(journal, head, diag))
        return diag->code;
    if (journal->head.shard != head->shard || journal->head.shards != head->shards)
        return diag_set(diag, EXIT_USAGE, "%s: the journal of shard %d/%d, must be of %d/%d", path, journal->head.shard,
                        journal->head.shards, head->shard, head->shards);
    return EXIT_DONE;
}

void journal_close(struct journal *journal)
{
    free((void *)(uintptr_t)journal->head.version);
    free((void *)(uintptr_t)journal->head.inputs);
    for (int i = 0; i < journal->head.argc; i++)
        free(journal->words[i]);
    free(journal->words);
    free(journal->bytes);
    if (journal->path && journal->fd >= 0)
        close(journal->fd);
    *journal = (struct journal){.fd = -1};
}
