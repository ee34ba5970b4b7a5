/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "suggest.h"

#include <stddef.h>
#include <string.h>

#define WORD_MAX 40 /* longer words are no slips of the names used here */

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

const char *suggest(const char *word, const char *const *candidates)
{
    const size_t size = strlen(word);
    const char *closest = NULL;
    size_t fewest = (size + 2) / 3 + 1;
    if (size == 0 || size > WORD_MAX)
        return NULL;
    for (; *candidates != NULL; candidates++) {
        const size_t candidate_size = strlen(*candidates);
        if (candidate_size > WORD_MAX)
            continue;
        const size_t distance = edits(word, size, *candidates, candidate_size);
        if (distance < fewest) {
            fewest = distance;
            closest = *candidates;
        }
    }
    return closest;
}
