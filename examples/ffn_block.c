/* SPDX-License-Identifier: 0BSD */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ffn.h"
#include "pwl_gelu_s16.h"
#include "pwl_gelu_s16_1lsb.h"
#include "pwl_gelu_s8.h"
#include "pwl_silu_s16.h"
#include "pwl_silu_s16_1lsb.h"
#include "pwl_silu_s8.h"

static double gelu(double x)
{
    return x / 2 * erfc(-x / sqrt(2));
}

static double silu(double x)
{
    return x / (1 + exp(-x));
}

const ffn_function ffn_gelu = {"GELU",
                               gelu,
                               {{"gelu_s8", &pwl_gelu_s8, {0x1p-5f, 0}, {0x1p-5f, 0}},
                                {"gelu_s16", &pwl_gelu_s16, {0x1p-12f, 0}, {0x1p-12f, 0}},
                                {"gelu_s16_1lsb", &pwl_gelu_s16_1lsb, {0x1p-12f, 0}, {0x1p-12f, 0}}}};
const ffn_function ffn_silu = {"SiLU",
                               silu,
                               {{"silu_s8", &pwl_silu_s8, {0x1p-4f, 0}, {0x1p-4f, 0}},
                                {"silu_s16", &pwl_silu_s16, {0x1p-12f, 0}, {0x1p-12f, 0}},
                                {"silu_s16_1lsb", &pwl_silu_s16_1lsb, {0x1p-12f, 0}, {0x1p-12f, 0}}}};

/* -- Tensors ----------------------------------------------------------------------------------------------------------
 */

enum { TYPE_F32 = 0, TYPE_F16 = 1, TYPE_Q4_0 = 2, TYPE_Q8_0 = 8, TYPE_BF16 = 30 };

/* What a tensor is packed as; there is no A8 for MXFP4. */
static pwl_qgemm_format format_of(const pwl_qgemm_tensor *tensor)
{
    return tensor->type == TYPE_Q8_0 ? PWL_QGEMM_Q8_0 : PWL_QGEMM_Q4_0;
}

static int is_taken(const pwl_qgemm_tensor *tensor)
{
    return tensor->type <= TYPE_Q4_0 || tensor->type == TYPE_Q8_0 || tensor->type == TYPE_BF16;
}

const char *ffn_shape(ffn_block *block)
{
    const pwl_qgemm_tensor *const all[] = {&block->up, &block->down, block->gate.data ? &block->gate : &block->up};
    block->d = (size_t)block->up.shape[0];
    block->ff = (size_t)block->up.shape[1];
    for (int i = 0; i < 3; i++) {
        const size_t k = i == 1 ? block->ff : block->d, n = i == 1 ? block->d : block->ff;
        if (!is_taken(all[i]))
            return "a tensor is not of F32, F16, BF16, Q4_0 or Q8_0";
        if (all[i]->shape[0] != k || all[i]->shape[1] != n || all[i]->shape[2] != 1 || all[i]->shape[3] != 1)
            return "gate and up must be ff rows of d, down d rows of ff";
        if (k % PWL_BLOCK || (block->gate.data && block->ff % 8))
            return "rows must be multiples of 32 elements";
    }
    return block->gate.data && block->gate.type != block->up.type ? "gate and up must be of one type" : NULL;
}

