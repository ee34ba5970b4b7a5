/* SPDX-License-Identifier: Apache-2.0 */
/* Weights and activations of FP8 and MXFP4_FP8: into the order of fp8.h and back. */
#include <string.h>

#include "check.h"
#include "fp8.h"

#define NAN_CODE 0x7f
#define NAN_SCALE 255

/* Of E2M1 without its sign, not 0: the power of two in its value. */
static int power_of_code(unsigned code)
{
    return (int)(code / 2) - 1;
}

/* The largest code of a block without its sign. */
static unsigned most_of(const pwl_block_mxfp4 *block)
{
    unsigned most = 0;
    for (size_t j = 0; j < PWL_BLOCK / 2; j++) {
        const unsigned low = block->qs[j] & 7, high = block->qs[j] >> 4 & 7;
        most = low > most ? low : most;
        most = high > most ? high : most;
    }
    return most;
}

/* What the blocks of a row come to. */
typedef struct row_span {
    int high, low, is_zero; /* p; the lowest power of a block with a code that is not 0 */
    size_t bad;             /* the first block of a scale of NaN, or as many as there are */
} row_span;

static row_span span_of(const pwl_block_mxfp4 *row, size_t count)
{
    row_span span = {-256, 256, 1, 0};
    for (span.bad = 0; span.bad < count && row[span.bad].e != NAN_SCALE; span.bad++) {
        const unsigned most = most_of(&row[span.bad]);
        const int power = row[span.bad].e - 127, high = most ? power + power_of_code(most) : -256;
        if (!most)
            continue;
        span.is_zero = 0;
        span.high = high > span.high ? high : span.high;
        span.low = power < span.low ? power : span.low;
    }
    return span;
}

/* The power of two of a row's scale: its largest magnitude becomes 256 or 384. */
static int row_power(row_span span)
{
    if (span.is_zero)
        return 0;
    return span.high - 8 < -126 ? -126 : span.high - 8;
}

/*
 * A code without its sign in a block that lies `down` powers of two too low, as one of a block that does not: in units
 * of half, E2M1 is 0, 1, 2, 3, 4, 6, 8 and 12. Rounded, ties to even, where *exact says that it must be. 5 does not
 * occur.
 */
static unsigned raised(unsigned code, int down, int *exact)
{
    static const uint8_t halves[8] = {0, 1, 2, 3, 4, 6, 8, 12}, code_of[7] = {0, 1, 2, 3, 4, 4, 5};
    const unsigned v = halves[code], shift = down < 5 ? (unsigned)down : 5; /* 12 / 32 is 0 rounded */
    const unsigned units = (v + (1u << shift >> 1) - (1 - (v >> shift & 1))) >> shift;
    *exact = units << shift == v;
    return code_of[units];
}

/* The codes of a block in a row of a scale 2^r, one to a byte, and what is stored of its scale; whether exact. */
static int make_block(const pwl_block_mxfp4 *block, int r, uint8_t codes[PWL_BLOCK], uint8_t *scale)
{
    const int shift = block->e - 127 - r, down = PWL_QGEMM_LOWEST_SHIFT - shift;
    int exact = 1;
    *scale = 0;
    for (size_t j = 0; j < PWL_BLOCK; j++)
        codes[j] = block->qs[j % 16] >> j / 16 * 4 & 15;
    if (most_of(block) == 0)
        return 1;
    if (down <= 0) {
        *scale = (uint8_t)(8 * (shift - PWL_QGEMM_LOWEST_SHIFT));
        return 1;
    }
    for (size_t j = 0; j < PWL_BLOCK; j++) {
        int is_exact;
        codes[j] = (uint8_t)((codes[j] & 8) | raised(codes[j] & 7, down, &is_exact));
        exact &= is_exact;
    }
    return exact;
}

/* A place in packed weights of e4m3 formats. */
static uint8_t *piece_of(const pwl_qgemm_weights *made, size_t row, size_t column)
{
    return (uint8_t *)(uintptr_t)made->memory + pwl_qgemm_piece_at(made->format, made->k, row, column);
}

