/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include <string.h>

#include <pwl/rows.h>

#include "array.h"
#include "imports.h"
#include "table.h"

enum { ARRAYS = 5 }; /* exp, exp_high, exp_shift, log_factor, log_value; or gamma, beta */

typedef struct row_object {
    PyObject_HEAD int is_norm;
    pwl_softmax softmax;
    pwl_norm norm;
    PyObject *core;           /* the Table that it asks */
    PyObject *arrays[ARRAYS]; /* bytes, which it points to; null where there are none */
} row_object;

static PyObject *row_type;

static void row_dealloc(PyObject *self)
{
    row_object *const row = (row_object *)self;
    PyTypeObject *const type = Py_TYPE(self);
    Py_XDECREF(row->core);
    for (int k = 0; k < ARRAYS; k++)
        Py_XDECREF(row->arrays[k]);
    ((freefunc)(uintptr_t)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* Array k of so many elements; null for None. -1 with an exception where it has another length. */
static int array_data(const row_object *row, int k, Py_ssize_t count, Py_ssize_t size, const void **data)
{
    char *bytes;
    Py_ssize_t length;
    *data = NULL;
    if (row->arrays[k] == Py_None)
        return 0;
    if (PyBytes_AsStringAndSize(row->arrays[k], &bytes, &length))
        return -1;
    *data = bytes;
    if (length == count * size)
        return 0;
    PyErr_SetString(PyExc_ValueError, "an array of another length");
    return -1;
}

static int fill_softmax(row_object *row, PyObject *fields, const pwl_table *core)
{
    pwl_softmax *const of = &row->softmax;
    long long zp_y;
    const void *data[ARRAYS];
    static const Py_ssize_t counts[ARRAYS] = {256, 256, 256, PWL_LOG_CELLS, PWL_LOG_CELLS},
                            sizes[ARRAYS] = {4, 4, 1, 2, 4};
    if (!PyArg_ParseTuple(fields, "bbbbbbbIiiiiL", &of->kind, &of->in, &of->out, &of->fraction, &of->out_bits,
                          &of->step_shift, &of->log_shift, &of->longest, &of->step, &of->log_unit, &of->qmin_y,
                          &of->qmax_y, &zp_y))
        return -1;
    for (int k = 0; k < ARRAYS; k++)
        if (array_data(row, k, counts[k], sizes[k], &data[k]))
            return -1;
    of->version = PWL_ROWS_VERSION;
    of->zp_y = zp_y;
    of->exp = data[0];
    of->exp_high = data[1];
    of->exp_shift = data[2];
    of->log_factor = data[3];
    of->log_value = data[4];
    of->reciprocal = core;
    return 0;
}

static int fill_norm(row_object *row, PyObject *fields, const pwl_table *core)
{
    pwl_norm *const of = &row->norm;
    short gamma_shift;
    long long zp_y, zp_x, eps;
    const void *gamma, *beta;
    if (!PyArg_ParseTuple(fields, "bbbbbhbIiiLLL", &of->kind, &of->in, &of->out, &of->variance_shift, &of->fraction,
                          &gamma_shift, &of->drop, &of->length, &of->qmin_y, &of->qmax_y, &zp_y, &zp_x, &eps) ||
        array_data(row, 0, (Py_ssize_t)of->length, 4, &gamma) || array_data(row, 1, (Py_ssize_t)of->length, 8, &beta))
        return -1;
    of->version = PWL_ROWS_VERSION;
    of->gamma_shift = (int8_t)(gamma_shift < -128 || gamma_shift > 127 ? 127 : gamma_shift);
    of->zp_y = zp_y;
    of->zp_x = zp_x;
    of->eps = eps;
    of->gamma = gamma;
    of->beta = beta;
    of->rsqrt = core;
    return 0;
}

/*
 * RowOperator(is_norm, core, fields, arrays): core is a Table. Of softmax, fields is (kind, in, out, fraction,
 * out_bits, step_shift, log_shift, longest, step, log_unit, qmin_y, qmax_y, zp_y) and arrays (exp, exp_high, exp_shift,
 * log_factor, log_value); of norms (kind, in, out, variance_shift, fraction, gamma_shift, drop, length, qmin_y, qmax_y,
 * zp_y, zp_x, eps) and (gamma, beta, None, None, None). An array is bytes or None.
 */
static PyObject *row_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *core_object, *fields, *arrays[ARRAYS], *self;
    int is_norm;
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, "pOO!(OOOOO)", &is_norm, &core_object, &PyTuple_Type, &fields, &arrays[0],
                          &arrays[1], &arrays[2], &arrays[3], &arrays[4]))
        return NULL;
    const pwl_table *const core = table_plain(core_object);
    self = core ? PyType_GenericAlloc(type, 0) : NULL; /* all zero */
    if (!self)
        return NULL;
    row_object *const row = (row_object *)self;
    row->is_norm = is_norm;
    Py_INCREF(core_object);
    row->core = core_object;
    for (int k = 0; k < ARRAYS; k++) {
        Py_INCREF(arrays[k]);
        row->arrays[k] = arrays[k];
    }
    if (is_norm ? fill_norm(row, fields, core) : fill_softmax(row, fields, core)) {
        Py_DECREF(self);
        return NULL;
    }
    const pwl_status status = is_norm ? pwl_norm_check(&row->norm) : pwl_softmax_check(&row->softmax);
    if (status == PWL_OK)
        return self;
    PyErr_Format(imported_error, "not safe to run: %s", pwl_status_text(status));
    Py_DECREF(self);
    return NULL;
}

