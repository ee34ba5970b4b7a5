/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "suggest.h"

#include <stdio.h>
#include <string.h>

#include "escape.h"

#define WORD_MAX 40 /* longer words are no slips of the names used here */
#define CHOICES_MAX 24

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Optimal string alignment distance; rows are prefixes of a, columns prefixes of b. */
static size_t edits(const char *a, size_t a_size, const char *b, size_t b_size)
{
    size_t cost[WORD_MAX + 1][WORD_MAX + 1];
    for (size_t i = 0; i <= a_size; i++)
        cost[i][0] = i;
    for (size_t j = 0; j <= b_size; j++)
        cost[0][j] = j;
    for (size_t i = 1; i <= a_size; i++) {
        for (size_t j = 1; j <= b_size; j++) {
            const char from = lower(a[i - 1]), to = lower(b[j - 1]);
            size_t best = cost[i - 1][j - 1] + (from != to);
            best = smaller(best, smaller(cost[i - 1][j], cost[i][j - 1]) + 1);
            if (i > 1 && j > 1 && from == lower(b[j - 2]) && lower(a[i - 2]) == to)
                best = smaller(best, cost[i - 2][j - 2] + 1);
            cost[i][j] = best;
        }
    }
    return cost[a_size][b_size];
}

/* Words that others use, and what they are here; taken where it is among the candidates. */
static const char *const synonyms[][2] = {
    {"--output", "-o"},
    {"--out-file", "-o"},
    {"--outfile", "-o"},
    {"--input", "--in"},
    {"--segs", "--segments"},
    {"--alpha", "--param"},
    {"--threads", "--jobs"},
    {"--tolerance", "--max-err"},
    {"nearest", "half_even"},
    {"round", "half_even"},
    {"trunc", "floor"},
    {"truncate", "floor"},
    {"least_squares", "lsq"},
    {"chebyshev", "minimax"},
    {"even", "uniform"},
    {"systemverilog", "sv"},
    {"verilog", "v"},
    {"icarus", "iverilog"},
    {"markdown", "md"},
    {"header", "c"},
    {"h", "c"},
    {"numpy", "npy"},
    {"gpu", "cuda"},
    {"host", "cpu"},
    {"yes", "on"},
    {"true", "on"},
    {"no", "off"},
    {"false", "off"},
    {"none", "off"},
    {"offset", "biased"},
};

static const char *find(const char *word, const char *const *candidates)
{
    for (; *candidates != NULL; candidates++)
        if (strcmp(word, *candidates) == 0)
            return *candidates;
    return NULL;
}

/* The only candidate that begins with the word, and has a letter that the word has not. */
static const char *begun(const char *word, size_t size, const char *const *candidates)
{
    const char *found = NULL;
    for (; *candidates != NULL; candidates++) {
        if (strncmp(word, *candidates, size) != 0)
            continue;
        if (found != NULL)
            return NULL;
        found = *candidates;
    }
    return found;
}

/* Dashes before a flag are not part of its word. */
static const char *letters(const char *word)
{
    return word + strspn(word, "-");
}

const char *suggest(const char *word, const char *const *candidates)
{
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++) {
        const char *meant = strcmp(word, synonyms[i][0]) == 0 ? find(synonyms[i][1], candidates) : NULL;
        if (meant != NULL)
            return meant;
    }
    const char *closest = NULL, *plain = letters(word);
    const size_t size = strlen(plain);
    size_t fewest = size < 3 ? 1 : size < 6 ? 2 : (size + 2) / 3 + 1;
    if (size == 0 || size > WORD_MAX)
        return NULL;
    for (const char *const *candidate = candidates; *candidate != NULL; candidate++) {
        const char *other = letters(*candidate);
        const size_t other_size = strlen(other);
        if (other_size > WORD_MAX)
            continue;
        const size_t distance = edits(plain, size, other, other_size);
        if (distance < fewest) {
            fewest = distance;
            closest = *candidate;
        }
    }
    const char *whole = size < 2 || (closest != NULL && fewest < 2) ? NULL : begun(word, strlen(word), candidates);
    return whole != NULL ? whole : closest;
}

const char *suggestion(const char *word, const char *const *candidates, const char *otherwise,
                       char text[SUGGESTION_SIZE])
{
    const char *close = suggest(word, candidates);
    struct text shown = {0};
    if (close != NULL)
        escape_control(&shown, close);
    if (shown.bytes == NULL)
        return otherwise;
    snprintf(text, SUGGESTION_SIZE, "; did you mean %.200s?", shown.bytes);
    text_free(&shown);
    return text;
}

/* Cuts "a|b|c" in place. */
static size_t split(char *text, const char *words[CHOICES_MAX + 1])
{
    size_t count = 0;
    while (text != NULL && count < CHOICES_MAX) {
        char *bar = strchr(text, '|');
        words[count++] = text;
        if (bar != NULL)
            *bar++ = '\0';
        text = bar;
    }
    words[count] = NULL;
    return count;
}

bool choice_is_closed(const char *choices)
{
    return strchr(choices, '|') != NULL && strpbrk(choices, "=[,.ABCDEFGHIJKLMNOPQRSTUVWXYZ") == NULL;
}

int choice_check(const char *flag, const char *choices, const char *value, struct diag *diag)
{
    char text[160], list[200] = "";
    const char *words[CHOICES_MAX + 1];
    snprintf(text, sizeof text, "%s", choices);
    const size_t count = split(text, words);
    if (find(value, words) != NULL)
        return EXIT_DONE;
    for (size_t i = 0, used = 0; i < count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 i == 0           ? ""
                                 : i + 1 == count ? " or "
                                                  : ", ",
                                 words[i]);
    /* bf16 is another thing than f16, no slip */
    char meant[SUGGESTION_SIZE];
    return diag_set(diag, EXIT_USAGE, "%s %.60s: must be %s%s", flag, value, list,
                    strpbrk(value, "0123456789") ? "" : suggestion(value, words, "", meant));
}

bool choice_next(const char **list, char *word, size_t size)
{
    if (!**list)
        return false;
    const size_t length = strcspn(*list, ",");
    snprintf(word, size, "%.*s", (int)smaller(length, size - 1), *list);
    *list += length + ((*list)[length] == ',');
    return true;
}

int choice_check_list(const char *flag, const char *choices, const char *list, struct diag *diag)
{
    char word[WORD_MAX];
    if (!*list)
        return diag_set(diag, EXIT_USAGE, "%s needs a value", flag);
    while (choice_next(&list, word, sizeof word))
        if (choice_check(flag, choices, word, diag))
            return diag->code;
    return EXIT_DONE;
}
