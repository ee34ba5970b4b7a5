/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "other_methods.h"

#include <math.h>
#include <stdio.h>

#include "measure/claim.h"

#define LITTLE 0.1 /* of the RMS error */
#define FAR 10     /* of it: where f bends, the largest error in segments of least squares is a few of it */

/* Whether the RMS error may be much larger than the least one, for all that is known. Of wide inputs that are not
 * folded it is near that of the best real lines, but for rounding, unless codes between the points stand out: f has a
 * corner there, and may be straight elsewhere. */
static bool may_gain(const struct spec *spec, const struct certificate *certificate)
{
    const bool stands_out = certificate->max_err_lsb > FAR * certificate->rms_err_lsb;
    if (spec->in.bits > SPEC_EXHAUSTIVE_BITS && !spec->fold && certificate->rms_err_lsb > 1 && !stands_out)
        return false;
    return certificate->optimal != 1 && certificate->rms_err_lsb > 0 &&
           !(certificate->has_lower_bound && certificate->lower_bound_lsb >= (1 - LITTLE) * certificate->rms_err_lsb);
}

/* Takes another method's table, under the name of the one that was asked for. */
static void take(struct table *table, struct table *other)
{
    char *const text = other->spec;
    other->spec = table->spec;
    table->spec = text;
    snprintf(other->method, sizeof other->method, "%s", table->method);
    certificate_keep_judgement(&other->certificate, &table->certificate);
    table_free(table);
    *table = *other;
}

int try_other_methods(const struct spec *spec,
                      int (*fit)(const struct spec *spec, struct table *table, struct diag *diag), struct table *table,
                      struct diag *diag)
{
    static const enum method methods[] = {METHOD_MINIMAX, METHOD_UNIFORM};
    const bool by_count = spec->segments || isnan(spec->max_err);
    if (spec->method != METHOD_LSQ || spec->reduce || !by_count)
        return EXIT_DONE;
    for (size_t i = 0; i < sizeof methods / sizeof *methods && may_gain(spec, &table->certificate); i++) {
        if (time_limit_over(spec->time_limit))
            break;
        struct spec asked = *spec;
        struct table other;
        struct diag refusal;
        asked.method = methods[i];
        asked.max_err = NAN;
        asked.is_aside = true;
        if (methods[i] == METHOD_UNIFORM && spec->constraints.knots != KNOTS_FREE)
            continue;
        const int status = fit(&asked, &other, &refusal);
        if (status == EXIT_DONE && other.certificate.rms_err_lsb < table->certificate.rms_err_lsb)
            take(table, &other);
        else if (status == EXIT_DONE)
            table_free(&other);
        else if (status == EXIT_IO)
            return diag_set(diag, status, "%s", refusal.text);
    }
    return EXIT_DONE;
}
