/* SPDX-License-Identifier: Apache-2.0 */
/* Maps between float32 and codes, as <pwl/real.h> defines them. */
#ifndef PWL_CORE_REAL_H
#define PWL_CORE_REAL_H

#include <pwl/real.h>

#include "array.h"

typedef struct quantiser {
    pwl_affine affine;
    int64_t qmin, qmax;
} quantiser;

/* Of context, a quantiser: x_element is ELEMENT_F32 and y_element a pwl_type that holds its codes. */
void real_quantise(const array_map *map, const void *x, void *y, size_t count);

/* The other way round. */
void real_dequantise(const array_map *map, const void *x, void *y, size_t count);

/* Whether <pwl/real.h> serves this scale and zero point beside codes of this type; else -1 with an exception. */
int real_check_affine(pwl_affine affine, int type);

/* Of Python: quantise(x, out, scale, zero_point, qmin, qmax), x of float32 and out of a type that holds the codes, and
 * dequantise(x, out, scale, zero_point, type), x of any integers, out of float32. They return out. */
PyObject *real_quantise_arrays(PyObject *module, PyObject *arguments);
PyObject *real_dequantise_arrays(PyObject *module, PyObject *arguments);

#endif
