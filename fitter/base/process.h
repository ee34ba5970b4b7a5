/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs that run beside this one: no shell, a process group of their own, a time limit, temporary files in a folder
 * of the command (TMPDIR), and no way to outlive the command, however that ends: guard.h. */
#ifndef PWLC_PROCESS_H
#define PWLC_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "diag.h"
#include "file.h"

/* Given standard output piece by piece; false ends the program, which is then no failure. */
typedef bool process_take(void *context, const unsigned char *bytes, size_t size);

struct process {
    const char *const *argv; /* argv[0] is a path or is looked for in PATH; ends with null */
    const char *folder;      /* where it runs; null: here */
    const char *input;       /* the file that is its standard input; null: none */
    double limit_s;          /* the whole group is killed after so many seconds */
    process_take *take;      /* null: standard output joins standard error in `said` */
    void *context;           /* of take */
};

/* Runs it to its end. *said gets what it wrote for people, of much the end alone; free with text_free, also after a
 * failure. Exit 77 when there is no such program or it exits with 77, 1 when it fails in any other way: the message
 * names the program and ends with the last lines of what it said. */
int process_run(const struct process *process, struct text *said, struct diag *diag);

/* The value of --time-limit: exit 2 unless seconds from 0.1 to 1000000. */
#define PROCESS_LIMIT_S 600 /* unless it is given */
int process_limit_parse(const char *value, double *limit_s, struct diag *diag);

/* Ends every program that runs; may be called in a signal handler. */
void processes_kill(void);

#endif
