/* SPDX-License-Identifier: Apache-2.0 */
#include "qgemm.h"

#include <stdint.h>
#include <stdlib.h>

#include <pwl/qgemm_host.h>
#include <pwl/qgemm_kernels.h>

#include "imports.h"

struct CUstream_st;

static PyObject *fail(pwl_qgemm_status status)
{
    PyErr_SetString(imported_error, pwl_qgemm_status_text(status));
    return NULL;
}

/* -- Weights ---------------------------------------------------------------------------------------------------------
 */

/* The same format among those of <pwl/blocks.h>. */
static pwl_format blocks_of(int format)
{
    static const pwl_format formats[] = {[PWL_QGEMM_Q4_0] = PWL_Q4_0,
                                         [PWL_QGEMM_Q8_0] = PWL_Q8_0,
                                         [PWL_QGEMM_MXFP4] = PWL_MXFP4,
                                         [PWL_QGEMM_ROWS8] = (pwl_format)-1,
                                         [PWL_QGEMM_ROWS4] = (pwl_format)-1,
                                         [PWL_QGEMM_ROWS_E4M3] = (pwl_format)-1,
                                         [PWL_QGEMM_MXFP4_E4M3] = (pwl_format)-1,
                                         [PWL_QGEMM_Q4_K] = PWL_Q4_K,
                                         [PWL_QGEMM_Q5_K] = PWL_Q5_K,
                                         [PWL_QGEMM_Q6_K] = PWL_Q6_K};
    return format >= 0 && format <= PWL_QGEMM_Q6_K ? formats[format] : (pwl_format)-1;
}

PyObject *qgemm_bytes(PyObject *module, PyObject *arguments)
{
    int format;
    Py_ssize_t n, k;
    size_t bytes;
    pwl_qgemm_status status;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "inn", &format, &n, &k))
        return NULL;
    status = pwl_qgemm_weights_bytes((pwl_qgemm_format)format, (size_t)n, (size_t)k, &bytes);
    return status ? fail(status) : PyLong_FromSize_t(bytes);
}

PyObject *qgemm_pack(PyObject *module, PyObject *arguments)
{
    int format, rule;
    unsigned int type;
    Py_ssize_t n, k;
    Py_buffer data, up = {0}, memory;
    pwl_qgemm_weights weights;
    pwl_qgemm_place bad;
    pwl_qgemm_status status;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "iiInny*w*|y*", &format, &rule, &type, &n, &k, &data, &memory, &up))
        return NULL;
    const pwl_qgemm_tensor tensor = {type, {(uint64_t)k, (uint64_t)n, 1, 1}, data.buf, (size_t)data.len};
    const pwl_qgemm_tensor other = {type, {(uint64_t)k, (uint64_t)n, 1, 1}, up.buf, (size_t)up.len};
    pwl_qgemm_source source = pwl_qgemm_of_tensor((pwl_qgemm_format)format, (pwl_rule)rule, &tensor);
    if (up.obj)
        source = pwl_qgemm_of_pair(source, pwl_qgemm_of_tensor((pwl_qgemm_format)format, (pwl_rule)rule, &other));
    Py_BEGIN_ALLOW_THREADS status = pwl_qgemm_pack(source, memory.buf, (size_t)memory.len, &weights, &bad);
    Py_END_ALLOW_THREADS PyBuffer_Release(&data);
    PyBuffer_Release(&memory);
    if (up.obj)
        PyBuffer_Release(&up);
    if (status == PWL_QGEMM_ERR_SCALE)
        return PyErr_Format(imported_error, "row %zu, columns %zu to %zu: %s", bad.row, bad.block * PWL_BLOCK,
                            bad.block * PWL_BLOCK + PWL_BLOCK - 1, pwl_qgemm_status_text(status));
    return status ? fail(status) : Py_BuildValue("ni", (Py_ssize_t)weights.bytes, (int)weights.row_data);
}

