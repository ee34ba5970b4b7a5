/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A row operator with an evaluation of its own: the steps of docs/operators.md for its kind and types alone, on the
 * core's own evaluation. The check that the operator passed when it was read covers this code: it forms the same
 * products, sums and shifts in the same types.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/file.h"
#include "row_c.h"

/* Code, in which @ stands for the operator's name. */
__attribute__((format(printf, 3, 4))) static void add_code(struct text *out, const struct row_c *c, const char *format,
                                                           ...)
{
    char code[1024];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(code, sizeof code, format, arguments);
    va_end(arguments);
    for (int k = 0; k < length && k < (int)sizeof code - 1; k++)
        if (code[k] == '@')
            text_add(out, "%s", c->name);
        else
            text_add_bytes(out, code + k, 1);
    out->failed |= length >= (int)sizeof code;
}

static const char *code_type(const struct tensor *tensor)
{
    return c_type(tensor->bits, tensor->is_signed);
}

static void add_arithmetic(struct text *out, const struct row_c *c)
{
    add_code(out, c,
             "\n/* floor((p + 2^(n-1)) / 2^n), n >= 1; 0 beyond 62 */\n"
             "static inline int64_t @_shr(int64_t p, int n)\n{\n"
             "    return n > 62 ? 0 : (p + ((int64_t)1 << (n - 1))) >> n;\n}\n"
             "\n/* 1 + floor(log2 v), v >= 1 */\n"
             "static inline int @_bits(uint64_t v)\n{\n"
             "    int bits = 1;\n"
             "    for (int half = 32; half; half /= 2)\n"
             "        if (v >> half) {\n"
             "            v >>= half;\n"
             "            bits += half;\n"
             "        }\n"
             "    return bits;\n}\n"
             "\n/* v * 2^up as a word of 32 bits, whose bits below are cut */\n"
             "static inline uint32_t @_word(uint64_t v, int up)\n{\n"
             "    return (uint32_t)(up >= 0 ? v << up : v >> -up);\n}\n");
}

static void add_clip(struct text *out, const struct row_c *c)
{
    const struct tensor *const y = &c->of->out;
    char zero_point[C_LITERAL_SIZE], low[C_LITERAL_SIZE], high[C_LITERAL_SIZE];
    add_code(out, c,
             "\n/* the output code of a value less its zero point */\n"
             "static inline %s @_clip(int64_t v)\n{\n"
             "    v += %s;\n"
             "    return (%s)(v < %s ? %s : v > %s ? %s : v);\n}\n",
             code_type(y), c_literal(y->zero_point, zero_point), code_type(y), c_literal(y->qmin, low), low,
             c_literal(y->qmax, high), high);
}

/* r by the upper bits of a word. The core's evaluation clamps codes of its type, which may be a narrow one. */
static void add_core_call(struct text *out, const struct row_c *c, int first)
{
    const struct tensor *const in = &c->of->core.in;
    char low[C_LITERAL_SIZE], high[C_LITERAL_SIZE];
    add_code(out, c, "    int64_t code = (int64_t)(word >> 16) - %d;\n", first);
    if (in->qmin > 0)
        add_code(out, c, "    if (code < %s)\n        code = %s;\n", c_literal(in->qmin, low), low);
    if (in->qmax < 65535 - first)
        add_code(out, c, "    if (code > %s)\n        code = %s;\n", c_literal(in->qmax, high), high);
    add_code(out, c, "    const int64_t r = @_core_eval((%s)code);\n", code_type(in));
}

/* ---- Softmax and log-softmax ---- */

static void add_exp(struct text *out, const struct row_c *c)
{
    add_code(out, c,
             "\n/* the exponential of a code that lies d below the largest of its row */\n"
             "static inline uint32_t @_exp_of(uint32_t d)\n{\n");
    if (c->of->exp_high)
        add_code(out, c,
                 "    const uint64_t product = (uint64_t)@_exp_high[d >> 8] * @_exp[d & 255];\n"
                 "    const int shift = @_exp_shift[d >> 8];\n"
                 "    return shift > 62 ? 0 : (uint32_t)((product + ((uint64_t)1 << (shift - 1))) >> shift);\n}\n");
    else
        add_code(out, c, "    return @_exp[d];\n}\n");
}

