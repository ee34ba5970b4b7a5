/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* getentropy, realpath */
#include "output.h"

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

#include "descriptor.h"
#include "file.h"
#include "input.h"
#include "process.h"
#include "scratch.h"

/* -- What waits for its place -----------------------------------------------------------------------------------------
 */

struct waiting {
    _Atomic(struct waiting *) next;
    char *temporary; /* null where path has the content already */
    char *path;      /* links resolved */
    dev_t device;    /* of path's directory; the name follows the last slash */
    ino_t inode;
};

/* Starts before the first. A signal handler walks it: entries are linked when they are complete. */
static struct waiting first;
static struct waiting *last = &first;

static void (*_Atomic tell_first)(pid_t sender);

static const int ending_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGALRM, SIGXCPU};

#define ENDING_SIGNALS (sizeof ending_signals / sizeof *ending_signals)

/* Everything here may be called in a handler; the signal's own action, which ends the process, is set again and follows
 * when the handler returns. */
static void remove_and_end(int number, siginfo_t *info, void *context)
{
    void (*const tell)(pid_t) = atomic_load(&tell_first);
    const struct waiting *entry = &first;
    (void)context;
    if (tell)
        tell(info->si_code == SI_USER ? info->si_pid : 0);
    while ((entry = atomic_load(&entry->next)) != NULL)
        if (entry->temporary)
            unlink(entry->temporary);
    processes_kill();
    scratch_remove();
    raise(number);
}

void outputs_tell(void (*tell)(pid_t sender))
{
    atomic_store(&tell_first, tell);
}