PyObject *qgemm_cut(PyObject *module, PyObject *arguments)
{
    int format, row_data;
    Py_ssize_t n, k, bytes, at[4];
    Py_buffer memory, to;
    pwl_qgemm_weights part;
    pwl_qgemm_status status = PWL_QGEMM_ERR_SPACE;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "innniy*nnnnw*", &format, &n, &k, &bytes, &row_data, &memory, &at[0], &at[1],
                          &at[2], &at[3], &to))
        return NULL;
    const pwl_qgemm_weights weights = {memory.buf, (size_t)n, (size_t)k, (size_t)bytes, (pwl_qgemm_format)format,
                                       row_data};
    const pwl_qgemm_share rows = {(size_t)at[0], (size_t)at[1]}, columns = {(size_t)at[2], (size_t)at[3]};
    if (bytes >= 0 && bytes <= memory.len) {
        Py_BEGIN_ALLOW_THREADS status = pwl_qgemm_cut(&weights, rows, columns, to.buf, (size_t)to.len, &part);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&memory);
    PyBuffer_Release(&to);
    return status ? fail(status) : PyLong_FromSize_t(part.bytes);
}

PyObject *qgemm_share(PyObject *module, PyObject *arguments)
{
    int format, of_columns;
    Py_ssize_t n, k, rank, ranks;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "innpnn", &format, &n, &k, &of_columns, &rank, &ranks))
        return NULL;
    const pwl_qgemm_weights weights = {NULL, (size_t)n, (size_t)k, 0, (pwl_qgemm_format)format, 0};
    const pwl_qgemm_share share = of_columns ? pwl_qgemm_columns_of_rank(&weights, (size_t)rank, (size_t)ranks)
                                             : pwl_qgemm_rows_of_rank(&weights, (size_t)rank, (size_t)ranks);
    return Py_BuildValue("nn", (Py_ssize_t)share.first, (Py_ssize_t)share.count);
}

PyObject *qgemm_unpack(PyObject *module, PyObject *arguments)
{
    int format, row_data;
    Py_ssize_t n, k, bytes;
    Py_buffer memory, blocks;
    pwl_qgemm_status status = PWL_QGEMM_ERR_SPACE;
    size_t taken;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "innniy*w*", &format, &n, &k, &bytes, &row_data, &memory, &blocks))
        return NULL;
    const pwl_qgemm_weights weights = {memory.buf, (size_t)n, (size_t)k, (size_t)bytes, (pwl_qgemm_format)format,
                                       row_data};
    if (bytes >= 0 && bytes <= memory.len && !pwl_blocks_bytes(blocks_of(format), (size_t)n, (size_t)k, &taken) &&
        taken <= (size_t)blocks.len) {
        Py_BEGIN_ALLOW_THREADS status = pwl_qgemm_unpack(&weights, blocks.buf);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&memory);
    PyBuffer_Release(&blocks);
    if (status)
        return fail(status);
    Py_RETURN_NONE;
}

PyObject *qgemm_unpack_s8(PyObject *module, PyObject *arguments)
{
    int format;
    Py_ssize_t n, k, bytes;
    Py_buffer memory, q, n_w;
    pwl_qgemm_status status = PWL_QGEMM_ERR_SPACE;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "innny*w*w*", &format, &n, &k, &bytes, &memory, &q, &n_w))
        return NULL;
    const pwl_qgemm_weights weights = {memory.buf, (size_t)n, (size_t)k, (size_t)bytes, (pwl_qgemm_format)format, 1};
    if (bytes >= 0 && bytes <= memory.len && n > 0 && k > 0 && n <= n_w.len && k <= q.len / n) {
        Py_BEGIN_ALLOW_THREADS status = pwl_qgemm_unpack_s8(&weights, q.buf, n_w.buf);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&memory);
    PyBuffer_Release(&q);
    PyBuffer_Release(&n_w);
    if (status)
        return fail(status);
    Py_RETURN_NONE;
}

PyObject *qgemm_dequantise(PyObject *module, PyObject *arguments)
{
    int format;
    Py_ssize_t n, k;
    Py_buffer blocks, reals;
    pwl_blocks_status status = PWL_BLOCKS_ERR_SHAPE;
    size_t taken;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "inny*w*", &format, &n, &k, &blocks, &reals))
        return NULL;
    if (n > 0 && k > 0 && !pwl_blocks_bytes(blocks_of(format), (size_t)n, (size_t)k, &taken) &&
        taken <= (size_t)blocks.len && (size_t)n <= (size_t)reals.len / sizeof(float) / (size_t)k) {
        Py_BEGIN_ALLOW_THREADS status =
            pwl_dequantise(blocks_of(format), blocks.buf, (size_t)n, (size_t)k, (size_t)k, reals.buf);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&blocks);
    PyBuffer_Release(&reals);
    if (!status)
        Py_RETURN_NONE;
    PyErr_SetString(imported_error, pwl_blocks_status_text(status));
    return NULL;
}

