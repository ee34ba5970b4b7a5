/* SPDX-License-Identifier: Apache-2.0 */
/* Weights and activations of FP8 and MXFP4_FP8: into the order of fp8.h and back. */
#include <string.h>

#include "check.h"
#include "pack_fp8.h"

/* A place in packed weights of e4m3 formats. */
static uint8_t *piece_of(const pwl_qgemm_weights *made, size_t row, size_t column)
{
    return (uint8_t *)(uintptr_t)made->memory + pwl_qgemm_piece_at(made->format, made->k, row, column);
}

/* In a row whose scale is 2^power. */
static void put_block(const pwl_qgemm_weights *made, size_t row, size_t number, const pwl_block_mxfp4 *block, int power)
{
    uint8_t *const piece = piece_of(made, row, number * PWL_BLOCK);
    const unsigned r = (unsigned)(row % PWL_QGEMM_ROWS), later = (unsigned)(number % 2);
    for (unsigned j = 0; j < PWL_BLOCK; j++) {
        const pwl_qgemm_e2m1_place at = pwl_qgemm_e2m1_at(r, later * PWL_BLOCK + j);
        uint32_t *const word = (uint32_t *)(void *)piece + at.word;
        int exact;
        const uint32_t code = pwl_qgemm_code_e2m1(block, j, power, &exact);
        *word |= (code & 7) << at.magnitude | code >> 3 << at.sign;
    }
    piece[PWL_QGEMM_TILES * pwl_qgemm_tile_bytes(made->format) + pwl_qgemm_scale_at(made->format, r, later)] =
        pwl_qgemm_shift_code(block, power);
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

/* What a row's blocks come to; *bad = the first of a scale of NaN, or as many as there are. */
static pwl_qgemm_powers powers_of_row(const pwl_block_mxfp4 *row, size_t count, size_t *bad)
{
    pwl_qgemm_powers of = pwl_qgemm_no_powers();
    for (*bad = 0; *bad < count && row[*bad].e != PWL_QGEMM_NAN_SCALE; ++*bad)
        of = pwl_qgemm_join_powers(of, pwl_qgemm_powers_of(&row[*bad]));
    return of;
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
        size_t nan;
        const pwl_qgemm_powers of = powers_of_row(blocks, count, &nan);
        if (nan < count)
            return refuse(PWL_QGEMM_ERR_SCALE, from, row, nan, bad);
        if (of.high - of.low > most)
            most = of.high - of.low;
        for (size_t b = 0; b < count && from->spread == PWL_QGEMM_SPREAD_EXACT && status == PWL_QGEMM_OK; b++) {
            if (!pwl_qgemm_is_exact(&blocks[b], pwl_qgemm_row_power(of)))
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
        size_t nan;
        const int r = pwl_qgemm_row_power(powers_of_row(blocks, count, &nan));
        for (size_t b = 0; b < count; b++)
            put_block(made, row, b, &blocks[b], r);
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
            if (pwl_qgemm_is_nan_e4m3(w[c]))
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
