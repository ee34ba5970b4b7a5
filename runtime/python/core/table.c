/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include <pwl/reduce.h>

#include "array.h"
#include "imports.h"
#include "real.h"
#include "table.h"

/* A plan and its memory, in one block. */
typedef struct ready {
    pwl_plan plan;
    unsigned char memory[];
} ready;

/* A table never changes, and outlives its plans. They are made and set with Python's lock held. */
typedef struct table_object {
    PyObject_HEAD pwl_reduced reduced; /* its core is the table where nothing is reduced */
    int is_reduced;
    int64_t qmin, qmax; /* of input codes */
    pwl_type in, out;   /* the smallest that hold all codes */
    pwl_affine of_x, of_y;
    PyObject *segments[4]; /* bytes, which the table points to */
    ready *plans[6][6];    /* by types of input and output; null until one is wanted */
} table_object;

typedef struct plan_object {
    PyObject_HEAD table_object *table;
    pwl_type in, out;
    ready *ready;
} plan_object;

static PyTypeObject *table_type;

static PyObject *fail_status(pwl_status status)
{
    PyErr_SetString(imported_error, pwl_status_text(status));
    return NULL;
}

/* A plan for these types, or null with an exception. */
static ready *make_ready(const table_object *table, pwl_type in, pwl_type out, uint32_t levels)
{
    const pwl_table *const plain = &table->reduced.core;
    const size_t bytes = table->is_reduced ? pwl_reduced_plan_size(&table->reduced, in, out, levels)
                                           : pwl_plan_size(plain, in, out, levels);
    ready *const made = malloc(sizeof *made + bytes);
    pwl_status status;
    if (!made) {
        PyErr_NoMemory();
        return NULL;
    }
    status = table->is_reduced
                 ? pwl_reduced_plan_init(&made->plan, made->memory, bytes, &table->reduced, in, out, levels)
                 : pwl_plan_init(&made->plan, made->memory, bytes, plain, in, out, levels);
    if (!status)
        return made;
    free(made);
    if (status == PWL_ERR_RANGE_Y)
        PyErr_Format(imported_error, "%R does not hold output codes %lld to %lld; take %R", imported_dtypes[out],
                     (long long)plain->qmin_y, (long long)plain->qmax_y, imported_dtypes[table->out]);
    else
        fail_status(status);
    return NULL;
}

/* The table's own plan for these types. */
static const ready *find_ready(table_object *table, pwl_type in, pwl_type out)
{
    ready **const kept = &table->plans[in][out];
    if (!*kept)
        *kept = make_ready(table, in, out, PWL_LEVELS_ALL);
    return *kept;
}

static void run_plan(const array_map *map, const void *x, void *y, size_t count)
{
    const pwl_plan *const plan = map->context;
    pwl_run(plan, x, y, count);
}

/* The codes of an array into out, or into a new array where that is null. By `plan` where it is given, whose types the
 * arrays then have; else by one of the table's own. */
