/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From what is asked for to every constant of a row operator. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fit/fit.h"
#include "operator.h"
#include "spec/spec.h"

#define DEFAULT_FRACTION 30
#define LEAST_FRACTION 8

/* What `pwlc fit` makes of these flags. */
static int make_core(const char *function, const char *in, struct table *core, struct diag *diag)
{
    const char *const flags[][2] = {
        {"FUNCTION", function}, {"--in", in}, {"--out", "u16:2^-16:0"}, {"--segments", "16"}, {"--method", "minimax"}};
    struct spec spec;
    spec_init(&spec);
    int code = EXIT_DONE;
    for (size_t k = 0; k < sizeof flags / sizeof *flags && code == EXIT_DONE; k++)
        code = spec_set(&spec, flags[k][0], flags[k][1], diag);
    if (code == EXIT_DONE)
        code = spec_resolve(&spec, diag);
    if (code == EXIT_DONE)
        code = fit(&spec, core, diag);
    spec_free(&spec);
    return code;
}

static int check_type(const char *flag, const struct tensor *tensor, struct diag *diag)
{
    if (tensor->bits != 8 && tensor->bits != 16)
        return diag_set(diag, EXIT_USAGE, "%s: %d bits, must be s8, u8, s16 or u16", flag, tensor->bits);
    return EXIT_DONE;
}

static int check_types(const struct row_operator *of, struct diag *diag)
{
    const bool is_sum = of->kind == OPERATOR_REQUANTISE && of->in.bits == 32 && of->in.is_signed;
    if ((!is_sum && check_type("--in", &of->in, diag)) || check_type("--out", &of->out, diag))
        return diag->code;
    return operator_has_in_b(of->kind) ? check_type("--in-b", &of->in_b, diag) : EXIT_DONE;
}

static int no_memory(uint32_t length, struct diag *diag)
{
    return diag_set(diag, EXIT_IO, "out of memory for rows of %" PRIu32 " places", length);
}

/* The factors of exponentials of 16-bit codes: high[h] has 32 bits, its top one set, where a byte holds its shift. */
static void make_high(struct row_operator *of)
{
    for (int h = 0; h < 256; h++) {
        const long double x = (long double)of->in.scale.value * 256 * h;
        long double e = ceill(x / logl(2)), high;
        if (62 - of->fraction + e > UINT8_MAX) {
            of->exp_high[h] = (uint32_t)1 << 31;
            of->exp_shift[h] = UINT8_MAX;
            continue;
        }
        high = roundl(ldexpl(expl(-x), 31 + (int)e));
        if (high >= 0x1p32L) { /* rounded up to the next power, or e was */
            e--;
            high = roundl(ldexpl(expl(-x), 31 + (int)e));
        }
        of->exp_high[h] = (uint32_t)high;
        of->exp_shift[h] = (uint8_t)(62 - of->fraction + (int)e);
    }
}

static int make_exp(struct row_operator *of, struct diag *diag)
{
    const bool is_wide = of->in.bits == 16;
    const int bits = is_wide ? 31 : of->fraction;
    of->exp = malloc(256 * sizeof *of->exp);
    if (is_wide) {
        of->exp_high = malloc(256 * sizeof *of->exp_high);
        of->exp_shift = malloc(256);
    }
    if (!of->exp || (is_wide && (!of->exp_high || !of->exp_shift)))
        return no_memory(of->length, diag);
    for (int d = 0; d < 256; d++)
        of->exp[d] = (uint32_t)roundl(ldexpl(expl(-(long double)of->in.scale.value * d), bits));
    if (is_wide)
        make_high(of);
    return EXIT_DONE;
}

