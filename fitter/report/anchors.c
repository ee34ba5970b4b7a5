/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* strcasestr */
#include "anchors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jobs/jobs.h"
#include "fit/fit.h"
#include "function/samples.h"
#include "measure/curve.h"
#include "spec/spec.h"

enum metric { MAX_LSB, RMS_LSB, MSE_LSB2, CORRECT, SEGMENTS, MSE, MEAN_ABS, MEAN_ABS_SQUARED };

static const struct metric_info {
    const char *name;
    bool more_is_better;
} metrics[] = {
    [MAX_LSB] = {"max, LSB", false},    [RMS_LSB] = {"RMS, LSB", false},
    [MSE_LSB2] = {"MSE, LSB^2", false}, [CORRECT] = {"correctly rounded", true},
    [SEGMENTS] = {"segments", false},   [MSE] = {"MSE", false},
    [MEAN_ABS] = {"mean abs", false},   [MEAN_ABS_SQUARED] = {"(mean abs)^2", false},
};

#define NONE NAN

/*
 * What was published or measured, and how the same is asked of fit. On a grid of real numbers each point is an input
 * code and the output is fine enough that only the lines count: the codes run from first to last, and f is taken
 * at shift + scale * code.
 */
struct anchor {
    const char *source; /* whose figure it is */
    const char *function, *in, *out;
    int first, last; /* codes, both 0: the whole type */
    double shift;
    int segments;   /* 0: as few as max_err needs */
    double max_err; /* 0: not limited */
    int slope_bits; /* 0: the type's */
    bool fold, biased, reduce;
    enum method method;
    enum metric metric;
    double value;     /* NONE: nobody else's figure, only the optimum is known */
    double optimum;   /* what no table can beat, or the least reached by an exact search; NONE where unknown */
    const char *note; /* why a row may be worse than its anchor, or what else to know; may be null */
};

#define U16_SIGMOID .function = "sigmoid", .in = "u16:2^-12:24576", .out = "u16:2^-16:-1"
#define S16_SIGMOID .function = "sigmoid", .in = "s16:2^-12", .out = "u16:2^-16"
#define S16_TANH .function = "tanh", .in = "s16:2^-13", .out = "s16:2^-15"
#define S8_SIGMOID .function = "sigmoid", .in = "s8:2^-4", .out = "u8:2^-8"
#define S8_TANH .function = "tanh", .in = "s8:2^-5", .out = "s8:2^-7"
#define MAXIMUM .method = METHOD_MINIMAX, .metric = MAX_LSB
#define SQUARES .method = METHOD_LSQ, .metric = RMS_LSB

/* quant-gru-pytorch at 84e810a, its fitter run over every code. Optima: exact search over integer tables (max), bound
 * of real coefficients by dynamic programming (RMS). */
#define QUANT_GRU .source = "quant-gru-pytorch", .segments = 16
#define EXACT .source = "exact search", .value = NONE

/* GQA-LUT's shipped tables, rounded to 8 bits: share of codes correct. */
#define GQA_INT8 .source = "GQA-LUT, 8 bits", .slope_bits = 8, .method = METHOD_LSQ, .metric = CORRECT, .optimum = 1
#define S8_5 .in = "s8:2^-5", .out = "s8:2^-5"
#define S8_4 .in = "s8:2^-4", .out = "s8:2^-4"
/* The error that rounding alone leaves. */
#define FLOOR                                                                                                          \
    .source = "rounding floor", .value = NONE, .segments = 16, .slope_bits = 8, .method = METHOD_LSQ, .metric = MSE_LSB2

