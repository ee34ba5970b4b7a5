/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often errors of a size occur. */
#ifndef PWLC_HISTOGRAM_H
#define PWLC_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/file.h"

#define HISTOGRAM_MAX_BINS 32

/* Bin k counts the errors in [(first + k) * width, (first + k + 1) * width). */
struct histogram {
    double width; /* 1, 2 or 5 times a power of ten */
    int64_t first;
    int bins;
    int64_t counts[HISTOGRAM_MAX_BINS];
    int64_t total;
};

/* Of finite errors, at least one; about 20 bins. */
void histogram_make(const double *errors, size_t count, struct histogram *histogram);

/* A Markdown table with a bar for each bin. */
void histogram_print(const struct histogram *histogram, const char *unit, struct text *out);

#endif
