/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax of 8-bit codes to 8 bits: exponentials are added one by one, a row's 256 results are computed once, and
 * looked up by their differences. */
#include "../rows/row_ways.h"
#include "lookup_neon.h"
#include "softmax_results_neon.h"

int pwl_softmax_neon_serves(const pwl_softmax *softmax)
{
    return pwl_softmax_is_of_bytes(softmax);
}

/* Codes from the lowest of the type on are x ^ flip. */
static uint8_t largest_of(const uint8_t *x, size_t length, uint8_t flip)
{
    const uint8x16_t flips = vdupq_n_u8(flip);
    uint8x16_t lanes = vdupq_n_u8(0);
    uint8_t largest;
    size_t k;
    for (k = 0; k + 16 <= length; k += 16)
        lanes = vmaxq_u8(lanes, veorq_u8(vld1q_u8(x + k), flips));
    largest = vmaxvq_u8(lanes);
    for (; k < length; k++)
        largest = (x[k] ^ flip) > largest ? x[k] ^ flip : largest;
    return largest;
}

/* The result of each difference. */
static table_256 make_results(const pwl_softmax *softmax, pwl_row_factor reciprocal)
{
    const lanes all = lanes_of(softmax, reciprocal);
    table_256 results;
    int k;
    for (k = 0; k < 16; k++) {
        const uint32_t *const exp = softmax->exp + 16 * k;
        results.part[k / 4].val[k % 4] = vcombine_u8(eight_bytes(&all, exp), eight_bytes(&all, exp + 8));
    }
    return results;
}

static void write_row(const table_256 *results, const uint8_t *x, uint8_t *y, size_t length, uint8_t largest)
{
    const uint8x16_t from = vdupq_n_u8(largest);
    uint8_t rest[16] = {0};
    size_t at, k;
    for (at = 0; at + 16 <= length; at += 16)
        vst1q_u8(y + at, look_up(results, vsubq_u8(from, vld1q_u8(x + at))));
    for (k = 0; at + k < length; k++)
        rest[k] = x[at + k];
    vst1q_u8(rest, look_up(results, vsubq_u8(from, vld1q_u8(rest))));
    for (k = 0; at + k < length; k++)
        y[at + k] = rest[k];
}

void pwl_softmax_neon(const pwl_softmax *softmax, const void *x, void *y, size_t count, size_t length)
{
    const uint8_t flip = pwl_type_is_unsigned((pwl_type)softmax->in) ? 0 : 0x80;
    const uint8_t *from = (const uint8_t *)x;
    uint8_t *to = (uint8_t *)y;
    for (; count; count--, from += length, to += length) {
        /* As the array has it; differences are the same modulo 256. */
        const uint8_t largest = (uint8_t)(largest_of(from, length, flip) ^ flip);
        const uint64_t sum = pwl_exp_sum(softmax->exp, from, length, largest);
        const table_256 results = make_results(softmax, pwl_row_reciprocal(softmax->reciprocal, sum));
        write_row(&results, from, to, length, largest);
    }
}
