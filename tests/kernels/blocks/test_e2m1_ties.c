/* SPDX-License-Identifier: Apache-2.0 */
/* MXFP4's elements half way between two codes, and the floats on both sides of that, which drawn blocks hardly hold. */
#include <math.h>
#include <stdint.h>

#include <pwl/blocks.h>

#include "../e2m1.h"
#include "../tap.h"

#define TIES 7 /* half way between the magnitudes of codes k and k + 1 */

/* Of both neighbours the nearer one; of a tie the even one, or by ggml's rule the lower. */
static uint32_t nearest(float magnitude, uint32_t below, int ggml)
{
    const double to_below = (double)magnitude - e2m1(below), to_above = e2m1(below + 1) - (double)magnitude;
    return to_below != to_above ? below + (to_above < to_below) : ggml ? below : below + below % 2;
}

/* A block of the scale `unit`, its largest value 4, and for each tie the float below it, the tie and the float above.
 */
static int ties_hold(int ggml, float unit, int negative)
{
    float x[PWL_BLOCK] = {4 * unit};
    uint32_t expected[PWL_BLOCK] = {6};
    pwl_block_mxfp4 block;
    for (uint32_t i = 0; i < 3 * TIES; i++) {
        const float tie = (float)(e2m1(i / 3) + e2m1(i / 3 + 1)) / 2;
        const float v = i % 3 == 0 ? nextafterf(tie, 0) : i % 3 == 1 ? tie : nextafterf(tie, 8);
        const uint32_t code = nearest(v, i / 3, ggml);
        x[i + 1] = (negative ? -v : v) * unit;
        expected[i + 1] = negative && (code || !ggml) ? code + 8 : code;
    }
    if (pwl_quantise(PWL_MXFP4, ggml ? PWL_RULE_GGML : PWL_RULE_DEFAULT, x, 1, PWL_BLOCK, PWL_BLOCK, &block) !=
        PWL_BLOCKS_OK)
        return 0;
    for (uint32_t i = 0; i <= 3 * TIES; i++) {
        const uint32_t code = block.qs[i % 16] >> (i < 16 ? 0 : 4) & 15;
        if (code != expected[i]) {
            printf("# %a of %a: %u, not %u\n", (double)x[i], (double)unit, (unsigned)code, (unsigned)expected[i]);
            return 0;
        }
    }
    return 1;
}

int main(void)
{
    for (int ggml = 0; ggml < 2; ggml++) {
        int good = 1;
        for (int negative = 0; negative < 2; negative++)
            good &= ties_hold(ggml, 1, negative) & ties_hold(ggml, 0x1p-20f, negative);
        tap(good, "ties and their neighbours, %s", ggml ? "ggml's rule" : "to even");
    }
    return tap_end();
}
