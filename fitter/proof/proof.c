/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "proof.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "chains.h"
#include "function/target.h"
#include "statement.h"

/* Of more codes not all are looked at, and nothing is proven of other tables. */
enum { MOST_CODES = 1 << 20 };

/* What has no proof at all. */
static int check_table(const struct table *table, struct diag *diag)
{
    diag->code = EXIT_DONE;
    if (table->standing != CERTIFICATE_OWN)
        return diag_set(diag, EXIT_REQUIREMENT,
                        "has no certificate of its own that could be proven; `pwlc certify` "
                        "gives it one");
    if (table->samples_sha256[0] || table->expression)
        return diag_set(diag, EXIT_REQUIREMENT, "functions from samples and expressions have no proof yet");
    if (table->has_reduction)
        return diag_set(diag, EXIT_REQUIREMENT, "reduced tables have no proof yet");
    if (!table->certificate.exhaustive && !table->certificate.has_bound)
        return diag_set(diag, EXIT_REQUIREMENT,
                        "what has errors that are not bounded, of more than 2^20 codes, has no proof yet");
    return EXIT_DONE;
}

static int measure_own(const struct table *table, const struct function *function, struct own_errors *own,
                       struct diag *diag)
{
    struct packed_table packed;
    pwl_proof proof;
    *own = (struct own_errors){0};
    if (table_prove(table, EXIT_USAGE, &packed, &proof, diag))
        return diag->code;
    for (int64_t q = table->in.qmin; q <= table->in.qmax; q++) {
        const struct dd t =
            target_clipped(&table->out, target_unclipped(function, &table->in, &table->out, table->outside, q));
        const long double error = dd_long(dd_abs(target_missed(t, packed_eval(&packed, q)))),
                          least = dd_long(dd_plus(t, -rint(t.hi)));
        own->largest = fmaxl(own->largest, error);
        own->squares += error * error;
        own->least_squares += least * least;
    }
    packed_table_free(&packed);
    return EXIT_DONE;
}

/* Whether a certificate claims anything of other tables that takes a proof. */
static bool claims_of_others(const struct table *table)
{
    const struct certificate *says = &table->certificate;

    if (says->objective == OBJECTIVE_SEGMENTS)
        return says->optimal == 1 && table->segment_count > 1;
    return says->optimal == 1 || (says->has_lower_bound && says->lower_bound_lsb > 0);
}

static void write_integers(struct text *out, const char *name, struct integers range)
{
    text_add(out, "\"%s\": [%" PRId64 ", %" PRId64 "], ", name, range.low, range.high);
}

static void write_places(struct text *out, const struct statement *statement)
{
    text_add(out, "\"places\": ");
    if (statement->places == PLACES_ANY)
        text_add(out, "\"any\"");
    if (statement->places == PLACES_SHIFT)
        text_add(out, "{\"shift\": %d}", statement->shift);
    if (statement->places != PLACES_EQUAL)
        return;
    text_add(out, "{\"equal\": [");
    for (int k = 0; k < statement->equal_count; k++)
        text_add(out, "%s%d", k ? ", " : "", statement->equal[k]);
    text_add(out, "]}");
}

static void write_rules(struct text *out, const struct statement *statement)
{
    const struct line_rules *rules = &statement->rules;
    text_add(out, "\"rules\": {");
    write_integers(out, "slopes", rules->slopes);
    write_integers(out, "shifts", (struct integers){rules->shift_min, rules->shift_max});
    text_add(out, "\"one_shift\": %s, \"shift_multiple\": %d, \"stored_bits\": %d, \"slope_terms\": %d, ",
             rules->one_shift ? "true" : "false", rules->shift_multiple, rules->shift_multiple ? rules->stored_bits : 0,
             rules->slope_terms);
    write_integers(out, "offsets", rules->offsets);
    text_add(out, "\"accumulator_bits\": %d, \"fixed\": [", rules->accumulator_bits);
    for (int k = 0; k < statement->fixed_count; k++)
        text_add(out, "%s[%" PRId64 ", %" PRId64 "]", k ? ", " : "", statement->fixed[k].q_x, statement->fixed[k].q_y);
    text_add(out, "], ");
    write_places(out, statement);
    text_add(out, "}");
}

