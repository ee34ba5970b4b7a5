/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "command.h"
#include "jobs/share.h"
#include "measure/claim.h"
#include "operator/operator.h"
#include "proof/proof.h"
#include "row_operator.h"
#include "shared_sweep.h"
#include "table/table.h"

static const struct option_info options[] = {
    {"--exhaustive", NULL, "every code of inputs with more than 2^20 codes too, on all cores"},
    SHARE_OPTIONS,
    {"--samples", "FILE", "the sample points of a table made with fit --samples"},
    {"--weights", "FILE", "the weights of a table made with fit --weights"},
    {"--check", "PROOF", "have the checker read the table's proof; only with -o is the table written, and names it"},
    {"-o", "FILE", "write the table there instead of standard output"},
    {NULL, NULL, NULL},
};

struct request {
    const char *path, *samples, *weights, *check, *output;
    bool exhaustive;
    bool goes_on; /* it is this process that writes */
};

/* The flags of fit no longer give this table. */
static int forget_origin(struct table *table, struct diag *diag)
{
    char *nothing = strdup("");
    if (!nothing)
        return diag_set(diag, EXIT_IO, "out of memory");
    free(table->spec);
    table->spec = nothing;
    strcpy(table->method, "by_hand");
    return EXIT_DONE;
}

/* Every code, where others take part in it; false where they do not. */
static bool measure_shared(struct request *request, const struct table *table, struct error_stats *stats,
                           struct diag *diag)
{
    struct shared_table of = {.table = table, .name = request->path};
    struct shared_sweep sweep = {.tables = &of, .count = 1, .samples = request->samples};
    if (!share_is_on())
        return false;
    if (!request->exhaustive)
        share_nothing(SHARED_SWEEP_JOBS, &request->goes_on, diag);
    else if (!shared_sweep_run(&sweep, &request->goes_on, diag) && request->goes_on && of.count > 0)
        shared_sweep_join(&sweep, 0, stats, diag);
    const bool is_shared = of.count > 0;
    shared_sweep_free(&sweep);
    return is_shared;
}

static int certify_table(struct request *request, struct table *table, const struct weights *weights, struct diag *diag)
{
    struct function function;
    struct error_stats stats;
    const bool kept = table->standing == CERTIFICATE_OWN;
    const struct certificate before = table->certificate;
    if (table_check_weights(table, weights, diag) || (kept && claim_check(table, NULL, weights, diag)) ||
        (!kept && forget_origin(table, diag)) || table_function(table, request->samples, &function, diag))
        return diag->code;
    const bool is_measured = measure_shared(request, table, &stats, diag);
    if (diag->code || !request->goes_on)
        ;
    else if (is_measured)
        certificate_make_of(table, &function, weights, &stats, diag);
    else
        certificate_make(table, &function, weights, request->exhaustive, diag);
    if (!diag->code && request->goes_on && kept)
        certificate_keep_judgement(&table->certificate, &before);
    function_free(&function);
    return diag->code;
}

static int certify_file(struct request *request, struct diag *diag)
{
    struct table table;
    struct weights *weights = NULL;
    char *text = NULL;
    if (!table_read(request->path, &table, diag) &&
        (!request->weights || !weights_read(request->weights, (uint64_t)1 << table.in.bits, &weights, diag)) &&
        (!certify_table(request, &table, weights, diag) || !diag_prefix(diag, request->path)) && request->goes_on &&
        !table_to_json(&table, &text, diag))
        file_write(request->output, text, strlen(text), diag);
    free(text);
    weights_free(weights);
    table_free(&table);
    return diag->code;
}

/* Whether a certificate is proven, and by the proof that it names. */
static int check_proof(const struct request *request, struct table *table, struct text *said, struct diag *diag)
{
    char name[SHA256_LENGTH + 1], *const names = table->certificate.proof;
    if (claim_check(table, NULL, NULL, diag))
        return diag_prefix(diag, request->path);
    if (table->standing == CERTIFICATE_ABSENT)
        return diag_set(diag, EXIT_REQUIREMENT, "%s: certificate: missing, so that there is nothing to prove",
                        request->path);
    if (proof_accept(request->check, table, name, said, diag))
        return diag->code;
    if (!request->output && names[0] && strcmp(names, name) != 0)
        return diag_set(diag, EXIT_REQUIREMENT, "%s: the certificate names another proof than %s, whose name is %s",
                        request->path, request->check, name);
    strcpy(names, name);
    return EXIT_DONE;
}

