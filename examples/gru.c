/* SPDX-License-Identifier: 0BSD */
/*
 * Runs the integer-only GRU cell of gru_step.h for 1,000 steps beside cells in double, shows how far they are apart,
 * and which share of it INT8 weights, INT8 activations and PWL gates have. Fails where the codes are not those that
 * every machine finds, or a step is off by more than its tables explain.
 *
 *   cc -std=c11 -O2 -Iluts examples/gru.c examples/gru_cell.c $(pkg-config --cflags --libs pwl-blocks pwl) -lm -o gru
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "gru.h"

enum { MARKS = 4 };
static const int marks[MARKS] = {1, 10, 100, GRU_STEPS};

/* What all cells work on; codes of it are of 2^-n_x. */
static float x[GRU_STEPS * GRU_BATCH * GRU_INPUTS];
static int n_x;

/* -- The cell in double -----------------------------------------------------------------------------------------------
 */

/* What of it is quantised; the rest is exact. */
struct choice {
    int activations;
    const gru_tables *gates;
};

struct weights {
    double w[GRU_INPUTS][GRU_ROWS]; /* a row for each column: sums run side by side; GRU_UNITS is GRU_INPUTS */
    double bias[GRU_ROWS];
};

static void take_weights(struct weights *weights, const float *w, const float *bias)
{
    for (int row = 0; row < GRU_ROWS; row++) {
        weights->bias[row] = bias[row];
        for (int k = 0; k < GRU_INPUTS; k++)
            weights->w[k][row] = w[row * GRU_INPUTS + k];
    }
}

/* What the codes stand for. */
static int take_codes(struct weights *weights, const gru_product *product)
{
    static int8_t q_w[GRU_ROWS * GRU_INPUTS], n_w[GRU_ROWS];
    if (pwl_qgemm_unpack_s8(&product->weights, q_w, n_w) != PWL_QGEMM_OK)
        return 0;
    for (int row = 0; row < GRU_ROWS; row++) {
        weights->bias[row] = ldexp(product->bias[row], -n_w[row] - product->n);
        for (int k = 0; k < GRU_INPUTS; k++)
            weights->w[k][row] = ldexp(q_w[row * GRU_INPUTS + k], -n_w[row]);
    }
    return 1;
}

static void multiply(const struct weights *weights, const double *x, double *restrict v)
{
    for (int row = 0; row < GRU_ROWS; row++)
        v[row] = weights->bias[row];
    for (int k = 0; k < GRU_INPUTS; k++) {
        for (int row = 0; row < GRU_ROWS; row++)
            v[row] += weights->w[k][row] * x[k];
    }
}

/* A table's value at x. */
static double look_up(const pwl_table *table, double x, int n_x)
{
    return ldexp((double)pwl_eval(table, llrint(ldexp(x, n_x))), -GRU_N_GATE);
}

static double sigmoid(const gru_tables *gates, double x)
{
    return gates ? look_up(gates->sigmoid, x, GRU_N_SIGMOID) : 1 / (1 + exp(-x));
}

static double hyperbolic_tangent(const gru_tables *gates, double x)
{
    return gates ? look_up(gates->tanh, x, GRU_N_TANH) : tanh(x);
}

static double as_code(double v, int n)
{
    return ldexp(fmin(fmax(round(ldexp(v, n)), -128), 127), -n);
}

/* h at each mark, from 0. */
static void run(struct choice choice, const struct weights *w_x, const struct weights *w_h,
                double h_at[MARKS][GRU_STATE])
{
    static double state[GRU_STATE];
    for (int i = 0; i < GRU_STATE; i++)
        state[i] = 0;
    for (int step = 0, mark = 0; step < GRU_STEPS; step++) {
        for (int sequence = 0; sequence < GRU_BATCH; sequence++) {
            const float *const token = x + (step * GRU_BATCH + sequence) * GRU_INPUTS;
            double *const h = state + sequence * GRU_UNITS;
            double in[GRU_INPUTS], in_h[GRU_UNITS], v[GRU_ROWS], u[GRU_ROWS];
            for (int k = 0; k < GRU_INPUTS; k++)
                in[k] = choice.activations ? as_code(token[k], n_x) : token[k];
            for (int k = 0; k < GRU_UNITS; k++)
                in_h[k] = choice.activations ? as_code(h[k], GRU_N_H8) : h[k];
            multiply(w_x, in, v);
            multiply(w_h, in_h, u);
            for (int j = 0; j < GRU_UNITS; j++) {
                const double r = sigmoid(choice.gates, v[j] + u[j]);
                const double z = sigmoid(choice.gates, v[GRU_UNITS + j] + u[GRU_UNITS + j]);
                const double n = hyperbolic_tangent(choice.gates, v[2 * GRU_UNITS + j] + r * u[2 * GRU_UNITS + j]);
                h[j] = n + z * (h[j] - n);
            }
        }
        if (step + 1 == marks[mark]) {
            for (int i = 0; i < GRU_STATE; i++)
                h_at[mark][i] = state[i];
            mark++;
        }
    }
}