static PyObject *map_array(table_object *table, const plan_object *plan, PyObject *x_object, PyObject *out)
{
    array x, y;
    PyObject *result = NULL, *y_object = NULL;
    const ready *ready;
    array_map map = {run_plan, NULL, 0, 0, table->qmin, table->qmax};
    if (array_get(x_object, false, &x))
        return NULL;
    if (x.element > ELEMENT_U64) {
        PyErr_SetString(imported_error,
                        x.element == ELEMENT_F32
                            ? "x holds real numbers: quantize() them first, or call real()"
                            : "codes are integers of 8 to 64 bits; of real numbers quantize() makes them");
        goto release_x;
    }
    if (plan && (x.swapped || x.element != (int)plan->in)) {
        PyErr_Format(imported_error, "x is not of the plan's %R; convert it, or call the table, which takes all types",
                     imported_dtypes[plan->in]);
        goto release_x;
    }
    map.x_element = x.swapped || x.element > PWL_U32 ? (int)table->in : x.element;
    y_object = out ? out : array_new_like(&x, (int)(plan ? plan->out : table->out));
    if (!y_object || array_get(y_object, true, &y))
        goto release_x;
    if (y.element > PWL_U32 || y.swapped) {
        PyErr_SetString(imported_error, "out must be an array of int8, uint8, int16, uint16, int32 or uint32 in this "
                                        "machine's byte order");
        goto release;
    }
    if (array_check_pair(x_object, &x, y_object, &y))
        goto release;
    if (plan && y.element != (int)plan->out) {
        PyErr_Format(imported_error, "out must be an array of the plan's %R", imported_dtypes[plan->out]);
        goto release;
    }
    map.y_element = y.element;
    ready = plan ? plan->ready : find_ready(table, (pwl_type)map.x_element, (pwl_type)y.element);
    if (!ready)
        goto release;
    map.context = &ready->plan;
    if (!array_apply(&map, &x, &y))
        result = y_object;
release:
    PyBuffer_Release(&y.buffer);
release_x:
    PyBuffer_Release(&x.buffer);
    if (out)
        Py_XINCREF(result);
    else if (!result)
        Py_XDECREF(y_object);
    return result;
}

/* x and out of a call; out is null where it is None or not given. */
static int parse_call(PyObject *arguments, PyObject *keywords, PyObject **x, PyObject **out)
{
    static char x_name[] = "x", out_name[] = "out";
    static char *names[] = {x_name, out_name, NULL};
    *out = NULL;
    if (!keywords && PyTuple_Size(arguments) == 1)
        *x = PyTuple_GetItem(arguments, 0);
    else if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|O", names, x, out))
        return -1;
    if (*out == Py_None)
        *out = NULL;
    return 0;
}

/* Arrays here; all else by the method call_other() of the subclass in Python. */
static PyObject *table_call(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    PyObject *x, *out;
    if (parse_call(arguments, keywords, &x, &out))
        return NULL;
    if (array_is(x) && (!out || array_is(out)))
        return map_array((table_object *)self, NULL, x, out);
    return PyObject_CallMethod(self, "_call_other", "OO", x, out ? out : Py_None);
}

static PyObject *plan_call(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    const plan_object *const plan = (plan_object *)self;
    PyObject *x, *out;
    if (parse_call(arguments, keywords, &x, &out))
        return NULL;
    if (array_is(x) && (!out || array_is(out)))
        return map_array(plan->table, plan, x, out);
    PyErr_SetString(imported_error, "a plan maps arrays of numpy; call the table, which takes lists and numbers too");
    return NULL;
}

/* One code; any integer is accepted, and clamped as in arrays. */
static PyObject *table_eval(PyObject *self, PyObject *code)
{
    const table_object *const table = (table_object *)self;
    int overflow;
    long long value;
    PyObject *const integer = PyNumber_Index(code);
    if (!integer)
        return NULL;
    value = PyLong_AsLongLongAndOverflow(integer, &overflow);
    Py_DECREF(integer);
    if (overflow)
        value = overflow < 0 ? table->qmin : table->qmax;
    return PyLong_FromLongLong(table->is_reduced ? pwl_reduced_eval(&table->reduced, value)
                                                 : pwl_eval(&table->reduced.core, value));
}

/* float32 to float32 by a plan of the table's own types; where the table is reduced, in three steps over blocks. */
static void run_real(const array_map *map, const void *x, void *y, size_t count)
{
    const table_object *const table = map->context;
    const pwl_plan *const plan = &table->plans[table->in][table->out]->plan;
    if (!table->is_reduced) {
        /* Cannot fail: real_map() has looked at what it checks. */
        const pwl_status status = pwl_run_real(plan, table->of_x, x, table->of_y, y, count);
        (void)status;
        return;
    }
    int32_t q_x[256], q_y[256];
    const quantiser in = {table->of_x, table->qmin, table->qmax}, out = {table->of_y, 0, 0};
    const array_map to_codes = {real_quantise, &in, ELEMENT_F32, table->in, 0, 0};
    const array_map to_reals = {real_dequantise, &out, table->out, ELEMENT_F32, 0, 0};
    for (size_t done = 0; done < count; done += 256) {
        const size_t part = count - done < 256 ? count - done : 256;
        real_quantise(&to_codes, (const float *)x + done, q_x, part);
        pwl_run(plan, q_x, q_y, part);
        real_dequantise(&to_reals, q_y, (float *)y + done, part);
    }
}

