/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python's stable ABI of 3.9: one build serves that version and later ones. Of it is missing in 3.9 what buffers need;
 * 3.11 took it in unchanged, with the layout that it has had since 3.3.
 */
#ifndef PWL_PYTHON_H
#define PWL_PYTHON_H

#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x03090000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if Py_LIMITED_API < 0x030b0000
typedef struct {
    void *buf;
    PyObject *obj;
    Py_ssize_t len, itemsize;
    int readonly, ndim;
    char *format;
    Py_ssize_t *shape, *strides, *suboffsets;
    void *internal;
} Py_buffer;

#define PyBUF_WRITABLE 0x1
#define PyBUF_FORMAT 0x4
#define PyBUF_STRIDES (0x10 | 0x8)

PyAPI_FUNC(int) PyObject_GetBuffer(PyObject *object, Py_buffer *buffer, int flags);
PyAPI_FUNC(void) PyBuffer_Release(Py_buffer *buffer);
#endif

#endif
