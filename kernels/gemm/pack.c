/* SPDX-License-Identifier: Apache-2.0 */
/* Weights into the order of layout.h and back. Everything is checked before the first byte is written. */
#include <string.h>

#include "check.h"
#include "source.h"
#include "super.h"

/* e of a row, or n_w; *finite = the blocks before the first that is not finite. */
static int exponent_of(const pwl_qgemm_source *from, size_t row, size_t *finite)
{
    pwl_qgemm_span span = pwl_qgemm_no_span();
    const size_t blocks = pwl_qgemm_row_blocks(from);
    for (*finite = 0; *finite < blocks; ++*finite) {
        const pwl_qgemm_block block = pwl_qgemm_block_at(from, row, *finite, 0);
        if (!block.finite)
            break;
        span = pwl_qgemm_join(span, pwl_qgemm_span_at(from, row, *finite, &block));
    }
    const int e = pwl_qgemm_exponent_of(from, row, span);
    if (*finite < blocks || !pwl_qgemm_asks_errors(from) || span.high <= 0)
        return e;
    pwl_qgemm_errors_s4 errors = {{0}};
    for (size_t b = 0; b < blocks; b++) {
        const pwl_qgemm_floats w = pwl_qgemm_floats_at(from, row, b);
        for (size_t j = 0; j < PWL_BLOCK; j++)
            pwl_qgemm_add_errors_s4(&errors, w.v[j], e);
    }
    return pwl_qgemm_shift_s4(&errors, e);
}

/* Whether all weights are finite, else where one is not; and whether any row needs an exponent. */
static int survey(const pwl_qgemm_source *from, int *exponents, pwl_qgemm_place *bad)
{
    *exponents = 0;
    for (size_t row = 0; row < from->n; row++) {
        size_t finite;
        *exponents |= exponent_of(from, row, &finite) != 0;
        if (finite < pwl_qgemm_row_blocks(from)) {
            if (bad)
                *bad = pwl_qgemm_place_of(from, row * pwl_qgemm_row_blocks(from) + finite);
            return 0;
        }
    }
    return 1;
}

/* Whether four columns of a row of SPARSE4 can be what was asked for: two ascending positions, or floats of which two
 * at least are 0 where nothing is to be left out. */
static int is_two_of_four(const pwl_qgemm_source *from, size_t row, size_t four, uint64_t positions)
{
    const pwl_qgemm_origin origin = pwl_qgemm_origin_of(from, row);
    const unsigned of_four = (unsigned)(positions >> four % 16 * 4 & 15);
    int kept = 0;
    if (from->from == PWL_QGEMM_FROM_BLOCKS)
        return (of_four & 3) < of_four >> 2;
    for (size_t j = 0; j < 4; j++)
        kept += pwl_qgemm_element(from->type, origin.data, origin.row * from->k + four * 4 + j) != 0;
    return kept <= 2 || from->spread == PWL_QGEMM_SPREAD_PRUNED;
}

static int survey_fours(const pwl_qgemm_source *from, pwl_qgemm_place *bad)
{
    const size_t blocks = pwl_qgemm_row_blocks(from);
    for (size_t i = 0; i < from->n * blocks; i++) {
        const uint64_t positions = pwl_qgemm_positions_of(from, i / blocks, i % blocks);
        for (size_t four = i % blocks * 16; four < (i % blocks + 1) * 16; four++) {
            if (is_two_of_four(from, i / blocks, four, positions))
                continue;
            if (bad) {
                *bad = pwl_qgemm_place_of(from, i);
                bad->block = four;
            }
            return 0;
        }
    }
    return 1;
}

