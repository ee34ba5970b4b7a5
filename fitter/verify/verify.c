/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/process.h"
#include "base/progress.h"
#include "fault.h"
#include "program.h"

static const struct target {
    const char *name;
    int (*bits)(const struct table *table);
    int (*build)(const struct verification *verification, struct program *program,
                 struct diag *diag); /* null: proven */
    bool simulates;
} targets[] = {
    {"c", c_program_bits, c_program, false},       {"standalone", c_program_bits, standalone_program, false},
    {"sv", sv_program_bits, sv_program, true},     {"vhdl", sv_program_bits, vhdl_program, true},
    {"cuda", c_program_bits, cuda_program, false}, {VERIFY_PROOF, sv_program_bits, NULL, false},
};

/* Counts what arrives. */
struct watched {
    struct answers answers;
    struct progress progress;
};

static bool take(void *context, const unsigned char *bytes, size_t size)
{
    struct watched *const watched = context;
    const int64_t before = watched->answers.compared;
    const bool goes_on = answers_take(&watched->answers, bytes, size);
    progress_add(&watched->progress, (uint64_t)(watched->answers.compared - before));
    return goes_on;
}

static int run(const struct verification *verification, const struct program *program, const struct runs *runs,
               struct verdict *verdict, struct diag *diag)
{
    char input[SCRATCH_PATH_SIZE + 16];
    struct watched watched = {.answers = {.packed = verification->packed, .runs = runs, .names = program->names}};
    const struct process process = {.argv = program->argv,
                                    .folder = program->folder,
                                    .input = input,
                                    .limit_s = verification->limit_s,
                                    .take = take,
                                    .context = &watched};
    struct text said = {0}, lines = {0};
    runs_write(runs, &lines);
    snprintf(input, sizeof input, "%s/codes.txt", program->folder);
    if (scratch_write(program->folder, "codes.txt", &lines, diag))
        return diag->code;
    progress_begin(&watched.progress, "codes", (uint64_t)runs->codes);
    int code = process_run(&process, &said, diag);
    progress_end(&watched.progress);
    text_free(&said);
    const struct answers *const answers = &watched.answers;
    if (code == EXIT_DONE && (answers->has_surplus || answers->compared != runs->codes))
        code = diag_set(diag, EXIT_IO, "the program gave %s values of %" PRId64 " codes",
                        answers->has_surplus ? "more than the" : "only a part of the", runs->codes);
    verdict->compared = answers->compared;
    verdict->mismatches = answers->mismatches;
    verdict->code = answers->code;
    verdict->expected = answers->expected;
    verdict->found = answers->found;
    snprintf(verdict->name, sizeof verdict->name, "%s", answers->mismatches ? answers->name : "");
    return code;
}

static int build_and_run(const struct target *target, const struct verification *verification,
                         const struct table *table, const struct runs *runs, struct verdict *verdict, struct diag *diag)
{
    struct program program = {.table = table};
    int code = scratch_folder(program.folder, diag);
    const char *const wave = target->simulates ? verification->wave : NULL;
    if (code == EXIT_DONE && wave)
        code = wave_begin(wave, &program, diag);
    if (code == EXIT_DONE)
        code = target->build(verification, &program, diag);
    memcpy(verdict->tools, program.tools, sizeof verdict->tools);
    if (code == EXIT_DONE)
        code = run(verification, &program, runs, verdict, diag);
    return program.wave ? wave_end(wave, &program, diag) : code;
}

/* The fault is chosen at the codes that are visited in any case: to visit all of a wide input for each bit that might
 * be flipped takes hours. */
static int choose_fault(const struct verification *verification, int bits, struct fault *fault, struct diag *diag)
{
    struct runs runs;
    int code = runs_make(verification->table, verification->packed, bits, false, &runs, diag);
    if (code == EXIT_DONE)
        code = fault_make(verification->table, verification->packed, &runs, fault, diag);
    runs_free(&runs);
    return code;
}

int verify(const char *name, const struct verification *verification, struct verdict *verdict, struct diag *diag)
{
    const struct table *const table = verification->table;
    const struct target *target = targets;
    const double start = clock_now();
    struct runs runs;
    struct fault fault = {0};
    const struct table *const emitted = verification->inject ? &fault.table : table;
    *verdict = (struct verdict){0};
    while (strcmp(target->name, name) != 0)
        target++;
    int code = runs_make(table, verification->packed, target->bits(table), verification->exhaustive, &runs, diag);
    if (code == EXIT_DONE && verification->parts > 0)
        runs_take_part(&runs, verification->part, verification->parts);
    if (code == EXIT_DONE && verification->inject) {
        code = choose_fault(verification, target->bits(table), &fault, diag);
        memcpy(verdict->fault, fault.what, sizeof verdict->fault);
    }
    if (code == EXIT_DONE)
        code = target->build ? build_and_run(target, verification, emitted, &runs, verdict, diag)
                             : prove(verification, emitted, verdict, diag);
    fault_free(&fault);
    runs_free(&runs);
    verdict->seconds = clock_now() - start;
    return code;
}