static PyObject *table_real(PyObject *self, PyObject *arguments)
{
    table_object *const table = (table_object *)self;
    const array_map map = {run_real, table, ELEMENT_F32, ELEMENT_F32, 0, 0};
    PyObject *x_object, *y_object;
    array x, y;
    if (!PyArg_ParseTuple(arguments, "OO", &x_object, &y_object) || real_check_affine(table->of_x, table->in) ||
        real_check_affine(table->of_y, table->out) || !find_ready(table, table->in, table->out) ||
        array_get_pair(x_object, y_object, &x, &y))
        return NULL;
    if (x.element != ELEMENT_F32 || y.element != ELEMENT_F32 || x.swapped || y.swapped) {
        PyErr_SetString(imported_error, "real numbers are float32 in this machine's byte order; convert with astype()");
        return array_put_pair(-1, y_object, &x, &y);
    }
    return array_put_pair(array_apply(&map, &x, &y), y_object, &x, &y);
}

/* What a table points to, as elements of `bytes` each; `count` of them. Bytes of Python are aligned as malloc() does.
 */
static const void *segment_data(PyObject *bytes, Py_ssize_t size, Py_ssize_t *count)
{
    char *data;
    Py_ssize_t length;
    if (PyBytes_AsStringAndSize(bytes, &data, &length))
        return NULL;
    if (*count < 0)
        *count = length / size;
    if (length == *count * size)
        return data;
    PyErr_SetString(PyExc_ValueError, "arrays of segments differ in length");
    return NULL;
}

static PyObject *fail_proof(pwl_proof proof)
{
    const char *const text = pwl_status_text(proof.status);
    if (proof.segment >= 0)
        PyErr_Format(imported_error, "segments[%d]: not safe to run: %s", (int)proof.segment, text);
    else
        PyErr_Format(imported_error, "not safe to run: %s", text);
    return NULL;
}

