/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax of 16-bit codes: vectors of softmax_pieces.h. */
#include "softmax_results_neon.h"

#include "../rows/row_ways.h"

enum { EACH = 16 }; /* results that are stored at once */

static uint16_t largest_of(const uint16_t *x, size_t length, uint16_t flip)
{
    const uint16x8_t flips = vdupq_n_u16(flip);
    uint16x8_t lanes = vdupq_n_u16(0);
    uint16_t largest;
    size_t k;
    for (k = 0; k + 8 <= length; k += 8)
        lanes = vmaxq_u16(lanes, veorq_u16(vld1q_u16(x + k), flips));
    largest = vmaxvq_u16(lanes);
    for (; k < length; k++)
        largest = (x[k] ^ flip) > largest ? x[k] ^ flip : largest;
    return largest;
}

static void subtract(const uint16_t *x, size_t count, uint16_t largest, uint16_t *d)
{
    const uint16x8_t from = vdupq_n_u16(largest);
    size_t k;
    for (k = 0; k + 8 <= count; k += 8)
        vst1q_u16(d + k, vsubq_u16(from, vld1q_u16(x + k)));
    for (; k < count; k++)
        d[k] = (uint16_t)(largest - x[k]);
}

static uint64_t round_and_add(size_t count, uint32_t *e)
{
    uint64x2_t sums = vdupq_n_u64(0);
    size_t k;
    for (k = 0; k < count; k += 4) {
        const uint32x4_t v = vrshrq_n_u32(vld1q_u32(e + k), 1);
        vst1q_u32(e + k, v);
        sums = vpadalq_u32(sums, v);
    }
    return vaddvq_u64(sums);
}

static void store_piece(const lanes *all, const uint32_t *e, size_t count, int is_wide, void *y)
{
    uint16_t last[EACH];
    size_t k, j, from;
    for (k = 0; k < count; k += EACH) {
        const int is_whole = k + EACH <= count;
        uint8_t *const to = is_whole ? (uint8_t *)y + (k << is_wide) : (uint8_t *)last;
        for (j = 0; j < EACH; j += 8) {
            if (is_wide)
                vst1q_u16((uint16_t *)(void *)to + j, vcombine_u16(four(all, e + k + j), four(all, e + k + j + 4)));
            else
                vst1_u8(to + j, eight_bytes(all, e + k + j));
        }
        for (from = 0; !is_whole && from < (count - k) << is_wide; from++)
            ((uint8_t *)y)[(k << is_wide) + from] = to[from];
    }
}

#include "../rows/softmax_pieces.h"

int pwl_softmax_words_neon_serves(const pwl_softmax *softmax)
{
    return pwl_softmax_is_of_words(softmax);
}

void pwl_softmax_words_neon(const pwl_softmax *softmax, const void *x, void *y, size_t count, size_t length)
{
    run_rows(softmax, x, y, count, length);
}
