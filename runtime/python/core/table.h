/* SPDX-License-Identifier: Apache-2.0 */
/* _core.Table, a proven table that maps arrays, and _core.Plan, its way with one pair of types. */
#ifndef PWL_CORE_TABLE_H
#define PWL_CORE_TABLE_H

#include <stdbool.h>

#include <pwl/pwl.h>

#include "python.h"

/* Makes the types; 0 or -1. */
int table_add_types(PyObject *module);

/* The table of a Table that is not reduced, which lives as long as the object; else null with an exception. */
const pwl_table *table_plain(PyObject *object);

/* The pwl_table or pwl_reduced of a Table, and which; null, without an exception, for other objects. */
const void *table_of(PyObject *object, bool *is_reduced);

#endif