/* What the places of a row share, and the value of one place. */
static void add_softmax_share(struct text *out, const struct row_c *c)
{
    add_code(out, c, "    const int up = 32 - @_bits(sum);\n    const uint32_t word = @_word(sum, up);\n");
    add_core_call(out, c, 32768);
    add_code(out, c,
             "    const int64_t err = ((int64_t)1 << 47) - (int64_t)word * r;\n"
             "    const int64_t factor = (r << 15) + ((r * (err >> 15)) >> 17);\n"
             "    const int shift = %d - up;\n",
             62 - operator_softmax_out(c->of)->scale.shift_bits);
}

static void add_log_share(struct text *out, const struct row_c *c)
{
    const struct row_operator *const of = c->of;
    add_code(out, c,
             "    const int bits = @_bits(sum);\n"
             "    const uint32_t word = @_word(sum, 32 - bits), cell = (word >> 24) - 128;\n"
             "    const int64_t z = (((int64_t)word * @_log_factor[cell]) >> 17) - ((int64_t)1 << 30);\n"
             "    const int64_t ln = @_log_value[cell] + z - ((z * z) >> 31) + (bits - %d) * (int64_t)744261118;\n"
             "    const int64_t log = @_shr(ln * %" PRId64 ", %d);\n",
             1 + of->fraction, of->log_unit, of->log_shift);
}

/* The largest code, and the sum of the exponentials. */
static void add_row_sum(struct text *out, const struct row_c *c)
{
    add_code(out, c,
             "    int32_t largest = INT32_MIN;\n"
             "    uint64_t sum = 0;\n"
             "    for (uint32_t k = 0; k < n; ++k)\n"
             "        if ((!mask || mask[k]) && x[k] > largest)\n"
             "            largest = x[k];\n"
             "    for (uint32_t k = 0; k < n; ++k)\n"
             "        if (!mask || mask[k])\n"
             "            sum += @_exp_of((uint32_t)(largest - x[k]));\n");
}

static void add_softmax(struct text *out, const struct row_c *c)
{
    const struct row_operator *const of = c->of;
    const bool is_log = of->kind == OPERATOR_LOG_SOFTMAX;
    char least[C_LITERAL_SIZE + 32], literal[C_LITERAL_SIZE];
    snprintf(least, sizeof least, is_log ? "%s" : "@_clip(0)", c_literal(of->out.qmin, literal));
    add_exp(out, c);
    add_code(out, c,
             "\n/* A row of n places, 1..%" PRIu32
             ". mask: null, or a byte a place, 0 where it takes no part. x and y may "
             "be the same\n * array where codes have one size. */\n"
             "static inline void @_row(const %s *x, %s *y, const uint8_t *mask, uint32_t n)\n{\n",
             of->length, code_type(&of->in), code_type(&of->out));
    add_row_sum(out, c);
    add_code(out, c,
             "    if (sum == 0) {\n"
             "        for (uint32_t k = 0; k < n; ++k)\n"
             "            y[k] = %s;\n"
             "        return;\n"
             "    }\n",
             least);
    if (is_log)
        add_log_share(out, c);
    else
        add_softmax_share(out, c);
    add_code(out, c,
             "    for (uint32_t k = 0; k < n; ++k) {\n"
             "        const uint32_t d = (uint32_t)(largest - x[k]);\n"
             "        if (mask && !mask[k])\n"
             "            y[k] = %s;\n"
             "        else\n",
             least);
    if (is_log)
        add_code(out, c, "            y[k] = @_clip(@_shr(-((int64_t)d * %" PRId64 ") - log, %d));\n    }\n}\n",
                 of->step, of->step_shift);
    else
        add_code(out, c, "            y[k] = @_clip(@_shr((int64_t)@_exp_of(d) * factor, shift));\n    }\n}\n");
}