/* The end of a dealloc: an instance holds its type. The Python interface keeps functions in pointers to data. */
static void free_object(PyTypeObject *type, PyObject *self)
{
    ((freefunc)(uintptr_t)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static void table_dealloc(PyObject *self)
{
    table_object *const table = (table_object *)self;
    PyTypeObject *const type = Py_TYPE(self);
    for (int k = 0; k < 4; k++)
        Py_XDECREF(table->segments[k]);
    for (int k = 0; k < 36; k++)
        free(table->plans[k / 6][k % 6]);
    free_object(type, self);
}

/*
 * Table(core, segments, reduction, reals): core is (storage, form, rounding, flags, zp_x, qmin_x, qmax_x, qmin_y,
 * qmax_y, fold_sum); segments is (start, q_b, n, offset), each as bytes; reduction is None or (kind, log2_step,
 * fraction, direction, shift, factor, addend, below, zp_x, qmin_x, qmax_x, zp_y); reals is (in, out, scale_x, zp_x,
 * scale_y, zp_y) with the pwl_type of each side's codes. Arguments that the package has not checked raise OverflowError
 * or ValueError.
 */
static PyObject *table_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *core_fields, *segments, *reduction_fields, *reals, *self;
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, "O!O!OO!", &PyTuple_Type, &core_fields, &PyTuple_Type, &segments,
                          &reduction_fields, &PyTuple_Type, &reals))
        return NULL;
    self = PyType_GenericAlloc(type, 0); /* all zero */
    if (!self)
        return NULL;
    table_object *const table = (table_object *)self;
    pwl_table *const core = &table->reduced.core;
    pwl_reduction *const reduction = &table->reduced.reduction;
    long long c[6] = {0}, r[7] = {0};
    long long zero_x, zero_y;
    short direction;
    int in, out;
    Py_ssize_t count = -1;
    pwl_proof proof;
    if (!PyArg_ParseTuple(core_fields, "bbbHLLLLLL", &core->storage, &core->form, &core->rounding, &core->flags, &c[0],
                          &c[1], &c[2], &c[3], &c[4], &c[5]) ||
        !PyArg_ParseTuple(segments, "SSSS", &table->segments[0], &table->segments[1], &table->segments[2],
                          &table->segments[3]))
        goto fail_segments;
    for (int k = 0; k < 4; k++)
        Py_INCREF(table->segments[k]);
    if (!PyArg_ParseTuple(reals, "iifLfL", &in, &out, &table->of_x.scale, &zero_x, &table->of_y.scale, &zero_y))
        goto fail;
    if (core->storage > PWL_INT32 || core->form > PWL_ANCHORED || in < 0 || in > PWL_U32 || out < 0 || out > PWL_U32) {
        PyErr_SetString(PyExc_ValueError, "storage, form or type out of range");
        goto fail;
    }
    core->version = PWL_TABLE_VERSION;
    core->zp_x = c[0];
    core->qmin_x = c[1];
    core->qmax_x = c[2];
    core->qmin_y = c[3];
    core->qmax_y = c[4];
    core->fold_sum = c[5];
    table->in = (pwl_type)in;
    table->out = (pwl_type)out;
    table->of_x.zero_point = zero_x;
    table->of_y.zero_point = zero_y;
    table->qmin = c[1];
    table->qmax = c[2];
    if (reduction_fields != Py_None) {
        if (!PyArg_ParseTuple(reduction_fields, "bbbhhLLLLLLL", &reduction->kind, &reduction->log2_step,
                              &reduction->fraction, &direction, &reduction->shift, &r[0], &r[1], &r[2], &r[3], &r[4],
                              &r[5], &r[6]))
            goto fail;
        table->is_reduced = 1;
        reduction->version = PWL_REDUCTION_VERSION;
        reduction->direction = (int8_t)direction;
        reduction->factor = r[0];
        reduction->addend = r[1];
        reduction->below = r[2];
        reduction->zp_x = r[3];
        reduction->qmin_x = table->qmin = r[4];
        reduction->qmax_x = table->qmax = r[5];
        reduction->zp_y = r[6];
    }
    const Py_ssize_t width = 1 << core->storage;
    const Py_ssize_t offset_width = core->storage == PWL_INT8 && core->form == PWL_BIASED ? 4 : 2 * width;
    core->n = segment_data(table->segments[2], 1, &count);
    core->start = core->n ? segment_data(table->segments[0], width, &count) : NULL;
    core->q_b = core->start ? segment_data(table->segments[1], width, &count) : NULL;
    core->offset = core->q_b ? segment_data(table->segments[3], offset_width, &count) : NULL;
    if (!core->offset)
        goto fail;
    core->segments = (uint16_t)(count <= PWL_MAX_SEGMENTS ? count : 0);
    if (table->is_reduced ? pwl_reduced_check(&table->reduced, &proof) : pwl_table_check(core, &proof)) {
        fail_proof(proof);
        goto fail;
    }
    if (!array_holds(in, table->qmin, table->qmax) || !array_holds(out, core->qmin_y, core->qmax_y)) {
        PyErr_SetString(imported_error, "codes are none, or more than their type holds");
        goto fail;
    }
    return self;
fail_segments: /* borrowed, not held yet */
    memset(table->segments, 0, sizeof table->segments);
fail:
    Py_DECREF(self);
    return NULL;
}

static void plan_dealloc(PyObject *self)
{
    plan_object *const plan = (plan_object *)self;
    PyTypeObject *const type = Py_TYPE(self);
    free(plan->ready);
    Py_XDECREF((PyObject *)plan->table);
    free_object(type, self);
}

