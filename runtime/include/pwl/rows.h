/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Row operators: softmax, log-softmax, LayerNorm, RMSNorm and the L2 norm of rows of codes, by integers alone.
 * docs/operators.md is their specification, with the bound on what they compute.
 *
 * An operator is a constant of integers, made by `pwlc fit`; it can live in ROM. It is checked once, and then run on any
 * number of rows by any number of threads: running neither allocates nor keeps anything.
 *
 *   if (pwl_softmax_check(&softmax) == PWL_OK)
 *       pwl_softmax_run(&softmax, &(pwl_rows){.x = x, .y = y, .count = 8, .length = 1024}, PWL_LEVELS_ALL);
 *
 * The inline functions below are the arithmetic of one element and one row, for those who run it elsewhere.
 */
#ifndef PWL_ROWS_H
#define PWL_ROWS_H

#include "eval.h"
#include "fixed.h"
#include "plan.h"
#include "pwl.h"
#include "reduce.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PWL_ROWS_VERSION 1      /* layout and meaning of pwl_softmax and pwl_norm */
#define PWL_LONGEST_ROW 65536
#define PWL_LOG_CELLS 128

typedef enum pwl_softmax_kind { PWL_SOFTMAX = 0, PWL_LOG_SOFTMAX = 1 } pwl_softmax_kind;

typedef struct pwl_softmax {
    uint8_t version;     /* PWL_ROWS_VERSION */
    uint8_t kind;        /* pwl_softmax_kind */
    uint8_t in, out;     /* pwl_type of codes, of 8 or 16 bits */
    uint8_t fraction;    /* F, 8..30: E[d] counts 2^-F */
    uint8_t out_bits;    /* b, 1..16: y counts 2^-b; log-softmax: 0 */
    uint8_t step_shift;  /* log-softmax: g, 1..40; else 0 */
    uint8_t log_shift;   /* log-softmax: h, 1..62; else 0 */
    uint32_t longest;    /* places of the longest row, 1..PWL_LONGEST_ROW */
    int32_t step;        /* log-softmax: P, not negative; else 0 */
    int32_t log_unit;    /* log-softmax: W, 1..2^28 - 1; else 0 */
    int32_t qmin_y, qmax_y;
    int64_t zp_y;                /* within 33 bits */
    const uint32_t *exp;         /* 256: of 8-bit codes E[d], of 16-bit codes low[l], which counts 2^-31 */
    const uint32_t *exp_high;    /* 256: of 16-bit codes high[h]; else null */
    const uint8_t *exp_shift;    /* 256: of 16-bit codes shift[h]; else null */
    const uint16_t *log_factor;  /* PWL_LOG_CELLS: log-softmax; else null */
    const int32_t *log_value;    /* PWL_LOG_CELLS: log-softmax; else null */
    const pwl_table *reciprocal; /* the core T_reciprocal */
} pwl_softmax;

typedef enum pwl_norm_kind { PWL_LAYER_NORM = 0, PWL_RMS_NORM = 1 } pwl_norm_kind;

typedef struct pwl_norm {
    uint8_t version;        /* PWL_ROWS_VERSION */
    uint8_t kind;           /* pwl_norm_kind */
    uint8_t in, out;        /* pwl_type of codes, of 8 or 16 bits */
    uint8_t variance_shift; /* f, even, 0..24 */
    uint8_t fraction;       /* T, 1..30: fraction bits of a normalised value */
    int8_t gamma_shift;     /* g; g + T from 1 to 62 */
    uint8_t drop;           /* bits of R that are dropped, 0..8 */
    uint32_t length;        /* n, 1..PWL_LONGEST_ROW */
    int32_t qmin_y, qmax_y;
    int64_t zp_y;         /* within 33 bits */
    int64_t zp_x;         /* o; LayerNorm: the middle of the codes */
    int64_t eps;          /* E0, not negative */
    const int32_t *gamma; /* n: G_c */
    const int64_t *beta;  /* n: B_c; null where all are 0 */
    const pwl_table *rsqrt;
} pwl_norm;

