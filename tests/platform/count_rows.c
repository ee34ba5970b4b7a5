/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions per place of row operators on a Cortex-M. Fails where one takes more than its limit. */
#include <pwl/rows.h>

#include "../golden/row_operators.h"
#include "../support/typed_array.h"
#include "ticks.h"

enum { LENGTH = 96, ROWS = 4 };

static uint16_t x[ROWS * LENGTH], y[ROWS * LENGTH];

static int count(const char *name, const pwl_softmax *softmax, const pwl_norm *norm, uint32_t most,
                 uint32_t calibration)
{
    const pwl_type in = (pwl_type)(softmax ? softmax->in : norm->in);
    const pwl_rows rows = {x, y, ROWS, LENGTH, 0, 0, 0, 0};
    uint32_t then, taken;
    for (size_t k = 0; k < ROWS * LENGTH; k++)
        pwl_set_element_of(in, x, k, (int64_t)(k * 2654435761u >> (in >= PWL_S16 ? 16 : 24)));
    then = SYST_CVR;
    if (softmax)
        pwl_softmax_run(softmax, &rows, PWL_LEVELS_ALL);
    else
        pwl_norm_run(norm, x, y, ROWS, PWL_LEVELS_ALL);
    taken = ticks_per_element(then, calibration, ROWS * LENGTH);
    print_instructions("rows", name, taken);
    return taken > 100 * most;
}

int main(void)
{
    const uint32_t calibration = ticks_begin();
    int failed = count("softmax_s8_u8", &golden_softmax_s8_u8, 0, LIMIT_SOFTMAX, calibration);
    failed |= count("softmax_u16_s16", &golden_softmax_u16_s16, 0, LIMIT_SOFTMAX_16, calibration);
    failed |= count("layernorm_s16_s16", 0, &golden_layernorm_s16_s16, LIMIT_NORM, calibration);
    return failed | count("rmsnorm_u8_s8", 0, &golden_rmsnorm_u8_s8, LIMIT_NORM, calibration);
}
