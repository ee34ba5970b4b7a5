/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "base/process.h"
#include "base/terminal.h"
#include "command.h"
#include "cost/cost.h"
#include "fit/fit.h"
#include "fit_result.h"
#include "jobs/share.h"
#include "report/explore_report.h"
#include "rtl_flags.h"
#include "spec/reduce.h"
#include "spec/spec.h"

#define MAX_COMBINATIONS 2000

static const struct option_info options[] = {
    {"--in", "TYPE", "input type, as for fit"},
    {"--out", "TYPE", "output type"},
    {"--segments", "N,N...", "numbers of segments (default 4,8,16,32); also 4-16, 4:64:4 in steps, 4:64:x2 by factors"},
    {"--method", "NAME,NAME...", "methods, see `pwlc list methods` (default lsq, or minimax with --objective max)"},
    {"--form", "NAME,NAME...", "forms, see fit (default as for fit)"},
    {"--rounding", "NAME,NAME...", "roundings, see fit (default floor)"},
    {"--slope-bits", "B,B...", "widths of q_b, sign included, or ranges (default: 8, 16 or 32, by the types)"},
    {"--slope-terms", "any,1,2", "powers of two whose sum a slope is (default any)"},
    {"--shift", "per-segment,one", "n_BX_total of each segment, or the same in all (default per-segment)"},
    {"--knots", "free,uniform,pow2[:B],points[:K],steps:K", "where segments start, as for fit (default free)"},
    {"--symmetry", "off,fold", "whole tables, halves of symmetric functions, or both (default off)"},
    {"--range", "LO:HI", "real input range that gives types without a scale theirs, as for fit"},
    {"--zero", SPEC_ZEROS, "as in pwlc fit: keep (default) or leave the code of f(0) = 0 or 1/2"},
    {"--monotone", NULL, "no step against the direction of the function"},
    {"--continuous", "S", "joints within S output LSB, as for fit"},
    {"--fix", "X:Y...", "the code nearest to x gives the code nearest to y, as 0:0; may be repeated"},
    {"--param", "NAME=VALUE...", "parameter of the function; may be repeated"},
    {"--expr", "EXPRESSION", "instead of FUNCTION: an expression of x, as for fit"},
    {"--samples", "FILE",
     "instead of FUNCTION: x,y pairs (csv or npy), or y alone (Y.npy:LOW:HIGH), joined by straight lines"},
    {"--reduce", SPEC_REDUCES, "tables of one octave, as for fit (default off)"},
    {"--weights", "FILE", "how often each input code occurs, as for fit; the averages are weighted so"},
    {"--outside", SPEC_OUTSIDES, "codes outside the function's domain, as for fit (default error)"},
    {"--objective", "rms|max", "the error that the front weighs against bytes or cost (default rms)"},
    {"--cost", "TARGET:FIGURE",
     "rank by what pwlc cost measures instead of bytes, as ice40:lut4 or cortex-m4:instructions"},
    {"--rtl-style", RTL_STYLES, "of the modules that --cost measures (default aligned)"},
    {"--stages", "N", "their registers, 0 to 24; 1 by default"},
    SHARE_OPTIONS,
    {"--jobs", "N", "how many tables are fitted at once (default: one a core)"},
    {"--format", "md|csv|json|jsonl", "how to print (default md)"},
    {"-o", "FILE", "write to FILE instead of standard output"},
    {"--svg", "FILE", "draw error over bytes, with the front"},
    {NULL, NULL, NULL},
};

/* Flags of the choices, and their values when not given; the slope bits are then those of the storage. */
static const struct {
    const char *flag, *values;
} axes[AXIS_COUNT] = {
    [AXIS_METHOD] = {"--method", NULL},
    [AXIS_FORM] = {"--form", "absolute"},
    [AXIS_ROUNDING] = {"--rounding", "floor"},
    [AXIS_SLOPE_BITS] = {"--slope-bits", NULL},
    [AXIS_SLOPE_TERMS] = {"--slope-terms", "any"},
    [AXIS_SHIFT] = {"--shift", "per-segment"},
    [AXIS_KNOTS] = {"--knots", "free"},
    [AXIS_SYMMETRY] = {"--symmetry", "off"},
    [AXIS_SEGMENTS] = {"--segments", "4,8,16,32"},
};

struct request {
    struct spec spec; /* what all combinations share */
    const char *given[AXIS_COUNT];
    char *lists[AXIS_COUNT]; /* copies that are cut into values */
    char storage_bits[8];
    struct exploration exploration;
    struct spec *specs; /* of each row */
    enum cells_format format;
    const char *output, *svg;
    const struct cost_target *cost_target; /* null: bytes are what counts */
    enum cost_figure cost_figure;
    char cost_name[32];
    struct rtl_options rtl; /* of what is measured */
    const char *module[2];  /* a flag of modules and its value; null: none was given */
    int jobs;
};