static int make_log(struct row_operator *of, struct diag *diag)
{
    const long double step = (long double)of->in.scale.value / (long double)of->out.scale.value,
                      unit = 1 / (long double)of->out.scale.value;
    int g = 40, h = 62;
    while (g > 0 && roundl(ldexpl(step, g)) >= 0x1p31L)
        g--;
    while (h > 0 && roundl(ldexpl(unit, g + h - 30)) >= 0x1p28L)
        h--;
    if (g < 1 || h < 1 || roundl(ldexpl(unit, g + h - 30)) < 1)
        return diag_set(diag, EXIT_REQUIREMENT,
                        "--out: no provable operator with the scale %s beside %s of --in; take one nearer to it",
                        of->out.scale.text, of->in.scale.text);
    of->step_shift = g;
    of->log_shift = h;
    of->step = (int64_t)roundl(ldexpl(step, g));
    of->log_unit = (int64_t)roundl(ldexpl(unit, g + h - 30));
    of->log_factor = malloc(PWL_LOG_CELLS * sizeof *of->log_factor);
    of->log_value = malloc(PWL_LOG_CELLS * sizeof *of->log_value);
    if (!of->log_factor || !of->log_value)
        return no_memory(of->length, diag);
    for (int j = 0; j < PWL_LOG_CELLS; j++) {
        of->log_factor[j] = (uint16_t)roundl(65536 / (1 + (2 * j + 1) / 256.0L));
        of->log_value[j] = (int32_t)roundl(-0x1p30L * logl(of->log_factor[j] / 65536.0L));
    }
    return EXIT_DONE;
}

static int make_softmax(const struct operator_request *request, struct row_operator *of, struct diag *diag)
{
    const struct scale *const scale = &of->out.scale;
    of->fraction = request->fraction ? request->fraction : DEFAULT_FRACTION;
    if (of->fraction < LEAST_FRACTION || of->fraction > DEFAULT_FRACTION)
        return diag_set(diag, EXIT_USAGE, "--fraction %d: must be from %d to %d", of->fraction, LEAST_FRACTION,
                        DEFAULT_FRACTION);
    if (of->kind == OPERATOR_SOFTMAX && !(scale->power_of_two && scale->shift_bits >= 1 && scale->shift_bits <= 16))
        return diag_set(diag, EXIT_USAGE,
                        "--out: the scale %s, must be a power of two from 2^-1 to 2^-16, as in u8:2^-8", scale->text);
    if (make_exp(of, diag) || (of->kind == OPERATOR_LOG_SOFTMAX && make_log(of, diag)) ||
        (of->kind == OPERATOR_WEIGH && element_make(of, diag)))
        return diag->code;
    return make_core("reciprocal", "u15:2^-15:-32768", &of->core, diag);
}

static double *copy_of(const double *values, uint32_t count)
{
    double *const copy = values ? malloc(count * sizeof *copy) : NULL;
    return copy ? memcpy(copy, values, count * sizeof *copy) : NULL;
}

/* f and E0, which fill the 63 bits that V has; and drop. */
static int make_variance(struct row_operator *of, struct diag *diag)
{
    const bool is_layer = of->kind == OPERATOR_LAYER_NORM;
    const long double n = of->length, whole = (long double)(of->in.qmax - of->in.qmin);
    const long double below = (long double)(of->in.zero_point - of->in.qmin),
                      range = is_layer ? whole : fmaxl(below, whole - below);
    const long double spread = is_layer ? floorl(n * n * range * range / 4) : n * n * range * range;
    const long double eps =
        n * n * operator_eps(of) / (long double)of->in.scale.value / (long double)of->in.scale.value;
    int f = 24;
    while (f >= 0 && ldexpl(spread, f) + roundl(ldexpl(eps, f)) >= 0x1p63L)
        f -= 2;
    if (f < 0)
        return diag_set(diag, EXIT_REQUIREMENT,
                        "%s of %" PRIu32 " channels: sums of squares leave 63 bits; must be shorter rows%s",
                        operator_name(of->kind), of->length,
                        is_layer ? " or a smaller eps" : ", a zero point nearer to the middle or a smaller eps");
    of->variance_shift = f;
    of->eps_code = (int64_t)roundl(ldexpl(eps, f));
    while (of->drop < 8 && (long double)((((int64_t)1 << 31) + 1) >> of->drop) * n * range >= 0x1p62L)
        of->drop++;
    return EXIT_DONE;
}

