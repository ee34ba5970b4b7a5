/* SPDX-License-Identifier: Apache-2.0 */
/* Packed weights into the order of panel.h. */
#include <string.h>

#include "gemm/check.h"
#include "panel.h"

/* What panels hold: nibbles of rows are bytes there. */
static pwl_qgemm_format panels_of(pwl_qgemm_format packed)
{
    return packed == PWL_QGEMM_ROWS4 ? PWL_QGEMM_ROWS8 : packed;
}

/* A scale as a tile has it. 2^-127 is a subnormal number. */
static uint16_t scale_of(const pwl_qgemm_weights *packed, size_t row, size_t block)
{
    const uint16_t scale = pwl_qgemm_scale(packed, row, block);
    if (packed->format == PWL_QGEMM_MXFP4)
        return (uint16_t)(scale ? scale << 7 : 0x40);
    return scale;
}

/* Codes of a row of a tile, which are 0 where they count 0; the code of column c in byte c % 4 of its group. */
static void put_codes(const pwl_qgemm_weights *packed, size_t row, size_t block, uint8_t *to)
{
    const uint8_t *const piece =
        (const uint8_t *)packed->memory + pwl_qgemm_piece_at(packed->format, packed->k, row, block * PWL_BLOCK);
    const unsigned r = (unsigned)(row % PWL_QGEMM_ROWS), first = (unsigned)(block % 2) * PWL_BLOCK;
    for (unsigned c = 0; c < PWL_BLOCK; c++) {
        const unsigned at = pwl_qgemm_code_at(packed->format, r, first + c);
        if (packed->format == PWL_QGEMM_ROWS4) {
            to[c / 4 * PWL_QGEMM_GROUP + c % 4] = (uint8_t)(piece[at / 2] >> at % 2 * 4 << 4) ^ 0x80;
        } else if (pwl_qgemm_bits(packed->format) == 8) {
            to[c / 4 * PWL_QGEMM_GROUP + c % 4] = piece[at] ^ 0x80;
        } else {
            uint8_t *const byte = &to[c % 16 / 4 * PWL_QGEMM_GROUP + c % 4];
            const unsigned code = piece[at / 2] >> at % 2 * 4 & 15;
            *byte = (uint8_t)(c < 16 ? code : *byte | code << 4);
        }
    }
}

/* Codes of a block of a super-block, as panel.h draws them, each in a byte of its group. */
static void put_super_codes(pwl_qgemm_format format, const void *from, size_t block, uint8_t *to)
{
    static const struct {
        uint8_t group, at, bit, bits; /* its bits from `bit` on are at bit `at` of a group */
    } five[3][3] = {{{0, 5, 0, 3}, {1, 6, 3, 2}},
                    {{2, 5, 0, 3}, {3, 6, 3, 2}},
                    {{4, 5, 0, 3}, {1, 5, 3, 1}, {3, 5, 4, 1}}},
      six[3] = {{0, 6, 0, 2}, {1, 6, 2, 2}, {2, 6, 4, 2}};
    for (unsigned c = 0; c < PWL_BLOCK; c++) {
        const unsigned code =
            (unsigned)pwl_super_code(pwl_qgemm_super_format(format), from, (unsigned)block * PWL_BLOCK + c);
        const unsigned j = c / 4, half = j / 4 * 3, is_five = format == PWL_QGEMM_Q5_K;
        uint8_t *const column = to + c % 4;
        if (format == PWL_QGEMM_Q4_K) {
            column[j % 4 * PWL_QGEMM_GROUP] |= (uint8_t)(code << j / 4 * 4);
        } else if (is_five ? j < 5 : j % 4 < 3) {
            column[(is_five ? j : half + j % 4) * PWL_QGEMM_GROUP] |= (uint8_t)code;
        } else {
            for (unsigned i = 0; i < 3; i++) {
                const unsigned group = is_five ? five[j - 5][i].group : half + six[i].group;
                const unsigned at = is_five ? five[j - 5][i].at : six[i].at,
                               bit = is_five ? five[j - 5][i].bit : six[i].bit;
                const unsigned bits = is_five ? five[j - 5][i].bits : six[i].bits;
                column[group * PWL_QGEMM_GROUP] |= (uint8_t)((code >> bit & ((1u << bits) - 1)) << at);
            }
        }
    }
}

/* A row of a super-block, of which `to` is the head; there are zeros. */
static void put_super_row(pwl_qgemm_format format, const void *from, size_t row, uint8_t *to)
{
    const size_t codes = pwl_qgemm_panel_codes(format), tile = pwl_qgemm_panel_tile(format);
    const pwl_sub_block first = pwl_sub_block_of(pwl_qgemm_super_format(format), from, 0);
    memcpy(to + row * sizeof first.d, &first.d, sizeof first.d);
    if (format != PWL_QGEMM_Q6_K)
        memcpy(to + (PWL_QGEMM_PANEL + row) * sizeof first.dmin, &first.dmin, sizeof first.dmin);
    to += pwl_qgemm_panel_head(format);
    for (unsigned b = 0; b < PWL_QGEMM_SUPER_TILES; b++, to += tile) {
        const pwl_sub_block even = pwl_sub_block_of(pwl_qgemm_super_format(format), from, 2 * b);
        const pwl_sub_block odd = pwl_sub_block_of(pwl_qgemm_super_format(format), from, 2 * b + 1);
        put_super_codes(format, from, b, to + pwl_qgemm_panel_row(pwl_qgemm_panel_bits(format), row));
        to[codes + row] = (uint8_t)even.scale;
        to[codes + PWL_QGEMM_PANEL + row] = (uint8_t)(format == PWL_QGEMM_Q6_K ? odd.scale : even.least);
    }
}