/*
 * Proves an operator safe for every row, as docs/operators.md says under "What a check proves". Reads the tables only
 * after the fields that size them. PWL_ERR_NULL, PWL_ERR_VERSION, PWL_ERR_FIELD (kind, in, out, or a field that the kind
 * does not have), PWL_ERR_RANGE_Y, PWL_ERR_ZERO_POINT, PWL_ERR_SHIFT (fraction bits and shifts), PWL_ERR_ROW (the length,
 * or a sum over a row), PWL_ERR_CORE (the core, or what is made of it), PWL_ERR_CONSTANT (an entry of the tables).
 */
PWL_API PWL_NODISCARD pwl_status pwl_softmax_check(const pwl_softmax *softmax);
PWL_API PWL_NODISCARD pwl_status pwl_norm_check(const pwl_norm *norm);

/* Rows of codes, one after the other, elements of the operator's types. */
typedef struct pwl_rows {
    const void *x;
    void *y;              /* x itself, where elements have one size; else apart from x */
    size_t count, length; /* length: 1..longest */
    const uint8_t *mask;  /* a byte a place, 0: the place is masked; null: none is */
    size_t mask_stride;   /* bytes from the mask of a row to the next; 0: all rows have the same */
    int is_causal;        /* row r has its first `first + r + 1` places, the others are masked */
    size_t first;
} pwl_rows;

/* Places of row r that are not beyond what a causal row has. first + r may be more than size_t holds. */
PWL_FN size_t pwl_rows_reach(const pwl_rows *rows, size_t r)
{
    if (!rows->is_causal || r >= rows->length || rows->first >= rows->length - r)
        return rows->length;
    return rows->first + r + 1;
}

/*
 * Softmax or log-softmax of each row. The operator has passed pwl_softmax_check(). Reads x and the mask in [0, count *
 * length), writes y there, nothing else. No levels but those given (and this machine's) are used; they change no bit.
 */
PWL_API void pwl_softmax_run(const pwl_softmax *softmax, const pwl_rows *rows, uint32_t levels);

/*
 * A row that comes in tiles. It begins as all zeros; each tile is added once, in any order, of `longest` places in all;
 * then the same tiles are written. Where no tile but the first raised the largest code (rescalings is 0) the codes are
 * those of pwl_softmax_run() of the whole row; else docs/operators.md bounds them by the number of rescalings. A mask is
 * that of the tile, or null. y is x itself where elements have one size, else apart from it.
 */
typedef struct pwl_softmax_tiles {
    uint64_t sum;        /* S; 0: no place yet that is not masked */
    int32_t largest;     /* qmax of those so far */
    uint32_t rescalings; /* how often it grew */
} pwl_softmax_tiles;

PWL_API void pwl_softmax_tiles_add(const pwl_softmax *softmax, pwl_softmax_tiles *row, const void *x,
                                   const uint8_t *mask, size_t count);
PWL_API void pwl_softmax_tiles_write(const pwl_softmax *softmax, const pwl_softmax_tiles *row, const void *x, void *y,
                                     const uint8_t *mask, size_t count);

/* Values that are weighted, one row of `channels` codes for each place of a row. */
typedef struct pwl_row_values {
    const void *v;
    uint8_t type;       /* pwl_type of codes, of 8 or 16 bits */
    int64_t zero_point; /* a code */
    size_t channels;
    size_t stride; /* elements from the channels of a place to those of the next */
} pwl_row_values;

/* PWL_ERR_NULL, PWL_ERR_FIELD (the type), PWL_ERR_ZERO_POINT. */
PWL_API PWL_NODISCARD pwl_status pwl_row_values_check(const pwl_row_values *values);

