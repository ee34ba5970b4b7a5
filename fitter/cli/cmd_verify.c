/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/color.h"
#include "base/number.h"
#include "base/process.h"
#include "base/suggest.h"
#include "command.h"
#include "jobs/share.h"
#include "operator/operator.h"
#include "row_operator.h"
#include "rtl_flags.h"
#include "shared_verify.h"
#include "standing.h"
#include "table/table.h"
#include "verify/row_verify.h"
#include "verify/verify.h"

#define DEFAULT_SIMULATOR "verilator"

static const struct option_info options[] = {
    {"--against", "c,standalone,sv,vhdl,cuda",
     "what is built: c is the header with libpwl, sv and vhdl the module; default c,standalone,sv"},
    {"--rtl-style", RTL_STYLES, "of the module, as for emit"},
    {"--stages", "N", "registers of the module, 0 to 24; 1 by default"},
    {"--rtl-handshake", "valid|ready", "of the module, as for emit"},
    {"--simulator", VERIFY_SIMULATORS, "what runs sv; verilator (default) calls the standalone header beside it"},
    {"--wave", "FILE.vcd|FILE.fst",
     "write every signal of the simulation of sv or vhdl, where one of them is verified"},
    {"--prove", NULL, "inputs to 8 bits: yosys proves the module equal at every code; all: it has no feedback"},
    {"--exhaustive", NULL, "every code of inputs of more than 16 bits too"},
    {"--inject", NULL, "build from a table with one wrong bit, which must be found: exit 3 with the code"},
    {"--rows", "N", "of a row operator: rows that are sent; by default as many as take seconds"},
    {"--lanes", "N", "of a row operator: places of a beat, as for emit"},
    {"--time-limit", "SECONDS", "of each program (default 600)"},
    SHARE_OPTIONS,
    {NULL, NULL, NULL},
};

struct request {
    const char *path, *against;
    bool prove, has_against;
    const char *of_tables; /* the last flag that tables alone have */
    int64_t rows;
    struct emit_options emit;
    struct verification verification;
};

/* Worse comes first. */
static int worse(int a, int b)
{
    static const int order[] = {EXIT_REQUIREMENT, EXIT_USAGE, EXIT_IO, EXIT_MISSING, EXIT_DONE};
    for (size_t k = 0; k < sizeof order / sizeof *order; k++)
        if (a == order[k] || b == order[k])
            return order[k];
    return a;
}

static void print_verdict(const char *target, const struct verdict *verdict, const struct diag *diag)
{
    const bool is_good = diag->code == EXIT_DONE && verdict->mismatches == 0;
    printf("%-10s  %s", target, color_on(stdout, is_good ? COLOR_GOOD : COLOR_BAD));
    if (diag->code != EXIT_DONE)
        printf("%s", diag->text);
    else if (verdict->claim[0])
        printf("%s", verdict->claim);
    else
        printf("%" PRId64 " codes, %" PRId64 " mismatches", verdict->compared, verdict->mismatches);
    printf("%s", color_off(stdout));
    if (diag->code == EXIT_DONE)
        printf(", %.2f s, %s", verdict->seconds, verdict->tools);
    if ((diag->code == EXIT_DONE || diag->code == EXIT_REQUIREMENT) && verdict->fault[0])
        printf("; %s is flipped", verdict->fault);
    printf("\n");
    fflush(stdout);
}

/* What a verdict amounts to. */
static int judge(const struct request *request, const char *target, const struct verdict *verdict, struct diag *diag)
{
    if (diag->code != EXIT_DONE)
        return diag_prefix(diag, target);
    if (verdict->mismatches > 0)
        return diag_set(diag, EXIT_REQUIREMENT,
                        "%s: code %" PRId64 ": the table gives %" PRId64 ", %s gives %" PRId64 " (%" PRId64
                        " of %" PRId64 " codes differ)",
                        target, verdict->code, verdict->expected, verdict->name, verdict->found, verdict->mismatches,
                        verdict->compared);
    if (request->verification.inject)
        return diag_set(diag, EXIT_IO, "%s: %s was flipped, and no code differs: this verification finds nothing",
                        target, verdict->fault);
    return EXIT_DONE;
}

/* Prints a target's line. *diag keeps the worst message, the first of equal ones. */
static void tell(const struct request *request, const char *target, const struct verdict *verdict, struct diag *own,
                 struct diag *diag)
{
    print_verdict(target, verdict, own);
    judge(request, target, verdict, own);
    if (own->code != diag->code && worse(own->code, diag->code) == own->code)
        *diag = *own;
}

