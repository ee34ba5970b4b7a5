/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of any shape and layout, by Python's buffer protocol, and maps from one to another. */
#ifndef PWL_ARRAY_H
#define PWL_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "python.h"

#define ARRAY_MAX_DIMENSIONS 64 /* as numpy has them */

/* Kinds of elements: the values of pwl_type, then others. */
enum { ELEMENT_S64 = 6, ELEMENT_U64 = 7, ELEMENT_F32 = 8, ELEMENT_OTHER = 9 };

typedef struct array {
    Py_buffer buffer;
    int element;
    bool swapped; /* bytes in the other machines' order */
} array;

/* A map of elements that lie side by side. */
typedef struct array_map {
    void (*run)(const struct array_map *map, const void *x, void *y, size_t count);
    const void *context;
    int x_element, y_element;    /* what run() reads and writes */
    int64_t x_lowest, x_highest; /* integers of another type than x_element are clamped to these */
} array_map;

/* Whether a pwl_type holds all integers of a range, which has at least one. */
bool array_holds(int element, int64_t lowest, int64_t highest);

/* Whether an object is an array of numpy. */
bool array_is(PyObject *object);

/* Takes hold of an object's memory; 0, or -1 with an exception. To be given back by PyBuffer_Release(&of->buffer). */
int array_get(PyObject *object, bool writable, array *of);

/* Bytes that an array has in all, its elements side by side; -1 where they are not, or of another type. */
Py_ssize_t array_flat_bytes(const array *of, int element);

/* A new array of numpy's own type, of the shape of x, in the layout of x without its gaps. Its elements are of a
 * pwl_type. The class of x has no say in it. Null with an exception. */
PyObject *array_new_like(const array *x, int element);

/* Whether y has the shape of x and may be written while x is read: they lie apart, or are one array. Else -1, with an
 * exception. */
int array_check_pair(PyObject *x_object, const array *x, PyObject *y_object, const array *y);

/* Takes hold of both and checks them; -1 with an exception, and neither held. Given back by array_put_pair(), which
 * returns the second of them, or null when what was done with them has failed. */
int array_get_pair(PyObject *x_object, PyObject *y_object, array *x, array *y);
PyObject *array_put_pair(int failed, PyObject *y_object, array *x, array *y);

/* y[k] = map(x[k]) for arrays of one shape; Python's lock is given back while long ones are mapped. 0 or -1. */
int array_apply(const array_map *map, const array *x, const array *y);

#endif
