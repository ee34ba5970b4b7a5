/* SPDX-License-Identifier: Apache-2.0 */
#include "imports.h"

PyObject *imported_error, *imported_ndarray, *imported_empty, *imported_shares_memory, *imported_dtypes[6];

/* A module's attribute, for good; null with an exception. */
static PyObject *import(const char *module, const char *name)
{
    PyObject *const imported = PyImport_ImportModule(module);
    PyObject *const found = imported ? PyObject_GetAttrString(imported, name) : NULL;
    Py_XDECREF(imported);
    return found;
}

int imports_load(void)
{
    static const char *const types[] = {"int8", "uint8", "int16", "uint16", "int32", "uint32"};
    PyObject *const dtype = import("numpy", "dtype");
    if (!dtype || !(imported_error = import("pwl.errors", "Error")) ||
        !(imported_ndarray = import("numpy", "ndarray")) || !(imported_empty = import("numpy", "empty")) ||
        !(imported_shares_memory = import("numpy", "shares_memory")))
        return -1;
    for (int k = 0; k < 6; k++)
        if (!(imported_dtypes[k] = PyObject_CallFunction(dtype, "s", types[k])))
            return -1;
    Py_DECREF(dtype);
    return 0;
}
