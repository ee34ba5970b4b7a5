/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* syscall */
#include "guard.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "scratch.h"

/* Told by a socket, which, unlike a pipe, raises no signal when the guard is gone. */
struct message {
    pid_t group;
    bool is_running;
};

static int telling = -1; /* this process's end; its last copy closes with the process */

static void tell(pid_t group, bool is_running)
{
    const struct message message = {.group = group, .is_running = is_running};
    (void)send(telling, &message, sizeof message, MSG_NOSIGNAL);
}

void guard_add(pid_t group)
{
    tell(group, true);
}

void guard_remove(pid_t group)
{
    tell(group, false);
}

/* -- The guard itself: after a fork of a process of many threads, so that nothing here takes memory or a lock
 * ----------
 */

static void note(pid_t groups[GUARD_MOST_GROUPS], const struct message *message)
{
    const pid_t old = message->is_running ? 0 : message->group, new = message->is_running ? message->group : 0;
    for (int k = 0; k < GUARD_MOST_GROUPS; k++)
        if (groups[k] == old) {
            groups[k] = new;
            return;
        }
}

/* What was killed may still make a file, until it is dead: it is no child of this process, which cannot wait for it. */
#define MOST_TRIES 200

static void remove_scratch(void)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    for (int k = 0; k < MOST_TRIES && !scratch_remove(); k++)
        nanosleep(&pause, NULL);
}

static _Noreturn void watch(int hearing)
{
    pid_t groups[GUARD_MOST_GROUPS] = {0};
    struct message message;
    ssize_t got;
    while ((got = recv(hearing, &message, sizeof message, 0)) > 0 || (got < 0 && errno == EINTR))
        if (got == (ssize_t)sizeof message)
            note(groups, &message);
    for (int k = 0; k < GUARD_MOST_GROUPS; k++)
        if (groups[k] > 0)
            kill(-groups[k], SIGKILL);
    remove_scratch();
    _exit(0);
}

static void close_from(int fd)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, fd, ~0U, 0) == 0)
        return;
#endif
    for (const long end = sysconf(_SC_OPEN_MAX); fd < end; fd++)
        close(fd);
}

/* Keeps no file of this process open but the one that it hears by: who reads what pwlc prints does not wait for it. */
static _Noreturn void begin(int hearing)
{
    enum { KEPT = 0 };
    setsid(); /* Ctrl-C at a terminal and the end of a group of processes are not for it */
    prctl(PR_SET_NAME, "pwlc-guard");
    if (hearing == KEPT || dup2(hearing, KEPT) == KEPT) {
        close_from(KEPT + 1);
        watch(KEPT);
    }
    _exit(1);
}

int guard_start(void)
{
    int ends[2];
    if (telling >= 0)
        return 0;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return errno;
    /* what a program leaves behind becomes this process's child, so that its end can be waited for */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const pid_t guard = fork();
    const int error = guard < 0 ? errno : 0;
    if (guard == 0)
        begin(ends[1]);
    close(ends[1]);
    if (guard < 0)
        close(ends[0]);
    else
        telling = ends[0];
    return error;
}
