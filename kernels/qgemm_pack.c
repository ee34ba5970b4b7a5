/* SPDX-License-Identifier: Apache-2.0 */
/* Weights into the order of qgemm_layout.h and back. Everything is checked before the first byte is written. */
#include <string.h>

#include "qgemm_check.h"
#include "qgemm_layout.h"
#include "qgemm_weight.h"

#define LARGEST_F16 65504.0

/* Of the formats with blocks. */
static const struct {
    pwl_format format;
    uint8_t codes; /* offset of qs */
} blocks_of[] = {
    [PWL_QGEMM_Q4_0] = {PWL_Q4_0, offsetof(pwl_block_q4_0, qs)},
    [PWL_QGEMM_Q8_0] = {PWL_Q8_0, offsetof(pwl_block_q8_0, qs)},
    [PWL_QGEMM_MXFP4] = {PWL_MXFP4, offsetof(pwl_block_mxfp4, qs)},
};

/* Where blocks come from: blocks, or else floats. */
typedef struct source {
    pwl_qgemm_format format;
    pwl_rule rule;
    size_t n, k;
    const uint8_t *blocks;
    const float *w;
} source;

/* A block taken apart. */
typedef struct parts {
    uint16_t scale;
    int8_t codes[PWL_BLOCK];
} parts;

static parts parts_of(const source *from, size_t row, size_t block)
{
    const pwl_format format = blocks_of[from->format].format;
    const size_t at = row * (from->k / PWL_BLOCK) + block;
    uint16_t made[sizeof(pwl_block_q8_0) / sizeof(uint16_t)];
    const uint8_t *bytes = from->blocks ? from->blocks + at * pwl_format_bytes(format) : (const uint8_t *)made;
    const uint8_t *const qs = bytes + blocks_of[from->format].codes;
    parts p = {0};
    /* The arguments were checked with the matrix: this cannot fail. */
    if (!from->blocks &&
        pwl_quantise(format, from->rule, from->w + at * PWL_BLOCK, 1, PWL_BLOCK, PWL_BLOCK, made) != PWL_BLOCKS_OK)
        return p;
    if (format == PWL_MXFP4)
        p.scale = bytes[0];
    else
        memcpy(&p.scale, bytes, sizeof p.scale);
    for (int j = 0; j < PWL_BLOCK; j++)
        p.codes[j] = (int8_t)(format == PWL_Q8_0 ? qs[j] : qs[j % 16] >> 4 * (j / 16) & 15);
    return p;
}

static int scale_is_finite(pwl_qgemm_format format, uint16_t scale)
{
    return format == PWL_QGEMM_MXFP4 ? scale != 255 : (scale & 0x7c00) != 0x7c00;
}

/* The largest |value| of the codes. */
static double largest(pwl_qgemm_format format, const parts *p)
{
    double most = 0;
    for (int j = 0; j < PWL_BLOCK; j++) {
        const double v = pwl_qgemm_code_value(format, p->codes[j]);
        most = v > most ? v : -v > most ? -v : most;
    }
    return most;
}

/* e of a row. Of a zero's scale nothing depends: it does not count. */
static int exponent_of(const source *from, size_t row)
{
    const int is_mxfp4 = from->format == PWL_QGEMM_MXFP4;
    int e = 0, high = -128, low = 128;
    for (size_t b = 0; b < from->k / PWL_BLOCK; b++) {
        const parts p = parts_of(from, row, b);
        const double code = largest(from->format, &p), scale = pwl_qgemm_scale_value(from->format, p.scale);
        if (code == 0)
            continue;
        if (is_mxfp4) {
            high = p.scale - 127 > high ? p.scale - 127 : high;
            low = p.scale - 127 < low ? p.scale - 127 : low;
        } else {
            while (code * (scale < 0 ? -scale : scale) * pwl_qgemm_power(-e) > LARGEST_F16)
                e++; /* to 7 at most: 128 * 65504 */
        }
    }
    if (is_mxfp4 && (high > 1 || low < -23) && high >= low)
        e = high - 1;
    return e;
}

/* Whether all scales are finite, else where one is not; and whether any row needs an exponent. */
static int survey(const source *from, int *exponents, pwl_qgemm_place *bad)
{
    *exponents = 0;
    for (size_t row = 0; row < from->n; row++) {
        for (size_t b = 0; b < from->k / PWL_BLOCK; b++) {
            if (!scale_is_finite(from->format, parts_of(from, row, b).scale)) {
                if (bad) {
                    bad->row = row;
                    bad->block = b;
                }
                return 0;
            }
        }
        *exponents |= exponent_of(from, row) != 0;
    }
    return 1;
}

