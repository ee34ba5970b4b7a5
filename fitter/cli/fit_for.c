/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The choices, which hardware and C have alike; a module is estimated, code is compiled and counted:
 *
 *   where segments start   by widths of 2^k codes nothing is searched, free ones are fewer
 *   form                   anchored: a narrow factor; biased: one addend and no rounding
 *   rounding, shift        one addend more, and a smaller error; a wired shift
 *   symmetry               half of the words, and two adders
 *   bits of slopes         of modules: narrower words and factors, once the others are chosen
 *
 * Codes of few bits are looked up instead, and then full tables are among them.
 */
#include "fit_for.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/integers.h"
#include "jobs/jobs.h"
#include "base/note.h"
#include "base/process.h"
#include "cost/model.h"
#include "fit/fit.h"
#include "io/rows.h"

#define MOST_TABLES 96
#define MOST_SHOWN 8
#define MOST_NARROWED 3 /* of the cheapest tables */
#define MOST_NARROWER 6 /* widths of the slopes of each */

/* Choices with their values, what is most often cheaper first. */
static const struct axis {
    const char *flag, *key;
    const char *values[4];
} axes[] = {
    {"--knots", "knots", {"uniform", "free"}},        {"--form", "form", {"anchored", "biased", "absolute"}},
    {"--rounding", "rounding", {"half_up", "floor"}}, {"--shift", "shift", {"one", "per-segment"}},
    {"--symmetry", "symmetry", {"off", "fold"}},
};
enum { KNOTS, FORM, ROUNDING, SHIFT, SYMMETRY, AXES };

struct trial {
    struct spec spec;
    const char *value[AXES]; /* null: as the spec has it */
    struct table table;
    struct estimate estimate;
    struct diag diag;
    int order; /* of trials that are alike in all else */
};

struct trials {
    const struct cost_target *target;
    struct rtl_options rtl;
    struct trial trial[MOST_TABLES];
    int count;
    bool is_open[AXES];
    bool has_full; /* some of a method of codes have a table */
};

static bool is_given(const struct given *given, int count, const char *flag)
{
    for (int k = 0; k < count; k++)
        if (!strcmp(given[k].flag, flag))
            return true;
    return false;
}

/* Sets a choice of the last trial; false where it is none of this spec. */
static bool choose(struct trial *trial, int axis, const char *value)
{
    struct diag ignored = {.code = EXIT_DONE};
    trial->value[axis] = value;
    return spec_set(&trial->spec, axes[axis].flag, value, &ignored) == EXIT_DONE;
}

/* A bias holds the half of a rounding already. */
static bool is_needless(const struct trial *trial)
{
    return trial->spec.form == PWL_BIASED && trial->value[ROUNDING] && strcmp(trial->value[ROUNDING], "half_up") == 0;
}

static void add_trials(struct trials *trials, const struct spec *spec)
{
    int combinations = 1, values[AXES];
    for (int a = 0; a < AXES; a++) {
        for (values[a] = 0; trials->is_open[a] && axes[a].values[values[a]];)
            values[a]++;
        combinations *= values[a] ? values[a] : 1;
    }
    for (int k = 0; k < combinations && trials->count < MOST_TABLES; k++) {
        struct trial *const trial = &trials->trial[trials->count];
        bool is_one = true;
        *trial = (struct trial){.spec = *spec, .order = trials->count, .diag = {.code = EXIT_DONE}};
        for (int a = AXES - 1, rest = k; a >= 0; a--) {
            if (!values[a])
                continue;
            is_one = choose(trial, a, axes[a].values[rest % values[a]]) && is_one;
            rest /= values[a];
        }
        trials->count += is_one && !is_needless(trial);
    }
}

/* Full tables, where outputs are looked up all the same. */
static void add_full(struct trials *trials, const struct spec *spec)
{
    static const char *const methods[] = {"lut", "residual"};
    for (size_t k = 0; k < sizeof methods / sizeof *methods && trials->count < MOST_TABLES; k++) {
        struct trial *const trial = &trials->trial[trials->count];
        struct diag ignored = {.code = EXIT_DONE};
        *trial = (struct trial){.spec = *spec, .order = trials->count, .diag = {.code = EXIT_DONE}};
        trials->count += spec_set(&trial->spec, "--method", methods[k], &ignored) == EXIT_DONE;
    }
}

