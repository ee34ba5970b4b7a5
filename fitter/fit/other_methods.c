/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "other_methods.h"

#include <math.h>

#include "judgement.h"
#include "max_err.h"
#include "method.h"

#define LITTLE 0.1 /* of the RMS error */
#define FAR 10     /* of it: where f bends, the largest error in segments of least squares is a few of it */

/* Whether the RMS error may be much larger than the least one, for all that is known. Of wide inputs that are not
 * folded it is near that of the best real lines, but for rounding, unless codes between the points stand out: f has a
 * corner there, and may be straight elsewhere. */
static bool may_gain(const struct spec *spec, const struct table *best)
{
    const struct certificate *const certificate = &best->certificate;
    const bool by_count = spec->segments || isnan(spec->max_err);
    const bool stands_out = certificate->max_err_lsb > FAR * certificate->rms_err_lsb;
    if (spec->method != METHOD_LSQ || spec->reduce || !by_count)
        return false;
    if (spec->in.bits > SPEC_EXHAUSTIVE_BITS && !spec->fold && certificate->rms_err_lsb > 1 && !stands_out)
        return false;
    return certificate->optimal != 1 && certificate->rms_err_lsb > 0 &&
           !(certificate->has_lower_bound && certificate->lower_bound_lsb >= (1 - LITTLE) * certificate->rms_err_lsb);
}

static bool may_gain_with_free_knots(const struct spec *spec, const struct table *best)
{
    return spec->constraints.knots == KNOTS_FREE && may_gain(spec, best);
}

static int fit_by_other(const struct spec *spec, enum method method, struct table *table, struct diag *diag)
{
    struct spec asked = *spec;
    asked.method = method;
    asked.max_err = NAN;
    asked.is_aside = true;
    return fit_by_method(&asked, table, diag);
}

static int make_minimax(const struct spec *spec, const struct table *best, struct table *table, struct diag *diag)
{
    (void)best;
    return fit_by_other(spec, METHOD_MINIMAX, table, diag);
}

static int make_uniform(const struct spec *spec, const struct table *best, struct table *table, struct diag *diag)
{
    (void)best;
    return fit_by_other(spec, METHOD_UNIFORM, table, diag);
}

static bool has_less_error(const struct spec *spec, const struct table *table, const struct table *best)
{
    struct diag missed;
    return is_better(&table->certificate, &best->certificate) && !check_max_err(spec, table, &missed);
}

const struct attempt attempt_minimax = {may_gain, 1, make_minimax, has_less_error};
const struct attempt attempt_uniform = {may_gain_with_free_knots, 1, make_uniform, has_less_error};