static bool takes_ranges(enum explore_axis axis)
{
    return axis == AXIS_SEGMENTS || axis == AXIS_SLOPE_BITS;
}

/* A part of a list, up to a comma or its end: "4-16", "4:64:4" or "4:64:x2" as all its numbers, others as they are. */
static int expand(const char *flag, const char *part, size_t length, struct text *out, struct diag *diag)
{
    const size_t first = strcspn(part, "-:");
    if (first == 0 || first >= length) {
        text_add(out, "%.*s", (int)length, part);
        return EXIT_DONE;
    }
    const char *rest = part + first + 1;
    const size_t end = part[first] == ':' ? strcspn(rest, ":,") : strcspn(rest, ",");
    const bool has_step = rest[end] == ':', is_factor = has_step && rest[end + 1] == 'x';
    const char *step_text = rest + end + 1 + is_factor;
    int64_t low, high, step = 1;
    if (number_integer(part, first, &low) || number_integer(rest, end, &high) || low < 1 || low > high ||
        (has_step && number_integer(step_text, strcspn(step_text, ","), &step)) || step < 1 + is_factor ||
        high > PWL_MAX_SEGMENTS)
        return diag_set(diag, EXIT_USAGE,
                        "%s %.*s: must be a range such as 4-16, 4:64:4 (in steps of 4) or 4:64:x2 (by factors of 2)",
                        flag, (int)(length < 40 ? length : 40), part);
    for (int count = 0; low <= high && count <= EXPLORE_MAX_VALUES; count++) {
        text_add(out, "%s%lld", count ? "," : "", (long long)low);
        low = is_factor ? low * step : low + step;
    }
    return EXIT_DONE;
}

/* A list with its ranges written out. malloc'd in *copy. */
static int expand_list(enum explore_axis axis, const char *list, char **copy, struct diag *diag)
{
    struct text text = {0};
    for (const char *part = list; part;) {
        const size_t length = strcspn(part, ",");
        if (part > list)
            text_add(&text, ",");
        if (!takes_ranges(axis))
            text_add(&text, "%.*s", (int)length, part);
        else if (expand(axes[axis].flag, part, length, &text, diag)) {
            text_free(&text);
            return diag->code;
        }
        part = part[length] ? part + length + 1 : NULL;
    }
    if (text.failed || !text.bytes) {
        text_free(&text);
        return diag_set(diag, EXIT_IO, "out of memory");
    }
    *copy = text.bytes;
    return EXIT_DONE;
}

/* Cuts a list at its commas. */
static int split(struct request *request, enum explore_axis axis, const char *list, struct diag *diag)
{
    struct explore_choice *choice = &request->exploration.choice[axis];
    char *copy = NULL;
    if (expand_list(axis, list, &copy, diag))
        return diag->code;
    request->lists[axis] = copy;
    for (char *value = copy; value;) {
        char *comma = strchr(value, ',');
        if (comma)
            *comma = '\0';
        for (int i = 0; i < choice->count; i++)
            if (!strcmp(choice->value[i], value))
                return diag_set(diag, EXIT_USAGE, "%s %s: %s is given twice", axes[axis].flag, list, value);
        if (choice->count == EXPLORE_MAX_VALUES)
            return diag_set(diag, EXIT_USAGE, "%s: at most %d values", axes[axis].flag, EXPLORE_MAX_VALUES);
        choice->value[choice->count++] = value;
        value = comma ? comma + 1 : NULL;
    }
    return EXIT_DONE;
}

/* Every value alone must be one that fit takes. */
static int check_values(const struct request *request, struct diag *diag)
{
    for (int a = 0; a < AXIS_COUNT; a++) {
        const struct explore_choice *choice = &request->exploration.choice[a];
        for (int i = 0; request->given[a] && i < choice->count; i++) {
            struct spec scratch = request->spec;
            if (spec_set(&scratch, axes[a].flag, choice->value[i], diag))
                return diag->code;
        }
    }
    return EXIT_DONE;
}

static int build_choices(struct request *request, struct diag *diag)
{
    const struct spec *spec = &request->spec;
    snprintf(request->storage_bits, sizeof request->storage_bits, "%d", storage_bits(spec_storage(spec)));
    for (int a = 0; a < AXIS_COUNT; a++) {
        const char *list = request->given[a]                                 ? request->given[a]
                           : a == AXIS_SLOPE_BITS                            ? request->storage_bits
                           : a != AXIS_METHOD                                ? axes[a].values
                           : request->exploration.objective == OBJECTIVE_MAX ? "minimax"
                                                                             : "lsq";
        if (split(request, (enum explore_axis)a, list, diag))
            return diag->code;
    }
    return check_values(request, diag);
}

