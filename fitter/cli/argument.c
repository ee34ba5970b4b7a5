/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/color.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/suggest.h"
#include "command.h"

#define MAX_OPTIONS 48
#define FLAG_WIDTH 24  /* of the left column of --help */
#define LINE_WIDTH 110 /* of its paragraphs */

/* "-3", "-.5" and "-inf" are values, and "-" is standard input. */
static bool looks_like_flag(const char *token)
{
    if (token[0] != '-' || token[1] == '\0')
        return false;
    const char *rest = token + 1;
    if (isdigit((unsigned char)rest[0]) || (rest[0] == '.' && isdigit((unsigned char)rest[1])))
        return false;
    return strcasecmp(rest, "inf") != 0 && strcasecmp(rest, "infinity") != 0 && strcasecmp(rest, "nan") != 0;
}

/* Length of the flag's name: a "--" flag may carry its value after "=". */
static size_t name_length(const char *token)
{
    return strncmp(token, "--", 2) == 0 ? strcspn(token, "=") : strlen(token);
}

const char *option_short(const struct option_info *option)
{
    return strcmp(option->name, "--jobs") == 0 ? "-j" : NULL;
}

const struct option_info common_options[] = {
    {"--color", COLOR_MODES, "of errors and verdicts (default auto: on terminals, unless NO_COLOR is set)"},
    {"--help", NULL, "show this text"},
    {NULL, NULL, NULL},
};

int color_take(int *argc, char **argv, struct diag *diag)
{
    static const char flag[] = "--color";
    const char *mode = NULL;
    int kept = 1, i = 1;
    for (; i < *argc && strcmp(argv[i], "--") != 0; i++) {
        if (strncmp(argv[i], flag, strlen(flag)) != 0 || name_length(argv[i]) != strlen(flag)) {
            argv[kept++] = argv[i];
            continue;
        }
        if (mode)
            return diag_set(diag, EXIT_USAGE, "%s is given more than once", flag);
        mode = argv[i][strlen(flag)] == '=' ? argv[i] + strlen(flag) + 1 : argv[++i];
        if (!mode)
            return diag_set(diag, EXIT_USAGE, "%s needs a value, " COLOR_MODES, flag);
        if (choice_check(flag, COLOR_MODES, mode, diag))
            return diag->code;
        color_mode(mode);
    }
    for (; i < *argc; i++)
        argv[kept++] = argv[i];
    argv[kept] = NULL;
    *argc = kept;
    return EXIT_DONE;
}

static const struct option_info *find_option(const struct command *command, const char *token)
{
    const size_t length = name_length(token);
    for (const struct option_info *option = command->options; option->name; option++) {
        const char *brief = option_short(option);
        if ((strlen(option->name) == length && strncmp(option->name, token, length) == 0) ||
            (brief && strcmp(brief, token) == 0))
            return option;
    }
    return NULL;
}

static bool is_repeatable(const struct option_info *option)
{
    const size_t length = option->argument ? strlen(option->argument) : 0;
    return length > 3 && strcmp(option->argument + length - 3, "...") == 0;
}

/* Whether the flag stands in argv[1..end); the tokens before end are known to be well formed. */
static bool occurs_before(const struct argument_walk *walk, const struct option_info *option, int end)
{
    for (int i = 1; i < end; i++) {
        if (!looks_like_flag(walk->argv[i]))
            continue;
        const struct option_info *found = find_option(walk->command, walk->argv[i]);
        if (found == option)
            return true;
        if (found && found->argument && walk->argv[i][name_length(walk->argv[i])] != '=')
            i++;
    }
    return false;
}

static int unknown_flag(const struct argument_walk *walk, const char *token, struct diag *diag)
{
    const char *names[MAX_OPTIONS + 3];
    int count = 0;
    for (const struct option_info *option = walk->command->options; option->name && count < MAX_OPTIONS; option++)
        names[count++] = option->name;
    for (const struct option_info *option = common_options; option->name; option++)
        names[count++] = option->name;
    names[count] = NULL;

    char name[80], lists[80], meant[SUGGESTION_SIZE];
    const size_t length = name_length(token);
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), token);
    snprintf(lists, sizeof lists, "; pwlc %s --help lists them", walk->command->name);
    diag_set(diag, EXIT_USAGE, "%s is not a flag of %s%s", name, walk->command->name,
             suggestion(name, names, lists, meant));
    return -1;
}

static bool is_one_of(const char *word, const char *const *words)
{
    while (*words && strcasecmp(word, *words) != 0)
        words++;
    return *words != NULL;
}

/* What can be known of a file to be written before anything is computed. */
static int check_output(const char *flag, const char *path, struct diag *diag)
{
    static const char *const drawings[] = {"--plot", "--svg", NULL};
    static const char *const others[] = {".png",  ".jpg", ".jpeg", ".gif", ".webp", ".bmp",  ".tif",
                                         ".tiff", ".pdf", ".ps",   ".eps", ".htm",  ".html", NULL};
    const char *ending = strrchr(path, '.');
    if (!*path)
        return diag_set(diag, EXIT_USAGE, "%s: empty; name a file", flag);
    if (is_one_of(flag, drawings) && ending && is_one_of(ending, others))
        return diag_set(diag, EXIT_USAGE, "%s %s: the drawing is SVG; name a file that ends in .svg", flag, path);
    return file_is_standard_output(path) ? EXIT_DONE : folder_check(path, diag);
}

