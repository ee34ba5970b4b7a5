/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BITS_DEVICE_H
#define BITS_DEVICE_H

#include "bits_cases.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Queues one conversion of count inputs, at least 1, in device memory; the launch's cudaError_t. */
int bits_device_run(enum bits_case id, const bits_input *in, bits_output *out, unsigned count);

#ifdef __cplusplus
}
#endif
#endif