/* A full table has a segment for each code, and no slopes. */
static bool has_choice(const struct spec *spec, enum explore_axis axis)
{
    return !method_is_of_codes(spec->method) || axis == AXIS_METHOD || axis == AXIS_FORM || axis == AXIS_ROUNDING ||
           axis == AXIS_SYMMETRY;
}

/* The combination of a number whose digits are the places in the lists. False for a repetition: a method that leaves
 * no choice takes part once. */
static bool combine(const struct request *request, int number, struct explore_row *row, struct spec *spec)
{
    *row = (struct explore_row){.diag = {.code = EXIT_DONE}};
    *spec = request->spec;
    int place[AXIS_COUNT];
    for (int a = AXIS_COUNT - 1; a >= 0; a--) {
        place[a] = number % request->exploration.choice[a].count;
        number /= request->exploration.choice[a].count;
    }
    for (int a = 0; a < AXIS_COUNT; a++) { /* the method is first */
        if (!has_choice(spec, (enum explore_axis)a)) {
            if (place[a] > 0)
                return false;
            continue;
        }
        row->value[a] = request->exploration.choice[a].value[place[a]];
        /* check_values has seen each value; the storage's bits need not be said. */
        if (a != AXIS_SLOPE_BITS || request->given[a])
            spec_set(spec, axes[a].flag, row->value[a], &row->diag);
    }
    if (!request->given[AXIS_FORM]) {
        spec->has_form = false;
        spec_settle_form(spec);
        row->value[AXIS_FORM] = form_name(spec->form);
    }
    return true;
}

static int build_rows(struct request *request, struct diag *diag)
{
    struct exploration *exploration = &request->exploration;
    int combinations = 1;
    for (int a = 0; a < AXIS_COUNT; a++) {
        combinations *= exploration->choice[a].count; /* at most MAX_COMBINATIONS * EXPLORE_MAX_VALUES */
        if (combinations > MAX_COMBINATIONS)
            return diag_set(diag, EXIT_USAGE, "the lists make more than %d combinations; give fewer values",
                            MAX_COMBINATIONS);
    }
    exploration->rows = calloc((size_t)combinations, sizeof *exploration->rows);
    request->specs = calloc((size_t)combinations, sizeof *request->specs);
    if (!exploration->rows || !request->specs)
        return diag_set(diag, EXIT_IO, "out of memory for %d combinations", combinations);
    for (int k = 0; k < combinations; k++)
        if (combine(request, k, &exploration->rows[exploration->count], &request->specs[exploration->count]))
            exploration->count++;
    return EXIT_DONE;
}

/* A table without a price is no row: the failure is the command's. */
static void price_row(const struct request *request, struct explore_row *row)
{
    struct packed_table packed;
    struct cost cost;
    if (table_prove(&row->table, EXIT_IO, &packed, NULL, &row->diag))
        return;
    const struct costing costing = {
        .table = &row->table, .packed = &packed, .rtl = request->rtl, .limit_s = PROCESS_LIMIT_S};
    if (cost_measure(request->cost_target, &costing, &cost, &row->diag) == EXIT_DONE) {
        row->price = cost.figure[request->cost_figure];
        row->mhz = isnan(cost.figure[COST_FMAX]) ? 0 : cost.figure[COST_FMAX];
    } else if (row->diag.code != EXIT_MISSING) {
        row->diag.code = EXIT_IO;
    }
    if (row->diag.code == EXIT_IO)
        diag_prefix(&row->diag, row->table.spec);
    packed_table_free(&packed);
}

static void fit_row(void *context, int k)
{
    struct request *request = context;
    struct explore_row *row = &request->exploration.rows[k];
    if (!row->diag.code && fit(&request->specs[k], &row->table, &row->diag) == EXIT_DONE && request->cost_target)
        price_row(request, row);
}

static bool save_row(void *context, int k, struct text *record)
{
    const struct request *request = context;
    const struct explore_row *row = &request->exploration.rows[k];
    record_add_real(record, row->price);
    record_add_real(record, row->mhz);
    return fit_result_save(&row->table, &row->diag, record);
}

static bool load_row(void *context, int k, struct record *record)
{
    struct request *request = context;
    struct explore_row *row = &request->exploration.rows[k];
    row->price = record_real(record);
    row->mhz = record_real(record);
    return fit_result_load(&row->table, &row->diag, record);
}

