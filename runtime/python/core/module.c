/* SPDX-License-Identifier: Apache-2.0 */
/* pwl._core: what the package needs of libpwl and libpwl-blocks, which are linked in. */
#include <pwl/plan.h>

#include "elements.h"
#include "imports.h"
#include "network.h"
#include "qgemm.h"
#include "real.h"
#include "rows.h"
#include "table.h"

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
    {"qgemm_bytes", qgemm_bytes, METH_VARARGS, NULL},
    {"qgemm_cut", qgemm_cut, METH_VARARGS, NULL},
    {"qgemm_pack", qgemm_pack, METH_VARARGS, NULL},
    {"qgemm_share", qgemm_share, METH_VARARGS, NULL},
    {"qgemm_unpack", qgemm_unpack, METH_VARARGS, NULL},
    {"qgemm_unpack_s8", qgemm_unpack_s8, METH_VARARGS, NULL},
    {"qgemm_dequantise", qgemm_dequantise, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "pwl._core",
    .m_size = -1,
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *const module = PyModule_Create(&definition);
    if (module && !imports_load() && !table_add_types(module) && !qgemm_add_type(module) && !rows_add_type(module) &&
        !elements_add_type(module) && !network_add_type(module) &&
        !PyModule_AddStringConstant(module, "version", PWL_VERSION))
        return module;
    Py_XDECREF(module);
    return NULL;
}
