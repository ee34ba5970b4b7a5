/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BITS_DEVICE_H
#define BITS_DEVICE_H

#include "bits_cases.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Queues one conversion of count inputs, at least 1, in device memory; the launch's cudaError_t. */
int bits_device_run(enum bits_case id, const bits_input *in, bits_output *out, unsigned count);

/* Queues all floats whose bits are multiples of `apart`, as E4M3 by the device's own instruction: *first, in device
 * memory, is lowered to the bits of those that have other codes than by pwl/e4m3.h. */
int bits_device_visit_e4m3(uint32_t apart, unsigned long long *first);

#ifdef __cplusplus
}
#endif
#endif
