/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of products as they are defined: one product after the other. */
#include "group.h"

#include "check.h"
#include "expert.h"

void pwl_qgemm_expert_of_group(const pwl_qgemm_product *product, const pwl_qgemm_group *group, size_t e, size_t begin,
                               size_t rows, pwl_qgemm_expert *expert)
{
    const size_t bias =
        e * 4 * pwl_qgemm_columns(product->weights->n, product->activation && product->activation->gated);
    pwl_qgemm_product *const own = &expert->product;
    *own = *product;
    expert->weights = *product->weights;
    expert->weights.memory = (const char *)product->weights->memory + e * group->apart;
    own->weights = &expert->weights;
    own->m = rows;
    own->x.data = (const char *)product->x.data + begin * product->x.stride * pwl_qgemm_type_bytes(product->x.type);
    own->x.n_x = product->x.n_x ? product->x.n_x + begin : NULL;
    own->x.scale = product->x.scale ? product->x.scale + begin : NULL;
    own->y.data = (char *)product->y.data + begin * product->y.stride * pwl_qgemm_type_bytes(product->y.type);
    own->y.scale = product->y.scale ? product->y.scale + begin : NULL;
    own->bias = product->bias ? (const char *)product->bias + bias : NULL;
    if (!product->activation)
        return;
    expert->activation = *product->activation;
    if (expert->activation.bias_up)
        expert->activation.bias_up = (const char *)product->activation->bias_up + bias;
    own->activation = &expert->activation;
}

pwl_qgemm_status pwl_qgemm_group_check(const pwl_qgemm_product *product, const pwl_qgemm_group *group)
{
    pwl_qgemm_codes codes;
    const pwl_qgemm_status status = pwl_qgemm_host_codes(product, &codes);
    return status == PWL_QGEMM_OK ? pwl_qgemm_check_group_with(product, group, &codes) : status;
}

pwl_qgemm_status pwl_qgemm_group_reference(const pwl_qgemm_product *product, const pwl_qgemm_group *group)
{
    int32_t highest = 0;
    pwl_qgemm_status status = pwl_qgemm_group_check(product, group);
    for (size_t e = 0; status == PWL_QGEMM_OK && e < group->experts; e++) {
        const int32_t begin = group->offsets[e];
        const uint32_t rows = pwl_qgemm_expert_rows(begin, group->offsets[e + 1], highest, product->m);
        pwl_qgemm_expert expert;
        highest = begin > highest ? begin : highest;
        if (rows == 0)
            continue;
        pwl_qgemm_expert_of_group(product, group, e, (size_t)begin, rows, &expert);
        status = pwl_qgemm_reference(&expert.product);
    }
    return status;
}
