/* SPDX-License-Identifier: Apache-2.0 */
/* A program of a user's, in C and in C++: a standard table, checked, evaluated and planned with what is installed. */
#include <pwl/plan.h>
#include <pwl/pwl.h>

#include <stdio.h>

#include "pwl_gelu_s8.h"

int main(void)
{
    static char memory[1024];
    static int8_t x[256], y[256], planned[256];
    pwl_plan plan;
    int k;
    pwl_status status = pwl_table_check(&pwl_gelu_s8, NULL);
    if (status == PWL_OK)
        status = pwl_plan_init(&plan, memory, sizeof memory, &pwl_gelu_s8, PWL_S8, PWL_S8, PWL_LEVELS_ALL);
    if (status != PWL_OK) {
        fprintf(stderr, "%s\n", pwl_status_text(status));
        return 1;
    }
    if (pwl_abi_version() != PWL_ABI_VERSION) {
        fprintf(stderr, "the library's ABI is %d, the headers' is %d\n", pwl_abi_version(), PWL_ABI_VERSION);
        return 1;
    }
    for (k = 0; k < 256; k++)
        x[k] = (int8_t)(k - 128);
    pwl_map_s8_s8(&pwl_gelu_s8, x, y, 256);
    pwl_run(&plan, x, planned, 256);
    for (k = 0; k < 256; k++) {
        /* GELU(x) lies between 0 and x from 0 on, within the table's error. */
        if (y[k] != planned[k] || y[k] != pwl_eval(&pwl_gelu_s8, x[k]) || (x[k] >= 0 && (y[k] < 0 || y[k] > x[k]))) {
            fprintf(stderr, "x = %d: %d by pwl_map_s8_s8(), %d by %s\n", x[k], y[k], planned[k], pwl_plan_way(&plan));
            return 1;
        }
    }
    return 0;
}
