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

#define PWL_QGEMM_LARGEST 65504.0f /* in fp16 */

PWL_QGEMM_SIZE int pwl_qgemm_is_of_floats(pwl_qgemm_from from)
{
    return from == PWL_QGEMM_FROM_FLOATS || from == PWL_QGEMM_FROM_Q4_0;
}

/* Where a row of weights comes from: the rows of a pair take turns, 8 of gate and 8 of up. */
typedef struct pwl_qgemm_origin {
    const void *data, *row_data;
    size_t row;
    int up;
} pwl_qgemm_origin;

PWL_FN pwl_qgemm_origin pwl_qgemm_origin_of(const pwl_qgemm_source *from, size_t row)
{
    const pwl_qgemm_origin alone = {from->data[0], from->row_data[0], row, 0};
    const pwl_qgemm_origin gate = {from->data[0], from->row_data[0], row / 16 * 8 + row % 8, 0};
    const pwl_qgemm_origin up = {from->data[1], from->row_data[1], row / 16 * 8 + row % 8, 1};
    if (!from->pair)
        return alone;
    return row / 8 % 2 ? up : gate;
}

/* 32 columns of a row, or what SPARSE4 keeps of 64, codes as blocks of the format hold them: one to a byte, or codes j
 * and j + 16 in byte j. */
typedef struct pwl_qgemm_block {
    uint16_t scale;
    int16_t finite; /* the scale, or every float of a format of rows */
    uint8_t q[PWL_BLOCK];
} pwl_qgemm_block;

PWL_FN pwl_format pwl_qgemm_block_format(pwl_qgemm_format format)
{
    if (pwl_qgemm_is_q4(format))
        return PWL_Q4_0;
    return format == PWL_QGEMM_Q8_0 ? PWL_Q8_0 : PWL_MXFP4;
}

PWL_QGEMM_SIZE int pwl_qgemm_code_bytes(pwl_qgemm_format format)
{
    return PWL_BLOCK * pwl_qgemm_bits(format) / 8;
}

PWL_QGEMM_SIZE size_t pwl_qgemm_block_bytes(pwl_qgemm_format format)
{
    return pwl_qgemm_scale_bytes(format) + (size_t)pwl_qgemm_code_bytes(format) +
           (pwl_qgemm_is_sparse(format) ? sizeof(uint64_t) : 0);
}

/* Blocks of a row. */
PWL_FN size_t pwl_qgemm_row_blocks(const pwl_qgemm_source *from)
{
    return from->k / pwl_qgemm_block_columns(from->format);
}

/* A byte of codes that count 0. */
PWL_QGEMM_SIZE uint8_t pwl_qgemm_zeros(pwl_qgemm_format format)
{
    return pwl_qgemm_is_q4(format) ? 0x88 : 0;
}

PWL_FN int16_t pwl_qgemm_scale_is_finite(pwl_qgemm_format format, uint16_t scale)
{
    if (pwl_qgemm_is_rows(format))
        return 1;
    return format == PWL_QGEMM_MXFP4 ? scale != 255 : (scale & 0x7c00) != 0x7c00;
}

/* The scale of a block in memory; rows have none. */
PWL_FN uint16_t pwl_qgemm_scale_in(pwl_qgemm_format format, const uint8_t *block)
{
    uint16_t scale = 0;
    if (format == PWL_QGEMM_MXFP4)
        scale = block[0];
    else if (!pwl_qgemm_is_rows(format))
        memcpy(&scale, block, sizeof scale);
    return scale;
}

PWL_FN pwl_qgemm_block pwl_qgemm_block_in(pwl_qgemm_format format, const uint8_t *block)
{
    const uint8_t *const q = block + pwl_qgemm_scale_bytes(format);
    pwl_qgemm_block found = {pwl_qgemm_scale_in(format, block), 0, {0}};
    found.finite = pwl_qgemm_scale_is_finite(format, found.scale);
    PWL_UNROLL
    for (int j = 0; j < pwl_qgemm_code_bytes(format); j++)
        found.q[j] = q[j];
    return found;
}

