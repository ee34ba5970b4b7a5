/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs of others that pwlc runs: which versions will do, and where to get them. They are run by process_run(). */
#ifndef PWLC_TOOL_H
#define PWLC_TOOL_H

#include "base/diag.h"
#include "base/file.h"

struct tool {
    const char *name;    /* in PATH */
    const char *package; /* which brings it, "Debian's package yosys" */
    const char *ask;     /* the flag to which it answers with its version */
    const char *least;   /* the first version that will do, "0.23" */
};

#define TOOL_VERSION_SIZE 32

/* yosys, which counts cells and proves modules. */
extern const struct tool tool_yosys;

/* Simulators; Icarus compiles by one program and runs by another. */
extern const struct tool tool_verilator, tool_iverilog, tool_vvp;

/* The first number of the form 1.2 or 1.2.3 that the tool answers with; a command asks each tool once. Exit 77 when it
 * is missing, gives no version or is too old; the message says what would do. Any thread may call it. */
int tool_version(const struct tool *tool, char version[TOOL_VERSION_SIZE], struct diag *diag);

/* Runs a tool, argv[0], in a folder, or here where that is null, as process_run() does; what it says goes to *said, or
 * nowhere where that is null. */
int tool_run(const char *const *argv, const char *folder, double limit_s, struct text *said, struct diag *diag);

/* One argument list of another, for flags that a program prints: cut at blanks, of at most `most` words that point into
 * line. The number of words. */
int tool_words(char *line, const char **words, int most);

#endif
