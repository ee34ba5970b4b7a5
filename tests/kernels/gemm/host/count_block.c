/* SPDX-License-Identifier: Apache-2.0 */
/* Some rows of X by a panel of Q4_0, by a way: what count_block.sh counts the instructions of. */
#include <stdlib.h>
#include <string.h>

#include "gemm/host/ways.h"

enum { N = PWL_QGEMM_PANEL, K = 1024, ROWS = PWL_QGEMM_PASS_ROWS };

static pwl_block_q4_0 blocks[N][K / PWL_BLOCK];
static pwl_block_q8_1 x[ROWS * K / PWL_BLOCK];
static _Alignas(16) uint8_t packed[1 << 20];
static uint8_t panels_memory[1 << 20], workspace[1 << 20];
static float y[ROWS * N];

int main(int argc, char **argv)
{
    const char *const name = argc > 2 ? argv[1] : "";
    const size_t rows = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    pwl_qgemm_weights weights;
    pwl_qgemm_panels panels;
    size_t i = 0;
    while (i < pwl_qgemm_way_count && strcmp(pwl_qgemm_ways[i].name, name) != 0)
        i++;
    if (i == pwl_qgemm_way_count || rows > ROWS ||
        pwl_qgemm_pack(pwl_qgemm_of_blocks(PWL_QGEMM_Q4_0, blocks, N, K), packed, sizeof packed, &weights, NULL) !=
            PWL_QGEMM_OK ||
        pwl_qgemm_arrange(&weights, panels_memory, sizeof panels_memory, &panels) != PWL_QGEMM_OK)
        return 1;
    const pwl_qgemm_product product = {PWL_QGEMM_W4A8,
                                       PWL_QGEMM_SUMS_EXACT,
                                       rows,
                                       &weights,
                                       {x, K / PWL_BLOCK, PWL_QGEMM_BLOCKS_Q8_1, 0, NULL, NULL},
                                       NULL,
                                       {y, N, PWL_QGEMM_F32, 0, 0},
                                       NULL};
    return pwl_qgemm_by(&pwl_qgemm_ways[i], &product, &panels, workspace, sizeof workspace) != PWL_QGEMM_OK;
}