/* -- Comparisons ------------------------------------------------------------------------------------------------------
 */

static void print_drift(const char *name, double h[MARKS][GRU_STATE], double from[MARKS][GRU_STATE])
{
    printf("| %s |", name);
    for (int mark = 0; mark < MARKS; mark++) {
        double most = 0, squares = 0;
        for (int i = 0; i < GRU_STATE; i++) {
            const double error = fabs(h[mark][i] - from[mark][i]);
            most = fmax(most, error);
            squares += error * error;
        }
        printf(" %.1e, %.1e |", most, sqrt(squares / GRU_STATE));
    }
    printf("\n");
}

static void take_marks(const int16_t *h, double h_at[MARKS][GRU_STATE])
{
    for (int mark = 0; mark < MARKS; mark++) {
        for (int i = 0; i < GRU_STATE; i++)
            h_at[mark][i] = ldexp(h[marks[mark] * GRU_STATE + i], -GRU_N_H);
    }
}

/*
 * A unit's step, from the sums and the state that it had, against the same in double. With errors E_s, E_t of the
 * tables in 2^-15, and what they leave out beyond 8 and 4,
 *
 *   the input of sigmoid is off by two roundings of half 2^-12, and its slope is at most 1/4:
 *       e_rz = E_s 2^-15 + sigmoid(-8) + 2^-14
 *   that of tanh by three of half 2^-13 and by r's error, times |u| < 8, and its slope is at most 1:
 *       e_n = E_t 2^-15 + (1 - tanh 4) + 1.5 * 2^-13 + |u| e_rz
 *   h' - exact = (n' - n) (1 - z') + (z' - z) (h - n) and half a rounding
 */
struct local {
    double error, ratio; /* the largest, and the largest share of its bound */
    int beyond;          /* |u| >= 8: no bound is claimed */
};

static void compare_unit(const gru_cell *cell, const gru_tables *tables, const int32_t *v_x, const int32_t *v_h, int j,
                         int16_t before, int16_t after, struct local *local)
{
    double x[3], u[3];
    for (int gate = 0; gate < 3; gate++) {
        const int row = gate * GRU_UNITS + j;
        x[gate] = ldexp(v_x[row], -cell->x.n_w[row] - cell->x.n);
        u[gate] = ldexp(v_h[row], -cell->h.n_w[row] - cell->h.n);
    }
    const double h = ldexp(before, -GRU_N_H), r = sigmoid(NULL, x[0] + u[0]), z = sigmoid(NULL, x[1] + u[1]);
    const double n = tanh(x[2] + r * u[2]), error = fabs(ldexp(after, -GRU_N_H) - (n + z * (h - n)));
    const double e_rz = tables->sigmoid_error * 0x1p-15 + sigmoid(NULL, -8) + 0x1p-14;
    const double e_n = tables->tanh_error * 0x1p-15 + 1 - tanh(4) + 1.5 * 0x1p-13 + fabs(u[2]) * e_rz;
    const double bound = e_n * (1 - z + e_rz) + e_rz * fabs(h - n) + 0x1p-16;
    local->beyond += fabs(u[2]) >= 8;
    local->error = fmax(local->error, error);
    local->ratio = fmax(local->ratio, error / bound);
}

