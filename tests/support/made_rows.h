/* SPDX-License-Identifier: Apache-2.0 */
/* Row operators made in long double, straight from docs/operators.md; what they stand for; and how far they may be off
 * it. */
#ifndef MADE_ROWS_H
#define MADE_ROWS_H

#include <math.h>
#include <string.h>

#include <pwl/rows.h>

#include "../golden/core_reciprocal.h"
#include "../golden/core_rsqrt.h"

static inline int type_bits(pwl_type type)
{
    return type <= PWL_U8 ? 8 : 16;
}

static inline int32_t type_lowest(pwl_type type)
{
    return type & 1 ? 0 : -(1 << (type_bits(type) - 1));
}

static inline int32_t type_highest(pwl_type type)
{
    return type_lowest(type) + (1 << type_bits(type)) - 1;
}

static inline int32_t code_at(pwl_type type, const void *array, size_t k)
{
    return type == PWL_S8    ? ((const int8_t *)array)[k]
           : type == PWL_U8  ? ((const uint8_t *)array)[k]
           : type == PWL_S16 ? ((const int16_t *)array)[k]
                             : ((const uint16_t *)array)[k];
}

static inline void set_code_at(pwl_type type, void *array, size_t k, int32_t code)
{
    if (type_bits(type) == 8)
        ((uint8_t *)array)[k] = (uint8_t)code;
    else
        ((uint16_t *)array)[k] = (uint16_t)code;
}