/*
 * y[r * channels + c]: the sum over a row's places of softmax times value c, which counts 2^-22 of the values' scale for
 * values of 8 bits and 2^-14 for 16, with zero point 0: what a pwl_requantise of PWL_S32 takes. Masks and causal rows are
 * those of pwl_softmax_run(); rows->y is not read. 0 where every place is masked. Any checked operator serves, whatever
 * its output.
 */
PWL_API void pwl_softmax_weigh(const pwl_softmax *softmax, const pwl_rows *rows, const pwl_row_values *values, int32_t *y);

/* LayerNorm or RMSNorm of each of `count` rows of norm->length places; as pwl_softmax_run(). */
PWL_API void pwl_norm_run(const pwl_norm *norm, const void *x, void *y, size_t count, uint32_t levels);

/* shr(p, n) of the specification, n >= 1: halves up, 0 beyond 62. */
PWL_FN int64_t pwl_row_shr(int64_t p, int n)
{
    return n > 62 ? 0 : pwl_shr64(p, n, PWL_HALF_UP);
}

/* An approximate reciprocal, or reciprocal root: factor * 2^-shift. */
typedef struct pwl_row_factor {
    int64_t factor; /* R, 0..2^31 + 1 */
    int shift;      /* k */
} pwl_row_factor;

/* v * 2^up as a word of 32 bits, whose bits below are cut. */
PWL_FN uint32_t pwl_row_word(uint64_t v, int up)
{
    return (uint32_t)(up >= 0 ? v << up : v >> -up);
}

/* R for a word M in [2^31, 2^32), by what the core gives for its cell. */
PWL_FN int64_t pwl_reciprocal_newton(uint32_t word, int64_t r)
{
    /* word * r < 2^48, |err >> 15| <= 2^33, and its product with r below 2^49 */
    const int64_t err = ((int64_t)1 << 47) - (int64_t)word * r;
    return (r << 15) + ((r * (err >> 15)) >> 17);
}

/* The same for a reciprocal root and M in [2^30, 2^32). */
PWL_FN int64_t pwl_rsqrt_newton(uint32_t word, int64_t r)
{
    /* r * r < 2^32 and half of the word at most 2^31 */
    const int64_t err = ((int64_t)1 << 46) - ((r * r * (int64_t)(((uint64_t)word + 1) >> 1)) >> 15);
    return (r << 15) + ((r * (err >> 15)) >> 17);
}

/* What a core is asked for: the word of a number, and the code of its cell. */
typedef struct pwl_row_cell {
    uint32_t word;
    int up; /* the word is the number times 2^up */
    int32_t code;
} pwl_row_cell;

/* Of a sum of 1..2^62, for the core of reciprocals. */
PWL_FN pwl_row_cell pwl_reciprocal_cell(uint64_t sum)
{
    const int up = 32 - pwl_bit_length(sum);
    const uint32_t word = pwl_row_word(sum, up);
    pwl_row_cell cell;
    cell.word = word;
    cell.up = up;
    cell.code = (int32_t)(word >> 16) - 32768;
    return cell;
}

/* Of 1..2^63 - 1, for the core of reciprocal roots. */
PWL_FN pwl_row_cell pwl_rsqrt_cell(uint64_t v)
{
    const int length = pwl_bit_length(v), up = 32 - length - (length & 1); /* even */
    const uint32_t word = pwl_row_word(v, up);
    pwl_row_cell cell;
    cell.word = word;
    cell.up = up;
    cell.code = (int32_t)(word >> 16) - 16384;
    return cell;
}

/* By what the core gives for the code. */
PWL_FN pwl_row_factor pwl_reciprocal_factor(pwl_row_cell cell, int64_t r)
{
    pwl_row_factor result;
    result.factor = pwl_reciprocal_newton(cell.word, r);
    result.shift = 62 - cell.up;
    return result;
}

