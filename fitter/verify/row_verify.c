/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "row_verify.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/scratch.h"
#include "emit/rtl/rows/rows.h"
#include "tools/tool.h"

#define UNIT "unit"

/* Places, unless a number of rows is given: what takes seconds. */
enum { VERILATOR_PLACES = 1 << 18, ICARUS_PLACES = 1 << 12 };

/* Lint says whatever it has to say of the unit; the bench is a program. */
static const char *const verilator_lint[] = {"verilator", "--lint-only", "-Wall", UNIT ".sv", NULL};
static const char *const verilator_build[] = {"verilator", "--binary",    "-O3", "--top-module", UNIT "_tb",
                                              "-Mdir",     "objects",     "-o",  "sim",          "-Wno-fatal",
                                              UNIT ".sv",  UNIT "_tb.sv", NULL};
static const char *const verilator_run[] = {"objects/sim", NULL};
static const char *const iverilog_build[] = {"iverilog", "-g2012",   "-Wall",       "-o",
                                             "sim.vvp",  UNIT ".sv", UNIT "_tb.sv", NULL};
static const char *const iverilog_run[] = {"vvp", "-n", "sim.vvp", NULL};

static int write_sources(const struct row_operator *of, const struct row_verification *verification, const char *folder,
                         struct row_bench_size *size, struct diag *diag)
{
    const struct emit_options options = {.name = UNIT, .rtl = {.lanes = verification->lanes}};
    struct text unit = {0}, bench = {0}, places = {0};
    if (emit_operator_sv(of, &options, &unit, diag) == EXIT_DONE &&
        emit_row_bench(of, &options, size, &places, &bench, diag) == EXIT_DONE &&
        scratch_write(folder, UNIT ".sv", &unit, diag) == EXIT_DONE &&
        scratch_write(folder, UNIT "_tb.sv", &bench, diag) == EXIT_DONE)
        scratch_write(folder, ROW_PLACES_FILE, &places, diag);
    text_free(&unit);
    text_free(&bench);
    text_free(&places);
    return diag->code;
}

/* What the bench says of itself begins with its name; a failure of another kind stays what it is. */
static int judge(const struct text *said, struct diag *diag)
{
    const char *const line = said->bytes ? strstr(said->bytes, UNIT "_tb: ") : NULL;
    if (diag->code == EXIT_DONE && (!line || !strstr(line, "no mismatch")))
        return diag_set(diag, EXIT_IO, "the bench ended without a word");
    if (diag->code == EXIT_IO && line)
        return diag_set(diag, EXIT_REQUIREMENT, "%.*s", (int)strcspn(line + sizeof UNIT "_tb: " - 1, "\n"),
                        line + sizeof UNIT "_tb: " - 1);
    return diag->code;
}

static int build(bool is_verilator, const struct row_verification *verification, const char *folder,
                 struct row_verdict *verdict, struct diag *diag)
{
    char version[TOOL_VERSION_SIZE];
    if (is_verilator) {
        if (tool_version(&tool_verilator, version, diag) ||
            tool_run(verilator_lint, folder, verification->limit_s, NULL, diag) ||
            tool_run(verilator_build, folder, verification->limit_s, NULL, diag))
            return diag->code;
    } else if (tool_version(&tool_vvp, version, diag) || tool_version(&tool_iverilog, version, diag) ||
               tool_run(iverilog_build, folder, verification->limit_s, NULL, diag)) {
        return diag->code;
    }
    snprintf(verdict->tools, sizeof verdict->tools, "%s %s", verification->simulator, version);
    return EXIT_DONE;
}

int row_verify(const struct row_operator *of, const struct row_verification *verification, struct row_verdict *verdict,
               struct diag *diag)
{
    const bool is_verilator = strcmp(verification->simulator, "verilator") == 0;
    const double start = clock_now();
    struct row_bench_size size = {verification->rows, is_verilator ? VERILATOR_PLACES : ICARUS_PLACES};
    struct text said = {0};
    char folder[SCRATCH_PATH_SIZE];
    *verdict = (struct row_verdict){0};
    if (scratch_folder(folder, diag) == EXIT_DONE &&
        write_sources(of, verification, folder, &size, diag) == EXIT_DONE &&
        build(is_verilator, verification, folder, verdict, diag) == EXIT_DONE) {
        tool_run(is_verilator ? verilator_run : iverilog_run, folder, verification->limit_s, &said, diag);
        judge(&said, diag);
    }
    text_free(&said);
    verdict->rows = size.rows;
    verdict->codes = size.places;
    verdict->seconds = clock_now() - start;
    return diag->code;
}