void outputs_guard(void)
{
    for (size_t i = 0; i < ENDING_SIGNALS; i++) {
        struct sigaction action = {.sa_sigaction = remove_and_end, .sa_flags = (int)SA_RESETHAND | SA_SIGINFO}, old;
        sigemptyset(&action.sa_mask);
        /* what nohup ignores stays ignored */
        if (sigaction(ending_signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(ending_signals[i], &action, NULL);
    }
    signal(SIGXFSZ, SIG_IGN);
}

static const char *name_in(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool identify_directory(struct waiting *entry, const char *path)
{
    struct stat status;
    const size_t length = (size_t)(name_in(path) - path);
    char *const name = length ? strndup(path, length) : strdup(".");
    const bool found = name && stat(name, &status) == 0;
    if (found) {
        entry->device = status.st_dev;
        entry->inode = status.st_ino;
    }
    free(name);
    return found;
}

/* Twice the same path would leave the last. */
static bool waits(const struct waiting *other)
{
    for (const struct waiting *entry = &first; (entry = atomic_load(&entry->next)) != NULL;)
        if (entry->device == other->device && entry->inode == other->inode &&
            strcmp(name_in(entry->path), name_in(other->path)) == 0)
            return true;
    return false;
}

static void free_waiting(struct waiting *entry)
{
    if (!entry)
        return;
    free(entry->temporary);
    free(entry->path);
    free(entry);
}

/* Null with errno. The temporary's name is drawn, so that removing it never removes a file of another process. */
static struct waiting *make_waiting(const char *path)
{
    const int length = (int)(name_in(path) - path);
    const size_t size = (size_t)length + 64;
    uint64_t drawn;
    struct waiting *const entry = calloc(1, sizeof *entry);
    if (!entry)
        return NULL;
    entry->path = strdup(path);
    entry->temporary = malloc(size);
    if (entry->path && entry->temporary && identify_directory(entry, path) && getentropy(&drawn, sizeof drawn) == 0) {
        snprintf(entry->temporary, size, "%.*s.pwlc-%ld-%016llx.tmp", length, path, (long)getpid(),
                 (unsigned long long)drawn);
        return entry;
    }
    const int error = errno;
    free_waiting(entry);
    errno = error;
    return NULL;
}

static void drop_waiting(void)
{
    struct waiting *entry = atomic_exchange(&first.next, NULL);
    last = &first;
    while (entry) {
        struct waiting *const next = atomic_load(&entry->next);
        if (entry->temporary)
            unlink(entry->temporary);
        free_waiting(entry);
        entry = next;
    }
}

void outputs_drop(void)
{
    drop_waiting();
    inputs_forget();
    scratch_remove();
}

int outputs_commit(struct diag *diag)
{
    sigset_t ending, old;
    int code = EXIT_DONE;
    sigemptyset(&ending);
    for (size_t i = 0; i < ENDING_SIGNALS; i++)
        sigaddset(&ending, ending_signals[i]);
    pthread_sigmask(SIG_BLOCK, &ending, &old);
    for (const struct waiting *entry = &first; code == EXIT_DONE && (entry = atomic_load(&entry->next)) != NULL;)
        if (entry->temporary && rename(entry->temporary, entry->path) != 0)
            code = diag_set(diag, EXIT_IO, "%s: cannot write: %s", entry->path, strerror(errno));
    outputs_drop();
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return code;
}

/* -- Writing ----------------------------------------------------------------------------------------------------------
 */

/* errno of the failure, or 0 */
static int write_all(int fd, const unsigned char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t put = write(fd, bytes, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return errno;
        bytes += put;
        size -= (size_t)put;
    }
    return 0;
}

static int write_error(const char *path, int error, struct diag *diag)
{
    return diag_set(diag, EXIT_IO, "%s: cannot write: %s", path, strerror(error));
}

/* What a file is to hold, where all of it is known beforehand. */
struct content {
    const void *bytes;
    size_t size;
};

/* What was printed before comes first. */
static int begin_standard_output(struct file_output *file, struct diag *diag)
{
    errno = 0;
    *file = (struct file_output){.fd = STDOUT_FILENO, .name = "standard output"};
    return fflush(stdout) != 0 ? write_error(file->name, errno != 0 ? errno : EIO, diag) : EXIT_DONE;
}

/* A device, pipe or socket: there is nothing to replace, the bytes go into it. */
static int begin_special(struct file_output *file, struct diag *diag)
{
    file->fd = open(file->name, O_WRONLY | O_CLOEXEC);
    file->is_opened = true;
    return file->fd < 0 ? write_error(file->name, errno, diag) : EXIT_DONE;
}

/* Whether the regular file at path holds exactly the content. Unreadable counts as different. */
static bool has_content(const char *path, const struct stat *status, const struct content *content)
{
    const unsigned char *const bytes = content->bytes;
    unsigned char piece[65536];
    size_t same = 0;
    ssize_t got;
    if (status->st_size < 0 || (uintmax_t)status->st_size != content->size)
        return false;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while ((got = read(fd, piece, sizeof piece)) > 0) {
        if ((size_t)got > content->size - same || memcmp(piece, bytes + same, (size_t)got) != 0)
            break;
        same += (size_t)got;
    }
    close(fd);
    return got == 0 && same == content->size;
}

/* A new file with the permissions of `old`, which it has before its first byte, or where that is null with those that
 * umask leaves. Set-user-ID and the like are not kept: the file is the runner's now. errno of the failure, or 0. */
static int begin_temporary(const char *temporary, const struct stat *old, struct file_output *file)
{
    const mode_t mode = old ? old->st_mode & 0777 : 0666;
    file->fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    file->is_opened = file->is_temporary = true;
    return file->fd < 0 || (old && fchmod(file->fd, mode) != 0) ? errno : 0;
}

/* old: what is at path, or null; content: null where it is not known. An unchanged file is given no descriptor. */
static int begin_regular(const char *path, const struct stat *old, const struct content *content,
                         struct file_output *file, struct diag *diag)
{
    const bool unchanged = old && content && has_content(path, old, content);
    if (old && !unchanged && access(path, W_OK) != 0) /* a rename would replace even a file that is protected */
        return write_error(file->name, errno, diag);
    struct waiting *const entry = make_waiting(path);
    if (!entry)
        return write_error(file->name, errno, diag);
    if (waits(entry)) {
        free_waiting(entry);
        return diag_set(diag, EXIT_USAGE, "%s: two outputs of this command go there; name two files", file->name);
    }
    if (unchanged) {
        free(entry->temporary);
        entry->temporary = NULL;
    }
    atomic_store(&last->next, entry); /* from here on a signal removes it */
    last = entry;
    const int error = unchanged ? 0 : begin_temporary(entry->temporary, old, file);
    return error != 0 ? write_error(file->name, error, diag) : EXIT_DONE;
}

static int begin_path(const char *path, const struct content *content, struct file_output *file, struct diag *diag)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        if (errno != ENOENT)
            return write_error(file->name, errno, diag);
        return begin_regular(path, NULL, content, file, diag);
    }
    if (!S_ISREG(status.st_mode))
        return begin_special(file, diag);
    return begin_regular(path, &status, content, file, diag);
}

/* Whether there is a folder for a file that is not there yet. */
static bool has_folder(const char *path)
{
    struct waiting entry;
    char *const place = *path ? path_behind_links(path) : NULL;
    const bool has = place && identify_directory(&entry, place);
    free(place);
    return has;
}

int file_expect(const char *path, struct diag *diag)
{
    struct stat status;
    const int fd = descriptor_of(path);
    if (fd >= 0 ? fstat(fd, &status) != 0 : stat(path, &status) != 0) {
        /* a descriptor that is closed says so when it is written to */
        const bool fresh = fd >= 0 || (errno == ENOENT && has_folder(path));
        return fresh ? EXIT_DONE : write_error(path, errno, diag);
    }
    if (fd < 0 && S_ISDIR(status.st_mode))
        return diag_set(diag, EXIT_IO, "%s: is a directory; name a file", path);
    if (inputs_have(&status))
        return diag_set(diag, EXIT_USAGE, "%s: is an input of this command too; write to another file", path);
    return EXIT_DONE;
}

static int begin(const char *path, const struct content *content, struct file_output *file, struct diag *diag)
{
    struct stat status;
    const int fd = descriptor_of(path);
    *file = (struct file_output){.fd = fd, .name = path};
    if (file_expect(path, diag) != EXIT_DONE)
        return diag->code;
    if (fd == STDOUT_FILENO)
        return begin_standard_output(file, diag);
    if (fd >= 0)
        return EXIT_DONE;
    if (lstat(path, &status) != 0 || !S_ISLNK(status.st_mode) || (stat(path, &status) == 0 && !S_ISREG(status.st_mode)))
        return begin_path(path, content, file, diag);
    /* the file behind a link is replaced, or made, not the link */
    char *target = path_behind_links(path);
    if (target == NULL)
        return write_error(path, errno, diag);
    const int code = begin_path(target, content, file, diag);
    free(target);
    return code;
}

int file_begin(const char *path, struct file_output *file, struct diag *diag)
{
    return begin(path, NULL, file, diag);
}

int file_add(struct file_output *file, const void *bytes, size_t size, struct diag *diag)
{
    const int error = file->fd < 0 ? 0 : write_all(file->fd, bytes, size);
    return error != 0 ? write_error(file->name, error, diag) : EXIT_DONE;
}

int file_end(struct file_output *file, int code, struct diag *diag)
{
    const bool is_open = file->fd >= 0 && file->is_opened;
    int error = 0;
    /* without it a crash soon after the rename may leave an empty file; some file systems cannot */
    if (is_open && code == EXIT_DONE && file->is_temporary && fsync(file->fd) != 0 && errno != EINVAL &&
        errno != ENOTSUP)
        error = errno;
    if (is_open && close(file->fd) != 0 && error == 0)
        error = errno;
    file->fd = -1;
    if (code == EXIT_DONE && error != 0)
        code = write_error(file->name, error, diag);
    if (code != EXIT_DONE)
        drop_waiting(); /* all or none */
    return code;
}

int file_write(const char *path, const void *bytes, size_t size, struct diag *diag)
{
    const struct content content = {bytes, size};
    struct file_output file;
    int code = begin(path, &content, &file, diag);
    if (code == EXIT_DONE)
        code = file_add(&file, bytes, size, diag);
    return file_end(&file, code, diag);
}
