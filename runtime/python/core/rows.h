/* SPDX-License-Identifier: Apache-2.0 */
/* _core.RowOperator: a proven softmax or norm that runs over rows of arrays. */
#ifndef PWL_CORE_ROWS_H
#define PWL_CORE_ROWS_H

#include <stdbool.h>

#include "python.h"

/* Makes the type; 0 or -1. */
int rows_add_type(PyObject *module);

/* The pwl_softmax or pwl_norm of a RowOperator, and which; null, without an exception, for other objects. */
const void *row_of(PyObject *object, bool *is_norm);

#endif
