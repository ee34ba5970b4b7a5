/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Super-blocks: values that the gguf package 0.19.0 gives for the same bytes (blocks_gguf.py compares millions), NaNs,
 * padding, fp16 and every error.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/blocks.h>
#include <pwl/half.h>

#include "../tap.h"

enum { MOST = 210, ELEMENTS = PWL_SUPER_BLOCK };

static const struct kind {
    const char *name;
    pwl_format format;
    size_t bytes, d, dmin; /* where d and dmin are */
    uint32_t hash;         /* FNV of the bits of all values */
    float values[4];       /* of elements 0, 47, 100 and 255 */
} kinds[] = {
    {"Q4_K", PWL_Q4_K, 144, 0, 2, 0x2dd7ad45, {0x1.b2f34p+4f, 0x1.67b8p+4f, 0x1.8be98p+5f, 0x1.682dp+3f}},
    {"Q5_K", PWL_Q5_K, 176, 0, 2, 0x8f640ebd, {0x1.48f3dp+6f, 0x1.67b8p+4f, 0x1.0dcap+5f, 0x1.9037p+3f}},
    {"Q6_K", PWL_Q6_K, 210, 208, 208, 0x7a500ce5, {0x1.c5cd2p+3f, -0x1.0c08ep+4f, 0x1.3bcdap+3f, -0x1.b998p+0f}},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void put_half(uint8_t *at, uint16_t half)
{
    memcpy(at, &half, sizeof half);
}

static void fill(const struct kind *kind, uint8_t *block)
{
    for (size_t i = 0; i < kind->bytes; i++)
        block[i] = (uint8_t)(i * 73 + 19);
    put_half(block + kind->dmin, 0xb8ff);
    put_half(block + kind->d, kind->format == PWL_Q6_K ? 0xa43f : 0x2c01);
}

static void test_values(const struct kind *kind)
{
    uint16_t block[MOST / 2], halves[ELEMENTS];
    float v[ELEMENTS];
    uint32_t hash = 0x811c9dc5;
    int good, rounded = 1;
    fill(kind, (uint8_t *)block);
    good = pwl_dequantise(kind->format, block, 1, ELEMENTS, ELEMENTS, v) == PWL_BLOCKS_OK &&
           pwl_dequantise_f16(kind->format, block, 1, ELEMENTS, ELEMENTS, halves) == PWL_BLOCKS_OK;
    for (size_t j = 0; j < ELEMENTS; j++) {
        hash = (hash ^ pwl_bits_of_f32(v[j])) * 0x01000193;
        rounded &= halves[j] == pwl_f16_from_f32(v[j]);
    }
    good &=
        v[0] == kind->values[0] && v[47] == kind->values[1] && v[100] == kind->values[2] && v[255] == kind->values[3];
    tap(good && hash == kind->hash, "%s: values", kind->name);
    tap(rounded, "%s: rounded to fp16", kind->name);
}

/* Two rows of 300 elements, padded to 512. */
static void test_padding(const struct kind *kind)
{
    uint16_t blocks[4 * MOST / 2];
    float v[600 + 1], whole[ELEMENTS];
    int good = 1;
    for (size_t i = 0; i < 4; i++)
        fill(kind, (uint8_t *)blocks + i * kind->bytes);
    v[600] = 77;
    good &= pwl_dequantise(kind->format, blocks, 1, ELEMENTS, ELEMENTS, whole) == PWL_BLOCKS_OK;
    good &= pwl_dequantise(kind->format, blocks, 2, 300, 512, v) == PWL_BLOCKS_OK && v[600] == 77;
    for (size_t i = 0; i < 600; i++)
        good &= v[i] == whole[i % 300 % ELEMENTS];
    tap(good, "%s: the padding is left out", kind->name);
}

static void test_nan(const struct kind *kind)
{
    uint16_t block[MOST / 2];
    float v[ELEMENTS];
    int good = 1;
    for (int second = 0; second < 2; second++) {
        fill(kind, (uint8_t *)block);
        put_half((uint8_t *)block + (second ? kind->dmin : kind->d), 0xfe12);
        good &= pwl_dequantise(kind->format, block, 1, ELEMENTS, ELEMENTS, v) == PWL_BLOCKS_OK;
        for (size_t j = 0; j < ELEMENTS; j++)
            good &= pwl_bits_of_f32(v[j]) == 0x7fc00000;
    }
    tap(good, "%s: a scale of NaN", kind->name);
}

static void test_errors(const struct kind *kind)
{
    uint16_t block[MOST / 2 + 1];
    float v[ELEMENTS];
    size_t bytes;
    tap(pwl_format_bytes(kind->format) == kind->bytes &&
            pwl_blocks_bytes(kind->format, 3, 512, &bytes) == PWL_BLOCKS_OK && bytes == 6 * kind->bytes,
        "%s: sizes", kind->name);
    tap(pwl_blocks_bytes(kind->format, 1, 288, &bytes) == PWL_BLOCKS_ERR_SHAPE && bytes == 0 &&
            pwl_dequantise(kind->format, block, 1, 32, 32, v) == PWL_BLOCKS_ERR_SHAPE,
        "%s: a part of a super-block", kind->name);
    tap(pwl_dequantise(kind->format, (char *)block + 1, 1, ELEMENTS, ELEMENTS, v) == PWL_BLOCKS_ERR_ALIGN,
        "%s: at an odd address", kind->name);
    memset(block, 0xa5, sizeof block);
    tap(pwl_quantise(kind->format, PWL_RULE_DEFAULT, v, 1, ELEMENTS, ELEMENTS, block) == PWL_BLOCKS_ERR_FORMAT &&
            block[0] == 0xa5a5,
        "%s: is not made", kind->name);
}

int main(void)
{
    for (size_t i = 0; i < KINDS; i++) {
        test_values(&kinds[i]);
        test_padding(&kinds[i]);
        test_nan(&kinds[i]);
        test_errors(&kinds[i]);
    }
    return tap_end();
}
