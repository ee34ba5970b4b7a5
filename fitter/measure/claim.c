/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "claim.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/progress.h"
#include "comparison.h"
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

static int refuse_pair(const char *smaller, double value, const char *larger, double limit, struct diag *diag)
{
    return diag_set(diag, EXIT_REQUIREMENT, "certificate says %s %.6g, above its own %s %.6g; " ADVICE, smaller, value,
                    larger, limit);
}

/* What the table's width allows of the numbers of codes, and its segments of the accumulator. */
static int check_counts(const struct table *table, struct diag *diag)
{
    const struct certificate *says = &table->certificate;
    const int64_t codes = table->in.qmax - table->in.qmin + 1;
    struct packed_table packed;
    pwl_proof proof;
    if (table_prove(table, EXIT_USAGE, &packed, &proof, diag))
        return diag->code;
    packed_table_free(&packed);
    if (says->acc_bits != proof.acc_bits)
        return diag_set(diag, EXIT_REQUIREMENT, "certificate says acc_bits %d, the table needs %d; " ADVICE,
                        says->acc_bits, proof.acc_bits);
    if ((says->exhaustive || codes <= MEASURE_EVERY_CODE) ? says->checked != codes : says->checked > codes)
        return diag_set(diag, EXIT_REQUIREMENT,
                        "certificate says checked %" PRId64 ", the table has %" PRId64 " codes; " ADVICE, says->checked,
                        codes);
    if (!says->exhaustive && says->checked == codes)
        return diag_set(diag, EXIT_REQUIREMENT, "certificate says exhaustive false, and checked every code; " ADVICE);
    return EXIT_DONE;
}

/* Whether a certificate agrees with itself, and with what any table of its kind can claim. */
static int check_sense(const struct table *table, struct diag *diag)
{
    const struct certificate *says = &table->certificate;
    const struct {
        const char *smaller, *larger;
        bool is_claimed;
        double value, limit;
    } pairs[] = {
        {"mean_abs_err_lsb", "rms_err_lsb", true, says->mean_abs_err_lsb, says->rms_err_lsb},
        {"rms_err_lsb", "max_err_lsb", true, says->rms_err_lsb, says->max_err_lsb},
        {"max_err_lsb", "bound_lsb", says->has_bound, says->max_err_lsb, says->bound_lsb},
        {"lower_bound_lsb", says->objective == OBJECTIVE_RMS ? "rms_err_lsb" : "max_err_lsb", says->has_lower_bound,
         says->lower_bound_lsb, objective_error(says)},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].is_claimed && pairs[i].value > pairs[i].limit && !agrees(pairs[i].value, pairs[i].limit))
            return refuse_pair(pairs[i].smaller, pairs[i].value, pairs[i].larger, pairs[i].limit, diag);
    if (says->optimal == 1 && says->has_lower_bound && says->objective != OBJECTIVE_SEGMENTS &&
        !agrees(says->lower_bound_lsb, objective_error(says)))
        return diag_set(
            diag, EXIT_REQUIREMENT,
            "certificate says optimal true, with a lower_bound_lsb of %.6g below its error of %.6g; " ADVICE,
            says->lower_bound_lsb, objective_error(says));
    if (says->has_bound && (table->samples_sha256[0] || table->has_reduction))
        return diag_set(diag, EXIT_REQUIREMENT, "certificate says bound_lsb %.6g, where none can be proven; " ADVICE,
                        says->bound_lsb);
    return EXIT_DONE;
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

/* All that follows from the statistics. */
static int complete(struct table *table, const struct packed_table *packed, const pwl_proof *proof,
                    const struct function *function, const struct weights *weights, const struct error_stats *stats,
                    struct diag *diag)
{
    struct certificate *certificate = &table->certificate;
    struct weighted_stats weighted;
    if (weights && measure_weighted(table, packed, function, weights, &weighted, diag))
        return diag->code;
    fill(certificate, stats, proof);
    if (weights)
        certificate_weigh(certificate, &weighted);
    certificate->optimal = -1;
    certificate->has_bound = !stats->exhaustive && table_bound(table, function, &certificate->bound_lsb);
    table->standing = CERTIFICATE_OWN;
    return EXIT_DONE;
}

int certificate_make(struct table *table, const struct function *function, const struct weights *weights,
                     bool all_codes, struct diag *diag)
{
    struct packed_table packed;
    struct error_stats stats;
    pwl_proof proof;
    if (table_prove(table, EXIT_REQUIREMENT, &packed, &proof, diag))
        return diag->code;
    memset(&table->certificate, 0, sizeof table->certificate);
    int status = measure_shown(table, &packed, function, all_codes, &stats, diag);
    if (!status)
        status = complete(table, &packed, &proof, function, weights, &stats, diag);
    packed_table_free(&packed);
    return status;
}

int certificate_make_of(struct table *table, const struct function *function, const struct weights *weights,
                        const struct error_stats *stats, struct diag *diag)
{
    struct packed_table packed;
    pwl_proof proof;
    if (table_prove(table, EXIT_REQUIREMENT, &packed, &proof, diag))
        return diag->code;
    memset(&table->certificate, 0, sizeof table->certificate);
    const int status = complete(table, &packed, &proof, function, weights, stats, diag);
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
    memcpy(certificate->proof, older->proof, sizeof certificate->proof);
}

