/* SPDX-License-Identifier: 0BSD */
/* The GRU cell of gru_step.h on the host: what is made once, with floats, and the run, without any. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gru.h"
#include "pwl_sigmoid_s16.h"
#include "pwl_sigmoid_s16_1lsb.h"
#include "pwl_tanh_s16.h"
#include "pwl_tanh_s16_1lsb.h"

const gru_tables gru_standard[2] = {
    {"16 segments", &pwl_sigmoid_s16, &pwl_tanh_s16, 72.9918, 145.462, 0x43a72a6bbfdb13a5u},
    {"tables of 1 LSB", &pwl_sigmoid_s16_1lsb, &pwl_tanh_s16_1lsb, 0.999824, 0.999787, 0xa0b6ba176c2f78f6u},
};

/* -- Set-up -----------------------------------------------------------------------------------------------------------
 */

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Nearly Gaussian: four numbers of ten bits, -2046 to 2046, standard deviation 591. */
static int draw_sum(uint64_t *state)
{
    const uint64_t bits = draw(state);
    return (int)((bits & 1023) + (bits >> 10 & 1023) + (bits >> 20 & 1023) + (bits >> 30 & 1023)) - 2046;
}

/* Multiples of powers of two, so that every machine draws the same. Rows differ in size, and so in n_w. */
static void draw_weights(float *w, float *bias, size_t columns, uint64_t *state)
{
    for (size_t row = 0; row < GRU_ROWS; row++) {
        for (size_t k = 0; k < columns; k++)
            w[row * columns + k] = (float)(draw_sum(state) * (1 + (int)(row % 3))) * 0x1p-14f;
        bias[row] = (float)draw_sum(state) * 0x1p-11f;
    }
}

/* Each input is a triangle wave of its own period, 16 to 143 steps, and noise. */
static float draw_input(size_t step, size_t sequence, size_t k, uint64_t *state)
{
    const int period = 16 + (int)(k * 37 + sequence * 11) % 128, at = (int)(step + k * 5) % period;
    const int wave = (at < period - at ? at : period - at) * 4096 / period - 1024; /* -1024 to 1024 */
    return (float)(wave + draw_sum(state)) * 0x1p-10f;
}

void gru_draw(gru_model *model, float *x, size_t steps)
{
    uint64_t state = 1;
    draw_weights(model->w_x, model->b_x, GRU_INPUTS, &state);
    draw_weights(model->w_h, model->b_h, GRU_UNITS, &state);
    for (size_t row = GRU_UNITS; row < 2 * GRU_UNITS; row++)
        model->b_x[row] += 1; /* z: units that remember */
    for (size_t step = 0; step < steps; step++) {
        for (size_t sequence = 0; sequence < GRU_BATCH; sequence++) {
            for (size_t k = 0; k < GRU_INPUTS; k++)
                *x++ = draw_input(step, sequence, k, &state);
        }
    }
}

/* round(v * 2^n), ties away from zero, saturated. */
static int32_t code_of(double v, int n, int32_t min, int32_t max)
{
    return (int32_t)fmin(fmax(round(ldexp(v, n)), min), max);
}

static int quantise_product(const float *w, const float *bias, size_t columns, int n, gru_product *product)
{
    const int32_t most = 1 << 29; /* and |sum| <= 128 * 128 * 128: together below 2^30 */
    int8_t *const q_w = malloc(GRU_ROWS * columns);
    size_t bytes;
    void *memory = NULL;
    product->n = n;
    int done = q_w && pwl_qgemm_weights_bytes(PWL_QGEMM_ROWS8, GRU_ROWS, columns, &bytes) == PWL_QGEMM_OK &&
               (memory = aligned_alloc(16, (bytes + 15) / 16 * 16)) &&
               pwl_qgemm_pack(pwl_qgemm_of_floats(PWL_QGEMM_ROWS8, PWL_RULE_DEFAULT, w, GRU_ROWS, columns), memory,
                              bytes, &product->weights, NULL) == PWL_QGEMM_OK &&
               pwl_qgemm_unpack_s8(&product->weights, q_w, product->n_w) == PWL_QGEMM_OK;
    for (size_t row = 0; row < GRU_ROWS && done; row++) {
        const int scale = product->n_w[row] + n;
        const int shift = scale - (row < 2 * GRU_UNITS ? GRU_N_SIGMOID : GRU_N_TANH);
        product->bias[row] = code_of(bias[row], scale, -most, most);
        product->shift[row] = (int8_t)shift;
        done = shift >= 0 && shift <= 30 && abs(product->bias[row]) < most;
    }
    if (!done)
        free(memory);
    free(q_w);
    return done;
}

