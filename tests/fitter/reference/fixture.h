/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fits from the text of their flags, and a plain measurement of what came out. */
#ifndef ACCURACY_FIXTURE_H
#define ACCURACY_FIXTURE_H

#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/measure.h"
#include "spec/spec.h"
#include "table/table.h"

#include "../../support/reference_eval.h"
#include "../../support/suite.h"
#include "fit/fit.h"
#include "reference_function.h"

#define FLAGS_SIZE 640

/* Flags as on the command line, separated by blanks; the function's name comes first, unless it is a flag too. The names
 * of files in them last until the next call, spec_resolve() reads them before. */
static inline int spec_from(const char *flags, struct spec *spec, struct diag *diag)
{
    static char text[FLAGS_SIZE];
    char *rest = NULL;
    spec_init(spec);
    spec->zero_is_free = true; /* optima are those of all tables */
    ck_assert(strlen(flags) < sizeof text);
    strcpy(text, flags);
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        const bool is_flag = !strncmp(word, "--", 2),
                   is_switch = !strcmp(word, "--no-saturate") || !strcmp(word, "--monotone");
        const char *value = !is_flag ? word : is_switch ? NULL : strtok_r(NULL, " ", &rest);
        if (spec_set(spec, is_flag ? word : "FUNCTION", value, diag))
            return diag->code;
    }
    return EXIT_DONE;
}

struct fitted {
    struct spec spec;
    struct table table;
    struct packed_table packed;
    pwl_proof proof;
};

/* As `pwlc fit`; the table is proven once more. */
static inline int fit_flags(const char *flags, struct fitted *fitted, struct diag *diag)
{
    memset(fitted, 0, sizeof *fitted);
    diag->code = EXIT_DONE;
    diag->text[0] = '\0';
    if (spec_from(flags, &fitted->spec, diag) || spec_resolve(&fitted->spec, diag) ||
        fit(&fitted->spec, &fitted->table, diag)) {
        spec_free(&fitted->spec);
        return diag->code;
    }
    const int status = table_prove(&fitted->table, EXIT_REQUIREMENT, &fitted->packed, &fitted->proof, diag);
    ck_assert_msg(status == EXIT_DONE, "%s: the table made does not pass the proof: %s", flags, diag->text);
    return EXIT_DONE;
}

static inline void fitted_free(struct fitted *fitted)
{
    packed_table_free(&fitted->packed);
    table_free(&fitted->table);
    spec_free(&fitted->spec);
}

static inline void fit_well(const char *flags, struct fitted *fitted)
{
    struct diag diag;
    ck_assert_msg(fit_flags(flags, fitted, &diag) == EXIT_DONE, "%s: exit %d: %s", flags, diag.code, diag.text);
}

/* A fit that must fail with this code and these words in its message. */
static inline void refuse(const char *flags, int code, const char *words)
{
    struct fitted fitted;
    struct diag diag;
    if (fit_flags(flags, &fitted, &diag) == EXIT_DONE) {
        fitted_free(&fitted);
        ck_abort_msg("%s: made a table, must exit %d", flags, code);
    }
    ck_assert_msg(diag.code == code, "%s: exit %d (%s), must be %d", flags, diag.code, diag.text, code);
    ck_assert_msg(strstr(diag.text, words) != NULL, "%s: '%s' does not say '%s'", flags, diag.text, words);
    ck_assert_msg(strchr(diag.text, '\n') == NULL, "%s: '%s' is more than one line", flags, diag.text);
}

static inline char *json_of(const struct table *table)
{
    struct diag diag;
    char *text;
    ck_assert_msg(table_to_json(table, &text, &diag) == EXIT_DONE, "%s", diag.text);
    return text;
}

static inline struct reference_map map_of(const struct spec *spec)
{
    struct reference_map map = {.function = reference_find(function_name(&spec->function)),
                                .parameter = spec->function.parameters[0],
                                .qmin_x = spec->in.qmin,
                                .qmax_x = spec->in.qmax,
                                .zp_x = spec->in.zero_point,
                                .qmin_y = spec->out.qmin,
                                .qmax_y = spec->out.qmax,
                                .zp_y = spec->out.zero_point,
                                .scale_x = reference_scale(spec->in.scale.text),
                                .scale_y = reference_scale(spec->out.scale.text)};
    ck_assert_ptr_nonnull(map.function);
    return map;
}

