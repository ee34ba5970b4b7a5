/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where packed weights and activations lie, for the host and for devices.
 *
 * Weights are operand A of every matrix instruction. A tile of 16 rows and 64 columns is in the order of the fragments
 * of mma.m16n8k16: lane l, with g = l / 4 and t = l % 4, has in each of four steps of 16 columns the pairs
 *     0: row g, columns 2t, 2t + 1          1: row g + 8, the same
 *     2: row g, columns 2t + 8, 2t + 9      3: row g + 8, the same
 * which are its registers a0 to a3. (wgmma's m64k16 fragment of a warpgroup is four such tiles, one a warp.)
 *   4 bits   a word for each lane and step, pair p in its nibbles p and p + 4, as the conversions of bits.cuh to halves
 *            give them back; a lane's four words lie together, for one load of 16 bytes. 512 bytes a tile.
 *   8 bits   two words for each lane and step: row g's, then row g + 8's, with columns 2t, 2t + 8, 2t + 1, 2t + 9 in
 *            bytes 0 to 3. Bytes 0 and 2, 1 and 3 are pairs, which is bits.cuh's packed order. 16 bytes of each lane
 *            for steps 0 and 1, then those for steps 2 and 3. 1024 bytes a tile.
 *   ROWS8    as 8 bits, but that columns are those of mma.m16n8k32, 4t to 4t + 3 of a step in bytes 0 to 3, so that X
 * may lie as it is; and that rows 2g and 2g + 1 have the places of rows g and g + 8, so that a lane has neighbouring
 * columns of Y.
 *   ROWS4    these rows and columns: a word for each lane and step, row 2g in the low nibbles and row 2g + 1 in the
 * high ones, each the upper half of an int8 whose lower half is 0. 512 bytes a tile.
 *
 * Turned to bytes by bits.cuh, a word of nibbles becomes the two words of the 8-bit order, so the operand of
 * mma.m16n8k32, which wants columns 4t to 4t + 3 and 16 + 4t to 16 + 4t + 3 of a lane, takes both with K permuted: its
 * column 16h + 4t + j is the matrix's 16h + 2t + j / 2 + 8 (j % 2). Activations in bytes lie in that order, but for
 * rows of ROWS8 and ROWS4 in the matrix's.
 *
 * SPARSE4 keeps two of every four neighbouring columns, 32 of a piece's 64, which lie as 4 bits above, in two steps: a
 * lane's two words together, 256 bytes a tile. Behind them is a word for each lane with the positions of what is kept
 * of columns 16t to 16t + 15: in its low half those of row g, in the high half row g + 8's, 4 bits for every four
 * columns, the first position below the second. wgmma.sp takes such words from lanes 0 and 1 of each four for the first
 * 32 columns, from lanes 2 and 3 for the others. 384 bytes a tile; and each row has one scale.
 *
 * fp8.h says how weights lie that are multiplied as E4M3.
 *
 * A piece is 128 rows and 64 columns: eight tiles, then their scales, as one run of bytes for a bulk copy: 4608 (Q4_0),
 * 8704 (Q8_0), 4352 (MXFP4, MXFP4_E4M3), 8192 (ROWS8, ROWS_E4M3), 4096 (ROWS4) or 3328 (SPARSE4), all multiples of
 * 128. Scales are in the order tile, g, block of 32 columns, row g or g + 8: what a lane needs is together. Pieces of
 * the same rows follow each other.
 *
 * Activations in bytes: for every 64 columns, the 64 bytes of each token, of M up to a multiple of 8; then for every 64
 * columns, d (fp16) and the sum of the codes (int16) of the two blocks of each token. What lies outside X is 0.
 */
#ifndef PWL_QGEMM_LAYOUT_H
#define PWL_QGEMM_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include <pwl/fixed.h>
#include <pwl/qgemm.h>

#define PWL_QGEMM_ROWS 128   /* of a piece */
#define PWL_QGEMM_COLUMNS 64 /* of a piece */
#define PWL_QGEMM_TILE_ROWS 16
#define PWL_QGEMM_TILES (PWL_QGEMM_ROWS / PWL_QGEMM_TILE_ROWS)

/* Sizes that device code has at compile time. */
#ifdef __cplusplus
#define PWL_QGEMM_SIZE constexpr PWL_FN
#else
#define PWL_QGEMM_SIZE PWL_FN
#endif

PWL_FN size_t pwl_qgemm_round_up(size_t count, size_t to)
{
    return (count + (to - 1)) / to * to;
}

/* Whether weights are integers with one power of two for each row; else they come in blocks. */
PWL_QGEMM_SIZE int pwl_qgemm_is_rows(pwl_qgemm_format format)
{
    return format == PWL_QGEMM_ROWS8 || format == PWL_QGEMM_ROWS4;
}

/* Whether weights are multiplied as E4M3 (fp8.h). */
PWL_QGEMM_SIZE int pwl_qgemm_is_e4m3(pwl_qgemm_format format)
{
    return format == PWL_QGEMM_ROWS_E4M3 || format == PWL_QGEMM_MXFP4_E4M3;
}

/* Whether packed weights have row data whatever the rows are. */
PWL_QGEMM_SIZE int pwl_qgemm_has_row_data(pwl_qgemm_format format)
{
    return pwl_qgemm_is_rows(format) || pwl_qgemm_is_e4m3(format);
}

/* Whether two of every four neighbouring columns are kept. */
PWL_QGEMM_SIZE int pwl_qgemm_is_sparse(pwl_qgemm_format format)
{
    return format == PWL_QGEMM_SPARSE4;
}

/* Whether codes are those of Q4_0, which count from 8. */
PWL_QGEMM_SIZE int pwl_qgemm_is_q4(pwl_qgemm_format format)
{
    return format == PWL_QGEMM_Q4_0 || format == PWL_QGEMM_SPARSE4;
}

/* Columns of a block, which share a scale. */
PWL_QGEMM_SIZE unsigned pwl_qgemm_block_columns(pwl_qgemm_format format)
{
    return pwl_qgemm_is_sparse(format) ? 2 * PWL_BLOCK : PWL_BLOCK;
}

/* Blocks of a row in a piece. */
PWL_QGEMM_SIZE unsigned pwl_qgemm_piece_blocks(pwl_qgemm_format format)
{
    return PWL_QGEMM_COLUMNS / pwl_qgemm_block_columns(format);
}

/* Bits of a code. */
PWL_QGEMM_SIZE int pwl_qgemm_bits(pwl_qgemm_format format)
{
    return format == PWL_QGEMM_Q8_0 || format == PWL_QGEMM_ROWS8 || format == PWL_QGEMM_ROWS_E4M3 ? 8 : 4;
}

/* Bytes of a block's scale. */
PWL_QGEMM_SIZE size_t pwl_qgemm_scale_bytes(pwl_qgemm_format format)
{
    if (pwl_qgemm_is_rows(format) || format == PWL_QGEMM_ROWS_E4M3)
        return 0;
    return format == PWL_QGEMM_MXFP4 || format == PWL_QGEMM_MXFP4_E4M3 ? 1 : 2;
}

PWL_QGEMM_SIZE size_t pwl_qgemm_tile_bytes(pwl_qgemm_format format)
{
    if (pwl_qgemm_is_sparse(format))
        return 384;
    return pwl_qgemm_bits(format) == 4 ? 512 : 1024;
}

PWL_QGEMM_SIZE size_t pwl_qgemm_piece_bytes(pwl_qgemm_format format)
{
    return PWL_QGEMM_TILES * pwl_qgemm_tile_bytes(format) +
           PWL_QGEMM_ROWS * pwl_qgemm_piece_blocks(format) * pwl_qgemm_scale_bytes(format);
}

/* Pieces along K. */
PWL_FN size_t pwl_qgemm_depth(size_t k)
{
    return (k + (PWL_QGEMM_COLUMNS - 1)) / PWL_QGEMM_COLUMNS;
}

/* Where the piece with row `row` and column `column` begins. */
PWL_FN size_t pwl_qgemm_piece_at(pwl_qgemm_format format, size_t k, size_t row, size_t column)
{
    const size_t piece = row / PWL_QGEMM_ROWS * pwl_qgemm_depth(k) + column / PWL_QGEMM_COLUMNS;
    return piece * pwl_qgemm_piece_bytes(format);
}

/* How far apart two rows are that lie in one lane. */
PWL_QGEMM_SIZE unsigned pwl_qgemm_rows_apart(pwl_qgemm_format format)
{
    return pwl_qgemm_is_rows(format) ? 1 : 8;
}

/* The first row of a tile that lies in lanes 4g to 4g + 3. */
PWL_QGEMM_SIZE unsigned pwl_qgemm_row_of_lane(pwl_qgemm_format format, unsigned g)
{
    return pwl_qgemm_is_rows(format) ? 2 * g : g;
}

/* The nibble, or byte, of a piece that holds row r in 0..127, column c in 0..63, or of SPARSE4 what is kept as number c
 * of 0..31; the low nibble of a byte first. */
PWL_FN unsigned pwl_qgemm_code_at(pwl_qgemm_format format, unsigned r, unsigned c)
{
    const unsigned tile = r / 16, lower = r / 8 % 2, step = c / 16, later = c / 8 % 2, odd = c % 2;
    const unsigned lane = r % 8 * 4 + c % 8 / 2;
    if (format == PWL_QGEMM_ROWS8)
        return tile * 1024 + step / 2 * 512 + (r % 16 / 2 * 4 + c % 16 / 4) * 16 + step % 2 * 8 + r % 2 * 4 + c % 4;
    if (format == PWL_QGEMM_ROWS4)
        return tile * 1024 + (r % 16 / 2 * 4 + c % 16 / 4) * 32 + step * 8 + c % 4 * 2 + r % 2;
    if (pwl_qgemm_bits(format) == 4)
        return tile * 2 * (unsigned)pwl_qgemm_tile_bytes(format) + lane * 16 * pwl_qgemm_piece_blocks(format) +
               step * 8 + odd * 4 + later * 2 + lower;
    return tile * 1024 + step / 2 * 512 + lane * 16 + step % 2 * 8 + lower * 4 + odd * 2 + later;
}

/* Where a piece of SPARSE4 has the positions of what is kept of row r, in the four columns with c: a byte's low half
 * for an even number of them. */
PWL_FN unsigned pwl_qgemm_positions_at(unsigned r, unsigned c)
{
    const unsigned lane = r % 8 * 4 + c / 16;
    return r / 16 * 384 + 256 + lane * 4 + r / 8 % 2 * 2 + c / 8 % 2;
}

/* Which of a piece's scales, two for each row or one, belongs to row r and a block. */
PWL_FN unsigned pwl_qgemm_scale_at(pwl_qgemm_format format, unsigned r, unsigned block)
{
    const unsigned blocks = pwl_qgemm_piece_blocks(format);
    return (r / 16 * 16 + r % 8 * 2) * blocks + block * 2 + r / 8 % 2;
}

/* Which of a token's 64 bytes holds column c in 0..63, beside weights of a format: a lane's 16 lie together. */
PWL_FN unsigned pwl_qgemm_byte_at(pwl_qgemm_format format, unsigned c)
{
    if (pwl_qgemm_is_rows(format))
        return c % 16 / 4 * 16 + c / 16 * 4 + c % 4;
    return c % 8 / 2 * 16 + c / 16 * 4 + c % 2 * 2 + c / 8 % 2;
}

#define PWL_QGEMM_TOKENS 8 /* to a multiple of which M is padded */

PWL_FN size_t pwl_qgemm_input_codes(size_t m, size_t k)
{
    return pwl_qgemm_round_up(m, PWL_QGEMM_TOKENS) * pwl_qgemm_depth(k) * PWL_QGEMM_COLUMNS;
}

/* 9 bits an element. */
PWL_FN size_t pwl_qgemm_input_bytes(size_t m, size_t k)
{
    return pwl_qgemm_input_codes(m, k) / 8 * 9;
}

/* Where the 64 codes of a token begin that hold `column`, and where d and sum of its two blocks do. */
PWL_FN size_t pwl_qgemm_input_at(size_t m, size_t row, size_t column)
{
    return (column / PWL_QGEMM_COLUMNS * pwl_qgemm_round_up(m, PWL_QGEMM_TOKENS) + row) * PWL_QGEMM_COLUMNS;
}

PWL_FN size_t pwl_qgemm_input_scale_at(size_t m, size_t k, size_t row, size_t column)
{
    return pwl_qgemm_input_codes(m, k) + pwl_qgemm_input_at(m, row, column) / 8;
}

/*
 * Row data behind the pieces. ROWS8, ROWS4: int32_t sums of the rows' codes, then int8_t n_w; else int8_t e. All of
 * them for rows up to the multiple of 128.
 */
PWL_FN size_t pwl_qgemm_pieces_bytes(pwl_qgemm_format format, size_t n, size_t k)
{
    return pwl_qgemm_round_up(n, PWL_QGEMM_ROWS) / PWL_QGEMM_ROWS * pwl_qgemm_depth(k) * pwl_qgemm_piece_bytes(format);
}

PWL_FN size_t pwl_qgemm_row_bytes(pwl_qgemm_format format, size_t n)
{
    const size_t each = pwl_qgemm_is_rows(format) ? 5 : pwl_qgemm_is_e4m3(format) ? sizeof(float) : 1;
    return pwl_qgemm_round_up(n, PWL_QGEMM_ROWS) * each;
}

/* Of a piece of SPARSE4 the code of row r and column c, 8 where it is not kept. */
PWL_FN int pwl_qgemm_sparse_code(const uint8_t *piece, unsigned r, unsigned c)
{
    const unsigned positions = piece[pwl_qgemm_positions_at(r, c)] >> c / 4 % 2 * 4, second = positions >> 2 & 3;
    const unsigned at = pwl_qgemm_code_at(PWL_QGEMM_SPARSE4, r, c / 4 * 2 + (c % 4 == second));
    if (c % 4 != (positions & 3) && c % 4 != second)
        return 8;
    return piece[at / 2] >> at % 2 * 4 & 15;
}

/* One code: 0..15, or an int8, in ROWS4 a multiple of 16. */
PWL_FN int pwl_qgemm_code(const pwl_qgemm_weights *weights, size_t row, size_t column)
{
    const unsigned r = (unsigned)(row % PWL_QGEMM_ROWS), c = (unsigned)(column % PWL_QGEMM_COLUMNS);
    const unsigned at = pwl_qgemm_code_at(weights->format, r, c);
    const uint8_t *const piece =
        (const uint8_t *)weights->memory + pwl_qgemm_piece_at(weights->format, weights->k, row, column);
    if (pwl_qgemm_is_sparse(weights->format))
        return pwl_qgemm_sparse_code(piece, r, c);
    if (weights->format == PWL_QGEMM_ROWS4)
        return (int8_t)(uint8_t)(piece[at / 2] >> at % 2 * 4 << 4);
    if (pwl_qgemm_bits(weights->format) == 4)
        return piece[at / 2] >> at % 2 * 4 & 15;
    return (int8_t)piece[at];
}

/* The scale of 32 columns, as it was stored there: d, or e. */
PWL_FN uint16_t pwl_qgemm_scale(const pwl_qgemm_weights *weights, size_t row, size_t block)
{
    const unsigned at = pwl_qgemm_scale_at(weights->format, (unsigned)(row % PWL_QGEMM_ROWS),
                                           (unsigned)(block % pwl_qgemm_piece_blocks(weights->format)));
    const uint8_t *const scales = (const uint8_t *)weights->memory +
                                  pwl_qgemm_piece_at(weights->format, weights->k, row, block * PWL_BLOCK) +
                                  PWL_QGEMM_TILES * pwl_qgemm_tile_bytes(weights->format);
    if (pwl_qgemm_scale_bytes(weights->format) == 1)
        return scales[at];
    return ((const uint16_t *)(const void *)scales)[at];
}

/* Where row data lie of weights that have them: e or n_w, and in ROWS8 and ROWS4 the sum of a row's codes. */
PWL_FN size_t pwl_qgemm_row_exponent_at(const pwl_qgemm_weights *weights, size_t row)
{
    return weights->bytes - pwl_qgemm_round_up(weights->n, PWL_QGEMM_ROWS) + row;
}

PWL_FN size_t pwl_qgemm_row_sum_at(const pwl_qgemm_weights *weights, size_t row)
{
    return weights->bytes - pwl_qgemm_row_bytes(PWL_QGEMM_ROWS8, weights->n) + row * sizeof(int32_t);
}

PWL_FN int pwl_qgemm_row_exponent(const pwl_qgemm_weights *weights, size_t row)
{
    return weights->row_data ? ((const int8_t *)weights->memory)[pwl_qgemm_row_exponent_at(weights, row)] : 0;
}

PWL_FN int32_t pwl_qgemm_row_sum(const pwl_qgemm_weights *weights, size_t row)
{
    return *(const int32_t *)(const void *)((const uint8_t *)weights->memory + pwl_qgemm_row_sum_at(weights, row));
}

#endif