/* The second claim, and its proof. */
static int write_impossible(const struct spec *spec, const struct table *table, const struct function *function,
                            struct text *out, bool *is_refuted, struct diag *diag)
{
    struct statement statement = {0};
    struct own_errors own;
    if (measure_own(table, function, &own, diag))
        return diag->code;
    if (!statement_make(spec, table, function, &own, &statement, diag) && statement.segments > 0) {
        text_add(out, ",\n\"impossible\": {\"segments\": %d, ", statement.segments);
        if (statement.of_squares)
            text_add(out, "\"squares\": %" PRId64 ", \"unit\": %d},\n", statement.squares, statement.unit);
        else
            text_add(out, "\"error\": \"%s\"},\n", statement.error);
        write_rules(out, &statement);
        text_add(out, ",\n\"chains\": ");
        if (!chains_write(&statement, out, diag) && out->size > PROOF_MOST_BYTES)
            diag_set(diag, EXIT_REQUIREMENT, "what it claims of other tables has no proof yet of at most 2 MB");
    }
    *is_refuted = statement.is_refuted;
    statement_free(&statement);
    return diag->code;
}

/* Appends it, or says what there is no proof of. */
static int add_impossible(const struct table *table, const struct function *function, struct text *out,
                          struct diag *missing, struct diag *diag)
{
    struct text claim = {0};
    struct spec spec;
    bool is_refuted = false;

    if (table->in.qmax - table->in.qmin >= MOST_CODES) {
        diag_set(missing, EXIT_REQUIREMENT,
                 "what it claims of other tables has no proof yet of inputs of more than 2^20 codes");
        return EXIT_DONE;
    }
    if (proof_spec(table, &spec, diag))
        return diag->code;
    const int code = write_impossible(&spec, table, function, &claim, &is_refuted, missing);
    if (code == EXIT_DONE) {
        text_add_bytes(out, claim.bytes, claim.size);
        out->failed |= claim.failed;
    } else if (code != EXIT_REQUIREMENT || is_refuted) {
        *diag = *missing;
    }
    text_free(&claim);
    spec_free(&spec);
    return diag->code;
}

/* Names what is proven of other tables in the certificate. */
static int name_proof(struct table *table, const struct text *claim, struct diag *diag)
{
    struct text whole = {0};
    text_add(&whole, "{\"pwl_proof\": 1%s}", claim->bytes);
    json_t *const proof = whole.failed ? NULL : json_loads(whole.bytes, 0, NULL);
    if (!proof || !proof_name(proof, table->certificate.proof))
        diag_set(diag, EXIT_IO, "out of memory for a proof");
    json_decref(proof);
    text_free(&whole);
    return diag->code;
}

int proof_make(struct table *table, char **text, struct diag *missing, struct diag *diag)
{
    struct function function;
    struct text out = {0}, claim = {0};
    char *json = NULL;
    missing->code = EXIT_DONE;
    *text = NULL;
    if (check_table(table, diag) || table_function(table, NULL, &function, diag))
        return diag->code;
    table->certificate.proof[0] = '\0';
    if (!(claims_of_others(table) && add_impossible(table, &function, &claim, missing, diag)) &&
        !(claim.size && name_proof(table, &claim, diag)) && !table_to_json(table, &json, diag)) {
        const size_t length = strlen(json) - (json[strlen(json) - 1] == '\n');
        text_add(&out, "{\"pwl_proof\": 1,\n\"table\": ");
        text_add_bytes(&out, json, length);
        text_add_bytes(&out, claim.bytes, claim.size);
        text_add(&out, "}\n");
        if (out.failed || claim.failed)
            diag_set(diag, EXIT_IO, "out of memory for a proof");
    }
    free(json);
    text_free(&claim);
    function_free(&function);
    if (diag->code)
        text_free(&out);
    *text = out.bytes;
    return diag->code;
}
