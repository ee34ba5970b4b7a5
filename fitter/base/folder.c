/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int folder_check(const char *path, struct diag *diag)
{
    struct stat status;
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path)
        return EXIT_DONE;
    char *folder = strdup(path);
    if (!folder)
        return diag_set(diag, EXIT_IO, "out of memory");
    folder[slash - path] = '\0';
    int code = EXIT_DONE;
    if (stat(folder, &status) != 0)
        code = diag_set(diag, EXIT_IO, "%s: cannot write: the folder %s: %s", path, folder, strerror(errno));
    else if (!S_ISDIR(status.st_mode))
        code = diag_set(diag, EXIT_IO, "%s: cannot write: %s is no folder", path, folder);
    free(folder);
    return code;
}

int folder_expect(const char *path, struct diag *diag)
{
    struct stat status;
    if (stat(path, &status) == 0)
        return S_ISDIR(status.st_mode) ? EXIT_DONE : diag_set(diag, EXIT_IO, "%s: is a file; name a folder", path);
    char *parent = strdup(path);
    if (!parent)
        return diag_set(diag, EXIT_IO, "out of memory");
    size_t length = strlen(parent);
    while (length > 1 && parent[length - 1] == '/') /* behind the name, which dirname(3) drops as well */
        parent[--length] = '\0';
    while (length > 0 && parent[length - 1] != '/')
        parent[--length] = '\0';
    const bool can = access(length ? parent : ".", W_OK | X_OK) == 0;
    const int error = errno;
    free(parent);
    return can ? EXIT_DONE : diag_set(diag, EXIT_IO, "%s: cannot make this folder: %s", path, strerror(error));
}

int folder_make(const char *path, bool *made, struct diag *diag)
{
    struct stat status;
    *made = mkdir(path, 0777) == 0;
    if (*made)
        return EXIT_DONE;
    const int error = errno;
    if (error == EEXIST && stat(path, &status) == 0)
        return S_ISDIR(status.st_mode) ? EXIT_DONE : diag_set(diag, EXIT_IO, "%s: is a file; name a folder", path);
    return diag_set(diag, EXIT_IO, "%s: cannot make this folder: %s", path, strerror(error));
}

void folder_of_program(char *folder, size_t size)
{
    const ssize_t length = readlink("/proc/self/exe", folder, size - 1);
    folder[length > 0 ? length : 0] = '\0';
    char *const slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
}
