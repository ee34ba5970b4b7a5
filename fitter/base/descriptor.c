/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _XOPEN_SOURCE 700 /* readlink */
#include "descriptor.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "number.h"

#define MOST_LINKS 40 /* as many as Linux follows */

/* The number of a path that says it; -1 for others. */
static int numbered(const char *path)
{
    char own[40];
    const char *const folders[] = {"/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/", own};
    snprintf(own, sizeof own, "/proc/%ld/fd/", (long)getpid());
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const size_t length = strlen(folders[i]);
        int64_t number;
        if (strncmp(path, folders[i], length) == 0 && path[length] >= '0' && path[length] <= '9' &&
            number_integer(path + length, strlen(path + length), &number) == NUMBER_OK && number <= INT_MAX)
            return (int)number;
    }
    return -1;
}

/* Replaces a link by what it points to; false when path is no link. */
static bool follow(char path[PATH_MAX])
{
    char target[PATH_MAX];
    const ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0)
        return false;
    target[length] = '\0';
    const char *const slash = strrchr(path, '/');
    const size_t folder = target[0] != '/' && slash ? (size_t)(slash - path) + 1 : 0;
    if (folder + (size_t)length >= PATH_MAX)
        return false;
    memcpy(path + folder, target, (size_t)length + 1);
    return true;
}

char *path_behind_links(const char *path)
{
    char current[PATH_MAX];
    if (strlen(path) >= sizeof current) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    strcpy(current, path);
    for (int i = 0; i <= MOST_LINKS; i++)
        if (!follow(current))
            return strdup(current);
    errno = ELOOP;
    return NULL;
}

int descriptor_of(const char *path)
{
    char current[PATH_MAX];
    if (path == NULL || strcmp(path, "-") == 0)
        return STDOUT_FILENO;
    if (strlen(path) >= sizeof current)
        return -1;
    strcpy(current, path);
    /* /dev/stdout and /dev/stderr are such links, where there is a /proc; what a number links to is the file */
    for (int i = 0; i < MOST_LINKS; i++) {
        if (strcmp(current, "/dev/stdout") == 0)
            return STDOUT_FILENO;
        if (strcmp(current, "/dev/stderr") == 0)
            return STDERR_FILENO;
        const int number = numbered(current);
        if (number >= 0)
            return number;
        if (!follow(current))
            return -1;
    }
    return -1;
}