/* Tables of samples; ours with as many packed bytes. */
#define Q15 .in = "s16:2^-12", .out = "s16:2^-15"
#define Q12 .in = "s16:2^-12", .out = "s16:2^-12"
#define BYTES_512 .source = "CMSIS-NN, 256 entries, 512 B", .segments = 56, .optimum = NONE
#define BYTES_1026 .source = "TFLite, 513 entries, 1026 B", .segments = 114, .optimum = NONE
/* Fewest lines within 1 LSB of f before the output is rounded, so 1.5 after it. */
#define FEWEST                                                                                                         \
    .source = "real lines within 1 LSB", .value = NONE, .max_err = 1.5, .biased = true, .method = METHOD_MINIMAX,      \
    .metric = SEGMENTS, .note = ROUNDED_NOTE

/* Papers, on their grids. */
#define ON_GRID .method = METHOD_LSQ
#define GQA .source = "GQA-LUT, b=5", .metric = MSE, ON_GRID
#define GQA_4 GQA, .in = "s10:0.01", .first = -400, .last = 399
#define GQA_EXP GQA, .function = "exp", .in = "s11:0.01", .first = -800, .last = -1, .out = "s32:2^-30"
#define LUT_APP .source = "LUT-APP", .metric = MEAN_ABS, ON_GRID, .optimum = NONE, .note = MEAN_NOTE
#define LUT_APP_GELU LUT_APP, .function = "gelu", .in = "s10:0.01", .first = -400, .last = 400, .out = "s32:2^-28"
#define LUT_APP_EXP LUT_APP, .function = "exp", .in = "s11:0.01", .first = -900, .last = 0, .out = "s32:2^-30"
#define SCNA .source = "SCNA", .segments = 16, .metric = MSE, ON_GRID, .first = -999, .last = 0
/* The same ranges, every code of 16-bit types. */
#define SCNA_REDUCED                                                                                                   \
    .source = "SCNA", .segments = 16, .metric = MSE, ON_GRID, .reduce = true,                                          \
    .note = "--reduce on, 16-bit types; the optimum is of one plain table"
#define FLEX                                                                                                           \
    .source = "Flex-SFU", .segments = 17, .metric = MEAN_ABS_SQUARED, ON_GRID, .in = "s12:2^-8", .first = -2048,       \
    .last = 2047, .optimum = NONE, .note = MEAN_NOTE
#define MEAN_NOTE "least squares, each point weighted by 1/error of the fit before"
#define CLIP_NOTE "saturation ends a segment for free, which real lines cannot"
#define ROUNDED_NOTE "a rounded table within 1.5 LSB may follow a line that is not within 1"
#define SAMPLES_NOTE "a sample takes 2 bytes, a segment 9: equal bytes hold 4.5 times as many samples"