static void run(const row_object *row, const pwl_rows *rows)
{
    Py_BEGIN_ALLOW_THREADS;
    if (row->is_norm)
        pwl_norm_run(&row->norm, rows->x, rows->y, rows->count, PWL_LEVELS_ALL);
    else
        pwl_softmax_run(&row->softmax, rows, PWL_LEVELS_ALL);
    Py_END_ALLOW_THREADS;
}

/* Whether the arrays are what the operator takes, in rows of `length`. */
static int check_arrays(const row_object *row, const array *x, const array *y, const array *mask, Py_ssize_t length,
                        Py_ssize_t *count)
{
    const int in = row->is_norm ? row->norm.in : row->softmax.in, out = row->is_norm ? row->norm.out : row->softmax.out;
    const Py_ssize_t x_bytes = array_flat_bytes(x, in), y_bytes = array_flat_bytes(y, out),
                     places = x_bytes / x->buffer.itemsize;
    const Py_ssize_t longest = (Py_ssize_t)(row->is_norm ? row->norm.length : row->softmax.longest);
    if (x_bytes < 0 || y_bytes < 0 || y_bytes / y->buffer.itemsize != places || length < 1 || length > longest ||
        (row->is_norm && (length != longest || mask)) || places % length ||
        (mask && array_flat_bytes(mask, PWL_U8) != places && array_flat_bytes(mask, PWL_U8) != length)) {
        PyErr_SetString(imported_error, "rows of other types, another length or layout");
        return -1;
    }
    *count = places / length;
    return 0;
}

/* run(x, out, length, mask, causal, first): arrays side by side, of the operator's types; mask is None, uint8 of x's
 * size, or of one row; causal rows see one place more each, from first + 1 on. */
static PyObject *row_run(PyObject *self, PyObject *arguments)
{
    const row_object *const row = (row_object *)self;
    PyObject *x_object, *y_object, *mask_object;
    Py_ssize_t length, first, count;
    int is_causal, failed;
    array x, y, mask;
    if (!PyArg_ParseTuple(arguments, "OOnOpn", &x_object, &y_object, &length, &mask_object, &is_causal, &first) ||
        array_get_pair(x_object, y_object, &x, &y))
        return NULL;
    const bool has_mask = mask_object != Py_None;
    if (has_mask && array_get(mask_object, false, &mask))
        return array_put_pair(-1, y_object, &x, &y);
    failed = check_arrays(row, &x, &y, has_mask ? &mask : NULL, length, &count);
    if (!failed) {
        const pwl_rows rows = {.x = x.buffer.buf,
                               .y = y.buffer.buf,
                               .count = (size_t)count,
                               .length = (size_t)length,
                               .mask = has_mask ? mask.buffer.buf : NULL,
                               .mask_stride = has_mask && mask.buffer.len != length ? (size_t)length : 0,
                               .is_causal = is_causal,
                               .first = first > 0 ? (size_t)first : 0};
        run(row, &rows);
    }
    if (has_mask)
        PyBuffer_Release(&mask.buffer);
    return array_put_pair(failed, y_object, &x, &y);
}

/* What pwl_softmax_weigh() reads and writes. */
typedef struct weighed {
    array x, v, sums, mask;
    bool has_mask;
    Py_ssize_t length, rows, channels;
} weighed;

/* Whether the arrays are what the operator takes: v of one row of channels for each place, which all rows share. */
static int check_weighed(const row_object *row, weighed *of)
{
    const Py_ssize_t x_bytes = row->is_norm ? -1 : array_flat_bytes(&of->x, row->softmax.in);
    const Py_ssize_t v_bytes = of->v.element <= PWL_U16 ? array_flat_bytes(&of->v, of->v.element) : -1;
    const Py_ssize_t s_bytes = array_flat_bytes(&of->sums, PWL_S32), places = x_bytes / of->x.buffer.itemsize;
    const Py_ssize_t values = v_bytes / of->v.buffer.itemsize, length = of->length;
    if (x_bytes >= 0 && v_bytes >= 0 && s_bytes >= 0 && length >= 1 && length <= (Py_ssize_t)row->softmax.longest &&
        places % length == 0 && values % length == 0) {
        of->rows = places / length;
        of->channels = values / length;
        if (s_bytes / 4 == of->rows * of->channels && (!of->has_mask || array_flat_bytes(&of->mask, PWL_U8) == places ||
                                                       array_flat_bytes(&of->mask, PWL_U8) == length))
            return 0;
    }
    PyErr_SetString(imported_error, "rows, values or sums of other types, another size or layout");
    return -1;
}

