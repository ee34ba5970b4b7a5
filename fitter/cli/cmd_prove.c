/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#include "command.h"
#include "fit_notes.h"
#include "measure/claim.h"
#include "operator/operator.h"
#include "proof/proof.h"
#include "table/table.h"

static const struct option_info options[] = {
    {"-o", "FILE", "write the proof there instead of standard output"},
    {NULL, NULL, NULL},
};

struct request {
    const char *path, *output;
};

static int prove_table(struct table *table, char **text, struct diag *diag)
{
    struct diag missing;
    if (!claim_check(table, NULL, NULL, diag) && !proof_make(table, text, &missing, diag))
        note_no_proof("prove", &missing);
    return diag->code;
}

static int prove_file(const struct request *request, struct diag *diag)
{
    struct table table;
    char *text = NULL;
    if (!file_expect(request->output, diag) && !table_read(request->path, &table, diag)) {
        if (!prove_table(&table, &text, diag))
            file_write(request->output, text, strlen(text), diag);
        else
            diag_prefix(diag, request->path);
        table_free(&table);
    }
    free(text);
    return diag->code;
}

static int set_option(void *to, const char *name, const char *value, struct diag *diag)
{
    struct request *request = to;
    (void)name;
    (void)diag;
    request->output = value;
    return EXIT_DONE;
}

static int run(int argc, char **argv, struct diag *diag)
{
    struct request request = {0};
    if (argument_take(&command_prove, argc, argv, "table", &request.path, set_option, &request, diag))
        return diag->code;
    if (!request.path)
        return diag_set(diag, EXIT_USAGE, "a table is needed: pwlc prove TABLE.json -o TABLE.proof");
    if (operator_recognise(request.path))
        return diag_set(diag, EXIT_REQUIREMENT, "%s: row operators have no proof yet", request.path);
    return prove_file(&request, diag);
}

const struct command command_prove = {
    .name = "prove",
    .synopsis = "pwlc prove TABLE.json [-o FILE]",
    .summary = "Write what another program needs to check a table's certificate.",
    .details =
        "A proof holds the table, and of all other tables why none is better. Of the largest error and the number of "
        "segments that are, for each segment, a range of codes that no allowed line serves, and for each slope two "
        "codes that exclude it; of least RMS errors what segments cost at least, up to each code. docs/proofs.md has "
        "the format, and the theorems that make it a proof; a program that checks it needs neither pwlc nor its "
        "search. Some kinds of claims have no proof yet: a note, or exit status 3, says so.",
    .example = "pwlc fit tanh --in s8:2^-5 --out s8:2^-7 --segments 8 --method minimax -o tanh.json\n"
               "pwlc prove tanh.json -o tanh.proof\n"
               "tail -n 3 tanh.proof",
    .options = options,
    .run = run,
};
