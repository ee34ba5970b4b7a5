/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "proof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/folder.h"
#include "base/process.h"

bool proof_name(const json_t *proof, char name[SHA256_LENGTH + 1])
{
    json_t *const fields = json_copy((json_t *)proof);
    if (!fields)
        return false;
    json_object_del(fields, "table");
    char *const text = json_dumps(fields, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENSURE_ASCII);
    if (text)
        sha256_hex(text, strlen(text), name);
    free(text);
    json_decref(fields);
    return text != NULL;
}

/* Whether two tables differ in nothing but the proof that each names. */
static bool is_same(const struct table *table, const struct table *other, struct diag *diag)
{
    struct table first = *table, second = *other;
    char *texts[2] = {NULL, NULL};
    first.certificate.proof[0] = second.certificate.proof[0] = '\0';
    const bool same = !table_to_json(&first, &texts[0], diag) && !table_to_json(&second, &texts[1], diag) &&
                      strcmp(texts[0], texts[1]) == 0;
    free(texts[0]);
    free(texts[1]);
    return same;
}

/* Whether a proof's table is the one that it is to prove. */
static int check_table(const json_t *proof, const struct table *table, struct diag *diag)
{
    struct table proven;
    char *const text = json_dumps(json_object_get(proof, "table"), JSON_COMPACT);
    if (!text)
        return diag_set(diag, EXIT_USAGE, "table: missing; `pwlc prove` writes proofs");
    if (table_from_json(text, strlen(text), &proven, diag))
        diag_prefix(diag, "table");
    else if (!is_same(table, &proven, diag) && !diag->code)
        diag_set(diag, EXIT_REQUIREMENT, "the proof is of another table");
    if (diag->code != EXIT_USAGE)
        table_free(&proven);
    free(text);
    return diag->code;
}

static int read_proof(const char *path, const struct table *table, char name[SHA256_LENGTH + 1], struct diag *diag)
{
    unsigned char *bytes;
    size_t size;
    json_error_t problem;
    if (file_read(path, PROOF_MOST_BYTES + TABLE_MAX_BYTES, &bytes, &size, diag))
        return diag->code;
    json_t *const proof = json_loadb((const char *)bytes, size, JSON_REJECT_DUPLICATES, &problem);
    if (!json_is_object(proof))
        diag_set(diag, EXIT_USAGE, "line %d: %s, must be an object as `pwlc prove` writes it", proof ? 1 : problem.line,
                 proof ? "no object" : problem.text);
    else if (!check_table(proof, table, diag) && !proof_name(proof, name))
        diag_set(diag, EXIT_IO, "out of memory");
    json_decref(proof);
    free(bytes);
    return diag->code ? diag_prefix(diag, path) : EXIT_DONE;
}

/* The words of a checker that has refused something are the message. */
static int judge(const char *path, const struct text *said, struct diag *diag)
{
    const size_t length = strlen(path);
    if (diag->code != EXIT_IO || !said->size || strncmp(said->bytes, path, length) != 0)
        return diag->code;
    if (strncmp(said->bytes + length, ": refused: ", 11) == 0)
        diag->code = EXIT_REQUIREMENT;
    else if (strncmp(said->bytes + length, ": cannot be read: ", 18) == 0)
        diag->code = EXIT_USAGE;
    else
        return diag->code;
    return diag_set(diag, diag->code, "%.*s", (int)strcspn(said->bytes, "\n"), said->bytes);
}

int proof_accept(const char *path, const struct table *table, char name[SHA256_LENGTH + 1], struct text *said,
                 struct diag *diag)
{
    char own[4096 - sizeof PROOF_CHECKER], checker[4096];
    if (strcmp(path, "-") == 0)
        return diag_set(diag, EXIT_USAGE, "--check %s: another program reads the proof, too; give a file", path);
    if (read_proof(path, table, name, diag))
        return diag->code;
    folder_of_program(own, sizeof own);
    snprintf(checker, sizeof checker, "%s/" PROOF_CHECKER, own);
    const char *const argv[] = {access(checker, X_OK) == 0 ? checker : PROOF_CHECKER, path, NULL};
    if (process_run(&(struct process){.argv = argv, .limit_s = PROCESS_LIMIT_S}, said, diag) == EXIT_MISSING)
        return diag_set(diag, EXIT_MISSING,
                        PROOF_CHECKER ": is neither beside pwlc nor in PATH; it is built where there are MPFR and GMP");
    return judge(path, said, diag);
}