static int weigh(const row_object *row, weighed *of, int64_t zero_point, bool is_causal, Py_ssize_t first)
{
    if (check_weighed(row, of))
        return -1;
    const pwl_rows rows = {.x = of->x.buffer.buf,
                           .count = (size_t)of->rows,
                           .length = (size_t)of->length,
                           .mask = of->has_mask ? of->mask.buffer.buf : NULL,
                           .mask_stride = of->has_mask && of->mask.buffer.len != of->length ? (size_t)of->length : 0,
                           .is_causal = is_causal,
                           .first = first > 0 ? (size_t)first : 0};
    const pwl_row_values values = {of->v.buffer.buf, (uint8_t)of->v.element, zero_point, (size_t)of->channels,
                                   (size_t)of->channels};
    const pwl_status status = pwl_row_values_check(&values);
    if (status != PWL_OK) {
        PyErr_Format(imported_error, "values: %s", pwl_status_text(status));
        return -1;
    }
    Py_BEGIN_ALLOW_THREADS;
    pwl_softmax_weigh(&row->softmax, &rows, &values, of->sums.buffer.buf);
    Py_END_ALLOW_THREADS;
    return 0;
}

/* weigh(x, v, zero_point, sums, length, mask, causal, first): rows of x and the values v of their places, codes of 8 or
 * 16 bits, to s32; the others as run() has them. */
static PyObject *row_weigh(PyObject *self, PyObject *arguments)
{
    PyObject *x_object, *v_object, *sums_object, *mask_object;
    long long zero_point;
    Py_ssize_t first;
    int is_causal, failed = -1;
    weighed of = {.rows = 0};
    if (!PyArg_ParseTuple(arguments, "OOLOnOpn", &x_object, &v_object, &zero_point, &sums_object, &of.length,
                          &mask_object, &is_causal, &first) ||
        array_get(x_object, false, &of.x))
        return NULL;
    of.has_mask = mask_object != Py_None;
    if (array_get(v_object, false, &of.v) == 0) {
        if (array_get(sums_object, true, &of.sums) == 0) {
            if (!of.has_mask || array_get(mask_object, false, &of.mask) == 0) {
                failed = weigh((row_object *)self, &of, zero_point, is_causal, first);
                if (of.has_mask)
                    PyBuffer_Release(&of.mask.buffer);
            }
            PyBuffer_Release(&of.sums.buffer);
        }
        PyBuffer_Release(&of.v.buffer);
    }
    PyBuffer_Release(&of.x.buffer);
    if (failed)
        return NULL;
    Py_INCREF(sums_object);
    return sums_object;
}

static PyMethodDef methods[] = {
    {"_run", row_run, METH_VARARGS, NULL},
    {"_weigh", row_weigh, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

/* The address of the pwl_softmax or the pwl_norm, for cuda.py. */
static PyObject *row_address(PyObject *self, void *closure)
{
    const row_object *const row = (row_object *)self;
    (void)closure;
    return PyLong_FromVoidPtr(row->is_norm ? (void *)(uintptr_t)&row->norm : (void *)(uintptr_t)&row->softmax);
}

static PyGetSetDef getters[] = {
    {"_address", row_address, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

#define SLOT(f) ((void *)(uintptr_t)(f))

static PyType_Slot slots[] = {{Py_tp_new, SLOT(row_new)},
                              {Py_tp_dealloc, SLOT(row_dealloc)},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, getters},
                              {0, NULL}};

static PyType_Spec spec = {"pwl._core.RowOperator", sizeof(row_object), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                           slots};

const void *row_of(PyObject *object, bool *is_norm)
{
    const row_object *const row = (const row_object *)object;
    if (PyObject_IsInstance(object, row_type) != 1)
        return NULL;
    *is_norm = row->is_norm != 0;
    return row->is_norm ? (const void *)&row->norm : &row->softmax;
}

int rows_add_type(PyObject *module)
{
    row_type = PyType_FromSpec(&spec);
    Py_XINCREF(row_type); /* the module takes one */
    return !row_type || PyModule_AddObject(module, "RowOperator", row_type) ? -1 : 0;
}
