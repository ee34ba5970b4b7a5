/* SPDX-License-Identifier: Apache-2.0 */
/* Attention made in long double, straight from docs/operators.md, and codes for it. */
#ifndef MADE_ATTENTION_H
#define MADE_ATTENTION_H

#include <pwl/attention.h>

#include "../../support/made_rows.h"
#include "../../support/random.h"

/* 2^30 <= a 2^-n < 2^31, which brings o to codes of a scale: `steps` of them are 2^22 of o. */
static inline pwl_requantise made_context(pwl_type out, long double steps, int64_t zp_y)
{
    pwl_requantise made = {.version = PWL_ELEMENTS_VERSION,
                           .in = PWL_S32,
                           .out = (uint8_t)out,
                           .qmin_y = type_lowest(out),
                           .qmax_y = type_highest(out),
                           .zp_y = zp_y};
    int n = 0;
    while (ldexpl(steps, n) < 0x1p52L)
        n++;
    made.multiplier = (int32_t)roundl(ldexpl(steps, n - 22));
    made.shift = (uint8_t)n;
    return made;
}

/* `made` has the exponentials, of codes of 8 bits that step by in_scale; a product counts `of_product` of these. */
static inline pwl_attention make_attention(made_softmax *made, long double in_scale, int fraction, uint32_t longest,
                                           long double of_product, int8_t zp_v, pwl_requantise context)
{
    make_softmax(made, PWL_U8, in_scale, PWL_U8, 8, 0, longest);
    make_exp(made, fraction);
    return (pwl_attention){
        .softmax = made->softmax, .requantise = context, .step = (int32_t)roundl(ldexpl(of_product, 24)), .zp_v = zp_v};
}

/* Codes near to normal, a part of the type wide, of which every 64th is any. */
static inline void draw_codes(int8_t *codes, size_t count, int part, uint64_t *state)
{
    for (size_t k = 0; k < count; k++) {
        int64_t v = random_bits(state) % 64 ? 0 : random_in(state, -128, 127);
        for (int j = 0; j < 4; j++)
            v += random_in(state, -part, part);
        codes[k] = (int8_t)(v < -128 ? -128 : v > 127 ? 127 : v);
    }
}

#endif
