/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a product is given beside the weights: activations, bias and a table. */
#include "gemm.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/half.h>

#include "base/file.h"
#include "gemm_device.h"

/* -- Activations and bias ---------------------------------------------------------------------------------------------
 */

/* Floats of an array, in fp16 or fp32; finite ones, for a scheme that is named. */
static int take_floats(const struct npy *npy, pwl_qgemm_type type, const char *finite_for, void **values,
                       struct diag *diag)
{
    *values = gemm_array(npy->count, gemm_element_bytes(type));
    if (!*values)
        return gemm_out_of_memory("the array", diag);
    for (size_t i = 0; i < npy->count; i++) {
        const double value = npy_real(npy, i);
        if (finite_for && !isfinite(value))
            return diag_set(diag, EXIT_USAGE, "element %zu is %g; must be finite for --scheme %s", i, value,
                            finite_for);
        if (fabs(value) > (double)FLT_MAX && !isinf(value))
            return diag_set(diag, EXIT_USAGE, "element %zu is %g; must be within the range of floats", i, value);
        if (type == PWL_QGEMM_F16)
            ((uint16_t *)*values)[i] = pwl_f16_from_f32((float)value);
        else
            ((float *)*values)[i] = (float)value;
    }
    return EXIT_DONE;
}

static int need_floats(const struct npy *npy, struct diag *diag)
{
    if (npy->kind != 'f')
        return diag_set(diag, EXIT_USAGE, "the elements are integers; must be floats, <f2, <f4 or <f8");
    return EXIT_DONE;
}

/* int8: codes with an exponent for each row instead of floats; with a table and bias, which then is of integers, one
 * for all rows. */
static int quantise_input(struct gemm *gemm, struct diag *diag)
{
    const size_t m = gemm->product.m, k = gemm->weights.k;
    const size_t rows = gemm->has_table && gemm->bias ? 1 : m, length = m * k / rows;
    int8_t *const codes = gemm_array(m * k, 1);
    gemm->n_x = gemm_array(m, 1);
    if (!codes || !gemm->n_x) {
        free(codes);
        return gemm_out_of_memory("X", diag);
    }
    (void)!pwl_qgemm_quantise_s8(gemm->x, rows, length, length, codes, gemm->n_x); /* it cannot fail */
    memset(gemm->n_x + rows, gemm->n_x[0], m - rows);
    free(gemm->x);
    gemm->x = codes;
    gemm->product.x.type = PWL_QGEMM_S8;
    gemm->product.x.n_x = gemm->n_x;
    return EXIT_DONE;
}

int gemm_take_input(struct gemm *gemm, const struct npy *npy, struct diag *diag)
{
    const size_t k = gemm->weights.k;
    const int last = npy->dimensions - 1;
    const bool integers = gemm->scheme->scheme == PWL_QGEMM_INT8;
    char shape[NPY_SHAPE_SIZE];
    if (need_floats(npy, diag) != EXIT_DONE)
        return diag->code;
    npy_shape_text(npy, shape);
    if (last < 0 || npy->shape[last] != k)
        return diag_set(diag, EXIT_USAGE, "shape %s must be (M, %zu), rows as long as those of %s", shape, k,
                        gemm->weights_text);
    if (npy->count == 0)
        return diag_set(diag, EXIT_USAGE, "shape %s has no elements; must have a row or more", shape);
    gemm->shape = *npy;
    gemm->shape.data = NULL;
    gemm->shape.shape[last] = gemm->weights.n;
    gemm->product.m = npy->count / k;
    gemm->product.x.stride = k;
    gemm->product.x.type = npy->item_size == 2 && !integers ? PWL_QGEMM_F16 : PWL_QGEMM_F32;
    if (take_floats(npy, gemm->product.x.type, integers ? gemm->scheme->name : NULL, &gemm->x, diag) != EXIT_DONE)
        return diag->code;
    return integers ? quantise_input(gemm, diag) : EXIT_DONE;
}

int gemm_take_bias(struct gemm *gemm, const struct npy *npy, struct diag *diag)
{
    char shape[NPY_SHAPE_SIZE];
    if (need_floats(npy, diag) != EXIT_DONE)
        return diag->code;
    npy_shape_text(npy, shape);
    if (npy->dimensions != 1 || npy->shape[0] != gemm->weights.n)
        return diag_set(diag, EXIT_USAGE, "shape %s must be (%zu,), a number for each row of %s", shape,
                        gemm->weights.n, gemm->weights_text);
    void *values = NULL;
    const int code = take_floats(npy, PWL_QGEMM_F32, NULL, &values, diag);
    gemm->bias = values;
    return code;
}

typedef int take_array(struct gemm *gemm, const struct npy *npy, struct diag *diag);

static int read_array(struct gemm *gemm, const char *path, take_array *take, struct diag *diag)
{
    unsigned char *bytes;
    size_t size;
    struct npy npy;
    if (file_read(path, FILE_MAX_BYTES, &bytes, &size, diag) != EXIT_DONE)
        return diag->code;
    int code = npy_parse(bytes, size, &npy, diag);
    if (code == EXIT_DONE)
        code = take(gemm, &npy, diag);
    free(bytes);
    return code == EXIT_DONE ? EXIT_DONE : diag_prefix(diag, path);
}

int gemm_read_input(struct gemm *gemm, const char *path, struct diag *diag)
{
    return read_array(gemm, path, gemm_take_input, diag);
}

int gemm_read_bias(struct gemm *gemm, const char *path, struct diag *diag)
{
    return read_array(gemm, path, gemm_take_bias, diag);
}

/* -- The table --------------------------------------------------------------------------------------------------------
 */

static pwl_affine affine_of(const struct tensor *codes)
{
    return (pwl_affine){(float)codes->scale.value, codes->zero_point};
}

static int check_table(const struct gemm *gemm, struct diag *diag)
{
    const struct tensor *const in = &gemm->table.in;
    const bool integers = gemm->scheme->scheme == PWL_QGEMM_INT8, wide = gemm->table.storage == PWL_INT32;
    if (gemm->pwl.is_reduced)
        return diag_set(diag, EXIT_USAGE, "reduction: must be a table without, as fit --reduce off makes it");
    if (integers && !in->scale.power_of_two)
        return diag_set(diag, EXIT_USAGE, "in.scale is %s; must be a power of two for --scheme %s", in->scale.text,
                        gemm->scheme->name);
    if (integers && gemm->out != GEMM_CODES)
        return diag_set(diag, EXIT_USAGE, "--scheme %s stores a table's codes alone; must be without --out",
                        gemm->scheme->name);
    if (!pwl_affine_serves(gemm->activation.of_x, wide) ||
        (gemm->out != GEMM_CODES && !pwl_affine_serves(gemm->activation.of_y, wide)))
        return diag_set(diag, EXIT_USAGE,
                        "scale and zero_point: must be from 2^-126 to 2^126, and within 2^%d of 0, for gemm",
                        wide ? 33 : 30);
    return EXIT_DONE;
}

int gemm_read_table(struct gemm *gemm, const char *path, struct diag *diag)
{
    pwl_proof proof;
    if (table_read(path, &gemm->table, diag) != EXIT_DONE ||
        table_prove(&gemm->table, EXIT_USAGE, &gemm->pwl, &proof, diag) != EXIT_DONE)
        return diag->code;
    gemm->has_table = true;
    gemm->activation.table = &gemm->pwl.table;
    gemm->activation.of_x = affine_of(&gemm->table.in);
    gemm->activation.of_y = affine_of(&gemm->table.out);
    return check_table(gemm, diag) == EXIT_DONE ? EXIT_DONE : diag_prefix(diag, path);
}
