/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "folder.h"

/* What dlerror says, without the file's name, which it often starts with. */
static const char *loading_error(const char *path)
{
    const char *text = dlerror();
    const size_t length = strlen(path);
    if (!text)
        return "cannot be loaded";
    return strncmp(text, path, length) == 0 && strncmp(text + length, ": ", 2) == 0 ? text + length + 2 : text;
}

static int load(struct library *library, const char *variable, struct diag *diag)
{
#ifdef PWLC_STATIC /* a loader in a program that is static needs the very C library that it was linked with */
    return diag_set(diag, EXIT_MISSING, "%s%s%s: this pwlc is linked statically, and loads no library", variable,
                    *variable ? ": " : "", library->path);
#else
    library->handle = dlopen(library->path, RTLD_NOW | RTLD_LOCAL);
    if (!library->handle)
        return diag_set(diag, EXIT_MISSING, "%s%s%s: %s", variable, *variable ? ": " : "", library->path,
                        loading_error(library->path));
    return EXIT_DONE;
#endif
}

/* In a folder; false where it is not there. */
static bool is_in(const char *folder, const struct library_kind *kind, struct library *library)
{
    const int length = snprintf(library->path, sizeof library->path, "%s/%s", folder, kind->name);
    return *folder && length > 0 && (size_t)length < sizeof library->path && access(library->path, F_OK) == 0;
}

static int find(struct library *library, const struct library_kind *kind, struct diag *diag)
{
    char own[sizeof library->path - 64];
    const char *const named = getenv(kind->variable);
    if (named && *named) {
        if (strlen(named) >= sizeof library->path)
            return diag_set(diag, EXIT_MISSING, "%s: the path is too long", kind->variable);
        strcpy(library->path, named);
        return load(library, kind->variable, diag);
    }
    folder_of_program(own, sizeof own);
    const char *const folders[] = {own, PWLC_LIBRARY_FOLDER};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (is_in(folders[i], kind, library))
            return load(library, "", diag);
    snprintf(library->path, sizeof library->path, "%s", kind->name);
    if (load(library, "", diag) == EXIT_DONE)
        return EXIT_DONE;
    /* glibc's words for a file that is not there; others are about one that is. */
    if (!strstr(diag->text, "cannot open shared object file"))
        return diag->code;
    return diag_set(diag, EXIT_MISSING,
                    "%s is neither in %.200s nor in %.200s nor where the system searches; build it with %s, or name it "
                    "in %s",
                    kind->name, own, PWLC_LIBRARY_FOLDER, kind->option, kind->variable);
}

static int check_version(const struct library *library, const struct library_kind *kind, struct diag *diag)
{
    library_entry *function;
    if (library_function(library, kind->version, &function, diag) != EXIT_DONE)
        return diag->code;
    const int version = ((int (*)(void))function)();
    if (version != kind->expected)
        return diag_set(diag, EXIT_MISSING, "%.400s has interface version %d, must be %d; build it with this pwlc",
                        library->path, version, kind->expected);
    return EXIT_DONE;
}

int library_open(struct library *library, const struct library_kind *kind, struct diag *diag)
{
    library->handle = NULL;
    library->kind = kind;
    int code = find(library, kind, diag);
    if (code == EXIT_DONE)
        code = check_version(library, kind, diag);
    if (code != EXIT_DONE)
        library_close(library);
    return code;
}

void library_close(struct library *library)
{
    if (library->handle)
        dlclose(library->handle);
    library->handle = NULL;
}

int library_function(const struct library *library, const char *name, library_entry **function, struct diag *diag)
{
    void *const address = dlsym(library->handle, name);
    if (!address)
        return diag_set(diag, EXIT_MISSING, "%.400s has no function %s; it must be the %s of pwlc", library->path, name,
                        library->kind->name);
    /* POSIX has functions and objects share one kind of address; C has no conversion between them. */
    memcpy(function, &address, sizeof *function);
    return EXIT_DONE;
}
