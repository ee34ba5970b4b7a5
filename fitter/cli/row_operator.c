/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "row_operator.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/file.h"
#include "base/number.h"
#include "emit/c/row_operator.h"
#include "emit/rtl/rows/rows.h"
#include "io/npy.h"
#include "operator/hard_rows.h"
#include "operator/operator.h"
#include "reply.h"
#include "table/size.h"

const char *const row_operator_flags[] = {"--in",  "--out",  "--rows",     "--gamma", "--beta",
                                          "--eps", "--in-b", "--fraction", NULL};

bool row_operator_is_named(const char *name)
{
    enum operator_kind kind;
    return operator_parse(name, &kind);
}

/* All but --in and --out. */
bool row_operator_has_flag(const char *flag)
{
    for (const char *const *own = row_operator_flags + 2; *own; own++)
        if (strcmp(flag, *own) == 0)
            return true;
    return false;
}

/* What fit is asked for. */
struct asked {
    struct operator_request request;
    bool has_in, has_in_b, has_out, has_eps;
    double *gamma, *beta; /* malloc'd, from files */
    uint32_t gamma_count, beta_count;
    const char *gamma_path, *beta_path;
    char words[96];
};

/* A file of reals, one a channel. */
static int read_channels(const char *flag, const char *path, double **values, uint32_t *count, struct diag *diag)
{
    unsigned char *bytes;
    size_t size;
    struct npy npy;
    if (file_read(path, FILE_MAX_BYTES, &bytes, &size, diag))
        return diag->code;
    if (npy_parse(bytes, size, &npy, diag)) {
        diag_prefix(diag, path);
    } else if (npy.dimensions != 1 || npy.count < 1 || npy.count > PWL_LONGEST_ROW) {
        diag_set(diag, EXIT_USAGE, "%s %s: must be an array of one dimension, of 1 to %d channels", flag, path,
                 PWL_LONGEST_ROW);
    } else {
        *values = malloc(npy.count * sizeof **values);
        *count = (uint32_t)npy.count;
        if (!*values)
            diag_set(diag, EXIT_IO, "out of memory for %zu channels", npy.count);
        else
            npy_reals(&npy, 0, npy.count, *values);
        for (size_t c = 0; *values && c < npy.count; c++)
            if (!((*values)[c] >= -1e30 && (*values)[c] <= 1e30))
                diag_set(diag, EXIT_USAGE, "%s %s: channel %zu is %g, must be from -1e30 to 1e30", flag, path, c,
                         (*values)[c]);
    }
    free(bytes);
    return diag->code;
}

static int set_integer(const char *flag, const char *value, int64_t min, int64_t max, int64_t *integer,
                       struct diag *diag)
{
    if (number_integer(value, strlen(value), integer) != NUMBER_OK || *integer < min || *integer > max)
        return diag_set(diag, EXIT_USAGE, "%s %s: must be an integer from %" PRId64 " to %" PRId64, flag, value, min,
                        max);
    return EXIT_DONE;
}

static int set_flag(struct asked *asked, const char *flag, const char *value, struct diag *diag)
{
    struct operator_request *const request = &asked->request;
    int64_t integer;
    if (strcmp(flag, "FUNCTION") == 0) {
        if (!operator_parse(value, &request->kind))
            return diag_set(diag, EXIT_USAGE, "\"%s\" is one argument too many", value);
    } else if (strcmp(flag, "--in") == 0) {
        asked->has_in = true;
        return tensor_parse(value, flag, &request->in, diag);
    } else if (strcmp(flag, "--in-b") == 0) {
        asked->has_in_b = true;
        return tensor_parse(value, flag, &request->in_b, diag);
    } else if (strcmp(flag, "--out") == 0) {
        asked->has_out = true;
        return tensor_parse(value, flag, &request->out, diag);
    } else if (strcmp(flag, "--rows") == 0) {
        if (set_integer(flag, value, 1, PWL_LONGEST_ROW, &integer, diag))
            return diag->code;
        request->length = (uint32_t)integer;
    } else if (strcmp(flag, "--fraction") == 0) {
        if (set_integer(flag, value, 8, 30, &integer, diag))
            return diag->code;
        request->fraction = (int)integer;
    } else if (strcmp(flag, "--eps") == 0) {
        if (number_real(value, strlen(value), &request->eps) != NUMBER_OK || request->eps < 0)
            return diag_set(diag, EXIT_USAGE, "--eps %s: must be a number, 0 or more", value);
        asked->has_eps = true;
    } else if (strcmp(flag, "--gamma") == 0) {
        asked->gamma_path = value;
    } else if (strcmp(flag, "--beta") == 0) {
        asked->beta_path = value;
    } else {
        return diag_set(
            diag, EXIT_USAGE,
            "%s: not of a row operator, which takes --in, --in-b, --out, --rows, --gamma, --beta, --eps, --fraction "
            "and -o",
            flag);
    }
    return EXIT_DONE;
}

