/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights as wide.cu multiplies by them: pieces of 64 channels and 128 columns, 8 KiB each, those of 64 channels behind
 * one another. A row of a piece has 128 bytes, whose chunks of 16 change places with its number as the tensor cores
 * read them. Operands have 32 columns each, in the order in which lanes read codes: of what 128 bytes of codes hold,
 * lane t of four reads a quarter, eight columns for each operand, whose first half takes four and its second half the
 * others.
 */
#ifndef PWL_NETWORK_WIDE_H
#define PWL_NETWORK_WIDE_H

#include <stddef.h>
#include <stdint.h>

#include <pwl/fixed.h>

#define PWL_WIDE_CHANNELS 64u
#define PWL_WIDE_COLUMNS 128u
#define PWL_WIDE_PIECE (PWL_WIDE_CHANNELS * PWL_WIDE_COLUMNS)

/* Where a row has column k, of codes of `bytes`. */
PWL_FN uint32_t pwl_wide_place(uint32_t k, uint32_t bytes)
{
    const uint32_t operands = 4 / bytes, in = k % (32 * operands), eight = in / 8, at = in % 8;
    const uint32_t lane = eight / operands, operand = eight % operands;
    return k - in + operand * 32 + at / 4 * 16 + lane * 4 + at % 4;
}

/* Pieces along K. */
PWL_FN uint32_t pwl_wide_pieces(uint32_t length)
{
    return (length + PWL_WIDE_COLUMNS - 1) / PWL_WIDE_COLUMNS;
}

/* Channels beyond the last are 0, as columns are. */
PWL_FN size_t pwl_wide_bytes(uint32_t channels, uint32_t length)
{
    return (size_t)((channels + PWL_WIDE_CHANNELS - 1) / PWL_WIDE_CHANNELS) * pwl_wide_pieces(length) * PWL_WIDE_PIECE;
}

PWL_FN size_t pwl_wide_at(uint32_t length, uint32_t channel, uint32_t k, uint32_t bytes)
{
    const size_t piece = (size_t)(channel / PWL_WIDE_CHANNELS) * pwl_wide_pieces(length) + k / PWL_WIDE_COLUMNS;
    const uint32_t row = channel % PWL_WIDE_CHANNELS, place = pwl_wide_place(k % PWL_WIDE_COLUMNS, bytes);
    return piece * PWL_WIDE_PIECE + row * PWL_WIDE_COLUMNS + ((place / 16 ^ row % 8) * 16 + place % 16);
}

#endif
