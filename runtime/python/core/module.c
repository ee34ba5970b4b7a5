/* SPDX-License-Identifier: Apache-2.0 */
/* pwl._core: what the package needs of libpwl, which is linked in. */
#include <pwl/plan.h>
#include <pwl/pwl.h>

#include "module.h"
#include "real.h"
#include "table.h"

PyObject *module_error, *module_ndarray, *module_empty, *module_empty_like, *module_shares_memory, *module_dtypes[6];

static PyObject *levels(PyObject *module, PyObject *nothing)
{
    (void)module;
    (void)nothing;
    return PyLong_FromUnsignedLong(pwl_levels());
}

static PyMethodDef methods[] = {
    {"levels", levels, METH_NOARGS, NULL},
    {"quantise", real_quantise_arrays, METH_VARARGS, NULL},
    {"dequantise", real_dequantise_arrays, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "pwl._core",
    .m_size = -1,
    .m_methods = methods,
};

/* A module's attribute, for good; null with an exception. */
static PyObject *import(const char *module, const char *name)
{
    PyObject *const imported = PyImport_ImportModule(module);
    PyObject *const found = imported ? PyObject_GetAttrString(imported, name) : NULL;
    Py_XDECREF(imported);
    return found;
}

static int import_all(void)
{
    static const char *const types[] = {"int8", "uint8", "int16", "uint16", "int32", "uint32"};
    PyObject *const dtype = import("numpy", "dtype");
    if (!dtype || !(module_error = import("pwl.errors", "Error")) || !(module_ndarray = import("numpy", "ndarray")) ||
        !(module_empty = import("numpy", "empty")) || !(module_empty_like = import("numpy", "empty_like")) ||
        !(module_shares_memory = import("numpy", "shares_memory")))
        return -1;
    for (int k = 0; k < 6; k++)
        if (!(module_dtypes[k] = PyObject_CallFunction(dtype, "s", types[k])))
            return -1;
    Py_DECREF(dtype);
    return 0;
}

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *const module = PyModule_Create(&definition);
    if (module && !import_all() && !table_add_types(module) &&
        !PyModule_AddIntConstant(module, "abi_version", PWL_ABI_VERSION))
        return module;
    Py_XDECREF(module);
    return NULL;
}
