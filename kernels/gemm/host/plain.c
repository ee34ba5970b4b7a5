/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way in plain C, whose loops over the rows of a panel compilers make vectors of: a tile is turned over, so that a
 * column's 32 codes are side by side, once for all rows of X.
 */
#include <string.h>

#include <pwl/half.h>

#include "ways.h"

enum {
    ROWS = PWL_QGEMM_PANEL,
    HALF = 16,   /* whose codes are side by side */
    TOGETHER = 8 /* columns that are added in 16 bits, of 4-bit codes */
};

typedef struct columns {
    int16_t w[PWL_BLOCK][ROWS]; /* what S is of */
    float d[ROWS];
} columns;

/* By how much a word of four codes in memory is shifted for the code of column j. */
static unsigned shift_of(unsigned j)
{
    const uint32_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1); /* 1 where the least significant byte comes first */
    return 8 * (first ? j : 3 - j);
}

/* What a group holds of the rows of a half: a word each. */
static void load_words(const uint8_t *tile, size_t groups, size_t first, size_t g, uint32_t words[HALF])
{
    memcpy(words, tile + pwl_qgemm_panel_row(groups, first) + g * PWL_QGEMM_GROUP, HALF * sizeof *words);
}

static void turn_nibbles(const uint8_t *tile, int zero, columns *to)
{
    for (size_t first = 0; first < ROWS; first += HALF) {
        for (size_t c = 0; c < PWL_BLOCK / 2; c++) {
            const unsigned low = shift_of(c % 4), high = low + 4;
            uint32_t words[HALF];
            load_words(tile, 4, first, c / 4, words);
            for (size_t r = 0; r < HALF; r++)
                to->w[c][first + r] = (int16_t)((int32_t)(words[r] >> low & 15) - zero);
            for (size_t r = 0; r < HALF; r++)
                to->w[c + PWL_BLOCK / 2][first + r] = (int16_t)((int32_t)(words[r] >> high & 15) - zero);
        }
    }
}

/* Twice the values: from 4 on codes count 4, 6, 8 and 12. */
static void turn_e2m1(const uint8_t *tile, columns *to)
{
    turn_nibbles(tile, 0, to);
    for (size_t c = 0; c < PWL_BLOCK; c++) {
        for (size_t r = 0; r < ROWS; r++) {
            const int16_t code = to->w[c][r], count = code & 7;
            const int16_t v = (int16_t)(count + (count > 4) + (count > 5) + 3 * (count > 6));
            to->w[c][r] = (int16_t)(code & 8 ? -v : v);
        }
    }
}

static void turn_bytes(const uint8_t *tile, columns *to)
{
    for (size_t first = 0; first < ROWS; first += HALF) {
        for (size_t c = 0; c < PWL_BLOCK; c++) {
            const unsigned shift = shift_of(c % 4);
            uint32_t words[HALF];
            load_words(tile, 8, first, c / 4, words);
            for (size_t r = 0; r < HALF; r++)
                to->w[c][first + r] = (int16_t)((int32_t)(words[r] >> shift & 255) - 128);
        }
    }
}

static void turn(pwl_qgemm_kind kind, const uint8_t *tile, columns *to)
{
    const uint8_t *scales = tile + PWL_QGEMM_GROUP * 8;
    if (kind == PWL_QGEMM_NIBBLES || kind == PWL_QGEMM_NIBBLES_STORED)
        turn_nibbles(tile, kind == PWL_QGEMM_NIBBLES ? 8 : 0, to);
    else if (kind == PWL_QGEMM_E2M1)
        turn_e2m1(tile, to);
    else
        turn_bytes(tile, to);
    if (kind == PWL_QGEMM_INTEGERS)
        return;
    if (kind == PWL_QGEMM_BYTES)
        scales = tile + PWL_QGEMM_GROUP * 16;
    for (size_t r = 0; r < ROWS; r++) {
        uint16_t scale;
        memcpy(&scale, scales + r * sizeof scale, sizeof scale);
        to->d[r] = kind == PWL_QGEMM_E2M1 ? pwl_f32_from_bf16(scale) : pwl_f32_from_f16(scale);
    }
}

/* s[r] += S, of 4-bit codes: at most 15 in magnitude, or 12 in E2M1, so 8 products have 16 bits. */
static void add_narrow(const columns *w, const int8_t *q, int32_t s[ROWS])
{
    for (size_t first = 0; first < PWL_BLOCK; first += TOGETHER) {
        int16_t part[ROWS] = {0};
        for (size_t c = first; c < first + TOGETHER; c++) {
            for (size_t r = 0; r < ROWS; r++)
                part[r] = (int16_t)(part[r] + w->w[c][r] * q[c]);
        }
        for (size_t r = 0; r < ROWS; r++)
            s[r] += part[r];
    }
}

/* Of 8-bit codes; as unsigned numbers, which are exact modulo 2^32. */
static void add_wide(const columns *w, const int8_t *q, int32_t s[ROWS])
{
    for (size_t c = 0; c < PWL_BLOCK; c++) {
        const int16_t x = q[c];
        for (size_t r = 0; r < ROWS; r++)
            s[r] = (int32_t)((uint32_t)s[r] + (uint32_t)(w->w[c][r] * x));
    }
}

static void add_block(pwl_qgemm_kind kind, const columns *w, const pwl_qgemm_x *x, float y[ROWS])
{
    const float less = kind == PWL_QGEMM_NIBBLES_STORED ? x->of.less : 0;
    int32_t s[ROWS] = {0};
    if (kind == PWL_QGEMM_BYTES)
        add_wide(w, x->q, s);
    else
        add_narrow(w, x->q, s);
    for (size_t r = 0; r < ROWS; r++) {
        const float p = (float)s[r] * x->d;
        const float scaled = (p - less) * w->d[r]; /* without stored sums, p - 0 is p */
        y[r] = y[r] + scaled;
    }
}

void pwl_qgemm_plain(const pwl_qgemm_pass *pass)
{
    const int integers = pass->kind == PWL_QGEMM_INTEGERS;
    const size_t tile = pwl_qgemm_panel_tile(integers                        ? PWL_QGEMM_ROWS8
                                             : pass->kind == PWL_QGEMM_BYTES ? PWL_QGEMM_Q8_0
                                                                             : PWL_QGEMM_Q4_0);
    memset(pass->sums, 0, pass->rows * ROWS * sizeof(float));
    for (size_t b = 0; b < pass->blocks; b++) {
        columns w;
        turn(pass->kind, pass->tiles + b * tile, &w);
        for (size_t i = 0; i < pass->rows; i++) {
            if (integers)
                add_wide(&w, (const int8_t *)pass->x + i * pass->x_stride + b * PWL_BLOCK,
                         (int32_t *)pass->sums + i * ROWS);
            else
                add_block(pass->kind, &w, (const pwl_qgemm_x *)pass->x + i * pass->blocks + b,
                          (float *)pass->sums + i * ROWS);
        }
    }
}
