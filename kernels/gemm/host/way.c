/* SPDX-License-Identifier: Apache-2.0 */
#include "ways.h"

const pwl_qgemm_way pwl_qgemm_ways[] = {
#define WAY(name, level, rows, most) {#name, level, rows, most, pwl_qgemm_##name, pwl_qgemm_round_##name},
    PWL_QGEMM_WAYS(WAY)
#undef WAY
};
const size_t pwl_qgemm_way_count = sizeof pwl_qgemm_ways / sizeof *pwl_qgemm_ways;

const pwl_qgemm_way *pwl_qgemm_way_of(uint32_t levels)
{
    const pwl_qgemm_way *way = pwl_qgemm_ways;
    while ((way->level & levels) != way->level)
        way++;
    return way;
}
