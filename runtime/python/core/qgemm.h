/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantised products, for qgemm.py, which has looked at shapes and types: weights, packed as <pwl/qgemm.h> says, and
 * _core.Product, a product with all but its arrays set, on the host or, by functions of libpwl-cuda, on a device.
 */
#ifndef PWL_CORE_QGEMM_H
#define PWL_CORE_QGEMM_H

#include "python.h"

/*
 * Of Python, formats, rules and types of tensors by their numbers in C:
 *   qgemm_bytes(format, n, k)                                          what packed weights take at most
 *   qgemm_pack(format, rule, type, n, k, data, memory)                 (bytes, row_data) of what it packs into memory
 *   qgemm_pack(format, rule, type, n, k, data, memory, up)             of a pair, n rows each
 *   qgemm_share(format, n, k, of_columns, rank, ranks)                 (first, count) of a rank's rows or columns
 *   qgemm_cut(format, n, k, bytes, row_data, memory, row, rows, column, columns, to)       bytes of a part
 *   qgemm_unpack_s8(format, n, k, bytes, memory, q_w, n_w)
 *   qgemm_unpack(format, n, k, bytes, row_data, memory, blocks)
 *   qgemm_dequantise(format, n, k, blocks, reals)
 */
PyObject *qgemm_bytes(PyObject *module, PyObject *arguments);
PyObject *qgemm_pack(PyObject *module, PyObject *arguments);
PyObject *qgemm_share(PyObject *module, PyObject *arguments);
PyObject *qgemm_cut(PyObject *module, PyObject *arguments);
PyObject *qgemm_unpack(PyObject *module, PyObject *arguments);
PyObject *qgemm_unpack_s8(PyObject *module, PyObject *arguments);
PyObject *qgemm_dequantise(PyObject *module, PyObject *arguments);

/* Makes the type; 0 or -1. */
int qgemm_add_type(PyObject *module);

#endif