PWL_FN pwl_row_factor pwl_rsqrt_factor(pwl_row_cell cell, int64_t r)
{
    pwl_row_factor result;
    result.factor = pwl_rsqrt_newton(cell.word, r);
    result.shift = 46 - cell.up / 2;
    return result;
}

/* 1/sum, of 1..2^62. */
PWL_FN pwl_row_factor pwl_row_reciprocal(const pwl_table *core, uint64_t sum)
{
    const pwl_row_cell cell = pwl_reciprocal_cell(sum);
    return pwl_reciprocal_factor(cell, pwl_eval_inline(core, cell.code));
}

/* 1/sqrt(v), of 1..2^63 - 1. */
PWL_FN pwl_row_factor pwl_row_rsqrt(const pwl_table *core, uint64_t v)
{
    const pwl_row_cell cell = pwl_rsqrt_cell(v);
    return pwl_rsqrt_factor(cell, pwl_eval_inline(core, cell.code));
}

/* E[d], d from 0 to 255 or 65535. */
PWL_FN uint32_t pwl_softmax_exp(const pwl_softmax *softmax, uint32_t d)
{
    const uint64_t low = softmax->exp[d & 255];
    int shift;
    if (!softmax->exp_high)
        return (uint32_t)low;
    shift = softmax->exp_shift[d >> 8];
    return shift > 62 ? 0 : (uint32_t)((softmax->exp_high[d >> 8] * low + ((uint64_t)1 << (shift - 1))) >> shift);
}

/* shr(S E[d], F), of S below 2^62: of S = high 2^F + low the first part needs no rounding. */
PWL_FN uint64_t pwl_softmax_rescaled(const pwl_softmax *softmax, uint64_t sum, uint32_t d)
{
    const uint64_t e = pwl_softmax_exp(softmax, d), one = (uint64_t)1 << softmax->fraction;
    return (sum >> softmax->fraction) * e + (((sum & (one - 1)) * e + one / 2) >> softmax->fraction);
}

/* A weighted sum, of magnitude below 2^bits sum with the bits of its type, divided by the sum of its weights. */
PWL_FN int32_t pwl_row_mean(pwl_type type, int64_t weighted, uint64_t sum, pwl_row_factor reciprocal)
{
    const int bits = type <= PWL_U8 ? 8 : 16, length = pwl_bit_length(sum), drop = length + bits - 31;
    if (drop > 0)
        weighted = pwl_row_shr(weighted, drop); /* within 2^31 of 0 */
    return (int32_t)pwl_row_shr(weighted * reciprocal.factor, drop > 0 ? 31 : length + bits);
}

/* L: ln(sum * 2^-F), which counts 2^-30. */
PWL_FN int64_t pwl_softmax_log(const pwl_softmax *softmax, uint64_t sum)
{
    const int length = pwl_bit_length(sum);
    const uint32_t word = pwl_row_word(sum, 32 - length), cell = (word >> 24) - 128;
    const int64_t z = (((int64_t)word * softmax->log_factor[cell]) >> 17) - ((int64_t)1 << 30);
    return softmax->log_value[cell] + z - ((z * z) >> 31) + (length - 1 - softmax->fraction) * (int64_t)744261118;
}

/* What a masked place gives: probability 0. */
PWL_FN int32_t pwl_softmax_least(const pwl_softmax *softmax)
{
    if (softmax->kind == PWL_LOG_SOFTMAX)
        return softmax->qmin_y;
    return (int32_t)pwl_sat(softmax->zp_y, softmax->qmin_y, softmax->qmax_y);
}

/* Of a row whose exponentials sum to what is left of it: one place, by its exponential, and by d. */
PWL_FN int64_t pwl_softmax_by(const pwl_softmax *softmax, pwl_row_factor reciprocal, uint32_t e)
{
    const int64_t product = (int64_t)e * reciprocal.factor;
    return pwl_sat(softmax->zp_y + pwl_row_shr(product, reciprocal.shift - softmax->out_bits), softmax->qmin_y,
                   softmax->qmax_y);
}