/* clang-format off */
static const struct anchor anchors[] = {
    {QUANT_GRU, U16_SIGMOID, MAXIMUM, .value = 696.2, .optimum = 81.2},
    {QUANT_GRU, U16_SIGMOID, SQUARES, .value = 130.1, .optimum = 41.18, .note = CLIP_NOTE},
    {QUANT_GRU, S16_SIGMOID, MAXIMUM, .value = 803.4, .optimum = 83.7},
    {QUANT_GRU, S16_SIGMOID, SQUARES, .value = 154.9, .optimum = NONE},
    {QUANT_GRU, S16_TANH, MAXIMUM, .value = 276.9, .optimum = 83.7},
    {QUANT_GRU, S16_TANH, SQUARES, .value = 75.1, .optimum = 44.22, .note = CLIP_NOTE},
    {QUANT_GRU, S8_SIGMOID, MAXIMUM, .value = 3.12, .optimum = NONE},
    {QUANT_GRU, S8_SIGMOID, SQUARES, .value = 0.70, .optimum = NONE},
    {QUANT_GRU, S8_TANH, MAXIMUM, .value = 1.88, .optimum = NONE},
    {QUANT_GRU, S8_TANH, SQUARES, .value = 0.69, .optimum = NONE},
    {EXACT, U16_SIGMOID, .segments = 8, MAXIMUM, .optimum = 304.7},
    {EXACT, U16_SIGMOID, .segments = 32, MAXIMUM, .optimum = 20.2},
    {EXACT, U16_SIGMOID, .segments = 64, MAXIMUM, .optimum = 5.63},
    {EXACT, U16_SIGMOID, .segments = 128, MAXIMUM, .optimum = 1.75},
    {EXACT, U16_SIGMOID, .segments = 8, SQUARES, .optimum = 159.4, .note = CLIP_NOTE},
    {EXACT, U16_SIGMOID, .segments = 32, SQUARES, .optimum = 10.6},
    {EXACT, U16_SIGMOID, .segments = 64, SQUARES, .optimum = 2.69},

    {GQA_INT8, .function = "gelu", S8_5, .segments = 8, .value = 0.844},
    {GQA_INT8, .function = "gelu", S8_5, .segments = 16, .value = 0.957},
    {GQA_INT8, .function = "hard_swish", S8_5, .segments = 8, .value = 0.543},
    {GQA_INT8, .function = "hard_swish", S8_5, .segments = 16, .value = 0.891},
    {GQA_INT8, .function = "exp", .in = "s8:2^-5:128", .out = "u8:2^-8", .segments = 8, .value = 0.419,
     .note = "the output type is not stated; 2^-8 is taken"},
    {GQA_INT8, .function = "exp", .in = "s8:2^-5:128", .out = "u8:2^-8", .segments = 16, .value = 0.543,
     .note = "the output type is not stated; 2^-8 is taken"},
    {FLOOR, .function = "gelu", S8_5, .optimum = 0.067517},
    {FLOOR, .function = "gelu", S8_4, .optimum = 0.033719},
    {FLOOR, .function = "silu", S8_4, .optimum = 0.076709},
    {FLOOR, .function = "hard_swish", S8_4, .optimum = 0.029100},
    {FLOOR, .function = "sigmoid", .in = "s8:2^-4", .out = "s8:2^-8:-128", .optimum = 0.0652,
     .note = "the integer optimum is 0.0705"},
    {FLOOR, .function = "tanh", .in = "s8:2^-4", .out = "s8:2^-7", .optimum = 0.0359},

    {BYTES_512, .function = "sigmoid", Q15, .fold = true, MAXIMUM, .value = 1.016, .note = SAMPLES_NOTE},
    {BYTES_512, .function = "tanh", Q15, .fold = true, MAXIMUM, .value = 1.476, .note = SAMPLES_NOTE},
    {BYTES_1026, .function = "sigmoid", Q15, .fold = true, MAXIMUM, .value = 2.375},
    {BYTES_1026, .function = "tanh", Q15, .fold = true, MAXIMUM, .value = 6.028},
    {BYTES_1026, .function = "gelu", Q12, MAXIMUM, .value = 2.071},
    {.source = "gemmlowp, polynomial", .function = "sigmoid", Q15, .segments = 32, .fold = true, MAXIMUM, .value = 6.39,
     .optimum = NONE, .note = "no table, so no bytes to compare by"},
    {.source = "gemmlowp, polynomial", .function = "tanh", Q15, .segments = 32, .fold = true, MAXIMUM, .value = 11.79,
     .optimum = NONE, .note = "no table, so no bytes to compare by"},
    {FEWEST, .function = "sigmoid", Q15, .optimum = 105},
    {FEWEST, .function = "tanh", Q15, .optimum = 153},
    {FEWEST, .function = "gelu", Q12, .optimum = 47},
    {FEWEST, .function = "silu", Q12, .optimum = 58},
    {FEWEST, .function = "exp", Q15, .first = -32768, .last = 0, .optimum = 89},
    {FEWEST, .function = "hard_swish", Q12, .optimum = 58},
    {FEWEST, .function = "softplus", Q12, .optimum = 50},
    {FEWEST, .function = "mish", Q12, .optimum = 51},
    {FEWEST, .function = "erf", Q15, .optimum = 141},

    {GQA_4, .function = "gelu", .out = "s32:2^-28", .segments = 8, .value = 7.21e-5, .optimum = 1.17e-5},
    {GQA_4, .function = "gelu", .out = "s32:2^-28", .segments = 16, .value = 1.60e-5, .optimum = 8.29e-7},
    {GQA_4, .function = "hard_swish", .out = "s32:2^-28", .segments = 8, .value = 3.33e-4, .optimum = 1.08e-4},
    {GQA_4, .function = "hard_swish", .out = "s32:2^-28", .segments = 16, .value = 1.90e-5, .optimum = 3.86e-6},
    {GQA_EXP, .segments = 8, .value = 1.94e-5, .optimum = 3.38e-6},
    {GQA_EXP, .segments = 16, .value = 2.24e-5, .optimum = 2.08e-7},
    {LUT_APP_GELU, .segments = 8, .value = 5.09e-3},
    {LUT_APP_GELU, .segments = 16, .value = 3.65e-3},
    {LUT_APP_EXP, .segments = 8, .value = 1.81e-3},
    {LUT_APP_EXP, .segments = 16, .value = 8.33e-4},
    {SCNA, .function = "sigmoid", .in = "s11:0.00624024024024024", .out = "s32:2^-30", .value = 6.78e-8, .optimum = 2.94e-8},
    {SCNA, .function = "tanh", .in = "s11:0.00346846846846847", .out = "s32:2^-30", .value = 1.61e-7, .optimum = 1.24e-7},
    {SCNA, .function = "erf", .in = "s11:0.00247147147147147", .out = "s32:2^-30", .value = 1.30e-7, .optimum = 1.00e-7},
    {SCNA, .function = "exp", .in = "s11:0.256256256256256", .out = "s32:2^-30", .value = 5.02e-9, .optimum = 1.33e-11},
    {SCNA, .function = "rsqrt", .in = "s11:1.02492492492492", .out = "s32:2^-29", .shift = 1024, .value = 1.42e-6,
     .optimum = 9.03e-8},
    {SCNA_REDUCED, .function = "exp", .in = "s16:2^-8:32767", .out = "u16:2^-16:-1", .value = 5.02e-9,
     .optimum = 1.33e-11},
    {SCNA_REDUCED, .function = "rsqrt", .in = "u16:0.0156250238418579:-6", .out = "u16:2^-14", .value = 1.42e-6,
     .optimum = 9.03e-8},
    {FLEX, .function = "gelu", .out = "s32:2^-27", .value = 1.89e-7},
    {FLEX, .function = "sigmoid", .out = "s32:2^-30", .value = 2.88e-7},
    {FLEX, .function = "tanh", .out = "s32:2^-30", .value = 4.26e-7},
};
/* clang-format on */

