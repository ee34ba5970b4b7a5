/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "claim.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/progress.h"
#include "error_bound.h"
#include "measure.h"

#define PRINTED_DIGITS 6 /* of a certificate's real fields */
#define ADVICE "`pwlc certify` writes a table with a true one"

/* What is measured before a certificate is repeated. */
struct claim {
    bool is_measured; /* else nothing below holds */
    struct error_stats stats;
    struct weighted_stats weighted;
    struct measured measured;
};

/* Whether `printed`, a number of 6 significant digits, is what `value` rounds to: within half a unit of the sixth
 * digit, and a little for the binary form of both. */
static bool agrees(double printed, double value)
{
    if (printed == value)
        return true;
    const double magnitude = fmax(fabs(printed), fabs(value));
    const double unit = pow(10, floor(log10(magnitude)) + 1 - PRINTED_DIGITS);
    return fabs(printed - value) <= unit * (0.5 + 1e-6);
}

static int refuse_real(const char *field, double says, double measured, struct diag *diag)
{
    return diag_set(diag, EXIT_REQUIREMENT, "certificate says %s %.6g, measured %.6g; " ADVICE, field, says, measured);
}

static int refuse_integer(const char *field, int64_t says, int64_t measured, struct diag *diag)
{
    return diag_set(diag, EXIT_REQUIREMENT, "certificate says %s %" PRId64 ", measured %" PRId64 "; " ADVICE, field,
                    says, measured);
}

/* Averages are weighted where the fit was. */
static int compare_averages(const struct certificate *says, const struct weighted_stats *measured, struct diag *diag)
{
    const struct {
        const char *field;
        double says, measured;
    } reals[] = {
        {"rms_err_lsb", says->rms_err_lsb, measured->rms},
        {"mean_abs_err_lsb", says->mean_abs_err_lsb, measured->mean_abs},
        {"correctly_rounded", says->correctly_rounded, measured->correctly_rounded},
    };
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        if (!agrees(reals[i].says, reals[i].measured))
            return refuse_real(reals[i].field, reals[i].says, reals[i].measured, diag);
    return EXIT_DONE;
}

static void fill(struct certificate *certificate, const struct error_stats *stats, const pwl_proof *proof)
{
    certificate->checked = stats->checked;
    certificate->exhaustive = stats->exhaustive;
    certificate->max_err_lsb = stats->max_err;
    certificate->max_err_at = stats->max_err_at;
    certificate->rms_err_lsb = stats->rms;
    certificate->mean_abs_err_lsb = stats->mean_abs;
    certificate->correctly_rounded = stats->correctly_rounded;
    certificate->saturated_codes = stats->saturated_codes;
    certificate->monotone = stats->monotone;
    certificate->acc_bits = proof->acc_bits;
}

void certificate_weigh(struct certificate *certificate, const struct weighted_stats *weighted)
{
    certificate->rms_err_lsb = weighted->rms;
    certificate->mean_abs_err_lsb = weighted->mean_abs;
    certificate->correctly_rounded = weighted->correctly_rounded;
}

static int measure_shown(const struct table *table, const struct packed_table *packed, const struct function *function,
                         bool all_codes, struct error_stats *stats, struct diag *diag)
{
    struct progress progress;
    progress_begin(&progress, "codes", 0);
    const int code = measure(table, packed, function, all_codes, progress_set, &progress, stats, diag);
    progress_end(&progress);
    return code;
}

int certificate_make(struct table *table, const struct function *function, const struct weights *weights,
                     bool all_codes, struct diag *diag)
{
    struct certificate *certificate = &table->certificate;
    struct packed_table packed;
    struct error_stats stats;
    struct weighted_stats weighted;
    pwl_proof proof;
    if (table_prove(table, EXIT_REQUIREMENT, &packed, &proof, diag))
        return diag->code;
    memset(certificate, 0, sizeof *certificate);
    int status = measure_shown(table, &packed, function, all_codes, &stats, diag);
    if (!status && weights)
        status = measure_weighted(table, &packed, function, weights, &weighted, diag);
    if (!status) {
        fill(certificate, &stats, &proof);
        if (weights)
            certificate_weigh(certificate, &weighted);
        certificate->optimal = -1;
        certificate->has_bound = !stats.exhaustive && table_bound(table, function, &certificate->bound_lsb);
        table->standing = CERTIFICATE_OWN;
    }
    packed_table_free(&packed);
    return status;
}