/* ---- Weighted sums ---- */

/* One channel after the other: no memory is taken, whatever their number. */
static void add_weigh(struct text *out, const struct row_c *c)
{
    const struct row_operator *const of = c->of;
    const int bits = of->in_b.bits;
    add_exp(out, c);
    add_code(out, c,
             "\n/* A row of n places, 1..%" PRIu32
             ", of which each has `channels` values, `stride` elements from place to place, and\n"
             " * y[c] of each channel. mask: null, or a byte a place, 0 where it takes no part. y lies apart from the\n"
             " * others. */\n"
             "static inline void @_row(const %s *x, const %s *v, %s *y, const uint8_t *mask, uint32_t n,\n"
             "                         uint32_t channels, uint32_t stride)\n{\n",
             of->length, code_type(&of->in), code_type(&of->in_b), code_type(&of->out));
    add_row_sum(out, c);
    add_code(out, c,
             "    if (sum == 0) {\n"
             "        for (uint32_t c = 0; c < channels; ++c)\n"
             "            y[c] = @_clip(0);\n"
             "        return;\n"
             "    }\n");
    add_softmax_share(out, c);
    add_code(out, c,
             "    const int drop = %d - up, by = drop > 0 ? 31 : shift - %d;\n"
             "    for (uint32_t c = 0; c < channels; ++c) {\n"
             "        int64_t w = 0;\n"
             "        for (uint32_t k = 0; k < n; ++k)\n"
             "            if (!mask || mask[k]) {\n"
             "                const int64_t value = (int64_t)v[(uintptr_t)k * stride + c] - (%" PRId64 ");\n"
             "                w += @_exp_of((uint32_t)(largest - x[k])) * value;\n"
             "            }\n"
             "        if (drop > 0)\n"
             "            w = @_shr(w, drop);\n"
             "        w = @_shr(w * factor, by);\n"
             "        y[c] = @_clip((w * %" PRId64 " + ((int64_t)1 << %d)) >> %d);\n"
             "    }\n}\n",
             bits + 1, 22 - bits, of->in_b.zero_point, of->factor_a, of->shift - 1, of->shift);
}

/* ---- Norms ---- */

static void add_root(struct text *out, const struct row_c *c)
{
    const struct row_operator *const of = c->of;
    char eps[C_LITERAL_SIZE];
    add_code(out, c,
             "\n/* The factor of a row, and how far its products are shifted, by n sum u^2 - (sum u)^2, above 0. */\n"
             "static inline int64_t @_root(uint64_t spread, int *shift)\n{\n"
             "    const uint64_t v = (spread << %d) + (uint64_t)%s;\n"
             "    const int bits = @_bits(v), up = 32 - bits - (bits & 1);\n"
             "    const uint32_t word = @_word(v, up);\n",
             of->variance_shift, c_literal(of->eps_code, eps));
    add_core_call(out, c, 16384);
    add_code(out, c,
             "    const int64_t half = (int64_t)(((uint64_t)word + 1) >> 1);\n"
             "    const int64_t err = ((int64_t)1 << 46) - ((r * r * half) >> 15);\n"
             "    *shift = %d - up / 2;\n"
             "    return ((r << 15) + ((r * (err >> 15)) >> 17)) >> %d;\n}\n",
             46 - of->drop - of->fraction - of->variance_shift / 2, of->drop);
}