/* The largest n, up to 30, with most * 2^n <= 127. */
static int calibrate(const float *x, size_t count)
{
    float most = 0;
    int n = 30;
    for (size_t k = 0; k < count; k++)
        most = fmaxf(most, fabsf(x[k]));
    while (n > -30 && ldexpf(most, n) > 127)
        n--;
    return n;
}

int gru_quantise(const gru_model *model, const gru_tables *tables, const float *calibration, size_t count,
                 gru_cell *cell)
{
    if (pwl_table_check(tables->sigmoid, NULL) != PWL_OK || pwl_table_check(tables->tanh, NULL) != PWL_OK)
        return 0;
    cell->gates.sigmoid = *tables->sigmoid;
    cell->gates.tanh = *tables->tanh;
    if (!quantise_product(model->w_x, model->b_x, GRU_INPUTS, calibrate(calibration, count), &cell->x))
        return 0;
    if (quantise_product(model->w_h, model->b_h, GRU_UNITS, GRU_N_H8, &cell->h))
        return 1;
    free((void *)(uintptr_t)cell->x.weights.memory);
    return 0;
}

void gru_free(gru_cell *cell)
{
    free((void *)(uintptr_t)cell->x.weights.memory);
    free((void *)(uintptr_t)cell->h.weights.memory);
}

void gru_codes(const gru_cell *cell, const float *x, size_t count, int8_t *q_x)
{
    for (size_t k = 0; k < count; k++)
        q_x[k] = (int8_t)code_of(x[k], cell->x.n, -128, 127);
}

/* -- The run: integers alone ------------------------------------------------------------------------------------------
 */

int gru_multiply(const gru_product *product, const int8_t *q, size_t m, int32_t *v)
{
    int8_t *const n = malloc(m);
    const pwl_qgemm_product sums = {.scheme = PWL_QGEMM_INT8,
                                    .m = m,
                                    .weights = &product->weights,
                                    .x = {.data = q, .stride = product->weights.k, .type = PWL_QGEMM_S8, .n_x = n},
                                    .bias = product->bias,
                                    .y = {.data = v, .stride = GRU_ROWS, .type = PWL_QGEMM_S32}};
    if (!n)
        return 0;
    memset(n, product->n, m);
    const int done = pwl_qgemm_reference(&sums) == PWL_QGEMM_OK;
    free(n);
    return done;
}

int gru_run(const gru_cell *cell, const int8_t *x, size_t steps, int16_t *h)
{
    int32_t v_h[GRU_BATCH * GRU_ROWS];
    int8_t h8[GRU_STATE];
    /* What x brings does not depend on the state: one product for all steps. */
    int32_t *const v_x = malloc(steps * sizeof v_h);
    int done = v_x && gru_multiply(&cell->x, x, steps * GRU_BATCH, v_x);
    for (size_t step = 0; step < steps && done; step++, h += GRU_STATE) {
        for (int i = 0; i < GRU_STATE; i++)
            h8[i] = gru_h8(h[i]);
        done = gru_multiply(&cell->h, h8, GRU_BATCH, v_h);
        for (int i = 0; i < GRU_STATE; i++) {
            const int sequence = i / GRU_UNITS;
            h[GRU_STATE + i] = gru_unit(&cell->gates, v_x + (step * GRU_BATCH + (size_t)sequence) * GRU_ROWS,
                                        v_h + sequence * GRU_ROWS, cell->x.shift, cell->h.shift, i % GRU_UNITS, h[i]);
        }
    }
    free(v_x);
    return done;
}

uint64_t gru_hash(const int16_t *h)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (int i = 0; i < GRU_STATE; i++) {
        hash = (hash ^ ((uint16_t)h[i] & 255)) * 0x100000001b3u;
        hash = (hash ^ ((uint16_t)h[i] >> 8)) * 0x100000001b3u;
    }
    return hash;
}
