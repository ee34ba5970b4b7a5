/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>

#include "imports.h"
#include "real.h"

/* Written so that compilers make vectors of them. */
#define FOR_EACH_TYPE(F)                                                                                               \
    F(PWL_S8, int8_t)                                                                                                  \
    F(PWL_U8, uint8_t)                                                                                                 \
    F(PWL_S16, int16_t)                                                                                                \
    F(PWL_U16, uint16_t)                                                                                               \
    F(PWL_S32, int32_t)                                                                                                \
    F(PWL_U32, uint32_t)

/* Within this every integer is a float, and v + MAGIC - MAGIC is rint(v), ties to even: the sum's last bit is worth 1.
 */
#define NEAR (INT64_C(1) << 22)
#define MAGIC 12582912.0f /* 1.5 * 2^23 */

void real_quantise(const array_map *map, const void *x, void *y, size_t count)
{
    const quantiser *const of = map->context;
    const float *const reals = x;
    const float inverse = 1.0f / of->affine.scale;
    const int64_t zero = of->affine.zero_point, least = of->qmin - zero, most = of->qmax - zero;
    if (FLT_EVAL_METHOD == 0 && least >= -NEAR && most <= NEAR && most >= -NEAR && least <= NEAR) {
        const float low = (float)least, high = (float)most;
        const int32_t add = (int32_t)zero;
/* Clamped first: the limits are integers, so that rounding does not lead beyond them. NaN, unequal to itself, is 0. */
#define QUANTISE_NEAR(type, c_type)                                                                                    \
    case type:                                                                                                         \
        for (size_t k = 0; k < count; k++) {                                                                           \
            const float steps = reals[k] * inverse, number = steps == steps ? steps : 0.0f;                            \
            const float above = number < low ? low : number, clamped = above > high ? high : above;                    \
            ((c_type *)y)[k] = (c_type)((int32_t)(clamped + MAGIC - MAGIC) + add);                                     \
        }                                                                                                              \
        return;
        switch (map->y_element) {
            FOR_EACH_TYPE(QUANTISE_NEAR)
        }
    }
#define QUANTISE(type, c_type)                                                                                         \
    case type:                                                                                                         \
        for (size_t k = 0; k < count; k++)                                                                             \
            ((c_type *)y)[k] = (c_type)pwl_code_of_real(reals[k], inverse, zero, of->qmin, of->qmax);                  \
        return;
    switch (map->y_element) {
        FOR_EACH_TYPE(QUANTISE)
    }
}

void real_dequantise(const array_map *map, const void *x, void *y, size_t count)
{
    const quantiser *const of = map->context;
    const pwl_affine affine = of->affine;
    float *const reals = y;
#define DEQUANTISE(type, c_type)                                                                                       \
    case type:                                                                                                         \
        for (size_t k = 0; k < count; k++)                                                                             \
            reals[k] = pwl_real_of_code(((const c_type *)x)[k], affine);                                               \
        return;
    switch (map->x_element) {
        FOR_EACH_TYPE(DEQUANTISE)
    }
}

int real_check_affine(pwl_affine affine, int type)
{
    if (pwl_affine_serves(affine, type >= PWL_S32))
        return 0;
    PyErr_SetString(imported_error, "a scale or zero point lies too far out for real numbers in float32: a scale from "
                                    "2^-126 to 2^126, a zero point at most 2^30 from 0, beside codes of 32 bits 2^33");
    return -1;
}

static PyObject *refuse(PyObject *y_object, array *x, array *y)
{
    PyErr_SetString(imported_error, "x or out is of another type: real numbers are float32, codes int8, uint8, int16, "
                                    "uint16, int32 or uint32, in this machine's byte order; convert with astype()");
    return array_put_pair(-1, y_object, x, y);
}

PyObject *real_quantise_arrays(PyObject *module, PyObject *arguments)
{
    quantiser of;
    array_map map = {real_quantise, &of, ELEMENT_F32, 0, 0, 0};
    long long zero, qmin, qmax;
    PyObject *x_object, *y_object;
    array x, y;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOfLLL", &x_object, &y_object, &of.affine.scale, &zero, &qmin, &qmax) ||
        array_get_pair(x_object, y_object, &x, &y))
        return NULL;
    of.affine.zero_point = zero;
    of.qmin = qmin;
    of.qmax = qmax;
    map.y_element = y.element;
    if (x.element != ELEMENT_F32 || y.element > PWL_U32 || x.swapped || y.swapped)
        return refuse(y_object, &x, &y);
    if (!array_holds(y.element, qmin, qmax)) {
        PyErr_SetString(imported_error, "codes from qmin to qmax are none, or more than the type of out holds");
        return array_put_pair(-1, y_object, &x, &y);
    }
    return array_put_pair(real_check_affine(of.affine, y.element) || array_apply(&map, &x, &y), y_object, &x, &y);
}

PyObject *real_dequantise_arrays(PyObject *module, PyObject *arguments)
{
    quantiser of = {{0, 0}, 0, 0};
    array_map map = {real_dequantise, &of, 0, ELEMENT_F32, INT32_MIN, INT32_MAX};
    long long zero;
    PyObject *x_object, *y_object;
    array x, y;
    int type;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOfLi", &x_object, &y_object, &of.affine.scale, &zero, &type))
        return NULL;
    if (type < 0 || type > PWL_U32)
        return PyErr_Format(imported_error, "%d is no type of codes", type);
    if (array_get_pair(x_object, y_object, &x, &y))
        return NULL;
    of.affine.zero_point = zero;
    if (x.element > ELEMENT_U64 || y.element != ELEMENT_F32 || y.swapped)
        return refuse(y_object, &x, &y);
    map.x_element = x.element;
    if (x.swapped || x.element > PWL_U32) { /* gathered as 32 bits, which hold all codes of the type */
        map.x_element = type == PWL_U32 ? PWL_U32 : PWL_S32;
        if (type == PWL_U32) {
            map.x_lowest = 0;
            map.x_highest = UINT32_MAX;
        }
    }
    return array_put_pair(real_check_affine(of.affine, map.x_element) || array_apply(&map, &x, &y), y_object, &x, &y);
}