/* Two rows that lie in the same lanes, with what belongs to them. */
static void put_rows(const pwl_qgemm_source *from, size_t row, const pwl_qgemm_weights *made)
{
    uint8_t *const to = (uint8_t *)(uintptr_t)made->memory;
    const size_t apart = pwl_qgemm_rows_apart(from->format);
    int32_t sums[2] = {0, 0};
    int e[2] = {0, 0};
    for (size_t i = 0; i < 2 && made->row_data; i++) {
        size_t finite;
        if (row + i * apart < from->n)
            e[i] = exponent_of(from, row + i * apart, &finite);
        to[pwl_qgemm_row_exponent_at(made, row + i * apart)] = (uint8_t)e[i];
    }
    const unsigned r = (unsigned)(row % PWL_QGEMM_ROWS), each = pwl_qgemm_piece_blocks(from->format);
    for (size_t b = 0; b < pwl_qgemm_depth(from->k) * each; b++) {
        const pwl_qgemm_block g = pwl_qgemm_block_at(from, row, b, e[0]);
        const pwl_qgemm_block g8 = pwl_qgemm_block_at(from, row + apart, b, e[1]);
        uint8_t *const piece =
            to + pwl_qgemm_piece_at(from->format, from->k, row, b * pwl_qgemm_block_columns(from->format));
        pwl_qgemm_put(from->format, piece, r, (unsigned)(b % each), &g, &g8);
        for (size_t i = 0; i < 2 && pwl_qgemm_is_sparse(from->format); i++)
            pwl_qgemm_put_positions(piece, r + (unsigned)(i * apart),
                                    row + i * apart < from->n ? pwl_qgemm_positions_of(from, row + i * apart, b)
                                                              : PWL_QGEMM_NO_POSITIONS);
        if (pwl_qgemm_is_rows(from->format)) { /* at most 65793 * 128 */
            sums[0] += pwl_qgemm_sum_of(from->format, &g);
            sums[1] += pwl_qgemm_sum_of(from->format, &g8);
        }
    }
    for (size_t i = 0; i < 2 && pwl_qgemm_is_rows(from->format); i++)
        memcpy(to + pwl_qgemm_row_sum_at(made, row + i * apart), &sums[i], sizeof sums[i]);
}

/* Whether both scales of a super-block are finite. */
static int is_super_finite(pwl_qgemm_format format, const void *block)
{
    const pwl_sub_block sub = pwl_sub_block_of(pwl_qgemm_super_format(format), block, 0);
    return (sub.d & 0x7c00) != 0x7c00 && (sub.dmin & 0x7c00) != 0x7c00;
}

/* Rows as they are; those of a pair in turns. */
static pwl_qgemm_status pack_super(const pwl_qgemm_source *from, void *memory, pwl_qgemm_weights *weights,
                                   pwl_qgemm_place *bad)
{
    const size_t row_bytes = pwl_qgemm_super_bytes(from->format, 1, from->k), blocks = from->k / PWL_SUPER_BLOCK;
    const size_t bytes = row_bytes / blocks, each = PWL_SUPER_BLOCK / PWL_BLOCK;
    for (size_t i = 0; i < from->n * blocks; i++) {
        const pwl_qgemm_origin origin = pwl_qgemm_origin_of(from, i / blocks);
        if (!is_super_finite(from->format, (const uint8_t *)origin.data + (origin.row * blocks + i % blocks) * bytes)) {
            if (bad)
                *bad = pwl_qgemm_place_of(from, i * each);
            return PWL_QGEMM_ERR_SCALE;
        }
    }
    for (size_t row = 0; row < from->n; row++) {
        const pwl_qgemm_origin origin = pwl_qgemm_origin_of(from, row);
        memcpy((uint8_t *)memory + row * row_bytes, (const uint8_t *)origin.data + origin.row * row_bytes, row_bytes);
    }
    *weights = (pwl_qgemm_weights){memory, from->n, from->k, from->n * row_bytes, from->format, 0};
    return PWL_QGEMM_OK;
}

static pwl_qgemm_status pack_pieces(const pwl_qgemm_source *from, void *memory, size_t bytes,
                                    pwl_qgemm_weights *weights, pwl_qgemm_place *bad)
{
    pwl_qgemm_weights made;
    int exponents;
    if (!survey(from, &exponents, bad))
        return PWL_QGEMM_ERR_SCALE;
    if (pwl_qgemm_is_sparse(from->format) && !survey_fours(from, bad))
        return PWL_QGEMM_ERR_SPARSE;
    made = pwl_qgemm_weights_of(from, memory, exponents);
    if (bytes < made.bytes)
        return PWL_QGEMM_ERR_SPACE;
    for (size_t pair = 0; pair < pwl_qgemm_round_up(from->n, PWL_QGEMM_ROWS) / 2; pair++)
        put_rows(from, pwl_qgemm_pair_row(from->format, pair), &made);
    *weights = made;
    return PWL_QGEMM_OK;
}

pwl_qgemm_status pwl_qgemm_weights_bytes(pwl_qgemm_format format, size_t n, size_t k, size_t *bytes)
{
    const pwl_qgemm_status status = pwl_qgemm_check_shape(format, n, k);
    if (!bytes)
        return PWL_QGEMM_ERR_NULL;
    if (status == PWL_QGEMM_OK)
        *bytes = pwl_qgemm_is_super(format) ? pwl_qgemm_super_bytes(format, n, k)
                                            : pwl_qgemm_pieces_bytes(format, n, k) + pwl_qgemm_row_bytes(format, n);
    return status;
}

