/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The subcommands of pwlc and the option table that drives parsing and --help. */
#ifndef PWLC_COMMAND_H
#define PWLC_COMMAND_H

#include "base/diag.h"

struct option_info {
    const char *name;     /* "--in"; "-o" */
    const char *argument; /* "TYPE"; null for a switch; "NAME=VALUE..." when the flag may be given again */
    const char *help;     /* one line */
};

struct command {
    const char *name;
    const char *synopsis;              /* "pwlc fit FUNCTION --in TYPE --out TYPE [flags]" */
    const char *summary;               /* one line */
    const char *details;               /* paragraphs, "  " before one that stands apart; null when there are none */
    const char *example;               /* works when pasted */
    const struct option_info *options; /* ends with a null name */
    int (*run)(int argc, char **argv, struct diag *diag); /* argv[0] is the command's name */
};

/* The flags that every command takes; they end with a null name. */
extern const struct option_info common_options[];

/* Takes --color out of a command line, up to "--", and does what it says. Exit 2 when its value is none of COLOR_MODES.
 */
int color_take(int *argc, char **argv, struct diag *diag);

/* What may be written instead of a flag, "-j" for "--jobs"; null for most. */
const char *option_short(const struct option_info *option);

extern const struct command command_list, command_fit, command_certify, command_prove, command_emit, command_import, command_merge, command_show,
    command_eval, command_sweep, command_diff, command_verify, command_cost, command_explore, command_report,
    command_tensors, command_gguf, command_gemm, command_sfpu, command_bench;

/* Walks a command line by its option table: flags as "--name value" or "--name=value", "--" ends them, and
 * arguments that look like numbers ("-3", "-") are never flags. */
struct argument_walk {
    const struct command *command;
    int argc;
    char **argv;
    int index;
    int flags_ended;
};

/* Next flag or positional argument: returns 1 and sets *option (null for a positional) and *value (null for a
 * switch); 0 at the end; -1 with an exit-2 message for an unknown flag (naming the closest), a flag given twice,
 * a missing value, a value that is not among those its help names, or a value given to a switch. */
int argument_next(struct argument_walk *walk, const struct option_info **option, const char **value, struct diag *diag);

/* Takes a whole command line whose one positional argument is a `what` ("table", "file"): it goes to *path, and each
 * flag to set(), which knows the request. Exit 2 as for argument_next(), for a second one, and as set() says. */
int argument_take(const struct command *command, int argc, char **argv, const char *what, const char **path,
                  int (*set)(void *request, const char *flag, const char *value, struct diag *diag), void *request,
                  struct diag *diag);

void command_print_help(const struct command *command);

/* What is common to all commands, for --help and the manual: lines, ending with null. */
extern const char *const exit_codes[];

/* manual.c: a man page of pwlc, troff with the man macros, on standard output; commands ends with null. */
void manual_print(const struct command *const *commands);

/* completion.c: the same as a completion script, or as JSON. Exit 2 when shell is none of COMPLETION_SHELLS. */
#define COMPLETION_SHELLS "bash|zsh|fish|json"
int completion_print(const struct command *const *commands, const char *shell, struct diag *diag);

#endif
