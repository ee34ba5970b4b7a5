/* SPDX-License-Identifier: Apache-2.0 */
/* The list of kinds. */
#include "step.h"

#define DECLARE(kind)                                                                                                  \
    pwl_status pwl_network_check_##kind(const pwl_network_step *step);                                                 \
    int pwl_network_fits_##kind(const pwl_network_step *step);                                                         \
    void pwl_network_run_##kind(const pwl_network_step *step);
DECLARE(gather)
DECLARE(constant)
DECLARE(product)
DECLARE(matmul)
DECLARE(multiply)
DECLARE(mean)
DECLARE(operator)
DECLARE(reshape)
DECLARE(transpose)
DECLARE(slice)
DECLARE(concat)
DECLARE(convolution)
DECLARE(max_pool)
DECLARE(loop)
DECLARE(append)
#undef DECLARE
pwl_status pwl_network_check_move(const pwl_network_step *step);
int pwl_network_in_place_operator(const pwl_network_step *step, int k);
int pwl_network_in_place_reshape(const pwl_network_step *step, int k);
int pwl_network_in_place_append(const pwl_network_step *step, int k);

uint64_t pwl_network_scratch_sums(const pwl_network_step *step);
uint64_t pwl_network_scratch_convolution(const pwl_network_step *step);
uint64_t pwl_network_scratch_loop(const pwl_network_step *step);

/* What a kind reads, at least and at most; its check; its name; what may lie in place; what it needs beside. */
#define KIND(least, most, check, name, in_place, scratch)                                                              \
    {                                                                                                                  \
        least, most, pwl_network_check_##check, pwl_network_fits_##name, pwl_network_run_##name, in_place, scratch     \
    }

static const pwl_network_kind_row rows[] = {
    [PWL_NETWORK_GATHER] = KIND(1, 1, gather, gather, NULL, NULL),
    [PWL_NETWORK_CONSTANT] = KIND(0, 0, constant, constant, NULL, NULL),
    [PWL_NETWORK_PRODUCT] = KIND(1, 1, product, product, NULL, pwl_network_scratch_sums),
    [PWL_NETWORK_MATMUL] = KIND(2, 2, matmul, matmul, NULL, pwl_network_scratch_sums),
    [PWL_NETWORK_MULTIPLY] = KIND(2, 4, multiply, multiply, NULL, NULL),
    [PWL_NETWORK_MEAN] = KIND(1, 2, mean, mean, NULL, NULL),
    [PWL_NETWORK_OPERATOR] = KIND(1, 3, operator, operator, pwl_network_in_place_operator, NULL),
    [PWL_NETWORK_RESHAPE] = KIND(1, 1, move, reshape, pwl_network_in_place_reshape, NULL),
    [PWL_NETWORK_TRANSPOSE] = KIND(1, 1, move, transpose, NULL, NULL),
    [PWL_NETWORK_SLICE] = KIND(1, 1, move, slice, NULL, NULL),
    [PWL_NETWORK_CONCAT] = KIND(2, 2, move, concat, NULL, NULL),
    [PWL_NETWORK_CONVOLUTION] = KIND(1, 1, convolution, convolution, NULL, pwl_network_scratch_convolution),
    [PWL_NETWORK_MAX_POOL] = KIND(1, 1, move, max_pool, NULL, NULL),
    [PWL_NETWORK_LOOP] = KIND(1, 8, loop, loop, NULL, pwl_network_scratch_loop),
    [PWL_NETWORK_APPEND] = KIND(3, 3, append, append, pwl_network_in_place_append, NULL),
};

const pwl_network_kind_row *pwl_network_kind_of(const pwl_network_node *node)
{
    return node->kind < sizeof rows / sizeof *rows ? &rows[node->kind] : NULL;
}
