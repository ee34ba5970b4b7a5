/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "attempt.h"

#include "judgement.h"
#include "method.h"

static int try_attempt(const struct spec *spec, const struct attempt *attempt, struct table *best, struct diag *diag)
{
    struct spec asked = *spec;
    struct table table;
    struct diag refusal;
    asked.effort *= attempt->effort;
    const int status = attempt->make(&asked, best, &table, &refusal);
    if (status == EXIT_IO)
        return diag_set(diag, status, "%s", refusal.text);
    if (status == EXIT_DONE && attempt->is_taken(spec, &table, best))
        take_table(best, &table);
    else if (status == EXIT_DONE)
        table_free(&table);
    return EXIT_DONE;
}

int fit_best_of(const struct spec *spec, const struct attempt *const attempts[], struct table *table, struct diag *diag)
{
    if (fit_by_method(spec, table, diag))
        return diag->code;
    for (; *attempts && !time_limit_over(spec->time_limit); attempts++)
        if ((*attempts)->applies(spec, table) && try_attempt(spec, *attempts, table, diag)) {
            table_free(table);
            return diag->code;
        }
    return EXIT_DONE;
}
