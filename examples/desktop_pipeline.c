/* SPDX-License-Identifier: 0BSD */
/*
 * Two layers' activations on a desktop machine: a GELU of INT8 codes and a sigmoid of INT16 codes, by plans over
 * standard tables, over every code there is, with the error against libm.
 *
 *   cc -std=c11 -O2 -Iluts examples/desktop_pipeline.c $(pkg-config --cflags --libs pwl) -lm -o desktop_pipeline
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <pwl/plan.h>

#include "pwl_gelu_s8.h"     /* s8, scale 2^-5, zero point 0, to the same */
#include "pwl_sigmoid_s16.h" /* s16, scale 2^-12, to s16, scale 2^-15; zero points 0 */

static double gelu(double x)
{
    return x / 2 * erfc(-x / sqrt(2));
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* What a program keeps for an activation: made at start-up, then only read, by as many threads as it likes. */
struct activation {
    pwl_plan plan;
    void *memory;
};

/* 1 when it is ready to run. */
static int prepare(struct activation *activation, const pwl_table *table, pwl_type type)
{
    /* Once per table: the proof that no intermediate value can leave its type. */
    pwl_status status = pwl_table_check(table, NULL);
    if (status == PWL_OK) {
        const size_t bytes = pwl_plan_size(table, type, type, PWL_LEVELS_ALL);
        activation->memory = malloc(bytes);
        /* Without memory there is a plan all the same, only not the quickest. */
        status = pwl_plan_init(&activation->plan, activation->memory, activation->memory ? bytes : 0, table, type, type,
                               PWL_LEVELS_ALL);
    }
    if (status != PWL_OK)
        fprintf(stderr, "desktop_pipeline: %s\n", pwl_status_text(status));
    return status == PWL_OK;
}

/* The largest error of q_y against the real value in output LSB, clipped to the output codes. */
struct worst {
    double error;
    int q_x;
};

static void compare(struct worst *worst, int q_x, int q_y, double target, double qmin_y, double qmax_y)
{
    const double error = fabs(q_y - fmin(fmax(target, qmin_y), qmax_y));
    if (error > worst->error) {
        worst->error = error;
        worst->q_x = q_x;
    }
}

static void print(const char *name, const struct activation *activation, int codes, const struct worst *worst)
{
    printf("%-11s %5d codes by %s: max error %.6g LSB, at q_x = %d\n", name, codes, pwl_plan_way(&activation->plan),
           worst->error, worst->q_x);
}

int main(void)
{
    static int8_t x8[256], y8[256];
    static int16_t x16[65536], y16[65536];
    struct activation gelu_s8 = {0}, sigmoid_s16 = {0};
    struct worst worst8 = {0}, worst16 = {0};
    const int ready = prepare(&gelu_s8, &pwl_gelu_s8, PWL_S8) && prepare(&sigmoid_s16, &pwl_sigmoid_s16, PWL_S16);
    if (ready) {
        for (int k = 0; k < 256; k++)
            x8[k] = (int8_t)(k - 128);
        for (int k = 0; k < 65536; k++)
            x16[k] = (int16_t)(k - 32768);

        pwl_run(&gelu_s8.plan, x8, y8, 256);
        pwl_run(&sigmoid_s16.plan, x16, y16, 65536);

        /* Scales are the caller's: a table knows codes alone. real = scale * (q - zero point) */
        for (int k = 0; k < 256; k++)
            compare(&worst8, x8[k], y8[k], gelu(0x1p-5 * x8[k]) / 0x1p-5, INT8_MIN, INT8_MAX);
        for (int k = 0; k < 65536; k++)
            compare(&worst16, x16[k], y16[k], sigmoid(0x1p-12 * x16[k]) / 0x1p-15, INT16_MIN, INT16_MAX);
        print("gelu_s8", &gelu_s8, 256, &worst8);
        print("sigmoid_s16", &sigmoid_s16, 65536, &worst16);
    }
    free(gelu_s8.memory);
    free(sigmoid_s16.memory);
    return !ready;
}
