/* SPDX-License-Identifier: Apache-2.0 */
/* The example's GRU cell on a device: the state of every unit has the bits of the host's after every step. */
#include "../../examples/gru.h"
#include "../kernels/device.h"
#include "../kernels/tap.h"

static gru_model model;
static float x[GRU_STEPS * GRU_BATCH * GRU_INPUTS];
static int8_t q_x[sizeof x / sizeof *x];
static int16_t host[(GRU_STEPS + 1) * GRU_STATE], device[(GRU_STEPS + 1) * GRU_STATE];

/* The first step after which a state differs, 0 when none does. */
static size_t first_difference(size_t steps)
{
    for (size_t i = GRU_STATE; i < (steps + 1) * GRU_STATE; i++) {
        if (host[i] != device[i])
            return i / GRU_STATE;
    }
    return 0;
}

static void test_steps(const gru_tables *tables, size_t steps)
{
    gru_cell cell;
    if (!gru_quantise(&model, tables, x, GRU_CALIBRATION * GRU_BATCH * GRU_INPUTS, &cell))
        exit(1);
    gru_codes(&cell, x, sizeof q_x, q_x);
    /* From codes all over the range. */
    for (int i = 0; i < GRU_STATE; i++)
        host[i] = device[i] = (int16_t)(i * 40503);
    tap(gru_run(&cell, q_x, steps, host) && gru_run_cuda(&cell, q_x, steps, device) && first_difference(steps) == 0,
        "%s, %zu steps: the host's bits", tables->name, steps);
    if (steps == GRU_STEPS) {
        memset(device, 0, sizeof device);
        tap(gru_run_cuda(&cell, q_x, steps, device) && gru_hash(device + steps * GRU_STATE) == tables->hash,
            "%s, %zu steps from 0: the golden hash", tables->name, steps);
    }
    gru_free(&cell);
}

int main(int argc, char **argv)
{
    const size_t steps = test_is_small(argc, argv) ? 10 : GRU_STEPS;
    gru_draw(&model, x, GRU_STEPS);
    test_steps(&gru_standard[0], steps);
    test_steps(&gru_standard[1], steps);
    return tap_end();
}
