/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Properties of accepted weights, whichever file format they came from. */
#ifndef FUZZ_WEIGHTS_H
#define FUZZ_WEIGHTS_H

#include "function/weights.h"
#include "fuzz.h"

#define MOST_WEIGHTS 256 /* so that files of more are easy to find */

static inline void weights_require(const struct weights *weights)
{
    double largest = 0;
    REQUIRE(weights->count >= 1 && weights->count <= MOST_WEIGHTS);
    for (size_t k = 0; k < weights->count; k++) {
        REQUIRE(weights->value[k] >= 0 && weights->value[k] <= 1);
        REQUIRE(weights->code == NULL || k == 0 || weights->code[k - 1] < weights->code[k]);
        largest = weights->value[k] > largest ? weights->value[k] : largest;
    }
    REQUIRE(largest == 1);
}

#endif
