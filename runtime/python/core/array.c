/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "array.h"
#include "imports.h"

#define BLOCK 512        /* elements of a block on the stack, at most 8 bytes each */
#define LONG_ENOUGH 4096 /* elements that are worth giving Python's lock back for */

static const int element_bytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4};

/* By the codes of Python's module struct. */
static int element_of_format(const char *format, Py_ssize_t bytes, bool *swapped)
{
    static const int one = 1;
    const char foreign = *(const char *)&one ? '>' : '<';
    static const char codes[] = "bBhHiIlLqQ"; /* signed, unsigned, in turn, as the elements are */
    const char *at;
    *swapped = *format == foreign;
    if (*format && strchr("<>=@", *format))
        format++;
    if (!*format || format[1])
        return ELEMENT_OTHER;
    if (*format == 'f' && bytes == 4)
        return ELEMENT_F32;
    at = strchr(codes, *format);
    if (!at)
        return ELEMENT_OTHER;
    for (int element = 0; element < ELEMENT_F32; element++)
        if (element_bytes[element] == bytes && element % 2 == (at - codes) % 2)
            return element;
    return ELEMENT_OTHER;
}

bool array_holds(int element, int64_t lowest, int64_t highest)
{
    const int bits = 8 * element_bytes[element];
    const int64_t most = element % 2 ? (INT64_C(1) << bits) - 1 : (INT64_C(1) << (bits - 1)) - 1;
    return lowest <= highest && lowest >= (element % 2 ? 0 : -most - 1) && highest <= most;
}

bool array_is(PyObject *object)
{
    return PyObject_TypeCheck(object, (PyTypeObject *)imported_ndarray);
}

/* What numpy says of a buffer that it does not give, as the package's own error. */
static int refuse_buffer(bool writable)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_Format(imported_error, "an array that cannot be used: %S%s", value ? value : Py_None,
                 writable ? "" : "; codes are integers of 8 to 64 bits, and of real numbers quantize() makes them");
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return -1;
}

int array_get(PyObject *object, bool writable, array *of)
{
    Py_buffer *const buffer = &of->buffer;
    if (PyObject_GetBuffer(object, buffer, PyBUF_STRIDES | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0)))
        return refuse_buffer(writable);
    of->element = element_of_format(buffer->format ? buffer->format : "B", buffer->itemsize, &of->swapped);
    of->swapped = of->swapped && buffer->itemsize > 1;
    if (buffer->ndim <= ARRAY_MAX_DIMENSIONS)
        return 0;
    PyErr_Format(imported_error, "an array of %d dimensions: at most %d", buffer->ndim, ARRAY_MAX_DIMENSIONS);
    PyBuffer_Release(buffer);
    return -1;
}

Py_ssize_t array_flat_bytes(const array *of, int element)
{
    Py_ssize_t bytes = of->buffer.itemsize;
    if (of->element != element || of->swapped)
        return -1;
    for (int k = of->buffer.ndim - 1; k >= 0; k--) {
        if (of->buffer.shape[k] > 1 && of->buffer.strides && of->buffer.strides[k] != bytes)
            return -1;
        bytes *= of->buffer.shape[k];
    }
    return bytes;
}

/* The bytes from one element to the next, along each axis, of an array without gaps that lies in memory as x does: of
 * two axes that with the longer steps in x is the outer one, of equal ones the first. */
static void dense_strides(const Py_buffer *x, Py_ssize_t bytes, Py_ssize_t *strides)
{
    int order[ARRAY_MAX_DIMENSIONS]; /* the axes, the outermost first */
    for (int k = 0; k < x->ndim; k++) {
        const Py_ssize_t step = x->strides[k] < 0 ? -x->strides[k] : x->strides[k];
        int at = k;
        for (; at > 0; at--) {
            const Py_ssize_t before = x->strides[order[at - 1]];
            if ((before < 0 ? -before : before) >= step)
                break;
            order[at] = order[at - 1];
        }
        order[at] = k;
    }
    for (int k = x->ndim - 1; k >= 0; k--) {
        strides[order[k]] = bytes;
        bytes *= x->shape[order[k]] > 0 ? x->shape[order[k]] : 1;
    }
}

static PyObject *tuple_of(const Py_ssize_t *numbers, int count)
{
    PyObject *const tuple = PyTuple_New(count);
    for (int k = 0; tuple && k < count; k++) {
        PyObject *const number = PyLong_FromSsize_t(numbers[k]);
        if (!number) {
            Py_DECREF(tuple);
            return NULL;
        }
        PyTuple_SetItem(tuple, k, number);
    }
    return tuple;
}