/* -- Products --------------------------------------------------------------------------------------------------------
 */

/* As pwl_cuda_qgemm(), pwl_cuda_qgemm_workspace(), pwl_cuda_qgemm_store_sums() and pwl_cuda_status_text(). */
typedef pwl_qgemm_status multiply_function(const pwl_qgemm_product *product, void *workspace, size_t bytes,
                                           pwl_qgemm_kernel *ran, struct CUstream_st *stream);
typedef pwl_qgemm_status workspace_function(const pwl_qgemm_product *product, size_t *bytes);
typedef pwl_qgemm_status store_function(const pwl_qgemm_product *product, const int32_t *sums, size_t stride,
                                        struct CUstream_st *stream);
typedef const char *text_function(int status);

/* `product` points to the two above it. */
typedef struct product_object {
    PyObject_HEAD pwl_qgemm_weights weights;
    pwl_qgemm_activation activation;
    pwl_qgemm_product product;
    pwl_qgemm_panels panels; /* of arrange(); else its memory is null, and the reference multiplies on the host */
    void *memory;            /* the workspace, of `bytes`, and the stream of a product whose arrays are bound */
    size_t bytes;
    struct CUstream_st *stream;
    multiply_function *multiply; /* the four are null on the host */
    workspace_function *workspace;
    store_function *store;
    text_function *text;
    PyObject *keep; /* what the addresses need */
} product_object;

static PyObject *fail_product(const product_object *self, pwl_qgemm_status status)
{
    if (status < PWL_QGEMM_ERR_CUDA || !self->text)
        return fail(status);
    PyErr_SetString(imported_error, self->text((int)status)); /* both libraries number errors of CUDA alike */
    return NULL;
}

static void *pointer(unsigned long long address)
{
    return (void *)(uintptr_t)address;
}

/* Of (table, uploaded, scale_x, zp_x, scale_y, zp_y, gated, bias_up, up_limit, up_plus, scale_up, zp_up, scale_out,
 * zp_out), of which bias_up is an address like the first two. */
static int parse_activation(PyObject *from, pwl_qgemm_activation *as)
{
    unsigned long long table, uploaded, bias_up;
    long long zeros[4];
    int gated;
    if (!PyArg_ParseTuple(from, "KKfLfLpKfffLfL", &table, &uploaded, &as->of_x.scale, &zeros[0], &as->of_y.scale,
                          &zeros[1], &gated, &bias_up, &as->up_limit, &as->up_plus, &as->of_up.scale, &zeros[2],
                          &as->of_out.scale, &zeros[3]))
        return -1;
    as->table = pointer(table);
    as->uploaded = pointer(uploaded);
    as->bias_up = pointer(bias_up);
    as->gated = gated;
    as->of_x.zero_point = zeros[0];
    as->of_y.zero_point = zeros[1];
    as->of_up.zero_point = zeros[2];
    as->of_out.zero_point = zeros[3];
    return 0;
}

/*
 * Product(functions, scheme, weights, bias, activation, integers, keep): functions are None, or the addresses of those
 * of product_object; weights are (format, n, k, bytes, row_data, address); bias is an address; activation is None or
 * what parse_activation() takes; integers are z, n_y and z_y of INT8.
 */
