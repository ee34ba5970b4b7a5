/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* posix_spawn_file_actions_addchdir_np, pipe2 */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "escape.h"
#include "number.h"

extern char **environ;

/* -- What runs: a signal handler ends it ------------------------------------------------------------------------------
 */

#define MOST_RUNNING 128 /* more than jobs.h has threads */

static _Atomic(pid_t) running[MOST_RUNNING]; /* process groups; 0: none */

void processes_kill(void)
{
    for (int k = 0; k < MOST_RUNNING; k++) {
        const pid_t group = atomic_load(&running[k]);
        if (group <= 0)
            continue;
        kill(-group, SIGKILL);
        while (waitpid(group, NULL, 0) < 0 && errno == EINTR) {
        }
    }
}

static int enter(pid_t group)
{
    for (int k = 0; k < MOST_RUNNING; k++) {
        pid_t none = 0;
        if (atomic_compare_exchange_strong(&running[k], &none, group))
            return k;
    }
    return -1;
}

static void leave(int place)
{
    if (place >= 0)
        atomic_store(&running[place], 0);
}

/* -- One program ------------------------------------------------------------------------------------------------------
 */

#define SAID_BYTES ((size_t)1 << 20) /* the end of what is said, at least half of it */

struct run {
    const struct process *process;
    struct text *said;
    double end_s; /* by clock_now() */
    pid_t pid;
    int out, err; /* ends of pipes, -1 once closed */
    bool is_over_limit, is_refused;
};

static void keep(struct text *said, const unsigned char *bytes, size_t size)
{
    if (said->size + size > SAID_BYTES) {
        const size_t gone = said->size - SAID_BYTES / 2;
        memmove(said->bytes, said->bytes + gone, said->size - gone);
        said->size -= gone;
    }
    for (size_t at = 0; at < size;) { /* a zero byte would end the text */
        const size_t length = strnlen((const char *)bytes + at, size - at);
        text_add(said, "%.*s", (int)length, (const char *)bytes + at);
        at += length + 1;
    }
}

/* Reads what is there; closes the pipe at its end. */
static void read_from(struct run *run, int *fd)
{
    unsigned char bytes[65536];
    const ssize_t got = read(*fd, bytes, sizeof bytes);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (got <= 0) {
        close(*fd);
        *fd = -1;
    } else if (fd == &run->out) {
        run->is_refused |= !run->process->take(run->process->context, bytes, (size_t)got);
    } else {
        keep(run->said, bytes, (size_t)got);
    }
}

#define LONGEST_WAIT_MS 20 /* until it is asked whether the program has ended: others may hold its pipes open */

