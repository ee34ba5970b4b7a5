/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "distribution.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

const double distribution_share[DISTRIBUTION_SHARES] = {0.5, 0.9, 0.99, 0.999};

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static bool is_worse(struct code_error a, struct code_error b)
{
    const double x = fabs(a.err), y = fabs(b.err);
    return x > y || (x == y && a.code < b.code);
}

static void add(struct distribution *all, struct code_error new)
{
    int at = all->count;
    while (at > 0 && is_worse(new, all->worst[at - 1]))
        at--;
    if (at == DISTRIBUTION_WORST || (at > 0 && all->worst[at - 1].code == new.code))
        return;
    all->count += all->count < DISTRIBUTION_WORST;
    for (int i = all->count - 1; i > at; i--)
        all->worst[i] = all->worst[i - 1];
    all->worst[at] = new;
}

int distribution_make(const int64_t *code, const double *err, size_t count, struct code_error witness,
                      struct distribution *distribution, struct diag *diag)
{
    double *const size = malloc(count * sizeof *size);
    if (!size)
        return diag_set(diag, EXIT_IO, "out of memory for %zu errors", count);
    *distribution = (struct distribution){.count = 1, .worst = {witness}};
    for (size_t k = 0; k < count; k++) {
        add(distribution, (struct code_error){code[k], err[k]});
        size[k] = fabs(err[k]);
    }
    qsort(size, count, sizeof *size, compare);
    for (int i = 0; i < DISTRIBUTION_SHARES; i++)
        distribution->within[i] = size[(size_t)ceil(distribution_share[i] * (double)count) - 1];
    free(size);
    return EXIT_DONE;
}
