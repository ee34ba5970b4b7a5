/* SPDX-License-Identifier: Apache-2.0 */
/* One row of X by a panel of Q4_0, by a way: what count_block.sh counts the instructions of. */
#include <string.h>

#include "gemm/host/ways.h"

enum { N = PWL_QGEMM_PANEL, K = 1024 };

static pwl_block_q4_0 blocks[N][K / PWL_BLOCK];
static pwl_block_q8_1 x[K / PWL_BLOCK];
static _Alignas(16) uint8_t packed[1 << 20];
static uint8_t panels_memory[1 << 20], workspace[1 << 20];
static float y[N];

int main(int argc, char **argv)
{
    const char *const name = argc > 1 ? argv[1] : "";
    pwl_qgemm_weights weights;
    pwl_qgemm_panels panels;
    size_t i = 0;
    while (i < pwl_qgemm_way_count && strcmp(pwl_qgemm_ways[i].name, name) != 0)
        i++;
    if (i == pwl_qgemm_way_count ||
        pwl_qgemm_pack(pwl_qgemm_of_blocks(PWL_QGEMM_Q4_0, blocks, N, K), packed, sizeof packed, &weights, NULL) !=
            PWL_QGEMM_OK ||
        pwl_qgemm_arrange(&weights, panels_memory, sizeof panels_memory, &panels) != PWL_QGEMM_OK)
        return 1;
    const pwl_qgemm_product product = {PWL_QGEMM_W4A8,
                                       PWL_QGEMM_SUMS_EXACT,
                                       1,
                                       &weights,
                                       {x, K / PWL_BLOCK, PWL_QGEMM_BLOCKS_Q8_1, 0, NULL, NULL},
                                       NULL,
                                       {y, N, PWL_QGEMM_F32, 0, 0},
                                       NULL};
    return pwl_qgemm_by(&pwl_qgemm_ways[i], &product, &panels, workspace, sizeof workspace) != PWL_QGEMM_OK;
}