/* An upper bound is written rounded up, and is at least what this program proves. */
static int compare_bound(const struct certificate *says, const struct measured *measured, struct diag *diag)
{
    const struct error_stats *stats = measured->stats;
    if (!says->has_bound)
        return EXIT_DONE;
    if (stats->max_err > says->bound_lsb)
        return diag_set(diag, EXIT_REQUIREMENT,
                        "certificate says bound_lsb %.6g, measured %.9g at code %" PRId64 "; " ADVICE, says->bound_lsb,
                        stats->max_err, stats->max_err_at);
    if (measured->has_bound && says->bound_lsb < measured->bound && !agrees(says->bound_lsb, measured->bound))
        return diag_set(diag, EXIT_REQUIREMENT, "certificate says bound_lsb %.6g, proven is %.6g; " ADVICE,
                        says->bound_lsb, measured->bound);
    return EXIT_DONE;
}

static int compare_counts(const struct certificate *says, const struct error_stats *stats, struct diag *diag)
{
    if (says->checked != stats->checked)
        return refuse_integer("checked", says->checked, stats->checked, diag);
    if (says->saturated_codes != stats->saturated_codes)
        return refuse_integer("saturated_codes", says->saturated_codes, stats->saturated_codes, diag);
    if (says->monotone != stats->monotone)
        return diag_set(diag, EXIT_REQUIREMENT, "certificate says monotone %s, measured %s; " ADVICE,
                        says->monotone ? "true" : "false", stats->monotone ? "true" : "false");
    return EXIT_DONE;
}

/* Whether the error at a certificate's max_err_at is its largest, or one that counts as large. */
static bool is_largest(const struct table *table, double error)
{
    const double says = table->certificate.max_err_lsb;
    return agrees(error, says) || (error < says && error >= max_err_tied(&table->out, says));
}

static int compare_measured(const struct table *table, const struct measured *measured, struct diag *diag)
{
    const struct certificate *says = &table->certificate;
    const struct error_stats *stats = measured->stats;
    const struct weighted_stats plain = {stats->rms, stats->mean_abs, stats->bias, stats->correctly_rounded};
    const struct weighted_stats *averages = table->weights_sha256[0] ? measured->weighted : &plain;
    /* Another version may choose other codes of a wide input. */
    const bool of_same_codes =
        says->exhaustive == stats->exhaustive && (says->exhaustive || says->checked == stats->checked);
    const bool is_limit = says->exhaustive || (!says->has_bound && !stats->exhaustive);
    if (compare_bound(says, measured, diag))
        return diag->code;
    if (of_same_codes || (is_limit && stats->max_err > says->max_err_lsb))
        if (!agrees(says->max_err_lsb, stats->max_err))
            return refuse_real("max_err_lsb", says->max_err_lsb, stats->max_err, diag);
    if (of_same_codes && averages && compare_averages(says, averages, diag))
        return diag->code;
    if (!is_largest(table, measured->witness_err))
        return diag_set(diag, EXIT_REQUIREMENT,
                        "certificate says max_err_at %" PRId64 ", where the error is %.6g; measured %" PRId64
                        "; " ADVICE,
                        says->max_err_at, measured->witness_err, stats->max_err_at);
    return of_same_codes ? compare_counts(says, stats, diag) : EXIT_DONE;
}

int claim_compare(const struct table *table, const struct measured *measured, struct diag *diag)
{
    if (table->standing != CERTIFICATE_OWN)
        return EXIT_DONE;
    return check_counts(table, diag) || compare_measured(table, measured, diag) || check_sense(table, diag) ? diag->code
                                                                                                            : EXIT_DONE;
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
    claim->measured.has_bound = !claim->stats.exhaustive && table_bound(table, function, &claim->measured.bound);
    packed_table_free(&packed);
    return diag->code;
}

/* The same with the table's own function, where it can be had without a file. */
static int measure_alone(const struct table *table, struct claim *claim, struct diag *diag)
{
    struct function function;
    struct diag missing;
    claim->is_measured = !table->samples_sha256[0] && !table_function(table, NULL, &function, &missing);
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
    if (table->standing == CERTIFICATE_OWN && check_counts(table, diag))
        return diag->code;
    if (function ? measure_claim(table, function, weights, &claim, diag) : measure_alone(table, &claim, diag))
        return diag->code;
    if (table->standing == CERTIFICATE_OWN)
        return claim.is_measured && compare_measured(table, &claim.measured, diag) ? diag->code
                                                                                   : check_sense(table, diag);
    if (claim.is_measured)
        snprintf(measured, sizeof measured, ", measured %.6g", claim.stats.max_err);
    return diag_set(diag, EXIT_REQUIREMENT,
                    "hash: not that of this table and its certificate, which says max_err_lsb %.6g%s; " ADVICE,
                    table->certificate.max_err_lsb, measured);
}
