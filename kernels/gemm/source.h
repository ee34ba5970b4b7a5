/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights on their way into the order of layout.h, 32 columns of a row at a time, for the host and for devices:
 * blocks taken apart or made, what a row's exponent depends on, and the words that rows g and g + 8 share.
 */
#ifndef PWL_QGEMM_SOURCE_H
#define PWL_QGEMM_SOURCE_H

#include "blocks/block.h"
#include "layout.h"
#include "weight.h"

#define PWL_QGEMM_LARGEST 65504.0 /* in fp16 */

typedef enum pwl_qgemm_from { PWL_QGEMM_FROM_BLOCKS, PWL_QGEMM_FROM_FLOATS, PWL_QGEMM_FROM_S8 } pwl_qgemm_from;

typedef struct pwl_qgemm_source {
    pwl_qgemm_from from;
    pwl_qgemm_format format;
    pwl_qgemm_type type; /* of floats */
    pwl_rule rule;       /* of blocks that are made of them */
    size_t n, k;
    const void *data[2];  /* blocks of the format [n][k / 32], or floats or int8_t [n][k]; of a pair, n / 2 rows each */
    const int8_t *n_w[2]; /* beside int8_t: [n], of a pair [n / 2] */
} pwl_qgemm_source;

/* Where a row of weights comes from: the rows of a pair take turns, 8 of gate and 8 of up. */
typedef struct pwl_qgemm_origin {
    const void *data;
    const int8_t *n_w;
    size_t row;
    int up;
} pwl_qgemm_origin;

PWL_FN pwl_qgemm_origin pwl_qgemm_origin_of(const pwl_qgemm_source *from, size_t row)
{
    const pwl_qgemm_origin alone = {from->data[0], from->n_w[0], row, 0};
    const pwl_qgemm_origin gate = {from->data[0], from->n_w[0], row / 16 * 8 + row % 8, 0};
    const pwl_qgemm_origin up = {from->data[1], from->n_w[1], row / 16 * 8 + row % 8, 1};
    if (!from->data[1])
        return alone;
    return row / 8 % 2 ? up : gate;
}

/* 32 columns of a row. */
typedef struct pwl_qgemm_parts {
    uint16_t scale;
    int16_t finite; /* the scale, or every float of ROWS8 */
    int8_t codes[PWL_BLOCK];
} pwl_qgemm_parts;

PWL_FN pwl_format pwl_qgemm_block_format(pwl_qgemm_format format)
{
    if (format == PWL_QGEMM_Q4_0)
        return PWL_Q4_0;
    return format == PWL_QGEMM_Q8_0 ? PWL_Q8_0 : PWL_MXFP4;
}

PWL_FN size_t pwl_qgemm_block_bytes(pwl_qgemm_format format)
{
    return pwl_qgemm_scale_bytes(format) + (size_t)(PWL_BLOCK * pwl_qgemm_bits(format) / 8);
}

PWL_FN int16_t pwl_qgemm_scale_is_finite(pwl_qgemm_format format, uint16_t scale)
{
    return format == PWL_QGEMM_MXFP4 ? scale != 255 : (scale & 0x7c00) != 0x7c00;
}

PWL_FN pwl_qgemm_parts pwl_qgemm_parts_of_block(pwl_qgemm_format format, const uint8_t *block)
{
    const uint8_t *const qs = block + pwl_qgemm_scale_bytes(format);
    pwl_qgemm_parts p;
    p.scale = block[0];
    if (format != PWL_QGEMM_MXFP4)
        memcpy(&p.scale, block, sizeof p.scale);
    p.finite = pwl_qgemm_scale_is_finite(format, p.scale);
    PWL_UNROLL
    for (int j = 0; j < PWL_BLOCK; j++)
        p.codes[j] = (int8_t)(format == PWL_QGEMM_Q8_0 ? qs[j] : qs[j % 16] >> 4 * (j / 16) & 15);
    return p;
}

/* 32 floats of a row. */
typedef struct pwl_qgemm_floats {
    float v[PWL_BLOCK];
} pwl_qgemm_floats;

PWL_FN pwl_qgemm_floats pwl_qgemm_floats_at(const pwl_qgemm_source *from, size_t row, size_t block)
{
    const pwl_qgemm_origin origin = pwl_qgemm_origin_of(from, row);
    const size_t at = origin.row * from->k + block * PWL_BLOCK;
    pwl_qgemm_floats w;
    PWL_UNROLL
    for (int j = 0; j < PWL_BLOCK; j++)
        w.v[j] = pwl_qgemm_element(from->type, origin.data, at + (size_t)j);
    return w;
}

