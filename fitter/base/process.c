/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* execvpe, pipe2 */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "escape.h"
#include "guard.h"
#include "number.h"
#include "scratch.h"

extern char **environ;

/* -- What runs: a signal handler ends it ------------------------------------------------------------------------------
 */

static _Atomic(pid_t) running[GUARD_MOST_GROUPS]; /* process groups; 0: none */

/* Kills a group and waits for all of it, so that none of it makes a file any more. *status is the first one's. The
 * group has its number as long as nobody has waited for that. */
static void end_group(pid_t group, int *status)
{
    kill(-group, SIGKILL);
    while (waitpid(group, status, 0) < 0 && errno == EINTR) {
    }
    /* what the first one left behind is this process's child now */
    while (waitpid(-group, NULL, 0) > 0 || errno == EINTR) {
    }
}

void processes_kill(void)
{
    for (int k = 0; k < GUARD_MOST_GROUPS; k++) {
        const pid_t group = atomic_load(&running[k]);
        if (group > 0)
            end_group(group, NULL);
    }
}

static int enter(pid_t group)
{
    for (int k = 0; k < GUARD_MOST_GROUPS; k++) {
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
            kill(-run->pid, SIGKILL);
        }
    }
    kill(-run->pid, SIGKILL);
    guard_remove(run->pid);
    end_group(run->pid, &status);
    return status;
}

/* -- Its start --------------------------------------------------------------------------------------------------------
 */

/* One start at a time: a program that is not yet running holds copies of every pipe, and would hold those of another
 * open. */
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;

struct pipes {
    int out[2], err[2];
    int go[2];     /* a byte when the program may begin; its end when this process is gone */
    int failed[2]; /* errno, where the program cannot be run */
};

static void close_pipe(int ends[2])
{
    for (int k = 0; k < 2; k++)
        if (ends[k] >= 0)
            close(ends[k]);
    ends[0] = ends[1] = -1;
}

/* Above the standard streams, which a caller may have closed. errno, or 0. */
static int make_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    for (int k = 0; k < 2; k++) {
        const int low = ends[k];
        if (low > STDERR_FILENO)
            continue;
        ends[k] = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        const int error = errno;
        close(low);
        if (ends[k] < 0)
            return error;
    }
    return 0;
}

/* This process's environment, with a folder for temporary files that ends with it; null: no memory. The strings are
 * not copied; *place is the new one's. */
static char **environment_with(char *place)
{
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **const made = malloc((count + 2) * sizeof *made);
    if (!made)
        return NULL;
    for (size_t k = 0; k < count; k++) {
        const size_t length = strcspn(environ[k], "=");
        bool is_place = false;
        static const char *const names[] = {"TMPDIR", "TMP", "TEMP", "TEMPDIR"};
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            is_place |= strlen(names[i]) == length && memcmp(names[i], environ[k], length) == 0;
        if (!is_place)
            made[kept++] = environ[k];
    }
    made[kept++] = place;
    made[kept] = NULL;
    return made;
}

/* In the child: other threads may have held locks, so that nothing here takes one, or memory. What this process ignores
 * or handles, the program meets as its own default. */
static _Noreturn void become(const struct process *process, struct pipes *pipes, char **environment)
{
    sigset_t none;
    char byte;
    int error = 0;
    setpgid(0, 0);
    close(pipes->go[1]);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    const int input = open(process->input ? process->input : "/dev/null", O_RDONLY | O_CLOEXEC);
    if (input < 0 || dup2(input, STDIN_FILENO) < 0 ||
        dup2(process->take ? pipes->out[1] : pipes->err[1], STDOUT_FILENO) < 0 ||
        dup2(pipes->err[1], STDERR_FILENO) < 0 || (process->folder && chdir(process->folder) != 0))
        error = errno;
    while (error == 0) {
        const ssize_t got = read(pipes->go[0], &byte, 1);
        if (got > 0)
            break;
        if (got == 0 || errno != EINTR)
            _exit(1);
    }
    if (error == 0) {
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        execvpe(process->argv[0], (char *const *)process->argv, environment);
        error = errno;
    }
    (void)!write(pipes->failed[1], &error, sizeof error);
    _exit(127);
}

/* The guard knows of the program before it begins, so that there is no moment at which it would outlive this process.
 * errno, or 0. */
static int start_child(struct run *run, struct pipes *pipes, char **environment)
{
    int error = 0;
    run->pid = fork();
    if (run->pid < 0)
        return errno;
    if (run->pid == 0)
        become(run->process, pipes, environment);
    setpgid(run->pid, run->pid); /* whoever comes first */
    guard_add(run->pid);
    (void)!write(pipes->go[1], "", 1);
    close(pipes->failed[1]);
    pipes->failed[1] = -1;
    ssize_t got;
    while ((got = read(pipes->failed[0], &error, sizeof error)) < 0 && errno == EINTR) {
    }
    if (got <= 0) /* it was closed by the program's beginning */
        return 0;
    guard_remove(run->pid);
    while (waitpid(run->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    return error;
}

/* errno, or 0. */
static int start(struct run *run, const char *temporary)
{
    struct pipes pipes = {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
    char place[SCRATCH_PATH_SIZE + sizeof "TMPDIR="];
    snprintf(place, sizeof place, "TMPDIR=%s", temporary);
    char **const environment = environment_with(place);
    int error = environment ? guard_start() : ENOMEM;
    if (error == 0 && run->process->take)
        error = make_pipe(pipes.out);
    if (error == 0)
        error = make_pipe(pipes.err);
    if (error == 0)
        error = make_pipe(pipes.go);
    if (error == 0)
        error = make_pipe(pipes.failed);
    if (error == 0)
        error = start_child(run, &pipes, environment);
    if (error == 0) {
        run->out = pipes.out[0];
        run->err = pipes.err[0];
        pipes.out[0] = pipes.err[0] = -1;
    }
    close_pipe(pipes.out);
    close_pipe(pipes.err);
    close_pipe(pipes.go);
    close_pipe(pipes.failed);
    free(environment);
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
    char temporary[SCRATCH_PATH_SIZE];
    sigset_t all, old;
    int code = scratch_of_programs(temporary, diag);
    if (code != EXIT_DONE)
        return code;
    /* No signal finds the program started and not yet known. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_mutex_lock(&starting);
    const int error = start(&run, temporary);
    const int place = error == 0 ? enter(run.pid) : -1;
    pthread_mutex_unlock(&starting);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
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
