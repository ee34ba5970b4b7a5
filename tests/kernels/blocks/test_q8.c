/* SPDX-License-Identifier: Apache-2.0 */
/* Every way to make blocks of Q8_1 has the bits of block.h's arithmetic, value by value, and pwl_quantise() does. */
#include <math.h>
#include <string.h>

#include "blocks/block.h"
#include "blocks/q8.h"

#include "../../support/random.h"
#include "../tap.h"

enum { COUNT = 7, ROUNDS = 60000 };

static pwl_block_q8_1 expected(const float v[PWL_BLOCK])
{
    const pwl_extent extent = pwl_extent_of(v);
    const pwl_scale scale = pwl_scale_of(PWL_Q8_1, PWL_RULE_DEFAULT, extent);
    pwl_block_q8_1 block;
    int sum = 0;
    for (int j = 0; j < PWL_BLOCK; j++) {
        const int q = pwl_code_of(PWL_Q8_1, PWL_RULE_DEFAULT, scale, extent.finite ? v[j] : 0);
        block.qs[j] = (int8_t)q;
        sum += q;
    }
    block.d = scale.stored;
    block.s = pwl_sum_of(PWL_RULE_DEFAULT, extent, scale, sum, 0);
    return block;
}

/* Of every kind: any bits, magnitudes of one exponent, few values so that there are ties, zeros, what is not finite. */
static void draw(float v[PWL_BLOCK], uint64_t *state)
{
    const int kind = (int)(random_bits(state) % 5), exponent = (int)random_in(state, -148, 127);
    for (int j = 0; j < PWL_BLOCK; j++) {
        if (kind == 0)
            v[j] = pwl_f32_of_bits((uint32_t)random_bits(state));
        else if (kind == 1)
            v[j] = ldexpf((float)random_in(state, -4, 4), exponent - 3);
        else if (kind == 2)
            v[j] = ldexpf((float)(2 * random_in(state, -127, 126) + 1), exponent / 2);
        else
            v[j] = ldexpf((float)random_in(state, -65536, 65536), exponent - 17);
    }
    if (kind == 2)
        v[random_bits(state) % PWL_BLOCK] = ldexpf(254, exponent / 2);
    if (kind == 4 && random_bits(state) % 4 == 0)
        v[random_bits(state) % PWL_BLOCK] = random_bits(state) % 2 ? NAN : -INFINITY;
}

int main(void)
{
    for (size_t i = 0; i < pwl_q8_way_count; i++) {
        const pwl_q8_way *const way = &pwl_q8_ways[i];
        uint64_t state = 91;
        int good = 1;
        if ((way->level & pwl_levels()) != way->level) {
            printf("# %s: not here\n", way->name);
            continue;
        }
        for (int round = 0; round < ROUNDS && good; round++) {
            float v[1 + COUNT * PWL_BLOCK];
            const size_t count = 1 + random_bits(&state) % COUNT, offset = random_bits(&state) % 2;
            pwl_block_q8_1 made[COUNT + 1], quantised[COUNT];
            memset(made, 0xa5, sizeof made);
            for (size_t b = 0; b < count; b++)
                draw(v + offset + b * PWL_BLOCK, &state);
            way->make(v + offset, count, made);
            good = pwl_quantise(PWL_Q8_1, PWL_RULE_DEFAULT, v + offset, count, PWL_BLOCK, PWL_BLOCK, quantised) ==
                       PWL_BLOCKS_OK &&
                   made[count].d == 0xa5a5;
            for (size_t b = 0; b < count && good; b++) {
                const pwl_block_q8_1 one = expected(v + offset + b * PWL_BLOCK);
                good = memcmp(&one, &made[b], sizeof one) == 0 && memcmp(&one, &quantised[b], sizeof one) == 0;
            }
        }
        tap(good, "%s: blocks of Q8_1", way->name);
    }
    return tap_end();
}