static void verify_one(const struct request *request, const char *target, struct diag *diag)
{
    struct verdict verdict;
    struct diag own = {.code = EXIT_DONE};
    verify(target, &request->verification, &verdict, &own);
    tell(request, target, &verdict, &own, diag);
}

static int verify_shared(struct request *request, struct diag *diag)
{
    struct shared_verify shared = {.verification = &request->verification};
    char target[16];
    bool goes_on;
    for (const char *list = request->against; choice_next(&list, target, sizeof target);)
        shared_verify_add(&shared, target);
    if (request->prove)
        shared_verify_add(&shared, VERIFY_PROOF);
    if (request->verification.wave)
        diag_set(diag, EXIT_USAGE, "--wave %s: not where jobs are shared out", request->verification.wave);
    else if (!shared_verify_run(&shared, &goes_on, diag) && goes_on) {
        note_standing(command_verify.name, request->path, request->verification.table);
        for (int k = 0; k < shared.count; k++) {
            struct verdict verdict;
            struct diag own;
            shared_verify_join(&shared, k, &verdict, &own);
            tell(request, shared.targets[k], &verdict, &own, diag);
        }
    }
    shared_verify_free(&shared);
    return diag->code;
}

static int verify_alone(const struct request *request, struct diag *diag)
{
    char target[16];
    note_standing(command_verify.name, request->path, request->verification.table);
    for (const char *list = request->against; choice_next(&list, target, sizeof target);)
        verify_one(request, target, diag);
    if (request->prove)
        verify_one(request, VERIFY_PROOF, diag);
    return diag->code;
}

static int verify_table(struct request *request, struct diag *diag)
{
    struct table table;
    struct packed_table packed = {0};
    int code = table_read(request->path, &table, diag);
    if (code == EXIT_DONE)
        code = table_prove(&table, EXIT_USAGE, &packed, NULL, diag);
    if (code == EXIT_DONE) {
        request->verification.table = &table;
        request->verification.packed = &packed;
        code = share_is_on() ? verify_shared(request, diag) : verify_alone(request, diag);
    }
    packed_table_free(&packed);
    table_free(&table);
    return code;
}
static int set_wave(const char *value, const char **wave, struct diag *diag)
{
    const size_t length = strlen(value);
    *wave = value;
    if (length < 5 || (strcmp(value + length - 4, ".vcd") != 0 && strcmp(value + length - 4, ".fst") != 0))
        return diag_set(diag, EXIT_USAGE, "--wave %s: must be a file that ends with .vcd or .fst", value);
    return EXIT_DONE;
}

static int verify_row_operator(const struct request *request, struct diag *diag)
{
    const struct row_verification verification = {.simulator = request->verification.simulator,
                                                  .lanes = request->emit.rtl.lanes,
                                                  .rows = request->rows,
                                                  .limit_s = request->verification.limit_s};
    struct row_operator of;
    struct row_verdict verdict;
    if (request->of_tables)
        return diag_set(diag, EXIT_USAGE,
                        "%s: not of a row operator, which takes --against sv, --simulator, --rows, --lanes and "
                        "--time-limit",
                        request->of_tables);
    if (request->has_against && strcmp(request->against, "sv") != 0)
        return diag_set(diag, EXIT_USAGE, "%s: a row operator, which is verified --against sv alone", request->path);
    if (operator_read(request->path, &of, diag))
        return diag_prefix(diag, request->path);
    row_verify(&of, &verification, &verdict, diag);
    operator_free(&of);
    printf("%-10s  %s", "sv", color_on(stdout, diag->code == EXIT_DONE ? COLOR_GOOD : COLOR_BAD));
    if (diag->code == EXIT_DONE)
        printf("%" PRId64 " rows, %" PRId64 " codes, 0 mismatches%s, %.2f s, %s\n", verdict.rows, verdict.codes,
               color_off(stdout), verdict.seconds, verdict.tools);
    else
        printf("%s%s\n", diag->text, color_off(stdout));
    return diag->code == EXIT_DONE ? EXIT_DONE : diag_prefix(diag, "sv");
}

