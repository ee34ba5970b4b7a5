/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Completion scripts, from the tables that --help prints: "a|b|c" as an argument gives its values, "FILE" file names,
 * FUNCTION in a synopsis the functions, "[word]" that word. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "function/function.h"

static bool names_files(const char *argument)
{
    return strstr(argument, "FILE") || strstr(argument, "DIR") || strstr(argument, "TABLE");
}

/* Whether an argument is a choice of words, and then these, each after a separator but the first. Of "percentile=P" the
 * part that is the same for all remains. */
static bool print_choices(const char *argument, const char *separator)
{
    bool any = false;
    if (!strchr(argument, '|'))
        return false;
    while (*argument) {
        const size_t length = strcspn(argument, "|"), equals = strcspn(argument, "=|");
        const size_t shown = equals < length ? equals + 1 : length;
        if (!isupper((unsigned char)argument[0])) {
            printf("%s%.*s", any ? separator : "", (int)shown, argument);
            any = true;
        }
        argument += length + (argument[length] == '|');
    }
    return any;
}

static bool takes_function(const struct command *command)
{
    return strstr(command->synopsis, "FUNCTION") != NULL;
}

/* Positional words: functions, and what stands in brackets alone. */
static void print_words(const struct command *command)
{
    const char *separator = "";
    for (const struct function_info *info = function_table; takes_function(command) && info->name; info++) {
        printf("%s%s", separator, info->name);
        separator = " ";
    }
    for (const char *c = strchr(command->synopsis, '['); c; c = strchr(c + 1, '[')) {
        const size_t length = strspn(c + 1, "abcdefghijklmnopqrstuvwxyz");
        if (length > 0 && c[1 + length] == ']' && strncmp(c + 1, "flags", length) != 0) {
            printf("%s%.*s", separator, (int)length, c + 1);
            separator = " ";
        }
    }
}

static void print_names(const struct option_info *option, const char *separator, const char *end)
{
    printf("%s", option->name);
    if (option_short(option))
        printf("%s%s", separator, option_short(option));
    printf("%s", end);
}

static void print_bash_command(const struct command *command)
{
    printf("    %s)\n        flags='", command->name);
    for (const struct option_info *option = command->options; option->name; option++)
        print_names(option, " ", " ");
    printf("--help'\n        words='");
    print_words(command);
    printf("'\n        case $prev in\n");
    for (const struct option_info *option = command->options; option->name; option++) {
        if (!option->argument)
            continue;
        printf("        ");
        print_names(option, "|", ") values='");
        print_choices(option->argument, " ");
        printf("' value=%s ;;\n", names_files(option->argument) ? "file" : "word");
    }
    printf("        esac\n        ;;\n");
}

static void print_bash(const struct command *const *commands)
{
    printf("# Completion of pwlc for bash, written by `pwlc --completion bash`.\n"
           "_pwlc()\n{\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
           "    local flags='' words='' values='' value=''\n"
           "    COMPREPLY=()\n"
           "    if ((COMP_CWORD == 1)); then\n"
           "        mapfile -t COMPREPLY < <(compgen -W '");
    for (const struct command *const *command = commands; *command; command++)
        printf("%s ", (*command)->name);
    printf("--help --version --man --completion' -- \"$cur\")\n"
           "        return\n"
           "    fi\n"
           "    # bash cuts --flag=value into three words\n"
           "    if [[ $cur == = ]]; then\n"
           "        cur=''\n"
           "    elif [[ $prev == = ]]; then\n"
           "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
           "    fi\n"
           "    case ${COMP_WORDS[1]} in\n"
           "    --completion)\n        values='bash zsh' value=word\n        ;;\n");
    for (; *commands; commands++)
        print_bash_command(*commands);
    printf("    esac\n"
           "    if [[ $value ]]; then\n"
           "        mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$cur\")\n"
           "        if [[ $value == file ]]; then\n"
           "            mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -f -- \"$cur\")\n"
           "        fi\n"
           "    elif [[ $cur == -* ]]; then\n"
           "        mapfile -t COMPREPLY < <(compgen -W \"$flags\" -- \"$cur\")\n"
           "    elif [[ $words ]]; then\n"
           "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
           "    else\n"
           "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
           "    fi\n"
           "}\n"
           "complete -o filenames -F _pwlc pwlc\n");
}

/* Inside single quotes, and inside the brackets or between the colons of _arguments. */
static void print_zsh_text(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            printf("'\\''");
        else if (strchr("[]:\\", *text))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void print_zsh_option(const char *name, const struct option_info *option)
{
    const size_t length = option->argument ? strlen(option->argument) : 0;
    const bool repeatable = length > 3 && strcmp(option->argument + length - 3, "...") == 0;
    printf(" \\\n            '%s%s[", repeatable ? "*" : "", name);
    print_zsh_text(option->help);
    printf("]");
    if (option->argument) {
        printf(":");
        print_zsh_text(strchr(option->argument, '|') ? "value" : option->argument);
        printf(":");
        if (names_files(option->argument)) {
            printf("_files");
        } else if (strchr(option->argument, '|')) {
            printf("(");
            print_choices(option->argument, " ");
            printf(")");
        }
    }
    printf("'");
}

static void print_zsh(const struct command *const *commands)
{
    printf("#compdef pwlc\n"
           "# Completion of pwlc for zsh, written by `pwlc --completion zsh`.\n"
           "_pwlc()\n{\n"
           "    local context state state_descr line\n"
           "    local -a commands\n"
           "    typeset -A opt_args\n"
           "    commands=(");
    for (const struct command *const *command = commands; *command; command++) {
        printf("\n        '%s:", (*command)->name);
        print_zsh_text((*command)->summary);
        printf("'");
    }
    printf("\n    )\n"
           "    _arguments -C '--help[show the commands]' '--version[show the version]' '--man[print the manual]' \\\n"
           "        '--completion[print a completion script]:shell:(bash zsh)' \\\n"
           "        '1:command:->command' '*::argument:->argument'\n"
           "    case $state in\n"
           "    command) _describe command commands ;;\n"
           "    argument)\n"
           "        case $words[1] in\n");
    for (; *commands; commands++) {
        printf("        %s)\n            _arguments", (*commands)->name);
        for (const struct option_info *option = (*commands)->options; option->name; option++) {
            print_zsh_option(option->name, option);
            if (option_short(option))
                print_zsh_option(option_short(option), option);
        }
        printf(" \\\n            '--help[show the flags and an example]' \\\n            '*:argument:");
        if (takes_function(*commands) || strcmp((*commands)->name, "list") == 0) {
            printf("(");
            print_words(*commands);
            printf(")");
        } else {
            printf("_files");
        }
        printf("'\n            ;;\n");
    }
    printf("        esac\n        ;;\n    esac\n}\n"
           "if [ \"$funcstack[1]\" = _pwlc ]; then\n    _pwlc \"$@\"\nelse\n    compdef _pwlc pwlc\nfi\n");
}

int completion_print(const struct command *const *commands, const char *shell, struct diag *diag)
{
    if (strcmp(shell, "bash") == 0)
        print_bash(commands);
    else if (strcmp(shell, "zsh") == 0)
        print_zsh(commands);
    else
        return diag_set(diag, EXIT_USAGE, "--completion is bash or zsh, not \"%s\"", shell);
    return EXIT_DONE;
}