static void put_block(const pwl_qgemm_weights *made, size_t row, size_t block, const uint8_t codes[PWL_BLOCK],
                      uint8_t scale)
{
    uint8_t *const piece = piece_of(made, row, block * PWL_BLOCK);
    const unsigned r = (unsigned)(row % PWL_QGEMM_ROWS), first = (unsigned)(block % 2 * PWL_BLOCK);
    for (unsigned j = 0; j < PWL_BLOCK; j++) {
        const pwl_qgemm_e2m1_place at = pwl_qgemm_e2m1_at(r, first + j);
        uint32_t *const word = (uint32_t *)(void *)piece + at.word;
        *word |= (uint32_t)(codes[j] & 7) << at.magnitude | (uint32_t)(codes[j] >> 3) << at.sign;
    }
    piece[PWL_QGEMM_TILES * pwl_qgemm_tile_bytes(made->format) + pwl_qgemm_scale_at(r, (unsigned)(block % 2))] = scale;
}

static void put_row_scale(const pwl_qgemm_weights *made, size_t row, float scale)
{
    uint8_t *const rows = (uint8_t *)(uintptr_t)made->memory + pwl_qgemm_pieces_bytes(made->format, made->n, made->k);
    memcpy(rows + row * sizeof scale, &scale, sizeof scale);
}

static pwl_qgemm_status refuse(pwl_qgemm_status status, const pwl_qgemm_source *from, size_t row, size_t block,
                               pwl_qgemm_place *bad)
{
    if (bad)
        *bad = pwl_qgemm_place_of(from, row * (from->k / PWL_BLOCK) + block);
    return status;
}

static const pwl_block_mxfp4 *blocks_of(const pwl_qgemm_source *from, size_t row)
{
    const pwl_qgemm_origin origin = pwl_qgemm_origin_of(from, row);
    return (const pwl_block_mxfp4 *)origin.data + origin.row * (from->k / PWL_BLOCK);
}

/* Nothing is written until every row has been looked at. */
static pwl_qgemm_status survey_mxfp4(const pwl_qgemm_source *from, pwl_qgemm_place *bad)
{
    const size_t count = from->k / PWL_BLOCK;
    pwl_qgemm_status status = PWL_QGEMM_OK;
    int32_t most = 0;
    for (size_t row = 0; row < from->n; row++) {
        const pwl_block_mxfp4 *const blocks = blocks_of(from, row);
        const row_span span = span_of(blocks, count);
        if (span.bad < count)
            return refuse(PWL_QGEMM_ERR_SCALE, from, row, span.bad, bad);
        if (!span.is_zero && span.high - span.low > most)
            most = span.high - span.low;
        for (size_t b = 0; b < count && from->spread == PWL_QGEMM_SPREAD_EXACT && status == PWL_QGEMM_OK; b++) {
            uint8_t codes[PWL_BLOCK], scale;
            if (!make_block(&blocks[b], row_power(span), codes, &scale))
                status = refuse(PWL_QGEMM_ERR_SPREAD, from, row, b, bad);
        }
    }
    if (bad)
        bad->apart = most;
    return status;
}

static void put_mxfp4(const pwl_qgemm_source *from, const pwl_qgemm_weights *made)
{
    const size_t count = from->k / PWL_BLOCK;
    for (size_t row = 0; row < from->n; row++) {
        const pwl_block_mxfp4 *const blocks = blocks_of(from, row);
        const int r = row_power(span_of(blocks, count));
        for (size_t b = 0; b < count; b++) {
            uint8_t codes[PWL_BLOCK], scale;
            (void)make_block(&blocks[b], r, codes, &scale);
            put_block(made, row, b, codes, scale);
        }
        put_row_scale(made, row, pwl_f32_of_bits((uint32_t)(r + 127) << 23));
    }
}

static const uint8_t *codes_of(const pwl_qgemm_source *from, size_t row)
{
    const pwl_qgemm_origin origin = pwl_qgemm_origin_of(from, row);
    return (const uint8_t *)origin.data + origin.row * from->k;
}