static void put_code(pwl_qgemm_format format, uint8_t *piece, size_t row, size_t column, int code)
{
    const unsigned at =
        pwl_qgemm_code_at(format, (unsigned)(row % PWL_QGEMM_ROWS), (unsigned)(column % PWL_QGEMM_COLUMNS));
    if (pwl_qgemm_bits(format) == 8)
        piece[at] = (uint8_t)code;
    else
        piece[at / 2] = (uint8_t)((piece[at / 2] & ~(15 << at % 2 * 4)) | code << at % 2 * 4);
}

static void put_block(pwl_qgemm_format format, uint8_t *piece, size_t row, size_t block, const parts *p)
{
    const unsigned at = pwl_qgemm_scale_at((unsigned)(row % PWL_QGEMM_ROWS), (unsigned)(block % 2));
    uint8_t *const scales = piece + PWL_QGEMM_TILES * pwl_qgemm_tile_bytes(format);
    for (size_t j = 0; j < PWL_BLOCK; j++)
        put_code(format, piece, row, block * PWL_BLOCK + j, p->codes[j]);
    if (format == PWL_QGEMM_MXFP4)
        scales[at] = (uint8_t)p->scale;
    else
        memcpy(scales + sizeof p->scale * at, &p->scale, sizeof p->scale);
}

/* Weights of 0 everywhere, scales too. */
static void clear(pwl_qgemm_format format, uint8_t *memory, size_t n, size_t k)
{
    const size_t bytes = pwl_qgemm_pieces_bytes(format, n, k), piece = pwl_qgemm_piece_bytes(format);
    memset(memory, 0, bytes);
    if (format != PWL_QGEMM_Q4_0)
        return;
    for (size_t at = 0; at < bytes; at += piece)
        memset(memory + at, 0x88, PWL_QGEMM_TILES * pwl_qgemm_tile_bytes(format));
}

static pwl_qgemm_status pack(const source *from, void *memory, size_t bytes, pwl_qgemm_weights *weights,
                             pwl_qgemm_place *bad)
{
    const size_t pieces = pwl_qgemm_pieces_bytes(from->format, from->n, from->k);
    uint8_t *const to = memory;
    pwl_qgemm_weights made = {memory, from->n, from->k, pieces, from->format, 0};
    if ((uintptr_t)memory % 16)
        return PWL_QGEMM_ERR_ALIGN;
    if (bytes < pieces)
        return PWL_QGEMM_ERR_SPACE;
    if (!survey(from, &made.row_data, bad))
        return PWL_QGEMM_ERR_SCALE;
    if (made.row_data)
        made.bytes += pwl_qgemm_row_bytes(from->format, from->n);
    if (bytes < made.bytes)
        return PWL_QGEMM_ERR_SPACE;

    clear(from->format, to, from->n, from->k);
    memset(to + pieces, 0, made.bytes - pieces);
    for (size_t row = 0; row < from->n; row++) {
        for (size_t b = 0; b < from->k / PWL_BLOCK; b++) {
            const parts p = parts_of(from, row, b);
            put_block(from->format, to + pwl_qgemm_piece_at(from->format, from->k, row, b * PWL_BLOCK), row, b, &p);
        }
        if (made.row_data)
            to[pieces + row] = (uint8_t)exponent_of(from, row);
    }
    *weights = made;
    return PWL_QGEMM_OK;
}

/* int8 codes of a row, from integers or else from floats. */
typedef struct rows8 {
    const int8_t *q, *n_w;
    const float *w;
} rows8;

static float amax_of(const float *x, size_t k)
{
    float amax = 0;
    for (size_t i = 0; i < k; i++) {
        const float v = pwl_f32_of_bits(pwl_bits_of_f32(x[i]) & 0x7fffffff);
        if (v > amax && v - v == 0)
            amax = v;
    }
    return amax;
}

