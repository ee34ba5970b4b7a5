/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "relax.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fit.h"

#define SHOWN 1e-5         /* relative: figures are printed to six digits */
#define NOTE_EFFORT 0.0625 /* of the table's, for each that a message is about */

/* Drops one choice if it is there, and names it. */
typedef bool drop(struct spec *spec, struct text *choice);

static bool drop_slope_bits(struct spec *spec, struct text *choice)
{
    text_add(choice, "--slope-bits %d", spec->slope_bits);
    const bool present = spec->slope_bits != 0;
    spec->slope_bits = 0;
    return present;
}

static bool drop_offset_type(struct spec *spec, struct text *choice)
{
    char type[16];
    tensor_type_name(&spec->offset_type, type, sizeof type);
    text_add(choice, "--offset-type %s", type);
    const bool present = spec->has_offset_type;
    spec->has_offset_type = false;
    return present;
}

/* Of the constraints, what a dropped one leaves; the choice is then the flags of that one alone. */
static bool drop_constraints(struct spec *spec, const struct constraints *rest, struct constraints *dropped,
                             struct text *choice)
{
    struct text flags = {0};
    constraints_add_flags(dropped, &flags);
    const bool present = flags.size > 0;
    if (present)
        text_add(choice, "%s", flags.bytes + 1);
    text_free(&flags);
    spec->constraints = *rest;
    return present;
}

static bool drop_shift(struct spec *spec, struct text *choice)
{
    struct constraints rest = spec->constraints, dropped = {.one_shift = rest.one_shift};
    if (rest.knots == KNOTS_POINTS)
        return false;
    rest.one_shift = false;
    return drop_constraints(spec, &rest, &dropped, choice);
}

static bool drop_slope_terms(struct spec *spec, struct text *choice)
{
    struct constraints rest = spec->constraints, dropped = {.slope_terms = rest.slope_terms};
    rest.slope_terms = 0;
    return drop_constraints(spec, &rest, &dropped, choice);
}

static bool drop_knots(struct spec *spec, struct text *choice)
{
    if (spec->constraints.knots == KNOTS_POINTS)
        return false;
    struct constraints rest = spec->constraints, dropped = {.knots = rest.knots, .index_bits = rest.index_bits};
    rest.knots = KNOTS_FREE;
    rest.index_bits = 0;
    return drop_constraints(spec, &rest, &dropped, choice);
}

static bool drop_monotone(struct spec *spec, struct text *choice)
{
    struct constraints rest = spec->constraints, dropped = {.monotone = rest.monotone};
    rest.monotone = false;
    return drop_constraints(spec, &rest, &dropped, choice);
}

static bool drop_continuous(struct spec *spec, struct text *choice)
{
    struct constraints rest = spec->constraints, dropped = {.continuous = rest.continuous, .max_step = rest.max_step};
    rest.continuous = false;
    return drop_constraints(spec, &rest, &dropped, choice);
}

static bool drop_fixes(struct spec *spec, struct text *choice)
{
    const bool present = spec->fix_count > 0;
    text_add(choice, "--fix");
    spec->fix_count = 0;
    return present;
}

static bool drop_fold(struct spec *spec, struct text *choice)
{
    const bool present = spec->fold;
    text_add(choice, "--symmetry fold");
    spec->fold = false;
    return present;
}

static drop *const drops[] = {drop_slope_bits, drop_offset_type, drop_shift, drop_slope_terms, drop_knots,
                              drop_monotone,   drop_continuous,  drop_fixes, drop_fold};

bool relax(const struct spec *spec, int k, struct spec *relaxed, struct text *choice)
{
    for (size_t d = 0; d < sizeof drops / sizeof *drops; d++) {
        *relaxed = *spec;
        relaxed->effort *= NOTE_EFFORT;
        relaxed->is_aside = true;
        choice->size = 0;
        if (drops[d](relaxed, choice) && k-- == 0)
            return !choice->failed;
    }
    return false;
}

/* Adds to the message of a failed fit the choices that are to blame. */
static void explain(const struct spec *spec, struct diag *diag)
{
    struct spec relaxed;
    struct text choice = {0}, binding = {0};
    int choices = 0;
    for (; relax(spec, choices, &relaxed, &choice); choices++) {
        struct table table;
        struct diag ignored;
        if (fit_as_asked(&relaxed, &table, &ignored))
            continue;
        text_add(&binding, "%s%s", binding.size ? " or " : "", choice.bytes);
        table_free(&table);
    }
    char message[sizeof diag->text];
    snprintf(message, sizeof message, "%s", diag->text);
    if (binding.size && !binding.failed)
        diag_set(diag, diag->code, "%s; there is one without %s", message, binding.bytes);
    else if (choices > 1)
        diag_set(diag, diag->code, "%s; leaving out one of its constraints alone does not help", message);
    text_free(&choice);
    text_free(&binding);
}

int fit(const struct spec *spec, struct table *table, struct diag *diag)
{
    if (fit_as_asked(spec, table, diag) == EXIT_REQUIREMENT && !time_limit_over(spec->time_limit))
        explain(spec, diag);
    return diag->code;
}

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
        fprintf(stderr, "pwlc fit: note: with %s %d segments are needed, without %d\n", choice, with->segment_count,
                without->segment_count);
    else if ((!segments_count || with->segment_count == without->segment_count) && error > other_error * (1 + SHOWN))
        fprintf(stderr, "pwlc fit: note: with %s the %s error is %.6g LSB, without %.6g\n", choice,
                by_max ? "largest" : "RMS", error, other_error);
}

void relax_print_costs(const struct spec *spec, const struct table *table)
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