static PyObject *product_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *functions, *weights, *activation, *keep, *made;
    unsigned long long bias, addresses[4] = {0};
    int scheme, format, row_data, zero_x, n_y, zero_y;
    Py_ssize_t n, k, bytes;
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, "OiO!KO(iii)O", &functions, &scheme, &PyTuple_Type, &weights, &bias, &activation,
                          &zero_x, &n_y, &zero_y, &keep) ||
        !PyArg_ParseTuple(weights, "innniK", &format, &n, &k, &bytes, &row_data, &addresses[0]))
        return NULL;
    made = PyType_GenericAlloc(type, 0); /* all zero */
    if (!made)
        return NULL;
    product_object *const self = (product_object *)made;
    self->weights = (pwl_qgemm_weights){pointer(addresses[0]),    (size_t)n, (size_t)k, (size_t)bytes,
                                        (pwl_qgemm_format)format, row_data};
    self->product.scheme = (pwl_qgemm_scheme)scheme;
    self->product.weights = &self->weights;
    self->product.bias = pointer(bias);
    self->product.x.zero_point = zero_x;
    self->product.y.n_y = n_y;
    self->product.y.zero_point = zero_y;
    if (activation != Py_None) {
        if (parse_activation(activation, &self->activation))
            goto fail;
        self->product.activation = &self->activation;
    }
    if (functions != Py_None) {
        if (!PyArg_ParseTuple(functions, "KKKK", &addresses[0], &addresses[1], &addresses[2], &addresses[3]))
            goto fail;
        self->multiply = (multiply_function *)(uintptr_t)addresses[0];
        self->workspace = (workspace_function *)(uintptr_t)addresses[1];
        self->store = (store_function *)(uintptr_t)addresses[2];
        self->text = (text_function *)(uintptr_t)addresses[3];
    }
    Py_INCREF(keep);
    self->keep = keep;
    return made;
fail:
    Py_DECREF(made);
    return NULL;
}