static int check_file(const struct request *request, struct diag *diag)
{
    struct table table;
    struct text said = {0};
    char *text = NULL;
    if (request->output && file_expect(request->output, diag))
        return diag->code;
    if (table_read(request->path, &table, diag))
        return diag->code;
    if (!check_proof(request, &table, &said, diag) && !table_to_json(&table, &text, diag) &&
        (!request->output || !file_write(request->output, text, strlen(text), diag)))
        printf("%s", said.bytes);
    free(text);
    text_free(&said);
    table_free(&table);
    return diag->code;
}

static int set_option(void *to, const char *name, const char *value, struct diag *diag)
{
    struct request *request = to;
    (void)diag;
    if (strcmp(name, "--exhaustive") == 0)
        request->exhaustive = true;
    else if (strcmp(name, "--samples") == 0)
        request->samples = value;
    else if (strcmp(name, "--weights") == 0)
        request->weights = value;
    else if (strcmp(name, "--check") == 0)
        request->check = value;
    else
        request->output = value;
    return EXIT_DONE;
}

static int run(int argc, char **argv, struct diag *diag)
{
    struct request request = {.goes_on = true};
    if (share_take(&argc, argv, diag))
        return diag->code;
    if (argument_take(&command_certify, argc, argv, "table", &request.path, set_option, &request, diag))
        return diag->code;
    if (!request.path)
        return diag_set(diag, EXIT_USAGE, "a table is needed: pwlc certify TABLE.json %s",
                        request.check ? "--check PROOF" : "-o NEW.json");
    const char *const measures = request.exhaustive ? "--exhaustive"
                                 : request.samples  ? "--samples"
                                 : request.weights  ? "--weights"
                                                    : NULL;
    if (measures && request.check)
        return diag_set(diag, EXIT_USAGE, "%s: not with --check, which measures nothing anew", measures);
    if (!operator_recognise(request.path))
        return request.check ? check_file(&request, diag) : certify_file(&request, diag);
    if (measures || request.check)
        return diag_set(diag, EXIT_USAGE, "%s: of a table, and %s is a row operator", measures ? measures : "--check",
                        request.path);
    if (share_nothing(SHARED_SWEEP_JOBS, &request.goes_on, diag) || !request.goes_on)
        return diag->code;
    return row_operator_certify(request.path, request.output, diag);
}

const struct command command_certify = {
    .name = "certify",
    .synopsis = "pwlc certify TABLE.json [--check PROOF] [-o NEW.json] [flags]",
    .summary =
        "Measure a table that was edited or written by hand, and give it a true certificate; or check a proof of it.",
    .details =
        "A certificate counts with the hash beside it, which covers the table and what is claimed. Where either was "
        "changed, or there is no certificate, every figure is measured anew, nothing is claimed of other tables, and "
        "method becomes by_hand. "
        "A table as fit wrote it keeps what was proven; with --exhaustive its figures become those of every code. "
        "With --check a program that shares nothing with pwlc, pwlc-check-proof, checks a proof: exit status 3 where "
        "it "
        "refuses it, or the proof is of another table or another one than the certificate names, 77 without the "
        "program.",
    .example = "pwlc fit tanh --in s8:2^-5 --out s8:2^-7 -o tanh.json\n"
               "sed 's/\"q_b\": 33/\"q_b\": 34/' tanh.json >edited.json\n"
               "pwlc certify edited.json -o tanh34.json\n"
               "pwlc fit tanh --in s8:2^-5 --out s8:2^-7 --max-err 1 -o few.json --proof few.proof\n"
               "pwlc certify few.json --check few.proof",
    .options = options,
    .run = run,
};
