/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "choice_costs.h"

#include <math.h>

#include "base/note.h"
#include "fit.h"
#include "relax.h"

#define SHOWN 1e-5 /* relative: figures are printed to six digits */

/* Says what a choice costs, if it does. Where the search without the choice did worse, the table with it serves there,
 * too. */
static void print_cost(const struct spec *spec, const char *choice, const struct table *with,
                       const struct table *without)
{
    const struct certificate *c = &with->certificate, *other = &without->certificate;
    const bool by_max = c->objective == OBJECTIVE_MAX;
    const double error = by_max ? c->max_err_lsb : c->rms_err_lsb;
    const double other_error = by_max ? other->max_err_lsb : other->rms_err_lsb;
    const bool segments_count = !isnan(spec->max_err) && !spec->segments;
    if (segments_count && with->segment_count > without->segment_count)
        note("fit", "with %s %d segments are needed, without %d", choice, with->segment_count, without->segment_count);
    else if ((!segments_count || with->segment_count == without->segment_count) && error > other_error * (1 + SHOWN))
        note("fit", "with %s the %s error is %.6g LSB, without %.6g", choice, by_max ? "largest" : "RMS", error,
             other_error);
}

void print_choice_costs(const struct spec *spec, const struct table *table)
{
    struct spec relaxed;
    struct text choice = {0};
    for (int k = 0; !time_limit_over(spec->time_limit) && relax(spec, k, &relaxed, &choice); k++) {
        struct table other = {.segment_count = table->segment_count};
        struct diag ignored;
        const bool any_shift = spec->constraints.one_shift && !relaxed.constraints.one_shift;
        if (any_shift && table->certificate.has_rms_any_shift && isnan(spec->max_err))
            other.certificate.rms_err_lsb = table->certificate.rms_any_shift_lsb;
        else if (fit_as_asked(&relaxed, &other, &ignored))
            continue;
        print_cost(spec, choice.bytes, table, &other);
        table_free(&other);
    }
    text_free(&choice);
}