static void put_super_panels(const pwl_qgemm_weights *packed, uint8_t *to)
{
    const pwl_qgemm_format format = packed->format;
    const size_t each = pwl_qgemm_panel_head(format) + PWL_QGEMM_SUPER_TILES * pwl_qgemm_panel_tile(format);
    memset(to, 0, pwl_qgemm_panel_bytes(format, packed->n, packed->k, 0));
    for (size_t first = 0; first < packed->n; first += PWL_QGEMM_PANEL) {
        for (size_t c = 0; c < packed->k; c += PWL_SUPER_BLOCK, to += each) {
            for (size_t r = 0; r < PWL_QGEMM_PANEL && first + r < packed->n; r++)
                put_super_row(format, pwl_qgemm_super_at(packed, first + r, c), r, to);
        }
    }
}

/* Rows beyond N are in the packed form too, which has more of them. */
static void put_panels(const pwl_qgemm_weights *packed, uint8_t *to)
{
    const pwl_qgemm_format format = panels_of(packed->format);
    const size_t codes = pwl_qgemm_panel_codes(format), tile = pwl_qgemm_panel_tile(format);
    for (size_t first = 0; first < packed->n; first += PWL_QGEMM_PANEL) {
        for (size_t b = 0; b < packed->k / PWL_BLOCK; b++, to += tile) {
            for (size_t r = 0; r < PWL_QGEMM_PANEL; r++) {
                const uint16_t scale = format == PWL_QGEMM_ROWS8 ? 0 : scale_of(packed, first + r, b);
                put_codes(packed, first + r, b, to + pwl_qgemm_panel_row(codes / (2 * PWL_QGEMM_GROUP), r));
                if (format != PWL_QGEMM_ROWS8)
                    memcpy(to + codes + r * sizeof scale, &scale, sizeof scale);
            }
        }
    }
}

/* Whether there are exponents of rows, and in ROWS8 sums. */
static int has_row_data(const pwl_qgemm_weights *packed)
{
    return (packed->row_data && !pwl_qgemm_is_e4m3(packed->format)) || pwl_qgemm_is_rows(packed->format);
}

static void put_row_data(const pwl_qgemm_weights *packed, uint8_t *to)
{
    const size_t rows = pwl_qgemm_panel_rows(packed->n);
    int8_t *const exponents =
        (int8_t *)to + pwl_qgemm_panel_exponents_at(panels_of(packed->format), packed->n, packed->k);
    to += pwl_qgemm_panel_sums_at(panels_of(packed->format), packed->n, packed->k);
    for (size_t row = 0; row < rows; row++) {
        const int32_t sum = pwl_qgemm_is_rows(packed->format) ? pwl_qgemm_row_sum(packed, row) : 0;
        if (pwl_qgemm_is_rows(packed->format))
            memcpy(to + row * sizeof sum, &sum, sizeof sum);
        exponents[row] = (int8_t)pwl_qgemm_row_exponent(packed, row);
    }
}

pwl_qgemm_status pwl_qgemm_panels_bytes(const pwl_qgemm_weights *packed, size_t *bytes)
{
    const pwl_qgemm_status status = pwl_qgemm_check_weights(packed);
    if (status != PWL_QGEMM_OK)
        return status;
    if (pwl_qgemm_is_e4m3(packed->format) || pwl_qgemm_is_sparse(packed->format))
        return PWL_QGEMM_ERR_FORMAT;
    if (!bytes)
        return PWL_QGEMM_ERR_NULL;
    *bytes = pwl_qgemm_panel_bytes(panels_of(packed->format), packed->n, packed->k, has_row_data(packed)) +
             PWL_QGEMM_LINE - 1;
    return PWL_QGEMM_OK;
}

pwl_qgemm_status pwl_qgemm_arrange(const pwl_qgemm_weights *packed, void *memory, size_t bytes,
                                   pwl_qgemm_panels *panels)
{
    uint8_t *to = memory;
    size_t wanted;
    const pwl_qgemm_status status = pwl_qgemm_panels_bytes(packed, &wanted);
    if (status != PWL_QGEMM_OK)
        return status;
    if (!memory || !panels)
        return PWL_QGEMM_ERR_NULL;
    if (bytes < wanted)
        return PWL_QGEMM_ERR_SPACE;
    if (pwl_qgemm_overlap(memory, bytes, packed->memory, packed->bytes))
        return PWL_QGEMM_ERR_OVERLAP;
    to += pwl_qgemm_to_line(memory);
    if (pwl_qgemm_is_super(packed->format))
        put_super_panels(packed, to);
    else
        put_panels(packed, to);
    if (has_row_data(packed))
        put_row_data(packed, to);
    *panels = (pwl_qgemm_panels){to, packed->n, packed->k, wanted - (PWL_QGEMM_LINE - 1), panels_of(packed->format)};
    return PWL_QGEMM_OK;
}