/* Plan(table, in, out, levels), in and out as pwl_type. */
static PyObject *plan_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *table, *self;
    unsigned int levels;
    int in, out;
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, "O!iiI", (PyObject *)table_type, &table, &in, &out, &levels))
        return NULL;
    if (in < 0 || in > PWL_U32 || out < 0 || out > PWL_U32)
        return fail_status(PWL_ERR_FIELD);
    self = PyType_GenericAlloc(type, 0);
    if (!self)
        return NULL;
    plan_object *const plan = (plan_object *)self;
    Py_INCREF(table);
    plan->table = (table_object *)table;
    plan->in = (pwl_type)in;
    plan->out = (pwl_type)out;
    plan->ready = make_ready(plan->table, plan->in, plan->out, levels);
    if (plan->ready)
        return self;
    Py_DECREF(self);
    return NULL;
}

static PyObject *plan_way(PyObject *self, void *closure)
{
    (void)closure;
    return PyUnicode_FromString(pwl_plan_way(&((plan_object *)self)->ready->plan));
}

/* Where C finds the table, for callers of libpwl-cuda. */
static PyObject *table_address(PyObject *self, void *closure)
{
    table_object *const table = (table_object *)self;
    (void)closure;
    return PyLong_FromVoidPtr(table->is_reduced ? (void *)&table->reduced : (void *)&table->reduced.core);
}

static PyMethodDef table_methods[] = {
    {"eval", table_eval, METH_O,
     "eval($self, code, /)\n--\n\nThe output code of one input code, an integer of any size, clamped as in arrays."},
    {"_real", table_real, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef table_fields[] = {
    {"_address", table_address, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

/* Where C finds the plan. */
static PyObject *plan_address(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromVoidPtr(&((plan_object *)self)->ready->plan);
}

static PyGetSetDef plan_fields[] = {
    {"_address", plan_address, NULL, NULL, NULL},
    {"way", plan_way, NULL, "How the runtime maps arrays by this plan, as \"narrow_avx512\".", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

#define SLOT(f) ((void *)(uintptr_t)(f))

static PyType_Slot table_slots[] = {
    {Py_tp_new, SLOT(table_new)},   {Py_tp_dealloc, SLOT(table_dealloc)}, {Py_tp_call, SLOT(table_call)},
    {Py_tp_methods, table_methods}, {Py_tp_getset, table_fields},         {0, NULL},
};

static PyType_Slot plan_slots[] = {
    {Py_tp_new, SLOT(plan_new)},
    {Py_tp_dealloc, SLOT(plan_dealloc)},
    {Py_tp_call, SLOT(plan_call)},
    {Py_tp_getset, plan_fields},
    {0, NULL},
};

static PyType_Spec table_spec = {"pwl._core.Table", sizeof(table_object), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                                 table_slots};
static PyType_Spec plan_spec = {"pwl._core.Plan", sizeof(plan_object), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                                plan_slots};

const pwl_table *table_plain(PyObject *object)
{
    const int is_table = PyObject_IsInstance(object, (PyObject *)table_type);
    const table_object *const table = (const table_object *)object;
    if (is_table < 0)
        return NULL;
    if (is_table && !table->is_reduced)
        return &table->reduced.core;
    PyErr_SetString(imported_error, "a plain table is wanted");
    return NULL;
}

const void *table_of(PyObject *object, bool *is_reduced)
{
    const table_object *const table = (const table_object *)object;
    if (PyObject_IsInstance(object, (PyObject *)table_type) != 1)
        return NULL;
    *is_reduced = table->is_reduced != 0;
    return table->is_reduced ? (const void *)&table->reduced : &table->reduced.core;
}

int table_add_types(PyObject *module)
{
    PyObject *const table = PyType_FromSpec(&table_spec), *const plan = PyType_FromSpec(&plan_spec);
    table_type = (PyTypeObject *)table;
    if (!table || !plan || PyModule_AddObject(module, "Table", table) || PyModule_AddObject(module, "Plan", plan))
        return -1;
    Py_INCREF(table); /* for table_type */
    return 0;
}