static pwl_qgemm_status pack_rows8(const rows8 *from, size_t n, size_t k, void *memory, size_t bytes,
                                   pwl_qgemm_weights *weights)
{
    const pwl_qgemm_format format = PWL_QGEMM_ROWS8;
    const size_t pieces = pwl_qgemm_pieces_bytes(format, n, k), data = pwl_qgemm_row_bytes(format, n);
    uint8_t *const to = memory;
    int8_t *const shifts = (int8_t *)memory + pieces + data - pwl_qgemm_round_up(n, PWL_QGEMM_ROWS);
    const pwl_qgemm_weights made = {memory, n, k, pieces + data, format, 1};
    if ((uintptr_t)memory % 16)
        return PWL_QGEMM_ERR_ALIGN;
    if (bytes < made.bytes)
        return PWL_QGEMM_ERR_SPACE;
    memset(memory, 0, made.bytes);
    for (size_t row = 0; row < n; row++) {
        const int shift = from->q ? from->n_w[row] : pwl_qgemm_shift_of(amax_of(from->w + row * k, k));
        int32_t sum = 0;
        for (size_t c = 0; c < k; c++) {
            const int code = from->q ? from->q[row * k + c] : pwl_qgemm_code_s8(from->w[row * k + c], shift);
            put_code(format, to + pwl_qgemm_piece_at(format, k, row, c), row, c, code);
            sum += code; /* at most 65793 * 128 */
        }
        memcpy(to + pieces + row * sizeof sum, &sum, sizeof sum);
        shifts[row] = (int8_t)shift;
    }
    *weights = made;
    return PWL_QGEMM_OK;
}

static pwl_qgemm_status check_rule(pwl_qgemm_format format, pwl_rule rule)
{
    if ((unsigned)rule > PWL_RULE_DOCUMENT || (format == PWL_QGEMM_MXFP4 && rule == PWL_RULE_DOCUMENT) ||
        (format == PWL_QGEMM_ROWS8 && rule != PWL_RULE_DEFAULT))
        return PWL_QGEMM_ERR_RULE;
    return PWL_QGEMM_OK;
}

pwl_qgemm_status pwl_qgemm_weights_bytes(pwl_qgemm_format format, size_t n, size_t k, size_t *bytes)
{
    const pwl_qgemm_status status = pwl_qgemm_check_shape(format, n, k);
    if (!bytes)
        return PWL_QGEMM_ERR_NULL;
    if (status == PWL_QGEMM_OK)
        *bytes = pwl_qgemm_pieces_bytes(format, n, k) + pwl_qgemm_row_bytes(format, n);
    return status;
}

pwl_qgemm_status pwl_qgemm_pack(pwl_qgemm_format format, const void *blocks, size_t n, size_t k, void *memory,
                                size_t bytes, pwl_qgemm_weights *weights, pwl_qgemm_place *bad)
{
    const source from = {format, PWL_RULE_DEFAULT, n, k, blocks, NULL};
    const pwl_qgemm_status status = pwl_qgemm_check_shape(format, n, k);
    if (status != PWL_QGEMM_OK)
        return status;
    if (format == PWL_QGEMM_ROWS8)
        return PWL_QGEMM_ERR_FORMAT;
    if (!blocks || !memory || !weights)
        return PWL_QGEMM_ERR_NULL;
    if ((uintptr_t)blocks % pwl_qgemm_scale_bytes(format))
        return PWL_QGEMM_ERR_ALIGN;
    return pack(&from, memory, bytes, weights, bad);
}

pwl_qgemm_status pwl_qgemm_pack_f32(pwl_qgemm_format format, pwl_rule rule, const float *w, size_t n, size_t k,
                                    void *memory, size_t bytes, pwl_qgemm_weights *weights, pwl_qgemm_place *bad)
{
    const source from = {format, rule, n, k, NULL, w};
    const rows8 from_rows = {NULL, NULL, w};
    pwl_qgemm_status status = pwl_qgemm_check_shape(format, n, k);
    if (status == PWL_QGEMM_OK)
        status = check_rule(format, rule);
    if (status != PWL_QGEMM_OK)
        return status;
    if (!w || !memory || !weights)
        return PWL_QGEMM_ERR_NULL;
    if ((uintptr_t)w % sizeof *w)
        return PWL_QGEMM_ERR_ALIGN;
    if (format != PWL_QGEMM_ROWS8)
        return pack(&from, memory, bytes, weights, bad);
    for (size_t i = 0; i < n * k; i++) {
        if (w[i] - w[i] != 0) {
            if (bad) {
                bad->row = i / k;
                bad->block = i % k / PWL_BLOCK;
            }
            return PWL_QGEMM_ERR_SCALE;
        }
    }
    return pack_rows8(&from_rows, n, k, memory, bytes, weights);
}