static float value_of_half(uint16_t half, uint32_t type)
{
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    const uint32_t bits = (uint32_t)half << 16;
    float value;
    if (type == TYPE_BF16) {
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    value = exponent == 31  ? (fraction ? NAN : INFINITY)
            : exponent == 0 ? ldexpf((float)fraction, -24)
                            : ldexpf((float)(1024 + fraction), exponent - 25);
    return half >> 15 ? -value : value;
}

static void read_floats(const pwl_qgemm_tensor *tensor, float *values)
{
    const size_t k = (size_t)tensor->shape[0], n = (size_t)tensor->shape[1];
    if (tensor->type == TYPE_F32)
        memcpy(values, tensor->data, n * k * sizeof *values);
    else if (tensor->type == TYPE_F16 || tensor->type == TYPE_BF16)
        for (size_t i = 0; i < n * k; i++)
            values[i] = value_of_half(((const uint16_t *)tensor->data)[i], tensor->type);
    else
        (void)!pwl_dequantise(tensor->type == TYPE_Q4_0 ? PWL_Q4_0 : PWL_Q8_0, tensor->data, n, k, k, values);
}

/* To blocks and back. */
static int round_to_blocks(pwl_format format, float *values, size_t n, size_t k)
{
    size_t bytes;
    void *const blocks = pwl_blocks_bytes(format, n, k, &bytes) == PWL_BLOCKS_OK ? malloc(bytes) : NULL;
    const int done = blocks && pwl_quantise(format, PWL_RULE_DEFAULT, values, n, k, k, blocks) == PWL_BLOCKS_OK &&
                     pwl_dequantise(format, blocks, n, k, k, values) == PWL_BLOCKS_OK;
    free(blocks);
    return done;
}

/* The weights as floats; null without memory. */
static float *new_floats(const pwl_qgemm_tensor *tensor, int quantised)
{
    const size_t k = (size_t)tensor->shape[0], n = (size_t)tensor->shape[1];
    float *const values = malloc(n * k * sizeof *values);
    if (!values)
        return NULL;
    read_floats(tensor, values);
    if (!quantised || tensor->type == TYPE_Q4_0 || tensor->type == TYPE_Q8_0 || round_to_blocks(PWL_Q4_0, values, n, k))
        return values;
    free(values);
    return NULL;
}

/* -- In floats, sums in double ----------------------------------------------------------------------------------------
 */

/* y[m][n] of x[m][k], sums in double */
static int multiply(const pwl_qgemm_tensor *tensor, ffn_choice choice, const float *x, size_t m, float *y)
{
    const size_t k = (size_t)tensor->shape[0], n = (size_t)tensor->shape[1];
    float *const w = new_floats(tensor, choice.weights), *const in = malloc(m * k * sizeof *in);
    int done = w && in;
    if (done) {
        memcpy(in, x, m * k * sizeof *in);
        done = !choice.activations || round_to_blocks(PWL_Q8_1, in, m, k);
    }
    for (size_t at = 0; at < m * n && done; at++) {
        double sums[4] = {0};
        for (size_t i = 0; i < k; i++)
            sums[i % 4] += (double)in[at / n * k + i] * (double)w[at % n * k + i];
        y[at] = (float)(sums[0] + sums[1] + sums[2] + sums[3]);
    }
    free(w);
    free(in);
    return done;
}

/* f, or a table between real numbers, as it is applied to a product's sums. */
static double apply(const ffn_block *block, const ffn_table *table, float x)
{
    if (!table)
        return block->f->exact(x);
    const int64_t q =
        pwl_code_of_real(x, 1 / table->of_x.scale, table->of_x.zero_point, table->table->qmin_x, table->table->qmax_x);
    return pwl_real_of_code(pwl_eval(table->table, q), table->of_y);
}

int ffn_compute(const ffn_block *block, ffn_choice choice, const float *x, size_t m, float *y)
{
    const size_t count = m * block->ff;
    float *const up = malloc(count * sizeof *up), *const gate = malloc(count * sizeof *gate);
    int done = up && gate && multiply(&block->up, choice, x, m, up) &&
               (!block->gate.data || multiply(&block->gate, choice, x, m, gate));
    for (size_t i = 0; i < count && done; i++)
        up[i] = (float)(block->gate.data ? apply(block, choice.table, gate[i]) * (double)up[i]
                                         : apply(block, choice.table, up[i]));
    done = done && multiply(&block->down, choice, up, m, y);
    free(up);
    free(gate);
    return done;
}

/* -- As it is run -----------------------------------------------------------------------------------------------------
 */

static pwl_qgemm_status pack(const pwl_qgemm_tensor *gate, const pwl_qgemm_tensor *tensor, pwl_qgemm_weights *weights)
{
    const size_t k = (size_t)tensor->shape[0], n = (size_t)tensor->shape[1] * (gate ? 2 : 1);
    const pwl_qgemm_format format = format_of(tensor);
    size_t bytes;
    pwl_qgemm_status status = pwl_qgemm_weights_bytes(format, n, k, &bytes);
    void *const memory = status == PWL_QGEMM_OK ? aligned_alloc(16, (bytes + 15) / 16 * 16) : NULL;
    if (status == PWL_QGEMM_OK && !memory)
        status = PWL_QGEMM_ERR_SPACE;
    pwl_qgemm_source from = pwl_qgemm_of_tensor(format, PWL_RULE_DEFAULT, tensor);
    if (gate)
        from = pwl_qgemm_of_pair(pwl_qgemm_of_tensor(format, PWL_RULE_DEFAULT, gate), from);
    if (status == PWL_QGEMM_OK)
        status = pwl_qgemm_pack(from, memory, bytes, weights, NULL);
    if (status != PWL_QGEMM_OK)
        free(memory);
    return status;
}

pwl_qgemm_status ffn_pack(const ffn_block *block, pwl_qgemm_weights weights[2])
{
    pwl_qgemm_status status = pack(block->gate.data ? &block->gate : NULL, &block->up, &weights[0]);
    if (status != PWL_QGEMM_OK)
        return status;
    status = pack(NULL, &block->down, &weights[1]);
    if (status != PWL_QGEMM_OK)
        free((void *)(uintptr_t)weights[0].memory);
    return status;
}

static pwl_qgemm_product product_of(const pwl_qgemm_weights *weights, size_t m, const float *x, float *y,
                                    size_t columns)
{
    const pwl_qgemm_product product = {
        .scheme = weights->format == PWL_QGEMM_Q8_0 ? PWL_QGEMM_W8A8 : PWL_QGEMM_W4A8,
        .m = m,
        .weights = weights,
        .x = {.data = x, .stride = weights->k, .type = PWL_QGEMM_F32},
        .y = {.data = y, .stride = columns, .type = PWL_QGEMM_F32},
    };
    return product;
}

void ffn_products(const ffn_block *block, const ffn_table *table, const pwl_qgemm_weights weights[2], size_t m,
                  const float *x, float *hidden, float *y, pwl_qgemm_activation *activation,
                  pwl_qgemm_product products[2])
{
    const pwl_qgemm_activation applied = {
        .table = table->table, .of_x = table->of_x, .of_y = table->of_y, .gated = block->gate.data != NULL};
    *activation = applied;
    products[0] = product_of(&weights[0], m, x, hidden, block->ff);
    products[0].activation = activation;
    products[1] = product_of(&weights[1], m, hidden, y, block->d);
}

pwl_qgemm_status ffn_fused(const ffn_block *block, const ffn_table *table, const float *x, size_t m, float *y)
{
    pwl_qgemm_weights weights[2];
    pwl_qgemm_activation activation;
    pwl_qgemm_product products[2];
    pwl_qgemm_status status = ffn_pack(block, weights);
    if (status != PWL_QGEMM_OK)
        return status;
    float *const hidden = malloc(m * block->ff * sizeof *hidden);
    ffn_products(block, table, weights, m, x, hidden, y, &activation, products);
    status = hidden ? pwl_qgemm_reference(&products[0]) : PWL_QGEMM_ERR_SPACE;
    if (status == PWL_QGEMM_OK)
        status = pwl_qgemm_reference(&products[1]);
    free(hidden);
    free((void *)(uintptr_t)weights[0].memory);
    free((void *)(uintptr_t)weights[1].memory);
    return status;
}

double ffn_nmse(const float *y, const float *exact, size_t count)
{
    double error = 0, square = 0;
    for (size_t i = 0; i < count; i++) {
        error += ((double)y[i] - (double)exact[i]) * ((double)y[i] - (double)exact[i]);
        square += (double)exact[i] * (double)exact[i];
    }
    return error / square;
}