/* As pwl_quantise() makes blocks; e is n_w in ROWS8. */
PWL_FN pwl_qgemm_parts pwl_qgemm_parts_of_floats(const pwl_qgemm_source *from, size_t row, size_t block, int e)
{
    const pwl_qgemm_format format = from->format;
    const pwl_format blocks = pwl_qgemm_block_format(format);
    const pwl_qgemm_floats w = pwl_qgemm_floats_at(from, row, block);
    const pwl_extent extent = pwl_extent_of(w.v);
    pwl_qgemm_parts p = {0, (int16_t)extent.finite, {0}};
    pwl_scale scale = {0, 0, 0};
    if (format != PWL_QGEMM_ROWS8) {
        scale = pwl_scale_of(blocks, from->rule, extent);
        p.scale = scale.stored;
        p.finite = pwl_qgemm_scale_is_finite(format, scale.stored);
    }
    PWL_UNROLL
    for (int j = 0; j < PWL_BLOCK; j++) {
        const float v = extent.finite ? w.v[j] : 0;
        p.codes[j] =
            (int8_t)(format == PWL_QGEMM_ROWS8 ? pwl_qgemm_code_s8(v, e) : pwl_code_of(blocks, from->rule, scale, v));
    }
    return p;
}

/* Block `block` of a row, e its exponent or n_w; outside of the matrix, weights of 0 and a scale of 0. */
PWL_FN pwl_qgemm_parts pwl_qgemm_parts_of(const pwl_qgemm_source *from, size_t row, size_t block, int e)
{
    const pwl_qgemm_origin origin = pwl_qgemm_origin_of(from, row);
    const size_t blocks = from->k / PWL_BLOCK, at = origin.row * blocks + block;
    const uint8_t *const data = (const uint8_t *)origin.data;
    const int8_t zero = from->format == PWL_QGEMM_Q4_0 ? 8 : 0, *const q = (const int8_t *)data + at * PWL_BLOCK;
    const int inside = row < from->n && block < blocks;
    pwl_qgemm_parts p = {0, 1, {0}};
    if (inside && from->from == PWL_QGEMM_FROM_BLOCKS)
        return pwl_qgemm_parts_of_block(from->format, data + at * pwl_qgemm_block_bytes(from->format));
    if (inside && from->from == PWL_QGEMM_FROM_FLOATS)
        return pwl_qgemm_parts_of_floats(from, row, block, e);
    PWL_UNROLL
    for (int j = 0; j < PWL_BLOCK; j++)
        p.codes[j] = inside ? q[j] : zero;
    return p;
}

/*
 * What a row's exponent depends on, of the blocks that have a code that is not 0; of a zero's scale nothing depends.
 * MXFP4: the range of s. Q4_0, Q8_0: high is the least e that a block's weights take. ROWS8: high is amax, as its bits.
 */
typedef struct pwl_qgemm_span {
    int32_t high, low;
} pwl_qgemm_span;

PWL_FN pwl_qgemm_span pwl_qgemm_no_span(void)
{
    const pwl_qgemm_span none = {-128, 128};
    return none;
}

PWL_FN pwl_qgemm_span pwl_qgemm_join(pwl_qgemm_span a, pwl_qgemm_span b)
{
    const pwl_qgemm_span both = {a.high > b.high ? a.high : b.high, a.low < b.low ? a.low : b.low};
    return both;
}

PWL_FN pwl_qgemm_span pwl_qgemm_span_of(const pwl_qgemm_source *from, size_t row, size_t block,
                                        const pwl_qgemm_parts *p)
{
    const double scale = pwl_qgemm_scale_value(from->format, p->scale);
    pwl_qgemm_span span = pwl_qgemm_no_span();
    double most = 0;
    if (from->format == PWL_QGEMM_ROWS8) {
        if (from->from == PWL_QGEMM_FROM_FLOATS) {
            const pwl_qgemm_floats w = pwl_qgemm_floats_at(from, row, block);
            span.high = (int32_t)pwl_bits_of_f32(pwl_extent_of(w.v).amax);
        }
        return span;
    }
    PWL_UNROLL
    for (int j = 0; j < PWL_BLOCK; j++) {
        const double v = pwl_qgemm_code_value(from->format, p->codes[j]) * scale;
        most = v > most ? v : -v > most ? -v : most;
    }
    if (most == 0)
        return span;
    if (from->format == PWL_QGEMM_MXFP4) {
        span.high = span.low = p->scale - 127;
        return span;
    }
    span.high = 0; /* to 7, for 128 * 65504 */
    while (span.high < 7 && most * pwl_qgemm_power(-span.high) > PWL_QGEMM_LARGEST)
        span.high++;
    return span;
}

