/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _XOPEN_SOURCE 700
#include "input.h"

#include <errno.h>
#include <nettle/sha2.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct identity {
    dev_t device;
    ino_t inode;
};

static struct {
    pthread_mutex_t lock; /* jobs may read at the same time */
    struct identity *files;
    size_t count, capacity;
    bool is_hashed, is_passing; /* of each file; some input can be read once alone */
    struct sha256_ctx hash;
} inputs = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct identity identity_of(const struct stat *status)
{
    return (struct identity){status->st_dev, status->st_ino};
}

static bool is_same(struct identity a, struct identity b)
{
    return a.device == b.device && a.inode == b.inode;
}

bool inputs_have(const struct stat *status)
{
    bool found = false;
    pthread_mutex_lock(&inputs.lock);
    for (size_t i = 0; i < inputs.count && !found; i++)
        found = is_same(inputs.files[i], identity_of(status));
    pthread_mutex_unlock(&inputs.lock);
    return found;
}

static bool add_input(struct identity file)
{
    bool added = true;
    pthread_mutex_lock(&inputs.lock);
    if (inputs.count == inputs.capacity) {
        const size_t capacity = inputs.capacity ? 2 * inputs.capacity : 16;
        struct identity *const files = realloc(inputs.files, capacity * sizeof *files);
        added = files != NULL;
        inputs.files = added ? files : inputs.files;
        inputs.capacity = added ? capacity : inputs.capacity;
    }
    if (added)
        inputs.files[inputs.count++] = file;
    pthread_mutex_unlock(&inputs.lock);
    return added;
}

/* Wherever the descriptor stands in the file, which does not change. */
static void hash_input(int fd)
{
    unsigned char piece[65536];
    off_t at = 0;
    ssize_t got;
    pthread_mutex_lock(&inputs.lock);
    while ((got = pread(fd, piece, sizeof piece, at)) > 0 || (got < 0 && errno == EINTR))
        if (got > 0) {
            sha256_update(&inputs.hash, (size_t)got, piece);
            at += got;
        }
    const uint64_t size = (uint64_t)at; /* so that one file's end is not another's beginning */
    sha256_update(&inputs.hash, sizeof size, (const uint8_t *)&size);
    pthread_mutex_unlock(&inputs.lock);
}

void inputs_hash(void)
{
    inputs.is_hashed = true;
    sha256_init(&inputs.hash);
}

int inputs_hashed(unsigned char digest[32], struct diag *diag)
{
    struct sha256_ctx hash;
    if (inputs.is_passing)
        return diag_set(diag, EXIT_USAGE,
                        "an input is no regular file, and jobs elsewhere cannot read it; name a file");
    pthread_mutex_lock(&inputs.lock);
    hash = inputs.hash;
    pthread_mutex_unlock(&inputs.lock);
    sha256_digest(&hash, SHA256_DIGEST_SIZE, digest);
    return EXIT_DONE;
}

int inputs_know(int fd, struct diag *diag)
{
    struct stat status, output;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        inputs.is_passing = true;
        return EXIT_DONE;
    }
    if (inputs.is_hashed)
        hash_input(fd);
    if (fstat(STDOUT_FILENO, &output) == 0 && is_same(identity_of(&status), identity_of(&output)))
        return diag_set(diag, EXIT_USAGE, "standard output goes into this file too; write to another one");
    return add_input(identity_of(&status)) ? EXIT_DONE : diag_set(diag, EXIT_IO, "out of memory");
}

void inputs_forget(void)
{
    pthread_mutex_lock(&inputs.lock);
    free(inputs.files);
    inputs.files = NULL;
    inputs.count = inputs.capacity = 0;
    pthread_mutex_unlock(&inputs.lock);
}