PWL_FN int64_t pwl_softmax_place(const pwl_softmax *softmax, pwl_row_factor reciprocal, uint32_t d)
{
    return pwl_softmax_by(softmax, reciprocal, pwl_softmax_exp(softmax, d));
}

/* shr(L W, h) of a row, and one place by it. */
PWL_FN int64_t pwl_log_softmax_row(const pwl_softmax *softmax, uint64_t sum)
{
    return pwl_row_shr(pwl_softmax_log(softmax, sum) * softmax->log_unit, softmax->log_shift);
}

PWL_FN int64_t pwl_log_softmax_place(const pwl_softmax *softmax, int64_t log, uint32_t d)
{
    const int64_t v = -((int64_t)d * softmax->step) - log;
    return pwl_sat(softmax->zp_y + pwl_row_shr(v, softmax->step_shift), softmax->qmin_y, softmax->qmax_y);
}

/* The largest |t| in any row, of fields that have been checked: (ceil(sqrt(n)) 2^T) (1 + 1/64) + 1. */
PWL_FN uint64_t pwl_norm_most(const pwl_norm *norm)
{
    uint64_t root = 0; /* rounded up, of at most 2^8 */
    while (root * root < norm->length)
        root++;
    root <<= norm->fraction;
    return root + (root >> 6) + 1;
}

/* What the places of a row share. */
typedef struct pwl_norm_row {
    int64_t sum;    /* A */
    int64_t factor; /* R'; 0 where V = E0, which makes every t 0 */
    int shift;      /* k - drop - T - f/2, 1..62 */
} pwl_norm_row;

/* n Q - A^2, from sum u and sum u^2; the former counts for LayerNorm alone. */
PWL_FN uint64_t pwl_norm_spread(const pwl_norm *norm, int64_t sum, int64_t squares)
{
    const int64_t a = norm->kind == PWL_LAYER_NORM ? sum : 0;
    return (uint64_t)(norm->length * squares - a * a);
}

/* V of a spread. */
PWL_FN uint64_t pwl_norm_variance(const pwl_norm *norm, uint64_t spread)
{
    return (spread << norm->variance_shift) + (uint64_t)norm->eps;
}

/* By 1/sqrt(V), which does not count where the spread is 0. */
PWL_FN pwl_norm_row pwl_norm_row_by(const pwl_norm *norm, int64_t sum, uint64_t spread, pwl_row_factor root)
{
    pwl_norm_row row = {0, 0, 1};
    if (norm->kind == PWL_LAYER_NORM)
        row.sum = sum;
    if (spread == 0)
        return row;
    row.factor = root.factor >> norm->drop;
    row.shift = root.shift - norm->drop - norm->fraction - norm->variance_shift / 2;
    return row;
}

PWL_FN pwl_norm_row pwl_norm_row_of(const pwl_norm *norm, int64_t sum, int64_t squares)
{
    const uint64_t spread = pwl_norm_spread(norm, sum, squares);
    pwl_row_factor root = {0, 0};
    if (spread != 0)
        root = pwl_row_rsqrt(norm->rsqrt, pwl_norm_variance(norm, spread));
    return pwl_norm_row_by(norm, sum, spread, root);
}

/* One place, of channel c. */
PWL_FN int64_t pwl_norm_place(const pwl_norm *norm, const pwl_norm_row *row, int64_t u, uint32_t c)
{
    const int64_t t = pwl_row_shr((norm->length * u - row->sum) * row->factor, row->shift);
    const int64_t v = t * norm->gamma[c] + (norm->beta ? norm->beta[c] : 0);
    return pwl_sat(norm->zp_y + pwl_row_shr(v, norm->gamma_shift + norm->fraction), norm->qmin_y, norm->qmax_y);
}

#ifdef __cplusplus
}
#endif
#endif
