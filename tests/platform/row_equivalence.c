/* SPDX-License-Identifier: Apache-2.0 */
/* Row operators over the rows of tests/golden/make_row_operators.py, by plain C and by every way that the machine has:
 * the hashes of their codes are in hashes.txt. */
#include "row_equivalence.h"

#include <stdint.h>

#include <pwl/elements.h>
#include <pwl/rows.h>

#include "../golden/row_operators.h"
#include "../support/random.h"
#include "say.h"
#include "text.h"

enum { DRAWN = 500, ROWS = 48, MOST = 300, SHAPES = 6, PARTS = 10 };

static uint16_t x[MOST], y[MOST];

static int is_wide(int type)
{
    return type >= PWL_S16;
}

/* Code `from_lowest` of the type. */
static void set_code(int type, uint32_t k, uint32_t from_lowest)
{
    const uint32_t code = from_lowest + (type & 1 ? 0 : is_wide(type) ? 0x8000u : 0x80u);
    if (is_wide(type))
        x[k] = (uint16_t)code;
    else
        ((uint8_t *)x)[k] = (uint8_t)code;
}

static uint32_t drawn_code(uint32_t shape, uint32_t k, uint32_t length, uint32_t top, uint32_t part, uint64_t *state)
{
    switch (shape) {
    case 0:
        return k == length / 2 ? top : top - part;
    case 1:
        return 2 * k < length ? top : top - part;
    case 2:
        return top - part;
    case 3:
        return k & 1 ? top : 0;
    case 4:
        return top - (uint32_t)(random_bits(state) % (part + 1));
    default:
        return (uint32_t)(random_bits(state) % (top + 1));
    }
}

static void draw_row(int type, uint32_t number, uint32_t length, uint64_t *state)
{
    static const uint16_t parts[PARTS] = {0, 1, 2, 3, 10, 100, 255, 1000, 10000, 65535};
    const uint32_t top = is_wide(type) ? 65535 : 255;
    uint32_t part = parts[number / SHAPES % PARTS], k;
    part = part < top ? part : top;
    for (k = 0; k < length; k++)
        set_code(type, k, drawn_code(number % SHAPES, k, length, top, part, state));
}

