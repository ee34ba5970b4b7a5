/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "histogram.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define WANTED_BINS 20
#define BAR 40 /* characters */

static int64_t bin_of(double error, double width)
{
    return (int64_t)floor(error / width); /* a few tens of widths at most from the largest error: below 2^53 */
}

void histogram_make(const double *errors, size_t count, struct histogram *histogram)
{
    double low = errors[0], high = errors[0];
    for (size_t i = 1; i < count; i++) {
        low = fmin(low, errors[i]);
        high = fmax(high, errors[i]);
    }
    /* The next 1, 2 or 5 above makes 8 to 20 bins, and one more at each end. Errors all alike have one bin. */
    const double magnitude = fmax(fabs(low), fabs(high));
    double raw = (high - low) / WANTED_BINS;
    if (!(raw > 1e-9 * magnitude))
        raw = magnitude > 0 ? magnitude / WANTED_BINS : 0.05;
    const double power = pow(10, floor(log10(raw)));
    *histogram = (struct histogram){.width = power * (raw <= power       ? 1
                                                      : raw <= 2 * power ? 2
                                                      : raw <= 5 * power ? 5
                                                                         : 10)};
    histogram->first = bin_of(low, histogram->width);
    histogram->bins = (int)(bin_of(high, histogram->width) - histogram->first) + 1;
    for (size_t i = 0; i < count; i++)
        histogram->counts[bin_of(errors[i], histogram->width) - histogram->first]++;
    histogram->total = (int64_t)count;
}

void histogram_print(const struct histogram *histogram, const char *unit, struct text *out)
{
    int64_t most = 1;
    int width = (int)strlen("from, ") + (int)strlen(unit);
    char text[HISTOGRAM_MAX_BINS + 1][32];
    for (int k = 0; k <= histogram->bins; k++) {
        snprintf(text[k], sizeof text[k], "%.6g", (double)(histogram->first + k) * histogram->width);
        width = (int)strlen(text[k]) > width ? (int)strlen(text[k]) : width;
        if (k < histogram->bins && histogram->counts[k] > most)
            most = histogram->counts[k];
    }
    text_add(out, "| from, %-*s | %*s | %10s | %7s | %-*s |\n", width - 6, unit, width, "below", "codes", "share", BAR,
             "");
    text_add(out, "| %.*s: | %.*s: | ---------: | ------: | %.*s |\n", width - 1,
             "------------------------------------------------", width - 1,
             "------------------------------------------------", BAR,
             "------------------------------------------------");
    for (int k = 0; k < histogram->bins; k++) {
        const int64_t n = histogram->counts[k];
        const double share = (double)n / (double)histogram->total;
        /* A bin that holds anything shows something. */
        const int bar = n == 0 ? 0 : (int)fmax(1, floor((double)n / (double)most * BAR + 0.5));
        text_add(out, "| %*s | %*s | %10" PRId64 " | %6.2f%% | %-*.*s |\n", width, text[k], width, text[k + 1], n,
                 100 * share, BAR, bar, "########################################");
    }
}