/* On a processor. */
static int measure(const struct cost_target *target, struct trial *trial)
{
    struct packed_table packed;
    if (table_prove(&trial->table, EXIT_REQUIREMENT, &packed, NULL, &trial->diag))
        return trial->diag.code;
    const struct costing costing = {.table = &trial->table, .packed = &packed, .limit_s = PROCESS_LIMIT_S};
    cost_measure(target, &costing, &trial->estimate.cost, &trial->diag);
    packed_table_free(&packed);
    return trial->diag.code;
}

static void make(void *context, int k)
{
    struct trials *const trials = context;
    struct trial *const trial = &trials->trial[k];
    if (fit_as_asked(&trial->spec, &trial->table, &trial->diag))
        return;
    if (cost_target_is_hardware(trials->target)
            ? cost_estimate(trials->target, &(struct costing){.table = &trial->table, .rtl = trials->rtl},
                            &trial->estimate, &trial->diag)
            : measure(trials->target, trial))
        table_free(&trial->table);
}

static int compare_trials(const void *a, const void *b)
{
    const struct trial *const left = a, *const right = b;
    if (left->diag.code || right->diag.code)
        return !!left->diag.code - !!right->diag.code;
    const double *const l = left->estimate.cost.figure, *const r = right->estimate.cost.figure;
    const double keys[][2] = {
        {cost_weight(&left->estimate.cost), cost_weight(&right->estimate.cost)},
        {isnan(r[COST_FMAX]) ? 0 : r[COST_FMAX], isnan(l[COST_FMAX]) ? 0 : l[COST_FMAX]},
        {left->table.certificate.max_err_lsb, right->table.certificate.max_err_lsb},
        {left->table.segment_count, right->table.segment_count},
        {left->order, right->order},
    };
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        if (keys[k][0] != keys[k][1])
            return keys[k][0] < keys[k][1] ? -1 : 1;
    return 0;
}

/* Sorted, the cheapest first. Exit 3 where no trial has a table, with what keeps the first from having one. */
static int make_all(struct trials *trials, struct diag *diag)
{
    jobs_run(trials->count, jobs_default(), make, trials, "tables");
    const struct diag first = trials->trial[0].diag;
    for (int k = 0; k < trials->count; k++)
        if (trials->trial[k].diag.code == EXIT_IO || trials->trial[k].diag.code == EXIT_MISSING) {
            *diag = trials->trial[k].diag;
            return diag->code;
        }
    qsort(trials->trial, (size_t)trials->count, sizeof *trials->trial, compare_trials);
    if (trials->trial[0].diag.code)
        *diag = first;
    return diag->code;
}

static int widest_slope(const struct table *table)
{
    wide low = 0, high = 0;
    for (int i = 0; i < table->segment_count; i++) {
        low = smaller_wide(low, table->segments[i].q_b);
        high = larger_wide(high, table->segments[i].q_b);
    }
    return signed_bits(low, high);
}

/* The choices of a trial with slopes of fewer bits, one bit less each, until there is none as cheap. */
static void narrow(struct trials *trials, struct trial widest)
{
    const double weight = cost_weight(&widest.estimate.cost);
    int bits = widest_slope(&widest.table);
    for (int k = 0; k < MOST_NARROWER && --bits >= 2 && trials->count < MOST_TABLES; k++) {
        struct trial *const trial = &trials->trial[trials->count];
        char value[8];
        *trial = widest;
        trial->order = trials->count;
        snprintf(value, sizeof value, "%d", bits);
        if (spec_set(&trial->spec, "--slope-bits", value, &trial->diag))
            break;
        make(trials, trials->count);
        if (trial->diag.code)
            break;
        trials->count++;
        if (cost_weight(&trial->estimate.cost) > weight)
            break;
    }
}