/* Types that are missing, and flags of other kinds. */
static int check_flags(const struct asked *asked, struct diag *diag)
{
    const struct operator_request *const request = &asked->request;
    const enum operator_kind kind = request->kind;
    const bool is_norm = operator_is_norm(kind), is_element = operator_is_element(kind);
    const struct {
        const char *flag;
        bool is_given, is_taken;
    } flags[] = {{"--in-b", asked->has_in_b, operator_has_in_b(kind)},
                 {"--rows", request->length != 0, !is_element},
                 {"--fraction", request->fraction != 0, operator_has_exp(kind)},
                 {"--eps", asked->has_eps, is_norm},
                 {"--gamma", asked->gamma_path != NULL, is_norm},
                 {"--beta", asked->beta_path != NULL, is_norm}};
    const char *const missing = !asked->has_in                                ? "--in"
                                : !asked->has_out                             ? "--out"
                                : operator_has_in_b(kind) && !asked->has_in_b ? "--in-b"
                                                                              : NULL;
    if (missing)
        return diag_set(diag, EXIT_USAGE, "%s is needed, as --in s8:0.0472%s --out u8:2^-8", missing,
                        operator_has_in_b(kind) ? " --in-b s8:0.03" : "");
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
        if (flags[k].is_given && !flags[k].is_taken)
            return diag_set(diag, EXIT_USAGE, "%s: not of %s", flags[k].flag, operator_name(kind));
    return EXIT_DONE;
}

/* What single flags cannot tell. */
static int settle(struct asked *asked, struct diag *diag)
{
    struct operator_request *const request = &asked->request;
    const bool is_norm = operator_is_norm(request->kind), is_l2 = request->kind == OPERATOR_L2_NORM;
    char eps[NUMBER_TEXT_SIZE];
    if (check_flags(asked, diag) || operator_is_element(request->kind))
        return diag->code;
    if (is_l2 && (asked->gamma_path || asked->beta_path))
        return diag_set(diag, EXIT_USAGE, "%s: not of l2norm, which has no channels of its own",
                        asked->gamma_path ? "--gamma" : "--beta");
    if ((asked->gamma_path && read_channels("--gamma", asked->gamma_path, &asked->gamma, &asked->gamma_count, diag)) ||
        (asked->beta_path && read_channels("--beta", asked->beta_path, &asked->beta, &asked->beta_count, diag)))
        return diag->code;
    if (!request->length)
        request->length = asked->gamma_count ? asked->gamma_count : asked->beta_count;
    if (!request->length)
        return diag_set(diag, EXIT_USAGE, "--rows is needed: %s",
                        is_norm ? "the channels of a row, or --gamma" : "the places of the longest row");
    if ((asked->gamma_path && asked->gamma_count != request->length) ||
        (asked->beta_path && asked->beta_count != request->length))
        return diag_set(diag, EXIT_USAGE, "--gamma, --beta: must have as many channels as --rows has places, %" PRIu32,
                        request->length);
    if (is_norm && !asked->has_eps)
        request->eps = is_l2 ? 0 : 1e-5;
    if (is_norm) {
        number_format(request->eps + 0.0, eps);
        snprintf(asked->words, sizeof asked->words, "--eps %s", eps);
    } else if (request->fraction) {
        snprintf(asked->words, sizeof asked->words, "--fraction %d", request->fraction);
    }
    request->words = asked->words;
    request->gamma = asked->gamma;
    request->beta = asked->beta;
    return EXIT_DONE;
}

int row_operator_text(const struct given *given, int count, char **text, struct diag *diag)
{
    struct asked asked = {0};
    struct row_operator of = {0};
    *text = NULL;
    for (int k = 0; k < count && diag->code == EXIT_DONE; k++)
        set_flag(&asked, given[k].flag, given[k].value, diag);
    if (diag->code == EXIT_DONE && settle(&asked, diag) == EXIT_DONE &&
        operator_make(&asked.request, &of, diag) == EXIT_DONE &&
        operator_certify(&of, hard_rows_default(&of), diag) == EXIT_DONE)
        operator_to_json(&of, text, diag);
    operator_free(&of);
    free(asked.gamma);
    free(asked.beta);
    return diag->code;
}

int row_operator_fit(const struct given *given, int count, bool is_reply, const char *output, struct diag *diag)
{
    char *text;
    if (row_operator_text(given, count, &text, diag) == EXIT_DONE)
        reply_write(is_reply, output, text, diag);
    free(text);
    return diag->code;
}

int row_operator_read(const char *path, struct row_operator *of, struct diag *diag)
{
    if (operator_read(path, of, diag) == EXIT_DONE &&
        (operator_check_claim(of, diag) || operator_check_measured(of, diag))) {
        operator_free(of);
        return diag_prefix(diag, path);
    }
    return diag->code;
}

static void print_type(const char *label, const struct tensor *tensor)
{
    char text[128];
    tensor_format(tensor, text, sizeof text);
    printf("  %-12s %s, codes %" PRId64 "..%" PRId64 "\n", label, text, tensor->qmin, tensor->qmax);
}

