/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the proof share. */
#ifndef PROOF_CHECKS_H
#define PROOF_CHECKS_H

#include <pwl/pwl.h>

#include "../support/made_table.h"
#include "../support/suite.h"

#define ARRAY_SIZE(array) ((int)(sizeof(array) / sizeof *(array)))

/* A constant INT16 table over -8..8 in two segments, for tests that then spoil one field. */
static inline void plain_table(struct made_table *made)
{
    *made = (struct made_table){
        .table = {.version = PWL_TABLE_VERSION,
                  .storage = PWL_INT16,
                  .segments = 2,
                  .qmin_x = -8,
                  .qmax_x = 8,
                  .qmin_y = -100,
                  .qmax_y = 100},
        .start = {-8, 1},
        .offset = {5, 7},
    };
    made_pack(made);
}

static inline void assert_proof(const pwl_table *table, pwl_status status, int segment)
{
    pwl_proof proof;
    ck_assert_int_eq(pwl_table_check(table, &proof), status);
    ck_assert_int_eq(pwl_table_check(table, NULL), status);
    ck_assert_int_eq(proof.status, status);
    ck_assert_int_eq(proof.segment, segment);
    if (status == PWL_OK)
        ck_assert_int_gt(proof.acc_bits, 0);
    else
        ck_assert_int_eq(proof.acc_bits, 0);
}

static inline void assert_packed(struct made_table *made, pwl_status status, int segment)
{
    assert_proof(made_pack(made), status, segment);
}

#endif