static int make_channels(struct row_operator *of, struct diag *diag)
{
    const bool is_wide = of->out.bits == 16;
    const long double gamma_limit = is_wide ? 0x1p23L : 0x1p15L, scale = (long double)of->out.scale.value;
    long double gamma = 0, beta = 0;
    of->fraction = is_wide ? 24 : 20;
    for (uint32_t c = 0; c < of->length; c++) {
        gamma = fmaxl(gamma, fabsl(operator_gamma(of, c) / scale));
        beta = fmaxl(beta, fabsl(operator_beta(of, c) / scale));
    }
    int g = 62 - of->fraction;
    while (g + of->fraction >= 1 &&
           (roundl(ldexpl(gamma, g)) >= gamma_limit || roundl(ldexpl(beta, g + of->fraction)) >= 0x1p60L))
        g--;
    if (g + of->fraction < 1)
        return diag_set(diag, EXIT_REQUIREMENT, "--gamma, --beta: too large beside the scale %s of --out",
                        of->out.scale.text);
    of->gamma_shift = g;
    of->gamma_codes = malloc(of->length * sizeof *of->gamma_codes);
    of->beta_codes = of->beta ? malloc(of->length * sizeof *of->beta_codes) : NULL;
    if (!of->gamma_codes || (of->beta && !of->beta_codes))
        return no_memory(of->length, diag);
    for (uint32_t c = 0; c < of->length; c++) {
        of->gamma_codes[c] = (int32_t)roundl(ldexpl(operator_gamma(of, c) / scale, g));
        if (of->beta)
            of->beta_codes[c] = (int64_t)roundl(ldexpl(operator_beta(of, c) / scale, g + of->fraction));
    }
    return EXIT_DONE;
}

static int make_norm(const struct operator_request *request, struct row_operator *of, struct diag *diag)
{
    of->eps = request->eps;
    of->gamma = copy_of(request->gamma, of->length);
    of->beta = copy_of(request->beta, of->length);
    if ((request->gamma && !of->gamma) || (request->beta && !of->beta))
        return no_memory(of->length, diag);
    if (of->kind != OPERATOR_LAYER_NORM && (of->in.zero_point < of->in.qmin || of->in.zero_point > of->in.qmax))
        return diag_set(diag, EXIT_USAGE, "--in: the zero point %" PRId64 ", must be a code, %" PRId64 "..%" PRId64,
                        of->in.zero_point, of->in.qmin, of->in.qmax);
    if (make_variance(of, diag) || make_channels(of, diag))
        return diag->code;
    return make_core("rsqrt", "u16:2^-14:-16384", &of->core, diag);
}

static int make_spec(const struct operator_request *request, struct row_operator *of, struct diag *diag)
{
    const bool has_in_b = operator_has_in_b(of->kind);
    char in[80], in_b[80], out[80], spec[512];
    tensor_format(&of->in, in, sizeof in);
    tensor_format(&of->in_b, in_b, sizeof in_b);
    tensor_format(&of->out, out, sizeof out);
    const int types = snprintf(spec, sizeof spec, "%s --in %s%s%s --out %s", operator_name(of->kind), in,
                               has_in_b ? " --in-b " : "", has_in_b ? in_b : "", out);
    if (!operator_is_element(of->kind))
        snprintf(spec + types, sizeof spec - (size_t)types, " --rows %" PRIu32 "%s%s", of->length,
                 request->words && *request->words ? " " : "", request->words ? request->words : "");
    of->spec = strdup(spec);
    return of->spec ? EXIT_DONE : no_memory(of->length, diag);
}

static int make_constants(const struct operator_request *request, struct row_operator *of, struct diag *diag)
{
    switch (operator_family(of->kind)) {
    case FAMILY_SOFTMAX:
    case FAMILY_WEIGH:
        return make_softmax(request, of, diag);
    case FAMILY_NORM:
        return make_norm(request, of, diag);
    default:
        return element_make(of, diag);
    }
}

int operator_make(const struct operator_request *request, struct row_operator *of, struct diag *diag)
{
    struct packed_operator packed = {0};
    memset(of, 0, sizeof *of);
    of->kind = request->kind;
    of->in = request->in;
    of->in_b = request->in_b;
    of->out = request->out;
    of->length = request->length;
    diag_set(diag, EXIT_DONE, "%s", "");
    if (check_types(of, diag) == EXIT_DONE && make_spec(request, of, diag) == EXIT_DONE &&
        make_constants(request, of, diag) == EXIT_DONE)
        operator_pack(of, EXIT_REQUIREMENT, &packed, diag);
    packed_operator_free(&packed);
    if (diag->code != EXIT_DONE)
        operator_free(of);
    return diag->code;
}