/* An element of floats; of Q4_0, which is finite where its block's scale is. */
PWL_FN float pwl_qgemm_source_element(const pwl_qgemm_source *from, const void *data, size_t at)
{
    const uint8_t *const block = (const uint8_t *)data + at / PWL_BLOCK * sizeof(pwl_block_q4_0);
    uint16_t scale;
    int code;
    if (from->from != PWL_QGEMM_FROM_Q4_0)
        return pwl_qgemm_element(from->type, data, at);
    scale = *(const uint16_t *)(const void *)block;
    code = block[sizeof scale + at % 16] >> at / 16 % 2 * 4 & 15;
    return (float)(code - 8) * pwl_f32_from_f16(scale);
}

/* The positions of what is kept of four floats: the largest two, the earlier of equals; a NaN is larger than any. */
PWL_FN unsigned pwl_qgemm_largest_two(const float v[4])
{
    unsigned kept[2] = {0, 0}, found = 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned larger = 0;
        for (unsigned j = 0; j < 4; j++) {
            const uint32_t a = pwl_bits_of_f32(v[j]) & 0x7fffffff, b = pwl_bits_of_f32(v[i]) & 0x7fffffff;
            larger += a > b || (a == b && j < i);
        }
        if (larger < 2)
            kept[found++ % 2] = i;
    }
    return kept[0] | kept[1] << 2;
}

/* Positions of block `block` of a row of SPARSE4, 4 bits for every four columns, from the low ones on. */
PWL_FN uint64_t pwl_qgemm_positions_of(const pwl_qgemm_source *from, size_t row, size_t block)
{
    const pwl_qgemm_origin origin = pwl_qgemm_origin_of(from, row);
    const size_t at = origin.row * pwl_qgemm_row_blocks(from) + block;
    const uint8_t *const stored = (const uint8_t *)origin.data + (at + 1) * pwl_qgemm_block_bytes(from->format);
    uint64_t positions = 0;
    for (unsigned i = 0; i < 16; i++) {
        float v[4];
        for (unsigned j = 0; j < 4 && pwl_qgemm_is_of_floats(from->from); j++)
            v[j] = pwl_qgemm_element(from->type, origin.data, at * 64 + i * 4 + j);
        const unsigned of_four =
            pwl_qgemm_is_of_floats(from->from) ? pwl_qgemm_largest_two(v) : stored[(int)i / 2 - 8] >> i % 2 * 4 & 15u;
        positions |= (uint64_t)of_four << 4 * i;
    }
    return positions;
}

/* 32 floats of a row, or what SPARSE4 keeps of 64. */
typedef struct pwl_qgemm_floats {
    float v[PWL_BLOCK];
} pwl_qgemm_floats;

PWL_FN pwl_qgemm_floats pwl_qgemm_floats_at(const pwl_qgemm_source *from, size_t row, size_t block)
{
    const pwl_qgemm_origin origin = pwl_qgemm_origin_of(from, row);
    const size_t at = origin.row * from->k + block * pwl_qgemm_block_columns(from->format);
    pwl_qgemm_floats w;
    if (pwl_qgemm_is_sparse(from->format)) {
        const uint64_t positions = pwl_qgemm_positions_of(from, row, block);
        for (int j = 0; j < PWL_BLOCK; j++)
            w.v[j] = pwl_qgemm_source_element(from, origin.data, at + (size_t)j / 2 * 4 + (positions >> 2 * j & 3));
        return w;
    }
    PWL_UNROLL
    for (int j = 0; j < PWL_BLOCK; j++)
        w.v[j] = pwl_qgemm_source_element(from, origin.data, at + (size_t)j);
    return w;
}

/* A code of a format of rows, the low bits of an integer. */
PWL_FN int pwl_qgemm_row_code(pwl_qgemm_format format, float v, int n_w)
{
    return format == PWL_QGEMM_ROWS8 ? pwl_qgemm_code_s8(v, n_w) : pwl_qgemm_code_s4(v, n_w) & 15;
}