#define ANCHORS ((int)(sizeof anchors / sizeof *anchors))

struct outcome {
    const struct anchor *anchor;
    struct diag diag;
    int segments;
    double value;
};

/* The function at the grid's points alone, moved by the shift, which a zero point of whole codes cannot say. */
static int shifted_samples(const struct anchor *anchor, struct spec *spec, struct diag *diag)
{
    const size_t count = (size_t)(anchor->last - anchor->first) + 1;
    struct samples *samples = calloc(1, sizeof *samples);
    if (!samples)
        return diag_set(diag, EXIT_IO, "out of memory for %zu points", count);
    samples->count = count;
    samples->x = malloc(count * sizeof *samples->x);
    samples->y = malloc(count * sizeof *samples->y);
    if (!samples->x || !samples->y) {
        samples_free(samples);
        return diag_set(diag, EXIT_IO, "out of memory for %zu points", count);
    }
    for (size_t k = 0; k < count; k++) {
        const struct dd x = tensor_at(&spec->in, anchor->first + (int64_t)k);
        samples->x[k] = x.hi;
        samples->y[k] = function_at(&spec->function, dd_plus(x, anchor->shift)).hi;
    }
    /* The ends are rounded to double; a point must not fall outside for that. */
    samples->x[0] = nextafter(samples->x[0], -INFINITY);
    samples->x[count - 1] = nextafter(samples->x[count - 1], INFINITY);
    spec->function = (struct function){.samples = samples};
    return EXIT_DONE;
}