PyObject *array_new_like(const array *x, int element)
{
    const Py_buffer *const buffer = &x->buffer;
    PyObject *const dtype = imported_dtypes[element];
    PyObject *shape, *steps, *made = NULL;
    Py_ssize_t strides[ARRAY_MAX_DIMENSIONS], step = buffer->itemsize;
    int k = buffer->ndim;
    while (k > 0 && (buffer->shape[k - 1] <= 1 || buffer->strides[k - 1] == step))
        step *= buffer->shape[--k];
    if (k == 0) { /* one run in the order of C */
        shape = buffer->ndim == 1 ? PyLong_FromSsize_t(buffer->shape[0]) : tuple_of(buffer->shape, buffer->ndim);
        made = shape ? PyObject_CallFunctionObjArgs(imported_empty, shape, dtype, NULL) : NULL;
        Py_XDECREF(shape);
        return made;
    }
    dense_strides(buffer, element_bytes[element], strides);
    shape = tuple_of(buffer->shape, buffer->ndim);
    steps = tuple_of(strides, buffer->ndim);
    if (shape && steps)
        made = PyObject_CallFunction(imported_ndarray, "OOOiO", shape, dtype, Py_None, 0, steps);
    Py_XDECREF(shape);
    Py_XDECREF(steps);
    return made;
}

/* [first, end) of the bytes of an array that is not empty. */
static void bounds(const Py_buffer *buffer, const char **first, const char **end)
{
    *first = buffer->buf;
    *end = *first + buffer->itemsize;
    for (int k = 0; k < buffer->ndim; k++) {
        const Py_ssize_t reach = (buffer->shape[k] - 1) * buffer->strides[k];
        if (reach < 0)
            *first += reach;
        else
            *end += reach;
    }
}

static bool one_layout(const Py_buffer *x, const Py_buffer *y)
{
    if (x->buf != y->buf || x->itemsize != y->itemsize || x->ndim != y->ndim)
        return false;
    for (int k = 0; k < x->ndim; k++)
        if (x->shape[k] != y->shape[k] || (x->shape[k] > 1 && x->strides[k] != y->strides[k]))
            return false;
    return true;
}

/* Whether y may be written while x is read: they lie apart, or are one array. 0, or -1 with an exception. */
static int check_overlap(PyObject *x_object, const array *x, PyObject *y_object, const array *y)
{
    const char *x_first, *x_end, *y_first, *y_end;
    PyObject *answer;
    int shared;
    if (x->buffer.len == 0 || one_layout(&x->buffer, &y->buffer))
        return 0;
    bounds(&x->buffer, &x_first, &x_end);
    bounds(&y->buffer, &y_first, &y_end);
    if (x_end <= y_first || y_end <= x_first)
        return 0;
    /* They lie among each other: numpy says whether any byte is in both. */
    answer = PyObject_CallFunctionObjArgs(imported_shares_memory, x_object, y_object, NULL);
    if (!answer)
        return -1;
    shared = PyObject_IsTrue(answer);
    Py_DECREF(answer);
    if (shared > 0)
        PyErr_SetString(imported_error, "x and out overlap and are not one array of elements of one size; give out "
                                        "memory of its own, or give x itself");
    return shared ? -1 : 0;
}

int array_check_pair(PyObject *x_object, const array *x, PyObject *y_object, const array *y)
{
    bool same = x->buffer.ndim == y->buffer.ndim;
    for (int k = 0; same && k < x->buffer.ndim; k++)
        same = x->buffer.shape[k] == y->buffer.shape[k];
    if (same)
        return check_overlap(x_object, x, y_object, y);
    PyErr_SetString(imported_error, "out must have the shape of x");
    return -1;
}

int array_get_pair(PyObject *x_object, PyObject *y_object, array *x, array *y)
{
    if (!array_is(x_object) || !array_is(y_object)) {
        PyErr_SetString(imported_error, "x and out must be arrays of numpy");
        return -1;
    }
    if (array_get(x_object, false, x))
        return -1;
    if (array_get(y_object, true, y)) {
        PyBuffer_Release(&x->buffer);
        return -1;
    }
    if (!array_check_pair(x_object, x, y_object, y))
        return 0;
    (void)array_put_pair(-1, y_object, x, y);
    return -1;
}

