/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line of pwlc: finds the command, shows help, prints the one message of a failure. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/color.h"
#include "base/output.h"
#include "base/progress.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "cli/reply.h"
#include "jobs/share.h"

static const struct command *const commands[] = {
    &command_list,    &command_fit,  &command_certify, &command_emit, &command_import,  &command_show,  &command_eval,
    &command_sweep,   &command_diff, &command_verify,  &command_cost, &command_explore, &command_prove, &command_report,
    &command_tensors, &command_gguf, &command_gemm,    &command_sfpu, &command_bench,   &command_merge, NULL,
};

#define COMMAND_COUNT ((int)(sizeof commands / sizeof *commands) - 1)

static const struct command *command_find(const char *name)
{
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static void print_overview(void)
{
    printf("Usage: pwlc COMMAND [arguments]\n\n"
           "Compiles activation functions to fixed-point piecewise-linear tables, and measures and emits them.\n\n"
           "Commands:\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        printf("  %-7s  %s\n", commands[i]->name, commands[i]->summary);
    printf("\n`pwlc COMMAND --help` and `pwlc help COMMAND` show a command's flags and an example. Also: pwlc --help,\n"
           "--version, -V, --man (a manual page), --completion " COMPLETION_SHELLS
           " (a script for the shell; the flags as JSON),\n--type TYPE (what a type is, as JSON).\n");
}

static bool is_help(const char *argument)
{
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (is_help(argv[i]))
            return true;
    return false;
}

static int unknown_command(const char *name, struct diag *diag)
{
    const char *names[COMMAND_COUNT + 5];
    for (int i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i]->name;
    names[COMMAND_COUNT] = "--version";
    names[COMMAND_COUNT + 1] = "--man";
    names[COMMAND_COUNT + 2] = "--completion";
    names[COMMAND_COUNT + 3] = "--type";
    names[COMMAND_COUNT + 4] = NULL;

    char meant[SUGGESTION_SIZE];
    return diag_set(diag, EXIT_USAGE, "\"%s\" is not a command%s", name,
                    suggestion(name, names, "; pwlc --help lists them", meant));
}

/* What was printed counts only when it arrived: a full disk or a closed pipe is a failure. Files get their places after
 * that, also when a requirement is missed, which they show. */
static int finish_output(int code, struct diag *diag)
{
    const bool failed = ferror(stdout) != 0;
    errno = 0;
    if ((fclose(stdout) != 0 || failed) && code == EXIT_DONE)
        code = diag_set(diag, EXIT_IO, "standard output: %s", errno ? strerror(errno) : "could not be written");
    if ((code == EXIT_DONE || code == EXIT_REQUIREMENT) && outputs_commit(diag) != EXIT_DONE)
        code = diag->code;
    outputs_drop();
    return code;
}

static bool asks_for_version(const char *word)
{
    return strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0 || strcmp(word, "version") == 0;
}

/* Of a command, or of all. */
static int print_help(const char *name, struct diag *diag)
{
    const struct command *command = name ? command_find(name) : NULL;
    if (name && !command)
        return unknown_command(name, diag);
    if (command)
        command_print_help(command);
    else
        print_overview();
    return EXIT_DONE;
}

static int run(int argc, char **argv, const struct command **command, struct diag *diag)
{
    if (color_take(&argc, argv, diag))
        return diag->code;
    if (argc < 2)
        return diag_set(diag, EXIT_USAGE, "a command is needed; pwlc --help lists them");
    if (is_help(argv[1]) || strcmp(argv[1], "help") == 0)
        return print_help(argc > 2 ? argv[2] : NULL, diag);
    if (asks_for_version(argv[1])) {
        printf("pwlc %s\n", PWLC_VERSION);
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--man") == 0) {
        manual_print(commands);
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--completion") == 0) {
        if (argc < 3)
            return diag_set(diag, EXIT_USAGE, "--completion needs a value, " COMPLETION_SHELLS);
        if (argc > 3)
            return diag_set(diag, EXIT_USAGE, "--completion takes one shell, not %d arguments", argc - 2);
        return completion_print(commands, argv[2], diag);
    }
    if (strcmp(argv[1], "--type") == 0) {
        if (argc != 3)
            return diag_set(diag, EXIT_USAGE, "--type needs one value, TYPE");
        return reply_print_type(argv[2], diag);
    }
    *command = command_find(argv[1]);
    if (!*command)
        return unknown_command(argv[1], diag);
    if (asks_for_help(argc - 1, argv + 1)) {
        command_print_help(*command);
        return EXIT_DONE;
    }
    char name[40];
    snprintf(name, sizeof name, "pwlc %s", (*command)->name);
    progress_name(name);
    return (*command)->run(argc - 1, argv + 1, diag);
}

int main(int argc, char **argv)
{
    struct diag diag = {.code = EXIT_DONE};
    const struct command *command = NULL;
    outputs_guard();
    int code = run(argc, argv, &command, &diag);
    code = finish_output(code, &diag);
    const bool speaks = share_end(code);
    if (code != EXIT_DONE && speaks)
        fprintf(stderr, "%spwlc%s%s:%s %s\n", color_on(stderr, COLOR_ERROR), command ? " " : "",
                command ? command->name : "", color_off(stderr), diag.text);
    share_leave();
    return code;
}
