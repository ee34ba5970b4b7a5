/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _XOPEN_SOURCE 700
#include "input.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

struct identity {
    dev_t device;
    ino_t inode;
};

static struct {
    pthread_mutex_t lock; /* jobs may read at the same time */
    struct identity *files;
    size_t count, capacity;
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

int inputs_know(int fd, struct diag *diag)
{
    struct stat status, output;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return EXIT_DONE;
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