/* e of a row, or n_w. */
PWL_FN int pwl_qgemm_exponent_of(const pwl_qgemm_source *from, size_t row, pwl_qgemm_span span)
{
    if (from->from == PWL_QGEMM_FROM_S8) {
        const pwl_qgemm_origin origin = pwl_qgemm_origin_of(from, row);
        return origin.n_w[origin.row];
    }
    if (from->format == PWL_QGEMM_ROWS8)
        return pwl_qgemm_shift_of(pwl_f32_of_bits(span.high > 0 ? (uint32_t)span.high : 0));
    if (from->format == PWL_QGEMM_MXFP4)
        return (span.high > 1 || span.low < -23) && span.high >= span.low ? span.high - 1 : 0;
    return span.high > 0 ? span.high : 0;
}

PWL_FN int32_t pwl_qgemm_sum_of(const pwl_qgemm_parts *p)
{
    int32_t sum = 0;
    PWL_UNROLL
    for (int j = 0; j < PWL_BLOCK; j++)
        sum += p->codes[j];
    return sum;
}

/* What packed weights are described by; exponents: whether any row has one. */
PWL_FN pwl_qgemm_weights pwl_qgemm_weights_of(const pwl_qgemm_source *from, const void *memory, int exponents)
{
    const int32_t row_data = exponents || from->format == PWL_QGEMM_ROWS8;
    const size_t pieces = pwl_qgemm_pieces_bytes(from->format, from->n, from->k);
    const size_t rows = row_data ? pwl_qgemm_row_bytes(from->format, from->n) : 0;
    const pwl_qgemm_weights weights = {memory, from->n, from->k, pieces + rows, from->format, row_data};
    return weights;
}

/* A block by its number, row * (k / 32) + block. Rows of up count on from those of the gate. */
PWL_FN pwl_qgemm_place pwl_qgemm_place_of(const pwl_qgemm_source *from, size_t number)
{
    const size_t blocks = from->k / PWL_BLOCK;
    const pwl_qgemm_origin origin = pwl_qgemm_origin_of(from, number / blocks);
    const pwl_qgemm_place place = {(origin.up ? from->n / 2 : 0) + origin.row, number % blocks};
    return place;
}

/* Rows r and r + 8 share words: r of the pairs, in order. */
PWL_FN size_t pwl_qgemm_pair_row(size_t pair)
{
    return pair / 8 * PWL_QGEMM_TILE_ROWS + pair % 8;
}

/* Columns c, c + 8, c + 1 and c + 9 of two rows in a word of nibbles, and of one row in a word of bytes. */
PWL_FN uint32_t pwl_qgemm_nibbles(const int8_t *g, const int8_t *g8, int c)
{
    const uint32_t first = (uint32_t)(g[c] | g8[c] << 4 | g[c + 8] << 8 | g8[c + 8] << 12);
    return first | (uint32_t)(g[c + 1] | g8[c + 1] << 4 | g[c + 9] << 8 | g8[c + 9] << 12) << 16;
}

PWL_FN uint32_t pwl_qgemm_bytes(const int8_t *q, int c)
{
    return (uint8_t)q[c] | (uint32_t)(uint8_t)q[c + 8] << 8 | (uint32_t)(uint8_t)q[c + 1] << 16 |
           (uint32_t)(uint8_t)q[c + 9] << 24;
}

/* Puts the first or second block of rows r and r + 8 of a piece in place; r % 16 < 8. */
PWL_FN void pwl_qgemm_put(pwl_qgemm_format format, uint8_t *piece, unsigned r, unsigned block, const pwl_qgemm_parts *g,
                          const pwl_qgemm_parts *g8)
{
    uint8_t *const tile = piece + r / PWL_QGEMM_TILE_ROWS * pwl_qgemm_tile_bytes(format);
    uint8_t *const scales = piece + PWL_QGEMM_TILES * pwl_qgemm_tile_bytes(format);
    const unsigned at = pwl_qgemm_scale_at(r, block);
    PWL_UNROLL
    for (unsigned t = 0; t < 4; t++) {
        const unsigned lane = r % 8 * 4 + t;
        PWL_UNROLL
        for (unsigned step = 0; step < 2; step++) {
            const int c = (int)(step * 16 + t * 2);
            if (pwl_qgemm_bits(format) == 4) {
                ((uint32_t *)(void *)(tile + lane * 16 + block * 8))[step] = pwl_qgemm_nibbles(g->codes, g8->codes, c);
            } else {
                uint32_t *const words = (uint32_t *)(void *)(tile + block * 512 + lane * 16 + step * 8);
                words[0] = pwl_qgemm_bytes(g->codes, c);
                words[1] = pwl_qgemm_bytes(g8->codes, c);
            }
        }
    }
    if (format == PWL_QGEMM_MXFP4) {
        scales[at] = (uint8_t)g->scale;
        scales[at + 1] = (uint8_t)g8->scale;
    } else if (format != PWL_QGEMM_ROWS8) {
        ((uint16_t *)(void *)scales)[at] = g->scale;
        ((uint16_t *)(void *)scales)[at + 1] = g8->scale;
    }
}

#endif
