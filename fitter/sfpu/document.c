/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

#define RANGE_SIZE (2 * NUMBER_TEXT_SIZE)

int sfpu_document_targets(const struct sfpu_document *of, struct sfpu_target targets[SFPU_CODES], struct diag *diag)
{
    return sfpu_targets_make(&of->function, &of->demand, targets, diag);
}

/* Targets of a document on the heap. Null, with a message, when there are none. */
static struct sfpu_target *make_targets(const struct sfpu_document *of, struct diag *diag)
{
    struct sfpu_target *const targets = malloc(SFPU_CODES * sizeof *targets);
    if (targets && sfpu_document_targets(of, targets, diag) == EXIT_DONE)
        return targets;
    if (!targets)
        diag_set(diag, EXIT_IO, "out of memory for the targets");
    free(targets);
    return NULL;
}

int sfpu_document_certify(struct sfpu_document *of, struct diag *diag)
{
    struct sfpu_target *const targets = make_targets(of, diag);
    if (!targets)
        return diag->code;
    sfpu_measure_table(&of->table, targets, of->demand.measure, &of->errors);
    free(targets);
    of->is_optimal = of->is_least_mean = false;
    of->standing = CERTIFICATE_OWN;
    return EXIT_DONE;
}

int sfpu_document_fit(struct sfpu_document *of, struct diag *diag)
{
    struct sfpu_optimum optimum;
    struct sfpu_target *const targets = make_targets(of, diag);
    if (!targets)
        return diag->code;
    const int code = sfpu_fit(&of->table, targets, &optimum, diag);
    free(targets);
    if (code != EXIT_DONE || sfpu_document_certify(of, diag))
        return diag->code;
    of->is_optimal = true;
    of->is_least_mean = optimum.is_least_mean;
    return EXIT_DONE;
}

static void add_parameters(struct text *out, const struct function *function)
{
    const struct parameter_info *const parameters = function->info->parameters;
    text_add(out, "  \"parameters\": {");
    for (int k = 0; parameters[k].name; k++) {
        char number[NUMBER_TEXT_SIZE];
        number_format(function->parameters[k] + 0.0, number);
        text_add(out, "%s\"%s\": %s", k ? ", " : "", parameters[k].name, number);
    }
    text_add(out, "},\n");
}

static void add_end(struct text *out, double end)
{
    char number[NUMBER_TEXT_SIZE] = "";
    if (isfinite(end))
        number_format(end, number);
    text_add(out, "%s", number);
}

static void add_kernel(struct text *out, const struct sfpu_document *of)
{
    const struct sfpu_kernel *const kernel = &of->table.kernel;
    char add[SFPU_ADD_SIZE];
    sfpu_add_text(kernel, add);
    text_add(
        out,
        "  \"layout\": \"%s\",\n  \"chip\": \"%s\",\n  \"sign\": \"%s\",\n  \"add\": \"%s\",\n  \"store\": \"%s\",\n",
        kernel->layout->name, sfpu_chips[kernel->chip], sfpu_signs[kernel->sign], add, sfpu_stores[kernel->store]);
    text_add(out, "  \"measure\": \"%s\",\n  \"range\": \"", sfpu_measures[of->demand.measure]);
    add_end(out, of->demand.low);
    text_add(out, ":");
    add_end(out, of->demand.high);
    text_add(out, "\",\n  \"keep_zero\": %s,\n  \"keep_ends\": %s,\n", of->demand.keep_zero ? "true" : "false",
             of->demand.keep_ends ? "true" : "false");
}

static void add_words(struct text *out, const struct sfpu_table *table)
{
    uint32_t words[SFPU_MAX_WORDS] = {0};
    sfpu_words(table, words);
    text_add(out, "  \"registers\": {");
    for (int k = 0; k < table->kernel.layout->words; k++)
        text_add(out, "%s\"LREG%d\": \"0x%08x\"", k ? ", " : "", sfpu_register(k), words[k]);
    text_add(out, "}");
}

static void add_error(struct text *out, const char *unit, const struct sfpu_error *error)
{
    char name[16];
    snprintf(name, sizeof name, "max_%s", unit);
    json_add_real(out, name, error->largest);
    text_add(out, ", \"max_%s_at\": %d, ", unit, error->at);
    snprintf(name, sizeof name, "mean_%s", unit);
    json_add_real(out, name, error->mean);
    text_add(out, ", ");
}

static void add_certificate(struct text *out, const struct sfpu_document *of)
{
    static const char *const words[] = {"false", "true"};
    text_add(out, "  \"certificate\": {\"codes\": %d, ", of->errors.codes);
    add_error(out, "ulp", &of->errors.ulp);
    add_error(out, "abs", &of->errors.abs);
    text_add(out, "\"monotone\": %s, \"optimal\": %s, \"least_mean\": %s}", words[of->errors.monotone],
             words[of->is_optimal], words[of->is_least_mean]);
}

int sfpu_document_write(const struct sfpu_document *of, char **text, struct diag *diag)
{
    struct text out = {0}, claims = {0};
    *text = NULL;
    text_add(&out, "{\n  \"pwl_sfpu\": 1,\n  \"function\": \"%s\",\n", of->function.info->name);
    add_parameters(&out, &of->function);
    add_kernel(&out, of);
    add_words(&out, &of->table);
    if (of->standing == CERTIFICATE_OWN && isfinite(of->errors.ulp.largest)) {
        add_certificate(&claims, of);
        json_add_certified(&out, &claims);
    }
    text_free(&claims);
    text_add(&out, "\n}\n");
    if (out.failed) {
        text_free(&out);
        return diag_set(diag, EXIT_IO, "out of memory for the JSON");
    }
    *text = out.bytes;
    return EXIT_DONE;
}
