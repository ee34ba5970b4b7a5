/* SPDX-License-Identifier: Apache-2.0 */
#include "row_ways.h"

#define WAY(name, level) {#name, level, pwl_##name##_serves, pwl_##name},
const pwl_softmax_way pwl_softmax_ways[] = {PWL_SOFTMAX_WAYS(WAY){NULL, 0, NULL, NULL}};
const pwl_norm_way pwl_norm_ways[] = {PWL_NORM_WAYS(WAY){NULL, 0, NULL, NULL}};
#undef WAY

const pwl_softmax_way *pwl_softmax_way_of(const pwl_softmax *softmax, uint32_t levels)
{
    const uint32_t have = levels & pwl_levels();
    const pwl_softmax_way *way;
    for (way = pwl_softmax_ways; way->name; way++)
        if ((way->level & have) && way->serves(softmax))
            return way;
    return NULL;
}

const pwl_norm_way *pwl_norm_way_of(const pwl_norm *norm, uint32_t levels)
{
    const uint32_t have = levels & pwl_levels();
    const pwl_norm_way *way;
    for (way = pwl_norm_ways; way->name; way++)
        if ((way->level & have) && way->serves(norm))
            return way;
    return NULL;
}
