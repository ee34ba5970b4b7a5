/* SPDX-License-Identifier: Apache-2.0 */
/* What the module uses of numpy and of the package around it. */
#ifndef PWL_IMPORTS_H
#define PWL_IMPORTS_H

#include "python.h"

extern PyObject *imported_error;         /* pwl.Error */
extern PyObject *imported_ndarray;       /* numpy.ndarray */
extern PyObject *imported_empty;         /* numpy.empty */
extern PyObject *imported_shares_memory; /* numpy.shares_memory */
extern PyObject *imported_dtypes[6];     /* numpy.dtype of each pwl_type */

/* Finds all of it; 0, or -1 with an exception. */
int imports_load(void);

#endif