void certificate_keep_judgement(struct certificate *certificate, const struct certificate *older)
{
    certificate->objective = older->objective;
    certificate->has_second_objective = older->has_second_objective;
    certificate->has_lower_bound = older->has_lower_bound;
    certificate->lower_bound_lsb = older->lower_bound_lsb;
    certificate->optimal = older->optimal;
}

int claim_compare(const struct table *table, const struct measured *measured, struct diag *diag)
{
    const struct certificate *says = &table->certificate;
    const struct error_stats *stats = measured->stats;
    const struct weighted_stats plain = {stats->rms, stats->mean_abs, stats->bias, stats->correctly_rounded};
    const struct weighted_stats *averages = table->weights_sha256[0] ? measured->weighted : &plain;
    if (table->standing != CERTIFICATE_OWN)
        return EXIT_DONE;
    if (says->has_bound && stats->max_err > says->bound_lsb) /* written rounded up */
        return diag_set(diag, EXIT_REQUIREMENT,
                        "certificate says bound_lsb %.6g, measured %.9g at code %" PRId64 "; " ADVICE, says->bound_lsb,
                        stats->max_err, stats->max_err_at);
    if (!says->exhaustive || !stats->exhaustive)
        return EXIT_DONE;
    if (!agrees(says->max_err_lsb, stats->max_err))
        return refuse_real("max_err_lsb", says->max_err_lsb, stats->max_err, diag);
    if (averages && compare_averages(says, averages, diag))
        return diag->code;
    if (!agrees(measured->witness_err, stats->max_err))
        return diag_set(diag, EXIT_REQUIREMENT,
                        "certificate says max_err_at %" PRId64 ", where the error is %.6g; measured %" PRId64
                        "; " ADVICE,
                        says->max_err_at, measured->witness_err, stats->max_err_at);
    if (says->checked != stats->checked)
        return refuse_integer("checked", says->checked, stats->checked, diag);
    if (says->saturated_codes != stats->saturated_codes)
        return refuse_integer("saturated_codes", says->saturated_codes, stats->saturated_codes, diag);
    if (says->monotone != stats->monotone)
        return diag_set(diag, EXIT_REQUIREMENT, "certificate says monotone %s, measured %s; " ADVICE,
                        says->monotone ? "true" : "false", stats->monotone ? "true" : "false");
    return EXIT_DONE;
}

/* Measures the table, with the function given. */
static int measure_claim(const struct table *table, const struct function *function, const struct weights *weights,
                         struct claim *claim, struct diag *diag)
{
    struct packed_table packed;
    if (table_prove(table, EXIT_USAGE, &packed, NULL, diag))
        return diag->code;
    if (!measure_shown(table, &packed, function, false, &claim->stats, diag) && weights &&
        !measure_weighted(table, &packed, function, weights, &claim->weighted, diag))
        claim->measured.weighted = &claim->weighted;
    claim->measured.witness_err = measure_code(table, &packed, function, table->certificate.max_err_at);
    packed_table_free(&packed);
    return diag->code;
}

/* The same with the table's own function, where it can be had and every code is soon measured. */
static int measure_cheaply(const struct table *table, struct claim *claim, struct diag *diag)
{
    struct function function;
    struct diag missing;
    claim->is_measured = table->in.bits <= CLAIM_MEASURED_BITS && !table->samples_sha256[0] &&
                         !table_function(table, NULL, &function, &missing);
    if (!claim->is_measured)
        return EXIT_DONE;
    measure_claim(table, &function, NULL, claim, diag);
    function_free(&function);
    return diag->code;
}

int claim_check(const struct table *table, const struct function *function, const struct weights *weights,
                struct diag *diag)
{
    struct claim claim = {.is_measured = true};
    char measured[64] = "";
    claim.measured.stats = &claim.stats;
    diag->code = EXIT_DONE;
    if (table->standing == CERTIFICATE_ABSENT)
        return EXIT_DONE;
    if (function ? measure_claim(table, function, weights, &claim, diag) : measure_cheaply(table, &claim, diag))
        return diag->code;
    if (table->standing == CERTIFICATE_OWN) {
        if (!claim.is_measured)
            return EXIT_DONE;
        if (claim.stats.exhaustive && !table->certificate.exhaustive)
            return refuse_integer("checked", table->certificate.checked, claim.stats.checked, diag);
        return claim_compare(table, &claim.measured, diag);
    }
    if (claim.is_measured)
        snprintf(measured, sizeof measured, ", measured %.6g", claim.stats.max_err);
    return diag_set(diag, EXIT_REQUIREMENT,
                    "hash: not that of these types and segments; their certificate says max_err_lsb %.6g%s; " ADVICE,
                    table->certificate.max_err_lsb, measured);
}
