/* SPDX-License-Identifier: Apache-2.0 */
/* _core.ElementOperator: a proven requantisation or addition that runs over arrays. */
#ifndef PWL_CORE_ELEMENTS_H
#define PWL_CORE_ELEMENTS_H

#include <stdbool.h>

#include "python.h"

/* Makes the type; 0 or -1. */
int elements_add_type(PyObject *module);

/* The pwl_add or pwl_requantise of an ElementOperator, and which; null, without an exception, for other objects. */
const void *element_of(PyObject *object, bool *is_add);

#endif
