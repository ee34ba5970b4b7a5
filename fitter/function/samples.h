/* SPDX-License-Identifier: GPL-3.0-or-later */
/* User functions given as sample points (x, y), x strictly ascending, joined by straight lines. */
#ifndef PWLC_SAMPLES_H
#define PWLC_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/dd.h"
#include "base/diag.h"

/* What is to be said wherever errors of such a function are. */
#define SAMPLES_BETWEEN "joined by straight lines; between them nothing is known"

struct samples {
    size_t count;    /* at least 2 */
    double *x, *y;   /* finite; x strictly ascending */
    char sha256[65]; /* of the file's bytes, and of ":LOW:HIGH" behind them where there is a grid; lower-case */
};

/* Reads FILE: .npy (float16, float32 or float64, shape (n, 2), C order) or text with one "x,y" a line
 * (a first line that is not numeric is a header; blank lines and lines starting with '#' are skipped).
 * Descending x is reversed. FILE.npy:LOW:HIGH is an array of y alone, shape (n,), at x evenly spaced from LOW to HIGH,
 * both ends included. Messages name the file and the line or element. */
int samples_read(const char *path, struct samples **samples, struct diag *diag);

/* As samples_read, from memory; for tests and fuzzing. npy: the bytes are a .npy file. */
int samples_parse(const void *bytes, size_t size, int npy, struct samples **samples, struct diag *diag);

void samples_free(struct samples *samples);

/* Whether x, in double, lies between two samples and is none of them. */
bool samples_between(const struct samples *samples, double x);

/* Linear interpolation, and its slope (of the interval to the right at a sample). x must lie in [x[0], x[count-1]]. */
struct dd samples_value(const struct samples *samples, struct dd x);
struct dd samples_derivative(const struct samples *samples, struct dd x);

#endif
