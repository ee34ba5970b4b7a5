/* SPDX-License-Identifier: Apache-2.0 */
/* The way in plain C: block.h's arithmetic, written as loops without a branch, which compilers make vectors of. */
#include "q8.h"

#include "block.h"

enum { LANES = 8 }; /* for which a maximum is kept */

/* The largest magnitude; *finite = none is infinite or NaN, without which it says nothing. */
static float amax_of(const float v[PWL_BLOCK], int *finite)
{
    float most[LANES] = {0}, rest[LANES] = {0};
    for (int at = 0; at < PWL_BLOCK; at += LANES) {
        for (int i = 0; i < LANES; i++) {
            const float a = pwl_magnitude(v[at + i]);
            most[i] = a > most[i] ? a : most[i];
            rest[i] += v[at + i] - v[at + i]; /* 0, or NaN from then on */
        }
    }
    for (int half = LANES / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; i++) {
            most[i] = most[i + half] > most[i] ? most[i + half] : most[i];
            rest[i] += rest[i + half];
        }
    }
    *finite = rest[0] == 0;
    return most[0];
}

/* pwl_code_of() of each value, clipped before its fraction is dropped, which comes to the same; their sum. */
static int put_codes(const float v[PWL_BLOCK], float inverse, int8_t qs[PWL_BLOCK])
{
    int32_t q[PWL_BLOCK];
    int sum = 0;
    for (int j = 0; j < PWL_BLOCK; j++) {
        const float p = v[j] * inverse, rounded = pwl_magnitude(p) + 0x1.fffffep-2f;
        const float kept = rounded < 127 ? rounded : 127;
        q[j] = (int)pwl_f32_of_bits(pwl_bits_of_f32(kept) | (pwl_bits_of_f32(p) & 0x80000000u));
    }
    for (int j = 0; j < PWL_BLOCK; j++)
        sum += q[j];
    for (int j = 0; j < PWL_BLOCK; j++)
        qs[j] = (int8_t)q[j];
    return sum;
}

static pwl_block_q8_1 block_of(const float v[PWL_BLOCK])
{
    pwl_block_q8_1 block = {0x7fff, 0x7fff, {0}};
    pwl_extent extent = {0, 0, 0};
    pwl_scale scale;
    int finite;
    extent.amax = amax_of(v, &finite);
    if (!finite)
        return block;
    extent.finite = 1;
    scale = pwl_scale_of(PWL_Q8_1, PWL_RULE_DEFAULT, extent);
    block.d = scale.stored;
    block.s = pwl_sum_of(PWL_RULE_DEFAULT, extent, scale, put_codes(v, scale.inverse, block.qs), 0);
    return block;
}

void pwl_q8_1_plain(const float *x, size_t blocks, pwl_block_q8_1 *to)
{
    for (size_t b = 0; b < blocks; b++)
        to[b] = block_of(x + b * PWL_BLOCK);
}

const pwl_q8_way pwl_q8_ways[] = {
#define WAY(name, level) {#name, level, pwl_q8_1_##name},
    PWL_Q8_WAYS(WAY)
#undef WAY
};
const size_t pwl_q8_way_count = sizeof pwl_q8_ways / sizeof *pwl_q8_ways;

void pwl_q8_1(const float *x, size_t blocks, pwl_block_q8_1 *to)
{
    const uint32_t levels = pwl_levels();
    const pwl_q8_way *way = pwl_q8_ways;
    while ((way->level & levels) != way->level)
        way++;
    way->make(x, blocks, to);
}