static int make_spec(const struct anchor *anchor, struct spec *spec, struct diag *diag)
{
    if (spec_set(spec, "FUNCTION", anchor->function, diag) || spec_set(spec, "--in", anchor->in, diag) ||
        spec_set(spec, "--out", anchor->out, diag))
        return diag->code;
    spec->segments = anchor->segments;
    spec->max_err = anchor->max_err > 0 ? anchor->max_err : NAN;
    spec->method = anchor->method;
    spec->has_method = true;
    spec->form = anchor->biased ? PWL_BIASED : PWL_ABSOLUTE;
    spec->slope_bits = anchor->slope_bits;
    spec->fold = anchor->fold;
    spec->reduce = anchor->reduce;
    if (anchor->first < anchor->last) {
        spec->in.qmin = anchor->first;
        spec->in.qmax = anchor->last;
    }
    return anchor->shift != 0 ? shifted_samples(anchor, spec, diag) : EXIT_DONE;
}

static double metric_value(enum metric metric, const struct table *table)
{
    const struct certificate *found = &table->certificate;
    const double lsb = (double)table->out.scale.value;
    switch (metric) {
    case MAX_LSB:
        return found->max_err_lsb;
    case RMS_LSB:
        return found->rms_err_lsb;
    case MSE_LSB2:
        return found->rms_err_lsb * found->rms_err_lsb;
    case CORRECT:
        return found->correctly_rounded;
    case SEGMENTS:
        return table->segment_count;
    case MSE:
        return found->rms_err_lsb * lsb * found->rms_err_lsb * lsb;
    case MEAN_ABS:
    case MEAN_ABS_SQUARED:
        break; /* fit_mean's own */
    }
    return NAN;
}

static int fit_once(const struct spec *spec, struct outcome *outcome)
{
    struct table table;
    if (fit(spec, &table, &outcome->diag) != EXIT_DONE)
        return outcome->diag.code;
    outcome->segments = table.segment_count;
    outcome->value = metric_value(outcome->anchor->metric, &table);
    table_free(&table);
    return EXIT_DONE;
}

/* Fits with the spec's weights, if any, and gives the errors of all codes. */
static int fit_curve(const struct spec *spec, struct curve *curve, int *segments, struct diag *diag)
{
    struct table table;
    struct packed_table packed;
    if (fit(spec, &table, diag) != EXIT_DONE)
        return diag->code;
    *segments = table.segment_count;
    if (table_prove(&table, EXIT_IO, &packed, NULL, diag) == EXIT_DONE) {
        curve_make(&table, &packed, &spec->function, curve, diag);
        packed_table_free(&packed);
    }
    table_free(&table);
    return diag->code;
}

/* Weights of 1/|error|; errors far below the mean count as if they were not, so that no code rules the others. */
static struct weights *inverse_weights(const struct curve *curve, double mean)
{
    struct weights *weights = calloc(1, sizeof *weights);
    if (!weights)
        return NULL;
    const double least = mean / 16;
    weights->count = curve->count;
    weights->code = malloc(curve->count * sizeof *weights->code);
    weights->value = malloc(curve->count * sizeof *weights->value);
    if (!weights->code || !weights->value) {
        weights_free(weights);
        return NULL;
    }
    for (size_t k = 0; k < curve->count; k++) {
        weights->code[k] = curve->code[k];
        weights->value[k] = least / fmax(least, fabs(curve->err[k]));
    }
    return weights;
}

