/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tensors of a model file, TFLite or ONNX, with the codes, scale and zero point that quantisation gave them. */
#ifndef PWLC_MODEL_H
#define PWLC_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "window.h"

/* More than these are refused: tensors, bytes of a name, and bytes of all names together. */
#define MODEL_MOST_TENSORS ((size_t)1 << 20)
#define MODEL_MOST_NAME_BYTES WINDOW_MOST_BYTES
#define MODEL_MOST_NAMES_BYTES ((size_t)256 << 20)

/* What is known of a tensor's scale. */
enum model_scale {
    MODEL_NO_SCALE,
    MODEL_ONE_SCALE,
    MODEL_CHANNEL_SCALES, /* `scales` of them, each of one channel or block */
    MODEL_UNEVEN_SCALES,  /* `scales` of them, and another number of zero points */
    MODEL_COMPUTED_SCALE, /* while the model runs */
    MODEL_EXTERNAL_SCALE, /* in another file */
    MODEL_MISSING_SCALE,  /* it has no value in the file */
    MODEL_SEVERAL_SCALES, /* nodes give the tensor different ones */
};

/* How elements are stored; bits is 0 unless they are integers of 2 to 32 bits. */
struct model_codes {
    const char *name; /* "int8", "float32" */
    int bits;
    bool is_signed;
};

struct model_name {
    size_t at, size; /* in the names of the model; any bytes */
};

struct model_tensor {
    struct model_name name;
    struct model_codes codes;
    enum model_scale state;
    uint64_t scales;
    double scale; /* of MODEL_ONE_SCALE any double; of MODEL_CHANNEL_SCALES that of the first channel */
    int64_t zero_point;
};

struct model {
    struct model_tensor *tensors; /* malloc'd, in the order of their indices */
    size_t count, capacity;
    unsigned char *names; /* malloc'd, each followed by a zero byte */
    size_t names_size, names_capacity;
};

void model_free(struct model *model);

/* A tensor's name. */
const char *model_name(const struct model *model, struct model_name name);

/* The tensor of that name, or where there is none that of that index, in decimal. Exit 2 when there is neither, and
 * when several have the name and differ. */
int model_find(const struct model *model, const char *name, size_t *index, struct diag *diag);

/* Whether two tensors are the same but for their names. */
bool model_tensor_is_same(const struct model_tensor *a, const struct model_tensor *b);

/* For the readers of formats: adds a tensor; copies a name out of the file. Exit 1 or 2. */
int model_add(struct model *model, const struct model_tensor *tensor, struct diag *diag);
int model_take_name(struct model *model, struct window *window, uint64_t at, uint64_t size, struct model_name *name,
                    struct diag *diag);

#endif
