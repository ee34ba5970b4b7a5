/* SPDX-License-Identifier: Apache-2.0 */
/* _core.Table, a proven table that maps arrays, and _core.Plan, its way with one pair of types. */
#ifndef PWL_CORE_TABLE_H
#define PWL_CORE_TABLE_H

#include <pwl/pwl.h>

#include "python.h"

/* Makes the types; 0 or -1. */
int table_add_types(PyObject *module);

/* The table of a Table that is not reduced, which lives as long as the object; else null with an exception. */
const pwl_table *table_plain(PyObject *object);

#endif
