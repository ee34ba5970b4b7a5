/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Completion scripts, from the tables that --help prints: "a|b|c" as an argument gives its values, "FILE" file names,
 * and so does "TYPE", which a model may have. In a synopsis FUNCTION gives the functions, "[word]" that word, a word
 * after the command's name an action, and FILE or a name with an ending, where it belongs to no flag, files. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "command.h"
#include "function/function.h"

static bool names_files(const char *argument)
{
    static const char *const signs[] = {"FILE", "DIR", "TABLE", "TYPE", ".json", ".npy", ".svg", ".gguf"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strstr(argument, signs[i]))
            return true;
    return false;
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

/* What must come first: the lower-case words that follow the command's name, or a " | ", in its synopsis. The next one
 * from a place in it on; null when there is none. */
static const char *find_action(const struct command *command, const char *from, size_t *length)
{
    const char *next = from == command->synopsis ? from : strstr(from, " | ");
    for (; next; next = strstr(next, " | ")) {
        next += strncmp(next, " | ", 3) == 0 ? 3 : 0;
        if (strncmp(next, "pwlc ", 5) == 0)
            next += strlen("pwlc ") + strlen(command->name) + 1;
        *length = strspn(next, "abcdefghijklmnopqrstuvwxyz");
        if (*length > 0 && (next[*length] == ' ' || next[*length] == '\0'))
            return next;
    }
    return NULL;
}

static void print_actions(const struct command *command)
{
    size_t length = 0;
    const char *action = command->synopsis;
    for (bool first = true; (action = find_action(command, action, &length)); first = false)
        printf("%s%.*s", first ? "" : " ", (int)length, action);
}

/* Whether files stand for themselves: a FILE of the synopsis that does not follow a flag. */
static bool takes_files(const struct command *command)
{
    char word[80], before[80] = "";
    for (const char *c = command->synopsis; *c;) {
        const size_t length = strcspn(c, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, c);
        if (word[0] != '[' && before[0] != '-' && strncmp(before, "[-", 2) != 0 && names_files(word))
            return true;
        strcpy(before, word);
        c += length + (c[length] == ' ');
    }
    return false;
}

static void print_names(const struct option_info *option, const char *separator, const char *end)
{
    printf("%s", option->name);
    if (option_short(option))
        printf("%s%s", separator, option_short(option));
    printf("%s", end);
}

static void print_bash_value(const struct option_info *option)
{
    if (!option->argument)
        return;
    printf("        ");
    print_names(option, "|", ") values='");
    print_choices(option->argument, " ");
    printf("' value=%s ;;\n", names_files(option->argument) ? "file" : "word");
}

static void print_bash_command(const struct command *command)
{
    printf("    %s)\n        flags='", command->name);
    for (const struct option_info *option = command->options; option->name; option++)
        print_names(option, " ", " ");
    for (const struct option_info *option = common_options; option->name; option++)
        print_names(option, " ", option[1].name ? " " : "'\n");
    printf("        words='");
    print_words(command);
    printf("' actions='");
    print_actions(command);
    printf("' files=%s\n        case $prev in\n", takes_files(command) ? "yes" : "");
    for (const struct option_info *option = command->options; option->name; option++)
        print_bash_value(option);
    for (const struct option_info *option = common_options; option->name; option++)
        print_bash_value(option);
    printf("        esac\n        ;;\n");
}

static void print_bash(const struct command *const *commands)
{
    printf("# Completion of pwlc for bash, written by `pwlc --completion bash`.\n"
           "_pwlc()\n{\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
           "    local flags='' words='' actions='' files='' values='' value=''\n"
           "    COMPREPLY=()\n"
           "    if ((COMP_CWORD == 1)); then\n"
           "        mapfile -t COMPREPLY < <(compgen -W '");
    for (const struct command *const *command = commands; *command; command++)
        printf("%s ", (*command)->name);
    printf("help --help --version --man --completion' -- \"$cur\")\n"
           "        return\n"
           "    fi\n"
           "    # bash cuts --flag=value into three words\n"
           "    if [[ $cur == = ]]; then\n"
           "        cur=''\n"
           "    elif [[ $prev == = ]]; then\n"
           "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
           "    fi\n"
           "    case ${COMP_WORDS[1]} in\n"
           "    --completion)\n        values='");
    print_choices(COMPLETION_SHELLS, " ");
    printf("' value=word\n        ;;\n    help)\n        actions='");
    for (const struct command *const *command = commands; *command; command++)
        printf("%s%s", (*command)->name, command[1] ? " " : "'\n        ;;\n");
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
           "    elif [[ $actions && $COMP_CWORD == 2 ]]; then\n"
           "        mapfile -t COMPREPLY < <(compgen -W \"$actions\" -- \"$cur\")\n"
           "    elif [[ $words ]]; then\n"
           "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
           "    elif [[ $files ]]; then\n"
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

static void print_zsh_arguments(const struct command *command)
{
    size_t length;
    printf(" \\\n            ");
    if (find_action(command, command->synopsis, &length)) {
        printf("'1:action:(");
        print_actions(command);
        printf(")' ");
    }
    printf("'*:argument:");
    if (takes_files(command)) {
        printf("_files'");
        return;
    }
    printf("(");
    print_words(command);
    printf(")'");
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
           "        '--completion[print a completion script]:shell:(");
    print_choices(COMPLETION_SHELLS, " ");
    printf(")' \\\n"
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
        for (const struct option_info *option = common_options; option->name; option++)
            print_zsh_option(option->name, option);
        print_zsh_arguments(*commands);
        printf("\n            ;;\n");
    }
    printf("        esac\n        ;;\n    esac\n}\n"
           "if [ \"$funcstack[1]\" = _pwlc ]; then\n    _pwlc \"$@\"\nelse\n    compdef _pwlc pwlc\nfi\n");
}

/* Inside single quotes of fish. */
static void print_fish_text(const char *text)
{
    for (; *text; text++)
        printf(*text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
}

static void print_fish_option(const char *command, const char *name, const struct option_info *option)
{
    /* "-o" is short, "--in" long, "-MD" old */
    const char *kind = strncmp(name, "--", 2) == 0 ? "l" : strlen(name) == 2 ? "s" : "o";
    printf("complete -c pwlc -n '__fish_seen_subcommand_from %s' -%s %s -d '", command, kind, name + strspn(name, "-"));
    print_fish_text(option->help);
    printf("'");
    if (option->argument) {
        printf(names_files(option->argument) ? " -r -F" : " -x");
        if (strchr(option->argument, '|')) {
            printf(" -a '");
            print_choices(option->argument, " ");
            printf("'");
        }
    }
    printf("\n");
}

static void print_fish_command(const struct command *command)
{
    printf("complete -c pwlc -n __fish_use_subcommand -a %s -d '", command->name);
    print_fish_text(command->summary);
    printf("'\n");
    for (const struct option_info *option = command->options; option->name; option++) {
        print_fish_option(command->name, option->name, option);
        if (option_short(option))
            print_fish_option(command->name, option_short(option), option);
    }
    for (const struct option_info *option = common_options; option->name; option++)
        print_fish_option(command->name, option->name, option);
    printf("complete -c pwlc -n '__fish_seen_subcommand_from %s; and test (count (commandline -opc)) -eq 2' -a '",
           command->name);
    print_actions(command);
    printf("'\ncomplete -c pwlc -n '__fish_seen_subcommand_from %s' -a '", command->name);
    print_words(command);
    printf("'\n");
    if (takes_files(command))
        printf("complete -c pwlc -n '__fish_seen_subcommand_from %s' -F\n", command->name);
}

static void print_fish(const struct command *const *commands)
{
    printf("# Completion of pwlc for fish, written by `pwlc --completion fish`.\n"
           "complete -c pwlc -f\n"
           "complete -c pwlc -n __fish_use_subcommand -l help -d 'show the commands'\n"
           "complete -c pwlc -n __fish_use_subcommand -l version -s V -d 'show the version'\n"
           "complete -c pwlc -n __fish_use_subcommand -l man -d 'print the manual'\n"
           "complete -c pwlc -n __fish_use_subcommand -l completion -x -a '");
    print_choices(COMPLETION_SHELLS, " ");
    printf("' -d 'print a completion script'\n"
           "complete -c pwlc -n __fish_use_subcommand -a help -d 'show the flags of a command'\n"
           "complete -c pwlc -n '__fish_seen_subcommand_from help' -a '");
    for (const struct command *const *command = commands; *command; command++)
        printf("%s%s", (*command)->name, command[1] ? " " : "'\n");
    for (; *commands; commands++)
        print_fish_command(*commands);
}

static void print_json_field(const char *name, const char *text, const char *end)
{
    printf("\"%s\": ", name);
    if (!text) {
        printf("null%s", end);
        return;
    }
    printf("\"");
    for (; *text; text++)
        printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    printf("\"%s", end);
}

/* For programs that call pwlc: {"fit": {"synopsis": ..., "summary": ..., "flags": [{"name": "--in", "argument": "TYPE",
 * "help": ...}, ...]}, ...}. argument is null for a switch; names and texts are those of --help. */
static void print_json(const struct command *const *commands)
{
    printf("{");
    for (const char *between = "\n"; *commands; commands++, between = ",\n") {
        printf("%s  \"%s\": {", between, (*commands)->name);
        print_json_field("synopsis", (*commands)->synopsis, ", ");
        print_json_field("summary", (*commands)->summary, ",\n    \"flags\": [");
        for (const struct option_info *option = (*commands)->options; option->name; option++) {
            printf("%s      {", option == (*commands)->options ? "\n" : ",\n");
            print_json_field("name", option->name, ", ");
            print_json_field("argument", option->argument, ", ");
            print_json_field("help", option->help, "}");
        }
        printf("\n    ]}");
    }
    printf("\n}\n");
}

int completion_print(const struct command *const *commands, const char *shell, struct diag *diag)
{
    if (choice_check("--completion", COMPLETION_SHELLS, shell, diag))
        return diag->code;
    if (strcmp(shell, "bash") == 0)
        print_bash(commands);
    else if (strcmp(shell, "zsh") == 0)
        print_zsh(commands);
    else if (strcmp(shell, "fish") == 0)
        print_fish(commands);
    else
        print_json(commands);
    return EXIT_DONE;
}
