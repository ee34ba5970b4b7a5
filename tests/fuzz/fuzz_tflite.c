/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TFLite models: what is found in any bytes is a list of tensors, or they are refused. */
#include "fuzz_model.h"

#include "io/tflite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0)
        require_model(data, size, tflite_parse);
    return 0;
}