static void add_norm(struct text *out, const struct row_c *c, const pwl_norm *norm)
{
    const struct row_operator *const of = c->of;
    const bool is_layer = norm->kind == PWL_LAYER_NORM;
    char zp[C_LITERAL_SIZE];
    c_literal(norm->zp_x, zp);
    add_root(out, c);
    add_code(out, c,
             "\n/* A row of %" PRIu32 " places. x and y may be the same array where codes have one size. */\n"
             "static inline void @_row(const %s *x, %s *y)\n{\n"
             "    const int64_t n = %" PRIu32 ";\n"
             "    int64_t sum = 0, squares = 0, factor = 0;\n"
             "    int shift = 1;\n"
             "    for (uint32_t k = 0; k < n; ++k) {\n"
             "        const int64_t u = (int64_t)x[k] - %s;\n%s"
             "        squares += u * u;\n"
             "    }\n",
             of->length, code_type(&of->in), code_type(&of->out), of->length, zp,
             is_layer ? "        sum += u;\n" : "");
    add_code(out, c,
             "    const int64_t spread = n * squares - sum * sum;\n"
             "    if (spread)\n"
             "        factor = @_root((uint64_t)spread, &shift);\n"
             "    for (uint32_t k = 0; k < n; ++k) {\n"
             "        const int64_t u = (int64_t)x[k] - %s, t = @_shr((n * u - sum) * factor, shift);\n"
             "        y[k] = @_clip(@_shr(t * @_gamma[k]%s, %d));\n    }\n}\n",
             zp, of->beta_codes ? " + @_beta[k]" : "", of->gamma_shift + of->fraction);
}

/* ---- Elements ---- */

static void add_requantise(struct text *out, const struct row_c *c)
{
    const struct row_operator *const of = c->of;
    add_code(out, c,
             "\n/* one code */\n"
             "static inline %s @_of(%s x)\n{\n"
             "    const int64_t v = ((int64_t)x - (%" PRId64 ")) * %" PRId64 ";\n"
             "    return @_clip((v + ((int64_t)1 << %d)) >> %d);\n}\n",
             code_type(&of->out), code_type(&of->in), of->in.zero_point, of->factor_a, of->shift - 1, of->shift);
    add_code(out, c,
             "\n/* n codes. x and y may be the same array where codes have one size. */\n"
             "static inline void @_run(const %s *x, %s *y, uint32_t n)\n{\n"
             "    for (uint32_t k = 0; k < n; ++k)\n"
             "        y[k] = @_of(x[k]);\n}\n",
             code_type(&of->in), code_type(&of->out));
}

/* A sum of 32 bits where these are enough for every two codes. */
static void add_sum(struct text *out, const struct row_c *c)
{
    const struct row_operator *const of = c->of;
    const char *const sum = element_is_narrow(of) ? "int32_t" : "int64_t";
    add_code(out, c,
             "\n/* one code of each input */\n"
             "static inline %s @_of(%s a, %s b)\n{\n"
             "    const %s v = ((%s)a - (%" PRId64 ")) * %" PRId64 " + ((%s)b - (%" PRId64 ")) * %" PRId64 ";\n"
             "    return @_clip((v + ((%s)1 << %d)) >> %d);\n}\n",
             code_type(&of->out), code_type(&of->in), code_type(&of->in_b), sum, sum, of->in.zero_point, of->factor_a,
             sum, of->in_b.zero_point, of->factor_b, sum, of->shift - 1, of->shift);
    add_code(out, c,
             "\n/* n codes of each. y may be an input whose codes have its size. */\n"
             "static inline void @_run(const %s *a, const %s *b, %s *y, uint32_t n)\n{\n"
             "    for (uint32_t k = 0; k < n; ++k)\n"
             "        y[k] = @_of(a[k], b[k]);\n}\n",
             code_type(&of->in), code_type(&of->in_b), code_type(&of->out));
}

void row_c_add_standalone(struct text *out, const struct row_c *c, const struct packed_operator *packed)
{
    if (!operator_is_element(c->of->kind))
        add_arithmetic(out, c);
    add_clip(out, c);
    switch (operator_family(c->of->kind)) {
    case FAMILY_ELEMENT:
        if (c->of->kind == OPERATOR_ADD)
            add_sum(out, c);
        else
            add_requantise(out, c);
        break;
    case FAMILY_NORM:
        add_norm(out, c, &packed->norm);
        break;
    case FAMILY_WEIGH:
        add_weigh(out, c);
        break;
    case FAMILY_SOFTMAX:
        add_softmax(out, c);
    }
}
