/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cuda_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/folder.h"
#include "cuda_interface.h"

enum device device_parse(const char *value)
{
    return strcmp(value, "cuda") == 0 ? DEVICE_CUDA : strcmp(value, "cpu") == 0 ? DEVICE_CPU : DEVICE_AUTO;
}

/* What dlerror says, without the file's name, which it often starts with. */
static const char *loading_error(const char *path)
{
    const char *text = dlerror();
    const size_t length = strlen(path);
    if (!text)
        return "cannot be loaded";
    return strncmp(text, path, length) == 0 && strncmp(text + length, ": ", 2) == 0 ? text + length + 2 : text;
}

static int load(struct cuda_library *library, const char *variable, struct diag *diag)
{
#ifdef PWLC_STATIC /* a loader in a program that is static needs the very C library that it was linked with */
    return diag_set(diag, EXIT_MISSING, "%s%s: this pwlc is linked statically, and loads no library", variable,
                    library->path);
#else
    library->handle = dlopen(library->path, RTLD_NOW | RTLD_LOCAL);
    if (!library->handle)
        return diag_set(diag, EXIT_MISSING, "%s%s: %s", variable, library->path, loading_error(library->path));
    return EXIT_DONE;
#endif
}

static int find(struct cuda_library *library, struct diag *diag)
{
    char own[sizeof library->path - sizeof CUDA_LIBRARY_NAME];
    const char *const named = getenv(CUDA_LIBRARY_VARIABLE);
    if (named && *named) {
        if (strlen(named) >= sizeof library->path)
            return diag_set(diag, EXIT_MISSING, CUDA_LIBRARY_VARIABLE ": the path is too long");
        strcpy(library->path, named);
        return load(library, CUDA_LIBRARY_VARIABLE ": ", diag);
    }
    folder_of_program(own, sizeof own);
    const char *const folders[] = {own, PWLC_LIBRARY_FOLDER};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        if (!*folders[i])
            continue;
        snprintf(library->path, sizeof library->path, "%s/%s", folders[i], CUDA_LIBRARY_NAME);
        if (access(library->path, F_OK) == 0)
            return load(library, "", diag);
    }
    strcpy(library->path, CUDA_LIBRARY_NAME);
    if (load(library, "", diag) == EXIT_DONE)
        return EXIT_DONE;
    /* glibc's words for a file that is not there; others are about one that is. */
    if (!strstr(diag->text, "cannot open shared object file"))
        return diag->code;
    return diag_set(diag, EXIT_MISSING,
                    CUDA_LIBRARY_NAME
                    " is neither in %.200s nor in %.200s nor where the system searches; build it with "
                    "-Dcuda=enabled, or name it in " CUDA_LIBRARY_VARIABLE,
                    own, PWLC_LIBRARY_FOLDER);
}

static int check_version(const struct cuda_library *library, struct diag *diag)
{
    cuda_function *function;
    if (cuda_library_function(library, "pwlc_cuda_abi", &function, diag) != EXIT_DONE)
        return diag->code;
    const int version = ((pwlc_cuda_abi_function *)function)();
    if (version != PWLC_CUDA_ABI)
        return diag_set(diag, EXIT_MISSING, "%.400s has interface version %d, must be %d; build it with this pwlc",
                        library->path, version, PWLC_CUDA_ABI);
    return EXIT_DONE;
}

int cuda_library_open(struct cuda_library *library, struct diag *diag)
{
    library->handle = NULL;
    int code = find(library, diag);
    if (code == EXIT_DONE)
        code = check_version(library, diag);
    if (code != EXIT_DONE)
        cuda_library_close(library);
    return code;
}

void cuda_library_close(struct cuda_library *library)
{
    if (library->handle)
        dlclose(library->handle);
    library->handle = NULL;
}

int cuda_library_function(const struct cuda_library *library, const char *name, cuda_function **function,
                          struct diag *diag)
{
    void *const address = dlsym(library->handle, name);
    if (!address)
        return diag_set(diag, EXIT_MISSING, "%.400s has no function %s; it must be the " CUDA_LIBRARY_NAME " of pwlc",
                        library->path, name);
    /* POSIX has functions and objects share one kind of address; C has no conversion between them. */
    memcpy(function, &address, sizeof *function);
    return EXIT_DONE;
}