static void product_dealloc(PyObject *object)
{
    PyTypeObject *const type = Py_TYPE(object);
    Py_XDECREF(((product_object *)object)->keep);
    ((freefunc)(uintptr_t)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

/* The arrays of a call: m, then of X and of Y address, stride and type, and the address of n_x; whatever else `format`
 * says follows. */
#define ARRAYS "nKniKniK"

static void set_arrays(pwl_qgemm_product *product, Py_ssize_t m, unsigned long long x, Py_ssize_t x_stride, int x_type,
                       unsigned long long y, Py_ssize_t y_stride, int y_type, unsigned long long n_x)
{
    product->m = (size_t)m;
    product->x.data = pointer(x);
    product->x.stride = (size_t)x_stride;
    product->x.type = (pwl_qgemm_type)x_type;
    product->x.n_x = pointer(n_x);
    product->y.data = pointer(y);
    product->y.stride = (size_t)y_stride;
    product->y.type = (pwl_qgemm_type)y_type;
}

static int parse_arrays(PyObject *arguments, const char *format, pwl_qgemm_product *product, void *a, void *b, void *c)
{
    Py_ssize_t m, x_stride, y_stride;
    unsigned long long x, y, n_x;
    int x_type, y_type;
    if (!PyArg_ParseTuple(arguments, format, &m, &x, &x_stride, &x_type, &y, &y_stride, &y_type, &n_x, a, b, c))
        return -1;
    set_arrays(product, m, x, x_stride, x_type, y, y_stride, y_type, n_x);
    return 0;
}

/* On the host, in a workspace of its own. */
static pwl_qgemm_status multiply_panels(const product_object *self, const pwl_qgemm_product *product)
{
    size_t bytes;
    void *workspace;
    pwl_qgemm_status status = pwl_qgemm_workspace(product, &self->panels, &bytes);
    if (status)
        return status;
    workspace = malloc(bytes);
    status = workspace ? pwl_qgemm(product, &self->panels, workspace, bytes) : PWL_QGEMM_ERR_SPACE;
    free(workspace);
    return status;
}

static PyObject *multiply(const product_object *self, const pwl_qgemm_product *product, void *memory, size_t bytes,
                          struct CUstream_st *stream)
{
    pwl_qgemm_status status;
    Py_BEGIN_ALLOW_THREADS if (self->multiply) status = self->multiply(product, memory, bytes, NULL, stream);
    else if (self->panels.memory) status = multiply_panels(self, product);
    else status = pwl_qgemm_reference(product);
    Py_END_ALLOW_THREADS if (status) return fail_product(self, status);
    Py_RETURN_NONE;
}

/* panels_bytes(): what arrange() takes. arrange(memory): arranges the weights, which are on the host and never change,
 * in an array that stays as long as this does; products are then those of <pwl/qgemm_host.h>. */
static PyObject *product_panels_bytes(PyObject *object, PyObject *arguments)
{
    const product_object *const self = (product_object *)object;
    size_t bytes;
    pwl_qgemm_status status;
    if (!PyArg_ParseTuple(arguments, ""))
        return NULL;
    status = pwl_qgemm_panels_bytes(&self->weights, &bytes);
    return status ? fail(status) : PyLong_FromSize_t(bytes);
}

static PyObject *product_arrange(PyObject *object, PyObject *arguments)
{
    product_object *const self = (product_object *)object;
    Py_buffer memory;
    pwl_qgemm_status status;
    if (!PyArg_ParseTuple(arguments, "w*", &memory))
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = pwl_qgemm_arrange(&self->weights, memory.buf, (size_t)memory.len, &self->panels);
    Py_END_ALLOW_THREADS PyBuffer_Release(&memory);
    if (status)
        return fail(status);
    Py_RETURN_NONE;
}

/* rows(arrays, workspace, bytes, first, count) and part(...): as pwl_qgemm_rows() and pwl_qgemm_part(). */
typedef pwl_qgemm_status part_function(const pwl_qgemm_product *product, const pwl_qgemm_panels *panels, size_t first,
                                       size_t count, void *workspace, size_t bytes);

static PyObject *multiply_part(PyObject *object, PyObject *arguments, part_function *compute)
{
    const product_object *const self = (product_object *)object;
    pwl_qgemm_product product = self->product;
    Py_ssize_t m, x_stride, y_stride, bytes, first, count;
    unsigned long long x, y, n_x, memory;
    int x_type, y_type;
    pwl_qgemm_status status;
    if (!PyArg_ParseTuple(arguments, ARRAYS "Knnn", &m, &x, &x_stride, &x_type, &y, &y_stride, &y_type, &n_x, &memory,
                          &bytes, &first, &count))
        return NULL;
    set_arrays(&product, m, x, x_stride, x_type, y, y_stride, y_type, n_x);
    Py_BEGIN_ALLOW_THREADS status =
        compute(&product, &self->panels, (size_t)first, (size_t)count, pointer(memory), (size_t)bytes);
    Py_END_ALLOW_THREADS if (status) return fail(status);
    Py_RETURN_NONE;
}

static PyObject *product_rows(PyObject *object, PyObject *arguments)
{
    return multiply_part(object, arguments, pwl_qgemm_rows);
}

static PyObject *product_part(PyObject *object, PyObject *arguments)
{
    return multiply_part(object, arguments, pwl_qgemm_part);
}

/* run(arrays, workspace, bytes, stream) */
static PyObject *product_run(PyObject *object, PyObject *arguments)
{
    const product_object *const self = (product_object *)object;
    pwl_qgemm_product product = self->product;
    unsigned long long memory, stream;
    Py_ssize_t bytes;
    if (parse_arrays(arguments, ARRAYS "KnK", &product, &memory, &bytes, &stream))
        return NULL;
    return multiply(self, &product, pointer(memory), (size_t)bytes, pointer(stream));
}

/* store_sums(arrays, stream): y of sums of int32, which the arrays have in place of x: as pwl_qgemm_store_sums(). */
static PyObject *product_store_sums(PyObject *object, PyObject *arguments)
{
    const product_object *const self = (product_object *)object;
    pwl_qgemm_product product = self->product;
    unsigned long long stream;
    pwl_qgemm_status status;
    if (parse_arrays(arguments, ARRAYS "K", &product, &stream, NULL, NULL))
        return NULL;
    const int32_t *const sums = product.x.data;
    const size_t stride = product.x.stride;
    product.x.type = PWL_QGEMM_S8;
    Py_BEGIN_ALLOW_THREADS status = self->store ? self->store(&product, sums, stride, pointer(stream))
                                                : pwl_qgemm_store_sums(&product, sums, stride);
    Py_END_ALLOW_THREADS if (status) return fail_product(self, status);
    Py_RETURN_NONE;
}

/* bind(arrays, workspace, bytes, stream): a Product that its call computes, time and again. */
static PyObject *product_bind(PyObject *object, PyObject *arguments)
{
    const product_object *const self = (product_object *)object;
    pwl_qgemm_product product = self->product;
    unsigned long long memory, stream;
    Py_ssize_t bytes;
    PyObject *made;
    if (parse_arrays(arguments, ARRAYS "KnK", &product, &memory, &bytes, &stream))
        return NULL;
    made = PyType_GenericAlloc(Py_TYPE(object), 0);
    if (!made)
        return NULL;
    product_object *const bound = (product_object *)made;
    bound->weights = self->weights;
    bound->panels = self->panels;
    bound->activation = self->activation;
    bound->product = product;
    bound->product.weights = &bound->weights;
    bound->product.activation = product.activation ? &bound->activation : NULL;
    bound->memory = pointer(memory);
    bound->bytes = (size_t)bytes;
    bound->stream = pointer(stream);
    bound->multiply = self->multiply;
    bound->workspace = self->workspace;
    bound->store = self->store;
    bound->text = self->text;
    Py_INCREF(object);
    bound->keep = object;
    return made;
}

static PyObject *product_call(PyObject *object, PyObject *arguments, PyObject *keywords)
{
    const product_object *const self = (product_object *)object;
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, ""))
        return NULL;
    return multiply(self, &self->product, self->memory, self->bytes, self->stream);
}

