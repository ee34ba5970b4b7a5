/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* O_TMPFILE */
#include "cache.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE 1024

void cache_name(const struct text *made_from, char name[CACHE_NAME_SIZE])
{
    char hex[65];
    sha256_hex(made_from->bytes ? made_from->bytes : "", made_from->size, hex);
    snprintf(name, CACHE_NAME_SIZE, "%s.json", hex);
}

/* False where the environment names no absolute place. */
static bool find_folder(char path[PATH_SIZE])
{
    const char *const cache = getenv("XDG_CACHE_HOME"), *const home = getenv("HOME");
    int length = -1;
    if (cache && cache[0] == '/')
        length = snprintf(path, PATH_SIZE, "%s/pwlc", cache);
    else if (home && home[0] == '/')
        length = snprintf(path, PATH_SIZE, "%s/.cache/pwlc", home);
    return length > 0 && length < PATH_SIZE;
}

/* Makes the folder, and those that it lies in. */
static void make_folder(char *path)
{
    for (char *slash = path + 1; (slash = strchr(slash, '/')) != NULL; *slash++ = '/') {
        *slash = '\0';
        mkdir(path, 0777);
    }
    mkdir(path, 0777);
}

json_t *cache_read(const char *name)
{
    char folder[PATH_SIZE], path[PATH_SIZE + CACHE_NAME_SIZE];
    unsigned char *bytes = NULL;
    size_t size;
    struct diag ignored;
    json_t *object = NULL;
    if (!find_folder(folder))
        return NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (file_read(path, 1 << 16, &bytes, &size, &ignored) == EXIT_DONE)
        object = json_loadb((const char *)bytes, size, JSON_REJECT_DUPLICATES, NULL);
    free(bytes);
    return object;
}

/* The file has no name before it is whole, so that a signal leaves nothing. */
void cache_write(const char *name, const json_t *object)
{
    char folder[PATH_SIZE], path[PATH_SIZE + CACHE_NAME_SIZE], unnamed[40];
    char *const text = json_dumps(object, JSON_COMPACT);
    if (!text || !find_folder(folder)) {
        free(text);
        return;
    }
    make_folder(folder);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text)) {
        snprintf(unnamed, sizeof unnamed, "/proc/self/fd/%d", fd);
        unlink(path); /* a damaged one */
        const int linked = linkat(AT_FDCWD, unnamed, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
        (void)linked; /* where it failed, another command was quicker */
    }
    if (fd >= 0)
        close(fd);
    free(text);
}
