/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of a network with a loop on a Cortex-M, by plain C, for each place of the loop. Fails where it takes
 * more than its limit. */
#include "../golden/networks/gru.h"
#include "ticks.h"

enum { BATCH = 3, PLACES = 7 };

static int16_t given[BATCH * PLACES * 3], made[BATCH * PLACES * 4], part[PLACES * BATCH * 2];

int main(void)
{
    const uint32_t calibration = ticks_begin();
    uint32_t then, taken;
    int failed;
    for (uint32_t k = 0; k < sizeof given / sizeof *given; k++)
        given[k] = (int16_t)(k * 2654435761u >> 16);
    then = SYST_CVR;
    failed = golden_gru_run(given, made, part) != PWL_OK;
    taken = ticks_per_element(then, calibration, PLACES);
    print_instructions("network", "gru", taken);
    return failed || taken > 100 * LIMIT_GRU;
}