static bool has_ended(const struct run *run)
{
    siginfo_t info = {.si_pid = 0};
    return waitid(P_PID, (id_t)run->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == run->pid;
}

/* The group has its number as long as nobody has waited for the program. */
static void end_group(const struct run *run)
{
    kill(-run->pid, SIGKILL);
}

/* Its wait status. What it left behind ends with it. */
static int wait_for(struct run *run)
{
    int status = 0;
    bool ended = false;
    for (;;) {
        struct pollfd fds[2] = {{.fd = run->out, .events = POLLIN}, {.fd = run->err, .events = POLLIN}};
        const int ready = poll(fds, 2, ended ? 0 : LONGEST_WAIT_MS);
        if (fds[0].revents)
            read_from(run, &run->out);
        if (fds[1].revents)
            read_from(run, &run->err);
        if (ended && ready <= 0) /* what it wrote is read */
            break;
        if (run->is_refused || clock_now() >= run->end_s) {
            run->is_over_limit = !ended && !run->is_refused;
            break;
        }
        if (!ended && has_ended(run)) {
            ended = true;
            end_group(run);
        }
    }
    end_group(run);
    while (waitpid(run->pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

/* errno, or 0. What this process ignores or handles, the program meets as its own default. */
static int start(struct run *run)
{
    const struct process *process = run->process;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int out[2] = {-1, -1}, err[2] = {-1, -1};
    if ((process->take && pipe2(out, O_CLOEXEC) != 0) || pipe2(err, O_CLOEXEC) != 0) {
        const int error = errno;
        if (out[0] >= 0) {
            close(out[0]);
            close(out[1]);
        }
        return error;
    }
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    int error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, process->input ? process->input : "/dev/null",
                                                 O_RDONLY, 0);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, process->take ? out[1] : err[1], STDOUT_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
    if (error == 0 && process->folder)
        error = posix_spawn_file_actions_addchdir_np(&actions, process->folder);
    if (error == 0)
        error = posix_spawnattr_setflags(&attributes,
                                         POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (error == 0)
        error = posix_spawnattr_setsigmask(&attributes, &none);
    if (error == 0)
        error = posix_spawnattr_setsigdefault(&attributes, &all);
    if (error == 0)
        error = posix_spawnp(&run->pid, process->argv[0], &actions, &attributes, (char *const *)process->argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (out[1] >= 0)
        close(out[1]);
    close(err[1]);
    run->out = out[0];
    run->err = err[0];
    return error;
}

/* -- Its failures -----------------------------------------------------------------------------------------------------
 */

#define LAST_LINES 4
#define LAST_BYTES 360

/* Where the last lines begin, and how long they are without what is blank at the end. */
static const char *last_lines(const struct text *said, size_t *length)
{
    size_t end = said->size, begin;
    while (end > 0 && strchr(" \t\r\n", said->bytes[end - 1]))
        end--;
    begin = end;
    for (int lines = 0; begin > 0 && end - begin < LAST_BYTES; begin--)
        if (said->bytes[begin - 1] == '\n' && ++lines == LAST_LINES)
            break;
    *length = end - begin;
    return said->bytes + begin;
}

static int fail(const struct run *run, int code, const char *what, struct diag *diag)
{
    struct text shown = {0};
    size_t length = 0;
    const char *const lines = run->said->size ? last_lines(run->said, &length) : "";
    for (size_t at = 0; at < length;) { /* lines are kept apart by " | " */
        char line[LAST_BYTES + 1];
        const size_t size = strcspn(lines + at, "\n");
        const size_t cut = size < length - at ? size : length - at;
        memcpy(line, lines + at, cut < LAST_BYTES ? cut : LAST_BYTES);
        line[cut < LAST_BYTES ? cut : LAST_BYTES] = '\0';
        text_add(&shown, "%s", shown.size ? " | " : "");
        escape_control(&shown, line);
        at += size + 1;
    }
    const char *const name = run->process->argv[0], *const slash = strrchr(name, '/');
    diag_set(diag, code, "%s %s%s%s", slash ? slash + 1 : name, what, shown.size ? "; it said: " : "",
             shown.size ? shown.bytes : "");
    text_free(&shown);
    return code;
}

static int judge(const struct run *run, int status, struct diag *diag)
{
    char what[80];
    if (run->is_over_limit) {
        snprintf(what, sizeof what, "did not end within %g seconds", run->process->limit_s);
        return fail(run, EXIT_IO, what, diag);
    }
    if (run->is_refused || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
        return run->said->failed ? diag_set(diag, EXIT_IO, "out of memory") : EXIT_DONE;
    if (WIFSIGNALED(status))
        snprintf(what, sizeof what, "was ended by signal %d", WTERMSIG(status));
    else
        snprintf(what, sizeof what, "failed with exit status %d", WEXITSTATUS(status));
    return fail(run, WIFEXITED(status) && WEXITSTATUS(status) == EXIT_MISSING ? EXIT_MISSING : EXIT_IO, what, diag);
}

int process_run(const struct process *process, struct text *said, struct diag *diag)
{
    struct run run = {.process = process, .said = said, .end_s = clock_now() + process->limit_s, .out = -1, .err = -1};
    sigset_t all, old;
    /* No signal finds the program started and not yet known. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const int error = start(&run);
    const int place = error == 0 ? enter(run.pid) : -1;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    int code;
    if (error == 0) {
        const int status = wait_for(&run);
        leave(place);
        code = judge(&run, status, diag);
    } else {
        code = diag_set(diag, error == ENOENT ? EXIT_MISSING : EXIT_IO, "%s: cannot be run: %s", process->argv[0],
                        strerror(error));
    }
    if (run.out >= 0)
        close(run.out);
    if (run.err >= 0)
        close(run.err);
    return code;
}

int process_limit_parse(const char *value, double *limit_s, struct diag *diag)
{
    if (number_real(value, strlen(value), limit_s) != NUMBER_OK || *limit_s < 0.1 || *limit_s > 1e6)
        return diag_set(diag, EXIT_USAGE, "--time-limit %s: must be seconds, from 0.1 to 1000000", value);
    return EXIT_DONE;
}
