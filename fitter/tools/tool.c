/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tool.h"

#include <ctype.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"

#define ANSWER_LIMIT_S 60 /* a loaded machine, a cold disk */
#define MOST_KNOWN 32

const struct tool tool_yosys = {"yosys", "Debian's package yosys", "-V", "0.23"};
const struct tool tool_verilator = {"verilator", "Debian's package verilator", "--version", "5.6"};
const struct tool tool_iverilog = {"iverilog", "Debian's package iverilog", "-V", "11.0"};
const struct tool tool_vvp = {"vvp", "Debian's package iverilog", "-V", "11.0"};

/* What was answered. */
static struct {
    const struct tool *tool;
    char version[TOOL_VERSION_SIZE];
} known[MOST_KNOWN];
static int known_count;
static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;

/* Length of the version that begins at text, 0 when none does. */
static size_t version_length(const char *text)
{
    size_t length = strspn(text, "0123456789");
    if (length == 0 || text[length] != '.' || !isdigit((unsigned char)text[length + 1]))
        return 0;
    length += 1 + strspn(text + length + 1, "0123456789");
    if (text[length] == '.' && isdigit((unsigned char)text[length + 1]))
        length += 1 + strspn(text + length + 1, "0123456789");
    return length;
}

static bool find_version(const char *text, char version[TOOL_VERSION_SIZE])
{
    for (bool in_word = false; *text; in_word = isalnum((unsigned char)*text) || *text == '.', text++) {
        const size_t length = in_word ? 0 : version_length(text);
        if (length == 0 || length >= TOOL_VERSION_SIZE)
            continue;
        memcpy(version, text, length);
        version[length] = '\0';
        return true;
    }
    return false;
}

/* By their first two numbers: 5.006 is 5.6. */
static bool is_older(const char *version, const char *least)
{
    char *rest, *least_rest;
    const long major = strtol(version, &rest, 10), minor = strtol(rest + 1, NULL, 10);
    const long least_major = strtol(least, &least_rest, 10), least_minor = strtol(least_rest + 1, NULL, 10);
    return major < least_major || (major == least_major && minor < least_minor);
}

static int ask(const struct tool *tool, char version[TOOL_VERSION_SIZE], struct diag *diag)
{
    const char *const argv[] = {tool->name, tool->ask, NULL};
    const struct process process = {.argv = argv, .limit_s = ANSWER_LIMIT_S};
    struct text said = {0};
    int code = process_run(&process, &said, diag);
    if (code == EXIT_MISSING)
        diag_set(diag, code, "%s is missing; %s has it", tool->name, tool->package);
    else if (code == EXIT_DONE && (!said.size || !find_version(said.bytes, version)))
        code = diag_set(diag, EXIT_MISSING, "%s: no version is in its answer to %s; %s has the one that is needed",
                        tool->name, tool->ask, tool->package);
    else if (code == EXIT_DONE && is_older(version, tool->least))
        code = diag_set(diag, EXIT_MISSING, "%s %s is too old; %s or later is needed; %s has it", tool->name, version,
                        tool->least, tool->package);
    text_free(&said);
    return code;
}

int tool_version(const struct tool *tool, char version[TOOL_VERSION_SIZE], struct diag *diag)
{
    int k = 0, code = EXIT_DONE;
    pthread_mutex_lock(&asking);
    while (k < known_count && known[k].tool != tool)
        k++;
    if (k < known_count)
        memcpy(version, known[k].version, TOOL_VERSION_SIZE);
    else
        code = ask(tool, version, diag);
    if (code == EXIT_DONE && k == known_count && k < MOST_KNOWN) {
        known[k].tool = tool;
        snprintf(known[k].version, TOOL_VERSION_SIZE, "%s", version);
        known_count++;
    }
    pthread_mutex_unlock(&asking);
    return code;
}

int tool_run(const char *const *argv, const char *folder, double limit_s, struct text *said, struct diag *diag)
{
    const struct process process = {.argv = argv, .folder = folder, .limit_s = limit_s};
    struct text own = {0};
    const int code = process_run(&process, said ? said : &own, diag);
    text_free(&own);
    return code;
}

int tool_words(char *line, const char **words, int most)
{
    int count = 0;
    char *rest = line;
    for (char *word; count < most && (word = strtok_r(count ? NULL : line, " \t\r\n", &rest)) != NULL;)
        words[count++] = word;
    return count;
}