/* FNV-1a, each code from its lowest byte on. */
static uint64_t hashed(uint64_t hash, int type, uint32_t length)
{
    uint32_t k;
    for (k = 0; k < length; k++) {
        const uint32_t code = is_wide(type) ? y[k] : ((const uint8_t *)y)[k];
        hash = (hash ^ (code & 255)) * UINT64_C(0x100000001b3);
        if (is_wide(type))
            hash = (hash ^ code >> 8) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static uint64_t hashed_word(uint64_t hash, int64_t value)
{
    int k;
    for (k = 0; k < 64; k += 8)
        hash = (hash ^ ((uint64_t)value >> k & 255)) * UINT64_C(0x100000001b3);
    return hash;
}

/* What a row is made of, over drawn numbers: both cores, a shift, a logarithm, an exponential. */
static uint64_t hash_arithmetic(void)
{
    const uint64_t most = (uint64_t)1 << 46, least = (uint64_t)1 << 30;
    uint64_t hash = UINT64_C(0xcbf29ce484222325), state = 0;
    int k;
    for (k = 0; k < DRAWN; k++) {
        const uint64_t drawn = random_bits(&state) >> 2, v = drawn >> random_bits(&state) % 61 | 1;
        const int64_t p = (int64_t)random_bits(&state) >> 40;
        const uint64_t sum = least + random_bits(&state) % (most - least);
        const int64_t shifted = pwl_row_shr(p, 1 + (int)(random_bits(&state) % 4));
        const uint32_t exp = pwl_softmax_exp(&golden_softmax_u16_s16, (uint32_t)(random_bits(&state) % 65536));
        const pwl_row_factor quotient = pwl_row_reciprocal(golden_softmax_u16_s16.reciprocal, v);
        const pwl_row_factor root = pwl_row_rsqrt(golden_layernorm_s16_s16.rsqrt, v);
        hash = hashed_word(hashed_word(hash, quotient.factor), quotient.shift);
        hash = hashed_word(hashed_word(hash, root.factor), root.shift);
        hash = hashed_word(hash, shifted);
        hash = hashed_word(hash, pwl_softmax_log(&golden_logsoftmax_s8_s16, sum));
        hash = hashed_word(hash, exp);
    }
    return hash;
}

static uint64_t hash_of(const pwl_softmax *softmax, const pwl_norm *norm, uint32_t levels)
{
    const int in = softmax ? softmax->in : norm->in, out = softmax ? softmax->out : norm->out;
    uint64_t hash = UINT64_C(0xcbf29ce484222325), state = 0;
    uint32_t k;
    for (k = 0; k < ROWS; k++) {
        const uint32_t length = softmax ? 1 + k * 37 % softmax->longest : norm->length;
        draw_row(in, k, length, &state);
        if (softmax) {
            const pwl_rows rows = {x, y, 1, length, 0, 0, 0, 0};
            pwl_softmax_run(softmax, &rows, levels);
        } else {
            pwl_norm_run(norm, x, y, 1, levels);
        }
        hash = hashed(hash, out, length);
    }
    return hash;
}

/* Operators of elements: sums of products, and additions of 32-bit sums and of 64-bit ones. */
static uint64_t hash_elements(int *failed)
{
    enum { ELEMENTS = 64 };
    static const pwl_requantise requantise = {1, PWL_S32, PWL_S8, 38, 1649267442, -128, 127, 5, -3};
    static const pwl_add narrow = {1, PWL_S8, PWL_S8, PWL_U8, 23, 6990507, 4334114, 0, 255, -123456, 100};
    static const pwl_add wide = {1, PWL_S16, PWL_S16, PWL_S16, 31, 292838679, 2049870755, -32768, 32767, 987654321, -7};
    static int32_t sums[ELEMENTS];
    static int16_t a[ELEMENTS], b[ELEMENTS];
    static int8_t c[ELEMENTS], d[ELEMENTS];
    uint64_t hash = UINT64_C(0xcbf29ce484222325), state = 0;
    int k;
    for (k = 0; k < ELEMENTS; k++) {
        const uint64_t drawn = random_bits(&state);
        sums[k] = (int32_t)(drawn >> 32) >> drawn % 24;
        a[k] = (int16_t)(drawn >> 16);
        b[k] = (int16_t)drawn;
        c[k] = (int8_t)(drawn >> 8);
        d[k] = (int8_t)drawn;
    }
    *failed = pwl_requantise_check(&requantise) != PWL_OK || pwl_add_check(&narrow) != PWL_OK ||
              pwl_add_check(&wide) != PWL_OK;
    pwl_requantise_run(&requantise, sums, y, ELEMENTS);
    hash = hashed(hash, PWL_S8, ELEMENTS);
    pwl_add_run(&narrow, c, d, y, ELEMENTS);
    hash = hashed(hash, PWL_U8, ELEMENTS);
    pwl_add_run(&wide, a, b, y, ELEMENTS);
    return hashed(hash, PWL_S16, ELEMENTS);
}

/* Rows in tiles of up to 7 places, and sums of three channels that they weigh, those of a place one code on from
 * those of the place before. Each third row has a mask. */
static uint64_t hash_tiles(const pwl_softmax *softmax)
{
    enum { TILE = 7, CHANNELS = 3 };
    static int8_t v[MOST + CHANNELS - 1];
    static uint8_t mask[MOST];
    const pwl_row_values values = {v, PWL_S8, -5, CHANNELS, 1};
    uint64_t hash = UINT64_C(0xcbf29ce484222325), state = 0;
    uint32_t k, at, c;
    for (k = 0; k < MOST + CHANNELS - 1; k++)
        v[k] = (int8_t)((int)(k * 37 % 256) - 128);
    for (k = 0; k < ROWS; k++) {
        const uint32_t length = 1 + k * 37 % softmax->longest;
        const uint8_t *const kept = k % 3 == 1 ? mask : 0;
        const pwl_rows rows = {x, 0, 1, length, kept, 0, 0, 0};
        pwl_softmax_tiles row = {0, 0, 0};
        int32_t o[CHANNELS];
        draw_row(softmax->in, k, length, &state);
        for (at = 0; at < length; at++)
            mask[at] = (uint8_t)((at * 5 + k) % 4);
        for (at = 0; at < 2 * length; at++) { /* the first pass adds tiles, the second writes them */
            const uint32_t from = at % length, left = length - from, count = left < TILE ? left : TILE;
            const char *const in = (const char *)x + (from << is_wide(softmax->in));
            char *const out = (char *)y + (from << is_wide(softmax->out));
            if (from % TILE)
                continue;
            if (at < length)
                pwl_softmax_tiles_add(softmax, &row, in, kept ? kept + from : 0, count);
            else
                pwl_softmax_tiles_write(softmax, &row, in, out, kept ? kept + from : 0, count);
        }
        hash = hashed_word(hashed(hash, softmax->out, length), row.rescalings);
        pwl_softmax_weigh(softmax, &rows, &values, o);
        for (c = 0; c < CHANNELS; c++)
            hash = hashed_word(hash, o[c]);
    }
    return hash;
}

static void add_hash(struct text *line, uint64_t hash)
{
    int shift;
    for (shift = 60; shift >= 0; shift -= 4) {
        const char digit[2] = {"0123456789abcdef"[hash >> shift & 15], '\0'};
        add(line, digit);
    }
}

static int say_hash(const char *name, uint64_t hash, int failed)
{
    struct text line = {.length = 0};
    add(&line, "few rows ");
    add(&line, name);
    add(&line, " ");
    add_hash(&line, hash);
    add(&line, failed ? " differs from way to way\n" : "\n");
    say(line.characters);
    return failed;
}

/* A level alone, and all of them. */
static int check_one(const char *name, const pwl_softmax *softmax, const pwl_norm *norm)
{
    const uint64_t hash = hash_of(softmax, norm, 0);
    int failed = (softmax ? pwl_softmax_check(softmax) : pwl_norm_check(norm)) != PWL_OK, level;
    for (level = 0; level < 32; level++)
        if (pwl_levels() >> level & 1 && hash_of(softmax, norm, (uint32_t)1 << level) != hash)
            failed = 1;
    if (hash_of(softmax, norm, PWL_LEVELS_ALL) != hash)
        failed = 1;
    return say_hash(name, hash, failed);
}

int check_rows(void)
{
    int unsafe, failed = say_hash("arithmetic", hash_arithmetic(), 0);
    const uint64_t elements = hash_elements(&unsafe);
    failed |= say_hash("elements", elements, unsafe);
    failed |= say_hash("tiles_s8_u8", hash_tiles(&golden_softmax_s8_u8), 0);
    failed |= say_hash("tiles_u16_s16", hash_tiles(&golden_softmax_u16_s16), 0);
    failed |= check_one("softmax_s8_u8", &golden_softmax_s8_u8, 0);
    failed |= check_one("softmax_u16_s16", &golden_softmax_u16_s16, 0);
    failed |= check_one("logsoftmax_s8_s16", &golden_logsoftmax_s8_s16, 0);
    failed |= check_one("layernorm_s16_s16", 0, &golden_layernorm_s16_s16);
    return failed | check_one("rmsnorm_u8_s8", 0, &golden_rmsnorm_u8_s8);
}
