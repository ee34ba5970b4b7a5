/* SPDX-License-Identifier: 0BSD */
/* Runs two emitted tables over every input code with integers only, and measures them against libm. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include <pwl/pwl.h>

#include "gelu.h"               /* pwl_gelu_s8, for the runtime */
#include "sigmoid.h"            /* pwl_sigmoid_u16, for the runtime */
#include "sigmoid_standalone.h" /* alone_sigmoid_u16_eval, which needs no library */

/* The one place where scales appear: a table itself knows codes only. */
#define SIGMOID_SCALE_X 0x1p-12
#define SIGMOID_SCALE_Y 0x1p-16
#define GELU_SCALE_X 0.0472
#define GELU_SCALE_Y 0.0248

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double gelu(double x)
{
    return x / 2 * erfc(-x / sqrt(2));
}

/* Errors in output LSB against the real value, clipped to the output's range. */
struct errors {
    int codes, worst_code, nearest;
    double worst, sum_of_squares;
};

static void compare(struct errors *errors, int q_x, int q_y, double target, double qmin_y, double qmax_y)
{
    const double clipped = fmin(fmax(target, qmin_y), qmax_y), error = fabs(q_y - clipped);
    if (errors->codes++ == 0 || error > errors->worst) {
        errors->worst = error;
        errors->worst_code = q_x;
    }
    errors->nearest += error <= 0.5;
    errors->sum_of_squares += error * error;
}

static void print(const char *name, const struct errors *errors)
{
    printf("%-12s %6d codes   max error %9.4f LSB at q_x = %-6d RMS %9.4f LSB   correctly rounded %5.1f %%\n", name,
           errors->codes, errors->worst, errors->worst_code, sqrt(errors->sum_of_squares / errors->codes),
           100.0 * errors->nearest / errors->codes);
}

static int run_sigmoid(void)
{
    static uint16_t q_x[65536], q_y[65536];
    struct errors errors = {0};
    int different = 0;
    for (int i = 0; i < 65536; i++)
        q_x[i] = (uint16_t)i;
    pwl_map_u16_u16(&pwl_sigmoid_u16, q_x, q_y, 65536);
    for (int i = 0; i < 65536; i++) {
        const double x = SIGMOID_SCALE_X * (i - PWL_SIGMOID_U16_ZP_X);
        compare(&errors, i, q_y[i], sigmoid(x) / SIGMOID_SCALE_Y + PWL_SIGMOID_U16_ZP_Y, 0, UINT16_MAX);
        different += alone_sigmoid_u16_eval(q_x[i]) != q_y[i];
    }
    print("sigmoid_u16", &errors);
    printf("%-12s standalone header and runtime differ in %d of 65536 codes\n", "", different);
    const int one_tenth = 24986; /* x = 0.1001 */
    printf("%-12s sigmoid(%.6f) = %.6f; libm says %.6f\n", "", SIGMOID_SCALE_X * (one_tenth - PWL_SIGMOID_U16_ZP_X),
           SIGMOID_SCALE_Y * (q_y[one_tenth] - PWL_SIGMOID_U16_ZP_Y),
           sigmoid(SIGMOID_SCALE_X * (one_tenth - PWL_SIGMOID_U16_ZP_X)));
    return different != 0;
}

static void run_gelu(void)
{
    int8_t q_x[256], q_y[256];
    struct errors errors = {0};
    for (int i = 0; i < 256; i++)
        q_x[i] = (int8_t)(i - 128);
    pwl_map_s8_s8(&pwl_gelu_s8, q_x, q_y, 256);
    for (int i = 0; i < 256; i++) {
        const double x = GELU_SCALE_X * (q_x[i] - PWL_GELU_S8_ZP_X);
        compare(&errors, q_x[i], q_y[i], gelu(x) / GELU_SCALE_Y + PWL_GELU_S8_ZP_Y, INT8_MIN, INT8_MAX);
    }
    print("gelu_s8", &errors);
}

int main(void)
{
    /* Once per table, at start-up: the proof that no intermediate value can leave its type. */
    if (pwl_table_check(&pwl_sigmoid_u16, NULL) != PWL_OK || pwl_table_check(&pwl_gelu_s8, NULL) != PWL_OK) {
        fprintf(stderr, "a table is not safe to run\n");
        return 1;
    }
    const int different = run_sigmoid();
    run_gelu();
    return different;
}
