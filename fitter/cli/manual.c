/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The man page, from the tables that --help prints. It has no date: the same pwlc writes the same page. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

/* Text that troff prints as it stands; `start` when it begins a line, where a dot or a quote would be a request. */
static void print_text(const char *text, size_t length, bool start)
{
    if (start && length > 0 && (text[0] == '.' || text[0] == '\''))
        fputs("\\&", stdout);
    for (size_t i = 0; i < length; i++) {
        switch (text[i]) {
        case '\\':
            fputs("\\e", stdout);
            break;
        case '-':
            fputs("\\-", stdout);
            break;
        case '\'':
            fputs("\\(aq", stdout);
            break;
        case '`':
            fputs("\\(ga", stdout);
            break;
        case '^':
            fputs("\\(ha", stdout);
            break;
        case '~':
            fputs("\\(ti", stdout);
            break;
        default:
            putchar(text[i]);
        }
    }
}

static void print_line(const char *text)
{
    print_text(text, strlen(text), true);
    putchar('\n');
}

static void print_name(const char *name, const char *argument)
{
    printf("\\fB");
    print_text(name, strlen(name), false);
    printf("\\fR");
    if (argument) {
        printf(" \\fI");
        print_text(argument, strlen(argument), false);
        printf("\\fR");
    }
}

static void print_flag(const struct option_info *option)
{
    printf(".TP\n");
    print_name(option->name, option->argument);
    if (option_short(option)) {
        printf(", ");
        print_name(option_short(option), option->argument);
    }
    putchar('\n');
    print_line(option->help);
}

static void print_example(const char *lines)
{
    printf(".PP\nExample:\n.PP\n.nf\n.RS\n");
    while (*lines) {
        const size_t length = strcspn(lines, "\n");
        print_text(lines, length, true);
        putchar('\n');
        lines += length + (lines[length] == '\n');
    }
    printf(".RE\n.fi\n");
}

static void print_details(const char *lines)
{
    while (*lines) {
        const size_t length = strcspn(lines, "\n"), indent = strspn(lines, " ");
        if (length > 0) {
            printf(indent ? ".RS\n" : ".PP\n");
            print_text(lines + indent, length - indent, true);
            printf(indent ? "\n.RE\n" : "\n");
        }
        lines += length + (lines[length] == '\n');
    }
}

static void print_command(const struct command *command)
{
    printf(".SS pwlc %s\n", command->name);
    print_line(command->synopsis);
    printf(".PP\n");
    print_line(command->summary);
    for (const struct option_info *option = command->options; option->name; option++)
        print_flag(option);
    for (const struct option_info *option = common_options; option->name; option++)
        print_flag(option);
    if (command->details)
        print_details(command->details);
    print_example(command->example);
}

void manual_print(const struct command *const *commands)
{
    printf(".TH PWLC 1 \"\" \"pwlc %s\" \"User Commands\"\n"
           ".SH NAME\npwlc \\- compile activation functions to fixed\\-point piecewise\\-linear tables\n"
           ".SH SYNOPSIS\n.B pwlc\n.I command\n[\\fIarguments\\fR]\n.br\n"
           ".B pwlc \\-\\-help\n|\n.B \\-\\-version\n|\n.B \\-\\-man\n|\n.B \\-\\-completion\n.I " COMPLETION_SHELLS
           "\n|\n.B \\-\\-type\n.I TYPE\n"
           ".SH DESCRIPTION\n"
           "Compiles activation functions to fixed\\-point piecewise\\-linear tables, and measures and emits them.\n"
           ".PP\n"
           "A flag with ... may be repeated; \\-\\- ends the flags; \\- is standard input or output.\n"
           "\\-\\-flag value and \\-\\-flag=value mean the same.\n"
           ".SH COMMANDS\n",
           PWLC_VERSION);
    for (; *commands; commands++)
        print_command(*commands);
    printf(".SH FILES\n"
           "Files of one command get their places together at its end; after an error or a signal the old ones are as "
           "they were.\n"
           "A file that the command reads is never written over. A replaced file keeps its permissions, but not "
           "set\\-user\\-ID and set\\-group\\-ID, and belongs to who ran the command.\n"
           ".PP\n"
           "Limits: tables of 4 MiB, lists of jobs of 64 MiB and 10000 jobs, other files of 1 GiB; GGUF files may be "
           "larger.\n"
           ".SH EXIT STATUS\n");
    for (const char *const *code = exit_codes; *code; code++) {
        const size_t number = strspn(*code, "0123456789");
        printf(".TP\n.B %.*s\n", (int)number, *code);
        print_line(*code + number + strspn(*code + number, " "));
    }
}