/* Least mean error by least squares, each code weighing 1/|error| of the fit before; the best of some rounds. */
static int fit_mean(struct spec *spec, struct outcome *outcome)
{
    enum { ROUNDS = 12 };
    const double lsb = (double)spec->out.scale.value;
    double best = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        struct curve curve;
        int segments = 0;
        double mean = 0;
        if (fit_curve(spec, &curve, &segments, &outcome->diag) != EXIT_DONE)
            return outcome->diag.code;
        for (size_t k = 0; k < curve.count; k++)
            mean += fabs(curve.err[k]) / (double)curve.count;
        if (mean < best) {
            best = mean;
            outcome->segments = segments;
        }
        weights_free(spec->weights);
        spec->weights = inverse_weights(&curve, mean);
        curve_free(&curve);
        if (!spec->weights)
            return diag_set(&outcome->diag, EXIT_IO, "out of memory for weights");
    }
    outcome->value = outcome->anchor->metric == MEAN_ABS ? best * lsb : best * lsb * best * lsb;
    return EXIT_DONE;
}

static void run_anchor(void *context, int k)
{
    struct outcome *outcome = (struct outcome *)context + k;
    const struct anchor *anchor = outcome->anchor;
    struct spec spec;
    spec_init(&spec);
    if (make_spec(anchor, &spec, &outcome->diag) == EXIT_DONE) {
        if (anchor->metric == MEAN_ABS || anchor->metric == MEAN_ABS_SQUARED)
            fit_mean(&spec, outcome);
        else
            fit_once(&spec, outcome);
    }
    spec_free(&spec);
}

/* Above 1 is worse than `other`. */
static double ratio(const struct anchor *anchor, double ours, double other)
{
    return metrics[anchor->metric].more_is_better ? other / ours : ours / other;
}

static void points_text(const struct anchor *anchor, char *text, size_t size)
{
    struct tensor in;
    struct diag diag;
    *text = '\0';
    if (tensor_parse(anchor->in, "in", &in, &diag) != EXIT_DONE)
        return;
    if (anchor->first >= anchor->last)
        snprintf(text, size, "every code");
    else
        snprintf(text, size, "[%.6Lg, %.6Lg] step %.6g", tensor_real(&in, anchor->first) + (long double)anchor->shift,
                 tensor_real(&in, anchor->last) + (long double)anchor->shift, in.scale.value);
}

static void fill(const struct outcome *outcome, struct cells *cells)
{
    const struct anchor *anchor = outcome->anchor;
    char points[100];
    points_text(anchor, points, sizeof points);
    cells_add_text(cells, "source", "source", CELL_BRIEF, anchor->source);
    cells_add_text(cells, "function", "function", CELL_BRIEF, anchor->function);
    cells_add_text(cells, "in", "in", CELL_BRIEF, anchor->in);
    cells_add_text(cells, "out", "out", CELL_BRIEF, anchor->out);
    cells_add(cells, "points", "points", CELL_STRING | CELL_BRIEF, "%s", points);
    cells_add_text(cells, "method", "method", CELL_BRIEF, method_name(anchor->method));
    cells_add_text(cells, "form", NULL, 0, form_name(anchor->biased ? PWL_BIASED : PWL_ABSOLUTE));
    cells_add(cells, "fold", NULL, 0, "%s", anchor->fold ? "true" : "false");
    cells_add(cells, "reduce", NULL, 0, "%s", anchor->reduce ? "true" : "false");
    cells_add(cells, "segments", "segments", CELL_BRIEF, "%d", outcome->segments);
    cells_add_text(cells, "metric", "metric", CELL_BRIEF, metrics[anchor->metric].name);
    cells_add_number(cells, "anchor", "anchor", CELL_BRIEF, anchor->value);
    cells_add_number(cells, "ours", "ours", CELL_BRIEF, outcome->value);
    cells_add_number(cells, "optimum", "optimum", CELL_BRIEF, anchor->optimum);
    cells_add_number(cells, "ratio_to_anchor", "ours/anchor", CELL_BRIEF, ratio(anchor, outcome->value, anchor->value));
    cells_add_number(cells, "ratio_to_optimum", "ours/optimum", CELL_BRIEF,
                     ratio(anchor, outcome->value, anchor->optimum));
    cells_add_text(cells, "note", "note", CELL_BRIEF, anchor->note);
}

