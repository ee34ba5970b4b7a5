/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measuring a table on a CUDA device. */
#ifndef PWLC_MEASURE_CUDA_H
#define PWLC_MEASURE_CUDA_H

#include "base/diag.h"
#include "cuda_library.h"
#include "measure/measure.h"

/* As measure with all_codes, on a CUDA device; measure_cuda.c says how. The extremes, with their codes, and the counts
 * are those of measure. The averages are sums in double of errors that are off by less than the margins of sweep_code.h,
 * up to 2^-15 LSB for 32-bit outputs, and more only where f multiplies its argument's rounding: exp, sin and cos of
 * large arguments. The same numbers at each run on one device. Exit 2 for what devices do not have: reduced tables,
 * samples and expressions; 77 without a device; 1 when a device's values or targets are not the host's. */
int measure_on_cuda(const struct table *table, const struct packed_table *packed, const struct function *function,
                    const struct library *library, measure_progress *progress, void *context,
                    struct error_stats *stats, struct diag *diag);

#endif