static void describe_row(void *context, int k, char name[SHARE_NAME_SIZE])
{
    const struct request *request = context;
    char *const flags = spec_canonical(&request->specs[k]);
    snprintf(name, SHARE_NAME_SIZE, "%s", flags ? flags : "");
    free(flags);
}

static bool same_table(const struct explore_row *a, const struct explore_row *b)
{
    const struct table *left = &a->table, *right = &b->table;
    if (a->diag.code || b->diag.code || left->segment_count != right->segment_count)
        return false;
    for (int axis = 0; axis < AXIS_COUNT; axis++)
        if (axis != AXIS_SEGMENTS && a->value[axis] != b->value[axis])
            return false;
    for (int i = 0; i < left->segment_count; i++) {
        const struct segment *s = &left->segments[i], *t = &right->segments[i];
        if (s->start != t->start || s->q_b != t->q_b || s->n != t->n || s->offset != t->offset)
            return false;
    }
    return true;
}

/* Where nobody asked for numbers of segments, a table that takes fewer than it may stands in one row. */
static void drop_repetitions(struct exploration *exploration)
{
    int kept = 0;
    for (int k = 0; k < exploration->count; k++) {
        bool is_known = false;
        for (int i = 0; i < kept && !is_known; i++)
            is_known = same_table(&exploration->rows[i], &exploration->rows[k]);
        if (is_known)
            table_free(&exploration->rows[k].table);
        else
            exploration->rows[kept++] = exploration->rows[k];
    }
    exploration->count = kept;
}

/* Running out of memory and a tool's failure are one, everything else is a finding. */
static int fit_rows(struct request *request, bool *goes_on, struct diag *diag)
{
    struct exploration *exploration = &request->exploration;
    const struct shared_jobs jobs = {exploration->count, request->jobs, "tables",    request, fit_row,
                                     save_row,           load_row,      describe_row};
    if (share_run(&jobs, goes_on, diag) || !*goes_on)
        return diag->code;
    for (int k = 0; k < exploration->count; k++)
        if (exploration->rows[k].diag.code == EXIT_IO || exploration->rows[k].diag.code == EXIT_MISSING) {
            *diag = exploration->rows[k].diag;
            return diag->code;
        }
    if (!request->given[AXIS_SEGMENTS])
        drop_repetitions(exploration);
    explore_rank(exploration);
    return EXIT_DONE;
}

static int write_results(const struct request *request, struct diag *diag)
{
    const struct exploration *exploration = &request->exploration;
    struct text text = {0};
    struct svg svg = {0};
    int code = explore_print(exploration, request->format, terminal_width(request->output), &text, diag);
    if (code == EXIT_DONE && request->svg && exploration->found > 0) {
        explore_plot(exploration, &svg);
        if (svg.text.failed)
            code = diag_set(diag, EXIT_IO, "out of memory while drawing");
        else
            code = file_write(request->svg, svg.text.bytes, svg.text.size, diag);
    }
    if (code == EXIT_DONE)
        code = file_write(request->output, text.bytes, text.size, diag);
    text_free(&text);
    svg_free(&svg);
    if (code == EXIT_DONE && exploration->found == 0)
        code = diag_set(diag, EXIT_REQUIREMENT, "no combination has a table; the first, because %s",
                        exploration->rows[0].diag.text);
    return code;
}

static int explore(struct request *request, struct diag *diag)
{
    struct exploration *exploration = &request->exploration;
    const struct spec *spec = &request->spec;
    bool goes_on = true;
    /* What no choice can mend is said at once. */
    if (spec_resolve(&request->spec, diag) || spec_check(spec, diag))
        return diag->code;
    exploration->function = function_name(&spec->function);
    exploration->in = &spec->in;
    exploration->out = &spec->out;
    if (file_expect(request->output, diag) || (request->svg && file_expect(request->svg, diag)) ||
        build_choices(request, diag) || build_rows(request, diag) || fit_rows(request, &goes_on, diag) || !goes_on)
        return diag->code;
    return write_results(request, diag);
}

static int set_cost(struct request *request, const char *value, struct diag *diag)
{
    if (cost_figure_parse("--cost", value, &request->cost_target, &request->cost_figure, diag))
        return diag->code;
    if (request->cost_figure == COST_FMAX)
        return diag_set(diag, EXIT_USAGE, "--cost %s: a clock is no cost; name a figure of which less is better",
                        value);
    snprintf(request->cost_name, sizeof request->cost_name, "%.*s:%s", (int)strcspn(value, ":"), value,
             cost_names[request->cost_figure].key);
    request->exploration.cost = request->cost_name;
    request->exploration.has_clock = cost_target_has(request->cost_target, COST_FMAX);
    return EXIT_DONE;
}

