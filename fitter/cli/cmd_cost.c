/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/note.h"
#include "base/process.h"
#include "base/suggest.h"
#include "base/terminal.h"
#include "command.h"
#include "cost/cost.h"
#include "cost/model.h"
#include "emit/rtl/rtl.h"
#include "io/rows.h"
#include "rtl_flags.h"
#include "table/table.h"

#define DEFAULT_TARGETS "ice40,generic,cortex-m4"
#define DEFAULT_STYLES "aligned,tree"
#define ROM_BITS 12 /* of inputs whose ROM is measured unasked; each bit more takes twice the time */
#define MOST_ROWS 64

static const struct option_info options[] = {
    {"--target", "NAME,NAME...", "of " COST_TARGETS},
    {"--rtl-style", "NAME,NAME...",
     "modules, as for emit (default aligned,tree; up to 12 bits the ROM stands beside them)"},
    {"--stages", "N", "registers of the modules, 0 to 24; 1 by default"},
    {"--rtl-handshake", "valid|ready", "of the modules, as for emit"},
    {"--estimate", NULL, "of hardware: what a model expects, without tools; csv and json have what it sums up"},
    {"--anew", NULL, "measure again what an earlier command measured"},
    {"--time-limit", "SECONDS", "of each program (default 600)"},
    {"--format", "md|csv|json|jsonl", "how to print (default md)"},
    {"-o", "FILE", "write to FILE instead of standard output"},
    {NULL, NULL, NULL},
};

struct row {
    const struct cost_target *target;
    char style[16];
    struct costing costing;
    struct cost cost;
    struct estimate estimate; /* with --estimate, and its cost above */
    bool is_missing;          /* a tool that it takes, */
    struct diag missing;      /* which this tells */
};

struct request {
    const char *path, *targets, *styles, *output;
    enum cells_format format;
    bool estimates;
    struct costing costing; /* what all rows share */
    struct row row[MOST_ROWS];
    int count;
};

static int add_row(struct request *request, const struct cost_target *target, const char *style, struct diag *diag)
{
    if (request->count == MOST_ROWS)
        return diag_set(diag, EXIT_USAGE, "the lists make more than %d rows; give fewer values", MOST_ROWS);
    struct row *const row = &request->row[request->count++];
    row->target = target;
    row->costing = request->costing;
    snprintf(row->style, sizeof row->style, "%s", style);
    if (cost_target_is_hardware(target))
        row->costing.rtl.style = rtl_style_parse(style);
    else
        row->costing.is_plain = strcmp(style, "rom") == 0;
    return EXIT_DONE;
}

/* Of C: segments, and the array of all outputs. */
static int add_processor_rows(struct request *request, const struct cost_target *target, struct diag *diag)
{
    if (add_row(request, target, "segments", diag))
        return diag->code;
    return request->costing.table->in.bits <= 16 ? add_row(request, target, "rom", diag) : EXIT_DONE;
}

/* Of a module: each style, and the ROM where it is small. */
static int add_hardware_rows(struct request *request, const struct cost_target *target, struct diag *diag)
{
    char style[16];
    bool has_rom = false;
    for (const char *list = request->styles ? request->styles : DEFAULT_STYLES;
         choice_next(&list, style, sizeof style);) {
        struct hardware hardware;
        if (strcmp(style, "auto") == 0 && hardware_of(request->costing.table, &request->costing.rtl, &hardware, diag))
            return diag->code;
        if (strcmp(style, "auto") == 0)
            snprintf(style, sizeof style, "%s", hardware.style);
        has_rom |= strcmp(style, "rom") == 0;
        if (add_row(request, target, style, diag))
            return diag->code;
    }
    return has_rom || request->costing.table->in.bits > ROM_BITS ? EXIT_DONE : add_row(request, target, "rom", diag);
}

static void fill(const struct row *row, const bool *has, bool estimates, struct cells *cells)
{
    cells->count = 0;
    cells_add_text(cells, "target", "target", CELL_BRIEF, cost_target_name(row->target));
    cells_add_text(cells, "style", "style", CELL_BRIEF, row->style);
    for (int k = 0; k < COST_FIGURES; k++)
        cells_add_number(cells, cost_names[k].key, has[k] ? cost_names[k].title : NULL, has[k] ? CELL_BRIEF : 0,
                         row->cost.figure[k]);
    for (int k = 0; k < COST_TERMS && estimates; k++)
        cells_add_number(cells, cost_term_names[k], NULL, 0, row->estimate.terms[k]);
    if (estimates)
        cells_add_number(cells, "longest", NULL, 0, row->estimate.longest);
}

/* The rows that were measured. */
static int print(const struct request *request, struct diag *diag)
{
    struct cells *const rows = malloc((size_t)request->count * sizeof *rows);
    bool has[COST_FIGURES] = {false};
    struct text text = {0};
    int count = 0;
    if (!rows)
        return diag_set(diag, EXIT_IO, "out of memory for %d rows", request->count);
    for (int i = 0; i < request->count; i++)
        for (int k = 0; k < COST_FIGURES && !request->row[i].is_missing; k++)
            has[k] |= !isnan(request->row[i].cost.figure[k]);
    for (int i = 0; i < request->count; i++)
        if (!request->row[i].is_missing)
            fill(&request->row[i], has, request->estimates, &rows[count++]);
    cells_print(rows, count, request->format, terminal_width(request->output), &text);
    int code = text.failed ? diag_set(diag, EXIT_IO, "out of memory while printing")
                           : file_write(request->output, text.bytes, text.size, diag);
    text_free(&text);
    free(rows);
    return code;
}

