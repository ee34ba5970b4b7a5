/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Types that a model has for its tensors: FILE:TENSOR where a type is asked for. */
#ifndef PWLC_MODEL_TYPE_H
#define PWLC_MODEL_TYPE_H

#include "base/file.h"
#include "function/tensor.h"
#include "io/model.h"

/* Whether the text is to be looked up in a file: one that is no type, and begins with the name of a file, or with one
 * that ends in .tflite or .onnx. */
bool model_type_is_meant(const char *text);

/* The type of a tensor, "model.tflite:TENSOR", by its name or its index. The name of the file ends at the last colon
 * before which there is a file. Exit 1 or 2; field names the flag in messages. */
int model_type_read(const char *text, const char *field, struct tensor *type, struct diag *diag);

/* The type of a tensor; false where it has none, and then what it has instead: "float32, not quantised". */
bool model_type_of(const struct model_tensor *tensor, struct tensor *type, struct text *instead);

#endif