/* Every unit in every step; the products of all states are one. */
static int compare_steps(const gru_cell *cell, const gru_tables *tables, const int8_t *q_x, const int16_t *h,
                         struct local *local)
{
    const size_t tokens = (size_t)GRU_STEPS * GRU_BATCH;
    int8_t *const h8 = malloc(tokens * GRU_UNITS);
    int32_t *const v_x = malloc(tokens * GRU_ROWS * sizeof *v_x), *const v_h = malloc(tokens * GRU_ROWS * sizeof *v_h);
    const struct local none = {0, 0, 0};
    *local = none;
    for (size_t i = 0; i < tokens * GRU_UNITS && h8; i++)
        h8[i] = gru_h8(h[i]);
    const int done =
        h8 && v_x && v_h && gru_multiply(&cell->x, q_x, tokens, v_x) && gru_multiply(&cell->h, h8, tokens, v_h);
    for (size_t i = 0; i < tokens * GRU_UNITS && done; i++) {
        const size_t sums = i / GRU_UNITS * GRU_ROWS;
        compare_unit(cell, tables, v_x + sums, v_h + sums, (int)(i % GRU_UNITS), h[i], h[GRU_STATE + i], local);
    }
    free(h8);
    free(v_x);
    free(v_h);
    return done;
}

/* -- The program ------------------------------------------------------------------------------------------------------
 */

static gru_model model;
static struct weights real_x, real_h, coded_x, coded_h;
static double from_real[MARKS][GRU_STATE], from_coded[MARKS][GRU_STATE];

/* 1 when the cell does what it should. */
static int run_cell(const gru_tables *tables, double h_at[MARKS][GRU_STATE])
{
    static int16_t h[(GRU_STEPS + 1) * GRU_STATE];
    static int8_t q_x[GRU_STEPS * GRU_BATCH * GRU_INPUTS];
    struct local local;
    gru_cell cell;
    if (!gru_quantise(&model, tables, x, GRU_CALIBRATION * GRU_BATCH * GRU_INPUTS, &cell)) {
        fprintf(stderr, "gru: the cell cannot be made\n");
        return 0;
    }
    n_x = cell.x.n;
    gru_codes(&cell, x, sizeof q_x, q_x);
    int done = gru_run(&cell, q_x, GRU_STEPS, h) && compare_steps(&cell, tables, q_x, h, &local) &&
               take_codes(&coded_x, &cell.x) && take_codes(&coded_h, &cell.h);
    gru_free(&cell);
    if (!done) {
        fprintf(stderr, "gru: out of memory\n");
        return 0;
    }
    const uint64_t hash = gru_hash(h + GRU_STEPS * GRU_STATE);
    printf("%s: hash of h %016" PRIx64 "; a step is off by up to %.1e, %.2f of its bound\n", tables->name, hash,
           local.error, local.ratio);
    take_marks(h, h_at);
    if (hash != tables->hash || local.ratio > 1 || local.beyond) {
        fprintf(stderr, "gru: the hash should be %016" PRIx64 ", and no step beyond its bound\n", tables->hash);
        return 0;
    }
    return 1;
}

int main(void)
{
    static double cell[2][MARKS][GRU_STATE], h[MARKS][GRU_STATE];
    const gru_tables *const few = &gru_standard[0], *const many = &gru_standard[1];
    gru_draw(&model, x, GRU_STEPS);
    take_weights(&real_x, model.w_x, model.b_x);
    take_weights(&real_h, model.w_h, model.b_h);
    if (!run_cell(few, cell[0]) || !run_cell(many, cell[1]))
        return 1;

    const struct choice exact = {0, NULL}, activations = {1, NULL}, few_alone = {0, few}, many_alone = {0, many};
    run(exact, &real_x, &real_h, from_real);
    printf("\n| error of h: max, RMS | step 1 | step 10 | step 100 | step %d |\n|---|---|---|---|---|\n", GRU_STEPS);
    run(exact, &coded_x, &coded_h, h);
    print_drift("INT8 weights alone", h, from_real);
    run(activations, &real_x, &real_h, h);
    print_drift("INT8 inputs and states alone", h, from_real);
    run(few_alone, &real_x, &real_h, h);
    print_drift("PWL gates alone, 16 segments", h, from_real);
    run(many_alone, &real_x, &real_h, h);
    print_drift("PWL gates alone, tables of 1 LSB", h, from_real);
    print_drift("the integer cell, 16 segments", cell[0], from_real);
    print_drift("the integer cell, tables of 1 LSB", cell[1], from_real);
    run(activations, &coded_x, &coded_h, from_coded);
    print_drift("the integer cell from double in INT8, 16 segments", cell[0], from_coded);
    print_drift("the integer cell from double in INT8, tables of 1 LSB", cell[1], from_coded);
    return 0;
}