pwl_qgemm_status pwl_qgemm_pack_s8(const int8_t *q_w, const int8_t *n_w, size_t n, size_t k, void *memory, size_t bytes,
                                   pwl_qgemm_weights *weights)
{
    const rows8 from = {q_w, n_w, NULL};
    const pwl_qgemm_status status = pwl_qgemm_check_shape(PWL_QGEMM_ROWS8, n, k);
    if (status != PWL_QGEMM_OK)
        return status;
    if (!q_w || !n_w || !memory || !weights)
        return PWL_QGEMM_ERR_NULL;
    return pack_rows8(&from, n, k, memory, bytes, weights);
}

pwl_qgemm_status pwl_qgemm_unpack(const pwl_qgemm_weights *weights, void *blocks)
{
    const pwl_qgemm_status status = pwl_qgemm_check_weights(weights);
    uint8_t *block = blocks;
    if (status != PWL_QGEMM_OK)
        return status;
    if (weights->format == PWL_QGEMM_ROWS8)
        return PWL_QGEMM_ERR_FORMAT;
    if (!blocks)
        return PWL_QGEMM_ERR_NULL;
    if ((uintptr_t)blocks % pwl_qgemm_scale_bytes(weights->format))
        return PWL_QGEMM_ERR_ALIGN;
    for (size_t row = 0; row < weights->n; row++) {
        for (size_t c = 0; c < weights->k;
             c += PWL_BLOCK, block += pwl_format_bytes(blocks_of[weights->format].format)) {
            const uint16_t scale = pwl_qgemm_scale(weights, row, c / PWL_BLOCK);
            uint8_t *const qs = block + blocks_of[weights->format].codes;
            if (weights->format == PWL_QGEMM_MXFP4)
                block[0] = (uint8_t)scale;
            else
                memcpy(block, &scale, sizeof scale);
            for (size_t j = 0; j < PWL_BLOCK; j++) {
                const int code = pwl_qgemm_code(weights, row, c + j);
                if (weights->format == PWL_QGEMM_Q8_0)
                    qs[j] = (uint8_t)code;
                else
                    qs[j % 16] = (uint8_t)(j < 16 ? code : qs[j % 16] | code << 4);
            }
        }
    }
    return PWL_QGEMM_OK;
}

pwl_qgemm_status pwl_qgemm_unpack_s8(const pwl_qgemm_weights *weights, int8_t *q_w, int8_t *n_w)
{
    const pwl_qgemm_status status = pwl_qgemm_check_weights(weights);
    if (status != PWL_QGEMM_OK)
        return status;
    if (weights->format != PWL_QGEMM_ROWS8)
        return PWL_QGEMM_ERR_FORMAT;
    if (!q_w || !n_w)
        return PWL_QGEMM_ERR_NULL;
    for (size_t row = 0; row < weights->n; row++) {
        for (size_t c = 0; c < weights->k; c++)
            q_w[row * weights->k + c] = (int8_t)pwl_qgemm_code(weights, row, c);
        n_w[row] = (int8_t)pwl_qgemm_row_exponent(weights, row);
    }
    return PWL_QGEMM_OK;
}

pwl_qgemm_status pwl_qgemm_quantise_s8(const float *x, size_t m, size_t k, size_t stride, int8_t *q_x, int8_t *n_x)
{
    if (!x || !q_x || !n_x)
        return PWL_QGEMM_ERR_NULL;
    if (m == 0 || k == 0)
        return PWL_QGEMM_ERR_SHAPE;
    if (stride < k)
        return PWL_QGEMM_ERR_STRIDE;
    if (m > SIZE_MAX / sizeof *x / stride)
        return PWL_QGEMM_ERR_SHAPE;
    if ((uintptr_t)x % sizeof *x)
        return PWL_QGEMM_ERR_ALIGN;
    for (size_t row = 0; row < m; row++) {
        const float *const from = x + row * stride;
        n_x[row] = (int8_t)pwl_qgemm_shift_of(amax_of(from, k));
        for (size_t c = 0; c < k; c++)
            q_x[row * k + c] = (int8_t)pwl_qgemm_code_s8(from[c], n_x[row]);
    }
    return PWL_QGEMM_OK;
}