/* As pwl_quantise() makes blocks; e is n_w in formats of rows. */
PWL_FN pwl_qgemm_block pwl_qgemm_block_of_floats(const pwl_qgemm_source *from, size_t row, size_t block, int e)
{
    const pwl_qgemm_format format = from->format;
    const pwl_format blocks = pwl_qgemm_block_format(format);
    const pwl_qgemm_floats w = pwl_qgemm_floats_at(from, row, block);
    const pwl_extent extent = pwl_extent_of(w.v);
    pwl_qgemm_block made = {0, (int16_t)extent.finite, {0}};
    pwl_scale scale = {0, 0, 0};
    if (!pwl_qgemm_is_rows(format)) {
        scale = pwl_scale_of(blocks, from->rule, extent);
        made.scale = scale.stored;
        made.finite = pwl_qgemm_scale_is_finite(format, scale.stored);
    }
    PWL_UNROLL
    for (int j = 0; j < PWL_BLOCK; j++) {
        const float v = extent.finite ? w.v[j] : 0;
        const int code =
            pwl_qgemm_is_rows(format) ? pwl_qgemm_row_code(format, v, e) : pwl_code_of(blocks, from->rule, scale, v);
        if (pwl_qgemm_bits(format) == 8)
            made.q[j] = (uint8_t)code;
        else
            made.q[j % 16] = (uint8_t)(j < 16 ? code : made.q[j % 16] | code << 4);
    }
    return made;
}

/* Block `block` of a row, e its exponent or n_w; outside of the matrix, weights of 0 and a scale of 0. */
PWL_FN pwl_qgemm_block pwl_qgemm_block_at(const pwl_qgemm_source *from, size_t row, size_t block, int e)
{
    const pwl_qgemm_origin origin = pwl_qgemm_origin_of(from, row);
    const size_t blocks = pwl_qgemm_row_blocks(from), at = origin.row * blocks + block;
    pwl_qgemm_block zero = {0, 1, {0}};
    if (row < from->n && block < blocks && pwl_qgemm_is_of_floats(from->from))
        return pwl_qgemm_block_of_floats(from, row, block, e);
    if (row < from->n && block < blocks)
        return pwl_qgemm_block_in(from->format,
                                  (const uint8_t *)origin.data + at * pwl_qgemm_block_bytes(from->format));
    PWL_UNROLL
    for (int j = 0; j < PWL_BLOCK; j++)
        zero.q[j] = pwl_qgemm_zeros(from->format);
    return zero;
}

/* The largest of what a block's codes count, as a magnitude; in MXFP4 the largest code without its sign. */
PWL_FN int pwl_qgemm_most_of(pwl_qgemm_format format, const uint8_t *q)
{
    int most = 0;
    PWL_UNROLL
    for (int j = 0; j < pwl_qgemm_code_bytes(format); j++) {
        const int first = pwl_qgemm_is_q4(format)     ? (q[j] & 15) - 8
                          : format == PWL_QGEMM_MXFP4 ? q[j] & 7
                                                      : (int8_t)q[j];
        const int second = pwl_qgemm_is_q4(format) ? (q[j] >> 4) - 8 : format == PWL_QGEMM_MXFP4 ? q[j] >> 4 & 7 : 0;
        const int a = first < 0 ? -first : first, b = second < 0 ? -second : second;
        most = a > most ? a : most;
        most = b > most ? b : most;
    }
    return most;
}

/* The largest that there is. */
PWL_QGEMM_SIZE int pwl_qgemm_most(pwl_qgemm_format format)
{
    if (format == PWL_QGEMM_MXFP4)
        return 7;
    return pwl_qgemm_is_q4(format) ? 8 : 128;
}

/*
 * What a row's exponent depends on, of the blocks that have a code that is not 0; of a zero's scale nothing depends.
 * MXFP4: the range of s. Q4_0, Q8_0: high is the least e that a block's weights take. Rows: high is amax, as its bits.
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

/* Of a block of a finite scale. */
PWL_FN pwl_qgemm_span pwl_qgemm_span_of(pwl_qgemm_format format, uint16_t scale, int most)
{
    pwl_qgemm_span span = pwl_qgemm_no_span();
    if (most == 0)
        return span;
    if (format == PWL_QGEMM_MXFP4) {
        span.high = span.low = scale - 127;
        return span;
    }
    /* Below 2^23, and exact. */
    float largest = (float)most * pwl_f32_from_f16(scale & 0x7fff);
    for (span.high = 0; largest > PWL_QGEMM_LARGEST; span.high++) /* to 7, for 128 * 65504 */
        largest /= 2;
    return span;
}