/* at(x, y, workspace, stream, n_x): what a bound product computes, of arrays and with a workspace at other addresses;
 * n_x may be left out where there is none. */
static PyObject *product_at(PyObject *object, PyObject *arguments)
{
    const product_object *const self = (product_object *)object;
    pwl_qgemm_product product = self->product;
    unsigned long long x, y, memory, stream, n_x = 0;
    if (!PyArg_ParseTuple(arguments, "KKKK|K", &x, &y, &memory, &stream, &n_x))
        return NULL;
    product.x.data = pointer(x);
    product.x.n_x = pointer(n_x);
    product.y.data = pointer(y);
    return multiply(self, &product, pointer(memory), self->bytes, pointer(stream));
}

/* workspace(arrays): the bytes that it takes. */
static PyObject *product_workspace(PyObject *object, PyObject *arguments)
{
    const product_object *const self = (product_object *)object;
    pwl_qgemm_product product = self->product;
    size_t bytes = 0;
    pwl_qgemm_status status;
    if (parse_arrays(arguments, ARRAYS, &product, NULL, NULL, NULL))
        return NULL;
    if (self->panels.memory)
        status = pwl_qgemm_workspace(&product, &self->panels, &bytes);
    else
        status = self->workspace ? self->workspace(&product, &bytes) : pwl_qgemm_check(&product);
    return status ? fail_product(self, status) : PyLong_FromSize_t(bytes);
}

/* bound(arrays, halves, value, bound): as pwl_qgemm_bound(), the last two being addresses of double[m][n]. */
static PyObject *product_bound(PyObject *object, PyObject *arguments)
{
    const product_object *const self = (product_object *)object;
    pwl_qgemm_product product = self->product;
    unsigned long long value, bound;
    int halves;
    pwl_qgemm_status status;
    if (parse_arrays(arguments, ARRAYS "iKK", &product, &halves, &value, &bound))
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = pwl_qgemm_bound(&product, halves, pointer(value), pointer(bound));
    Py_END_ALLOW_THREADS if (status) return fail(status);
    Py_RETURN_NONE;
}

static PyObject *product_address(PyObject *object, void *closure)
{
    (void)closure;
    return PyLong_FromVoidPtr(&((product_object *)object)->product);
}

static PyMethodDef product_methods[] = {
    {"arrange", product_arrange, METH_VARARGS, NULL},
    {"at", product_at, METH_VARARGS, NULL},
    {"panels_bytes", product_panels_bytes, METH_VARARGS, NULL},
    {"part", product_part, METH_VARARGS, NULL},
    {"rows", product_rows, METH_VARARGS, NULL},
    {"run", product_run, METH_VARARGS, NULL},
    {"bind", product_bind, METH_VARARGS, NULL},
    {"bound", product_bound, METH_VARARGS, NULL},
    {"store_sums", product_store_sums, METH_VARARGS, NULL},
    {"workspace", product_workspace, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef product_fields[] = {
    {"_address", product_address, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

#define SLOT(f) ((void *)(uintptr_t)(f))

static PyType_Slot product_slots[] = {
    {Py_tp_new, SLOT(product_new)},   {Py_tp_dealloc, SLOT(product_dealloc)}, {Py_tp_call, SLOT(product_call)},
    {Py_tp_methods, product_methods}, {Py_tp_getset, product_fields},         {0, NULL},
};

static PyType_Spec product_spec = {"pwl._core.Product", sizeof(product_object), 0, Py_TPFLAGS_DEFAULT, product_slots};

int qgemm_add_type(PyObject *module)
{
    PyObject *const product = PyType_FromSpec(&product_spec);
    return product ? PyModule_AddObject(module, "Product", product) : -1;
}
