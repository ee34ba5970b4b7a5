/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fit_notes.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/note.h"
#include "fit/keep_zero.h"
#include "function/expression.h"
#include "function/samples.h"
#include "profile/profile.h"

#define FEW_CODES 8                        /* of the output, below which a scale is hardly meant */
#define ZERO_POINT_ROUNDING (0.5L + 1e-6L) /* LSB; a derived scale is rounded, too */
#define COUNTED_CODES 65536                /* of the input, evenly spaced, that are looked at */
#define VAGUE 0x1p-10                      /* LSB: what an expression's value may be off by unsaid */
#define FAR 100                            /* times the RMS error: a largest error that its user hardly expects */

/* A note on the table of a job, or of none where the name is empty. */
static void note_job(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void note_job(const char *name, const char *format, ...)
{
    char text[800];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    note("fit", "%s%s%s", name, *name ? ": " : "", text);
}

/* Whether some code is so, of codes evenly spaced. */
static bool is_any_code(const struct spec *spec, bool is_so(const struct spec *spec, int64_t q_x))
{
    const struct tensor *in = &spec->in;
    const int64_t last = in->qmax - in->qmin, steps = last < COUNTED_CODES ? last : COUNTED_CODES;
    bool found = false;
    for (int64_t k = 0; k <= steps && !found; k++)
        found = is_so(spec, in->qmin + (steps ? last * k / steps : 0));
    return found;
}

/* Whether the function leaves the output's range by more than the rounding of a zero point. */
static bool leaves_range(const struct spec *spec, int64_t q_x)
{
    const struct dd target = target_unclipped(&spec->function, &spec->in, &spec->out, spec->outside, q_x);
    return fabs(dd_sub(target, target_clipped(&spec->out, target)).hi) > ZERO_POINT_ROUNDING;
}

/* Whether the terms of an expression cancel so far that errors are not known to the digits that are printed. */
static bool is_vague(const struct spec *spec, int64_t q_x)
{
    return expression_value(spec->function.expression, tensor_at(&spec->in, q_x)).rad > VAGUE * spec->out.scale.value;
}

static bool lies_between_samples(const struct spec *spec, int64_t q_x)
{
    return samples_between(spec->function.samples, tensor_at(&spec->in, q_x).hi);
}

static void note_saturation(const struct spec *spec, const struct table *table, const char *name)
{
    const struct certificate *certificate = &table->certificate;
    if (certificate->saturated_codes > 0 && (!spec->out_is_derived || is_any_code(spec, leaves_range)))
        note_job(name, "%s leaves the output range at %" PRId64 " of %" PRId64 " codes, which saturate",
                 table->function, certificate->saturated_codes, certificate->checked);
}

/* That errors may be larger at codes which were not compared, where no bound is proven: of an expression, which may
 * jump between them, always; of other functions where --max-err asks. */
static void note_unproven(const struct spec *spec, const struct table *table, const char *name)
{
    const struct certificate *certificate = &table->certificate;
    if (certificate->exhaustive || certificate->has_bound)
        return;
    if (!isnan(spec->max_err))
        note_job(name,
                 "--max-err %.6g holds for the %" PRId64
                 " codes compared; of the others nothing is proven, see pwlc sweep "
                 "--exhaustive",
                 spec->max_err, certificate->checked);
    else if (spec->function.expression)
        note_job(name,
                 "the errors are those of the %" PRId64
                 " codes compared; of the others nothing is proven, see pwlc sweep "
                 "--exhaustive",
                 certificate->checked);
}

static void note_vagueness(const struct spec *spec, const char *name)
{
    if (spec->function.expression && is_any_code(spec, is_vague))
        note_job(name, "terms of the expression cancel: at some codes its value is known to 1/1024 LSB or less well; "
                       "write it without the difference, as expm1(x) for exp(x) - 1");
}

/* That of a function given as samples only the samples are known, where codes lie between them. */
static void note_samples(const struct spec *spec, const char *name)
{
    const struct samples *samples = spec->function.samples;
    if (samples && is_any_code(spec, lies_between_samples))
        note_job(name, "there are codes between samples, which are " SAMPLES_BETWEEN);
}

/* How far off a table may be whose search was not complete. */
static void note_gap(const struct spec *spec, const struct table *table, const char *name)
{
    const struct certificate *certificate = &table->certificate;
    const int64_t codes = certificate->checked / (table->has_fold ? 2 : 1); /* that are searched */
    if (spec->method == METHOD_LSQ && codes <= SPEC_COMPLETE_CODES && certificate->has_lower_bound &&
        !certificate->optimal && !constraints_tie(&spec->constraints))
        note_job(name, "the error is %.6g LSB RMS, of the best table it may be %.6g", certificate->rms_err_lsb,
                 certificate->lower_bound_lsb);
}

/* Least squares leaves errors at few codes as large as they come; of wide inputs a corner or a pole is a small share.
 */
static void note_far(const struct spec *spec, const struct table *table, const char *name)
{
    const struct certificate *certificate = &table->certificate;
    if (spec->method == METHOD_LSQ && isnan(spec->max_err) && certificate->max_err_lsb > 1 &&
        certificate->max_err_lsb > FAR * certificate->rms_err_lsb)
        note_job(
            name,
            "code %" PRId64 " is off by %.6g LSB, %.0f times the RMS error; --method minimax makes the largest error "
            "least",
            certificate->max_err_at, certificate->max_err_lsb, certificate->max_err_lsb / certificate->rms_err_lsb);
}

/* Output codes that a table gives, counted up to FEW_CODES. */
static int count_codes(const struct table *table)
{
    struct packed_table packed;
    struct diag diag;
    int64_t seen[FEW_CODES];
    int count = 0;
    if (table_prove(table, EXIT_IO, &packed, NULL, &diag))
        return FEW_CODES;
    const int64_t last = table->in.qmax - table->in.qmin, steps = last < COUNTED_CODES ? last : COUNTED_CODES;
    for (int64_t k = 0; k <= steps && count < FEW_CODES; k++) {
        const int64_t y = packed_eval(&packed, table->in.qmin + (steps ? last * k / steps : 0));
        int i = 0;
        while (i < count && seen[i] != y)
            i++;
        if (i == count)
            seen[count++] = y;
    }
    packed_table_free(&packed);
    return count;
}

/* A scale that is too coarse or a range that is too narrow gives a table that is exact and says nothing. */
static void note_few_codes(const struct table *table, const char *name)
{
    const int64_t codes = table->out.qmax - table->out.qmin + 1;
    const int used = count_codes(table);
    if (used < FEW_CODES && used < codes)
        note_job(name,
                 "the output takes only %d of its %" PRId64 " codes; are the scales of --in and --out those meant?",
                 used, codes);
}

static void note_zero_point(const struct tensor *tensor, const char *flag, const char *name)
{
    if (tensor->zero_point < tensor->qmin || tensor->zero_point > tensor->qmax)
        note_job(name,
                 "%s: the zero point %" PRId64 " lies outside the codes %" PRId64 " to %" PRId64
                 ", so that no code is 0",
                 flag, tensor->zero_point, tensor->qmin, tensor->qmax);
}

static void note_zero(const struct spec *spec, const struct table *table, const char *name)
{
    struct zero zero;
    if (spec->method == METHOD_DOCUMENT || spec->reduce || !zero_find(&spec->function, &spec->in, &spec->out, &zero) ||
        zero_is_kept(table, &zero))
        return;
    char advice[80] = "";
    if (spec->in.bits <= SPEC_EXHAUSTIVE_BITS && spec->method != METHOD_LUT)
        snprintf(advice, sizeof advice, "; --fix 0:%g gives that, at the cost of segments or accuracy", zero.value);
    note_job(name, "f(0) = %g does not give its own code %" PRId64 "%s", zero.value, zero.q_y, advice);
}

void note_no_proof(const char *command, const struct diag *missing)
{
    if (missing->code)
        note(command, "%s; the proof is one of the figures alone", missing->text);
}

void fit_note_cut(double seconds, const char *name)
{
    note_job(name, "--time-limit %g ended the search with the best table found; a longer one may find a better one",
             seconds);
}

/* That the table asked for by a profile is none which its layout holds: of a function that falls, or of flags beside
 * it. */
static void note_profile(const struct spec *spec, const struct table *table, const char *name)
{
    struct text parts[FOLDER_MAX_PARTS] = {{0}};
    struct diag diag = {.code = EXIT_DONE};
    int count;
    if (spec->profile && profile_write(spec->profile, spec->notation, table, parts, &count, &diag) == EXIT_REQUIREMENT)
        note_job(name, "emit --profile refuses this table: %s", diag.text);
    for (int k = 0; k < FOLDER_MAX_PARTS; k++)
        text_free(&parts[k]);
}

void fit_notes(const struct spec *spec, const struct table *table, const char *name)
{
    note_saturation(spec, table, name);
    note_few_codes(table, name);
    note_zero_point(&table->in, "--in", name);
    note_zero_point(&table->out, "--out", name);
    note_zero(spec, table, name);
    note_unproven(spec, table, name);
    note_samples(spec, name);
    note_vagueness(spec, name);
    note_gap(spec, table, name);
    note_far(spec, table, name);
    note_profile(spec, table, name);
}