/* A note for each target of which nothing is printed. */
static void note_missing(const struct request *request)
{
    const struct cost_target *before = NULL;
    for (int i = 0; i < request->count; i++) {
        const struct row *row = &request->row[i];
        if (row->is_missing && row->target != before)
            note("cost", "%s: not measured: %s", cost_target_name(row->target), row->missing.text);
        before = row->target;
    }
}

/* A missing tool is a failure where it is missed by every row. */
static int measure_rows(struct request *request, struct diag *diag)
{
    int measured = 0;
    for (int i = 0; i < request->count; i++) {
        struct row *const row = &request->row[i];
        char what[40];
        snprintf(what, sizeof what, "%s, %s", cost_target_name(row->target), row->style);
        const int code = request->estimates ? cost_estimate(row->target, &row->costing, &row->estimate, diag)
                                            : cost_measure(row->target, &row->costing, &row->cost, diag);
        if (request->estimates)
            row->cost = row->estimate.cost;
        row->is_missing = code == EXIT_MISSING;
        row->missing = *diag;
        if (code && !row->is_missing)
            return diag_prefix(diag, what);
        measured += !row->is_missing;
        if (!row->is_missing && row->cost.note[0])
            note("cost", "%s: %s", what, row->cost.note);
    }
    if (measured == 0) {
        char what[40];
        snprintf(what, sizeof what, "%s, %s", cost_target_name(request->row[0].target), request->row[0].style);
        *diag = request->row[0].missing;
        return diag_prefix(diag, what);
    }
    note_missing(request);
    diag->code = EXIT_DONE;
    return print(request, diag);
}

static int cost_table(struct request *request, struct diag *diag)
{
    struct table table;
    struct packed_table packed = {0};
    char name[16];
    int code = table_read(request->path, &table, diag);
    if (code == EXIT_DONE)
        code = table_prove(&table, EXIT_USAGE, &packed, NULL, diag);
    request->costing.table = &table;
    request->costing.packed = &packed;
    for (const char *list = request->targets; code == EXIT_DONE && choice_next(&list, name, sizeof name);) {
        const struct cost_target *const target = cost_target_find(name);
        code = cost_target_is_hardware(target) ? add_hardware_rows(request, target, diag)
                                               : add_processor_rows(request, target, diag);
    }
    if (code == EXIT_DONE)
        code = measure_rows(request, diag);
    packed_table_free(&packed);
    table_free(&table);
    return code;
}

static int set_option(void *to, const char *name, const char *value, struct diag *diag)
{
    struct request *request = to;
    if (strcmp(name, "--target") == 0) {
        request->targets = value;
        return choice_check_list(name, COST_TARGETS, value, diag);
    }
    if (strcmp(name, "--rtl-style") == 0) {
        request->styles = value;
        return choice_check_list(name, RTL_STYLES, value, diag);
    }
    if (rtl_flag_set(name, value, &request->costing.rtl, diag))
        return diag->code;
    if (strcmp(name, "--anew") == 0)
        request->costing.anew = true;
    else if (strcmp(name, "--estimate") == 0)
        request->estimates = true;
    else if (strcmp(name, "--format") == 0)
        request->format = cells_format_parse(value);
    else if (strcmp(name, "-o") == 0)
        request->output = value;
    else
        return process_limit_parse(value, &request->costing.limit_s, diag);
    return EXIT_DONE;
}

static int run(int argc, char **argv, struct diag *diag)
{
    struct request request = {.targets = DEFAULT_TARGETS,
                              .costing = {.rtl.stages = RTL_DEFAULT_STAGES, .limit_s = PROCESS_LIMIT_S}};
    diag->code = EXIT_DONE;
    if (argument_take(&command_cost, argc, argv, "table", &request.path, set_option, &request, diag))
        return diag->code;
    if (!request.path)
        return diag_set(diag, EXIT_USAGE, "a table is needed: pwlc cost TABLE.json");
    return cost_table(&request, diag);
}

const struct command command_cost = {
    .name = "cost",
    .synopsis = "pwlc cost TABLE.json [--target ice40,xc7,generic,cortex-m4,rv32imc] [flags]",
    .summary = "Synthesise and compile a table with real tools: LUTs, registers, clock, bytes, instructions.",
    .details =
        "yosys counts cells: LUTs of four inputs (xc7: six), DSP blocks, RAM blocks (ice40 of 4 kbit, others 18); "
        "generic has inverters, NAND and NOR of two inputs, and registers. nextpnr, where it is installed, finds the "
        "clock of the module between registers: ice40 on an HX8K, ice40-dsp on a UP5K, ecp5 on an LFE5U-25. On "
        "processors the standalone header is compiled with -O2, for cortex-m0, -m4, -m33 and -m55 by gcc, for rv32imc "
        "by clang; instructions of one code are counted under QEMU, calls left out. Beside it stands the plain ROM or "
        "array of all outputs.\n"
        "A target whose tools are missing has a note instead of rows; exit 77 where that is so of every target.\n"
        "--estimate asks no tool: it sums up what a module consists of, with coefficients that were fitted to what the "
        "tools said of modules of --rtl-style tree --stages 4, as `pwlc fit --for` does.\n"
        "Results are kept in $XDG_CACHE_HOME/pwlc by what was measured and the tools' versions.",
    .example = "pwlc fit tanh --in s8:2^-5 --out s8:2^-7 -o tanh.json\n"
               "pwlc cost tanh.json --target generic",
    .options = options,
    .run = run,
};