static int set_option(struct request *request, const char *flag, const char *value, struct diag *diag)
{
    for (int a = 0; a < AXIS_COUNT; a++)
        if (!strcmp(flag, axes[a].flag)) {
            request->given[a] = value;
            return EXIT_DONE;
        }
    if (!strcmp(flag, "--cost"))
        return set_cost(request, value, diag);
    if (rtl_flag_set(flag, value, &request->rtl, diag)) {
        request->module[0] = flag;
        request->module[1] = value;
        return diag->code;
    }
    if (!strcmp(flag, "--jobs"))
        return jobs_parse(value, &request->jobs, diag);
    if (!strcmp(flag, "--objective"))
        request->exploration.objective = strcmp(value, "max") == 0 ? OBJECTIVE_MAX : OBJECTIVE_RMS;
    else if (!strcmp(flag, "--format"))
        request->format = cells_format_parse(value);
    else if (!strcmp(flag, "-o"))
        request->output = value;
    else if (!strcmp(flag, "--svg"))
        request->svg = value;
    else
        return spec_set(&request->spec, flag, value, diag);
    return EXIT_DONE;
}

static int parse(int argc, char **argv, struct request *request, struct diag *diag)
{
    struct argument_walk walk = {.command = &command_explore, .argc = argc, .argv = argv, .index = 1};
    const struct option_info *option;
    const char *value, *parameters[FUNCTION_MAX_PARAMETERS + 8];
    int more, parameter_count = 0;
    while ((more = argument_next(&walk, &option, &value, diag)) > 0) {
        if (option && !strcmp(option->name, "--param")) { /* the function may be named after it */
            if (parameter_count == (int)(sizeof parameters / sizeof *parameters))
                return diag_set(diag, EXIT_USAGE, "--param %s: too many parameters", value);
            parameters[parameter_count++] = value;
        } else if (set_option(request, option ? option->name : "FUNCTION", value, diag)) {
            return diag->code;
        }
    }
    for (int k = 0; more == 0 && k < parameter_count; k++)
        if (spec_set(&request->spec, "--param", parameters[k], diag))
            return diag->code;
    if (more == 0 && request->svg && file_is_standard_output(request->svg) && file_is_standard_output(request->output))
        return diag_set(diag, EXIT_USAGE, "--svg %s: the table goes to standard output already; give -o FILE",
                        request->svg);
    const char *const *const module = request->module;
    if (more == 0 && module[0] && !request->cost_target)
        return diag_set(diag, EXIT_USAGE, "%s %s: says which modules --cost measures; give --cost too, as xc7:lut",
                        module[0], module[1]);
    if (more == 0 && module[0] && !cost_target_is_hardware(request->cost_target))
        return diag_set(diag, EXIT_USAGE,
                        "%s %s: --cost %s measures no module; leave it out, or name another target, as xc7:lut",
                        module[0], module[1], request->cost_name);
    return more < 0 ? diag->code : EXIT_DONE;
}

static int run(int argc, char **argv, struct diag *diag)
{
    struct request request = {.jobs = jobs_default(), .rtl = {.style = RTL_ALIGNED, .stages = RTL_DEFAULT_STAGES}};
    diag->code = EXIT_DONE;
    spec_init(&request.spec);
    if (!share_take(&argc, argv, diag) && !parse(argc, argv, &request, diag))
        explore(&request, diag);
    for (int k = 0; k < request.exploration.count; k++)
        table_free(&request.exploration.rows[k].table);
    free(request.exploration.rows);
    free(request.specs);
    for (int a = 0; a < AXIS_COUNT; a++)
        free(request.lists[a]);
    spec_free(&request.spec);
    return diag->code;
}

const struct command command_explore = {
    .name = "explore",
    .synopsis = "pwlc explore FUNCTION --in TYPE --out TYPE [--segments N,N...] [flags]",
    .summary = "Fit every combination of the choices given and show which tables are worth their bytes.",
    .details =
        "--cost synthesises or compiles every table, which takes seconds each, and keeps what it found for later "
        "commands. Of a target that has a clock the front is of cost, clock and error. Multiplier-free tables "
        "(--slope-terms 1, 2) are small in logic where they are large in bytes.",
    .example = "pwlc explore tanh --in s8:2^-5 --out s8:2^-7 --segments 4,8,16 --form absolute,biased --method minimax "
               "--svg tanh.svg",
    .options = options,
    .run = run,
};