PyObject *array_put_pair(int failed, PyObject *y_object, array *x, array *y)
{
    PyBuffer_Release(&x->buffer);
    PyBuffer_Release(&y->buffer);
    if (failed)
        return NULL;
    Py_INCREF(y_object);
    return y_object;
}

/* One dimension of both arrays: how many, and the bytes from one to the next. */
typedef struct dimension {
    Py_ssize_t count, x, y;
} dimension;

/*
 * The dimensions of both arrays, those of longer steps in y first, none of a single element, steps in y positive; two
 * that one loop can walk are made one. At least one is left. x and y are where the walk begins.
 */
static int make_dimensions(const Py_buffer *x, const Py_buffer *y, dimension *all, const char **x_from, char **y_from)
{
    int count = 0, merged = 0;
    *x_from = x->buf;
    *y_from = y->buf;
    for (int k = 0; k < x->ndim; k++) {
        dimension d = {x->shape[k], x->strides[k], y->strides[k]};
        int at = count;
        if (d.count == 1)
            continue;
        if (d.y < 0) {
            *x_from += (d.count - 1) * d.x;
            *y_from += (d.count - 1) * d.y;
            d.x = -d.x;
            d.y = -d.y;
        }
        for (; at > 0 && all[at - 1].y < d.y; at--)
            all[at] = all[at - 1];
        all[at] = d;
        count++;
    }
    if (count == 0)
        all[count++] = (dimension){1, x->itemsize, y->itemsize};
    for (int k = 1; k < count; k++) {
        dimension *const outer = &all[merged];
        if (outer->x == all[k].count * all[k].x && outer->y == all[k].count * all[k].y)
            *outer = (dimension){outer->count * all[k].count, all[k].x, all[k].y};
        else
            all[++merged] = all[k];
    }
    return merged + 1;
}

static int64_t read_integer(const char *from, int element, bool swapped)
{
    unsigned char bytes[8];
    const int size = element_bytes[element];
    uint64_t value = 0;
    memcpy(bytes, from, (size_t)size);
    if (swapped)
        for (int k = 0; k < size / 2; k++) {
            const unsigned char kept = bytes[k];
            bytes[k] = bytes[size - 1 - k];
            bytes[size - 1 - k] = kept;
        }
    switch (element) {
    case 0:
        return (int8_t)bytes[0];
    case 1:
        return bytes[0];
    case 2: {
        int16_t v;
        memcpy(&v, bytes, sizeof v);
        return v;
    }
    case 3: {
        uint16_t v;
        memcpy(&v, bytes, sizeof v);
        return v;
    }
    case 4: {
        int32_t v;
        memcpy(&v, bytes, sizeof v);
        return v;
    }
    case 5: {
        uint32_t v;
        memcpy(&v, bytes, sizeof v);
        return v;
    }
    case ELEMENT_S64: {
        int64_t v;
        memcpy(&v, bytes, sizeof v);
        return v;
    }
    default:
        memcpy(&value, bytes, sizeof value);
        return value > INT64_MAX ? INT64_MAX : (int64_t)value;
    }
}

static void write_integer(char *to, int element, int64_t value)
{
    const int8_t byte = (int8_t)value;
    const int16_t half = (int16_t)value;
    const int32_t word = (int32_t)value;
    switch (element_bytes[element]) {
    case 1:
        memcpy(to, &byte, sizeof byte);
        break;
    case 2:
        memcpy(to, &half, sizeof half);
        break;
    default:
        memcpy(to, &word, sizeof word);
    }
}

/* Copies `count` elements of 1, 2 or 4 bytes from steps of one length to steps of another. */
static void copy_steps(int bytes, const char *from, Py_ssize_t from_step, char *to, Py_ssize_t to_step, size_t count)
{
    switch (bytes) {
    case 1:
        for (size_t k = 0; k < count; k++, from += from_step, to += to_step)
            memcpy(to, from, 1);
        break;
    case 2:
        for (size_t k = 0; k < count; k++, from += from_step, to += to_step)
            memcpy(to, from, 2);
        break;
    default:
        for (size_t k = 0; k < count; k++, from += from_step, to += to_step)
            memcpy(to, from, 4);
    }
}

/* What a walk does with each row. */
typedef struct walk {
    const array_map *map;
    const array *x;
    Py_ssize_t x_step, y_step, count;
    bool x_converted, x_direct, y_direct;
} walk;

