/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way in plain C, whose loops over the rows of a panel compilers make vectors of: a tile is turned over, so that a
 * column's 32 codes are side by side, once for all rows of X.
 */
#include <string.h>

#include "scales.h"
#include "ways.h"

enum {
    ROWS = PWL_QGEMM_PANEL,
    HALF = 16,       /* whose codes are side by side */
    TOGETHER = 8,    /* columns that are added in 16 bits, of codes of 4 or 5 bits */
    TOGETHER_SIX = 4 /* of 6 */
};

typedef struct columns {
    int16_t w[PWL_BLOCK][ROWS]; /* what S is of */
    pwl_qgemm_scales scales;
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

/* So many bits of each word, from `shift` on, to bits `to_bit` and up of a column. */
static void add_bits(const uint32_t words[HALF], unsigned shift, unsigned bits, unsigned to_bit, int16_t column[HALF])
{
    for (size_t r = 0; r < HALF; r++)
        column[r] = (int16_t)(column[r] | (int32_t)(words[r] >> shift & ((1u << bits) - 1)) << to_bit);
}

/* Codes of 5 bits: what groups hold above the low 5. */
static void turn_fives(const uint8_t *tile, columns *to)
{
    memset(to->w, 0, sizeof to->w);
    for (size_t first = 0; first < ROWS; first += HALF) {
        for (unsigned c = 0; c < 4; c++) {
            const unsigned shift = shift_of(c);
            uint32_t words[5][HALF];
            for (size_t g = 0; g < 5; g++) {
                load_words(tile, 5, first, g, words[g]);
                add_bits(words[g], shift, 5, 0, &to->w[4 * g + c][first]);
            }
            for (size_t j = 5; j < 8; j++)
                add_bits(words[2 * (j - 5)], shift + 5, 3, 0, &to->w[4 * j + c][first]);
            for (size_t j = 5; j < 7; j++)
                add_bits(words[2 * (j - 5) + 1], shift + 6, 2, 3, &to->w[4 * j + c][first]);
            add_bits(words[1], shift + 5, 1, 3, &to->w[28 + c][first]);
            add_bits(words[3], shift + 5, 1, 4, &to->w[28 + c][first]);
        }
    }
}

static void turn_sixes(const uint8_t *tile, columns *to)
{
    memset(to->w, 0, sizeof to->w);
    for (size_t first = 0; first < ROWS; first += HALF) {
        for (unsigned c = 0; c < 4; c++) {
            for (unsigned g = 0; g < 6; g++) {
                const unsigned shift = shift_of(c), half = g / 3 * 16;
                uint32_t words[HALF];
                load_words(tile, 6, first, g, words);
                add_bits(words, shift, 6, 0, &to->w[half + g % 3 * 4 + c][first]);
                add_bits(words, shift + 6, 2, g % 3 * 2, &to->w[half + 12 + c][first]);
            }
        }
    }
    for (size_t c = 0; c < PWL_BLOCK; c++) {
        for (size_t r = 0; r < ROWS; r++)
            to->w[c][r] = (int16_t)(to->w[c][r] - 32);
    }
}

static void turn(pwl_qgemm_kind kind, const uint8_t *tile, columns *to)
{
    if (kind == PWL_QGEMM_SUPER5)
        turn_fives(tile, to);
    else if (kind == PWL_QGEMM_SUPER6)
        turn_sixes(tile, to);
    else if (kind == PWL_QGEMM_E2M1)
        turn_e2m1(tile, to);
    else if (kind == PWL_QGEMM_BYTES || kind == PWL_QGEMM_INTEGERS)
        turn_bytes(tile, to);
    else
        turn_nibbles(tile, kind == PWL_QGEMM_NIBBLES ? 8 : 0, to);
}

/* s[r] += S of columns [begin, end): at most 31 in magnitude, so that 8 products have 16 bits; or 32, of which 4 have.
 */
static void add_narrow(const columns *w, const int8_t *q, size_t begin, size_t end, size_t together, int32_t s[ROWS])
{
    for (size_t first = begin; first < end; first += together) {
        int16_t part[ROWS] = {0};
        for (size_t c = first; c < first + together; c++) {
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

/* A16: y += sum w x of a block, one row of X after the other. */
static void add_halves(const pwl_qgemm_pass *pass, size_t block, const columns *of)
{
    const pwl_qgemm_rounding *const by = &pass->rounding;
    float w[PWL_BLOCK][ROWS], d[ROWS];
    for (size_t r = 0; r < ROWS; r++)
        d[r] = of->scales.d[r] * by->power[r];
    for (size_t c = 0; c < PWL_BLOCK; c++) {
        for (size_t r = 0; r < ROWS; r++) {
            const float p = (float)of->w[c][r] * d[r];
            const float power = pwl_f32_of_bits(pwl_bits_of_f32(p) & 0x7f800000) * by->digits;
            const float unit = power > by->least ? power : by->least;
            const float sum = p + unit; /* some processors' C would keep it in double */
            w[c][r] = sum - unit;
        }
    }
    for (size_t i = 0; i < pass->rows; i++) {
        const float *const x =
            (const float *)(const void *)((const uint8_t *)pass->x + i * pass->x_stride) + block * PWL_BLOCK;
        float *const y = (float *)pass->sums + i * ROWS;
        for (size_t c = 0; c < PWL_BLOCK; c++) {
            for (size_t r = 0; r < ROWS; r++) {
                const float p = w[c][r] * x[c];
                y[r] = y[r] + p;
            }
        }
    }
}

static void add_block(pwl_qgemm_kind kind, const columns *w, const pwl_qgemm_x *x, float y[ROWS])
{
    const float less = kind == PWL_QGEMM_NIBBLES_STORED ? x->of.less : 0;
    int32_t s[ROWS] = {0};
    if (kind == PWL_QGEMM_BYTES)
        add_wide(w, x->q, s);
    else
        add_narrow(w, x->q, 0, PWL_BLOCK, TOGETHER, s);
    for (size_t r = 0; r < ROWS; r++) {
        const float p = (float)s[r] * x->d;
        const float scaled = (p - less) * w->scales.d[r]; /* without stored sums, p - 0 is p */
        y[r] = y[r] + scaled;
    }
}

/* Of a super-block: Q6_K's two sub-blocks, or one and what is subtracted. */
static void add_super(pwl_qgemm_kind kind, const columns *w, const pwl_qgemm_x *x, float y[ROWS])
{
    const int six = kind == PWL_QGEMM_SUPER6;
    for (size_t half = 0; half < 1u + (size_t)six; half++) {
        const float *const d = half ? w->scales.second : w->scales.d;
        int32_t s[ROWS] = {0};
        if (six)
            add_narrow(w, x->q, half * PWL_SUB_BLOCK, (half + 1) * PWL_SUB_BLOCK, TOGETHER_SIX, s);
        else
            add_narrow(w, x->q, 0, PWL_BLOCK, TOGETHER, s);
        for (size_t r = 0; r < ROWS; r++) {
            const float p = (float)s[r] * x->d, scaled = p * d[r];
            y[r] = y[r] + scaled;
        }
    }
    for (size_t r = 0; r < ROWS && !six; r++) {
        const float scaled = x->of.less * w->scales.second[r];
        y[r] = y[r] - scaled;
    }
}

void pwl_qgemm_plain(const pwl_qgemm_pass *pass)
{
    const pwl_qgemm_format format = pwl_qgemm_format_of(pass->kind);
    const int integers = pass->kind == PWL_QGEMM_INTEGERS, super = pwl_qgemm_is_super(format);
    const size_t tile_bytes = pwl_qgemm_panel_tile(format);
    const uint8_t *tile = pass->tiles, *head = tile;
    memset(pass->sums, 0, pass->rows * ROWS * sizeof(float));
    for (size_t b = 0; b < pass->blocks; b++, tile += tile_bytes) {
        columns w;
        if (super && b % PWL_QGEMM_SUPER_TILES == 0) {
            head = tile;
            tile += pwl_qgemm_panel_head(format);
        }
        turn(pwl_qgemm_codes_of(pass->kind), tile, &w);
        pwl_qgemm_read_scales(pwl_qgemm_codes_of(pass->kind), head, tile, &w.scales);
        if (pwl_qgemm_is_halves(pass->kind)) {
            add_halves(pass, b, &w);
            continue;
        }
        for (size_t i = 0; i < pass->rows; i++) {
            if (integers)
                add_wide(&w, (const int8_t *)pass->x + i * pass->x_stride + b * PWL_BLOCK,
                         (int32_t *)pass->sums + i * ROWS);
            else if (super)
                add_super(pass->kind, &w, (const pwl_qgemm_x *)pass->x + i * pass->blocks + b,
                          (float *)pass->sums + i * ROWS);
            else
                add_block(pass->kind, &w, (const pwl_qgemm_x *)pass->x + i * pass->blocks + b,
                          (float *)pass->sums + i * ROWS);
        }
    }
}

PWL_QGEMM_DEFINE_ROUND(plain)
