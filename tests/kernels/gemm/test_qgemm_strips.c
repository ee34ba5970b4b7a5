/* SPDX-License-Identifier: Apache-2.0 */
/* X of W4A8 and W8A8 in halves: which of it is made when, and what an element becomes. */
#include <math.h>

#include "../../support/random.h"
#include "../tap.h"
#include "blocks/block.h"
#include "gemm/strips.h"
#include "gemm/weight.h"

/* Every element of X has one maker: the pass, or the strip of its row. */
static void test_cover(void)
{
    static const size_t ms[] = {1, 2, 65, 128, 129, 512, 1023, 1024, 4096, 100001};
    static const size_t depths[] = {1, 2, 8, 9, 64, 224}, warps[] = {2, 228, 264};
    int covers = 1, complete = 1, early = 1, little = 1;
    for (size_t i = 0; i < 10 * 6 * 3; i++) {
        const size_t m = ms[i % 10], depth = depths[i / 10 % 6];
        for (size_t first = 48; first <= 5000; first += first < 300 ? 17 : 640) {
            const pwl_qgemm_strips s = pwl_qgemm_strips_of(m, depth, 256, first, warps[i / 60]);
            const size_t rows = first < m ? first : m, of_strip = (size_t)1 << s.log_rows;
            covers &= s.leading >= rows && s.leading <= m && s.ahead >= 1 && s.ahead <= depth;
            if (!s.count) {
                complete &= s.leading == m && s.ahead == depth;
                continue;
            }
            covers &= of_strip <= 4 && s.count * of_strip >= m && (s.count - 1) * of_strip < m;
            /* Strips are led whole: what their rows have ahead, all of them have. */
            covers &= s.leading == m || s.leading % of_strip == 0;
            for (size_t strip = 0; strip < s.count; strip++)
                covers &= pwl_qgemm_strip_ahead(&s, strip) == (strip * of_strip < s.leading ? s.ahead : 0);
            early &= s.ahead == depth || s.ahead * PWL_QGEMM_COLUMNS >= PWL_QGEMM_AHEAD_COLUMNS;
            little &= rows * s.ahead * PWL_QGEMM_COLUMNS <= PWL_QGEMM_AHEAD ||
                      s.ahead * PWL_QGEMM_COLUMNS <= PWL_QGEMM_AHEAD_COLUMNS;
        }
    }
    tap(covers, "strips are all rows, and the pass makes the same of all rows of a strip");
    tap(complete, "without strips the pass makes all");
    tap(early, "a product has columns to begin with");
    tap(little, "which are few elements, but where rows are many");
    const pwl_qgemm_strips low = pwl_qgemm_strips_of(4096, 64, 128, 640, 264);
    tap(low.count == 0 && low.leading == 4096 && low.ahead == 64, "low tiles: by the pass");
    const pwl_qgemm_strips few = pwl_qgemm_strips_of(512, 64, 256, 1280, 264);
    tap(few.count == 0 && few.leading == 512 && few.ahead == 64, "512 rows of 4096 columns: by the pass");
    const pwl_qgemm_strips many = pwl_qgemm_strips_of(4096, 64, 256, 1280, 264);
    tap(many.log_rows == 2 && many.count == 1024 && many.leading == 1280 && many.ahead == 25,
        "4096 rows: 1600 columns of the first 1280, the rest in strips of 4");
}

static float f16_of(uint64_t bits)
{
    return pwl_f32_from_f16((uint16_t)bits);
}

/* For every largest magnitude that a block of halves can have, elements up to it. */
static void test_elements(void)
{
    enum { DRAWN = 60 };
    uint64_t state = 61;
    int same = 1, within = 1;
    for (uint32_t amax = 0; amax < 0x7c00; amax++) {
        const pwl_extent extent = {f16_of(amax), 0, 1};
        const pwl_scale scale = pwl_scale_of(PWL_Q8_1, PWL_RULE_DEFAULT, extent);
        const float d = pwl_f32_from_f16(scale.stored);
        for (uint32_t i = 0; i < DRAWN; i++) {
            const uint64_t magnitude = i < 4 ? amax - (i < amax ? i : amax) : random_bits(&state) % (amax + 1);
            const float v = f16_of(magnitude | (i % 2) << 15);
            const int code = pwl_code_of(PWL_Q8_1, PWL_RULE_DEFAULT, scale, v);
            const float real = pwl_q8_1_real(scale.inverse, d, v), exact = d * (float)code;
            const double half = fmin(fmax(f16_of(pwl_f16_from_f32(real)), -65504), 65504);
            same &= real == exact;
            /* Subnormal numbers are multiples of 2^-24, as d is. */
            within &= fabs(half - exact) <= fabs(exact) * 0x1p-11;
            if (!same || !within) {
                printf("# amax %a, v %a: %a, not %a; in fp16 %a\n", f16_of(amax), v, real, exact, half);
                tap(0, "elements");
                return;
            }
        }
    }
    tap(same, "d q as the code says, for every largest magnitude");
    tap(within, "in fp16, up to 65504, within 2^-11 of it");
    const pwl_extent most = {65504, 0, 1};
    tap(pwl_f32_from_f16(pwl_scale_of(PWL_Q8_1, PWL_RULE_DEFAULT, most).stored) == 516, "d is at most 516");
}

int main(void)
{
    test_cover();
    test_elements();
    return tap_end();
}