static void gather(const walk *walk, const char *x, char *block, size_t count)
{
    const array_map *const map = walk->map;
    const int bytes = element_bytes[map->x_element];
    if (!walk->x_converted) {
        copy_steps(bytes, x, walk->x_step, block, bytes, count);
        return;
    }
    for (size_t k = 0; k < count; k++, x += walk->x_step, block += bytes) {
        const int64_t value = read_integer(x, walk->x->element, walk->x->swapped);
        write_integer(block, map->x_element,
                      value < map->x_lowest    ? map->x_lowest
                      : value > map->x_highest ? map->x_highest
                                               : value);
    }
}

static void walk_row(const walk *walk, const char *x, char *y)
{
    const array_map *const map = walk->map;
    const int y_bytes = element_bytes[map->y_element];
    int64_t x_block[BLOCK], y_block[BLOCK];
    if (walk->x_direct && walk->y_direct) {
        map->run(map, x, y, (size_t)walk->count);
        return;
    }
    for (Py_ssize_t done = 0; done < walk->count; done += BLOCK) {
        const size_t count = (size_t)(walk->count - done < BLOCK ? walk->count - done : BLOCK);
        const char *const x_part = x + done * walk->x_step;
        char *const y_part = y + done * walk->y_step;
        if (!walk->x_direct)
            gather(walk, x_part, (char *)x_block, count);
        map->run(map, walk->x_direct ? (const void *)x_part : x_block, walk->y_direct ? (void *)y_part : y_block,
                 count);
        if (!walk->y_direct)
            copy_steps(y_bytes, (const char *)y_block, y_bytes, y_part, walk->y_step, count);
    }
}

/* Row by row, the indices of all dimensions but the last counted up as an odometer counts. */
static void walk_rows(const walk *walk, const dimension *all, int outer, const char *x, char *y)
{
    Py_ssize_t index[ARRAY_MAX_DIMENSIONS] = {0};
    for (int k = 0; k >= 0;) {
        walk_row(walk, x, y);
        for (k = outer - 1; k >= 0; k--) {
            x += all[k].x;
            y += all[k].y;
            if (++index[k] < all[k].count)
                break;
            index[k] = 0;
            x -= all[k].count * all[k].x;
            y -= all[k].count * all[k].y;
        }
    }
}

/* Whether every element that the steps lead to lies at a multiple of its size. */
static bool aligned(const char *from, int bytes, const dimension *all, int count, bool of_x)
{
    bool all_are = (uintptr_t)from % (size_t)bytes == 0;
    for (int k = 0; k < count; k++)
        all_are = all_are && (of_x ? all[k].x : all[k].y) % bytes == 0;
    return all_are;
}

/* Whether no two elements of y share memory: each step leads beyond all that the shorter ones reach. What two reach
 * would be written twice, and in place read anew. */
static bool all_apart(const dimension *all, int count, Py_ssize_t y_bytes)
{
    Py_ssize_t reach = y_bytes;
    for (int k = count - 1; k >= 0; k--) {
        if (all[k].y < reach)
            return false;
        reach += (all[k].count - 1) * all[k].y;
    }
    return true;
}

int array_apply(const array_map *map, const array *x, const array *y)
{
    const int x_bytes = element_bytes[map->x_element], y_bytes = element_bytes[map->y_element];
    dimension all[ARRAY_MAX_DIMENSIONS];
    const char *x_from;
    char *y_from;
    walk walk = {map, x, 0, 0, 0, x->swapped || x->element != map->x_element, false, false};
    if (x->buffer.len == 0)
        return 0;
    const int count = make_dimensions(&x->buffer, &y->buffer, all, &x_from, &y_from);
    const dimension *const inner = &all[count - 1];
    walk.x_step = inner->x;
    walk.y_step = inner->y;
    walk.count = inner->count;
    if (!all_apart(all, count, y_bytes)) {
        PyErr_SetString(imported_error, "out has elements that share memory; give an array whose elements are its own");
        return -1;
    }
    walk.x_direct =
        !walk.x_converted && (inner->x == x_bytes || inner->count == 1) && aligned(x_from, x_bytes, all, count, true);
    walk.y_direct = (inner->y == y_bytes || inner->count == 1) && aligned(y_from, y_bytes, all, count, false);
    if (y->buffer.len / y_bytes < LONG_ENOUGH) {
        walk_rows(&walk, all, count - 1, x_from, y_from);
        return 0;
    }
    Py_BEGIN_ALLOW_THREADS;
    walk_rows(&walk, all, count - 1, x_from, y_from);
    Py_END_ALLOW_THREADS;
    return 0;
}