static int check_outcomes(const struct outcome *outcomes, int count, struct diag *diag)
{
    for (int k = 0; k < count; k++) {
        const struct anchor *anchor = outcomes[k].anchor;
        const double worse = ratio(anchor, outcomes[k].value, anchor->value);
        if (worse > 1 && !anchor->note)
            return diag_set(diag, EXIT_REQUIREMENT, "--anchors: %s %s in %d segments: %s of %s is %.6g, ours %.6g",
                            anchor->in, anchor->function, outcomes[k].segments, metrics[anchor->metric].name,
                            anchor->source, anchor->value, outcomes[k].value);
    }
    return EXIT_DONE;
}

static bool has_words(const struct anchor *anchor, const char *const *words, int count)
{
    for (int w = 0; w < count; w++) {
        if (!strcasestr(anchor->source, words[w]) && !strcasestr(anchor->function, words[w]) &&
            !strcasestr(anchor->in, words[w]) && !strcasestr(anchor->out, words[w]))
            return false;
    }
    return true;
}

static const char *source_of(const struct anchor *anchor)
{
    return anchor->source;
}

static const char *function_of(const struct anchor *anchor)
{
    return anchor->function;
}

/* Each name once. */
static void add_names(struct text *names, const char *(*name_of)(const struct anchor *))
{
    for (int k = 0; k < ANCHORS; k++) {
        bool is_first = true;
        for (int before = 0; is_first && before < k; before++)
            is_first = strcmp(name_of(&anchors[before]), name_of(&anchors[k])) != 0;
        if (is_first)
            text_add(names, "%s%s", k ? " | " : "", name_of(&anchors[k]));
    }
}

static int refuse_words(const char *const *words, int count, struct diag *diag)
{
    struct text message = {0};
    text_add(&message, "--anchors: no row has \"%s\"", words[0]);
    for (int w = 1; w < count; w++)
        text_add(&message, " and \"%s\"", words[w]);
    text_add(&message, "; sources: ");
    add_names(&message, source_of);
    text_add(&message, "; functions: ");
    add_names(&message, function_of);
    if (message.failed)
        diag_set(diag, EXIT_IO, "out of memory for a message");
    else
        diag_set(diag, EXIT_USAGE, "%s", message.bytes);
    text_free(&message);
    return diag->code;
}

static int fit_and_print(struct outcome *outcomes, struct cells *cells, int count, enum cells_format format,
                         int line_width, struct text *out, struct diag *diag)
{
    jobs_run(count, jobs_default(), run_anchor, outcomes, "tables");
    for (int k = 0; k < count; k++) {
        if (outcomes[k].diag.code != EXIT_DONE) {
            *diag = outcomes[k].diag;
            return diag_prefix(diag, outcomes[k].anchor->function);
        }
        fill(&outcomes[k], &cells[k]);
    }
    cells_print(cells, count, format, line_width, out);
    return check_outcomes(outcomes, count, diag);
}

int anchors_report(const char *const *words, int word_count, enum cells_format format, int line_width, struct text *out,
                   struct diag *diag)
{
    struct outcome *outcomes = calloc((size_t)ANCHORS, sizeof *outcomes);
    struct cells *cells = calloc((size_t)ANCHORS, sizeof *cells);
    int code = EXIT_DONE, count = 0;
    for (int k = 0; outcomes && k < ANCHORS; k++) {
        if (has_words(&anchors[k], words, word_count))
            outcomes[count++].anchor = &anchors[k];
    }
    if (!outcomes || !cells)
        code = diag_set(diag, EXIT_IO, "out of memory for %d tables", ANCHORS);
    else if (count == 0)
        code = refuse_words(words, word_count, diag);
    else
        code = fit_and_print(outcomes, cells, count, format, line_width, out, diag);
    free(outcomes);
    free(cells);
    return code;
}
