/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <pwl/fixed.h>

#include "base/color.h"
#include "base/escape.h"
#include "base/progress.h"
#include "command.h"
#include "differences.h"
#include "measure/claim.h"
#include "operator/operator.h"
#include "row_operator.h"
#include "table/reduction.h"
#include "table/table.h"

#define SHOWN_SEGMENTS 20  /* differing segments that are listed */
#define EXHAUSTIVE_BITS 16 /* every code up to this input width */
#define SPREAD_BITS 20     /* 2^20 evenly spaced codes beyond it */
#define KNOT_REACH 2       /* and the codes this near to each knot */

static const struct option_info options[] = {
    {"--outputs-only", NULL, "compare the outputs, whatever the tables look like"},
    {NULL, NULL, NULL},
};

/* A table of the comparison, ready to run. */
struct side {
    const char *path;
    struct table table;
    struct packed_table packed;
};

struct outputs {
    int64_t compared, differing;
    int64_t max_difference, max_at, first_at;
};

static int side_read(struct side *side, const char *path, struct diag *diag)
{
    pwl_proof proof;
    side->path = path;
    if (table_read(path, &side->table, diag) != EXIT_DONE)
        return diag->code;
    return table_prove(&side->table, EXIT_USAGE, &side->packed, &proof, diag);
}

static void side_free(struct side *side)
{
    packed_table_free(&side->packed);
    table_free(&side->table);
}

static bool same_unfused(const struct unfused *a, const struct unfused *b)
{
    return a->q_c == b->q_c && a->n_bx == b->n_bx && a->n_yb == b->n_yb && a->n_yc == b->n_yc &&
           a->has_z_bx == b->has_z_bx && (!a->has_z_bx || a->z_bx == b->z_bx);
}

static void print_segment(const struct table *table, int i)
{
    const struct segment *s = &table->segments[i];
    printf("start %" PRId64 " q_b %" PRId64 " n %d %s %" PRId64, s->start, s->q_b, s->n, offset_name(table->form),
           s->offset);
    if (table->has_unfused)
        printf(" q_c %" PRId64 " n_bx %d n_yb %d n_yc %d", s->unfused.q_c, s->unfused.n_bx, s->unfused.n_yb,
               s->unfused.n_yc);
    if (table->has_unfused && s->unfused.has_z_bx)
        printf(" z_bx %" PRId64, s->unfused.z_bx);
}

static void compare_segments(const struct table *a, const struct table *b, int *differences)
{
    const int common = a->segment_count < b->segment_count ? a->segment_count : b->segment_count;
    int differing = 0;
    compare_integer("segments", a->segment_count, b->segment_count, differences);
    for (int i = 0; i < common; i++) {
        const struct segment *s = &a->segments[i], *t = &b->segments[i];
        const bool same_flow = !a->has_unfused || !b->has_unfused || same_unfused(&s->unfused, &t->unfused);
        if (s->start == t->start && s->q_b == t->q_b && s->n == t->n && s->offset == t->offset && same_flow)
            continue;
        if (differing++ >= SHOWN_SEGMENTS)
            continue;
        printf("segment %d: ", i);
        print_segment(a, i);
        printf(" | ");
        print_segment(b, i);
        printf("\n");
    }
    if (differing > SHOWN_SEGMENTS)
        printf("segments that differ: %d of %d, the first %d are listed\n", differing, common, SHOWN_SEGMENTS);
    *differences += differing;
}

/* What the runtime reads, and what gives the codes their meaning. Returns the number of differences. */
static int compare_tables(const struct table *a, const struct table *b)
{
    int differences = 0;
    compare_text("form", form_name(a->form), form_name(b->form), &differences);
    compare_text("rounding", rounding_name(a->rounding), rounding_name(b->rounding), &differences);
    compare_text("case", storage_name(a->storage), storage_name(b->storage), &differences);
    compare_tensor("in", &a->in, &b->in, &differences);
    compare_tensor("out", &a->out, &b->out, &differences);
    compare_text("fold", a->has_fold ? "yes" : "no", b->has_fold ? "yes" : "no", &differences);
    if (a->has_fold && b->has_fold)
        compare_integer("fold.sum", a->fold_sum, b->fold_sum, &differences);
    char reduction_a[160] = "no", reduction_b[160] = "no";
    if (a->has_reduction)
        reduction_text(&a->reduction, reduction_a, sizeof reduction_a);
    if (b->has_reduction)
        reduction_text(&b->reduction, reduction_b, sizeof reduction_b);
    compare_text("reduction", reduction_a, reduction_b, &differences);
    compare_text("unfused", a->has_unfused ? "yes" : "no", b->has_unfused ? "yes" : "no", &differences);
    compare_segments(a, b, &differences);
    return differences;
}