/* A flag whose help names all its values takes no other. */
static int check_value(const struct option_info *option, const char *value, struct diag *diag)
{
    static const char *const outputs[] = {"-o", "-MF", "--plot", "--svg", "--codes", NULL};
    if (choice_is_closed(option->argument) && choice_check(option->name, option->argument, value, diag))
        return -1;
    return is_one_of(option->name, outputs) && check_output(option->name, value, diag) ? -1 : 1;
}

int argument_next(struct argument_walk *walk, const struct option_info **option, const char **value, struct diag *diag)
{
    if (walk->index < 1)
        walk->index = 1;
    if (walk->index < walk->argc && !walk->flags_ended && strcmp(walk->argv[walk->index], "--") == 0) {
        walk->flags_ended = 1;
        walk->index++;
    }
    if (walk->index >= walk->argc)
        return 0;

    const int at = walk->index++;
    const char *token = walk->argv[at];
    *option = NULL;
    *value = token;
    if (walk->flags_ended || !looks_like_flag(token))
        return 1;

    *option = find_option(walk->command, token);
    if (!*option)
        return unknown_flag(walk, token, diag);
    const char *name = (*option)->name;
    if (!is_repeatable(*option) && occurs_before(walk, *option, at)) {
        diag_set(diag, EXIT_USAGE, "%s is given more than once", name);
        return -1;
    }

    const char *attached = token + name_length(token);
    *value = *attached == '=' ? attached + 1 : NULL;
    if (!(*option)->argument) {
        if (!*value)
            return 1;
        diag_set(diag, EXIT_USAGE, "%s is a switch and takes no value", name);
        return -1;
    }
    if (*value)
        return check_value(*option, *value, diag);
    /* "-o --check": the flag that follows is not a file name. */
    if (walk->index >= walk->argc || strcmp(walk->argv[walk->index], "--") == 0 ||
        (looks_like_flag(walk->argv[walk->index]) && find_option(walk->command, walk->argv[walk->index]))) {
        diag_set(diag, EXIT_USAGE, "%s needs a value, %s", name, (*option)->argument);
        return -1;
    }
    *value = walk->argv[walk->index++];
    return check_value(*option, *value, diag);
}

int argument_take(const struct command *command, int argc, char **argv, const char *what, const char **path,
                  int (*set)(void *request, const char *flag, const char *value, struct diag *diag), void *request,
                  struct diag *diag)
{
    struct argument_walk walk = {.command = command, .argc = argc, .argv = argv};
    const struct option_info *option;
    const char *value;
    int next;
    while ((next = argument_next(&walk, &option, &value, diag)) > 0) {
        if (!option && *path)
            return diag_set(diag, EXIT_USAGE, "\"%s\" is one %s too many; %s takes one", value, what, command->name);
        if (!option)
            *path = value;
        else if (set(request, option->name, value, diag))
            return diag->code;
    }
    return next < 0 ? diag->code : EXIT_DONE;
}

/* "--form absolute|biased|anchored" and the like stand on a line of their own. */
static void print_flag(const struct option_info *option)
{
    const char *brief = option_short(option), *space = option->argument ? " " : "";
    const char *argument = option->argument ? option->argument : "", *help = option->help;
    char left[120];
    const int length =
        brief ? snprintf(left, sizeof left, "%s%s%s, %s%s%s", option->name, space, argument, brief, space, argument)
              : snprintf(left, sizeof left, "%s%s%s", option->name, space, argument);
    if (length > FLAG_WIDTH)
        printf("  %s\n  %*s  %s\n", left, FLAG_WIDTH, "", help);
    else
        printf("  %-*s  %s\n", FLAG_WIDTH, left, help);
}

static void print_indented(const char *lines)
{
    while (*lines) {
        const size_t length = strcspn(lines, "\n");
        printf("  %.*s\n", (int)length, lines);
        lines += length + (lines[length] == '\n');
    }
}

/* Paragraphs, wrapped; an indented one stays indented. */
static void print_details(const char *lines)
{
    printf("\n");
    while (*lines) {
        const size_t length = strcspn(lines, "\n"), indent = strspn(lines, " ");
        size_t at = indent, column = indent;
        printf("%*s", (int)indent, "");
        while (at < length) {
            const size_t word = strcspn(lines + at, " \n");
            if (column > indent && column + 1 + word > LINE_WIDTH) {
                printf("\n%*s", (int)indent, "");
                column = indent;
            }
            printf("%s%.*s", column > indent ? " " : "", (int)word, lines + at);
            column += (column > indent) + word;
            at += word + strspn(lines + at + word, " ");
        }
        printf("\n");
        lines += length + (lines[length] == '\n');
    }
}

const char *const exit_codes[] = {
    "0   done",
    "1   a file could not be read or written, or an internal error",
    "2   unusable flags or file content",
    "3   a requirement is not met: a bound is missed, files differ, no provable table exists",
    "77  a tool or library that is needed is missing",
    NULL,
};

void command_print_help(const struct command *command)
{
    printf("Usage: %s\n\n%s\n\nFlags:\n", command->synopsis, command->summary);
    for (const struct option_info *option = command->options; option->name; option++)
        print_flag(option);
    for (const struct option_info *option = common_options; option->name; option++)
        print_flag(option);
    printf("\nA flag with ... may be repeated; -- ends the flags; - is standard input or output.\n");
    if (command->details)
        print_details(command->details);
    printf("\nExit codes:\n");
    for (const char *const *code = exit_codes; *code; code++)
        printf("  %s\n", *code);
    printf("\nExample:\n");
    print_indented(command->example);
}
