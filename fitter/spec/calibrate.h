/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Types from data: the scale and the zero point of a type that is given by its codes alone ("s8"), for a real range
 * [low, high].
 *
 *     scale      = (high - low) / (qmax - qmin), rounded to a double
 *     zero point = qmin - low / scale, rounded to the nearest integer, ties to even
 *
 * so that qmin and qmax stand for low and high but for half a scale, and 0 is a code itself whenever it lies inside the
 * range. For signed codes and high = -low the type is symmetric: scale = high / qmax, zero point 0. With powers of two
 * the scale is the least one that is not below; low stays at qmin.
 */
#ifndef PWLC_CALIBRATE_H
#define PWLC_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/real.h"
#include "function/tensor.h"

/* How data give a range:
 *     minmax      the smallest and the largest value
 *     percentile  P percent of the values, half of the rest cut at each side; quantiles as numpy's, between two values
 *                 by a straight line
 *     mse         the range whose type has the least mean squared error, clipping included, that a search finds: both
 *                 ends are moved in turn towards the median, at first by factors of 2^(-1/4), then more finely */
enum calibrate_by { CALIBRATE_MINMAX, CALIBRATE_PERCENTILE, CALIBRATE_MSE };

/* "minmax", "percentile=99.9" or "mse"; percentages above 0, up to 100. */
int calibrate_by_parse(const char *text, const char *flag, enum calibrate_by *by, double *percent, struct diag *diag);

/* "lo:hi", two finite numbers, lo below hi. */
int range_parse(const char *text, const char *flag, double *low, double *high, struct diag *diag);

/* Reads the values of a .npy file of float16, float32 or float64, any shape, and sorts them: malloc'd, at least one,
 * all finite. Exit 1 when it cannot be read, 2 for anything else. */
int calibration_read(const char *path, double **values, size_t *count, struct diag *diag);
int calibration_parse(const void *bytes, size_t size, double **values, size_t *count, struct diag *diag);

/* The range of sorted values for a type with these codes. Exit 2 when it is empty: constant data; 1 when memory is
 * short. */
int calibrate(const double *values, size_t count, enum calibrate_by by, double percent, const struct tensor *codes,
              bool powers_of_two, const char *flag, double *low, double *high, struct diag *diag);

/* Sets scale and zero point; low < high. Exit 2 when the scale leaves 2^-64 to 2^64, or the zero point 2^40. */
int tensor_set_range(struct tensor *tensor, real low, real high, bool powers_of_two, const char *flag,
                     struct diag *diag);

/* Mean squared difference between sorted values and the nearest values of the type. */
double calibration_mse(const double *values, size_t count, const struct tensor *tensor);

#endif