/* Clipped targets of every code. malloc'd. */
static inline double *targets_of(const struct spec *spec, int *count)
{
    const struct reference_map map = map_of(spec);
    *count = (int)(map.qmax_x - map.qmin_x + 1);
    double *target = malloc((size_t)*count * sizeof *target);
    ck_assert_ptr_nonnull(target);
    for (int k = 0; k < *count; k++)
        target[k] = (double)reference_clip(&map, reference_target(&map, map.qmin_x + k));
    return target;
}

/* A table for the evaluator in support/reference_eval.h, with room for its arrays. */
struct reference_table {
    struct ref_table table;
    int64_t *memory;
};

static inline void reference_table_init(struct reference_table *reference, const struct table *table)
{
    const size_t n = (size_t)table->segment_count;
    int64_t *memory = malloc(4 * n * sizeof *memory);
    ck_assert_ptr_nonnull(memory);
    for (size_t i = 0; i < n; i++) {
        memory[i] = table->segments[i].start;
        memory[n + i] = table->segments[i].q_b;
        memory[2 * n + i] = table->segments[i].n;
        memory[3 * n + i] = table->segments[i].offset;
    }
    reference->memory = memory;
    reference->table = (struct ref_table){.form = table->form == PWL_ABSOLUTE ? REF_ABSOLUTE
                                                  : table->form == PWL_BIASED ? REF_BIASED
                                                                              : REF_ANCHORED,
                                          .rounding = table->rounding == PWL_FLOOR       ? REF_FLOOR
                                                      : table->rounding == PWL_HALF_UP   ? REF_HALF_UP
                                                      : table->rounding == PWL_HALF_AWAY ? REF_HALF_AWAY
                                                                                         : REF_HALF_EVEN,
                                          .fold = table->has_fold,
                                          .acc_bits = table->storage == PWL_INT32 ? 64 : 32,
                                          .count = table->segment_count,
                                          .start = memory,
                                          .q_b = memory + n,
                                          .n = memory + 2 * n,
                                          .offset = memory + 3 * n,
                                          .zp_x = table->in.zero_point,
                                          .qmin_x = table->in.qmin,
                                          .qmax_x = table->in.qmax,
                                          .qmin_y = table->out.qmin,
                                          .qmax_y = table->out.qmax,
                                          .fold_sum = table->fold_sum};
}

/* Statistics of every code, by a plain loop over both references. */
struct plain_stats {
    int64_t codes, saturated, max_at;
    double max, rms, mean_abs, correct;
};

static inline struct plain_stats measure_plainly(const struct spec *spec, const struct table *table)
{
    const struct reference_map map = map_of(spec);
    struct reference_table reference;
    struct plain_stats stats = {0};
    long double sum = 0, squares = 0;
    int64_t correct = 0;
    reference_table_init(&reference, table);
    for (int64_t q = map.qmin_x; q <= map.qmax_x; q++) {
        const long double whole = reference_target(&map, q), t = reference_clip(&map, whole);
        const long double e = fabsl((long double)ref_eval(&reference.table, q).q_y - t);
        sum += e;
        squares += e * e;
        correct += e <= 0.5L;
        stats.saturated += t != whole;
        stats.codes++;
        if ((double)e > stats.max) {
            stats.max = (double)e;
            stats.max_at = q;
        }
    }
    free(reference.memory);
    stats.rms = (double)sqrtl(squares / (long double)stats.codes);
    stats.mean_abs = (double)(sum / (long double)stats.codes);
    stats.correct = (double)correct / (double)stats.codes;
    return stats;
}

/* Bounds from `first` to below `end`, each `factor` times the one before: none takes more segments than a tighter one,
 * and each is kept. */
static inline void expect_looser_bounds_to_need_no_more(const char *flags, double first, double end, double factor)
{
    int before = PWL_MAX_SEGMENTS;
    for (double max_err = first; max_err < end; max_err *= factor) {
        char bounded[FLAGS_SIZE + 32];
        struct fitted fitted;
        snprintf(bounded, sizeof bounded, "%s --max-err %.6g", flags, max_err);
        fit_well(bounded, &fitted);
        ck_assert_msg(fitted.table.segment_count <= before, "%s: %d segments, a tighter bound took %d", bounded,
                      fitted.table.segment_count, before);
        ck_assert(measure_plainly(&fitted.spec, &fitted.table).max <= max_err);
        before = fitted.table.segment_count;
        fitted_free(&fitted);
    }
}

#endif
