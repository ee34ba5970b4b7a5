/* SPDX-License-Identifier: Apache-2.0 */
#include "elements.h"

#include <pwl/elements.h>

#include "array.h"
#include "imports.h"

typedef struct element_object {
    PyObject_HEAD int is_add;
    pwl_requantise requantise;
    pwl_add add;
} element_object;

static PyObject *element_type;

static int fill_requantise(pwl_requantise *of, PyObject *fields)
{
    long long zp_x, zp_y;
    if (!PyArg_ParseTuple(fields, "bbbiiiLL", &of->in, &of->out, &of->shift, &of->multiplier, &of->qmin_y, &of->qmax_y,
                          &zp_x, &zp_y))
        return -1;
    of->version = PWL_ELEMENTS_VERSION;
    of->zp_x = zp_x;
    of->zp_y = zp_y;
    return 0;
}

static int fill_add(pwl_add *of, PyObject *fields)
{
    long long constant, zp_y;
    if (!PyArg_ParseTuple(fields, "bbbbiiiiLL", &of->in_a, &of->in_b, &of->out, &of->shift, &of->factor_a,
                          &of->factor_b, &of->qmin_y, &of->qmax_y, &constant, &zp_y))
        return -1;
    of->version = PWL_ELEMENTS_VERSION;
    of->constant = constant;
    of->zp_y = zp_y;
    return 0;
}

/* ElementOperator(is_add, fields): of requantise (in, out, shift, multiplier, qmin_y, qmax_y, zp_x, zp_y), of add
 * (in_a, in_b, out, shift, factor_a, factor_b, qmin_y, qmax_y, constant, zp_y). */
static PyObject *element_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *fields;
    int is_add;
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, "pO!", &is_add, &PyTuple_Type, &fields))
        return NULL;
    element_object *const of = (element_object *)PyType_GenericAlloc(type, 0); /* all zero */
    if (!of)
        return NULL;
    of->is_add = is_add;
    if (is_add ? fill_add(&of->add, fields) : fill_requantise(&of->requantise, fields)) {
        Py_DECREF((PyObject *)of);
        return NULL;
    }
    const pwl_status status = is_add ? pwl_add_check(&of->add) : pwl_requantise_check(&of->requantise);
    if (status == PWL_OK)
        return (PyObject *)of;
    PyErr_Format(imported_error, "not safe to run: %s", pwl_status_text(status));
    Py_DECREF((PyObject *)of);
    return NULL;
}

static void element_dealloc(PyObject *self)
{
    PyTypeObject *const type = Py_TYPE(self);
    ((freefunc)(uintptr_t)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* Whether the arrays are what the operator takes, of one size; b is null where there is none. */
static int check_arrays(const element_object *of, const array *x, const array *b, const array *y, size_t *count)
{
    const int in = of->is_add ? of->add.in_a : of->requantise.in, out = of->is_add ? of->add.out : of->requantise.out;
    const Py_ssize_t x_bytes = array_flat_bytes(x, in), y_bytes = array_flat_bytes(y, out);
    const Py_ssize_t places = x_bytes / x->buffer.itemsize, b_bytes = b ? array_flat_bytes(b, of->add.in_b) : 0;
    if (x_bytes < 0 || y_bytes < 0 || b_bytes < 0 || y_bytes / y->buffer.itemsize != places ||
        (b != NULL) != of->is_add || (b && b_bytes / b->buffer.itemsize != places)) {
        PyErr_SetString(imported_error, "arrays of other types, another size or layout");
        return -1;
    }
    *count = (size_t)places;
    return 0;
}

/* Runs over arrays that are held. */
static int run(const element_object *of, const array *x, const array *b, const array *y)
{
    size_t count;
    if (check_arrays(of, x, b, y, &count))
        return -1;
    Py_BEGIN_ALLOW_THREADS;
    if (of->is_add)
        pwl_add_run(&of->add, x->buffer.buf, b->buffer.buf, y->buffer.buf, count);
    else
        pwl_requantise_run(&of->requantise, x->buffer.buf, y->buffer.buf, count);
    Py_END_ALLOW_THREADS;
    return 0;
}

/* run(x, b, out): arrays side by side, of the operator's types and of one shape; b is None but for add. */
static PyObject *element_run(PyObject *self, PyObject *arguments)
{
    const element_object *const of = (element_object *)self;
    PyObject *x_object, *b_object, *y_object;
    array x, b, y;
    int failed;
    if (!PyArg_ParseTuple(arguments, "OOO", &x_object, &b_object, &y_object) ||
        array_get_pair(x_object, y_object, &x, &y))
        return NULL;
    if (b_object == Py_None)
        return array_put_pair(run(of, &x, NULL, &y), y_object, &x, &y);
    if (array_get(b_object, false, &b))
        return array_put_pair(-1, y_object, &x, &y);
    failed = array_check_pair(b_object, &b, y_object, &y) || run(of, &x, &b, &y);
    PyBuffer_Release(&b.buffer);
    return array_put_pair(failed ? -1 : 0, y_object, &x, &y);
}

static PyMethodDef methods[] = {
    {"_run", element_run, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

#define SLOT(f) ((void *)(uintptr_t)(f))

static PyType_Slot slots[] = {
    {Py_tp_new, SLOT(element_new)}, {Py_tp_dealloc, SLOT(element_dealloc)}, {Py_tp_methods, methods}, {0, NULL}};

static PyType_Spec spec = {"pwl._core.ElementOperator", sizeof(element_object), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

const void *element_of(PyObject *object, bool *is_add)
{
    const element_object *const of = (const element_object *)object;
    if (PyObject_IsInstance(object, element_type) != 1)
        return NULL;
    *is_add = of->is_add != 0;
    return of->is_add ? (const void *)&of->add : &of->requantise;
}

int elements_add_type(PyObject *module)
{
    element_type = PyType_FromSpec(&spec);
    Py_XINCREF(element_type); /* the module takes one */
    return !element_type || PyModule_AddObject(module, "ElementOperator", element_type) ? -1 : 0;
}