/* Whether a row with this span has an exponent, but where MXFP4's is 0 for all that: where its high is 1. */
PWL_FN int pwl_qgemm_is_wide(pwl_qgemm_format format, pwl_qgemm_span span)
{
    if (format == PWL_QGEMM_MXFP4)
        return (span.high > 1 || span.low < -23) && span.high >= span.low;
    return span.high > 0;
}

PWL_FN pwl_qgemm_span pwl_qgemm_span_at(const pwl_qgemm_source *from, size_t row, size_t block,
                                        const pwl_qgemm_block *of)
{
    pwl_qgemm_span span = pwl_qgemm_no_span();
    if (!pwl_qgemm_is_rows(from->format))
        return pwl_qgemm_span_of(from->format, of->scale, pwl_qgemm_most_of(from->format, of->q));
    if (pwl_qgemm_is_of_floats(from->from)) {
        const pwl_qgemm_floats w = pwl_qgemm_floats_at(from, row, block);
        span.high = (int32_t)pwl_bits_of_f32(pwl_extent_of(w.v).amax);
    }
    return span;
}

/* e of a row, or n_w, which of ROWS4 from floats depends on errors besides. */
PWL_FN int pwl_qgemm_exponent_of(const pwl_qgemm_source *from, size_t row, pwl_qgemm_span span)
{
    if (from->from == PWL_QGEMM_FROM_CODES) {
        const pwl_qgemm_origin origin = pwl_qgemm_origin_of(from, row);
        return ((const int8_t *)origin.row_data)[origin.row];
    }
    if (pwl_qgemm_is_rows(from->format))
        return pwl_qgemm_shift_of(pwl_f32_of_bits(span.high > 0 ? (uint32_t)span.high : 0));
    if (!pwl_qgemm_is_wide(from->format, span))
        return 0;
    return from->format == PWL_QGEMM_MXFP4 ? span.high - 1 : span.high;
}

/* Whether n_w of a row does. */
PWL_FN int pwl_qgemm_asks_errors(const pwl_qgemm_source *from)
{
    return from->format == PWL_QGEMM_ROWS4 && pwl_qgemm_is_of_floats(from->from);
}

/* Of a format of rows; in ROWS4 the codes are 16 times the nibbles. */
PWL_FN int32_t pwl_qgemm_sum_of(pwl_qgemm_format format, const pwl_qgemm_block *block)
{
    int32_t sum = 0;
    for (int j = 0; j < pwl_qgemm_code_bytes(format); j++) {
        const uint8_t q = block->q[j];
        sum += format == PWL_QGEMM_ROWS8 ? (int8_t)q : (int8_t)(uint8_t)(q << 4) + (int8_t)(q & 0xf0);
    }
    return sum;
}

/* What packed weights are described by; exponents: whether any row has one. */
PWL_FN pwl_qgemm_weights pwl_qgemm_weights_of(const pwl_qgemm_source *from, const void *memory, int exponents)
{
    const int32_t row_data = exponents || pwl_qgemm_has_row_data(from->format);
    const size_t pieces = pwl_qgemm_pieces_bytes(from->format, from->n, from->k);
    const size_t rows = row_data ? pwl_qgemm_row_bytes(from->format, from->n) : 0;
    const pwl_qgemm_weights weights = {memory, from->n, from->k, pieces + rows, from->format, row_data};
    return weights;
}

/* A block by its number, row * blocks of a row + block. Rows of up count on from those of the gate. */
PWL_FN pwl_qgemm_place pwl_qgemm_place_of(const pwl_qgemm_source *from, size_t number)
{
    const size_t blocks = pwl_qgemm_row_blocks(from);
    const pwl_qgemm_origin origin = pwl_qgemm_origin_of(from, number / blocks);
    const pwl_qgemm_place place = {(origin.up ? from->n / 2 : 0) + origin.row, number % blocks, 0};
    return place;
}

/* Two rows lie in the same lanes: the first of each pair, in order. */
PWL_FN size_t pwl_qgemm_pair_row(pwl_qgemm_format format, size_t pair)
{
    return pair / 8 * PWL_QGEMM_TILE_ROWS + pwl_qgemm_row_of_lane(format, (unsigned)(pair % 8));
}