static void print_constants(const struct row_operator *of)
{
    if (of->kind == OPERATOR_REQUANTISE || of->kind == OPERATOR_WEIGH)
        printf("  %-12s %" PRId64 " 2^-%d\n", "multiplier", of->factor_a, of->shift);
    if (of->kind == OPERATOR_ADD)
        printf("  %-12s %" PRId64 " 2^-%d, %" PRId64 " 2^-%d\n", "factors", of->factor_a, of->shift, of->factor_b,
               of->shift);
    if (!operator_is_element(of->kind)) {
        printf("  %-12s %s%" PRIu32 " places\n", "rows", operator_is_norm(of->kind) ? "" : "up to ", of->length);
        printf("  %-12s %zu bytes, of which the core of %d segments is %d\n", "tables", operator_bytes(of),
               of->core.segment_count, table_bytes(&of->core));
    }
}

static void print_bound(const struct row_operator *of)
{
    const struct operator_certificate *const certificate = &of->certificate;
    const bool is_element = operator_is_element(of->kind);
    printf("  %-12s %.6g LSB, of every %s\n", "proven", certificate->bound_lsb, is_element ? "code" : "row");
    if (is_element)
        printf("  %-12s half a step, %.3g by the factors' rounding\n", "parts", certificate->factor);
    else if (operator_is_norm(of->kind))
        printf("  %-12s half a step, %.3g by the root, %.3g by gamma's rounding, %.3g by the rest\n", "parts",
               certificate->root, certificate->gamma, certificate->beta);
    else if (of->kind == OPERATOR_WEIGH)
        printf("  %-12s half a step, %.3g by the sums (rho %.3g), %.3g by the factor's rounding\n", "parts",
               certificate->sum, certificate->rho, certificate->factor);
    else
        printf("  %-12s rho %.3g, %s %.3g\n", "parts", certificate->rho, of->kind == OPERATOR_SOFTMAX ? "B" : "lambda",
               certificate->largest);
    if (!is_element)
        printf("  %-12s delta0 %.3g, delta %.3g\n", "core", certificate->delta0, certificate->delta);
}

int row_operator_show(const char *path, struct diag *diag)
{
    struct row_operator of;
    const struct operator_certificate *const certificate = &of.certificate;
    if (row_operator_read(path, &of, diag))
        return diag->code;
    escape_print(path);
    printf("\n  %-12s %s\n  %-12s %s\n", "spec", of.spec, "operator", operator_name(of.kind));
    print_type("in", &of.in);
    if (operator_has_in_b(of.kind))
        print_type(operator_in_b_words(of.kind), &of.in_b);
    print_type("out", &of.out);
    print_constants(&of);
    if (of.standing != CERTIFICATE_OWN) {
        printf("  %-12s %s\n", "error",
               of.standing == CERTIFICATE_ABSENT ? "not measured: pwlc certify does"
                                                 : "the certificate is another operator's: pwlc certify measures");
    } else {
        print_bound(&of);
        printf("  %-12s %.6g LSB over %" PRId64 " rows\n  %-12s %s\n", "measured", certificate->max_err_lsb,
               certificate->rows, "worst row", certificate->worst_row);
    }
    operator_free(&of);
    return EXIT_DONE;
}

int row_operator_certify(const char *path, const char *output, struct diag *diag)
{
    struct row_operator of;
    char *text = NULL;
    if (operator_read(path, &of, diag))
        return diag->code;
    if (of.standing != CERTIFICATE_OWN)
        of.spec[0] = '\0'; /* the flags of fit no longer give it */
    if (operator_certify(&of, hard_rows_default(&of), diag) == EXIT_DONE &&
        operator_to_json(&of, &text, diag) == EXIT_DONE)
        reply_write(false, output, text, diag);
    free(text);
    operator_free(&of);
    return diag->code;
}

int row_operator_emit(const char *path, const char *format, const struct emit_options *options, struct text *out,
                      struct diag *diag)
{
    struct row_operator of;
    char *text = NULL;
    if (strcmp(format, "c") != 0 && strcmp(format, "json") != 0 && strcmp(format, "sv") != 0 &&
        strcmp(format, "sv-tb") != 0)
        return diag_set(diag, EXIT_USAGE,
                        "%s: a row operator, which --format %s cannot write; must be c, sv, sv-tb or json", path,
                        format);
    if (row_operator_read(path, &of, diag))
        return diag->code;
    if (strcmp(format, "c") == 0)
        emit_operator_c(&of, options, out, diag);
    else if (strcmp(format, "sv") == 0)
        emit_operator_sv(&of, options, out, diag);
    else if (strcmp(format, "sv-tb") == 0)
        emit_operator_bench(&of, options, out, diag);
    else if (operator_to_json(&of, &text, diag) == EXIT_DONE)
        text_add_bytes(out, text, strlen(text));
    free(text);
    operator_free(&of);
    return diag->code;
}
