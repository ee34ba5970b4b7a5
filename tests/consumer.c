/* SPDX-License-Identifier: Apache-2.0 */
/* A program of a user's: one table by hand, checked and evaluated with what is installed. */
#include <pwl/pwl.h>

#include <stdio.h>

/* A clipped line, q_y = (3 * q_x) >> 1, in two segments. */
static const int8_t start[] = {-128, 0};
static const int8_t q_b[] = {3, 3};
static const int8_t n[] = {1, 1};
static const int16_t term_c[] = {0, 0};
static const pwl_table line = {
    .version = PWL_TABLE_VERSION,
    .storage = PWL_INT8,
    .form = PWL_ABSOLUTE,
    .rounding = PWL_FLOOR,
    .segments = 2,
    .start = start,
    .q_b = q_b,
    .n = n,
    .offset = term_c,
    .qmin_x = -128,
    .qmax_x = 127,
    .qmin_y = -128,
    .qmax_y = 127,
};

int main(void)
{
    const pwl_status status = pwl_table_check(&line, NULL);
    if (status != PWL_OK) {
        fprintf(stderr, "%s\n", pwl_status_text(status));
        return 1;
    }
    const int8_t x[] = {-128, -3, 0, 5, 127}, expected[] = {-128, -5, 0, 7, 127};
    int8_t y[5];
    pwl_map_s8_s8(&line, x, y, 5);
    for (int k = 0; k < 5; k++) {
        if (y[k] != expected[k]) {
            fprintf(stderr, "x = %d: %d, not %d\n", x[k], y[k], expected[k]);
            return 1;
        }
    }
    return 0;
}