/* Of two words of two bytes each, bytes 0 of both, then bytes 1. */
PWL_FN uint32_t pwl_qgemm_interleave(uint32_t first, uint32_t second)
{
#ifdef __CUDA_ARCH__
    return __byte_perm(first, second, 0x5140);
#else
    return (first & 0xff) | (second & 0xff) << 8 | (first & 0xff00) << 8 | (second & 0xff00) << 16;
#endif
}

/* What lane t's words take of a row, of 16 bytes of codes: those of columns 2t, 2t + 8, 2t + 1 and 2t + 9, in formats
 * of rows of 4t to 4t + 3. */
PWL_FN uint32_t pwl_qgemm_gather(pwl_qgemm_format format, const uint8_t *q, unsigned t)
{
    const uint8_t *const at = pwl_qgemm_is_rows(format) ? q + t * 4 : q + t * 2;
    if (pwl_qgemm_is_rows(format))
        return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    return pwl_qgemm_interleave((uint32_t)(at[0] | at[1] << 8), (uint32_t)(at[8] | at[9] << 8));
}

/* Words of nibbles, of the first 16 columns and the second, of what rows g and g + 8 give. */
PWL_FN uint32_t pwl_qgemm_low_nibbles(uint32_t g, uint32_t g8)
{
    return (g & 0x0f0f0f0f) | (g8 << 4 & 0xf0f0f0f0);
}

PWL_FN uint32_t pwl_qgemm_high_nibbles(uint32_t g, uint32_t g8)
{
    return (g >> 4 & 0x0f0f0f0f) | (g8 & 0xf0f0f0f0);
}

/* Puts the first or second block of the rows of a pair in place; r is the first one's in the piece. */
PWL_FN void pwl_qgemm_put(pwl_qgemm_format format, uint8_t *piece, unsigned r, unsigned block, const pwl_qgemm_block *g,
                          const pwl_qgemm_block *g8)
{
    uint8_t *const tile = piece + r / PWL_QGEMM_TILE_ROWS * pwl_qgemm_tile_bytes(format);
    uint8_t *const scales = piece + PWL_QGEMM_TILES * pwl_qgemm_tile_bytes(format);
    const unsigned at = pwl_qgemm_scale_at(format, r, block), blocks = pwl_qgemm_piece_blocks(format);
    for (unsigned t = 0; t < 4; t++) {
        const unsigned lane = (pwl_qgemm_is_rows(format) ? r % 16 / 2 : r % 8) * 4 + t;
        if (pwl_qgemm_bits(format) == 4) {
            uint32_t *const words = (uint32_t *)(void *)(tile + (lane * blocks + block) * 8);
            const uint32_t a = pwl_qgemm_gather(format, g->q, t), b = pwl_qgemm_gather(format, g8->q, t);
            words[0] = pwl_qgemm_low_nibbles(a, b);
            words[1] = pwl_qgemm_high_nibbles(a, b);
            continue;
        }
        for (unsigned step = 0; step < 2; step++) {
            uint32_t *const words = (uint32_t *)(void *)(tile + block * 512 + lane * 16 + step * 8);
            words[0] = pwl_qgemm_gather(format, g->q + step * 16, t);
            words[1] = pwl_qgemm_gather(format, g8->q + step * 16, t);
        }
    }
    if (format == PWL_QGEMM_MXFP4) {
        scales[at] = (uint8_t)g->scale;
        scales[at + 1] = (uint8_t)g8->scale;
    } else if (!pwl_qgemm_is_rows(format)) {
        ((uint16_t *)(void *)scales)[at] = g->scale;
        ((uint16_t *)(void *)scales)[at + 1] = g8->scale;
    }
}

/* Of what is kept of four neighbouring columns that are beyond the matrix; and of all of a block's. */
#define PWL_QGEMM_NO_POSITIONS 0x4444444444444444u

/* Puts a row's positions in place. */
PWL_FN void pwl_qgemm_put_positions(uint8_t *piece, unsigned r, uint64_t positions)
{
    for (unsigned c = 0; c < PWL_QGEMM_COLUMNS; c += 8)
        piece[pwl_qgemm_positions_at(r, c)] = (uint8_t)(positions >> c);
}

#endif