/* Of the cheapest trials. */
static void narrow_slopes(struct trials *trials)
{
    const int made = trials->count;
    for (int k = 0; k < MOST_NARROWED && k < made && !trials->trial[k].diag.code; k++)
        if (!method_is_of_codes(trials->trial[k].spec.method))
            narrow(trials, trials->trial[k]);
    if (trials->count > made)
        qsort(trials->trial, (size_t)trials->count, sizeof *trials->trial, compare_trials);
}

static void add_row(const struct trials *trials, const struct trial *trial, struct cells *row)
{
    const double *const figure = trial->estimate.cost.figure;
    for (int a = 0; a < AXES; a++)
        if (trials->is_open[a])
            cells_add_text(row, axes[a].key, axes[a].key, CELL_BRIEF, trial->value[a] ? trial->value[a] : "-");
    if (trials->has_full)
        cells_add_text(row, "method", "method", CELL_BRIEF, method_name(trial->spec.method));
    if (trial->spec.slope_bits)
        cells_add(row, "slope_bits", "slope bits", CELL_BRIEF, "%d", trial->spec.slope_bits);
    else
        cells_add_text(row, "slope_bits", "slope bits", CELL_BRIEF, NULL);
    cells_add(row, "segments", "segments", CELL_BRIEF, "%d", trial->table.segment_count);
    cells_add_number(row, "max_err_lsb", "max, LSB", CELL_BRIEF, trial->table.certificate.max_err_lsb);
    for (int k = 0; k < COST_FIGURES; k++)
        if (!isnan(figure[k]))
            cells_add_number(row, cost_names[k].key, cost_names[k].title, CELL_BRIEF, figure[k]);
}

/* Whether a trial before it, which was as cheap, differs in the bits of slopes at most. */
static bool is_repetition(const struct trials *trials, int number)
{
    bool is_same = false;
    for (int k = 0; k < number && !is_same; k++)
        is_same = trials->trial[k].spec.method == trials->trial[number].spec.method &&
                  memcmp(trials->trial[k].value, trials->trial[number].value, sizeof trials->trial[k].value) == 0;
    return is_same;
}

/* What was chosen, and the cheapest of the others. */
static void note_choice(const struct trials *trials)
{
    struct cells rows[MOST_SHOWN];
    struct text text = {0};
    int tables = 0, shown = 0;
    for (int k = 0; k < trials->count && !trials->trial[k].diag.code; k++, tables++)
        if (shown < MOST_SHOWN && !is_repetition(trials, k)) {
            rows[shown].count = 0;
            add_row(trials, &trials->trial[k], &rows[shown++]);
        }
    cells_print(rows, shown, CELLS_MD, 0, &text);
    if (text.size > 0 && !text.failed)
        note("fit", "--for %s: the first of these, the cheapest of %d tables%s:\n%.*s",
             cost_target_name(trials->target), tables,
             cost_target_is_hardware(trials->target) ? " by estimates (pwlc cost measures)" : "", (int)text.size - 1,
             text.bytes);
    text_free(&text);
}

int fit_for(struct spec *spec, const struct given *given, int count, const struct cost_target *target,
            struct table *table, struct diag *diag)
{
    struct trials *const trials = calloc(1, sizeof *trials);
    if (!trials)
        return diag_set(diag, EXIT_IO, "out of memory for %d tables", MOST_TABLES);
    *trials = (struct trials){.target = target, .rtl = {.style = RTL_AUTO, .stages = FIT_FOR_STAGES}};
    for (int a = 0; a < AXES; a++)
        trials->is_open[a] = !is_given(given, count, axes[a].flag);
    add_trials(trials, spec);
    if (!is_given(given, count, "--method"))
        add_full(trials, spec);
    if (make_all(trials, diag) == EXIT_DONE) {
        for (int k = 0; k < trials->count; k++)
            trials->has_full |= !trials->trial[k].diag.code && method_is_of_codes(trials->trial[k].spec.method);
        if (cost_target_is_hardware(target) && !is_given(given, count, "--slope-bits"))
            narrow_slopes(trials);
        note_choice(trials);
        *spec = trials->trial[0].spec;
        *table = trials->trial[0].table;
    }
    for (int k = diag->code ? 0 : 1; k < trials->count; k++)
        if (!trials->trial[k].diag.code)
            table_free(&trials->trial[k].table);
    free(trials);
    return diag->code;
}