static void parameters_text(const struct table *table, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < table->parameter_count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s=%.17g", i ? " " : "", table->parameters[i].name,
                                 table->parameters[i].value);
}

/* Where the tables come from: reported, and no reason to fail. */
static void report_origin(const struct table *a, const struct table *b)
{
    char parameters_a[128], parameters_b[128];
    parameters_text(a, parameters_a, sizeof parameters_a);
    parameters_text(b, parameters_b, sizeof parameters_b);
    compare_text("function", a->function, b->function, NULL);
    compare_text("parameters", parameters_a, parameters_b, NULL);
    compare_text("expression", a->expression ? a->expression : "", b->expression ? b->expression : "", NULL);
    compare_text("method", a->method, b->method, NULL);
    compare_text("spec", a->spec, b->spec, NULL);
    compare_text("outside", a->outside == OUTSIDE_CLAMP ? "clamp" : "error",
                 b->outside == OUTSIDE_CLAMP ? "clamp" : "error", NULL);
    compare_text("samples_sha256", a->samples_sha256, b->samples_sha256, NULL);
    compare_text("weights_sha256", a->weights_sha256, b->weights_sha256, NULL);
}

static void print_certificate(const struct side *side)
{
    const struct certificate *c = &side->table.certificate;
    struct diag false_claim;
    escape_print(side->path);
    if (side->table.standing == CERTIFICATE_ABSENT) {
        printf(": no certificate, see pwlc certify\n");
        return;
    }
    if (claim_check(&side->table, NULL, NULL, &false_claim)) {
        printf(": no certificate that counts: %s\n", false_claim.text);
        return;
    }
    printf(": max %.6g LSB at code %" PRId64 ", rms %.6g, mean %.6g, %.6g %% correctly rounded, %smonotone\n",
           c->max_err_lsb, c->max_err_at, c->rms_err_lsb, c->mean_abs_err_lsb, 100 * c->correctly_rounded,
           c->monotone ? "" : "not ");
}

static void compare_code(const struct side *a, const struct side *b, int64_t q_x, struct outputs *outputs)
{
    const int64_t difference = packed_eval(&a->packed, q_x) - packed_eval(&b->packed, q_x);
    const int64_t size = difference < 0 ? -difference : difference;
    outputs->compared++;
    if (size == 0)
        return;
    if (outputs->differing++ == 0)
        outputs->first_at = q_x;
    if (size > outputs->max_difference) {
        outputs->max_difference = size;
        outputs->max_at = q_x;
    }
}

static void compare_around_knots(const struct side *knots, const struct side *a, const struct side *b,
                                 struct outputs *outputs)
{
    const struct tensor *in = &a->table.in;
    /* A reduced table has its knots in every octave, where a spread of codes must do. */
    for (int i = 0; i < knots->table.segment_count && !knots->table.has_reduction; i++) {
        const int64_t start = knots->table.segments[i].start;
        /* A folded table has each knot on both sides of its zero point. */
        const int64_t mirrored = 2 * knots->table.in.zero_point - start;
        for (int64_t d = -KNOT_REACH; d <= KNOT_REACH; d++) {
            compare_code(a, b, pwl_sat(start + d, in->qmin, in->qmax), outputs);
            if (knots->table.has_fold)
                compare_code(a, b, pwl_sat(mirrored + d, in->qmin, in->qmax), outputs);
        }
    }
}

/* Both tables take the same codes. Returns whether every one was compared. */
static bool compare_outputs(const struct side *a, const struct side *b, struct outputs *outputs)
{
    const int64_t qmin = a->table.in.qmin, qmax = a->table.in.qmax;
    const int64_t last = qmax - qmin; /* below 2^32 */
    if (last < (int64_t)1 << EXHAUSTIVE_BITS) {
        for (int64_t q_x = qmin; q_x <= qmax; q_x++)
            compare_code(a, b, q_x, outputs);
        return true;
    }
    compare_around_knots(a, a, b, outputs);
    compare_around_knots(b, a, b, outputs);
    /* last * 2^20 stays below 2^52. */
    const int64_t count = (int64_t)1 << SPREAD_BITS;
    for (int64_t i = 0; i < count; i++)
        compare_code(a, b, qmin + last * i / (count - 1), outputs);
    return false;
}