pwl_qgemm_status pwl_qgemm_pack(pwl_qgemm_source source, void *memory, size_t bytes, pwl_qgemm_weights *weights,
                                pwl_qgemm_place *bad)
{
    pwl_qgemm_source from;
    pwl_qgemm_status status = pwl_qgemm_resolve(&source, &from);
    if (status == PWL_QGEMM_OK)
        status = pwl_qgemm_check_source(&from, memory, bytes, weights);
    if (status != PWL_QGEMM_OK)
        return status;
    if (pwl_qgemm_is_super(from.format))
        return pack_super(&from, memory, weights, bad);
    if (pwl_qgemm_is_e4m3(from.format))
        return pwl_qgemm_pack_e4m3(&from, memory, weights, bad);
    return pack_pieces(&from, memory, bytes, weights, bad);
}

static void unpack_sparse(const pwl_qgemm_weights *weights, pwl_block_sparse4 *block)
{
    for (size_t row = 0; row < weights->n; row++) {
        const unsigned r = (unsigned)(row % PWL_QGEMM_ROWS);
        for (size_t c = 0; c < weights->k; c += PWL_QGEMM_COLUMNS, block++) {
            const uint8_t *const piece =
                (const uint8_t *)weights->memory + pwl_qgemm_piece_at(weights->format, weights->k, row, c);
            block->d = pwl_qgemm_scale(weights, row, c / PWL_BLOCK);
            for (unsigned i = 0; i < sizeof block->positions; i++)
                block->positions[i] = piece[pwl_qgemm_positions_at(r, i * 8)];
            for (unsigned j = 0; j < sizeof block->qs; j++) {
                const unsigned low = pwl_qgemm_code_at(weights->format, r, j),
                               high = pwl_qgemm_code_at(weights->format, r, j + 16);
                block->qs[j] =
                    (uint8_t)((piece[low / 2] >> low % 2 * 4 & 15) | (piece[high / 2] >> high % 2 * 4 & 15) << 4);
            }
        }
    }
}

pwl_qgemm_status pwl_qgemm_unpack(const pwl_qgemm_weights *weights, void *blocks)
{
    const pwl_qgemm_status status = pwl_qgemm_check_weights(weights);
    uint8_t *block = blocks;
    if (status != PWL_QGEMM_OK)
        return status;
    if (pwl_qgemm_has_row_data(weights->format))
        return PWL_QGEMM_ERR_FORMAT;
    if (!blocks)
        return PWL_QGEMM_ERR_NULL;
    if ((uintptr_t)blocks % pwl_qgemm_scale_bytes(weights->format))
        return PWL_QGEMM_ERR_ALIGN;
    if (pwl_qgemm_is_super(weights->format)) {
        memcpy(blocks, weights->memory, weights->bytes);
        return PWL_QGEMM_OK;
    }
    if (pwl_qgemm_is_sparse(weights->format)) {
        unpack_sparse(weights, blocks);
        return PWL_QGEMM_OK;
    }
    for (size_t row = 0; row < weights->n; row++) {
        for (size_t c = 0; c < weights->k; c += PWL_BLOCK, block += pwl_qgemm_block_bytes(weights->format)) {
            const uint16_t scale = pwl_qgemm_scale(weights, row, c / PWL_BLOCK);
            uint8_t *const qs = block + pwl_qgemm_scale_bytes(weights->format);
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
    if (!pwl_qgemm_is_rows(weights->format))
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

float pwl_qgemm_amax_of(const float *x, size_t k)
{
    float amax = 0;
    for (size_t i = 0; i < k; i++) {
        if (pwl_is_finite(x[i]) && pwl_magnitude(x[i]) > amax)
            amax = pwl_magnitude(x[i]);
    }
    return amax;
}

pwl_qgemm_status pwl_qgemm_quantise_s8(const float *x, size_t m, size_t k, size_t stride, int8_t *q_x, int8_t *n_x)
{
    if (!x || !q_x || !n_x)
        return PWL_QGEMM_ERR_NULL;
    const pwl_qgemm_status status = pwl_qgemm_check_rows(x, sizeof *x, m, k, stride);
    if (status != PWL_QGEMM_OK)
        return status;
    for (size_t row = 0; row < m; row++) {
        const float *const from = x + row * stride;
        n_x[row] = (int8_t)pwl_qgemm_shift_of(pwl_qgemm_amax_of(from, k));
        for (size_t c = 0; c < k; c++)
            q_x[row * k + c] = (int8_t)pwl_qgemm_code_s8(from[c], n_x[row]);
    }
    return PWL_QGEMM_OK;
}
