/* SPDX-License-Identifier: Apache-2.0 */
/* _core.RowOperator: a proven softmax or norm that runs over rows of arrays. */
#ifndef PWL_CORE_ROWS_H
#define PWL_CORE_ROWS_H

#include "python.h"

/* Makes the type; 0 or -1. */
int rows_add_type(PyObject *module);

#endif
