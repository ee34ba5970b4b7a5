/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* getdents64() */
#include "scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- Removing: nothing here takes memory or a lock, so that a handler may do it ---------------------------------------
 */

/* As getdents64(2) lays it out. */
struct entry {
    uint64_t inode;
    int64_t offset;
    uint16_t size; /* of this entry in the buffer, to the next */
    uint8_t type;
    char name[];
};

#define DEEPEST 64    /* folders in folders; what lies deeper stays */
#define MOST_PASSES 8 /* over one folder into which a program that was just killed still wrote */

static void remove_content(int folder, int depth);

static void remove_entry(int folder, const char *name, int depth)
{
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return;
    const int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner < 0) {
        unlinkat(folder, name, 0);
        return;
    }
    if (depth < DEEPEST)
        remove_content(inner, depth + 1);
    close(inner);
    unlinkat(folder, name, AT_REMOVEDIR);
}

/* Entries are removed while the folder is read: passes go on until one finds it empty. */
static void remove_content(int folder, int depth)
{
    _Alignas(struct entry) char buffer[2048];
    for (int pass = 0; pass < MOST_PASSES; pass++) {
        long filled;
        int found = 0;
        lseek(folder, 0, SEEK_SET);
        while ((filled = getdents64(folder, (void *)buffer, sizeof buffer)) > 0)
            for (long at = 0; at < filled;) {
                const struct entry *const entry = (const struct entry *)(buffer + at);
                remove_entry(folder, entry->name, depth);
                at += entry->size;
                found++;
            }
        if (found <= 2) /* "." and ".." */
            return;
    }
}

/* -- The folder of this process ---------------------------------------------------------------------------------------
 */

static char root[SCRATCH_PATH_SIZE - 32];
static dev_t root_device; /* of root: another's folder of that name is left alone */
static ino_t root_inode;
static atomic_bool is_made;
static atomic_int count; /* of folders in it */
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

bool scratch_remove(void)
{
    struct stat status;
    if (!atomic_exchange(&is_made, false))
        return true;
    const int folder = open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return true;
    const bool is_ours = fstat(folder, &status) == 0 && status.st_dev == root_device && status.st_ino == root_inode;
    if (is_ours)
        remove_content(folder, 0);
    close(folder);
    const bool is_left = is_ours && rmdir(root) != 0 && errno != ENOENT;
    atomic_store(&is_made, is_left);
    return !is_left;
}

/* No signal finds the folder made and not yet known. */
static int make_root(struct diag *diag)
{
    sigset_t all, old;
    const char *const given = getenv("TMPDIR");
    const char *const place = given && *given ? given : "/tmp";
    struct stat status;
    char *absolute = realpath(place, NULL);
    int code = EXIT_DONE;
    if (!absolute)
        return diag_set(diag, EXIT_IO, "%s: no folder for temporary files: %s; set TMPDIR", place, strerror(errno));
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    if ((size_t)snprintf(root, sizeof root, "%s/pwlc-XXXXXX", absolute) >= sizeof root)
        code = diag_set(diag, EXIT_IO, "%s: too long a name for a folder of temporary files; set TMPDIR", place);
    else if (mkdtemp(root) == NULL)
        code = diag_set(diag, EXIT_IO, "%s: cannot make a folder for temporary files: %s; set TMPDIR", place,
                        strerror(errno));
    else if (lstat(root, &status) != 0)
        code = diag_set(diag, EXIT_IO, "%s: %s", root, strerror(errno));
    else
        root_device = status.st_dev, root_inode = status.st_ino;
    atomic_store(&is_made, code == EXIT_DONE);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    free(absolute);
    return code;
}

static int need_root(struct diag *diag)
{
    pthread_mutex_lock(&making);
    const int code = atomic_load(&is_made) ? EXIT_DONE : make_root(diag);
    pthread_mutex_unlock(&making);
    return code;
}

static int make_folder(const char *path, struct diag *diag)
{
    if (mkdir(path, 0700) != 0)
        return diag_set(diag, EXIT_IO, "%s: cannot make this folder: %s", path, strerror(errno));
    return EXIT_DONE;
}

int scratch_folder(char path[SCRATCH_PATH_SIZE], struct diag *diag)
{
    if (need_root(diag) != EXIT_DONE)
        return diag->code;
    snprintf(path, SCRATCH_PATH_SIZE, "%s/%d", root, atomic_fetch_add(&count, 1));
    return make_folder(path, diag);
}

int scratch_of_programs(char path[SCRATCH_PATH_SIZE], struct diag *diag)
{
    if (need_root(diag) != EXIT_DONE)
        return diag->code;
    snprintf(path, SCRATCH_PATH_SIZE, "%s/programs", root);
    pthread_mutex_lock(&making);
    const int code = access(path, F_OK) == 0 ? EXIT_DONE : make_folder(path, diag);
    pthread_mutex_unlock(&making);
    return code;
}

int scratch_write(const char *folder, const char *name, struct text *text, struct diag *diag)
{
    char path[SCRATCH_PATH_SIZE + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = text->failed ? NULL : fopen(path, "wbe");
    const bool is_written = file && fwrite(text->bytes, 1, text->size, file) == text->size;
    const bool is_closed = file && fclose(file) == 0;
    int code = EXIT_DONE;
    if (text->failed)
        code = diag_set(diag, EXIT_IO, "out of memory for %s", name);
    else if (!is_written || !is_closed)
        code = diag_set(diag, EXIT_IO, "%s: cannot write: %s", path, strerror(errno));
    text_free(text);
    return code;
}