static int set_option(void *to, const char *name, const char *value, struct diag *diag)
{
    struct request *request = to;
    const bool is_of_both =
        strcmp(name, "--against") == 0 || strcmp(name, "--simulator") == 0 || strcmp(name, "--time-limit") == 0;
    if (strcmp(name, "--lanes") == 0)
        return rtl_lanes_set(value, &request->emit.rtl, diag);
    if (strcmp(name, "--rows") == 0) {
        if (number_integer(value, strlen(value), &request->rows) != NUMBER_OK || request->rows < 1)
            return diag_set(diag, EXIT_USAGE, "--rows %.40s: must be a number of rows, 1 or more", value);
        return EXIT_DONE;
    }
    if (!is_of_both)
        request->of_tables = name;
    if (rtl_flag_set(name, value, &request->emit.rtl, diag))
        return diag->code;
    if (strcmp(name, "--against") == 0) {
        request->against = value;
        request->has_against = true;
        return choice_check_list(name, VERIFY_TARGETS, value, diag);
    }
    if (strcmp(name, "--simulator") == 0)
        request->verification.simulator = value;
    else if (strcmp(name, "--wave") == 0)
        return set_wave(value, &request->verification.wave, diag);
    else if (strcmp(name, "--prove") == 0)
        request->prove = true;
    else if (strcmp(name, "--exhaustive") == 0)
        request->verification.exhaustive = true;
    else if (strcmp(name, "--inject") == 0)
        request->verification.inject = true;
    else
        return process_limit_parse(value, &request->verification.limit_s, diag);
    return EXIT_DONE;
}

static bool names_target(const char *list, const char *name)
{
    char target[16];
    while (choice_next(&list, target, sizeof target))
        if (strcmp(target, name) == 0)
            return true;
    return false;
}

static int parse(int argc, char **argv, struct request *request, struct diag *diag)
{
    diag->code = EXIT_DONE;
    if (argument_take(&command_verify, argc, argv, "table", &request->path, set_option, request, diag))
        return diag->code;
    if (!request->path)
        return diag_set(diag, EXIT_USAGE, "a table is needed: pwlc verify TABLE.json");
    if (!request->against)
        request->against = request->prove ? "" : "c,standalone,sv";
    if (request->verification.simulator && !names_target(request->against, "sv"))
        return diag_set(diag, EXIT_USAGE, "--simulator %s: runs the target sv, which --against does not name",
                        request->verification.simulator);
    if (request->verification.wave && names_target(request->against, "sv") == names_target(request->against, "vhdl"))
        return diag_set(diag, EXIT_USAGE, "--wave %s: --against must name one of sv and vhdl, which are simulated",
                        request->verification.wave);
    if (!request->verification.simulator)
        request->verification.simulator = DEFAULT_SIMULATOR;
    return EXIT_DONE;
}

static int run(int argc, char **argv, struct diag *diag)
{
    struct request request = {.verification = {.limit_s = PROCESS_LIMIT_S}, .emit.rtl.stages = RTL_DEFAULT_STAGES};
    request.verification.emit = &request.emit;
    bool goes_on;
    if (share_take(&argc, argv, diag) || parse(argc, argv, &request, diag))
        return diag->code;
    if (operator_recognise(request.path) && (share_nothing("a table", &goes_on, diag) || !goes_on))
        return diag->code;
    if (operator_recognise(request.path))
        return verify_row_operator(&request, diag);
    if (request.rows || request.emit.rtl.lanes)
        return diag_set(diag, EXIT_USAGE, "%s needs a row operator: tables map codes one by one",
                        request.rows ? "--rows" : "--lanes");
    return verify_table(&request, diag);
}

const struct command command_verify = {
    .name = "verify",
    .synopsis = "pwlc verify TABLE.json [--against c,standalone,sv,vhdl,cuda] [--prove] [flags]",
    .summary = "Build what is emitted from a table with real tools, and compare it with the table at every code.",
    .details = "Prints a line for each target: codes compared, mismatches, time, tools. Inputs of up to 16 bits are "
               "compared at every code, wider ones at knots, ends of ranges and 2^20 drawn codes. A mismatch is exit "
               "3, with the first code and both values; a target whose tool is missing or too old is exit 77, and the "
               "others are verified all the same. c is linked with the libpwl that pkg-config finds.\n"
               "--prove replaces the registers of the module, where nothing is held back, by wires. Where no path then "
               "leads back, the output "
               "depends on the last codes alone; of inputs of up to 8 bits, ABC proves that it is the table's.\n"
               "Of a row operator, --against sv sends rows through the unit that emit --format sv writes, and compares "
               "each code with the runtime's.",
    .example = "pwlc fit tanh --in s8:2^-5 --out s8:2^-7 -o tanh.json\n"
               "pwlc verify tanh.json --against standalone",
    .options = options,
    .run = run,
};
