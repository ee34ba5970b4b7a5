/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Properties of accepted sample points, whichever file format they came from. */
#ifndef FUZZ_SAMPLES_H
#define FUZZ_SAMPLES_H

#include <math.h>

#include "base/file.h"
#include "function/samples.h"
#include "fuzz.h"

static inline void samples_require(const struct samples *samples)
{
    REQUIRE(samples->count >= 2);
    for (size_t i = 0; i < samples->count; i++) {
        REQUIRE(isfinite(samples->x[i]) && isfinite(samples->y[i]));
        REQUIRE(i == 0 || samples->x[i - 1] < samples->x[i]);
    }
    for (size_t i = 0; i + 1 < samples->count; i++) {
        const long double x0 = samples->x[i], x1 = samples->x[i + 1], y0 = samples->y[i], y1 = samples->y[i + 1];
        /* Half a dozen roundings of relative size 2^-64 stay far below 2^-58 of the values' sum; and quarters of what is
         * near the least double are lost. */
        const long double slack = (fabsl(y0) + fabsl(y1)) * 0x1p-58L + 0x1p-1072L;
        const long double middle = dd_long(samples_value(samples, dd_of_long(x0 + (x1 - x0) / 2)));
        REQUIRE(fabsl(dd_long(samples_value(samples, dd_of_long(x0))) - y0) <= slack);
        REQUIRE(fabsl(dd_long(samples_value(samples, dd_of_long(x1))) - y1) <= slack);
        REQUIRE(fabsl(middle - (y0 + y1) / 2) <= slack);
        REQUIRE(!isnan(samples_derivative(samples, dd_of_long(x0)).hi));
    }
}

static inline void samples_require_round_trip(const struct samples *samples)
{
    struct text csv = {0};
    for (size_t i = 0; i < samples->count; i++)
        text_add(&csv, "%.17g,%.17g\n", samples->x[i], samples->y[i]);
    REQUIRE(!csv.failed);
    struct samples *again = NULL;
    struct diag diag = {0};
    REQUIRE(samples_parse(csv.bytes, csv.size, 0, &again, &diag) == EXIT_DONE);
    REQUIRE(again->count == samples->count);
    for (size_t i = 0; i < samples->count; i++)
        REQUIRE(again->x[i] == samples->x[i] && again->y[i] == samples->y[i]);
    samples_free(again);
    text_free(&csv);
}

#endif
