/* SPDX-License-Identifier: Apache-2.0 */
/* Values to quantise: ordinary ones, and what a block format finds hard. */
#ifndef BLOCKS_INPUTS_H
#define BLOCKS_INPUTS_H

#include <math.h>
#include <stddef.h>

#include <pwl/blocks.h>

#include "../../support/random.h"

/* -1 to 1 */
static inline double draw_unit(uint64_t *state)
{
    return (double)(random_bits(state) >> 11) * 0x1p-52 - 1;
}

static inline float draw_special(uint64_t *state)
{
    static const float specials[] = {0.0f,       -0.0f,   NAN,      INFINITY, -INFINITY, 0x1p-149f,
                                     -0x1p-126f, 3.4e38f, -3.4e38f, 65504,    8.3e6f,    -1};
    return specials[random_bits(state) % (sizeof specials / sizeof specials[0])];
}

/* 32 values of one kind. */
static inline void draw_block(float x[PWL_BLOCK], uint64_t *state)
{
    const uint64_t kind = random_bits(state) % 8;
    const int exponent = kind == 1 ? (int)random_in(state, -148, 127) : (int)random_in(state, -24, 18);
    for (int j = 0; j < PWL_BLOCK; j++) {
        const double v = draw_unit(state);
        switch (kind) {
        case 0: /* uniform */
            x[j] = (float)v;
            break;
        case 1: /* any exponent, common to all, then close to where a scale leaves the range of fp16 */
        case 2:
            x[j] = (float)ldexp(v, exponent);
            break;
        case 3: /* few bits: values half way between codes, and the largest magnitude more than once */
            x[j] = (float)(int)(16 * v) / 4;
            break;
        case 4: /* both signs of one magnitude */
            x[j] = v < 0 ? -1.5f : 1.5f;
            break;
        case 5: /* mostly nothing */
            x[j] = v > 0.9 ? (float)v : v > 0 ? 0.0f : -0.0f;
            break;
        case 6: /* magnitudes of every size in one block */
            x[j] = (float)ldexp(v, (int)random_in(state, -30, 10));
            break;
        default: /* one value in 16 is special */
            x[j] = random_bits(state) % 16 ? (float)v : draw_special(state);
        }
    }
}

static inline void draw_values(float *x, size_t count, uint64_t *state)
{
    for (size_t i = 0; i < count; i += PWL_BLOCK) {
        float block[PWL_BLOCK];
        draw_block(block, state);
        for (size_t j = 0; j < PWL_BLOCK && i + j < count; j++)
            x[i + j] = block[j];
    }
}

/* Every pair that has a meaning. */
static const struct block_kind {
    const char *name;
    pwl_format format;
    pwl_rule rule;
} block_kinds[] = {
    {"Q4_0", PWL_Q4_0, PWL_RULE_DEFAULT},
    {"Q4_0, ggml's rule", PWL_Q4_0, PWL_RULE_GGML},
    {"Q4_0, the document's rule", PWL_Q4_0, PWL_RULE_DOCUMENT},
    {"Q8_0", PWL_Q8_0, PWL_RULE_DEFAULT},
    {"Q8_0, ggml's rule", PWL_Q8_0, PWL_RULE_GGML},
    {"Q8_0, the document's rule", PWL_Q8_0, PWL_RULE_DOCUMENT},
    {"Q8_1", PWL_Q8_1, PWL_RULE_DEFAULT},
    {"Q8_1, ggml's rule", PWL_Q8_1, PWL_RULE_GGML},
    {"Q8_1, the document's rule", PWL_Q8_1, PWL_RULE_DOCUMENT},
    {"MXFP4", PWL_MXFP4, PWL_RULE_DEFAULT},
    {"MXFP4, ggml's rule", PWL_MXFP4, PWL_RULE_GGML},
};

#define BLOCK_KINDS (sizeof block_kinds / sizeof block_kinds[0])

#endif
