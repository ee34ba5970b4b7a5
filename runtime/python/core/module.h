/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the module share: its types, and what it uses of numpy and of the package. Set when it is loaded.
 */
#ifndef PWL_MODULE_H
#define PWL_MODULE_H

#include "python.h"

extern PyObject *module_error;         /* pwl.Error */
extern PyObject *module_ndarray;       /* numpy.ndarray */
extern PyObject *module_empty;         /* numpy.empty */
extern PyObject *module_empty_like;    /* numpy.empty_like */
extern PyObject *module_shares_memory; /* numpy.shares_memory */
extern PyObject *module_dtypes[6];     /* numpy.dtype of each pwl_type */

#endif