static void print_outputs(const struct outputs *outputs, bool every_code)
{
    const enum color verdict = outputs->differing ? COLOR_BAD : COLOR_GOOD;
    printf("outputs: %s%" PRId64 " of %" PRId64 " codes differ%s%s\n", color_on(stdout, verdict), outputs->differing,
           outputs->compared, color_off(stdout),
           every_code ? "" : " (not every code was compared: those near the knots, and 2^20 evenly spaced ones)");
    if (outputs->differing)
        printf("outputs: largest difference %" PRId64 " at code %" PRId64 ", first difference at code %" PRId64 "\n",
               outputs->max_difference, outputs->max_at, outputs->first_at);
}

static int compare(const struct side *a, const struct side *b, bool outputs_only, struct diag *diag)
{
    int differences = 0;
    if (!outputs_only) {
        differences = compare_tables(&a->table, &b->table);
        report_origin(&a->table, &b->table);
    }
    if (a->table.in.qmin != b->table.in.qmin || a->table.in.qmax != b->table.in.qmax) {
        printf("outputs: not compared, the input ranges differ\n");
        return diag_set(diag, EXIT_REQUIREMENT,
                        "%s and %s take different input codes, %" PRId64 "..%" PRId64 " and %" PRId64 "..%" PRId64,
                        a->path, b->path, a->table.in.qmin, a->table.in.qmax, b->table.in.qmin, b->table.in.qmax);
    }
    struct outputs outputs = {0};
    struct progress progress;
    progress_begin(&progress, "codes", 0);
    const bool every_code = compare_outputs(a, b, &outputs);
    progress_end(&progress);
    print_outputs(&outputs, every_code);
    if (!outputs_only) {
        print_certificate(a);
        print_certificate(b);
    }
    if (outputs.differing == 0 && differences == 0)
        return EXIT_DONE;
    return diag_set(diag, EXIT_REQUIREMENT, "%s and %s differ: %" PRId64 " of %" PRId64 " outputs, %d table fields",
                    a->path, b->path, outputs.differing, outputs.compared, differences);
}

static int run(int argc, char **argv, struct diag *diag)
{
    struct argument_walk walk = {.command = &command_diff, .argc = argc, .argv = argv};
    const struct option_info *option;
    const char *value, *paths[2];
    bool outputs_only = false;
    int next, count = 0;
    while ((next = argument_next(&walk, &option, &value, diag)) > 0) {
        if (option)
            outputs_only = true;
        else if (count < 2)
            paths[count++] = value;
        else
            return diag_set(diag, EXIT_USAGE, "\"%s\" is one table too many; diff takes two", value);
    }
    if (next < 0)
        return diag->code;
    if (count < 2)
        return diag_set(diag, EXIT_USAGE, "two tables are needed: pwlc diff A.json B.json");
    if (strcmp(paths[0], "-") == 0 && strcmp(paths[1], "-") == 0)
        return diag_set(diag, EXIT_USAGE, "- is given twice; standard input can be read once");

    const bool operators[2] = {operator_recognise(paths[0]), operator_recognise(paths[1])};
    if (operators[0] && operators[1])
        return row_operator_diff(paths[0], paths[1], outputs_only, diag);
    if (operators[0] || operators[1])
        return diag_set(diag, EXIT_USAGE, "%s: a row operator, which is not compared with a table",
                        paths[operators[1]]);

    struct side a = {0}, b = {0};
    int code = side_read(&a, paths[0], diag);
    if (code == EXIT_DONE)
        code = side_read(&b, paths[1], diag);
    if (code == EXIT_DONE)
        code = compare(&a, &b, outputs_only, diag);
    side_free(&b);
    side_free(&a);
    return code;
}

const struct command command_diff = {
    .name = "diff",
    .synopsis = "pwlc diff A.json B.json [--outputs-only]",
    .summary = "Compare two tables, field by field and output by output; exit 3 when they differ.",
    .details = "Of two row operators, outputs are compared over the rows that a certificate measures.",
    .example = "pwlc fit tanh --in s8:2^-5 --out s8:2^-7 --method lut -o a.json\n"
               "pwlc fit tanh --in s8:2^-5 --out s8:2^-7 --method lut --form biased -o b.json\n"
               "pwlc diff --outputs-only a.json b.json",
    .options = options,
    .run = run,
};