static inline long double clipped(long double v, int32_t low, int32_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* The largest relative error of what a core gives, over each of its cells. */
static inline long double core_delta0(const pwl_table *core, int is_root)
{
    long double worst = 0;
    for (int cell = is_root ? 16384 : 32768; cell < 65536; cell++) {
        const long double r = pwl_eval(core, cell - (is_root ? 16384 : 32768)) / 65536.0L;
        for (int end = 0; end < 2; end++) {
            const long double m = (cell + end) / (is_root ? 16384.0L : 32768.0L);
            worst = fmaxl(worst, fabsl(r * (is_root ? sqrtl(m) : m) - 1));
        }
    }
    return worst;
}

static inline long double reciprocal_delta(void)
{
    const long double delta0 = core_delta0(&core_reciprocal, 0);
    return delta0 * delta0 + 0x1p-30L + 2 * 0x1p-31L;
}

static inline long double rsqrt_delta(void)
{
    const long double delta0 = core_delta0(&core_rsqrt, 1);
    return 1.5L * delta0 * delta0 + 0.5L * delta0 * delta0 * delta0 + 0x1p-30L + 0x1p-29L;
}

typedef struct made_softmax {
    pwl_softmax softmax;
    long double in_scale, out_scale;
    uint32_t exp[256], exp_high[256];
    uint8_t exp_shift[256];
    uint16_t log_factor[PWL_LOG_CELLS];
    int32_t log_value[PWL_LOG_CELLS];
} made_softmax;

static inline void make_exp(made_softmax *made, int fraction)
{
    const int is_wide = type_bits((pwl_type)made->softmax.in) == 16, bits = is_wide ? 31 : fraction;
    for (int k = 0; k < 256; k++) {
        made->exp[k] = (uint32_t)roundl(ldexpl(expl(-made->in_scale * k), bits));
        const int e = (int)ceill(made->in_scale * k * 256 / logl(2));
        const int shift = 62 - fraction + e;
        const long double high = roundl(ldexpl(expl(-made->in_scale * k * 256), 31 + e));
        made->exp_high[k] = shift > 255 ? 1u << 31 : (uint32_t)high;
        made->exp_shift[k] = (uint8_t)(shift > 255 ? 255 : shift);
    }
    made->softmax.fraction = (uint8_t)fraction;
    made->softmax.exp = made->exp;
    made->softmax.exp_high = is_wide ? made->exp_high : NULL;
    made->softmax.exp_shift = is_wide ? made->exp_shift : NULL;
}

/* The struct stays where it is made. */
static inline void make_softmax(made_softmax *made, pwl_type in, long double in_scale, pwl_type out, int out_bits,
                                int64_t zp_y, uint32_t longest)
{
    memset(made, 0, sizeof *made);
    made->in_scale = in_scale;
    made->out_scale = ldexpl(1, -out_bits);
    made->softmax = (pwl_softmax){.version = PWL_ROWS_VERSION,
                                  .in = (uint8_t)in,
                                  .out = (uint8_t)out,
                                  .out_bits = (uint8_t)out_bits,
                                  .longest = longest,
                                  .qmin_y = type_lowest(out),
                                  .qmax_y = type_highest(out),
                                  .zp_y = zp_y,
                                  .reciprocal = &core_reciprocal};
    make_exp(made, 30);
}

static inline void make_log_softmax(made_softmax *made, pwl_type in, long double in_scale, pwl_type out,
                                    long double out_scale, int64_t zp_y, uint32_t longest)
{
    int g = 40, h = 62;
    make_softmax(made, in, in_scale, out, 1, zp_y, longest);
    made->out_scale = out_scale;
    for (int k = 0; k < PWL_LOG_CELLS; k++) {
        made->log_factor[k] = (uint16_t)roundl(65536 / (1 + (2 * k + 1) / 256.0L));
        made->log_value[k] = (int32_t)roundl(-0x1p30L * logl(made->log_factor[k] / 65536.0L));
    }
    while (roundl(ldexpl(in_scale / out_scale, g)) >= 0x1p31L)
        g--;
    while (roundl(ldexpl(1 / out_scale, g + h - 30)) >= 0x1p28L)
        h--;
    made->softmax.kind = PWL_LOG_SOFTMAX;
    made->softmax.out_bits = 0;
    made->softmax.step_shift = (uint8_t)g;
    made->softmax.log_shift = (uint8_t)h;
    made->softmax.step = (int32_t)roundl(ldexpl(in_scale / out_scale, g));
    made->softmax.log_unit = (int32_t)roundl(ldexpl(1 / out_scale, g + h - 30));
    made->softmax.log_factor = made->log_factor;
    made->softmax.log_value = made->log_value;
}

/* rho_N, and B_N. */
static inline long double softmax_rho(const made_softmax *made, uint32_t length, long double *largest)
{
    const uint32_t codes = 1u << type_bits((pwl_type)made->softmax.in);
    long double rho = 0;
    for (int pass = 0; pass < 2; pass++) {
        *largest = rho;
        for (uint32_t c = 0; c < codes; c++) {
            const long double e = expl(-made->in_scale * c);
            const long double got = ldexpl(pwl_softmax_exp(&made->softmax, c), -made->softmax.fraction);
            const long double eta = fabsl(got - e), least = fminl(e, got), others = length - 1;
            if (pass == 0)
                rho = fmaxl(rho, others * eta / (1 + others * least));
            else
                *largest = fmaxl(*largest, eta / (1 + least) + rho * e / (1 + e));
        }
    }
    return rho;
}

static inline long double softmax_bound(const made_softmax *made)
{
    const pwl_softmax *const softmax = &made->softmax;
    long double largest, z_max = 0;
    const long double rho = softmax_rho(made, softmax->longest, &largest), delta = reciprocal_delta();
    if (softmax->kind == PWL_SOFTMAX)
        return 0.5L + ldexpl(largest + delta * (1 + largest), softmax->out_bits);
    for (int k = 0; k < PWL_LOG_CELLS; k++)
        for (int end = 0; end < 2; end++)
            z_max = fmaxl(z_max, fabsl((128 + k + end) / 128.0L * made->log_factor[k] / 65536 - 1));
    const long double lambda = z_max * z_max * z_max / 3 / (1 - z_max) + 0x1p-30L * 3 + 0x1p-27L;
    const int d_max = (1 << type_bits((pwl_type)softmax->in)) - 1;
    return 0.5L + (rho + lambda) / made->out_scale + ldexpl(d_max + 1, -softmax->step_shift - 1) +
           ldexpl(ldexpl(logl(softmax->longest) + lambda, 30), -softmax->step_shift - softmax->log_shift - 1);
}

/* The largest error of a row's codes, in LSB; mask as pwl_rows has it. */
static inline long double softmax_error(const made_softmax *made, const void *x, const void *y, size_t length,
                                        const uint8_t *mask)
{
    const pwl_softmax *const softmax = &made->softmax;
    int32_t largest = INT32_MIN;
    long double sum = 0, worst = 0;
    for (size_t k = 0; k < length; k++)
        if ((!mask || mask[k]) && code_at((pwl_type)softmax->in, x, k) > largest)
            largest = code_at((pwl_type)softmax->in, x, k);
    for (size_t k = 0; k < length; k++)
        if (!mask || mask[k])
            sum += expl(made->in_scale * (code_at((pwl_type)softmax->in, x, k) - largest));
    for (size_t k = 0; k < length; k++) {
        const long double v = made->in_scale * (code_at((pwl_type)softmax->in, x, k) - largest);
        const int is_log = softmax->kind == PWL_LOG_SOFTMAX, is_masked = mask && !mask[k];
        const long double real = is_log ? (is_masked ? -INFINITY : v - logl(sum)) : is_masked ? 0 : expl(v) / sum;
        const long double code = clipped(real / made->out_scale + softmax->zp_y, softmax->qmin_y, softmax->qmax_y);
        worst = fmaxl(worst, fabsl(code_at((pwl_type)softmax->out, y, k) - code));
    }
    return worst;
}

typedef struct made_norm {
    pwl_norm norm;
    long double in_scale, out_scale, eps;
    const double *gamma, *beta; /* beta null: 0 */
    int32_t *gamma_codes;       /* the caller's, `length` each */
    int64_t *beta_codes;
} made_norm;

static inline long double norm_range(const pwl_norm *norm)
{
    const long double below = norm->zp_x - type_lowest((pwl_type)norm->in);
    const long double above = type_highest((pwl_type)norm->in) - norm->zp_x;
    return norm->kind == PWL_LAYER_NORM ? below + above : fmaxl(below, above);
}

/* made->gamma to made->beta_codes are set by the caller. */
static inline void make_norm(made_norm *made, pwl_norm_kind kind, pwl_type in, long double in_scale, int64_t zp_x,
                             pwl_type out, long double out_scale, int64_t zp_y, uint32_t length, long double eps)
{
    pwl_norm *const norm = &made->norm;
    const int is_wide = type_bits(out) == 16;
    const long double n = length;
    *norm = (pwl_norm){.version = PWL_ROWS_VERSION,
                       .kind = (uint8_t)kind,
                       .in = (uint8_t)in,
                       .out = (uint8_t)out,
                       .variance_shift = 24,
                       .fraction = is_wide ? 24 : 20,
                       .length = length,
                       .qmin_y = type_lowest(out),
                       .qmax_y = type_highest(out),
                       .zp_y = zp_y,
                       .zp_x = kind == PWL_LAYER_NORM ? (type_lowest(in) + type_highest(in) + 1) / 2 : zp_x,
                       .gamma = made->gamma_codes,
                       .beta = made->beta ? made->beta_codes : NULL,
                       .rsqrt = &core_rsqrt};
    made->in_scale = in_scale;
    made->out_scale = out_scale;
    made->eps = eps;
    const long double range = norm_range(norm);
    for (;; norm->variance_shift -= 2) {
        norm->eps = (int64_t)roundl(ldexpl(n * n * eps / in_scale / in_scale, norm->variance_shift));
        if (ldexpl(floorl(n * n * range * range / (kind == PWL_LAYER_NORM ? 4 : 1)), norm->variance_shift) +
                (long double)norm->eps <
            0x1p63L)
            break;
    }
    while ((long double)((((int64_t)1 << 31) + 1) >> norm->drop) * n * range >= 0x1p62L)
        norm->drop++;
    long double gamma = 0, beta = 0;
    for (uint32_t c = 0; c < length; c++) {
        gamma = fmaxl(gamma, fabsl(made->gamma[c] / out_scale));
        beta = fmaxl(beta, made->beta ? fabsl(made->beta[c] / out_scale) : 0);
    }
    norm->gamma_shift = (int8_t)(62 - norm->fraction);
    while (roundl(ldexpl(gamma, norm->gamma_shift)) >= (is_wide ? 0x1p23L : 0x1p15L) ||
           roundl(ldexpl(beta, norm->gamma_shift + norm->fraction)) >= 0x1p60L)
        norm->gamma_shift--;
    for (uint32_t c = 0; c < length; c++) {
        made->gamma_codes[c] = (int32_t)roundl(ldexpl(made->gamma[c] / out_scale, norm->gamma_shift));
        if (made->beta)
            made->beta_codes[c] =
                (int64_t)roundl(ldexpl(made->beta[c] / out_scale, norm->gamma_shift + norm->fraction));
    }
}

static inline long double norm_bound(const made_norm *made)
{
    const pwl_norm *const norm = &made->norm;
    const long double n = norm->length, least = norm->kind == PWL_LAYER_NORM ? n - 1 : n;
    const long double eps = 0.25L / (ldexpl(least, norm->variance_shift) + (long double)norm->eps + (least == 0));
    const long double d = rsqrt_delta() + (norm->drop ? ldexpl(1, norm->drop - 30) : 0) + eps;
    const int T = norm->fraction, g = norm->gamma_shift;
    long double worst = 0;
    for (uint32_t c = 0; c < norm->length; c++) {
        const long double gamma = fabsl(made->gamma[c] / made->out_scale);
        const long double beta = made->beta ? fabsl(made->beta[c] / made->out_scale) : 0;
        const long double reach =
            fmaxl(fabsl((long double)(norm->qmin_y - norm->zp_y)), fabsl((long double)(norm->qmax_y - norm->zp_y)));
        const long double all = sqrtl(least), some = gamma > 0 ? fminl(all, (reach + 1 + beta) / gamma) : all;
        const long double rest = gamma * ldexpl(1, -T - 1) + ldexpl(1, -g - T - 1);
        const long double part = some * (gamma * d + ldexpl(1, -g - 1)) + rest;
        worst = fmaxl(worst, part < 0.5L ? part : all * (gamma * d + ldexpl(1, -g - 1)) + rest);
    }
    return 0.5L + worst;
}

static inline long double norm_error(const made_norm *made, const void *x, const void *y)
{
    const pwl_norm *const norm = &made->norm;
    const pwl_type in = (pwl_type)norm->in;
    long double sum = 0, squares = 0, worst = 0, mean = 0;
    for (uint32_t c = 0; c < norm->length; c++)
        sum += code_at(in, x, c) - norm->zp_x;
    if (norm->kind == PWL_LAYER_NORM)
        mean = sum / norm->length;
    for (uint32_t c = 0; c < norm->length; c++) {
        const long double u = code_at(in, x, c) - norm->zp_x - mean;
        squares += u * u;
    }
    const long double root = sqrtl(squares / norm->length + made->eps / made->in_scale / made->in_scale);
    for (uint32_t c = 0; c < norm->length; c++) {
        const long double u = code_at(in, x, c) - norm->zp_x - mean, t = squares > 0 ? u / root : 0;
        const long double real = t * made->gamma[c] + (made->beta ? made->beta[c] : 0);
        const long double code = clipped(real / made->out_scale + norm->zp_y, norm->qmin_y, norm->qmax_y);
        worst = fmaxl(worst, fabsl(code_at((pwl_type)norm->out, y, c) - code));
    }
    return worst;
}

#endif