static float scale_of(const pwl_qgemm_source *from, size_t row)
{
    const pwl_qgemm_origin origin = pwl_qgemm_origin_of(from, row);
    return ((const float *)origin.row_data)[origin.row];
}

static pwl_qgemm_status survey_rows(const pwl_qgemm_source *from, pwl_qgemm_place *bad)
{
    for (size_t row = 0; row < from->n; row++) {
        const uint8_t *const w = codes_of(from, row);
        if (!pwl_is_finite(scale_of(from, row)))
            return refuse(PWL_QGEMM_ERR_SCALE, from, row, 0, bad);
        for (size_t c = 0; c < from->k; c++)
            if ((w[c] & 0x7f) == NAN_CODE)
                return refuse(PWL_QGEMM_ERR_SCALE, from, row, c / PWL_BLOCK, bad);
    }
    return PWL_QGEMM_OK;
}

static void put_rows(const pwl_qgemm_source *from, const pwl_qgemm_weights *made)
{
    for (size_t row = 0; row < from->n; row++) {
        const uint8_t *const w = codes_of(from, row);
        for (size_t c = 0; c < from->k; c++)
            piece_of(made, row,
                     c)[pwl_qgemm_e4m3_at((unsigned)(row % PWL_QGEMM_ROWS), (unsigned)(c % PWL_QGEMM_COLUMNS))] = w[c];
        put_row_scale(made, row, scale_of(from, row));
    }
}

pwl_qgemm_status pwl_qgemm_pack_e4m3(const pwl_qgemm_source *from, void *memory, pwl_qgemm_weights *weights,
                                     pwl_qgemm_place *bad)
{
    const int of_blocks = from->format == PWL_QGEMM_MXFP4_E4M3;
    const pwl_qgemm_weights made = pwl_qgemm_weights_of(from, memory, 1);
    const pwl_qgemm_status status = (of_blocks ? survey_mxfp4 : survey_rows)(from, bad);
    if (status != PWL_QGEMM_OK)
        return status;
    memset(memory, 0, made.bytes);
    (of_blocks ? put_mxfp4 : put_rows)(from, &made);
    *weights = made;
    return PWL_QGEMM_OK;
}

pwl_qgemm_status pwl_qgemm_unpack_e4m3(const pwl_qgemm_weights *weights, uint8_t *w, float *s)
{
    const pwl_qgemm_status status = pwl_qgemm_check_weights(weights);
    if (status != PWL_QGEMM_OK)
        return status;
    if (!pwl_qgemm_is_e4m3(weights->format))
        return PWL_QGEMM_ERR_FORMAT;
    if (!w || !s)
        return PWL_QGEMM_ERR_NULL;
    if ((uintptr_t)s % sizeof *s)
        return PWL_QGEMM_ERR_ALIGN;
    for (size_t row = 0; row < weights->n; row++) {
        for (size_t c = 0; c < weights->k; c++)
            w[row * weights->k + c] = pwl_qgemm_weight_e4m3(weights, row, c);
        s[row] = pwl_qgemm_row_scale(weights, row);
    }
    return PWL_QGEMM_OK;
}

pwl_qgemm_status pwl_qgemm_quantise_e4m3(const float *x, size_t m, size_t k, size_t stride, uint8_t *q, float *scale)
{
    if (!x || !q || !scale)
        return PWL_QGEMM_ERR_NULL;
    const pwl_qgemm_status status = pwl_qgemm_check_rows(x, sizeof *x, m, k, stride);
    if (status != PWL_QGEMM_OK)
        return status;
    if ((uintptr_t)scale % sizeof *scale)
        return PWL_QGEMM_ERR_ALIGN;
    for (size_t row = 0; row < m; row++) {
        const float *const from = x + row * stride;
        scale[row] = pwl_e4m3_scale(pwl_qgemm_amax_of(from, k));
        const float inverse = pwl_e4m3_inverse(scale[row]);
        for (size_t c = 0; c < k; c++)
            q[row * k + c] = pwl_e4m3_code(from[c], inverse);
    }
    return PWL_QGEMM_OK;
}
